"""Results have the same bits on every CPU with fused multiply-add, for any number of threads and any bound of memory
(docs/design/0002-numerics.md). tests/golden/bits.json holds results with all digits; `./dev bits` writes it again."""

import functools
import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
VALUES = ROOT / "tests" / "golden" / "bits.json"
X, Y = "data/sensors-march.csv", "data/sensors-april.csv"
TABLES = "data/customers-march.csv", "data/customers-april.csv"
WIDE = [f"sample:{part}" for part in "xy"]  # 300 + 200 rows x 40 columns, from kqd sample

METHODS = ["ekqd", "ekqd-centered", "supkqd", "mmd", "mmd-fuse", "mmd-nystrom", "mmd-rff", "me", "scf", "sw", "energy", "kce"]
CALLS = [
    *(["test", X, Y, "--method", method, "--permutations", "99"] for method in METHODS),
    ["test", X, Y, "--permutations", "99"],
    ["test", *WIDE, "--permutations", "99"],
    ["test", *WIDE, "--method", "ekqd", "--power", "1.5", "--permutations", "99"],
    ["test", *WIDE, "--method", "ekqd", "--kernel", "matern52", "--directions", "principal", "--permutations", "99"],
    ["distance", *WIDE, "--method", "ekqd", "--kernel", "laplace", "--power", "2"],
    ["distance", *WIDE, "--method", "wasserstein"],
    ["distance", *WIDE, "--method", "sinkhorn"],
    ["distance", *WIDE, "--method", "supkqd-opt"],
    ["distance", *WIDE, "--method", "kmedian"],
    ["distance", X, Y, "--method", "max-sw"],
    ["explain", X, Y],
    ["test", *TABLES, "--permutations", "99"],
    ["test", *TABLES, "--method", "mmd", "--kernel", "mixed", "--permutations", "99"],
    ["test", *WIDE, "--permute", "groups", "--permutations", "99"],
    ["test", X, Y, "--tolerance", "0.1", "--permutations", "99"],
    ["test", X, Y, "--method", "classifier", "--permutations", "19"],
    ["test", *TABLES, "--design", "paired", "--method", "energy", "--permutations", "99"],
    ["matrix", X, Y, "--test", "--permutations", "99"],
    ["embed", X, Y, "--num-directions", "1", "--gram"],
]
OF_THE_RUN = ("simd", "bits", "threads", "elapsed_s", "version")

# Without fused multiply-add each product is rounded once more, and sums of up to 10^5 terms follow: 1e-16 sqrt(10^5)
# of the terms, which cancel to at least 1e-3 of themselves in these calls. What turns with the last bit (principal
# functions of nearly equal variances, local optima) is compared exactly under fused multiply-add only.
NO_FMA_TOLERANCE = 1e-9
STABLE = {"ekqd", "ekqd-centered", "supkqd", "mmd", "sw", "energy", "wasserstein", "mmd-rff"}


def run(arguments, folder, **environment):
    program = os.environ["KQD_PROGRAM"]
    places = [str(ROOT / a) if a.startswith("data/") else str(folder / f"{a[7:]}.npy") if a.startswith("sample:") else a
              for a in arguments]
    done = subprocess.run([program, *places, "--json"], env={**os.environ, **environment}, capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    if result.get("maximiser"):  # a few numbers of many
        best = result["maximiser"]
        result["maximiser"] = {**best, "coefficients": best["coefficients"][:3], "reference_points": None}
    return result, {key: value for key, value in result.items() if key not in (*OF_THE_RUN, "x", "y", "names", "data")}


def make_samples(folder):
    done = subprocess.run([os.environ["KQD_PROGRAM"], "sample", "power-decay", "-n", "300", "-m", "200", "-d", "40", "--seed",
                           "5", "-o", str(folder / "x.npy"), str(folder / "y.npy")], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@functools.cache
def targets():
    """The instruction sets of this CPU, by name, best first."""
    done = subprocess.run([os.environ["KQD_PROGRAM"], "distance", str(ROOT / X), str(ROOT / Y)], capture_output=True, text=True,
                          env={**os.environ, "KQD_SIMD": "none of them"}, timeout=60)
    return re.search(r"this CPU has (.+)", done.stderr)[1].split(", ")


@pytest.fixture(scope="session")
def samples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples")
    make_samples(folder)
    return folder


def expected_of(arguments):
    return next(entry["result"] for entry in json.loads(VALUES.read_text()) if entry["arguments"] == arguments)


@pytest.mark.parametrize("arguments", CALLS, ids=" ".join)
def test_results_are_the_committed_ones_under_every_instruction_set(arguments, samples):
    expected = expected_of(arguments)
    without_fma = None
    for target in targets():
        result, numbers = run(arguments, samples, KQD_SIMD=target)
        assert result["simd"] == target
        if result["bits"] == "no-fma":
            without_fma = without_fma or numbers
            assert numbers == without_fma, target
        if result["bits"] == "fma":
            assert numbers == expected, target
        elif result.get("method") in STABLE and "statistic" in numbers:
            assert math.isclose(numbers["statistic"], expected["statistic"], rel_tol=NO_FMA_TOLERANCE), target


@pytest.mark.parametrize("arguments", CALLS, ids=" ".join)
def test_results_do_not_depend_on_threads_and_memory(arguments, samples):
    one = run([*arguments, "--threads", "1"], samples)[1]
    for threads in range(2, 9):
        assert run([*arguments, "--threads", str(threads)], samples)[1] == one, f"{threads} threads"
    if arguments[0] == "test":
        for memory in ("30MB", "100MB"):
            assert run([*arguments, "--max-memory", memory], samples)[1] == one, memory


def test_every_call_has_a_committed_result():
    assert [entry["arguments"] for entry in json.loads(VALUES.read_text())] == CALLS


def write(folder):
    """Replaces the committed results by those of this program."""
    make_samples(folder)
    entries = [{"arguments": arguments, "result": run(arguments, folder)[1]} for arguments in CALLS]
    VALUES.write_text("[\n" + ",\n".join(json.dumps(entry) for entry in entries) + "\n]\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
