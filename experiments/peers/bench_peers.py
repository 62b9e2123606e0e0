"""Times kqd and permutation tests of Python and R libraries: same data, same threads, same number of permutations.

    ./dev bench peers [--only STATISTIC] [--largest ROWS] [--out FILE.md]
    ./dev bench peers --draw FILE.json [--out FILE.md]

Every measurement runs in its own process, so that its memory can be measured. Contenders take turns, so that other load on the
machine affects all of them; medians of turns are compared. FILE.md gets the table, FILE.svg the figure and FILE.json the
numbers, from which --draw makes both again.
"""

import argparse
import dataclasses
import datetime
import functools
import importlib.metadata
import json
import math
import os
import pathlib
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Callable, Optional, Tuple

import kqd
import numpy as np
import peer_tests
import peers_report

COLUMNS, PERMUTATIONS, THREADS = 10, 300, 2
NUM_DIRECTIONS = NUM_REFERENCE = 14
NUM_LINES = 50
BANDWIDTH = math.sqrt(COLUMNS)

REPEAT_SECONDS = 0.5  # a child repeats a shorter run and reports the median
TURNS = 3
LONG_SECONDS = 20  # a longer run has one turn
LIMIT_SECONDS = 60  # a contender that would take longer runs fewer permutations, or is skipped
FEWER_SECONDS = 20  # target time of a run with fewer permutations
FEWEST_PERMUTATIONS = 5
MOST_MEMORY = 0.5  # share of the machine's memory that one contender may use


# ---- contenders -----------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=None)
def directions():
    rng = np.random.default_rng(1)
    reference, coefficients = rng.normal(size=(NUM_REFERENCE, COLUMNS)), rng.normal(size=(NUM_REFERENCE, NUM_DIRECTIONS))
    return peer_tests.Directions(reference, coefficients, BANDWIDTH)


@functools.lru_cache(maxsize=None)
def lines():
    found = np.random.default_rng(2).normal(size=(COLUMNS, NUM_LINES))
    return found / np.linalg.norm(found, axis=0)


def ours(method, prepare=lambda x: x, **options):
    """A contender that runs the test of kqd."""

    def run(x, y, permutations):
        found = kqd.test(prepare(x), prepare(y), method=method, n_resamples=permutations, workers=THREADS, rng=0,
                         allow_quadratic=True, **options)
        return found.statistic, found.pvalue

    return Contender("kqd", run, fewer_permutations=False)


def theirs(test):
    """The run of a contender from a test of peer_tests; `test` takes two samples and the number of permutations."""

    def run(x, y, permutations):
        values = test(x, y, permutations)
        return values[0], peer_tests.p_value(values)

    return run


@dataclasses.dataclass(frozen=True)
class Contender:
    name: str
    run: Optional[Callable[[np.ndarray, np.ndarray, int], Tuple[float, float]]] = None
    r_test: Optional[str] = None  # name of a test in peer_tests.R, instead of `run`
    shares_permutations: bool = False  # divides permutations among its own threads, so that libraries must use one thread
    sets_up: bool = False  # takes long before the first permutation
    memory_growth: int = 1  # power of n
    fewer_permutations: bool = True  # may run fewer permutations, each of which costs the same
    counterpart: Optional[Callable[[np.ndarray, np.ndarray], float]] = None  # value of kqd to compare with, if not the statistic


@dataclasses.dataclass(frozen=True)
class Statistic:
    id: str
    title: str
    growth: float  # exponent of n in the time, to predict the next size
    sizes: Tuple[int, ...]
    contenders: Tuple[Contender, ...]  # kqd first


NEAR_LINEAR = dict(growth=1.1, sizes=(1_000, 10_000, 100_000, 1_000_000))
QUADRATIC = dict(growth=2, sizes=(1_000, 3_000, 10_000, 30_000, 100_000))


def torch_type(name):
    import torch

    return getattr(torch, name)


def pot_on_torch(x, y, permutations):
    import torch

    return peer_tests.sliced_pot(x, y, lines(), permutations, THREADS, torch.from_numpy)


def first_column(x):
    return np.ascontiguousarray(x[:, 0])


def biased_mmd(x, y):
    return kqd.distance(x, y, method="mmd-v", bandwidth=BANDWIDTH, workers=THREADS, allow_quadratic=True).statistic


