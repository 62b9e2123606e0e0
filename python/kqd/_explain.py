"""kqd.explain: where two samples differ."""

from __future__ import annotations

import dataclasses
import json
import time
from typing import TYPE_CHECKING, Any, ClassVar, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _arrays, _core
from ._kernels import PRECOMPUTED, KernelLike
from ._options import Rng, core_settings, hinting
from ._progress import ProgressCallback, shown
from ._results import Finding, table
from ._test import design_groups

if TYPE_CHECKING:
    from pandas import DataFrame


_MOST_ROWS = 10  # columns shown in a notebook, as in the report


@dataclasses.dataclass(frozen=True)
class TwoValueShares:
    """How often the larger of two values occurs."""

    value: float
    x: float
    y: float


class _Explained(Finding):
    """Base of columns and directions: they print as one line, without their levels."""

    name: str
    effect: float
    pvalue: float
    pvalue_adjusted: float
    reject: bool
    where: str
    shares: Optional[TwoValueShares]
    _HASHED: ClassVar[Tuple[str, ...]] = ("name", "effect", "pvalue")

    def _cells(self) -> Dict[str, str]:
        """The cells of a row of the report, by the heads of their columns."""
        return {
            "distance": f"{self._distance():.4g}",
            "effect": f"{self.effect:.3f}",
            "p-value": f"{self.pvalue:.3g}",
            "adjusted": f"{self.pvalue_adjusted:.3g}{' *' if self.reject else ''}",
            "where": self._place(),
            **self._own_cells(),
        }

    def _distance(self) -> float:
        raise NotImplementedError

    def _own_cells(self) -> Dict[str, str]:
        raise NotImplementedError

    def _place(self) -> str:
        """The levels of the difference; for two values the shares of the larger one."""
        if self.shares is None or self.where == "nowhere":
            return self.where
        return f"{100 * self.shares.x:.3g}% to {100 * self.shares.y:.3g}%"

    def __repr__(self) -> str:
        said = ", ".join(f"{word} {text}" for word, text in self._cells().items())
        return f"{type(self).__name__}({self.name}: {said})"


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class ExplainedColumn(_Explained):
    """The difference of one column."""

    name: str
    #: From 0.
    index: int
    #: Wasserstein distance of order 1, in the units of the column.
    wasserstein: float
    #: The same in pooled standard deviations.
    effect: float
    #: Median of y minus median of x.
    shift: float
    #: Unadjusted.
    pvalue: float
    #: Adjusted for all columns by the rule of Benjamini and Hochberg.
    pvalue_adjusted: float
    reject: bool
    #: "centre", "lower tail", "upper tail", "both tails", "everywhere" or "nowhere".
    where: str
    #: Only for a column of two values, which has no tails.
    shares: Optional[TwoValueShares]
    #: Averaged gradient of the witness, per pooled standard deviation; above 0 larger values are y-like.
    sensitivity: float
    #: Quantile levels and quantiles of y minus those of x, for the 200 columns with the largest differences.
    levels: NDArray[np.float64]
    difference: NDArray[np.float64]

    def _distance(self) -> float:
        return self.wasserstein

    def _own_cells(self) -> Dict[str, str]:
        return {"median shift": f"{self.shift:+.4g}"}


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class ExplainedDirection(_Explained):
    """One of the directions with the largest differences: a column or a principal direction of the kernel."""

    name: str
    family: str
    statistic: float
    effect: float
    pvalue: float
    #: Adjusted for all directions that were examined, by Holm's rule.
    pvalue_adjusted: float
    reject: bool
    where: str
    #: Only for a direction of two values.
    shares: Optional[TwoValueShares]
    levels: NDArray[np.float64]
    difference: NDArray[np.float64]
    #: The columns that contribute to it, strongest first: (name, signed sensitivity).
    columns: Tuple[Tuple[str, float], ...]

    def _distance(self) -> float:
        return self.statistic

    def _own_cells(self) -> Dict[str, str]:
        if self.family == "column":
            return {"carried by": "itself"}
        return {"carried by": ", ".join(f"{name} {sensitivity:+.2g}" for name, sensitivity in self.columns[:3])}


