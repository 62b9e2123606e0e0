"""Tables of other libraries keep the names and types of their columns. The classes below have the part of polars' and
Arrow's interface that kqd looks at; both libraries are used where they are installed."""

import numpy as np
import pandas as pd
import pytest

import kqd


class ArrowLike:
    def __init__(self, columns):
        self._columns = columns

    @property
    def column_names(self):
        return list(self._columns)

    def column(self, j):
        return list(self._columns.values())[j]


class PolarsLike:
    def __init__(self, columns):
        self._columns = columns

    @property
    def columns(self):
        return list(self._columns)

    def get_columns(self):
        return list(self._columns.values())


def makers():
    yield ArrowLike
    yield PolarsLike
    for module, name in (("polars", "DataFrame"), ("pyarrow", "table")):
        try:
            yield getattr(__import__(module), name)
        except ImportError:
            pass


@pytest.mark.parametrize("make", makers())
def test_columns_are_matched_by_name(make):
    rng = np.random.default_rng(1)
    x = {"a": rng.normal(size=30), "b": rng.normal(size=30) + 5}
    y = {"a": rng.normal(size=25), "b": rng.normal(size=25) + 5}
    turned = {"b": y["b"], "a": y["a"]}
    expected = kqd.test(pd.DataFrame(x), pd.DataFrame(y), method="energy", rng=0, n_resamples=99)
    found = kqd.test(make(x), make(turned), method="energy", rng=0, n_resamples=99)
    assert (found.statistic, found.pvalue) == (expected.statistic, expected.pvalue)
    embedding = kqd.Embedding(make(x), rng=0)
    assert (embedding.embed(make(turned)).quantiles(0.5) == embedding.embed(make(y)).quantiles(0.5)).all()
    assert kqd.explain(make(x), make(turned), rng=0).columns[0].name in ("a", "b")


@pytest.mark.parametrize("make", makers())
def test_different_columns_are_refused(make):
    with pytest.raises(ValueError, match="different columns"):
        kqd.test(make({"a": [1.0, 2], "b": [3.0, 4]}), make({"b": [1.0, 2], "c": [3.0, 4]}))


@pytest.mark.parametrize("make", makers())
def test_integers_beyond_2_to_the_53_keep_their_type(make):
    rng = np.random.default_rng(2)
    tables = [make({"id": np.arange(30) + 2**60 + shift, "v": rng.normal(size=30)}) for shift in (0, 60)]
    result = kqd.test(*tables, method="energy", n_resamples=99, rng=0)
    assert result.pvalue == 0.01 and any("2^53" in warning for warning in result.warnings)
