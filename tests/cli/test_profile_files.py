"""kqd profile and kqd test on several files of a sample, which are read in blocks: identity, formats, order, errors."""

import gzip
import json
import struct

import numpy as np
import pytest
from conftest import DUCKDB, needs_duckdb
from duck import Duck

NUM_ROWS = 2600
COLUMNS = ("a", "b", "c")


def rows_of(seed, shift=0.0):
    """Reproducible rows: a linear congruential generator, twelve draws of which are nearly normal when added up."""
    state = seed
    rows = []
    for _ in range(NUM_ROWS):
        row = []
        for _ in COLUMNS:
            total = 0.0
            for _ in range(12):
                state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
                total += (state >> 40) / 2**24
            row.append(round(total - 6.0 + shift, 6))
        rows.append(row)
    return rows


def csv_of(rows, names=COLUMNS, order=(0, 1, 2)):
    return "".join(",".join(line) + "\n" for line in [[names[k] for k in order]]
                   + [[repr(row[k]) for k in order] for row in rows])


def npy_of(rows, fortran=False):
    header = str({"descr": "<f8", "fortran_order": fortran, "shape": (len(rows), len(rows[0]))}).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    values = [v for row in rows for v in row] if not fortran else [row[k] for k in range(len(rows[0])) for row in rows]
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack(f"<{len(values)}d", *values)


@pytest.fixture(scope="module")
def jan(folder):
    """January in three files of two formats, February, shifted, in two."""
    rows = rows_of(1)
    path = folder / "jan"
    path.mkdir()
    (path / "1.csv").write_text(csv_of(rows[:700]))
    (path / "2.csv.gz").write_bytes(gzip.compress(csv_of(rows[700:1500], order=(2, 0, 1)).encode(), mtime=0))
    (path / "3.csv").write_text(csv_of(rows[1500:]))
    feb = rows_of(2, 0.3)
    (folder / "feb").mkdir()
    (folder / "feb" / "1.csv").write_text(csv_of(feb[:1300]))
    (folder / "feb" / "2.csv").write_text(csv_of(feb[1300:]))
    return rows


@pytest.fixture(scope="module")
def profile(kqd, folder, jan):
    run = kqd("profile", "jan/*", "-o", "jan.kqp")
    assert (run.stdout, run.code) == ("", 0)
    assert run.stderr == "kqd: jan/2.csv.gz: columns are reordered by name to match jan/1.csv\n"
    return (folder / "jan.kqp").read_bytes()


@pytest.mark.parametrize("arguments", [
    ("jan/3.csv", "jan/1.csv", "jan/2.csv.gz"),
    ("jan/[12]*", "jan/3.csv"),
    ("jan/?.csv", "jan/*.gz", "--threads", "1"),
    ("jan/*", "--threads", "2"),
])
def test_neither_the_order_of_files_nor_threads_matter(kqd, folder, profile, arguments):
    assert kqd("profile", *arguments, "-o", "again.kqp").code == 0
    assert (folder / "again.kqp").read_bytes() == profile


@pytest.mark.parametrize("simd", ["avx2", "avx3"])
def test_the_instruction_set_does_not_matter(kqd, folder, profile, simd):
    run = kqd("profile", "jan/*", "-o", "simd.kqp", KQD_SIMD=simd)
    if run.code != 0 and simd in run.stderr:
        pytest.skip(f"this machine has no {simd}")
    assert (folder / "simd.kqp").read_bytes() == profile


def test_the_folder_may_move(kqd, folder, profile):
    moved = folder / "elsewhere" / "jan"
    moved.mkdir(parents=True)
    for file in (folder / "jan").iterdir():
        (moved / file.name).write_bytes(file.read_bytes())
    assert kqd("profile", "elsewhere/jan/*", "-o", "moved.kqp").code == 0
    assert (folder / "moved.kqp").read_bytes() == profile


