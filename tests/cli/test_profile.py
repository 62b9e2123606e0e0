"""kqd profile and kqd merge: profiles of samples, their merges, tests of them, and files that are not profiles."""

import json
import subprocess
import time

import pytest
from conftest import PROGRAM


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
    assert run.stderr == (f"kqd: y.kqp: rows 1 to 900 of {files.name}/py.csv would be counted twice: each row may be in "
                          "one of the profiles only\n")
    assert not (files / "twice.kqp").exists()


def test_info_describes_a_profile(kqd, files):
    run = kqd("profile", "--info", "x.kqp")
    assert (run.stderr, run.code) == ("", 0)
    assert run.stdout.startswith("x.kqp\n  rows     900\n  groups   81 of 10 rows\n  columns  2\n  by       random "
                                 "(exact for independent rows)\n")
    assert "  spec     " in run.stdout


def test_distances_have_an_interval_that_is_certain(kqd, files):
    far = json.loads(kqd("distance", "x.kqp", "z.kqp", "--json").stdout)
    near = json.loads(kqd("distance", "x.kqp", "y.kqp", "--json").stdout)
    for found in (far, near):
        lower, upper = found["interval"]
        assert 0 <= lower <= found["statistic"] <= upper < 1
    assert near["statistic"] < 0.5 * far["statistic"] and far["interval"][0] > 0.05
    assert far["num_directions"] == len(far["per_direction"]) == 64
    text = kqd("distance", "x.kqp", "z.kqp", "--power", "2").stdout
    assert "holds the distance of the rows for certain" in text
    assert float(kqd("distance", "x.kqp", "x.kqp", "--quiet").stdout) == 0


def test_many_profiles_are_compared_pair_by_pair(kqd, files):
    found = json.loads(kqd("matrix", "x.kqp", "y.kqp", "z.kqp", "--json").stdout)
    assert found["distances"][0][2] == json.loads(kqd("distance", "x.kqp", "z.kqp", "--json").stdout)["statistic"]
    tests = json.loads(kqd("matrix", "x.kqp", "y.kqp", "z.kqp", "--test", "--json").stdout)
    pvalues = tests["tests"]["pvalues"] if "tests" in tests else tests["pvalues"]
    assert pvalues[0][2] < 0.01 < pvalues[0][1]


def test_explanations_name_columns_and_levels(kqd, files):
    found = json.loads(kqd("explain", "x.kqp", "z.kqp", "--json").stdout)
    rows = json.loads(kqd("explain", "px.csv", "pz.csv", "--json").stdout)
    assert [c["reject"] for c in found["columns"]] == [c["reject"] for c in rows["columns"]]
    by_rows = {c["name"]: c for c in rows["columns"]}
    for column in found["columns"]:
        same = by_rows[column["name"]]
        # A tenth of the rows of X is in no group, and 90 pilot rows make the grid.
        for size in ("wasserstein", "shift", "effect"):
            assert column[size] == pytest.approx(same[size], abs=0.15)
        assert column["sensitivity"] is None
    assert found["directions"][0]["family"] in ("column", "principal") and found["witness_kernel"] is None
    alike = json.loads(kqd("explain", "x.kqp", "y.kqp", "--json").stdout)
    assert not any(c["reject"] for c in alike["columns"])
    text = kqd("explain", "x.kqp", "z.kqp").stdout
    assert "quantile of z minus that of x at" in text and "most like" not in text


def test_effect_sizes_have_intervals_from_groups(kqd, files):
    lower, upper = json.loads(kqd("test", "x.kqp", "z.kqp", "--effect-interval", "--json").stdout)["effect_size_ci"]
    assert 0 < lower < upper < 3


@pytest.fixture(scope="module")
def users(kqd, folder):
    """Rows of users, with a time: 60 users of 10 rows each in each file."""
    for name, seed in (("ux", 1), ("uy", 5)):
        lines = ["user,time,v"]
        for i in range(600):
            user = i % 60
            effect = (user * 7919 * seed % 101) / 25
            lines.append(f"{name}-{user},2024-01-01T00:{i // 60:02}:{i % 60:02},{effect + (i * 37 * seed % 13) / 13}")
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return folder


def test_rows_of_a_user_stay_together(kqd, users):
    found = json.loads(kqd("test", "ux.csv", "uy.csv", "--groups", "key:user", "--drop", "time", "--json").stdout)
    assert (found["permute"], found["groups"], found["n_groups"], found["dim"]) == ("groups", "key:user", [60, 60], 1)
    assert found["groups_guarantee"] == "exact for independent keys, if keys of both samples have as many rows"
    text = kqd("test", "ux.csv", "uy.csv", "--groups", "key:user", "--drop", "time").stdout
    assert "60 + 60 groups of about 10 rows" in text and "key:user" in text


