"""Files that no one cleaned: which columns are compared, and what becomes of text, dates, missing values and rows."""

import json
import random

import pytest

FILES = {
    "trial.csv": "id,arm,age,sex,seen\n" + "".join(
        f"p{i},{'new' if i % 2 else 'old'},{40 + i % 7 + i % 2},{'fm'[i // 3 % 2]},2024-01-{i % 28 + 1:02}\n"
        for i in range(60)),
    "march.csv": "a,b,note\n1,2,x\n3,,y\n5,6,x\n7,8,y\n",
    "april.csv": "b,a,note\n2,1,y\n5,3,y\n-999,5,x\n8,7,y\n",
    "strata-1.csv": "v,site\n" + "".join(f"{i},{'north' if i % 2 else 'south'}\n" for i in range(10)),
    "strata-2.csv": "v,site\n" + "".join(f"{i + 3},{'north' if i % 2 else 'south'}\n" for i in range(10)),
}


@pytest.fixture(scope="module", autouse=True)
def files(folder):
    for name, text in FILES.items():
        (folder / name).write_text(text)
    numbers = random.Random(1)
    for name in ("long-1.csv", "long-2.csv"):
        (folder / name).write_text("a,b\n" + "".join(f"{numbers.random()},{numbers.random()}\n" for _ in range(300)))


def refusal(run):
    assert (run.stdout, run.code) == ("", 2)
    assert run.stderr.startswith("kqd: ") and run.stderr.count("\n") == 1
    return run.stderr[5:-1]


def result_of(kqd, *arguments):
    run = kqd(*arguments, "--json")
    assert (run.stderr, run.code) == ("", 0)
    return json.loads(run.stdout)


def data_lines(kqd, *arguments):
    run = kqd(*arguments)
    assert run.code == 0, run.stderr
    return [line[15:] for line in run.stdout.splitlines() if line.startswith("  data ")]


def test_a_file_without_need_of_preparation_says_so(kqd):
    assert data_lines(kqd, "distance", "a.csv", "b.csv") == []
    data = result_of(kqd, "distance", "a.csv", "b.csv")["data"]
    assert data == {
        "columns_read": 2, "columns_used": 2, "columns": [], "na": "indicator", "categorical": "auto", "encoded": {}, "dropped_texts": [],
        "dates": [], "booleans": [], "offsets": {}, "standardize": "none",
        "rows_x": {"read": 3, "omitted": 0, "not_drawn": 0, "missing_values": 0},
        "rows_y": {"read": 3, "omitted": 0, "not_drawn": 0, "missing_values": 0}}


def test_a_grouped_file_with_everything(kqd):
    arguments = ("test", "trial.csv", "--group", "arm", "--drop", "id", "--categorical", "onehot", "--dates", "--na",
                 "omit", "--standardize", "iqr", "--max-rows", "20", "--seed", "5")
    assert data_lines(kqd, *arguments) == [
        "columns: sex category of 2, seen date, 1 number (to change a type: --types; missing values: --na)",
        "3 of 4 columns compared", "0 rows of old and 0 of new omitted for missing values",
        "random subsample by seed 5: 20 of 30 rows of old, 20 of 30 rows of new",
        "columns centred and scaled by the pooled median and interquartile range (iqr)"]
    assert "  old          trial.csv with arm = old, 20 rows x 4 columns\n" in kqd(*arguments).stdout
    result = result_of(kqd, *arguments)
    assert (result["n_x"], result["n_y"], result["dim"]) == (20, 20, 4)
    assert result["data"]["group"] == {"column": "arm", "x": "old", "y": "new", "rows_without": 0}
    assert result["data"]["encoded"] == {"sex": 2}
    assert result["data"]["max_rows"] == 20


