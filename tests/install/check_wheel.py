"""check_wheel.py SOURCE WORK: builds a wheel without a network, installs it into a fresh environment, and uses it there."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

SKIPPED = 77
USE = """
import doctest, pathlib, sys
import kqd, kqd._distance, kqd._test
assert pathlib.Path(kqd.__file__).is_relative_to(sys.prefix), kqd.__file__
folder = pathlib.Path(kqd.__file__).parent
assert (folder / "py.typed").exists() and (folder / "_core.pyi").exists()
for module in (kqd, kqd._distance, kqd._test):
    assert doctest.testmod(module).failed == 0, module
print(kqd.__version__)
"""


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, **options)


def main(source, work):
    missing = [name for name in ("pip", "setuptools", "wheel", "venv", "ensurepip") if not importlib.util.find_spec(name)]
    if missing:
        print(f"not installed: {', '.join(missing)}")
        return SKIPPED
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    run(sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--no-index", "-w", work / "dist", source,
        env=environment)
    wheel, = (work / "dist").glob("kqd-*.whl")
    run(sys.executable, "-m", "venv", "--system-site-packages", work / "env", env=environment)
    python = work / "env" / "bin" / "python"
    run(python, "-m", "pip", "install", "--no-index", "--no-deps", wheel, env=environment)
    (work / "elsewhere").mkdir()
    done = run(python, "-c", USE, cwd=work / "elsewhere", env=environment, capture_output=True, text=True)
    print(f"{wheel.name}: kqd {done.stdout.strip()} runs")
    assert not list(source.glob("*.egg-info")), "the build left something next to the sources"
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()))
