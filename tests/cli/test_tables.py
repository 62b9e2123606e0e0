"""Tables as they are: one command for columns of any type, and what the samples are called."""

import csv
import importlib.util
import json
import math
import pathlib
import re
import sys

import pytest

DATA = pathlib.Path(__file__).parents[2] / "data"
sys.path.append(str(pathlib.Path(__file__).parents[1] / "support"))
import customers  # noqa: E402

CUSTOMERS = (str(DATA / "customers-march.csv"), str(DATA / "customers-april.csv"))


def columns_of(run):
    return {column["name"]: column for column in json.loads(run.stdout)["data"]["columns"]}


def test_a_table_of_customers_needs_no_flag(kqd):
    run = kqd("test", *CUSTOMERS, "--json")
    assert (run.stderr, run.code) == ("", 0)
    result = json.loads(run.stdout)
    assert result["names"] == ["march", "april"]
    assert result["reject"]
    columns = columns_of(run)
    assert {name: column["type"] for name, column in columns.items()} == {
        "customer_id": "id", "signup_date": "date", "age": "number", "country": "category", "plan": "category",
        "income": "number", "tenure_months": "number", "visits": "integer", "newsletter": "boolean"}
    assert [name for name, column in columns.items() if column["excluded"]] == ["customer_id"]
    assert columns["plan"]["levels"] == ["basic", "premium", "pro"]
    assert (columns["income"]["missing_x"], columns["income"]["missing_y"]) == (61, 148)


def test_one_line_has_all_decisions_about_columns(kqd):
    lines = [line[15:] for line in kqd("distance", *CUSTOMERS, "--method", "energy").stdout.splitlines()
             if line.startswith("  data ")]
    assert lines == [
        "columns: customer_id id, excluded (4000 different texts in 4000 rows), signup_date date, country category of 12, "
        "plan category of 3, income number (61 and 148 missing), newsletter boolean, 3 numbers (to change a type: "
        "--types; missing numbers are marked, and kernels and distances see the pooled median there: --na)",
        "8 of 9 columns compared"]


def test_samples_are_called_by_their_files_or_as_asked(kqd, folder):
    assert "  march        " in kqd("distance", *CUSTOMERS, "--method", "energy").stdout
    run = kqd("distance", *CUSTOMERS, "--method", "energy", "--names", "March,April", "--json")
    assert json.loads(run.stdout)["names"] == ["March", "April"]
    (folder / "t.csv").write_text("arm,v\n" + "".join(f"{'ab'[i % 2]},{i}\n" for i in range(20)))
    assert json.loads(kqd("distance", "t.csv", "--group", "arm", "--json").stdout)["names"] == ["a", "b"]
    same = json.loads(kqd("distance", "a.csv", "a.csv", "--json").stdout)
    assert same["names"] == ["X", "Y"]
    refused = kqd("distance", *CUSTOMERS, "--names", "March")
    assert refused.code == 2 and "2 names with commas between them" in refused.stderr
    for command in ("matrix", "embed"):
        assert json.loads(kqd(command, *CUSTOMERS, "--names", "March,April", "--json").stdout)["names"] == ["March", "April"]
    explained = kqd("explain", "a.csv", "b.csv", "--names", "March,April").stdout
    assert "quantile of April minus that of March" in explained and "most like March" in explained


def test_warnings_call_the_samples_by_their_names(kqd, folder):
    for name, sizes in (("rows-march", (1, 2, 3)), ("rows-april", (2, 4, 4))):
        rows = "".join(f"{name}-{c},{c % 7}.{i}\n" for c in range(12) for i in range(sizes[c % 3]))
        (folder / f"{name}.csv").write_text("who,v\n" + rows)
    run = kqd("test", "rows-march.csv", "rows-april.csv", "--design", "clusters:who", "--permutations", "99", "--json")
    assert json.loads(run.stdout)["notes"][0]["text"].startswith("cluster sizes differ between march and april (1 to 4 rows)")


def test_strict_reading_is_one_flag_away(kqd):
    run = kqd("test", *CUSTOMERS, "--categorical", "raise")
    assert run.code == 2 and 'column "customer_id" is' in run.stderr
    run = kqd("test", *CUSTOMERS, "--drop", "customer_id,income", "--na", "raise", "--method", "energy")
    assert run.code == 0


def test_the_readme_has_the_p_values_of_tests_of_one_column_at_a_time():
    spec = importlib.util.spec_from_file_location("one_column_tests", DATA / "one_column_tests.py")
    tests = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tests)
    found = tests.pvalues()
    smallest = {test: min(p for (name, _), p in found.items() if name == test) for test, _ in found}
    rows = re.findall(r"^\| (Kolmogorov-Smirnov|chi-square of missing|chi-square).* \| ([0-9.e-]+) \|$",
                      (DATA.parent / "README.md").read_text(), re.MULTILINE)
    assert rows == [("Kolmogorov-Smirnov", f"{smallest['Kolmogorov-Smirnov']:.2f}"),
                    ("chi-square", f"{smallest['chi-square']:.2f}"),
                    ("chi-square of missing", f"{smallest['chi-square, missing or not']:.0e}".replace("e-0", "e-"))]
    special = pytest.importorskip("scipy.special")
    x = list(range(100))
    assert math.isclose(tests.kolmogorov_smirnov(x, [value + 20 for value in x]), special.kolmogorov(0.2 * math.sqrt(50)))
    for value, degrees in ((0.5, 1), (3.8, 2), (19.7, 11), (30.0, 12)):
        assert math.isclose(tests.chi_square_tail(value, degrees), special.chdtrc(degrees, value))


