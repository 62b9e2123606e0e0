"""Kernels of the caller's own: Python functions of blocks, and Gram matrices."""

import concurrent.futures
import threading

import kqd
import numpy as np
import oracle
import pytest

RNG = np.random.default_rng(8)
X, Y = RNG.normal(size=(40, 3)), RNG.normal(size=(30, 3)) + 0.5
POOL = np.concatenate([X, Y])


def gaussian(a, b):
    return np.exp(-oracle.r2(a, b) / (2 * 1.5**2))


def diffuse(a, b):
    return 1 / (1 + oracle.r2(a, b))


GRAM = gaussian(POOL, POOL)
BY_VALUES = [method.id for method in kqd.methods()
             if method.uses_kernel and method.id not in ("adaptive", "mmd-rff", "scf")]


# ---- Functions ----

@pytest.mark.parametrize("method", BY_VALUES)
def test_a_function_gives_the_numbers_of_the_same_kernel_by_name(method):
    options = dict(method=method, rng=2, n_directions=5)
    expected = kqd.distance(X, Y, kernel="gaussian@1.5", **options).statistic
    # Values differ by roundings; ascents and eigenvalues magnify them.
    assert kqd.distance(X, Y, kernel=gaussian, **options).statistic == pytest.approx(expected, rel=1e-6, abs=1e-9)
    tested = kqd.test(X, Y, kernel=gaussian, n_resamples=60, **options)
    by_name = kqd.test(X, Y, kernel="gaussian@1.5", n_resamples=60, **options)
    assert tested.statistic == pytest.approx(by_name.statistic, rel=1e-6, abs=1e-9)
    assert tested.pvalue == pytest.approx(by_name.pvalue, abs=1.5 / 61)
    assert (tested.kernel, tested.bandwidth, tested.settings["kernel"]) == ("gaussian", None, "gaussian")


def test_an_mmd_of_a_function_is_that_of_its_gram_matrix():
    k = diffuse(POOL, POOL)
    h = np.r_[np.full(40, 1 / 40), np.full(30, -1 / 30)]
    found = kqd.distance(X, Y, method="mmd-v", kernel=diffuse, rng=0).statistic
    assert found == pytest.approx(np.sqrt(h @ k @ h), rel=1e-10)


def test_the_adaptive_test_takes_a_function():
    found = kqd.test(X, Y, kernel=lambda a, b: gaussian(a, b), rng=0, n_resamples=99)
    assert found.method == "adaptive" and found.kernel == "custom"
    assert any(entry.name == "quantiles, kernel custom, on average" for entry in found.components)


def test_what_the_function_returns_may_be_of_any_type_of_number_and_layout():
    expected = kqd.distance(X, Y, kernel=lambda a, b: a @ b.T + 1.0, rng=0).statistic
    for convert in (np.ndarray.tolist, np.asfortranarray, lambda v: v[::-1][::-1]):
        assert kqd.distance(X, Y, kernel=lambda a, b: convert(a @ b.T + 1.0), rng=0).statistic == expected


def test_the_function_may_keep_what_it_was_given():
    kept = []

    def keep(a, b):
        kept.append((a, a.copy()))
        return gaussian(a, b)

    kqd.distance(X, Y, kernel=keep, rng=0)
    assert kept and all((given == copy).all() for given, copy in kept)


class Flawed(Exception):
    pass


@pytest.mark.parametrize("run", [kqd.distance, kqd.test])
@pytest.mark.parametrize("workers", [1, 4])
def test_what_the_function_raises_reaches_the_caller(run, workers):
    calls = []

    def flawed(a, b):
        calls.append(1)
        if len(calls) > 5:
            raise Flawed("no more")
        return gaussian(a, b)

    many = RNG.normal(size=(2000, 3))
    with pytest.raises(Flawed, match="no more"):
        run(many, many + 1, method="mmd", kernel=flawed, workers=workers, rng=0)
    assert kqd.distance(X, Y, rng=0).statistic > 0  # all is well afterwards


