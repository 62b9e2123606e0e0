"""Objects that are accepted as data, read in place or rejected, and the messages of rejections."""

import tracemalloc

import kqd
import numpy as np
import pytest
from kqd import _arrays

RNG = np.random.default_rng(1)
X, Y = RNG.integers(-50, 50, size=(30, 3)).astype(float), RNG.integers(-40, 60, size=(20, 3)).astype(float)
EXPECTED = kqd.distance(X, Y, rng=0).statistic


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # NumPy's, of its matrix class
@pytest.mark.parametrize("convert", [
    np.ndarray.tolist,
    lambda a: a.astype(np.int8),
    lambda a: a.astype(np.float32),
    lambda a: a.astype(np.longdouble),
    lambda a: a.astype(">f8"),
    np.asfortranarray,
    np.asmatrix,
    np.ma.masked_array,
    lambda a: np.flip(np.flip(a).copy()),                      # negative strides
    lambda a: np.repeat(a, 2, axis=0)[::2],                    # gaps between rows
    lambda a: np.repeat(a, 2, axis=1)[:, ::2],                 # gaps between columns
    lambda a: np.frombuffer(b"\0" + a.tobytes(), offset=1, dtype=float).reshape(a.shape),  # not aligned
    lambda a: np.rec.fromarrays([a.ravel(), a.ravel().astype("i2")])["f0"].reshape(a.shape),
], ids=["lists", "int8", "float32", "longdouble", "big endian", "column-major", "matrix", "masked array without mask",
        "negative strides", "row gaps", "column gaps", "unaligned", "field of a record"])
def test_any_layout_and_type_of_number_gives_the_same_result(convert):
    assert kqd.distance(convert(X), convert(Y), rng=0).statistic == EXPECTED


def test_what_has_an_array_method_is_an_array():
    class Frame:
        def __init__(self, values):
            self.values = values

        def __array__(self, dtype=None):
            return self.values

    assert kqd.distance(Frame(X), Frame(Y), rng=0).statistic == EXPECTED


def test_one_dimension_means_one_column():
    x, y = X[:, 1], Y[:, 1]
    found = kqd.distance(x, y, rng=0)
    assert found.dim == 1
    assert found.statistic == kqd.distance(x[:, None], y[:, None], rng=0).statistic
    assert found.statistic == kqd.distance(x, y, rng=0, reference="gaussian").statistic


@pytest.mark.parametrize("array", [
    X, X[::2], X[5:], X[:, 1:], X[:, 1], X[:, :1], X[::3, 1], X[:1], X[:, :2][::2],
], ids=["whole", "every other row", "last rows", "last columns", "one column", "one-column matrix", "part of a column",
        "one row", "rows and columns"])
def test_float64_rows_are_read_where_they_lie(array):
    assert np.shares_memory(_arrays.matrix(array, "x"), array)
    assert np.shares_memory(_arrays.sample(array, None, "x")[0].points, array)


def test_a_broadcast_array_is_copied():
    row = np.broadcast_to(np.array([1.0, 2.0]), (5, 2))  # all rows in the same place
    assert not np.shares_memory(_arrays.matrix(row, "x"), row)
    assert kqd.distance(row, row + 1, rng=0).n_x == 5


