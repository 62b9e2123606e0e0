"""Which method runs when none is named: the adaptive test, or ekqd when an option of one statistic is set."""

import json
import math
import random

import pytest

FILES = ("a.csv", "b.csv")


def method_of(kqd, command, *flags):
    run = kqd(command, *FILES, "--json", *flags)
    assert (run.stderr, run.code) == ("", 0)
    return json.loads(run.stdout)["method"]


@pytest.mark.parametrize("flags", ["", "--kernel laplace", "--bandwidth 2", "--permutations 9", "--alpha 0.1", "--seed 3",
                                   "--threads 1", "--design paired", "--calibration sign-flip", "--set-aside no",
                                   "--randomise-ties", "--null-distribution", "--yes-quadratic", "--set combine=rank",
                                   "--early-stop"])
def test_a_test_is_adaptive_by_default(kqd, flags):
    assert method_of(kqd, "test", *flags.split()) == "adaptive"


@pytest.mark.parametrize("flags", ["--directions linear", "--num-directions 5", "--num-reference 2",
                                   "--reference uniform", "--reference far.csv", "--power 2", "--weighting triangle",
                                   "--compat jitter", "--compat extra-direction", "--whiten --directions principal",
                                   "--early-stop --power 2", "--early-stop=besag-clifford --method ekqd"])
def test_an_option_of_one_statistic_means_ekqd(kqd, flags):
    assert method_of(kqd, "test", *flags.split()) == "ekqd"


@pytest.mark.parametrize("flags, sentence", [
    ("--method sw --num-reference 4 --reference uniform", "--num-reference, --reference: no effect on method sw"),
    ("--method sw --directions principal", "--directions: no effect on method sw"),
    ("--method gsw --reference b.csv", "--reference: no effect on method gsw"),
    ("--method mmd --power 2 --num-directions 3", "--num-directions, --power: no effect on method mmd"),
    ("--method ekqd --directions principal --reference uniform",
     "--reference: no effect on method ekqd with principal directions"),
    ("--method ekqd --whiten", "--whiten: no effect on method ekqd with gaussian directions"),
    ("--method ekqd --directions linear --kernel laplace --num-reference 3",
     "--kernel, --num-reference: no effect on method ekqd with linear directions"),
    ("--method supkqd --directions axis --num-directions 3",
     "--num-directions: no effect on method supkqd with axis directions"),
])
def test_flags_without_effect_are_named_in_one_sentence(kqd, flags, sentence):
    for command in ("test", "distance"):
        run = kqd(command, *FILES, "--json", *flags.split())
        assert (run.stderr, run.code) == (f"kqd: {sentence}\n", 0)
        assert kqd(command, *FILES, "--quiet", *flags.split()).stderr == ""


def test_the_points_of_a_file_span_the_directions_of_sw(kqd):
    run = kqd("distance", *FILES, "--method", "sw", "--reference", "b.csv")
    assert (run.stderr, run.code) == ("", 0)


# Issue 22: such flags turned the adaptive test into ekqd, whose p-value is another one.
@pytest.mark.parametrize("flags", ["--effect-interval", "--null-distribution", "--report page.html",
                                   "--effect-interval --null-distribution --report page.html"])
def test_asking_for_more_output_changes_neither_method_nor_p_value(kqd, flags):
    files = ("sensors-march.csv", "sensors-april.csv", "--permutations", "39", "--json")
    plain = json.loads(kqd("test", *files).stdout)
    run = kqd("test", *files, *flags.split())
    assert (run.stderr, run.code) == ("", 0)
    more = json.loads(run.stdout)
    same = ("method", "statistic", "pvalue", "n_exceed", "n_resamples", "effect_size", "components", "warnings")
    assert {name: more[name] for name in same} == {name: plain[name] for name in same}
    assert plain["method"] == "adaptive"
    assert (more["effect_size_ci"] is not None) == ("interval" in flags)


def test_the_effect_interval_of_the_adaptive_test_is_that_of_ekqd(kqd):
    flags = ("sensors-march.csv", "sensors-april.csv", "--permutations", "63", "--effect-interval", "--json")
    adaptive, ekqd = (json.loads(kqd("test", *flags, *more).stdout) for more in
                      ((), ("--method", "ekqd", "--num-directions", "64", "--num-reference", "64")))
    assert adaptive["effect_size"] == pytest.approx(ekqd["effect_size"], rel=1e-9)
    assert adaptive["effect_size_ci"] == pytest.approx(ekqd["effect_size_ci"], rel=1e-9)


@pytest.mark.parametrize("flags", ["", "--method adaptive", "--method mmd-agg"])
def test_early_stopping_of_a_combined_test_is_refused_with_a_remedy(kqd, flags):
    run = kqd("test", "sensors-march.csv", "sensors-april.csv", "--early-stop", *flags.split())
    method = flags.split()[-1] if flags else "adaptive"
    sentence = f"early stopping needs a method with one statistic, {method} combines several; use --method ekqd"
    assert (run.stdout, run.stderr, run.code) == ("", f"kqd: {sentence}\n", 2)
    assert kqd("test", "sensors-march.csv", "sensors-april.csv", "--early-stop", "--method", "ekqd").code == 0


