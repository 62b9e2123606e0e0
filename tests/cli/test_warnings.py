"""Odd data that have an answer: the answer, and a warning in the report and in the JSON; exit code 0."""

import json

import pytest
from conftest import masked

ONE_ROW = "{} has only one row, so all of its quantiles are equal"
CONSTANT = "constant columns, which carry no information (1 of 2): 2"
IDENTICAL = "all 6 pooled points are identical: there is nothing to compare"
COINCIDE = "all pooled points are equal, so the bandwidth is set to 1"
FLAT = ("64 of 64 directions are flat and carry no information: more than 95% of the pooled values along them are equal. "
        "The bandwidth 1 may not suit the data, or most rows are equal")


def warnings_of(kqd, *arguments):
    run = kqd(*arguments, "--json")
    assert (run.stderr, run.code) == ("", 0)
    return [warning["text"] for warning in json.loads(run.stdout)["warnings"]]


@pytest.mark.parametrize("arguments, expected", [
    ("a.csv b.csv", []),
    ("row.csv a.csv", [ONE_ROW.format("row")]),
    ("a.csv row.csv", [ONE_ROW.format("row")]),
    ("constant.csv constant.csv", [CONSTANT]),
    ("equal.csv equal.csv", [IDENTICAL, COINCIDE, FLAT]),
    ("a.csv b.csv --reference pooled --num-reference 100",
     ["--num-reference 100 is more than the 6 pooled points, so all of them are used"]),
])
def test_a_distance_of_odd_data_warns(kqd, arguments, expected):
    assert warnings_of(kqd, "distance", *arguments.split()) == expected


@pytest.mark.parametrize("command", ["test", "distance", "explain", "matrix"])
def test_data_that_may_be_a_header_are_warned_of_in_every_form(kqd, folder, command):
    (folder / "counted.csv").write_text("0,1,2\n5,6,8\n7,9,6\n8,5,4\n4,4,7\n")
    warning = ("counted.csv:1: read as data although it counts up like a header. If it is a header: --header, if not: "
               "--no-header")
    files = (command, "counted.csv", "counted.csv")
    assert warnings_of(kqd, *files)[:2] == [warning, warning]
    assert warnings_of(kqd, *files, "--quiet")[:2] == [warning, warning]
    assert f"  warning      {warning}\n" in kqd(*files).stdout
    table = kqd(*files, "--csv")
    assert warning in table.stdout + table.stderr
    if command != "explain":
        kqd(*files, "--report", "counted.html")
        assert warning in (folder / "counted.html").read_text()
    for flag in ("--header", "--no-header"):
        assert warning not in warnings_of(kqd, *files, flag)


def too_few(alpha, smallest, permutations):
    return (f"the smallest p-value that {permutations} permutations can give is {smallest}, above alpha = {alpha}: the test "
            "cannot reject. Use more rows")


def tied(smallest, num_tied, permutations):
    return (f"because of ties the smallest attainable p-value is {smallest}, above alpha = 0.05: {num_tied} of all "
            f"{permutations} permutations have the largest statistic. Use more rows")


@pytest.mark.parametrize("arguments, expected", [
    ("a.csv b.csv", []),
    ("a.csv far.csv", [tied("0.1", 2, 20)]),  # samples of equal size that change places
    ("a.csv far.csv --alpha 0.1", []),
    ("four.csv far.csv", []),
    ("row.csv a.csv", [ONE_ROW.format("row"), too_few("0.05", "0.25", 4)]),
    ("constant.csv constant.csv", [CONSTANT]),
    ("equal.csv equal.csv", [IDENTICAL, COINCIDE, FLAT.replace("1024", "64"), tied("1", 20, 20)]),
    ("sensors-march.csv sensors-april.csv --permutations 9 --alpha 0.01",
     ["the smallest p-value that 9 permutations can give is 0.1, above alpha = 0.01: the test cannot reject. Increase "
      "--permutations"]),
])
def test_a_test_of_odd_data_warns(kqd, arguments, expected):
    assert warnings_of(kqd, "test", *arguments.split()) == expected


def test_one_row_against_one_row_can_never_be_rejected(kqd):
    run = kqd("test", "row.csv", "row.csv", "--quiet")
    assert (run.stdout, run.stderr, run.code) == ("1\n", "", 0)


def test_a_zero_median_distance_falls_back_to_the_distances_above_zero(kqd):
    run = kqd("distance", "mostly-equal.csv", "mostly-equal.csv", "--json")
    result = json.loads(run.stdout)
    assert (run.stderr, run.code, result["statistic"]) == ("", 0, 0.0)
    assert result["bandwidth"] == pytest.approx(4.0 / 2**0.5, rel=1e-12)  # 4 is the only distance above zero
    assert result["warnings"] == [{
        "id": "zero-median-distance",
        "text": "more than half of the distances between pooled points are 0. The bandwidth is based on the median of the "
                "other distances, 4"}]


def test_reference_points_that_would_empty_a_sample_are_made_fewer(kqd):
    run = kqd("test", "a.csv", "b.csv", "--reference", "pooled", "--num-reference", "100", "--json")
    result = json.loads(run.stdout)
    assert (run.code, result["num_reference"], result["n_set_aside"]) == (0, 1, 1)
    assert result["warnings"][0] == {
        "id": "fewer-reference-points",
        "text": "6 pooled reference points would leave too few rows to test, so their number is reduced to 3"}


def test_a_report_ends_with_its_warnings(kqd):
    assert masked(kqd("distance", "row.csv", "a.csv").stdout) == """
ekqd: expected kernel quantile discrepancy: mean gap of quantiles over directions

  distance     0.270281 (Monte Carlo SE over directions 0.017)

  row          row.csv, 1 row x 2 columns
  a            a.csv, 3 rows x 2 columns
  kernel       gaussian, bandwidth 2 (median rule)
  directions   64 gaussian, 64 reference points from a Gaussian fitted to the pool
  levels       uniform weighting, power p = 1
  run          seed 0, ...
  warning      row has only one row, so all of its quantiles are equal

"""


def test_weights_of_one_sample_need_a_kind(kqd, folder):
    (folder / "survey.csv").write_text("w,v\n1,2.1\n5,2.9\n2,3.4\n9,2.2\n3,2.7\n")
    (folder / "register.csv").write_text("w,v\n" + "".join(f"1,{v}\n" for v in (3.0, 2.5, 3.3, 2.8, 3.9, 3.1)))
    files = ("survey.csv", "register.csv", "--weights", "w")
    for command in (("test",), ("explain",), ("matrix", "--test")):
        run = kqd(command[0], *files, *command[1:])
        assert (run.stdout, run.code) == ("", 2)
        assert run.stderr.startswith("kqd: X has weights and Y has the same weight for all rows; state what the weights "
                                     "are: --weights-as frequency (")
    for kind in ("frequency", "precision", "sampling"):
        run = kqd("test", *files, "--weights-as", kind, "--method", "energy", "--json")
        result = json.loads(run.stdout)
        assert (result["weights_as"], len(result["notes"]), run.code) == (kind, kind != "frequency", 0)
    assert kqd("test", *files, "--weights-as", "survey").stderr == (
        'kqd: --weights-as survey: expected one of frequency, precision, sampling\n')
