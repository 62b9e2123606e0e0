"""True null hypotheses through what engines call: rejections are binomial, whatever order the rows come in.

Most run the functions of tasks here; some go through a Spark session. KQD_NULLS is the number of the former (200).
"""

import os
import warnings

import numpy as np
import pytest

from kqd import _engines, _pieces, _tasks

NULLS = int(os.environ.get("KQD_NULLS", "200"))
ALPHA = 0.1


class Here(_pieces.Runner):
    """Runs tasks in this process."""

    def n_cores(self):
        return 1

    def map(self, function, shared, pieces, tables):
        return [function(shared, piece, table) for piece, table in zip(pieces, tables)]

    def count(self, shared, pieces, tables, spec, scattered):
        counted = self.map(_pieces.count_piece, shared, pieces, tables)
        return _pieces.in_levels(counted, lambda some: _tasks.merge(spec, some, scattered))


def most(nulls):
    """More rejections than this have a probability below 1e-6."""
    from math import comb

    tail, k = 1.0, 0
    while tail > 1e-6:
        tail -= comb(nulls, k) * ALPHA**k * (1 - ALPHA) ** (nulls - k)
        k += 1
    return k


def partitions(rng, n, kind):
    """Rows of a fixed distribution, in four partitions. Sorted rows that are dealt out by turns are the worst case for
    shares of partitions."""
    import pandas as pd

    frame = pd.DataFrame({"u": rng.normal(size=n), "v": rng.integers(0, 5, size=n) + 0.0, "id": rng.permutation(n)})
    if kind != "any order":
        frame = frame.sort_values("u")
    if kind == "users":
        frame["id"] = np.arange(n) // 4
        frame["u"] = np.repeat(rng.normal(size=n // 4), 4) + 0.3 * rng.normal(size=n)
    return [frame.iloc[k::4] for k in range(4)]


@pytest.mark.parametrize("kind", ["any order", "by turns", "hashed", "users"])
def test_nulls_are_rejected_at_the_level(kind):
    rejected = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(NULLS // 4):
            rng = np.random.default_rng([seed, len(kind)])
            key = "id" if kind in ("hashed", "users") else None
            sources = []
            for name, n in (("x", 600), ("y", 400)):
                columns = {"u": "", "v": "", **({"id": ""} if key else {})}
                frames = [part[list(columns)] for part in partitions(rng, n, kind)]
                sources.append(_pieces.Pieces(Here(), name, columns, _engines.keys_of(key), None, tables=frames))
            options = {"rng": seed, "method": "ekqd", "n_directions": 4, "n_resamples": 99, "workers": 1}
            rejected += _engines.test(*sources, key, options).pvalue <= ALPHA
    assert rejected <= most(NULLS // 4)
    if kind == "any order" and NULLS >= 400:
        assert rejected > 0


def test_nulls_through_a_session_are_rejected_at_the_level():
    pytest.importorskip("pyspark")
    from test_spark import session

    import kqd.spark

    nulls = max(6, NULLS // 20)
    spark = session()
    try:
        rejected = 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for seed in range(nulls):
                rng = np.random.default_rng(seed)
                x, y = (
                    spark.createDataFrame([(float(v),) for v in np.sort(rng.normal(size=n))], "u double").repartition(4)
                    for n in (300, 200)
                )
                found = kqd.spark.test(x, y, rng=seed, method="ekqd", n_directions=4, n_resamples=99)
                rejected += found.pvalue <= ALPHA
        assert rejected <= most(nulls)
    finally:
        spark.stop()
