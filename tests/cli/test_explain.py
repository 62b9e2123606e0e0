"""`kqd explain`: where two samples differ, in every form."""

import csv
import io
import json
import random
import struct

import pytest

SENSORS = ("sensors-march.csv", "sensors-april.csv")


@pytest.fixture(scope="module")
def explained(kqd):
    run = kqd("explain", *SENSORS, "--json")
    assert (run.stderr, run.code) == ("", 0)
    return json.loads(run.stdout)


def test_json_names_the_column_that_changed(explained):
    assert explained["schema"] == "kqd.explain/2"
    assert (explained["n_x"], explained["n_y"], explained["dim"]) == (500, 480, 6)
    first = explained["columns"][0]
    assert (first["name"], first["index"], first["reject"]) == ("vibration_mm_s", 3, True)
    assert [column["reject"] for column in explained["columns"][1:]] == [False] * 5
    assert explained["columns_note"] == "" and explained["n_resamples"] == 999
    assert explained["data"]["rows_x"]["read"] == 500


def test_json_has_what_a_page_draws(explained):
    direction = explained["directions"][0]
    assert len(direction["profile"]["levels"]) == len(direction["profile"]["difference"]) == 99
    assert len(direction["density"]["at"]) == len(direction["density"]["x"]) == 64
    assert explained["n_directions_examined"] == 26
    assert len(explained["scatter"]["names"]) == 2
    assert [len(explained["scatter"][side]) for side in "xy"] == [500, 480]
    for side in ("most_x", "most_y"):
        assert [len(row["values"]) for row in explained["rows"][side]] == [6] * 10
    assert explained["image"] is None


def test_rows_are_those_of_the_file(explained, folder):
    with open(folder / SENSORS[1]) as file:
        rows = list(csv.DictReader(file))
    for row in explained["rows"]["most_y"]:
        if row["sample"] == "y":
            cells = [float(rows[row["row"] - 1][name]) for name in explained["row_columns"]]
            assert cells == row["values"]


def test_rows_keep_their_numbers_when_others_are_omitted(kqd, folder):
    random.seed(1)
    lines = ["arm,a,b"]
    for i in range(60):
        shift = 3 * (i % 2)
        gap = "" if i % 7 == 0 else f"{random.gauss(shift, 1)}"
        lines.append(f"{'xy'[i % 2]},{random.gauss(0, 1)},{gap}")
    (folder / "arms.csv").write_text("\n".join(lines) + "\n")
    found = json.loads(kqd("explain", "arms.csv", "--group", "arm", "--na", "omit", "--json").stdout)
    assert found["row_columns"][0] == "b"
    for side in ("most_x", "most_y"):
        for row in found["rows"][side]:
            sample, _, b = lines[row["row"]].split(",")
            assert (sample, float(b)) == (row["sample"] if sample in "xy" else "", row["values"][0])


def test_csv_has_a_line_per_column(kqd, explained):
    rows = list(csv.DictReader(io.StringIO(kqd("explain", *SENSORS, "--csv").stdout)))
    assert [row["name"] for row in rows] == [column["name"] for column in explained["columns"]]
    assert float(rows[0]["wasserstein"]) == explained["columns"][0]["wasserstein"]
    assert rows[0]["where"] == explained["columns"][0]["where"]


def test_markdown_has_tables(kqd):
    text = kqd("explain", *SENSORS, "--markdown").stdout
    assert text.startswith("**Where two samples differ")
    assert "| column | type | distance | effect |" in text and "| direction | distance |" in text


def test_quiet_prints_the_names_of_the_columns_that_differ(kqd):
    run = kqd("explain", *SENSORS, "--quiet")
    assert (run.stdout, run.stderr, run.code) == ("vibration_mm_s\n", "", 0)


def test_text_ranks_columns_levels_directions_and_rows(kqd):
    text = kqd("explain", *SENSORS).stdout
    for heading in ("column ", "quantile of april minus that of march at", "direction ", "most like april", "most like march"):
        assert f"\n  {heading}" in text


def test_threads_and_memory_change_nothing(kqd, explained):
    run = json.loads(kqd("explain", *SENSORS, "--json", "--threads", "1", "--max-memory", "1MB").stdout)
    for result in (run, explained):
        for name in ("threads", "elapsed_s"):
            result.pop(name, None)
    assert run == explained


