"""Runs the examples of README.md and the guide and compares their output: every `console` block of a page, in order, in one
folder. `./dev examples` updates the output shown."""

import itertools
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import PROGRAM, ROOT, masked

PAGES = ["README.md", *(f"docs/guide/{name}.md" for name in ("command-line", "data", "does-it-matter", "explain", "formats",
                                                          "gallery", "install", "reading-output"))]
PROSE = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")]
PROSE += [page for folder in ("docs", "src", "tests", "bench", "data", "experiments") for page in (ROOT / folder).rglob("*.md")]


def commands_of(text):
    """Pairs of a command and the output shown below it."""
    for block in re.findall(r"(?ms)^```console\n(.*?)^```$", text):
        for example in re.split(r"(?m)^\$ ", block)[1:]:
            command, _, output = example.partition("\n")
            yield command, output


def same_machine(text):
    """The text without values that depend on the machine or the time, and without blank lines at the ends."""
    text = re.sub(r'("elapsed_s": )[0-9.e-]+', r"\1...", masked(text))
    return text.strip("\n")


NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.]*\w)")


def same_number(actual, shown):
    """Whole numbers must be equal. Others may differ by 1e-6 of themselves or by one unit of the last digit shown, which is
    the effect of an instruction set without fused multiply-add."""
    if "." not in shown and "e" not in shown:
        return actual == shown
    digits = len(shown.partition("e")[0].partition(".")[2]) - int(shown.partition("e")[2] or 0)
    return abs(float(actual) - float(shown)) <= max(1e-6 * abs(float(shown)), 1.001 * 10.0 ** -digits)


def differences(actual, shown):
    """The lines that differ in a word, or in a number beyond same_number(); blanks between words are one blank."""
    def parts(line):
        return re.sub(r"\s+", " ", NUMBER.sub("#", line)).strip(), NUMBER.findall(line)

    def differ(a, b):
        (words_a, numbers_a), (words_b, numbers_b) = parts(a), parts(b)
        return words_a != words_b or not all(map(same_number, numbers_a, numbers_b))

    lines = list(itertools.zip_longest(actual.split("\n"), shown.split("\n"), fillvalue="(no line)"))
    return [pair for pair in lines if differ(*pair)]


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
def test_the_examples_print_what_the_page_shows(home, page):
    examples = list(commands_of((ROOT / page).read_text()))
    assert len(examples) >= 2
    for command, output in examples:
        assert not differences(same_machine(run_in_shell(command, home)), same_machine(output)), command


@pytest.mark.parametrize("page", PROSE, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(page):
    text = re.sub(r"(?ms)^```.*?^```$|`[^`\n]*`", "", page.read_text())
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        assert file.exists(), target
        if anchor:
            headings = re.findall(r"(?m)^#+ (.+)$", file.read_text())
            assert anchor in [re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings], target


@pytest.mark.parametrize("actual, shown, same", [
    ("p 0.0784 of 12", "p  0.0783 of 12", True), ("p 0.0786", "p 0.0784", False), ("12 rows", "13 rows", False),
    ("1.2345678e-05", "1.2345679e-05", True), ("no p", "no q", False), ("statistic 176.43854400648857", "statistic 176.43854400774399", True),
    ("one", "one\ntwo", False), ("0.051", "0.05", True), ("-0.3 x", "0.3 x", False)])
def test_numbers_are_compared_as_people_read_them(actual, shown, same):
    assert (not differences(actual, shown)) == same
