import { h, svg } from "../dom.js";
import { samples } from "../samples.js";
import { changes, mainFigure } from "./changes.js";
import { count, integer, interval, list, number, percent, wherePhrase } from "../words.js";

/** The result in words: the first section of the page. */
export function verdict(report) {
  const words = { test: testWords, distance: distanceWords, matrix: matrixWords, explanation: explanationWords, monitor: monitorWords }[report.kind](report);
  return h(
    "section",
    { id: "verdict", "aria-labelledby": "verdict-title" },
    h("h1", { id: "verdict-title" }, words.title),
    words.sentences.map((sentence, i) => [h("p", { class: "lead" }, sentence), i === 0 && report.result?.verdict && marginBar(report.result)]),
    h("div", { class: "first-screen" }, h("div", null, changes(report), keyFigures(words.figures)), mainFigure(report)),
    words.caution && h("p", { class: "caution" }, words.caution),
  );
}

function keyFigures(figures) {
  return h(
    "dl",
    { class: "key-figures" },
    figures.map(([term, value, note]) => h("div", null, h("dt", null, term), h("dd", null, h("strong", null, value), h("span", null, note)))),
  );
}

function testWords(report) {
  const { result, explanation } = report;
  return {
    title: testTitle(result, explanation),
    sentences: [
      marginSentence(result),
      pvalueSentence(result),
      whereSentence(result, explanation),
      explanationRejects(result, explanation)
        ? "The tests of single columns, relations and directions, with p-values adjusted for all of them, do find a difference. Which of the two counts should be decided before looking at the results."
        : "",
    ],
    figures: [
      ["p-value", number(result.pvalue), pvalueNote(result)],
      ...(result.separation ? [["separation", number(result.separation), separationNote(result)]] : []),
      ["effect size", result.n_resamples > 0 ? number(result.effect_size) : "\u2013", effectNote(result)],
      ["statistic", number(result.statistic, 4), nullNote(result)],
    ],
    caution: testCaution(result),
  };
}

const marginTitles = {
  different: "The samples differ by more than the margin",
  equivalent: "The samples are equivalent within the margin",
  undecided: "Undecided: the difference may be smaller or larger than the margin",
};

function marginSentence({ verdict, margin, pvalue_beyond, pvalue_within, alpha, rows_needed, margin_basis, batch_effects }) {
  if (!verdict) return "";
  const source = batch_effects.length > 0 ? `, learnt from ${count(batch_effects.length, "reference batch", "reference batches")}` : "";
  const pvalue = { different: pvalue_beyond, equivalent: pvalue_within }[verdict];
  const decision = pvalue === undefined ? "" : ` p\u00a0=\u00a0${number(pvalue, 2)} at level ${number(alpha)}.`;
  const more = rows_needed ? ` A verdict needs about ${count(rows_needed, "row")}, if the effect is as estimated.` : "";
  return `The margin is as far apart as a shift by ${number(margin)} standard deviations in one column${source}.${decision}${more} The verdict is ${margin_basis}.`;
}

/** The interval of the effect over an axis from 0, with the margin as a line. */
function marginBar({ verdict, margin, effect_size, effect_size_ci: [low, high] }) {
  const [width, left, right, axis] = [640, 12, 628, 58];
  const end = 1.15 * Math.max(margin, high, effect_size);
  const at = (value) => left + ((right - left) * Math.max(0, value)) / (end || 1);
  const colour = { different: "var(--accent)", equivalent: "var(--x)", undecided: "var(--soft)" }[verdict];
  const label = (value, y, text) => {
    const place = at(value);
    const anchor = place < 120 ? "start" : place > width - 120 ? "end" : "middle";
    return svg("text", { x: place, y, "text-anchor": anchor, fill: "currentColor", "font-size": 13 }, text);
  };
  return svg(
    "svg",
    {
      viewBox: `0 0 ${width} 92`,
      class: "margin-bar",
      role: "img",
      "aria-label": `effect ${number(effect_size)}, interval ${interval([low, high])}, margin ${number(margin)}`,
    },
    svg("rect", { x: at(0), y: axis - 22, width: at(margin) - at(0), height: 22, fill: "var(--raised)" }),
    svg("line", { x1: left, x2: right, y1: axis, y2: axis, stroke: "var(--rule)" }),
    svg("line", { x1: at(low), x2: at(high), y1: axis - 11, y2: axis - 11, stroke: colour, "stroke-width": 6, "stroke-linecap": "round" }),
    svg("circle", { cx: at(effect_size), cy: axis - 11, r: 6, fill: "var(--paper)", stroke: colour, "stroke-width": 3 }),
    svg("line", { x1: at(margin), x2: at(margin), y1: axis - 30, y2: axis + 8, stroke: "currentColor", "stroke-width": 1.5, "stroke-dasharray": "4 3" }),
    label(effect_size, axis - 34, `effect ${number(Math.max(0, effect_size), 2)}`),
    label(margin, axis + 24, `margin ${number(margin, 2)}`),
    Math.abs(at(margin) - left) > 40 && label(0, axis + 24, "0"),
  );
}

