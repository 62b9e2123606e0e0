"""Distances between all pairs of several samples, and tests of them."""

from __future__ import annotations

import dataclasses
import json
import os
from typing import TYPE_CHECKING, Any, ClassVar, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from . import _core, _frames, _objects
from ._options import core_settings, own_parameters, refuse_unknown
from ._progress import ProgressCallback, shown
from ._results import Finding, table

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Matrix(Finding):
    """Distances between samples, and p-values of their pairs if they were tested."""

    #: Names of the samples, in the order of rows and columns.
    names: Tuple[str, ...]
    #: The distances, a symmetric matrix; read-only.
    distances: NDArray[np.float64]
    #: p-values of the pairs, unadjusted, and adjusted for all of them; None without tests.
    pvalues: Optional[NDArray[np.float64]]
    adjusted_pvalues: Optional[NDArray[np.float64]]
    method: str
    #: The method of the tests; None without tests.
    test_method: Optional[str]
    n: Tuple[int, ...]
    seed: int
    warnings: Tuple[str, ...]
    _data: Dict[str, Any]
    _text: str

    _HASHED: ClassVar[Tuple[str, ...]] = ("method", "seed", "names")

    def to_dict(self) -> Dict[str, Any]:
        """Everything, in plain Python types: the schema of ``kqd matrix --json``."""
        copy: Dict[str, Any] = json.loads(json.dumps(self._data))  # changes to it do not change this object
        return copy

    def to_frame(self) -> "DataFrame":
        """A table for pandas: the distances, with the names on both sides."""
        from pandas import DataFrame

        return DataFrame(self.distances, index=list(self.names), columns=list(self.names))

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return table(f"Matrix: distances by {self.method}", [("", *self.names), *map(self._row, range(len(self.names)))])

    def _row(self, i: int) -> Tuple[str, ...]:
        cells = [f"{distance:.4g}" for distance in self.distances[i]]
        if self.adjusted_pvalues is not None:
            pvalues = self.adjusted_pvalues[i]
            cells = [cell if j == i else f"{cell} (adjusted p = {pvalues[j]:.4g})" for j, cell in enumerate(cells)]
        return self.names[i], *cells


def matrix(
    samples: Sequence[Any],
    *,
    names: Union[str, Sequence[str]] = (),
    test: bool = False,
    progress: Union[None, bool, ProgressCallback] = None,
    **options: Any,
) -> Matrix:
    """How far apart are several samples, pair by pair?

    One setting holds for all pairs, so distances can be compared. Columns are those of the first sample, matched by name.

    Parameters
    ----------
    samples : sequence of array_like, or of names of files
        Two samples or more, as for `kqd.distance`: also lists of objects, or parts of the rows of a Gram matrix.
    names : sequence of str
        What texts call the samples; without them the names of the files, or 1, 2, ...
    test : bool
        Test every pair too; p-values are adjusted by Holm's rule.
    progress : callable or True, optional
        As for `kqd.test`.
    **options
        Options of `kqd.distance` and, with tests, of `kqd.test` that ``kqd matrix --help`` lists: ``method``, ``kernel``,
        ``n_resamples``, ``rng``, ``types``, ...

    Returns
    -------
    Matrix

    Examples
    --------
    >>> import kqd
    >>> kqd.matrix([[0, 1], [2, 3], [10, 11]], names=["a", "b", "c"], kernel="linear", rng=0).to_frame()
          a    b     c
    a   0.0  2.0  10.0
    b   2.0  0.0   8.0
    c  10.0  8.0   0.0
    """
    known = _core.options("matrix")
    parameters = {name: value for name, value in options.items() if name not in known and name not in ("names", "test")}
    asked: Dict[str, Any] = {"kernel": "gaussian", "rng": None, "nan_policy": "indicator", "categorical": "auto"}
    asked.update({name: value for name, value in options.items() if name in known}, parameters=parameters)
    refuse_unknown("matrix", asked)
    if not isinstance(samples, (list, tuple)) and not (isinstance(samples, np.ndarray) and samples.ndim > 0):
        raise TypeError(f"samples is of type {type(samples).__name__}, expected a list of two samples or more")
    if len(samples) < 2:
        raise ValueError("samples has fewer than two samples, expected a list of two or more")
    asked["sample"] = samples[0]  # whose columns those of reference points are matched to
    given = _names(names, samples)
    asked["test_pairs"] = test
    prepared: List[Any]
    if _objects.are_numbered(asked["kernel"], *samples):
        prepared, settings = _of_objects(samples, asked)
    else:
        prepared = [
            os.fspath(sample) if _frames.is_path(sample) else _frames.columns_of(sample, given[i])
            for i, sample in enumerate(samples)
        ]
        settings = core_settings("matrix", asked)
    settings.complete()
    settings.set_parameters(own_parameters("matrix", settings.method, asked))
    with shown(progress) as callback:
        found, text = _core.matrix(prepared, given, settings, callback)
    data = json.loads(found)

    def square(values: Optional[List[List[float]]]) -> Optional[NDArray[np.float64]]:
        if values is None:
            return None
        array = np.array(values, dtype=np.float64)
        array.setflags(write=False)
        return array

    distances = square(data["distances"])
    assert distances is not None
    return Matrix(
        names=tuple(data["names"]),
        distances=distances,
        pvalues=square(data["pvalues"]),
        adjusted_pvalues=square(data["adjusted_pvalues"]),
        method=data["method"],
        test_method=data["test_method"],
        n=tuple(data["n"]),
        seed=data["seed"],
        warnings=tuple(warning["text"] for warning in data["warnings"]),
        _data=data,
        _text=text.strip("\n"),
    )


def _of_objects(samples: Sequence[Any], asked: Mapping[str, Any]) -> Tuple[List[List[_frames.Column]], _core.Settings]:
    """The numbers of the objects of each sample as a column, and the settings with their kernel."""
    _objects.refuse_columns(asked)
    parts, kernel = _objects.pooled(asked["kernel"], *samples, names=[f"sample {i + 1}" for i in range(len(samples))])
    settings = _objects.settings("matrix", asked, kernel, sum(len(part.points) for part in parts))
    return [[("", np.ascontiguousarray(part.points[:, 0]), "number")] for part in parts], settings


def _names(names: Union[str, Sequence[str]], samples: Sequence[Any]) -> List[str]:
    listed = names.split(",") if isinstance(names, str) and names else list(names)
    if listed and len(listed) != len(samples):
        raise ValueError(f"names has {len(listed)} names for {len(samples)} samples, expected one for each")
    if listed:
        return [str(name) for name in listed]
    return [os.fspath(sample) if _frames.is_path(sample) else str(i + 1) for i, sample in enumerate(samples)]
