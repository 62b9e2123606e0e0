"""Every cell of a file is compared as written: nothing is rounded, skipped or reinterpreted without a warning."""

import gzip
import json
import os
import random
import re
import resource
import subprocess

import pytest
from conftest import PROGRAM, needs_duckdb


@pytest.fixture
def files(folder):
    """Writes files and returns their names: files(x="1\\n2\\n")."""

    def write(**texts):
        for name, text in texts.items():
            (folder / f"{name}.csv").write_text(text)
        return [f"{name}.csv" for name in texts]

    return write


def result_of(kqd, *arguments):
    run = kqd(*arguments, "--json")
    assert run.code == 0, run.stderr
    return json.loads(run.stdout)


def lines(values):
    return "".join(f"{value}\n" for value in values)


# Whole numbers beyond 2^53 (issue 22, item 8).


def test_whole_numbers_beyond_2_to_the_53_are_compared_exactly(kqd, files):
    names = files(x=lines(2**60 + i for i in range(20)), y=lines(2**60 + 60 + i for i in range(20)))
    small = files(small_x=lines(range(20)), small_y=lines(range(60, 80)))
    result, expected = result_of(kqd, "test", *names), result_of(kqd, "test", *small)
    assert (result["statistic"], result["pvalue"]) == (expected["statistic"], expected["pvalue"])
    assert result["data"]["offsets"] == {"1": str(2**60)} and result["reject"]
    points = files(points="1\n")
    refused = kqd("distance", *names, "--reference", *points)
    assert refused.code == 2 and "--reference points.csv is in other units than the data" in refused.stderr


@pytest.mark.parametrize("spelled", ["{}.0", "{}e0", "{}0E-1"])
def test_whole_numbers_with_a_point_or_an_exponent_are_compared_exactly(kqd, files, spelled):
    names = files(x=lines(spelled.format(2**60 + i) for i in range(20)), y=lines(2**60 + 60 + i for i in range(20)))
    small = files(small_x=lines(range(20)), small_y=lines(range(60, 80)))
    result, expected = result_of(kqd, "test", *names), result_of(kqd, "test", *small)
    assert (result["statistic"], result["pvalue"]) == (expected["statistic"], expected["pvalue"])


def test_numbers_beyond_2_to_the_53_with_a_fraction_are_refused_and_floats_are_not(kqd, files):
    names = files(x="9007199254740993.5\n1\n", y="2\n3\n")
    refused = kqd("test", *names)
    assert refused.code == 2
    assert refused.stderr.startswith('kqd: x.csv:1: column 1 is "9007199254740993.5", which would be rounded, expected')
    floats = files(x="6.02214076e23\n1.2345678901234568e+18\n1e300\n0.5\n", y="1.234499999999999970e+25\n2\n3\n")
    assert kqd("distance", *floats, "--method", "sw").code == 0
    comma = files(x="a;b\n9007199254740993,0;1\n3,5;2\n", y="a;b\n1;1\n2,5;2\n")
    assert '"9007199254740993,0", which would be rounded' in kqd("test", *comma, "--decimal-comma").stderr


@needs_duckdb
@pytest.mark.parametrize("kind", ["DECIMAL(38, 2)", "HUGEINT", "DECIMAL(30, 0)"])
def test_decimals_of_tables_are_compared_exactly(kqd, kind):
    def query(low):
        return f"sql:SELECT CAST({2**60 + low} + i AS {kind}) AS id FROM range(20) t(i)"

    result = result_of(kqd, "test", query(0), query(60))
    assert result["reject"] and result["data"]["offsets"] == {"id": str(2**60)}
    halves = kqd("test", "sql:SELECT CAST(9007199254740993.5 AS DECIMAL(38, 2)) AS id", query(0))
    assert halves.code == 2 and 'row 1, column "id" is "9007199254740993.50", which would be rounded' in halves.stderr


@needs_duckdb
def test_whole_numbers_of_tables_are_compared_exactly(kqd):
    def query(low, kind):
        return f"sql:SELECT CAST({2**60 + low} + i AS {kind}) AS id FROM range(20) t(i)"

    for kind in ("BIGINT", "UBIGINT", "HUGEINT"):
        result = result_of(kqd, "test", query(0, kind), query(60, kind))
        assert result["data"]["offsets"] == {"id": str(2**60)} and result["pvalue"] == 0.001, kind


