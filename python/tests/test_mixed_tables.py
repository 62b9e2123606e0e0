"""Tables with columns of any type: what Python passes on is what the program reads from files."""

import datetime
import pathlib
import subprocess
import sys
import os

import numpy as np
import pandas
import pytest

import kqd

DATA = pathlib.Path(__file__).parents[2] / "data"
sys.path.append(str(pathlib.Path(__file__).parents[2] / "tests" / "support"))
import customers  # noqa: E402

MARCH, APRIL = DATA / "customers-march.csv", DATA / "customers-april.csv"
N = 120


def table(seed):
    rng = np.random.default_rng(seed)
    plan = rng.choice(["basic", "pro", "premium"], N)
    income = rng.lognormal(size=N)
    income[rng.uniform(size=N) < 0.1] = np.nan
    return pandas.DataFrame({
        "plan": plan,
        "income": income,
        "paid": rng.uniform(size=N) < 0.5,
        "day": pandas.Timestamp("2024-01-01") + pandas.to_timedelta(rng.integers(0, 90, N), unit="D"),
        "visits": rng.integers(0, 5, N),
        "id": [f"c{seed}-{i}" for i in range(N)],
    })


X, Y = table(1), table(2)


def types_of(result):
    return {column["name"]: column["type"] for column in result.data["columns"]}


def test_a_table_is_compared_without_options():
    result = kqd.test(X, Y, rng=0)
    assert types_of(result) == {"plan": "category", "income": "number", "paid": "boolean", "day": "date",
                                "visits": "integer", "id": "id"}
    by_name = {column["name"]: column for column in result.data["columns"]}
    assert list(by_name["plan"]["levels"]) == ["basic", "premium", "pro"]
    assert by_name["id"]["excluded"]
    assert by_name["income"]["missing_x"] == X.income.isna().sum()
    assert result.dim == 3 + 2 + 3  # levels, income and where it is missing, three more
    assert "columns: " in str(result)


def test_pandas_and_files_give_the_same_numbers(tmp_path):
    X.to_csv(tmp_path / "x.csv", index=False)
    Y.to_csv(tmp_path / "y.csv", index=False)
    for method in ("adaptive", "energy"):
        of_files = kqd.test(tmp_path / "x.csv", str(tmp_path / "y.csv"), method=method, rng=0)
        of_tables = kqd.test(X, Y, method=method, rng=0)
        assert of_tables.statistic == of_files.statistic
        assert of_tables.pvalue == of_files.pvalue
        assert types_of(of_tables) == types_of(of_files)


def test_the_program_gives_the_same_p_value():
    program = os.environ.get("KQD_PROGRAM")
    if program is None:
        pytest.skip("the program is not there")
    printed = subprocess.run([program, "test", MARCH, APRIL, "--quiet"], capture_output=True, text=True, check=True)
    found = kqd.test(pandas.read_csv(MARCH), pandas.read_csv(APRIL), rng=0)
    assert float(printed.stdout) == found.pvalue


@pytest.mark.parametrize("column, declared", [
    (pandas.Series(pandas.Categorical(["1", None, "2"] * 40)), "category"),
    (pandas.Series([True, None, False] * 40, dtype="boolean"), "boolean"),
    (pandas.Series([1, None, 30000] * 40, dtype="Int64"), "integer"),
    (pandas.Series(pandas.date_range("2024-01-01", periods=N, tz="Europe/Rome")), "date"),
    (pandas.Series([datetime.date(2024, 1, 1 + i % 30) for i in range(N)]), "date"),
    (pandas.Series(["2024-01-05", "2024-02-07", None] * 40), "date"),
    (pandas.Series(pandas.timedelta_range("1 hour", periods=N, freq="h")), "number"),
    (pandas.Series(["yes", "no", "no"] * 40, dtype="string"), "boolean"),
    (pandas.Series(["a", "b", 3] * 40), "category"),
    (pandas.Series([2**60 + i for i in range(N)]), "number"),
])
def test_types_of_pandas_are_taken_at_their_word(column, declared):
    frame = pandas.DataFrame({"v": column, "w": np.arange(N) % 7 + 0.5, "c": ["x", "y", "z"] * 40})
    assert types_of(kqd.test(frame, frame[::-1], method="energy", rng=0))["v"] == declared


def test_types_are_overridden_by_name():
    result = kqd.test(X, Y, types={"visits": "category", "id": "text"}, method="energy", rng=0)
    assert types_of(result)["visits"] == "category"
    assert types_of(result)["id"] == "text"
    with pytest.raises(ValueError, match="did you mean category"):
        kqd.test(X, Y, types={"visits": "categry"}, rng=0)
    with pytest.raises(ValueError, match="no column"):
        kqd.test(X, Y, types={"visitz": "category"}, rng=0)


def test_a_column_with_two_values_may_tell_the_samples_apart():
    both = pandas.concat([X.assign(month="March"), Y.assign(month="April")])
    result = kqd.test(both, group="month", method="energy", rng=0)
    assert result.names == ("March", "April")
    assert result.pvalue == kqd.test(X, Y, method="energy", rng=0).pvalue
    with pytest.raises(TypeError, match="group"):
        kqd.test(both, Y, group="month")


