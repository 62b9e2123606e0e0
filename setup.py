"""Builds the extension module of the Python package by CMake; pyproject.toml says the rest.

CMake's own variables reach it through the environment: CMAKE_ARGS, CMAKE_GENERATOR, CMAKE_BUILD_PARALLEL_LEVEL.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
WORK = Path("build") / f"wheel-{sys.implementation.cache_tag}"  # nothing is written next to the sources


def version():
    """CMakeLists.txt names the version; everybody else reads it there."""
    return re.search(r"project\(kqd VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def environment():
    """That of the build: ccache finds what ./dev compiled in another folder, whose settings these are."""
    return {"CCACHE_BASEDIR": str(ROOT), "CCACHE_NOHASHDIR": "1", "CCACHE_SLOPPINESS": "locale", **os.environ}


class CMakeBuild(build_ext):
    """One module that needs no libkqd.so next to it."""

    def build_extension(self, extension):
        folder = ROOT / WORK
        settings = {
            "CMAKE_BUILD_TYPE": "Release",
            "BUILD_SHARED_LIBS": "OFF",
            "KQD_BUILD_PROGRAM": "OFF",
            "KQD_BUILD_TESTS": "OFF",
            "KQD_INSTALL": "OFF",
            "Python3_EXECUTABLE": sys.executable,
            "PYTHON_EXECUTABLE": sys.executable,
            # Another flag would be another object to ccache.
            "KQD_WARNINGS_AS_ERRORS": "ON" if (ROOT / "build" / "release" / "CMakeCache.txt").exists() else "OFF",
        }
        generator = [] if "CMAKE_GENERATOR" in os.environ or not shutil.which("ninja") else ["-G", "Ninja"]
        subprocess.run(["cmake", "-S", ROOT, "-B", folder, *generator,
                        *(f"-D{name}={value}" for name, value in settings.items()),
                        *shlex.split(os.environ.get("CMAKE_ARGS", ""))], check=True, env=environment())
        parallel = [] if "CMAKE_BUILD_PARALLEL_LEVEL" in os.environ else ["-j", str(os.cpu_count() or 1)]
        subprocess.run(["cmake", "--build", folder, "--target", "kqd_python", *parallel], check=True, env=environment())
        built, = (folder / "python" / "kqd").glob("_core*.so")
        target = Path(self.get_ext_fullpath(extension.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(built, target)


(ROOT / WORK).mkdir(parents=True, exist_ok=True)
setup(
    version=version(),
    packages=["kqd"],
    package_dir={"kqd": "python/kqd"},
    package_data={"kqd": ["*.pyi", "py.typed"]},
    ext_modules=[Extension("kqd._core", sources=[])],
    cmdclass={"build_ext": CMakeBuild},
    options={"build": {"build_base": str(WORK / "setuptools")}, "egg_info": {"egg_base": str(WORK)}},
    zip_safe=False,
)
