"""Bad input: one sentence on stderr that names the place and the bound, exit code 2, nothing on stdout."""

import os
import subprocess

import pytest
from conftest import COMMANDS

TABLE = subprocess.run([os.environ["KQD_PROGRAM"], "methods"], capture_output=True, text=True, check=True).stdout
METHODS = ", ".join(line.split()[0] for line in TABLE.splitlines()[1:])
KERNELS = ("gaussian, laplace, matern12, matern32, matern52, rq, imq, linear, polynomial, normalised-polynomial, "
           "energy, mixed")
LISTED = ", ".join(COMMANDS)
WEIGHTINGS = "uniform, triangle, reverse-triangle, slope-up, slope-down, interval, beta, atom, table"
COUNT = "expected a whole number in 1..1048576"
SEED = "expected a whole number in 0..18446744073709551615"
ALPHA = "expected a number between 0 and 1"
FORMATS = ("expected one of .csv, .tsv, .npy, .idx (each may be followed by .gz), .npz, .parquet, .json, .jsonl, "
           ".ndjson")
MEASURES = "expected one of gaussian, uniform, pooled, balanced, or points of your own"
DESIGNS = "expected independent, paired, blocks:COLUMN or clusters:COLUMN"

MISSING = ". 1 value is missing. To omit such rows: --na omit; to fill in medians: --na impute-median"

# Of every command that compares two samples.
BAD_FILES = [
    ("nan.csv a.csv --na raise", 'nan.csv:3: column 2 is "nan", expected a number' + MISSING),
    ("a.csv inf.csv", 'inf.csv:2: column 1 is "-inf", expected a finite number'),
    ("word.csv a.csv", 'word.csv:2: column 2 is "four", but 4 other cells of the column are numbers, expected numbers or '
     "texts, not both. To treat texts as missing: --types 2=number; to compare all as texts: --types 2=category; to exclude "
     "the column: --drop 2"),
    ("word.csv a.csv --categorical raise --na raise", 'word.csv:2: column 2 is "four", expected a number. 1 of 2 cells of the column is text. To treat it '
     "as missing and omit such rows: --na-values four --na omit"),
    ("ragged.csv a.csv", "ragged.csv:2: the row has 1 cell, expected 2 as in line 1"),
    ("a.csv one-column.csv", "a.csv has 2 columns of points and one-column.csv has 1, expected the same number"),
    ("weighted.csv other-names.csv", 'weighted.csv and other-names.csv: their columns differ; only weighted.csv has "b", '
     '"w"; only other-names.csv has "c". Rename columns, exclude these by --drop, or list those to compare by --columns'),
    ("empty.csv a.csv", "empty.csv: the file is empty or has only blank lines and comments, expected rows of numbers"),
    ("a.csv header.csv", "header.csv: the file has a header and nothing below it, expected rows of numbers"),
    ("missing.csv a.csv", "missing.csv: no such file"),
    ("folder.csv a.csv", "folder.csv: is a directory, expected a file"),
    ("a.csv unknown.xyz", f'unknown.xyz: has the unknown suffix ".xyz", {FORMATS}'),
    ("no-suffix a.csv", f"no-suffix: has no suffix that names its format, {FORMATS}"),
    ("not.npy a.csv", "not.npy: does not start like an NPY file, expected one written by numpy.save"),
    ("negative.csv weighted.csv --weights w",
     "negative.csv: weight of row 1 is -1, expected a finite number >= 0"),
    ("weighted.csv zero.csv --weights w", "zero.csv: all 2 weights are 0, expected at least one > 0"),
    ("weighted.csv weighted.csv --weights v",
     'weighted.csv: there is no column "v" to take weights from, expected one of "a", "b", "w"'),
    ("a.csv b.csv --reference one-column.csv",
     "reference points have 1 column and the data 2, expected the same number"),
    ("a.csv b.csv --reference nan.csv", 'nan.csv:3: column 2 is "nan", expected a number' + MISSING),
    ("row.csv a.csv --method mmd", "X has one row, the unbiased MMD needs at least two (mmd-v takes one)"),
]

