"""Tables as they are: columns of numbers, texts, categories, booleans and dates, with missing values, and files."""

from __future__ import annotations

import datetime
import decimal
import os
import sys
from typing import Any, Dict, List, Mapping, Optional, Tuple

import numpy as np
from numpy.typing import NDArray

from . import _arrays, _core
from ._tables import Table

# A column as the library takes it: name, values and declared type. Values are float64, int64, or (codes, levels, whether
# texts are read as in files).
Column = Tuple[str, Any, Optional[str]]

_MICROSECONDS_PER_DAY = 86_400_000_000
_ARROW_NUMBERS = ("int", "uint", "float", "double", "half")


def is_path(values: Any) -> bool:
    return isinstance(values, (str, os.PathLike))


def need_preparation(asked: Mapping[str, Any]) -> bool:
    """Whether samples are more than complete numbers, or options say what to do with columns."""
    if asked.get("group") or is_path(asked["x"]) or is_path(asked["y"]):
        return True
    if asked["standardize"] in ("zscore", "iqr") or asked.get("types"):
        return True
    if asked["categorical"] == "raise" and asked["nan_policy"] in ("raise", "omit"):
        return False
    by_columns = [values for values in (asked["x"], asked["y"]) if _has_types(values)]
    if by_columns and any(_has_other_columns(values) for values in by_columns):
        return True
    return asked["nan_policy"] in ("indicator", "impute-median") and any(map(_has_nan, (asked["x"], asked["y"])))


def samples(asked: Mapping[str, Any], settings: _core.Settings, paired: bool) -> _arrays.Samples:
    """Both samples of a call: complete numbers in place, everything else prepared."""
    if need_preparation(asked):
        return prepared(asked, settings, paired)
    return _arrays.samples(
        asked["x"], asked["y"], asked["x_weights"], asked["y_weights"], nan_policy=asked["nan_policy"], paired=paired
    )


def prepared(asked: Mapping[str, Any], settings: _core.Settings, paired: bool) -> _arrays.Samples:
    """Both samples, prepared by the library as those of files."""
    x, y, group = asked["x"], asked["y"], asked.get("group")
    if is_path(x):
        if not group and not is_path(y):
            raise TypeError(f"x is the name of a file and y is of type {type(y).__name__}, expected two files or two tables")
        x, y = os.fspath(x), None if group else os.fspath(y)
    else:
        if not group and is_path(y):
            raise TypeError(f"y is the name of a file and x is of type {type(x).__name__}, expected two files or two tables")
        x, y = columns_of(x, "x"), [] if group else columns_of(y, "y")
        _refuse_equal_names(x, "x")
        _refuse_equal_names(y, "y")
    different: Tuple[_arrays.Warned, ...] = ()
    if not group and all(getattr(values, "ndim", 2) == 1 for values in (asked["x"], asked["y"])):
        different = _arrays._different_names(asked["x"], asked["y"])  # a single column needs no name
        x, y = ([(x[0][0] or y[0][0], *column[1:]) for column in columns] for columns in (x, y))
    if group and asked["y"] is not None:
        raise TypeError("y is given with group, expected one table with both samples")
    if asked.get("columns") is not None and isinstance(x, list) and not group:
        x, y = _named(x, asked["columns"]), _named(y, asked["columns"])
    x_sample, y_sample, names, warnings, rows_x, rows_y, read_x, read_y = _core.prepare(x, y, settings, paired)
    kept = (_mask(rows_x, read_x), _mask(rows_y, read_y)) if not group else None
    if asked.get("x_weights") is not None or asked.get("y_weights") is not None:
        if kept is None:
            raise TypeError("x_weights and y_weights are for two samples, and group splits one")
        x_sample = _weighted(x_sample, asked.get("x_weights"), kept[0], "x")
        y_sample = _weighted(y_sample, asked.get("y_weights"), kept[1], "y")
    found = different + tuple(_arrays.Warned(*warning) for warning in warnings)
    return _arrays.Samples(x_sample, y_sample, len(names) or x_sample.points.shape[1], kept, found, names, True)


def _refuse_equal_names(columns: List[Column], owner: str) -> None:
    names = [name for name, _, _ in columns if name]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        listed = ", ".join(map(_arrays.quoted, twice))
        raise ValueError(f"{owner} has several columns of one name, {listed}, and cannot be matched by names")


def _named(columns: List[Column], names: Any) -> List[Column]:
    if len(names) != len(columns):
        raise ValueError(f"columns has {len(names)} names, the samples have {len(columns)} columns")
    return [(str(name), values, declared) for name, (_, values, declared) in zip(names, columns)]


def _mask(rows: List[int], count: int) -> NDArray[np.bool_]:
    if not rows:
        return np.ones(count, dtype=bool)
    mask = np.zeros(count, dtype=bool)
    mask[np.asarray(rows) - 1] = True
    return mask


def _weighted(sample: Any, weights: Any, kept: NDArray[np.bool_], name: str) -> Any:
    column = _arrays._weights(weights, len(kept), name)
    return sample if column is None else sample.with_weights(np.ascontiguousarray(column[kept]))


