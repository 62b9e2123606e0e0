"""Samples of objects that are not rows of numbers: strings, graphs, sets, or whatever a kernel function takes.

The library sees the numbers of the pooled objects, 0, 1, 2, ..., and a kernel of such numbers.
"""

from __future__ import annotations

import json
from typing import Any, Callable, List, Mapping, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from . import _arrays, _core
from ._kernels import PRECOMPUTED, KernelLike, checked, kernel_name

# Values of a kernel function are kept for so many objects at most: a matrix of 128 MB.
_MOST_CACHED = 4000


def are_meant(kernel: KernelLike, *samples: Any) -> bool:
    """Whether the samples are lists of objects: by the name of the kernel, or because a function gets something else than numbers."""
    if isinstance(kernel, str):
        return _core.is_object_kernel(kernel)
    return callable(kernel) and all(_is_list_of_objects(sample) for sample in samples)


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
    """A kernel function of lists of objects as one of blocks of their numbers, which computes each value once."""

    def __init__(self, function: Callable[..., NDArray[np.float64]], objects: Sequence[Any]) -> None:
        self._function, self._objects = function, objects
        n = len(objects)
        self._values = np.full((n, n), np.nan) if n <= _MOST_CACHED else None

    def __call__(self, a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
        rows, columns = self._numbers(a), self._numbers(b)
        if self._values is None:
            return self._block(rows, columns)
        known = self._values[np.ix_(rows, columns)]
        missing = np.isnan(known)
        if missing.any():
            new_rows = np.unique(rows[missing.any(axis=1)])
            new_columns = np.unique(columns[missing.any(axis=0)])
            block = self._block(new_rows, new_columns)
            self._values[np.ix_(new_rows, new_columns)] = block
            known = self._values[np.ix_(rows, columns)]
        return np.ascontiguousarray(known)

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


def _is_list_of_objects(sample: Any) -> bool:
    if isinstance(sample, np.ndarray):
        return sample.dtype.kind in "OUS" and sample.ndim == 1
    if not isinstance(sample, (list, tuple)) or not sample:
        return False
    return all(
        isinstance(one, (str, bytes, dict, set, frozenset))
        or not (hasattr(one, "__float__") or hasattr(one, "__array__") or isinstance(one, (list, tuple)))
        for one in sample
    )


def _as_list(sample: Any, name: str) -> List[Any]:
    if isinstance(sample, (str, bytes, dict)) or not hasattr(sample, "__len__"):
        raise TypeError(f"{name} is of type {type(sample).__name__}, expected a list of objects")
    found = list(sample)
    if not found:
        raise ValueError(f"{name}: no objects, expected at least one")
    return found


def _text(one: Any, number: int) -> str:
    if not isinstance(one, str):
        raise TypeError(f"object {number} is of type {type(one).__name__}, expected a string for kernel spectrum")
    return one


def _graph(one: Any, number: int) -> str:
    """A graph as JSON: from a dictionary, a list of edges, or an object with `nodes` and `edges` such as networkx has."""
    if isinstance(one, str):
        return one
    if isinstance(one, dict):
        return json.dumps(one, default=_plain)
    if hasattr(one, "nodes") and hasattr(one, "edges"):
        place = {node: i for i, node in enumerate(one.nodes)}
        edges = [[place[edge[0]], place[edge[1]]] for edge in one.edges]
        return json.dumps({"nodes": len(place), "edges": edges})
    if isinstance(one, (list, tuple, np.ndarray)):
        return json.dumps({"edges": [[int(a), int(b)] for a, b in one]})
    raise TypeError(f"object {number} is of type {type(one).__name__}, expected a graph for kernel wl: a dictionary with "
                    '"edges", a list of edges, or an object with nodes and edges')


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
