"""Tables with columns of any type: what Python passes on is what the program reads from files."""

import datetime
import json
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
    (pandas.Series(pandas.Categorical(["S", None, "L"] * 40, categories=["S", "M", "L"], ordered=True)), "ordered"),
    (pandas.Series(pandas.Categorical([3, 1, 2] * 40, ordered=True)), "ordered"),
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


def test_ordered_categories_are_their_ranks():
    order = ["low", "mid", "high"]
    x, y = (frame.assign(plan=frame.plan.map({"basic": "low", "pro": "mid", "premium": "high"})) for frame in (X, Y))
    ordered = [frame.assign(plan=pandas.Categorical(frame.plan, categories=order, ordered=True)) for frame in (x, y)]
    ranks = [frame.assign(plan=frame.plan.map({level: rank for rank, level in enumerate(order)})) for frame in (x, y)]
    result = kqd.test(*ordered, rng=0)
    assert types_of(result)["plan"] == "ordered"
    assert "low < mid < high are 0, 1, 2" in str(result)
    assert result.pvalue == kqd.test(*ranks, rng=0).pvalue
    assert result.pvalue == kqd.test(x, y, types={"plan": "ordered:low<mid<high"}, rng=0).pvalue
    assert result.pvalue != kqd.test(x, y, rng=0).pvalue


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


# ---- Single columns, and tables of other libraries ----

DAYS = pandas.date_range("2024-01-01", periods=N)


@pytest.mark.parametrize("make", [pandas.Series, pandas.Index])
@pytest.mark.parametrize("x, y, differ", [
    (["a", "b", "c"] * 40, ["a", "a", "b"] * 40, True),
    (["a", "b", "c"] * 40, ["c", "b", "a"] * 40, False),
    (pandas.Categorical(["a", None, "b"] * 40), pandas.Categorical(["a", None, None] * 40), True),
    (DAYS, DAYS + pandas.Timedelta(days=30), True),
    (DAYS.tz_localize("Europe/Rome"), DAYS.tz_localize("Europe/Rome")[::-1], False),
])
def test_a_single_column_of_any_type_is_a_sample(make, x, y, differ):
    x, y = make(x), make(y)
    result = kqd.test(x, y, rng=0)
    assert result.reject == differ
    assert result.pvalue == kqd.test(pandas.DataFrame({"v": x}), pandas.DataFrame({"v": y}), rng=0).pvalue
    assert bool(kqd.explain(x, y, rng=0).changes) == differ


def test_single_columns_of_different_names_are_compared_with_a_warning():
    x, y = pandas.Series(["a", "b"] * 30, name="plan"), pandas.Series(["a", "a", "b"] * 20, name="tariff")
    assert "different-names" in kqd.test(x, y, rng=0).warning_ids
    assert kqd.test(x, y.rename(None), rng=0).data["columns"][0]["name"] == "plan"


class PolarsColumn:
    """A column as polars has it: the name of its type decides."""

    def __init__(self, name, dtype, cells):
        self.name, self.dtype, self._cells = name, dtype, list(cells)

    def to_list(self):
        return self._cells

    def to_numpy(self):
        return np.array(self._cells)


class PolarsFrame:
    def __init__(self, columns):
        self._columns = columns
        self.columns = [column.name for column in columns]

    def get_columns(self):
        return self._columns


class ArrowColumn:
    """A column as Arrow has it."""

    def __init__(self, dtype, cells):
        self.type, self._cells = dtype, list(cells)

    def to_pylist(self):
        return self._cells

    def __array__(self, dtype=None):
        return np.array([np.nan if cell is None else cell for cell in self._cells], dtype=dtype)


class ArrowTable:
    def __init__(self, columns):
        self._columns = list(columns.values())
        self.column_names = list(columns)

    def column(self, j):
        return self._columns[j]


CELLS = {
    "plan": ["basic", "pro", None, "pro"] * 30,
    "day": [datetime.date(2024, 1, 1) + datetime.timedelta(days=i % 40) for i in range(N)],
    "news": [True, False, None, False] * 30,
    "visits": [i % 9 for i in range(N)],
    "income": [None if i % 11 == 0 else i / 7 for i in range(N)],
}


def as_polars(cells):
    kinds = {"plan": "Categorical(ordering='physical')", "day": "Date", "news": "Boolean", "visits": "Int64", "income": "Float64"}
    return PolarsFrame([
        PolarsColumn(name, kinds[name], [np.nan if cell is None else cell for cell in values] if name == "income" else values)
        for name, values in cells.items()
    ])


def as_arrow(cells):
    kinds = {"plan": "dictionary<values=string, indices=int32, ordered=0>", "day": "date32[day]", "news": "bool",
             "visits": "int64", "income": "double"}
    return ArrowTable({name: ArrowColumn(kinds[name], values) for name, values in cells.items()})


def as_pandas(cells):
    return pandas.DataFrame(cells).astype({"plan": "category", "day": "datetime64[ns]", "news": "boolean"})


@pytest.mark.parametrize("make", [as_polars, as_arrow])
def test_tables_of_other_libraries_are_like_those_of_pandas(make):
    later = {**CELLS, "plan": ["basic", "basic", "basic", "pro"] * 30, "income": [0.5 * i for i in range(N)]}
    expected = kqd.test(as_pandas(CELLS), as_pandas(later), rng=0)
    found = kqd.test(make(CELLS), make(later), rng=0)
    assert found.pvalue == expected.pvalue and found.reject
    assert types_of(found) == types_of(expected)
    assert types_of(found) == {"plan": "category", "day": "date", "news": "boolean", "visits": "integer", "income": "number"}
    assert kqd.explain(make(CELLS), make(later), rng=0).changes == kqd.explain(as_pandas(CELLS), as_pandas(later), rng=0).changes


# ---- Names of the samples ----

def test_names_are_used_in_texts_plots_and_pages(tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    found = kqd.explain(X, Y, names=["March", "April"], rng=0)
    assert found.names == ("March", "April")
    assert "id" in [column["name"] for column in found.to_dict()["data"]["columns"] if column["excluded"]]
    assert "quantile of April minus that of March" in found.summary()
    figure = found.plot()
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["March", "April"]
    result = kqd.test(X, Y, names="March,April", method="energy", rng=0)
    assert result.names == ("March", "April")
    for one, name in ((found, "explained.html"), (result, "tested.html")):
        one.to_html(tmp_path / name)
        text = (tmp_path / name).read_text(encoding="utf-8")
        report = json.loads(text.partition('id="report">')[2].partition("</script>")[0])
        assert report["explanation"]["names"] == report["result"]["names"] == ["March", "April"]
        assert report["flags"] == {"types": "types=", "na": "nan_policy=", "standardize": "standardize="}
        columns = {column["name"]: column for column in report["result"]["data"]["columns"]}
        assert columns["id"]["excluded"] and columns["income"]["missing_x"] > 0
    for wrong in (["March"], "a,b,c", ["a", " "]):
        with pytest.raises(ValueError, match="names"):
            kqd.test(X, Y, names=wrong, rng=0)


def test_files_are_called_by_their_names():
    assert kqd.test(MARCH, APRIL, method="energy", rng=0).names == ("march", "april")
    found = kqd.explain(MARCH, APRIL, rng=0)
    assert found.names == ("march", "april")
    assert found.to_dict()["x"] == str(MARCH)


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