def test_missing_values_of_arrays_are_marked_too():
    x, y = np.random.default_rng(0).normal(size=(2, 50, 2))
    x[3, 1] = np.nan
    assert kqd.test(x, y, method="energy", rng=0).dim == 3
    assert kqd.test(x, y, method="energy", nan_policy="impute-median", rng=0).dim == 2
    assert kqd.test(x, y, method="energy", nan_policy="omit", rng=0).n_x == 49
    with pytest.raises(ValueError, match="row 4, column 2 is nan"):
        kqd.test(x, y, method="energy", nan_policy="raise", rng=0)


def test_a_change_of_what_is_missing_is_found():
    rng = np.random.default_rng(4)
    frames = [pandas.DataFrame(rng.normal(size=(400, 3)), columns=list("abc")) for _ in range(2)]
    for frame, share in zip(frames, (0.02, 0.15)):
        frame.loc[rng.uniform(size=400) < share, "b"] = np.nan
    assert kqd.test(*frames, rng=0).pvalue <= 0.01


def test_weights_stay_with_their_rows():
    weights = np.arange(1.0, N + 1)
    result = kqd.test(X, Y, x_weights=weights, y_weights=weights[::-1].copy(), weights_as="frequency", method="energy",
                      nan_policy="omit", rng=0)
    assert result.n_x == X.income.notna().sum()


def test_numbers_are_scaled_on_request():
    x, y = np.random.default_rng(0).normal(size=(2, 50, 2)) * [1, 1000]
    scaled = kqd.test(x, y, method="energy", standardize="zscore", rng=0)
    pooled = np.vstack([x, y])
    by_hand = [(part - pooled.mean(0)) / pooled.std(0, ddof=1) for part in (x, y)]
    assert scaled.statistic == pytest.approx(kqd.test(*by_hand, method="energy", rng=0).statistic, rel=1e-12)


def test_columns_of_text_are_refused_on_request():
    with pytest.raises((TypeError, ValueError)):
        kqd.test(X, Y, categorical="raise", nan_policy="raise", rng=0)


def test_samples_have_names():
    result = kqd.test(X, Y, names=["March", "April"], method="energy", rng=0)
    assert result.names == ("March", "April")
    assert "\n  March " in str(result)


def test_one_file_and_one_table_are_not_two_samples():
    with pytest.raises(TypeError, match="two files or two tables"):
        kqd.test(str(MARCH), Y)
    with pytest.raises(TypeError, match="two files or two tables"):
        kqd.test(X, str(APRIL))


def test_a_newcomer_finds_the_relation_and_the_missing_values_in_tables_of_pandas():
    def frame(**options):
        table = pandas.DataFrame(customers.customers(**options), columns=customers.COLUMNS)
        table["income"] = pandas.to_numeric(table["income"])  # "" is missing
        return table.astype({"plan": "category", "signup_date": "datetime64[ns]"}).assign(churned=table.churned == "yes")

    march, april, may = frame(seed=1), frame(seed=2, relation=0.45, missing=0.06), frame(seed=3)
    assert march.income.isna().mean() < 0.04 < 0.05 < april.income.isna().mean()
    test = kqd.test(march, april)
    assert test.reject and test.largest_change == "income by plan"
    assert "kqd.explain shows which columns, relations and rows differ" in str(test)
    assert {"income by plan", "income is missing"} <= {component.where for component in test.components}
    found = kqd.explain(march, april)
    assert any(change.startswith("income by plan: ") for change in found.changes)
    assert any(change.startswith("income is missing in ") for change in found.changes)
    # Cells are those of the table, also where columns are standardised.
    scaled = kqd.explain(march, april, standardize="zscore").to_dict()
    for row in scaled["rows"]["most_y"]:
        given = (april if row["sample"] == "y" else march).iloc[row["row"]]
        values = dict(zip(scaled["row_columns"], row["values"]))
        assert values["plan"] == given.plan and values["signup_date"] == str(given.signup_date.date())
        assert values["age"] == given.age
        assert values["income"] == given.income or (values["income"] is None and np.isnan(given.income))
    same = kqd.test(march, may)
    assert not same.reject and same.largest_change is None
    assert kqd.explain(march, may).changes == ()


def test_warnings_call_the_columns_of_a_frame_by_their_names():
    rng = np.random.default_rng(0)
    x, y = (pandas.DataFrame(rng.normal(size=(30, 3)) * [1, 1e6, 0], columns=["rate", "wealth", "same"]) for _ in "xy")
    for found in (kqd.test(x, y, method="mmd", n_resamples=19), kqd.distance(x, y), kqd.distance(x, y, nan_policy="omit")):
        texts = dict(zip(found.warning_ids, found.warnings))
        assert 'dominate all distances: "wealth".' in texts["dominating-columns"]
        assert texts["constant-columns"].endswith(': "same"')
