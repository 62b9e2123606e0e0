"""--config: options from a file. The command line wins, misspelt options are reported, and no file does harm."""

import json

import pytest
from conftest import COMMANDS

FILES = ("a.csv", "b.csv")
MOMENT = ("elapsed_s",)


@pytest.fixture
def config(folder):
    def write(text, name="kqd.toml"):
        data = text if isinstance(text, bytes) else text.encode()
        (folder / name).write_bytes(data)
        return ("--config", name)

    return write


def result_of(kqd, command, *flags):
    run = kqd(command, *FILES, "--json", *flags)
    assert (run.stderr, run.code) == ("", 0)
    return {name: value for name, value in json.loads(run.stdout).items() if name not in MOMENT}


@pytest.mark.parametrize("text, flags", [
    ('seed = 7\n', "--seed 7"),
    ('# a comment\n\nkernel = "laplace"  # another\npower=2\r\n', "--kernel laplace --power 2"),
    ("bandwidth = 1.5e0\nweighting = 'triangle:0.5'\n", "--bandwidth 1.5e0 --weighting triangle:0.5"),
    ('method = "mmd-rff"\nset = ["features=32", "orthogonal=1"]\n',
     "--method mmd-rff --set features=32 --set orthogonal=1"),
    ('[test]\npermutations = 99\nalpha = 0.1\n[sample]\nrows = 3\n', "--permutations 99 --alpha 0.1"),
    ('seed = 1\n[test]\nseed = 2\n', "--seed 2"),
    ('early-stop = true\nmethod = "ekqd"\n', "--early-stop --method ekqd"),
    ('early-stop = "besag-clifford"\npower = 2', "--early-stop=besag-clifford --power 2"),
    ('whiten = false\nquiet = false\n', ""),
    ('power = inf\n', "--power inf"),
    ('\ufeffseed = 5\n', "--seed 5"),
    ('"seed" = 9\n', "--seed 9"),
    ('', ""),
])
def test_a_file_means_the_same_as_the_flags(kqd, config, text, flags):
    assert result_of(kqd, "test", *config(text)) == result_of(kqd, "test", *flags.split())


def test_the_command_line_wins(kqd, config):
    settings = config('seed = 7\npower = 3\nkernel = "laplace"\n[distance]\nnum-directions = 5\n')
    assert result_of(kqd, "distance", *settings, "--power", "2", "--num-directions", "6") == \
        result_of(kqd, "distance", "--seed", "7", "--kernel", "laplace", "--power", "2", "--num-directions", "6")


def test_a_form_that_is_typed_wins_over_one_of_the_file(kqd, config):
    run = kqd("distance", *FILES, "--csv", *config("json = true\n"))
    assert run.stdout.startswith("schema,version,")


def test_an_option_of_another_command_is_ignored(kqd, config):
    assert kqd("distance", *FILES, "--quiet", *config("permutations = 99\n")).code == 0


def test_matrix_takes_a_config(kqd, config):
    run = kqd("matrix", *FILES, "--json", *config("[matrix]\ntest = true\npermutations = 49\n"))
    assert json.loads(run.stdout)["n_permutations"] == 49


def test_sample_takes_a_config(kqd, config, folder):
    settings = config('dim = 3\n[sample]\nrows = 4\nset = ["sd=1.5"]\n')
    assert kqd("sample", "mixture", *settings, "-o", "cx.csv", "cy.csv").code == 0
    assert kqd("sample", "mixture", "-d", "3", "-n", "4", "--set", "sd=1.5", "-o", "dx.csv", "dy.csv").code == 0
    assert (folder / "cy.csv").read_text() == (folder / "dy.csv").read_text()


