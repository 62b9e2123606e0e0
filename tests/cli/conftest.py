"""Fixtures that the tests of the program share: a way to run it, and small files to run it on."""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ["KQD_PROGRAM"]
DUCKDB = Path(os.environ.get("KQD_DUCKDB") or ROOT / "build" / "duckdb" / "libduckdb.so")
_HELP = subprocess.run([PROGRAM, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
COMMANDS = re.findall(r"(?m)^  (\w+)", _HELP.partition("\nCommands:\n")[2].partition("\n\n")[0])
needs_duckdb = pytest.mark.skipif(not DUCKDB.exists(), reason="DuckDB is not here; `./dev duckdb` fetches it")

FILES = {
    "a.csv": "1,2\n3,4\n5,6\n",
    "b.csv": "2,2\n3,5\n5,9\n",
    "far.csv": "91,92\n93,95\n95,99\n",
    "four.csv": "1,2\n3,4\n5,6\n6,7\n",
    "row.csv": "1,2\n",
    "one-column.csv": "1\n2\n3\n",
    "nan.csv": "1,2\n3,4\n5,nan\n",
    "inf.csv": "1,2\n-inf,4\n",
    "word.csv": "1,2\n3,four\n",
    "ragged.csv": "1,2\n3\n",
    "empty.csv": "",
    "header.csv": "a,b\n",
    "constant.csv": "1,7\n2,7\n3,7\n",
    "equal.csv": "5,6\n5,6\n5,6\n",
    "mostly-equal.csv": "5\n5\n5\n5\n5\n5\n5\n9\n",
    "weighted.csv": "a,b,w\n1,2,1\n2,3,2\n",
    "negative.csv": "a,b,w\n1,2,-1\n2,3,1\n",
    "zero.csv": "a,b,w\n1,2,0\n2,3,0\n",
    "block-1.csv": "a,block\n1,1\n2,1\n3,1\n",
    "block-2.csv": "a,block\n1,2\n2,2\n3,2\n",
    "other-names.csv": "a,c\n1,2\n3,4\n",
    "unknown.xyz": "1,2\n",
    "no-suffix": "1,2\n",
    "not.npy": "1,2\n3,4\n",
}


@dataclass(frozen=True)
class Run:
    stdout: str
    stderr: str
    code: int


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder with the files above and the bundled data."""
    path = tmp_path_factory.mktemp("data")
    for name, text in FILES.items():
        (path / name).write_text(text)
    (path / "folder.csv").mkdir()
    for name in ("sensors-march.csv", "sensors-april.csv"):
        (path / name).write_bytes((ROOT / "data" / name).read_bytes())
    return path


@pytest.fixture(scope="session")
def kqd(folder):
    """Runs the program in the folder: kqd("distance", "a.csv", "b.csv")."""

    def run(*arguments, stdout=subprocess.PIPE, cwd=folder, **environment):
        done = subprocess.run([PROGRAM, *arguments], cwd=cwd, env={**os.environ, **environment}, stdout=stdout,
                              stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, timeout=120)
        return Run(done.stdout or "", done.stderr, done.returncode)

    return run


def masked(text):
    """The report without what depends on the machine and the moment: threads, instruction set, time, version."""
    return re.sub(r"(?m)^(  run +seed \d+), .*$", r"\1, ...", text)
