import { h, section, table } from "../dom.js";
import { cell, integer, percent, signed } from "../words.js";

/** The rows that look most like X and most like Y; of images the pictures are shown instead. */
export function rows({ explanation }) {
  const { rows: extremes, row_columns: names, dim, image } = explanation;
  if (image || !extremes || extremes.most_x.length + extremes.most_y.length === 0) return null;
  return section(
    "rows",
    "Most typical rows",
    h(
      "p",
      null,
      "The score tells where a row lies between the samples: the more negative, the more it looks like X; the more positive, the more like Y. " +
        "A row of one sample may look like the other. Rows are counted from 1. " +
        trustSentence(explanation.witness_share) +
        fittedSentence(explanation) +
        (dim > names.length ? ` Shown are the cells of ${integer(names.length)} of ${integer(dim)} columns, the first of the ranking.` : ""),
    ),
    table("Most X-like rows", head(names), extremes.most_x.map(line)),
    table("Most Y-like rows", head(names), extremes.most_y.map(line)),
  );
}

// How far the scores can be trusted: what they tell of rows that they were not made from.
function trustSentence(share) {
  if (!Number.isFinite(share)) return "";
  if (share <= 0) return "For rows that it has not seen the score tells nothing of their sample, so these rows may be chance.";
  return `For rows that it has not seen the score explains ${percent(share)} of what tells the samples apart.`;
}

function fittedSentence({ witness_rows: used, n_x, n_y }) {
  return used < n_x + n_y ? ` It was made from ${integer(used)} of ${integer(n_x + n_y)} rows, chosen at random; all rows have a score.` : "";
}

function head(names) {
  return [{ text: "row" }, { text: "score", number: true }, ...names.map((text) => ({ text, number: true }))];
}

function line({ sample, row, score, values }) {
  const name = sample.toUpperCase();
  return [
    h("span", { class: `key ${sample === "x" ? "x" : "y"}` }, `${name} ${integer(row)}`),
    signed(score),
    ...values.map(cell),
  ];
}
