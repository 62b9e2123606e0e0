"""kqd.explain: where two samples differ."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import time
from typing import TYPE_CHECKING, Any, Callable, ClassVar, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _arrays, _core, _frames, _objects
from ._kernels import KernelLike
from ._options import Rng, core_settings, hinting
from ._progress import ProgressCallback, shown
from ._results import Finding, frame, table
from ._test import design_groups

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


_MOST_ROWS = 10  # columns shown in a notebook, as in the report


@dataclasses.dataclass(frozen=True)
class TwoValueShares:
    """How often the larger of two values occurs."""

    value: float
    x: float
    y: float


@dataclasses.dataclass(frozen=True)
class LevelShares:
    """The share of the rows of both samples that have a level of a category."""

    name: str
    #: 0: the level is new in y.
    x: float
    #: 0: the level has vanished.
    y: float


@dataclasses.dataclass(frozen=True)
class MissingShares:
    """The share of the rows of both samples without a value, and its test."""

    x: float
    y: float
    #: Unadjusted.
    pvalue: float
    #: Adjusted with those of all columns.
    pvalue_adjusted: float
    reject: bool


@dataclasses.dataclass(frozen=True)
class RelationCell:
    """One part of a relation: a level, two levels, or a stretch of the first of two numbers."""

    first: str
    second: str
    #: Mean of the number, or share of the rows with both levels.
    x: float
    y: float
    #: y minus x beyond what the two columns by themselves explain: in standard deviations, or in shares of the rows.
    change: float
    n_x: int
    n_y: int


@dataclasses.dataclass(frozen=True)
class ExplainedRelation:
    """How the relation of two columns differs, apart from changes of either column by itself."""

    #: "income by plan", "age and income".
    name: str
    first: str
    second: str
    #: "numbers", "number by level" or "levels".
    kind: str
    #: Standard normal under the null hypothesis, nearly.
    score: float
    #: Unadjusted.
    pvalue: float
    #: Adjusted for all pairs that were examined, by the largest score in each permutation.
    pvalue_adjusted: float
    reject: bool
    #: In words: "+0.42 in basic, -0.31 in premium".
    change: str
    #: Of two numbers: the correlation of their normal scores.
    correlation_x: Optional[float]
    correlation_y: Optional[float]
    #: Largest change first; of two numbers, in the order of the first one.
    cells: Tuple[RelationCell, ...]


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
    """The difference of one column of the table."""

    name: str
    #: "number", "integer", "ordered", "category", "text", "boolean" or "date".
    type: str
    #: From 0.
    index: int
    #: Wasserstein distance of order 1, in the units of the column; of a category the total variation distance.
    wasserstein: float
    #: The same in pooled standard deviations; of a category Cohen's w.
    effect: float
    #: Median of y minus median of x; 0 for a category.
    shift: float
    #: Unadjusted.
    pvalue: float
    #: Adjusted for all columns, and the tests of missing values, by the rule of Benjamini and Hochberg.
    pvalue_adjusted: float
    reject: bool
    #: "centre", "lower tail", "upper tail", "both tails", "everywhere" or "nowhere"; "shares" for a category.
    where: str
    #: Only for a column of two values, which has no tails.
    shares: Optional[TwoValueShares]
    #: Averaged gradient of the witness, per pooled standard deviation; above 0 larger values are y-like. None for a
    #: category.
    sensitivity: Optional[float]
    #: Of a category: the shares of its levels, largest change first.
    categories: Tuple[LevelShares, ...]
    #: None if every row has a value.
    missing: Optional[MissingShares]
    #: The least and the greatest value; None for a category. Dates are days since 1970-01-01.
    range_x: Optional[Tuple[float, float]]
    range_y: Optional[Tuple[float, float]]
    #: Quantile levels and quantiles of y minus those of x, for the 200 columns with the largest differences.
    levels: NDArray[np.float64]
    difference: NDArray[np.float64]

    def _distance(self) -> float:
        return self.wasserstein

    def _own_cells(self) -> Dict[str, str]:
        return {"median shift": "" if self.categories else f"{self.shift:+.4g}"}

    def _place(self) -> str:
        """The levels of a category whose shares changed most."""
        if not self.categories or self.where == "nowhere":
            return super()._place()
        return ", ".join(f"{c.name} {100 * c.x:.3g}% to {100 * c.y:.3g}%" for c in self.categories[:3])


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
        if not self.columns:  # of objects
            return {}
        return {"carried by": ", ".join(f"{name} {sensitivity:+.2g}" for name, sensitivity in self.columns[:3])}


@dataclasses.dataclass(frozen=True)
class ExtremeRow:
    """A row and its score by the witness."""

    #: "x" or "y".
    sample: str
    #: From 0: ``x[row]``, or ``x.iloc[row]``.
    row: int
    #: In standard deviations; above 0 is y-like.
    score: float
    #: The label of the row in the index of a DataFrame, ``x.loc[label]``; else the same as `row`.
    label: Any


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Explanation(Finding):
    """Where two samples differ. Prints as a report; `to_dict` has everything, as ``kqd explain --json`` does.

    Rows are counted from 0, differences are y minus x, the second sample minus the first.
    """

    #: Names of the samples in texts and plots.
    names: Tuple[str, ...]
    #: All significant differences in words: columns, missing values, relations.
    changes: Tuple[str, ...]
    #: All columns, largest difference first.
    columns: Tuple[ExplainedColumn, ...]
    #: At most 20 pairs of columns, largest change of their relation first.
    relations: Tuple[ExplainedRelation, ...]
    #: Pairs that the p-values of relations are adjusted for.
    n_relations_examined: int
    #: At most 8, largest difference first.
    directions: Tuple[ExplainedDirection, ...]
    #: The direction of the largest gap of the method that `maximiser` named; its p-values are NaN.
    maximiser: Optional[ExplainedDirection]
    #: At most 10 rows each, the most extreme first.
    most_x: Tuple[ExtremeRow, ...]
    most_y: Tuple[ExtremeRow, ...]
    #: The score of every row, in standard deviations: above 0 is y-like. NaN for rows that were not compared.
    scores_x: NDArray[np.float64]
    scores_y: NDArray[np.float64]
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

    def to_frame(self, of: str = "columns") -> "DataFrame":
        """A table for pandas, largest difference first.

        Parameters
        ----------
        of : "columns", "relations", "levels" or "rows"
            A row per column; per pair of columns; per level of each category; per most x-like and y-like row.
        """
        def fields(entries: Sequence[Any], *names: str) -> List[Dict[str, Any]]:
            return [{name: getattr(entry, name) for name in names} for entry in entries]

        judged = ("pvalue", "pvalue_adjusted", "reject")
        tables: Dict[str, Callable[[], List[Dict[str, Any]]]] = {
            "columns": lambda: [
                {
                    **fields([c], "name", "type", "wasserstein", "effect", "shift", *judged, "where")[0],
                    "missing_x": 0.0 if c.missing is None else c.missing.x,
                    "missing_y": 0.0 if c.missing is None else c.missing.y,
                }
                for c in self.columns
            ],
            "relations": lambda: fields(self.relations, "name", "first", "second", "kind", "score", *judged, "change"),
            "levels": lambda: [
                {"column": c.name, **fields([level], "name", "x", "y")[0]} for c in self.columns for level in c.categories
            ],
            "rows": lambda: fields([*self.most_x, *self.most_y], "sample", "row", "label", "score"),
        }
        if of not in tables:
            raise ValueError(f"of is {of!r}, expected one of {', '.join(map(repr, tables))}")
        return frame(tables[of]())

    def plot(self, *, n_panels: int = 3, ax: Any = None) -> "Figure":
        """Plot the columns and relations that differ most, with matplotlib: densities, shares, means by level.

        Parameters
        ----------
        n_panels : int
            At most this many; a single one if nothing differs significantly.
        ax : matplotlib Axes or a sequence of them, optional
            Axes to draw into, one per panel, instead of a new figure.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from . import _plots  # imports matplotlib

        return _plots.explanation(self, ax, n_panels if ax is None else int(np.size(ax)))

    def to_html(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Write a page for a browser: what differs, in words and charts. One file that opens without a network."""
        from . import _page

        _page.write_explanation(self, path)

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
    y: Optional[ArrayLike] = None,
    *,
    kernel: KernelLike = "gaussian",
    bandwidth: Union[str, float] = "median",
    x_weights: Optional[ArrayLike] = None,
    y_weights: Optional[ArrayLike] = None,
    weights_as: Optional[str] = None,
    standardize: str = "auto",
    types: Union[str, Mapping[str, str]] = "",
    categorical: str = "auto",
    nan_policy: str = "indicator",
    group: Optional[str] = None,
    names: Union[str, Sequence[str]] = "",
    columns: Optional[Sequence[str]] = None,
    image_shape: Optional[Sequence[int]] = None,
    maximiser: Optional[str] = None,
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
        As for `kqd.distance`. Of objects and Gram matrices there are directions and rows, no columns.
    x_weights, y_weights, weights_as, standardize, types, categorical, nan_policy, group, names, alpha, design, blocks, clusters, progress
        As for `kqd.test`. Columns and rows are shown in the units of the table however they are scaled.
    columns : sequence of str, optional
        Names of the columns; those of a DataFrame when none are given.
    image_shape : (height, width) or (height, width, channels), optional
        Rows are images.
    maximiser : str, optional
        A method that reports a largest gap, such as ``"max-sw"`` or ``"supkqd-opt"``: the direction that has it is
        explained as well, in `Explanation.maximiser`. It is fitted to the samples, so it has no p-value.
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
    objects = _objects.compared("explain", asked)
    if objects is not None:
        samples, settings = objects
    else:
        settings = core_settings("explain", asked)
        samples = _frames.samples(asked, settings, paired=isinstance(design, str) and design == "paired")
    if columns is not None and not samples.prepared:
        samples = samples._replace(columns=[str(name) for name in columns])
    names = samples.columns
    if names and len(names) != samples.dim:
        raise ValueError(f"columns has {len(names)} names, the samples have {samples.dim} columns")
    settings.complete()
    settings.set_design(*design_groups(design, blocks, clusters, samples))
    kept = samples.kept or (np.ones(len(samples.x.points), bool), np.ones(len(samples.y.points), bool))
    rows = [np.flatnonzero(mask).tolist() for mask in kept]
    labels = _core.Labels(columns=names, rows_x=rows[0], rows_y=rows[1])
    with shown(progress) as callback, samples.cells_named():
        found, printed, scores = _core.explain(samples.x, samples.y, settings, labels, callback)
    data = json.loads(found)
    data["warnings"] = [warning._asdict() for warning in samples.warnings] + data["warnings"]
    data["elapsed_s"] = time.perf_counter() - started
    index = {"x": None if group else getattr(x, "index", None), "y": getattr(y, "index", None)}
    return _explanation(data, printed, [_all_scores(of, mask) for of, mask in zip(scores, kept)], index)


def _all_scores(scores: NDArray[np.float64], kept: NDArray[np.bool_]) -> NDArray[np.float64]:
    """A score per given row."""
    values = np.full(len(kept), np.nan)
    values[kept] = scores
    values.setflags(write=False)
    return values


def _label(index: Any, row: int) -> Any:
    """The label of a row; the index of a list is a method, and arrays have none."""
    return index[row] if hasattr(index, "__getitem__") else row


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


def _number(value: Optional[float]) -> float:
    return math.nan if value is None else value


def _shape(entry: Dict[str, Any]) -> Dict[str, Any]:
    shares = entry["shares"]
    profile = entry["profile"] or {"levels": [], "difference": []}
    return {
        "shares": None if shares is None else TwoValueShares(**shares),
        **{name: _frozen(profile[name]) for name in ("levels", "difference")},
    }


def _range(values: Optional[List[float]]) -> Optional[Tuple[float, float]]:
    return None if values is None else (values[0], values[1])


def _column(entry: Dict[str, Any]) -> Dict[str, Any]:
    missing = entry["missing"]
    return {
        "categories": tuple(LevelShares(**level) for level in entry["levels"]),
        "missing": None if missing is None else MissingShares(**missing),
        **{name: _range(entry[name]) for name in ("range_x", "range_y")},
    }


def _explanation(
    data: Dict[str, Any], text: str, scores: Sequence[NDArray[np.float64]], index: Dict[str, Any]
) -> Explanation:
    def direction(entry: Dict[str, Any]) -> ExplainedDirection:
        entry = {**entry, **{name: _number(entry[name]) for name in ("pvalue", "pvalue_adjusted")}}
        found: ExplainedDirection = picked(ExplainedDirection, entry, columns=carriers(entry), **_shape(entry))
        return found

    def picked(kind: Any, entry: Dict[str, Any], **more: Any) -> Any:
        names = {field.name for field in dataclasses.fields(kind)} & entry.keys() - more.keys()
        return kind(**{name: entry[name] for name in names}, **more)

    def carriers(entry: Dict[str, Any]) -> Tuple[Tuple[str, float], ...]:
        return tuple((column["name"], column["sensitivity"]) for column in entry["columns"])

    def extreme(entry: Dict[str, Any]) -> ExtremeRow:
        found: ExtremeRow = picked(ExtremeRow, entry, label=_label(index[entry["sample"]], entry["row"]))
        return found

    return Explanation(
        names=tuple(data["names"]),
        changes=tuple(change["text"] for change in data["changes"]),
        relations=tuple(
            picked(ExplainedRelation, entry, cells=tuple(RelationCell(**cell) for cell in entry["cells"]))
            for entry in data["relations"]
        ),
        n_relations_examined=data["n_relations_examined"],
        scores_x=scores[0],
        scores_y=scores[1],
        columns=tuple(picked(ExplainedColumn, entry, **_shape(entry), **_column(entry)) for entry in data["columns"]),
        directions=tuple(map(direction, data["directions"])),
        maximiser=None if data["maximiser"] is None else direction(data["maximiser"]),
        most_x=tuple(extreme(entry) for entry in data["rows"]["most_x"]),
        most_y=tuple(extreme(entry) for entry in data["rows"]["most_y"]),
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
