"""`kqd experiment`: every experiment in its quick form, the files it writes, and runs that are refused or interrupted."""

import json
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import h5py
import numpy as np
import pytest
from conftest import PROGRAM

ILLUSTRATIONS = {"figure-1", "figure-2"}
LARGE_IMAGES = {"galaxy", "cifar10", "cifar10.1", "cifar10.1-32", "cifar10-blur", "cifar10-blur-32"}
THEORY = {"rates", "interpolation", "same-moments"}
WITHOUT_ROWS = ILLUSTRATIONS | THEORY | {"runtime"}


def experiment(*arguments, cwd):
    return subprocess.run([PROGRAM, "experiment", *map(str, arguments)], cwd=cwd, timeout=300, capture_output=True,
                          text=True)


def listed():
    text = subprocess.run([PROGRAM, "experiment", "list"], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"(?m)^(\S+) +\S", text)
    schemes = dict(re.findall(r"(?m)^(\S+) .*\n .*; schemes ([^;\n]*)", text))
    return [(name, scheme) for name in names for scheme in schemes.get(name, "").split(", ")
            if not (name in LARGE_IMAGES and scheme in ("kqd-64", "fresh"))]  # the same code as on small ones


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Images of noise with the file names of the experiments."""
    folder = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(0)
    for name, pixels, rows, part in [("fashion-mnist", 784, 1000, "train-"), ("cifar10", 3072, 1000, "test-"),
                                     ("cifar10", 3072, 1000, "train-"), ("galaxy-mnist", 12288, 1000, "")]:
        (folder / name).mkdir(exist_ok=True)
        np.save(folder / name / f"{part}images.npy", rng.integers(0, 256, (rows, pixels), np.uint8))
        np.save(folder / name / f"{part}labels.npy", (np.arange(rows) % 4).astype(np.uint8))
    (folder / "cifar10.1").mkdir()
    np.save(folder / "cifar10.1" / "cifar10.1_v4_data.npy", rng.integers(0, 256, (400, 32, 32, 3), np.uint8))
    return folder


def decisions(path):
    cells = json.loads(path.read_text())["rows"]
    return {(row["id"], cell["x"]): cell["decisions"] for row in cells for cell in row["cells"]}


@pytest.mark.parametrize("name, scheme", listed())
def test_the_quick_form_writes_results_table_and_figure(tmp_path, data, name, scheme):
    stem = ".".join(filter(None, (name, scheme, "quick")))
    run = experiment(name, "--quick", "--out", tmp_path, "--data", data, *(["--scheme", scheme] if scheme else []),
                     cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert f"{stem}.json" in run.stderr
    results = json.loads((tmp_path / f"{stem}.json").read_text())
    assert (results["schema"], results["experiment"]) == ("kqd.experiment/1", name)
    figure = ElementTree.parse(tmp_path / f"{stem}.svg")
    assert figure.getroot().tag == "{http://www.w3.org/2000/svg}svg"
    if name in ILLUSTRATIONS | THEORY:
        assert all(len(series["points"]) > 1 for panel in results["panels"] for series in panel["series"])
    if name not in ILLUSTRATIONS:
        assert (tmp_path / f"{stem}.md").read_text() == run.stdout
    for row in [] if name in WITHOUT_ROWS else results["rows"]:
        for cell in row["cells"]:
            low, high = cell["wilson"]
            assert 0 <= low <= cell["rate"] <= high <= 1
            assert (cell["runs"], cell["decisions"].count("1")) == (2, cell["rejections"])


def test_numbers_do_not_depend_on_threads_and_follow_from_the_seed(tmp_path):
    for out, more in [("one", ["--threads", 1]), ("two", ["--threads", 2]), ("other", ["--seed", 1])]:
        run = experiment("laplace-gaussian", "--quick", "--runs", 12, "--methods", "ekqd-1,mmd-lin", "--out", out, *more,
                         cwd=tmp_path)
        assert run.returncode == 0, run.stderr
    one, two, other = (decisions(tmp_path / out / "laplace-gaussian.kqd.quick.json") for out in ("one", "two", "other"))
    assert one == two != other
    assert {row for row, _ in one} == {"ekqd-1", "mmd-lin"}


@pytest.mark.parametrize("name", sorted(THEORY))
def test_experiments_on_the_theory_do_not_depend_on_threads(tmp_path, name):
    for threads in (1, 2):
        run = experiment(name, "--quick", "--threads", threads, "--out", threads, cwd=tmp_path)
        assert run.returncode == 0, run.stderr
    one, two = ((tmp_path / out / f"{name}.quick.json").read_text() for out in "12")
    assert one == two


@pytest.mark.parametrize("ended_by", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path, ended_by):
    arguments = ["power-decay", "--scheme", "reference", "--methods", "ekqd-1,mmd"]
    whole = experiment(*arguments, "--quick", "--runs", 6, "--out", "whole", cwd=tmp_path)
    assert whole.returncode == 0, whole.stderr
    run = subprocess.Popen([PROGRAM, "experiment", *arguments, "--quick", "--runs", "100000", "--out", "part"],
                           cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                           preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # ignored in background
    time.sleep(2)
    run.send_signal(ended_by)
    _, words = run.communicate(timeout=60)
    assert (run.returncode, "kept in part/power-decay.reference.quick.json, and the same command continues from there" in words) == (128 + ended_by, True)
    results = tmp_path / "part" / "power-decay.reference.quick.json"
    kept = decisions(results)
    assert len(kept["ekqd-1", 32].replace(".", "")) > 0
    again = experiment(*arguments, "--quick", "--runs", 6, "--out", "part", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    expected = decisions(tmp_path / "whole" / "power-decay.reference.quick.json")
    found = decisions(results)
    assert {cell: text[:6] for cell, text in found.items()} == expected
    assert found["ekqd-1", 32].startswith(kept["ekqd-1", 32][:6].rstrip("."))


@pytest.mark.parametrize("arguments, sentence", [
    (["power-decy"], 'unknown experiment "power-decy", expected one of .*; did you mean power-decay\\?'),
    (["power-decay", "--methods", "ekqd"], "--methods ekqd: expected rows of power-decay: ekqd-2, .*"),
    (["power-decay", "--scheme", "refrence"], "--scheme refrence: expected a scheme of power-decay: .* did you mean reference\\?"),
    (["sliced", "--scheme", "kqd"], "--scheme kqd: expected none, because sliced has no schemes"),
    (["figure-1", "a.csv", "b.csv"], "2 files of data for figure-1, expected 1, or none"),
    (["sliced", "a.csv"], "1 file of data for sliced, expected none, because it has its own data"),
    (["figure-1", "--runs", "3"], "--runs 3: expected none, because figure-1 has no repeated runs"),
    (["power-decay", "--runs", "0"], "--runs 0: expected a whole number in 1..1000000"),
    (["power-decay", "--out", "file"], "file: cannot create the folder: .*"),
    (["power-decay", "--out", "/proc/no"], "/proc/no: cannot create the folder: .*"),
    (["galaxy", "--data", "nowhere"],
     "nowhere/galaxy-mnist/images.npy: no such file. `./dev data galaxy-mnist FILE.hdf5` makes .*; --data names its folder"),
    (["fashion-mnist", "--data", "nowhere"],
     "nowhere/fashion-mnist/train-images.npy: no such file. `./dev data fashion-mnist` fetches it; --data names its folder"),
])
def test_invalid_options_are_errors_that_say_what_was_expected(tmp_path, arguments, sentence):
    (tmp_path / "file").write_text("not a folder")
    run = experiment(*arguments, "--quick", cwd=tmp_path)
    assert run.returncode == 2
    assert re.fullmatch(f"kqd: {sentence}\n", run.stderr), run.stderr
    assert run.stdout == ""


@pytest.mark.parametrize("text, sentence", [
    ("{", "not a file of experiment results"),
    ('{"schema": 5}', "not a file of experiment results"),
    ('{"schema": "kqd.test/1"}', "not a file of experiment results"),
    ('{"schema": "kqd.experiment/1", "experiment": "sliced", "scheme": ""}', 'results of experiment "sliced", expected "power-decay"'),
])
def test_other_files_are_not_overwritten(tmp_path, text, sentence):
    results = tmp_path / "power-decay.kqd.quick.json"
    results.write_text(text)
    run = experiment("power-decay", "--quick", "--out", ".", cwd=tmp_path)
    assert run.returncode == 2
    assert sentence in run.stderr and "choose another --out" in run.stderr
    assert results.read_text() == text


def test_an_unwritable_folder_is_an_error_with_the_name_of_the_file(tmp_path):
    run = experiment("power-decay", "--quick", "--out", "/proc", cwd=tmp_path)
    assert run.returncode == 2 and "/proc/power-decay.kqd.quick.json" in run.stderr and run.stderr.count("\n") == 1


@pytest.mark.parametrize("change, sentence", [
    (lambda results: results["rows"][0].update(id="zzz"), 'row "zzz" is not a method of this experiment'),
    (lambda results: results["rows"][0]["cells"][0].update(x=33), "unreadable decisions of sw-6 at 33"),
    (lambda results: results["rows"][0]["cells"][0].update(decisions="1x"), "unreadable decisions of sw-6 at 32"),
    (lambda results: results.update(version="9.9"), 'results of version "9.9", expected "'),
])
def test_edited_results_are_refused_and_kept(tmp_path, change, sentence):
    arguments = ["sliced", "--quick", "--methods", "sw-6", "--out", "."]
    assert experiment(*arguments, cwd=tmp_path).returncode == 0
    path = tmp_path / "sliced.quick.json"
    results = json.loads(path.read_text())
    change(results)
    path.write_text(json.dumps(results))
    run = experiment(*arguments, cwd=tmp_path)
    assert (run.returncode, sentence in run.stderr) == (2, True), run.stderr
    assert json.loads(path.read_text()) == results


@pytest.mark.parametrize("name", ["sliced.quick.json", "sliced.quick.md", "sliced.quick.svg"])
def test_an_unwritable_file_is_an_error_before_the_first_run(tmp_path, name):
    (tmp_path / name).mkdir()
    run = experiment("sliced", "--quick", "--runs", 100000, "--out", ".", cwd=tmp_path)  # would take an hour
    assert run.returncode == 2 and name in run.stderr and run.stderr.count("\n") == 1


def test_invalid_options_create_no_folder(tmp_path):
    for arguments in (["figure-1", "--runs", 3], ["sliced", "--methods", "nonsense"], ["galaxy", "--data", "nowhere"]):
        assert experiment(*arguments, "--out", "new", cwd=tmp_path).returncode == 2
    assert not list(tmp_path.iterdir())


def test_results_of_another_seed_or_of_the_quick_form_are_not_combined(tmp_path):
    quick = ["power-decay", "--scheme", "reference", "--methods", "mmd-lin", "--quick", "--out", "."]
    assert experiment(*quick, cwd=tmp_path).returncode == 0
    run = experiment(*quick, "--seed", 7, cwd=tmp_path)
    assert (run.returncode, "results of seed 0, expected 7" in run.stderr) == (2, True)
    run = experiment(*[word for word in quick if word != "--quick"], "--runs", 1, cwd=tmp_path)
    assert run.returncode == 0
    assert {file.name for file in tmp_path.glob("*.json")} == {"power-decay.reference.json", "power-decay.reference.quick.json"}


def test_runs_on_other_images_are_not_combined(tmp_path, data):
    folder = tmp_path / "fashion-mnist"
    folder.mkdir()
    for name in ("train-images.npy", "train-labels.npy"):
        (folder / name).write_bytes((data / "fashion-mnist" / name).read_bytes())
    arguments = ["fashion-mnist", "--quick", "--methods", "mmd-lin", "--data", ".", "--out", "."]
    assert experiment(*arguments, cwd=tmp_path).returncode == 0
    images = np.load(folder / "train-images.npy")
    images[500, 3] ^= 1
    np.save(folder / "train-images.npy", images)
    run = experiment(*arguments, cwd=tmp_path)
    assert (run.returncode, "results of settings" in run.stderr) == (2, True)


def test_two_processes_keep_the_results_of_both(tmp_path):
    arguments = [PROGRAM, "experiment", "power-decay", "--quick", "--runs", "40", "--out", ".", "--quiet", "--methods"]
    both = [subprocess.Popen([*arguments, method], cwd=tmp_path, stdout=subprocess.DEVNULL) for method in ("ekqd-1", "mmd-lin")]
    assert [process.wait(timeout=120) for process in both] == [0, 0]
    found = decisions(tmp_path / "power-decay.kqd.quick.json")
    assert {(row, len(runs)) for (row, _), runs in found.items()} == {("ekqd-1", 40), ("mmd-lin", 40)}


@pytest.mark.parametrize("text, sentence", [
    ('{"schema": 5}', "not a file of experiment results"),
    ('{"schema": "kqd.experiment/1", "seconds": {}}', "results of version null, expected "),
])
def test_other_files_are_not_read_as_times(tmp_path, text, sentence):
    (tmp_path / "runtime.quick.json").write_text(text)
    run = experiment("runtime", "--quick", "--out", ".", cwd=tmp_path)
    assert (run.returncode, sentence in run.stderr, "choose another --out" in run.stderr) == (2, True, True)


@pytest.fixture(scope="module")
def times(tmp_path_factory):
    """Results of the quick form on this machine."""
    folder = tmp_path_factory.mktemp("times")
    assert experiment("runtime", "--quick", "--out", ".", cwd=folder).returncode == 0
    return json.loads((folder / "runtime.quick.json").read_text())


@pytest.mark.parametrize("change, sentence", [
    ({"seconds": 5}, "not a file of times of this experiment"),
    ({"seconds": {"64 100 ekqd-2 test": []}}, '"64 100 ekqd-2 test" has no valid times'),
    ({"seconds": {"64 100 ekqd-2 test": [1e300]}}, '"64 100 ekqd-2 test" has no valid times'),
    ({"machine": "abacus"}, 'results of machine "abacus", expected "'),
    ({"seed": 7}, "results of seed 7, expected 0"),
])
def test_times_of_other_settings_are_refused(tmp_path, times, change, sentence):
    (tmp_path / "runtime.quick.json").write_text(json.dumps(times | change))
    run = experiment("runtime", "--quick", "--out", ".", cwd=tmp_path)
    assert (run.returncode, sentence in run.stderr, "choose another --out" in run.stderr) == (2, True, True)


def test_incomplete_times_are_measured_again(tmp_path, times):
    results = tmp_path / "runtime.quick.json"
    results.write_text(json.dumps(times | {"seconds": {"64 100 ekqd-2 test": [1.0]}}))
    run = experiment("runtime", "--quick", "--out", ".", cwd=tmp_path)
    assert run.returncode == 0 and json.loads(results.read_text())["seconds"].keys() == times["seconds"].keys()


@pytest.mark.parametrize("spoil, sentence", [
    (lambda folder: np.save(folder / "train-labels.npy", np.zeros(7)), "7 labels for the 1000 images of "),
    (lambda folder: np.save(folder / "train-labels.npy", np.full(1000, 0.5)), "row 1 is 0.5, expected a class 0, 1, 2, ..."),
    (lambda folder: np.save(folder / "train-labels.npy", np.ones(1000)), "class 3 has 0 images, but "),
    (lambda folder: (folder / "train-images.npy").write_bytes(b"no array"), "train-images.npy: "),
    (lambda folder: np.save(folder / "train-images.npy", np.zeros((1000, 16))), "have 16 values each, expected 784"),
    (lambda folder: np.save(folder / "train-images.npy", np.full((1000, 784), np.nan)), "expected a number\n"),
])
def test_unusable_images_are_errors_of_one_line(tmp_path, data, spoil, sentence):
    folder = tmp_path / "fashion-mnist"
    folder.mkdir()
    for name in ("train-images.npy", "train-labels.npy"):
        (folder / name).write_bytes((data / "fashion-mnist" / name).read_bytes())
    spoil(folder)
    run = experiment("fashion-mnist", "--quick", "--data", ".", cwd=tmp_path)
    assert run.returncode == 2
    assert sentence in run.stderr and run.stderr.count("\n") == 1 and "--na" not in run.stderr


def test_too_few_images_are_an_error(tmp_path, data):
    for name in ("cifar10", "cifar10.1"):
        (tmp_path / name).mkdir()
    for name in ("test-images.npy", "test-labels.npy"):
        (tmp_path / "cifar10" / name).write_bytes((data / "cifar10" / name).read_bytes())
    np.save(tmp_path / "cifar10.1" / "cifar10.1_v4_data.npy", np.zeros((20, 32, 32, 3), np.uint8))
    run = experiment("cifar10.1", "--quick", "--data", ".", cwd=tmp_path)
    message = "kqd: ./cifar10.1/cifar10.1_v4_data.npy: 20 images, expected at least 200\n"
    assert (run.returncode, run.stderr) == (2, message)


def galaxy_to_npy(*arguments):
    script = Path(__file__).parents[2] / "tools" / "galaxy_to_npy.py"
    return subprocess.run([sys.executable, script, *map(str, arguments)], capture_output=True, text=True, timeout=60)


def test_hdf5_files_of_galaxies_become_arrays_that_the_experiment_reads(tmp_path):
    rng = np.random.default_rng(1)
    parts = [(rng.integers(0, 256, (n, 3, 64, 64), np.uint8), rng.integers(0, 4, n)) for n in (5, 3)]
    files = [tmp_path / "train.hdf5", tmp_path / "test.hdf5"]
    for path, (images, labels) in zip(files, parts):
        with h5py.File(path, "w") as file:
            file["images"], file["labels"] = images, labels
    run = galaxy_to_npy(tmp_path / "galaxy-mnist", *files)
    assert run.returncode == 0, run.stderr
    images, labels = (np.load(tmp_path / "galaxy-mnist" / f"{name}.npy") for name in ("images", "labels"))
    assert np.array_equal(images.reshape(8, 3, 64, 64), np.concatenate([part[0] for part in parts]))
    assert np.array_equal(labels, np.concatenate([part[1] for part in parts]))


def test_a_file_without_galaxies_is_an_error_with_its_name(tmp_path):
    (tmp_path / "notes.hdf5").write_text("no galaxies")
    with h5py.File(tmp_path / "small.hdf5", "w") as file:
        file["images"], file["labels"] = np.zeros((2, 3, 32, 32), np.uint8), np.zeros(2)
    for name, reason in (("notes.hdf5", "not an HDF5 file"), ("small.hdf5", "expected n images"), ("none.hdf5", "not an HDF5 file")):
        run = galaxy_to_npy(tmp_path / "out", tmp_path / name)
        assert run.returncode == 1 and name in run.stderr and reason in run.stderr
    assert not (tmp_path / "out").exists()
