"""kqd matrix: distances between many data sets, in every form, with tests and without."""

import csv
import io
import json
import random
import re

import pytest
from conftest import masked

SETS = ("a.csv", "b.csv", "four.csv")


@pytest.fixture(scope="module")
def shifted(kqd, folder):
    """Three samples of 60 rows, the last of another distribution."""
    assert kqd("sample", "null", "-n", "60", "-d", "2", "--seed", "1", "-o", "p.csv", "q.csv").code == 0
    assert kqd("sample", "mean-shift", "-n", "60", "-d", "2", "--seed", "2", "--set", "delta=2", "-o", "r0.csv",
               "r.csv").code == 0
    return ("p.csv", "q.csv", "r.csv")


def as_json(kqd, *arguments):
    run = kqd("matrix", *arguments, "--json")
    assert (run.stderr, run.code) == ("", 0)
    return json.loads(run.stdout)


def test_two_data_sets_have_the_distance_of_kqd_distance(kqd):
    for flags in ((), ("--method", "sw"), ("--method", "mmd"), ("--power", "2", "--method", "supkqd")):
        entry = as_json(kqd, "a.csv", "b.csv", *flags)["distances"][0][1]
        only = json.loads(kqd("distance", "a.csv", "b.csv", "--json", *flags).stdout)["statistic"]
        assert entry == pytest.approx(only, rel=1e-12)


def test_json_has_everything_to_repeat_the_run(kqd):
    found = as_json(kqd, *SETS, "--test", "--seed", "3")
    assert found["schema"] == "kqd.matrix/2"
    assert (found["names"], found["n"], found["dim"]) == (list(SETS), [3, 3, 4], 2)
    assert {"version", "method", "kernel", "bandwidth", "directions", "num_directions", "num_reference", "reference",
            "power", "weighting", "parameters", "seed", "threads", "simd", "elapsed_s", "warnings"} <= set(found)
    assert (found["adjustment"], found["n_pairs"], found["alpha"], found["n_permutations"]) == ("holm", 3, 0.05, 999)
    for name in ("distances", "pvalues", "adjusted_pvalues"):
        rows = found[name]
        assert all(rows[i][j] == rows[j][i] for i in range(3) for j in range(3))
    assert as_json(kqd, *SETS)["pvalues"] is None


def test_csv_is_a_square_table_that_reads_back(kqd):
    rows = list(csv.reader(io.StringIO(kqd("matrix", *SETS, "--csv").stdout)))
    assert rows[0] == ["", *SETS] and [row[0] for row in rows[1:]] == list(SETS)
    assert [[float(cell) for cell in row[1:]] for row in rows[1:]] == as_json(kqd, *SETS)["distances"]


def test_csv_with_tests_has_a_line_per_pair(kqd):
    rows = list(csv.DictReader(io.StringIO(kqd("matrix", *SETS, "--test", "--csv").stdout)))
    found = as_json(kqd, *SETS, "--test")
    assert [(row["x"], row["y"]) for row in rows] == [("a.csv", "b.csv"), ("a.csv", "four.csv"), ("b.csv", "four.csv")]
    assert [float(row["adjusted_pvalue"]) for row in rows] == [found["adjusted_pvalues"][i][j]
                                                               for i, j in ((0, 1), (0, 2), (1, 2))]


def test_quiet_prints_only_the_numbers(kqd):
    found = as_json(kqd, *SETS, "--test")
    distances = [[float(cell) for cell in line.split(",")] for line in kqd("matrix", *SETS, "--quiet").stdout.splitlines()]
    pvalues = [[float(cell) for cell in line.split(",")]
               for line in kqd("matrix", *SETS, "--quiet", "--test").stdout.splitlines()]
    assert (distances, pvalues) == (found["distances"], found["adjusted_pvalues"])


def test_markdown_has_a_table_of_distances(kqd):
    lines = kqd("matrix", *SETS, "--markdown").stdout.splitlines()
    assert lines[2:4] == ["| distance | a.csv | b.csv | four.csv |", "|---|---|---|---|"]
    assert lines[4].startswith("| a.csv | - | 0.")


def test_only_pairs_with_the_shifted_sample_differ(kqd, shifted):
    run = kqd("matrix", *shifted, "--test")
    assert (run.stderr, run.code) == ("", 0)
    assert "\n  2 of 3 pairs differ (Holm-adjusted p-values, family-wise level 0.05).\n" in run.stdout
    assert re.search(r"(?m)^  3  r\.csv +0\.003\* +0\.003\* +-$", run.stdout)
    found = as_json(kqd, *shifted, "--test")
    assert found["pvalues"][0][2] == 0.001 and found["adjusted_pvalues"][0][2] == 0.003


# Issue 22: with 999 permutations no adjusted p-value of 78 pairs can be 0.05, and ekqd does not see a correlation.
def test_one_shifted_month_of_thirteen_is_found_by_default(kqd, folder):
    rng = random.Random(1)
    names = [f"month-{month}.csv" for month in range(13)]
    for month, name in enumerate(names):
        shift = 2.5 if month == 9 else 0.0
        (folder / name).write_text("".join(f"{rng.gauss(shift, 1)},{rng.gauss(0, 1)}\n" for _ in range(30)))
    run = kqd("matrix", *names, "--test")
    assert (run.stderr, run.code) == ("", 0)
    assert "12 of 78 pairs differ (" in run.stdout
    assert re.search(r"tests +by adaptive, 1559 permutations per pair \(999 are too few for so many pairs\)", run.stdout)
    found = as_json(kqd, *names, "--test", "--method", "energy")
    assert (found["method"], found["test_method"], found["n_permutations"]) == ("energy", "energy", 1559)
    assert (found["n_rejected"], found["warnings"]) == (12, [])


