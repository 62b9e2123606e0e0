"""Where samples come from, as a user types it."""

import json
import os
import subprocess

import numpy as np
import pytest
from conftest import PROGRAM, needs_duckdb
from hostile import gz, idx, saved

X = np.random.default_rng(1).normal(size=(30, 2))
Y = np.random.default_rng(2).normal(size=(40, 2)) + 0.5


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    path = tmp_path_factory.mktemp("formats")
    np.save(path / "x.npy", X)
    np.save(path / "y.npy", Y)
    np.savetxt(path / "x.csv", X, delimiter=",", fmt="%.17g")
    np.savez(path / "both.npz", x=X, y=Y)
    np.savez(path / "other.npz", first=X, second=Y)
    return path


def run(files, *arguments, data=b"", **environment):
    done = subprocess.run([PROGRAM, *arguments], cwd=files, input=data, capture_output=True, timeout=60,
                          env={**os.environ, **environment})
    return done.stdout.decode(), done.stderr.decode(), done.returncode


def distance(files, *arguments, data=b""):
    out, err, code = run(files, "distance", *arguments, "--quiet", data=data)
    assert (err, code) == ("", 0)
    return out


@pytest.mark.parametrize("data", [saved(X), gz(saved(X)), gz(saved(np.asfortranarray(X)))], ids=["npy", "gz", "fortran"])
def test_the_format_of_standard_input_is_detected_from_its_first_bytes(files, data):
    assert distance(files, "-", "y.npy", data=data) == distance(files, "x.npy", "y.npy")


def test_standard_input_is_csv_otherwise(files):
    text = (files / "x.csv").read_bytes()
    assert distance(files, "-", "y.npy", data=text) == distance(files, "x.npy", "y.npy")
    assert distance(files, "y.npy", "/dev/stdin", data=text) == distance(files, "y.npy", "x.npy")


def test_images_come_through_a_pipe(files):
    (files / "im.idx").write_bytes(idx())
    assert distance(files, "-", "im.idx", data=idx()) == distance(files, "im.idx", "im.idx")


def test_standard_input_cannot_be_both_samples(files):
    assert run(files, "test", "-", "-", data=b"1\n") == (
        "", "kqd: standard input: both samples are read from it, which is possible only once. Write one of them to a file\n", 2)


def test_an_archive_of_x_and_y_is_both_samples(files):
    assert distance(files, "both.npz") == distance(files, "x.npy", "y.npy")
    out, _, _ = run(files, "distance", "both.npz")
    assert "  x            both.npz:x, 30 rows x 2 columns\n  y            both.npz:y, 40 rows x 2 columns\n" in out


def test_an_archive_of_other_arrays_needs_both_names(files):
    assert run(files, "distance", "other.npz") == (
        "", "kqd: other.npz: holds no arrays x and y to compare (but first, second). Name both samples, as in "
        "other.npz:first\n", 2)
    assert distance(files, "other.npz:first", "other.npz:second") == distance(files, "x.npy", "y.npy")


def test_one_file_of_another_kind_is_not_enough(files):
    _, err, code = run(files, "distance", "x.npy")
    assert (err.splitlines()[0], code) == ("kqd: Y is required by kqd distance", 2)


def test_what_is_known_about_a_csv_file_may_be_said(files):
    (files / "comma.csv").write_text("1,5;2\n3,5;4\n2,25;1\n")
    (files / "colon.csv").write_text("1.5:2\n3.5:4\n2.25:1\n")
    (files / "names.csv").write_text("1,2\n1.5,2\n3.5,4\n2.25,1\n")
    (files / "plain.csv").write_text("1.5,2\n3.5,4\n2.25,1\n")
    wanted = distance(files, "plain.csv", "x.csv")
    assert distance(files, "comma.csv", "comma.csv", "--decimal-comma") == "0\n"
    assert distance(files, "colon.csv", "colon.csv", "--delimiter", ":") == "0\n"
    assert distance(files, "names.csv", "names.csv", "--header", "--columns", "2") == "0\n"  # a name, not a number
    assert distance(files, "plain.csv", "x.csv", "--no-header") == wanted
    assert distance(files, "plain.csv", "x.csv", "--delimiter", "comma") == wanted


