"""From the data that a caller passes to arrays that the library reads in place."""

from __future__ import annotations

import contextlib
import sys
from typing import Any, ContextManager, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._tables import Table, table_of

_NUMERIC_KINDS = "biuf"  # bool, signed, unsigned, floating
_CPU = (1, 3)  # of DLPack: plain memory, and memory pinned for a GPU

Kept = Optional[NDArray[np.bool_]]  # True for the given rows that were kept; None when all were


class Groups(NamedTuple):
    """The block or cluster of every kept row, rows of x first."""

    of_row: List[int]
    #: How messages call group i; empty when groups are numbers.
    names: Tuple[str, ...] = ()


class Warned(NamedTuple):
    """A warning of the package itself, in the words of the library's catalogue."""

    id: str
    text: str


def warned(name: str, *values: Union[int, float, str]) -> Warned:
    return Warned(name, _core.warning_text(name, *values))


class Samples(NamedTuple):
    """Two samples that can be compared, with their names and warnings."""

    x: _core.Sample
    y: _core.Sample
    #: Columns as the caller gave them.
    dim: int
    #: True for the given rows of x, and of y, that were kept; None when all were.
    kept: Optional[Tuple[NDArray[np.bool_], NDArray[np.bool_]]] = None
    warnings: Tuple[Warned, ...] = ()
    #: Names of the columns, if they have any.
    columns: Sequence[str] = ()
    #: Columns became others: levels of categories, marks of missing values.
    prepared: bool = False

    def cells_named(self) -> ContextManager[None]:
        """See the function of this name."""
        kept_x, kept_y = self.kept or (None, None)
        return cells_named(self.columns, {"X": kept_x, "Y": kept_y})

    def groups(self, pair: Tuple[ArrayLike, ArrayLike], name: str) -> Groups:
        """The block or cluster of every kept row, from a pair of columns of whole numbers or texts: for x, then for y."""
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(f"{name} is of type {type(pair).__name__}, expected a pair: one column for x, one for y")
        kept = self.kept or (np.ones(len(self.x.points), bool), np.ones(len(self.y.points), bool))
        columns = [_group_column(pair[i], f"{name}[{i}]", len(kept[i]))[kept[i]] for i in (0, 1)]
        kinds = {column.dtype.kind == "U" for column in columns}
        if len(kinds) > 1:
            raise TypeError(f"{name} are whole numbers in one sample and texts in the other, expected the same in both")
        labels = np.concatenate(columns)
        if kinds == {False}:
            return Groups(labels.tolist())
        names, numbers = np.unique(labels, return_inverse=True)
        return Groups(numbers.tolist(), tuple(map(quoted, names.tolist())))


@contextlib.contextmanager
def cells_named(columns: Sequence[str], kept: Mapping[str, Kept]) -> Iterator[None]:
    """Errors of the library about a cell of a sample, with the row that was given and the name of the column."""
    try:
        yield
    except ValueError as error:
        sample, value = (str(getattr(error, name, "")) for name in ("place", "value"))
        row, column = (int(getattr(error, name, 0)) for name in ("row", "column"))
        if sample not in kept or row == 0:
            raise
        rows = kept[sample]
        given = row if rows is None else int(np.flatnonzero(rows)[row - 1]) + 1
        name = f" ({printable(columns[column - 1])})" if column <= len(columns) else ""
        hint = '; nan_policy="omit" excludes such rows' if value == "nan" else ""
        raise ValueError(
            f"{sample.lower()}: row {given}, column {column}{name} is {value}, expected a finite number{hint}"
        ) from None


