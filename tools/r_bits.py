"""Numbers of the Python package with all their digits, for the tests of the R package: name=hex float, separated by blanks."""

import numpy as np

import kqd

rows = np.arange(240).reshape(60, 4)
x, y = rows * 37 % 101 / 64, (rows[:50] * 53 + 11) % 97 / 64 * 1.25  # exact in binary
test, ekqd = kqd.test(x, y, rng=7), kqd.test(x, y, method="ekqd", power=2, rng=7, n_resamples=199)
found = {
    "adaptive_statistic": test.statistic, "adaptive_pvalue": test.pvalue, "adaptive_effect": test.effect_size,
    "ekqd_statistic": ekqd.statistic, "ekqd_pvalue": ekqd.pvalue,
    "mmd": kqd.distance(x, y, method="mmd", rng=7).statistic,
    "energy": kqd.distance(x, y, method="energy", rng=7).statistic,
    "distance": kqd.distance(x, y, rng=7).statistic,
    "explain": kqd.explain(x, y, rng=7).columns[0].wasserstein,
    "embedding": float(kqd.Embedding(x, rng=7).quantiles(0.5)[0]),
}
print(" ".join(f"{name}={float(value).hex()}" for name, value in found.items()))
