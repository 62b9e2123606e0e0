import { sparkline } from "../charts.js";
import { bodyRow, h, headCell, section } from "../dom.js";
import { bar } from "../marks.js";
import { samples } from "../samples.js";
import { count, integer, number, percent, signed, wherePhrase } from "../words.js";

const shownAtOnce = 20;

/** A table of all columns, ranked. */
export function columns({ explanation }) {
  const all = explanation.columns;
  if (all.length === 0) return null;
  return section(
    "columns",
    "Columns",
    h("p", null, columnsSentence(explanation)),
    explanation.columns_note && h("p", { class: "caution" }, explanation.columns_note),
    rankedTable(all),
  );
}

function columnsSentence({ columns: all, alpha }) {
  const distance = `The distance is the mean absolute difference between the quantiles of ${samples.x} and ${samples.y}, in the units of the column; the effect is that distance in pooled SDs.`;
  if (all.length === 1) return distance;
  return (
    `${distance} For a category the distance is the share of rows that would have to change their level, the effect Cohen\u2019s w. ` +
    `The p-values are adjusted for ${count(all.length, "column")}${all.some(({ missing }) => missing) ? " and for their missing values" : ""} by the Benjamini\u2013Hochberg rule (false discovery rate at most ${percent(alpha)}). ` +
    `Sensitivity is how much a larger value makes a row look like ${samples.y} (+) or like ${samples.x} (\u2212), given all columns. ` +
    `All differences are ${samples.y} minus ${samples.x}.`
  );
}

const allFields = [
  { text: "column", key: "name", cell: (c) => c.name },
  { text: "type", key: "type", cell: (c) => c.type },
  { text: "difference by level", cell: (c) => (c.profile ? sparkline(c.profile, `Quantiles of ${samples.y} minus ${samples.x}: ${wherePhrase(c.where)}`) : "") },
  { text: "effect", key: "effect", number: true, cell: (c, largest) => [number(c.effect), bar(c.effect / largest)] },
  { text: "adjusted", key: "pvalue_adjusted", number: true, cell: (c) => h("span", { class: c.reject ? "strong" : null }, number(c.pvalue_adjusted)) },
  { text: "where", key: "where", cell: whereCell },
  { text: "missing", key: "missing", cell: missingCell },
  { text: "distance", key: "wasserstein", number: true, cell: (c) => number(c.wasserstein) },
  { text: "median shift", key: "shift", number: true, cell: (c) => (isCategory(c) ? "" : signed(c.shift)) },
  { text: "p-value", key: "pvalue", number: true, cell: (c) => number(c.pvalue) },
  { text: "sensitivity", key: "sensitivity", number: true, cell: (c) => (c.sensitivity === null ? "" : signed(c.sensitivity, 2)) },
];

function isCategory({ levels }) {
  return levels?.length > 0;
}

// The shares of a category or of two values, or the quantile levels that differ.
function whereCell(c) {
  if (c.where === "nowhere") return "nowhere";
  if (c.shares) return `${percent(c.shares.x)} \u2192 ${percent(c.shares.y)}`;
  if (!isCategory(c)) return c.where;
  const [news, gone] = [c.levels.filter(({ x }) => x === 0), c.levels.filter(({ y }) => y === 0)];
  const names = (word, levels) => (levels.length > 0 ? [`${word}: ${levels.slice(0, 3).map(({ name }) => name).join(", ")}${levels.length > 3 ? ", \u2026" : ""}`] : []);
  const changed = c.levels.slice(0, 2).map(({ name, x, y }) => `${name} ${percent(x)} \u2192 ${percent(y)}`);
  return [...changed, ...names("new", news), ...names("vanished", gone)].join("; ");
}

function missingCell({ missing }) {
  if (!missing) return "";
  return h("span", { class: missing.reject ? "strong" : null }, `${percent(missing.x)} \u2192 ${percent(missing.y)}`);
}

// Sorted by the column head that was clicked last; shows the first rows until the reader asks for all.
function rankedTable(all) {
  const caption = `Columns, ranked${all.length > shownAtOnce ? `; the first ${shownAtOnce} of ${integer(all.length)}` : ""}`;
  const largest = Math.max(...all.map((column) => column.effect)) || 1;
  const order = { key: null, descending: true };
  let shown = Math.min(shownAtOnce, all.length);
  const body = h("tbody");
  const captionElement = h("caption", null, caption);
  const fields = allFields.filter(({ key }) => key !== "missing" || all.some(({ missing }) => missing));
  const heads = fields.map((field) => headCell({ ...field, key: null, cell: null, text: field.key ? sortButton(field, sortBy) : field.text }));
  const more = h("button", { type: "button", class: "quiet", onclick: showAll }, `Show all ${integer(all.length)} columns`);

  function draw() {
    const sorted = order.key === null ? all : [...all].sort((a, b) => (order.descending ? -1 : 1) * compare(a[order.key], b[order.key]));
    body.replaceChildren(...sorted.slice(0, shown).map((column) => bodyRow(fields.map((field) => field.cell(column, largest)), fields)));
  }
  function sortBy(field) {
    order.descending = order.key === field.key ? !order.descending : field.number === true && !field.key.startsWith("pvalue");
    order.key = field.key;
    fields.forEach((other, i) => {
      if (other.key === field.key) heads[i].setAttribute("aria-sort", order.descending ? "descending" : "ascending");
      else heads[i].removeAttribute("aria-sort");
    });
    draw();
  }
  function showAll() {
    shown = all.length;
    captionElement.textContent = "Columns, ranked";
    more.remove();
    draw();
  }
  draw();
  return [
    h("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": "Columns, ranked" }, h("table", null, captionElement, h("thead", null, h("tr", null, heads)), body)),
    shown < all.length && more,
  ];
}

function sortButton(field, sortBy) {
  return h("button", { type: "button", class: "sort", title: `Sort by ${field.text}`, onclick: () => sortBy(field) }, field.text);
}

function compare(a, b) {
  if (typeof a === "object" || typeof b === "object") return (a ? Math.abs(a.y - a.x) : -1) - (b ? Math.abs(b.y - b.x) : -1);
  return typeof a === "string" ? a.localeCompare(b) : a - b;
}