def test_tests_are_by_the_default_method_of_a_test(kqd, shifted):
    for flags, method, test_method in (((), "ekqd", "adaptive"), (("--method", "adaptive"), "ekqd", "adaptive"),
                                       (("--method", "adaptive", "--set", "combine=rank"), "ekqd", "adaptive"),
                                       (("--power", "2"), "ekqd", "ekqd"), (("--method", "sw"), "sw", "sw"),
                                       (("--method", "mmd-fuse"), "mmd", "mmd-fuse")):
        found = as_json(kqd, *shifted, "--test", *flags)
        assert (found["method"], found["test_method"], found["n_permutations"]) == (method, test_method, 999)
        assert found["n_rejected"] == 2
        assert found["distances"] == as_json(kqd, *shifted, "--method", method, *(f for f in flags if f in ("--power", "2")))[
            "distances"]


def test_too_few_permutations_for_the_pairs_give_a_warning(kqd, shifted):
    warnings = as_json(kqd, *shifted, "--test", "--permutations", "19")["warnings"]
    assert warnings == [{
        "id": "few-permutations-for-pairs",
        "text": "p-values are at least 0.05, so none that is adjusted for 3 pairs can be 0.05 or less. Use "
                "--permutations 59 or more, if the samples have that many permutations"}]


def test_columns_are_matched_by_name_over_all_files(kqd, folder):
    (folder / "uv.csv").write_text("u,v\n1,20\n2,10\n3,30\n")
    (folder / "vu.csv").write_text("v,u\n20,1\n10,2\n30,3\n")
    (folder / "uw.csv").write_text("u,w\n1,20\n2,10\n")
    run = kqd("matrix", "uv.csv", "vu.csv", "uv.csv", "--json")
    assert run.stderr == "kqd: vu.csv: columns are reordered by name to match uv.csv\n"
    assert json.loads(run.stdout)["distances"] == [[0.0] * 3] * 3
    run = kqd("matrix", "uv.csv", "vu.csv", "uw.csv", "--quiet")
    assert (run.stdout, run.code) == ("", 2)
    assert run.stderr.startswith('kqd: uv.csv and uw.csv: their columns differ; only uv.csv has "v"; only uw.csv has "w"')


@pytest.mark.parametrize("arguments, sentence", [
    ("a.csv", "kqd matrix got a.csv only, expected two data sets or more"),
    ("a.csv b.csv one-column.csv", "a.csv has 2 columns of points and one-column.csv has 1, expected the same number"),
    ("a.csv b.csv missing.csv", "missing.csv: no such file"),
    ("a.csv b.csv --method adaptive", "--method adaptive: expected a method with a distance; this one is only a test. Use ekqd or another method"),
    ("a.csv b.csv --reference balanced", "reference balanced takes half of its points from each of two samples; for a "
     "matrix use pooled, gaussian or uniform"),
    ("a.csv b.csv --test --alpha 2", "--alpha 2: expected a number between 0 and 1"),
])
def test_bad_input_is_refused(kqd, arguments, sentence):
    run = kqd("matrix", *arguments.split())
    assert (run.stdout, run.stderr, run.code) == ("", f"kqd: {sentence}\n", 2)


def test_group_is_refused_because_a_matrix_takes_files(kqd):
    run = kqd("matrix", "a.csv", "b.csv", "--group", "g")
    assert (run.stdout, run.code) == ("", 2)
    assert run.stderr.splitlines()[0] == "kqd: unknown flag --group for kqd matrix, which takes a file for each sample"


def test_flags_of_tests_without_test_give_a_note(kqd):
    run = kqd("matrix", *SETS, "--permutations", "99")
    assert (run.stderr, run.code) == ("kqd: --permutations: no effect without --test\n", 0)


def test_the_text_is_plain_in_a_pipe(kqd):
    run = kqd("matrix", *SETS)
    assert "\033" not in run.stdout and run.stdout.isascii()
    assert masked(run.stdout).startswith("\nDistances by ekqd: ")


def test_json_has_the_preparation_of_the_data(kqd, folder):
    (folder / "gap.csv").write_text("a,w\n1,1\n,1\n4,2\n")
    (folder / "full.csv").write_text("a,w\n1,1\n2,1\n5,2\n")
    run = kqd("matrix", "gap.csv", "full.csv", "--weights", "w", "--na", "omit", "--json")
    data = json.loads(run.stdout)["data"]
    assert (data["na"], data["weights"], data["columns_read"]) == ("omit", "w", 1)
    assert [rows["omitted"] for rows in data["rows"]] == [1, 0]
    shown = kqd("matrix", "gap.csv", "full.csv", "--weights", "w", "--na", "omit").stdout
    assert "  data         2 data sets of 2 to 3 rows x 1 column\n" in shown
    assert "  data         column w holds the weights of the rows\n" in shown


def test_a_data_set_that_is_given_twice_has_two_names(kqd):
    assert as_json(kqd, "a.csv", "b.csv", "a.csv", "a.csv")["names"] == ["a.csv", "b.csv", "a.csv (2)", "a.csv (3)"]
