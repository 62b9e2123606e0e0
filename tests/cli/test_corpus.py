"""Odd and hostile inputs: each is refused by one sentence that names the place, with exit code 2; nothing is printed on
stdout, nothing crashes, and memory stays small however much a file claims."""

import json
import os
import re
import resource
import subprocess
import zipfile

import numpy as np
import pytest
from conftest import PROGRAM, needs_duckdb
from hostile import (changed, directory_field, end_field, gz, idx, npy, npz, saved, zeros_gz, zipped)

ADDRESS_SPACE = 6 << 30  # bytes; threads and libraries reserve much of it without using it
RESIDENT_KB = 300_000
STRICT = ("--categorical", "raise", "--na", "raise")  # numbers only, none missing

ONE = np.ones((3, 2))
STORED = npz(x=ONE)
PACKED = npz(compressed=True, x=ONE)

# file name -> bytes, the sentence behind "kqd: FILE" as a regular expression
TEXTS = {
    "empty": (b"", r"\.csv: the file is empty"),
    "only-newlines": (b"\n\r\n\r\n", r"\.csv: the file is empty or has only blank lines"),
    "only-blanks": (b"   \n\t\n", r"\.csv: the file is empty or has only blank lines"),
    "only-comments": (b"# a\n# b\n", r"\.csv: the file is empty or has only blank lines and comments"),
    "only-bom": (b"\xef\xbb\xbf", r"\.csv: the file is empty"),
    "only-header": (b"a,b\n", r"\.csv: the file has a header and nothing below it"),
    "only-header-no-newline": (b"a,b", r"\.csv: the file has a header and nothing below it"),
    "header-and-comments": (b"a,b\n# 1,2\n\n", r"\.csv: the file has a header and nothing below it"),
    "short-row": (b"a,b\n1,2\n3\n", r"\.csv:3: the row has 1 cell, expected 2 as in line 1"),
    "long-row": (b"a,b\n1,2,3\n", r"\.csv:2: the row has 3 cells, expected 2 as in line 1"),
    "trailing-delimiter": (b"a,b\n1,2,\n", r"\.csv:2: the row has 3 cells, expected 2"),
    "ragged-after-crlf": (b"a,b\r\n1,2\r\n3,4,5\r\n", r"\.csv:3: the row has 3 cells"),
    "ragged-after-cr": (b"a,b\r1,2\r3\r", r"\.csv:3: the row has 1 cell"),
    "ragged-behind-quoted-newline": (b'a,b\n"1",2\n"x\ny",2,3\n', r"\.csv:3: the row has 3 cells"),
    "ragged-last-line": (b"1,2\n3,4\n5", r"\.csv:3: the row has 1 cell"),
    "nan": (b"a,b\n1,nan\n", r'\.csv:2: column "b".*nan'),
    "NaN": (b"a,b\n1,2\n1,NaN\n", r'\.csv:3: column "b".*NaN'),
    "minus-nan": (b"a,b\n-nan,2\n", r'\.csv:2: column "a".*-nan'),
    "NA": (b"a,b\nNA,2\n", r'\.csv:2: column "a".*NA'),
    "n-slash-a": (b"a,b\n1,n/a\n", r'\.csv:2: column "b".*n/a'),
    "null": (b"a,b\n1,NULL\n", r'\.csv:2: column "b".*NULL'),
    "none": (b"a,b\n1,None\n", r'\.csv:2: column "b".*None'),
    "empty-cell": (b"a,b\n1,\n", r'\.csv:2: column "b"'),
    "quoted-empty-cell": (b'a,b\n"",1\n', r'\.csv:2: column "a"'),
    "question-mark": (b"a,b\n?,1\n", r'\.csv:2: column "a".*\?'),
    "spreadsheet-error": (b"a,b\n#DIV/0!,1\n", r'\.csv:2: column "a".*#DIV/0!'),
    "inf": (b"a,b\n1,inf\n", r'\.csv:2: column "b".*inf'),
    "minus-infinity": (b"a,b\n-Infinity,1\n", r'\.csv:2: column "a".*-Infinity'),
    "1e400": (b"a,b\n1e400,1\n", r'\.csv:2: column "a".*1e400.*1\.8e308'),
    "minus-1e400": (b"a,b\n1,-1e400\n", r'\.csv:2: column "b".*-1e400'),
    "many-digits": (b"a,b\n1," + b"9" * 400 + b"\n", r'\.csv:2: column "b".*"9{40}\.\.\."'),
    "text": (b"a,b\n1,red\n", r'\.csv:2: column "b".*red'),
    "hexadecimal": (b"a,b\n1,0x1f\n", r'\.csv:2: column "b".*0x1f'),
    "two-signs": (b"a,b\n1,+-2\n", r'\.csv:2: column "b".*\+-2'),
    "half-exponent": (b"a,b\n1,2e\n", r'\.csv:2: column "b".*2e'),
    "two-numbers-in-a-cell": (b"a,b\n1,2 3\n", r'\.csv:2: column "b".*2 3'),
    "thousands-separator": (b'a,b\n1,"1,234"\n', r'\.csv:2: column "b".*1,234'),
    "decimal-commas-unasked": (b"a;b\n1,5;2,5\n", r'\.csv:2: column "a".*1,5'),
    "currency": (b"a,b\n1,$5\n", r'\.csv:2: column "b".*\$5'),
    "percent": (b"a,b\n1,5%\n", r'\.csv:2: column "b".*5%'),
    "date": (b"a,b\n1,2024-01-01\n", r'\.csv:2: column "b".*2024-01-01'),
    "nul-in-a-number": (b"a,b\n1,2\x003\n", r"\.csv:2: column 2 holds a NUL byte"),
    "nul-in-the-header": (b"a\0,b\n1,2\n", r"\.csv:1: column 1 holds a NUL byte"),
    "all-nul": (bytes(1000), r"\.csv:1: column 1 holds a NUL byte"),
    "utf-16-le": ("a,b\n1,2\n".encode("utf-16"), r"\.csv: text in UTF-16, expected UTF-8"),
    "utf-16-be": (b"\xfe\xff\0a\0,\0b", r"\.csv: text in UTF-16, expected UTF-8"),
    "latin-1-name": (b"caf\xe9,b\n1,2\n", r'\.csv:1: column 1 is named "caf\\xe9", expected a name in UTF-8'),
    "latin-1-cell": (b"a,b\n1,caf\xe9\n", r'\.csv:2: column "b".*caf\\xe9'),
    "overlong-utf-8-name": (b"a\xc0\xaf,b\n1,2\n", r"\.csv:1: column 1 is named .*, expected a name in UTF-8"),
    "terminal-escape": (b"a,b\n1,\x1b[2J\n", r'\.csv:2: column "b".*\\x1b\[2J'),
    "duplicate-names": (b"a,b,a\n1,2,3\n", r'\.csv:1: columns 1 and 3 are both named "a"'),
    "nameless-column": (b",a,b\n0,1,2\n", r"\.csv:?1?: column 1 has no name"),
    "open-quote": (b'a,b\n"1,2\n3,4\n', r"\.csv:2: column 1 opens a quote that is never closed"),
    "open-quote-in-a-long-file": (b'a,b\n"1,2\n' + b"3,4\n" * 600_000, r"\.csv:2: column 1 is longer than 1048576 bytes"),
    "text-behind-a-quote": (b'a,b\n1,"2"x\n', r'\.csv:2: column "b"'),
    "one-long-cell": (b"9" * 2_000_000, r"\.csv:1: column 1 is longer than 1048576 bytes"),
    "one-long-name": (b"x" * 2_000_000 + b"\n1\n", r"\.csv:1: column 1 is longer than 1048576 bytes"),
    "1e5-columns-then-one": (b",".join(b"%d" % i for i in range(100_000)) + b"\n1\n",
                             r"\.csv:2: the row has 1 cell, expected 100000"),
    "1e5-columns-and-text": (b",".join([b"1"] * 100_000) + b"\n" + b",".join([b"1"] * 99_999 + [b"x"]) + b"\n",
                             r"\.csv:2: column 100000.*x"),
    "html": (b"<!DOCTYPE html>\n<html><body>not found, sorry</body></html>\n", r"\.csv:2: the row has 2 cells"),
    "gzip-by-another-name": (gz(b"1,2\n"), r"\.csv: is compressed by gzip in spite of its name. Give its name the suffix"),
    "npy-by-another-name": (saved(ONE), r"\.csv: is an NPY file in spite of its name"),
    "zip-by-another-name": (STORED, r"\.csv: is a zip archive in spite of its name"),
    "parquet-by-another-name": (b"PAR1\x15" + bytes(20), r"\.csv: is a Parquet file in spite of its name"),
    "hdf5-by-another-name": (b"\x89HDF\r\n\x1a\n", r"\.csv: is an HDF5 file in spite of its name"),
    "old-spreadsheet": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", r"\.csv: is a spreadsheet of an office program"),
    "sqlite-by-another-name": (b"SQLite format 3\0", r"\.csv: is an SQLite database"),
}

