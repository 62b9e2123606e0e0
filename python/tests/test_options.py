"""Seeds, threads, and options that are refused."""

import concurrent.futures
import inspect
import threading
import time

import kqd
import numpy as np
import pytest
from kqd import _core

RNG = np.random.default_rng(1)
X, Y = RNG.normal(size=(60, 3)), RNG.normal(size=(45, 3)) + 0.5


def test_a_seed_gives_the_same_numbers_again():
    found = kqd.distance(X, Y, rng=7)
    assert found.seed == 7
    assert found.statistic == kqd.distance(X, Y, rng=np.int64(7)).statistic
    assert found.statistic != kqd.distance(X, Y, rng=8).statistic


def test_a_generator_gives_a_seed_and_moves_on():
    generator = np.random.default_rng(3)
    first, second = kqd.distance(X, Y, rng=generator), kqd.distance(X, Y, rng=generator)
    assert first.seed != second.seed
    assert first.seed == kqd.distance(X, Y, rng=np.random.default_rng(3)).seed
    assert first.statistic == kqd.distance(X, Y, rng=first.seed).statistic


def test_without_a_seed_the_drawn_one_is_in_the_result():
    first, second = kqd.distance(X, Y), kqd.distance(X, Y)
    assert first.seed != second.seed and max(first.seed, second.seed) < 2**53
    assert second.statistic == kqd.distance(X, Y, rng=second.seed).statistic


def test_every_64_bit_seed_is_kept():
    assert kqd.distance(X, Y, rng=2**64 - 1).seed == 2**64 - 1


def test_more_directions_keep_the_first_ones():
    few, many = kqd.distance(X, Y, rng=1, n_directions=5), kqd.distance(X, Y, rng=1, n_directions=20)
    assert few.per_direction == pytest.approx(many.per_direction[:5], rel=1e-12)


@pytest.mark.parametrize("method", ["ekqd", "supkqd-centered"])
def test_the_number_of_workers_changes_no_bit(method):
    x, y = RNG.normal(size=(9000, 3)), RNG.normal(size=(5000, 3)) + 0.1
    x, y = (x[:900], y[:700]) if method.endswith("centered") else (x, y)
    expected = kqd.distance(x, y, method=method, rng=0, n_directions=9, workers=1)
    for workers in (2, 3, 8, -1, None):
        found = kqd.distance(x, y, method=method, rng=0, n_directions=9, workers=workers)
        assert found.statistic == expected.statistic
        assert (found.per_direction == expected.per_direction).all()


def test_other_python_threads_run_while_a_distance_is_computed():
    x = RNG.normal(size=(100_000, 5))
    span = []

    def compute():
        start = time.monotonic()
        kqd.distance(x, x + 1, rng=0, workers=1)
        span.extend([start, time.monotonic()])

    thread = threading.Thread(target=compute)
    thread.start()
    ticks = []
    while thread.is_alive():
        ticks.append(time.monotonic())
        time.sleep(0.001)
    quarter = (span[1] - span[0]) / 4
    assert any(span[0] + quarter < tick < span[1] - quarter for tick in ticks)


def test_calls_from_several_threads_do_not_disturb_each_other():
    expected = [kqd.distance(X, Y, rng=seed).statistic for seed in range(40)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda seed: kqd.distance(X, Y, rng=seed).statistic, range(40)))
    assert found == expected


def test_compat_flags_are_a_list_or_a_text():
    listed = kqd.distance(X, Y, rng=0, compat=["extra-direction", "jitter"])
    assert listed.n_directions == 65
    assert listed.statistic == kqd.distance(X, Y, rng=0, compat="extra-direction, jitter").statistic


def test_coefficients_set_the_numbers_of_directions_and_reference_points():
    found = kqd.distance(X, Y, rng=0, coefficients=np.eye(5, 3))
    assert (found.n_directions, found.n_reference, found.reference) == (3, 5, "gaussian")
    assert kqd.distance(X, Y, rng=0, reference=X[:4]).n_reference == 4


def test_an_infinite_power_takes_the_largest_gap():
    found = kqd.distance(X, Y, rng=0, power=np.inf)
    assert found.statistic == found.statistic_power == found.per_direction.max()
    assert found.statistic == kqd.distance(X, Y, rng=0, power=float("inf"), method="supkqd").statistic


