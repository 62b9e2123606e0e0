"""Processor time of profiles by Spark, next to the program on the same files and to what people use on Spark.

python bench/engines.py --folder DIR [--rows 1000000 4000000] [--cores 2]     in the environment of ./dev engines, with psutil

Differences between two numbers of rows leave out what a session costs once. Times are processor time of all processes,
because elapsed time depends on what else the machine does.
"""

import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

COLUMNS = [f"x{k}" for k in range(10)]
FILES = 4
SPEC = ["--seed", "7", "--num-directions", "14"]


def write(folder, rows):
    target = folder / f"rows-{rows}"
    for k in range(FILES):
        path = target / f"part-{k}.parquet"
        if not path.exists():
            target.mkdir(parents=True, exist_ok=True)
            rng = np.random.default_rng(k)
            pq.write_table(pa.table({name: rng.normal(size=rows // FILES) for name in COLUMNS}), path, row_group_size=100_000)
    return target


def used():
    """Processor seconds of this process and all below it, ended ones included."""
    total = 0.0
    for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


def measured(function, times):
    taken, elapsed = [], []
    for _ in range(times):
        before, start = used(), time.perf_counter()
        function()
        taken.append(used() - before)
        elapsed.append(time.perf_counter() - start)
    return statistics.median(taken), statistics.median(elapsed)


def run_program(folder, target, *more):
    command = [os.environ["KQD_PROGRAM"], "profile", str(folder / "*.parquet"), "--threads", "2", "-o", str(target), *more]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def jobs(session, folder, like):
    from pyspark.sql import functions as F

    import kqd.spark

    df = session.read.parquet(str(folder))
    levels = [k / 10 for k in range(1, 10)]
    found = {
        "kqd.spark.profile, like": lambda: kqd.spark.profile(df, like=like),
        "kqd.spark.profile, new spec": lambda: kqd.spark.profile(df, rng=7, n_directions=14),
        "percentile_approx, accuracy 10000": lambda: df.select(
            *(F.percentile_approx(name, levels, 10000) for name in COLUMNS)
        ).collect(),
    }
    try:
        from whylogs.api.pyspark.experimental import collect_column_profile_views

        found["whylogs"] = lambda: collect_column_profile_views(df)
    except ImportError:
        print("whylogs is not installed", file=sys.stderr)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--rows", type=int, nargs=2, default=[1_000_000, 4_000_000])
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--times", type=int, default=3)
    asked = parser.parse_args()
    few, many = (write(asked.folder, rows) for rows in asked.rows)
    step = asked.rows[1] - asked.rows[0]
    target = asked.folder / "reference.kqp"
    run_program(few, target, *SPEC)
    import kqd

    like = kqd.Profile.load(target)
    size = len(like.to_bytes())
    print(f"profile {size} bytes, spec {len(like.empty().to_bytes())} bytes")
    for name, more in (("program, like", ["--like", str(target)]), ("program, new spec", SPEC)):
        taken = [
            statistics.median(run_program(folder, asked.folder / "out.kqp", *more) for _ in range(asked.times))
            for folder in (few, many)
        ]
        print(f"{name:36} {taken[1]:8.2f} s {1e9 * (taken[1] - taken[0]) / step:8.0f} ns per row", flush=True)
    from pyspark.sql import SparkSession

    settings = {"spark.driver.memory": "1g", "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
                "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    builder = SparkSession.builder.master(f"local[{asked.cores}]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    of_few, of_many = (jobs(session, folder, like) for folder in (few, many))
    for name in of_few:
        measured(of_few[name], 1)  # workers start, and the JVM compiles
        taken = [measured(found[name], asked.times) for found in (of_few, of_many)]
        slope = (taken[1][0] - taken[0][0]) / step
        print(f"{name:36} {taken[1][0]:8.2f} s {1e9 * slope:8.0f} ns per row, elapsed {taken[1][1]:.1f} s", flush=True)
    print(f"driver: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    session.stop()


if __name__ == "__main__":
    main()
