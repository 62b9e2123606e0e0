"""--json, --quiet and --exit-code: the interface for other programs."""

import json

import pytest

SENSORS = ("sensors-march.csv", "sensors-april.csv")

# design.md, "Contract": names that stay.
DISTANCE_FIELDS = {"schema", "version", "method", "statistic", "n_x", "n_y", "dim", "kernel", "bandwidth", "directions",
                   "num_directions", "num_reference", "n_set_aside", "reference", "power", "weighting", "seed",
                   "threads", "simd", "elapsed_s", "warnings"}
TEST_FIELDS = DISTANCE_FIELDS | {"pvalue", "n_exceed", "n_resamples", "pvalue_ci", "reject", "alpha", "effect_size"}


def parsed(run):
    assert (run.stderr, run.code) == ("", 0)
    return json.loads(run.stdout)


def without_time(result):
    return {key: value for key, value in result.items() if key not in ("elapsed_s", "threads")}


def test_a_distance_has_every_field(kqd):
    result = parsed(kqd("distance", *SENSORS, "--json", "--seed", "3", "--threads", "2"))
    assert DISTANCE_FIELDS <= result.keys()
    expected = {"schema": "kqd.distance/2", "method": "ekqd", "n_x": 500, "n_y": 480, "dim": 6,
                "directions": "gaussian", "num_directions": 534, "num_reference": 267, "n_set_aside": 0,
                "reference": "gaussian", "power": 1.0, "weighting": "uniform", "seed": 3, "threads": 2, "warnings": []}
    assert {key: result[key] for key in expected} == expected
    assert result["statistic"] > 0 and result["bandwidth"] > 0 and result["elapsed_s"] > 0
    assert len(result["per_direction"]) == 534


def test_a_test_has_every_field(kqd):
    result = parsed(kqd("test", *SENSORS, "--json", "--permutations", "199", "--alpha", "0.01"))
    assert TEST_FIELDS <= result.keys()
    expected = {"schema": "kqd.test/2", "method": "adaptive", "n_exceed": 0, "n_resamples": 199, "pvalue": 1 / 200,
                "reject": True, "alpha": 0.01, "n_x": 500, "n_y": 480, "dim": 6, "n_set_aside": 0, "seed": 0}
    assert {key: result[key] for key in expected} == expected
    low, high = result["pvalue_ci"]
    assert low == 0.0
    assert high == pytest.approx(1 - 0.025 ** (1 / 199), rel=1e-9)  # Clopper-Pearson for 0 of 199


def test_json_has_the_settings_that_repeat_a_test(kqd):
    result = parsed(kqd("test", *SENSORS, "--json", "--permutations", "19", "--method", "ekqd", "--randomise-ties",
                        "--compat", "jitter,zero-centred", "--directions", "principal", "--whiten", "--set-aside", "no"))
    settings = {key: result[key] for key in ("num_permutations", "randomised_ties", "compat", "whiten", "set_aside")}
    assert settings == {"num_permutations": 19, "randomised_ties": True, "compat": ["jitter", "zero-centred"],
                    "whiten": True, "set_aside": False}


def test_an_asymptotic_test_has_no_effect_size(kqd):
    result = parsed(kqd("test", *SENSORS, "--json", "--method", "me", "--calibration", "asymptotic"))
    assert {result[key] for key in ("effect_size", "effect_method", "permutation_mean", "permutation_sd")} == {None}
    assert "degrees of freedom" in result["limiting_distribution"]


def test_pooled_reference_points_are_held_out(kqd):
    result = parsed(kqd("test", *SENSORS, "--json", "--permutations", "19", "--reference", "pooled"))
    assert (result["num_reference"], result["n_set_aside"], result["reference"]) == (64, 64, "pooled")
    assert (result["n_x"], result["n_y"]) == (500, 480)  # the sizes of the input


def test_few_rows_are_enumerated_and_the_interval_is_the_p_value(kqd):
    result = parsed(kqd("test", "a.csv", "b.csv", "--json"))
    assert (result["n_resamples"], result["enumerated"]) == (20, True)
    assert result["pvalue"] == result["n_exceed"] / 20
    assert result["pvalue_ci"] == [result["pvalue"], result["pvalue"]]


@pytest.mark.parametrize("flags, rule", [
    ((), "none"),
    (("--early-stop",), "betting"),
    (("--early-stop=betting",), "betting"),
    (("--early-stop=besag-clifford",), "besag-clifford"),
])
def test_a_bare_early_stop_means_betting(kqd, flags, rule):
    result = parsed(kqd("test", *SENSORS, "--method", "ekqd", "--json", *flags))
    assert result["early_stop"] == rule
    assert result["stopped_early"] == (rule == "betting")  # a clear difference: betting sees it before 999 permutations