COMPRESSED = {
    "empty": (b"", r"\.csv\.gz: the file is empty, expected gzip data"),
    "not-compressed": (b"1,2\n", r"\.csv\.gz: does not start like gzip data. If it is not compressed, drop \.gz"),
    "only-magic": (b"\x1f\x8b", r"\.csv\.gz: ends within its gzip data"),
    "cut-header": (gz(b"1,2\n")[:8], r"\.csv\.gz: ends within its gzip data"),
    "cut-data": (gz(b"1,2\n" * 1000)[:20], r"\.csv\.gz: ends within its gzip data"),
    "cut-checksum": (gz(b"1,2\n" * 1000)[:-5], r"\.csv\.gz: ends within its gzip data"),
    "cut-second-member": (gz(b"1,2\n") + gz(b"3,4\n")[:-1], r"\.csv\.gz: ends within its gzip data"),
    "wrong-checksum": (changed(gz(b"1,2\n" * 50), len(gz(b"1,2\n" * 50)) - 8, b"\0\0\0\0"), r"\.csv\.gz: the gzip data are damaged"),
    "wrong-length": (changed(gz(b"1,2\n"), len(gz(b"1,2\n")) - 4, b"\7"), r"\.csv\.gz: the gzip data are damaged .*length"),
    "wrong-method": (changed(gz(b"1,2\n"), 2, b"\7"), r"\.csv\.gz: the gzip data are damaged near byte \d+ \(.*method"),
    "garbage-behind": (gz(b"1,2\n") + b"garbage", r"\.csv\.gz: other bytes follow the gzip data at byte \d+"),
    "bad-cell-within": (gz(b"a,b\n1,x\n"), r'\.csv\.gz:2: column "b".*x'),
    "twice-compressed": (gz(gz(b"1,2\n")), r"\.csv\.gz: is compressed by gzip in spite of its name"),
    "npy-within": (gz(saved(ONE)), r"\.csv\.gz: is an NPY file in spite of its name"),
    "bomb-of-one-cell": (zeros_gz(b"1,2\n", 1 << 26), r"\.csv\.gz:2: column 1 is longer than 1048576 bytes"),
    "empty-member": (gz(b""), r"\.csv\.gz: the file is empty or has only blank lines"),
}