def test_a_group_of_the_same_rows_is_the_test_of_two_files(kqd, folder):
    rows = FILES["trial.csv"].splitlines()
    for arm in ("old", "new"):
        (folder / f"{arm}.csv").write_text("\n".join([rows[0], *(row for row in rows[1:] if f",{arm}," in row)]) + "\n")
    flags = ("--drop", "id,arm", "--categorical", "hash", "--dates", "--permutations", "99")
    grouped = result_of(kqd, "test", "trial.csv", "--group", "arm", *flags)
    separate = result_of(kqd, "test", "old.csv", "new.csv", *flags)
    assert [grouped[key] for key in ("statistic", "pvalue", "dim")] == [separate[key] for key in ("statistic", "pvalue", "dim")]
    assert grouped["dim"] == 1 + 64 + 1


@pytest.mark.parametrize("flags, rows", [
    (("--na", "omit", "--drop", "note"), (3, 4)),
    (("--na", "omit", "--drop", "note", "--na-values", "-999,x"), (3, 3)),
    (("--na", "impute-median", "--columns", "a,b"), (4, 4)),
    (("--columns", "a"), (4, 4)),
])
def test_missing_values_are_dealt_with_as_asked(kqd, flags, rows):
    result = json.loads(kqd("distance", "march.csv", "april.csv", *flags, "--json").stdout)
    assert (result["n_x"], result["n_y"]) == rows


def test_a_missing_value_is_refused_with_what_helps(kqd):
    assert refusal(kqd("test", "march.csv", "april.csv", "--columns", "a..b", "--na", "raise")) == (
        'march.csv:3: column "b" is "", expected a number. 1 value is missing. To omit such rows: --na omit; to fill in '
        "medians: --na impute-median")


def test_text_is_refused_with_what_helps(kqd):
    assert refusal(kqd("test", "march.csv", "april.csv", "--drop", "b", "--categorical", "raise")) == (
        'march.csv:2: column "note" is "x", expected a number. Columns of text: "note" (2 different). To make a column of '
        "each text: --categorical onehot; to exclude them: --categorical drop")


@pytest.mark.parametrize("flags, sentence", [
    (("--columns", "a,notes"),
     'march.csv: there is no column "notes", listed in --columns, expected one of "a", "b", "note"; did you mean note?'),
    (("--columns", "a,,b"), '--columns a,,b: expected a list such as a,b..d,temp_*,3-7 (an item is empty)'),
    (("--na", "omitt"), '--na omitt: expected one of indicator, raise, omit, impute-median; did you mean omit?'),
    (("--categorical", "one-hot"),
     '--categorical one-hot: expected one of auto, raise, onehot, hash, drop; did you mean onehot?'),
    (("--standardize", "zcore"), '--standardize zcore: expected one of auto, none, zscore, iqr; did you mean zscore?'),
    (("--max-rows", "0"), "--max-rows 0: expected a whole number in 1..1000000000"),
    (("--group", "note"), "--group note: expected one file with both samples, but a second one is given: april.csv"),
])
def test_a_bad_choice_is_refused(kqd, flags, sentence):
    assert refusal(kqd("distance", "march.csv", "april.csv", *flags)) == sentence


def test_a_group_needs_two_values(kqd):
    assert refusal(kqd("test", "trial.csv", "--group", "age")) == (
        'trial.csv: column "age" has 8 different values ("40", "42", "44", "46", "41", "43", "45", "47"), expected two, one '
        'for each sample. To compare two of them, give two files, or two queries such as "sql:SELECT ... WHERE ..."')