def test_a_large_float64_array_is_not_copied():
    x = np.zeros((200_000, 10))
    x[:, 0] = np.arange(len(x))
    tracemalloc.start()
    kqd.distance(x, x + 0.5, directions="axis", rng=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.1 * x.nbytes  # y, made in the call; a copy of either would show


def test_read_only_arrays_are_fine_and_inputs_are_left_alone():
    x, y = X.copy(), Y.copy()
    x.setflags(write=False)
    assert kqd.distance(x, y, rng=0, x_weights=np.ones(30)).statistic == pytest.approx(EXPECTED, rel=1e-12)
    assert (x == X).all() and (y == Y).all()


def test_weights_of_any_type_of_number_and_layout_are_accepted():
    weights = np.arange(1, 31)
    expected = kqd.distance(X, Y, rng=0, x_weights=weights).statistic
    for same in (weights.tolist(), weights.astype(np.float32), np.repeat(weights, 2)[::2], weights[::-1].copy()[::-1]):
        assert kqd.distance(X, Y, rng=0, x_weights=same).statistic == expected
    assert expected != EXPECTED


@pytest.mark.parametrize("x, error, sentence", [
    (np.array([1, "a"], dtype=object), TypeError, "x has dtype object, expected real numbers"),
    ([[1, None]], TypeError, "x has dtype object, expected real numbers"),
    (["a", "b"], TypeError, "x has dtype <U1, expected real numbers"),
    ([1 + 2j], TypeError, "x has dtype complex128, expected real numbers"),
    (np.array(["2024-01-01"], dtype="M8[D]"), TypeError, "x has dtype datetime64[D], expected real numbers"),
    (np.ma.masked_array([1.0, 2.0], [False, True]), TypeError, "x has masked values; drop or fill them first"),
    (None, TypeError, "x is of type NoneType, expected rows of real numbers"),
    (3.0, ValueError, "x has 0 dimensions, expected 2 (rows and columns) or 1 (one column)"),
    (np.zeros((2, 2, 2)), ValueError, "x has 3 dimensions, expected 2 (rows and columns) or 1 (one column)"),
    ([], ValueError, "X: no rows, expected at least one"),
    (np.zeros((0, 2)), ValueError, "X: no rows, expected at least one"),
    (np.zeros((3, 0)), ValueError, "X: no columns, expected at least one"),
    ([[1, 2]], ValueError, "X has 2 columns and Y has 1, expected the same number"),
    ([1, np.nan], ValueError, 
     'x: row 2, column 1 is nan, expected a finite number; nan_policy="omit" excludes such rows'),
    ([-np.inf, 1], ValueError, "x: row 1, column 1 is -inf, expected a finite number"),
])
def test_data_that_cannot_be_used_is_refused(x, error, sentence):
    with pytest.raises(error) as raised:
        kqd.distance(x, [1.0, 2.0], rng=0, nan_policy="raise")
    assert str(raised.value) == sentence


def test_rows_of_different_length_are_refused():
    with pytest.raises(ValueError, match="x has rows of different lengths"):
        kqd.distance([[1, 2], [3]], [1.0], rng=0)


@pytest.mark.parametrize("weights, error, sentence", [
    ([1, 1], ValueError, "y_weights has 2 weights for 3 rows, expected one per row"),
    ([], ValueError, "y_weights has 0 weights for 3 rows, expected one per row"),
    ([[1], [1], [1]], ValueError, "y_weights has 2 dimensions, expected 1 (one weight per row)"),
    (1.0, ValueError, "y_weights has 0 dimensions, expected 1 (one weight per row)"),
    ([1j, 1, 1], TypeError, "y_weights has dtype complex128, expected real numbers"),
    ([1, -2, 1], ValueError, "Y: weight of row 2 is -2, expected a finite number >= 0"),
    ([1, 1, np.nan], ValueError, "Y: weight of row 3 is nan, expected a finite number >= 0"),
    ([0, 0, 0], ValueError, "Y: all 3 weights are 0, expected at least one > 0"),
])
def test_weights_that_cannot_be_used_are_refused(weights, error, sentence):
    with pytest.raises(error) as raised:
        kqd.distance([1, 2], [1, 2, 3], y_weights=weights, rng=0)
    assert str(raised.value) == sentence


@pytest.mark.parametrize("options, sentence", [
    (dict(reference=np.zeros((2, 3))), "reference points have 3 columns and the data 1, expected the same number"),
    (dict(reference=[]), "reference is empty (0 x 1), expected at least one row and column"),
    (dict(reference=[1.0, np.inf]), "reference points: row 2, column 1 is inf, expected a finite number"),
    (dict(reference=[1.0, 2.0], coefficients=[[1.0]]),
     "coefficients have 1 rows for 2 reference points, expected one row per point"),
    (dict(coefficients=np.zeros((0, 2))), "coefficients is empty (0 x 2), expected at least one row and column"),
    (dict(reference=[1.0], coefficients=[[np.nan]]), "coefficients: row 1, column 1 is nan, expected a finite number"),
    (dict(reference=[1.0], coefficients=[[0.0]]),
     "degenerate reference points: direction 1 has norm 0 to rounding (||f||^2 = 0)"),
])
def test_reference_points_and_coefficients_that_cannot_be_used_are_refused(options, sentence):
    with pytest.raises(ValueError) as raised:
        kqd.distance([1, 2], [1, 2, 3], rng=0, **options)
    assert str(raised.value) == sentence
