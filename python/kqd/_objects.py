"""Samples of objects that are not rows of numbers: strings, graphs, sets, or whatever a kernel function takes.

The library sees the numbers of the pooled objects, 0, 1, 2, ..., and a kernel of such numbers.
"""

from __future__ import annotations

import json
import os
import threading
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _arrays, _core, _frames
from ._kernels import PRECOMPUTED, KernelLike, checked, kernel_name
from ._options import core_settings

# Values of a kernel function are kept for so many objects at most: a matrix of 128 MB.
_MOST_CACHED = 4000
# Names of files that are tables, as the program reads them; other files have an object in each line.
_TABLES = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".npy")
# Kernels whose objects are rows of several columns of a table.
_OF_CATEGORIES = ("hamming", "aitchison")


def are_meant(kernel: KernelLike, *samples: Any) -> bool:
    """Whether the samples are lists of objects.

    By the name of the kernel; for a kernel function, because all are lists (or arrays of objects, or columns of a frame) and
    one of them cannot be rows of numbers.
    """
    if isinstance(kernel, str):
        return _core.is_object_kernel(kernel)
    if not callable(kernel):
        return False
    lists = [_listed(sample) for sample in samples]
    return all(lists) and any(isinstance(sample, np.ndarray) or not _are_rows(items or ())
                              for sample, items in zip(samples, lists))


def are_numbered(kernel: KernelLike, *samples: Any) -> bool:
    """Whether the library sees numbers: of objects, or of rows of a Gram matrix."""
    return is_gram(kernel) or are_meant(kernel, *samples)


def is_gram(kernel: KernelLike) -> bool:
    return isinstance(kernel, str) and kernel == PRECOMPUTED


def compared(call: str, asked: Mapping[str, Any]) -> Optional[Tuple[_arrays.Samples, _core.Settings]]:
    """Samples of objects, or rows of a Gram matrix, and the settings of a call; None for rows of numbers."""
    kernel, x, y = asked["kernel"], asked["x"], asked["y"]
    if not are_numbered(kernel, x, y):
        return None
    refuse_columns(asked)
    labels: Sequence[str] = ()
    if is_gram(kernel):
        _refuse_other_than_matrices(x, y, asked.get("group"))
        samples, core = _arrays.gram(x, y)
    else:
        if asked.get("group"):
            x, y, labels = _by_group(x, y, asked["group"])
        elif _frames.is_path(x) and _frames.is_path(y):
            labels = [os.path.splitext(os.path.basename(os.fspath(path)))[0] for path in (x, y)]
        (of_x, of_y), core = pooled(kernel, x, y)
        samples = _arrays.Samples(of_x, of_y, 0)
    given: Dict[str, Any] = {**asked, "group": None}
    if not asked.get("names") and len(set(labels)) == 2 and all(map(str.strip, labels)):
        given["names"] = labels
    return samples, settings(call, given, core, len(samples.x.points) + len(samples.y.points))


def settings(call: str, asked: Mapping[str, Any], kernel: _core.Kernel, count: int) -> _core.Settings:
    """The settings of a call with a kernel of so many objects."""
    reference = asked.get("reference")
    if reference is not None and not isinstance(reference, str):
        asked = {**asked, "reference": numbers(reference, count, "reference")}
    return core_settings(call, asked, kernel)


def numbers(values: ArrayLike, count: int, name: str) -> NDArray[np.float64]:
    """Numbers of objects, a row each; those that are True in a mask of all objects."""
    array = np.asarray(values)
    if array.dtype.kind == "O" and array.size and all(isinstance(one, (bool, np.bool_)) for one in array.flat):
        array = array.astype(bool)
    if array.dtype.kind == "b":
        if array.shape != (count,):
            shape = " x ".join(map(str, array.shape))
            raise ValueError(f"{name} is a mask of {shape or 'one'} values, expected one for each of the {count} objects")
        array = np.flatnonzero(array)
        if len(array) == 0:
            raise ValueError(f"{name} is a mask that is False for all objects, expected at least one True")
    found = _arrays.matrix(array, name)
    with np.errstate(invalid="ignore"):
        wrong = found[~((found >= 0) & (found < count) & (found == np.floor(found)))]
    if wrong.size:
        raise ValueError(f"{name} has {wrong[0]:.6g}, expected numbers of the {count} objects, 0 to {count - 1}")
    return found


def _refuse_other_than_matrices(x: Any, y: Any, group: Optional[str]) -> None:
    if group:
        raise ValueError('group is given with kernel "precomputed", expected the rows of the Gram matrix as x and y')
    for sample, name in ((x, "x"), (y, "y")):
        if _frames.is_path(sample):
            raise TypeError(f'{name} is the name of a file, expected rows of the Gram matrix for kernel "precomputed"; read '
                            "the matrix, such as by numpy.load, and pass gram[:n_x] and gram[n_x:]")


