import * as Plot from "@observablehq/plot";
import { svg } from "./dom.js";
import { samples } from "./samples.js";
import { number, shortened } from "./words.js";

const xColour = "var(--x)";
const yColour = "var(--y)";
const faint = "var(--rule)";
// The first sample is a solid line and the second a dashed one: distinguishable without colours.
const broken = "5 3";

export function plot(width, description, options) {
  const chart = Plot.plot({ width, className: "chart", ariaLabel: description, ...options });
  chart.setAttribute("role", "img");
  return chart;
}

const ticks = (width, each = 80) => Math.max(2, Math.round(width / each));
export const readable = (value) => number(value, 4);

// Values so small that the step between two ticks would vanish are drawn enlarged; ticks show their true size.
function enlarged(values) {
  const largest = Math.max(0, ...values.map(Math.abs));
  const factor = largest > 0 && largest < 1e-200 ? 1e200 : 1;
  return { draw: (value) => value * factor, tickFormat: (value) => readable(value / factor) };
}

// Bars of equal width from the least value on: 40 for the values, but none so narrow that it cannot be seen when the
// observed value is far off.
function barsOf(values, observed) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const step = Math.max((most - least) / 40, (Math.max(most, observed) - Math.min(least, observed)) / 150) || 1;
  const counts = Array(Math.floor((most - least) / step) + 1).fill(0);
  for (const value of values) counts[Math.floor((value - least) / step)] += 1;
  return counts.map((count, i) => ({ from: least + i * step, to: least + (i + 1) * step, count }));
}

/** The null distribution as bars, the observed statistic as a line. */
export function nullHistogram(width, { values: all, observed: statistic }, description) {
  const { draw, tickFormat } = enlarged([...all, statistic]);
  const values = all.map(draw);
  const observed = draw(statistic);
  const right = observed > (Math.min(...values, observed) + Math.max(...values, observed)) / 2;
  return plot(width, description, {
    height: 220,
    marginTop: 30,
    marginBottom: 42,
    x: { label: "statistic", ticks: ticks(width), tickFormat, nice: true },
    y: { label: "permutations", ticks: 4, grid: true },
    marks: [
      Plot.rectY(barsOf(values, observed), { x1: "from", x2: "to", y: "count", fill: "var(--muted-fill)", insetRight: 0.6 }),
      Plot.ruleY([0], { stroke: "currentColor" }),
      Plot.ruleX([observed], { stroke: "var(--accent)", strokeWidth: 2.5 }),
      Plot.text([observed], {
        x: (d) => d,
        text: () => `observed ${number(statistic, 4)}`,
        frameAnchor: right ? "top-right" : "top-left",
        textAnchor: right ? "end" : "start",
        dy: -18,
        fill: "var(--accent)",
        fontSize: 12,
        fontWeight: 600,
      }),
    ],
  });
}

/** A p-value with its interval and the significance level, on a logarithmic axis that ends below the smallest possible p-value. */
export function pvalueStrip(width, { pvalue, low, high, alpha, smallest }, description) {
  const from = Math.min(smallest, pvalue, alpha, low > 0 ? low : Infinity) / 2;
  return plot(width, description, {
    height: 92,
    marginTop: 24,
    marginBottom: 42,
    x: { type: "log", domain: [from, 1], label: "p-value", ticks: ticks(width, 110), tickFormat: readable },
    y: { axis: null, domain: [-1, 1] },
    marks: [
      Plot.rect([0], { x1: from, x2: alpha, y1: -1, y2: 1, fill: "var(--accent)", fillOpacity: 0.09 }),
      Plot.ruleX([alpha], { stroke: "currentColor", strokeDasharray: "2 3" }),
      Plot.text([alpha], { x: (d) => d, frameAnchor: "top", dy: -14, text: (d) => `level ${number(d)}`, fontSize: 11 }),
      Plot.link([0], { x1: Math.max(low, from), x2: high, y1: 0, y2: 0, stroke: "var(--accent)", strokeWidth: 3 }),
      Plot.dot([pvalue], { x: (d) => d, y: 0, r: 6, fill: "var(--accent)", stroke: "var(--paper)", strokeWidth: 1.5 }),
    ],
  });
}

