"""kqd.test(tolerance=, equivalent=, against=): verdicts by a margin."""

import numpy as np
import pytest

import kqd

RNG = np.random.default_rng(29)
X = RNG.standard_normal((1500, 3))
Y = RNG.standard_normal((1500, 3)) + (0.5, 0, 0)


def test_three_verdicts():
    def verdict(**margin):
        return kqd.test(X, Y, n_resamples=99, rng=1, **margin).verdict

    assert verdict(tolerance=0.2) == "different"
    assert verdict(equivalent=0.9) == "equivalent"
    assert verdict() is None


def test_the_result_has_the_effect_and_its_interval():
    result = kqd.test(X, Y, n_resamples=99, rng=1, tolerance=0.2)
    lower, upper = result.effect_interval
    assert lower < result.effect_size < upper
    assert lower < 0.485 < upper  # 0.5 SD of a sample in SDs of both together
    assert [aspect.name for aspect in result.aspects] == ["location", "shape", "relations"]
    assert result.separation == pytest.approx(0.638, abs=0.03)  # Phi(0.5 / sqrt 2)
    assert result.pvalue == kqd.test(X, Y, n_resamples=99, rng=1).pvalue
    assert "differ by more than the margin 0.2" in repr(result)


def test_a_margin_from_batches_is_their_largest_effect():
    batches = [np.random.default_rng([29, run]).standard_normal((1500, 3)) for run in range(19)]
    result = kqd.test(X, Y, tolerance="auto", against=batches, n_resamples=99, rng=1)
    assert (result.verdict, result.pvalue_beyond, len(result.batch_effects)) == ("different", 0.05, 19)
    assert result.margin == max(0, *result.batch_effects)


def test_a_margin_from_profiles_of_batches():
    base = kqd.Profile(X, rng=0, rows_per_group=20)
    batches = [kqd.Profile(np.random.default_rng([29, run]).standard_normal((800, 3)), like=base) for run in range(4)]
    result = kqd.test(base, kqd.Profile(Y, like=base), tolerance="auto", against=batches, n_resamples=99, rng=1)
    assert (result.verdict, len(result.batch_effects)) == ("different", 4)
    assert max(result.batch_effects) < result.effect_size
    with pytest.raises(ValueError, match='against is given without tolerance="auto"'):
        kqd.test(base, base, against=batches)
    with pytest.raises(TypeError, match="against is of type ndarray, expected a kqd.Profile"):
        kqd.test(base, kqd.Profile(Y, like=base), tolerance="auto", against=[X, X])


def test_what_cannot_be_judged_is_an_error():
    with pytest.raises(ValueError, match="expected auto, or a number > 0"):
        kqd.test(X, Y, tolerance="much")
    with pytest.raises(ValueError, match="exclude each other"):
        kqd.test(X, Y, tolerance=0.1, equivalent=0.1)
    with pytest.raises(ValueError, match='against is given without tolerance="auto"'):
        kqd.test(X, Y, tolerance=0.1, against=[X])