ARRAYS = {
    "empty.npy": (b"", r": the file is empty, expected an NPY file"),
    "not.npy": (b"1,2\n3,4\n", r": does not start like an NPY file"),
    "short-magic.npy": (b"\x93NUM", r": does not start like an NPY file"),
    "wrong-magic.npy": (b"\x93NUMPI" + npy()[6:], r": does not start like an NPY file"),
    "only-magic.npy": (b"\x93NUMPY", r": ends within its version"),
    "no-length.npy": (b"\x93NUMPY\1\0", r": ends within the length of its header"),
    "version-0.npy": (npy(version=1)[:6] + b"\0\0" + npy()[8:], r": is of NPY version 0\.0"),
    "version-4.npy": (npy()[:6] + b"\4\0" + npy()[8:], r": is of NPY version 4\.0"),
    "version-1.1.npy": (npy()[:6] + b"\1\1" + npy()[8:], r": is of NPY version 1\.1"),
    "header-longer-than-file.npy": (npy(length=60000), r": claims a header of 60000 bytes, but only \d+ follow"),
    "header-of-4-gb.npy": (npy(version=2, length=2**32 - 1), r": claims a header of 4294967295 bytes"),
    "header-too-short.npy": (npy(length=10), r": the header at byte \d+"),
    "header-of-nothing.npy": (npy(header=""), r": the header at byte 1 is its end"),
    "header-is-a-list.npy": (npy(header="[1, 2]\n"), r": the header at byte 1 starts"),
    "header-is-code.npy": (npy(header="__import__('os').system('true')\n"), r": the header at byte 1"),
    "header-without-shape.npy": (npy(header="{'descr': '<f8', 'fortran_order': False}\n"), r': the header has no "shape"'),
    "header-with-more.npy": (npy(header="{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), 'a': 1}\n"),
                             r': the header has "a"'),
    "header-twice.npy": (npy(header="{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (2, 2)}\n"),
                         r': the header has "descr" twice'),
    "header-of-latin-1.npy": (npy(header=b"{'descr': '\xe9'}\n"), r": "),
    "shape-negative.npy": (npy(shape="(-1, 2)"), r": the header at byte \d+"),
    "shape-of-text.npy": (npy(shape="('2', 2)"), r": the header at byte \d+"),
    "shape-too-large.npy": (npy(shape="(99999999999999999999, 1)"), r": the header at byte \d+.*2\^64"),
    "shape-overflows.npy": (npy(shape="(4294967296, 4294967296)"), r": has shape .*more values than memory"),
    "shape-claims-8-tb.npy": (npy(shape="(1000000, 1000000)"), r": has 32 bytes of data, expected 8000000000000"),
    "shape-of-nothing.npy": (npy(shape="()"), r": holds a single number"),
    "shape-with-zero.npy": (npy(shape="(0, 5)", data=b""), r": has shape \(0, 5\), expected at least one row"),
    "columns-of-zero.npy": (npy(shape="(5, 0)", data=b""), r": has shape \(5, 0\)"),
    "data-cut.npy": (npy(data=bytes(31)), r": has 31 bytes of data, expected 32"),
    "data-missing.npy": (npy(data=b""), r": has 0 bytes of data, expected 32"),
    "data-too-long.npy": (npy(data=bytes(33)), r": has 33 bytes of data, expected 32"),
    "objects.npy": (saved(np.array([[1, None]], dtype=object)), r": holds Python objects, which are never loaded"),
    "texts.npy": (saved(np.array([["a", "b"]])), r": holds items of type"),
    "bytes.npy": (saved(np.array([[b"a", b"b"]])), r": holds items of type"),
    "complex.npy": (saved(np.ones((2, 2), complex)), r": holds complex numbers"),
    "dates.npy": (saved(np.array([["2020-01-01"]], dtype="M8[D]")), r": holds items of type"),
    "long-doubles.npy": (saved(np.ones((2, 2), np.longdouble)), r": holds items of type"),
    "records.npy": (saved(np.ones(2, dtype=[("a", "f8"), ("b", "f8")])), r": holds records of several fields"),
    "nan.npy": (saved(np.array([[1, 2], [3, np.nan]])), r": row 2, column 2.*nan"),
    "inf.npy": (saved(np.array([[1, -np.inf]])), r": row 1, column 2.*-inf"),
    "half-inf.npy": (saved(np.array([[1, np.inf]], np.float16)), r": row 1, column 2.*inf"),
    "nan-by-columns.npy": (saved(np.asfortranarray([[1, 2], [np.nan, 3]])), r": row 2, column 1.*nan"),
    "claim.npy.gz": (gz(npy(shape="(1000000, 1000000)")), r": has 32 bytes of data, expected 8000000000000"),
    "claim-by-columns.npy.gz": (gz(npy(shape="(1000000, 1000000)", fortran="True")),
                                r": has 32 bytes of data, expected 8000000000000"),
    "wide-claim.npy.gz": (gz(npy(shape="(1, 4000000)")), r": has 32 bytes of data, expected 32000000"),
    "too-wide.npy": (npy(shape="(2, 1000000000000)"), r": has shape .*1000000000000 columns, expected at most 4194304"),
    "bomb.npy.gz": (zeros_gz(npy(data=b""), 1 << 28), r": has more than 32 bytes of data, expected 32"),
    "header-of-4-gb.npy.gz": (zeros_gz(npy(version=2, length=2**32 - 1), 1 << 26), r": claims a header of 4294967295 bytes"),
    "cut.npy.gz": (gz(saved(np.arange(2000.0)))[:-100], r": ends within its gzip data"),
    "csv-within.npy.gz": (gz(b"1,2\n3,4\n"), r": does not start like an NPY file"),
}

