"""Parquet files, and what the program makes of them. Run by `./dev engines`, which names the program."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

PROGRAM = os.environ.get("KQD_PROGRAM", "kqd")
SEED = 7
ROWS = {"jan": (9_000, 7_001, 12_000), "feb": (8_000, 11_000)}
SAME_PYTHON = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
os.environ.update(SAME_PYTHON)


def rows(rng, n, scale=1.0):
    """Columns of several types."""
    return {
        "a": rng.normal(size=n) * scale,
        "b": np.float32(rng.exponential(size=n)),
        "count": rng.poisson(3, size=n),
        "flag": rng.random(n) < 0.3,
    }


def write(path, columns, group=1_500):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path, row_group_size=group)


def program(*arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)
    return done


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """Two months in several files, sorted by a column: the worst case for shares of partitions."""
    folder = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(1)
    for month, sizes in ROWS.items():
        for k, n in enumerate(sizes):
            columns = rows(rng, n, 1.0 if month == "jan" else 1.1)
            order = np.argsort(columns["a"])
            write(folder / month / f"part {k}.parquet", {name: values[order] for name, values in columns.items()})
    return folder


@pytest.fixture(scope="session")
def of_program(data, tmp_path_factory):
    """Bytes of the program's profile of January, by 1 and 2 threads, of February like it, and p of its test."""
    folder = tmp_path_factory.mktemp("program")
    found = []
    for threads in (1, 2):
        target = folder / f"{threads}.kqp"
        done = program("profile", data / "jan" / "*.parquet", "--seed", SEED, "--threads", threads, "-o", target)
        assert done.returncode == 0, done.stderr
        found.append(target.read_bytes())
    assert found[0] == found[1]
    like = folder / "feb.kqp"
    done = program("profile", data / "feb" / "*.parquet", "--like", folder / "1.kqp", "-o", like)
    assert done.returncode == 0, done.stderr
    months = (data / month / "*.parquet" for month in ("jan", "feb"))
    done = program("test", *months, "--seed", SEED, "--method", "ekqd", "--json")
    assert done.returncode in (0, 1), done.stderr
    return {"jan": found[0], "feb": like.read_bytes(), "p": json.loads(done.stdout)}


def paths(folder: Path):
    return sorted(map(str, folder.glob("*.parquet")))
