import { nullHistogram, pvalueStrip } from "../charts.js";
import { chart, figure, h, section, table } from "../dom.js";
import { count, integer, interval, number, percent } from "../words.js";

/** How far apart the samples would be by chance, and how sure the p-value is. */
export function chance({ result, null: nullDistribution }) {
  if (result.n_resamples === 0) {
    return section("chance", "By chance only", h("p", null, `The p-value comes from a limiting distribution (${result.limiting_distribution}); no permutation was evaluated.`));
  }
  return section(
    "chance",
    "By chance only",
    h("p", null, explainedSentence(result)),
    nullDistribution?.values.length > 0 && histogram(result, nullDistribution),
    strip(result),
    configurations(result),
  );
}

function explainedSentence(result) {
  return (
    "If X and Y came from one distribution, it would not matter which rows are called X and which Y. So the names are dealt out again, " +
    `${result.enumerated ? "in every possible way" : "at random"}, and the statistic is computed each time: this is what chance only does.`
  );
}

function histogram(result, { values, of, observed }) {
  const beyond = values.filter((value) => value >= observed).length;
  const thinned = of > values.length ? ` Shown are ${integer(values.length)} of ${integer(of)}, evenly by rank.` : "";
  const caption = `The statistic under ${count(of, "permutation")} (bars) and as observed (line).${thinned}`;
  const description = `Histogram of the statistic under permutation, from ${number(least(values))} to ${number(most(values))}; the observed ${number(observed, 4)} is reached by ${integer(beyond)} of ${integer(values.length)} shown.`;
  return figure(caption, chart((width) => nullHistogram(width, { values, observed }, description)));
}

function strip(result) {
  const [low, high] = result.pvalue_ci;
  const smallest = 1 / (result.n_resamples + 1);
  const caption = result.enumerated
    ? "The p-value is exact: every permutation was evaluated."
    : `The p-value with its ${percent(result.confidence)} interval${low === 0 ? ", which reaches down to 0" : ""}; left of the level, in the shaded part, equal distributions are rejected.`;
  const description = `p-value ${number(result.pvalue)}, interval ${interval(result.pvalue_ci)}, level ${number(result.alpha)}.`;
  const shown = { pvalue: result.pvalue, low, high, alpha: result.alpha, smallest };
  return figure(caption, chart((width) => pvalueStrip(width, shown, description)));
}

function configurations({ configurations: all = [] }) {
  if (all.length === 0) return null;
  const numbers = ["score", "p-value", "adjusted"].map((text) => ({ text, number: true }));
  const ranked = [...all].sort((a, b) => b.score - a.score);
  const lines = (part) => part.map((c) => [c.name, number(c.score), number(c.pvalue), number(c.adjusted_pvalue)]);
  const shown = 6;
  return [
    h("h3", null, "Where the test looked"),
    h("p", null, `The adaptive test looks for ${integer(all.length)} kinds of difference at once. The score says by how many standard deviations each stands out from chance; the adjusted p-value takes all of them into account, and one at or below the level is evidence that the distributions differ, not that it is this kind only.`),
    table("Kinds of difference, the most telling first", ["kind", ...numbers], lines(ranked.slice(0, shown))),
    ranked.length > shown &&
      h("details", null, h("summary", null, `The other ${integer(ranked.length - shown)}`), table("The other kinds of difference", ["kind", ...numbers], lines(ranked.slice(shown)))),
  ];
}

const least = (values) => values.reduce((a, b) => Math.min(a, b));
const most = (values) => values.reduce((a, b) => Math.max(a, b));