ARCHIVES = {
    "empty": (b"", r"\.npz: is not a zip archive"),
    "text": (b"1,2\n3,4\n", r"\.npz: is not a zip archive"),
    "only-its-end": (b"PK\5\6" + bytes(18), r"\.npz: the archive holds no array"),
    "cut": (STORED[:-30], r"\.npz: is not a zip archive, or a damaged one"),
    "front-cut": (STORED[50:], r"\.npz: is not a zip archive, or a damaged one"),
    "no-arrays": (zipped(("notes.txt", b"hello")), r"\.npz: the archive holds no array"),
    "two-arrays": (npz(a=ONE, b=ONE), r"\.npz: holds 2 arrays \(a, b\)\. Name one as in .*\.npz:a"),
    "twice": (zipped(("a.npy", saved(ONE)), ("a.npy", saved(ONE))), r"\.npz: the archive holds two arrays \"a\""),
    "wrong-checksum": (directory_field(STORED, 16, b"\0\0\0\0"), r"\.npz:x: is damaged, its checksum is wrong"),
    "damaged-data": (changed(STORED, STORED.index(b"NUMPY") + 130, b"\x55"), r"\.npz:x: is damaged, its checksum is wrong"),
    "damaged-deflate": (changed(PACKED, PACKED.index(b"x.npy") + 40, b"\xff" * 30), r"\.npz:x: "),
    "encrypted": (directory_field(STORED, 8, b"\1\0"), r"\.npz:x: is encrypted"),
    "other-method": (zipped(("x.npy", saved(ONE)), method=zipfile.ZIP_LZMA), r"\.npz:x: is compressed by method 14"),
    "bzip2": (zipped(("x.npy", saved(ONE)), method=zipfile.ZIP_BZIP2), r"\.npz:x: is compressed by method 12"),
    "wrong-size": (directory_field(PACKED, 24, (10**9).to_bytes(4, "little")), r"\.npz:x: claims 1000000000 bytes"),
    "compressed-wrong-size": (directory_field(STORED, 20, (10**9).to_bytes(4, "little")), r"\.npz: .*a member reaches beyond its end"),
    "wrong-place": (directory_field(STORED, 42, (10**9).to_bytes(4, "little")), r"\.npz: .*beyond its end"),
    "place-of-another-thing": (directory_field(STORED, 42, (7).to_bytes(4, "little")), r"\.npz: .*a member is not where"),
    "directory-wrong-place": (end_field(STORED, 16, b"\xff\xff\xff\x7f"), r"\.npz: .*beyond its end"),
    "directory-wrong-size": (end_field(STORED, 12, b"\xff\xff\xff\x7f"), r"\.npz: .*its directory claims 2147483647 bytes"),
    "directory-is-none": (changed(STORED, STORED.index(b"PK\1\2"), b"PK\7\7"), r"\.npz: .*its directory is none"),
    "wrong-name-length": (directory_field(STORED, 28, b"\xff\xff"), r"\.npz: .*its directory is cut off"),
    "bomb": (zipped(("x.npy", npy(data=bytes(1 << 28)))), r"\.npz:x: has 268435456 bytes of data, expected 32"),
    "member-not-npy": (zipped(("x.npy", b"1,2\n3,4\n5,6\n")), r"\.npz:x: does not start like an NPY file"),
    "member-empty": (zipped(("x.npy", b"")), r"\.npz:x: the file is empty"),
    "nan-within": (npz(x=np.array([[1, np.nan]])), r"\.npz:x: row 1, column 2.*nan"),
    "objects-within": (npz(x=np.array([1, None], dtype=object)), r"\.npz:x: holds Python objects"),
    "not-an-array": (STORED.replace(b"x.npy", b"x.txt"), r"\.npz: the archive holds no array"),
}

