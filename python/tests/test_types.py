"""The types of the package: consistent in themselves, right for those who use it, and an aid against mistakes."""

import os
import pathlib
import subprocess
import sys
import textwrap

import kqd
import pytest

pytest.importorskip("mypy")
PACKAGE = pathlib.Path(kqd.__file__).parent
# mypy finds an installed package by itself, and refuses a search path with site-packages in it.
SEARCH_PATH = {} if PACKAGE.parent.name == "site-packages" else {"PYTHONPATH": str(PACKAGE.parent), "MYPYPATH": str(PACKAGE.parent)}
ENVIRONMENT = {**os.environ, **SEARCH_PATH}

RIGHT = """
    from typing import Optional, Tuple
    import kqd
    import numpy as np
    from numpy.typing import NDArray

    def overlap(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
        return a @ b.T

    x, y = np.zeros((3, 2)), np.ones((4, 2))
    result: kqd.TestResult = kqd.test(x, y.tolist(), method="mmd", kernel=overlap, rng=np.random.default_rng(0),
                                      progress=lambda fraction, what: None, blocks=([1, 1, 2], [1, 2, 2, 2]))
    statistic, pvalue = result
    interval: Tuple[float, float] = result.pvalue_ci
    null: Optional[NDArray[np.float64]] = result.null_distribution
    number: float = float(kqd.distance(x, y, reference=x, coefficients=[[1.0], [2.0], [0.5]], power=2))
    gap: float = kqd.Embedding(x).distance(y).profiles[0].gap
    names: list[str] = [method.id for method in kqd.methods()]
    cost: str = kqd.methods("mmd").cost
    texts: list[str] = [result.summary(), result._repr_html_(), kqd.explain([x, x], y).summary(), kqd.matrix([x, y])._repr_html_(),
                        kqd.Monitor(x).summary()]
    print(result.to_frame())
"""

WRONG = {
    "kqd.test(x, y, power='2')": 'Argument "power" to "test" has incompatible type "str"; expected "float"',
    "kqd.test(x, y, 'mmd')": "Too many positional arguments",
    "kqd.distance(x, y).pvalue": '"DistanceResult" has no attribute "pvalue"',
    "kqd.test(x, y).statistic = 1.0": 'Property "statistic" defined in "TestResult" is read-only',
    "kqd.distance(x, y, kernel=lambda a: a)": "kernel",
    "kqd.explain(x, y, permutations=9)": 'Unexpected keyword argument "permutations" for "explain"',
    "kqd.Embedding(x, seed=1)": 'Unexpected keyword argument "seed" for "Embedding"',
    "kqd.methods(1)": 'No overload variant of "methods" matches argument type "int"',
}


def mypy(tmp_path, *arguments):
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--ignore-missing-imports", "--show-error-codes",
               "--cache-dir", str(tmp_path / "cache"), *arguments]
    done = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode in (0, 1) and done.stderr == "", done.stderr  # 2: mypy did not check anything
    return done.stdout


def test_types_of_package_and_callers_are_checked(tmp_path):
    (tmp_path / "right.py").write_text(textwrap.dedent(RIGHT))
    lines = ["import kqd", "x = y = [1.0, 2.0]"]
    (tmp_path / "wrong.py").write_text("\n".join(lines + list(WRONG)))
    assert mypy(tmp_path, "--strict", "-p", "kqd") == ""  # by its name: mypy refuses the path of an installed package
    assert mypy(tmp_path, "--strict", "right.py") == ""
    found = mypy(tmp_path, "wrong.py").splitlines()
    for number, (line, sentence) in enumerate(WRONG.items(), start=3):
        said = [text for text in found if text.startswith(f"wrong.py:{number}: error:")]
        assert any(sentence in text for text in said), (line, found)


# `./dev packages` has pyright, and a recent mypy.
def test_pyright_and_stubtest_find_nothing(tmp_path):
    pytest.importorskip("pyright")
    (tmp_path / "right.py").write_text(textwrap.dedent(RIGHT))
    (tmp_path / "pyrightconfig.json").write_text("{}")

    # pyright finds an installed package only by the first interpreter on PATH.
    path = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"

    def output_of(*command):
        return subprocess.run([sys.executable, "-m", *command], cwd=tmp_path, env={**ENVIRONMENT, "PATH": path},
                              capture_output=True, text=True)

    for arguments in (["right.py"], ["--verifytypes", "kqd", "--ignoreexternal"]):
        done = output_of("pyright", *arguments)
        assert done.returncode == 0, done.stdout
    # The metaclass of pybind11's classes, and the constructor of those that have none, are not in the stubs.
    found = [line for line in output_of("mypy.stubtest", "kqd._core", "--concise").stdout.splitlines()
             if not line.endswith("metaclass differs") and "__init__ is inconsistent, stub does not have *" not in line]
    assert found == []
