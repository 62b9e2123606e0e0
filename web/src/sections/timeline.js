import { columnsOverTime, evidenceOverTime, timelineChart } from "../charts_of_time.js";
import { chart, figure, h, section, table } from "../dom.js";
import { count, integer, interval, number, signed } from "../words.js";

const mostColumns = 40;

/** A baseline and its batches: effect sizes over time, columns over time, and each batch in detail. */
export function timeline({ result }) {
  const details = h("div", { id: "batch", tabindex: "-1", "aria-live": "polite" });
  const choose = (i) => details.replaceChildren(...batchDetails(result.batches[i], result));
  const first = result.batches.findIndex((batch) => batch.reject);
  if (result.batches.length > 0) choose(first >= 0 ? first : result.batches.length - 1);
  return result.batches.length === 0
    ? []
    : [
        section(
          "timeline",
          "Over time",
          figure(
            "Effect size of each batch against the baseline with its 95% interval; filled points differ after adjustment. Choose a batch to see what changed.",
            chart((width) => timelineChart(width, result, choose, describeTimeline(result))),
          ),
          details,
          batchTable(result, choose),
        ),
        columnMap(result),
        alarmPart(result),
      ];
}

function describeTimeline({ batches, n_rejected: rejected }) {
  return `Effect sizes of ${count(batches.length, "batch", "batches")} over time, of which ${integer(rejected)} differ; the numbers follow as a table.`;
}

function batchDetails(batch, { alpha }) {
  const columns = [...batch.columns].sort((a, b) => b.effect - a.effect).slice(0, 10);
  const effect = batch.effect_size_ci ? `${number(batch.effect_size)} (95% CI ${interval(batch.effect_size_ci)})` : number(batch.effect_size);
  const head = ["column", ...["Wasserstein distance, in SDs", "shift of the median", "adjusted p-value"].map((text) => ({ text, number: true }))];
  const rows = columns.map((column) => [
    column.name,
    number(column.effect),
    signed(column.shift),
    h("span", { class: column.adjusted_pvalue <= alpha ? "strong" : null }, number(column.adjusted_pvalue)),
  ]);
  return [
    h("h3", null, batch.name),
    h(
      "p",
      null,
      `${batch.reject ? "Differs" : "Does not differ"} from the baseline: p\u00a0=\u00a0${number(batch.pvalue)}, adjusted ${number(batch.adjusted_pvalue)}; effect size ${effect}; ${count(batch.n, "row")}.`,
      batch.changed && ` It differs most in ${batch.changed}.`,
    ),
    columns.length > 0 && table(`Columns of ${batch.name}, the largest change first`, head, rows),
  ].flat().filter(Boolean);
}

function batchTable({ batches, alpha }, choose) {
  const head = ["batch", ...["rows", "p-value", "adjusted", "effect size", "evidence"].map((text) => ({ text, number: true })), "changed"];
  const rows = batches.map((batch, i) => [
    h("button", { type: "button", class: "quiet", onclick: () => choose(i) }, batch.name),
    integer(batch.n),
    number(batch.pvalue),
    h("span", { class: batch.adjusted_pvalue <= alpha ? "strong" : null }, number(batch.adjusted_pvalue)),
    number(batch.effect_size),
    number(batch.evidence),
    batch.changed ?? "",
  ]);
  return h("details", null, h("summary", null, "All batches as a table"), table("All batches", head, rows, { className: "compact" }));
}

function columnMap({ batches }) {
  const largest = new Map();
  for (const { columns } of batches) {
    for (const { name, effect } of columns) largest.set(name, Math.max(effect, largest.get(name) ?? 0));
  }
  const names = [...largest.keys()].sort((a, b) => largest.get(b) - largest.get(a));
  if (names.length === 0) return null;
  const shown = names.slice(0, mostColumns);
  const note = names.length > shown.length ? ` The ${shown.length} of ${names.length} columns with the largest differences.` : "";
  return section(
    "columns-over-time",
    "Columns over time",
    figure(
      `Wasserstein distance of each column to the baseline, in pooled standard deviations: the darker, the further.${note}`,
      chart((width) => columnsOverTime(width, { batches, names: shown }, `Heat map of ${count(shown.length, "column")} over ${count(batches.length, "batch", "batches")}.`)),
    ),
  );
}

function alarmPart(result) {
  const { batches, threshold, alarm, change, alpha, average_run_length: length } = result;
  const promise = length === null
    ? `While nothing changes, the evidence ever reaches ${number(threshold)} with probability ${number(alpha)} at most, however often it is looked at.`
    : `While nothing changes, the alarm is raised once in ${number(length)} batches on average.`;
  const state = alarm === null
    ? "The alarm was not raised."
    : `The alarm was raised at ${alarm}; the change began with ${change.start}${change.likely.length > 1 ? ` (${number(100 * change.confidence_level)}% confidence set: ${change.likely[0]} to ${change.likely.at(-1)})` : ""}.`;
  return section(
    "alarm",
    "Alarm",
    h("p", null, `${state} ${promise} Batches are its units: rows within a batch may depend on each other.`),
    figure("Evidence against \u201cnothing changes\u201d after each batch; the dashed line is the threshold.", chart((width) => evidenceOverTime(width, { batches, threshold }, "Evidence of the alarm over time."))),
  );
}