def samples(
    x: Any,
    y: Any,
    x_weights: Optional[ArrayLike],
    y_weights: Optional[ArrayLike],
    *,
    nan_policy: str = "indicator",
    paired: bool = False,
) -> Samples:
    """Both samples, without a copy where that is possible. Columns that have names are matched by them.

    With ``nan_policy="omit"`` rows with a NaN are excluded, and with them their partners when rows are `paired`.
    """
    require_nan_policy(nan_policy, _ALL_POLICIES)
    if nan_policy != "omit" and _is_plain(x) and _is_plain(y):
        x_column, y_column = _weights(x_weights, len(x), "x"), _weights(y_weights, len(y), "y")
        return Samples(_core.Sample(x, x_column), _core.Sample(y, y_column), x.shape[1])
    x = as_frame(x)
    y = matching(y, x, "y", "x")
    (x_rows, y_rows), warnings = _pooled_matrices(x, y)
    warnings = _different_names(x, y) + warnings
    x_column, y_column = _weights(x_weights, len(x_rows), "x"), _weights(y_weights, len(y_rows), "y")
    dim, columns = x_rows.shape[1], column_names(x, y)
    if nan_policy != "omit":
        x_sample, y_sample = _core.Sample(x_rows, x_column, columns), _core.Sample(y_rows, y_column, columns)
        return Samples(x_sample, y_sample, dim, warnings=warnings, columns=columns)
    keep_x, keep_y = complete(x_rows), complete(y_rows)
    warnings += tuple(
        warned("rows-omitted", name, int((~keep).sum()), len(keep))
        for name, keep in (("x", keep_x), ("y", keep_y))
        if not keep.all()
    )
    if paired and len(keep_x) == len(keep_y):
        keep_x = keep_y = keep_x & keep_y
    x_sample, y_sample = _kept(x_rows, x_column, keep_x, columns), _kept(y_rows, y_column, keep_y, columns)
    return Samples(x_sample, y_sample, dim, (keep_x, keep_y), warnings, columns)


def gram(x: ArrayLike, y: ArrayLike) -> Tuple[Samples, _core.Kernel]:
    """Samples and kernel from the rows of a pooled Gram matrix: those of x, then those of y.

    The points that the library sees are the numbers of the rows. It checks the matrix.
    """
    top, bottom = matrix(x, "x"), matrix(y, "y")
    n_x, n = len(top), len(top) + len(bottom)
    for name, rows in (("x", top), ("y", bottom)):
        if rows.shape[1] != n:
            raise ValueError(
                f'{name} has {rows.shape[1]} column{"" if rows.shape[1] == 1 else "s"}, but kernel "precomputed" needs one per pooled row, {n}: '
                "x and y are the rows of the pooled Gram matrix, x = gram[:n_x] and y = gram[n_x:]"
            )
    numbers = np.arange(float(n))[:, np.newaxis]
    pair = Samples(_core.Sample(numbers[:n_x]), _core.Sample(numbers[n_x:]), 0)
    return pair, _core.gram_kernel(top, bottom)


def sample(
    points: ArrayLike, weights: Optional[ArrayLike], name: str, *, nan_policy: str = "raise"
) -> Tuple[_core.Sample, Kept]:
    """One sample with its row weights, if any, and the rows that were kept; `name` is the keyword it came by."""
    require_nan_policy(nan_policy)
    rows = matrix(points, name)
    column = _weights(weights, len(rows), name)
    if nan_policy == "raise":
        return _core.Sample(rows, column), None
    keep = complete(rows)
    return _kept(rows, column, keep), keep


def matrix(values: ArrayLike, name: str, *, rounded: bool = False) -> NDArray[np.float64]:
    """The values as rows and columns of float64: a view when their layout allows it, else a copy.

    One-dimensional values are one column. The library checks that they are finite. Integers that would be
    rounded are refused unless the caller takes care of them.
    """
    values = as_frame(values)
    values = values if is_table(values) else _converted(values, name)
    if not rounded and (lacking := _lacking(values)):
        j = min(lacking)
        raise _rounded(name, _listed(column_names(values)[j : j + 1]) or str(j + 1))
    array = _numbers(values, name)
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2:
        raise ValueError(f"{name} has {array.ndim} dimensions, expected 2 (rows and columns) or 1 (one column)")
    return array if _core.is_viewable(array) else np.require(array, np.float64, ["C", "A"])


def _is_plain(values: Any) -> bool:
    """Whether values are rows of doubles that the library reads in place, as most samples are."""
    return type(values) is np.ndarray and values.dtype == np.float64 and values.ndim == 2 and _core.is_viewable(values)


