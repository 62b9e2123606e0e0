"""Bytes of files that are odd or lie, made at test time: see test_corpus.py."""

import gzip
import io
import struct
import zipfile
import zlib

import numpy as np


def npy(dtype="<f8", shape="(2, 2)", data=bytes(32), fortran="False", version=1, header=None, length=None):
    """An NPY file whose parts may contradict each other."""
    text = header if header is not None else f"{{'descr': '{dtype}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n"
    text = text.encode() if isinstance(text, str) else text
    size = struct.pack("<H" if version == 1 else "<I", len(text) if length is None else length)
    return b"\x93NUMPY" + bytes([version, 0]) + size + text + data


def saved(array):
    out = io.BytesIO()
    np.save(out, array, allow_pickle=True)
    return out.getvalue()


def npz(compressed=False, **arrays):
    out = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(out, **arrays)
    return out.getvalue()


def zipped(*members, method=zipfile.ZIP_DEFLATED):
    """A zip archive of (name, bytes) pairs."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return out.getvalue()


def changed(data, place, replacement):
    """The bytes with some replaced, from `place` on."""
    return data[:place] + replacement + data[place + len(replacement):]


def directory_field(archive, offset, replacement):
    """A zip archive with a field of its first directory entry replaced."""
    return changed(archive, archive.index(b"PK\x01\x02") + offset, replacement)


def end_field(archive, offset, replacement):
    return changed(archive, archive.rindex(b"PK\x05\x06") + offset, replacement)


def gz(data):
    return gzip.compress(data, mtime=0)


def zeros_gz(prefix, count):
    """gzip data of a prefix and `count` zeros, made piece by piece."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    parts = [packer.compress(prefix)]
    piece = bytes(1 << 20)
    for _ in range(count >> 20):
        parts.append(packer.compress(piece))
    return b"".join([*parts, packer.flush()])


def idx(kind=8, shape=(2, 2), data=b"\1\2\3\4"):
    return bytes([0, 0, kind, len(shape)]) + b"".join(struct.pack(">I", n) for n in shape) + data
