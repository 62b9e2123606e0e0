"""The report page in a real browser, and its sources: runs the tests of web/test with Node."""

import os
import shutil
import subprocess

import pytest
from conftest import PROGRAM, ROOT

WEB = ROOT / "web"
CHROMIUM = os.environ.get("KQD_CHROMIUM") or shutil.which("chromium")


def run_node(name):
    if shutil.which("node") is None or not (WEB / "node_modules" / "vite").exists():
        pytest.skip("no Node, or no packages in web/node_modules; `./dev web` fetches them")
    run = subprocess.run(["node", "--test", "--test-reporter=spec", f"test/{name}.test.js"], cwd=WEB, text=True,
                         env={**os.environ, "KQD_PROGRAM": PROGRAM, "KQD_CHROMIUM": CHROMIUM or ""},
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=500)
    assert run.returncode == 0, run.stdout


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")
def test_the_page_shows_every_view_in_a_browser():
    run_node("browser")


@pytest.mark.parametrize("name", ["clustering", "template", "words"])
def test_the_sources_of_the_page_do_what_they_say(name):
    run_node(name)
