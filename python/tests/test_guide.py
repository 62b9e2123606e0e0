"""The examples of python.md and gallery.md in docs/guide and the script of large-data.md run and print what the pages show."""

import doctest
import pathlib
import re
import subprocess
import sys

import kqd
import numpy as np
import pytest

GUIDE = pathlib.Path(__file__).parents[2] / "docs" / "guide"


def test_the_examples_of_the_guide_run(tmp_path, monkeypatch):
    (tmp_path / "data").symlink_to(GUIDE.parents[1] / "data")
    monkeypatch.chdir(tmp_path)  # they write files
    found = doctest.testfile(str(GUIDE / "python.md"), module_relative=False,
                             optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert found.attempted > 20 and found.failed == 0


def test_the_script_of_profiles_by_partition_runs(tmp_path):
    page = (GUIDE / "large-data.md").read_text()
    script, shown = re.search(r"(?ms)^```python\n(.*?)^```\n\n```\n(.*?)^```", page).groups()
    (tmp_path / "partitions.py").write_text(script)
    done = subprocess.run([sys.executable, "partitions.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert (done.stdout, done.stderr, done.returncode) == (shown, "", 0)


def test_the_examples_of_the_gallery_draw(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    months = {name: rng.normal(size=(60, 2)) for name in ("january", "february", "march")}
    names = {"kqd": kqd, "points": rng.normal(size=(80, 2)), "values": rng.normal(size=50), **months}
    for block in re.findall(r"(?ms)^```python\n(.*?)^```", (GUIDE / "gallery.md").read_text()):
        exec(block, names)
    assert {path.name for path in tmp_path.iterdir()} == {"plane.png", "functions.png", "months.png"}