def _by_group(table: Any, y: Any, group: str) -> Tuple[Any, Any, List[str]]:
    """The columns of a table in two parts, by the two values of one column, and these values. The first that is met is x."""
    if y is not None:
        raise TypeError("y is given with group, expected one table with both samples")
    columns = _columns(table)
    if columns is None:
        raise TypeError(f"x is of type {type(table).__name__}, expected a table with the column {_arrays.quoted(group)} of "
                        "groups; read a file by pandas, or give both samples as lists of objects")
    of_rows = [values for label, values in columns if label == group]
    if len(of_rows) != 1:
        there = ", ".join(_arrays.quoted(label) for label, _ in columns)
        raise ValueError(f"group={_arrays.quoted(group)}: expected the name of one column of x, which has {there}")
    values = list(dict.fromkeys(of_rows[0]))
    if len(values) != 2 or any(map(_frames._is_missing, values)):
        shown = ", ".join(_arrays.quoted(str(value)) for value in values[:3])
        raise ValueError(f"group={_arrays.quoted(group)} has {len(values)} values ({shown}{', ...' if len(values) > 3 else ''}), "
                         "expected two, and none missing")
    parts = [
        _Columns((label, [cell for cell, of in zip(cells, of_rows[0]) if of == value])
                 for label, cells in columns if label != group)
        for value in values
    ]
    return parts[0], parts[1], [str(value) for value in values]


def refuse_columns(asked: Mapping[str, Any]) -> None:
    """Refuses what looks at the columns of the data, which objects and Gram matrices do not have."""
    kernel = kernel_name(asked["kernel"])
    for name in ("x_weights", "y_weights"):
        if asked.get(name) is not None:
            raise ValueError(f'{name} are given with kernel "{kernel}", which takes rows without weights')
    if asked["nan_policy"] not in ("raise", "indicator"):
        raise ValueError(
            f'nan_policy {_arrays.quoted(asked["nan_policy"])} is for rows of data, kernel "{kernel}" has none; exclude them first'
        )
    for name, defaults in (("standardize", ("auto", "none")), ("categorical", ("auto",)), ("types", ("",))):
        if asked.get(name) and asked[name] not in defaults:
            raise ValueError(f'{name} is given with kernel "{kernel}", whose objects have no columns of other types')
    for name in ("columns", "image_shape"):
        if asked.get(name) is not None:
            raise ValueError(f'{name} is given with kernel "{kernel}", whose objects have no columns')


def pooled(kernel: KernelLike, *samples: Any, names: Sequence[str] = ("x", "y")) -> Tuple[List[_core.Sample], _core.Kernel]:
    """The numbers of the objects of each sample, or of its rows of a Gram matrix, and the kernel between all of them."""
    if is_gram(kernel):
        return _pooled_gram(samples, names)
    lists: List[List[Any]] = []
    first: Optional[List[Any]] = None
    for sample, name in zip(samples, names):
        columns = _columns(sample)
        if columns is not None:
            columns = _matched(columns, first, name)
            first = [label for label, _ in columns]
        lists.append(_as_list(sample, name) if columns is None else _of_table(kernel, columns, name))
        if not lists[-1]:
            raise ValueError(f"{name}: no objects, expected at least one")
    parts = _numbered([len(group) for group in lists])
    return parts, _kernel_of(kernel, [one for group in lists for one in group])


def _pooled_gram(parts: Sequence[ArrayLike], names: Sequence[str]) -> Tuple[List[_core.Sample], _core.Kernel]:
    rows = [_arrays.matrix(part, name) for part, name in zip(parts, names)]
    if len({part.shape[1] for part in rows}) != 1:
        raise ValueError(f"rows of the Gram matrix have {rows[0].shape[1]} columns and others not, expected one per pooled row")
    gram = np.concatenate(rows)
    return _numbered(list(map(len, rows))), _core.gram_kernel(gram, gram[:0])


def _numbered(sizes: List[int]) -> List[_core.Sample]:
    all_numbers = np.arange(float(sum(sizes)))[:, np.newaxis]
    ends = np.cumsum(sizes).tolist()
    return [_core.Sample(all_numbers[end - size:end]) for end, size in zip(ends, sizes)]


def _kernel_of(kernel: KernelLike, objects: Sequence[Any]) -> _core.Kernel:
    if not isinstance(kernel, str):
        return _core.function_kernel(kernel_name(kernel), _Cached(checked(kernel), objects), True)
    line = _LINES[kernel.partition(":")[0]]
    return _core.object_kernel(kernel, [one if isinstance(one, _Line) else line(one, i) for i, one in enumerate(objects)])


