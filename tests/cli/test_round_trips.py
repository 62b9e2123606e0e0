"""Files of NumPy, pandas and DuckDB are read bit for bit, in every format."""

import gzip
import json
import os
import struct
import subprocess

import numpy as np
import pandas
import pytest
from conftest import DUCKDB, needs_duckdb
from duck import Duck

DUMP = os.environ["KQD_DUMP_SAMPLE"]
NAMES = ["alpha", "beta gamma", "d"]


def doubles():
    """Numbers of every size, the hard ones for readers of text among them."""
    rng = np.random.default_rng(5)
    bits = rng.integers(0, 2**64, size=3000, dtype=np.uint64).view(np.float64)
    values = np.concatenate([
        bits[np.isfinite(bits)], rng.normal(size=2000), rng.integers(-10**15, 10**15, size=500).astype(float),
        [0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 2.225073858507201e-308, 1.7976931348623157e308, 0.1, 1 / 3,
         9007199254740993.0, 1e22, 1e23, 123456789012345678]])
    return values[:len(values) // 3 * 3].reshape(-1, 3)


DATA = doubles()


def read(path, *flags):
    done = subprocess.run([DUMP, str(path), *flags], capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    header, values = done.stdout.split(b"\n", 1)
    shape = json.loads(header)
    return np.frombuffer(values).reshape(shape["rows"], shape["cols"]), shape["names"]


def assert_same(path, *flags, data=DATA, names=()):
    values, found = read(path, *flags)
    assert found == list(names)
    assert values.shape == data.shape
    # Bits, so that -0 is not 0.
    np.testing.assert_array_equal(values.view(np.uint64), np.ascontiguousarray(data).view(np.uint64))


def compress(path):
    packed = path.with_name(path.name + ".gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    return packed


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<f8", ">f8"])
def test_numpy_arrays(tmp_path, order, dtype):
    path = tmp_path / "x.npy"
    np.save(path, np.asarray(DATA, dtype=dtype, order=order))
    assert_same(path)
    assert_same(compress(path))


@pytest.mark.parametrize("dtype", ["?", "i1", "<i2", ">i2", "<i4", ">i4", "<i8", ">i8", "u1", "<u2", ">u2", "<u4", ">u4",
                                   "<u8", ">u8", "<f2", ">f2", "<f4", ">f4"])
def test_numpy_types(tmp_path, dtype):
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 256, size=(200, 3, 8), dtype=np.uint8)
    width = np.dtype(dtype).itemsize
    array = (bits[..., 0] % 2 == 1) if dtype == "?" else np.ascontiguousarray(bits[..., :width]).view(dtype)[..., 0]
    array = np.where(np.isfinite(array), array, 1).astype(dtype)
    if dtype[1:] in ("i8", "u8"):
        array &= array.dtype.type((2**53 - 1) << 10)  # those beyond 2^53 that are doubles
    np.save(tmp_path / "x.npy", array)
    assert_same(tmp_path / "x.npy", data=array.astype(np.float64))


def test_an_array_large_enough_to_be_mapped(tmp_path):
    large = np.tile(DATA, (60, 1))
    np.save(tmp_path / "x.npy", large)
    assert (tmp_path / "x.npy").stat().st_size > 1 << 20
    assert_same(tmp_path / "x.npy", data=large)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_numpy_archives(tmp_path, save):
    path = tmp_path / "x.npz"
    save(path, first=DATA, second=DATA[::-1])
    assert_same(f"{path}:first")
    assert_same(f"{path}:second", data=DATA[::-1])


def test_numpy_text(tmp_path):
    path = tmp_path / "x.csv"
    np.savetxt(path, DATA, delimiter=",", fmt="%.17g")
    assert_same(path)
    assert_same(compress(path))


def test_idx(tmp_path):
    path = tmp_path / "x-idx2-double"
    path.write_bytes(bytes([0, 0, 14, 2]) + struct.pack(">II", *DATA.shape) + DATA.astype(">f8").tobytes())
    assert_same(path)
    assert_same(compress(path))


@pytest.mark.parametrize("name, settings", [("x.csv", {}), ("x.tsv", {"sep": "\t"}), ("x.csv.gz", {}),
                                            ("semicolon.csv", {"sep": ";"}), ("bar.csv", {"sep": "|"}),
                                            ("crlf.csv", {"lineterminator": "\r\n"}), ("quoted.csv", {"quoting": 1}),
                                            ("single.csv", {"quoting": 1, "quotechar": "'"}),
                                            ("bom.csv", {"encoding": "utf-8-sig"})])
def test_pandas_text(tmp_path, name, settings):
    pandas.DataFrame(DATA, columns=NAMES).to_csv(tmp_path / name, index=False, **settings)
    assert_same(tmp_path / name, names=NAMES)


@pytest.mark.parametrize("sep", [";", "\t", "|"])
def test_pandas_text_with_decimal_commas(tmp_path, sep):
    pandas.DataFrame(DATA, columns=NAMES).to_csv(tmp_path / "x.csv", index=False, sep=sep, decimal=",")
    assert_same(tmp_path / "x.csv", "decimal-comma", names=NAMES)


# pandas writes at most 15 digits to JSON: numbers that have no more.
@needs_duckdb
@pytest.mark.parametrize("name, settings", [("x.json", {}), ("x.jsonl", {"lines": True})])
def test_pandas_json(tmp_path, name, settings):
    data = np.random.default_rng(2).integers(-10**9, 10**9, size=(500, 3)) / 1024
    pandas.DataFrame(data, columns=NAMES).to_json(tmp_path / name, orient="records", double_precision=15, **settings)
    assert_same(tmp_path / name, data=data, names=NAMES)


@needs_duckdb
def test_python_json(tmp_path):
    rows = [dict(zip(NAMES, row)) for row in DATA.tolist()]
    (tmp_path / "x.json").write_text(json.dumps(rows))
    (tmp_path / "x.ndjson").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert_same(tmp_path / "x.json", names=NAMES)
    assert_same(tmp_path / "x.ndjson", names=NAMES)


@pytest.fixture(scope="module")
def duck(tmp_path_factory):
    """DuckDB with the data as table t."""
    path = tmp_path_factory.mktemp("duck") / "t.csv"
    pandas.DataFrame(DATA, columns=NAMES).to_csv(path, index=False)
    duck = Duck(DUCKDB)
    duck.run(f"CREATE TABLE t AS SELECT * FROM read_csv('{path}', all_varchar = true)")
    for name in NAMES:
        duck.run(f'ALTER TABLE t ALTER "{name}" TYPE DOUBLE')
    return duck


@needs_duckdb
@pytest.mark.parametrize("name, settings", [
    ("x.parquet", "FORMAT parquet"), ("zstd.parquet", "FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 2048"),
    ("x.csv", "FORMAT csv"), ("x.tsv", "FORMAT csv, DELIMITER '\t'"), ("x.csv.gz", "FORMAT csv, COMPRESSION gzip"),
    ("x.json", "FORMAT json, ARRAY true"), ("x.jsonl", "FORMAT json"), ("odd [name]*.parquet", "FORMAT parquet")])
def test_duckdb_files(tmp_path, duck, name, settings):
    duck.run(f"COPY t TO '{tmp_path / name}' ({settings})")
    assert_same(tmp_path / name, names=NAMES)


@needs_duckdb
def test_queries_over_files_and_databases(tmp_path, duck):
    duck.run(f"COPY t TO '{tmp_path}/x.parquet'")
    duck.run(f"ATTACH '{tmp_path}/d.duckdb' AS d; CREATE TABLE d.rows AS FROM t; DETACH d")
    assert_same(f"sql:SELECT * FROM '{tmp_path}/x.parquet'", names=NAMES)
    assert_same(f"sql:ATTACH '{tmp_path}/d.duckdb' AS d (READ_ONLY); SELECT * FROM d.rows;", names=NAMES)
    assert_same(f"sql:SELECT d, alpha FROM '{tmp_path}/x.parquet' -- two of them", data=DATA[:, [2, 0]],
                names=["d", "alpha"])


@needs_duckdb
@pytest.mark.parametrize("kind, lowest, highest", [
    ("TINYINT", -2**7, 2**7 - 1), ("SMALLINT", -2**15, 2**15 - 1), ("INTEGER", -2**31, 2**31 - 1),
    ("BIGINT", -2**63, 2**63 - 1024), ("HUGEINT", -2**127, 2**127 - 1), ("UTINYINT", 0, 2**8 - 1),
    ("USMALLINT", 0, 2**16 - 1), ("UINTEGER", 0, 2**32 - 1), ("UBIGINT", 0, 2**64 - 2048),
    ("DECIMAL(4, 2)", "-99.99", "99.99"), ("DECIMAL(18, 17)", "-9.10000000000000003", "0.12345678901234567"),
    ("DECIMAL(38, 3)", "-1234567890123456.789", "0.001"), ("FLOAT", -0.1, 3e38), ("BOOLEAN", 0, 1)])
def test_duckdb_types(tmp_path, duck, kind, lowest, highest):
    duck.run(f"COPY (SELECT CAST({lowest} AS {kind}) AS a UNION ALL SELECT CAST({highest} AS {kind})) "
             f"TO '{tmp_path}/x.parquet'")
    cast = np.float32 if kind == "FLOAT" else float
    # Parquet has no 128-bit integers: DuckDB writes doubles for them.
    assert_same(tmp_path / "x.parquet", data=np.array([[cast(lowest)], [cast(highest)]], float), names=["a"])


@needs_duckdb
def test_blanks_around_texts_of_json_mean_as_little_as_in_csv(tmp_path):
    (tmp_path / "x.json").write_text(json.dumps([{"a": " 1.5 ", "b": 2}, {"a": "2.5", "b": 3}]))
    assert_same(tmp_path / "x.json", data=np.array([[1.5, 2.0], [2.5, 3.0]]), names=["a", "b"])
