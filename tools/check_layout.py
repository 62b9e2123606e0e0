"""Checks the layout rules of docs/design/0001-layout.md. Prints each violation as file:line and fails if there is one.

Usage: check_layout.py [ROOT]
"""

import pathlib
import re
import sys

# A stage may include itself and any earlier one.
STAGES = ["core", "simd", "synthetic", "io", "kernel", "directions", "quantiles", "profile", "metrics", "testing", "two_sample",
          "explain", "monitor", "options", "report"]

# Files that may break a rule, with the reason.
EXCEPTIONS = {
    ("src/io/output_file.hpp", "printing"): "std::FILE of the file that is written; nothing goes to a terminal",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
LITERAL = re.compile(r'R"([^()\s]*)\((.*?)\)\1"|"((?:[^"\\\n]|\\.)*)"', re.S)
FLAG = re.compile(r"--[a-z]")

# rule: (pattern, where it belongs, files that may match)
PLACES = {
    "vector code": (re.compile(r"#\s*include\s*[<\"]hwy/"), "src/simd", re.compile(r"src/simd/")),
    "threads": (re.compile(r"#\s*include\s*<(thread|future|condition_variable)>"), "src/core/executor, thread_pool",
                re.compile(r"src/core/(executor|thread_pool)\.")),
    "printing": (re.compile(r"#\s*include\s*<(iostream|cstdio)>|\bfmt::print\b|\bstd::c(out|err)\b"), "apps",
                 re.compile(r"$^")),
}


def without_comments(text):
    """The text with comments replaced by blanks, so that line numbers stay."""
    token = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^()\s]*)\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'', re.S)
    return token.sub(lambda m: re.sub(r"[^\n]", " ", m.group()) if m.group().startswith("/") else m.group(), text)


def stage_of(path):
    """The stage that a path below the root belongs to, or None."""
    parts = pathlib.PurePosixPath(path).parts
    if parts[0] == "src" and len(parts) > 2:
        return parts[1]
    return parts[2] if parts[:2] == ("include", "kqd") and len(parts) > 3 else None


def included_stage(name):
    """The stage of an included file, or None for a file of the same folder, of the standard library or of others."""
    parts = name.split("/")
    if parts[0] == "kqd" and len(parts) > 2:
        return parts[1]
    return parts[0] if len(parts) > 1 and parts[0] in STAGES else None


def include_problem(path, bracket, name):
    """The problem of one #include of a file, or None."""
    stage, other = stage_of(path), included_stage(name)
    top = path.split("/")[0]
    if top == "include" and not name.startswith("kqd/") and not (bracket == "<" and re.fullmatch(r"[a-z_0-9]+", name)):
        return f"public header includes <{name}>, expected headers of kqd and of the standard library only"
    if top in ("apps", "python") and other and not name.startswith("kqd/"):
        return f"{top} includes \"{name}\", expected public headers (kqd/...) only"
    if stage is None:
        return None
    if name == "kqd/kqd.hpp":
        return "a stage includes kqd/kqd.hpp, which includes all stages"
    if other and (other not in STAGES or STAGES.index(other) > STAGES.index(stage)):
        return f"stage {stage} includes \"{name}\" of a later stage"
    return None


def problems_of(path, text):
    """Pairs of a line number and a sentence for one file, whose path is relative to the root."""
    code = without_comments(text)

    def line(position):
        return text.count("\n", 0, position) + 1

    if stage_of(path) not in (None, *STAGES):
        yield 1, f"\"{stage_of(path)}\" is not a stage; stages are {', '.join(STAGES)}"
        return
    for match in INCLUDE.finditer(code):
        problem = include_problem(path, match.group(1), match.group(2))
        if problem:
            yield line(match.start(1)), problem
    if not path.startswith(("src/", "include/")):
        return
    for rule, (pattern, place, allowed) in PLACES.items():
        matches = [] if allowed.match(path) else list(pattern.finditer(code))
        if (path, rule) in EXCEPTIONS:
            if not matches:
                yield 1, f"needs no exception for {rule}; remove it from tools/check_layout.py"
            continue
        for match in matches:
            yield line(match.start()), f"{rule} ({match.group().strip()}) belongs in {place}"
    for match in LITERAL.finditer(code):
        if FLAG.search(match.group()) and not code[:match.start()].rstrip().endswith("#include"):
            yield line(match.start()), f"command-line flag in a string: {match.group()[:60]}; name the option by its id (KQD_OPTION)"


def check(root):
    files = sorted(path for top in ("include", "src", "apps", "python") for path in (root / top).rglob("*.[hc]pp"))
    found = [f"{path.relative_to(root)}:{line}: {problem}" for path in files
             for line, problem in problems_of(path.relative_to(root).as_posix(), path.read_text())]
    return found, len(files)


def main():
    found, num_files = check(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve())
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{len(found)} violations of the layout in {num_files} files")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
