"""Kernels and bandwidths against their formulas in NumPy."""

import kqd
import numpy as np
import oracle
import pytest
from scipy.spatial.distance import pdist


# Between two points a direction made of one reference point sees |k(z, a) - k(z, b)| / sqrt(k(z, z)).
@pytest.mark.parametrize("kernel", oracle.KERNELS)
def test_one_reference_point_sees_the_kernel_itself(kernel):
    rng = np.random.default_rng(1)
    for _ in range(20):
        a, b, z = rng.normal(size=(3, 1, 4)) * 2
        k = oracle.KERNELS[kernel]
        o = (a[0] + b[0]) / 2
        size = np.sqrt(k(z, z, o).item())
        expected = abs(k(a, z, o) - k(b, z, o)).item() / size
        found = kqd.distance(a, b, kernel=kernel, reference=z, coefficients=[[1.0]], rng=0)
        # As in the oracle: every kernel value is off by a few roundings of the largest k(p, p).
        largest = max(k(p, p, o).item() for p in (a, b, z))
        assert found.statistic == pytest.approx(expected, rel=0, abs=64 * oracle.EPS * largest / size)


@pytest.mark.parametrize("kernel, formula", [
    ("gaussian", lambda points: np.sqrt(np.median(pdist(points, "sqeuclidean")) / 2)),
    ("laplace", lambda points: np.median(pdist(points, "cityblock"))),
    ("matern12", lambda points: np.median(pdist(points))),
    ("matern52", lambda points: np.median(pdist(points))),
    ("rq:2", lambda points: np.median(pdist(points))),
    ("imq", lambda points: np.median(pdist(points))),
])
@pytest.mark.parametrize("dim", [1, 4, 40])
def test_the_median_bandwidth_is_numpys_median_over_pairs(kernel, formula, dim):
    rng = np.random.default_rng(2)
    for nx, ny in [(1, 1), (3, 4), (40, 61)]:
        x, y = rng.normal(size=(nx, dim)), rng.normal(size=(ny, dim)) + 1
        found = kqd.distance(x, y, kernel=kernel, rng=0)
        # A squared distance from matrix products (above 32 columns) keeps ten digits at least.
        assert found.bandwidth == pytest.approx(formula(np.concatenate([x, y])), rel=1e-10 if dim > 32 else 1e-13)
        assert found.kernel.startswith(f"{kernel.split(':')[0]}")


def test_compat_takes_the_median_over_ordered_pairs_with_the_diagonal():
    bandwidth = lambda x, y: kqd.distance(x, y, rng=0, compat=["median-diagonal"]).bandwidth
    assert bandwidth([0.0], [2.0]) == 1.0  # of 0, 0, 4, 4: the middle two averaged
    assert bandwidth([0.0, 4.0], [2.0]) == np.sqrt(2)
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(20, 2)), rng.normal(size=(31, 2))
    pool = np.concatenate([x, y])
    assert bandwidth(x, y) == pytest.approx(np.sqrt(np.median(oracle.r2(pool, pool)) / 2), rel=1e-13)


# Hoeffding for means over pairs of n = 1000 points: the level of the median is off by more than 0.08 with probability
# below 2 exp(-2 (n / 2) 0.08^2) = 0.004, and this seed is fixed.
def test_many_rows_give_the_median_of_a_subsample():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(2000, 2)), rng.normal(size=(1500, 2))
    distances = pdist(np.concatenate([x, y]))
    found = kqd.distance(x, y, kernel="matern12", rng=0, n_directions=1)
    assert np.quantile(distances, 0.42) < found.bandwidth < np.quantile(distances, 0.58)
    assert found.bandwidth == kqd.distance(x, y, kernel="matern12", rng=0, n_directions=2).bandwidth
    assert found.bandwidth != kqd.distance(x, y, kernel="matern12", rng=1, n_directions=1).bandwidth


def test_a_number_is_the_bandwidth_of_every_part_that_leaves_it_open():
    found = kqd.distance([0, 1], [2, 5], kernel="gaussian+laplace@3+linear", bandwidth=2.5, rng=0)
    assert found.kernel == "gaussian@2.5+laplace@3+linear"
    assert found.bandwidth == 2.5


def test_the_reported_kernel_gives_the_same_result_again():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(30, 2)), rng.normal(size=(40, 2)) * 2
    found = kqd.distance(x, y, kernel="0.5 gaussian+rq:2", rng=3)
    assert kqd.distance(x, y, kernel=found.kernel, rng=3).statistic == found.statistic


def test_a_kernel_without_bandwidth_reports_none():
    assert kqd.distance([0, 1], [2, 5], kernel="polynomial:2:1", rng=0).bandwidth is None


def test_coincident_points_get_a_bandwidth_and_a_warning():
    found = kqd.distance([1, 1, 1], [1, 1, 3], rng=0)
    assert found.bandwidth == pytest.approx(np.sqrt(2))
    assert "zero-median-distance" in found.warning_ids
    same = kqd.distance([1, 1], [1], rng=0)
    assert (same.statistic, same.bandwidth) == (0.0, 1.0)
    assert "zero-distances" in same.warning_ids
