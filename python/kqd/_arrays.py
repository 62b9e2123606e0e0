"""From what a caller passes as data to arrays that the library reads where they lie."""

from __future__ import annotations

from typing import List, Optional, Tuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core

_NUMERIC_KINDS = "biuf"  # bool, signed, unsigned, floating


def matrix(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """The values as rows and columns of float64: a view when their layout allows it, else a copy.

    One-dimensional values are one column. Whether they are finite is for the library to check.
    """
    array = _numbers(values, name)
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2:
        raise ValueError(f"{name} has {array.ndim} dimensions, expected 2 (rows and columns) or 1 (one column)")
    return array if _core.is_viewable(array) else np.require(array, np.float64, ["C", "A"])


def sample(points: ArrayLike, weights: Optional[ArrayLike], name: str) -> _core.Sample:
    """A sample with its row weights, if any; `name` is the keyword that the points came by."""
    rows = matrix(points, name)
    if weights is None:
        return _core.Sample(rows)
    column = _numbers(weights, f"{name}_weights")
    if column.ndim != 1:
        raise ValueError(f"{name}_weights has {column.ndim} dimensions, expected 1 (one weight per row)")
    if len(column) != len(rows):
        raise ValueError(f"{name}_weights has {len(column)} weights for {len(rows)} rows, expected one per row")
    return _core.Sample(rows, np.require(column, np.float64, ["C", "A"])[:, np.newaxis])


def groups(pair: Tuple[ArrayLike, ArrayLike], name: str, n_x: int, n_y: int) -> List[int]:
    """The block or cluster of every pooled row, from a pair of columns of whole numbers: for x, then for y."""
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise TypeError(f"{name} is of type {type(pair).__name__}, expected a pair: one column for x, one for y")
    return _group_column(pair[0], f"{name}[0]", n_x) + _group_column(pair[1], f"{name}[1]", n_y)


def _group_column(values: ArrayLike, name: str, num_rows: int) -> List[int]:
    column = _numbers(values, name)
    if column.shape != (num_rows,):
        raise ValueError(f"{name} has shape {column.shape}, expected ({num_rows},): one whole number per row")
    if column.dtype.kind == "f" and not (np.isfinite(column) & (column == np.floor(column))).all():
        raise ValueError(f"{name} has numbers that are not whole, expected one whole number per row")
    labels = [int(value) for value in column.tolist()]
    if any(not -(2**63) <= label < 2**63 for label in labels):
        raise ValueError(f"{name} has numbers beyond 64 bits")
    return labels


def _numbers(values: ArrayLike, name: str) -> np.ndarray:
    if np.ma.is_masked(values):
        raise TypeError(f"{name} has masked values; drop or fill them first")
    array = np.asarray(values)
    if array.dtype.kind not in _NUMERIC_KINDS:
        raise TypeError(f"{name} has dtype {array.dtype}, expected real numbers")
    return array