@pytest.mark.parametrize("flags, sentence", [
    (["--delimiter", "a"], "--delimiter a: expected tab, comma, semicolon, bar, space, or one character that is not a letter, "
     "digit, quote or sign"),
    (["--delimiter", ";;"], "--delimiter ';;': expected tab, comma, semicolon, bar, space, or one character that is not a letter, "
     "digit, quote or sign"),
    (["--delimiter", "comma", "--decimal-comma"],
     "--delimiter comma: expected another one, with --decimal-comma a comma is part of a number"),
    (["--header", "--no-header"], "--header and --no-header exclude each other, expected one of them"),
])
def test_what_contradicts_itself_is_refused(files, flags, sentence):
    assert run(files, "distance", "x.csv", "x.csv", *flags) == ("", f"kqd: {sentence}\n", 2)


def test_a_mapped_file_that_is_cut_ends_the_run_with_a_sentence(files):
    large = files / "large.npy"
    np.save(large, np.ones((1 << 18, 2)))
    os.mkfifo(files / "late.csv")
    process = subprocess.Popen([PROGRAM, "distance", "large.npy", "late.csv"], cwd=files, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    with open(files / "late.csv", "w") as late:  # opens when X was read, for then Y is
        os.truncate(large, 4096)
        late.write("1,2\n3,4\n")
    out, err = process.communicate(timeout=60)
    assert (out, err, process.returncode) == (
        "", "kqd: an input file became shorter while it was in use; run again when no other program writes it\n", 2)


def test_without_duckdb_a_sentence_says_how_to_get_it(files, tmp_path):
    (files / "x.parquet").write_bytes(b"PAR1")
    out, err, code = run(files, "distance", "x.parquet", "y.npy", KQD_DUCKDB=str(tmp_path / "none.so"))
    assert (out, code) == ("", 2)
    assert err.startswith("kqd: x.parquet: is read by DuckDB, and KQD_DUCKDB does not name it (")


@needs_duckdb
def test_queries_split_by_group_and_obey_the_number_of_threads(files):
    query = "sql:SELECT i % 7 AS a, i % 5 AS b, CASE WHEN i % 3 = 0 THEN 'u' ELSE 'v' END AS g FROM range(5000) t(i)"
    one = distance(files, query, "--group", "g", "--threads", "1")
    assert one == distance(files, query, "--group", "g", "--threads", "2")


@needs_duckdb
@pytest.mark.parametrize("cells", [
    ["A", "B", "A", 7], ["10:00", "11:00", "late", "10:00"], ["x", 3, "NA", None], ["1:02:03", "01:02:03", "x'y", "/~"],
], ids=["texts next to a number", "times", "missing", "spellings"])
def test_texts_of_json_are_those_of_csv(files, cells):
    name = "k/~'\""
    (files / "t.json").write_text(json.dumps([{"n": i, name: cell} for i, cell in enumerate(cells)]))
    (files / "t.jsonl").write_text("".join(json.dumps({"n": i, name: cell}) + "\n" for i, cell in enumerate(cells)))
    rows = [f"{i},{'' if cell is None else cell}" for i, cell in enumerate(cells)]
    (files / "t.csv").write_text("n,\"k/~'\"\"\"\n" + "\n".join(rows) + "\n")
    flags = ("--categorical", "onehot", "--na", "omit", "--method", "energy")
    assert distance(files, "t.json", "t.csv", *flags) == "0\n"
    assert distance(files, "t.jsonl", "t.csv", *flags) == "0\n"


@needs_duckdb
def test_dates_of_json_are_iso_as_those_of_csv(files):
    (files / "iso.jsonl").write_text('{"d": "2024-02-01"}\n{"d": "2024-02-03"}\n')
    (files / "other.jsonl").write_text('{"d": "01-02-2024"}\n{"d": "02-28-2024"}\n')
    assert distance(files, "iso.jsonl", "iso.jsonl", "--dates") == "0\n"
    out, err, code = run(files, "distance", "iso.jsonl", "other.jsonl", "--dates")
    assert (out, code) == ("", 2) and err.startswith('kqd: other.jsonl: row 1, column "d" is "01-02-2024"')


@needs_duckdb
@pytest.mark.parametrize("text", ["[" * 50_000 + "]" * 50_000, '{"a":' * 20_000 + "1" + "}" * 20_000],
                         ids=["lists", "objects"])
def test_json_of_many_levels_is_refused_before_it_is_parsed(files, text):
    (files / "deep.json").write_text(text)
    sentence = "kqd: deep.json: values are nested more than 64 levels deep, expected rows of numbers and texts\n"
    assert run(files, "distance", "deep.json", "deep.json") == ("", sentence, 2)
