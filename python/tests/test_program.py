"""`python -m kqd` and the command of the package: the program itself."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(importlib.util.find_spec("_kqd_program") is None, reason="built without the program")
DATA = pathlib.Path(__file__).parents[2] / "data"
FILES = [str(DATA / "sensors-march.csv"), str(DATA / "sensors-april.csv")]
PROGRAM = pathlib.Path(importlib.util.find_spec("kqd").origin).parents[2] / "kqd"


def run(*words, command=(sys.executable, "-m", "kqd")):
    return subprocess.run([*map(str, command), *words], capture_output=True, text=True)


def numbers(done):
    found = json.loads(done.stdout)
    return {name: value for name, value in found.items() if name not in ("elapsed_s",)}


@pytest.mark.skipif(not PROGRAM.exists(), reason="the program was not built")
def test_results_are_those_of_the_program():
    found, expected = run("test", *FILES, "--json"), run("test", *FILES, "--json", command=(PROGRAM,))
    assert numbers(found) == numbers(expected)
    assert found.stderr == expected.stderr == ""


def test_exit_codes_are_those_of_the_program():
    assert run("test", *FILES, "--exit-code", "--quiet").returncode == 1
    done = run("test", "missing.csv", FILES[1])
    assert done.returncode == 2 and "missing.csv" in done.stderr and "Traceback" not in done.stderr
    assert run("--version").stdout.startswith("kqd ")


def test_arguments_that_are_not_text_arrive_as_they_are(tmp_path):
    name = os.fsencode(tmp_path) + b"/\xff.csv"
    with open(name, "w") as file:
        file.write("a\n1\n2\n")
    done = subprocess.run([sys.executable, "-m", "kqd", "distance", name, name, "--quiet"], capture_output=True)
    assert (done.returncode, done.stdout) == (0, b"0\n"), done.stderr


def test_the_command_does_not_import_numpy():
    code = "import sys, _kqd_program; sys.argv = ['kqd', '--version']; _kqd_program.main(); sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL).returncode == 0