BAD_SETTINGS = [
    ("--power 0.5", "--power 0.5: expected a number >= 1, or inf"),
    ("--power -1", "--power -1: expected a number >= 1, or inf"),
    ("--power nan", "--power nan: expected a number >= 1, or inf"),
    ("--power 1,5", "--power 1,5: expected a number >= 1, or inf"),
    ("--num-directions 0", f"--num-directions 0: {COUNT}"),
    ("--num-directions 1000000000000", f"--num-directions 1000000000000: {COUNT}"),
    ("--num-directions 99999999999999999999999", f"--num-directions 99999999999999999999999: {COUNT}"),
    ("--num-directions 2.5", f"--num-directions 2.5: {COUNT}"),
    ("--num-reference 0", f"--num-reference 0: {COUNT}"),
    ("--num-reference 1000000000000", f"--num-reference 1000000000000: {COUNT}"),
    ("--num-reference 2 --reference a.csv", "--num-reference 2: expected none, because the given reference points are all used"),
    ("--bandwidth 0", "--bandwidth 0: expected median, or a number > 0"),
    ("--bandwidth inf", "--bandwidth inf: expected median, or a number > 0"),
    ("--bandwidth 2 --kernel linear", "--bandwidth 2: expected none, because kernel linear has no bandwidth"),
    ("--seed -1", f"--seed -1: {SEED}"),
    ("--seed 18446744073709551616", f"--seed 18446744073709551616: {SEED}"),
    ("--threads x", "--threads x: expected a whole number in 0..1024"),
    ("--max-memory 2", "--max-memory 2: expected a size of at least 1MB, as 800MB or 2GB"),
    ("--max-memory 10kB", "--max-memory 10kB: expected a size of at least 1MB, as 800MB or 2GB"),
    ("--max-memory nanGB", "--max-memory nanGB: expected a size of at least 1MB, as 800MB or 2GB"),
    ("--max-memory 1e9GB", "--max-memory 1e9GB: expected a size of at least 1MB, as 800MB or 2GB"),
    ("--threads 1000000", "--threads 1000000: expected a whole number in 0..1024"),
    ("--method ekdq", f'--method ekdq: expected one of {METHODS}; did you mean ekqd?'),
    ("--method nonsense", f'--method nonsense: expected one of {METHODS}'),
    ("--kernel gausian", f'--kernel gausian: expected one of {KERNELS}; did you mean gaussian?'),
    ("--weighting triangel",
     f'--weighting triangel: expected one of {WEIGHTINGS}; did you mean triangle?'),
    ("--directions linaer",
     "--directions linaer: expected one of gaussian, linear, axis, principal, mixed; did you mean linear?"),
    ("--reference gausian", f"--reference gausian: {MEASURES}; did you mean gaussian?"),
    ("--reference points", f"--reference points: {MEASURES}"),
]

