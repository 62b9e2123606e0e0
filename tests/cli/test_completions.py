"""Completions for shells: bash's are run, those of other shells too where the shell is there."""

import re
import shutil
import subprocess

import pytest
from conftest import PROGRAM


def script(shell):
    return subprocess.run([PROGRAM, "completions", shell], capture_output=True, text=True, check=True, timeout=60).stdout


@pytest.fixture(scope="module")
def bash_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("bash") / "kqd"
    path.write_text(script("bash"))
    return path


@pytest.fixture(scope="module")
def complete(bash_file):
    """The completions of bash for the last word of a line, which is split into words as readline does."""

    def run(*words):
        listed = " ".join(f"'{word}'" for word in words)
        code = (f"source '{bash_file}'; COMP_WORDS=({listed}); COMP_CWORD={len(words) - 1}; _kqd; "
                "printf '%s\\n' \"${COMPREPLY[@]}\"")
        done = subprocess.run(["bash", "-uc", code], capture_output=True, text=True, timeout=60)
        assert (done.stderr, done.returncode) == ("", 0)
        return done.stdout.split()

    return run


def flags_of(kqd, command):
    return set(re.findall(r"(?m)^ +(?:-\w,)?(--[\w-]+)", kqd(command, "--help").stdout))


def test_bash_knows_the_completion_of_kqd(bash_file):
    done = subprocess.run(["bash", "-c", f"source '{bash_file}'; complete -p kqd"], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("complete -o bashdefault -o default -F _kqd kqd\n", 0)


def test_bash_completes_commands(complete):
    assert complete("kqd", "te") == ["test"]
    assert complete("kqd", "ma") == ["matrix", "man"]
    assert set(complete("kqd", "")) >= {"test", "distance", "matrix", "methods", "sample", "experiment", "completions", "man"}


def test_bash_completes_flags(complete, kqd):
    assert complete("kqd", "test", "--met") == ["--method"]
    assert complete("kqd", "test", "a.csv", "b.csv", "--perm") == ["--permutations", "--permute"]
    assert complete("kqd", "distance", "--perm") == []
    for command in ("test", "distance", "matrix", "methods", "sample"):
        assert set(complete("kqd", command, "--")) == flags_of(kqd, command)


def test_bash_completes_values(complete, kqd):
    listed = [line.split()[0] for line in kqd("methods").stdout.splitlines()[1:]]
    assert complete("kqd", "test", "--method", "") == listed
    assert complete("kqd", "methods", "") == listed
    assert complete("kqd", "matrix", "a", "b", "--method", "mmd-r") == ["mmd-rff"]
    assert complete("kqd", "test", "--method", "=", "wass") == ["wasserstein"]
    assert complete("kqd", "test", "--kernel", "=") == complete("kqd", "test", "--kernel", "")
    assert complete("kqd", "test", "--design", "cl") == ["clusters:"]
    assert complete("kqd", "sample", "power") == ["power-decay"]
    assert complete("kqd", "completions", "z") == ["zsh"]


@pytest.mark.parametrize("flag", ["--kernel", "--directions", "--weighting", "--calibration", "--na", "--weights-as"])
def test_the_words_offered_are_those_the_program_knows(complete, kqd, flag):
    refused = kqd("test", "a.csv", "b.csv", flag, "zzzzzzzzzzzz").stderr
    known = re.search(r"expected one of ([^;.\n]*)", refused).group(1).split(", ")
    assert sorted(complete("kqd", "test", flag, "")) == sorted(known)


def test_bash_leaves_files_and_numbers_to_readline(complete):
    for words in (("test", "a"), ("test", "--power", ""), ("matrix", "a.csv", ""), ("distance", "--output", "")):
        assert complete("kqd", *words) == []


def test_the_bash_script_has_no_fault_that_a_linter_sees(bash_file):
    if shutil.which("shellcheck") is None:
        pytest.skip("no shellcheck")
    done = subprocess.run(["shellcheck", "-s", "bash", "-e", "SC2207", str(bash_file)], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("", 0)  # SC2207: words without blanks may be split


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_accept_their_script(shell, tmp_path):
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell}")
    path = tmp_path / "script"
    path.write_text(script(shell))
    done = subprocess.run([shell, "-n", str(path)], capture_output=True, text=True)
    assert (done.stderr, done.returncode) == ("", 0)


def test_the_zsh_script_is_well_formed(kqd):
    text = script("zsh")
    assert text.startswith("#compdef kqd\n") and text.endswith('_kqd "$@"\n')
    assert text.count("case $command in") == text.count("esac") == 1
    for line in text.splitlines():
        if not line.strip().startswith("'"):
            continue
        bare = line.replace("'\\''", "")
        assert bare.count("'") == 2, line
        unescaped = re.sub(r"\\.", "", bare)
        assert unescaped.count("[") == unescaped.count("]") <= 1, line
    section = text[text.index("    distance)"):text.index("    matrix)")]
    assert set(re.findall(r"'(--[\w-]+)", section)) == flags_of(kqd, "distance")


def test_the_fish_script_is_well_formed(kqd):
    lines = script("fish").splitlines()[1:]
    assert all(line.startswith("complete -c kqd -n ") for line in lines)
    assert all(line.replace("\\'", "").count("'") % 2 == 0 for line in lines)
    own = [line for line in lines if "__fish_seen_subcommand_from distance'" in line]
    assert {"--" + name for line in own for name in re.findall(r" -l ([\w-]+)", line)} == flags_of(kqd, "distance")


def test_an_unknown_shell_is_refused(kqd):
    run = kqd("completions", "bahs")
    assert (run.stdout, run.code) == ("", 2)
    assert run.stderr == 'kqd: shell "bahs" is unknown, expected one of bash, zsh, fish; did you mean bash?\n'


def test_bash_goes_on_behind_a_colon(bash_file):
    code = (f"source '{bash_file}'; compopt() {{ printf '%s ' \"$@\"; }}; COMP_CWORD=3; "
            "for word in bl ind; do COMP_WORDS=(kqd test --design $word); _kqd; echo \"${COMPREPLY[@]}\"; done")
    done = subprocess.run(["bash", "-uc", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("-o nospace blocks:\nindependent\n", "")
