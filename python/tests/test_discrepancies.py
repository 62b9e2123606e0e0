"""Every method, kernel, power and weighting against the oracle, for given reference points and coefficients."""

import kqd
import numpy as np
import oracle
import pytest
import scipy.stats


class Problem:
    """Two samples that differ in place and scale, reference points and coefficients; weights if wanted."""

    def __init__(self, nx, ny, dim, seed, weighted=False, ties=False, m=5, n_directions=4):
        rng = np.random.default_rng(seed)
        self.x = rng.normal(size=(nx, dim))
        self.y = 0.7 * rng.normal(size=(ny, dim)) + 0.8
        if ties:
            self.x, self.y = np.round(self.x), np.round(self.y)
        self.z = 1.5 * rng.normal(size=(m, dim))
        self.c = rng.normal(size=(m, n_directions))
        self.x_weights = rng.integers(1, 7, size=nx) if weighted else None
        self.y_weights = rng.integers(1, 7, size=ny) if weighted else None

    def check(self, method, kernel, power, weighting):
        weights = {"x_weights": self.x_weights, "y_weights": self.y_weights}
        options = {"weighting": weighting, **weights}
        found = kqd.distance(self.x, self.y, method=method, kernel=kernel, power=power, reference=self.z,
                             coefficients=self.c, rng=0, **options)
        expected = oracle.discrepancy(method, self.x, self.y, oracle.KERNELS[kernel], self.z, self.c, power, **options)
        assert expected.bound <= 1e-9 * expected.statistic  # so that agreement within it means something
        assert found.statistic == pytest.approx(expected.statistic, rel=0, abs=expected.bound)
        assert found.per_direction == pytest.approx(expected.per_direction, rel=0, abs=expected.bound)
        if method.endswith("centered"):
            assert found.details["mmd_squared"] == pytest.approx(expected.mmd_squared, rel=1e-12)


@pytest.mark.parametrize("power", oracle.POWERS)
@pytest.mark.parametrize("kernel", oracle.KERNELS)
@pytest.mark.parametrize("method", oracle.METHODS)
def test_every_kernel_and_power_agrees_with_the_oracle(method, kernel, power):
    Problem(nx=9, ny=9, dim=3, seed=1).check(method, kernel, power, "uniform")
    Problem(nx=7, ny=10, dim=2, seed=2).check(method, kernel, power, "uniform")


PROBLEMS = {
    "equal sizes": dict(nx=8, ny=8),
    "unequal sizes": dict(nx=6, ny=9),
    "coprime sizes": dict(nx=7, ny=5),
    "weights": dict(nx=6, ny=9, weighted=True),
    "weights, equal sizes": dict(nx=7, ny=7, weighted=True),
    "ties": dict(nx=12, ny=8, ties=True),
    "ties and weights": dict(nx=8, ny=12, ties=True, weighted=True),
}


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("weighting", oracle.WEIGHTINGS)
@pytest.mark.parametrize("method", oracle.METHODS)
def test_every_weighting_agrees_with_the_oracle(method, weighting, problem):
    for power in oracle.POWERS:
        Problem(dim=2, seed=3, **PROBLEMS[problem]).check(method, "gaussian@1.3", power, weighting)


def test_weights_on_one_sample_alone_agree_with_the_oracle():
    problem = Problem(nx=6, ny=9, dim=2, seed=4, weighted=True)
    problem.y_weights = None
    problem.check("ekqd", "gaussian@1.3", 2.0, "triangle:0.5")