@pytest.mark.parametrize("flags", [(), ("--na", "omit"), ("--header",), ("--drop", "1"), ("--header", "--drop", "1")])
def test_the_index_of_a_table_without_names_is_no_data(kqd, folder, flags):  # as pandas writes both
    numbers = random.Random(2)
    for name in ("index-1.csv", "index-2.csv"):
        rows = [f"{numbers.gauss(0, 1)},{numbers.gauss(0, 1)},{numbers.gauss(0, 1)}\n" for _ in range(100)]
        (folder / name).write_text(",0,1,2\n" + "".join(f"{i},{row}" for i, row in enumerate(rows)))
        (folder / f"no-{name}").write_text("a,b,c\n" + "".join(rows))
    assert refusal(kqd("test", "index-1.csv", "index-2.csv", *flags)) == (
        "index-1.csv: column 1 has no name, expected a name. To exclude it, if it is a row index: --drop '\"\"'; to list the "
        "columns to compare: --columns")
    flags = tuple(flag for flag in flags if flag not in ("--drop", "1"))
    fixed = json.loads(kqd("test", "index-1.csv", "index-2.csv", *flags, "--drop", '""', "--json").stdout)
    plain = json.loads(kqd("test", "no-index-1.csv", "no-index-2.csv", "--json").stdout)
    assert (fixed["n_x"], fixed["dim"], fixed["pvalue"]) == (100, 3, plain["pvalue"])


def test_dates_that_become_columns_of_text_are_noted(kqd):
    flags = ("distance", "trial.csv", "--group", "arm", "--drop", "id", "--categorical", "onehot")
    assert kqd(*flags).stderr == (
        'kqd: trial.csv: dates are treated as text in: "seen". To read them as numbers: --dates\n')
    assert kqd(*flags, "--dates").stderr == ""


def test_a_subsample_repeats_with_its_seed(kqd):
    flags = ("test", "long-1.csv", "long-2.csv", "--max-rows", "50", "--permutations", "19", "--method", "ekqd")
    once = result_of(kqd, *flags, "--seed", "1")
    assert (once["n_x"], once["n_y"]) == (50, 50)
    assert once["data"]["rows_x"] == {"read": 300, "omitted": 0, "not_drawn": 250, "missing_values": 0}
    assert result_of(kqd, *flags, "--seed", "1")["statistic"] == once["statistic"]
    assert result_of(kqd, *flags, "--seed", "2")["statistic"] != once["statistic"]


def test_blocks_may_have_texts_for_names(kqd, folder):  # numbered in the order in which they are met
    for number in ("1", "2"):
        text = FILES[f"strata-{number}.csv"]
        (folder / f"coded-{number}.csv").write_text(text.replace("south", "1").replace("north", "2"))
    named = result_of(kqd, "test", "strata-1.csv", "strata-2.csv", "--design", "blocks:site")
    coded = result_of(kqd, "test", "coded-1.csv", "coded-2.csv", "--design", "blocks:site")
    assert (named["dim"], named["pvalue"]) == (1, coded["pvalue"])


def test_a_standardised_test_does_not_see_units(kqd, folder):
    rows = [line.split(",") for line in (folder / "long-1.csv").read_text().splitlines()[1:]]
    (folder / "scaled-1.csv").write_text("a,b\n" + "".join(f"{float(a) * 1024},{b}\n" for a, b in rows))
    rows = [line.split(",") for line in (folder / "long-2.csv").read_text().splitlines()[1:]]
    (folder / "scaled-2.csv").write_text("a,b\n" + "".join(f"{float(a) * 1024},{b}\n" for a, b in rows))
    for how in ("zscore", "iqr"):
        plain = result_of(kqd, "distance", "long-1.csv", "long-2.csv", "--standardize", how)
        scaled = result_of(kqd, "distance", "scaled-1.csv", "scaled-2.csv", "--standardize", how)
        assert scaled["statistic"] == plain["statistic"]  # a power of two changes no digit


def test_a_list_that_is_given_again_goes_on(kqd, folder):
    (folder / "wide.csv").write_text("a,b,c\n1,9,5\n2,7,3\n4,8,9\n")
    (folder / "other.csv").write_text("a,b,c\n3,1,5\n2,2,2\n1,4,8\n")
    (folder / "list.toml").write_text('columns = ["a", "b"]\n')
    command = ("distance", "wide.csv", "other.csv", "--quiet", "--seed", "1")
    wanted = kqd(*command, "--columns", "a,b").stdout
    assert kqd(*command, "--columns", "a", "--columns", "b").stdout == wanted
    assert kqd(*command, "--config", "list.toml").stdout == wanted
    assert kqd(*command, "--drop", "c").stdout == wanted != kqd(*command, "--drop", "b", "--drop", "c").stdout


