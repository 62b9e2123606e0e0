import { h, section, table } from "../dom.js";
import { sampleName } from "../marks.js";
import { samples } from "../samples.js";
import { cell, integer, percent, signed } from "../words.js";

/** The rows most like each sample; rows that are images are shown as images instead. */
export function rows({ explanation, first_row: firstRow = 1 }) {
  const { rows: extremes, row_columns: names, dim, image } = explanation;
  if (image || !extremes || extremes.most_x.length + extremes.most_y.length === 0) return null;
  const both = [...extremes.most_x, ...extremes.most_y];
  return section(
    "rows",
    "Most typical rows",
    h(
      "p",
      null,
      `A negative score means that a row looks like ${samples.x}, a positive one that it looks like ${samples.y}. ` +
        `A row of one sample may look like the other. Rows are counted from ${firstRow}. ` +
        trustSentence(explanation.witness_share) +
        fittedSentence(explanation) +
        (dim > names.length ? ` ${integer(names.length)} of ${integer(dim)} columns are shown, those with the largest differences.` : ""),
    ),
    table(`Rows most like ${samples.x}`, head(names, both), extremes.most_x.map(line)),
    table(`Rows most like ${samples.y}`, head(names, both), extremes.most_y.map(line)),
  );
}

// The reliability of the scores: how well they predict the sample of held-out rows.
function trustSentence(share) {
  if (!Number.isFinite(share)) return "";
  if (share <= 0) return "On held-out rows the score does not predict the sample, so these rows may be random.";
  return `On held-out rows the score explains ${percent(share)} of the variance of the labels.`;
}

function fittedSentence({ n_witness_rows: used, n_x, n_y }) {
  return used < n_x + n_y ? ` It was fitted to ${integer(used)} of ${integer(n_x + n_y)} rows, chosen at random; all rows have a score.` : "";
}

// Numbers are aligned to the right, texts to the left.
function head(names, all) {
  return [{ text: "row" }, { text: "score", number: true }, ...names.map((text, i) => ({ text, number: all.every(({ values }) => typeof values[i] !== "string") }))];
}

function line({ sample, row, score, values }) {
  return [
    sampleName(sample, ` ${integer(row)}`),
    signed(score),
    ...values.map((value) => (value === null ? "missing" : cell(value))),
  ];
}
