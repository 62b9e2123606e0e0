import "./style.css";
import { drawHidden, h, section } from "./dom.js";
import { columns } from "./sections/columns.js";
import { compared } from "./sections/compared.js";
import { directions } from "./sections/directions.js";
import { images } from "./sections/images.js";
import { matrix } from "./sections/matrix.js";
import { permutations } from "./sections/permutations.js";
import { relations } from "./sections/relations.js";
import { rows } from "./sections/rows.js";
import { scatter } from "./sections/scatter.js";
import { settings } from "./sections/settings.js";
import { timeline } from "./sections/timeline.js";
import { verdict } from "./sections/verdict.js";
import { nameSamples } from "./samples.js";
import { themeButton } from "./theme.js";
import { visible } from "./words.js";

const text = document.getElementById("report").textContent;
const report = JSON.parse(text, (key, value) => (typeof value === "string" ? visible(value) : value));
if (report.kind !== "matrix") nameSamples(report.explanation?.names ?? report.result.names);
document.title = `${titleOf(report)} \u2013 kqd`;
document.getElementById("page").replaceWith(page());
openForPrint();

function titleOf({ kind, result }) {
  if (kind === "monitor") return `${result.batches.length} batches against ${result.baseline ?? "a baseline"}`;
  return kind === "matrix" ? `${result.names.length} data sets` : `${result.x} and ${result.y}`;
}

function page() {
  const parts = partsOf(report).flat(Infinity).filter(Boolean);
  return h(
    "div",
    { id: "page" },
    h("a", { class: "skip", href: "#verdict" }, "To the result"),
    h("header", null, h("p", { class: "brand" }, "kqd report"), h("p", { class: "subject" }, titleOf(report)), themeButton()),
    h("div", { class: "columns" }, contents(parts), h("main", null, parts)),
  );
}

function partsOf(report) {
  const { kind, explanation } = report;
  return [
    verdict(report),
    warnings(report),
    kind === "matrix" && matrix(report),
    kind === "monitor" && timeline(report),
    explanation && [columns(report), relations(report), images(report), directions(report), rows(report), scatter(report)],
    kind === "test" && permutations(report),
    kind !== "matrix" && kind !== "monitor" && compared(report),
    settings(report, text),
  ];
}

function warnings({ result, explanation, explanation_note: note }) {
  const unexplained = note ? [`No explanation of where the samples differ: ${note}`] : [];
  const texts = [...result.warnings, ...(explanation?.warnings ?? [])].map((warning) => warning.text ?? warning);
  const all = [...new Set([...texts, ...unexplained])];
  return all.length > 0 && section("warnings", "Warnings", h("ul", { class: "facts" }, all.map((warning) => h("li", null, warning))));
}

function contents(parts) {
  const link = (part) => h("li", null, h("a", { href: `#${part.id}` }, part.id === "verdict" ? "Result" : part.querySelector("h2").textContent));
  return h("nav", { "aria-label": "Contents" }, h("ul", null, parts.map(link)));
}

// On paper all details have to be open.
function openForPrint() {
  addEventListener("beforeprint", () => {
    drawHidden();
    for (const details of document.querySelectorAll("details:not([open])")) {
      details.open = true;
      details.dataset.opened = "";
    }
  });
  addEventListener("afterprint", () => {
    for (const details of document.querySelectorAll("details[data-opened]")) {
      details.open = false;
      delete details.dataset.opened;
    }
  });
}
