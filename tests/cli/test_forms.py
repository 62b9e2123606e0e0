"""The same result as JSON, CSV, Markdown or a number, on stdout or in a file."""

import csv
import io
import json
import re

import pytest

FILES = ("a.csv", "b.csv")
RUN_ONLY = {"elapsed_s"}


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("command, flags", [
    ("test", ()), ("test", ("--method", "mmd")), ("test", ("--power", "2")),
    ("test", ("--method", "me", "--calibration", "asymptotic")),
    ("distance", ()), ("distance", ("--method", "ekqd-centered")), ("distance", ("--method", "sinkhorn")),
])
def test_csv_has_one_line_of_names_and_one_of_the_same_values(kqd, command, flags):
    files = ("sensors-march.csv", "sensors-april.csv") if "asymptotic" in flags else FILES
    run = kqd(command, *files, "--csv", *flags)
    assert (run.stderr, run.code, run.stdout.count("\n")) == ("", 0, 2)
    row, = rows_of(run.stdout)
    found = json.loads(kqd(command, *files, "--json", *flags).stdout)
    for name in row.keys() & found.keys() - RUN_ONLY:
        value = found[name]
        if value is None:
            assert row[name] == ""
        elif isinstance(value, bool):
            assert row[name] == str(value).lower()
        elif isinstance(value, (int, float)):
            assert float(row[name]) == value
        elif isinstance(value, str):
            assert row[name] == value
    if command == "test":
        assert [float(row["pvalue_lower"]), float(row["pvalue_upper"])] == found["pvalue_ci"]


@pytest.mark.parametrize("command, methods", [("test", ("ekqd", "mmd", "adaptive")), ("distance", ("ekqd", "mmd", "sw"))])
def test_csv_has_the_same_columns_for_every_method(kqd, command, methods):
    heads = {kqd(command, *FILES, "--csv", "--method", method).stdout.splitlines()[0] for method in methods}
    assert len(heads) == 1


def test_csv_quotes_what_needs_quotes(kqd, folder):
    name = 'odd, "name".csv'
    (folder / name).write_text("1,2\n3,4\n")
    row, = rows_of(kqd("distance", name, "b.csv", "--csv").stdout)
    assert row["x"] == name


@pytest.mark.parametrize("command", ["test", "distance"])
def test_markdown_is_a_table(kqd, command):
    lines = kqd(command, *FILES, "--markdown").stdout.splitlines()
    assert lines[0].startswith("**") and lines[0].endswith("**")
    start = lines.index("|  |  |")
    assert lines[start + 1] == "|---|---|"
    assert all(line.startswith("| ") and line.endswith(" |") and line.count("|") == 3 for line in lines[start + 2:start + 8])


def test_markdown_escapes_what_would_end_a_cell(kqd, folder):
    (folder / "a|b.csv").write_text("1,2\n3,4\n")
    assert "| a\\|b | a\\|b.csv, 2 rows x 2 columns |" in kqd("distance", "a|b.csv", "b.csv", "--markdown").stdout.splitlines()


def test_markdown_holds_no_html_of_the_data(kqd, folder):
    head = "<script>alert(1)</script>,u < v"
    (folder / "h.csv").write_text(f"{head}\n1,2\n3,4\n5,7\n")
    (folder / "k.csv").write_text(f"{head}\n2,9\n4,1\n0,3\n")
    text = kqd("explain", "h.csv", "k.csv", "--markdown").stdout
    assert "\\<script>alert(1)\\</script>" in text and not re.search(r"(?<!\\)</?script", text)
    assert "u < v" in text


def test_quiet_drops_notes_from_every_form(kqd):
    run = kqd("distance", *FILES, "--json", "--quiet", "--method", "mmd", "--power", "2")
    assert (run.stderr, json.loads(run.stdout)["method"]) == ("", "mmd")


@pytest.mark.parametrize("command", ["test", "distance", "matrix"])
@pytest.mark.parametrize("form", ["--json", "--csv", "--markdown", "--quiet"])
def test_output_writes_the_same_to_a_file(kqd, folder, command, form):
    run = kqd(command, *FILES, form, "--output", "result.txt")
    assert (run.stdout, run.stderr, run.code) == ("", "", 0)
    written = (folder / "result.txt").read_text()
    strip = lambda text: [line for line in text.splitlines() if "elapsed" not in line and "run |" not in line]  # noqa: E731
    if form != "--csv" or command == "matrix":
        assert strip(written) == strip(kqd(command, *FILES, form).stdout)
    assert not list(folder.glob(".kqd-*"))