BAD_TEST_SETTINGS = [
    ("a.csv b.csv --permutations 0", "--permutations 0: expected a whole number in 1..1000000000"),
    ("a.csv b.csv --permutations -5", "--permutations -5: expected a whole number in 1..1000000000"),
    ("a.csv b.csv --permutations 1000000000000",
     "--permutations 1000000000000: expected a whole number in 1..1000000000"),
    ("a.csv b.csv --alpha 0", f"--alpha 0: {ALPHA}"),
    ("a.csv b.csv --alpha 1", f"--alpha 1: {ALPHA}"),
    ("a.csv b.csv --alpha -0.1", f"--alpha -0.1: {ALPHA}"),
    ("a.csv b.csv --alpha nan", f"--alpha nan: {ALPHA}"),
    ("a.csv four.csv --design paired", "paired design: X has 3 rows and Y has 4, expected equal numbers"),
    ("a.csv four.csv --calibration sign-flip", "--calibration sign-flip needs samples of equal size, got 3 and 4"),
    ("block-1.csv block-2.csv --design blocks:block",
     "blocks design: each of the 2 blocks holds rows of one sample only, so no labels can be exchanged; needs a block "
     "with rows of both"),
    ("block-1.csv block-1.csv --design clusters:block",
     "clusters design: cluster 1 has rows in X and in Y, needs one label per cluster (blocks may hold both)"),
    ("block-1.csv block-2.csv --design clusters:block",
     "clusters design: X and Y have one cluster each, so labels can only be swapped as a whole; needs at least 2 "
     "clusters in one of them"),
    ("block-1.csv block-2.csv --design blocks:blok",
     'block-1.csv: there is no column "blok" to take blocks or clusters from, expected one of "a", "block"; did you mean block?'),
    ("a.csv b.csv --design blocks", f"--design blocks: {DESIGNS}"),
    ("a.csv b.csv --design paired:a", f"--design paired:a: {DESIGNS}"),
    ("a.csv b.csv --design blocs:g", f"--design blocs:g: {DESIGNS}; did you mean blocks?"),
    ("a.csv b.csv --calibration permutatoin",
     "--calibration permutatoin: expected one of permutation, sign-flip, asymptotic; did you mean permutation?"),
    ("a.csv b.csv --early-stop=beting",
     "--early-stop=beting: expected one of none, besag-clifford, betting; did you mean betting?"),
    ("a.csv b.csv --set-aside maybe", "--set-aside maybe: expected yes or no"),
]

BAD_SAMPLE_SETTINGS = [
    ("mixtur -o x.csv y.csv",
     'unknown problem "mixtur", expected one of power-decay, laplace-gaussian, mixture, perturbed-uniform, blobs, '
     "mean-shift, spiked-covariance, equicorrelation, ar-correlation, spheres, thin-cube, two-clusters, scale, scaled-t, hdgm, "
     "mixed-table, null; did you mean mixture?"),
    ("mixture -n 0 -o x.csv y.csv", "--rows 0: expected a whole number in 1..1000000000"),
    ("mixture -d -1 -o x.csv y.csv", "--dim -1: expected a whole number in 0..10000000"),
    ("mixture --set sdd=1 -o x.csv y.csv",
     'mixture: unknown parameter "sdd", expected one of sd, mean; did you mean sd?'),
    ("mixture --set sd -o x.csv y.csv", 'mixture: "sd" does not set a parameter, expected name=value'),
    ("mixture", "two files to write are needed: -o X.csv Y.csv"),
    ("mixture -o x.csv", "two files to write are needed: -o X.csv Y.csv"),
    ("mixture -o x.csv x.csv", "--output x.csv: expected two files, or Y would replace X"),
    ("mixture -o x.csv y.txt",
     "cannot write y.txt: its suffix names no format, expected one of .csv, .tsv, .npy"),
    ("mixture -o nowhere/x.csv y.csv", "cannot write nowhere/x.csv: No such file or directory"),
]

