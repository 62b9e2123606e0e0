"""Transport distances against POT and SciPy, where their definitions are the same."""

import kqd
import numpy as np
import ot
import pytest
import scipy.spatial.distance
import scipy.stats

AGREEMENT = 1e-8  # asked of every method; exact ones do better, and say so


def weights_of(n, rng):
    return rng.uniform(0.2, 1.0, size=n)


def costs(x, y, power):
    """|x - y|^p from differences: products of coordinates would leave up to 1e-8 where 0 should be."""
    return scipy.spatial.distance.cdist(x, y) ** power


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
    with pytest.raises(ValueError, match="finite number"):
        kqd.distance(x, x, method="wasserstein", power=np.inf)
    with pytest.raises(ValueError, match="solver"):
        kqd.distance(x, x, method="wasserstein", solver="simplex")
    with pytest.raises(kqd.ResourceLimitError, match="5000 rows"):
        kqd.distance(np.zeros((5001, 2)), x, method="wasserstein")


# POT returns the plan; its value with and without entropy is another matter. Both iterate until the marginals are right
# to 1e-13, and the dual is off by a second order of that.
def entropic_cost(x, y, a, b, power, epsilon):
    """OT_eps = <pi, C> + eps KL(pi | a x b) from POT's plan."""
    c = costs(x, y, power)
    plan = ot.sinkhorn(a, b, c, reg=epsilon, method="sinkhorn_log", stopThr=1e-13, numItermax=100_000)
    reference = np.outer(a, b)
    return (plan * c).sum() + epsilon * np.sum(plan * np.log(np.maximum(plan, 1e-300) / reference))


@pytest.mark.parametrize("epsilon", [1, 3, 20])
@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("nx, ny, weighted", [(30, 30, False), (20, 31, False), (25, 18, True)])
def test_sinkhorn_is_made_of_pots_plans(nx, ny, weighted, power, epsilon):
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(nx, 2)), 1.2 * rng.normal(size=(ny, 2)) + 0.5
    a, b = (weights_of(nx, rng), weights_of(ny, rng)) if weighted else (np.ones(nx), np.ones(ny))
    found = kqd.distance(x, y, method="sinkhorn", power=power, epsilon=epsilon, x_weights=a, y_weights=b, rng=0,
                         tolerance=1e-13, iterations=100_000)
    a, b = a / a.sum(), b / b.sum()
    cross = entropic_cost(x, y, a, b, power, epsilon)
    own = entropic_cost(x, x, a, a, power, epsilon) + entropic_cost(y, y, b, b, power, epsilon)
    assert found.details["converged"] == 1
    assert found.details["transport_cost"] == pytest.approx(cross, rel=AGREEMENT)
    assert found.statistic == pytest.approx(cross - own / 2, rel=AGREEMENT)
    assert found.details["root"] == pytest.approx(found.statistic ** (1 / power), rel=1e-12)


def test_sinkhorn_is_between_transport_and_energy():
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(25, 2)), rng.normal(size=(25, 2)) + 1.0
    exact = kqd.distance(x, y, method="wasserstein").statistic
    # The entropy of a plan between 25 points is at most log 25, so OT_eps is within eps log 25 of W_1, and so are the
    # self-transports of 0.
    epsilon = 1e-2
    near = kqd.distance(x, y, method="sinkhorn", epsilon=epsilon, iterations=100_000).statistic
    assert near == pytest.approx(exact, abs=epsilon * np.log(25))
    mean = lambda u, v: costs(u, v, 1).mean()
    far = kqd.distance(x, y, method="sinkhorn", epsilon=1e5).statistic
    assert far == pytest.approx(mean(x, y) - mean(x, x) / 2 - mean(y, y) / 2, abs=1e-4)  # off by O(1 / epsilon)


