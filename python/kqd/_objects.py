"""Samples of objects that are not rows of numbers: strings, graphs, sets, or whatever a kernel function takes.

The library sees the numbers of the pooled objects, 0, 1, 2, ..., and a kernel of such numbers.
"""

from __future__ import annotations

import json
import threading
from typing import Any, Callable, Iterator, List, Mapping, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from . import _arrays, _core
from ._kernels import PRECOMPUTED, KernelLike, checked, kernel_name

# Values of a kernel function are kept for so many objects at most: a matrix of 128 MB.
_MOST_CACHED = 4000


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


def pair(kernel: KernelLike, x: Any, y: Any) -> Optional[Tuple[_arrays.Samples, _core.Kernel]]:
    """Samples of objects, or rows of a Gram matrix, and their kernel; None for rows of numbers."""
    if isinstance(kernel, str) and kernel == PRECOMPUTED:
        return _arrays.gram(x, y)
    if not are_meant(kernel, x, y):
        return None
    (of_x, of_y), core = pooled(kernel, x, y)
    return _arrays.Samples(of_x, of_y, 0), core


def refuse_columns(asked: Mapping[str, Any]) -> None:
    """Refuses what looks at the columns of the data, which objects and Gram matrices do not have."""
    kernel = kernel_name(asked["kernel"])
    for name in ("x_weights", "y_weights"):
        if asked[name] is not None:
            raise ValueError(f'{name} are given with kernel "{kernel}", which takes rows without weights')
    if asked["nan_policy"] not in ("raise", "indicator"):
        raise ValueError(
            f'nan_policy {_arrays.quoted(asked["nan_policy"])} is for rows of data, kernel "{kernel}" has none; exclude them first'
        )
    for name in ("columns", "image_shape"):
        if asked.get(name) is not None:
            raise ValueError(f'{name} is given with kernel "{kernel}", whose objects have no columns')


def pooled(kernel: KernelLike, *samples: Any) -> Tuple[List[_core.Sample], _core.Kernel]:
    """The numbers of the objects of each sample, and the kernel between all of them."""
    lists = [_as_list(sample, name) for sample, name in zip(samples, ("x", "y") if len(samples) == 2 else ("sample",))]
    objects = [one for group in lists for one in group]
    numbers = np.arange(float(len(objects)))[:, np.newaxis]
    ends = np.cumsum([len(group) for group in lists]).tolist()
    parts = [_core.Sample(numbers[end - len(group):end]) for end, group in zip(ends, lists)]
    return parts, _kernel_of(kernel, objects)


def _kernel_of(kernel: KernelLike, objects: Sequence[Any]) -> _core.Kernel:
    if not isinstance(kernel, str):
        return _core.function_kernel(kernel_name(kernel), _Cached(checked(kernel), objects), True)
    line = _LINES[kernel.partition(":")[0]]
    return _core.object_kernel(kernel, [line(one, number) for number, one in enumerate(objects)])


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
        numbers = points[:, 0].astype(np.intp)
        if (numbers != points[:, 0]).any() or numbers.min() < 0 or numbers.max() >= len(self._objects):
            raise ValueError(
                "the kernel function is known only for the objects of both samples, but is needed elsewhere; take "
                'reference points from the pool, reference="pooled"'
            )
        return numbers


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


def _as_list(sample: Any, name: str) -> List[Any]:
    if isinstance(sample, (str, bytes, dict)) or not hasattr(sample, "__len__"):
        raise TypeError(f"{name} is of type {type(sample).__name__}, expected a list of objects")
    if hasattr(sample, "itertuples"):  # a frame
        found = list(sample.itertuples(index=False, name=None))
    else:
        listed = _listed(sample)
        found = list(sample) if listed is None else listed
    if not found:
        raise ValueError(f"{name}: no objects, expected at least one")
    return found


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