# Blank lines (item 4).


def test_a_blank_line_of_one_column_keeps_pairs_together(kqd, files):
    draw = random.Random(1)
    x = [draw.gauss(0, 3) for _ in range(30)]
    y = [value + 0.4 + draw.gauss(0, 0.1) for value in x]
    as_text = {}
    for mark in ("", "NA"):
        texts = {"x": [*map(str, x)], "y": [*map(str, y)]}
        texts["x"][4] = texts["y"][26] = mark
        names = files(x=lines(texts["x"]), y=lines(texts["y"]))
        refused = kqd("test", *names, "--design", "paired", "--na", "raise")
        assert refused.stderr.startswith(f'kqd: x.csv:5: column 1 is "{mark}"')
        result = result_of(kqd, "test", *names, "--design", "paired", "--na", "omit", "--method", "energy")
        assert result["warnings"][0] == {
            "id": "pairs-omitted", "text": "pairs excluded because a value of x or of y is missing: 2 of 30"}
        as_text[mark] = result["pvalue"]
    assert as_text[""] == as_text["NA"] <= 0.01


def test_a_paired_design_warns_of_blank_lines_that_were_skipped(kqd, files):
    def skipped(x, y):
        found = result_of(kqd, "test", *files(x=x, y=y), "--design", "paired", "--method", "energy")["warnings"]
        return [warning["text"] for warning in found if warning["id"] == "blank-lines-skipped"]

    ending = ". If one is a row without values, the rows after it are paired wrongly: write NA for a missing value"
    assert skipped("\n1\n2\n3\n", "2\n3\n5\n\n\n") == [
        "x.csv: blank lines skipped: 1" + ending, "y.csv: blank lines skipped: 2" + ending]
    assert skipped("1,2\n\n3,4\n", "\n1,2\n5,6\n\n") == ["x.csv: blank lines skipped: 1" + ending]
    assert skipped("1\n2\n3\n", "2\n3\n5\n") == []


# Numbers on top (item 7).

COMMON = "first-row-shared"
FAR = "first-row-far"


def header_warnings(kqd, names, *flags):
    found = result_of(kqd, "test", *names, "--method", "energy", *flags)["warnings"]
    return [warning["id"] for warning in found if warning["id"].startswith("first-row-")]


def test_years_on_top_are_warned_of(kqd, files):
    draw = random.Random(2)

    def rows(shift, scale=1.0):
        return "".join(",".join(f"{scale * draw.gauss(shift, 1):.3f}" for _ in range(3)) + "\n" for _ in range(40))

    names = files(x="2019,2020,2021\n" + rows(0), y="2019,2020,2021\n" + rows(0.7))
    assert header_warnings(kqd, names) == [COMMON, COMMON]
    assert result_of(kqd, "test", *names, "--method", "energy", "--header")["pvalue"] < 0.01
    assert header_warnings(kqd, names, "--header") == header_warnings(kqd, names, "--no-header") == []
    assert header_warnings(kqd, files(x="2019,2020,2021\n" + rows(0), y="2022,2023,2024\n" + rows(0))) == [FAR, FAR]
    wide = files(x="2019,2020,2021\n" + rows(0, 2000), y="2019,2020,2021\n" + rows(0, 2000))
    assert header_warnings(kqd, wide) == [COMMON, COMMON]
    assert header_warnings(kqd, files(x=rows(0), y=rows(0))) == []
    assert header_warnings(kqd, ["x.csv", "x.csv"]) == [], "a file with itself has all rows in common"


def test_ordinary_data_are_not_taken_for_headers(kqd, files):
    draw = random.Random(3)
    discrete = [lines(["3", *(str(draw.randrange(6)) for _ in range(50))]) for _ in range(2)]
    assert header_warnings(kqd, files(x=discrete[0], y=discrete[1])) == []
    pairs = ["1,1\n" + "".join(f"{draw.randrange(90)},{draw.randrange(90)}\n" for _ in range(30)) for _ in range(2)]
    assert header_warnings(kqd, files(x=pairs[0], y=pairs[1])) == []