def test_a_sinkhorn_test_sees_a_shift_and_reports_the_divergence():
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=(25, 3)), rng.normal(size=(20, 3)) + 1.0
    found = kqd.test(x, y, method="sinkhorn", power=2, n_resamples=99, rng=0)
    assert found.pvalue == 0.01
    again = kqd.distance(x, y, method="sinkhorn", power=2, epsilon=found.details["epsilon"]).statistic
    assert found.statistic == pytest.approx(again, rel=1e-6)  # both stop at a marginal error of 1e-6


def test_sinkhorn_says_when_it_has_not_converged_and_refuses_what_it_cannot_do():
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=(25, 2)), rng.normal(size=(20, 2))
    found = kqd.distance(x, y, method="sinkhorn", iterations=2)
    assert found.details["converged"] == 0
    assert any("did not converge in 2 sweeps" in warning for warning in found.warnings)
    with pytest.raises(ValueError, match="epsilon"):
        kqd.distance(x, y, method="sinkhorn", epsilon=-1)
    with pytest.raises(ValueError, match="wasserstein is the limit at 0"):
        kqd.distance(x, y, method="sinkhorn", epsilon=1e-12)
    with pytest.raises(ValueError, match="finite number"):
        kqd.distance(x, y, method="sinkhorn", power=np.inf)


@pytest.mark.parametrize("weighted", [False, True])
def test_energy_on_the_line_is_scipys_squared(weighted):
    rng = np.random.default_rng(10)
    x, y = rng.normal(size=40), rng.exponential(size=70)
    weights = (weights_of(40, rng), weights_of(70, rng)) if weighted else (None, None)
    expected = scipy.stats.energy_distance(x, y, *weights) ** 2
    for form in ["auto", "full", "sliced"]:
        found = kqd.distance(x, y, method="energy", form=form, x_weights=weights[0], y_weights=weights[1], rng=0)
        assert found.statistic == pytest.approx(expected, rel=1e-11)  # the mean distances cancel to a tenth or so


@pytest.mark.parametrize("beta", [0.5, 1, 1.5])
@pytest.mark.parametrize("dim", [1, 2, 10])
def test_energy_is_the_double_sum(dim, beta):
    rng = np.random.default_rng(11)
    x, y = rng.normal(size=(50, dim)), rng.normal(size=(33, dim)) + 0.5
    mean = lambda u, v: costs(u, v, beta).mean()
    expected = 2 * mean(x, y) - mean(x, x) - mean(y, y)
    found = kqd.distance(x, y, method="energy", beta=beta, rng=0)
    assert found.statistic == pytest.approx(expected, rel=1e-11)


def test_an_energy_test_agrees_with_the_test_of_the_distance_kernel():
    rng = np.random.default_rng(12)
    x, y = rng.normal(size=(40, 3)), rng.normal(size=(30, 3)) + 0.4
    energy = kqd.test(x, y, method="energy", n_resamples=199, rng=5)
    mmd = kqd.test(x, y, method="mmd-v", kernel="energy:1", n_resamples=199, rng=5)
    assert energy.statistic == pytest.approx(2 * mmd.statistic**2, rel=1e-12)
    assert energy.pvalue == mmd.pvalue  # the same permutations, and squaring keeps their order


def test_sliced_energy_is_the_full_one_on_average():
    rng = np.random.default_rng(13)
    x, y = rng.normal(size=(200, 5)), rng.normal(size=(150, 5)) * 1.5
    full = kqd.distance(x, y, method="energy", rng=0).statistic
    sliced = kqd.distance(x, y, method="energy", form="sliced", slices=2000, rng=0)
    assert sliced.statistic == pytest.approx(full, abs=5 * sliced.standard_error)


@pytest.mark.parametrize("keywords, sentence", [
    (dict(beta=0), "needs > 0 and < 2"),
    (dict(beta=2), "only the means"),
    (dict(beta=1.5, form="sliced"), "needs beta = 1"),
    (dict(form="whole"), "form"),
])
def test_energy_refuses_what_it_cannot_do(keywords, sentence):
    with pytest.raises(ValueError, match=sentence):
        kqd.distance(np.zeros((4, 2)), np.zeros((4, 2)), method="energy", **keywords)