STATISTICS = (
    Statistic("ekqd", f"e-KQD_1, {NUM_DIRECTIONS} directions, {NUM_REFERENCE} reference points", **NEAR_LINEAR, contenders=(
        ours("ekqd", bandwidth=BANDWIDTH, reference=directions().reference, coefficients=directions().coefficients),
        Contender("NumPy, published scheme", shares_permutations=True, run=theirs(
            lambda x, y, b: peer_tests.ekqd_numpy(x, y, directions(), b, THREADS))),
        Contender("PyTorch, published scheme", shares_permutations=True, run=theirs(
            lambda x, y, b: peer_tests.ekqd_torch(x, y, directions(), b, THREADS))),
        Contender("NumPy, sorted once as in kqd", shares_permutations=True, sets_up=True, run=theirs(
            lambda x, y, b: peer_tests.ekqd_numpy_sorted_once(x, y, directions(), b, THREADS))),
    )),
    Statistic("sw", f"sliced W_2, {NUM_LINES} lines", **NEAR_LINEAR, contenders=(
        ours("sw", power=2, reference=lines().T, coefficients=np.eye(NUM_LINES)),
        Contender("POT, NumPy", shares_permutations=True, run=theirs(
            lambda x, y, b: peer_tests.sliced_pot(x, y, lines(), b, THREADS))),
        Contender("POT, PyTorch", shares_permutations=True, run=theirs(pot_on_torch)),
    )),
    Statistic("mmd", "MMD, unbiased", **QUADRATIC, contenders=(
        ours("mmd", bandwidth=BANDWIDTH),
        Contender("NumPy", sets_up=True, memory_growth=2, run=theirs(
            lambda x, y, b: peer_tests.mmd_numpy(x, y, BANDWIDTH, b))),
        Contender("PyTorch", sets_up=True, memory_growth=2, run=theirs(
            lambda x, y, b: peer_tests.mmd_torch(x, y, BANDWIDTH, b, torch_type("float64")))),
        Contender("PyTorch, single precision", sets_up=True, memory_growth=2, run=theirs(
            lambda x, y, b: peer_tests.mmd_torch(x, y, BANDWIDTH, b, torch_type("float32")))),
        Contender("R, kernlab::kmmd", sets_up=True, memory_growth=2, r_test="kernlab", counterpart=biased_mmd),
    )),
    Statistic("energy", "energy distance", **QUADRATIC, contenders=(
        ours("energy"),
        Contender("SciPy distances, NumPy", sets_up=True, memory_growth=2, run=theirs(peer_tests.energy_scipy)),
        Contender("R, energy::eqdist.etest", sets_up=True, memory_growth=2, r_test="energy"),
    )),
    Statistic("line", "W_1 of one column", **NEAR_LINEAR, contenders=(
        ours("wasserstein", prepare=first_column),
        Contender("SciPy permutation_test", run=theirs(
            lambda x, y, b: peer_tests.wasserstein_scipy(first_column(x), first_column(y), b))),
    )),
)


# ---- one measurement, in a process of its own ------------------------------------------------------------------------


def resident_bytes(field):
    """VmRSS, or VmHWM, its peak since the last reset."""
    line = next(line for line in pathlib.Path("/proc/self/status").read_text().splitlines() if line.startswith(field))
    return 1024 * int(line.split()[1])


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measured(run, x, y, permutations):
    run(x[:20], y[:20], 9)  # imports and initialises the library
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # resets VmHWM
    before = resident_bytes("VmRSS")
    walls, processors = [], []
    while sum(walls) < REPEAT_SECONDS:
        started = time.perf_counter(), processor_seconds()
        statistic, pvalue = run(x, y, permutations)
        walls.append(time.perf_counter() - started[0])
        processors.append(processor_seconds() - started[1])
    return dict(seconds=statistics.median(walls), processor_seconds=statistics.median(processors),
                peak_bytes=resident_bytes("VmHWM") - before, statistic=float(statistic), pvalue=float(pvalue))


def sample_of(folder, name):
    return np.fromfile(folder / name).reshape(-1, COLUMNS)