def test_early_stop_before_the_files_does_not_consume_them(kqd):
    assert parsed(kqd("test", "--early-stop", *SENSORS, "--method", "ekqd", "--json"))["early_stop"] == "betting"


def test_an_infinite_power_is_written_as_text(kqd):
    assert parsed(kqd("distance", "a.csv", "b.csv", "--json", "--power", "inf"))["power"] == "inf"


def test_fields_of_directions_are_null_for_a_method_without_directions(kqd):
    result = parsed(kqd("test", "a.csv", "b.csv", "--method", "mmd", "--json"))
    assert TEST_FIELDS <= result.keys()
    assert [result[key] for key in ("directions", "reference", "power", "weighting")] == [None] * 4
    assert (result["num_directions"], result["num_reference"]) == (0, 0)


@pytest.mark.parametrize("method, of", [("adaptive", "ekqd"), ("mmd-agg", "mmd"), ("mmd-fuse", "mmd"), ("sw", "sw")])
def test_the_effect_size_names_its_method(kqd, method, of):
    assert parsed(kqd("test", "a.csv", "b.csv", "--method", method, "--json"))["effect_method"] == of


@pytest.mark.parametrize("command", ["distance", "test"])
def test_the_same_seed_gives_the_same_object_for_any_number_of_threads(kqd, command):
    run = lambda *more: without_time(parsed(kqd(command, *SENSORS, "--json", *more)))  # noqa: E731
    once = run("--seed", "5", "--threads", "1")
    assert run("--seed", "5", "--threads", "3") == once
    by_directions = ("--method", "ekqd", "--threads", "1")
    assert run("--seed", "6", *by_directions)["statistic"] != run("--seed", "5", *by_directions)["statistic"]


def test_the_null_distribution_is_added_on_request(kqd):
    result = parsed(kqd("test", *SENSORS, "--json", "--permutations", "19", "--null-distribution"))
    assert len(result["null_distribution"]) == 19
    assert sum(value >= result["statistic"] for value in result["null_distribution"]) == result["n_exceed"]


@pytest.mark.parametrize("command, field", [("distance", "statistic"), ("test", "pvalue")])
def test_quiet_prints_one_number_the_same_as_json(kqd, command, field):
    run = kqd(command, *SENSORS, "--quiet")
    assert (run.stderr, run.code, run.stdout.count("\n")) == ("", 0, 1)
    assert float(run.stdout) == parsed(kqd(command, *SENSORS, "--json"))[field]


@pytest.mark.parametrize("arguments, code", [
    ((*SENSORS,), 0),
    ((*SENSORS, "--exit-code"), 1),
    (("a.csv", "b.csv", "--exit-code"), 0),
    (("missing.csv", "b.csv", "--exit-code"), 2),
])
def test_exit_code_is_1_for_a_difference_only_on_request(kqd, arguments, code):
    assert kqd("test", *arguments, "--quiet").code == code


@pytest.mark.parametrize("target", ["scalar", "sse4", "avx2"])
def test_the_environment_chooses_the_instruction_set(kqd, target):
    run = kqd("test", *SENSORS, "--json", "--permutations", "99", KQD_SIMD=target)
    if run.code == 2:
        assert f'KQD_SIMD = "{target}", this CPU has ' in run.stderr
        pytest.skip(f"this CPU has no {target}")
    result = parsed(run)
    assert result["simd"] == target
    default = parsed(kqd("test", *SENSORS, "--json", "--permutations", "99"))
    # Doubles throughout, or float keys within design.md's bound.
    assert result["statistic"] == pytest.approx(default["statistic"], rel=1e-6)


def test_an_unknown_instruction_set_is_refused(kqd):
    run = kqd("distance", "a.csv", "b.csv", KQD_SIMD="mmx")
    assert (run.stdout, run.code) == ("", 2)
    assert run.stderr.startswith('kqd: KQD_SIMD = "mmx", this CPU has ')


def test_options_that_were_set_are_in_the_settings(kqd, tmp_path):
    (tmp_path / "kqd.toml").write_text("method = 'mmd'\n")
    flags = ["--permutations", "99", "--threads", "1", "--config", str(tmp_path / "kqd.toml"), "--json"]
    assert parsed(kqd("test", *SENSORS, *flags))["settings"] == {"method": "mmd", "num_permutations": "99"}
    assert parsed(kqd("distance", *SENSORS, "--json"))["settings"] == {}
