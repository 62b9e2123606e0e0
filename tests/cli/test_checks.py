"""The checks of ./dev lint find what they are for, and leave alone what is right."""

import re
import sys

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import check_layout  # noqa: E402
import check_words  # noqa: E402
import reproduction_page  # noqa: E402


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


def test_citations_of_the_paper_are_in_the_table_of_its_numbers():
    table = (ROOT / "docs" / "references.md").read_text().partition("## Numbers of [KQE]")[2]
    known = set(re.findall(r"(?m)^\| ((?:eq\.|sec\.|Theorem|Connection|Prop\.) [\d.]+) \|", table))
    assert len(known) == 17
    cited = []
    for folder in ("src", "include", "tests", "experiments", "docs", "python"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in (".cpp", ".hpp", ".py", ".md"):
                continue
            for citation in re.findall(r"\[KQE[ ,]([^\]]*)\]", re.sub(r"\n\s*(?:///?|#)?\s*", " ", path.read_text())):
                kind, *rest = citation.replace("Theorems", "Theorem").replace(" and ", " ").replace(",", " ").split()
                cited += [(f"{kind} {number}", path) for number in rest]
    assert len(cited) >= 15
    assert [entry for entry in cited if entry[0] not in known] == []


def test_errata_are_numbered_from_1_and_every_reference_to_one_exists():
    page = (ROOT / "docs" / "guide" / "errata.md").read_text()
    numbers = [int(number) for number in re.findall(r"(?m)^\| (\d+) \|", page)]
    assert numbers == list(range(1, 44))
    for name in ("docs/reproduction.md", "docs/validity.md"):
        for number in re.findall(r"errat(?:um|a) (\d+)", (ROOT / name).read_text()):
            assert int(number) in numbers, (name, number)


TABLE = """**Two tests.** Rejection rate at level 0.05, 300 runs, or the number in [ ]; in brackets the paper's rates (300 runs).

| n | 10 | 20 |
|---|---|---|
| a | 0.900 (0.100) | 0.500 (0.500) [7] |
| b | 0.100 [1] | 0.200 [99] |
| c | 0.050 | 0.040 [100] |

Of 2 cells with a published rate, 1 is more than 4 combined standard errors above it and 0 below."""


def test_cells_from_few_runs_are_not_on_the_page():
    text, whole = reproduction_page.enough_runs(TABLE, 100)
    assert not whole and "| a | 0.900 (0.100) |  |\n| c | 0.050 | 0.040 [100] |" in text
    assert text.endswith("Of 1 cells with a published rate, 1 is more than 4 combined standard errors above it and 0 below.")
    assert reproduction_page.enough_runs(TABLE, 0) == (TABLE, True)
    some = reproduction_page.enough_runs(TABLE.replace("300 runs, or", "20 runs, or"), 100)[0]
    assert "Rejection rate at level 0.05, runs in [ ];" in some and "| c |  | 0.040 [100] |" in some
    assert reproduction_page.enough_runs(some, 100) == (some, True)
    assert "| n | 0.5 | 20 |" in reproduction_page.enough_runs(some.replace("| 10 |", "| 0.5 |"), 100)[0]
    few = reproduction_page.enough_runs(TABLE.replace("300 runs, or", "20 runs, or").replace(" [100]", ""), 100)
    assert few == ("**Two tests.** Fewer than 100 runs so far: not shown.", False)


def test_reproduction_page_has_no_cell_from_fewer_than_100_runs_and_only_figures_that_exist():
    page = (ROOT / "docs" / "reproduction.md").read_text()
    for name, text in re.findall(r"(?s)<!-- (\S+) -->\n(.*?)<!-- end -->", page):
        assert reproduction_page.enough_runs(text, 100) == (text, True) or "not shown" in text, name
    for figure in re.findall(r"\((figures/[^)]*)\)", page):
        assert (ROOT / "docs" / figure).exists(), figure
