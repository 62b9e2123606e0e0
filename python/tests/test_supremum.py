"""The supremum over directions: how near the optimiser comes to the best of many starts, and the direction that it returns."""

import json
import pathlib

import kqd
import numpy as np
import pytest

CASES = json.loads((pathlib.Path(__file__).parent / "suprema.json").read_text())  # by make_suprema.py


def kernel_of(x, y):
    pool = np.vstack([x, y])
    squares = ((pool[:, None] - pool[None]) ** 2).sum(axis=2)
    median = np.median(squares[np.triu_indices(len(pool), 1)])
    return median, f"gaussian@{np.sqrt(median / 2)!r}".replace("np.float64(", "").replace(")", "")


@pytest.mark.parametrize("power", [1, 2, 3])
def test_default_optimiser_is_within_half_a_per_cent_of_sixty_starts_on_fifty_data_sets(power):
    ratios = []
    for case in CASES:
        x, y = np.array(case["x"]), np.array(case["y"])
        found = kqd.distance(x, y, method="supkqd-opt", kernel=kernel_of(x, y)[1], power=power, rng=0)
        ratios.append(found.statistic / case["suprema"][power - 1])
        assert found.details["upper_bound"] >= found.statistic * (1 - 1e-9)
    assert len(ratios) == 50 and min(ratios) >= 0.995


def quantile_gap(u, v, power):
    """Between samples of equal size."""
    return np.mean(np.abs(np.sort(u) - np.sort(v)) ** power) ** (1 / power)


@pytest.mark.parametrize("power", [1, 2])
def test_maximiser_of_supkqd_opt_has_the_gap_that_is_reported(power):
    for case in CASES[:8]:
        x, y = np.array(case["x"]), np.array(case["y"])
        median, kernel = kernel_of(x, y)
        found = kqd.distance(x, y, method="supkqd-opt", kernel=kernel, power=power, rng=0)
        z, c = found.maximiser.reference, found.maximiser.coefficients
        k = lambda a, b: np.exp(-((a[:, None] - b[None]) ** 2).sum(axis=2) / median)
        assert c @ k(z, z) @ c == pytest.approx(1, abs=1e-6)
        # The direction leaves out kernel functions that add less than 1e-8 to the others.
        assert quantile_gap(k(x, z) @ c, k(y, z) @ c, power) == pytest.approx(found.statistic, rel=1e-4)
        assert (found.maximiser.direction, found.maximiser.gap) == (0, found.statistic)


def test_maximisers_of_slices_are_vectors_and_functions_of_columns():
    x, y = np.array(CASES[2]["x"]), np.array(CASES[2]["y"])
    found = kqd.distance(x, y, method="max-sw", power=2, rng=0)
    w = found.maximiser.coefficients
    assert found.maximiser.reference is None and w @ w == pytest.approx(1)
    assert quantile_gap(x @ w, y @ w, 2) == pytest.approx(found.statistic, rel=1e-9)
    assert kqd.distance(x, y, method="max-gsw", rng=0).maximiser.coefficients.shape == (10,)  # cubic monomials


def test_maximiser_of_drawn_directions_is_the_one_with_the_largest_gap():
    x, y = np.array(CASES[5]["x"]), np.array(CASES[5]["y"])
    found = kqd.distance(x, y, method="supkqd", kernel="gaussian@1", n_directions=20, rng=0)
    best = found.maximiser
    assert best.direction == np.argmax(found.per_direction) and best.gap == found.statistic
    u = lambda rows: np.exp(-((rows[:, None] - best.reference[None]) ** 2).sum(axis=2) / 2) @ best.coefficients
    assert quantile_gap(u(x), u(y), 1) == pytest.approx(found.statistic, rel=1e-9)
    assert kqd.distance(x, y, rng=0).maximiser is None and kqd.distance(x, y, method="mmd").maximiser is None


def test_tests_and_profiles_show_the_fitted_direction():
    x, y = np.random.default_rng(0).normal(size=(60, 2)), np.random.default_rng(1).normal(size=(60, 2)) + 1
    tested = kqd.test(x, y, method="max-sw", rng=0)
    assert tested.maximiser.coefficients.shape == (2,)
    measured = kqd.distance(x, y, method="max-sw", profiles=1, rng=0)
    assert len(measured.profiles) == 1 and measured.profiles[0].gap == measured.statistic
    assert measured.to_dict()["maximiser"]["coefficients"] == measured.maximiser.coefficients.tolist()


def test_centered_supremum_is_at_least_every_drawn_centered_gap():
    for case in CASES[:6]:
        x, y = np.array(case["x"]), np.array(case["y"])
        options = dict(kernel=kernel_of(x, y)[1], power=2, rng=0)
        best = kqd.distance(x, y, method="supkqd-opt", centered=1, **options).statistic
        drawn = kqd.distance(x, y, method="supkqd-centered", n_directions=500, **options).statistic
        assert best >= drawn * (1 - 1e-9) and best >= kqd.distance(x, y, method="mmd-v", **options).statistic * (1 - 1e-9)