def test_an_output_that_cannot_be_written_is_refused_before_any_file_is_read(kqd, folder):
    run = kqd("test", "missing.csv", "missing.csv", "--output", "nowhere/result.json")
    assert (run.stdout, run.code) == ("", 2)
    assert run.stderr == "kqd: cannot write nowhere/result.json: No such file or directory\n"


def test_a_failing_run_leaves_an_older_output_as_it_was(kqd, folder):
    (folder / "old.json").write_text("old")
    assert kqd("test", "inf.csv", "b.csv", "--output", "old.json").code == 2
    assert (folder / "old.json").read_text() == "old" and not list(folder.glob(".kqd-*"))


def test_methods_come_in_every_form(kqd):
    table = [line.split()[0] for line in kqd("methods").stdout.splitlines()[1:]]
    assert [method["id"] for method in json.loads(kqd("methods", "--json").stdout)] == table
    assert [row["id"] for row in rows_of(kqd("methods", "--csv").stdout)] == table
    lines = kqd("methods", "--markdown").stdout.splitlines()
    assert lines[0] == "| id | family | summary |" and len(lines) == len(table) + 2
    one, = json.loads(kqd("methods", "mmd-rff", "--json").stdout)
    assert {"features", "orthogonal"} <= {parameter["name"] for parameter in one["parameters"]}


@pytest.mark.parametrize("method", ["ekqd", "supkqd", "sw", "max-sw"])
def test_a_huge_power_gives_numbers_and_no_null(kqd, method):
    found = json.loads(kqd("distance", *FILES, "--json", "--power", "1e300", "--method", method).stdout)
    assert isinstance(found["statistic"], float) and isinstance(found["statistic_power"], float)
    assert all(value is not None for value in found["details"].values())


@pytest.mark.parametrize("command", [
    "distance a.csv b.csv", "test a.csv b.csv", "matrix b.csv a.csv", "distance a.csv b.csv --reference a.csv",
])
def test_an_input_is_never_overwritten(kqd, folder, command):
    before = (folder / "a.csv").read_bytes()
    run = kqd(*command.split(), "--output", "./a.csv")
    assert (run.code, run.stdout) == (2, "")
    assert run.stderr == "kqd: --output ./a.csv: expected another file than the input a.csv\n"
    assert (folder / "a.csv").read_bytes() == before


def test_a_hyphen_as_output_is_standard_output(kqd, folder):
    assert kqd("distance", *FILES, "--quiet", "--output", "-") == kqd("distance", *FILES, "--quiet")
    assert not (folder / "-").exists()


def test_output_keeps_the_link_and_the_mode_of_what_was_there(kqd, folder):
    place = folder / "elsewhere"
    place.mkdir()
    target, link, open_link = place / "target.json", folder / "link.json", folder / "open-link.json"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to("elsewhere/target.json")
    open_link.symlink_to("elsewhere/new.json")
    for name in (link, open_link):
        assert kqd("distance", *FILES, "--json", "--output", name.name).code == 0
        assert name.is_symlink() and json.loads(name.read_text())["schema"] == "kqd.distance/2"
    assert target.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in place.iterdir()) == ["new.json", "target.json"]


def test_control_characters_in_file_names_are_escaped(kqd, folder):
    name = "bell\a\x1b[31m.csv"
    (folder / name).write_text("1,2\n3,4\n")
    for arguments in (("distance", name, "b.csv"), ("distance", name, "b.csv", "--markdown"), ("matrix", name, "b.csv"),
                      ("matrix", name, "b.csv", "--markdown")):
        shown = kqd(*arguments).stdout
        assert "\a" not in shown and "\x1b" not in shown and "x1b[31m.csv" in shown.replace("\\[", "[")


def test_whole_parameters_are_whole_in_json(kqd):
    parameters = json.loads(kqd("test", *FILES, "--json").stdout)["parameters"]
    assert parameters["landmarks"] == 0 and isinstance(parameters["landmarks"], int)


@pytest.mark.parametrize("command", ["distance", "test"])
def test_a_power_that_leaves_nothing_of_the_costs_is_refused(kqd, command):
    run = kqd(command, *FILES, "--method", "wasserstein", "--power", "1e5")
    assert (run.stdout, run.code) == ("", 2)
    assert run.stderr == "kqd: costs |x - y|^100000 between different points are 0 to rounding; take a smaller power\n"