def _has_types(values: Any) -> bool:
    """Whether the columns have types of their own: a table, or a single column of a library of tables."""
    return _arrays._is_table(values) or _arrays.is_pandas(values) or _is_index(values) or _is_arrow_column(values)


def _is_index(values: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(values, pandas.Index)


def _is_arrow_column(values: Any) -> bool:
    return hasattr(values, "to_pylist") and hasattr(values, "type")


def _has_other_columns(values: Any) -> bool:
    """Whether a table has a column that is not numbers, or one whose type says more."""
    if _arrays.is_pandas(values) or _is_index(values):
        dtypes = [values.dtype] if values.ndim == 1 else list(values.dtypes)
        return any(getattr(dtype, "kind", "O") not in "iuf" and str(dtype) not in ("bool",) for dtype in dtypes)
    if _is_arrow_column(values):
        return not str(values.type).startswith(_ARROW_NUMBERS)
    frame = _arrays.as_frame(values)
    return isinstance(frame, Table) and bool(frame.others())


def _has_nan(values: Any) -> bool:
    if type(values) is np.ndarray:
        return values.dtype.kind == "f" and _contains_nan(values)
    if _arrays.is_pandas(values):
        return bool(values.isna().to_numpy().any())
    frame = _arrays.as_frame(values)
    if isinstance(frame, (list, tuple)):
        try:
            frame = np.asarray(frame, dtype=np.float64)
        except (TypeError, ValueError):  # refused elsewhere
            return False
    arrays = frame.arrays if isinstance(frame, Table) else [frame]
    return any(isinstance(array, np.ndarray) and array.dtype.kind == "f" and _contains_nan(array) for array in arrays)


def _contains_nan(array: NDArray[Any]) -> bool:
    # The minimum is NaN if a value is, and needs no memory.
    return array.size > 0 and bool(np.isnan(np.minimum.reduce(array, axis=None)))


def columns_of(values: Any, name: str) -> List[Column]:
    """The columns of a table, or of an array, whose columns have no names."""
    pandas = sys.modules.get("pandas")
    if isinstance(values, (list, tuple)) and values and all(map(_arrays._is_table, values)):
        values = _stacked(values)
    if _is_index(values):
        values = values.to_series()
    if pandas is not None and isinstance(values, pandas.Series):
        values = values.to_frame(name="" if values.name is None else values.name)
    if pandas is not None and isinstance(values, pandas.DataFrame):
        return [_of_pandas(str(label), values.iloc[:, j]) for j, label in enumerate(values.columns)]
    if hasattr(values, "get_columns") and hasattr(values, "columns"):  # polars
        return [_of_polars(column) for column in values.get_columns()]
    if hasattr(values, "__arrow_c_stream__") and hasattr(values, "to_list") and hasattr(values, "dtype"):
        return [_of_polars(values)]
    if _is_arrow_column(values):
        return [_of_arrow("", values)]
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and hasattr(values, "__arrow_c_stream__") and not hasattr(values, "column_names"):
        values = arrow.table(values)
    if hasattr(values, "column_names") and hasattr(values, "column"):  # Arrow
        return [_of_arrow(label, values.column(j)) for j, label in enumerate(values.column_names)]
    table = _arrays.as_frame(values)
    if isinstance(table, Table):
        for label, kind in table.others():
            raise TypeError(f"{name}: column {_arrays.quoted(label)} has dtype {kind}, expected real numbers; drop or encode it")
        return [_of_array(label, array) for label, array in zip(table.names, table.arrays)]
    rows = _arrays.matrix(table, name)
    return [("", np.ascontiguousarray(rows[:, j]), None) for j in range(rows.shape[1])]


def _stacked(parts: Any) -> Any:
    pandas = sys.modules.get("pandas")
    if pandas is not None and all(isinstance(part, pandas.DataFrame) for part in parts):
        return pandas.concat(list(parts), ignore_index=True)
    return _arrays.as_frame(parts)


def _of_pandas(label: str, column: Any) -> Column:
    dtype = column.dtype
    if str(dtype) == "category":
        levels = [str(level) for level in column.cat.categories]
        declared = "ordered" if column.cat.ordered else "category"
        return label, (column.cat.codes.to_numpy(dtype=np.int32), levels, False), declared
    if isinstance(dtype, np.dtype) and dtype.kind != "O":
        return _of_array(label, column.to_numpy())
    if type(dtype).__name__ == "ArrowDtype":
        return _of_arrow(label, column.array.__arrow_array__())
    types = sys.modules["pandas"].api.types
    if types.is_bool_dtype(dtype):
        return label, column.to_numpy(dtype=np.float64, na_value=np.nan), "boolean"
    if types.is_datetime64_any_dtype(dtype):
        if getattr(dtype, "tz", None) is not None:
            column = column.dt.tz_convert("UTC").dt.tz_localize(None)
        return _of_array(label, column.to_numpy(dtype="datetime64[us]"))
    if str(dtype).startswith("period"):
        return _of_array(label, column.dt.to_timestamp().to_numpy(dtype="datetime64[us]"))
    if types.is_integer_dtype(dtype) and not column.isna().any():
        return _of_array(label, column.to_numpy(dtype=np.int64))
    if types.is_numeric_dtype(dtype):
        return label, column.to_numpy(dtype=np.float64, na_value=np.nan), None
    return _of_objects(label, column.to_numpy(dtype=object))


def _of_arrow(label: str, column: Any) -> Column:
    kind = str(column.type)
    if kind.startswith(_ARROW_NUMBERS):
        return _of_array(label, np.asarray(column))
    _, values, declared = _of_objects(label, np.array(column.to_pylist(), dtype=object))
    return label, values, "category" if kind.startswith("dictionary") else declared


def _of_polars(column: Any) -> Column:
    kind = str(column.dtype)
    if kind.startswith(("Categorical", "Enum")):
        label, values, _ = _of_objects(column.name, np.array(column.to_list(), dtype=object))
        return label, values, "category"
    if kind == "Boolean":
        return column.name, np.array([np.nan if cell is None else float(cell) for cell in column.to_list()]), "boolean"
    if kind.startswith(("Int", "UInt", "Float")):
        return _of_array(column.name, np.asarray(column.to_numpy()))
    return _of_objects(column.name, np.array(column.to_list(), dtype=object))


def _of_array(label: str, array: NDArray[Any]) -> Column:
    kind = array.dtype.kind
    if kind == "b":
        return label, array.astype(np.float64), "boolean"
    if kind == "M":
        whole = array.astype("datetime64[us]")
        days = whole.astype(np.int64) / _MICROSECONDS_PER_DAY
        return label, np.where(np.isnat(whole), np.nan, days), "date"
    if kind == "m":
        whole = array.astype("timedelta64[us]")
        return label, np.where(np.isnat(whole), np.nan, whole.astype(np.int64) / _MICROSECONDS_PER_DAY), None
    if kind == "i" or (kind == "u" and array.dtype.itemsize < 8):
        whole = array.astype(np.int64)
        beyond = array.size > 0 and max(abs(int(whole.max())), abs(int(whole.min()))) > 2**53
        return label, whole if beyond else whole.astype(np.float64), None
    if kind in "uf":
        return label, array.astype(np.float64), None
    if kind in "US":
        return _of_objects(label, array.astype(object))
    if kind == "O":
        return _of_objects(label, array)
    raise TypeError(f"column {_arrays.quoted(label)} has dtype {array.dtype}, expected numbers, texts, booleans or dates")


def _is_missing(cell: Any) -> bool:
    # NaN, NaT and pandas.NA are not equal to themselves.
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(cell, (float, np.floating)) and cell != cell


def _of_objects(label: str, cells: NDArray[Any]) -> Column:
    """A column of Python objects: texts, or numbers, booleans or dates that are all of one kind."""
    codes = np.empty(len(cells), dtype=np.int32)
    numbers: Dict[Any, int] = {}
    levels: List[Any] = []
    for i, cell in enumerate(cells):
        if _is_missing(cell):
            codes[i] = -1
            continue
        key = cell if type(cell) is str else (type(cell), cell)
        code = numbers.get(key)
        if code is None:
            code = numbers[key] = len(levels)
            levels.append(cell)
        codes[i] = code
    if all(isinstance(level, str) for level in levels):
        return label, (codes, [str(level) for level in levels], False), None
    values = _values_of(levels)
    if values is not None:
        taken, declared = values
        column = np.full(len(cells), np.nan)
        column[codes >= 0] = taken[codes[codes >= 0]]
        return label, column, declared
    return label, (codes, [str(level) for level in levels], True), None


def _values_of(levels: List[Any]) -> Optional[Tuple[NDArray[np.float64], Optional[str]]]:
    """Objects of one kind as numbers, with the type that they declare; None for mixtures."""
    if all(isinstance(level, (bool, np.bool_)) for level in levels):
        return np.array([float(level) for level in levels]), "boolean"
    real = (int, float, decimal.Decimal, np.integer, np.floating)
    if all(isinstance(level, real) for level in levels):
        return np.array([float(level) for level in levels]), None
    if all(isinstance(level, (datetime.date, np.datetime64)) for level in levels):
        return np.array([_days(level) for level in levels]), "date"
    if all(isinstance(level, datetime.timedelta) for level in levels):
        return np.array([level / datetime.timedelta(days=1) for level in levels]), None
    return None


def _days(date: Any) -> float:
    if isinstance(date, np.datetime64):
        return float(date.astype("datetime64[us]").astype(np.int64)) / _MICROSECONDS_PER_DAY
    if isinstance(date, datetime.datetime):
        zone = date.tzinfo or datetime.timezone.utc
        since = date.replace(tzinfo=zone) - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
        return since / datetime.timedelta(days=1)
    return float(date.toordinal() - datetime.date(1970, 1, 1).toordinal())
