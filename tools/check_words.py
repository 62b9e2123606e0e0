"""Counts words that kqd does not use, and fails if there is one: statisticians and engineers have standard words for them.

Prints file:line, the word and a better one. With --count it prints the number of findings of each folder instead.

Usage: check_words.py [--count] [PATH...]   (default: the whole tree)
"""

import bisect
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PLACES = ["src", "include", "apps", "python", "tests", "web/src", "web/test", "docs", "experiments", "bench", "tools", "cmake",
          "data/README.md", "dev", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CMakeLists.txt"]
SUFFIXES = {".cpp", ".hpp", ".in", ".py", ".pyi", ".md", ".js", ".mjs", ".css", ".html", ".txt", ".cmake", ""}
# The list itself, its test, data, other people's code and its bundle.
SKIPPED = ["tools/check_words.py", "tests/cli/test_checks.py", "tests/golden/", "web/node_modules/", "web/dist/"]

# A match that is right where it is: file, text of the line, reason.
ALLOWED = [
    ("docs/references.md", "", "titles of published works"),
    ("CHANGELOG.md", "(was `", "names of earlier versions"),
    ("docs/guide/json.md", "| `law` |", "name of an earlier version"),
    *((file, name, "name of a scenario, which determines its seed")
      for file in ["experiments/validate/level_scenarios.cpp", "experiments/validate/power_scenarios.cpp",
                   "experiments/validate/results.txt", "tests/statistical/level_test.cpp", "tests/statistical/power_test.cpp",
                   "tests/statistical/validity_page_test.cpp", "docs/validity.md"]
      for name in ["Pooled reference points, set aside", "points set aside", "15 % of a fourth class"]),
    ("experiments/image_studies.cpp", 'settings["pictures"]', "key of settings, whose hash identifies saved results"),
    ("tests/unit/core/warning_test.cpp", "(labelling|relabelling", "list of words"),
    ("tests/unit/core/warning_test.cpp", "bearable|affordable", "list of words"),
]

COMMENT = r"(?:^|\n)[ \t]*(?://+|#+:?|/?\*+|\"\"\")[ \t]*"
CODE = {".cpp", ".hpp", ".py", ".pyi", ".js", ".css", ".cmake", ".txt", ".in", ""}
TEXT = {".md"}

# (pattern, better words, suffixes it applies to or None for all). Patterns see a paragraph as one
# line without comment leaders (flowing()), so that a phrase that is broken over two lines is found.
WORDS = [
    (r"(?i)labelling|(?<![a-z])relabel", "permutation, permute (labels for the data structure)", None),
    (r"(?i)\b_?laws?(?:\b|_)(?! of large numbers)", "distribution", None),
    (r"(?i)as far(?: apart)? or further", "at least as extreme", None),
    (r"(?i)\bunder chance\b|\bby chance (?:alone|only)\b|\bchance (?:alone|only)\b|\bwhat chance\b|\bbeyond chance\b",
     "under the null hypothesis, permutation null", None),
    (r"(?i)\bfor all together\b|\blevel of the decision\b", "family-wise; significance level", None),
    (r"(?i)equal distributions are rejected at this level", "reject H0 (equal distributions) at level ...", None),
    (r"(?i)\bsets? aside\b|\bsetting (?:\w+ ){0,3}aside\b|\bset (?:\w+ ){1,2}aside\b", "held out", None),
    (r"(?i)\btold\b|_told\b|\btold_", "reported, shown; or state it", None),
    (r"(?i)\btells?\b(?! (?:\S+ ){0,6}(?:apart|from)\b)", "reports, prints, shows", None),
    (r"\bspeaks? of\b", "names, describes", None),
    (r"(?<![Tt]here )\b(?:is|are|was|were) no (?!longer\b|more\b|less\b|fewer\b|larger\b|smaller\b|better\b|worse\b|faster\b|"
     r"further\b|matter\b|one\b|lower\b|higher\b)[a-z]", "is not a ..., unknown ..., there is no ...", None),
    (r"(?i)(?<!stands )(?<!stand )(?<!let )(?<!leaves )(?<!leave )(?<!standing )\balone\b", "only", None),
    (r"(?i)\banew\b", "again, from scratch", None),
    (r"(?i)\bbeside\b", "next to, with", None),
    (r"(?i)\bdear(?:er|est|ly)?\b|\b(?:un)?bearable\b|(?:un)?affordab|(?<=[a-z])Dear(?=[A-Z])", "expensive, feasible", None),
    (r"(?i)\bfaults? of (?:ours|kqd)\b", "internal error (please report it)", None),
    (r"(?i)found by looking", "auto-detected", None),
    (r"(?i)listed likewise", "same syntax as ...", None),
    (r"(?i)(?<![a-z])pictures?(?![a-z])", "image (data), figure (plot)", None),
    (r"(?i)\bmend(?:s|ed|ing)?\b", "fix", None),
    (r"(?i)\bwho asks\b|\bwho wants\b", "options for ...; callers that ...", None),
    (r"(?i)where it was looked for|\bthe way on\b", "component statistic; what to do next", None),
    (r"(?:[.:;!] |^|\n)Who (?!is\b|are\b|may\b|owns\b)[a-z]+ [^?.\n]*(?:[.\n]|$)", "a sentence with its subject first", None),
    (COMMENT + r"What (?!if\b)[^?\n]*(?:\n|$)", "a sentence with its subject first, not \"What ...\"", CODE),
    (COMMENT + r"Who [^?\n]*(?:\n|$)", "a sentence with its subject first, not \"Who ...\"", CODE),
    (r"\b\d+ x \d+ columns\b", "500 rows x 6 columns", None),
    (r"\bPermutationSet (?:are|is|were|with|that|in|of|\()", "Permutations", None),
    (r"\b(?:stands?|stood) only\b", "is isolated, appears only", None),
    (r"\d %(?! *\d)", "12% without a blank", TEXT),
    (r"\} %[ ,;.)\"]", "{}% without a blank", CODE),
]
WORDS = [(re.compile(pattern), better, suffixes) for pattern, better, suffixes in WORDS]


def flowing(text):
    """The text with each paragraph on one line, without the leaders of comments and the quotes between two parts of a
    literal; and the position at which each line of the file begins in it."""
    starts, flow = [], ""
    for line in text.split("\n"):
        line = re.sub(r"^\s*(?:(?://+|#+|\*+|>)\s+)?", "", line).rstrip()
        if flow.endswith('"') and line.startswith('"'):
            flow, line = flow[:-1], line[1:]
        flow += "\n" if not line else "" if not flow or flow[-1] in " \n" else " "
        starts.append(len(flow))
        flow += line
    return flow, starts


def findings(path, text):
    """Triples (line, matched text, better words) of one file; `path` is relative to the root."""
    suffix = pathlib.PurePosixPath(path).suffix
    lines = text.split("\n")
    flow, starts = flowing(text)
    for pattern, better, suffixes in WORDS:
        if suffixes is not None and suffix not in suffixes:
            continue
        opening = pattern.pattern.startswith(COMMENT)
        for match in pattern.finditer(text if opening else flow):
            begin = match.start() + len(match.group()) - len(match.group().lstrip())
            line = text.count("\n", 0, begin) + 1 if opening else bisect.bisect_right(starts, begin)
            if not any(path == file and part in lines[line - 1] for file, part, _ in ALLOWED):
                yield line, " ".join(match.group().split())[:60], better


def files(arguments):
    for place in arguments or PLACES:
        path = ROOT / place
        found = sorted(path.rglob("*")) if path.is_dir() else [path] if path.exists() else []
        for file in found:
            name = file.relative_to(ROOT).as_posix()
            if file.is_file() and file.suffix in SUFFIXES and "__pycache__" not in name and not name.startswith(tuple(SKIPPED)):
                yield name, file.read_text()


def main():
    arguments = sys.argv[1:]
    count = "--count" in arguments
    total = collections.Counter()
    for name, text in files([argument for argument in arguments if argument != "--count"]):
        for line, word, better in sorted(findings(name, text)):
            parts = name.split("/")
            total["/".join(parts[:2 if parts[0] in ("src", "tests", "docs", "include") and len(parts) > 2 else 1])] += 1
            if not count:
                print(f"{name}:{line}: \"{word}\" -> {better}")
    if count:
        for folder, number in sorted(total.items()):
            print(f"{number:6} {folder}")
    print(f"{sum(total.values())} words to replace")
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