class _Cached:
    """A kernel function of lists of objects as one of blocks of their numbers.

    It asks for each value once, as long as there are few enough objects to keep all of them.
    """

    def __init__(self, function: Callable[..., NDArray[np.float64]], objects: Sequence[Any]) -> None:
        self._function, self._objects = function, objects
        n = len(objects)
        self._values = np.full((n, n), np.nan) if n <= _MOST_CACHED else None
        self._one_at_a_time = threading.Lock()

    def __call__(self, a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
        rows, columns = self._numbers(a), self._numbers(b)
        if self._values is None:
            return self._block(rows, columns)
        with self._one_at_a_time:
            for new_rows, new_columns in _missing_blocks(self._values, np.unique(rows), np.unique(columns)):
                self._values[np.ix_(new_rows, new_columns)] = self._block(new_rows, new_columns)
            return np.ascontiguousarray(self._values[np.ix_(rows, columns)])

    def _block(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.float64]:
        return self._function([self._objects[i] for i in rows], [self._objects[j] for j in columns])

    def _numbers(self, points: NDArray[np.float64]) -> NDArray[np.intp]:
        found = points[:, 0].astype(np.intp)
        if (found != points[:, 0]).any() or found.min() < 0 or found.max() >= len(self._objects):
            raise ValueError(
                "the kernel function is known only for the objects of both samples, but is needed elsewhere; take "
                'reference points from the pool, reference="pooled"'
            )
        return found


def _missing_blocks(
    values: NDArray[np.float64], rows: NDArray[np.intp], columns: NDArray[np.intp]
) -> Iterator[Tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Rows and columns of blocks that cover the values that are missing (NaN), and no others."""
    missing = np.isnan(values[np.ix_(rows, columns)])
    if not missing.any():
        return
    for pattern in np.unique(missing, axis=0):
        if pattern.any():
            yield rows[(missing == pattern).all(axis=1)], columns[pattern]


def _listed(sample: Any) -> Optional[List[Any]]:
    """The items of a list, of an array of objects or texts, or of a column of a frame; None for anything else."""
    if isinstance(sample, np.ndarray):
        return list(sample) if sample.dtype.kind in "OUS" and sample.ndim == 1 else None
    if isinstance(sample, (list, tuple)):
        return list(sample)
    if hasattr(sample, "columns"):  # a frame, whose rows are compared by columns
        return None
    for name in ("to_list", "to_pylist"):  # pandas and polars, pyarrow
        if callable(getattr(sample, name, None)):
            return list(getattr(sample, name)())
    return None


def _are_rows(items: Sequence[Any]) -> bool:
    """Whether the items are rows of numbers of one length, or numbers."""
    lengths = {_length_of_row(one) for one in items}
    return len(lengths) == 1 and None not in lengths


def _length_of_row(one: Any) -> Optional[int]:
    """How many numbers a row has, 0 for a number; None for what is not a row of numbers."""
    if isinstance(one, (str, bytes, dict, set, frozenset)):
        return None
    if isinstance(one, (list, tuple)):
        return len(one) if all(_length_of_row(number) == 0 for number in one) else None
    if hasattr(one, "__array__"):
        array = np.asarray(one)
        numeric = array.dtype.kind in "biuf" or (array.dtype.kind == "O" and all(hasattr(x, "__float__") for x in array.flat))
        return None if array.ndim > 1 or not numeric else len(array) if array.ndim == 1 else 0
    return 0 if hasattr(one, "__float__") else None


class _Line(str):
    """An object as the library reads it: a line of a file."""


class _Columns(List[Tuple[Any, List[Any]]]):
    """Names and cells of the columns of a table."""


def _columns(sample: Any) -> Optional[_Columns]:
    """The columns of a table of pandas, polars or Arrow; None for anything else."""
    if isinstance(sample, _Columns):
        return sample
    if _arrays.is_pandas(sample):
        if sample.ndim != 2:
            return None
        return _Columns((label, sample.iloc[:, j].tolist()) for j, label in enumerate(sample.columns))
    if hasattr(sample, "get_columns") and hasattr(sample, "columns"):
        return _Columns((column.name, column.to_list()) for column in sample.get_columns())
    if hasattr(sample, "column_names") and hasattr(sample, "column"):
        return _Columns((label, sample.column(j).to_pylist()) for j, label in enumerate(sample.column_names))
    return None


def _matched(columns: _Columns, wanted: Optional[List[Any]], name: str) -> _Columns:
    """The columns in the order of those of the first table."""
    there = [label for label, _ in columns]
    if wanted is None or there == wanted or len(there) == len(wanted) == 1:
        return columns
    by_name: Dict[Any, List[Any]] = dict(columns)
    if len(by_name) != len(there) or len(there) != len(wanted) or set(there) != set(wanted):
        raise ValueError(f"{name} has the columns {_shown(there)}, expected those of the first sample, {_shown(wanted)}")
    return _Columns((label, by_name[label]) for label in wanted)


def _of_table(kernel: KernelLike, columns: _Columns, name: str) -> List[Any]:
    """The rows of a table as objects: its only column, or rows of categories."""
    if kernel_name(kernel).partition(":")[0] in _OF_CATEGORIES:
        return list(zip(*(cells for _, cells in columns)))
    if len(columns) != 1:
        raise ValueError(f"{name} has {len(columns)} columns of objects, {_shown([label for label, _ in columns])}, expected "
                         f"one for kernel {kernel_name(kernel)}; drop the others")
    return columns[0][1]


def _shown(labels: Sequence[Any]) -> str:
    return ", ".join(_arrays.quoted(label) for label in labels)


def _lines_of(path: str, name: str) -> List[Any]:
    """The lines of a file, one for each object."""
    if path.startswith("sql:") or path.endswith(_TABLES):
        raise TypeError(f"{name} is the name of a table, {_arrays.quoted(path)}, expected a list of objects, or a text file with "
                        'one in each line; read the table and pass its column: pandas.read_csv(...)["text"]')
    try:
        with open(path, encoding="utf-8", newline="\n") as file:
            lines = [_Line(line.rstrip("\n").removesuffix("\r")) for line in file]
    except OSError as error:
        raise ValueError(f"{name} is the name of a file, {_arrays.quoted(path)}, that cannot be read ({error.strerror}), expected "
                         "a text file with an object in each line, or a list of objects") from None
    except UnicodeDecodeError:
        raise ValueError(f"{name}: {_arrays.quoted(path)} is not a text file in UTF-8, expected an object in each line") from None
    return [line for line in lines if line]


def _as_list(sample: Any, name: str) -> List[Any]:
    if _frames.is_path(sample):
        return _lines_of(os.fspath(sample), name)
    if isinstance(sample, (bytes, dict)) or not hasattr(sample, "__len__"):
        raise TypeError(f"{name} is of type {type(sample).__name__}, expected a list of objects")
    listed = _listed(sample)
    return list(sample) if listed is None else listed


def _text(one: Any, number: int) -> str:
    if not isinstance(one, str):
        raise TypeError(f"object {number} is of type {type(one).__name__}, expected a string for kernel spectrum")
    return one


def _graph(one: Any, number: int) -> str:
    """A graph as JSON: from a dictionary, a list of edges, or an object with `nodes` and `edges` such as networkx has.

    There the attribute "label" of the nodes is their label, if they have it.
    """
    if isinstance(one, str):
        return one
    if isinstance(one, dict):
        return json.dumps(one, default=_plain)
    if hasattr(one, "nodes") and hasattr(one, "edges"):
        place = {node: i for i, node in enumerate(one.nodes)}
        edges = [[place[edge[0]], place[edge[1]]] for edge in one.edges]
        labels = _node_labels(one, number)
        return json.dumps({"edges": edges, "nodes": len(place)} if labels is None else {"edges": edges, "labels": labels})
    if isinstance(one, (list, tuple, np.ndarray)):
        return json.dumps({"edges": [[int(a), int(b)] for a, b in one]})
    raise TypeError(f"object {number} is of type {type(one).__name__}, expected a graph for kernel wl: a dictionary with "
                    '"edges", a list of edges, or an object with nodes and edges')


def _node_labels(graph: Any, number: int) -> Optional[List[str]]:
    """The attribute "label" of all nodes of a graph of networkx; None if none has it."""
    labels = dict(graph.nodes(data="label")) if callable(graph.nodes) else {}
    if all(label is None for label in labels.values()):
        return None
    for node, label in labels.items():
        if label is None:
            raise ValueError(f"object {number}: node {_arrays.quoted(node)} has no label, expected one for all nodes or for none")
    return [str(label) for label in labels.values()]


def _members(one: Any, number: int) -> str:
    """Members, or categories, separated by commas."""
    if isinstance(one, str) or not hasattr(one, "__iter__"):
        raise TypeError(f"object {number} is of type {type(one).__name__}, expected a set or a row of categories")
    texts = [str(member) for member in one]
    for text in texts:
        if "," in text or "\n" in text:
            raise ValueError(f"object {number} has the member {_arrays.quoted(text)}, expected no comma in it")
    return ",".join(texts)


_LINES = {"spectrum": _text, "wl": _graph, "sets": _members, "hamming": _members, "aitchison": _members}


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else list(value)
