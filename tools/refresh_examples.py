"""Replaces the output below the examples of README.md, the guide and the docstrings by their current output.

`./dev examples` runs it after a build. Read the difference before you commit it: the tests only compare pages with output.
"""

import contextlib
import doctest
import importlib
import io
import os
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "release"
os.environ.setdefault("KQD_PROGRAM", str(BUILD / "kqd"))
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "tests" / "cli")]

import test_guide as guide  # noqa: E402


def refresh_console(path, block):
    """Every `$ command` of the blocks that `block` matches, run in order in one folder."""
    with tempfile.TemporaryDirectory() as folder:
        home = guide.make_home(pathlib.Path(folder))

        def rerun(match):
            parts = re.split(r"(?m)^\$ ", match.group(2))
            for k, example in enumerate(parts[1:], 1):
                command, _, shown = example.partition("\n")
                printed = guide.run_in_shell(command.removeprefix("build/release/"), home)
                if guide.differences(guide.same_machine(printed), guide.same_machine(shown)):
                    before, after = re.match(r"(\n*).*?(\n*)\Z", shown, re.S).groups()
                    parts[k] = f"{command}\n{before}{printed.strip(chr(10))}{after}"
            return match.group(1) + "$ ".join(parts) + match.group(3)

        path.write_text(re.sub(block, rerun, path.read_text(), flags=re.M | re.S))


def refresh_doctests(path, name, sources):
    """Every `>>>` example of the texts in `sources`, which stand in the file word by word."""
    text = path.read_text()
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for source in sources:
        changes = []

        class Runner(doctest.DocTestRunner):
            def report_failure(self, out, test, example, got):
                changes.append((example, got))

        test = doctest.DocTestParser().get_doctest(source, {}, name, str(path), 0)
        with contextlib.redirect_stdout(io.StringIO()):
            Runner(optionflags=flags).run(test)
        lines = source.split("\n")
        for example, got in reversed(changes):
            first = example.lineno + example.source.count("\n")
            wanted = example.want.rstrip("\n").split("\n")
            printed = got.rstrip("\n").split("\n")
            if wanted[-1].strip() == "...":  # the page shows the beginning only
                printed[len(wanted) - 1:] = [wanted[-1]]
            lines[first:first + len(wanted)] = [" " * example.indent + line for line in printed]
        text = text.replace(source, "\n".join(lines))
    path.write_text(text)


def main():
    refresh_console(ROOT / "README.md", r"(^```\n)(\$ build/release/kqd .*?)(^```$)")
    for page in guide.PAGES:
        refresh_console(guide.GUIDE / page, r"(^```console\n)(.*?)(^```$)")
    pages = ROOT / "docs" / "guide" / "python.md"
    refresh_doctests(pages, "python.md", [pages.read_text()])
    for path in sorted((ROOT / "python" / "kqd").glob("_*.py")):
        module = importlib.import_module("kqd" if path.stem == "__init__" else f"kqd.{path.stem}")
        tests = doctest.DocTestFinder().find(module)
        refresh_doctests(path, module.__name__, [test.docstring for test in tests if test.examples])


if __name__ == "__main__":
    main()