def _pooled_matrices(x: Any, y: Any) -> Tuple[List[NDArray[np.float64]], Tuple[Warned, ...]]:
    """Both samples as matrix() has them, but integers that are not doubles are compared exactly: the pooled minimum of
    their column is subtracted, in integers, and a warning says so."""
    x, y = (values if is_table(values) else _converted(values, name) for values, name in ((x, "x"), (y, "y")))
    lacking = [_lacking(x), _lacking(y)]
    rows = [matrix(x, "x", rounded=bool(lacking[0])), matrix(y, "y", rounded=bool(lacking[1]))]
    warnings = []
    for j in sorted({*lacking[0], *lacking[1]}):
        if any(j >= part.shape[1] for part in rows):
            break  # the library reports that the numbers of columns differ
        label = _listed(column_names(x, y)[j : j + 1]) or str(j + 1)
        doubles = np.concatenate([part[:, j] for part in rows])
        rest = np.concatenate([kept.get(j, np.zeros(len(part))) for kept, part in zip(lacking, rows)])
        with np.errstate(invalid="ignore"):
            lowest = np.nanmin(doubles)
            least = rest[doubles == lowest].min()  # rounding keeps the order
            exact = (doubles - lowest) + (rest - least)
        if not (np.isnan(doubles) | ((doubles == np.floor(doubles)) & (exact < 2**53))).all():
            raise _rounded("x" if j in lacking[0] else "y", label)
        rows = [part.copy() for part in rows]
        rows[0][:, j], rows[1][:, j] = np.split(exact, [len(rows[0])])
        number = int(lowest) + int(least)
        warnings.append(warned("integers-offset", label, str(number)))
    return rows, tuple(warnings)


def _lacking(values: Any) -> Dict[int, NDArray[np.float64]]:
    """Integers of a column minus the nearest doubles, for the columns where that is not always 0."""
    if isinstance(values, Table):
        of_columns = ((j, _rounded_off(array)) for j, array in enumerate(values.arrays) if not isinstance(array, str))
        return {j: rest for j, columns in of_columns for rest in columns.values()}
    if not is_pandas(values):
        return _rounded_off(values) if values.ndim in (1, 2) else {}
    kept = {}
    for j in range(1 if values.ndim == 1 else values.shape[1]):
        column = values if values.ndim == 1 else values.iloc[:, j]
        if getattr(column.dtype, "kind", "O") not in "iu" or column.dtype.itemsize < 8:
            continue
        whole = np.dtype(f"{column.dtype.kind}8")
        plain = isinstance(column.dtype, np.dtype)
        found = _rounded_off(column.to_numpy() if plain else column.to_numpy(dtype=whole, na_value=0))
        kept.update({j: rest for rest in found.values()})
    return kept


def _rounded_off(array: NDArray[Any]) -> Dict[int, NDArray[np.float64]]:
    if array.dtype.kind not in "iu" or array.dtype.itemsize < 8 or array.size == 0:
        return {}
    if array.max() <= 2**53 and array.min() >= -(2**53):
        return {}
    low = array & array.dtype.type(2**32 - 1)
    # Both parts are doubles, and so are their differences with the double next to the sum.
    rest = low.astype(np.float64) - (array.astype(np.float64) - (array - low).astype(np.float64))
    columns = rest.reshape(len(rest), -1)
    return {j: columns[:, j] for j in np.flatnonzero((columns != 0).any(axis=0)).tolist()}


def _rounded(name: str, label: str) -> ValueError:
    return ValueError(
        f"{name}: column {label} has integers beyond 2^53 that would be rounded, expected integers that differ by less "
        "than 2^53 in both samples; exclude it if it is an id, otherwise divide it before the conversion to floats"
    )


def as_frame(values: Any) -> Any:
    """A table of another library with its names and types; several tables in a list as one; anything else as it is."""
    if isinstance(values, (list, tuple)) and values and all(map(_is_table, values)):
        return _stacked([as_frame(part) for part in values])
    if type(values) is np.ndarray or isinstance(values, (list, tuple, Table)) or is_pandas(values):
        return values
    table = table_of(values)
    if table is not None and table.names == [""] and not table.others():  # a column by itself
        return table.arrays[0]
    return values if table is None else table


def _is_table(values: Any) -> bool:
    if is_pandas(values):
        return bool(values.ndim == 2)
    names = ("__arrow_c_stream__", "__dataframe__", "get_columns", "column_names")
    return type(values) is not np.ndarray and any(hasattr(values, name) for name in names)


def _stacked(parts: List[Any]) -> Any:
    """The rows of several tables, whose columns are matched by name to those of the first."""
    parts = [parts[0]] + [matching(part, parts[0], f"table {i}", "table 1") for i, part in enumerate(parts[1:], 2)]
    pandas = sys.modules.get("pandas")
    if pandas is not None and all(isinstance(part, pandas.DataFrame) for part in parts):
        return pandas.concat(parts, ignore_index=True)
    tables = [part if isinstance(part, Table) else _table_of_pandas(part) for part in parts]
    stacked: List[Any] = []
    for column in zip(*(table.arrays for table in tables)):
        others = [part for part in column if isinstance(part, str)]
        stacked.append(others[0] if others else np.concatenate(column))
    return Table(tables[0].names, stacked)


