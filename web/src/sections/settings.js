import { h, section } from "../dom.js";
import { number } from "../words.js";

/** How it was computed, how to repeat it, and all numbers as a file. The library gives the fields and their labels. */
export function settings(report, text) {
  const { result, labels, command, version } = report;
  const known = Object.entries(labels).map(([name, label]) => [label, shown(name, result[name])]).filter(([, value]) => value !== "");
  return section(
    "settings",
    "How it was computed",
    h("dl", { class: "settings" }, [...known, ["version", `kqd ${version}`]].map(([label, value]) => h("div", null, h("dt", null, label), h("dd", null, value)))),
    command && [h("h3", null, "Repeat it"), h("p", null, "The same seed gives the same result for any number of threads."), commandBlock(command)],
    h("p", { class: "no-print" }, h("button", { type: "button", onclick: () => download(text) }, "Download all numbers as JSON")),
  );
}

// Empty for settings that the method does not have or that are off.
function shown(name, value) {
  const isNoCount = value === 0 && /^(n|num)_/.test(name);
  if (value === null || value === undefined || value === false || isNoCount) return "";
  if (value === true) return "yes";
  if (typeof value === "number") return number(value, 6);
  if (Array.isArray(value)) return value.join(", ");
  return typeof value === "object" ? entries(value) : String(value);
}

function entries(object) {
  return Object.entries(object ?? {})
    .map(([name, value]) => `${name} = ${typeof value === "number" ? number(value, 6) : value}`)
    .join(", ");
}

function commandBlock(command) {
  const code = h("code", null, command);
  const button = h("button", { type: "button", class: "quiet no-print", onclick: () => copy(code, button) }, "Copy");
  return h("div", { class: "command" }, h("pre", { tabindex: "0", "aria-label": "Command that repeats it" }, code), button);
}

// Without access to the clipboard the text is selected, so that the reader can copy it.
async function copy(code, button) {
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(code);
    button.textContent = "Selected";
  }
}

function download(text) {
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  h("a", { href: address, download: "kqd-report.json" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
