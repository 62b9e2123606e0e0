"""The manual page: accepted by groff without a warning, and complete."""

import re
import shutil
import subprocess

import pytest
from conftest import PROGRAM


@pytest.fixture(scope="module")
def page():
    return subprocess.run([PROGRAM, "man"], capture_output=True, text=True, check=True, timeout=60).stdout


@pytest.fixture(scope="module")
def rendered(page):
    if shutil.which("groff") is None:
        pytest.skip("no groff")
    done = subprocess.run(["groff", "-ww", "-man", "-Tascii", "-P-c", "-rLL=100n"], input=page, capture_output=True,
                          text=True, timeout=60)
    assert (done.stderr, done.returncode) == ("", 0)
    return re.sub(r".\x08", "", done.stdout)


def test_every_flag_of_every_command_is_in_the_manual(kqd, rendered):
    for command in ("test", "distance", "matrix", "methods", "sample", "profile", "merge", "experiment", "completions", "man"):
        start = rendered.index(f"   kqd {command}\n")
        section = rendered[start:]
        for flag in re.findall(r"(?m)^ +(?:-\w,)?(--[\w-]+)", kqd(command, "--help").stdout):
            assert flag in section, (command, flag)


def test_the_manual_has_the_usual_sections(rendered):
    heads = re.findall(r"(?m)^([A-Z][A-Z ]+)$", rendered)
    assert heads == ["NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "EXIT STATUS", "ENVIRONMENT"]


def test_examples_keep_their_lines(rendered):
    assert re.search(r"(?m)^ +kqd test before\.csv after\.csv --design paired --permutations 9999$", rendered)


def test_man_shows_the_page(page, tmp_path):
    if shutil.which("man") is None or shutil.which("lexgrog") is None:
        pytest.skip("no man")
    path = tmp_path / "kqd.1"
    path.write_text(page)
    done = subprocess.run(["man", "--warnings", "-l", str(path)], capture_output=True, text=True, timeout=60)
    assert (done.stderr, done.returncode) == ("", 0) and "EXIT STATUS" in done.stdout
    name = subprocess.run(["lexgrog", str(path)], capture_output=True, text=True, timeout=60).stdout
    assert '"kqd - compare samples by kernel quantile embeddings"' in name


def test_every_variable_of_the_environment_is_documented(rendered):
    environment = rendered[rendered.index("ENVIRONMENT"):]
    assert re.findall(r"(?m)^ {7}(\w+)", environment)[:1] == ["KQD_DUCKDB"]
    assert {"KQD_DUCKDB", "KQD_SIMD", "NO_COLOR"} <= set(re.findall(r"\w+", environment))
