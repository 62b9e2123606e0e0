"""Generated samples against other code: NumPy oracles written here, SciPy and POT where they have the same thing.

Coordinates are small whole numbers, so that ties and equal points are common.
"""

import itertools

import kqd
import permutations
import numpy as np
import oracle
import pytest
import scipy.stats
from hypothesis import assume, given, settings
from hypothesis import strategies as st

ot = pytest.importorskip("ot")

rows = st.tuples(st.integers(-4, 4), st.integers(-4, 4))


def samples(low, high, entries=rows):
    return st.lists(entries, min_size=low, max_size=high).map(lambda found: np.array(found, float))


lines = samples(1, 9, st.integers(-9, 9))
bandwidths = st.sampled_from([0.5, 1.0, 2.5])
floats = st.floats(-2, 2).map(lambda value: round(value, 3))


def gaussian(a, b, s):
    return np.exp(-oracle.r2(a, b) / (2 * s * s))


@given(samples(1, 8), samples(1, 8), samples(2, 4), st.data(), st.sampled_from(oracle.POWERS),
       st.sampled_from(oracle.WEIGHTINGS), bandwidths)
def test_ekqd_with_given_reference_points_and_coefficients(x, y, z, data, power, weighting, s):
    count = data.draw(st.integers(1, 3))
    c = np.array([[data.draw(floats) for _ in range(count)] for _ in z])
    squared = np.einsum("ji,jk,ki->i", c, gaussian(z, z, s), c)
    # Clear of null directions.
    assume((squared > 1e-3 * (c**2).sum(axis=0)).all() and (np.abs(c).sum(axis=0) > 0.1).all())
    expected = oracle.discrepancy("ekqd", x, y, lambda a, b, o: gaussian(a, b, s), z, c, power, weighting)
    found = kqd.distance(x, y, kernel="gaussian", bandwidth=s, reference=z, coefficients=c, power=power,
                         weighting=weighting, rng=0, workers=1)
    assert found.statistic == pytest.approx(expected.statistic, rel=0, abs=expected.bound)


@given(samples(2, 8), samples(2, 8), bandwidths)
def test_mmd_of_both_kinds(x, y, s):
    k = lambda a, b, o: gaussian(a, b, s)
    found = lambda method: kqd.distance(x, y, method=method, kernel="gaussian", bandwidth=s, rng=0, workers=1).statistic
    assert found("mmd") == pytest.approx(permutations.mmd_u(k)(x, y), abs=1e-13)
    # A root: an error of 1e-15 under it is one of 3e-8 at zero.
    assert found("mmd-v") == pytest.approx(permutations.mmd_v(k)(x, y), abs=1e-7)


@given(lines, lines)
def test_wasserstein_and_energy_on_the_line_are_those_of_scipy(x, y):
    found = kqd.distance(x, y, method="wasserstein", power=1, rng=0).statistic
    assert found == pytest.approx(scipy.stats.wasserstein_distance(x, y), abs=1e-12)
    # SciPy's is sqrt(2) times the L2 distance of the distribution functions: the root of 2 E|X-Y| - E|X-X'| - E|Y-Y'|.
    energy = kqd.distance(x, y, method="energy", rng=0)
    assert energy.statistic_power == pytest.approx(scipy.stats.energy_distance(x, y) ** 2, abs=1e-12)


@given(lines, lines, st.sampled_from([1.0, 1.5, 2.0, 3.0]))
def test_wasserstein_of_any_order_on_the_line(x, y, power):
    found = kqd.distance(x, y, method="wasserstein", power=power, rng=0)
    assert found.statistic_power == pytest.approx(permutations.wasserstein(power)(x, y) ** power, rel=1e-9, abs=1e-12)


@settings(max_examples=40)
@given(samples(2, 7), samples(2, 7), st.sampled_from([1.0, 2.0]), st.integers(0, 10**6))
def test_sliced_wasserstein_along_given_lines_is_that_of_pot(x, y, power, seed):
    lines = np.random.default_rng(seed).normal(size=(2, 5))
    lines /= np.linalg.norm(lines, axis=0)
    expected = ot.sliced_wasserstein_distance(x, y, n_projections=5, projections=lines, p=power)
    found = kqd.distance(x, y, method="sw", reference=lines.T, coefficients=np.eye(5), power=power, rng=0).statistic
    assert found == pytest.approx(expected, abs=1e-9)


@settings(max_examples=40)
@given(samples(1, 7), samples(1, 7), st.sampled_from([1, 2]))
def test_exact_wasserstein_is_that_of_pot(x, y, power):
    costs = oracle.r(x, y) ** power
    expected = ot.emd2(np.full(len(x), 1 / len(x)), np.full(len(y), 1 / len(y)), costs)
    found = kqd.distance(x, y, method="wasserstein", power=power, rng=0)
    assert found.statistic_power == pytest.approx(expected, abs=1e-9)


def mean_gap(x, y):
    return abs(x.mean() - y.mean())


@settings(max_examples=30)
@given(samples(2, 4, st.integers(-6, 6)), samples(2, 5, st.integers(-6, 6)))
def test_p_values_are_those_of_all_permutations(x, y):
    """By the MMD of the linear kernel, the squared distance of means: |gap| orders permutations as its square does."""
    pool = np.concatenate([x, y])
    observed = mean_gap(x, y)
    gaps = [mean_gap(pool[list(chosen)], np.delete(pool, chosen))
            for chosen in itertools.combinations(range(len(pool)), len(x))]
    expected = np.mean(np.array(gaps) >= observed - 1e-9)  # means of a few whole numbers differ by more, or not at all
    found = kqd.test(x, y, method="mmd-v", kernel="linear", rng=0)
    assert found.enumerated and found.n_resamples == len(gaps)
    assert found.pvalue == pytest.approx(expected, abs=1e-12)


@settings(max_examples=10)
@given(samples(3, 4, st.integers(-6, 6)), samples(3, 4, st.integers(-6, 6)))
def test_p_values_are_those_of_scipy_when_all_permutations_are_tried(x, y):
    statistic = lambda a, b: permutations.wasserstein(1)(a, b)
    expected = scipy.stats.permutation_test((x, y), statistic, n_resamples=np.inf, alternative="greater")
    found = kqd.test(x, y, method="ekqd", kernel="linear", directions="axis", rng=0)
    assert found.enumerated and found.pvalue == pytest.approx(expected.pvalue, abs=1e-12)
