import { changeMap, curves, densityChart, levelMeans, shareChart } from "../charts.js";
import { chart, figure, h } from "../dom.js";
import { image as imageOf, signedImage } from "../images.js";
import { sampleKey } from "../marks.js";
import { samples } from "../samples.js";
import { count, integer, number, percent, signed } from "../words.js";

const shownChanges = 6;
const relationSigns = { numbers: "and", "number by level": "by", levels: "by" };

/** All significant changes in words: columns, missing values and relations that differ significantly. */
export function changes({ explanation }) {
  const all = explanation?.changes ?? [];
  if (all.length === 0) return null;
  const rest = all.slice(shownChanges);
  const item = ({ text, pvalue_adjusted }) => h("li", null, text, h("span", { class: "note" }, ` adjusted p\u00a0=\u00a0${number(pvalue_adjusted)}`));
  return h(
    "div",
    { class: "changes" },
    h("h2", { class: "small" }, "What changed"),
    h("ul", { class: "facts" }, all.slice(0, shownChanges).map(item)),
    rest.length > 0 && h("details", null, h("summary", null, `${integer(rest.length)} more`), h("ul", { class: "facts" }, rest.map(item))),
  );
}

/** The figure that shows most: images, the first change of a column or relation, or the first column. */
export function mainFigure({ explanation }) {
  if (!explanation) return null;
  const drawn = imageFigure(explanation) ?? changeFigure(explanation);
  return drawn && h("div", { class: "main-figure" }, drawn);
}

function imageFigure({ image }) {
  if (!image) return null;
  const least = (entries) => entries.slice(0, 4).map((entry) => h("li", null, imageOf(image, entry.pixels, `Image of ${samples[entry.sample]}, row ${entry.row}`)));
  return [
    h("div", { class: "witness" }, signedImage(image, image.witness, `Sensitivity of each pixel: blue towards ${samples.x}, orange towards ${samples.y}`)),
    h("p", { class: "note" }, `Pixels that are brighter in ${samples.x} are blue, those brighter in ${samples.y} orange. The most typical images of ${samples.x}, then of ${samples.y}:`),
    h("ul", { class: "gallery" }, least(image.most_x), least(image.most_y)),
  ];
}

function changeFigure({ changes: found = [], columns, relations = [] }) {
  const first = found.find(({ kind }) => kind !== "missing") ?? found[0];
  const relation = relations.find(({ reject }) => reject);
  const column = first?.kind === "relation" ? null : columns.find(({ name }) => name === first?.columns[0]) ?? columns[0];
  return (column || relation) && [sampleKey(), column && columnFigure(column), relation && relationFigure(relation)];
}

/** Densities of a column of numbers, or shares of a category. */
export function columnFigure(column) {
  if (column.levels?.length > 0) {
    const shown = column.levels.slice(0, 10);
    const more = column.levels.length - shown.length;
    return figure(
      `${column.name}: share of the rows by level${more > 0 ? `; ${count(more, "level")} with smaller changes not shown` : ""}.`,
      chart((width) => shareChart(width, shown, `Shares of ${column.name}: ${shown.map((l) => `${l.name} ${percent(l.x)} to ${percent(l.y)}`).join(", ")}`)),
    );
  }
  if (!column.density) return null;
  return figure(`${column.name}: the distribution in both samples.`, chart((width) => densityChart(width, column.density, column.name, `Densities of ${column.name} in ${samples.x} and ${samples.y}`, column.type)));
}

/** Means by level, a map of pairs of levels, or two curves. */
export function relationFigure(relation) {
  const { kind, first, second, cells } = relation;
  if (cells.length === 0) return null;
  if (kind === "numbers") {
    return figure(`Mean of ${second} in stretches of ${first}, in both samples.`, chart((width) => curves(width, relation, `Mean of ${second} along ${first}`)));
  }
  if (kind === "number by level") {
    const words = cells.map((c) => `${c.second} ${number(c.x)} to ${number(c.y)}`).join(", ");
    return figure(`Mean of ${first} by ${second}, in both samples.`, chart((width) => levelMeans(width, cells.slice(0, 12), first, `Mean of ${first} by ${second}: ${words}`)));
  }
  const largest = cells[0];
  return figure(
    `Share of the rows with both levels, ${samples.y} minus ${samples.x}, beyond what ${first} and ${second} by themselves explain: orange more, blue fewer.`,
    chart((width) => changeMap(width, relation, `Changes of pairs of levels of ${first} and ${second}; largest ${largest.first} with ${largest.second}: ${signed(100 * largest.change, 2)} points`)),
  );
}

/** "income by plan". */
export function relationName({ first, second, kind }) {
  return `${first} ${relationSigns[kind]} ${second}`;
}