# Streams (item 20).


def run_within(folder, gigabytes, *arguments, **popen):
    limit = int(gigabytes * 1e9)
    done = subprocess.run([PROGRAM, *arguments], cwd=folder, capture_output=True, text=True, timeout=60,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)), **popen)
    return done.stdout, done.stderr, done.returncode


def test_a_gzip_file_that_expands_without_end_is_refused_by_name(folder):
    (folder / "bomb.csv.gz").write_bytes(gzip.compress(b"1,2\n" * 20_000_000))
    assert (folder / "bomb.csv.gz").stat().st_size < 300_000
    out, err, code = run_within(folder, 2, "test", "bomb.csv.gz", "a.csv", "--max-rows", "100", "--threads", "1")
    assert (out, code) == ("", 4)
    assert err == ("kqd: bomb.csv.gz: expands to more than 250 times its size, as no table should. If it is right, expand "
                   "it by gunzip first\n")
    (folder / "zeros.csv.gz").write_bytes(gzip.compress(b"0,0\n" * 3_000_000))
    assert run_within(folder, 4, "distance", "zeros.csv.gz", "a.csv", "--max-rows", "9", "--quiet")[2] == 0, "12 MB are little"


def test_a_pipe_that_gives_more_than_max_memory_is_refused(folder):
    rows = "".join(f"{i},{i % 7}\n" for i in range(200_000))
    for flags, code in (("--max-memory 1MB", 4), ("--max-memory 100MB", 0), ("", 0)):
        done = subprocess.run([PROGRAM, "distance", "-", "a.csv", "--method", "sw", "--quiet", *flags.split()], cwd=folder,
                              input=rows, capture_output=True, text=True, timeout=60)
        assert done.returncode == code, done.stderr
        if code == 4:
            assert done.stderr == ("kqd: standard input:62501: the rows so far take more than the limit on memory (1 MB). "
                                   "To allow more: --max-memory; to draw some of the rows: --max-rows\n")


# Rows that are drawn (--max-rows) bound what is held while a text is read.


