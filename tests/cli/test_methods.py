"""Every method of the registry on awkward data: an answer in finite numbers, or a refusal in words."""

import json
import math
import random
import re
import subprocess

import numpy as np
import pytest
from conftest import PROGRAM


def listed_methods():
    listing = subprocess.run([PROGRAM, "methods"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return [line.split()[0] for line in listing.splitlines()[1:]]


METHODS = listed_methods()
SPLIT_METHODS = {"supkqd-opt", "max-sw", "max-gsw"}  # part of the rows is drawn by position
FEW = ("--permutations", "19", "--threads", "1")
# Fields that may be null: settings that a method does not have, an interval that was not requested, and a margin that
# was not given.
MARGIN = {"verdict", "margin", "margin_kind", "margin_basis", "pvalue_beyond", "pvalue_within", "rows_needed", "separation",
          "separation_ci"}
MAY_BE_NULL = {"kernel", "bandwidth", "directions", "reference", "power", "weighting", "effect_size_ci", "effect_interval",
               "standard_error", "null_distribution", "limiting_distribution", "maximiser", "reference_points",
               "rows_per_group", "n_groups", "groups", "groups_guarantee", "interval", "largest_change", "where", *MARGIN}


def normal_rows(rows, columns, seed, scale=1.0, shift=0.0):
    draw = random.Random(seed)
    return [[scale * draw.gauss(shift, 1.0) for _ in range(columns)] for _ in range(rows)]


def small_counts(rows, columns, seed):
    draw = random.Random(seed)
    return [[draw.randrange(2) for _ in range(columns)] for _ in range(rows)]


def on_a_line(rows, seed):
    return [[t, 2.0 * t, -t] for (t,) in normal_rows(rows, 1, seed)]


PAIRS = {
    "one-row": (normal_rows(1, 2, 1), normal_rows(1, 2, 2)),
    "two-rows": (normal_rows(2, 2, 1), normal_rows(2, 2, 2)),
    "three-rows": (normal_rows(3, 2, 1), normal_rows(3, 2, 2)),
    "all-equal": ([[3.5, 1.0]] * 12, [[3.5, 1.0]] * 12),
    "two-points": ([[0.0, 0.0]] * 12, [[1.0, 1.0]] * 9),
    "constant-column": ([[a, 7.0] for (a,) in normal_rows(12, 1, 1)], [[a, 7.0] for (a,) in normal_rows(12, 1, 2)]),
    "huge": (normal_rows(12, 2, 1, 1e100), normal_rows(12, 2, 2, 1e100)),
    "overflowing": (normal_rows(12, 2, 1, 1e300), normal_rows(12, 2, 2, 1e300)),
    "outlier": ([[1e200, 0.0], *normal_rows(11, 2, 1)], normal_rows(12, 2, 2)),
    "tiny": (normal_rows(12, 2, 1, 1e-160), normal_rows(12, 2, 2, 1e-160)),
    "ties": (small_counts(20, 2, 1), small_counts(20, 2, 2)),
    "lopsided": (normal_rows(2, 3, 1), normal_rows(200, 3, 2)),
    "one-column": (normal_rows(15, 1, 1), normal_rows(11, 1, 2)),
    "wide": (normal_rows(6, 60, 1), normal_rows(6, 60, 2)),
    "collinear": (on_a_line(12, 1), on_a_line(12, 2)),
    "shifted": (normal_rows(16, 2, 1), normal_rows(16, 2, 2, shift=0.5)),
}


def write_rows(path, rows, header=None):
    lines = ([header] if header else []) + [",".join(map(repr, row)) for row in rows]
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def pairs(folder):
    for name, (x, y) in PAIRS.items():
        write_rows(folder / f"{name}-x.csv", x)
        write_rows(folder / f"{name}-y.csv", y)
    return {name: (f"{name}-x.csv", f"{name}-y.csv") for name in PAIRS}


def problems_of(value, name=""):
    """Names of numbers that are missing (JSON has no NaN: it is written as null)."""
    if isinstance(value, dict):
        return [p for key, part in value.items() for p in problems_of(part, key)]
    if isinstance(value, list):
        return [p for part in value for p in problems_of(part, name)]
    if value is None:
        return [] if name in MAY_BE_NULL else [name]
    return [name] if isinstance(value, float) and not math.isfinite(value) else []


def expect_answer_or_refusal(run):
    if run.code == 0:
        result = json.loads(run.stdout)
        assert problems_of(result) == []
        assert 0.0 < result.get("pvalue", 1.0) <= 1.0
        return
    assert run.code in (2, 4)
    assert run.stdout == ""
    assert re.fullmatch(r"kqd: [^\n]*\n", run.stderr)
    assert "::" not in run.stderr  # fields of C++ mean nothing to whoever types flags


@pytest.mark.parametrize("method", METHODS)
def test_awkward_data_are_tested_or_refused_in_words(kqd, pairs, method):
    for x, y in pairs.values():
        expect_answer_or_refusal(kqd("test", x, y, "--method", method, "--json", *FEW))


@pytest.mark.parametrize("method", METHODS)
def test_awkward_data_are_measured_or_refused_in_words(kqd, pairs, method):
    for x, y in pairs.values():
        expect_answer_or_refusal(kqd("distance", x, y, "--method", method, "--json", "--threads", "1"))


@pytest.mark.parametrize("method", METHODS)
def test_identical_points_are_never_different(kqd, pairs, method):
    run = kqd("test", *pairs["all-equal"], "--method", method, "--json", *FEW)
    result = json.loads(run.stdout)
    assert (run.code, result["pvalue"]) == (0, 1.0)
    assert "identical-points" in [warning["id"] for warning in result["warnings"]]


# The kernel is 1.09..., which no sum of many rows hits exactly: what centring leaves is rounding, not a difference.
@pytest.mark.parametrize("method", ["mmd", "mmd-v", "kce", "ekqd-centered", "supkqd-centered"])
def test_rounding_is_no_difference_between_identical_points(kqd, folder, method):
    write_rows(folder / "tenths-x.csv", [[0.1, 0.1, 0.1]] * 40)
    write_rows(folder / "tenths-y.csv", [[0.1, 0.1, 0.1]] * 30)
    run = kqd("test", "tenths-x.csv", "tenths-y.csv", "--kernel", "polynomial", "--method", method, "--quiet", *FEW)
    assert run.stdout == "1\n"


@pytest.mark.parametrize("method", METHODS)
def test_threads_change_no_bit(kqd, pairs, method):
    def result(threads):
        run = kqd("test", *pairs["shifted"], "--method", method, "--json", "--null-distribution", "--permutations",
                  "99", "--threads", threads)
        fields = json.loads(run.stdout)
        return {key: value for key, value in fields.items() if key not in ("threads", "elapsed_s")}

    assert result("1") == result("2")


@pytest.mark.parametrize("method", sorted(set(METHODS) - SPLIT_METHODS))
def test_the_order_of_rows_changes_nothing(kqd, folder, pairs, method):
    x, y = PAIRS["shifted"]
    write_rows(folder / "reversed-x.csv", x[::-1])
    write_rows(folder / "reversed-y.csv", y[5:] + y[:5])
    arguments = ("--method", method, "--quiet", *FEW)
    assert kqd("test", *pairs["shifted"], *arguments) == kqd("test", "reversed-x.csv", "reversed-y.csv", *arguments)


def own_parameters(kqd, method):
    """Name and range of each parameter, as `kqd methods ID` prints them."""
    text = kqd("methods", method).stdout
    return re.findall(r"(?m)^  (\S+) .*\(default [^;]*; (.*)\)$", text.partition("Parameters, as --set")[2])


@pytest.mark.parametrize("method", METHODS)
def test_a_parameter_out_of_its_range_is_refused_with_the_range(kqd, pairs, method):
    for name, allowed in own_parameters(kqd, method):
        for value in ("nan", "inf", "-1", "1e200", "many"):
            if allowed == "a number >= 0" and value == "1e200":
                continue
            run = kqd("test", *pairs["shifted"], "--method", method, "--set", f"{name}={value}", *FEW)
            assert (run.stdout, run.code) == ("", 2)
            assert run.stderr.startswith(f"kqd: {method}: {name} = ")
            assert f"expected {allowed}" in run.stderr


def test_adaptive_leaves_products_out_where_they_overflow(kqd, pairs):
    for name in ("huge", "outlier"):
        result = json.loads(kqd("test", *pairs[name], "--method", "adaptive", "--standardize", "none", "--json", *FEW).stdout)
        assert "linear-overflow" in [warning["id"] for warning in result["warnings"]]
        assert not any("linear" in c["name"] for c in result["components"])


@pytest.mark.parametrize("method", ["ekqd", "supkqd", "ekqd-centered", "mmd", "mmd-v", "sw", "kce", "energy"])
def test_a_distance_of_many_rows_is_that_of_the_test_whatever_comes_first(kqd, tmp_path, method):
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(700, 3)), rng.normal(size=(600, 3)) + 0.2  # more than a bandwidth is found from
    files = {name: str(tmp_path / f"{name}.npy") for name in ("x", "y", "z")}
    for name, rows in (("x", x), ("y", y), ("z", x[::-1])):
        np.save(files[name], rows)
    values = [float(kqd("distance", files[a], files[b], "--method", method, "--quiet").stdout)
              for a, b in (("x", "y"), ("y", "x"), ("z", "y"))]
    test = json.loads(kqd("test", files["x"], files["y"], "--method", method, "--json", *FEW).stdout)["statistic"]
    assert values == pytest.approx([test] * 3, rel=1e-7)


def test_what_would_take_an_hour_is_refused(kqd, tmp_path):
    for side in "xy":
        np.save(tmp_path / f"{side}.npy", np.random.default_rng(5).normal(size=(50000, 2)))
    files = [str(tmp_path / f"{side}.npy") for side in "xy"]
    for method, flags in (("mmd-fuse", ()), ("mmd-agg", ()), ("mmd", ("--permutations", "99999"))):
        run = kqd("test", *files, "--method", method, *flags)
        assert (run.code, "on one thread; use --yes-quadratic" in run.stderr) == (4, True), run.stderr


def test_adaptive_warns_where_products_underflow(kqd, tmp_path):
    rng = np.random.default_rng(3)
    for name, factor in (("ordinary", 1.0), ("tiny", 1e-90)):
        files = [str(tmp_path / f"{name}-{side}.npy") for side in "xy"]
        for side, path in enumerate(files):
            np.save(path, factor * (rng.normal(size=(40, 3)) + side))
        result = json.loads(kqd("test", *files, "--standardize", "none", "--json", *FEW).stdout)
        ids = [warning["id"] for warning in result["warnings"]]
        assert ids.count("linear-underflow") == (name == "tiny")
        assert any("linear" in c["name"] for c in result["components"]) == (name == "ordinary")


def test_flags_without_effect_on_adaptive_have_none(kqd, pairs):
    plain = kqd("test", *pairs["shifted"], "--method", "adaptive", "--quiet", *FEW)
    flags = ("--directions", "linear", "--power", "2", "--weighting", "triangle", "--reference", "pooled")
    assert kqd("test", *pairs["shifted"], "--method", "adaptive", "--quiet", *FEW, *flags) == plain


def test_points_too_close_to_square_are_reported(kqd, pairs):
    result = json.loads(kqd("test", *pairs["tiny"], "--method", "energy", "--json", *FEW).stdout)
    assert "squares-underflow" in [warning["id"] for warning in result["warnings"]]
    run = kqd("distance", *pairs["tiny"], "--method", "wasserstein")
    assert (run.stderr, run.code) == (
        "kqd: squared distances between the pooled points underflow; rescale the columns\n", 2)


def test_more_features_than_rows_leave_the_size_to_the_ridge(kqd, pairs):
    result = json.loads(kqd("test", *pairs["wide"], "--method", "me", "--json", *FEW).stdout)
    assert {"id": "singular-covariance",
            "text": "me: the covariance of 10 features on 6 rows of x is singular without the ridge, which determines the "
                    "size of the statistic. Use fewer locations"} in result["warnings"]


def test_weights_of_many_orders_of_magnitude_are_refused_where_they_leave_one_row(kqd, folder):
    for name in ("x", "y"):
        rows = [[*row, 1e300 if i == 0 else 1.0] for i, row in enumerate(normal_rows(10, 2, ord(name)))]
        write_rows(folder / f"heavy-{name}.csv", rows, "a,b,w")
    arguments = ("heavy-x.csv", "heavy-y.csv", "--weights", "w", "--method", "mmd")
    for command in ("distance", "test"):
        run = kqd(command, *arguments)
        assert (run.stderr, run.code) == (
            "kqd: X has all its weight on one row, the unbiased MMD needs at least two (mmd-v takes one)\n", 2)


def test_a_limiting_distribution_never_gives_zero(kqd, folder):
    for name, row in (("zeros.csv", "0,0\n"), ("ones.csv", "1,1\n")):
        (folder / name).write_text(700 * row)
    run = kqd("test", "zeros.csv", "ones.csv", "--method", "scf", "--calibration", "asymptotic", "--json")
    assert 0.0 < json.loads(run.stdout)["pvalue"] < 1e-300


def test_an_enumerated_aggregate_needs_no_round_number_of_permutations(kqd, pairs):
    run = kqd("test", *pairs["two-rows"], "--method", "adaptive", "--early-stop=besag-clifford", "--permutations", "19",
              "--quiet")
    assert (run.stderr, run.code) == ("", 0)


def test_randomised_ties_and_early_stopping_exclude_each_other(kqd, pairs):
    run = kqd("test", *pairs["ties"], "--randomise-ties", "--early-stop")
    assert (run.stderr, run.code) == ("kqd: randomised ties do not go with early stopping\n", 2)


# Whole clusters of half of the rows, drawn one by one, would be nearly all clusters and leave nothing to test.
@pytest.mark.parametrize("method", sorted(SPLIT_METHODS))
def test_half_of_the_clusters_are_left_for_the_test(kqd, folder, method):
    for name, first in (("x", 0), ("y", 10)):
        rows = [[*row, first + i // 8] for i, row in enumerate(normal_rows(80, 2, first))]
        write_rows(folder / f"clustered-{name}.csv", rows, "a,b,cluster")
    run = kqd("test", "clustered-x.csv", "clustered-y.csv", "--design", "clusters:cluster", "--method", method,
              "--json", *FEW)
    result = json.loads(run.stdout)
    assert result["n_set_aside"] in (72, 80)


def spatial_median(rows):
    """By Weiszfeld's iteration on coordinates, which no kernel matrix enters; none when it comes close to a row."""
    at = rows.mean(axis=0)
    for _ in range(5000):
        pulls = 1 / np.maximum(np.linalg.norm(rows - at, axis=1), 1e-300)
        at = pulls @ rows / pulls.sum()
    return at if np.linalg.norm(rows - at, axis=1).min() > 1e-3 else None


def test_kmedian_of_linearly_dependent_points_is_accurate_to_ten_digits(kqd, folder):
    """Of more rows than columns the weights of a median are not unique, and rounding hid 1e-8 of it."""
    compared = 0
    for seed in range(12):
        rng = np.random.default_rng([27, seed])
        x, y = rng.normal(size=(12, 2)), rng.normal(size=(9, 2)) * 2 + 0.1
        x[0] *= 30
        medians = spatial_median(x), spatial_median(y)
        if any(median is None for median in medians):
            continue
        compared += 1
        np.save(folder / "x-median.npy", x)
        np.save(folder / "y-median.npy", y)
        found = float(kqd("distance", "x-median.npy", "y-median.npy", "--method", "kmedian", "--kernel", "linear", "--quiet").stdout)
        assert abs(found / np.linalg.norm(medians[0] - medians[1]) - 1) < 1e-10
    assert compared >= 6