def test_scores_of_all_rows_are_written_as_csv(kqd, folder, explained):
    run = kqd("explain", *SENSORS, "--rows-csv", "scores.csv", "--quiet")
    assert run.code == 0
    rows = list(csv.DictReader(io.StringIO((folder / "scores.csv").read_text())))
    assert len(rows) == 980 and list(rows[0]) == ["sample", "row", "score"]
    scores = {(row["sample"], int(row["row"])): float(row["score"]) for row in rows}
    for row in explained["rows"]["most_y"]:
        assert scores[row["sample"], row["row"]] == pytest.approx(row["score"], rel=1e-5)


def test_scores_do_not_overwrite_the_data(kqd):
    run = kqd("explain", *SENSORS, "--rows-csv", SENSORS[0])
    assert run.code == 2 and "expected another file than the input" in run.stderr


def test_changed_relation_is_named(kqd, folder):
    random.seed(5)
    for name, slope in (("march-r.csv", 0.8), ("april-r.csv", 0.0)):
        rows = []
        for _ in range(300):
            a = random.gauss(0, 1)
            rows.append(f"{a},{slope * a + (1 - slope**2) ** 0.5 * random.gauss(0, 1)}")
        (folder / name).write_text("age,income\n" + "\n".join(rows) + "\n")
    found = json.loads(kqd("explain", "march-r.csv", "april-r.csv", "--json").stdout)
    assert [change["kind"] for change in found["changes"]] == ["relation"]
    assert found["changes"][0]["columns"] == ["age", "income"]
    relation = found["relations"][0]
    assert relation["reject"] and relation["correlation_x"] > 0.6 > 0.3 > relation["correlation_y"]
    assert "age and income: correlation +0." in kqd("explain", "march-r.csv", "april-r.csv").stdout


def test_idx_files_have_the_shape_of_their_images(kqd, folder):
    random.seed(2)
    for name, bright in (("dark.idx", 100), ("bright.idx", 200)):
        pixels = bytes(random.randrange(bright) if i % 12 == 5 else random.randrange(50) for i in range(40 * 12))
        (folder / name).write_bytes(struct.pack(">BBBBIII", 0, 0, 8, 3, 40, 4, 3) + pixels)
    image = json.loads(kqd("explain", "dark.idx", "bright.idx", "--json").stdout)["image"]
    assert (image["height"], image["width"], image["channels"]) == (4, 3, 1)
    assert max(range(12), key=lambda i: image["witness"][i]) == 5
    assert len(image["most_y"][0]["pixels"]) == 12


@pytest.mark.parametrize("flags, sentence", [
    (("--image-shape", "4x4"), "--image-shape 4x4: expected a shape of 2 values, as many as the rows have (this one has 16)"),
    (("--image-shape", "4"), "--image-shape 4: expected HEIGHTxWIDTH or HEIGHTxWIDTHxCHANNELS"),
    (("--permutations", "0"), "--permutations 0: expected a whole number in 1..1000000000"),
    (("--alpha", "1"), "--alpha 1: expected a number between 0 and 1"),
    (("--method", "mmd"), "unknown flag --method for kqd explain"),
    (("--design", "pairs"), "--design pairs: expected independent, paired, blocks:COLUMN or clusters:COLUMN; did you "
                            "mean paired?"),
])
def test_what_cannot_be_used_is_refused(kqd, flags, sentence):
    run = kqd("explain", "a.csv", "b.csv", *flags)
    assert (run.stdout, run.code) == ("", 2)
    assert run.stderr.splitlines()[0] == f"kqd: {sentence}"


@pytest.mark.parametrize("files", [("row.csv", "row.csv"), ("equal.csv", "equal.csv"), ("constant.csv", "a.csv"),
                                   ("one-column.csv", "mostly-equal.csv"), ("weighted.csv", "weighted.csv")])
def test_small_and_flat_data_are_explained_without_a_nan(kqd, files):
    flags = ("--weights", "w") if files[0] == "weighted.csv" else ()
    run = kqd("explain", *files, "--json", *flags)
    assert run.code == 0
    assert "NaN" not in run.stdout and "null,null" not in run.stdout
    json.loads(run.stdout, parse_constant=lambda name: pytest.fail(name))
