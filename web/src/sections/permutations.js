import { nullHistogram, pvalueStrip } from "../charts.js";
import { chart, figure, h, section, table } from "../dom.js";
import { samples } from "../samples.js";
import { count, integer, interval, number, percent } from "../words.js";

/** The permutation null and the precision of the p-value. */
export function permutations({ result, null: nullDistribution }) {
  if (result.n_resamples === 0) {
    return section("null", "Null distribution", h("p", null, `The p-value is asymptotic (${result.limiting_distribution}); no permutations were evaluated.`));
  }
  return section(
    "null",
    "Null distribution",
    h("p", null, explainedSentence(result)),
    nullDistribution?.values.length > 0 && histogram(result, nullDistribution),
    strip(result),
    components(result),
  );
}

function explainedSentence(result) {
  return (
    `If ${samples.x} and ${samples.y} have the same distribution, it does not matter which rows carry which of these two labels. The labels are therefore permuted, ` +
    `${result.enumerated ? "in every possible way" : "at random"}, and the statistic is computed for each permutation: these values are its null distribution.`
  );
}

function histogram(result, { values, of, observed }) {
  const beyond = values.filter((value) => value >= observed).length;
  const thinned = of > values.length ? ` Shown are ${integer(values.length)} of ${integer(of)}, evenly by rank.` : "";
  const caption = `The statistic for ${count(of, "permutation")} (bars) and as observed (line).${thinned}`;
  const description = `Histogram of the statistic over permutations, from ${number(least(values))} to ${number(most(values))}; ${integer(beyond)} of the ${integer(values.length)} shown are at least as large as the observed ${number(observed, 4)}.`;
  return figure(caption, chart((width) => nullHistogram(width, { values, observed }, description)));
}

function strip(result) {
  const [low, high] = result.pvalue_ci;
  const smallest = 1 / (result.n_resamples + 1);
  const caption = result.enumerated
    ? "The p-value is exact: all permutations were evaluated."
    : `The p-value with its ${percent(result.confidence_level)} confidence interval${low === 0 ? ", which includes 0" : ""}. In the shaded region, at or below the significance level, equal distributions are rejected.`;
  const description = `p-value ${number(result.pvalue)}, confidence interval ${interval(result.pvalue_ci)}, significance level ${number(result.alpha)}.`;
  const shown = { pvalue: result.pvalue, low, high, alpha: result.alpha, smallest };
  return figure(caption, chart((width) => pvalueStrip(width, shown, description)));
}

function components({ components: all }) {
  if (all.length === 0) return null;
  const numbers = ["score", "p-value", "adjusted"].map((text) => ({ text, number: true }));
  const ranked = [...all].sort((a, b) => b.score - a.score);
  const lines = (part) => part.map((c) => [c.name, number(c.score), number(c.pvalue), number(c.adjusted_pvalue)]);
  const shown = 6;
  return [
    h("h3", null, "Component statistics"),
    h("p", null, `The test combines ${integer(all.length)} component statistics, each sensitive to another kind of difference. The score is the position of a component in its permutation null, in standard normal deviates. The p-values in the last column are adjusted for all components: a value at or below the significance level is evidence that the distributions differ, not that they differ only in this way.`),
    table("Component statistics, largest score first", ["component statistic", ...numbers], lines(ranked.slice(0, shown))),
    ranked.length > shown &&
      h("details", null, h("summary", null, `The other ${integer(ranked.length - shown)}`), table("The other component statistics", ["component statistic", ...numbers], lines(ranked.slice(shown)))),
  ];
}

const least = (values) => values.reduce((a, b) => Math.min(a, b));
const most = (values) => values.reduce((a, b) => Math.max(a, b));