@pytest.mark.parametrize("flag", ["--columns", "--weights", "--na-values", "--delimiter", "--output", "--group"])
def test_an_empty_text_is_not_taken_for_no_flag(kqd, flag):
    run = kqd("distance", "a.csv", "b.csv", flag, "")
    assert (run.code, run.stderr) == (2, f"kqd: {flag} is given an empty text, expected a value\n")


def test_columns_with_a_part_of_their_own_are_named(kqd):
    assert data_lines(kqd, "distance", "weighted.csv", "weighted.csv", "--weights", "w") == [
        "column w holds the weights of the rows"]
    assert result_of(kqd, "distance", "weighted.csv", "weighted.csv", "--weights", "w")["data"]["weights"] == "w"
    strata = ("test", "strata-1.csv", "strata-2.csv", "--design", "blocks:site")
    assert data_lines(kqd, *strata) == ["column site names the block or cluster of each row"]
    assert result_of(kqd, *strata)["data"]["units"] == "site"


def test_a_listed_column_that_is_not_compared_is_noted(kqd):
    run = kqd("distance", "weighted.csv", "weighted.csv", "--columns", "a,w", "--weights", "w")
    assert run.stderr == (
        'kqd: weighted.csv: column "w" has the weights and is not compared, although --columns lists it\n')
    assert kqd("distance", "weighted.csv", "weighted.csv", "--columns", "a", "--weights", "w").stderr == ""


def test_samples_that_change_places_keep_their_rows(kqd):
    flags = ("--max-rows", "50", "--method", "energy")
    there, back = (result_of(kqd, "distance", *files, *flags)["statistic"]
                   for files in (("long-1.csv", "long-2.csv"), ("long-2.csv", "long-1.csv")))
    assert there == pytest.approx(back, rel=1e-12)
    assert result_of(kqd, "distance", "long-1.csv", "long-1.csv", *flags)["statistic"] == 0


def test_true_and_false_are_numbers_and_a_third_word_makes_them_text(kqd, folder):
    (folder / "bool-1.csv").write_text("a,on\n1,true\n2,False\n3,TRUE\n4,\n")
    (folder / "bool-2.csv").write_text("a,on\n1,0\n2,1\n3,1\n4,0\n")
    (folder / "bool-3.csv").write_text("a,on\n1,true\n2,maybe\n3,true\n4,false\n")
    (folder / "bits-1.csv").write_text("a,on\n1,1\n2,0\n3,1\n4,\n")
    named = ("distance", "bool-1.csv", "bool-2.csv", "--na", "omit")
    assert data_lines(kqd, *named) == [
        "columns: on boolean (1 and 0 missing), 1 number (to change a type: --types; missing values: --na)",
        "1 row of bool-1 and 0 of bool-2 omitted for missing values"]
    result = result_of(kqd, *named)
    assert result["data"]["booleans"] == ["on"]
    assert result["statistic"] == result_of(kqd, "distance", "bits-1.csv", "bool-2.csv", "--na", "omit")["statistic"]
    assert refusal(kqd("distance", "bool-1.csv", "bool-3.csv", "--categorical", "raise")).startswith(
        'bool-1.csv:2: column "on" is "true", expected a number. Columns of text: "on" (3 different). ')
    assert result_of(kqd, "distance", "bool-3.csv", "bool-3.csv", "--categorical", "onehot")["dim"] == 4


def test_an_error_about_text_mentions_columns_of_dates(kqd):
    assert refusal(kqd("test", "trial.csv", "--group", "arm", "--drop", "id", "--categorical", "raise")) == (
        'trial.csv:2: column "sex" is "f", expected a number. Columns of text: "sex" (2 different), "seen" (28 '
        "different). To read dates as numbers: --dates. To make a column of each text: --categorical onehot; to exclude "
        "them: --categorical drop")
