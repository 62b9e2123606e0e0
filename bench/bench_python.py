"""Overhead of a call from Python over the same call from C++: 200 rows x 10 columns, one thread, in turns. Processor time.

    PYTHONPATH=build/release/python /usr/bin/python3 bench/bench_python.py build/bench/bench/bench_call
"""

import statistics
import subprocess
import sys
import time

import kqd
import numpy as np

ROUNDS, REPETITIONS = 9, 1000


def waves(rows, shift):
    """The same rows as in bench_call.cpp."""
    return np.sin(shift + 1.7 * np.arange(1, 10 * rows + 1)).reshape(rows, 10)


X, Y = waves(200, 0.0), waves(200, 0.5)
OPTIONS = dict(method="ekqd", kernel="gaussian@2", n_directions=8, n_reference=64, workers=1, rng=0)
CALLS = {
    "kqd.distance": lambda: kqd.distance(X, Y, **OPTIONS),
    "kqd.test, 19 permutations": lambda: kqd.test(X, Y, n_resamples=19, **OPTIONS),
}


def median_us(call):
    times = []
    for _ in range(REPETITIONS):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return 1e6 * statistics.median(times)


def library_us(program):
    done = subprocess.run([program, str(REPETITIONS)], check=True, capture_output=True, text=True)
    return [float(number) for number in done.stdout.split()]


def main(program):
    rounds = [(library_us(program), [median_us(call) for call in CALLS.values()]) for _ in range(ROUNDS)]
    print(f"{'call':<26}{'library':>10}{'Python':>10}{'more':>10}   microseconds, medians of {ROUNDS} rounds")
    for i, name in enumerate(CALLS):
        library, python = ([side[s][i] for side in rounds] for s in (0, 1))
        more = [b - a for a, b in zip(library, python)]
        print(f"{name:<26}" + "".join(f"{statistics.median(column):>10.1f}" for column in (library, python, more)))


if __name__ == "__main__":
    main(*sys.argv[1:])
