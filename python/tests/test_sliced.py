"""Sliced distances against POT and SciPy, with the same projections wherever the definition is the same."""

import numpy as np
import ot
import pytest
from scipy import stats

import kqd

RNG = np.random.default_rng(7)
# Both sides compute the same sums in doubles: some hundred roundings of 1e-16 are far below.
TOLERANCE = 1e-8


def unit_directions(l, d):
    u = RNG.normal(size=(l, d))
    return u / np.linalg.norm(u, axis=1, keepdims=True)


def given(u):
    """Our words for explicit directions: the linear kernel's reference points, one of them each."""
    return dict(reference=u, coefficients=np.eye(len(u)), rng=0)


SIZES = [(30, 30), (30, 45), (7, 50)]


@pytest.mark.parametrize("n_x, n_y", SIZES)
@pytest.mark.parametrize("power", [1, 2, 3])
def test_sw_is_that_of_pot_along_the_same_projections(n_x, n_y, power):
    x, y, u = RNG.normal(size=(n_x, 5)), RNG.normal(size=(n_y, 5)) + 0.5, unit_directions(20, 5)
    a, b = RNG.uniform(0.5, 2, n_x), RNG.uniform(0.5, 2, n_y)
    for weights in (dict(), dict(x_weights=a, y_weights=b)):
        masses = (a / a.sum(), b / b.sum()) if weights else (None, None)
        # POT 0.8.2 divides by n_projections even when the projections themselves are passed.
        expected = ot.sliced_wasserstein_distance(x, y, *masses, n_projections=len(u), projections=u.T, p=power)
        for words in (dict(method="sw"), dict(method="ekqd", kernel="linear")):
            found = kqd.distance(x, y, **words, **given(u), **weights, power=power)
            assert found.statistic == pytest.approx(expected, rel=TOLERANCE)


@pytest.mark.parametrize("n_x, n_y", SIZES)
@pytest.mark.parametrize("power", [1, 2, 3])
def test_the_largest_of_some_projections_is_that_of_pot(n_x, n_y, power):
    x, y, u = RNG.normal(size=(n_x, 4)), RNG.normal(size=(n_y, 4)) + 0.5, unit_directions(30, 4)
    expected = ot.max_sliced_wasserstein_distance(x, y, projections=u.T, p=power)
    found = kqd.distance(x, y, method="supkqd", kernel="linear", **given(u), power=power)
    assert found.statistic == pytest.approx(expected, rel=TOLERANCE)
    # and the maximum over all of them is above it, and above that of a thousand more
    many = ot.max_sliced_wasserstein_distance(x, y, n_projections=1000, p=power, seed=0)
    assert kqd.distance(x, y, method="max-sw", power=power, rng=0).statistic > max(expected, many)


def test_drawn_directions_have_the_mean_of_pot_up_to_monte_carlo_error():
    x, y = RNG.normal(size=(40, 6)), RNG.normal(size=(50, 6)) * 1.5
    ours = kqd.distance(x, y, method="sw", power=2, n_directions=4000, rng=0)
    theirs = ot.sliced_wasserstein_distance(x, y, n_projections=4000, p=2, seed=0)
    assert abs(ours.statistic - theirs) < 6 * np.sqrt(2) * ours.standard_error  # both are random, alike
    assert ours.directions == "linear" and ours.kernel is None


@pytest.mark.parametrize("degree", [1, 3, 5])
def test_gsw_on_the_line_is_wasserstein_of_the_power(degree):
    x, y = RNG.normal(size=20) * 2, RNG.normal(size=31) + 1
    expected = stats.wasserstein_distance(x**degree, y**degree)
    for method in ("gsw", "max-gsw"):
        found = kqd.distance(x, y, method=method, degree=degree, n_directions=3, rng=0)
        assert found.statistic == pytest.approx(expected, rel=TOLERANCE)


def test_circular_slices_are_distances_to_points_of_the_sphere():
    x, y = RNG.normal(size=(20, 2)), RNG.normal(size=(20, 2)) * 2
    angles = np.linspace(0, 2 * np.pi, 4000, endpoint=False)
    centers = 1.5 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    distances = lambda z: np.sort(np.linalg.norm(z[:, None] - centers, axis=2), axis=0)
    gaps = (np.abs(distances(x) - distances(y)) ** 2).mean(axis=0)  # W_2^2 for every center
    options = dict(family="circular", radius=1.5, power=2, rng=0)
    drawn = kqd.distance(x, y, method="gsw", n_directions=4000, **options)
    assert abs(drawn.statistic - np.sqrt(gaps.mean())) < 6 * drawn.standard_error
    largest = kqd.distance(x, y, method="max-gsw", starts=20, **options)
    # 4000 angles miss the maximum of a smooth function by (pi/4000)^2 of its curvature, about 1e-6.
    assert largest.statistic == pytest.approx(np.sqrt(gaps.max()), rel=1e-4)
    assert largest.statistic > np.sqrt(gaps.max()) * (1 - 1e-6)


def test_supkqd_opt_is_at_least_the_mmd_and_any_drawn_direction():
    x, y = RNG.normal(size=(40, 3)), RNG.normal(size=(30, 3)) * [1, 1, 2]
    for power in (1, 2):
        found = kqd.distance(x, y, method="supkqd-opt", power=power, rng=0)
        # For p = 1 they are equal where no quantiles cross along the witness of the MMD: up to rounding.
        assert found.statistic >= kqd.distance(x, y, method="mmd-v", rng=0).statistic * (1 - 1e-12)
        assert found.statistic > kqd.distance(x, y, method="supkqd", n_directions=500, power=power, rng=0).statistic
        assert found.directions == "optimised" and found.details["rank"] == 70


def test_an_optimised_test_sets_its_training_rows_aside():
    x, y = RNG.normal(size=(60, 4)), RNG.normal(size=(80, 4)) + [1.5, 0, 0, 0]
    for method in ("max-sw", "max-gsw", "supkqd-opt"):
        found = kqd.test(x, y, method=method, rng=0, n_resamples=199)
        assert found.pvalue == 1 / 200 and found.n_set_aside == 70 and len(found.per_direction) == 1
        assert found.details["starts"] == 8 and found.details["fitted"] > 0
        with pytest.raises(ValueError, match="has no interval for the effect size"):
            kqd.test(x, y, method=method, rng=0, effect_interval=True)
    refitted = kqd.test(x[:15], y[:15], method="max-sw", share=0, rng=0, n_resamples=99)
    assert refitted.n_set_aside == 0
    assert refitted.statistic == pytest.approx(kqd.distance(x[:15], y[:15], method="max-sw", rng=0).statistic, rel=1e-2)


def test_bad_values_are_refused_with_what_would_do():
    x = RNG.normal(size=(5, 60))
    with pytest.raises(ValueError, match="degree = 2 is even.*use 1 or 3"):
        kqd.distance(x, x, method="gsw", degree=2)
    with pytest.raises(ValueError, match="K too large: .* degree 3 in 60 columns have K = 37820"):
        kqd.distance(x, x, method="gsw")
    with pytest.raises(ValueError, match="share"):
        kqd.distance(x, x, method="max-sw", share=1)