IMAGES = {
    "empty.idx": (b"", r": the file is empty, expected an idx file"),
    "text.idx": (b"1,2\n3,4\n", r": does not start like an idx file"),
    "wrong-type.idx": (idx(kind=10), r": does not start like an idx file"),
    "little-endian.idx": (b"\3\x08\0\0" + bytes(20), r": does not start like an idx file"),
    "cut-magic.idx": (b"\0\0\x08", r": ends within its first bytes"),
    "cut-sizes.idx": (b"\0\0\x08\3\0\0\0\1", r": ends within its sizes"),
    "cut-data.idx": (idx(data=b"\1\2\3"), r": has 3 bytes of data, expected 4 for shape \(2, 2\)"),
    "too-long.idx": (idx(data=b"\1\2\3\4\5"), r": has 5 bytes of data, expected 4"),
    "no-dimensions.idx": (idx(shape=(), data=b"\1"), r": holds a single number"),
    "no-rows.idx": (idx(shape=(0, 28, 28), data=b""), r": has shape \(0, 28, 28\), expected at least one row"),
    "overflow.idx": (idx(shape=(2**32 - 1,) * 3), r": has shape .*more values than memory"),
    "255-dimensions.idx": (idx(shape=(1,) * 255, data=b""), r": has 0 bytes of data, expected 1"),
    "claim-idx3-ubyte.gz": (gz(idx(shape=(60000, 280, 280))), r": has 4 bytes of data, expected 4704000000"),
    "nan.idx": (idx(kind=14, shape=(1, 1), data=b"\x7f\xf8" + bytes(6)), r": row 1, column 1.*nan"),
}

