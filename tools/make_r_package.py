"""make_r_package.py BUILD OUT: the sources of the R package, with the library and third parties inside.

BUILD is a configured build folder, whose compile_commands.json says which files are compiled together. Third-party headers
are those that the compiler includes, from the folders where the build found them. `./dev release` makes a package of OUT.
"""

import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Folder of the headers -> folder below src/vendor.
THIRD_PARTIES = {"hwy": "hwy", "fmt": "fmt", "nlohmann": "nlohmann", "eigen3/Eigen": "Eigen", "boost": "boost",
                 "lemon": "lemon", "Random123": "Random123"}
# Which headers Highway includes depends on the CPU; those of the compiled part of fmt would be those of cpp11, another version.
WHOLE = ("hwy", "fmt")
# R's checks refuse them in packages: they hide warnings from those who build it.
PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+(GCC|clang)[ \t]+diagnostic[ \t]+ignored.*$", re.M)
# R's checks refuse code that ends the process or writes past R's console: file -> pieces of text and what replaces them.
CONSOLE = 'extern "C" void REprintf(const char*, ...);\n'
CHANGES = {
    "hwy/targets.cc": [
        ("#include <atomic>\n", "#include <atomic>\n#include <stdexcept>\n" + CONSOLE),
        ("fprintf(stderr, \"Abort", "REprintf(\"Abort"),
        ("fprintf(stderr,", "REprintf("),
        ("  fflush(stderr);\n", ""),
        ("  abort();  // Compile error without this due to HWY_NORETURN.", "  throw std::runtime_error(buf);"),
    ],
    "fmt/format-inl.h": [
        ('#include "format.h"\n', '#include "format.h"\n' + CONSOLE),
        ("std::fprintf(stderr, ", "REprintf("),
        ("  if (std::fwrite(full_message.data(), full_message.size(), 1, stderr) > 0)\n    std::fputc('\\n', stderr);",
         "  REprintf(\"%s\\n\", to_string(full_message).c_str());"),
        ("vprint(stdout, format_str, args);", "REprintf(\"%s\", vformat(format_str, args).c_str());"),
    ],
}
REFUSED = re.compile(r"^(?![ \t]*//).*\b(stdout|stderr|abort\(\))", re.M)
UNITY_INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)


def library_entries(build):
    commands = json.loads((build / "compile_commands.json").read_text())
    return [entry for entry in commands if "CMakeFiles/kqd.dir/" in entry["command"]]


def headers_of(entry):
    """The files that a compilation reads."""
    words = [word for word in shlex.split(entry["command"]) if not word.endswith("ccache")]
    end = words.index("-o")
    listed = subprocess.run([*words[:end], "-M", "-c", words[-1]], cwd=entry["directory"], check=True,
                            capture_output=True, text=True).stdout
    return {str(pathlib.Path(entry["directory"], word).resolve()) for word in listed.replace("\\\n", " ").split()[1:]}


def copy_text(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    text = source.read_text(encoding="utf-8", errors="surrogateescape")
    target.write_text(PRAGMA.sub("", text), encoding="utf-8", errors="surrogateescape")


def change_for_r(vendor):
    """Makes the changes of CHANGES, all of which must be there, and states them in the files."""
    for name, changes in CHANGES.items():
        text = (vendor / name).read_text()
        for old, new in changes:
            if old not in text:
                sys.exit(f"make_r_package: {name} has no {old!r}, so it is another version; see CHANGES")
            text = text.replace(old, new)
        if left := REFUSED.search(text):
            sys.exit(f"make_r_package: {name} still has {left.group()!r}")
        (vendor / name).write_text("// Changed for the R package: messages go to its console, errors are thrown.\n" + text)


def copy_library(build, out):
    for top in ("include", "src"):
        for path in sorted((ROOT / top).rglob("*.[hc]pp")):
            copy_text(path, out / "kqd" / path.relative_to(ROOT))
    copy_text(build / "include" / "kqd" / "version.hpp", out / "kqd" / "include" / "kqd" / "version.hpp")


def copy_third_parties(headers, out):
    for folder, name in THIRD_PARTIES.items():
        base = pathlib.Path("/usr/include", folder).resolve()
        wanted = [pathlib.Path(path) for path in sorted(headers) if pathlib.Path(path).is_relative_to(base)]
        if name in WHOLE:
            wanted = [path for path in sorted(base.rglob("*.h")) if "tests" not in path.parts]
        for path in wanted:
            copy_text(path, out / "vendor" / name / path.relative_to(base))
    for path in sorted((ROOT / "third_party").rglob("*.c*")):
        name = "hwy" if "highway" in path.parts else "fmt"
        inside = path.relative_to(ROOT / "third_party" / ("highway/hwy" if name == "hwy" else "fmt"))
        copy_text(path, out / "vendor" / name / inside)
    change_for_r(out / "vendor")


def place_of(path, build):
    """Where a source of the library is, seen from src/ of the package."""
    if path.is_relative_to(ROOT / "src"):
        return f"kqd/{path.relative_to(ROOT)}"
    return f"kqd/src/{path.name}"  # made by CMake


def write_units(entries, build, out):
    """A file for each compilation; returns their names without suffix."""
    names = []
    for entry in entries:
        path = pathlib.Path(entry["file"])
        parts = [path]
        if path.parent.name == "Unity":
            parts = [pathlib.Path(found) for found in UNITY_INCLUDE.findall(path.read_text())]
        for part in parts:
            if not part.is_relative_to(ROOT / "src"):
                copy_text(part, out / place_of(part, build))
        name = re.sub(r"^unity_|_cxx$", "", path.stem) if len(parts) > 1 else f"{parts[0].parent.name}_{parts[0].stem}"
        names.append(f"kqd_{name}")
        (out / f"kqd_{name}.cpp").write_text("".join(f'#include "{place_of(part, build)}"\n' for part in parts))
    for source in ("hwy/targets.cc", "hwy/contrib/sort/vqsort.cc", "hwy/contrib/sort/vqsort_f64a.cc",
                   "hwy/contrib/sort/vqsort_u64a.cc", "fmt/format.cpp"):
        names.append("vendor_" + pathlib.Path(source).stem)
        (out / f"{names[-1]}.cpp").write_text(f'// A compiled part of a third party.\n#include "vendor/{source}"\n')
    return names


def main(build, out):
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(ROOT / "r", out)
    entries = library_entries(build)
    if not entries:
        sys.exit(f"make_r_package: {build}/compile_commands.json does not compile the library")
    with ThreadPoolExecutor() as pool:
        headers = set().union(*pool.map(headers_of, entries))
    copy_library(build, out / "src")
    copy_third_parties(headers, out / "src")
    names = write_units(entries, build, out / "src")
    makevars = out / "src" / "Makevars.in"
    makevars.write_text(makevars.read_text().replace("@OBJECTS@", " \\\n  ".join(f"{name}.o" for name in sorted(names))))
    version = re.search(r"project\(kqd VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
    description = out / "DESCRIPTION"
    description.write_text(description.read_text().replace("@VERSION@", version))
    (out / "inst" / "extdata").mkdir(parents=True)
    shutil.copy(ROOT / "third_party" / "LICENSES.txt", out / "inst" / "COPYRIGHTS")
    for path in sorted((ROOT / "data").glob("sensors-*.csv")):
        shutil.copy(path, out / "inst" / "extdata")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve())