// "april \u2212 march": differences are the second sample minus the first.
const differenceName = (length) => `${shortened(samples.y, length)} \u2212 ${shortened(samples.x, length)}`;

/** Quantiles of the second sample minus those of the first over the levels; above the line the second is larger. */
export function profileChart(width, { levels, difference }, description) {
  const { draw, tickFormat } = enlarged(difference);
  const points = levels.map((level, i) => ({ level, difference: draw(difference[i]), gap: difference[i] }));
  const part = (keep, fill) =>
    Plot.areaY(points, { x: "level", y1: 0, y2: (d) => keep(d.difference), fill, fillOpacity: 0.3 });
  return plot(width, description, {
    height: 220,
    marginLeft: 56,
    marginTop: 32,
    marginBottom: 42,
    x: { label: "quantile level", domain: [0, 1], ticks: [0, 0.25, 0.5, 0.75, 1], tickFormat: readable },
    y: { label: `${differenceName(14)} at this level`, ticks: 5, grid: true, tickFormat, nice: true },
    marks: [
      part((d) => Math.min(d, 0), xColour),
      part((d) => Math.max(d, 0), yColour),
      Plot.ruleY([0], { stroke: "currentColor" }),
      Plot.line(points, { x: "level", y: "difference", stroke: "currentColor", strokeWidth: 1.6 }),
      Plot.tip(
        points,
        Plot.pointerX({ x: "level", y: "difference", title: (d) => `level ${number(d.level)}\n${differenceName(28)} = ${number(d.gap)}` }),
      ),
    ],
  });
}

/** The densities of both samples along a direction. */
export function densityChart(width, { at, x, y }, label, description, type = "number") {
  const { draw, tickFormat } = enlarged(at);
  const curve = (values) => at.map((place, i) => ({ place: draw(place), density: values[i] }));
  const sample = (values, stroke, strokeDasharray) => [
    Plot.areaY(curve(values), { x: "place", y: "density", fill: stroke, fillOpacity: 0.1 }),
    Plot.line(curve(values), { x: "place", y: "density", stroke, strokeWidth: 2, strokeDasharray }),
  ];
  return plot(width, description, {
    height: 220,
    marginTop: 32,
    marginBottom: 42,
    marginLeft: 20,
    x: { label: shortened(label, 32), ticks: ticks(width, type === "date" ? 100 : 70), tickFormat: type === "date" ? dayText : tickFormat },
    y: { label: "density", ticks: [] },
    marks: [...sample(x, xColour, null), ...sample(y, yColour, broken), Plot.ruleY([0], { stroke: "currentColor" })],
  });
}