@pytest.mark.parametrize("options, sentence", [
    (dict(method="ekdq"), 'method="ekdq": expected one of '
                          f"{', '.join(method.id for method in kqd.methods())}; did you mean ekqd?"),
    (dict(kernel="gausian"), 'kernel="gausian": expected one of gaussian, laplace, matern12, matern32, '
                             "matern52, rq, imq, linear, polynomial, normalised-polynomial, energy, mixed; "
                             "did you mean gaussian?"),
    (dict(kernel="gaussian@-1"), 'kernel="gaussian@-1": expected a bandwidth in 1e-150 .. 1e150'),
    (dict(bandwidth="mean"), 'bandwidth="mean": expected median, or a number > 0'),
    (dict(bandwidth="1.5"), 'bandwidth="1.5": expected median, or a number > 0'),
    (dict(bandwidth=0), 'bandwidth=0: expected median, or a number > 0'),
    (dict(bandwidth=float("nan")), 'bandwidth=nan: expected median, or a number > 0'),
    (dict(kernel="linear", bandwidth=2), "bandwidth=2: expected none, because kernel linear has no bandwidth"),
    (dict(directions="gauss"), 'directions="gauss": expected one of gaussian, linear, axis, principal, mixed'),
    (dict(reference="sample"), 'reference="sample": expected one of gaussian, uniform, pooled, balanced, or points of '
                               "your own"),
    (dict(reference="points"), 'reference="points": expected one of gaussian, uniform, pooled, balanced, or points of '
                               "your own"),
    (dict(reference="a.csv"), 'reference="a.csv": expected one of gaussian, uniform, pooled, balanced, or points of '
                              "your own"),
    (dict(n_directions=0), "n_directions=0: expected a whole number in 1..1048576"),
    (dict(n_directions=-3), "n_directions=-3: expected a whole number in 1..1048576"),
    (dict(n_directions=10**30), f"n_directions={10**30}: expected a whole number in 1..1048576"),
    (dict(n_reference=0), "n_reference=0: expected a whole number in 1..1048576"),
    (dict(n_reference=-1), "n_reference=-1: expected a whole number in 1..1048576"),
    (dict(directions="linear", coefficients=np.ones((4, 2))),
     "coefficients are given, but linear directions have no reference points; "
     "use them with the linear kernel and gaussian directions"),
    (dict(directions="axis", reference=X[:4]),
     "reference points are given, but axis directions have no reference points; "
     "use them with the linear kernel and gaussian directions"),
    (dict(reference=X[:4], n_reference=5),
     "n_reference=5: expected none, because the given reference points are all used"),
    (dict(power=0.5), "power=0.5: expected a number >= 1, or inf"),
    (dict(power=float("nan")), "power=nan: expected a number >= 1, or inf"),
    (dict(weighting="triangle:2"), 'weighting="triangle:2": expected a ratio in [0, 1]'),
    (dict(weighting="hat"), 'weighting="hat": expected one of uniform, triangle, reverse-triangle, '
                            "slope-up, slope-down, interval, beta, atom, table"),
    (dict(compat=["jiter"]), 'compat="jiter": expected one of extra-direction, point-levels, jitter, '
                             "unnormalised, median-diagonal, zero-centred; did you mean jitter?"),
    (dict(compat=["point-levels"]), "point-evaluated level weights need samples of equal size, got 60 and 45"),
    (dict(method="ekqd-centered", compat=["unnormalised"]),
     "a centered discrepancy needs directions of norm 1, got unnormalised ones"),
    (dict(rng=-1), "rng=-1: expected a whole number in 0..18446744073709551615"),
    (dict(rng=2**64), "rng=18446744073709551616: expected a whole number in 0..18446744073709551615"),
    (dict(profiles=-1), "profiles=-1: expected a whole number >= 0"),
    (dict(workers=0), "workers=0: expected a whole number >= 1, or -1 for all"),
    (dict(workers=-2), "workers=-2: expected a whole number >= 1, or -1 for all"),
])
def test_values_out_of_range_are_refused(options, sentence):
    with pytest.raises(ValueError) as raised:
        kqd.distance(X, Y, **options)
    assert str(raised.value) == sentence


@pytest.mark.parametrize("options, sentence", [
    (dict(method=1), "method is of type int, expected a string"),
    (dict(kernel=3), "kernel is of type int, expected a string or a function of two blocks of rows"),
    (dict(bandwidth=[1]), "bandwidth is of type list, expected a number"),
    (dict(bandwidth=np.complex128(1)), "bandwidth is of type complex128, expected a number"),
    (dict(directions=1), "directions is of type int, expected a string"),
    (dict(n_directions=3.5), "n_directions is of type float, expected a whole number"),
    (dict(n_reference="4"), "n_reference is of type str, expected a whole number"),
    (dict(power="2"), "power is of type str, expected a number"),
    (dict(weighting=1), "weighting is of type int, expected a string, a function of levels, or rows of level and density"),
    (dict(compat=[1]), "compat is of type int, expected a string"),
    (dict(compat=1), "compat is of type int, expected a string or a list of them"),
    (dict(profiles=1.5), "profiles is of type float, expected a whole number"),
    (dict(rng="seed"), "rng is of type str, expected None, a whole number or a numpy.random.Generator"),
    (dict(rng=1.5), "rng is of type float, expected None, a whole number or a numpy.random.Generator"),
    (dict(workers=1.0), "workers is of type float, expected None or a whole number"),
    (dict(reference=[["a"]]), "reference has dtype <U1, expected real numbers"),
    (dict(coefficients="c"), 'coefficients is "c", expected rows of real numbers; read a file before the call'),
])
def test_values_of_another_type_are_refused(options, sentence):
    with pytest.raises(TypeError) as raised:
        kqd.distance(X, Y, **options)
    assert str(raised.value) == sentence