@pytest.mark.parametrize("kernel, error, sentence", [
    (lambda a, b: np.ones(len(a)), ValueError,
     "kernel custom returned shape (32,) for blocks of 32 and 32 rows, expected (32, 32)"),
    (lambda a, b: None, TypeError, "kernel custom returned values of dtype object, expected real numbers"),
    (lambda a, b: 1j * a @ b.T, TypeError, "kernel custom returned values of dtype complex128, expected real numbers"),
    (lambda a, b: np.repeat(a[:, :1] ** 2, len(b), axis=1), ValueError, "kernel custom is not symmetric: "),
    (lambda a, b: -a @ b.T, ValueError, "kernel custom is -"),
    (lambda a, b: a @ b.T * np.nan, ValueError, "kernel custom is nan for the points ("),
])
def test_functions_that_are_no_kernels_are_refused(kernel, error, sentence):
    with pytest.raises(error) as raised:
        kqd.distance(X, Y, kernel=kernel, rng=0)
    assert str(raised.value).startswith(sentence)


@pytest.mark.parametrize("method, sentence", [
    ("mmd-rff", "expected one with random Fourier features"),
    ("scf", "scf: kernel gaussian, needs gaussian"),
])
def test_methods_that_need_more_than_values_refuse_a_function(method, sentence):
    with pytest.raises(ValueError, match=sentence):
        kqd.distance(X, Y, method=method, kernel=gaussian, rng=0)


def test_a_bandwidth_with_a_function_is_refused():
    with pytest.raises(ValueError) as raised:
        kqd.distance(X, Y, kernel=gaussian, bandwidth=2)
    assert str(raised.value) == "bandwidth=2: expected none, because kernel gaussian has no bandwidth"


def test_functions_are_called_from_several_threads_at_once():
    expected = [kqd.distance(X, Y, kernel=gaussian, rng=seed).statistic for seed in range(12)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda seed: kqd.distance(X, Y, kernel=gaussian, rng=seed).statistic, range(12)))
    assert found == expected


def test_a_function_may_compare_samples_itself():
    def nested(a, b):
        kqd.distance(X[:5], Y[:5], rng=0)
        return gaussian(a, b)

    assert kqd.distance(X, Y, kernel=nested, rng=0).statistic == kqd.distance(X, Y, kernel=gaussian, rng=0).statistic


def test_other_threads_run_while_a_function_is_waited_for():
    ticks, done = [], threading.Event()

    def tick():
        while not done.wait(0.001):
            ticks.append(1)

    thread = threading.Thread(target=tick)
    thread.start()
    x, y = RNG.normal(size=(2, 1500, 3))
    kqd.test(x, y, method="mmd", kernel=gaussian, rng=0, n_resamples=99)
    done.set()
    thread.join()
    assert len(ticks) > 3


# ---- Gram matrices ----

@pytest.mark.parametrize("method", [m for m in BY_VALUES if m != "me"])
def test_a_gram_matrix_gives_the_numbers_of_its_kernel(method):
    options = dict(method=method, rng=2)
    found = kqd.distance(GRAM[:40], GRAM[40:], kernel="precomputed", **options)
    assert (found.kernel, found.n_x, found.n_y, found.dim) == ("precomputed", 40, 30, 0)
    if method.startswith("mmd") and not method.endswith("nystrom"):  # what draws no rows of the pool
        expected = kqd.distance(X, Y, kernel=gaussian, **options)
        assert found.statistic == pytest.approx(expected.statistic, rel=1e-9)
    assert 0 < kqd.test(GRAM[:40], GRAM[40:], kernel="precomputed", n_resamples=50, **options).pvalue <= 1


def test_a_discrepancy_of_a_gram_matrix_takes_reference_points_from_the_pool():
    found = kqd.distance(GRAM[:40], GRAM[40:], kernel="precomputed", n_reference=70, coefficients=None, rng=0)
    assert (found.reference, found.n_reference) == ("pooled", 70)
    # All pooled rows in some order: the oracle's directions with the same order.
    same = kqd.distance(X, Y, kernel=gaussian, reference="pooled", n_reference=70, rng=0)
    assert found.statistic == pytest.approx(same.statistic, rel=1e-9)


def test_things_without_coordinates_can_be_compared():
    words_x, words_y = ["aab", "abb", "aaa", "bab"], ["ccc", "bcc", "cac"]
    shared = lambda v, w: float(len(set(v) & set(w)))
    pool = words_x + words_y
    gram = np.array([[shared(v, w) for w in pool] for v in pool])
    found = kqd.test(gram[:4], gram[4:], kernel="precomputed", method="mmd", rng=0)
    assert found.enumerated and found.n_resamples == 35 and found.pvalue <= 2 / 35