def _table_of_pandas(frame: Any) -> Table:
    return Table([str(name) for name in frame.columns], [frame.iloc[:, j].to_numpy() for j in range(frame.shape[1])])


def _names_of(values: Any) -> Optional[List[Any]]:
    """The names of the columns of a table; None for what has none."""
    if isinstance(values, Table):
        return list(values.names)
    pandas = sys.modules.get("pandas")
    return list(values.columns) if pandas is not None and isinstance(values, pandas.DataFrame) else None


def matching(values: Any, like: Any, name: str, like_name: str) -> Any:
    """The values with their columns in the order of `like`, when both have column names."""
    values, like = as_frame(values), as_frame(like)
    wanted, there = _names_of(like), _names_of(values)
    if wanted is None or there is None or wanted == there:
        return values
    if is_pandas(like) and is_pandas(values) and like.columns.equals(values.columns):  # NaN as a name is equal to itself
        return values
    for owner, names in ((like_name, wanted), (name, there)):
        twice = [column for column in dict.fromkeys(names) if names.count(column) > 1]
        if twice:
            raise ValueError(
                f"{owner} has several columns of one name, {_listed(twice)}, and cannot be matched by names"
            )
    only = [
        f"{owner} only has {_listed(only)}"
        for owner, only in (
            (like_name, [column for column in wanted if column not in there]),
            (name, [column for column in there if column not in wanted]),
        )
        if only
    ]
    if only:
        raise ValueError(
            f"{like_name} and {name} have different columns: {'; '.join(only)}; select those that both have"
        )
    return values.select(wanted) if isinstance(values, Table) else values[wanted]


def _different_names(x: Any, y: Any) -> Tuple[Warned, ...]:
    """Two Series may well be compared whatever they are called, as columns of one frame; frames are matched by name."""
    names = [getattr(values, "name", None) if is_pandas(values) and values.ndim == 1 else None for values in (x, y)]
    if None in names or names[0] == names[1]:
        return ()
    return (warned("different-names", _listed(names[:1]), _listed(names[1:])),)


def is_table(values: Any) -> bool:
    return isinstance(values, Table) or is_pandas(values)


