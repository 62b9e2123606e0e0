"""Any measure over quantile levels: tables, functions and mixtures. The oracle integrates over the merged grid of levels."""

import kqd
import numpy as np
import pytest

RNG = np.random.default_rng(4)
X, Y = RNG.normal(size=7), RNG.normal(size=5) + 0.4


def gap(x, y, mass, power):
    """(int |q_x - q_y|^p dnu)^(1/p), with mass(a, b) = nu((a, b])."""
    grid = np.unique(np.concatenate([np.arange(len(x) + 1) / len(x), np.arange(len(y) + 1) / len(y)]).round(15))
    x, y = np.sort(x), np.sort(y)
    total = 0.0
    for a, b in zip(grid, grid[1:]):
        middle = (a + b) / 2
        total += mass(a, b) * abs(x[int(middle * len(x))] - y[int(middle * len(y))]) ** power
    return total ** (1 / power)


def trapezia(levels, densities):
    def up_to(t):
        inside = levels < t
        grid, values = np.append(levels[inside], t), np.append(densities[inside], np.interp(t, levels, densities))
        return np.sum(np.diff(grid) * (values[1:] + values[:-1]) / 2)

    return lambda a, b: (up_to(b) - up_to(a)) / up_to(1.0)


LEVELS, DENSITIES = np.array([0, 0.2, 0.5, 1]), np.array([1.0, 4.0, 0.0, 2.0])


@pytest.mark.parametrize("power", [1, 2, 3.5])
def test_a_table_of_densities_is_integrated_over_the_merged_grid(power):
    found = kqd.distance(X, Y, kernel="linear", directions="axis", method="ekqd", power=power,
                         weighting=np.column_stack([LEVELS, DENSITIES]))
    assert found.statistic == pytest.approx(gap(X, Y, trapezia(LEVELS, DENSITIES), power), rel=1e-12)


@pytest.mark.parametrize("power", [1, 2])
def test_a_mixture_adds_the_masses_of_its_parts(power):
    uniform = gap(X, Y, lambda a, b: b - a, power) ** power
    median = gap(X, Y, lambda a, b: float(a < 0.5 <= b), power) ** power
    found = kqd.distance(X, Y, kernel="linear", directions="axis", method="ekqd", power=power,
                         weighting="3 uniform+1 atom:0.5")
    assert found.statistic == pytest.approx((0.75 * uniform + 0.25 * median) ** (1 / power), rel=1e-12)


# 513 levels: a density with second derivative 12 at most is off by 12 / (8 512^2) < 6e-6 between them.
def test_a_function_is_its_table():
    options = dict(kernel="linear", directions="axis", method="ekqd", power=1)
    found = kqd.distance(X, Y, weighting=lambda t: 6 * t * (1 - t), **options)
    assert found.statistic == pytest.approx(kqd.distance(X, Y, weighting="beta:2:2", **options).statistic, rel=1e-5)
    assert kqd.distance(X, Y, weighting=found.settings["weighting"], **options).statistic == found.statistic
    assert kqd.test(X, Y, weighting=lambda t: t, method="ekqd", n_directions=4, rng=0, n_resamples=19).pvalue <= 1


def raises(level):
    raise KeyError("no density today")


@pytest.mark.parametrize("weighting, error, sentence", [
    (lambda t: -1.0, ValueError, "finite densities >= 0"),
    (lambda t: 0.0, ValueError, "a density that is above 0 somewhere"),
    (lambda t: np.nan, ValueError, "finite densities >= 0"),
    (lambda t: np.inf, ValueError, "finite densities >= 0"),
    (lambda t: "x", TypeError, "does not return a number for a level"),
    (lambda t: [1, 2], TypeError, "does not return a number for a level"),
    (lambda t: None, ValueError, "finite densities >= 0"),
    (raises, KeyError, "no density today"),
    ([[0, 1], [0.9, 1]], ValueError, "levels from 0 to 1"),
    ([[0.1, 1], [1, 1]], ValueError, "levels from 0 to 1"),
    ([[0, 1], [0.5, 1], [0.5, 2], [1, 1]], ValueError, "ascending levels"),
    ([[0, 1], [1, -1]], ValueError, "finite densities >= 0"),
    ([[0, 0], [1, 0]], ValueError, "a density that is above 0 somewhere"),
    ([[0, 1, 1], [1, 1, 1]], ValueError, "expected a level and a density in each row"),
    ([[0, 1]], ValueError, "at least two levels"),
    ([0, 0.5, 1], ValueError, "expected a level and a density in each row"),
    (1.5, TypeError, "expected a string, a function of levels, or rows of level and density"),
    ("2 uniform+-1 triangle", ValueError, "a weight >= 0"),
    ("0 uniform+0 triangle", ValueError, "weights that are not all 0"),
    ("uniform+", ValueError, "expected one of uniform"),
])
def test_what_is_not_a_measure_is_refused(weighting, error, sentence):
    with pytest.raises(error) as raised:
        kqd.distance(X, Y, method="ekqd", weighting=weighting, n_directions=2)
    assert sentence in str(raised.value)
