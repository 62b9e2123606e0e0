"""Tables as they are: one command for columns of any type, and what the samples are called."""

import json
import pathlib

DATA = pathlib.Path(__file__).parents[2] / "data"
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
        "--types; missing values: --na)",
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
