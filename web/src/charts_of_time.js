import * as Plot from "@observablehq/plot";
import { plot, readable } from "./charts.js";
import { number, shortened } from "./words.js";

const labelEach = (width, count) => Math.max(1, Math.ceil((count * 26) / width));

// Names of some batches below the axis, as many as there is room for.
function timeAxis(width, batches) {
  const each = labelEach(width, batches.length);
  return {
    label: null,
    domain: batches.map((_, i) => i),
    ticks: batches.map((_, i) => i).filter((i) => i % each === 0),
    tickFormat: (i) => shortened(batches[i].name, 14),
    tickRotate: -45,
    tickSize: 3,
  };
}

const margins = { marginLeft: 56, marginTop: 24, marginBottom: 84, marginRight: 12 };

/** The effect size of each batch with its interval; a click on a batch calls `choose` with its number. */
export function timelineChart(width, { batches }, choose, description) {
  const points = batches.map((batch, i) => ({ ...batch, i, low: batch.effect_size_ci?.[0], high: batch.effect_size_ci?.[1] }));
  const drawn = plot(width, description, {
    height: 300,
    ...margins,
    x: { type: "point", ...timeAxis(width - 68, batches) },
    y: { label: "effect size", grid: true, nice: true, tickFormat: readable },
    marks: [
      Plot.ruleY([0], { stroke: "currentColor" }),
      Plot.link(points.filter(({ low }) => low !== undefined), { x: "i", y1: "low", y2: "high", stroke: "var(--soft)", strokeWidth: 1.4 }),
      Plot.dot(points, { x: "i", y: "effect_size", r: 4.5, stroke: "var(--accent)", fill: (d) => (d.reject ? "var(--accent)" : "var(--paper)"), strokeWidth: 1.6 }),
      Plot.tip(points, Plot.pointerX({ x: "i", y: "effect_size", title: (d) => `${d.name}\neffect size ${number(d.effect_size)}\nadjusted p = ${number(d.adjusted_pvalue)}` })),
    ],
  });
  const scale = drawn.scale("x");
  drawn.addEventListener("click", (event) => {
    const box = drawn.getBoundingClientRect();
    const place = ((event.clientX - box.left) / box.width) * width;
    const distances = scale.domain.map((i) => Math.abs(scale.apply(i) - place));
    choose(distances.indexOf(Math.min(...distances)));
  });
  drawn.style.setProperty("cursor", "pointer");
  return drawn;
}

/** The distance of each column to the baseline over time; the darker the further. */
export function columnsOverTime(width, { batches, names }, description) {
  const cells = batches.flatMap((batch, i) =>
    batch.columns.filter(({ name }) => names.includes(name)).map(({ name, effect, adjusted_pvalue: p }) => ({ i, name, effect, p })),
  );
  const largest = Math.max(...cells.map(({ effect }) => effect)) || 1;
  const margin = 16 + 7 * Math.max(...names.map((name) => shortened(name, 20).length));
  return plot(width, description, {
    height: 110 + Math.max(18, Math.min(30, 480 / names.length)) * names.length,
    ...margins,
    marginLeft: margin,
    padding: batches.length > 60 ? 0 : 0.06,
    x: { type: "band", ...timeAxis(width - margin, batches) },
    y: { label: null, domain: names, tickSize: 0, tickFormat: (name) => shortened(name, 20) },
    opacity: { type: "identity" },
    marks: [
      Plot.cell(cells, { x: "i", y: "name", fill: "var(--accent)", fillOpacity: (d) => d.effect / largest }),
      Plot.tip(cells, Plot.pointer({ x: "i", y: "name", title: (d) => `${d.name}\n${batches[d.i].name}\n${number(d.effect)} SDs, adjusted p = ${number(d.p)}` })),
    ],
  });
}

/** The evidence of the alarm after each batch, on a logarithmic axis, and its threshold. */
export function evidenceOverTime(width, { batches, threshold }, description) {
  const points = batches.map(({ name, evidence }, i) => ({ i, name, evidence: Math.max(evidence, 1e-3) }));
  return plot(width, description, {
    height: 240,
    ...margins,
    x: { type: "point", ...timeAxis(width - 68, batches) },
    y: { type: "log", label: "evidence", grid: true, ticks: 5, tickFormat: readable, domain: [Math.min(0.1, ...points.map((d) => d.evidence)), Math.max(2 * threshold, ...points.map((d) => d.evidence))] },
    marks: [
      Plot.ruleY([threshold], { stroke: "var(--accent)", strokeDasharray: "5 3" }),
      Plot.line(points, { x: "i", y: "evidence", stroke: "currentColor", strokeWidth: 1.6 }),
      Plot.dot(points, { x: "i", y: "evidence", r: 2.4, fill: "currentColor" }),
      Plot.tip(points, Plot.pointerX({ x: "i", y: "evidence", title: (d) => `${d.name}\nevidence ${number(d.evidence)}` })),
    ],
  });
}