@dataclasses.dataclass(frozen=True)
class ExtremeRow:
    """A row and its score by the witness."""

    #: "x" or "y".
    sample: str
    #: From 1, as in a file: ``x[row - 1]``.
    row: int
    #: In standard deviations; above 0 is y-like.
    score: float


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Explanation(Finding):
    """Where two samples differ. Prints as a report; `to_dict` has everything, as ``kqd explain --json`` does."""

    #: All columns, largest difference first.
    columns: Tuple[ExplainedColumn, ...]
    #: At most 8, largest difference first.
    directions: Tuple[ExplainedDirection, ...]
    #: At most 10 rows each, the most extreme first.
    most_x: Tuple[ExtremeRow, ...]
    most_y: Tuple[ExtremeRow, ...]
    #: Share of the variance of the labels that the witness explains on held-out rows.
    witness_share: float
    #: Pooled rows, chosen at random, for fitting the witness and for computing the principal directions.
    n_witness_rows: int
    n_principal_rows: int
    alpha: float
    n_resamples: int
    kernel: str
    #: Passed as ``rng=`` it gives the same numbers again.
    seed: int
    warnings: Tuple[str, ...]
    #: The name of each warning, such as ``"constant-columns"``.
    warning_ids: Tuple[str, ...]
    #: As in `TestResult`.
    bits: str
    elapsed_s: float
    _data: Dict[str, Any]
    _text: str

    _HASHED: ClassVar[Tuple[str, ...]] = ("kernel", "seed", "witness_share")

    def to_dict(self) -> Dict[str, Any]:
        """Everything, in plain Python types: schema kqd.explain/2."""
        copy: Dict[str, Any] = json.loads(json.dumps(self._data))  # changes to it do not change this object
        return copy

    def to_frame(self) -> "DataFrame":
        """A table for pandas: a row per column, largest difference first."""
        from pandas import DataFrame

        fields = ("name", "wasserstein", "effect", "shift", "pvalue", "pvalue_adjusted", "reject", "where")
        return DataFrame([{field: getattr(column, field) for field in fields} for column in self.columns])

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        rows = _table_rows("column", self.columns) + _table_rows("direction", self.directions)
        permutations = f"{self.n_resamples}{'' if self._data['enumerated'] else ' random'}"
        rows += [["kernel", self.kernel], ["permutations", permutations], ["seed", str(self.seed)]]
        return table(type(self).__name__, rows + [["warning", text] for text in self.warnings])


