"""The packages energy and kernlab of R as outside oracles. `./dev oracles` installs R and runs this; without R it is
skipped, as R is too heavy to be asked of every machine that runs the tests."""

import shutil
import subprocess

import kqd
import numpy as np
import pytest

RSCRIPT = shutil.which("Rscript")
pytestmark = pytest.mark.skipif(RSCRIPT is None, reason="Rscript is not installed; ./dev oracles installs it")

RNG = np.random.default_rng(5)
SAMPLES = {
    "equal_sizes": (RNG.normal(size=(20, 3)), RNG.normal(size=(20, 3)) + 0.5),
    "unequal_sizes": (RNG.normal(size=(25, 2)), RNG.normal(size=(14, 2)) * 2),
    "one_column": (RNG.normal(size=(12, 1)), RNG.exponential(size=(17, 1))),
    "ties": (RNG.normal(size=(15, 2)).round(), RNG.normal(size=(11, 2)).round()),
}
KERNELS = {  # ours, and how kernlab spells it
    "gaussian@1": "'rbfdot', kpar = list(sigma = 0.5)",  # exp(-sigma r^2)
    "gaussian@2.5": "'rbfdot', kpar = list(sigma = 0.08)",
    "matern12@2": "'laplacedot', kpar = list(sigma = 0.5)",  # exp(-sigma r)
    "polynomial:2:1": "'polydot', kpar = list(degree = 2, scale = 1, offset = 1)",
}


@pytest.fixture(scope="module")
def by_r(tmp_path_factory):
    """Every number by its name, from one run: R takes long to start."""
    folder = tmp_path_factory.mktemp("r")
    lines = ["suppressMessages({library(energy); library(kernlab)})",
             "show <- function(name, v) cat(name, sprintf('%.17g\\n', v))"]
    for name, (x, y) in SAMPLES.items():
        for side, points in (("x", x), ("y", y)):
            np.savetxt(folder / f"{name}.{side}", points, fmt="%.17g")
            lines.append(f"{side} <- as.matrix(read.table('{name}.{side}'))")
        lines.append(f"show('{name} energy', eqdist.etest(rbind(x, y), c(nrow(x), nrow(y)), R = 0)$statistic)")
        lines += [f"show('{name} {ours}', mmdstats(kmmd(x, y, kernel = {theirs}, ntimes = 1, asymptotic = FALSE))[1])"
                  for ours, theirs in KERNELS.items()]
    (folder / "script.R").write_text("\n".join(lines))
    done = subprocess.run([RSCRIPT, "script.R"], cwd=folder, capture_output=True, text=True)
    if "there is no package called" in done.stderr:
        pytest.skip("the packages energy and kernlab of R are not installed; ./dev oracles installs them")
    assert done.returncode == 0, done.stderr
    words = [line.rsplit(" ", 1) for line in done.stdout.splitlines()]
    return {name: float(value) for name, value in words}


@pytest.mark.parametrize("samples", SAMPLES)
def test_the_energy_distance_is_that_of_energy(by_r, samples):
    x, y = SAMPLES[samples]
    scale = len(x) * len(y) / (len(x) + len(y))  # R's statistic is the squared distance, times n m / (n + m)
    found = kqd.distance(x, y, method="energy", rng=0).statistic_power
    assert scale * found == pytest.approx(by_r[f"{samples} energy"], rel=1e-8)


@pytest.mark.parametrize("samples", SAMPLES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_biased_mmd_is_that_of_kernlab(by_r, samples, kernel):
    x, y = SAMPLES[samples]
    found = kqd.distance(x, y, method="mmd-v", kernel=kernel, rng=0).statistic
    assert found == pytest.approx(by_r[f"{samples} {kernel}"], rel=1e-8)
