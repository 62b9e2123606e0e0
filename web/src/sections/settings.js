import { h, section } from "../dom.js";
import { number } from "../words.js";

const rows = [
  ["method", (r) => r.method],
  ["kernel", (r) => r.kernel],
  ["bandwidth", (r) => r.bandwidth],
  ["directions", (r) => (r.directions ? `${r.num_directions} ${r.directions}` : null)],
  ["reference points", (r) => (r.num_reference > 0 ? `${r.num_reference}, ${r.reference}` : null)],
  ["rows set aside", (r) => r.n_set_aside || null],
  ["power", (r) => r.power],
  ["weighting of levels", (r) => r.weighting],
  ["parameters", (r) => entries(r.parameters)],
  ["details", (r) => entries(r.details)],
  ["design", (r) => r.design],
  ["calibration", (r) => r.calibration],
  ["permutations", (r) => r.n_resamples ?? r.n_permutations],
  ["level", (r) => r.alpha],
  ["seed", (r) => r.seed],
  ["threads", (r) => r.threads],
  ["instruction set", (r) => r.simd],
  ["seconds", (r) => r.elapsed_s],
];

/** How it was made, how to make it again, and all numbers as a file. */
export function settings(report, text) {
  const { result, command, version } = report;
  const known = rows.map(([name, value]) => [name, value(result)]).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return section(
    "settings",
    "How it was made",
    h("dl", { class: "settings" }, [...known, ["version", `kqd ${version}`]].map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, typeof value === "number" ? number(value, 6) : String(value))))),
    command && [h("h3", null, "Again"), h("p", null, "The same seed gives the same result, whatever the number of threads."), commandBlock(command)],
    h("p", { class: "no-print" }, h("button", { type: "button", onclick: () => download(text) }, "Download all numbers as JSON")),
  );
}

function entries(object) {
  return Object.entries(object ?? {})
    .map(([name, value]) => `${name} = ${typeof value === "number" ? number(value, 6) : value}`)
    .join(", ");
}

function commandBlock(command) {
  const code = h("code", null, command);
  const button = h("button", { type: "button", class: "quiet no-print", onclick: () => copy(code, button) }, "Copy");
  return h("div", { class: "command" }, h("pre", { tabindex: "0", "aria-label": "Command to repeat it" }, code), button);
}

// Where the clipboard is out of reach the text is selected, for the reader's own keys.
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
