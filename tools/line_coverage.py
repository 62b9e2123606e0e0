"""Measures which lines of src/ the tests run.

Usage: line_coverage.py BUILD_FOLDER LEAST_PERCENT

Runs gcov on every object of the library that has counts, combines the counts of each line, prints a table by stage and the
files with most lines not run, and writes the lines that were never run to BUILD_FOLDER/lines-not-run.txt. Exits with 1 if less
than LEAST_PERCENT of all lines were run. (gcovr takes minutes instead of seconds, because it also reads third-party headers.)
"""

import collections
import json
import subprocess
import sys
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent / "src"


def lines_of(counts: Path):
    """(file below src/, line, whether it was run) of everything in one object."""
    run = subprocess.run(["gcov", "--json-format", "--stdout", counts], capture_output=True, check=True, cwd=counts.parent)
    for document in map(json.loads, filter(None, run.stdout.splitlines())):
        folder = Path(document["current_working_directory"])
        for file in document["files"]:
            path = (folder / file["file"]).resolve()
            if path.is_relative_to(SOURCES):
                for line in file["lines"]:
                    yield path.relative_to(SOURCES), line["line_number"], line["count"] != 0


def ranges(numbers):
    """1, 2, 3, 7 as "1-3, 7"."""
    parts = []
    for number in sorted(numbers):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def main(folder: Path, least: float) -> int:
    was_run = collections.defaultdict(dict)
    for counts in sorted((folder / "CMakeFiles" / "kqd.dir").rglob("*.gcda")):
        for path, line, run in lines_of(counts):
            was_run[path][line] = was_run[path].get(line, False) or run
    if not was_run:
        sys.exit(f"{folder}: no counts; build it with KQD_COVERAGE and run its tests")
    missing = {path: [line for line, run in lines.items() if not run] for path, lines in was_run.items()}
    stages = collections.defaultdict(lambda: [0, 0])
    for path, lines in was_run.items():
        for total in (stages[path.parts[0]], stages["all"]):
            total[0] += len(lines)
            total[1] += len(missing[path])
    for stage in [*sorted(set(stages) - {"all"}), "all"]:
        lines, lacking = stages[stage]
        print(f"{stage:<12} {lines:6} lines  {100 * (1 - lacking / lines):5.1f}%")
    print("\nmost lines not run:")
    for path in sorted(missing, key=lambda path: -len(missing[path]))[:8]:
        print(f"  {len(missing[path]):4} of {len(was_run[path]):4}  {path}")
    text = "".join(f"src/{path}: {ranges(missing[path])}\n" for path in sorted(missing) if missing[path])
    (folder / "lines-not-run.txt").write_text(text)
    lines, lacking = stages["all"]
    return 0 if 100 * (1 - lacking / lines) >= least else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), float(sys.argv[2])))
