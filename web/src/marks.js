import { h, svg } from "./dom.js";
import { samples } from "./samples.js";
import { shortened } from "./words.js";

const longestName = 40;

/** The name of a sample in its colour, and what follows it. */
export function sampleName(key, after = "") {
  return h("span", { class: `key ${key}` }, shortened(samples[key], longestName), after);
}

/** The key: lines and symbols of both samples. */
export function sampleKey() {
  const sample = (key, dash, dot) =>
    h(
      "span",
      { class: `key ${key}` },
      svg(
        "svg",
        { width: 34, height: 12, "aria-hidden": "true" },
        svg("line", { x1: 0, x2: 34, y1: 6, y2: 6, stroke: "currentColor", "stroke-width": 2, "stroke-dasharray": dash }),
        svg("path", { d: dot, fill: "var(--paper)", stroke: "currentColor", "stroke-width": 1.5 }),
      ),
      shortened(samples[key], longestName),
    );
  return h("p", { class: "keys" }, sample("x", "none", "M21 6a4 4 0 1 1-8 0a4 4 0 1 1 8 0"), sample("y", "5 3", "M17 1.5l4.5 8h-9z"));
}

/** A bar to the left for values like the first sample and to the right for those like the second; `part` between -1 and 1. */
export function signedBar(part) {
  const width = `${(50 * Math.abs(part)).toFixed(1)}%`;
  const side = part < 0 ? { right: "50%" } : { left: "50%" };
  return h("span", { class: "signed-bar", "aria-hidden": "true" }, h("span", { class: part < 0 ? "x" : "y", style: { width, ...side } }));
}

/** A bar from the left; `part` between 0 and 1. */
export function bar(part) {
  return h("span", { class: "bar", "aria-hidden": "true" }, h("span", { style: { width: `${(100 * part).toFixed(1)}%` } }));
}