def test_unknown_keywords_and_positional_options_are_refused():
    with pytest.raises(TypeError, match="n_projections"):
        kqd.distance(X, Y, n_projections=3)
    with pytest.raises(TypeError, match="positional"):
        kqd.distance(X, Y, "ekqd")


def test_work_that_takes_many_minutes_is_refused_unless_allowed():
    x = np.arange(400_000.0)
    with pytest.raises(kqd.ResourceLimitError, match="about 22 minutes on one thread") as raised:
        kqd.distance(x, x + 1, method="ekqd-centered", n_directions=1, rng=0)
    assert isinstance(raised.value, RuntimeError) and "use allow_quadratic=True to run it" in str(raised.value)
    assert kqd.distance(x[:50], x[:40], method="ekqd-centered", rng=0, allow_quadratic=True).details["mmd_squared"] > 0


def test_a_bound_on_memory_changes_no_result():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(20_000, 2)), rng.normal(size=(20_000, 2))
    free = kqd.test(x, y, method="ekqd", n_resamples=19, rng=0)
    bound = kqd.test(x, y, method="ekqd", n_resamples=19, rng=0, max_memory=11e6)
    assert (bound.statistic, bound.pvalue) == (free.statistic, free.pvalue)
    assert kqd.distance(x, y, rng=0, max_memory=8e6).statistic == kqd.distance(x, y, rng=0).statistic


@pytest.mark.parametrize("size", [0, 10, float("nan"), 1e300])
def test_a_bound_on_memory_that_is_none_is_refused(size):
    with pytest.raises(ValueError, match="max_memory=.*: expected a size of at least 1MB"):
        kqd.distance([1.0, 2.0], [2.0, 3.0], max_memory=size)


@pytest.mark.parametrize("options, sentence", [
    (dict(method="mmd", power=2, n_directions=8), "n_directions, power: no effect on method mmd"),
    (dict(method="ekqd", directions="linear", bandwidth=2), "bandwidth: no effect on method ekqd with linear directions"),
    (dict(method="energy", reference=[[0.0], [1.0]]), "reference: no effect on method energy"),
    (dict(method="mmd", power=1.0, compat=[]), None),
    (dict(method="ekqd", directions="linear"), None),
])
@pytest.mark.parametrize("call", [kqd.distance, kqd.test])
def test_options_without_effect_on_a_method_are_reported(call, options, sentence):
    assert call([0.0, 1, 3], [2.0, 5, 9], rng=0, **options).warnings == (() if sentence is None else (sentence,))


@pytest.mark.parametrize("call, name, meant", [
    (kqd.test, "n_resample", "n_resamples"), (kqd.distance, "bandwith", "bandwidth"), (kqd.test, "workres", "workers")])
def test_a_misspelt_keyword_gets_a_suggestion(call, name, meant):
    with pytest.raises(TypeError, match=f'unknown keyword "{name}".*; did you mean {meant}\\?$'):
        call([0.0, 1], [2.0, 3], **{name: 1})


EMBEDDING = kqd.Embedding(X, rng=0)


@pytest.mark.parametrize("call, name, meant", [
    (kqd.test, "permutations", "n_resamples"), (kqd.test, "n_permutations", "n_resamples"), (kqd.test, "seed", "rng"), (kqd.test, "threads", "workers"),
    (kqd.test, "num_reference", "n_reference"), (kqd.test, "yes_quadratic", "allow_quadratic"),
    (kqd.test, "randomise_ties", "randomised_ties"), (kqd.test, "weights", "x_weights"), (kqd.test, "na", "nan_policy"),
    (kqd.distance, "seed", "rng"), (kqd.distance, "num_directions", "n_directions"),
    (kqd.explain, "permutations", "n_resamples"), (kqd.explain, "seed", "rng"), (kqd.explain, "threads", "workers"),
    (kqd.explain, "column", "columns"), (kqd.Embedding, "seed", "rng"), (kqd.Embedding, "band_width", "bandwidth"),
    (EMBEDDING.embed, "na", "nan_policy"), (EMBEDDING.distance, "threads", "workers"),
])
def test_names_of_the_program_get_a_suggestion(call, name, meant):
    samples = (X,) if getattr(call, "__self__", None) is EMBEDDING or call is kqd.Embedding else (X, Y)
    with pytest.raises(TypeError, match=f'^unknown keyword "{name}".* of kqd\\..*; did you mean {meant}\\?$'):
        call(*samples, **{name: 1})


