"""--config: flags from a file. The command line wins, what is misspelt is told, and no file does harm."""

import json

import pytest

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


def test_a_flag_of_another_command_is_let_pass(kqd, config):
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
    ("kernal = 'laplace'\n", "kqd.toml:1: kernal is not a flag of any command; did you mean kernel?"),
    ("[test]\n\npermutation = 9\n", "kqd.toml:3: permutation is not a flag of kqd test; did you mean permutations?"),
    ("[test]\n[tset]\n\nseed = 1\n", "kqd.toml:2: [tset] is not a command, expected one of test, explain, distance, matrix, methods, sample, "
     "experiment, completions, man; did you mean test?"),
    ("[test]\nseed = 1\n[test]\n", "kqd.toml:3: [test] is opened for the second time, first in line 1"),
    ('[""]\n', 'kqd.toml:1: [""] names no command'),
    ("permutations = 1__0\n", "kqd.toml:1: 1__0 is not a number, expected one as 1000, 1_000, 0.5, 1e-3 or 0x10"),
    ("permutations = 0xg\n", "kqd.toml:1: 0xg is not a number, expected one as 1000, 1_000, 0.5, 1e-3 or 0x10"),
    ("# a level\n[test]\nalpha = 2\n", "kqd.toml:3: --alpha 2: expected a number between 0 and 1"),
    ("na = 'omitt'\n",
     'kqd.toml:1: na "omitt" is unknown, expected one of raise, omit, impute-median; did you mean omit?'),
    ("config = 'other.toml'\n", "kqd.toml:1: config is not a flag of any command"),
    ("X = 'c.csv'\n", "kqd.toml:1: X is not a flag of any command"),
    ("seed = 1\nseed = 2\n", "kqd.toml:2: seed is set for the second time, first in line 1"),
    ("seed 1\n", 'kqd.toml:1: "1" stands where "=" is expected'),
    ("seed =\n", 'kqd.toml:1: the line ends where a value: "text", a number, true or false is expected'),
    ("seed = 1 2\n", 'kqd.toml:1: "2" stands where the end of the line is expected'),
    ("kernel = laplace\n", 'kqd.toml:1: laplace is not a number, true or false; text needs quotes: "laplace"'),
    ("kernel = \"laplace\n", 'kqd.toml:1: the line ends where the closing " is expected'),
    ("kernel = \"a\\q\"\n", 'kqd.toml:1: "q"" stands where one of \\" \\\\ \\n \\t is expected'),
    ("set = ['a', \n", 'kqd.toml:1: the line ends where a value: "text", a number, true or false is expected'),
    ("[test\nseed = 1\n", 'kqd.toml:1: the line ends where "]" is expected'),
    ("= 3\n", 'kqd.toml:1: "= 3" stands where a key is expected'),
    ("seed = 1\x00\n", "kqd.toml:1: byte 0 is not text, expected a config file in TOML"),
    ("\x1f\x8b\x08", "kqd.toml:1: byte 31 is not text, expected a config file in TOML"),
    ("seed = true\n", "kqd.toml:1: seed = true: expected a value of --seed"),
    ("whiten = 3\n", "kqd.toml:1: whiten = 3: expected true or false"),
    ("seed = -1\n", "kqd.toml:1: --seed -1: expected a whole number in 0..18446744073709551615"),
])
def test_a_bad_file_is_refused_with_its_line(kqd, config, text, sentence):
    run = kqd("test", *FILES, *config(text))
    assert (run.stdout, run.stderr, run.code) == ("", f"kqd: {sentence}\n", 2)


@pytest.mark.parametrize("length, sentence", [
    (5000, 'kqd.toml:1: the line ends where "=" is expected'),
    (2**20 + 1, "kqd.toml: a config file of more than 1 MiB is refused"),
])
def test_a_long_file_is_refused(kqd, config, length, sentence):
    run = kqd("test", *FILES, *config("x" * length))
    assert (run.stdout, run.stderr, run.code) == ("", f"kqd: {sentence}\n", 2)


def test_a_file_that_is_not_there_is_told(kqd):
    run = kqd("test", *FILES, "--config", "nowhere.toml")
    assert (run.stdout, run.code) == ("", 2)
    assert run.stderr == "kqd: nowhere.toml: cannot read the config file: No such file or directory\n"
    run = kqd("test", *FILES, "--config", "folder.csv")
    assert (run.stderr, run.code) == ("kqd: folder.csv: is a directory, expected a file\n", 2)


@pytest.mark.parametrize("text, number", [("1_9", "19"), ("0x13", "19"), ("0o23", "19"), ("0b1_0011", "19"), ("+19", "19")])
def test_numbers_are_those_of_toml(kqd, config, text, number):
    flags = ("--method", "ekqd", "--quiet")
    assert kqd("test", *FILES, *flags, *config(f"seed = {text}\n")) == kqd("test", *FILES, *flags, "--seed", number)
