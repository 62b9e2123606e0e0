"""Printed examples, run and compared: every `console` block of a page of the guide, in order, in one folder, and the report
in README.md."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import PROGRAM, ROOT, masked

GUIDE = ROOT / "docs" / "guide"
PAGES = ["command-line.md", "data.md", "explain.md", "formats.md", "reading-output.md"]


def commands_of(text):
    """Pairs of a command and what the guide shows below it."""
    for block in re.findall(r"(?ms)^```console\n(.*?)^```$", text):
        for example in re.split(r"(?m)^\$ ", block)[1:]:
            command, _, output = example.partition("\n")
            yield command, output


def same_machine(text):
    """Without the values that another machine or moment changes, and without blank lines at the ends."""
    text = re.sub(r'("elapsed_s": )[0-9.e-]+', r"\1...", masked(text))
    return text.strip("\n")


def run_in_shell(command, folder):
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    done = subprocess.run(["bash", "-c", command], cwd=folder, env={**os.environ, "PATH": path}, timeout=120,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout


def make_home(folder):
    """A folder with the bundled data and, in bin, the program."""
    (folder / "bin").mkdir()
    (folder / "bin" / "kqd").symlink_to(Path(PROGRAM).resolve())
    (folder / "data").mkdir()
    for file in (ROOT / "data").glob("*.csv"):
        shutil.copy(file, folder / "data")
    return folder


@pytest.fixture
def home(tmp_path):
    return make_home(tmp_path)


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_print_what_the_guide_shows(home, page):
    examples = list(commands_of((GUIDE / page).read_text()))
    assert len(examples) > 5
    shown = [(command, same_machine(output)) for command, output in examples]
    assert [(command, same_machine(run_in_shell(command, home))) for command, _ in examples] == shown


def test_the_first_example_prints_what_the_readme_shows(home):
    text = (ROOT / "README.md").read_text()
    (command, output), = re.findall(r"(?ms)^```\n\$ build/release/(kqd .*?)\n(.*?)^```$", text)
    assert same_machine(run_in_shell(command, home)) == same_machine(output)
