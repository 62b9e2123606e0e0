"""Small well-formed files for the fuzzers to start from: seeds.py FOLDER writes FOLDER/fuzz_<format>/<name>."""

import struct
import sys
import zlib
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))
from hostile import gz, idx, npy, npz, saved  # noqa: E402



def packed(number):
    """A number in groups of seven bits, lowest first."""
    groups = []
    while number >= 128:
        groups.append(number % 128 + 128)
        number //= 128
    return bytes(groups + [number])


def text(value):
    return packed(len(value)) + value.encode()


def reals(*values):
    return packed(len(values)) + struct.pack(f"<{len(values)}d", *values)


def section(tag, content):
    return tag + struct.pack("<Q", len(content)) + content + struct.pack("<I", zlib.crc32(content))


def matrix(*rows):
    return packed(len(rows)) + packed(len(rows[0])) + b"".join(struct.pack(f"<{len(row)}d", *row) for row in rows)


# Sets of functions of one column: kind, what it has, and how many functions they are.
COMPONENTS = reals(0.0) + matrix([1.0]) + reals(1.0) + struct.pack("<dd", 0.0, 1.0)
PRODUCTS = reals(0.0) + reals(1.0) + packed(1) + b"\0\0" + COMPONENTS
COLUMN = (b"\0\1\0", 1)
OTHERS = [(b"\1" + text("gaussian@1") + matrix([0.0]) + matrix([0.5]), 1), (b"\2" + COMPONENTS + b"\2\0\1" + reals(0.5)[1:], 2),
          (b"\3\1\0" + matrix([-1.0, 0.0, 1.0]) + b"\2", 2), (b"\4" + PRODUCTS + b"\1", 2), (b"\5" + PRODUCTS + b"\1", 1)]


def functions(kind, scales=b"\0"):
    """A set of functions: counts along the first one with two bins, sums of their values per bin, and sums of all."""
    data, count = kind
    grid = reals(0.0) + reals(-1.0, 1.0) + reals(1.0)
    return scales + data + packed(1) + grid + b"\1" + packed(40) + b"\1" + reals(*[0.0] * count) + packed(20) * count


def profile(parts, rule=b"\0\0", kinds=(COLUMN,), sources=b"\0"):
    """A profile of one column, groups of two rows, and parts (id, first row, rows) of samples of six rows."""
    scales = packed(1) + b"\0\0" + struct.pack("<dd", 0.0, 1.0)
    sets = [functions(kind, scales if k > 0 else b"\0") for k, kind in enumerate(kinds)]
    statistics = text("s") + b"\0\0\0\1\0" + struct.pack("<d", 1.0) + b"\1\0\0"
    spec = (b"\1\0" + struct.pack("<Q", 1) + b"\2" + rule + b"\0" + text("gaussian@1") + b"\0" + packed(len(sets)) +
            b"".join(sets) + b"\1" + statistics)
    data = b"KQDPRF\r\n" + struct.pack("<HH", 2, 0) + section(b"SPEC", spec) + section(b"GRPS", struct.pack("<Q", 1))
    for sample, first, rows in parts:
        groups = [rows // 3] * 3 + [rows % 3]
        counts = b"".join(bytes([count, 0]) for count in groups) * len(kinds)
        sums = b"\0" * (4 * sum(count for _, count in kinds)) + b"\0" * (256 * len(kinds))
        content = (struct.pack("<QQ", sample, 6) + sources + b"\1" + packed(first) + packed(rows) + bytes(groups) +
                   counts + sums)
        data += section(b"PART", content)
    return data + b"DONE" + struct.pack("<I", zlib.crc32(data + b"DONE"))


def pair(first, second):
    return struct.pack("<H", len(first)) + first + second


ARRAY = np.arange(6.0).reshape(3, 2)
SEEDS = {
    "fuzz_csv": [b"\0a,b\n1,2\n3,4\n", b'\x80"a","b ""c"""\r\n1.5e-3,"2"\r\n# c\r\n,NA\r\n', b"\x46a;b\n1,5;2,5\n",
                 b"\x20d\n2024-01-01T10:00:00Z\n", b"\x03\xef\xbb\xbfx\ty\ninf\t1e400\n", b"\0'a','b'\n'1','2'\n"],
    "fuzz_npy": [saved(ARRAY), saved(np.asfortranarray(ARRAY)), saved(ARRAY.astype(">f2")), saved(ARRAY > 2),
                 saved(ARRAY.reshape(1, 3, 2).astype("u1")), npy(version=2), npy(version=3), gz(saved(ARRAY))],
    "fuzz_npz": [npz(x=ARRAY), npz(compressed=True, x=ARRAY), npz(x=ARRAY, y=ARRAY)],
    "fuzz_config": [b'seed = 1\n[test]\npermutations = 99\nwhiten = true\n', b'columns = ["a", "b"]  # two\nalpha = 0.1\n',
                    b"kernel = 'laplace'\n"],
    "fuzz_profile": [pair(profile([(1, 0, 6)]), profile([(2, 0, 6)])), pair(profile([(1, 0, 3)]), profile([(1, 3, 3)])),
                     pair(profile([(1, 0, 3), (2, 0, 6)], b"\1\1k"), profile([(1, 3, 2), (3, 1, 4)], b"\1\1k"))] +
                    [pair(profile([(1, 0, 3)], kinds=(COLUMN, kind)), profile([(1, 3, 3)], kinds=(COLUMN, kind)))
                     for kind in OTHERS],
    "fuzz_idx": [idx(), idx(kind=14, shape=(1,), data=bytes(8)), idx(kind=11, shape=(1, 2, 1), data=bytes(4))],
}

for target, files in SEEDS.items():
    folder = Path(sys.argv[1]) / target
    folder.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(files):
        (folder / f"seed-{number}").write_bytes(data)
