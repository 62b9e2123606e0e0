"""kqd.matrix: distances and tests of all pairs of several samples."""

import pathlib

import numpy as np
import pandas
import pytest

import kqd

RNG = np.random.default_rng(5)
SAMPLES = [RNG.normal(size=(40, 2)) + shift for shift in (0.0, 0.0, 3.0)]
DATA = pathlib.Path(__file__).parents[2] / "data"


def test_distances_are_those_on_the_line():
    found = kqd.matrix([[0, 1], [2, 3], [10, 11]], kernel="linear", rng=0)
    assert found.distances == pytest.approx(np.array([[0, 2, 10], [2, 0, 8], [10, 8, 0.0]]))
    assert found.names == ("1", "2", "3")
    assert found.pvalues is None and found.test_method is None


def test_pairs_that_differ_are_found():
    found = kqd.matrix(SAMPLES, names=["a", "b", "c"], test=True, n_resamples=199, rng=0)
    assert found.adjusted_pvalues[0, 2] <= 0.05 and found.adjusted_pvalues[1, 2] <= 0.05
    assert found.pvalues[0, 1] > 0.05
    assert found.test_method == "adaptive"
    assert list(found.to_frame().columns) == ["a", "b", "c"]
    assert not found.distances.flags.writeable


def test_reference_points_may_be_given():
    points = SAMPLES[0][:5]
    options = dict(kernel="gaussian@2", reference=points, rng=0)
    pair = kqd.distance(SAMPLES[0], SAMPLES[1], n_directions=64, **options).statistic
    assert kqd.matrix(SAMPLES, n_directions=64, **options).distances[0, 1] == pytest.approx(pair, rel=1e-12)


def test_notebooks_show_a_table():
    plain = kqd.matrix([[0, 1], [2, 3], [10, 11]], names=["a", "b", "<c>"], kernel="linear", rng=0)._repr_html_()
    assert "Matrix: distances by ekqd" in plain and plain.count("<tr>") == 4
    assert "&lt;c&gt;" in plain and ">10<" in plain and "adjusted p" not in plain
    tested = kqd.matrix(SAMPLES, test=True, n_resamples=99, rng=0)
    assert tested._repr_html_().count(f"(adjusted p = {tested.adjusted_pvalues[0, 2]:.4g})") >= 2


def test_tables_and_files_give_the_same_numbers():
    files = [DATA / "customers-march.csv", DATA / "customers-april.csv"]
    of_files = kqd.matrix(files, method="energy", rng=0)
    of_tables = kqd.matrix([pandas.read_csv(file) for file in files], method="energy", rng=0)
    assert of_tables.distances == pytest.approx(of_files.distances, rel=1e-12)
    assert of_files.to_dict()["data"]["columns"] == of_tables.to_dict()["data"]["columns"]


def test_wrong_calls_are_refused():
    with pytest.raises(ValueError, match="two samples"):
        kqd.matrix([SAMPLES[0]])
    for wrong in (3, None, "a.csv", {"a": 1}, np.array(5.0)):
        with pytest.raises(TypeError, match="samples is of type .*, expected a list of two samples or more"):
            kqd.matrix(wrong)
    with pytest.raises(TypeError, match="did you mean kernel"):
        kqd.matrix(SAMPLES, kernl="linear")
    with pytest.raises(ValueError, match="2 names for 3 samples"):
        kqd.matrix(SAMPLES, names="a,b")
