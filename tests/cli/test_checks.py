"""The checks of ./dev lint find what they are for, and leave alone what is right."""

import re
import sys

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import check_layout  # noqa: E402
import check_words  # noqa: E402


@pytest.mark.parametrize("path, text, problems", [
    ("src/metrics/a.cpp", '#include "kernel/pairwise.hpp"\n#include "kqd/quantiles/level_weights.hpp"\n', 0),
    ("src/kernel/a.cpp", '#include "metrics/test_pool.hpp"\n', 1),
    ("src/kernel/a.cpp", '#include "kqd/metrics/methods.hpp"\n', 1),
    ("src/kernel/a.cpp", '// #include "metrics/test_pool.hpp"\n', 0),
    ("src/kernel/a.cpp", '#include "kqd/kqd.hpp"\n', 1),
    ("src/novelty/a.cpp", "int a;\n", 1),
    ("include/kqd/io/a.hpp", "#include <vector>\n#include \"kqd/core/error.hpp\"\n", 0),
    ("include/kqd/io/a.hpp", "#include <fmt/format.h>\n", 1),
    ("include/kqd/io/a.hpp", "#include <Eigen/Dense>\n", 1),
    ("apps/kqd/a.cpp", '#include "kqd/kqd.hpp"\n#include "flags.hpp"\n', 0),
    ("apps/kqd/a.cpp", '#include "metrics/test_pool.hpp"\n', 1),
    ("src/simd/a.cpp", "#include <hwy/highway.h>\n", 0),
    ("src/metrics/a.cpp", "#include <hwy/highway.h>\n", 1),
    ("src/io/output_file.hpp", "#include <cstdio>\n", 0),
    ("src/io/output_file.hpp", "int a;\n", 1),  # an exception that is not needed
    ("src/metrics/a.cpp", "#include <thread>\n", 1),
    ("src/report/a.cpp", "#include <iostream>\n", 1),
    ("src/io/a.cpp", 'fail("use --drop");\n', 1),
    ("src/io/a.cpp", "const char* text = R\"(first\nsecond --drop)\";\n", 1),
    ("src/io/a.cpp", 'int n = 3; --n; f("a", --n); // "--drop"\n', 0),
])
def test_layout(path, text, problems):
    assert len(list(check_layout.problems_of(path, text))) == problems


@pytest.mark.parametrize("path, text, lines", [
    ("a.cpp", "// one random labelling of the rows\n", [1]),
    ("a.cpp", "int f();\n// the value is\n// no number\n", [2]),
    ("a.cpp", "// there is no number, and it is no longer one\n", []),
    ("a.cpp", 'print("0 as far "\n      "apart or further");\n', [1]),
    ("a.cpp", "// What a caller may choose.\n", [1]),
    ("a.cpp", "/// What is this?\n", []),
    ("a.cpp", "options.set_aside = true;  // --set-aside\n", []),
    ("a.cpp", "// these rows are set aside\n", [1]),
    ("a.py", '"""Who is told about it."""\n', [1, 1]),
    ("a.md", "Who closes the pipe has read enough.\n", [1]),
    ("a.md", "Tell X from Y, and tell them apart.\n", []),
    ("a.md", "500 x 6 columns, 95 %\n", [1, 1]),
    ("a.md", "500 rows x 6 columns, 95%\n", []),
])
def test_words(path, text, lines):
    assert [line for line, _, _ in check_words.findings(path, text)] == lines


@pytest.mark.parametrize("name", ["method", "option"])
def test_contributing_shows_the_examples_that_are_compiled(name):
    source = (ROOT / "tests" / "unit" / "options" / "worked_examples_test.cpp").read_text()
    example = re.search(rf"(?s)// example: {name}\n(.*?)// end\n", source).group(1)
    assert f"```cpp\n{example}```" in (ROOT / "CONTRIBUTING.md").read_text()
