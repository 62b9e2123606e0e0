import { densityChart, profileChart } from "../charts.js";
import { chart, figure, h, section, table } from "../dom.js";
import { sampleKey, signedBar } from "../marks.js";
import { samples } from "../samples.js";
import { count, integer, number, placePhrase, signed, wherePhrase } from "../words.js";

const shownAtOnce = 3;

/** The directions along which the samples differ most, with quantile levels and contributing columns. */
export function directions({ explanation }) {
  const { directions: all, maximiser } = explanation;
  if (all.length === 0) return null;
  const rest = all.slice(shownAtOnce);
  return section(
    "where",
    all.some((direction) => direction.reject) ? "Where the samples differ" : "Largest differences (not significant)",
    h("p", null, adjustmentSentence(explanation)),
    all.some(({ family }) => family === "principal") && h("p", null, principalSentence(explanation)),
    explanation.directions_note && h("p", { class: "caution" }, explanation.directions_note),
    all.some(hasContributions) && h("p", null, strengthSentence()),
    sampleKey(),
    all.slice(0, shownAtOnce).map((direction) => directionPart(direction)),
    maximiser && [h("p", null, maximiserSentence(maximiser)), directionPart(maximiser)],
    rest.length > 0 && h("details", null, h("summary", null, `${count(rest.length, "more direction")}`), rest.map((direction) => directionPart(direction))),
  );
}

function adjustmentSentence({ n_directions_examined: examined, alpha, n_resamples: permutations }) {
  return (
    `A direction maps every row to one number, so that the samples can be compared quantile by quantile. ${count(examined, "direction")} ` +
    `${examined === 1 ? "was" : "were"} examined, computed from the pooled rows without their labels, each with up to ${count(permutations, "permutation")}. ` +
    `The p-values are adjusted for all directions by Holm\u2019s rule (family-wise level ${number(alpha)}).`
  );
}

function principalSentence({ n_principal_rows: used, n_x, n_y, columns }) {
  const what = columns.length > 0 ? "A direction is either a single column or a principal direction of the kernel, to which all columns contribute. " : "";
  return (
    `${what}Principal directions are numbered by decreasing variance` +
    `${used < n_x + n_y ? ` and computed from ${count(used, "row")} of ${integer(n_x + n_y)}, chosen at random; all rows are compared along them` : ""}.`
  );
}

const maximiserSentence = ({ family }) =>
  `The last one is the direction in which ${family} finds the largest gap. It is fitted to the samples, so it has no p-value of its own.`;

const strengthSentence = () =>
  "Two numbers measure the contribution of a column. Strength: how far one standard deviation of the column moves a row along the direction, regardless of sign. " +
  `Sensitivity: the signed mean of the same, + where larger values move the row towards ${samples.y}.`;

const hasContributions = ({ family, columns }) => family !== "column" && columns.length > 1;

function directionPart(direction) {
  return h(
    "article",
    { class: "direction" },
    h("h3", null, direction.name, tag(direction)),
    h("p", null, directionSentence(direction)),
    h("div", { class: "pair" }, profileFigure(direction), densityFigure(direction)),
    columnsTable(direction),
  );
}

const isFitted = ({ pvalue }) => pvalue === null;

function tag(direction) {
  if (isFitted(direction)) return h("span", { class: "tag" }, "fitted");
  return h("span", { class: direction.reject ? "tag strong" : "tag" }, direction.reject ? "differs" : "not significant");
}

function directionSentence(direction) {
  const { effect, pvalue, pvalue_adjusted, reject, shares } = direction;
  const found = shares ? `Its value is ${placePhrase(direction)}.` : `The samples differ ${placePhrase(direction)}.`;
  const shows = reject || isFitted(direction) ? found : "The difference is not significant.";
  const tested = isFitted(direction) ? "" : `; p\u00a0=\u00a0${number(pvalue)}, adjusted ${number(pvalue_adjusted)}`;
  return `${shows} Mean absolute difference of the quantiles: ${number(effect)} pooled SDs${tested}.`;
}

function profileFigure({ name, profile, where }) {
  const largest = profile.difference.reduce((best, d, i) => (Math.abs(d) > Math.abs(profile.difference[best]) ? i : best), 0);
  const description = `Quantiles of ${samples.y} minus quantiles of ${samples.x} along ${name}: ${wherePhrase(where)}; largest at level ${number(profile.levels[largest])}, where ${samples.y} \u2212 ${samples.x} is ${number(profile.difference[largest])}.`;
  return figure(`Quantiles of ${samples.y} minus quantiles of ${samples.x}, from the lowest to the highest level. Above the line ${samples.y} is larger.`, chart((width) => profileChart(width, profile, description)));
}

function densityFigure({ name, density }) {
  const peak = (values) => density.at[values.indexOf(Math.max(...values))];
  const description = `Densities along ${name}: ${samples.x} is highest near ${number(peak(density.x))}, ${samples.y} near ${number(peak(density.y))}.`;
  return figure("The two samples along this direction.", chart((width) => densityChart(width, density, name, description)));
}

function columnsTable(direction) {
  if (!hasContributions(direction)) return null;
  const { name, columns } = direction;
  const largest = Math.max(...columns.map((column) => Math.abs(column.sensitivity))) || 1;
  const head = ["column", { text: "strength", number: true }, { text: "sensitivity", number: true }, `towards ${samples.x} \u2190 \u2192 towards ${samples.y}`];
  return h(
    "details",
    { open: columns.length <= 6 },
    h("summary", null, `Contributing columns: ${columns.slice(0, 3).map((column) => column.name).join(", ")}${columns.length > 3 ? ", \u2026" : ""}`),
    table(
      `Columns that contribute to ${name}, the strongest ${integer(columns.length)}`,
      head,
      columns.map((column) => [column.name, number(column.magnitude), signed(column.sensitivity), signedBar(column.sensitivity / largest)]),
      { className: "compact" },
    ),
  );
}
