"""A thousand calls with random arguments: each returns a result or raises an exception in the words of kqd; Python lives on."""

import pickle
import random
import re

import numpy as np

import kqd

try:
    import pandas
except ImportError:
    pandas = None


class Loud:
    """Fails at every protocol that kqd may try."""

    def __array__(self, *args, **kwargs):
        raise RuntimeError("no array")


class FalseTable:
    """Says that it is a table of Arrow, and is not."""

    def __arrow_c_stream__(self, requested_schema=None):
        return object()


class FalseFrame:
    def __dataframe__(self, **options):
        return 3


SAMPLES = [
    None, True, 1, -1, 2**70, 3.5, float("nan"), float("inf"), 1j, "a", b"a", "", (), [], {}, set(), [1, 2, 3], [[1, 2], [3]],
    [[1.0, 2.0], [3.0, 4.0]], [None, 1], ["a", "b"], np.zeros((0, 3)), np.zeros((3, 0)), np.zeros((2, 2, 2)), np.array(5.0),
    np.array(["a"]), np.array([1, None], dtype=object), np.array([1 + 2j]), np.arange(6).reshape(3, 2)[::-1],
    np.ma.masked_array([1.0, 2.0], [True, False]), np.array(["2020-01-01"], dtype="M8[D]"), np.arange(5, dtype="f2"),
    np.full((3, 2), np.nan), np.full((4, 2), 1e308), object(), lambda a, b: a, range(4), iter([1, 2]), Loud(), FalseTable(),
    FalseFrame(), kqd, np.random.default_rng(0).normal(size=(12, 2)), np.arange(2**62, 2**62 + 5), memoryview(b"abc"),
]
if pandas is not None:
    SAMPLES += [
        pandas.DataFrame(), pandas.DataFrame({"a": [1, 2]}), pandas.DataFrame({"a": ["x", "y"]}), pandas.Series([1.0, None]),
        pandas.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), pandas.Series(pandas.Categorical(["u", "v"])),
        pandas.DataFrame({"t": pandas.date_range("2024", periods=3)}), [pandas.DataFrame({"a": [1.0]}), 3],
        [pandas.DataFrame({"a": [1.0]}), pandas.DataFrame({"b": [2.0]})],
    ]
NAMES = ["method", "kernel", "bandwidth", "directions", "n_directions", "whiten", "n_reference", "reference", "coefficients",
         "power", "weighting", "x_weights", "y_weights", "weights_as", "nan_policy", "compat", "n_resamples", "alpha", "design",
         "blocks", "clusters", "calibration", "early_stop", "profiles", "progress", "rng", "workers", "max_memory", "standardize",
         "permute", "allow_quadratic", "null_distribution", "group", "types", "tolerance", "equivalent", "against", "categorical",
         "names", "nonsense"]
CALLS = [kqd.test, kqd.distance, kqd.explain, lambda x, y, **options: kqd.Embedding(x, **options)]

NUMBERS = np.random.default_rng(1).normal(size=(200, 2))
PROFILE = kqd.Profile(NUMBERS, rng=0)
MONITOR = kqd.Monitor(PROFILE, method="ekqd", n_resamples=19, rng=0)


def monitor(x, y, **options):
    kqd.Monitor(x, **options).update(y, name=options.get("adjust"))


# Functions with options of their own.
OTHER_CALLS = [
    (lambda x, y, **options: kqd.matrix([x, y], **options), NAMES + ["test"]),
    (lambda x, y, **options: kqd.matrix(x, **options), NAMES + ["test"]),
    (lambda x, y, **options: kqd.Profile(x, **options),
     ["like", "rows_per_group", "groups", "keys", "nan_policy", "progress", "rng", "workers", "nonsense"]),
    (lambda x, y, **options: kqd.Profile(x, like=PROFILE, **options), ["rows_per_group", "keys", "nan_policy", "workers"]),
    (lambda x, y, **options: PROFILE.empty().update(x, sample=y, **options), ["part", "first_row", "keys", "nan_policy", "nonsense"]),
    (lambda x, y, **options: kqd.test(PROFILE, x, **options), NAMES),
    (monitor, ["batch_rows", "method", "alpha", "n_resamples", "baseline_rule", "adjust", "average_run_length", "rng", "workers",
               "progress", "nonsense"]),
    (lambda x, y, **options: pickle.loads(pickle.dumps(MONITOR)).update(x, y, **options), ["progress", "nonsense"]),
]


OWN_WORDS = re.compile(r"expected|unknown keyword|masked values; drop or fill|different columns|several columns of one name|"
                       r"columns has \d+ names|is a profile and|is given with|the profile has|has no column|"
                       r"missing 1 required|invalid PyCapsule|^no array$")  # the last are those of Python, pyarrow and Loud


def test_nothing_that_is_passed_ends_the_interpreter():
    fuzz(random.Random(25), [(call, NAMES) for call in CALLS], SAMPLES, 1000)


def test_nor_does_anything_that_is_passed_to_matrices_profiles_and_monitors():
    fuzz(random.Random(26), OTHER_CALLS, [*SAMPLES, NUMBERS, PROFILE, {"a": 200}, "key:a"], 1000)


def fuzz(choose, calls, samples, times):
    results = 0
    for _ in range(times):
        call, names = choose.choice(calls)
        options = {name: choose.choice(samples) for name in choose.sample(names, min(len(names), choose.randint(0, 2)))}
        try:
            call(choose.choice(samples), choose.choice(samples), **options)
            results += 1
        except (TypeError, ValueError, RuntimeError) as error:
            of_the_library = hasattr(error, "place")
            assert of_the_library or OWN_WORDS.search(str(error)), (error, options)
    assert 0 < results < times
