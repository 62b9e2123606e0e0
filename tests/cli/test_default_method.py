"""Which method runs when none is named: the adaptive test, or ekqd for whoever gives an option of one statistic."""

import json

import pytest

FILES = ("a.csv", "b.csv")


def method_of(kqd, command, *flags):
    run = kqd(command, *FILES, "--json", *flags)
    assert (run.stderr, run.code) == ("", 0)
    return json.loads(run.stdout)["method"]


@pytest.mark.parametrize("flags", ["", "--kernel laplace", "--bandwidth 2", "--permutations 9", "--alpha 0.1", "--seed 3",
                                   "--threads 1", "--design paired", "--calibration sign-flip", "--set-aside no",
                                   "--randomise-ties", "--null-distribution", "--yes-quadratic", "--set combine=rank"])
def test_a_test_is_adaptive_unless_told_otherwise(kqd, flags):
    assert method_of(kqd, "test", *flags.split()) == "adaptive"


@pytest.mark.parametrize("flags", ["--directions linear", "--num-directions 5", "--num-reference 2",
                                   "--reference uniform", "--reference far.csv", "--power 2", "--power 1",
                                   "--weighting triangle", "--compat jitter", "--whiten --directions principal",
                                   "--early-stop --power 1", "--early-stop=besag-clifford --method ekqd"])
def test_an_option_of_one_statistic_means_ekqd(kqd, flags):
    assert method_of(kqd, "test", *flags.split()) == "ekqd"


@pytest.mark.parametrize("flags, sentence", [
    ("--method sw --num-reference 4 --reference uniform", "--num-reference, --reference have no effect on method sw"),
    ("--method sw --directions principal", "--directions has no effect on method sw"),
    ("--method gsw --reference b.csv", "--reference has no effect on method gsw"),
    ("--method mmd --power 2 --num-directions 3", "--num-directions, --power have no effect on method mmd"),
    ("--method ekqd --directions principal --reference uniform",
     "--reference has no effect on method ekqd with principal directions"),
    ("--method ekqd --whiten", "--whiten has no effect on method ekqd with gaussian directions"),
    ("--method ekqd --directions linear --kernel laplace --num-reference 3",
     "--kernel, --num-reference have no effect on method ekqd with linear directions"),
    ("--method supkqd --directions axis --num-directions 3",
     "--num-directions has no effect on method supkqd with axis directions"),
])
def test_flags_without_effect_are_named_in_one_sentence(kqd, flags, sentence):
    for command in ("test", "distance"):
        run = kqd(command, *FILES, "--json", *flags.split())
        assert (run.stderr, run.code) == (f"kqd: {sentence}\n", 0)
        assert kqd(command, *FILES, "--quiet", *flags.split()).stderr == ""


def test_the_points_of_a_file_span_the_directions_of_sw(kqd):
    run = kqd("distance", *FILES, "--method", "sw", "--reference", "b.csv")
    assert (run.stderr, run.code) == ("", 0)


@pytest.mark.parametrize("flag", ["--effect-interval", "--early-stop", "--early-stop=besag-clifford"])
def test_what_many_statistics_cannot_give_means_ekqd_and_says_so(kqd, flag):
    flags = ("sensors-march.csv", "sensors-april.csv", flag, "--permutations", "39", "--json")
    run = kqd("test", *flags)
    sentence = f"kqd: {flag.split('=')[0]} is for one statistic: the method is ekqd, --method names another\n"
    assert (json.loads(run.stdout)["method"], run.stderr, run.code) == ("ekqd", sentence, 0)
    assert kqd("test", *flags, "--method", "ekqd").stderr == ""


def test_a_named_method_stays_whatever_else_is_given(kqd):
    assert method_of(kqd, "test", "--method", "mmd") == "mmd"
    assert method_of(kqd, "test", "--method", "supkqd", "--power", "2") == "supkqd"
    run = kqd("test", *FILES, "--method", "adaptive", "--power", "2")
    assert run.stdout.startswith("\nTwo-sample test by adaptive: ")
    assert (run.stderr, run.code) == ("kqd: --power has no effect on method adaptive\n", 0)


@pytest.mark.parametrize("flag, sentence", [
    ("--early-stop", "early stopping does not go with a test that aggregates several statistics"),
    ("--effect-interval",
     "adaptive has no interval for the effect size: an aggregate has no distance of its own; use ekqd"),
])
def test_the_adaptive_test_refuses_what_it_cannot_give_when_it_is_named(kqd, flag, sentence):
    run = kqd("test", "sensors-march.csv", "sensors-april.csv", "--method", "adaptive", flag)
    assert (run.stdout, run.stderr, run.code) == ("", f"kqd: {sentence}\n", 2)


def test_a_distance_is_ekqd(kqd):
    assert method_of(kqd, "distance") == "ekqd"
    assert method_of(kqd, "distance", "--power", "2") == "ekqd"


def test_help_tells_the_rule(kqd):
    words = lambda command: " ".join(kqd(command, "--help").stdout.split())  # noqa: E731
    assert "(default: adaptive; ekqd when one of its options is given)" in words("test")
    assert "`kqd methods` lists them (default: ekqd)" in words("distance")
