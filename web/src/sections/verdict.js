import { h } from "../dom.js";
import { count, integer, interval, list, number, percent, placePhrase, wherePhrase } from "../words.js";

/** The result in words: the first section of the page. */
export function verdict(report) {
  const words = { test: testWords, distance: distanceWords, matrix: matrixWords }[report.kind](report);
  return h(
    "section",
    { id: "verdict", "aria-labelledby": "verdict-title" },
    h("h1", { id: "verdict-title" }, words.title),
    words.sentences.map((sentence) => h("p", { class: "lead" }, sentence)),
    h(
      "dl",
      { class: "key-figures" },
      words.figures.map(([term, value, note]) =>
        h("div", null, h("dt", null, term), h("dd", null, h("strong", null, value), h("span", null, note))),
      ),
    ),
    words.caution && h("p", { class: "caution" }, words.caution),
  );
}

function testWords(report) {
  const { result, explanation } = report;
  return {
    title: testTitle(result, explanation),
    sentences: [
      pvalueSentence(result),
      whereSentence(result, explanation),
      explanationRejects(result, explanation)
        ? "The tests of single columns and directions, with p-values adjusted for all of them, do find a difference. Which of the two counts should be decided before looking at the results."
        : "",
    ],
    figures: [
      ["p-value", number(result.pvalue), pvalueNote(result)],
      ["effect size", result.n_resamples > 0 ? number(result.effect_size) : "\u2013", effectNote(result)],
      ["statistic", number(result.statistic, 4), nullNote(result)],
    ],
    caution: testCaution(result),
  };
}

function testTitle(result, explanation) {
  if (result.reject) return "The samples differ";
  return explanationRejects(result, explanation) ? "This test found no difference" : "No difference found";
}

// The tests of single columns and directions can reject when the test of the whole does not.
function explanationRejects(result, explanation) {
  if (result.reject !== false || !explanation) return false;
  return explanation.columns.some((column) => column.reject) || explanation.directions.some((direction) => direction.reject);
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
  const different = explanation.columns.filter((column) => column.reject);
  const named = different.slice(0, 3).map((column) => `${column.name} (${placePhrase(column)})`);
  if (named.length > 0) {
    const more = different.length > 3 ? `, most of all ${list(named)}` : `: ${list(named)}`;
    const verb = different.length === 1 ? "differs" : "differ";
    return `${integer(different.length)} of ${count(explanation.columns.length, "column")} ${verb} by ${different.length === 1 ? "itself" : "themselves"}${more}.`;
  }
  const direction = explanation.directions.find((candidate) => candidate.reject);
  if (direction) {
    return `No column differs by itself; the columns differ in combination, most along ${direction.name}, ${wherePhrase(direction.where)}.`;
  }
  return result.reject ? "No single column or direction differs significantly after adjustment for multiple testing." : "";
}

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
      ["rows of X", integer(result.n_x), ""],
      ["rows of Y", integer(result.n_y), ""],
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
