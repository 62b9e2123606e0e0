"""pandas objects, DLPack, and rows with missing values."""

import subprocess
import sys
import textwrap

import kqd
import numpy as np
import pytest

RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(30, 3)), RNG.normal(size=(20, 3)) + 0.4
EXPECTED = kqd.distance(X, Y, rng=0).statistic
pandas = pytest.importorskip("pandas")


def frame(values, names="abc"):
    return pandas.DataFrame(values, columns=list(names))


# ---- pandas ----

def test_frames_and_series_give_what_their_numbers_give():
    assert kqd.distance(frame(X), frame(Y), rng=0).statistic == EXPECTED
    assert kqd.distance(frame(X), Y, rng=0).statistic == EXPECTED
    one = kqd.distance(pandas.Series(X[:, 0]), frame(Y)["a"], rng=0)
    assert one.statistic == kqd.distance(X[:, 0], Y[:, 0], rng=0).statistic and one.dim == 1
    assert kqd.test(frame(X), frame(Y), rng=0, n_resamples=9).dim == 3


def test_booleans_beside_numbers_count_as_0_and_1():
    mixed = [frame(values).assign(flag=values[:, 0] > 0) for values in (X, Y)]
    plain = [np.column_stack([values, values[:, 0] > 0]) for values in (X, Y)]
    assert kqd.distance(*mixed, rng=0).statistic == kqd.distance(*plain, rng=0).statistic


def test_columns_are_matched_by_name():
    swapped = frame(Y)[["c", "a", "b"]]
    assert kqd.distance(frame(X), swapped, rng=0).statistic == EXPECTED
    points = frame(X[:4])[["b", "c", "a"]]
    assert (kqd.distance(frame(X), frame(Y), rng=0, reference=points).statistic
            == kqd.distance(X, Y, rng=0, reference=X[:4]).statistic)
    embedded = kqd.Embedding(frame(X), rng=0)
    assert embedded.distance(swapped).statistic == kqd.Embedding(X, rng=0).distance(Y).statistic


def test_numbers_of_any_type_in_columns_are_accepted():
    mixed = pandas.DataFrame({"a": np.arange(5, dtype="i2"), "b": [True, False, True, True, False],
                              "c": pandas.array([1, 2, 3, 4, 5], dtype="Int64"), "d": np.arange(5, dtype="f4")})
    plain = mixed.to_numpy(dtype=float)
    assert kqd.distance(mixed, mixed + 1, rng=0).statistic == kqd.distance(plain, plain + 1, rng=0).statistic


def test_missing_values_of_pandas_are_nan():
    missing = pandas.DataFrame({"a": pandas.array([1, None, 3], dtype="Int64")})
    with pytest.raises(ValueError, match=r"x: row 2, column 1 \(a\) is nan, expected a finite number"):
        kqd.distance(missing, missing, rng=0, nan_policy="raise")
    assert kqd.distance(missing, missing, rng=0, nan_policy="omit").n_x == 2


def test_weights_may_be_a_series():
    weights = pandas.Series(np.arange(1.0, 31), index=np.arange(100, 130))
    assert (kqd.distance(X, Y, rng=0, x_weights=weights).statistic
            == kqd.distance(X, Y, rng=0, x_weights=np.arange(1.0, 31)).statistic)


@pytest.mark.parametrize("x, y, error, sentence", [
    (frame(X), frame(Y, "abd"), ValueError,
     'x and y have different columns: x only has "c"; y only has "d"; select those that both have'),
    (frame(X), frame(Y)[["a", "b"]], ValueError,
     'x and y have different columns: x only has "c"; select those that both have'),
    (frame(X)[["a"]], frame(Y), ValueError,
     'x and y have different columns: y only has "b", "c"; select those that both have'),
    (frame(X, "aab"), frame(Y, "aba"), ValueError,
     'x has several columns of one name, "a", and cannot be matched by names'),
    (frame(X, "aab").assign(city="here"), frame(Y, "aba"), ValueError,
     'x has several columns of one name, "a", and cannot be matched by names'),
    (frame(X), Y[:, :2], ValueError, "X has 3 columns and Y has 2, expected the same number"),
    (np.array(["a", "b"]), [1.0], TypeError, "x has dtype <U1, expected real numbers"),
])
def test_tables_that_cannot_be_compared_are_refused(x, y, error, sentence):
    with pytest.raises(error) as raised:
        kqd.distance(x, y, rng=0)
    assert str(raised.value) == sentence


# ---- DLPack ----

class Tensor:
    """An object with the DLPack protocol only: memory and its device."""

    def __init__(self, values, device=1):
        self._values, self._device = values, device

    def __dlpack__(self, stream=None):
        return self._values.__dlpack__()

    def __dlpack_device__(self):
        return self._device, 0


def test_tensors_on_the_cpu_are_read_through_dlpack():
    assert kqd.distance(Tensor(X), Tensor(Y), rng=0).statistic == EXPECTED
    assert kqd.distance(Tensor(X.astype("f4")), Y, rng=0).statistic == kqd.distance(X.astype("f4"), Y, rng=0).statistic


def test_tensors_elsewhere_are_refused():
    with pytest.raises(TypeError) as raised:
        kqd.distance(Tensor(X, device=2), Y, rng=0)
    assert str(raised.value) == "x is on another device (DLPack type 2), expected one on the CPU"


# ---- Missing values ----

def with_holes(values, rows):
    holed = values.copy()
    holed[rows, 1] = np.nan
    return holed


