"""sbom.py [VERSION]: the libraries inside the packages, as a CycloneDX list on standard output.
sbom.py --texts: their licences, the content of third_party/LICENSES.txt. Both read the installed Debian packages.
"""

import json
import pathlib
import subprocess
import sys

# name, Debian package, SPDX licence, where it is
PARTS = [
    ("Highway", "libhwy-dev", "Apache-2.0", "linked: wheel, R package"),
    ("fmt", "libfmt-dev", "MIT", "linked: wheel, R package"),
    ("zlib", "zlib1g-dev", "Zlib", "linked: wheel"),
    ("Eigen", "libeigen3-dev", "MPL-2.0", "headers"),
    ("Boost.Math", "libboost1.74-dev", "BSL-1.0", "headers"),
    ("LEMON", "liblemon-dev", "BSL-1.0", "headers"),
    ("Random123", "librandom123-dev", "BSD-3-Clause", "headers"),
    ("nlohmann-json", "nlohmann-json3-dev", "MIT", "headers"),
    ("CLI11", "libcli11-dev", "BSD-3-Clause", "headers, program only"),
    ("pybind11", "pybind11-dev", "BSD-3-Clause", "headers, Python modules only"),
]
# Parts that are not Debian packages: name, version, licence, where.
OTHERS = [
    ("libstdc++, libgcc", "of g++", "GPL-3.0-or-later WITH GCC-exception-3.1", "linked: wheels"),
    ("Observable Plot, D3", "web/package-lock.json", "ISC", "report page"),
]
ISC = """Copyright 2010-2023 Mike Bostock; Copyright 2020-2023 Observable, Inc.

Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted,
provided that the above copyright notice and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED
WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR
CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF
CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE."""


def version_of(package):
    found = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True)
    return found.stdout if found.returncode == 0 else "not installed"


def bill(version):
    parts = [(name, version_of(package), licence, where) for name, package, licence, where in PARTS] + OTHERS
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
            "metadata": {"component": {"type": "library", "name": "kqd", "version": version,
                                       "licenses": [{"expression": "Apache-2.0"}]}},
            "components": [{"type": "library", "name": name, "version": found, "licenses": [{"expression": licence}],
                            "description": where} for name, found, licence, where in parts]}


def texts():
    yield "Licences of the libraries inside the packages of kqd. kqd itself: LICENSE.\n"
    for name, package, licence, _ in PARTS:
        if name == "Boost.Math":
            yield f"\n==== {name}: {licence}, the text is that of LEMON below ====\n"
            continue
        yield f"\n==== {name}: {licence} ====\n"
        yield pathlib.Path("/usr/share/doc", package, "copyright").read_text()
    yield "\n==== libstdc++, libgcc: GPL-3.0-or-later with the GCC Runtime Library Exception 3.1 ====\n"
    yield "The exception permits to distribute programs that contain these libraries under terms of your choice.\n"
    yield f"\n==== Observable Plot, D3: ISC ====\n{ISC}\n"
    for licence in ("Apache-2.0", "MPL-2.0"):
        yield f"\n==== {licence} ====\n{pathlib.Path('/usr/share/common-licenses', licence).read_text()}"


if __name__ == "__main__":
    if sys.argv[1:] == ["--texts"]:
        sys.stdout.writelines(texts())
    else:
        print(json.dumps(bill(sys.argv[1]), indent=1))
