"""Parquet files for the examples: events of two months, whose latency differs a little in one region."""

import argparse
import pathlib
import tempfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

FILES = 4


def arguments(engine):
    parser = argparse.ArgumentParser(description=f"kqd on {engine}: two months of generated events")
    parser.add_argument("--rows", type=int, default=2_000_000, help="rows of both months together (2000000)")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "kqd-events")
    return parser.parse_args()


def write(folder, rows):
    """Four files for each month, unless they are there already. Returns both folders."""
    for number, month in enumerate(("january", "february")):
        for k in range(FILES):
            path = folder / str(rows) / month / f"part-{k}.parquet"
            if path.exists():
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            rng = np.random.default_rng([number, k])
            n = rows // 2 // FILES
            far = rng.random(n) < 0.2
            columns = {
                "latency": rng.gamma(4.0, 10.0 + 2.0 * far * number, size=n),
                "bytes": rng.lognormal(8.0, 1.0, size=n),
                "far": far,
                "retries": rng.poisson(0.3, size=n),
            }
            pq.write_table(pa.table(columns), path, row_group_size=100_000)
    return tuple(str(folder / str(rows) / month) for month in ("january", "february"))
