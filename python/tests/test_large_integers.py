"""Integers beyond 2^53 are compared exactly or refused, never rounded."""

import numpy as np
import pandas as pd
import pytest

import kqd

BASE = 2**60
X, Y = BASE + np.arange(20), BASE + 60 + np.arange(20)
OFFSET = f"column 1: {BASE} was subtracted from all values, because integers beyond 2^53 would be rounded"


def same_test(x, y, warning, **options):
    result = kqd.test(x, y, rng=0, **options)
    small = kqd.test(X - BASE, Y - BASE, rng=0)
    assert (result.statistic, result.pvalue) == (small.statistic, small.pvalue) and small.reject
    assert result.warnings[:1] == (warning,)


@pytest.mark.parametrize("make", [np.array, lambda v: np.array(v, np.uint64), lambda v: v.tolist(), pd.Series])
def test_integers_beyond_2_to_the_53_are_compared_exactly(make):
    same_test(make(X), make(Y), OFFSET)


def test_columns_of_frames_are_compared_exactly_beside_floats_and_missing_values():
    frame = {"v": np.zeros(20)}
    warning = OFFSET.replace("column 1", 'column "id"')
    x, y = pd.DataFrame({**frame, "id": X}), pd.DataFrame({**frame, "id": Y})
    assert kqd.test(x, y, rng=0).warnings[0] == warning
    assert kqd.test(x, y, rng=0).pvalue == 0.001
    missing = pd.DataFrame({"v": np.zeros(21), "id": pd.array([*X.tolist(), None], "Int64")})
    same = kqd.test(missing[["id"]], y[["id"]], rng=0, nan_policy="omit")
    assert same.warnings[:2] == (warning, "x: rows excluded because a value is missing: 1 of 21") and same.pvalue == 0.001


def test_the_ends_of_64_bits():
    low, high = -(2**63), 2**64 - 1
    assert kqd.distance([low, low + 3], [low + 1], method="energy").statistic == kqd.distance(
        [0, 3], [1], method="energy").statistic
    assert kqd.distance(np.array([high, high - 3], np.uint64), np.array([high - 1], np.uint64),
                        method="energy").statistic == kqd.distance([3, 0], [2], method="energy").statistic


def test_integers_that_cannot_be_compared_exactly_are_refused():
    refusal = r"column 1 has integers beyond 2\^53 that would be rounded, expected integers that differ by less than 2\^53"
    for x, y in (([0, 2**60 + 1], [5]), ([0.5], [2**60 + 1]), (np.array([2**64 - 1], np.uint64), [1])):
        with pytest.raises(ValueError, match=refusal):
            kqd.test(x, y)
    with pytest.raises(ValueError, match="^reference: " + refusal):
        kqd.distance([1, 2], [3], reference=np.array([[2**53 + 1]]))
    with pytest.raises(ValueError, match="^sample: " + refusal):
        kqd.Embedding([2**53 + 1, 5])


def test_large_integers_that_are_doubles_pass_as_they_are():
    assert kqd.test([BASE, 2**62], [0.5, 3], rng=0, n_resamples=9).warnings == kqd.test(
        [float(BASE), 2.0**62], [0.5, 3], rng=0, n_resamples=9).warnings