def test_a_test_by_a_gram_matrix_finds_a_shift():
    pool = np.concatenate([X, Y + 2])
    gram = gaussian(pool, pool)
    found = kqd.test(gram[:40], gram[40:], kernel="precomputed", rng=0)
    assert (found.method, found.pvalue) == ("adaptive", 0.001)
    found = kqd.test(gram[:40], gram[40:], kernel="precomputed", method="ekqd", rng=0)
    assert found.pvalue == 0.001 and found.n_set_aside == found.n_reference > 0


def lopsided():
    matrix = GRAM.copy()
    matrix[3, 8] += 0.1
    return matrix


def holed():
    matrix = GRAM.copy()
    matrix[3, 8] = np.nan
    return matrix


@pytest.mark.parametrize("gram, options, sentence", [
    (GRAM[:, :60], {}, 'x has 60 columns, but kernel "precomputed" needs one per pooled row, 70: '
                       "x and y are the rows of the pooled Gram matrix, x = gram[:n_x] and y = gram[n_x:]"),
    (lopsided(), {}, f"the Gram matrix is not symmetric: {GRAM[8, 3]:.6g} in row 9, column 4 and "
                     f"{lopsided()[3, 8]:.6g} the other way round"),
    (holed(), {}, "row 4, column 9 of the Gram matrix is nan, expected a finite number"),
    (GRAM, dict(method="sw"),
     'method="sw": expected adaptive, ekqd, mmd or another one that needs kernel values only, with kernel precomputed'),
    (GRAM, dict(method="mmd-agg"),
     'method="mmd-agg": expected adaptive, ekqd, mmd or another one that needs kernel values only, with kernel precomputed'),
    (GRAM, dict(directions="axis"),
     'directions="axis": expected gaussian, principal or mixed, because kernel precomputed has no columns'),
    (GRAM, dict(reference="uniform"),
     'reference="uniform": expected pooled, because kernel precomputed is known only on the objects'),
    (GRAM, dict(reference=[0.5]),
     "reference has 0.5, expected numbers of the 70 objects, 0 to 69"),
    (GRAM, dict(x_weights=np.ones(40)),
     'x_weights are given with kernel "precomputed", which takes rows without weights'),
    (GRAM, dict(bandwidth=1.0), "bandwidth=1: expected none, because kernel precomputed has no bandwidth"),
    (GRAM, dict(nan_policy="omit"), 'nan_policy "omit" is for rows of data, kernel "precomputed" has none; exclude '
                                    "them first"),
])
def test_matrices_and_options_that_do_not_fit_are_refused(gram, options, sentence):
    with pytest.raises(ValueError) as raised:
        kqd.test(gram[:40], gram[40:], kernel="precomputed", rng=0, n_resamples=9, **options)
    assert str(raised.value) == sentence


# Issue 22: p = 1 on a shift of two standard deviations.
@pytest.mark.parametrize("method", ["mmd", "mmd-v", "kmedian", "monk", "ekqd"])
def test_a_distance_matrix_is_not_taken_for_a_gram_matrix(method):
    rng = np.random.default_rng(0)
    pool = np.concatenate([rng.normal(size=(40, 3)), rng.normal(size=(35, 3)) + 2])
    distances = np.linalg.norm(pool[:, None] - pool, axis=-1)
    for matrix in (distances, distances**2, -distances):
        with pytest.raises(ValueError, match="a distance D is not a kernel, but exp"):
            kqd.test(matrix[:40], matrix[40:], kernel="precomputed", method=method, rng=0)
    gram = np.exp(-((distances / 2) ** 2))
    assert kqd.test(gram[:40], gram[40:], kernel="precomputed", method=method, rng=0).pvalue < 0.05
    with pytest.raises(ValueError, match="a distance D is not a kernel"):
        kqd.test(pool[:40], pool[40:], method=method, rng=0,
                 kernel=lambda a, b: np.linalg.norm(a[:, None] - b, axis=-1))


# A kernel is one up to a factor; not so the arithmetic.
@pytest.mark.parametrize("method", ["me", "kce"])
def test_a_kernel_whose_squares_vanish_is_warned_of(method):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 2)), rng.normal(size=(35, 2)) + 2
    tiny = lambda a, b: 1e-300 * np.exp(-((a[:, None] - b) ** 2).sum(-1))
    found = kqd.test(x, y, kernel=tiny, method=method, rng=0, n_resamples=99)
    assert "tiny-kernel" in found.warning_ids
