import { h } from "../dom.js";
import { count, integer, interval, list, number, percent, placePhrase, wherePhrase } from "../words.js";

/** What came out, in words: the first thing on the page. */
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
      chanceSentence(result),
      whereSentence(result, explanation),
      foundBeside(result, explanation)
        ? "That is seen when columns and directions are looked at one by one, with p-values adjusted for all of them; the test looked at all together. Which of the two counts should be decided before looking."
        : "",
    ],
    figures: [
      ["p-value", number(result.pvalue), pvalueNote(result)],
      ["effect size", result.n_resamples > 0 ? number(result.effect_size) : "\u2013", effectNote(result)],
      ["statistic", number(result.statistic, 4), chanceNote(result)],
    ],
    caution: testCaution(result),
  };
}

function testTitle(result, explanation) {
  if (result.reject) return "The two samples differ";
  return foundBeside(result, explanation) ? "This test found no difference" : "No difference was found";
}

// What a test does not see may be seen when columns and directions are looked at one by one.
function foundBeside(result, explanation) {
  if (result.reject !== false || !explanation) return false;
  return explanation.columns.some((column) => column.reject) || explanation.directions.some((direction) => direction.reject);
}

function chanceSentence(result) {
  const judged = result.reject ? "at or below" : "above";
  const level = `p\u00a0=\u00a0${number(result.pvalue)}, ${judged} the level ${number(result.alpha)}.`;
  if (result.n_resamples === 0) return `By the limiting distribution of the statistic under equal distributions, ${level}`;
  const among = result.enumerated
    ? `Of all ${count(result.n_resamples, "permutation")} of the pooled rows`
    : `Of ${count(result.n_resamples, "random permutation")} of the pooled rows`;
  const exceeding =
    result.n_exceed === 0
      ? "none puts the samples as far apart as they are"
      : `${integer(result.n_exceed)} ${result.n_exceed === 1 ? "puts" : "put"} the samples as far apart as they are, or further`;
  return `${among}, ${exceeding}: ${level}`;
}

function whereSentence(result, explanation) {
  if (!explanation) return "";
  const different = explanation.columns.filter((column) => column.reject);
  const named = different.slice(0, 3).map((column) => `${column.name} (${placePhrase(column)})`);
  if (named.length > 0) {
    const more = different.length > 3 ? `, first of all ${list(named)}` : `: ${list(named)}`;
    const verb = different.length === 1 ? "differs" : "differ";
    return `Taken only, ${integer(different.length)} of ${count(explanation.columns.length, "column")} ${verb}${more}.`;
  }
  const direction = explanation.directions.find((candidate) => candidate.reject);
  if (direction) {
    return `No column differs by itself; it shows in their combination, most along ${direction.name}, ${wherePhrase(direction.where)}.`;
  }
  return result.reject ? "No single column or direction carries it by itself after adjustment for how many were looked at." : "";
}

function pvalueNote(result) {
  if (result.n_resamples === 0) return "from a limiting distribution";
  if (result.enumerated) return "exact: all permutations were evaluated";
  const kind = result.stopped_early ? "anytime-valid interval" : "interval";
  return `${percent(result.confidence)} ${kind} ${interval(result.pvalue_ci)}`;
}

function effectNote(result) {
  if (result.n_resamples === 0) return "not known without permutations";
  // Tests of many statistics have no units of their own and tell the effect size of another method.
  const whose = !result.configurations ? "" : result.method === "adaptive" ? "of ekqd, " : "of mmd, ";
  const unit = `${whose}beyond chance, in units of the pooled spread`;
  if (!result.effect_size_ci) return `${unit}; no interval was asked for`;
  return `${unit}; ${percent(result.confidence)} interval ${interval(result.effect_size_ci)}`;
}

function chanceNote(result) {
  if (result.n_resamples === 0) return `by ${result.method}`;
  return `by ${result.method}; under chance ${number(result.permutation_mean)} \u00b1 ${number(result.permutation_sd, 2)}`;
}

function testCaution(result) {
  if (result.stopped_early) {
    return "The test stopped as soon as the decision was clear: its p-value is just small or large enough for that, and no measure of strength.";
  }
  const [low, high] = result.pvalue_ci;
  if (!result.enumerated && low < result.alpha && result.alpha < high) {
    return "The interval of the p-value holds the level: more permutations (--permutations) could move it to the other side.";
  }
  if (!result.reject) {
    return "This is not a proof that the distributions are equal. A small difference, or one of a kind that this method sees badly, can stay hidden.";
  }
  return "";
}

function distanceWords({ result, explanation }) {
  const error = result.standard_error > 0 ? `\u00b1 ${number(result.standard_error, 2)} from the random directions` : `by ${result.method}`;
  return {
    title: `The samples are ${number(result.statistic, 4)} apart`,
    sentences: [
      `This is their distance by ${result.method}. It was not tested: kqd test says whether chance only could put them so far apart.`,
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
    title: `${integer(result.names.length)} data sets, pair by pair`,
    sentences: [
      pairs.length === 1
        ? `The distance between ${named(nearest)} is ${number(nearest.distance, 4)}.`
        : `Nearest are ${named(nearest)}, furthest apart ${named(furthest)}.`,
      tested
        ? `${integer(result.n_rejected)} of ${count(result.n_pairs, "pair")} differ at level ${number(result.alpha)} for all pairs together.`
        : "The distances were not tested: --test adds a p-value for every pair.",
    ],
    figures: [
      ...(pairs.length === 1
        ? [["distance", number(nearest.distance, 4), ""]]
        : [["nearest", number(nearest.distance), ""], ["furthest", number(furthest.distance), ""]]),
      tested
        ? ["different pairs", `${integer(result.n_rejected)} of ${integer(result.n_pairs)}`, "Holm\u2019s rule over all pairs"]
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
