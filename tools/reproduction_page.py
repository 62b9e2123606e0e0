"""Puts tables and figures of `kqd experiment` into a page.

Usage: reproduction_page.py RESULTS_FOLDER PAGE

The text between the lines "<!-- NAME -->" and "<!-- end -->" of the page is replaced by RESULTS_FOLDER/NAME.md without its
heading and by the figure NAME.svg, which is copied to the folder "figures" next to the page. Blocks without results are kept.
"""

import re
import shutil
import sys
from pathlib import Path


def block(results: Path, page: Path, name: str) -> str:
    table = results / f"{name}.md"
    figure = results / f"{name}.svg"
    parts = []
    if table.exists():
        heading, _, text = table.read_text().partition("\n")
        parts.append(f"**{heading.lstrip('# ')}.** {text.strip()}")
    if figure.exists():
        (page.parent / "figures").mkdir(exist_ok=True)
        shutil.copyfile(figure, page.parent / "figures" / figure.name)
        parts.append(f"![{name}](figures/{figure.name})")
    return "\n\n".join(parts)


def main() -> None:
    results, page = Path(sys.argv[1]), Path(sys.argv[2])

    def filled(match: re.Match) -> str:
        text = block(results, page, match[1])
        return f"<!-- {match[1]} -->\n{text}\n<!-- end -->" if text else match[0]

    page.write_text(re.sub(r"(?s)<!-- (\S+) -->\n.*?<!-- end -->", filled, page.read_text()))


if __name__ == "__main__":
    main()