# Above 32 columns distances come from matrix products, |x|^2 + |z|^2 - 2 x.z. They are computed again when they are
# below 1e-6 of |x|^2 + |z|^2, so at least ten of sixteen digits stay; a root or a small distance may not lose more.
@pytest.mark.parametrize("kernel", ["gaussian", "laplace", "matern12", "matern52", "imq"])
def test_many_columns_agree_with_the_oracle(kernel):
    formulas = {
        "gaussian": lambda x, z, o: np.exp(-oracle.r2(x, z) / 128),
        "laplace": lambda x, z, o: np.exp(-oracle.r1(x, z) / 8),
        "matern12": lambda x, z, o: np.exp(-oracle.r(x, z) / 8),
        "matern52": lambda x, z, o: oracle.matern52(np.sqrt(5) * oracle.r(x, z) / 8),
        "imq": lambda x, z, o: 1 / np.sqrt(1 + oracle.r2(x, z) / 64),
    }
    problem = Problem(nx=30, ny=20, dim=50, seed=5)
    problem.z[:3] = problem.x[:3] + 1e-4  # nearly coincident with data
    found = kqd.distance(problem.x, problem.y, kernel=kernel, bandwidth=8, reference=problem.z,
                         coefficients=problem.c, rng=0)
    expected = oracle.discrepancy("ekqd", problem.x, problem.y, formulas[kernel], problem.z, problem.c)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-9)


# More rows than a block or a task of any stage; equal sizes, so that sorted values meet one to one.
@pytest.mark.parametrize("power", [1, 2])
def test_large_samples_agree_with_sorting_in_numpy(power):
    rng = np.random.default_rng(6)
    n = 20_001
    x, y = rng.normal(size=(n, 3)), rng.normal(size=(n, 3)) + 0.3
    z, c = rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
    k = lambda points, reference: np.exp(-oracle.r2(points, reference) / 2)
    u = lambda points: np.sort(k(points, z) @ c / np.sqrt(np.diag(c.T @ k(z, z) @ c)), axis=0)
    tau = (np.abs(u(x) - u(y)) ** power).mean(axis=0) ** (1 / power)
    found = kqd.distance(x, y, bandwidth=1, reference=z, coefficients=c, power=power, rng=0)
    assert found.per_direction == pytest.approx(tau, rel=1e-11)
    assert found.statistic == pytest.approx((tau**power).mean() ** (1 / power), rel=1e-11)


# On the line the directions of the linear kernel are u(x) = x and u(x) = -x. The bound: n values of size up to 10 with
# a rounding each, and as many in SciPy's own sums.
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directions", ["gaussian", "linear", "axis"])
def test_the_linear_kernel_on_the_line_is_scipys_wasserstein_distance(directions, weighted):
    rng = np.random.default_rng(7)
    for nx, ny in [(1, 1), (50, 50), (37, 101), (1, 20)]:
        x, y = rng.normal(size=nx), rng.exponential(size=ny)
        weights = (rng.uniform(size=nx), rng.uniform(size=ny)) if weighted else (None, None)
        found = kqd.distance(x, y, kernel="linear", directions=directions, rng=0, x_weights=weights[0],
                             y_weights=weights[1])
        expected = scipy.stats.wasserstein_distance(x, y, *weights)
        assert found.statistic == pytest.approx(expected, rel=0, abs=10 * (nx + ny) * oracle.EPS)


def test_axis_directions_are_the_columns():
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=(30, 4)), rng.normal(size=(40, 4)) * [1, 2, 3, 4]
    found = kqd.distance(x, y, directions="axis", rng=0)
    columns = [scipy.stats.wasserstein_distance(x[:, k], y[:, k]) for k in range(4)]
    assert found.per_direction == pytest.approx(columns, rel=1e-12)
    assert (found.kernel, found.n_reference, found.reference) == ("linear", 0, None)


def test_the_standard_error_is_that_of_a_mean_over_directions():
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=(50, 2)), rng.normal(size=(50, 2)) + 1
    found = kqd.distance(x, y, rng=1)
    assert found.standard_error == pytest.approx(scipy.stats.sem(found.per_direction), rel=1e-12)
    squared = kqd.distance(x, y, rng=1, power=2)  # through the root: d(sqrt m) = dm / (2 sqrt m)
    assert squared.standard_error == pytest.approx(
        scipy.stats.sem(squared.per_direction**2) / (2 * squared.statistic), rel=1e-12)
    assert kqd.distance(x, y, rng=1, method="supkqd").standard_error is None
