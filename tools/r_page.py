"""r_page.py [--write]: runs the `r` blocks of docs/guide/r.md in order, in one session in the root folder, and compares what
they print with the `text` block below each. --write puts the output there; read the diff."""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "guide" / "r.md"
EXAMPLE = re.compile(r"(?ms)^```r\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?")
MARK = "---- next example ----"


def printed(codes):
    """The output of each piece of code."""
    with tempfile.TemporaryDirectory() as folder:
        lines = []
        for k, code in enumerate(codes):
            part = pathlib.Path(folder, f"{k}.R")
            part.write_text(code)
            lines += [f'source("{part}", print.eval = TRUE, echo = FALSE)', f'cat("{MARK}\\n")']
        script = pathlib.Path(folder, "all.R")
        script.write_text("\n".join(lines) + "\n")
        done = subprocess.run(["Rscript", "--vanilla", str(script)], cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"an example of {PAGE.name} failed:\n{done.stdout}{done.stderr}")
    return [text.strip("\n") for text in done.stdout.split(MARK + "\n")[: len(codes)]]


def main(write):
    text = PAGE.read_text()
    examples = list(EXAMPLE.finditer(text))
    outputs = printed([example.group(1) for example in examples])
    if write:
        new = iter(outputs)

        def with_output(match):
            output = next(new)
            return f"```r\n{match.group(1)}```\n" + (f"\n```text\n{output}\n```\n" if output else "")

        PAGE.write_text(EXAMPLE.sub(with_output, text))
        return
    for example, output in zip(examples, outputs):
        shown = example.group(2) or ""
        if shown.split() != output.split():
            sys.exit(f"docs/guide/r.md shows\n{shown}\nbut\n{example.group(1)}prints\n{output}\n"
                     "tools/r_page.py --write puts it there; read the diff")
    print(f"docs/guide/r.md: {len(examples)} examples were run")


if __name__ == "__main__":
    main("--write" in sys.argv[1:])
