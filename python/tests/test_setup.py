"""setup.py: the settings that `pip install .` passes to CMake and ccache."""

import pathlib
import runpy
import subprocess
import types
from unittest import mock

import pytest

setuptools = pytest.importorskip("setuptools")
ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture
def script():
    """Its names; nothing is built, and no folder made."""
    with mock.patch.object(setuptools, "setup"), mock.patch.object(pathlib.Path, "mkdir"):
        return types.SimpleNamespace(**runpy.run_path(str(ROOT / "setup.py")))


def test_ccache_gets_the_settings_of_dev_unless_the_caller_has_others(script, monkeypatch):
    exports, = (line for line in (ROOT / "dev").read_text().splitlines() if line.startswith("export CCACHE_"))
    of_dev = dict(setting.split("=") for setting in exports.split()[1:])
    for name in of_dev:
        monkeypatch.delenv(name, raising=False)
    found = script.environment()
    assert {name: found[name] for name in of_dev} == {**of_dev, "CCACHE_BASEDIR": str(ROOT)}
    assert found["PATH"]
    monkeypatch.setenv("CCACHE_SLOPPINESS", "none")
    assert script.environment()["CCACHE_SLOPPINESS"] == "none"


def test_the_build_runs_in_that_environment(script, tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(subprocess, "run", lambda command, **options: calls.append((command, options)))
    command = script.CMakeBuild(setuptools.Distribution())
    with pytest.raises(ValueError):  # nothing was built
        with mock.patch.object(pathlib.Path, "glob", return_value=[]):
            command.build_extension(setuptools.Extension("kqd._core", sources=[]))
    assert [words[0] for words, _ in calls] == ["cmake", "cmake"]
    assert all(options == {"check": True, "env": script.environment()} for _, options in calls)
    built = (ROOT / "build" / "release" / "CMakeCache.txt").exists()
    assert f"-DKQD_WARNINGS_AS_ERRORS={'ON' if built else 'OFF'}" in calls[0][0]