# (arguments, sentence, command whose help is named)
BAD_USAGE = [
    ("", f"a command is missing, expected one of {LISTED}", "kqd"),
    ("tset a.csv b.csv", f'unknown command "tset", expected one of {LISTED}; did you mean test?', "kqd"),
    ("a.csv b.csv", f'unknown command "a.csv", expected one of {LISTED}', "kqd"),
    ("--seed 1 test a.csv b.csv", "unknown flag --seed for kqd; flags follow the command", "kqd"),
    ("distance", "X is required by kqd distance", "kqd distance"),
    ("test a.csv", "Y is required by kqd test", "kqd test"),
    ("test a.csv b.csv four.csv", '"four.csv" is one argument too many for kqd test', "kqd test"),
    ("test a.csv b.csv --permutation 9", "unknown flag --permutation for kqd test; did you mean --permutations?", "kqd test"),
    ("distance a.csv b.csv --powr=2", "unknown flag --powr for kqd distance; did you mean --power?", "kqd distance"),
    ("distance a.csv b.csv --permutations 9", "unknown flag --permutations for kqd distance", "kqd distance"),
    ("distance a.csv b.csv -q", "unknown flag -q for kqd distance", "kqd distance"),
    ("distance a.csv b.csv --seed", "--seed needs a value", "kqd distance"),
    ("distance a.csv b.csv --kernel=", "--kernel needs a value", "kqd distance"),
    ("distance a.csv b.csv --json=3", "--json takes no value", "kqd distance"),
    ("distance a.csv b.csv --json --csv", "--json excludes --csv", "kqd distance"),
    ("matrix", "FILES is required by kqd matrix", "kqd matrix"),
    ("matrix a.csv b.csv --tets", "unknown flag --tets for kqd matrix; did you mean --test?", "kqd matrix"),
    ("sample", "NAME is required by kqd sample", "kqd sample"),
    ("methods ekqd mmd", '"mmd" is one argument too many for kqd methods', "kqd methods"),
]


def assert_refused(run, stderr, code=2):
    assert (run.stdout, run.stderr, run.code) == ("", stderr, code)


@pytest.mark.parametrize("command", ["distance", "test"])
@pytest.mark.parametrize("arguments, sentence", BAD_FILES)
def test_a_bad_file_is_refused_with_its_place(kqd, command, arguments, sentence):
    assert_refused(kqd(command, *arguments.split()), f"kqd: {sentence}\n")


@pytest.mark.parametrize("command", ["distance", "test"])
@pytest.mark.parametrize("arguments, sentence", BAD_SETTINGS)
def test_a_bad_setting_is_refused_with_its_bound(kqd, command, arguments, sentence):
    assert_refused(kqd(command, "a.csv", "b.csv", *arguments.split()), f"kqd: {sentence}\n")


@pytest.mark.parametrize("arguments, sentence", BAD_TEST_SETTINGS)
def test_a_bad_setting_of_a_test_is_refused(kqd, arguments, sentence):
    assert_refused(kqd("test", *arguments.split()), f"kqd: {sentence}\n")


@pytest.mark.parametrize("setting", ["--alpha=2", "--permutations=0", "--design=blocs:g", "--power=0", "--seed=x"])
def test_a_bad_setting_is_refused_before_any_file_is_read(kqd, setting):
    run = kqd("test", "missing.csv", "missing.csv", setting)
    assert run.stderr.startswith(f"kqd: {setting.replace('=', ' ')}: expected ")


@pytest.mark.parametrize("arguments, sentence", BAD_SAMPLE_SETTINGS)
def test_a_bad_setting_of_sample_is_refused_and_writes_nothing(kqd, tmp_path, arguments, sentence):
    assert_refused(kqd("sample", *arguments.split(), cwd=tmp_path), f"kqd: {sentence}\n")
    assert not list(tmp_path.glob("y.*"))


@pytest.mark.parametrize("arguments, sentence, command", BAD_USAGE)
def test_a_misspelt_command_line_is_reported(kqd, arguments, sentence, command):
    assert_refused(kqd(*arguments.split()), f"kqd: {sentence}\n`{command} --help` explains the arguments\n")


def test_an_empty_file_name_is_refused(kqd):
    assert_refused(kqd("distance", "", "b.csv"), "kqd: the name of a file is empty, expected a path\n")


def test_an_unknown_method_to_explain_is_refused(kqd):
    assert_refused(kqd("methods", "mmd-w"),
                   f'kqd: unknown method "mmd-w", expected one of {METHODS}; did you mean mmd-v?\n')


def test_a_sample_larger_than_memory_is_a_resource_limit(kqd):
    run = kqd("sample", "null", "-n", "1000000000", "-d", "1000000", "-o", "x.npy", "y.npy")
    assert_refused(run, "kqd: n_x = 1000000000 rows of 1000000 numbers do not fit in memory\n", code=4)