def test_info_lists_the_files(kqd, profile):
    text = kqd("profile", "--info", "jan.kqp").stdout
    assert "  rows     2600\n" in text
    assert "jan/1.csv, 700 rows\n" in text and "jan/2.csv.gz, 800 rows\n" in text and "jan/3.csv, 1100 rows\n" in text


def test_the_format_of_the_same_rows_changes_only_which_rows_are_grouped(kqd, folder, jan):
    for name, data in (("c.npy", npy_of(jan)), ("f.npy", npy_of(jan, fortran=True)), ("c.csv", csv_of(jan).encode())):
        (folder / name).write_bytes(data)
    assert kqd("profile", "c.npy", "-o", "c.kqp").code == 0
    for file in ("f.npy", "c.csv"):
        assert kqd("profile", file, "--like", "c.kqp", "-o", "f.kqp").code == 0
        result = json.loads(kqd("test", "c.kqp", "f.kqp", "--json").stdout)
        assert result["n_x"] == result["n_y"] == NUM_ROWS


def test_profiles_and_rows_reject_alike(kqd, profile):
    assert kqd("profile", "feb/*.csv", "--like", "jan.kqp", "-o", "feb.kqp").code == 0
    profiles = json.loads(kqd("test", "jan.kqp", "feb.kqp", "--json").stdout)
    assert profiles["pvalue"] == 0.001 and profiles["reject"]
    assert profiles["n_set_aside"] == NUM_ROWS // 10


