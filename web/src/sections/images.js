import { figure, h, section } from "../dom.js";
import { image as imageOf, signedImage } from "../images.js";
import { sampleName } from "../marks.js";
import { samples } from "../samples.js";
import { integer, number } from "../words.js";

/** The images most like each sample, and the sensitivity of each pixel. */
export function images({ explanation }) {
  const image = explanation.image;
  if (!image) return null;
  return section(
    "images",
    "Images",
    h(
      "div",
      { class: "witness" },
      figure(
        h("span", null, "Sensitivity of each pixel: brighter pixels look like ", sampleName("x"), " where blue, like ", sampleName("y"), " where orange."),
        signedImage(image, image.witness, witnessDescription(image)),
      ),
    ),
    gallery(`Images most like ${samples.x}`, image, image.most_x),
    gallery(`Images most like ${samples.y}`, image, image.most_y),
  );
}

function witnessDescription({ witness, width, channels }) {
  const extreme = (better) => witness.reduce((best, value, i) => (better(value, witness[best]) ? i : best), 0);
  const place = (i) => {
    const pixel = Math.floor(i / channels);
    return `row ${Math.floor(pixel / width) + 1}, column ${(pixel % width) + 1}`;
  };
  const [towardsY, towardsX] = [extreme((a, b) => a > b), extreme((a, b) => a < b)];
  return `Sensitivity per pixel: most towards ${samples.y} at ${place(towardsY)} (${number(witness[towardsY], 2)}), most towards ${samples.x} at ${place(towardsX)} (${number(witness[towardsX], 2)}).`;
}

function gallery(title, image, entries) {
  if (entries.length === 0) return null;
  const name = ({ sample, row }) => `${samples[sample]}, row ${integer(row)}`;
  return [
    h("h3", null, title),
    h("ul", { class: "gallery" }, entries.map((entry) =>
      h("li", null, imageOf(image, entry.pixels, `Image of ${name(entry)}`), sampleName(entry.sample, `, row ${integer(entry.row)}`)),
    )),
  ];
}