function separationNote({ separation_ci, confidence_level }) {
  return `${percent(confidence_level)} CI ${interval(separation_ci)}; probability that a simple rule tells a row of ${samples.x} from a row of ${samples.y}, 0.5 by chance`;
}

function testTitle(result, explanation) {
  if (result.verdict) return marginTitles[result.verdict];
  if (result.reject) return "The samples differ";
  return explanationRejects(result, explanation) ? "This test found no difference" : "No difference found";
}

// The tests of single columns and directions can reject when the test of the whole does not.
function explanationRejects(result, explanation) {
  if (result.reject !== false || !explanation) return false;
  return explanation.changes.length > 0 || explanation.directions.some((direction) => direction.reject);
}

function pvalueSentence(result) {
  const decision = `${result.reject ? "reject" : "do not reject"} equal distributions at level ${number(result.alpha)}`;
  const level = `p\u00a0=\u00a0${number(result.pvalue)}: ${decision}.`;
  if (result.n_resamples === 0) return `${level} The p-value is asymptotic (${result.limiting_distribution}).`;
  const among = result.enumerated ? `all ${count(result.n_resamples, "permutation")}` : count(result.n_resamples, "random permutation");
  return `${level} Of ${among} of the labels, ${integer(result.n_exceed)} ${result.n_exceed === 1 ? "is" : "are"} at least as extreme as the data.`;
}

function whereSentence(result, explanation) {
  if (!explanation) return "";
  const { columns, relations = [], n_relations_examined: pairs } = explanation;
  const parts = [
    [columns.filter(({ reject }) => reject).length, columns.length, "column"],
    [columns.filter(({ missing }) => missing?.reject).length, columns.filter(({ missing }) => missing).length, "share of missing values", "shares of missing values"],
    [relations.filter(({ reject }) => reject).length, pairs, "relation between columns", "relations between columns"],
  ].filter(([found]) => found > 0);
  if (parts.length > 0) {
    const verb = parts.length === 1 && parts[0][0] === 1 ? "differs" : "differ";
    return `${capital(list(parts.map(foundPart)))} ${verb}.`;
  }
  const direction = explanation.directions.find((candidate) => candidate.reject);
  if (direction) {
    const how = explanation.columns.length > 0 ? "No column differs by itself; the columns differ in combination, most along" : "They differ most along";
    return `${how} ${direction.name}, ${wherePhrase(direction.where)}.`;
  }
  return result.reject ? `No single ${explanation.columns.length > 0 ? "column or " : ""}direction differs significantly after adjustment for multiple testing.` : "";
}

// "2 of 8 columns", or "the share of missing values" where only one column has such values.
function foundPart([found, of, one, many]) {
  return of === 1 ? `the ${one}` : `${integer(found)} of ${count(of, one, many)}`;
}

const capital = (text) => text[0].toUpperCase() + text.slice(1);

function pvalueNote(result) {
  if (result.n_resamples === 0) return "asymptotic";
  if (result.enumerated) return "exact: all permutations were evaluated";
  const kind = result.stopped_early ? "anytime-valid CI" : "CI";
  return `${percent(result.confidence_level)} ${kind} ${interval(result.pvalue_ci)}`;
}

function effectNote(result) {
  if (result.n_resamples === 0) return "requires permutations";
  const unit = result.effect_unit;
  return result.effect_size_ci ? `${unit}; ${percent(result.confidence_level)} CI ${interval(result.effect_size_ci)}` : unit;
}

function nullNote(result) {
  if (result.n_resamples === 0) return `by ${result.method}`;
  return `by ${result.method}; permutation null: mean ${number(result.permutation_mean, 2)}, SD ${number(result.permutation_sd, 2)}`;
}

function testCaution(result) {
  if (result.stopped_early) {
    return "The test stopped early, as soon as the decision was clear: its p-value does not measure the strength of the evidence.";
  }
  const [low, high] = result.pvalue_ci;
  if (!result.enumerated && low < result.alpha && result.alpha < high) {
    return "The confidence interval of the p-value includes the significance level: more permutations could change the decision.";
  }
  if (!result.reject) {
    return "This does not prove that the distributions are equal: the test may lack the power to detect a small difference, or a kind of difference to which this method is not sensitive.";
  }
  return "";
}

