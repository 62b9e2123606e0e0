"""--tolerance, --equivalent and --against: does the difference matter?"""

import json

import numpy as np
import pytest


@pytest.fixture(scope="module")
def shifted(folder):
    """Files whose second column is shifted by the number in their name, of 1500 rows and 3 columns each."""
    def file(shift, seed=1):
        name = f"shift-{shift}-{seed}.csv"
        if not (folder / name).exists():
            rows = np.random.default_rng([29, seed]).standard_normal((1500, 3)) + (0, shift, 0)
            np.savetxt(folder / name, rows, delimiter=",", fmt="%.6f", header="a,b,c", comments="")
        return name

    return file


def judged(kqd, *arguments):
    run = kqd("test", *arguments, "--json", "--permutations", "99", "--seed", "1")
    assert run.stderr == ""
    return json.loads(run.stdout), run.code


@pytest.mark.parametrize("flag", ["--tolerance", "--equivalent"])
@pytest.mark.parametrize("shift, margin, verdict", [(0.5, "0.2", "different"), (0, "0.3", "equivalent"), (0.15, "0.15", "undecided")])
def test_both_flags_print_the_same_three_verdicts(kqd, shifted, flag, shift, margin, verdict):
    result, code = judged(kqd, shifted(0), shifted(shift, 2), flag, margin)
    assert (result["verdict"], result["margin"], result["margin_kind"], code) == (verdict, float(margin), flag[2:], 0)
    assert result["effect_interval"] == result["effect_size_ci"]
    lower, upper = result["effect_size_ci"]
    assert lower <= max(result["effect_size"], 0) <= upper
    assert {aspect["name"] for aspect in result["aspects"]} == {"location", "shape", "relations"}
    assert (result["pvalue_beyond"] <= 0.05, result["pvalue_within"] <= 0.05) == (verdict == "different", verdict == "equivalent")
    assert (result["rows_needed"] is None) or verdict == "undecided"


def test_a_margin_does_not_change_the_p_value(kqd, shifted):
    with_margin, _ = judged(kqd, shifted(0), shifted(0.15, 2), "--tolerance", "0.2")
    without, _ = judged(kqd, shifted(0), shifted(0.15, 2))
    assert {with_margin[key] == without[key] for key in ("pvalue", "statistic", "n_exceed", "components")} == {True}
    assert (without["verdict"], without["aspects"]) == (None, [])


# A gate for a tolerance lets what is undecided pass, one for equivalence does not.
@pytest.mark.parametrize("shift, margin, tolerance, equivalent", [(0.5, "0.2", 1, 1), (0, "0.3", 0, 0), (0.15, "0.15", 0, 1)])
def test_exit_code_follows_the_verdict(kqd, shifted, shift, margin, tolerance, equivalent):
    files = shifted(0), shifted(shift, 2)
    codes = [kqd("test", *files, flag, margin, "--exit-code", "--quiet", "--permutations", "99").code
             for flag in ("--tolerance", "--equivalent")]
    assert codes == [tolerance, equivalent]


def test_the_report_leads_with_the_verdict(kqd, shifted):
    run = kqd("test", shifted(0), shifted(0.5, 2), "--tolerance", "0.2", "--permutations", "99")
    assert "The samples differ by more than the margin 0.2 (p = " in run.stdout
    assert "as far apart as a shift by this many SDs in one column" in run.stdout
    assert kqd("test", shifted(0), shifted(0.5, 2), "--tolerance", "0.2", "--quiet", "--permutations", "99").stdout == "different\n"


def test_a_margin_from_batches(kqd, shifted):
    against = [word for seed in range(10, 29) for word in ("--against", shifted(0, seed))]
    usual, _ = judged(kqd, shifted(0), shifted(0, 40), "--tolerance", "auto", *against)
    assert len(usual["batch_effects"]) == 19
    assert usual["margin"] == pytest.approx(max(0, *usual["batch_effects"]), abs=1e-12)
    far, code = judged(kqd, shifted(0), shifted(0.5, 40), "--tolerance", "auto", *against, "--exit-code")
    assert (far["verdict"], far["pvalue_beyond"], code) == ("different", 0.05, 1)
    assert far["margin_basis"].startswith("exact")