@pytest.mark.parametrize("text, sentence", [
    ("kernal = 'laplace'\n", "unknown option kernal for any command; did you mean kernel?"),
    ("[test]\n\npermutation = 9\n", "unknown option permutation for kqd test; did you mean permutations?"),
    ("[test]\n[tset]\n\nseed = 1\n", f"unknown command [tset], expected one of {', '.join(COMMANDS)}; did you mean test?"),
    ('[""]\n', f"unknown command [], expected one of {', '.join(COMMANDS)}"),
    ("# a level\n[test]\nalpha = 2\n", "--alpha 2: expected a number between 0 and 1"),
    ("permutations = 1__0\n", "--permutations 1__0: expected a whole number in 1..1000000000"),
    ("na = 'omitt'\n", "--na omitt: expected one of indicator, raise, omit, impute-median; did you mean omit?"),
    ("config = 'other.toml'\n", "unknown option config for any command"),
    ("X = 'c.csv'\n", "unknown option X for any command"),
    ("seed = 1\npower = 1\nseed = 2\n", "seed is set twice"),
    ("seed = 1\nseed = 2\n", "seed = [1, 2], expected one value"),
    ("seed 1\n", "unknown option seed 1 for any command; did you mean seed?"),
    ("kernel = \"laplace\n", 'kernel = "laplace, expected a value with matching quotes or brackets and without #'),
    ("columns = \"a#b\"\n", 'columns = "a, expected a value with matching quotes or brackets and without #'),
    ("power = [2\nseed = 1\n[test]\n", "1: [ without ], expected a table or a list on one line"),
    ("seed = 1\ncolumns = ['a', # ]\n  ']'\n", "2: [ without ], expected a table or a list on one line"),
    ("seed = 1\n[test\n", "2: [ without ], expected a table or a list on one line"),
    ("seed = true\n", "--seed true: expected a whole number in 0..18446744073709551615"),
    ("whiten = 3\n", "whiten = 3, expected true or false"),
    ("seed = -1\n", "--seed -1: expected a whole number in 0..18446744073709551615"),
])
def test_a_bad_file_is_refused_with_its_name_and_option(kqd, config, text, sentence):
    run = kqd("test", *FILES, *config(text))
    place = f"kqd.toml:{sentence}" if sentence[0].isdigit() else f"kqd.toml: {sentence}"
    assert (run.stdout, run.stderr, run.code) == ("", f"kqd: {place}\n", 2)


def test_brackets_in_quotes_and_comments_are_text(kqd, config):
    assert result_of(kqd, "test", *config('seed = 7  # [\n# [\n[matrix]\ndrop = ["a[b", \'[\']\n')) == result_of(kqd, "test", "--seed", "7")


def test_an_error_about_a_column_of_the_file_names_the_file(kqd, config):
    run = kqd("test", *FILES, *config('columns = ["nope"]\n'))
    assert 'there is no column "nope", listed in --columns of kqd.toml, expected' in run.stderr
    run = kqd("test", *FILES, *config("seed = 1\n"), "--columns", "nope")
    assert 'there is no column "nope", listed in --columns, expected' in run.stderr


@pytest.mark.parametrize("data", [b"= 3\n", b"[test\nseed = 1\n", b"set = ['a', \n", b"seed = 1\x00\n", b"\x1f\x8b\x08", b"seed =\n",
                                  b"x" * 5000, b"[a.b]\n"])
def test_a_malformed_file_is_refused_in_one_sentence(kqd, config, data):
    run = kqd("test", *FILES, *config(data))
    assert (run.stdout, run.code) == ("", 2)
    assert run.stderr.startswith("kqd: ")
    assert run.stderr.count("\n") == 1


def test_a_long_file_is_refused(kqd, config):
    run = kqd("test", *FILES, *config("x" * (2**20 + 1)))
    assert (run.stdout, run.stderr, run.code) == (
        "", "kqd: kqd.toml: the config file is too long, expected at most 1 MiB\n", 2)


def test_a_missing_file_is_reported(kqd):
    run = kqd("test", *FILES, "--config", "nowhere.toml")
    assert (run.stdout, run.code) == ("", 2)
    assert run.stderr == "kqd: nowhere.toml: cannot read the config file: No such file or directory\n"
    run = kqd("test", *FILES, "--config", "folder.csv")
    assert (run.stderr, run.code) == ("kqd: folder.csv: is a directory, expected a file\n", 2)