def test_files_are_tested_in_blocks(kqd, folder, jan):
    first = json.loads(kqd("test", "jan/*", "feb/*", "--json").stdout)
    assert first["pvalue"] == 0.001 and first["permute"] == "groups" and first["method"] == "adaptive"
    assert (first["n_x"], first["n_y"], first["n_set_aside"]) == (NUM_ROWS, NUM_ROWS, 2 * (NUM_ROWS // 10))
    again = json.loads(kqd("test", "jan/*", "feb/*", "--json", "--threads", "1").stdout)
    assert again["statistic"] == first["statistic"] and again["effect_size"] == first["effect_size"]
    halves = json.loads(kqd("test", "feb/1*.csv", "feb/2*.csv", "--json", "--method", "ekqd").stdout)
    assert halves["pvalue"] > 0.01 and halves["method"] == "ekqd"


def test_directions_of_ekqd_only_make_a_small_profile(kqd, folder, profile):
    assert kqd("profile", "jan/*", "--num-directions", "14", "-o", "e.kqp").code == 0
    assert len((folder / "e.kqp").read_bytes()) < len(profile) / 3
    assert kqd("profile", "feb/*", "--like", "e.kqp", "-o", "e2.kqp").code == 0
    result = json.loads(kqd("test", "e.kqp", "e2.kqp", "--json").stdout)
    assert (result["method"], result["num_directions"], result["pvalue"]) == ("ekqd", 14, 0.001)
    run = kqd("test", "e.kqp", "e2.kqp", "--method", "adaptive")
    assert run.stderr == "kqd: --method adaptive: expected ekqd or supkqd, because the profiles were made for these\n"


def test_sorted_files_are_like_shuffled_ones(kqd, folder):
    rows = sorted(rows_of(3))
    (folder / "sorted").mkdir()
    for k in range(4):
        (folder / "sorted" / f"{k}.csv").write_text(csv_of(rows[k * 650:(k + 1) * 650]))
    (folder / "plain").mkdir()
    (folder / "plain" / "0.csv").write_text(csv_of(rows_of(4)))
    result = json.loads(kqd("test", "sorted/*", "plain/*.csv", "--json").stdout)
    assert result["pvalue"] > 0.01


def test_rows_with_missing_values_are_left_out(kqd, folder, jan):
    rows = [list(row) for row in jan]
    for k in range(0, NUM_ROWS, 13):
        rows[k][k % 3] = float("nan")
    (folder / "holes").mkdir()
    (folder / "holes" / "1.csv").write_text(csv_of(rows[:1000]))
    (folder / "holes" / "2.csv").write_text(csv_of(rows[1000:]))
    refused = kqd("profile", "holes/*", "-o", "holes.kqp")
    assert refused.code == 2 and refused.stderr.startswith('kqd: holes/1.csv:2: column "a" is "nan", expected a number')
    run = kqd("profile", "holes/*", "--na", "omit", "-o", "holes.kqp")
    assert run.code == 0 and "200" in run.stderr
    result = json.loads(kqd("test", "holes/*", "feb/*", "--na", "omit", "--json").stdout)
    assert result["n_x"] == 2400 and result["pvalue"] == 0.001


def test_columns_of_text_are_refused_or_dropped(kqd, folder, jan):
    (folder / "text.csv").write_text("a,place,ok\n" + "".join(f"{row[0]},Rome,{'true' if row[1] > 0 else 'false'}\n"
                                                              for row in jan))
    run = kqd("profile", "text.csv", "-o", "text.kqp")
    assert run.code == 2 and run.stderr.startswith('kqd: text.csv:2: column "place" is "Rome", expected a number')
    assert kqd("profile", "text.csv", "--categorical", "drop", "-o", "text.kqp").code == 0
    assert "  names    a, ok\n" in kqd("profile", "--info", "text.kqp").stdout


@needs_duckdb
def test_parquet_is_read_by_row_groups(kqd, folder, jan):
    (folder / "all.csv").write_text(csv_of(jan))
    duck = Duck(DUCKDB)
    duck.run(f"COPY (SELECT * FROM '{folder}/all.csv') TO '{folder}/rows.parquet' (ROW_GROUP_SIZE 2048)")
    for threads in ("1", "2"):
        assert kqd("profile", "rows.parquet", "--threads", threads, "-o", f"rows{threads}.kqp").code == 0
    assert (folder / "rows1.kqp").read_bytes() == (folder / "rows2.kqp").read_bytes()
    assert kqd("profile", "feb/*", "--like", "rows1.kqp", "-o", "like.kqp").code == 0
    assert json.loads(kqd("test", "rows1.kqp", "like.kqp", "--json").stdout)["pvalue"] == 0.001
    (folder / "cut.parquet").write_bytes((folder / "rows.parquet").read_bytes()[:-100])
    run = kqd("profile", "cut.parquet", "-o", "from-cut.kqp")
    assert run.code == 2 and run.stderr.startswith("kqd: cut.parquet: DuckDB reports: ")
    assert not (folder / "from-cut.kqp").exists()


@pytest.mark.parametrize("arguments, sentence", [
    (["profile", "none/*.csv", "-o", "n.kqp"], "none/*.csv: no file matches the pattern"),
    (["profile", "jan/*", "jan/1.csv", "-o", "n.kqp"], "jan/1.csv: the file is given twice, expected every file once"),
    (["profile", "jan/1.csv", "./jan/1.csv", "-o", "n.kqp"],
     "./jan/1.csv: the file is given twice, also as jan/1.csv, expected every file once"),
    (["test", "jan/*", "jan/[1]*"], "jan/1.csv: the file is given twice, expected every file once"),
    (["profile", "jan/1.csv", "a.csv", "-o", "n.kqp"],
     "a.csv has 2 columns of points and jan/1.csv has 3, expected the same number"),
    (["profile", "jan/1.csv", "empty.csv", "-o", "n.kqp"],
     "empty.csv: the file is empty or has only blank lines and comments, expected rows of numbers"),
    (["profile", "jan/*", "--na", "impute-median", "-o", "n.kqp"],
     "--na impute-median: expected raise or omit, because these files are read in blocks"),
    (["profile", "jan/*", "--method", "mmd", "-o", "n.kqp"],
     "--method mmd: expected adaptive, ekqd or supkqd for profiles; other methods need rows"),
    (["test", "jan/*", "feb/*", "--permute", "rows"],
     "several files of a sample are read in blocks, which is for methods adaptive, ekqd and supkqd of independent rows "
     "without weights, reference points and pages"),
    (["test", "jan.kqp", "jan.kqp"],
     "rows 1 to 700 of jan/1.csv are in both samples, expected samples without rows in common"),
    (["merge", "jan.kqp", "jan.kqp", "-o", "n.kqp"],
     "jan.kqp: rows 1 to 700 of jan/1.csv would be counted twice: each row may be in one of the profiles only"),
])
def test_what_cannot_be_done_is_said(kqd, folder, profile, arguments, sentence):
    run = kqd(*arguments)
    assert (run.stdout, run.code) == ("", 2)
    assert run.stderr == f"kqd: {sentence}\n"
    assert not (folder / "n.kqp").exists()


def test_a_file_without_a_column_is_named(kqd, folder, jan):
    (folder / "two.csv").write_text(csv_of([row[:2] for row in jan], names=("a", "b"), order=(0, 1)))
    run = kqd("profile", "jan/1.csv", "two.csv", "-o", "n.kqp")
    assert run.code == 2
    assert run.stderr.startswith('kqd: jan/1.csv and two.csv: their columns differ; only jan/1.csv has "c".')


@pytest.fixture(scope="module")
def users(folder):
    """Two samples of users, each in two files: 12 rows per user, in both files, which differ much between users."""
    state = 12345
    for sample in ("ux", "uy"):
        lines = []
        for user in range(160):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            effect = (state >> 40) / 2**20
            lines += [f"{sample[-1]}{user},2024-01-{1 + user % 28:02}T00:{row:02}:00,{effect + row / 100}"
                      for row in range(12)]
        (folder / sample).mkdir()
        for part in (0, 1):
            (folder / sample / f"{part}.csv").write_text("\n".join(["user,time,v", *lines[part::2]]) + "\n")
    return folder


def test_keys_stay_together_over_files(kqd, users):
    by_key = ["--groups", "key:user", "--drop", "time"]
    found = json.loads(kqd("test", "ux/*", "uy/*", *by_key, "--json").stdout)
    assert (found["permute"], found["groups"], found["dim"]) == ("groups", "key:user", 1)
    assert found["pvalue"] > 0.1
    at_random = json.loads(kqd("test", "ux/*", "uy/*", "--drop", "user,time", "--json").stdout)
    assert at_random["pvalue"] < 0.02  # a true null hypothesis: rows of a user are not independent
    assert kqd("profile", "ux/*", *by_key, "-o", "ux.kqp").code == 0
    assert kqd("profile", "ux/1.csv", "ux/0.csv", *by_key, "--threads", "1", "-o", "again.kqp").code == 0
    assert (users / "again.kqp").read_bytes() == (users / "ux.kqp").read_bytes()
    assert kqd("profile", "uy/*", "--like", "ux.kqp", "--drop", "time", "-o", "uy.kqp").code == 0
    assert json.loads(kqd("test", "ux.kqp", "uy.kqp", "--json").stdout)["pvalue"] > 0.1


def test_blocks_of_files_follow_the_order_of_a_column(kqd, users):
    in_blocks = ["--groups", "blocks:time", "--drop", "user"]
    found = json.loads(kqd("test", "ux/*", "uy/*", *in_blocks, "--json").stdout)
    assert (found["groups"], found["n_groups"]) == ("blocks:time", [32, 32])
    assert kqd("profile", "ux/*", *in_blocks, "-o", "bx.kqp").code == 0
    assert kqd("profile", "ux/1.csv", "ux/0.csv", *in_blocks, "--threads", "1", "-o", "again.kqp").code == 0
    assert (users / "again.kqp").read_bytes() == (users / "bx.kqp").read_bytes()
    run = kqd("profile", "ux/*", "--groups", "blocks:user", "--drop", "time", "-o", "n.kqp")
    assert (run.code, run.stderr) == (
        2, 'kqd: column "user" has "x0", expected numbers or ISO dates, because groups are blocks in its order\n')


def test_rows_without_a_key_are_missing(kqd, users):
    (users / "gap.csv").write_text((users / "ux" / "0.csv").read_text() + ",2024-02-01,1\n")
    run = kqd("profile", "gap.csv", "ux/1.csv", "--groups", "key:user", "--drop", "time", "-o", "gap.kqp")
    assert run.code == 2 and "gap.csv:962" in run.stderr and "--na omit" in run.stderr
    run = kqd("profile", "gap.csv", "ux/1.csv", "--groups", "key:user", "--drop", "time", "--na", "omit", "-o", "gap.kqp")
    assert run.code == 0 and "a value is missing: 1 of 1921" in run.stderr


# ---- Memory ----


@pytest.fixture(scope="module")
def large(folder):
    """Two files of 600,000 rows that would take 74 MB as rows, though they have 5 MB each, and such a one as CSV."""
    rng = np.random.default_rng(24)
    for name, shift in (("large-x", 0.0), ("large-y", 0.01)):
        np.save(folder / f"{name}.npy", rng.normal(size=(600_000, 1)) + shift)
    (folder / "small-x.csv").write_text("a\n" + "".join(f"{v:.6f}\n" for v in rng.normal(size=2000)))
    (folder / "small-y.csv").write_text("a\n" + "".join(f"{v:.6f}\n" for v in rng.normal(size=2000)))


def result_of(kqd, *arguments):
    run = kqd("test", *arguments, "--method", "ekqd", "--permutations", "99", "--json", "--threads", "1")
    assert run.code == 0, run.stderr
    found = json.loads(run.stdout)
    del found["elapsed_s"], found["settings"]
    return found, run.stderr


def test_files_that_fit_are_tested_alike_whatever_memory_is_allowed(kqd, folder, large):
    free = result_of(kqd, "large-x.npy", "large-y.npy")
    assert free[0]["n_set_aside"] == 0 and free[0]["warnings"] == []
    assert result_of(kqd, "large-x.npy", "large-y.npy", "--max-memory", "200MB") == free
    small = result_of(kqd, "small-x.csv", "small-y.csv")
    assert result_of(kqd, "small-x.csv", "small-y.csv", "--max-memory", "3MB") == small


def test_files_that_do_not_fit_are_read_in_blocks_with_a_warning(kqd, folder, large):
    found, notes = result_of(kqd, "large-x.npy", "large-y.npy", "--max-memory", "70MB")
    assert found["n_set_aside"] > 0 and found["permute"] == "groups"
    warning, = found["warnings"]
    assert warning["id"] == "files-in-blocks"
    assert warning["text"].startswith("a test of the rows takes about 75 MB of memory, more than 70 MB, so the files are ")
    # It is the test of the same files by patterns, which are always read so.
    by_pattern, _ = result_of(kqd, "large-x*.npy", "large-y*.npy", "--max-memory", "70MB")
    assert by_pattern["warnings"] == [] and by_pattern["pvalue"] == found["pvalue"]
    assert by_pattern["statistic"] == found["statistic"]
    text = kqd("test", "large-x.npy", "large-y.npy", "--max-memory", "70MB", "--method", "ekqd", "--permutations", "99")
    assert "so the files are read in blocks" in " ".join((text.stdout + text.stderr).split())


def test_advice_about_memory_can_be_followed(kqd, folder, large):
    run = kqd("test", "large-x*.npy", "large-y*.npy", "--max-memory", "2MB", "--method", "ekqd", "--threads", "1")
    assert run.code == 4
    assert "To allow more: --max-memory" in run.stderr
    assert "ekqd" not in run.stderr and "--threads" not in run.stderr
    run = kqd("test", "large-x*.npy", "large-y*.npy", "--max-memory", "2MB", "--threads", "2")
    assert run.stderr.endswith("To allow more: --max-memory; to take less: --threads 1 or --method ekqd\n")


# ---- Intervals, margins and names ----


def test_files_in_blocks_have_intervals_and_margins(kqd, folder, jan):
    found = json.loads(kqd("test", "jan/*", "feb/*", "--json", "--effect-interval").stdout)
    lower, upper = found["effect_size_ci"]
    assert 0 < lower <= found["effect_size"] < upper
    (folder / "usual").mkdir()
    for k in range(4):
        (folder / "usual" / f"{k}.csv").write_text(csv_of(rows_of(10 + k)[:1300]))
    against = ("--tolerance", "auto", "--against", "usual/*.csv", "--json")
    found = json.loads(kqd("test", "jan/*", "feb/*", *against).stdout)
    assert found["verdict"] == "different" and len(found["batch_effects"]) == 4
    kqd("profile", "jan/*", "-o", "margin-x.kqp")
    kqd("profile", "feb/*", "--like", "margin-x.kqp", "-o", "margin-y.kqp")
    for k in range(4):
        kqd("profile", f"usual/{k}.csv", "--like", "margin-x.kqp", "-o", f"usual-{k}.kqp")
    found = json.loads(kqd("test", "margin-x.kqp", "margin-y.kqp", "--tolerance", "auto", "--against", "usual-?.kqp",
                           "--json").stdout)
    assert found["verdict"] == "different" and len(found["batch_effects"]) == 4


def test_files_of_one_name_and_size_may_hold_other_rows(kqd, folder):
    for week, seed in (("week1", 31), ("week2", 32)):
        (folder / week / "out").mkdir(parents=True)
        (folder / week / "out" / "rows.npy").write_bytes(npy_of(rows_of(seed)))
    assert kqd("profile", "week1/out/rows.npy", "-o", "week1.kqp").code == 0
    assert kqd("profile", "week2/out/rows.npy", "--like", "week1.kqp", "-o", "week2.kqp").code == 0
    assert kqd("profile", "week1/out/rows.npy", "--like", "week1.kqp", "-o", "again1.kqp").code == 0
    assert json.loads(kqd("test", "week1.kqp", "week2.kqp", "--json").stdout)["pvalue"] > 0.001
    for order in (("week1.kqp", "week2.kqp"), ("week2.kqp", "week1.kqp")):
        assert kqd("merge", *order, "-o", f"both-{order[0]}").code == 0
    assert (folder / "both-week1.kqp").read_bytes() == (folder / "both-week2.kqp").read_bytes()
    refused = kqd("test", "week1.kqp", "again1.kqp")
    assert refused.stderr == ("kqd: rows 1 to 2600 of out/rows.npy are in both samples, expected samples without rows in "
                              "common\n")


def test_many_days_are_merged_and_tested(kqd, folder, jan):
    """More groups than a profile keeps: they are added up, in whatever order days are merged."""
    days = []
    kqd("profile", "jan/*", "-o", "base.kqp", "--num-directions", "8")
    for k in range(24):
        (folder / f"day-{k}.csv").write_text(csv_of(rows_of(100 + k)[:700]))
        kqd("profile", f"day-{k}.csv", "--like", "base.kqp", "-o", f"day-{k}.kqp")
        days.append(f"day-{k}.kqp")
    assert kqd("merge", *days, "-o", "all.kqp").code == 0
    assert kqd("merge", *days[10:], "-o", "late.kqp").code == 0
    assert kqd("merge", "late.kqp", *reversed(days[:10]), "-o", "again.kqp").code == 0
    assert (folder / "all.kqp").read_bytes() == (folder / "again.kqp").read_bytes()
    found = json.loads(kqd("test", "all.kqp", "base.kqp", "--json").stdout)
    assert found["n_x"] == 24 * 700 and found["pvalue"] > 0.001
    kqd("profile", "feb/*", "--like", "all.kqp", "-o", "shifted.kqp")
    assert json.loads(kqd("test", "all.kqp", "shifted.kqp", "--json").stdout)["pvalue"] == 0.001
