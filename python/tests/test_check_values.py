"""The check values of the specification, which were computed by other means than this code."""

import json
import pathlib

import kqd
import numpy as np
import pytest

DIGITS = 1e-9  # the check values are given to ten decimals
METHODS = ["ekqd", "supkqd", "ekqd-centered", "supkqd-centered"]
COEFFICIENTS = np.array([[1, -1, 0.5, 2], [0.3, 0.7, -1.2, 0.4]]).T


def golden(x, y, method, **options):
    options = {"coefficients": COEFFICIENTS, **options}
    return kqd.distance(x, y, method=method, bandwidth=2, reference=[4, 5, 6, 7], rng=0, **options)


@pytest.mark.parametrize("weighting", ["uniform", "triangle", "slope-up:0.3", "beta:2:5", "atom:0.5",
                                       "interval:0.1:0.2"])
@pytest.mark.parametrize("power", [1, 1.5, 2, 3, 20, np.inf])
def test_diracs_have_the_same_gap_for_every_power_and_weighting(power, weighting):
    found = kqd.distance([0], [1], bandwidth=1, reference=[0], coefficients=[[1]], power=power, weighting=weighting,
                         rng=0)
    assert found.statistic == pytest.approx(1 - np.exp(-0.5), abs=1e-15)


@pytest.mark.parametrize("power, expected", [(1, 4 / 3), (2, 9 / 4), (3, 101 / 24)])
@pytest.mark.parametrize("directions", ["gaussian", "linear", "axis"])
@pytest.mark.parametrize("method", ["ekqd", "supkqd"])
def test_the_linear_kernel_on_the_line_is_wasserstein(method, directions, power, expected):
    found = kqd.distance([0, 1], [0.5, 2, 3], method=method, kernel="linear", directions=directions, power=power, rng=0)
    assert found.statistic_power == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("power, expected", [
    (1, [0.5382249925, 0.7263408074, 0.8216721044, 0.8222538993]),
    (2, [0.5757366332, 0.7320091793, 0.8238874476, 0.8250200167]),
    (3, [0.6077169007, 0.7375479754, 0.8260826138, 0.8288941272]),
])
def test_golden_vector_of_equal_sizes(power, expected):
    for method, value in zip(METHODS, expected):
        assert golden([4, 5], [6, 7], method, power=power).statistic == pytest.approx(value, abs=DIGITS)
    assert np.sqrt(golden([4, 5], [6, 7], "ekqd-centered").details["mmd_squared"]) == pytest.approx(0.8199948524, abs=DIGITS)


@pytest.mark.parametrize("power, expected", [(1, [0.5441259824, 0.7718008725]), (2, [0.5938923864, 0.7758069601])])
def test_golden_vector_with_upper_levels_counting_more(power, expected):
    for method, value in zip(METHODS, expected):
        found = golden([4, 5], [6, 7], method, power=power, weighting="slope-up:0")
        assert found.statistic == pytest.approx(value, abs=DIGITS)


@pytest.mark.parametrize("power, weighting, expected", [
    (1, "uniform", [0.4655031557, 0.6254575378, 0.6892784570, 0.6896328439]),
    (2, "uniform", [0.5003959670, 0.6351436310, 0.6931877047, 0.6961335812]),
    (2, "triangle:0", [0.5064004427, 0.6417836773]),
])
def test_golden_vector_of_unequal_sizes(power, weighting, expected):
    for method, value in zip(METHODS, expected):
        found = golden([4, 5], [5.5, 6, 7], method, power=power, weighting=weighting)
        assert found.statistic == pytest.approx(value, abs=DIGITS)


# The MMD witness is a direction too: its mean difference is the MMD, and a gap of quantiles is at least that of means.
@pytest.mark.parametrize("power", [1, 1.5, 2, 3, 10])
def test_the_witness_direction_reaches_the_mmd(power):
    found = golden([4, 5], [6, 7], "ekqd", power=power, coefficients=[[0.5], [0.5], [-0.5], [-0.5]])
    assert found.statistic >= 0.8199948524 - DIGITS
    if power == 1:
        assert found.statistic == pytest.approx(0.8199948524, abs=DIGITS)


# The constants of the authors' unit tests, with the coefficients that their generator draws (float32 there: 1e-6).
@pytest.mark.parametrize("case, x, y, attribute, expected, options", [
    ("sup X={1,2,3} Y={4,5,6} sigma=1 l=5 p=2 -> tau^2 0.6356133819", [1, 2, 3], [4, 5, 6], "statistic_power",
     0.6356133819, dict(method="supkqd", bandwidth=1, power=2, compat=["jitter"])),
    ("e-KQD X={4,5} Y={6,7} sigma=2 l=3 p=2 -> 0.2308304459", [4, 5], [6, 7], "statistic",
     0.2308304459, dict(method="ekqd", bandwidth=2, power=2, compat=["jitter"])),
    ("centered e-KQD X={7,9} Y={8,10} sigma=1 l=2 p=2 -> 0.5697478056", [7, 9], [8, 10], "statistic",
     0.5697478056, dict(method="ekqd-centered", bandwidth=1, power=2, compat=["jitter"])),
    ("unnormalised triangle r=0 p=1 X={1,2,3} Y={4,5,6} sigma=2 l=3 -> 1.3815598488", [1, 2, 3], [4, 5, 6], "statistic",
     1.3815598488, dict(method="ekqd", bandwidth=2, power=1, weighting="triangle:0",
                        compat="jitter,unnormalised,point-levels")),
])
def test_constants_of_the_authors_unit_tests(case, x, y, attribute, expected, options):
    stored = pathlib.Path(__file__).parents[2] / "experiments" / "published" / "reference-stream.json"
    coefficients = json.loads(stored.read_text())["unit_tests"][case]
    found = kqd.distance(x, y, reference=x + y, coefficients=coefficients, rng=0, **options)
    assert getattr(found, attribute) == pytest.approx(expected, abs=1e-6)
