"""Processor time and state size of `kqd monitor` per batch: 20 normal columns, a baseline and batches of as many rows.

    /usr/bin/python3 bench/bench_monitor.py build/release/kqd [ROWS...]
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

COLUMNS, BATCHES = 20, 4


def processor_seconds(command, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measured(program, rows):
    """Processor seconds and bytes of the state per later batch; the state is loaded once for them."""
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        for i in range(BATCHES + 2):
            np.save(Path(folder) / f"b{i}.npy", rng.normal(size=(rows, COLUMNS)))
        monitor = [program, "monitor", "--state", "s.kqm", "--quiet"]
        processor_seconds([*monitor, "b0.npy", "b1.npy"], folder)
        state = Path(folder) / "s.kqm"
        before = state.stat().st_size
        seconds = processor_seconds([*monitor, *(f"b{i}.npy" for i in range(2, BATCHES + 2))], folder)
        return seconds / BATCHES, (state.stat().st_size - before) / BATCHES


def main():
    program = os.path.abspath(sys.argv[1])
    print("| rows of a batch | processor seconds per batch | rows per processor second | kB of state per batch |\n|---|---|---|---|")
    for rows in map(int, sys.argv[2:] or ("1000", "10000", "100000")):
        seconds, size = measured(program, rows)
        print(f"| {rows} | {seconds:.2f} | {rows / seconds:.0f} | {size / 1000:.0f} |", flush=True)


if __name__ == "__main__":
    main()
