#!/usr/bin/python3
"""Writes the files next to it with NumPy and Python's csv module, and expected.json with the bits they stand for.

Run it again only to add cases: `/usr/bin/python3 tests/golden/io/make.py` (made with NumPy 1.24). The expected values
come from NumPy's own conversion to float64 and reshape(n, -1), never from reading the files back.
"""
import csv
import json
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent
rng = np.random.default_rng(20240229)
cases = []


def expect(file, values, names=()):
    table = np.asarray(values).astype("<f8")
    table = table.reshape(len(table), -1)
    bits = [f"{b:016x}" for b in table.view("<u8").ravel().tolist()]
    cases.append({"file": file, "names": list(names), "rows": table.shape[0], "cols": table.shape[1], "bits": bits})


def save_npy(file, array, version=None):
    with open(FOLDER / file, "wb") as out:
        np.lib.format.write_array(out, array, version=version, allow_pickle=False)
    expect(file, array)


def extremes(code):
    """A 5 x 3 array that holds the edges of its type."""
    kind = np.dtype(code).kind
    if kind == "b":
        return rng.integers(0, 2, (5, 3)).astype(bool)
    if kind in "iu":
        limits = np.iinfo(code)
        values = rng.integers(limits.min, limits.max, (5, 3), dtype=code, endpoint=True)
        values[0] = [limits.min, limits.max, 1]
        return values
    limits = np.finfo(code)
    values = rng.standard_normal((5, 3)).astype(code)
    values[0] = [limits.max, limits.min, -0.0]
    values[1] = [limits.tiny, limits.smallest_subnormal, -limits.smallest_subnormal]
    return values


for code in ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]:
    values = extremes(code)
    save_npy(f"{code}_little_c.npy", values.astype("<" + code))
    save_npy(f"{code}_big_fortran.npy", np.asfortranarray(values.astype(">" + code)))

for version in [(1, 0), (2, 0), (3, 0)]:
    save_npy(f"version_{version[0]}.npy", rng.standard_normal((4, 2)), version)
save_npy("one_dimension.npy", rng.standard_normal(7))
save_npy("three_dimensions_c.npy", rng.standard_normal((3, 2, 4)))
save_npy("three_dimensions_fortran.npy", np.asfortranarray(rng.standard_normal((3, 2, 4))))
save_npy("four_dimensions_fortran.npy", np.asfortranarray(rng.standard_normal((2, 3, 2, 4))))

# Any finite pattern of 64 bits is a double; these have exponents over the whole range.
wide = rng.integers(0, 2**64, 90, dtype="u8").view("f8")
wide = wide[np.isfinite(wide)][:80].reshape(20, 4)

np.savetxt(FOLDER / "savetxt.csv", wide, fmt="%.17g", delimiter=",")
expect("savetxt.csv", wide)
np.savetxt(FOLDER / "savetxt.tsv", wide, fmt="%.16e", delimiter="\t", header="a\tb\tc\td", comments="")
expect("savetxt.tsv", wide, "abcd")

names = ["plain", "with, comma", 'with "quotes"', "größe\nin m"]
for file, options in {
    "excel_quoted.csv": {"dialect": "excel", "quoting": csv.QUOTE_ALL},
    "semicolons.csv": {"delimiter": ";", "lineterminator": "\n"},
    "bars.csv": {"delimiter": "|", "lineterminator": "\r", "quoting": csv.QUOTE_NONNUMERIC},
}.items():
    with open(FOLDER / file, "w", newline="", encoding="utf-8-sig") as out:
        csv.writer(out, **options).writerows([names, *wide.tolist()])
    expect(file, wide, names)

with open(FOLDER / "expected.json", "w", encoding="utf-8") as out:
    out.write("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")
