import { h, svg } from "./dom.js";

/** The key: lines and symbols of X and Y. */
export function sampleKey() {
  const sample = (name, dash, dot) =>
    h(
      "span",
      { class: `key ${name.toLowerCase()}` },
      svg(
        "svg",
        { width: 34, height: 12, "aria-hidden": "true" },
        svg("line", { x1: 0, x2: 34, y1: 6, y2: 6, stroke: "currentColor", "stroke-width": 2, "stroke-dasharray": dash }),
        svg("path", { d: dot, fill: "var(--paper)", stroke: "currentColor", "stroke-width": 1.5 }),
      ),
      name,
    );
  return h("p", { class: "keys" }, sample("X", "none", "M21 6a4 4 0 1 1-8 0a4 4 0 1 1 8 0"), sample("Y", "5 3", "M17 1.5l4.5 8h-9z"));
}

/** A bar to the left for X-like and to the right for Y-like values; `part` between -1 and 1. */
export function signedBar(part) {
  const width = `${(50 * Math.abs(part)).toFixed(1)}%`;
  const side = part < 0 ? { right: "50%" } : { left: "50%" };
  return h("span", { class: "signed-bar", "aria-hidden": "true" }, h("span", { class: part < 0 ? "x" : "y", style: { width, ...side } }));
}

/** A bar from the left; `part` between 0 and 1. */
export function bar(part) {
  return h("span", { class: "bar", "aria-hidden": "true" }, h("span", { style: { width: `${(100 * part).toFixed(1)}%` } }));
}
