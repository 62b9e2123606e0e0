"""Checks of statistical properties beyond rejection rates: uniform p-values, coverage of intervals, rates of convergence,
decisions with other seeds and in other units, axioms of metrics.

    PYTHONPATH=build/release/python /usr/bin/python3 experiments/validate/properties.py PAGE FIGURE.svg
    PYTHONPATH=build/release/python /usr/bin/python3 experiments/validate/properties.py --draw FIGURE.svg

The first form writes the tables between the lines "<!-- properties -->" and "<!-- end of properties -->" of PAGE, the curves to
properties.json next to this script, and the figure; it takes some minutes of one core and exits with 1 when a number is not as
expected. The second draws the figure again from properties.json.
"""

import itertools
import json
import math
import re
import sys
from pathlib import Path

import numpy as np
from scipy import special, stats

import kqd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import small_svg  # noqa: E402
from matplotlib import pyplot  # noqa: E402

# Probability below which a check of a correct implementation fails.
ALARM = 1e-6
NULL_RUNS = 2000
CURVES = Path(__file__).with_name("properties.json")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#000000")


class Findings:
    """Tables in Markdown, curves of the figure, and the names of the checks that failed."""

    def __init__(self):
        self.parts, self.missed = [], []
        self.curves = {"p_value_quantiles": {}, "errors": {}}

    def table(self, title, text, head, rows):
        lines = [f"### {title}", "", text, "", "| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
        self.parts.append("\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]))

    def judged(self, value, holds, name):
        """The value; in bold if the check failed."""
        if not holds:
            self.missed.append(name)
        return value if holds else f"**{value}**"


def progress(text):
    print(f"  {text}", file=sys.stderr, flush=True)


# ---- p-values ----------------------------------------------------------------------------------------------------------------


def null_samples(rng, discrete):
    draw = (lambda n: rng.integers(0, 3, (n, 2)).astype(float)) if discrete else (lambda n: rng.standard_normal((n, 2)))
    return draw(15), draw(22)


def levels(count):
    return (np.arange(count) + 0.5) / count


def p_value_quantiles(pvalues):
    """At 200 levels, which are enough for a figure."""
    return np.interp(levels(200), levels(len(pvalues)), np.sort(pvalues)).round(5).tolist()


def uniformity(findings):
    """With ties broken at random the rank of the observed value is uniform on 0..B; a uniform number added to it makes p uniform
    on (0, 1)."""
    runs, permutations, rows = NULL_RUNS, 99, []
    for method, settings in {"adaptive": {}, "ekqd": {"n_directions": 8}, "supkqd": {"n_directions": 8}, "mmd": {}, "energy": {},
                             "sw": {"n_directions": 8}}.items():
        cells = [f"`{method}`"]
        for discrete in (False, True):
            rng = np.random.default_rng([1, discrete])
            pvalues = np.empty(runs)
            for run in range(runs):
                x, y = null_samples(rng, discrete)
                found = kqd.test(x, y, method=method, n_resamples=permutations, randomised_ties=True, rng=run, workers=1,
                                 **settings)
                pvalues[run] = (found.n_exceed + rng.random()) / (permutations + 1)
            distance, chance = stats.kstest(pvalues, "uniform")
            cells += [f"{distance:.4f}", findings.judged(f"{chance:.3f}", chance > ALARM, f"uniformity of {method}")]
            if not discrete:
                findings.curves["p_value_quantiles"][method] = p_value_quantiles(pvalues)
        rows.append(cells)
        progress(f"uniformity of {method}")
    findings.table("p-values are uniform",
                   f"{runs} true nulls, 15 and 22 rows of two columns, normal or with three values each; {permutations} permutations, ties "
                   "broken at random. Kolmogorov-Smirnov distance from the uniform distribution, and its p-value.",
                   ("method", "normal", "p", "three values", "p"), rows)


def interval_coverage(findings):
    """Of the exact permutation p-value, which 400,000 permutations give to within 0.0006."""
    repeats, rows = 400, []
    for shift in (0.0, 0.4, 0.8):
        rng = np.random.default_rng([2, int(10 * shift)])
        x, y = rng.standard_normal((20, 1)), rng.standard_normal((18, 1)) + shift
        exact = kqd.test(x, y, method="mmd", bandwidth=1.0, n_resamples=400_000, workers=1)
        cells = [f"{exact.pvalue:.4f}"]
        for early_stop in (None, "betting"):
            covered = 0
            for run in range(repeats):
                found = kqd.test(x, y, method="mmd", bandwidth=1.0, n_resamples=499, rng=run + 1, early_stop=early_stop,
                                 workers=1)
                assert not found.enumerated
                covered += found.pvalue_ci[0] <= exact.pvalue <= found.pvalue_ci[1]
            chance = stats.binom.cdf(covered, repeats, 0.95)
            cells.append(findings.judged(f"{covered / repeats:.3f}", chance > ALARM, f"interval at p = {exact.pvalue}"))
        rows.append(cells)
    progress("intervals of p-values")
    findings.table("Intervals of p-values cover",
                   f"Share of {repeats} tests with 499 permutations whose 95% interval contains the p-value of 400,000 permutations "
                   "(20 and 18 rows, `mmd`). At least 0.95 is expected.",
                   ("p", "fixed number", "stopped early by betting"), rows)


def effect_coverage(findings):
    """Away from the null; the true value is the mean over large samples, whose sampling error is negligible."""
    repeats, rows = 300, []
    large = {"mmd": 4000, "mmd-v": 4000, "energy": 4000, "ekqd": 100_000, "sw": 100_000}
    for name, shift in itertools.product(large, (0.5, 1.0)):
        def effect(n, run, **more):
            rng = np.random.default_rng([3, n, run])
            x, y = rng.standard_normal((n, 2)), rng.standard_normal((n, 2)) + (shift, 0)
            return kqd.test(x, y, method=name, n_resamples=99, workers=1, **settings(name, run), **more)

        def settings(name, run):
            if name == "sw":
                return {"rng": 7}  # the same directions in all
            return {"bandwidth": 1.5, "rng": 7 if name == "ekqd" else run}

        truth = np.mean([effect(large[name], run).effect_size for run in range(4)])
        found = [effect(150, run, effect_interval=True).effect_size_ci for run in range(repeats)]
        covered = sum(low <= truth <= high for low, high in found)
        chance = stats.binom.cdf(covered, repeats, 0.93)
        cell = findings.judged(f"{covered / repeats:.3f}", chance > ALARM, f"effect size of {name}, shift {shift}")
        width = np.mean([high - low for low, high in found])
        rows.append((f"`{name}`", shift, f"{truth:.4f}", cell, f"{width:.3f}"))
        progress(f"effect size of {name}")
    findings.table("Intervals of effect sizes",
                   f"Share of {repeats} pairs of samples whose 95% interval from half-samples contains the effect size of very large "
                   "samples, and the mean width of the interval: 150 rows, normal distributions with shifted means. The interval is "
                   "asymptotic: at least 0.93 is expected.",
                   ("method", "shift", "effect size", "covered", "width"), rows)


# ---- rates -------------------------------------------------------------------------------------------------------------------


def slope(sizes, errors):
    return np.polyfit(np.log(sizes), np.log(errors), 1)[0]


def errors_by_rows(measure, sizes, repeats):
    return [float(np.mean([measure(n, run) for run in range(repeats)])) for n in sizes]


def shifted_error(n, run):
    rng = np.random.default_rng([4, n, run])
    found = kqd.distance(rng.standard_normal((n, 1)), rng.standard_normal((n, 1)) + 1, method="sw", n_directions=1, rng=run,
                         workers=1)
    return abs(found.statistic - 1)  # W_1 of a shift by 1


def embedding_error(n, run):
    rng = np.random.default_rng([5, n, run])
    found = kqd.distance(rng.standard_normal((n, 3)), rng.standard_normal((200_000, 3)), method="ekqd", bandwidth=1.5,
                         n_directions=16, n_reference=16, rng=7, workers=1)
    return found.statistic


def direction_error(count, run):
    """The same points, shifted: the difference along each direction is exact, so the error comes from the directions only."""
    dim = 10
    x = np.random.default_rng(6).standard_normal((50, dim))
    shift = np.zeros(dim)
    shift[0] = 1.0
    truth = special.gamma(dim / 2) / (math.sqrt(math.pi) * special.gamma((dim + 1) / 2))
    return abs(kqd.distance(x, x + shift, method="sw", n_directions=count, rng=run, workers=1).statistic - truth)


def rates(findings):
    sizes = 2 ** np.arange(7, 16)
    cases = (("rows: W_1 of two normal distributions, true value 1", shifted_error, sizes, 60),
             ("rows: e-KQD_1 to many rows of the same distribution, true value 0", embedding_error, sizes, 8),
             ("directions: SW_1 of a shift in ten columns, known value", direction_error, 2 ** np.arange(3, 12), 100))
    rows = []
    for name, measure, over, repeats in cases:
        errors = errors_by_rows(measure, over, repeats)
        found = slope(over, errors)
        rows.append((name, f"{over[0]} to {over[-1]}", findings.judged(f"{found:.3f}", abs(found + 0.5) < 0.06, name)))
        label = re.match(r"\w+: \S+", name)[0]  # "rows: W_1"
        findings.curves["errors"][label] = {"sizes": over.tolist(), "errors": [float(f"{e:.5g}") for e in errors]}
        progress(name)
    findings.table("Errors shrink like n^(-1/2) and l^(-1/2)",
                   "Least-squares slope of log error against log size; theory says -1/2 ([KQE Theorems 3 and 5](references.md)), and "
                   "a deviation below 0.06 is expected.",
                   ("error in", "sizes", "slope"), rows)


# ---- axioms ------------------------------------------------------------------------------------------------------------------


# ---- decisions ---------------------------------------------------------------------------------------------------------------

# Kinds of difference with 200 + 200 rows; the sizes of the differences give each method a power of about .4 to .55.
MARGINAL = {
    "shift of ten columns": {"adaptive": 0.105, "ekqd": 0.12},
    "scale of ten columns": {"adaptive": 1.05, "ekqd": 1.05},
    "Laplace against normal, one column": {"adaptive": 1.0, "ekqd": 1.0},
    "shift of three heavy-tailed columns": {"adaptive": 0.235, "ekqd": 0.3},
}


def marginal_samples(name, size, rng):
    if name == "shift of ten columns":
        return rng.standard_normal((200, 10)), rng.standard_normal((200, 10)) + size
    if name == "scale of ten columns":
        return rng.standard_normal((200, 10)), rng.standard_normal((200, 10)) * size
    if name == "Laplace against normal, one column":
        return rng.laplace(scale=math.sqrt(0.5), size=(200, 1)), rng.standard_normal((200, 1)) * size
    return rng.standard_t(2, (200, 3)), rng.standard_t(2, (200, 3)) + size


def in_other_units(data):
    """All columns, the last one, a column of one value, columns in another order, and single precision."""
    factors = np.ones(data.shape[1])
    factors[-1] = 1e-4
    return (2.5 * data + 3.0, data * factors + 0.1, np.column_stack([data[:, :1], np.full(len(data), 4.0), data[:, 1:]]),
            data[:, ::-1].copy(), data.astype(np.float32))


def decisions(findings):
    """Of the same test with another seed or in other units, on data where the power is moderate."""
    data_sets, rows = 100, []
    totals = {method: 0 for method in ("adaptive", "ekqd")}
    for name, sizes in MARGINAL.items():
        cells = [name]
        for method, size in sizes.items():
            rejected = seeds = units = 0
            for run in range(data_sets):
                x, y = marginal_samples(name, size, np.random.default_rng([9, run, *name.encode()]))
                found = kqd.test(x, y, method=method, rng=0, workers=1)
                rejected += found.reject
                seeds += found.reject != kqd.test(x, y, method=method, rng=1, workers=1).reject
                if method == "adaptive":
                    units += any(abs(kqd.test(a, b, rng=0, workers=1).pvalue - found.pvalue) > 1e-12
                                 for a, b in zip(in_other_units(x), in_other_units(y), strict=True))
            totals[method] += seeds
            cells += [f"{rejected / data_sets:.2f}", f"{seeds / data_sets:.2f}"]
            cells += [f"{units / data_sets:.2f}"] if method == "adaptive" else []
        rows.append(cells)
        progress(f"decisions, {name}")
    num_sets = data_sets * len(MARGINAL)
    shares = {method: total / num_sets for method, total in totals.items()}
    rows.append(["all", "", findings.judged(f"{shares['adaptive']:.3f}", shares["adaptive"] <= 0.03, "seeds of adaptive"), "", "",
                 findings.judged(f"{shares['ekqd']:.3f}", shares["ekqd"] <= 0.08, "seeds of ekqd")])
    findings.table("Neither seeds nor units decide",
                   f"{num_sets} data sets, 200 + 200 rows, 999 permutations. Power; share of data sets on which seeds 0 and 1 decide "
                   "differently (expected: at most 0.03 for `adaptive`, 0.08 for `ekqd`); share on which the p-value of `adaptive` differs "
                   "after x -> 2.5 x + 3 of all data, another unit of one column, a further column of one value, columns in reverse order or "
                   "single precision (which may make two values equal).",
                   ("difference", "`adaptive`: power", "seeds", "units", "`ekqd`: power", "seeds"), rows)


def axioms(findings):
    """Along fixed directions: the same reference points and coefficients for every pair."""
    rng = np.random.default_rng(8)
    samples = [rng.standard_normal((rng.integers(5, 60), 2)) * rng.uniform(0.5, 2) + rng.standard_normal(2) for _ in range(12)]
    fixed = {"reference": rng.standard_normal((10, 2)), "coefficients": rng.standard_normal((10, 8)), "n_directions": 8,
             "bandwidth": 1.0}
    rows = []
    for label, method, settings in (("e-KQD, p = 1", "ekqd", fixed), ("e-KQD, p = 2", "ekqd", {**fixed, "power": 2.0}),
                                    ("sup-KQD, p = 1", "supkqd", fixed), ("MMD_V", "mmd-v", {"bandwidth": 1.0}),
                                    ("Wasserstein, p = 2", "wasserstein", {"power": 2.0})):
        def between(a, b, method=method, settings=settings):
            return kqd.distance(a, b, method=method, workers=1, rng=0, **settings).statistic

        values = np.array([[between(a, b) for b in samples] for a in samples])
        scale = values.max()
        asymmetry = np.abs(values - values.T).max() / scale
        itself = np.abs(np.diag(values)).max() / scale
        excess = max(values[i, k] - values[i, j] - values[j, k] for i, j, k in itertools.permutations(range(len(samples)), 3)) / scale
        # Rounding leaves 1e-16 of a squared distance of 0, and 1e-8 of its root.
        rows.append((label, findings.judged(f"{itself:.1e}", itself < 1e-7, label),
                     findings.judged(f"{asymmetry:.1e}", asymmetry < 1e-7, label),
                     findings.judged(f"{excess:.1e}", excess < 1e-7, label)))
    progress("axioms")
    findings.table("Distances are metrics",
                   "Twelve samples of 5 to 60 rows, all pairs and triples, relative to the largest distance: the distance of a sample to "
                   "itself, the difference between d(x, y) and d(y, x), and the largest excess of d(x, z) over d(x, y) + d(y, z) (negative: "
                   "none).",
                   ("distance", "to itself", "asymmetry", "excess over the triangle"), rows)


def draw_p_values(axis, quantiles):
    for colour, (method, values) in zip(COLOURS, quantiles.items()):
        axis.plot(values, np.array(values) - levels(len(values)), color=colour, label=method, lw=1.2)
    bound = math.sqrt(-math.log(ALARM / 2) / (2 * NULL_RUNS))  # inequality of Dvoretzky, Kiefer, Wolfowitz and Massart
    axis.axhspan(-bound, bound, color="#dddddd", zorder=0)
    axis.set(title="p-values under true nulls", xlabel="p-value", ylabel="p-value minus uniform rank")


def draw_errors(axis, curves):
    for colour, (name, curve) in zip(COLOURS, curves.items()):
        axis.loglog(curve["sizes"], curve["errors"], "o-", color=colour, label=name, ms=3, lw=1.2)
    sizes = np.array(next(iter(curves.values()))["sizes"])
    axis.loglog(sizes, 1.5 * sizes ** -0.5, color="#999999", ls="--", lw=1, label="slope -1/2")
    axis.set(title="errors", xlabel="rows, or directions", ylabel="mean error")


def draw(curves, path):
    pyplot.rcParams.update({**small_svg.SETTINGS, "font.size": 9})
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.6))
    draw_p_values(axes[0], curves["p_value_quantiles"])
    draw_errors(axes[1], curves["errors"])
    for axis in axes:
        axis.legend(fontsize=7, frameon=False)
    figure.tight_layout()
    small_svg.save(figure, path)


def write_curves(curves):
    """One line per curve."""
    text = json.dumps(curves, indent=1)
    CURVES.write_text(re.sub(r"\[[^]]*\]", lambda match: re.sub(r"\s+", " ", match[0]), text) + "\n")


def main():
    if sys.argv[1] == "--draw":
        draw(json.loads(CURVES.read_text()), Path(sys.argv[2]))
        return
    page, figure = Path(sys.argv[1]), Path(sys.argv[2])
    findings = Findings()
    for check in (uniformity, interval_coverage, effect_coverage, rates, decisions, axioms):
        check(findings)
    write_curves(findings.curves)
    draw(findings.curves, figure)
    image = f"![p-values under true nulls, and errors against sizes](figures/{figure.name})"
    text = "\n\n".join([*findings.parts, image])
    page.write_text(re.sub(r"(?s)(<!-- properties -->\n).*?(<!-- end of properties -->)", lambda m: f"{m[1]}\n{text}\n\n{m[2]}",
                           page.read_text()))
    for name in findings.missed:
        print(f"not as expected: {name}", file=sys.stderr)
    sys.exit(1 if findings.missed else 0)


if __name__ == "__main__":
    main()
