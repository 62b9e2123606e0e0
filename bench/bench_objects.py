"""Processor time of kernels of objects by the number of objects: near-linear for a fixed number of directions.

/usr/bin/python3 bench/bench_objects.py build/release/kqd
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

SIZES = (1000, 4000, 16000, 64000)  # objects of both samples
FLAGS = ("--num-directions", "64", "--num-reference", "64", "--seed", "0", "--threads", "1", "--json")


def texts(n, rng):
    """Texts of 50 letters out of four."""
    return ["".join(row) for row in rng.choice(list("acgt"), size=(n, 50))]


def graphs(n, rng):
    """Graphs of 12 nodes and about 24 edges."""
    pairs = np.array([(i, j) for i in range(12) for j in range(i)])
    return [json.dumps({"nodes": 12, "edges": pairs[rng.uniform(size=len(pairs)) < 4 / 11].tolist()}) for _ in range(n)]


def sets(n, rng):
    """Sets of about 10 of 50 members."""
    return [",".join(map(str, np.flatnonzero(row))) or "none" for row in rng.uniform(size=(n, 50)) < 0.2]


def seconds(program, kernel, folder):
    """Processor time of one distance, the median of three."""
    times = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([program, "distance", "x.txt", "y.txt", "--kernel", kernel, *FLAGS], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return sorted(times)[1]


def main():
    program = os.path.abspath(sys.argv[1])
    print("| kernel | objects | seconds | microseconds per object |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for kernel, make in (("spectrum:3", texts), ("wl:3", graphs), ("sets", sets)):
            for n in SIZES:
                rng = np.random.default_rng(n)
                for name in ("x.txt", "y.txt"):
                    Path(folder, name).write_text("\n".join(make(n // 2, rng)) + "\n")
                taken = seconds(program, kernel, folder)
                print(f"| `{kernel}` | {n} | {taken:.2f} | {taken / n * 1e6:.0f} |", flush=True)


if __name__ == "__main__":
    main()