def test_rows_with_a_nan_are_left_out_on_request():
    x, y = with_holes(X, [2, 5]), with_holes(Y, [0])
    found = kqd.distance(x, y, rng=0, nan_policy="omit")
    expected = kqd.distance(np.delete(X, [2, 5], 0), np.delete(Y, 0, 0), rng=0)
    assert (found.statistic, found.n_x, found.n_y) == (expected.statistic, 28, 19)
    assert found.warnings == ("x: rows excluded because a value is missing: 2 of 30",
                              "y: rows excluded because a value is missing: 1 of 20")
    assert found.warning_ids == ("rows-omitted", "rows-omitted")
    assert "warning      x: rows excluded" in repr(found)
    assert kqd.distance(X, Y, rng=0, nan_policy="omit").statistic == EXPECTED


def test_weights_and_groups_go_with_their_rows():
    x, weights = with_holes(X, [2, 5]), np.arange(1.0, 31)
    keep = np.delete(np.arange(30), [2, 5])
    found = kqd.test(x, Y, rng=0, nan_policy="omit", x_weights=weights, y_weights=np.ones(20), weights_as="frequency", method="ekqd",
                     blocks=(np.arange(30) % 3, np.arange(20) % 3), n_resamples=50)
    expected = kqd.test(X[keep], Y, rng=0, x_weights=weights[keep], y_weights=np.ones(20), weights_as="frequency",
                        method="ekqd",
                        blocks=((np.arange(30) % 3)[keep], np.arange(20) % 3), n_resamples=50)
    assert (found.statistic, found.pvalue) == (expected.statistic, expected.pvalue)


@pytest.mark.parametrize("options", [dict(design="paired"), dict(calibration="sign-flip", method="mmd")])
def test_partners_of_rows_with_a_nan_are_left_out_too(options):
    x, y = with_holes(X[:20], [2]), with_holes(Y, [7])
    found = kqd.test(x, y, rng=0, nan_policy="omit", n_resamples=50, **options)
    expected = kqd.test(np.delete(X[:20], [2, 7], 0), np.delete(Y, [2, 7], 0), rng=0, n_resamples=50, **options)
    assert (found.n_x, found.statistic, found.pvalue) == (18, expected.statistic, expected.pvalue)


@pytest.mark.parametrize("call", [kqd.distance, kqd.test, kqd.explain])
def test_what_is_not_finite_is_reported_with_the_name_of_its_column(call):
    x, y = frame(X), frame(with_holes(Y, [3]))[["c", "a", "b"]]
    with pytest.raises(ValueError) as raised:
        call(x, y, rng=0, nan_policy="raise")
    assert str(raised.value) == (
        'y: row 4, column 2 (b) is nan, expected a finite number; nan_policy="omit" excludes such rows')
    y.loc[7, "a"] = np.inf  # a row that is left out comes before it
    with pytest.raises(ValueError) as raised:
        call(x, y, rng=0, nan_policy="omit")
    assert str(raised.value) == "y: row 8, column 1 (a) is inf, expected a finite number"


def test_what_is_not_finite_in_an_embedding_is_reported_with_the_name_of_its_column():
    sentence = r'^sample: row 6, column 2 \(b\) is nan, .*; nan_policy="omit" excludes such rows$'
    with pytest.raises(ValueError, match=sentence):
        kqd.Embedding(frame(with_holes(X, [5])), rng=0)
    with pytest.raises(ValueError, match=sentence):
        kqd.Embedding(frame(X), rng=0).embed(frame(with_holes(Y, [5]))[["c", "a", "b"]])
    with pytest.raises(ValueError, match=r"^sample: row 3, column 1 is inf, expected a finite number$"):
        kqd.Embedding([np.nan, 1, np.inf], rng=0, nan_policy="omit")


def test_names_that_explain_is_given_are_those_of_its_errors():
    with pytest.raises(ValueError, match=r"^x: row 3, column 2 \(second\) is nan"):
        kqd.explain(with_holes(X, [2]), Y, columns=["first", "second", "third"], nan_policy="raise")


def test_infinities_are_no_missing_values():
    with pytest.raises(ValueError, match="x: row 1, column 1 is inf"):
        kqd.distance([np.inf, 1.0, np.nan], [1.0, 2.0], rng=0, nan_policy="omit")


def test_nothing_left_is_nothing_to_compare():
    with pytest.raises(ValueError, match="X: no rows, expected at least one"):
        kqd.distance([np.nan], [1.0, 2.0], rng=0, nan_policy="omit")


def test_an_unknown_policy_is_refused():
    with pytest.raises(ValueError) as raised:
        kqd.distance(X, Y, nan_policy="propagate")
    assert str(raised.value) == (
        'nan_policy="propagate": expected one of indicator, raise, omit, impute-median')


# ---- Memory ----

def test_a_million_rows_are_not_copied():
    program = textwrap.dedent("""
        import resource
        import kqd, numpy as np
        x, y = np.ones((10**6, 10)), np.ones((10**6, 10))
        x[:, 0] = np.arange(len(x)); y[:, 0] = np.arange(len(y)) + 0.5
        kqd.distance(x[:100], y[:100], directions="linear", n_directions=1, rng=0)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        kqd.distance(x, y, directions="linear", n_directions=1, rng=0)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    """)
    risen_kb = int(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout)
    # One direction takes 8 bytes a row, twice while it is sorted: 32 MB. A copy of one sample would be 80 MB.
    assert risen_kb < 60_000