/** A profile as small as a word. */
export function sparkline({ levels, difference }, description) {
  const [width, height] = [96, 26];
  const largest = Math.max(...difference.map(Math.abs)) || 1;
  const x = (i) => (levels[i] * width).toFixed(1);
  const y = (value) => (height / 2 - (value / largest) * (height / 2 - 1.5)).toFixed(1);
  const area = (keep) => {
    const line = difference.map((value, i) => `L${x(i)},${y(keep(value))}`).join("");
    return `M${x(0)},${y(0)}${line}L${x(levels.length - 1)},${y(0)}Z`;
  };
  return svg(
    "svg",
    { class: "spark", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": description },
    svg("path", { d: area((value) => Math.max(value, 0)), fill: yColour }),
    svg("path", { d: area((value) => Math.min(value, 0)), fill: xColour }),
    svg("line", { x1: 0, x2: width, y1: height / 2, y2: height / 2, stroke: faint }),
  );
}

/** Both samples along two directions. */
export function scatterChart(width, { names, x, y }, description) {
  const side = Math.min(width, 620);
  const [first, second] = [0, 1].map((i) => enlarged([...x, ...y].map((point) => point[i])));
  const dots = (points, colour, symbol) =>
    Plot.dot(points, {
      x: (d) => first.draw(d[0]),
      y: (d) => second.draw(d[1]),
      symbol,
      stroke: colour,
      strokeOpacity: 0.75,
      strokeWidth: 1.2,
      r: points.length > 600 ? 2.2 : 3.2,
      clip: true,
    });
  return plot(width, description, {
    height: side * 0.78,
    marginLeft: 52,
    marginTop: 32,
    marginBottom: 42,
    grid: true,
    x: { label: shortened(names[0], 32), ticks: ticks(width), tickFormat: first.tickFormat, nice: true },
    y: { label: shortened(names[1], 32), ticks: 6, tickFormat: second.tickFormat, nice: true },
    marks: [dots(x, xColour, "circle"), dots(y, yColour, "triangle")],
  });
}

const nameLength = (width) => (width < 560 ? 14 : 28);

function nameMargin(names, width) {
  return 16 + 7 * Math.max(...names.map((name) => shortened(name, nameLength(width)).length));
}

/** Distances as a square; the darker the further. */
export function heatMap(width, { names, values, order }, description) {
  const margin = nameMargin(names, width);
  const size = Math.min(width - margin, 46 * names.length);
  const cell = size / names.length;
  const largest = values.reduce((most, row) => Math.max(most, ...row), 0) || 1;
  const cells = order.flatMap((i, row) =>
    order.map((j, column) => ({ row, column, i, j, value: values[i][j], part: values[i][j] / largest })),
  );
  const pairs = cells.filter(({ i, j }) => i !== j);
  const place = { x: "column", y: "row" };
  return plot(margin + size, description, {
    height: size + margin + 8,
    marginLeft: margin,
    marginTop: margin,
    marginBottom: 8,
    marginRight: 0,
    padding: cell > 12 ? 0.06 : 0,
    x: { label: null, axis: "top", tickRotate: -90, tickSize: 0, tickFormat: (place) => shortened(names[order[place]], nameLength(width)) },
    y: { label: null, tickSize: 0, tickFormat: (place) => shortened(names[order[place]], nameLength(width)) },
    opacity: { type: "identity" },
    marks: [
      Plot.cell(pairs, { ...place, fill: "var(--map)", fillOpacity: "part" }),
      cell >= 34
        ? Plot.text(pairs, {
            ...place,
            text: (d) => number(d.value, 2),
            fill: "var(--ink)",
            fontSize: cell > 42 ? 11 : 9,
          })
        : null,
      Plot.tip(
        pairs,
        Plot.pointer({ ...place, title: (d) => `${names[d.i]}\n${names[d.j]}\n${number(d.value, 4)}` }),
      ),
    ],
  });
}

/** Which data sets join at which distance. */
export function dendrogram(width, { names, order, lines }, description) {
  const margin = nameMargin(names, width);
  const { draw, tickFormat } = enlarged(lines.flat().map(({ height }) => height));
  return plot(width, description, {
    height: 48 + Math.max(16, Math.min(30, 600 / names.length)) * names.length,
    marginLeft: margin,
    marginTop: 10,
    marginBottom: 42,
    x: { label: "mean distance at which they join", ticks: ticks(width), tickFormat, nice: true, grid: true },
    y: {
      label: null,
      domain: [names.length - 0.5, -0.5],
      ticks: order.map((_, place) => place),
      tickSize: 0,
      tickFormat: (place) => shortened(names[order[place]], nameLength(width)),
    },
    marks: lines.map((line) => Plot.line(line, { x: (d) => draw(d.height), y: "place", stroke: "currentColor", strokeWidth: 1.4, strokeLinecap: "square" })),
  });
}

const bySample = (entries, fields) => entries.flatMap((entry) => [
  { ...fields(entry), value: entry.x, sample: "x" },
  { ...fields(entry), value: entry.y, sample: "y" },
]);
const sampleColour = (d) => (d.sample === "x" ? xColour : yColour);

/** Points of both samples in rows that are named, joined by a line: from the first sample to the second. */
function namedPoints(width, entries, { label, description, tickFormat }) {
  const names = entries.map(({ name }) => name);
  const margin = nameMargin(names, width);
  return plot(width, description, {
    height: 60 + 26 * entries.length,
    marginLeft: margin,
    marginTop: 14,
    marginBottom: 42,
    marginRight: 24,
    x: { label, ticks: ticks(width), tickFormat, nice: true, grid: true },
    y: { label: null, domain: names, tickSize: 0, tickFormat: (name) => shortened(name, nameLength(width)) },
    marks: [
      Plot.link(entries, { y1: "name", y2: "name", x1: "x", x2: "y", stroke: "currentColor", strokeOpacity: 0.4, strokeWidth: 1.5 }),
      Plot.dot(bySample(entries, ({ name }) => ({ name })), {
        x: "value",
        y: "name",
        symbol: (d) => (d.sample === "x" ? "circle" : "triangle"),
        stroke: sampleColour,
        fill: "var(--paper)",
        strokeWidth: 1.8,
        r: 5,
        title: (d) => `${d.name}\n${samples[d.sample]}: ${readable(d.value)}`,
        tip: true,
      }),
    ],
  });
}

/** The shares of levels in both samples. */
export function shareChart(width, levels, description) {
  return namedPoints(width, levels, { label: "share of the rows", description, tickFormat: (share) => `${number(100 * share)}%` });
}

/** The mean of a number in each level, in both samples. */
export function levelMeans(width, cells, name, description) {
  const entries = cells.map(({ second, x, y }) => ({ name: second, x, y }));
  return namedPoints(width, entries, { label: `mean of ${shortened(name, 28)}`, description, tickFormat: readable });
}

/** The change of the share of each pair of levels: orange more, blue fewer. */
export function changeMap(width, { cells }, description) {
  const names = (key) => [...new Set(cells.map((cell) => cell[key]))].sort();
  const [rows, columns] = [names("first"), names("second")];
  const margin = nameMargin(rows, width);
  const top = nameMargin(columns, width);
  const step = Math.min(56, (width - margin) / columns.length);
  const largest = Math.max(...cells.map(({ change }) => Math.abs(change))) || 1;
  return plot(margin + step * columns.length, description, {
    height: top + 34 * rows.length + 8,
    marginLeft: margin,
    marginTop: top,
    marginBottom: 8,
    marginRight: 0,
    padding: 0.06,
    x: { label: null, axis: "top", domain: columns, tickRotate: -90, tickSize: 0, tickFormat: (name) => shortened(name, nameLength(width)) },
    y: { label: null, domain: rows, tickSize: 0, tickFormat: (name) => shortened(name, nameLength(width)) },
    opacity: { type: "identity" },
    marks: [
      Plot.cell(cells, {
        x: "second",
        y: "first",
        fill: (d) => (d.change < 0 ? xColour : yColour),
        fillOpacity: (d) => 0.75 * (Math.abs(d.change) / largest),
        title: (d) => `${d.first}, ${d.second}\n${samples.x} ${number(100 * d.x)}%, ${samples.y} ${number(100 * d.y)}%\nchange ${number(100 * d.change, 2)} points`,
        tip: true,
      }),
      step >= 40 ? Plot.text(cells, { x: "second", y: "first", text: (d) => number(100 * d.change, 2), fill: "var(--ink)", fontSize: 11 }) : null,
    ],
  });
}

const asDay = (text) => Date.parse(text) / 86400000;
const isNumber = (text) => text !== "" && Number.isFinite(Number(text));

/** The mean of the second number along the first, in both samples. */
export function curves(width, { cells, first, second }, description) {
  const dates = cells.some((cell) => !isNumber(cell.first));
  const entries = cells.map((cell) => ({ ...cell, at: dates ? asDay(cell.first) : Number(cell.first) }));
  const line = (key, stroke, strokeDasharray, symbol) => [
    Plot.line(entries, { x: "at", y: key, stroke, strokeWidth: 2, strokeDasharray }),
    Plot.dot(entries, { x: "at", y: key, stroke, symbol, fill: "var(--paper)", strokeWidth: 1.6, r: 4 }),
  ];
  return plot(width, description, {
    height: 240,
    marginLeft: 60,
    marginTop: 32,
    marginBottom: 42,
    x: { label: shortened(first, 32), ticks: ticks(width), tickFormat: dates ? dayText : readable, nice: true },
    y: { label: `mean of ${shortened(second, 28)}`, ticks: 5, grid: true, tickFormat: readable, nice: true },
    marks: [...line("x", xColour, null, "circle"), ...line("y", yColour, broken, "triangle")],
  });
}

function dayText(days) {
  return new Date(days * 86400000).toISOString().slice(0, 10);
}
