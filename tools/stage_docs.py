"""Collects the pages of the documentation for mkdocs: README, guide, design, benchmarks, and reference pages generated from
the program and the Python package.

    /usr/bin/python3 tools/stage_docs.py FOLDER

Needs build/release. FOLDER gets mkdocs.yml and pages/.
"""

import importlib
import inspect
import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "release"
# Pages of files outside docs/; files in docs/ keep their path.
PLACES = {"README.md": "index.md", "bench/README.md": "benchmarks.md", "experiments/peers/README.md": "libraries.md",
          "experiments/peers/peers.md": "peers.md", "experiments/peers/peers.svg": "peers.svg", "CHANGELOG.md": "changelog.md",
          "CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md", "LICENSE": "licence.md"}
FIRST_PAGES = ["command-line", "reading-output", "which-test", "python", "data", "formats", "scaling"]
COMMANDS = ["test", "distance", "explain", "matrix", "profile", "merge", "experiment", "sample", "methods"]


def place_of(path):
    """The page of a file of the project, or nothing."""
    if path in PLACES:
        return PLACES[path]
    if path.startswith("docs/") and (ROOT / path).is_file():
        return path.removeprefix("docs/")
    return None


def staged(path, text):
    """The text with links between pages adapted; links to files that are not pages become plain text."""
    folder = pathlib.PurePosixPath(path).parent
    here = pathlib.PurePosixPath(place_of(path)).parent

    def lead(match):
        label, target = match.groups()
        target, hash_, anchor = target.partition("#")
        if not target or "://" in target:
            return match.group()
        parts = []
        for part in (folder / target).parts:
            if part == "..":
                parts.pop()
            else:
                parts.append(part)
        page = place_of("/".join(parts))
        if page is None:
            return label.lstrip("!")
        return f"[{label}]({'../' * len(here.parts)}{page}{hash_}{anchor})"

    return re.sub(r"\[([^\[\]]*)\]\(([^)\s]+)\)", lead, text)


def title_of(path):
    found = re.search(r"(?m)^# (.+)$", path.read_text())
    return found.group(1) if found else path.stem


def program_page():
    """The --help text of every command."""
    page = ["# The program: all flags\n"]
    listed = subprocess.run([BUILD / "kqd", "--help"], capture_output=True, text=True, check=True).stdout
    for command in [None, *(c for c in COMMANDS if re.search(rf"(?m)^  {c}\b", listed))]:
        arguments = [command] if command else []
        text = subprocess.run([BUILD / "kqd", *arguments, "--help"], capture_output=True, text=True, check=True).stdout
        page.append(f"## kqd {command or ''}\n\n```text\n{text.strip()}\n```\n")
    return "\n".join(page)


def methods_page():
    """The text of `kqd methods ID` for every method."""
    methods = json.loads(subprocess.run([BUILD / "kqd", "methods", "--json"], capture_output=True, text=True,
                                        check=True).stdout)
    page = ["# The methods: formulas, costs, settings\n"]
    for method in methods:
        text = subprocess.run([BUILD / "kqd", "methods", method["id"]], capture_output=True, text=True, check=True).stdout
        title, formula, table = text.strip().split("\n\n", 2)
        page.append(f"## {title}\n\n{formula}\n\n```text\n{table}\n```\n")
    return "\n".join(page)


def python_page():
    """Signatures and docstrings of the public names of the package."""
    sys.path.insert(0, str(BUILD / "python"))
    kqd = importlib.import_module("kqd")
    page = ["# The Python package: all names\n", inspect.getdoc(kqd) or ""]
    for name in sorted(n for n in kqd.__all__ if callable(getattr(kqd, n))):
        value = getattr(kqd, name)
        try:
            signature = str(inspect.signature(value))
        except ValueError:
            signature = "(...)"
        page.append(f"\n## kqd.{name}\n\n```python\nkqd.{name}{signature}\n```\n\n```text\n{inspect.getdoc(value)}\n```\n")
    return "\n".join(page)


def main():
    target = pathlib.Path(sys.argv[1])
    pages = target / "pages"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(ROOT / "docs", pages)
    for path in [*PLACES, *(str(p.relative_to(ROOT)) for p in (ROOT / "docs").rglob("*.md"))]:
        page = pages / place_of(path)
        page.write_text(staged(path, (ROOT / path).read_text()))
    (pages / "reference").mkdir()
    (pages / "reference" / "program.md").write_text(program_page())
    (pages / "reference" / "methods.md").write_text(methods_page())
    (pages / "reference" / "python.md").write_text(python_page())

    guide = sorted((pages / "guide").glob("*.md"),
                   key=lambda p: (FIRST_PAGES.index(p.stem) if p.stem in FIRST_PAGES else len(FIRST_PAGES), p.stem))
    top = [p for p in sorted(pages.glob("*.md")) if p.name not in PLACES.values()]
    link = lambda p: {title_of(p): str(p.relative_to(pages))}  # noqa: E731
    settings = {
        "site_name": "kqd", "site_description": "Compare two samples by kernel quantile embeddings",
        "docs_dir": "pages", "site_dir": "site", "use_directory_urls": False,
        "theme": {"name": "material", "font": False,
                  "palette": [{"media": "(prefers-color-scheme: light)", "scheme": "default"},
                              {"media": "(prefers-color-scheme: dark)", "scheme": "slate"}]},
        "markdown_extensions": ["tables", "fenced_code", {"toc": {"permalink": True}}],
        "plugins": ["search"],
        "nav": [{"Getting started": "index.md"}, {"Guide": [link(p) for p in guide]},
                {"Evidence": [*(link(p) for p in top), {"Benchmarks": "benchmarks.md"},
                              {"Comparison with libraries": "libraries.md"}]},
                {"Reference": [{"Methods": "reference/methods.md"}, {"Program": "reference/program.md"}, {"Python": "reference/python.md"},
                               {"C++": "reference/cpp/index.html"}]},
                {"Design": [link(p) for p in sorted((pages / "design").glob("*.md"))]},
                {"Project": [{"Contributing": "contributing.md"}, {"Changes": "changelog.md"},
                             {"Security": "security.md"}, {"Licence": "licence.md"}]}]}
    (target / "mkdocs.yml").write_text(json.dumps(settings, indent=2))  # JSON is YAML


if __name__ == "__main__":
    main()
