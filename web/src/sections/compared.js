import { h, section, table } from "../dom.js";
import { sampleName } from "../marks.js";
import { samples } from "../samples.js";
import { count, integer, list, percent } from "../words.js";

const mostListed = 40;
const shownLevels = 6;

/** The rows that were compared, everything that was decided about the columns, and the options that change it. */
export function compared(report) {
  const { result, explanation } = report;
  const notes = new Set([...(result.notes ?? []), ...(explanation?.notes ?? [])].map(({ text }) => text));
  const all = [...facts(result), ...[...notes].map((note) => `${note[0].toUpperCase()}${note.slice(1)}.`)];
  return section("compared", "Data", rowsTable(result), h("ul", { class: "facts" }, all.map((fact) => h("li", null, fact))), columnDecisions(report));
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
  const line = (key, source, rows, known) => [sampleName(key), source, integer(rows), ...counts.map(([, name]) => integer(known[name]))];
  return table("The rows of both samples", head, [line("x", x + group(data.group?.x), n_x, data.rows_x), line("y", y + group(data.group?.y), n_y, data.rows_y)]);
}

function facts({ dim, kernel, data }) {
  const unused = Math.max(0, (data.columns_read ?? 0) - (data.columns_used ?? 0));
  return [
    dim === 0 && `Objects are compared by their values of the kernel ${kernel}.`,
    dim > 0 && `${count(data.columns_used || dim, "column")} ${(data.columns_used || dim) === 1 ? "is" : "are"} compared${unused > 0 ? `; ${count(unused, "column")} of the files ${unused === 1 ? "is" : "are"} not` : ""}.`,
    dim > 0 && (data.rows_x.missing_values === null || data.rows_y.missing_values === null) && "Rows with missing values are omitted.",
    unusedRows(data) === 0 && "All rows are used.",
    data.max_rows > 0 && `At most ${count(data.max_rows, "row")} of each sample, chosen at random.`,
    data.group?.rows_without > 0 && `${count(data.group.rows_without, "row")} without a group ${data.group.rows_without === 1 ? "is" : "are"} excluded.`,
  ].filter(Boolean);
}

function unusedRows({ rows_x, rows_y }) {
  return [rows_x, rows_y].reduce((sum, { omitted = 0, not_drawn = 0 }) => sum + omitted + not_drawn, 0);
}

/** Types, excluded columns, missing values and scales, each with the option that changes it. */
export function columnDecisions({ kind, result, explanation, flags }) {
  if (result.dim === 0 || !result.data) return null;
  const decisions = [
    [typesSentence(result.data), flags?.types],
    [missingSentence(result.data), flags?.na],
    [scaleSentence(kind, result, explanation), flags?.standardize],
  ];
  const item = ([text, flag]) => h("li", null, text, flag && [" To change it: ", h("code", null, flag), "."]);
  return [
    h("h3", null, "What was decided about the columns"),
    h("ul", { class: "facts", id: "decisions" }, decisions.map(item)),
    columnsTable(result.data),
  ];
}

const plurals = { category: "categories" };

function typesSentence({ columns = [], encoded = {}, dropped_texts: dropped = [], booleans = [], dates = [] }) {
  if (columns.length === 0) return encodingSentence(Object.entries(encoded), dropped, booleans, dates);
  const types = new Map();
  for (const { type, excluded } of columns) if (!excluded) types.set(type, 1 + (types.get(type) ?? 0));
  const excluded = columns.filter((column) => column.excluded).map(({ name }) => name);
  const named = [...types].map(([type, n]) => count(n, type, plurals[type]));
  const out = excluded.length > 0 ? ` Excluded: ${list(excluded)}.` : "";
  return `Types were inferred from both samples or given: ${list(named)}.${out}`;
}

// Of data whose columns have no types.
function encodingSentence(encoded, dropped, booleans, dates) {
  const parts = [
    encoded.length > 0 && `Text columns encoded as numbers: ${list(encoded.map(([name, n]) => `${name} (${count(n, "column")})`))}.`,
    dropped.length > 0 && `Text columns excluded: ${list(dropped)}.`,
    booleans.length > 0 && `Booleans encoded as 0 and 1: ${list(booleans)}.`,
    dates.length > 0 && `Dates converted to days: ${list(dates)}.`,
  ].filter(Boolean);
  return parts.length > 0 ? parts.join(" ") : "All columns are numbers.";
}

const treatments = {
  indicator: "they form a level of their own in categories, and in numbers a share that is compared; the values are compared without them, nothing is filled in",
  omit: "rows with missing values are omitted",
  "impute-median": "missing values are replaced by the pooled median of the column",
};

function missingSentence({ na, rows, rows_x, rows_y }) {
  const missing = (rows ?? [rows_x, rows_y]).reduce((sum, { missing_values: n }) => sum + (n ?? 0), 0);
  if (missing === 0) return "No values are missing.";
  return `${count(missing, "value")} ${missing === 1 ? "is" : "are"} missing${treatments[na] ? `: ${treatments[na]}` : ""}.`;
}

const scales = {
  zscore: "Columns are standardised by the pooled mean and standard deviation.",
  iqr: "Columns are standardised by the pooled median and quartiles.",
};

const ownScales = "measures every number from its pooled median in units of its pooled scale.";

function scaleSentence(kind, { data, own_scales: ofTest }, explanation) {
  if (scales[data.standardize]) return scales[data.standardize];
  if (ofTest) return `The test ${ownScales}`;
  const compared = kind === "explanation" ? "" : "Numbers are compared in the units of the data, without standardising. ";
  return `${compared}${explanation?.own_scales ? `The explanation ${ownScales}` : ""}`.trim() || "Numbers are in the units of the data.";
}

const isPlain = ({ type, excluded, missing_x, missing_y, note }) => ["number", "integer"].includes(type) && !excluded && !missing_x && !missing_y && !note;

function columnsTable({ columns = [], rows_x, rows_y }) {
  const listed = columns.filter((column) => !isPlain(column));
  if (listed.length === 0) return null;
  const numbers = columns.length - listed.length;
  const left = listed.length - mostListed;
  const rest = [left > 0 && `${count(left, "more column")}`, numbers > 0 && `${count(numbers, "column")} of numbers as in the data`].filter(Boolean);
  const share = (n, rows) => (n === 0 ? "0" : percent(n / (rows.read || 1)));
  const shares = rows_x && [{ text: `missing in ${samples.x}`, number: true }, { text: `in ${samples.y}`, number: true }];
  const head = ["column", "type", ...(shares ?? []), "remark"];
  const line = ({ name, type, excluded, missing_x, missing_y, levels, note }) => [
    name,
    excluded ? `${type}, excluded` : type,
    ...(shares ? [share(missing_x, rows_x), share(missing_y, rows_y)] : []),
    [note, levels?.length > 0 && levelsText(levels)].filter(Boolean).join("; "),
  ];
  return table(`The columns${rest.length > 0 ? `; not listed: ${list(rest)}` : ""}`, head, listed.slice(0, mostListed).map(line), { className: "compact" });
}

function levelsText(levels) {
  return `${count(levels.length, "level")}: ${levels.slice(0, shownLevels).join(", ")}${levels.length > shownLevels ? ", \u2026" : ""}`;
}