def child(place, folder, permutations):
    """Entry point of a measuring process; `place` is the indices of statistic and contender."""
    of, at = (int(number) for number in place.split("/"))
    folder = pathlib.Path(folder)
    contender = STATISTICS[of].contenders[at]
    print(json.dumps(measured(contender.run, sample_of(folder, "x.bin"), sample_of(folder, "y.bin"), int(permutations))))


def command(statistic, contender, folder, n, permutations):
    if contender.r_test:
        script = pathlib.Path(__file__).with_name("peer_tests.R")
        return ["Rscript", script, contender.r_test, folder, n, COLUMNS, permutations, repr(BANDWIDTH)]
    place = f"{STATISTICS.index(statistic)}/{statistic.contenders.index(contender)}"
    return [sys.executable, __file__, "--child", place, folder, permutations]


def measure(statistic, contender, folder, n, permutations):
    threads = "1" if contender.shares_permutations else str(THREADS)
    environment = dict(os.environ, OMP_NUM_THREADS=threads, OPENBLAS_NUM_THREADS=threads,
                       OMP_WAIT_POLICY="PASSIVE")  # spinning threads slow down others on a busy machine
    words = [str(word) for word in command(statistic, contender, folder, n, permutations)]
    done = subprocess.run(words, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{contender.name}, {statistic.title}, {n} rows: exit code {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


# ---- all of them, in turns -------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Plan:
    """Numbers of permutations that a contender runs at a size, or the reason why it is skipped."""

    permutations: Tuple[int, ...] = (PERMUTATIONS,)
    why_not: str = ""
    seconds: float = 0  # predicted, as is peak_bytes
    peak_bytes: float = 0


def plan_for(statistic, contender, n, previous):
    """The plan for a contender, predicted from its needs at the previous size."""
    if previous is None:
        return Plan()
    factor = n / previous["n"]
    needs = dict(seconds=previous["seconds"] * factor**statistic.growth,
                 peak_bytes=previous["peak_bytes"] * factor**contender.memory_growth)
    if needs["peak_bytes"] > MOST_MEMORY * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"):
        return Plan((), f"memory: {peers_report.memory_in_words(needs['peak_bytes'])}", **needs)
    if needs["seconds"] <= LIMIT_SECONDS:
        return Plan(**needs)
    fewer = max(FEWEST_PERMUTATIONS, round(PERMUTATIONS * FEWER_SECONDS / needs["seconds"]))
    if contender.fewer_permutations and needs["seconds"] * fewer / PERMUTATIONS <= 2 * LIMIT_SECONDS:
        # The numbers are far apart because the time of the set-up varies.
        return Plan((1, 3 * fewer) if contender.sets_up else (fewer,), **needs)
    return Plan((), f"time: {peers_report.time_in_words(needs['seconds'])}", **needs)


def at_all_permutations(found, permutations):
    """Extrapolates to all permutations from one or two measurements with fewer: without set-up, time is proportional to
    their number (the observed labels included); otherwise it is linear."""
    few, many = found[0], found[-1]

    def reached(name):
        if len(found) == 1:
            return many[name] * (PERMUTATIONS + 1) / (permutations[0] + 1)
        slope = (many[name] - few[name]) / (permutations[1] - permutations[0])
        return few[name] + slope * (PERMUTATIONS - permutations[0])

    return dict(many, pvalue=None, seconds=reached("seconds"), processor_seconds=reached("processor_seconds"))


def one_turn(statistic, contender, folder, n, permutations):
    found = [measure(statistic, contender, folder, n, number) for number in permutations]
    return found[0] if permutations == (PERMUTATIONS,) else at_all_permutations(found, permutations)


def turns_of(statistic, plans, folder, n):
    """The measurements by name of the contender."""
    turns = {contender.name: [] for contender in statistic.contenders}
    for _ in range(TURNS):
        for contender in statistic.contenders:
            own = turns[contender.name]
            permutations = plans[contender.name].permutations
            if permutations and (not own or own[0]["seconds"] <= LONG_SECONDS):
                own.append(one_turn(statistic, contender, folder, n, permutations))
    return turns


def in_one(turns, n, planned):
    if not turns:
        return dict(n=n, why_not=planned.why_not, seconds=planned.seconds, peak_bytes=planned.peak_bytes)
    medians = {name: statistics.median(turn[name] for turn in turns)
               for name in ("seconds", "processor_seconds", "peak_bytes")}
    return dict(n=n, turns=len(turns), fewer_permutations=planned.permutations != (PERMUTATIONS,), **medians,
                statistic=turns[0]["statistic"], pvalue=turns[0]["pvalue"])


def relative_difference(statistic, found, contender, folder):
    """Relative difference of the observed values of the contender and of kqd."""
    own = found[contender.name]
    if "why_not" in own:
        return None
    if contender.counterpart:
        expected = contender.counterpart(sample_of(folder, "x.bin"), sample_of(folder, "y.bin"))
    else:
        expected = found[statistic.contenders[0].name].get("statistic")
    return abs(own["statistic"] / expected - 1) if expected else None


def at_size(statistic, n, previous, folder):
    rng = np.random.default_rng(n)
    for name in ("x.bin", "y.bin"):
        rng.normal(size=(n, COLUMNS)).tofile(folder / name)
    plans = {contender.name: plan_for(statistic, contender, n, previous.get(contender.name))
                  for contender in statistic.contenders}
    turns = turns_of(statistic, plans, folder, n)
    found = {name: in_one(own, n, plans[name]) for name, own in turns.items()}
    for contender in statistic.contenders:
        found[contender.name]["relative_difference"] = relative_difference(statistic, found, contender, folder)
    return found


def compare(statistic, largest):
    """The measurements at all sizes, by contender."""
    found = {contender.name: [] for contender in statistic.contenders}
    previous = {}
    for n in statistic.sizes:
        if n > largest:
            break
        with tempfile.TemporaryDirectory() as folder:
            previous = at_size(statistic, n, previous, pathlib.Path(folder))
        for name, row in previous.items():
            print(f"{statistic.id:8}{n:>9}  {name:32}", peers_report.in_words(row), flush=True)
            found[name].append(row)
    return dict(id=statistic.id, title=statistic.title, contenders=found)


def version_of_r(package):
    done = subprocess.run(["Rscript", "-e", f"cat(format(packageVersion('{package}')))"], capture_output=True, text=True)
    return done.stdout


def context():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")),
                 platform.machine())
    versions = {"kqd": kqd.__version__, "Python": platform.python_version()}
    versions.update((name, importlib.metadata.version(name)) for name in ("numpy", "scipy", "POT", "torch"))
    versions.update((f"R's {name}", version_of_r(name)) for name in ("base", "energy", "kernlab"))
    return dict(date=datetime.date.today().isoformat(), machine=f"{model}, {os.cpu_count()} cores",
                load=round(os.getloadavg()[2], 1), versions=versions, columns=COLUMNS, permutations=PERMUTATIONS,
                threads=THREADS, limit_seconds=LIMIT_SECONDS, fewer_seconds=FEWER_SECONDS, most_memory=MOST_MEMORY,
                turns=TURNS, long_seconds=LONG_SECONDS)


def compare_all(only, largest, path):
    """Writes the file after each statistic, because the whole run takes long. Statistics that are not measured again are
    kept."""
    known = json.loads(path.read_text())["statistics"] if only and path.exists() else []
    parts = {part["id"]: part for part in known}
    found = dict(context=context())
    for statistic in STATISTICS:
        if not only or statistic.id in only:
            parts[statistic.id] = compare(statistic, largest)
            found["statistics"] = [parts[other.id] for other in STATISTICS if other.id in parts]
            path.write_text(json.dumps(found, indent=1) + "\n")
    return found


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [statistic.id for statistic in STATISTICS]
    parser.add_argument("--only", choices=names, action="append", 
                        help="measure this statistic and keep what FILE.json has of others; may be repeated")
    parser.add_argument("--largest", type=int, default=10**6, help="leave out larger samples (default 10^6)")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/peers.md"), help="default build/peers.md")
    parser.add_argument("--draw", type=pathlib.Path, metavar="FILE.json", help="measure nothing: show these numbers")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    asked = arguments()
    if asked.child:
        return child(*asked.child)
    if asked.draw:
        found = json.loads(asked.draw.read_text())
    else:
        found = compare_all(asked.only, asked.largest, asked.out.with_suffix(".json"))
    table = peers_report.markdown(found)
    print(table)
    asked.out.write_text(table)
    peers_report.draw(found, asked.out.with_suffix(".svg"))


if __name__ == "__main__":
    main()