function distanceWords({ result, explanation }) {
  const error = result.standard_error > 0 ? `Monte Carlo SE over directions ${number(result.standard_error, 2)}` : `by ${result.method}`;
  return {
    title: `Distance ${number(result.statistic, 4)}`,
    sentences: [
      `This is the distance between the samples by ${result.method}. A distance is not a test: use a test to decide whether the samples differ.`,
      whereSentence(result, explanation),
    ],
    figures: [
      ["distance", number(result.statistic, 4), error],
      [`rows of ${samples.x}`, integer(result.n_x), ""],
      [`rows of ${samples.y}`, integer(result.n_y), ""],
    ],
  };
}

function explanationWords({ result, explanation }) {
  const found = explanation.changes.length;
  const alpha = number(explanation.alpha);
  return {
    title: found > 0 ? `${count(found, "change")} found` : "No change found",
    sentences: [whereSentence({ ...result, reject: false }, explanation) || `No column, share of missing values or relation differs at level ${alpha} after adjustment.`],
    figures: [
      [`rows of ${samples.x}`, integer(result.n_x), ""],
      [`rows of ${samples.y}`, integer(result.n_y), ""],
      ["columns", integer(explanation.columns.length), `adjusted p-values, level ${alpha}`],
    ],
  };
}

function matrixWords({ result }) {
  const pairs = pairsOf(result);
  const [nearest, furthest] = [pairs[0], pairs.at(-1)];
  const named = ({ i, j }) => `${result.names[i]} and ${result.names[j]}`;
  const tested = result.adjusted_pvalues !== null;
  return {
    title: `Distances between ${integer(result.names.length)} data sets`,
    sentences: [
      pairs.length === 1
        ? `The distance between ${named(nearest)} is ${number(nearest.distance, 4)}.`
        : `The nearest are ${named(nearest)}, the furthest ${named(furthest)}.`,
      tested
        ? `${integer(result.n_rejected)} of ${count(result.n_pairs, "pair")} ${result.n_rejected === 1 ? "differs" : "differ"} (Holm-adjusted p-values, family-wise level ${number(result.alpha)}).`
        : "The distances were not tested.",
    ],
    figures: [
      ...(pairs.length === 1
        ? [["distance", number(nearest.distance, 4), ""]]
        : [["nearest", number(nearest.distance), ""], ["furthest", number(furthest.distance), ""]]),
      tested
        ? ["pairs that differ", `${integer(result.n_rejected)} of ${integer(result.n_pairs)}`, "adjusted by Holm\u2019s rule"]
        : ["pairs", integer(pairs.length), `by ${result.method}`],
    ],
  };
}

function monitorWords({ result }) {
  const { batches, n_rejected: rejected, alarm, change, adjustment, alpha } = result;
  const first = batches.find((batch) => batch.reject);
  const rule = adjustment === "holm" ? "Holm, family-wise" : "Benjamini\u2013Hochberg";
  const moved = batches.filter((batch) => batch.reject && batch.changed).map((batch) => batch.changed);
  return {
    title: rejected === 0 ? "No batch differs from the baseline" : `${integer(rejected)} of ${count(batches.length, "batch", "batches")} ${rejected === 1 ? "differs" : "differ"} from the baseline`,
    sentences: [
      first ? `The first is ${first.name}${moved.length > 0 ? `; what differs most: ${list([...new Set(moved)].slice(0, 4))}` : ""}.` : "",
      alarm !== null ? `The alarm was raised at ${alarm}; the change began with ${change.start}.` : "The alarm was not raised.",
    ],
    figures: [
      ["batches that differ", `${integer(rejected)} of ${integer(batches.length)}`, `adjusted by ${rule} at level ${number(alpha)}`],
      ["since", change?.start ?? "\u2013", change && change.likely.length > 1 ? `likely from ${change.likely[0]} to ${change.likely.at(-1)}` : ""],
      ["evidence", batches.length > 0 ? number(batches.at(-1).evidence) : "\u2013", `alarm at ${number(result.threshold)}`],
    ],
  };
}

/** All pairs of data sets, nearest first. */
export function pairsOf({ names, distances, pvalues, adjusted_pvalues }) {
  const pairs = [];
  for (let i = 0; i < names.length; ++i) {
    for (let j = i + 1; j < names.length; ++j) {
      pairs.push({ i, j, distance: distances[i][j], pvalue: pvalues?.[i][j], adjusted: adjusted_pvalues?.[i][j] });
    }
  }
  return pairs.sort((a, b) => a.distance - b.distance);
}
