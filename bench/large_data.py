"""Times and memory of tests of large data and of profiles, a part at a time, for the tables of README.md:

    python3 bench/large_data.py PART [PART ...] [--folder FOLDER] [--turns 3] [--scale 1]

    rows      10^6 + 10^6 rows x 10 columns, adaptive and e-KQD, groups and rows in turns; rows take minutes
    column    2 10^6 + 2 10^6 rows of one column, next to Kolmogorov-Smirnov by SciPy
    table     n = 10^4 .. 10^7 rows of each sample in memory, and 10^8 in blocks by a pattern: 17 GB of files
    peak      10^7 + 10^7 rows x 10, NPY: memory next to the mapped files
    parquet   `kqd profile` of 10^8 rows x 10 in ten Parquet files, 14 directions and everything of the default test: 8 GB
    days      tests of a profile against the profiles of 1, 10, 45, 70 and 365 merged days

Files are made in FOLDER (build/bench-data) and deleted after the part. --scale 0.01 divides numbers of rows by a hundred.
Every line has elapsed time, processor time of all threads, and the peak of the memory. Elapsed times need quiet cores.
"""

import argparse
import os
import shutil
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "build" / "release" / "kqd"
DIMENSIONS = 10


def run(*arguments, label=""):
    """Runs the program; prints and returns elapsed and processor seconds and the peak in MB."""
    begin = time.monotonic()
    child = os.posix_spawn(PROGRAM, [str(PROGRAM), *map(str, arguments)], os.environ,
                           file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status, used = os.wait4(child, 0)
    elapsed = time.monotonic() - begin
    if status != 0:
        sys.exit(f"failed: kqd {' '.join(map(str, arguments))}")
    cpu, peak = used.ru_utime + used.ru_stime, used.ru_maxrss / 1000
    print(f"| {label or ' '.join(map(str, arguments))} | {elapsed:.2f} s | {cpu:.2f} s | {peak:.0f} MB |", flush=True)
    return elapsed, cpu, peak


def medians(runs):
    return [sorted(values)[len(values) // 2] for values in zip(*runs)]


def make_npy(path, rows, columns=DIMENSIONS, seed=0):
    """Normal rows, in blocks, so that they need no memory."""
    path.parent.mkdir(parents=True, exist_ok=True)
    cells = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(rows, columns))
    rng = np.random.default_rng([rows, seed])
    for first in range(0, rows, 1_000_000):
        cells[first : first + 1_000_000] = rng.standard_normal((min(1_000_000, rows - first), columns))
    cells.flush()
    return path


def pair(folder, rows, columns=DIMENSIONS):
    return [make_npy(folder / f"{side}.npy", rows, columns, seed) for seed, side in enumerate("xy")]


def part_rows(folder, scale, turns):
    files = pair(folder, int(1_000_000 * scale))
    for method in ("ekqd", "adaptive"):
        found = {"groups": [], "rows": []}
        for _ in range(turns):
            for permute in found:
                found[permute].append(run("test", *files, "--method", method, "--permute", permute, "--quiet",
                                          label=f"{method}, {permute}"))
        rows, groups = medians(found["rows"]), medians(found["groups"])
        print(f"{method}: rows / groups = {rows[0] / groups[0]:.1f} elapsed, {rows[1] / groups[1]:.1f} processor time\n")


def part_column(folder, scale, turns):
    import scipy.stats

    files = pair(folder, int(2_000_000 * scale), 1)
    x, y = (np.load(file)[:, 0] for file in files)
    ours, theirs = [], []
    for _ in range(turns):
        ours.append(run("test", *files, "--quiet", label="adaptive, one column"))
        begin, cpu = time.monotonic(), time.process_time()
        scipy.stats.ks_2samp(x, y)
        theirs.append((time.monotonic() - begin, time.process_time() - cpu))
        print(f"| scipy.stats.ks_2samp | {theirs[-1][0]:.2f} s | {theirs[-1][1]:.2f} s | |")
    a, b = medians(ours), medians(theirs)
    print(f"ratio {a[0] / b[0]:.1f} elapsed, {a[1] / b[1]:.1f} processor time; at most 5 is required\n")


def part_table(folder, scale, turns):
    for power in range(4, 8):
        files = pair(folder, int(10**power * scale))
        for method in ("adaptive", "ekqd"):
            run("test", *files, "--method", method, "--quiet", label=f"10^{power} + 10^{power} x {scale}, {method}")
    for seed, side in enumerate("xy"):
        for k in range(10):
            make_npy(folder / side / f"{k}.npy", int(10**7 * scale), seed=100 * seed + k)
    for method in ("ekqd", "adaptive"):
        run("test", folder / "x" / "*.npy", folder / "y" / "*.npy", "--method", method, "--quiet",
            label=f"10^8 + 10^8 x {scale} in blocks, {method}")


def part_peak(folder, scale, turns):
    files = pair(folder, int(10**7 * scale))
    mapped = sum(file.stat().st_size for file in files) / 1e6
    for method in ("ekqd", "adaptive"):
        peak = run("test", *files, "--method", method, "--quiet", label=f"10^7 + 10^7 x {scale}, {method}")[2]
        print(f"{peak - mapped:.0f} MB next to {mapped:.0f} MB of mapped files; below 1500 is required\n")


def part_parquet(folder, scale, turns):
    sys.path.append(str(ROOT / "tests" / "cli"))
    from duck import Duck

    duck = Duck(os.environ.get("KQD_DUCKDB") or ROOT / "build" / "duckdb" / "libduckdb.so")
    normal = "sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())"
    columns = ", ".join(f"{normal} AS c{j}" for j in range(DIMENSIONS))
    for k in range(10):
        duck.run(f"COPY (SELECT {columns} FROM range({int(10**7 * scale)})) TO '{folder}/{k}.parquet'")
    for label, options in (("14 directions", ["--num-directions", "14"]), ("everything of the default test", [])):
        run("profile", folder / "*.parquet", "-o", folder / "new.kqp", *options, label=f"10^8 x {scale}, new spec, {label}")
        run("profile", folder / "*.parquet", "--like", folder / "new.kqp", "-o", folder / "like.kqp",
            label=f"10^8 x {scale}, --like, {label}")


def part_days(folder, scale, turns):
    rows = int(20_000 * scale)
    base, today = folder / "base.kqp", folder / "today.kqp"
    run("profile", make_npy(folder / "rows.npy", rows), "-o", base, label="a day of 20,000 rows, new spec")
    run("profile", make_npy(folder / "rows.npy", rows, seed=1), "--like", base, "-o", today, label="the same, --like")
    days = []
    for count in (1, 10, 45, 70, 365):
        while len(days) < count:
            days.append(folder / f"day-{len(days)}.kqp")
            make_npy(folder / f"day-{len(days)}" / "rows.npy", rows, seed=1 + len(days))
            run("profile", folder / f"day-{len(days)}" / "rows.npy", "--like", base, "-o", days[-1], label=f"day {len(days)}")
            shutil.rmtree(folder / f"day-{len(days)}")
        merged = folder / "merged.kqp"
        run("merge", *days, "-o", merged, label=f"merge of {count} days")
        print(f"{merged.stat().st_size / 1e6:.1f} MB")
        run("test", merged, today, "--quiet", label=f"{count} days against one")


PARTS = {name[5:]: function for name, function in globals().items() if name.startswith("part_")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", choices=PARTS)
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "bench-data")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0)
    options = parser.parse_args()
    for part in options.parts:
        folder = options.folder / part
        folder.mkdir(parents=True, exist_ok=True)
        print(f"\n{part}\n\n| what | elapsed | processor time | peak |\n|---|---|---|---|", flush=True)
        try:
            PARTS[part](folder, options.scale, options.turns)
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
