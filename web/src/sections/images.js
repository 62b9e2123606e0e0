import { figure, h, section } from "../dom.js";
import { picture, signedPicture } from "../pictures.js";
import { integer, number } from "../words.js";

/** The pictures at both ends, and which pixels tell the samples apart. */
export function images({ explanation }) {
  const image = explanation.image;
  if (!image) return null;
  return section(
    "pictures",
    "In pictures",
    h(
      "div",
      { class: "witness" },
      figure(
        h("span", null, "Where brightness tells the samples apart: brighter here looks like ", h("span", { class: "key x" }, "X"), " in blue, like ", h("span", { class: "key y" }, "Y"), " in orange."),
        signedPicture(image, image.witness, witnessDescription(image)),
      ),
    ),
    gallery("Most X-like pictures", image, image.most_x),
    gallery("Most Y-like pictures", image, image.most_y),
  );
}

function witnessDescription({ witness, width, channels }) {
  const extreme = (better) => witness.reduce((best, value, i) => (better(value, witness[best]) ? i : best), 0);
  const place = (i) => {
    const pixel = Math.floor(i / channels);
    return `row ${Math.floor(pixel / width) + 1}, column ${(pixel % width) + 1}`;
  };
  const [towardsY, towardsX] = [extreme((a, b) => a > b), extreme((a, b) => a < b)];
  return `Sensitivity per pixel: most towards Y at ${place(towardsY)} (${number(witness[towardsY], 2)}), most towards X at ${place(towardsX)} (${number(witness[towardsX], 2)}).`;
}

function gallery(title, image, pictures) {
  if (pictures.length === 0) return null;
  const name = ({ sample, row }) => `${sample.toUpperCase()}, row ${integer(row)}`;
  return [
    h("h3", null, title),
    h("ul", { class: "gallery" }, pictures.map((entry) =>
      h("li", null, picture(image, entry.pixels, `Picture of ${name(entry)}`), h("span", { class: `key ${entry.sample === "x" ? "x" : "y"}` }, name(entry))),
    )),
  ];
}
