import { h, section, table } from "../dom.js";
import { count, integer, list } from "../words.js";

/** The rows and columns that were compared and those that were not. */
export function compared({ result, explanation }) {
  const notes = new Set([...(result.notes ?? []), ...(explanation?.notes ?? [])].map(({ text }) => text));
  const all = [...facts(result), ...[...notes].map((note) => `${note[0].toUpperCase()}${note.slice(1)}.`)];
  return section("compared", "Data", rowsTable(result), h("ul", { class: "facts" }, all.map((fact) => h("li", null, fact))));
}

// Counts that are 0 for both samples have no column.
function rowsTable({ x, y, n_x, n_y, data }) {
  const counts = [
    ["rows read", "read"],
    ["omitted (missing values)", "omitted"],
    ["not sampled", "not_drawn"],
    ["missing values", "missing_values"],
  ].filter(([, key]) => key === "read" ? data.rows_x.read > n_x || data.rows_y.read > n_y : data.rows_x[key] > 0 || data.rows_y[key] > 0);
  const head = ["sample", "source", { text: "rows compared", number: true }, ...counts.map(([text]) => ({ text, number: true }))];
  const group = (value) => (data.group ? ` with ${data.group.column} = ${value}` : "");
  const line = (key, source, rows, known) => [key, source, integer(rows), ...counts.map(([, name]) => integer(known[name]))];
  return table("The rows of both samples", head, [
    line(h("span", { class: "key x" }, "X"), x + group(data.group?.x), n_x, data.rows_x),
    line(h("span", { class: "key y" }, "Y"), y + group(data.group?.y), n_y, data.rows_y),
  ]);
}

function facts({ dim, kernel, data }) {
  const encoded = Object.entries(data.encoded ?? {});
  const unused = Math.max(0, (data.columns_read ?? 0) - (data.columns_used ?? 0));
  return [
    dim === 0 && `Objects are compared by their values of the kernel ${kernel}.`,
    dim > 0 && `${count(dim, "column")} ${dim === 1 ? "is" : "are"} compared${unused > 0 ? `; ${count(unused, "column")} of the files ${unused === 1 ? "is" : "are"} not` : ""}.`,
    dim > 0 && missingSentence(data),
    unusedRows(data) === 0 && "All rows are used.",
    encoded.length > 0 && `Text columns encoded as numbers: ${list(encoded.map(([name, n]) => `${name} (${count(n, "column")})`))}.`,
    data.dropped_texts?.length > 0 && `Text columns excluded: ${list(data.dropped_texts)}.`,
    data.booleans?.length > 0 && `Booleans encoded as 0 and 1: ${list(data.booleans)}.`,
    data.dates?.length > 0 && `Dates converted to days: ${list(data.dates)}.`,
    dim > 0 && scaleSentence(data.standardize),
    data.max_rows > 0 && `At most ${count(data.max_rows, "row")} of each sample, chosen at random.`,
    data.group?.rows_without > 0 && `${count(data.group.rows_without, "row")} without a group ${data.group.rows_without === 1 ? "is" : "are"} excluded.`,
  ].filter(Boolean);
}

function unusedRows({ rows_x, rows_y }) {
  return [rows_x, rows_y].reduce((sum, { omitted = 0, not_drawn = 0 }) => sum + omitted + not_drawn, 0);
}

function missingSentence({ na, rows_x, rows_y }) {
  if (rows_x.missing_values === null || rows_y.missing_values === null) return "Rows with missing values are omitted.";
  const missing = rows_x.missing_values + rows_y.missing_values;
  if (missing === 0) return "No values are missing.";
  const treated = { omit: "rows with missing values are omitted", "impute-median": "missing values are replaced by the pooled median of the column" }[na];
  return `${count(missing, "value")} ${missing === 1 ? "is" : "are"} missing${treated ? `; ${treated}` : ""}.`;
}

function scaleSentence(standardize) {
  const how = { zscore: "mean and standard deviation", iqr: "median and quartiles" }[standardize];
  return how ? `Columns are standardised by the pooled ${how}.` : "Columns are not standardised.";
}
