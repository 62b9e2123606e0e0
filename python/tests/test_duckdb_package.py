"""PyPI's package duckdb, `pip install "kqd[parquet]"`, reads Parquet, JSON and SQL in Python and in the command (#25)."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig

import kqd
import pytest

DUCKDB = pathlib.Path(os.environ.get("KQD_DUCKDB") or pathlib.Path(__file__).parents[2] / "build" / "duckdb" / "libduckdb.so")
FOLDER = pathlib.Path(kqd.__file__).parents[1]
# A module _duckdb is what the package has; the library itself is one, as far as the search is concerned.
MODULE = "_duckdb" + sysconfig.get_config_var("EXT_SUFFIX")
LIBRARIES = "print(*{line.split()[-1] for line in open('/proc/self/maps') if 'duckdb' in line}, file=sys.stderr)"
CALLS = {
    "json": "import kqd, sys; print(kqd.distance('x.json', 'y.json', rng=0).statistic);" + LIBRARIES,
    "sql": "import kqd, sys; print(kqd.distance('sql:FROM \"x.json\"', 'sql:FROM \"y.json\"', rng=0).statistic);" + LIBRARIES,
    "matrix": "import kqd, sys; print(kqd.matrix(['x.json', 'y.json'], rng=0).distances[0, 1]);" + LIBRARIES,
    "command": f"import _kqd_program, sys; sys.argv = 'kqd distance x.json y.json --quiet'.split(); _kqd_program.main();{LIBRARIES}",
}


def write(folder):
    for name, rows in (("x", [1.0, 2.0, 4.0]), ("y", [2.0, 3.5, 7.0, 8.0])):
        (folder / f"{name}.json").write_text(json.dumps([{"a": value} for value in rows]))
    try:
        os.link(DUCKDB, folder / MODULE)
    except OSError:  # another file system
        shutil.copy(DUCKDB, folder / MODULE)


def run(folder, code):
    variables = {name: value for name, value in os.environ.items() if name != "KQD_DUCKDB"}
    return subprocess.run([sys.executable, "-c", code], cwd=folder, env={**variables, "PYTHONPATH": f"{FOLDER}:{folder}"},
                          capture_output=True, text=True)


@pytest.mark.skipif(not DUCKDB.exists(), reason="DuckDB is not here; `./dev duckdb` fetches it")
@pytest.mark.parametrize("call", CALLS)
def test_the_library_of_the_installed_package_reads_files(tmp_path, call):
    write(tmp_path)
    done = run(tmp_path, CALLS[call])
    expected = kqd.distance([1.0, 2.0, 4.0], [2.0, 3.5, 7.0, 8.0], rng=0).statistic
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == pytest.approx(expected, rel=1e-5)  # the command prints six digits
    assert done.stderr.split() == [str(tmp_path / MODULE)]