def test_max_rows_bounds_the_memory_of_reading(folder):
    draw = random.Random(5)
    row = ",".join(f"{draw.random():.6f}" for _ in range(100))
    (folder / "short.csv").write_text(lines(f"{i},{row}" for i in range(300)))
    command = [PROGRAM, "distance", "-", "short.csv", "--method", "sw", "--quiet", "--max-memory", "20MB"]
    for flags, code in (([], 4), (["--max-rows", "500"], 0)):  # all rows take 121 MB
        done = subprocess.run([*command, *flags], cwd=folder, input=lines(f"{i},{row}" for i in range(150_000)),
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == code, done.stderr
    assert done.stderr == ""


def many_rows(seed, num_rows, gaps):
    draw = random.Random(seed)
    return [[f"{draw.gauss(0, 1):.3f}", "" if gaps and i % 97 == 0 else i, "ab"[i * i % 7 % 2]] for i in range(num_rows)]


# Rows of a text are dropped while it is read, those of other formats afterwards.
@needs_duckdb
@pytest.mark.parametrize("flags", ["", "--na indicator", "--na omit", "--na impute-median", "--group g", "--group g --na omit",
                                   "--group g --na indicator", "--weights i"])
def test_the_same_rows_are_drawn_from_every_format(kqd, folder, flags):
    for name, rows in (("many.csv", many_rows(6, 60_000, "--na" in flags)), ("many-y.csv", many_rows(7, 50_000, "--na" in flags))):
        (folder / name).write_text("v,i,g\n" + lines(",".join(map(str, row)) for row in rows))
    names = ["many.csv"] if "--group" in flags else ["many.csv", "many-y.csv"]
    arguments = ["--method", "sw", "--seed", "3", "--max-rows", "900", *flags.split()]
    if "--group" not in flags:
        arguments += ["--drop", "g"]
    dropped = result_of(kqd, "distance", *names, *arguments)
    held = result_of(kqd, "distance", *(f"sql:SELECT * FROM '{name}'" for name in names), *arguments)
    assert (dropped["n_x"], dropped["n_y"]) == (900, 900)
    assert (dropped["statistic"], dropped["data"]) == (held["statistic"], held["data"])


def test_rows_that_are_drawn_stay_in_pairs_and_keep_their_numbers(kqd, files):
    draw = random.Random(7)
    values = [draw.gauss(0, 1) for _ in range(40_000)]
    names = files(px="a,row\n" + lines(f"{v},{i}" for i, v in enumerate(values, 1)),
                  py="a,row\n" + lines(f"{v + 1},{i}" for i, v in enumerate(values, 1)))
    result = result_of(kqd, "distance", *names, "--columns", "row", "--max-rows", "300", "--method", "sw")
    assert result["statistic"] == 0.0, "the same rows of both files"
    explanation = result_of(kqd, "explain", *names, "--max-rows", "300", "--drop", "row")
    shown = explanation["rows"]["most_x"] + explanation["rows"]["most_y"]
    assert max(entry["row"] for entry in shown) > 20_000


def test_errors_of_rows_that_are_not_drawn_are_seen(kqd, files):
    base = [f"{i % 10},1" for i in range(30_000)]
    for at, bad, sentence in ((25_000, "x,1", 'column "a" is "x"'), (20, "NA,1", 'column "a" is "NA"'),
                              (29_000, "inf,1", 'column "a" is "inf"')):
        rows = [*base]
        rows[at] = bad
        run = kqd("distance", *files(x="a,b\n" + lines(rows), y="a,b\n1,2\n2,1\n"), "--max-rows", "5", "--na", "raise")
        assert run.code == 2 and f"x.csv:{at + 2}: {sentence}" in run.stderr


# Categories, groups and what counts as missing (items 9 and 21).


def test_numbers_in_a_column_of_text_are_texts_as_they_are_written(kqd, files):
    for column in (["1", "1.0", "01", "+1", "1e0", "x"], ["x", "1", "1.0", "01", "+1", "1e0"]):
        names = files(x="a\n" + lines(column), y="a\n" + lines(column))
        result = result_of(kqd, "distance", *names, "--categorical", "onehot", "--method", "sw")
        assert result["data"]["encoded"] == {"a": 6}
    names = files(x="a\nx\n01\n1.0\n", y="a\n01\n1.0\n1\n")  # text in one file only
    result = result_of(kqd, "distance", *names, "--categorical", "onehot", "--method", "sw")
    assert result["data"]["encoded"] == {"a": 4}
    group = result_of(kqd, "distance", *files(x="g,v\nx,1\n01,2\nx,3\n01,4\n"), "--group", "g", "--method", "sw")
    assert group["data"]["group"]["y"] == "01"
    assert "3 different values" in kqd("distance", *files(x="g,v\nx,1\n01,2\n1,3\n"), "--group", "g").stderr
    numbers = files(x="a\n" + lines(["1", "1.0", "01", "2.50"]), y="a\n" + lines(["1", "1", "1", "2.5"]))
    assert result_of(kqd, "distance", *numbers, "--method", "sw")["statistic"] == 0.0, "in a column of numbers the same"
    ids = files(x="a\n" + lines(["x1", 2**60 + 1, 2**60]), y="a\n" + lines(["x1", 2**60, 2**60]))
    assert result_of(kqd, "distance", *ids, "--categorical", "onehot", "--method", "sw")["data"]["encoded"] == {"a": 3}




def test_texts_that_share_a_hashed_column_are_named(kqd, files):
    texts = [f"t{i}" for i in range(40)]
    names = files(x="c\n" + lines(texts[:20]), y="c\n" + lines(texts[20:]))
    first = result_of(kqd, "test", *names, "--categorical", "hash", "--method", "energy")["warnings"][0]["text"]
    assert first.startswith('column "c": different texts share ')
    assert first.endswith(". --categorical onehot distinguishes up to 1000 texts")
    # The pairs that are named share a column, by the hash as it is documented: FNV-1a, 48 bits of it, modulo 64.
    pairs = [part.split(" and ") for part in first.split("such as ")[1].split(". ")[0].split(", ")]
    assert len(pairs) == 3
    for pair in pairs:
        one, other = (bucket(text.strip('"')) for text in pair)
        assert one == other
    different = [text for text in texts if [bucket(t) for t in texts].count(bucket(text)) == 1]
    names = files(x="c\n" + lines(different[:5]), y="c\n" + lines(different[5:10]))
    found = result_of(kqd, "test", *names, "--categorical", "hash")["warnings"]
    assert "hash-collisions" not in [warning["id"] for warning in found]


def bucket(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value % 2**48 % 64


def test_male_and_yes_are_distinct_in_hash(kqd, files):
    names = files(x="c\n" + "male\n" * 20, y="c\n" + "yes\n" * 20)
    assert result_of(kqd, "test", *names, "--categorical", "hash", "--method", "energy")["pvalue"] == 0.001


@pytest.mark.parametrize("one, other", [("none", "treated"), ("-", "+"), ("NA", "b"), ("?", "!")])
def test_a_group_that_counts_as_missing_is_explained_and_can_be_taken(kqd, files, one, other):
    names = files(trial="g,v\n" + "".join(f"{one},{i}\n{other},{i + 30}\n" for i in range(20)))
    run = kqd("test", *names, "--group", "g")
    assert run.code == 2 and run.stderr == (
        f'kqd: trial.csv: column "g" has 1 different value ("{other}"), expected two, one for each sample. 20 cells such as '
        f'"{one}" count as missing. To take texts as they are: --no-default-na\n')
    result = result_of(kqd, "test", *names, "--group", "g", "--no-default-na")
    assert (result["n_x"], result["n_y"], result["pvalue"]) == (20, 20, 0.001)


def test_without_the_usual_spellings_empty_cells_and_na_values_are_missing(kqd, files):
    text = "c,v\nnone,1\nNA,2\n,3\n-999,4\nx,nan\nx,6\n"
    names = files(x=text, y=text)
    result = result_of(kqd, "distance", *names, "--no-default-na", "--na-values", "-999,nan", "--na", "omit", "--categorical",
                       "onehot", "--method", "energy")
    assert result["data"]["encoded"] == {"c": 3} and result["data"]["rows_x"]["omitted"] == 3


# Config files (3.11).


@pytest.mark.parametrize("text, message", [
    ("seed = [1, 2]", "kqd.toml: seed = [1, 2], expected one value"),
    ("seed = []", "kqd.toml: seed = [], expected one value"),
    ("json = true\ncsv = true", "kqd.toml: json and csv exclude each other, expected one of them"),
])
def test_a_config_file_is_as_strict_as_the_command_line(kqd, folder, text, message):
    (folder / "kqd.toml").write_text(text + "\n")
    run = kqd("distance", "a.csv", "b.csv", "--config", "kqd.toml")
    assert (run.code, run.stderr) == (2, f"kqd: {message}\n")


def test_a_table_of_a_config_file_wins_over_lines_that_do_not_go_with_it(kqd, folder):
    (folder / "kqd.toml").write_text('json = true\ncolumns = ["1", "2"]\n[distance]\ncsv = true\n')
    run = kqd("distance", "a.csv", "b.csv", "--config", "kqd.toml")
    assert run.code == 0 and run.stdout.startswith("schema,")


# Small things (section 4 of the audit).


def test_the_null_device_takes_a_result(kqd):
    run = kqd("distance", "a.csv", "b.csv", "--output", "/dev/null")
    assert (run.stdout, run.stderr, run.code) == ("", "", 0)


def test_a_link_to_itself_is_not_written_to(kqd, tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    run = kqd("distance", "a.csv", "b.csv", "--output", str(tmp_path / "loop"))
    assert run.code == 2 and "Too many levels of symbolic links" in run.stderr
    assert (tmp_path / "loop").is_symlink()


def test_a_pipe_that_is_given_twice_is_refused(kqd, folder):
    os.mkfifo(folder / "pipe.csv")
    run = kqd("distance", "pipe.csv", "pipe.csv")
    assert (run.code, run.stderr) == (2, "kqd: pipe.csv: a pipe is given twice, but can be read only once. Write it to a "
                                         "file\n")


def test_utf_32_is_called_so(kqd, folder):
    for order in ("utf-32-le", "utf-32-be"):
        (folder / "wide.csv").write_bytes("\ufeff1,2\n".encode(order))
        assert kqd("distance", "wide.csv", "a.csv").stderr == "kqd: wide.csv: text in UTF-32, expected UTF-8\n"


def test_an_encoded_text_does_not_take_the_name_of_a_column(kqd, files):
    names = files(x="place,place=Rome\nRome,1\nOslo,2\nRome,3\n", y="place,place=Rome\nOslo,1\nOslo,5\nRome,3\n")
    found = result_of(kqd, "explain", *names, "--categorical", "onehot")
    assert {column["name"] for column in found["columns"]} == {"place", "place=Rome"}
    encoded = {part["name"] for direction in found["directions"] for part in direction["columns"]}
    assert encoded == {"place=Oslo", "place=Rome", "place=Rome'"}
    assert [d["columns"][0]["index"] for d in found["directions"] if d["name"] == "column place=Rome'"] == [1]


def test_one_column_is_singular_and_options_have_their_own_names(kqd, files):
    names = files(x="1\n2\n", y="1,2\n3,4\n")
    assert kqd("test", *names).stderr == "kqd: x.csv has 1 column of points and y.csv has 2, expected the same number\n"
    for arguments in (["a.csv", "b.csv", "--kernel", "rq:0"], ["a.csv", "b.csv", "--design", "blocks:"]):
        run = kqd("test", *arguments)
        assert run.code == 2 and not re.search("[A-Z][a-z]+::", run.stderr)


def test_an_explanation_of_two_rows_claims_nothing_and_has_no_negative_zero(kqd, files):
    run = kqd("explain", *files(x="1\n", y="2\n"))
    assert run.code == 0 and "labels' variance" not in run.stdout
    same = kqd("explain", *files(x="1,2\n3,4\n5,1\n", y="1,2\n3,4\n5,1\n"))
    assert same.code == 0 and "-0 " not in same.stdout and "-0\n" not in same.stdout


# Reference points of a file.


def test_columns_of_reference_points_are_matched_by_name(kqd, files):
    rows = ["1,20", "3,40", "5,10", "2,30"]
    x, y = files(rx="a,b\n" + lines(rows), ry="a,b\n" + lines(rows[1:] + ["9,9"]))
    same, swapped, bare = files(same="a,b\n1.5,25\n4,31\n", swapped="b,a\n25,1.5\n31,4\n", bare="1.5,25\n4,31\n")
    expected = result_of(kqd, "distance", x, y, "--reference", same)["statistic"]
    for points in (swapped, bare):
        assert result_of(kqd, "distance", x, y, "--reference", points)["statistic"] == expected
    assert (result_of(kqd, "matrix", x, y, "--reference", swapped)["distances"]
            == result_of(kqd, "matrix", x, y, "--reference", same)["distances"])
    (other,) = files(other="b,\x1bc\n25,1.5\n31,4\n")
    for command in ("test", "distance", "matrix"):
        refused = kqd(command, x, y, "--reference", other)
        assert (refused.stdout, refused.code) == ("", 2)
        assert refused.stderr == ('kqd: --reference other.csv and the data have different columns; only the data has "a"; '
                                  'only the file has "\\x1bc"; make the names agree\n')


# Messages name clusters as the file does.


@pytest.mark.parametrize("ids, name", [
    (["ann", "bob", "cy"], '"ann"'), ([7, 8, 9], "7"), (["1.5", "7", "8"], '"1.5"'),
    ([2**60 + 1, 2**60 + 6, 2**60 + 7], str(2**60 + 1)), ([-(2**60) - 1, -(2**60) + 4, -(2**60)], str(-(2**60) - 1)),
])
def test_messages_name_clusters_as_the_file_does(kqd, files, ids, name):
    x = "v,who\n" + lines(f"{i},{ids[i % 2]}" for i in range(6))
    y = "v,who\n" + lines(f"{i},{ids[i % 2 * 2]}" for i in range(6))
    for command in ("test", "explain"):
        run = kqd(command, *files(x=x, y=y), "--design", "clusters:who")
        assert (run.code, run.stderr) == (2, f"kqd: clusters design: cluster {name} has rows in X and in Y, needs one "
                                             "label per cluster (blocks may hold both)\n")
