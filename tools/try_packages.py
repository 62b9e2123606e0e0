"""try_packages.py DIST: installs the packages of DIST into bare environments and runs the examples of README.md there.

Wheel: a fresh virtual environment without system packages, of another interpreter than the one it was built with where there
is one. R: a library folder that has nothing else of ours. The numbers must be those of build/release, bit by bit.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from release import ROOT, WORK, build_wheel, fetch, output_of, pythons, run, user_makevars, version

FIELDS = ("statistic", "pvalue", "n_exceed", "effect_size", "bandwidth", "seed")
X, Y = (str(ROOT / "data" / f"sensors-{month}.csv") for month in ("march", "april"))
# Prints numbers with all their digits.
CALLS = """
import kqd, json
def read(path):
    import numpy as np
    return np.loadtxt(path, delimiter=",", skiprows=1)
x, y = read(X), read(Y)
test, distance = kqd.test(x, y, rng=0), kqd.distance(x, y, rng=0)
print(json.dumps([test.statistic.hex(), test.pvalue.hex(), test.effect_size.hex(), distance.statistic.hex()]))
"""
# The two tests of Parquet files and of queries, in Python; numbers as numbers() has them.
OF_FILES = f"""
import kqd, json
for x, y in (["march.parquet", "april.parquet"], ["sql:FROM 'march.parquet'", "sql:FROM 'april.parquet'"]):
    found = kqd.test(x, y, rng=0).to_dict()
    print(json.dumps({{name: found[name] for name in {FIELDS}}}))