def test_a_keyword_that_nobody_has_gets_none():
    with pytest.raises(TypeError, match='^unknown keyword "permutations" of kqd.Embedding$'):
        kqd.Embedding(X, permutations=9)
    with pytest.raises(TypeError, match=r"nor of a method$"):
        kqd.distance(X, Y, permutations=9)
    with pytest.raises(TypeError, match=r"nor of method ekqd \(its own: none\)$"):
        kqd.distance(X, Y, landmarks=9)


# Issue 23.
def test_an_unknown_keyword_is_reported_before_a_bad_value():
    with pytest.raises(TypeError, match='^unknown keyword "permutatons"'):
        kqd.test(X, Y, permutatons=9, alpha=7)


# Keywords that are data, or that change what is returned and not what is computed.
_NOT_IN_THE_TABLE = {"x", "y", "sample", "self", "x_weights", "y_weights", "weights", "blocks", "clusters",
                     "columns", "profiles", "progress", "parameters", "against"}


@pytest.mark.parametrize("name, call", [("test", kqd.test), ("distance", kqd.distance), ("explain", kqd.explain),
                                        ("embedding", kqd.Embedding.__init__)])
def test_signatures_agree_with_the_table_of_options(name, call):
    table = _core.options(name)
    signature = inspect.signature(inspect.unwrap(call)).parameters
    not_in_the_table = _NOT_IN_THE_TABLE | ({"nan_policy"} if name == "embedding" else set())
    assert set(table) == set(signature) - not_in_the_table
    for keyword, (kind, default) in table.items():
        value = signature[keyword].default
        if value is None:  # the library's default
            continue
        text = {True: "yes", False: "no"}[value] if kind == "flag" else ",".join(value) if kind == "list" else str(value)
        assert text.removesuffix(".0") == default, keyword


def test_errors_carry_their_parts():
    with pytest.raises(ValueError) as raised:
        kqd.test(X, Y, n_resamples=0)
    error = raised.value
    assert (error.option, error.value, error.expected) == ("n_resamples", "0", "a whole number in 1..1000000000")
    with pytest.raises(ValueError, match="^x: row 1, column 1 is nan"):
        kqd.test([np.nan, 1.0], [1.0, 2.0], nan_policy="raise")


@pytest.mark.parametrize("options, sentence", [
    (dict(alpha=2.0), "alpha=2.0: expected a number between 0 and 1"),
    (dict(confidence_level=0.0), "confidence_level=0.0: expected a number between 0 and 1"),
    (dict(n_resamples=0), "n_resamples=0: expected a whole number in 1.."),
    (dict(n_resamples=10**30), f"n_resamples={10**30}: expected a whole number in 1.."),
    (dict(power=0.5), "power=0.5: expected a number >= 1, or inf"),
    (dict(n_directions=0), "n_directions=0: expected a whole number in 1.."),
])
def test_sentences_call_options_by_their_python_names(options, sentence):
    with pytest.raises(ValueError) as raised:
        kqd.test([0.0, 1, 2], [2.0, 3, 4], method="ekqd", rng=0, **options)
    assert str(raised.value).startswith(sentence)


def test_a_level_out_of_range_is_called_a_level():
    with pytest.raises(ValueError, match=r"^level = 2, needs a number in \[0, 1\]$"):
        kqd.Embedding([[0.0], [1.0]], rng=0).quantiles(2)


def test_options_that_a_limiting_distribution_ignores_are_named():
    x, y = np.random.default_rng(0).normal(size=(2, 80, 1))
    options = dict(method="mmd-lin", calibration="asymptotic", rng=0)
    assert kqd.test(x, y, **options).warnings == ()
    assert kqd.test(x, y, early_stop="betting", n_resamples=99, **options).warnings == (
        'n_resamples, early_stop: no effect with calibration="asymptotic"',)
    assert kqd.test(x, y, randomised_ties=True, **options).warnings == (
        'randomised_ties: no effect with calibration="asymptotic"',)


def test_names_of_files_are_refused():
    for name in ("reference", "weighting"):
        with pytest.raises(ValueError, match=f'{name}="points.csv": expected'):
            kqd.distance([1.0, 2.0], [1.0, 3.0], rng=0, **{name: "points.csv"})