@pytest.mark.parametrize("arguments, message", [
    (["--tolerance", "0"], "--tolerance 0: expected auto, or a number > 0"),
    (["--tolerance", "x"], "--tolerance x: expected auto, or a number > 0"),
    (["--equivalent", "-1"], "--equivalent -1: expected a number > 0"),
    (["--tolerance", "0.1", "--equivalent", "0.1"], "exclude each other"),
    (["--tolerance", "auto"], "needs at least 2 reference batches, got 0"),
    (["--tolerance", "0.1", "--design", "paired"], "expected independent rows or groups"),
    (["--tolerance", "0.1", "--method", "me", "--calibration", "asymptotic"], "with a margin for the effect"),
])
def test_what_cannot_be_judged_is_an_error(kqd, shifted, arguments, message):
    run = kqd("test", shifted(0), shifted(0.5, 2), *arguments)
    assert (run.code, run.stdout) == (2, "")
    assert message in run.stderr


def test_texts_of_a_margin_call_the_samples_by_their_names(kqd, shifted):
    few = ("--permutations", "99", "--seed", "1", "--tolerance", "0.15")
    run = kqd("test", shifted(0), shifted(0.15, 2), "--names", "March,April", *few)
    assert "tells a row of March from a row of April, 0.5 by chance" in run.stdout
    assert " of March and April together for a verdict" in run.stdout
    markdown = kqd("test", shifted(0), shifted(0.15, 2), "--names", "March,April", "--markdown", *few).stdout
    assert "tells a row of March from a row of April" in markdown


def test_reference_batches_need_two_files(kqd, folder):
    (folder / "both.csv").write_text("a,arm\n" + "".join(f"{i % 7},{'xy'[i % 2]}\n" for i in range(60)))
    run = kqd("test", "both.csv", "--group", "arm", "--tolerance", "auto", "--against", "both.csv")
    assert (run.code, run.stdout) == (2, "")
    assert "--against both.csv: expected two files, but --group splits one file" in run.stderr


# ---- kqd plan ----

def planned(kqd, *arguments):
    run = kqd("plan", *arguments, "--json")
    assert run.code == 0, run.stderr
    return json.loads(run.stdout)


def test_a_plan_lists_powers_that_grow_with_the_rows(kqd, folder):
    plan = planned(kqd, "--columns", "2", "--effect", "0.6", "--power", "0.8", "--runs", "40", "--figure", "plan.svg")
    assert plan["schema"] == "kqd.plan/1" and (plan["columns"], plan["effect"], plan["power"]) == (2, 0.6, 0.8)
    assert [point["rows"] for point in plan["points"]] == [50 * 2**k for k in range(len(plan["points"]))]
    first, last = plan["points"][0], plan["points"][-1]
    assert first["test"] <= last["test"] and first["equivalence"] <= last["equivalence"]
    assert 30 <= plan["test"] <= 200 and 50 <= plan["equivalence"] <= last["rows"]
    assert "rows in each sample" in (folder / "plan.svg").read_text()
    text = kqd("plan", "--columns", "2", "--effect", "0.6", "--power", "0.8", "--runs", "40").stdout
    assert f"default test             {plan['test']} rows in each sample" in text
    assert planned(kqd, "--columns", "2", "--effect", "0.6", "--power", "0.8", "--runs", "40", "--threads", "1") == plan


# Moving integers by a fraction would separate the samples at once: a plan moves ranks, so that values stay integers.
def test_a_plan_from_counts_needs_about_as_many_rows_as_one_from_normal_columns(kqd, folder):
    rows = np.random.default_rng(3).poisson(2.0, (4000, 1))
    np.savetxt(folder / "counts.csv", rows, delimiter=",", fmt="%d", header="count", comments="")
    options = ("--effect", "0.5", "--runs", "60", "--power", "0.8")
    counts, normal = planned(kqd, "counts.csv", *options), planned(kqd, "--columns", "1", *options)
    assert 0.4 * normal["test"] <= counts["test"] <= 2.5 * normal["test"]


@pytest.mark.parametrize("arguments, sentence", [
    (["--effect", "0"], "expected a number > 0"),
    (["--power", "1"], "expected a number between 0 and 1"),
    (["--runs", "3"], "expected a whole number in 10..100000"),
    (["missing.csv"], "missing.csv"),
])
def test_a_plan_refuses_bad_input(kqd, arguments, sentence):
    run = kqd("plan", *arguments)
    assert run.code == 2 and run.stdout == "" and sentence in run.stderr
