"""Destinations of the output, and errors while writing it."""

import os
import re
import shutil
import subprocess

import pytest
from conftest import PROGRAM, masked

NO_ROOM = "kqd: cannot write to standard output: No space left on device\n"


@pytest.mark.parametrize("arguments", ["distance a.csv b.csv", "test a.csv b.csv --json", "distance a.csv b.csv --quiet",
                                       "methods", "sample list", "--help", "test --help", "--version"])
def test_a_full_disk_is_reported(kqd, arguments):
    with open("/dev/full", "w") as full:
        run = kqd(*arguments.split(), stdout=full)
    assert (run.stderr, run.code) == (NO_ROOM, 2)


@pytest.mark.parametrize("arguments", ["distance a.csv b.csv", "test a.csv b.csv --json", "methods", "--help", "man"])
def test_a_closed_pipe_is_not_an_error(kqd, arguments):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        run = kqd(*arguments.split(), stdout=writing)
    finally:
        os.close(writing)
    assert (run.stderr, run.code) == ("", 0)


def test_a_closed_pipe_keeps_the_exit_code_of_the_result(kqd):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        run = kqd("test", "sensors-march.csv", "sensors-april.csv", "--exit-code", stdout=writing)
    finally:
        os.close(writing)
    assert (run.stderr, run.code) == ("", 1)


def test_head_ends_a_pipeline_quietly(folder):
    run = subprocess.run(["bash", "-c", 'set -o pipefail; "$0" methods | head -1', PROGRAM], cwd=folder,
                         capture_output=True, text=True, timeout=60)
    assert (run.stdout.count("\n"), run.stderr, run.returncode) == (1, "", 0)


def test_a_closed_standard_output_is_reported(folder):
    run = subprocess.run(["sh", "-c", '"$0" distance a.csv b.csv >&-', PROGRAM], cwd=folder, capture_output=True,
                         text=True, timeout=60)
    assert (run.stdout, run.stderr) == ("", "kqd: cannot write to standard output: Bad file descriptor\n")
    assert run.returncode == 2


@pytest.fixture(scope="session")
def comma_locale(tmp_path_factory):
    """A locale whose decimal sign is a comma, made on the spot."""
    path = tmp_path_factory.mktemp("locale")
    if shutil.which("localedef") is None or not os.path.exists("/usr/share/i18n/locales/de_DE"):
        pytest.skip("no localedef or no definition of de_DE")
    subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", path / "de_DE.UTF-8"], check=True, timeout=120)
    return {"LOCPATH": str(path), "LC_ALL": "de_DE.UTF-8"}


@pytest.mark.parametrize("arguments", ["distance a.csv b.csv --power 1.5", "test a.csv b.csv --alpha 0.1",
                                       "distance a.csv b.csv --quiet"])
def test_a_decimal_comma_changes_nothing(kqd, comma_locale, arguments):
    plain = kqd(*arguments.split())
    german = kqd(*arguments.split(), **comma_locale)
    assert (masked(german.stdout), german.stderr, german.code) == (masked(plain.stdout), "", 0)


def test_notes_on_the_data_go_to_stderr_and_quiet_drops_them(kqd, folder):
    (folder / "ab.csv").write_text("a,b\n1,2\n3,5\n")
    (folder / "ba.csv").write_text("b,a\n2,1\n5,3\n")
    run = kqd("distance", "ab.csv", "ba.csv", "--json")
    assert run.stderr.startswith("kqd: ") and run.stderr.count("\n") == 1 and run.code == 0
    quiet = kqd("distance", "ab.csv", "ba.csv", "--quiet")
    assert (quiet.stdout, quiet.stderr, quiet.code) == ("0\n", "", 0)


def test_sample_writes_what_distance_reads(kqd, folder):
    run = kqd("sample", "null", "-n", "5", "-m", "7", "-d", "3", "--seed", "1", "-o", "nx.csv", "ny.npy")
    assert (run.stdout, run.stderr, run.code) == ("", "kqd: wrote nx.csv (5 x 3) and ny.npy (7 x 3)\n", 0)
    assert len((folder / "nx.csv").read_text().splitlines()) in (5, 6)  # with or without a header
    assert kqd("distance", "nx.csv", "ny.npy", "--quiet").code == 0


@pytest.mark.parametrize("arguments", ["--help", "test --help", "distance --help", "matrix --help", "methods --help",
                                       "sample --help", "completions --help", "man --help"])
def test_help_fits_a_terminal_and_names_no_type(kqd, arguments):
    run = kqd(*arguments.split())
    assert (run.stderr, run.code) == ("", 0)
    assert max(map(len, run.stdout.splitlines())) <= 100
    assert "TEXT" not in run.stdout and "Usage: kqd " in run.stdout
    assert run.stdout.count("\n  kqd ", run.stdout.index("Examples:")) >= 2


def test_version_names_build_and_instruction_set(kqd):
    lines = kqd("--version").stdout.splitlines()
    assert re.fullmatch(r"kqd \d+\.\d+\.\d+", lines[0])
    words = {line.split()[0]: line.split(maxsplit=1)[1] for line in lines[1:]}
    assert {"build", "SIMD"} <= set(words)
    assert words["SIMD"] in ("scalar (no-fma)", "sse4 (no-fma)", "avx2 (fma)", "avx3 (fma)")
    assert re.fullmatch(r"\w[\w ]*, (g\+\+|clang) \d.*", words["build"])


def test_every_method_is_listed_and_explained(kqd):
    listed = [line.split()[0] for line in kqd("methods").stdout.splitlines()[1:]]
    assert listed[0] == "ekqd"
    for method in listed:
        run = kqd("methods", method)
        assert (run.stderr, run.code) == ("", 0)
        assert run.stdout.startswith(f"\n{method}: ") and "\n  reports " in run.stdout


def test_a_repeated_flag_counts_once_the_last_one_wins(kqd):
    last = kqd("distance", "a.csv", "b.csv", "--quiet", "--power", "2")
    assert kqd("distance", "a.csv", "b.csv", "--quiet", "--power", "1", "--power", "2") == last
