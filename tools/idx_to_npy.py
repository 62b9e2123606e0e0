"""Turns IDX files, the format of MNIST and similar data sets, into NPY files with one row per image or label."""

import gzip
import struct
import sys
from pathlib import Path

import numpy as np


def read_idx(path: Path) -> np.ndarray:
    """The array of an IDX file of bytes; images become rows."""
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    zero, kind, num_dims = struct.unpack(">HBB", raw[:4])
    if zero != 0 or kind != 8:
        raise SystemExit(f"{path}: not an IDX file of bytes (magic number {raw[:4].hex()})")
    shape = struct.unpack(f">{num_dims}I", raw[4 : 4 + 4 * num_dims])
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * num_dims).reshape(shape[0], -1)


def main() -> None:
    source, target, scale = Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3])
    values = read_idx(source)
    np.save(target, (values / scale).astype(np.float64) if scale != 1 else values.astype(np.float64))


if __name__ == "__main__":
    main()
