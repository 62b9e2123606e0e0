"""kqd.test: exact p-values, what comes back, and how a long test is ended."""

import concurrent.futures
import dataclasses
import json
import multiprocessing
import pathlib
import pickle
import re
import signal
import subprocess
import sys
import textwrap
import threading

import kqd
import permutations
import numpy as np
import oracle
import pytest

RNG = np.random.default_rng(4)
X, Y = RNG.normal(size=(60, 3)), RNG.normal(size=(45, 3)) + 0.3

# Small samples whose permutations can all be listed. Rounded ones have ties, across the samples too.
SMALL = {
    "equal sizes": (RNG.normal(size=(5, 2)), RNG.normal(size=(5, 2)) + 0.5),
    "unequal sizes": (RNG.normal(size=(3, 2)), RNG.normal(size=(6, 2)) + 0.5),
    "ties": (RNG.normal(size=(5, 2)).round(), RNG.normal(size=(4, 2)).round() + 1),
}
REFERENCE, COEFFICIENTS = RNG.normal(size=(4, 2)), RNG.normal(size=(4, 3))
KERNEL = "gaussian@1.3"


def kqd_oracle(method, power, weighting):
    def statistic(x, y, x_weights=None, y_weights=None):
        return oracle.discrepancy(method, x, y, oracle.KERNELS[KERNEL], REFERENCE, COEFFICIENTS, power, weighting,
                                  x_weights, y_weights).statistic
    return statistic


# How to ask kqd for a statistic, and the same statistic by other means.
STATISTICS = {
    f"{method} {power} {weighting}": (
        dict(method=method, kernel=KERNEL, reference=REFERENCE, coefficients=COEFFICIENTS, power=power,
             weighting=weighting),
        kqd_oracle(method, power, weighting))
    for method, power, weighting in [("ekqd", 1, "uniform"), ("ekqd", 2, "triangle:0.25"), ("supkqd", 1.5, "uniform"),
                                     ("supkqd", np.inf, "uniform"), ("ekqd-centered", 2, "uniform")]
}
STATISTICS["mmd"] = dict(method="mmd", kernel=KERNEL), permutations.mmd_u(oracle.KERNELS[KERNEL])
STATISTICS["mmd-v"] = dict(method="mmd-v", kernel=KERNEL), permutations.mmd_v(oracle.KERNELS[KERNEL])