@hinting
def explain(
    x: ArrayLike,
    y: ArrayLike,
    *,
    kernel: KernelLike = "gaussian",
    bandwidth: Union[str, float] = "median",
    x_weights: Optional[ArrayLike] = None,
    y_weights: Optional[ArrayLike] = None,
    weights_as: Optional[str] = None,
    nan_policy: str = "raise",
    columns: Optional[Sequence[str]] = None,
    image_shape: Optional[Sequence[int]] = None,
    n_resamples: Optional[int] = None,
    alpha: float = 0.05,
    design: str = "independent",
    blocks: Optional[Tuple[ArrayLike, ArrayLike]] = None,
    clusters: Optional[Tuple[ArrayLike, ArrayLike]] = None,
    progress: Union[None, bool, ProgressCallback] = None,
    rng: Rng = None,
    workers: Optional[int] = None,
    max_memory: Optional[float] = None,
) -> Explanation:
    """Where do two samples differ: in which columns, at which levels, along which directions, in which rows?

    Every column and the principal functions of a kernel are examined by the same random permutations; p-values are
    adjusted for all of them. A witness, the function that tells the samples apart best, scores every row; rows far
    from all others are held out for their own score.

    Parameters
    ----------
    x, y, kernel, bandwidth, rng, workers, max_memory
        As for `kqd.distance`.
    x_weights, y_weights, weights_as, nan_policy, alpha, design, blocks, clusters, progress
        As for `kqd.test`.
    columns : sequence of str, optional
        Names of the columns; those of a DataFrame when none are given.
    image_shape : (height, width) or (height, width, channels), optional
        Rows are images.
    n_resamples : int, optional
        How many random permutations; by default 999, or as many as adjusting for all columns and directions needs.

    Returns
    -------
    Explanation

    Examples
    --------
    Five columns, the fourth of which is shifted:

    >>> import numpy as np, kqd
    >>> rng = np.random.default_rng(1)
    >>> x, y = rng.normal(size=(300, 5)), rng.normal(size=(200, 5)) + [0, 0, 0, 1, 0]
    >>> found = kqd.explain(x, y, columns=list("abcde"), rng=0)
    >>> found.columns[0].name, found.columns[0].where, found.columns[0].reject
    ('d', 'everywhere', True)
    >>> [column.name for column in found.columns if column.reject]
    ['d']
    """
    asked = locals()
    started = time.perf_counter()
    if isinstance(kernel, str) and kernel == PRECOMPUTED:
        raise ValueError('kernel "precomputed" has no columns to explain; pass the data and a kernel of them')
    samples = _arrays.samples(x, y, x_weights, y_weights, nan_policy=nan_policy, paired=design == "paired")
    if columns is not None:
        samples = samples._replace(columns=[str(name) for name in columns])
    names = samples.columns
    if names and len(names) != samples.dim:
        raise ValueError(f"columns has {len(names)} names, the samples have {samples.dim} columns")
    settings = core_settings("explain", asked)
    settings.complete()
    settings.set_design(*design_groups(design, blocks, clusters, samples))
    rows = [(np.flatnonzero(kept) + 1).tolist() for kept in samples.kept] if samples.kept else [[], []]
    labels = _core.Labels(columns=names, rows_x=rows[0], rows_y=rows[1])
    with shown(progress) as callback, samples.cells_named():
        found, printed = _core.explain(samples.x, samples.y, settings, labels, callback)
    data = json.loads(found)
    data["warnings"] = [warning._asdict() for warning in samples.warnings] + data["warnings"]
    data["elapsed_s"] = time.perf_counter() - started
    return _explanation(data, printed)


def _table_rows(kind: str, entries: Sequence[_Explained]) -> List[List[str]]:
    """A head and a row for each of the first entries."""
    if not entries:
        return []
    rows = [[kind, *entries[0]._cells()]] + [[entry.name, *entry._cells().values()] for entry in entries[:_MOST_ROWS]]
    left = len(entries) - _MOST_ROWS
    return rows + [[f"and {left} more", ""]] if left > 0 else rows


def _frozen(values: Sequence[float]) -> NDArray[np.float64]:
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array


def _shape(entry: Dict[str, Any]) -> Dict[str, Any]:
    shares = entry["shares"]
    profile = entry["profile"] or {"levels": [], "difference": []}
    return {
        "shares": None if shares is None else TwoValueShares(**shares),
        **{name: _frozen(profile[name]) for name in ("levels", "difference")},
    }


def _explanation(data: Dict[str, Any], text: str) -> Explanation:
    def picked(kind: Any, entry: Dict[str, Any], **more: Any) -> Any:
        names = {field.name for field in dataclasses.fields(kind)} & entry.keys() - more.keys()
        return kind(**{name: entry[name] for name in names}, **more)

    def carriers(entry: Dict[str, Any]) -> Tuple[Tuple[str, float], ...]:
        return tuple((column["name"], column["sensitivity"]) for column in entry["columns"])

    return Explanation(
        columns=tuple(picked(ExplainedColumn, entry, **_shape(entry)) for entry in data["columns"]),
        directions=tuple(
            picked(ExplainedDirection, entry, columns=carriers(entry), **_shape(entry)) for entry in data["directions"]
        ),
        most_x=tuple(picked(ExtremeRow, entry) for entry in data["rows"]["most_x"]),
        most_y=tuple(picked(ExtremeRow, entry) for entry in data["rows"]["most_y"]),
        witness_share=data["witness_share"],
        n_witness_rows=data["n_witness_rows"],
        n_principal_rows=data["n_principal_rows"],
        alpha=data["alpha"],
        n_resamples=data["n_resamples"],
        kernel=data["kernel"],
        seed=data["seed"],
        warnings=tuple(warning["text"] for warning in data["warnings"]),
        warning_ids=tuple(warning["id"] for warning in data["warnings"]),
        bits=data["bits"],
        elapsed_s=data["elapsed_s"],
        _data=data,
        _text=text.strip("\n"),
    )
