"""Tables of other libraries: polars, Arrow, DuckDB, and all that speak Arrow's or the data frame interchange protocol."""

from __future__ import annotations

import ctypes
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from . import _core

# Kind and bits of a column, as the interchange protocol numbers them.
_KINDS = {0: "i", 1: "u", 2: "f", 20: "b"}
_OTHER_KINDS = {21: "string", 22: "datetime", 23: "categories"}
_ARROW_NAMES = {"u": "string", "U": "string", "vu": "string", "z": "binary", "dictionary": "categories", "tdD": "date"}


class Table:
    """Columns with names. Those that are not numbers have the name of their type in place of an array."""

    def __init__(self, names: Sequence[str], arrays: Sequence[Any]) -> None:
        self.names = list(names)
        self.arrays: List[Any] = [_plain(array) for array in arrays]

    def select(self, names: Sequence[str]) -> "Table":
        place: Dict[str, int] = {name: j for j, name in enumerate(self.names)}
        return Table(names, [self.arrays[place[name]] for name in names])

    def head(self) -> "Table":
        """The table without its rows."""
        return Table(self.names, [array if isinstance(array, str) else array[:0] for array in self.arrays])

    def others(self) -> List[Tuple[str, str]]:
        """Columns that are not numbers, with their types."""
        return [(name, array) for name, array in zip(self.names, self.arrays) if isinstance(array, str)]

    def matrix(self) -> NDArray[Any]:
        """One matrix, when all columns are numbers; with one type for all of its columns."""
        if not self.arrays:
            return np.empty((0, 0))
        kinds = {array.dtype for array in self.arrays}
        return np.column_stack(self.arrays if len(kinds) == 1 else [array.astype(np.float64) for array in self.arrays])


def _plain(array: Any) -> Any:
    """An array of numbers, or the name of the type of other columns."""
    if isinstance(array, str):
        return array
    array = np.asarray(array)
    return array if array.dtype.kind in "biuf" else str(array.dtype)


def table_of(values: Any) -> Optional[Table]:
    """The columns of a table of another library; None for anything else. pandas is not looked at here."""
    if hasattr(values, "__arrow_c_stream__"):
        return _from_arrow(values)
    if hasattr(values, "__dataframe__"):
        return _from_interchange(values)
    if hasattr(values, "get_columns") and hasattr(values, "columns"):
        return Table(list(values.columns), values.get_columns())
    if hasattr(values, "column_names") and hasattr(values, "column"):
        names = list(values.column_names)
        return Table(names, [values.column(j) for j in range(len(names))])
    return None


def _not_a_table(values: Any, protocol: str, returned: Any, expected: str) -> str:
    return f"{type(values).__name__}.{protocol}() returned an object of type {type(returned).__name__}, expected {expected}"


def _from_arrow(values: Any) -> Table:
    stream = values.__arrow_c_stream__()
    if type(stream).__name__ != "PyCapsule":
        raise TypeError(_not_a_table(values, "__arrow_c_stream__", stream, "a capsule with a stream of Arrow"))
    found = _core.read_arrow(stream)
    arrays = [_ARROW_NAMES.get(array, f"Arrow type {array}") if isinstance(array, str) else array for _, array in found]
    return Table([name for name, _ in found], arrays)


def _from_interchange(values: Any) -> Table:
    frame = values.__dataframe__(allow_copy=True)
    if not hasattr(frame, "column_names"):
        raise TypeError(_not_a_table(values, "__dataframe__", frame, "a data frame of the interchange protocol"))
    names = list(frame.column_names())
    return Table(names, [_interchanged(frame.get_column_by_name(name)) for name in names])


def _interchanged(column: Any) -> Any:
    kind, bits, _, _ = column.dtype
    if int(kind) not in _KINDS:
        return _OTHER_KINDS.get(int(kind), f"kind {int(kind)}")
    return np.concatenate([_chunk(chunk, _KINDS[int(kind)], bits) for chunk in column.get_chunks()])


def _chunk(column: Any, kind: str, bits: int) -> NDArray[Any]:
    """A copy of the values; those that are missing become NaN."""
    buffers = column.get_buffers()
    start, stop = column.offset, column.offset + column.size()
    if kind == "b" and bits == 1:
        values = _bits(buffers["data"][0], start, stop)
    else:
        dtype = np.dtype("bool" if kind == "b" else f"{kind}{bits // 8}")
        values = _memory(buffers["data"][0], dtype)[start:stop].copy()
    null_kind, null_value = column.describe_null
    if int(null_kind) in (0, 1):  # none, or NaN itself
        return values
    if int(null_kind) == 2:  # a value that means "missing"
        missing = values == null_value
    else:
        mask, (_, mask_bits, _, _) = buffers["validity"]
        marks = _bits(mask, start, stop) if mask_bits == 1 else _memory(mask, np.dtype("uint8"))[start:stop] != 0
        missing = marks == bool(null_value)
    return np.where(missing, np.nan, values) if missing.any() else values


def _memory(buffer: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    size = int(buffer.bufsize)
    raw: Any = (ctypes.c_uint8 * size).from_address(int(buffer.ptr)) if size else b""
    return np.frombuffer(raw, dtype=np.uint8)[: size // dtype.itemsize * dtype.itemsize].view(dtype)


def _bits(buffer: Any, start: int, stop: int) -> NDArray[Any]:
    return np.unpackbits(_memory(buffer, np.dtype("uint8")), bitorder="little")[start:stop].astype(bool)