def is_pandas(values: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(values, (pandas.DataFrame, pandas.Series))


def column_names(*samples: Any) -> List[str]:
    """Those of the first sample that has names; else none."""
    for values in samples:
        names = _names_of(values)
        if names is not None:
            return [str(name) for name in names]
    return []


def without_column(frame: Any, name: str) -> Tuple[Any, Any]:
    """A table without one of its columns, and that column."""
    if isinstance(frame, Table):
        place = frame.names.index(name)
        column = frame.arrays[place]
        if isinstance(column, str):
            raise TypeError(f"column {quoted(name)} has dtype {column}, expected numbers; give keys=, one for each row")
        return frame.select([other for other in frame.names if other != name]), column
    place = [str(column) for column in frame.columns].index(name)
    return frame.iloc[:, [j for j in range(frame.shape[1]) if j != place]], frame.iloc[:, place].to_numpy()


def complete(rows: NDArray[np.float64]) -> NDArray[np.bool_]:
    """True for rows without a NaN."""
    return np.asarray(~np.isnan(rows).any(axis=1))


# Treatments of missing values of two samples. One sample has no pool to fill them in from.
_ALL_POLICIES = ("indicator", "raise", "omit", "impute-median")


def require_nan_policy(nan_policy: str, known: Sequence[str] = ("raise", "omit")) -> None:
    if isinstance(nan_policy, str) and nan_policy in known:
        return
    words = [f'"{word}"' for word in known]
    expected = f'expected {", ".join(words[:-1])} or {words[-1]}'
    if not isinstance(nan_policy, str):
        raise TypeError(f"nan_policy is of type {type(nan_policy).__name__}, {expected}")
    raise ValueError(f"nan_policy={quoted(nan_policy)}: {expected}")


def _kept(
    rows: NDArray[np.float64],
    weights: Optional[NDArray[np.float64]],
    keep: NDArray[np.bool_],
    columns: Sequence[str] = (),
) -> _core.Sample:
    if keep.all():
        return _core.Sample(rows, weights, columns)
    return _core.Sample(rows[keep], None if weights is None else weights[keep], columns)


def _weights(weights: Optional[ArrayLike], num_rows: int, name: str) -> Optional[NDArray[np.float64]]:
    if weights is None:
        return None
    column = _numbers(weights, f"{name}_weights")
    if column.ndim != 1:
        raise ValueError(f"{name}_weights has {column.ndim} dimensions, expected 1 (one weight per row)")
    if len(column) != num_rows:
        raise ValueError(f"{name}_weights has {len(column)} weights for {num_rows} rows, expected one per row")
    return np.require(column, np.float64, ["C", "A"])[:, np.newaxis]


def _group_column(values: ArrayLike, name: str, num_rows: int) -> NDArray[Any]:
    """Texts, or whole numbers of 64 bits."""
    column = _converted(values, name)
    if column.dtype.kind == "O" and all(isinstance(value, str) for value in column.flat):
        column = column.astype(str)
    column = column if column.dtype.kind == "U" else _numbers(column, name)
    if column.shape != (num_rows,):
        raise ValueError(f"{name} has shape {column.shape}, expected ({num_rows},): one whole number or text per row")
    if column.dtype.kind == "U":
        return column
    if column.dtype.kind == "f" and not (np.isfinite(column) & (column == np.floor(column))).all():
        raise ValueError(f"{name} has numbers that are not whole, expected one whole number per row")
    if len(column) and not (-(2**63) <= int(column.min()) and int(column.max()) < 2**63):
        raise ValueError(f"{name} has numbers beyond 64 bits")
    return column.astype(np.int64)


def _numbers(values: Any, name: str) -> NDArray[Any]:
    array = _converted(values, name)
    if array.dtype.kind == "O" and array.ndim == 0:
        given = array.item()
        makers = [method for method in ("toarray", "collect") if hasattr(given, method)]
        hint = f"; .{makers[0]}() makes an array or a table of it" if makers else ""
        raise TypeError(f"{name} is of type {type(given).__name__}, expected rows of real numbers{hint}")
    if array.dtype.kind == "U" and array.ndim == 0:
        raise TypeError(f"{name} is {quoted(array)}, expected rows of real numbers; read a file before the call")
    if array.dtype.kind not in _NUMERIC_KINDS:
        raise TypeError(f"{name} has dtype {array.dtype}, expected real numbers")
    return array


def _converted(values: Any, name: str) -> NDArray[Any]:
    if type(values) is np.ndarray:
        return values
    if is_pandas(values):
        converted: NDArray[Any] = _from_pandas(values, name)
        return converted
    if isinstance(values, Table):
        return _from_table(values, name)
    if isinstance(values, np.ma.MaskedArray) and np.any(values.mask):
        raise TypeError(f"{name} has masked values; drop or fill them first")
    if hasattr(values, "__dlpack__") and not hasattr(values, "__array__"):
        device, _ = values.__dlpack_device__()
        if device not in _CPU:
            raise TypeError(f"{name} is on another device (DLPack type {int(device)}), expected one on the CPU")
        return np.from_dlpack(values)
    if not isinstance(values, (list, tuple)):
        return np.asarray(values)
    try:
        return np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} has rows of different lengths, expected as many numbers in each") from None


def _from_pandas(values: Any, name: str) -> Any:
    """Missing values of pandas' own types become NaN."""
    dtypes = values.dtypes if values.ndim == 2 else {values.name: values.dtype}
    others = [column for column, dtype in dtypes.items() if getattr(dtype, "kind", "O") not in _NUMERIC_KINDS]
    if others and values.ndim == 2:
        kinds = ", ".join(str(dtypes[column]) for column in others[:1])
        raise TypeError(f"{name}: column {_listed(others)} has dtype {kinds}, expected real numbers; drop or encode it")
    if all(isinstance(dtype, np.dtype) for _, dtype in dtypes.items()):
        return values.to_numpy() if values.ndim == 1 or len({*dtypes}) == 1 else values.to_numpy(dtype=np.float64)
    return values.to_numpy(dtype=np.float64, na_value=np.nan) if not others else np.asarray(values, dtype=object)


def _from_table(values: Table, name: str) -> NDArray[Any]:
    others = values.others()
    if others:
        listed = _listed([column for column, _ in others])
        raise TypeError(f"{name}: column {listed} has dtype {others[0][1]}, expected real numbers; drop or encode it")
    return values.matrix()


def _listed(names: List[Any]) -> str:
    shown = ", ".join(quoted(name) for name in names[:10])
    return shown + (", ..." if len(names) > 10 else "")


def printable(text: object) -> str:
    """The text without raw control characters, for a message."""
    return _core.printable(str(text).encode(errors="backslashreplace"))


def quoted(text: object) -> str:
    """The text in quotes, for a message."""
    return f'"{printable(text)}"'