def test_a_value_that_is_the_default_changes_nothing(kqd):
    run = kqd("test", *FILES, "--power", "1", "--json")
    assert json.loads(run.stdout)["method"] == "adaptive"
    assert run.stderr == "kqd: --power: no effect on method adaptive\n"


def test_a_named_method_stays_whatever_else_is_given(kqd):
    assert method_of(kqd, "test", "--method", "mmd") == "mmd"
    assert method_of(kqd, "test", "--method", "supkqd", "--power", "2") == "supkqd"
    run = kqd("test", *FILES, "--method", "adaptive", "--power", "2")
    assert run.stdout.startswith("\nTwo-sample test by adaptive: ")
    assert (run.stderr, run.code) == ("kqd: --power: no effect on method adaptive\n", 0)


def test_a_distance_is_ekqd(kqd):
    assert method_of(kqd, "distance") == "ekqd"
    assert method_of(kqd, "distance", "--power", "2") == "ekqd"


def test_help_states_the_rule(kqd):
    words = lambda command: " ".join(kqd(command, "--help").stdout.split())  # noqa: E731
    assert "(default of a test: adaptive; ekqd when one of its options is set)" in words("test")
    assert "(default: ekqd)" in words("distance")


@pytest.mark.parametrize("flags, sentence", [
    ("--permutations 99 --early-stop", "--permutations, --early-stop: no effect with --calibration asymptotic"),
    ("--randomise-ties --effect-interval",
     "--randomise-ties, --effect-interval: no effect with --calibration asymptotic"),
])
def test_flags_that_a_limiting_distribution_ignores_are_named(kqd, flags, sentence):
    files = ("sensors-march.csv", "sensors-april.csv")
    run = kqd("test", *files, "--method", "mmd-lin", "--calibration", "asymptotic", "--json", *flags.split())
    assert (run.stderr, run.code) == (f"kqd: {sentence}\n", 0)
    assert kqd("test", *files, "--method", "mmd-lin", "--calibration", "asymptotic", "--quiet", *flags.split()).stderr == ""


def test_a_bandwidth_that_is_refused_is_named_as_it_was_given(kqd):
    for value, allowed in (("1e-150", False), ("1e150", False), ("1e-149", True)):
        run = kqd("test", "a.csv", "b.csv", "--bandwidth", value)
        assert run.code == (0 if allowed else 2)
        assert allowed or run.stderr == (f"kqd: --bandwidth {float(value)}: expected a number in 1e-149 .. 5e+149, because the "
                                         "adaptive test takes 0.1 to 2 times it as well\n")


# Issue 31: income in euros hid everything else, and the test of this table ended in "no difference".
def test_units_of_other_columns_do_not_hide_a_relation_that_halved(kqd, folder):
    draw = random.Random(31)

    def customers(correlation):
        rows = ["income,age,discount,returned"]
        for _ in range(400):
            rate, noise = draw.gauss(0, 1), draw.gauss(0, 1)
            returned = correlation * rate + math.sqrt(1 - correlation**2) * noise  # the same distribution for each
            rows.append(f"{draw.gauss(40000, 12000):.0f},{draw.gauss(45, 12):.0f},"
                        f"{0.1 + 0.02 * rate:.5f},{0.03 + 0.005 * returned:.6f}")
        return "\n".join(rows) + "\n"

    for name, correlation in (("before.csv", 0.8), ("after.csv", 0.4)):
        (folder / name).write_text(customers(correlation))
    default, raw = (json.loads(kqd("test", "before.csv", "after.csv", "--json", *flags).stdout)["pvalue"]
                    for flags in ((), ("--standardize", "none", "--method", "mmd")))
    assert default == 0.001
    assert raw > 0.05


# In one column most principal functions have small variances, down to 1e-10 of the largest. Rounding moves them by some
# eps / 1e-10 of their size, and a statistic of thirty of them by at most 100 times that.
@pytest.mark.parametrize("seed", range(3))
def test_one_column_has_the_same_statistics_in_any_unit(kqd, folder, seed):
    draw = random.Random(seed)
    results = []
    samples = [[draw.gauss(0, 1 + 0.1 * sample) for _ in range(200)] for sample in range(2)]
    for factor, offset in ((1.0, 0.0), (2.5, 3.0)):
        for name, values in zip(("one.csv", "other.csv"), samples, strict=True):
            (folder / name).write_text("".join(f"{factor * value + offset!r}\n" for value in values))
        results.append(json.loads(kqd("test", "one.csv", "other.csv", "--no-header", "--permutations", "199", "--json").stdout))
    given, changed = results
    assert given["pvalue"] == changed["pvalue"]
    for one, other in zip(given["components"], changed["components"], strict=True):
        assert other["statistic"] == pytest.approx(one["statistic"], rel=1e12 * 2.0**-52), one["name"]