"""
TO_PARQUET = "import duckdb, sys; duckdb.sql(f\"COPY (FROM read_csv('{sys.argv[1]}')) TO '{sys.argv[2]}' (FORMAT parquet)\")"


def block(page, language):
    """The first code block of this language."""
    return re.search(rf"(?ms)^```{language}\n(.*?)^```$", (ROOT / page).read_text()).group(1)


def numbers(program, *files, **options):
    found = json.loads(output_of(*program, "test", *files, "--json", **options))
    return {name: found[name] for name in FIELDS if name in found}


def digits_of(wheel):
    return re.search(r"-cp3(\d+)-", wheel.name).group(1)


def builder_of(wheel):
    builder, = (path for path in pythons() if output_of(path, "-c", "import sys; print(sys.version_info[1])") == digits_of(wheel))
    return builder


def interpreter_for(wheel):
    """An interpreter for a wheel; another one than release.py builds with, if there is one of the same version."""
    builder = builder_of(wheel)
    others = sorted(pathlib.Path.home().glob(f".pyenv/versions/3.{digits_of(wheel)}.*/bin/python3"))
    return next((path for path in others if path != builder), builder)


def try_wheel(wheel, folder):
    python = interpreter_for(wheel)
    run(python, "-m", "venv", folder / "venv")
    bin_folder = folder / "venv" / "bin"
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "KQD_"))}
    inside = {"cwd": folder, "env": {**plain, "PATH": f"{bin_folder}:/usr/bin:/bin"}}
    fetch(bin_folder / "pip", f"{wheel}[parquet]", "pandas", "polars", "pyarrow", **inside)
    os.symlink(ROOT / "data", folder / "data")
    (folder / "readme.py").write_text(block("README.md", "python"))
    run(bin_folder / "python", "readme.py", **inside)
    calls = CALLS.replace("read(X), read(Y)", f"read({X!r}), read({Y!r})")
    built = {**os.environ, "PYTHONPATH": str(ROOT / "build" / "release" / "python")}
    expect_equal("Python", output_of(bin_folder / "python", "-c", calls, **inside),
                 output_of("/usr/bin/python3", "-c", calls, env=built))
    expected = numbers([ROOT / "build" / "release" / "kqd"], X, Y)
    expect_equal("kqd", numbers([bin_folder / "kqd"], X, Y, **inside), expected)
    expect_equal("python -m kqd", numbers([bin_folder / "python", "-m", "kqd"], X, Y, **inside), expected)
    for name in ("march", "april"):
        run(bin_folder / "python", "-c", TO_PARQUET, f"data/sensors-{name}.csv", f"{name}.parquet", **inside)
    for x, y in (("march.parquet", "april.parquet"), ("sql:FROM 'march.parquet'", "sql:FROM 'april.parquet'")):
        expect_equal(f"kqd test {x}", numbers([bin_folder / "kqd"], x, y, **inside), expected)
    for line in output_of(bin_folder / "python", "-c", OF_FILES, **inside).splitlines():
        expect_equal("kqd.test of Parquet and SQL", json.loads(line), expected)
    run(bin_folder / "kqd", "test", X, Y, "--report", "page.html", "--quiet", stdout=subprocess.DEVNULL, **inside)
    tests = [ROOT / "python" / "tests" / f"test_{name}.py" for name in ("tables", "misuse_fuzz", "types")]
    fetch(bin_folder / "pip", "pytest", "hypothesis", "mypy", "pyright[nodejs]", "matplotlib", **inside)
    run(bin_folder / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests, **inside)
    libraries = [found for module in (folder / "venv").rglob("*.so") if module.name.startswith(("_core.", "_kqd_program."))
                 for found in re.findall(r"NEEDED.*\[(.*)\]", output_of("readelf", "-d", module))]
    unexpected = set(libraries) - {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2"}
    if unexpected:
        sys.exit(f"{wheel.name} needs {', '.join(sorted(unexpected))}, expected the C library only")
    print(f"{wheel.name}: same bits as build/release under {python}; needs {', '.join(sorted(set(libraries)))}")


def try_sdist(sdist, python, folder):
    """Builds it as pip does where compiler and libraries are, and reads the error where a library is missing."""
    shutil.rmtree(WORK / "sdist", ignore_errors=True)
    (WORK / "sdist").mkdir(parents=True)
    run("tar", "-xzf", sdist, "-C", WORK / "sdist")
    source = WORK / "sdist" / f"kqd-{version()}"
    try:
        build_wheel(python, source, folder, "cmake.define.CMAKE_DISABLE_FIND_PACKAGE_Eigen3=ON", capture_output=True, text=True)
        sys.exit(f"{sdist.name} was built without Eigen, expected an error")
    except subprocess.CalledProcessError as error:
        words = " ".join((error.stdout + error.stderr).split())  # CMake breaks lines
        if "libraries not found. Debian has them: apt-get install libeigen3-dev" not in words:
            sys.exit(f"{sdist.name} without Eigen: expected a sentence that names libeigen3-dev\n{error.stdout}{error.stderr}")
    shutil.rmtree(source / "build")
    build_wheel(python, source, folder)
    run(python, "-m", "venv", folder / "venv")
    wheel, = folder.glob("*.whl")
    fetch(folder / "venv" / "bin" / "pip", wheel)
    expect_equal("the command of the sdist", numbers([folder / "venv" / "bin" / "kqd"], X, Y, cwd=folder),
                 numbers([ROOT / "build" / "release" / "kqd"], X, Y))
    print(f"{sdist.name}: builds, has the numbers of build/release, and names a library that is missing")


def try_recipe(folder):
    """Conan reads its recipe. (`conan create` needs the packages of ConanCenter.)"""
    run(pythons()[0], "-m", "venv", folder / "venv")
    fetch(folder / "venv" / "bin" / "pip", "conan")
    found = json.loads(output_of(folder / "venv" / "bin" / "conan", "inspect", ROOT, "--format", "json",
                                 env={**os.environ, "CONAN_HOME": str(folder / "home")}))
    expect_equal("conanfile.py", found["version"], version())
    print("conanfile.py: conan reads it")


def expect_equal(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: {found}, expected {expected} as in build/release")


def try_r_package(package, folder):
    library = folder / "library"
    library.mkdir()
    variables = {**os.environ, "R_MAKEVARS_USER": str(user_makevars()), "MAKEFLAGS": f"-j{os.cpu_count()}",
                 "R_LIBS": str(library), "NOT_CRAN": "true", "_R_CHECK_FORCE_SUGGESTS_": "false",
                 "_R_CHECK_CRAN_INCOMING_": "false", "_R_CHECK_SYSTEM_CLOCK_": "false"}
    variables["KQD_BITS"] = output_of("/usr/bin/python3", ROOT / "tools" / "r_bits.py",
                                      env={**os.environ, "PYTHONPATH": str(ROOT / "build" / "release" / "python")})
    run("R", "CMD", "INSTALL", "--no-docs", "-l", library, package, cwd=folder, env=variables, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)
    os.symlink(ROOT / "data", folder / "data")
    (folder / "readme.R").write_text(block("README.md", "r"))
    run("Rscript", "--vanilla", "readme.R", cwd=folder, env=variables)
    run(sys.executable, ROOT / "tools" / "r_page.py", env=variables)
    checked = subprocess.run(["R", "CMD", "check", "--as-cran", "--no-manual", str(package)], cwd=folder, env=variables,
                             capture_output=True, text=True)
    summary = [line for line in checked.stdout.splitlines() if re.search(r"(ERROR|WARNING|NOTE)$|^Status", line)]
    shutil.copy(folder / "kqd.Rcheck" / "00check.log", ROOT / "build" / "log" / "r-check.log")
    print(f"{package.name}: R CMD check --as-cran\n  " + "\n  ".join(summary))
    if checked.returncode != 0 or any(re.search(r"(ERROR|WARNING)$", line) for line in summary):
        sys.exit("R CMD check found problems, see build/log/r-check.log")


def main(dist):
    wheels = sorted(dist.glob("*.whl"))
    for wheel in wheels:
        with tempfile.TemporaryDirectory() as folder:
            try_wheel(wheel, pathlib.Path(folder))
    if wheels:
        sdist, = dist.glob("kqd-*.tar.gz")
        with tempfile.TemporaryDirectory() as folder:
            try_sdist(sdist, builder_of(wheels[0]), pathlib.Path(folder))
        with tempfile.TemporaryDirectory() as folder:
            try_recipe(pathlib.Path(folder))
    else:
        print("no wheel was made, so none was tried: PyPI is out of reach")
    for package in dist.glob("kqd_*.tar.gz"):
        with tempfile.TemporaryDirectory() as folder:
            try_r_package(package, pathlib.Path(folder))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve())
