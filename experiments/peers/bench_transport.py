"""Times transport distances and an MMD test of kqd and of Python libraries, one thread each, in one run.

Run with the built package on the path:

    PYTHONPATH=build/release/python /usr/bin/python3 experiments/peers/bench_transport.py [repetitions]

Both sides of a comparison take turns, so that other load on the machine affects both; medians and their ratio are printed.
The two results are compared before times are measured.
"""

import os

for library in ("OMP", "OPENBLAS", "MKL"):  # read when the libraries are loaded, so before any import
    os.environ[f"{library}_NUM_THREADS"] = "1"

import statistics
import sys
import time

import kqd
import numpy as np
import ot
import peer_tests
import scipy.spatial.distance


def seconds(action):
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def compare(name, ours, theirs, repetitions, wanted):
    """Prints the medians of both and their ratio."""
    times = [(seconds(ours), seconds(theirs)) for _ in range(repetitions)]
    own, other = (statistics.median(column) for column in zip(*times))
    verdict = "ok" if other / own >= wanted else "TOO SLOW"
    print(f"{name:58} kqd {own:8.4f} s   other {other:8.4f} s   {other / own:6.2f} times as fast "
          f"(wanted {wanted:.2f}) {verdict}", flush=True)


def samples(n, dim, rng):
    return rng.normal(size=(n, dim)), 1.2 * rng.normal(size=(n, dim)) + 0.3


def exact_transport(repetitions, rng):
    n = 1000
    masses = np.full(n, 1 / n)
    for dim in (2, 10):
        for power in (1, 2):
            x, y = samples(n, dim, rng)
            costs = scipy.spatial.distance.cdist(x, y) ** power
            ours = lambda: kqd.distance(x, y, method="wasserstein", power=power, workers=1, rng=0)  # costs included
            theirs = lambda: ot.emd2(masses, masses, costs)
            assert np.isclose(ours().statistic_power, theirs(), rtol=1e-10)
            compare(f"exact W_{power}, n = {n}, d = {dim}; POT emd2 on given costs", ours, theirs, repetitions, 1 / 1.2)
    x, y = rng.normal(size=(n, 10)), rng.normal(size=(n - 100, 10))
    costs = scipy.spatial.distance.cdist(x, y)
    ours = lambda: kqd.distance(x, y, method="wasserstein", workers=1, rng=0)
    theirs = lambda: ot.emd2(masses, np.full(n - 100, 1 / (n - 100)), costs)
    assert np.isclose(ours().statistic_power, theirs(), rtol=1e-10)
    compare(f"exact W_1, n = {n} and {n - 100}, d = 10 (network)", ours, theirs, repetitions, 1 / 1.2)


def sinkhorn(repetitions, rng):
    n = 1000
    masses = np.full(n, 1 / n)
    for dim, power in ((10, 2), (2, 1)):
        x, y = samples(n, dim, rng)
        costs = scipy.spatial.distance.cdist(x, y) ** power
        epsilon = 0.05 * np.median(scipy.spatial.distance.pdist(np.concatenate([x, y])) ** power)
        theirs = lambda: ot.sinkhorn(masses, masses, costs, reg=epsilon, method="sinkhorn_log", stopThr=1e-8)
        plan = theirs()
        # POT stops by another norm than kqd, which iterates until it has the 1-norm of the marginals that POT reached.
        reached = np.abs(plan.sum(axis=0) - masses).sum() + np.abs(plan.sum(axis=1) - masses).sum()
        ours = lambda: kqd.distance(x, y, method="sinkhorn", power=power, epsilon=epsilon, tolerance=reached,
                                    workers=1, rng=0)
        value = (plan * costs).sum() + epsilon * np.sum(plan * np.log(np.maximum(plan, 1e-300) * n * n))
        found = ours().details
        assert found["converged"] == 1 and np.isclose(found["transport_cost"], value, rtol=1e-5)
        compare(f"Sinkhorn, three transports, n = {n}, d = {dim}, p = {power}; POT one", ours, theirs,
                max(3, repetitions // 3), 3)


def sliced(repetitions, rng):
    n, dim, lines = 10_000, 50, 100
    x, y = samples(n, dim, rng)
    ours = lambda: kqd.distance(x, y, kernel="linear", directions="linear", n_directions=lines, power=2, workers=1,
                                rng=0)
    theirs = lambda: ot.sliced_wasserstein_distance(x, y, n_projections=lines, p=2, seed=0)
    assert np.isclose(ours().statistic, theirs(), rtol=0.2)  # other lines
    compare(f"sliced W_2, n = {n}, d = {dim}, {lines} lines; POT", ours, theirs, repetitions, 8)


def mmd_test(repetitions, rng):
    n, dim, permutations = 2000, 10, 300
    x, y = rng.normal(size=(n, dim)), rng.normal(size=(n, dim)) + 0.02
    bandwidth = np.sqrt(dim)
    ours = lambda: kqd.test(x, y, method="mmd", bandwidth=bandwidth, n_resamples=permutations, workers=1, rng=0)
    theirs = lambda: peer_tests.mmd_numpy(x, y, bandwidth, permutations)
    assert np.isclose(ours().statistic, theirs()[0], rtol=1e-8, atol=1e-12)
    compare(f"MMD test, n = {n} each, B = {permutations}; NumPy", ours, theirs, max(3, repetitions // 3), 3)


def main():
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    rng = np.random.default_rng(0)
    print(f"kqd {kqd.__version__}, POT {ot.__version__}, NumPy {np.__version__}; medians of {repetitions} or a third")
    exact_transport(repetitions, rng)
    sinkhorn(repetitions, rng)
    sliced(repetitions, rng)
    mmd_test(repetitions, rng)


if __name__ == "__main__":
    main()
