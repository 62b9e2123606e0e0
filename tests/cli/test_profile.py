"""kqd profile and kqd merge: profiles of samples, their merges, tests of them, and files that are not profiles."""

import json

import pytest


@pytest.fixture(scope="module")
def files(kqd, folder):
    """A profile of X, and profiles like it of a sample of the same distribution and of a shifted one."""
    assert kqd("sample", "null", "-n", "900", "-d", "2", "--seed", "1", "-o", "px.csv", "py.csv").code == 0
    assert kqd("sample", "mean-shift", "-n", "900", "-d", "2", "--seed", "2", "--set", "delta=1", "-o", "p0.csv",
               "pz.csv").code == 0
    assert kqd("profile", "px.csv", "--rows-per-group", "10", "-o", "x.kqp").code == 0
    for name in ("y", "z"):
        run = kqd("profile", f"p{name}.csv", "--like", "x.kqp", "-o", f"{name}.kqp")
        assert (run.stdout, run.stderr, run.code) == ("", "", 0)
    return folder


def test_profiles_are_tested_like_rows(kqd, files):
    different = json.loads(kqd("test", "x.kqp", "z.kqp", "--json").stdout)
    assert different["method"] == "adaptive" and different["pvalue"] == 0.001 and different["reject"]
    assert (different["permute"], different["rows_per_group"], different["n_groups"]) == ("groups", 10, [81, 90])
    assert (different["n_x"], different["n_y"], different["dim"]) == (900, 900, 2)
    assert different["effect_size"] > 0.3 and len(different["components"]) > 5
    alike = json.loads(kqd("test", "x.kqp", "y.kqp", "--json").stdout)
    assert alike["pvalue"] > 0.01 and not alike["reject"]
    assert kqd("test", "x.kqp", "z.kqp", "--exit-code", "--quiet").code == 1
    assert "permutations of 81 + 90 groups of 10 rows" in kqd("test", "x.kqp", "z.kqp").stdout


def test_the_same_rows_give_the_same_bytes(kqd, files):
    for threads in ("1", "2"):
        assert kqd("profile", "pz.csv", "--like", "x.kqp", "--threads", threads, "-o", "again.kqp").code == 0
        assert (files / "again.kqp").read_bytes() == (files / "z.kqp").read_bytes()


def test_merging_does_not_depend_on_the_order(kqd, files):
    assert kqd("merge", "y.kqp", "z.kqp", "-o", "yz.kqp").code == 0
    assert kqd("merge", "z.kqp", "y.kqp", "-o", "zy.kqp").code == 0
    assert (files / "yz.kqp").read_bytes() == (files / "zy.kqp").read_bytes()
    found = json.loads(kqd("test", "x.kqp", "yz.kqp", "--json").stdout)
    assert found["n_y"] == 1800 and found["n_groups"] == [81, 180]


def test_the_same_rows_are_not_merged_twice(kqd, files):
    run = kqd("merge", "y.kqp", "y.kqp", "-o", "twice.kqp")
    assert (run.stdout, run.code) == ("", 2)
    assert run.stderr == ("kqd: y.kqp: rows 1 to 900 of a sample would be counted twice: each row may be in one of the "
                          "profiles only\n")
    assert not (files / "twice.kqp").exists()


def test_info_describes_a_profile(kqd, files):
    run = kqd("profile", "--info", "x.kqp")
    assert (run.stderr, run.code) == ("", 0)
    assert run.stdout.startswith("x.kqp\n  rows     900\n  groups   81 of 10 rows\n  columns  2\n")
    assert "  spec     " in run.stdout


@pytest.mark.parametrize("arguments, sentence", [
    (["test", "x.kqp", "px.csv"],
     "a profile can be compared with a profile only: kqd profile --like makes one of the other file"),
    (["distance", "x.kqp", "y.kqp"], "kqd distance needs rows, and a profile has none; use kqd test"),
    (["test", "x.kqp", "y.kqp", "--method", "mmd"],
     "--method mmd: expected adaptive, ekqd or supkqd for profiles; other methods need rows"),
    (["profile", "px.csv"], "kqd profile needs a file to write: -o FILE.kqp"),
    (["profile", "px.csv", "-o", "x.csv"], "--output x.csv: expected a file name ending in .kqp"),
    (["profile", "a.csv", "-o", "small.kqp"], "a profile needs at least 40 rows, got 3"),
    (["merge", "x.kqp", "cut.kqp", "-o", "m.kqp"], "cut.kqp: not a valid profile: it ends too early"),
    (["merge", "x.kqp", "none.kqp", "-o", "m.kqp"], "none.kqp: cannot be opened"),
    (["test", "x.kqp", "text.kqp"], "text.kqp: not a valid profile: it does not begin as one"),
])
def test_what_cannot_be_done_is_said(kqd, files, arguments, sentence):
    (files / "cut.kqp").write_bytes((files / "x.kqp").read_bytes()[:-20])
    (files / "text.kqp").write_text("1,2\n3,4\n")
    run = kqd(*arguments)
    assert (run.stdout, run.code) == ("", 2)
    assert run.stderr == f"kqd: {sentence}\n"


def test_an_interrupted_write_leaves_the_old_file(kqd, files):
    before = (files / "x.kqp").read_bytes()
    assert kqd("merge", "x.kqp", "cut-short-name.kqp", "-o", "x.kqp").code == 2
    assert (files / "x.kqp").read_bytes() == before