def check_all_permutations(x, y, options, statistic, allowed, weights=(None, None), **design):
    found = kqd.test(x, y, **options, **design, rng=3, null_distribution=True, x_weights=weights[0],
                     y_weights=weights[1])
    values = permutations.null_values(statistic, x, y, allowed, *weights)
    observed = statistic(x, y) if weights[0] is None else statistic(x, y, *weights)
    assert found.enumerated and found.n_resamples == len(allowed)
    # Samples of equal size are permuted in single precision, good to 1e-6 of the statistic (simd/label_scan.hpp).
    # Roots magnify rounding near 0: the square root of 1e-16 is 1e-8.
    assert found.statistic == pytest.approx(observed, rel=1e-6, abs=1e-7)
    assert np.sort(found.null_distribution) == pytest.approx(np.sort(values), rel=1e-6, abs=1e-7)
    assert found.pvalue == permutations.exact_pvalue(values, observed)
    assert found.pvalue == found.n_exceed / found.n_resamples and found.pvalue_ci == (found.pvalue, found.pvalue)
    assert found.permutation_mean == pytest.approx(values.mean(), rel=1e-6, abs=1e-7)
    assert found.permutation_sd == pytest.approx(values.std(), rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("data", SMALL)
@pytest.mark.parametrize("name", STATISTICS)
def test_the_p_value_of_independent_samples_is_exact(name, data):
    x, y = SMALL[data]
    check_all_permutations(x, y, *STATISTICS[name], permutations.independent(len(x), len(y)))


@pytest.mark.parametrize("name", STATISTICS)
def test_the_p_value_of_pairs_is_exact(name):
    x, y = RNG.normal(size=(2, 6, 2))
    check_all_permutations(x, y, *STATISTICS[name], permutations.paired(6), design="paired")


@pytest.mark.parametrize("name", STATISTICS)
def test_the_p_value_within_blocks_is_exact(name):
    x, y = SMALL["unequal sizes"]
    blocks = [1, 1, 7], [1, 7, 7, 1, 7, -2]
    check_all_permutations(x, y, *STATISTICS[name], permutations.within_blocks(3, blocks[0] + blocks[1]), blocks=blocks)


@pytest.mark.parametrize("name", STATISTICS)
def test_the_p_value_of_whole_clusters_is_exact(name):
    x, y = RNG.normal(size=(6, 2)), RNG.normal(size=(8, 2))
    clusters = [1, 1, 2, 2, 3, 3], [4, 4, 5, 5, 6, 6, 7, 7]
    check_all_permutations(x, y, *STATISTICS[name], permutations.of_clusters(6, clusters[0] + clusters[1]),
                         clusters=clusters)


def test_weights_that_differ_need_to_be_explained():
    x, y, weights = RNG.normal(size=(20, 2)), RNG.normal(size=(40, 2)), np.exp(RNG.normal(size=20))
    with pytest.raises(ValueError, match='^X has weights and Y has none; state what the weights are: '
                                         'weights_as="frequency" '):
        kqd.test(x, y, x_weights=weights, rng=0)
    with pytest.raises(ValueError, match='^weights_as="surveys": expected one of '):
        kqd.test(x, y, x_weights=weights, weights_as="surveys", rng=0)
    for kind in ("frequency", "precision", "sampling"):
        found = kqd.test(x, y, x_weights=weights, weights_as=kind, method="energy", n_resamples=19, rng=0)
        assert found.weights_as == kind
        assert [note.split(" weights: ")[0] for note in found.notes] == [kind] * (kind != "frequency")
        again = kqd.test(x[::-1], y, x_weights=weights[::-1], weights_as=kind, method="energy", n_resamples=19, rng=0)
        assert again.pvalue == found.pvalue  # whatever the order of the rows


def test_clusters_of_other_sizes_are_reduced_and_it_is_said():
    x, y = RNG.normal(size=(40, 2)), RNG.normal(size=(10, 2))
    found = kqd.test(x, y, clusters=(np.arange(40) // 5, 100 + np.arange(10)), method="energy", n_resamples=19, rng=0)
    assert found.note_ids == ("clusters-reduced-to-smallest",)
    assert found.notes == (
        "cluster sizes differ between X and Y (1 to 5 rows): all clusters were reduced to the smallest size by random "
        "draws, which leaves 8 of 40 rows of X and 10 of 10 of Y",)


@pytest.mark.parametrize("name", STATISTICS)
def test_the_p_value_of_weighted_rows_is_exact(name):
    x, y = SMALL["unequal sizes"]
    weights = RNG.uniform(0.5, 2, len(x)), RNG.uniform(0.5, 2, len(y))
    check_all_permutations(x, y, *STATISTICS[name], permutations.independent(len(x), len(y)), weights=weights)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("n_x, n_y", [(5, 5), (3, 7)])
@pytest.mark.parametrize("directions", ["gaussian", "linear", "axis"])
def test_the_linear_kernel_on_the_line_tests_by_wasserstein(directions, n_x, n_y, power):
    x, y = RNG.normal(size=n_x), RNG.normal(size=n_y) + 1
    options = dict(method="ekqd", kernel="linear", directions=directions, power=power, n_directions=3)
    check_all_permutations(x, y, options, permutations.wasserstein(power), permutations.independent(n_x, n_y))


def test_sign_flips_are_the_swaps_of_pairs():
    x, y = RNG.normal(size=(2, 6, 2))
    check_all_permutations(x, y, *STATISTICS["mmd"], permutations.paired(6), calibration="sign-flip")


@pytest.mark.parametrize("method", [method.id for method in kqd.methods()])
def test_random_permutations_give_one_plus_k_over_one_plus_b(method):
    drawn = 399 if method == "mmd-agg" else 150  # 20 kernels at level 0.05 need 399
    found = kqd.test(X, Y, method=method, rng=1, n_resamples=150, null_distribution=True)
    assert not found.enumerated and found.n_resamples == drawn == len(found.null_distribution)
    assert ("399 permutations are used instead of 150" in " ".join(found.warnings)) == (drawn == 399)
    assert found.n_exceed == (found.null_distribution >= found.statistic).sum()
    assert found.pvalue == (1 + found.n_exceed) / (drawn + 1)
    assert found.pvalue_ci[0] <= found.n_exceed / drawn <= found.pvalue_ci[1]
    assert found.permutation_mean == pytest.approx(found.null_distribution.mean(), rel=1e-12)
    assert found.permutation_sd == pytest.approx(found.null_distribution.std(ddof=1), rel=1e-9)


@pytest.mark.parametrize("method", ["ekqd", "supkqd-centered", "mmd"])
@pytest.mark.parametrize("options", [dict(power=2), dict(reference="pooled"), dict(early_stop="betting"),
                                     dict(effect_interval=True, n_directions=32)])
def test_the_number_of_workers_changes_no_bit(method, options):
    run = lambda workers: kqd.test(X, Y, method=method, **options, rng=2, n_resamples=199, null_distribution=True,
                                   workers=workers).to_dict()
    expected = run(1)
    for workers in (2, 3, 4):
        assert {**run(workers), "elapsed_s": 0, "threads": 1} == {**expected, "elapsed_s": 0}


def test_a_test_has_the_statistic_of_the_distance():
    options = dict(kernel=KERNEL, reference=X[:8] + 0.1, rng=0)
    found, distance = kqd.test(X, Y, **options), kqd.distance(X, Y, **options)
    assert found.statistic == pytest.approx(distance.statistic, rel=1e-12)
    assert found.per_direction == pytest.approx(distance.per_direction, rel=1e-12)


def test_early_stopping_draws_less_and_decides_the_same():
    alike = X[:30], X[30:]
    full = kqd.test(*alike, method="ekqd", rng=0)
    for rule in ("besag-clifford", "betting"):
        found = kqd.test(*alike, method="ekqd", rng=0, early_stop=rule)
        assert found.stopped_early and found.n_resamples < full.n_resamples
        assert found.reject == full.reject == False  # noqa: E712


def test_randomised_ties_lie_below_the_p_value_with_all_ties_counted():
    x, y = np.zeros(8), np.r_[np.zeros(7), 1]
    assert kqd.test(x, y, rng=0).pvalue == 1.0
    assert 0 < kqd.test(x, y, rng=0, randomised_ties=True).pvalue < 1


def test_pooled_reference_points_are_set_aside_unless_told_otherwise():
    found = kqd.test(X, Y, reference="pooled", n_reference=10, rng=0, n_resamples=9)
    assert (found.n_set_aside, found.n_reference, found.reference, found.n_x) == (10, 10, "pooled", 60)
    assert kqd.test(X, Y, reference="pooled", set_aside=False, rng=0, n_resamples=9).n_set_aside == 0


def test_the_effect_size_has_an_interval_on_request():
    found = kqd.test(X, Y + 1, rng=0, n_resamples=99, effect_interval=True, confidence_level=0.9)
    low, high = found.effect_size_ci
    assert low <= found.effect_size < high
    assert "(90% CI" in repr(found)
    assert kqd.test(X, Y, rng=0, n_resamples=99).effect_size_ci is None


@pytest.mark.parametrize("kernel", ["gaussian", "linear", "energy", "polynomial"])
@pytest.mark.parametrize("reference", ["gaussian", "uniform", "pooled"])
@pytest.mark.parametrize("value", [0.0, 0.1, -7.0])
def test_identical_points_are_not_told_apart(value, reference, kernel):
    x, y = np.full((40, 3), value), np.full((30, 3), value)
    warning = "all 70 pooled points are identical: there is nothing to compare"
    for method in ("ekqd", "supkqd", "ekqd-centered"):
        options = dict(method=method, kernel=kernel, reference=reference, rng=0)
        distance, found = kqd.distance(x, y, **options), kqd.test(x, y, **options, n_resamples=99)
        # Gaps are off by some roundings of sqrt(k(x, x)); the centered gap is the root of a difference of such squares.
        largest = (1 + 3 * value**2) ** 3  # of the polynomial kernel; the others are smaller
        bound = np.sqrt(largest * 1000 * oracle.EPS) if method.endswith("centered") else np.sqrt(largest) * 1e-12
        assert distance.statistic <= bound and found.statistic <= bound
        assert found.pvalue == 1 and not found.reject
        assert warning in distance.warnings and warning in found.warnings


# ---- Which method runs when none is named ----

@pytest.mark.parametrize("options", [
    dict(), dict(kernel="laplace"), dict(bandwidth=2), dict(design="independent"), dict(randomised_ties=True),
    dict(set_aside=False), dict(null_distribution=True), dict(combine="rank"), dict(landmarks=16),
    dict(compat=[]), dict(compat=""),
    # Values that are the defaults.
    dict(directions="gaussian", n_directions=None, n_reference=None, reference="gaussian", coefficients=None,
         power=1, weighting="uniform", compat=(), whiten=False, early_stop=None, effect_interval=False),
])
def test_a_test_is_adaptive_unless_told_otherwise(options):
    found = kqd.test(X, Y, **options, rng=0, n_resamples=9)
    assert found.method == "adaptive"
    expected = kqd.test(X, Y, **options, method="adaptive", rng=0, n_resamples=9)
    assert {**found.to_dict(), "elapsed_s": 0} == {**expected.to_dict(), "elapsed_s": 0}


@pytest.mark.parametrize("options", [
    dict(directions="linear"), dict(n_directions=5), dict(n_directions=np.int64(64)), dict(n_reference=3), dict(reference="uniform"),
    dict(reference=-X[:4]), dict(reference=(-X[:4]).tolist()), dict(coefficients=np.ones((4, 2))), dict(power=2),
    dict(weighting="triangle"), dict(compat=["jitter"]), dict(compat="jitter"), dict(whiten=True),
    dict(early_stop="betting", power=2),
])
def test_an_option_of_one_statistic_means_ekqd(options):
    found = kqd.test(X, Y, **options, rng=0, n_resamples=9)
    assert found.method == "ekqd"
    expected = kqd.test(X, Y, **options, method="ekqd", rng=0, n_resamples=9)
    assert {**found.to_dict(), "elapsed_s": 0} == {**expected.to_dict(), "elapsed_s": 0}


# Issue 22: the method became ekqd, and with it the p-value.
@pytest.mark.parametrize("more", [dict(effect_interval=True), dict(profiles=2), dict(null_distribution=True),
                                  dict(effect_interval=True, profiles=3, null_distribution=True)])
def test_asking_for_more_output_changes_nothing_else(more):
    plain, found = (kqd.test(X, Y, rng=0, n_resamples=99, **options) for options in (dict(), more))
    kept = ("effect_size_ci", "profiles", "null_distribution", "settings", "elapsed_s")
    same = lambda result: {name: value for name, value in result.to_dict().items() if name not in kept}
    assert (same(found), found.method) == (same(plain), "adaptive")
    assert (found.effect_size_ci is not None, len(found.profiles)) == ("effect_interval" in more, more.get("profiles", 0))


def test_profiles_and_effect_interval_of_the_adaptive_test_are_those_of_ekqd():
    options = dict(rng=0, n_resamples=63, profiles=3, effect_interval=True)
    found = kqd.test(X, Y, **options)
    ekqd = kqd.test(X, Y, method="ekqd", n_directions=64, n_reference=64, **options)
    assert [entry.direction for entry in found.profiles] == [entry.direction for entry in ekqd.profiles]
    for ours, theirs in zip(found.profiles, ekqd.profiles):
        np.testing.assert_allclose(ours.x_quantiles, theirs.x_quantiles, rtol=1e-12)
    assert found.effect_size_ci == pytest.approx(ekqd.effect_size_ci, rel=1e-9)
    assert (found.n_directions, len(found.per_direction)) == (0, 0)


def test_units_of_columns_do_not_matter():
    scaled = [values * [1000.0, 0.01, 1.0] + [5.0, -3.0, 0.0] for values in (X, Y)]
    one, other = kqd.test(X, Y, n_resamples=199), kqd.test(*scaled, n_resamples=199)
    assert one.pvalue == other.pvalue and one.own_scales
    assert not kqd.test(*scaled, n_resamples=9, standardize="none").own_scales
    assert not kqd.test(*scaled, n_resamples=9, method="mmd").own_scales
    for method in ("adaptive", "mmd"):
        one, other = (kqd.test(*samples, n_resamples=199, method=method, standardize="zscore") for samples in ((X, Y), scaled))
        assert one.pvalue == other.pvalue and one.statistic == pytest.approx(other.statistic, rel=1e-9)
    with pytest.raises(ValueError, match='standardize="minmax": expected one of auto, none, zscore, iqr'):
        kqd.test(X, Y, standardize="minmax")


def test_the_seed_does_not_choose_the_p_value():
    assert len({kqd.test(X, Y, rng=seed, n_resamples=199).pvalue for seed in range(5)}) == 1


def test_early_stopping_of_a_combined_test_is_refused():
    with pytest.raises(ValueError, match='adaptive combines several; use method="ekqd"'):
        kqd.test(X, Y, early_stop="betting", rng=0)


def test_a_named_method_stays_whatever_else_is_given():
    assert kqd.test(X, Y, method="supkqd", power=2, rng=0, n_resamples=9).method == "supkqd"
    assert kqd.test(X, Y, method="adaptive", power=2, rng=0, n_resamples=9).method == "adaptive"


# ---- What comes back ----

@pytest.fixture
def result():
    return kqd.test(X, Y, rng=5, n_resamples=99)


def test_a_result_unpacks_like_those_of_scipy(result):
    statistic, pvalue = result
    assert (statistic, pvalue) == (result.statistic, result.pvalue)


def test_a_result_says_what_was_tested_and_how(result):
    assert (result.design, result.calibration, result.seed) == ("independent", "permutation", 5)
    assert (result.method, result.directions, len(result.per_direction)) == ("adaptive", None, 0)
    assert (result.n_x, result.n_y, result.dim) == (60, 45, 3)
    assert result.reject == (result.pvalue <= result.alpha) and result.alpha == 0.05
    assert result.null_distribution is None
    assert result.elapsed_s > 0 and result.warnings == ()


def test_a_result_of_one_statistic_tells_its_directions():
    found = kqd.test(X, Y, method="ekqd", rng=5, n_resamples=9)
    assert (found.directions, found.n_directions, found.reference) == ("gaussian", 840, "gaussian")
    assert found.per_direction.shape == (840,)


def test_methods_without_directions_say_so():
    found = kqd.test(X, Y, method="mmd", rng=0, n_resamples=9)
    assert (found.directions, found.power, found.weighting, found.reference) == (None, None, None, None)
    assert found.n_directions == found.n_reference == len(found.per_direction) == 0
    assert "directions" not in repr(found) and "MMD_V" not in repr(found)
    distance = kqd.distance(X, Y, method="mmd", rng=0)
    assert (distance.directions, distance.power, distance.weighting) == (None, None, None)


def test_a_result_cannot_be_changed():
    found = kqd.test(X, Y, rng=0, n_resamples=9, null_distribution=True)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.pvalue = 0.0
    for array in (found.per_direction, found.null_distribution):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


def test_a_result_becomes_a_plain_dictionary_and_can_be_pickled(result):
    plain = result.to_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert list(plain) == [field.name for field in dataclasses.fields(kqd.TestResult) if field.name[0] != "_"]
    assert pickle.loads(pickle.dumps(result)).to_dict() == plain


def test_a_result_prints_as_a_block(result):
    lines = repr(result).splitlines()
    assert re.match(r"TestResult: (The samples differ|No difference found) \(p = ", lines[0])
    assert lines[-1] == "  seed         5"
    assert lines[1].startswith(f"  statistic    {result.statistic:.4g}") and "(permutation null: mean " in lines[1]
    assert lines[2].startswith(f"  p-value      {result.pvalue:.4g}") and " (95% CI " in lines[2]
    assert lines[2].endswith(f"; 99 permutations, {result.n_exceed} at least as extreme)")


# ---- Refused values ----

@pytest.mark.parametrize("options, sentence", [
    (dict(n_resamples=0), "n_resamples=0: expected a whole number in 1..1000000000"),
    (dict(n_resamples=-1), "n_resamples=-1: expected a whole number in 1..1000000000"),
    (dict(alpha=0), "alpha=0: expected a number between 0 and 1"),
    (dict(confidence_level=1), "confidence_level=1: expected a number between 0 and 1"),
    (dict(design="blocks"), 'design="blocks": expected "independent" or "paired", or use blocks= or clusters='),
    (dict(design="pared"), 'design="pared": expected "independent" or "paired", or use blocks= or clusters=; did you mean paired?'),
    (dict(design="paired"), "paired design: X has 60 rows and Y has 45, needs equal numbers"),
    (dict(design="paired", blocks=([0] * 60, [0] * 45)),
     'blocks are given with design "paired", expected one of them'),
    (dict(blocks=([0] * 60, [0] * 45), clusters=([0] * 60, [0] * 45)),
     "blocks and clusters are both given, expected one of them"),
    (dict(blocks=([0] * 60, [0] * 44)), "blocks[1] has shape (44,), expected (45,): one whole number or text per row"),
    (dict(clusters=([0.5] * 60, [1] * 45)),
     "clusters[0] has numbers that are not whole, expected one whole number per row"),
    (dict(clusters=(["ward 1"] * 30 + ["ward 2"] * 30, ["ward 3"] * 20 + ["ward 2"] * 25)),
     'clusters design: cluster "ward 2" has rows in X and in Y, needs one label per cluster (blocks may hold both)'),
    (dict(clusters=([1] * 30 + [2] * 30, [3] * 20 + [2] * 25)),
     "clusters design: cluster 2 has rows in X and in Y, needs one label per cluster (blocks may hold both)"),
    (dict(clusters=([2**63] * 60, [1] * 45)), "clusters[0] has numbers beyond 64 bits"),
    (dict(calibration="wild"),
     'calibration="wild": expected one of permutation, sign-flip, asymptotic'),
    (dict(calibration="sign-flip"), 'calibration="sign-flip" needs samples of equal size, got 60 and 45'),
    (dict(early_stop="soon"), 'early_stop="soon": expected one of none, besag-clifford, betting'),
    (dict(early_stop="betting", randomised_ties=True), "randomised ties do not go with early stopping"),
    (dict(reference="balanced"), "reference balanced depends on the labels, so a test with it is not exact; "
                                 "use pooled, gaussian or uniform"),
    (dict(power=0.5), "power=0.5: expected a number >= 1, or inf"),
])
def test_values_out_of_range_are_refused(options, sentence):
    with pytest.raises(ValueError) as raised:
        kqd.test(X, Y, **options)
    assert str(raised.value) == sentence


@pytest.mark.parametrize("options, sentence", [
    (dict(method=1), "method is of type int, expected a string"),
    (dict(n_resamples=9.0), "n_resamples is of type float, expected a whole number"),
    (dict(alpha="0.05"), "alpha is of type str, expected a number"),
    (dict(design=1), "design is of type int, expected a string"),
    (dict(blocks=[0] * 105), "blocks is of type list, expected a pair: one column for x, one for y"),
    (dict(clusters=(["a"] * 60, [1] * 45)), "clusters are whole numbers in one sample and texts in the other, expected "
     "the same in both"),
    (dict(clusters=([None] * 60, ["b"] * 45)), "clusters[0] has dtype object, expected real numbers"),
    (dict(early_stop=True), "early_stop is of type bool, expected a string"),
    (dict(progress=3), "progress is of type int, expected True or a callable"),
])
def test_values_of_another_type_are_refused(options, sentence):
    with pytest.raises(TypeError) as raised:
        kqd.test(X, Y, **options)
    assert str(raised.value) == sentence


def test_data_are_checked_as_for_a_distance():
    with pytest.raises(ValueError, match="row 1, column 2 is nan"):
        kqd.test([[0, float("nan")], [1, 2]], [[1, 2], [3, 4]], nan_policy="raise")
    with pytest.raises(kqd.ResourceLimitError):
        kqd.test(np.arange(4e5), np.arange(4e5), method="mmd")


# ---- Long tests ----

def test_progress_is_reported_by_the_thread_that_asked():
    seen = []
    kqd.test(X, Y, rng=0, progress=lambda fraction, what: seen.append((fraction, what, threading.current_thread())))
    assert seen[-1] == (1.0, "permutations", threading.current_thread())
    fractions = [fraction for fraction, _, _ in seen]
    assert fractions == sorted(fractions) and 0 <= fractions[0]


def test_true_shows_a_bar_of_tqdm(capsys):
    pytest.importorskip("tqdm")
    kqd.test(X, Y, rng=0, n_resamples=99, progress=True)
    out, err = capsys.readouterr()
    assert out == "" and err.rstrip().splitlines()[-1].split("\r")[-1].startswith("permutations: 100%|")
    kqd.test(X, Y, rng=0, n_resamples=99, progress=False)
    assert capsys.readouterr().err == ""


def test_without_tqdm_a_bar_is_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError) as raised:
        kqd.test(X, Y, rng=0, n_resamples=9, progress=True)
    assert str(raised.value) == "progress=True shows a bar of tqdm, which is not installed; pass a callable"


@pytest.mark.parametrize("options", [dict(), dict(method="ekqd", power=2, workers=2), dict(method="mmd", workers=1)])
def test_tests_of_several_threads_do_not_disturb_each_other(options):
    run = lambda seed: kqd.test(X, Y, rng=seed, n_resamples=99, null_distribution=True, **options).to_dict()
    seeds = range(8)
    expected = [run(seed) for seed in seeds]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = list(pool.map(run, seeds))
    assert [{**r, "elapsed_s": 0} for r in found] == [{**r, "elapsed_s": 0} for r in expected]


def pvalue_of(seed):
    return kqd.test(X, Y, rng=seed, n_resamples=99).pvalue


def test_forked_processes_can_test_too():
    expected = [pvalue_of(seed) for seed in range(4)]  # the parent has a worker by now, which its children do not
    for _ in range(5):  # a worker may hold a lock at the moment of a fork
        pvalue_of(0)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map_async(pvalue_of, range(4)).get(timeout=60) == expected


def test_what_progress_raises_ends_the_test():
    def give_up(fraction, what):
        raise LookupError(what)

    with pytest.raises(LookupError, match="permutations"):
        kqd.test(X, Y, rng=0, n_resamples=10**6, progress=give_up)


@pytest.mark.parametrize("what, call", [
    ("permutations", "kqd.test(x[:500], x[500:1000], method='ekqd', rng=0, n_resamples=10**9)"),
    ("permutations of many statistics", "kqd.test(x[:500], x[500:1000], rng=0, n_resamples=10**6)"),
    ("preparation", "kqd.test(x, x + 1, rng=0, n_directions=4096, n_resamples=10**9, workers=1)"),
    ("distance", "kqd.distance(x, x + 1, rng=0, n_directions=2**16, workers=1)"),
    ("embedding", "kqd.Embedding(x, rng=0, n_directions=4096, workers=1)"),
    ("kernel function", "kqd.test(x[:9000], x[9000:18000], rng=0, method='mmd', kernel=lambda a, b: a @ b.T, "
                        "n_resamples=10**5)"),
])
def test_ctrl_c_ends_a_long_run(what, call):
    program = textwrap.dedent(f"""
        import kqd, numpy as np
        x = np.random.default_rng(0).normal(size=(100_000, 5))
        print("ready", flush=True)
        try:
            {call}
        except KeyboardInterrupt:
            print("stopped")
    """)
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.7)
            process.send_signal(signal.SIGINT)
            rest, _ = process.communicate(timeout=30)
        finally:
            process.kill()
    assert (process.returncode, rest) == (0, "stopped\n"), what


def test_other_python_threads_run_meanwhile():
    running, ticks = threading.Event(), []

    def tick():
        while not running.is_set():
            ticks.append(1)
            running.wait(0.001)

    ticker = threading.Thread(target=tick)
    ticker.start()
    kqd.test(X, Y, method="ekqd", rng=0, n_resamples=200_000, workers=1)
    running.set()
    ticker.join()
    assert len(ticks) > 5


# ---- The command line ----

PROGRAM = pathlib.Path(kqd.__file__).parents[2] / "kqd"
SAME_NAME = ["method", "statistic", "pvalue", "n_exceed", "n_resamples", "pvalue_ci", "reject", "alpha", "enumerated",
             "stopped_early", "calibration", "design", "permutation_mean", "permutation_sd", "effect_size",
             "effect_size_ci", "per_direction", "n_x", "n_y", "dim", "kernel", "bandwidth", "directions", "n_set_aside",
             "reference", "power", "weighting", "seed"]


@pytest.mark.skipif(not PROGRAM.is_file(), reason="the program was not built")
@pytest.mark.parametrize("flags, options", [
    ("", {}),
    ("--method mmd --permutations 99 --alpha 0.1", dict(method="mmd", n_resamples=99, alpha=0.1)),
    ("--method supkqd --kernel laplace --bandwidth 0.7 --power 2 --weighting triangle --num-directions 7",
     dict(method="supkqd", kernel="laplace", bandwidth=0.7, power=2, weighting="triangle", n_directions=7)),
    ("--reference pooled --num-reference 6 --early-stop=betting",
     dict(reference="pooled", n_reference=6, early_stop="betting")),
    ("--directions axis --effect-interval --randomise-ties",
     dict(directions="axis", effect_interval=True, randomised_ties=True)),
    ("--design blocks:g --set-aside no --reference pooled",
     dict(blocks=(np.arange(60) % 3, np.arange(45) % 3), set_aside=False, reference="pooled")),
])
def test_the_command_line_gives_the_same_numbers(tmp_path, flags, options):
    for name, points in (("x", X), ("y", Y)):
        grouped = np.column_stack([points, np.arange(len(points)) % 3])
        table, header = (grouped, "a,b,c,g") if "blocks" in options else (points, "a,b,c")
        np.savetxt(tmp_path / f"{name}.csv", table, fmt="%.17g", delimiter=",", header=header, comments="")
    command = [PROGRAM, "test", tmp_path / "x.csv", tmp_path / "y.csv", "--json", "--seed", "11", *flags.split()]
    printed = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    found = kqd.test(X, Y, **options, rng=11).to_dict()
    assert {name: printed[name] for name in SAME_NAME} == {name: found[name] for name in SAME_NAME}
    assert [warning["id"] for warning in printed["warnings"]] == found["warning_ids"]
    assert printed["num_directions"] == found["n_directions"]
    assert printed["num_reference"] == found["n_reference"]


@pytest.mark.skipif(not PROGRAM.is_file(), reason="the program was not built")
@pytest.mark.parametrize("flags, options", [
    ("", {}),
    ("--method ekqd-centered --kernel matern32 --power 2", dict(method="ekqd-centered", kernel="matern32", power=2)),
    ("--method sw --num-directions 9", dict(method="sw", n_directions=9)),
    ("--method sinkhorn --set epsilon=0.3", dict(method="sinkhorn", epsilon=0.3)),
    ("--directions mixed --reference pooled", dict(directions="mixed", reference="pooled")),
])
def test_the_command_line_measures_the_same_distances(tmp_path, flags, options):
    for name, points in (("x", X), ("y", Y)):
        np.savetxt(tmp_path / f"{name}.csv", points, fmt="%.17g", delimiter=",")
    command = [PROGRAM, "distance", tmp_path / "x.csv", tmp_path / "y.csv", "--json", "--seed", "11", *flags.split()]
    printed = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    found = kqd.distance(X, Y, **options, rng=11).to_dict()
    same = ["method", "statistic", "per_direction", "n_x", "n_y", "dim", "kernel", "bandwidth", "directions",
            "reference", "power", "weighting", "parameters", "details", "seed"]
    assert {name: printed[name] for name in same} == {name: found[name] for name in same}
    assert [warning["id"] for warning in printed["warnings"]] == found["warning_ids"]


@pytest.mark.parametrize("kind", [list, np.array, lambda names: np.array(names, dtype=object)])
def test_blocks_may_have_texts_for_names(kind):
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(12, 2)), rng.normal(size=(9, 2))
    options = dict(method="ekqd", n_resamples=99, rng=0)
    for name, numbers in (("blocks", ([0, 1] * 6, [1, 0, 0] * 3)), ("clusters", ([0, 1, 2] * 4, [3, 4, 5] * 3))):
        named = tuple(kind([f"place {i}" for i in column]) for column in numbers)
        assert kqd.test(x, y, **{name: named}, **options).pvalue == kqd.test(x, y, **{name: numbers}, **options).pvalue


# Issue 22: 21 kB were lost by each call that used threads.
def test_twenty_thousand_calls_keep_no_memory():
    script = textwrap.dedent("""
        import numpy as np, kqd
        def resident():
            with open("/proc/self/statm") as pages:
                return int(pages.read().split()[1]) * 4096
        x, y = np.random.default_rng(0).normal(size=(2, 12, 2))
        def calls(count):
            for _ in range(count):
                kqd.distance(x, y, rng=0, workers=2, n_directions=16)
        calls(500)
        before = resident()
        calls(20_000)
        print(resident() - before)
    """)
    grown = int(subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True).stdout)
    assert grown < 20e6