def test_types_are_declared_by_name(kqd, folder):
    (folder / "t1.csv").write_text("zip,v\n" + "".join(f"0{i % 5},{i}\n" for i in range(20)))
    (folder / "t2.csv").write_text("zip,v\n" + "".join(f"0{i % 4},{i}\n" for i in range(20)))
    run = kqd("distance", "t1.csv", "t2.csv", "--types", "zip=category", "--method", "energy", "--json")
    assert columns_of(run)["zip"]["levels"] == ["00", "01", "02", "03", "04"]
    assert json.loads(run.stdout)["dim"] == 6


def test_numbers_with_a_decimal_comma_are_no_category(kqd, tmp_path):
    (tmp_path / "european.csv").write_text("a;b\n1,5;2\n2,5;1\n3,5;4\n")
    run = kqd("distance", "european.csv", "european.csv", cwd=tmp_path)
    assert (run.stdout, run.code) == ("", 2)
    assert run.stderr == (
        'kqd: european.csv:2: column "a" is "1,5", a number with a decimal comma. To read such numbers: --decimal-comma; '
        "to compare as texts: --types a=category\n"
    )
    assert kqd("distance", "european.csv", "european.csv", "--decimal-comma", "--quiet", cwd=tmp_path).stdout == "0\n"
    assert kqd("distance", "european.csv", "european.csv", "--types", "a=category", "--quiet", cwd=tmp_path).code == 0


def newcomer():
    """Months of customers: the relation of income and plan halved in april, 6% in place of 3% of the incomes missing."""
    return {"march": customers.customers(1), "april": customers.customers(2, relation=0.45, missing=0.06),
            "may": customers.customers(3)}


def test_a_newcomer_finds_the_relation_and_the_missing_values_with_the_first_command(kqd, folder):
    for month, table in newcomer().items():
        customers.write(folder / f"{month}.csv", table)
    test = kqd("test", "march.csv", "april.csv")
    assert test.code == 0 and "The samples differ (p = 0.001" in test.stdout
    assert re.search(r"^  most changed +income by plan +\(.*; adjusted p = 0\.001\)$", test.stdout, re.MULTILINE)
    assert "  next         kqd explain shows which columns, relations and rows differ\n" in test.stdout
    result = json.loads(kqd("test", "march.csv", "april.csv", "--json").stdout)
    assert result["largest_change"] == "income by plan"
    named = {component["where"] for component in result["components"]}
    assert {"income by plan", "income is missing"} <= named
    found = json.loads(kqd("explain", "march.csv", "april.csv", "--json").stdout)
    changes = {(change["kind"], *change["columns"]) for change in found["changes"]}
    assert {("missing", "income"), ("relation", "income", "plan")} <= changes
    assert not any("dominat" in warning["text"] for warning in found["warnings"])
    # Two months without a change.
    same = json.loads(kqd("test", "march.csv", "may.csv", "--json").stdout)
    assert not same["reject"] and same["largest_change"] is None
    assert all(component["where"] == "" for component in same["components"])
    assert "  next " not in kqd("test", "march.csv", "may.csv").stdout
    assert json.loads(kqd("explain", "march.csv", "may.csv", "--json").stdout)["changes"] == []


def test_rows_and_columns_are_shown_in_the_units_of_the_table_however_they_are_scaled(kqd):
    plain, *scaled = [json.loads(kqd("explain", *CUSTOMERS, "--json", "--standardize", how).stdout)
                      for how in ("none", "zscore", "iqr")]
    rows = [list(csv.DictReader(open(path, newline=""))) for path in CUSTOMERS]
    by_name = {column["name"]: column for column in plain["columns"]}
    for found in scaled:
        for column in found["columns"]:
            for field in ("wasserstein", "shift", "range_x", "range_y", "levels", "missing", "pvalue", "density"):
                assert column[field] == by_name[column["name"]][field], (column["name"], field)
        for row in found["rows"]["most_x"] + found["rows"]["most_y"]:
            given = rows["xy".index(row["sample"])][row["row"] - 1]
            for name, value in zip(found["row_columns"], row["values"]):
                if name == "newsletter":
                    assert value == {"yes": "true", "no": "false"}[given[name]]
                elif isinstance(value, str):
                    assert value == given[name]
                else:
                    assert value == (float(given[name]) if given[name] else None)
    text = kqd("explain", *CUSTOMERS, "--standardize", "zscore").stdout
    assert re.search(r"^  of (march|april) .* 202[34]-\d\d-\d\d", text, re.MULTILINE) or "signup_date" not in text


def test_warnings_call_columns_by_their_names(kqd, folder):
    (folder / "wide-x.csv").write_text("id,rate,wealth,same\n" + "".join(f"{i % 3},{i % 7},{1e6 * (i % 5)},4\n" for i in range(40)))
    (folder / "wide-y.csv").write_text("id,rate,wealth,same\n" + "".join(f"{i % 2},{i % 5},{1e6 * (i % 4)},4\n" for i in range(40)))
    for command, method in (("test", "mmd"), ("distance", "energy"), ("distance", "ekqd")):
        result = json.loads(kqd(command, "wide-x.csv", "wide-y.csv", "--method", method, "--json").stdout)
        texts = {warning["id"]: warning["text"] for warning in result["warnings"]}
        assert 'dominate all distances: "wealth".' in texts["dominating-columns"]
        assert texts["constant-columns"].endswith(': "same"')
