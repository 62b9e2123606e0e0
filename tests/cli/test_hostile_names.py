"""File names, columns and options that somebody else chose: they neither write files nor move the screen."""

import json
import os
import subprocess

import pytest
from conftest import PROGRAM

VICTIM = "keep me\n"


@pytest.fixture
def work(tmp_path):
    (tmp_path / "a.csv").write_text("1,2\n3,4\n5,6\n")
    (tmp_path / "b.csv").write_text("2,2\n3,5\n5,9\n")
    (tmp_path / "victim.txt").write_text(VICTIM)
    return tmp_path


def shell(folder, command):
    done = subprocess.run(["bash", "-c", f'kqd() {{ "$KQD" "$@"; }}\n{command}'], cwd=folder,
                          env={**os.environ, "KQD": PROGRAM, "LC_ALL": "C"},
                          capture_output=True, text=True, timeout=60)
    return done.stdout, done.stderr, done.returncode


@pytest.mark.parametrize("name, command", [
    ("--config=.z.csv", "kqd test *.csv"),
    ("--output=victim.txt", "kqd test *"),
    ("--config", "kqd test * .z.csv"),
])
def test_files_that_look_like_options_are_not_obeyed(work, name, command):
    (work / ".z.csv").write_text('output = "victim.txt"\n')
    (work / name).write_text("1,2\n3,4\n")
    out, err, code = shell(work, command.replace("*", "--* a.csv b.csv") if command.endswith("*") else command)
    assert (out, code) == ("", 2) and "looks like an option and is also the name of a file here" in err
    assert (work / "victim.txt").read_text() == VICTIM


def test_two_dashes_end_the_options(work):
    (work / "--seed=7").write_text("")
    (work / "-a.csv").write_bytes((work / "a.csv").read_bytes())
    (work / "--json.csv").write_bytes((work / "b.csv").read_bytes())
    (work / "--config=.z.csv").write_text('output = "victim.txt"\n')
    expected = shell(work, "kqd distance a.csv b.csv --quiet")
    assert expected[1:] == ("", 0)
    assert shell(work, "kqd distance --quiet -- -a.csv --json.csv") == expected
    assert shell(work, "kqd distance --quiet -- ./-a.csv ./--json.csv") == expected
    assert shell(work, "kqd distance --quiet ./-a.csv ./--json.csv") == expected
    assert shell(work, "kqd matrix --quiet -- -a.csv --json.csv")[2] == 0
    out, err, code = shell(work, "kqd distance -- -a.csv --json.csv --quiet")
    assert (out, code) == ("", 2)
    assert err.startswith('kqd: "--quiet" is one argument too many for kqd distance, whose options come before --\n')
    assert shell(work, "kqd distance -- --config=.z.csv a.csv")[2] == 2
    assert (work / "victim.txt").read_text() == VICTIM


@pytest.mark.parametrize("arguments", [
    ["--method", "\x1b[31mred"], ["--bandwidth", "1\n2"], ["--kernel", "\x07"], ["--seed", "\u202e1"], ["--\x1b[31m"],
    ["--columns", "\x1b]0;title\x07"], ["--design", "a\rb"], ["--weighting", "\x9b1m"], ["--report", "\x1b.html"],
])
def test_values_of_options_are_shown_without_control_characters(work, arguments):
    done = subprocess.run([PROGRAM, "test", "a.csv", "b.csv", *arguments], cwd=work, capture_output=True, timeout=60)
    assert not set(done.stderr) & set(b"\x1b\x07\r\x9b") and "\u202e".encode() not in done.stderr
    assert done.stderr.count(b"\n") <= 2


NAMES = ["![x](http://evil.example/t.png)", "[click](http://evil.example)", '=HYPERLINK("http://evil")', "@SUM(A1)",
         "-2+3", "left\u202eright", "<img src=x>"]


@pytest.fixture
def tables(work):
    header = ",".join('"' + name.replace('"', '""') + '"' for name in NAMES)
    for i, name in enumerate(("x.csv", "y.csv")):
        rows = "".join(",".join(str((3 * k + j) % 5 + 9 * i) for j in range(len(NAMES))) + "\n" for k in range(12))
        (work / name).write_text(header + "\n" + rows)
    return work


def test_markdown_has_no_live_links_and_images(tables):
    out, err, code = shell(tables, "kqd explain x.csv y.csv --markdown")
    assert code == 0
    assert r"!\[x\](http\://evil.example/t.png)" in out and r"\[click\](http\://evil.example)" in out
    assert r"\<img" in out and "\u202e" not in out and r"left\xe2\x80\xaeright" in out
    assert "](" not in out.replace(r"\](", "") and "://" not in out.replace(r"\://", "")


def test_csv_has_no_formulas(tables):
    out, err, code = shell(tables, "kqd explain x.csv y.csv --csv")
    assert code == 0 and "\u202e" not in out
    firsts = [line.lstrip('"')[0] for line in out.splitlines()]
    assert not set(firsts) & set("=@-+"), firsts
    assert "'-2+3," in out and "'@SUM(A1)," in out and '"\'=HYPERLINK(""http://evil"")",' in out


def test_json_escapes_what_turns_text_around_and_keeps_it(tables):
    out, err, code = shell(tables, "kqd explain x.csv y.csv --json")
    assert code == 0 and "\u202e" not in out and r"left\u202eright" in out
    assert "left\u202eright" in {column["name"] for column in json.loads(out)["columns"]}


@pytest.mark.parametrize("command", [
    "kqd test a.csv b.csv --set $NAME=1", "kqd test a.csv b.csv --set combine=$NAME", "kqd matrix $NAME",
    "kqd distance a.csv b.csv --kernel gaussian@$NAME", "kqd distance a.csv b.csv --compat $NAME",
    "kqd distance a.csv b.csv --weighting triangle:$NAME", "kqd distance a.csv b.csv --config $NAME",
    "kqd distance a.csv b.csv --config <(echo $NAME=1)", "kqd distance a.csv b.csv --config <(echo [$NAME])",
    "kqd sample $NAME", "kqd experiment $NAME", "kqd completions $NAME",
])
@pytest.mark.parametrize("name", [r"\x01seed\x02", r"z\x01"])
def test_a_text_does_not_pass_for_the_name_of_an_option(work, name, command):
    out, err, code = shell(work, f"NAME=$'{name}'; {command}")
    assert (out, code) == ("", 2) and name in err and "--seed" not in err