def test_blocks_follow_a_date(kqd, users):
    found = json.loads(kqd("test", "ux.csv", "uy.csv", "--groups", "blocks:time", "--drop", "user", "--json").stdout)
    assert (found["groups"], found["n_groups"]) == ("blocks:time", [33, 33])
    assert found["groups_guarantee"].startswith("approximate")
    run = kqd("test", "ux.csv", "uy.csv", "--groups", "blocks:user", "--drop", "time")
    assert run.stderr == ('kqd: column "user" has "ux-0", expected numbers or ISO dates, because groups are blocks in its '
                          "order\n")


def test_profiles_keep_keys_together(kqd, users):
    arguments = ["--groups", "key:user", "--drop", "time", "--rows-per-group", "20"]
    assert kqd("profile", "ux.csv", *arguments, "-o", "ux.kqp").code == 0
    assert kqd("profile", "uy.csv", "--like", "ux.kqp", "--drop", "time", "-o", "uy.kqp").code == 0
    assert "  by       key:user (exact for independent keys" in kqd("profile", "--info", "ux.kqp").stdout
    found = json.loads(kqd("test", "ux.kqp", "uy.kqp", "--json").stdout)
    assert found["groups"] == "key:user" and found["n_groups"][1] <= 30
    run = kqd("profile", "uy.csv", "--like", "ux.kqp", "--groups", "key:v", "-o", "other.kqp")
    assert run.stderr == "kqd: --groups key:v: expected key:user, as the other profile has it\n"


def test_groups_need_an_independent_design(kqd, users):
    run = kqd("test", "ux.csv", "uy.csv", "--groups", "key:user", "--design", "clusters:user")
    assert run.code == 2 and "--groups" in run.stderr and "independent design" in run.stderr
    run = kqd("test", "ux.csv", "uy.csv", "--groups", "key:user", "--permute", "rows", "--drop", "time")
    assert run.stderr == "kqd: --groups key:user: expected random where rows are permuted\n"


def test_files_that_are_not_profiles_are_refused(kqd, files):
    whole = (files / "x.kqp").read_bytes()
    newer = bytearray(whole)
    newer[8] = 9
    damaged = bytearray(whole)
    damaged[len(whole) // 2] ^= 1
    for name, data, sentence in [
        ("newer", bytes(newer), "it has format 9.0, this version reads 2.x"),
        ("damaged", bytes(damaged), "its checksum is wrong"),
        ("cut", whole[: len(whole) // 2], "it ends too early"),
        ("longer", whole + b"x", "it ends too early"),
        ("foreign", b"PK\x03\x04" + whole, "it does not begin as one"),
        ("empty", b"", "it does not begin as one"),
    ]:
        (files / f"{name}.kqp").write_bytes(data)
        run = kqd("test", "x.kqp", f"{name}.kqp")
        assert (run.stdout, run.code) == ("", 2)
        assert run.stderr == f"kqd: {name}.kqp: not a valid profile: {sentence}\n"
    with open(files / "huge.kqp", "wb") as huge:
        huge.truncate(3 << 30)
    run = kqd("test", "x.kqp", "huge.kqp")
    assert (run.stderr, run.code) == ("kqd: huge.kqp: has 3072 MB, more than allowed\n", 4)
    (files / "huge.kqp").unlink()


def test_a_killed_process_leaves_the_old_file(files, tmp_path):
    """kill -9 at many moments: the profile is the old one or the new one, always whole."""
    old = (files / "y.kqp").read_bytes()
    target = tmp_path / "victim.kqp"  # a killed process also leaves what it had written so far
    target.write_bytes(old)
    new = (files / "z.kqp").read_bytes()
    killed = 0
    for step in range(25):
        process = subprocess.Popen([PROGRAM, "profile", "pz.csv", "--like", "x.kqp", "-o", str(target)], cwd=files,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.004 * step)
        process.kill()
        killed += process.wait() == -9
        assert target.read_bytes() in (old, new)
        target.write_bytes(old)
    assert killed > 0


@pytest.mark.parametrize("arguments, sentence", [
    (["test", "x.kqp", "px.csv"],
     "a profile can be compared with a profile only: kqd profile --like makes one of the other file"),
    (["explain", "x.kqp", "px.csv"],
     "a profile can be compared with a profile only: kqd profile --like makes one of the other file"),
    (["distance", "x.kqp", "y.kqp", "--method", "sw"],
     "--method sw: expected ekqd or supkqd for profiles; other methods need rows"),
    (["distance", "x.kqp", "y.kqp", "--report", "page.html"],
     "--report page.html: expected data files, because a page shows rows, which profiles lack"),
    (["matrix", "x.kqp", "px.csv"],
     "a profile can be compared with a profile only: kqd profile --like makes one of the other file"),
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