CASES = [*((f"{name}.csv", *case) for name, case in TEXTS.items()),
         *((f"{name}.csv.gz", *case) for name, case in COMPRESSED.items()),
         *((name, *case) for name, case in ARRAYS.items()),
         *((f"{name}.npz", *case) for name, case in ARCHIVES.items()),
         *((name, *case) for name, case in IMAGES.items())]

QUERIED = [
    ("empty.parquet", b"", r"empty\.parquet: DuckDB reports: .*too small"),
    ("text.parquet", b"1,2\n3,4\n5,6\n7,8\n", r"text\.parquet: DuckDB reports: .*magic"),
    ("hollow.parquet", b"PAR1" + bytes(200) + b"PAR1", r"hollow\.parquet: DuckDB reports: "),
    ("lying.parquet", b"PAR1" + bytes(50) + b"\xff\xff\xff\x7fPAR1", r"lying\.parquet: DuckDB reports: "),
    ("cut.json", b'[{"a": 1}, {"a"', r"cut\.json: DuckDB reports: .*JSON"),
    ("empty.json", b"", r"empty\.json: "),
    ("text.json", b'[{"a": "x"}]', r'text\.json: row 1, column "a".*x'),
    ("null.json", b'[{"a": 1}, {"a": null}]', r'null\.json: row 2, column "a".*NULL'),
    ("nested.json", b'[{"a": {"b": 1}}]', r'nested\.json: column "a" holds records'),
    ("list.jsonl", b'{"a": [1, 2]}\n', r'list\.jsonl: column "a" holds lists'),
    ("cut.jsonl", b'{"a": 1}\n{"a": \n', r"cut\.jsonl: DuckDB reports: "),
    ("bad-utf-8.json", b'[{"a": "\xff"}]', r"bad-utf-8\.json: "),
]

