"""Puts tables and figures of `kqd experiment` into a page.

Usage: reproduction_page.py RESULTS_FOLDER PAGE [FEWEST_RUNS]

The text between the lines "<!-- NAME -->" and "<!-- end -->" of the page is replaced by RESULTS_FOLDER/NAME.md without its
heading and by the figure NAME.svg, which is copied to the folder "figures" next to the page. Blocks without results are kept.

Cells from fewer than FEWEST_RUNS runs are left out, rows without cells too, and the sentence on agreement counts the others. Where a
cell is left out, so is the figure, which would show it.
"""

import math
import re
import shutil
import sys
from pathlib import Path


FAR_OFF = 4.0  # combined standard errors
CELL = re.compile(r"(\d\.\d+)(?: \((\d\.\d+)\))?(?: \[(\d+)\])?$")


def enough_runs(text: str, fewest: int) -> tuple[str, bool]:
    """The table without cells of few runs, or a sentence in its place; and whether it is whole."""
    stated = re.search(r"Rejection rate at level 0\.05, (?:(\d+) runs(, or the number in \[ \])?|runs in \[ \])", text)
    if stated is None:
        return text, True
    usual = int(stated[1] or 0)
    published = re.search(r"rates [^(]*\((\d+) runs\)", text)
    kept, pairs, whole, rows = [], [], True, 0
    lines = text.split("\n")
    for line, below in zip(lines, [*lines[1:], ""]):
        header = below.startswith("|---")  # its cells may look like rates
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("| ") and not header else []
        parsed = [CELL.match(cell) for cell in cells]
        if not any(parsed):
            kept.append(line)
            continue
        found = False
        for i, match in enumerate(parsed):
            if match is None:
                continue
            runs = int(match[3] or usual)
            if runs < fewest:
                cells[i], whole = "", False
                continue
            found = True
            if match[2] and published:
                pairs.append((float(match[1]), runs, float(match[2]), int(published[1])))
        if found:
            kept.append("| " + " | ".join(cells) + " |")
            rows += 1
    if rows == 0:
        title = text.partition("** Rejection")[0]
        return f"{title}** Fewer than {fewest} runs so far: not shown.", False
    text = "\n".join(kept)
    if usual < fewest and stated[1]:  # no cell without a number in brackets is left
        text = text.replace(stated[0], "Rejection rate at level 0.05, runs in [ ]", 1)
    if not whole:
        text = re.sub(r"(?m)^Of \d+ cells with a published rate.*$", lambda _: agreement(pairs), text)
    return text, whole


def agreement(pairs: list[tuple[float, int, float, int]]) -> str:
    """As kqd experiment writes it, for the cells that are shown."""
    above = below = 0
    for ours, runs, theirs, their_runs in pairs:
        common = (ours * runs + theirs * their_runs) / (runs + their_runs)
        variance = common * (1 - common) * (1 / runs + 1 / their_runs)
        difference = (ours - theirs) / math.sqrt(variance) if variance > 0 else 0.0
        above += difference > FAR_OFF
        below += difference < -FAR_OFF
    verb = "is" if above == 1 else "are"
    return (f"Of {len(pairs)} cells with a published rate, {above} {verb} more than {FAR_OFF:.0f} combined standard errors "
            f"above it and {below} below.")


def block(results: Path, page: Path, name: str, fewest: int) -> str:
    table = results / f"{name}.md"
    figure = results / f"{name}.svg"
    parts, whole = [], True
    if table.exists():
        heading, _, text = table.read_text().partition("\n")
        text, whole = enough_runs(f"**{heading.lstrip('# ')}.** {text.strip()}", fewest)
        parts.append(text)
    if figure.exists() and whole:
        (page.parent / "figures").mkdir(exist_ok=True)
        shutil.copyfile(figure, page.parent / "figures" / figure.name)
        parts.append(f"![{name}](figures/{figure.name})")
    return "\n\n".join(parts)


def main() -> None:
    results, page = Path(sys.argv[1]), Path(sys.argv[2])
    fewest = int(sys.argv[3]) if len(sys.argv) > 3 else 0

    def filled(match: re.Match) -> str:
        text = block(results, page, match[1], fewest)
        return f"<!-- {match[1]} -->\n{text}\n<!-- end -->" if text else match[0]

    page.write_text(re.sub(r"(?s)<!-- (\S+) -->\n.*?<!-- end -->", filled, page.read_text()))


if __name__ == "__main__":
    main()
