"""Transport distances against POT and SciPy, where their definitions are the same."""

import kqd
import numpy as np
import ot
import pytest
import scipy.stats

AGREEMENT = 1e-8  # asked of every method; exact ones do better, and say so


def weights_of(n, rng):
    return rng.uniform(0.2, 1.0, size=n)


def costs(x, y, power):
    return ot.dist(x, y, metric="euclidean") ** power


# Costs and their sums carry some tens of roundings on both sides; the network simplex works with costs rounded to 2^-44
# of the largest.
EXACT = 1e-11


@pytest.mark.parametrize("power", [1, 1.5, 2, 3])
@pytest.mark.parametrize("nx, ny, dim", [(40, 40, 2), (60, 60, 10), (30, 45, 3), (7, 50, 5), (1, 20, 2), (64, 32, 40)])
def test_wasserstein_is_pots(nx, ny, dim, power):
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(nx, dim)), 1.3 * rng.normal(size=(ny, dim)) + 0.4
    expected = ot.emd2(np.full(nx, 1 / nx), np.full(ny, 1 / ny), costs(x, y, power))
    found = kqd.distance(x, y, method="wasserstein", power=power, rng=0)
    assert found.statistic_power == pytest.approx(expected, rel=EXACT)
    assert found.statistic == pytest.approx(expected ** (1 / power), rel=EXACT)
    assert 0 <= found.details["duality_gap"] <= 1e-10 * expected


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("nx, ny, dim", [(40, 40, 2), (30, 45, 3), (3, 50, 2)])
def test_weighted_wasserstein_is_pots(nx, ny, dim, power):
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(nx, dim)), rng.exponential(size=(ny, dim))
    a, b = weights_of(nx, rng), weights_of(ny, rng)
    expected = ot.emd2(a / a.sum(), b / b.sum(), costs(x, y, power))
    found = kqd.distance(x, y, method="wasserstein", power=power, x_weights=a, y_weights=b, rng=0)
    assert found.statistic_power == pytest.approx(expected, rel=1e-10)  # POT's masses sum to 1 up to rounding


@pytest.mark.parametrize("solver", ["assignment", "network"])
def test_both_solvers_are_pots(solver):
    rng = np.random.default_rng(3)
    x, y = np.round(rng.normal(size=(50, 2))), np.round(rng.normal(size=(50, 2)))  # many ties
    expected = ot.emd2([], [], costs(x, y, 2))
    found = kqd.distance(x, y, method="wasserstein", power=2, solver=solver, rng=0)
    assert found.statistic_power == pytest.approx(expected, rel=EXACT)


@pytest.mark.parametrize("power", [1, 2, 3.5])
@pytest.mark.parametrize("weighted", [False, True])
def test_wasserstein_on_the_line_is_pots(power, weighted):
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=37), rng.exponential(size=101)
    a, b = (weights_of(37, rng), weights_of(101, rng)) if weighted else (np.ones(37), np.ones(101))
    found = kqd.distance(x, y, method="wasserstein", power=power, x_weights=a, y_weights=b, rng=0)
    expected = ot.wasserstein_1d(x, y, a / a.sum(), b / b.sum(), p=power)
    assert found.statistic_power == pytest.approx(expected, rel=1e-10)
    if power == 1:
        assert found.statistic == pytest.approx(scipy.stats.wasserstein_distance(x, y, a, b), rel=1e-12)


def test_a_wasserstein_test_sees_a_shift_and_reports_the_distance():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(30, 3)), rng.normal(size=(30, 3)) + 1.0
    found = kqd.test(x, y, method="wasserstein", power=2, n_resamples=99, rng=0)
    assert found.pvalue == 0.01
    assert found.statistic == pytest.approx(kqd.distance(x, y, method="wasserstein", power=2).statistic, rel=1e-12)


def test_wasserstein_refuses_what_it_cannot_do():
    x = np.zeros((6, 2))
    with pytest.raises(ValueError, match="finite power"):
        kqd.distance(x, x, method="wasserstein", power=np.inf)
    with pytest.raises(ValueError, match="solver"):
        kqd.distance(x, x, method="wasserstein", solver="simplex")
    with pytest.raises(kqd.ResourceLimitError, match="5000 rows"):
        kqd.distance(np.zeros((5001, 2)), x, method="wasserstein")