QUERIES = [
    ("sql:", r"sql:: holds no query"),
    ("sql: ;;", r"sql: ;;: holds no query"),
    ("sql:SELCT 1", r'sql:SELCT 1: DuckDB reports: Parser Error: syntax error at or near "SELCT"'),
    ("sql:SELECT * FROM nowhere", r"sql:SELECT \* FROM nowhere: DuckDB reports: Catalog Error"),
    ("sql:SELECT * FROM 'missing.parquet'", r"DuckDB reports: IO Error"),
    ("sql:SELECT b FROM (SELECT 1 AS a)", r"DuckDB reports: Binder Error"),
    ("sql:SELECT 1 AS a WHERE false", r"has no rows"),
    ("sql:SELECT NULL AS a", r'row 1, column "a".*NULL'),
    ("sql:SELECT 'x' AS a", r'row 1, column "a".*x'),
    ("sql:SELECT 'nan'::DOUBLE AS a", r'row 1, column "a".*nan'),
    ("sql:SELECT i AS a, CASE i WHEN 5000 THEN '-inf'::DOUBLE ELSE i END AS b FROM range(9000) t(i)",
     r'row 5001, column "b".*-inf'),
    ("sql:SELECT i AS a, CASE i WHEN 5000 THEN NULL ELSE i END AS b FROM range(9000) t(i)",
     r'row 5001, column "b".*NULL'),
    ("sql:SELECT [1] AS a", r'column "a" holds lists'),
    ("sql:SELECT ? AS a", r"DuckDB reports: "),
    ("sql:SELECT error('halfway') FROM range(10000)", r"DuckDB reports: .*halfway"),
    ("sql:DROP TABLE nowhere; SELECT 1", r"DuckDB reports: Catalog Error"),
    ("sql:CREATE TABLE t (a INT)", r"DuckDB reports: "),
    ("sql:LOAD 'nowhere.extension'; SELECT 1", r"DuckDB reports: Permission Error"),
]


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))


def assert_refused(folder, arguments, sentence, stdin=subprocess.DEVNULL):
    process = subprocess.Popen([PROGRAM, "distance", *arguments], cwd=folder, stdin=stdin, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, preexec_fn=limited)
    out, err = process.stdout.read(), process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert (process.returncode, out) == (2, ""), err
    assert re.fullmatch(f"kqd: .*{sentence}.*\n", err), err
    assert used.ru_maxrss < RESIDENT_KB, f"{used.ru_maxrss} kB"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus")
    (path / "good.csv").write_text("1,2\n3,5\n5,6\n")
    return path


@pytest.mark.parametrize("name, data, sentence", CASES, ids=[case[0] for case in CASES])
def test_a_hostile_file_is_refused_in_one_sentence(corpus, name, data, sentence):
    (corpus / name).write_bytes(data)
    stem = re.escape(re.match(r"(.*?)(\.csv(\.gz)?|\.npz)?$", name)[1])
    assert_refused(corpus, [name, name, *STRICT], stem + sentence)


@needs_duckdb
@pytest.mark.parametrize("name, data, sentence", QUERIED, ids=[case[0] for case in QUERIED])
def test_a_hostile_table_is_refused_in_one_sentence(corpus, name, data, sentence):
    (corpus / name).write_bytes(data)
    assert_refused(corpus, [name, name, *STRICT], sentence)


@needs_duckdb
@pytest.mark.parametrize("query, sentence", QUERIES)
def test_a_query_that_fails_is_reported_in_one_sentence(corpus, query, sentence):
    assert_refused(corpus, [query, query, *STRICT], sentence)


# By default a text is a category, and a missing value has a column of its own. Infinity and a column of nothing are refused.
@needs_duckdb
@pytest.mark.parametrize("values, type_of_column, dim", [
    ("('x'), ('y'), ('x')", "category", 2), ("(1), (NULL), (2)", "integer", 2), ("(1.5), (2.25), ('nan'::DOUBLE)", "number", 2)])
def test_texts_and_missing_values_of_a_query_are_compared(kqd, values, type_of_column, dim):
    query = f"sql:SELECT * FROM (VALUES {values}) t(a)"
    found = json.loads(kqd("distance", query, query, "--json").stdout)
    assert (found["dim"], found["data"]["columns"][0]["type"], found["statistic"]) == (dim, type_of_column, 0.0)


@needs_duckdb
@pytest.mark.parametrize("query, sentence", [
    ("sql:SELECT NULL AS a", r'no column is left to compare; "a" is excluded, its type is empty'),
    ("sql:SELECT 'nan'::DOUBLE AS a", r'no column is left to compare; "a" is excluded, its type is empty'),
    ("sql:SELECT '-inf'::DOUBLE AS a", r'row 1, column "a" is "-inf", expected a finite number')])
def test_what_cannot_be_compared_by_default_is_refused(corpus, query, sentence):
    assert_refused(corpus, [query, query], sentence)


@needs_duckdb
def test_parquet_of_special_files_and_names_is_refused(corpus):
    (corpus / "null.parquet").symlink_to("/dev/null")
    assert_refused(corpus, ["null.parquet", "null.parquet"], r"null\.parquet: is not a regular file, expected one")
    name = os.fsencode(corpus) + b"/\xff.parquet"
    with open(name, "wb") as file:
        file.write(b"PAR1")
    assert_refused(corpus, [b"\xff.parquet", "good.csv"], r"\\xff\.parquet: DuckDB takes names in UTF-8 only")


NAMES = [
    ("missing.csv", r"missing\.csv: no such file"),
    ("missing.npz:x", r"missing\.npz: no such file"),
    ("missing.parquet", r"missing\.parquet: no such file"),
    ("folder.csv", r"folder\.csv: is a directory, expected a file"),
    ("folder.npz", r"folder\.npz: is a directory, expected a file"),
    ("folder.parquet", r"folder\.parquet: is a directory, expected a file"),
    ("good.csv/x.csv", r"good\.csv/x\.csv: cannot be read: Not a directory"),
    ("loop.csv", r"loop\.csv: cannot be read: Too many levels of symbolic links"),
    ("x" * 300 + ".csv", r"cannot be read: File name too long"),
    ("unknown.xyz", r'unknown\.xyz: has the unknown suffix "\.xyz"'),
    ("unknown.gz", r'unknown\.gz: has the unknown suffix "\.gz"'),
    ("no-suffix", r"no-suffix: has no suffix that names its format"),
    ("", r"the name of a file is empty"),
    ("two.npz:z", r'two\.npz: holds no array "z", expected one of a, b'),
    ("two.npz:a.npy", r'two\.npz: holds no array "a\.npy"'),
    ("\x1b[2J.csv", r"\\x1b\[2J\.csv: no such file"),
]


@pytest.fixture(scope="module")
def odd_names(corpus):
    for name in ("folder.csv", "folder.npz", "folder.parquet"):
        (corpus / name).mkdir()
    (corpus / "loop.csv").symlink_to("loop.csv")
    (corpus / "two.npz").write_bytes(npz(a=ONE, b=ONE))
    return corpus


@pytest.mark.parametrize("name, sentence", NAMES)
def test_a_name_without_a_file_is_refused(odd_names, name, sentence):
    assert_refused(odd_names, [name, "good.csv"], sentence)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_permission_is_refused(corpus):
    (corpus / "secret.csv").write_text("1\n")
    (corpus / "secret.csv").chmod(0)
    assert_refused(corpus, ["secret.csv", "good.csv"], r"secret\.csv: cannot be read: Permission denied")


STREAMS = [
    (b"", r"standard input: the file is empty"),
    (b"a,b\n1,x\n", r'standard input:2: column "b".*x'),
    (STORED, r"standard input: is a zip archive, expected CSV, NPY or idx"),
    (b"PAR1\x15" + bytes(9), r"standard input: is a Parquet file"),
    (saved(ONE)[:-1], r"standard input: has 47 bytes of data, expected 48"),
    (gz(b"1,2\n")[:-3], r"standard input: ends within its gzip data"),
    (idx(data=b"\1"), r"standard input: has 1 bytes of data, expected 4"),
]


@pytest.mark.parametrize("data, sentence", STREAMS)
def test_bad_bytes_from_a_pipe_are_refused(corpus, data, sentence):
    read, write = os.pipe()
    os.write(write, data)
    os.close(write)
    with os.fdopen(read) as stdin:
        assert_refused(corpus, ["-", "good.csv"], sentence, stdin=stdin)


def test_the_corpus_is_as_large_as_it_claims():
    assert len(CASES) + len(QUERIED) + len(QUERIES) + len(NAMES) + len(STREAMS) >= 200
