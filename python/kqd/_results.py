"""Results: frozen objects that print themselves and turn into plain dictionaries.

The fields of `TestResult` and `DistanceResult` are those of the library's table (src/report), which also names the
fields of JSON and CSV: a test compares them. Only `profiles` and `settings` are Python's own.
"""

from __future__ import annotations

import dataclasses
import html
import os
from typing import (TYPE_CHECKING, Any, ClassVar, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Type,
                    TypeVar, Union)

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pandas import DataFrame
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ._compare import Origin

_AnyResult = TypeVar("_AnyResult", bound="Result")


class ComponentStatistic(NamedTuple):
    """One of the statistics that a test aggregates."""

    name: str
    statistic: float
    #: Position of the statistic in its permutation null, as a standard normal deviate.
    score: float
    #: Unadjusted.
    pvalue: float
    #: Adjusted for all components (step-down); valid when the distributions are equal.
    adjusted_pvalue: float
    #: Of the largest over columns or pairs of columns, if the test rejects: the largest one, ``"income by plan"``.
    where: str


class EffectAspect(NamedTuple):
    """One way in which two samples differ: ``"location"``, ``"shape"`` or ``"relations"``."""

    name: str
    #: As far apart as a shift by this many standard deviations in one column; below 0 by noise only.
    effect: float
    #: Ends of its interval.
    lower: float
    upper: float


class QuantileProfile(NamedTuple):
    """The quantile functions of both samples along one direction."""

    #: Index of the direction in `per_direction`.
    direction: int
    #: Distance along it.
    gap: float
    levels: NDArray[np.float64]
    x_quantiles: NDArray[np.float64]
    y_quantiles: NDArray[np.float64]


class Maximiser(NamedTuple):
    """The direction with the largest gap: u = sum_j coefficients[j] k(reference[j], .)."""

    #: Index of the direction in `per_direction`.
    direction: int
    #: Distance along it.
    gap: float
    #: Points, a row each; None for functions of the columns, whose weights are the coefficients.
    reference: Optional[NDArray[np.float64]]
    coefficients: NDArray[np.float64]


class Finding:
    """A frozen dataclass of plain values and arrays; equality ignores threads and time."""

    #: Fields that describe the run, not the result.
    _RUN_ONLY: ClassVar[Tuple[str, ...]] = ("elapsed_s", "threads", "simd")
    #: Fields that enter the hash.
    _HASHED: ClassVar[Tuple[str, ...]] = ()

    def to_dict(self) -> Dict[str, Any]:
        """Every field by name, in plain Python types."""
        return {name: _plain(getattr(self, name)) for name in _public_fields(self)}

    def summary(self) -> str:
        """The report as text, as ``print`` shows it."""
        return repr(self)

    def to_frame(self) -> "DataFrame":
        """A table for pandas: one row with every field that is a single value."""
        plain = self.to_dict()
        return frame([{name: value for name, value in plain.items() if not isinstance(value, (list, dict))}])

    def __eq__(self, other: object) -> bool:
        """Whether all fields are equal except those of the run (time, threads)."""
        if type(other) is not type(self) or not isinstance(other, Finding):
            return NotImplemented
        mine, others = self.to_dict(), other.to_dict()
        return mine.keys() == others.keys() and all(
            mine[name] == others[name] for name in mine if name not in self._RUN_ONLY
        )

    def __hash__(self) -> int:
        return hash((type(self), *(getattr(self, name) for name in self._HASHED)))


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Result(Finding):
    """Fields that a distance and a test share."""

    #: The observed discrepancy, as the method reports it.
    statistic: float
    #: The observed distance along each direction; empty for methods without directions; read-only.
    per_direction: NDArray[np.float64]
    #: With ``profiles=k``: the quantiles of both samples along the k directions with the largest distances.
    profiles: Tuple[QuantileProfile, ...]
    #: Of methods that take the largest gap over directions: the direction that has it; else None.
    maximiser: Optional[Maximiser]
    #: The method's id, one of ``[m.id for m in kqd.methods()]``.
    method: str
    #: The kernel with the bandwidths that were used, such as ``"gaussian@1.5"``; ``kernel=`` accepts it.
    kernel: Optional[str]
    #: The bandwidth of the first part of the kernel that has one.
    bandwidth: Optional[float]
    #: The family of directions; with `power` and `weighting` None for methods without directions.
    directions: Optional[str]
    n_directions: int
    #: Reference points that span the directions; 0 for families without.
    n_reference: int
    #: Rows held out because they are reference points; 0 for a distance.
    n_set_aside: int
    #: Source of the reference points, ``"points"`` for the caller's own; None for families without.
    reference: Optional[str]
    #: Whether principal directions are scaled to unit variance.
    whiten: bool
    #: Compatibility flags that were on.
    compat: Tuple[str, ...]
    power: Optional[float]
    weighting: Optional[str]
    #: Passed as ``rng=`` it gives the same numbers again.
    seed: int
    #: Number of rows that were compared, without those dropped for a NaN.
    n_x: int
    n_y: int
    #: Number of columns.
    dim: int
    #: Names of the samples in texts.
    names: Tuple[str, ...]
    #: How a table was prepared: ``columns`` has the type of each, its levels and its missing values.
    data: Dict[str, Any]
    #: The method's own parameters, defaults included.
    parameters: Dict[str, Union[str, float]]
    #: Numbers specific to the method, such as ``{"converged": 1.0}``.
    details: Dict[str, float]
    #: The keywords of the call with the method and the seed that were used: ``kqd.test(x, y, **result.settings)``
    #: repeats it. A kernel function appears only by its name and has to be passed again.
    settings: Dict[str, Any]
    warnings: Tuple[str, ...]
    #: The name of each warning, such as ``"constant-columns"``: the guide lists all of them.
    warning_ids: Tuple[str, ...]
    threads: int
    #: Vector instruction set, such as ``"avx2"``.
    simd: str
    #: ``"fma"``: every CPU with fused multiply-add gives the same bits; ``"no-fma"`` on others.
    bits: str
    elapsed_s: float
    #: The report, as the program prints it: (label, text), the label of the verdict is empty.
    _lines: Tuple[Tuple[str, str], ...]

    #: The call that it comes from, for its page; not a field, and None for results of embeddings.
    _origin: ClassVar[Optional["Origin"]] = None
    _HASHED: ClassVar[Tuple[str, ...]] = ("method", "statistic", "seed")

    @classmethod
    def _of(cls: Type[_AnyResult], fields: Dict[str, Any]) -> _AnyResult:
        """Makes a result of all fields by name, without the setattr call per field that frozen classes need."""
        result = object.__new__(cls)
        result.__dict__.update(fields)
        return result

    def to_html(self, path: Union[str, "os.PathLike[str]"], *, image_shape: Optional[Sequence[int]] = None) -> None:
        """Write a page for a browser: the result in words and charts, and where the samples differ.

        One file that opens without a network, as `kqd test --report` writes it. The page explains where the samples
        differ as they are at the time of the call: a result keeps a reference to them. A result that was pickled or
        copied has no samples, and its page no explanation.

        Parameters
        ----------
        path : str or path
            Where to write; the file is written completely or not at all.
        image_shape : (height, width) or (height, width, channels), optional
            Shape of each row, if rows are images.
        """
        from . import _page

        _page.write(self, self._origin, path, image_shape)  # type: ignore[arg-type]

    def plot(self, *, kind: Optional[str] = None, ax: Optional["Axes"] = None) -> "Figure":
        """Plot the null distribution, the quantile profiles, or both side by side, with matplotlib.

        Parameters
        ----------
        kind : "null" or "profiles", optional
            Plot only this one. The first needs ``null_distribution=True``, the second ``profiles=k`` in the call.
        ax : matplotlib Axes, optional
            Axes to draw one of them into, instead of a new figure.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from . import _plots  # imports matplotlib

        return _plots.plot(self, kind, ax)

    def __repr__(self) -> str:
        title, rows = self._report()
        return "\n".join([title] + [f"  {label:<12} {text}" for label, text in rows])

    def _repr_html_(self) -> str:
        return table(*self._report())

    def _report(self) -> Tuple[str, List[Tuple[str, str]]]:
        """The title with the verdict, and the lines of the report."""
        name = type(self).__name__
        title = next((f"{name}: {text}" for label, text in self._lines if not label), name)
        rows = [(label, text) for label, text in self._lines if label]
        return title, rows + [("seed", str(self.seed))] + [("warning", text) for text in self.warnings]


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DistanceResult(Result):
    """A discrepancy between two samples, and what is needed to judge and repeat it.

    ``float(result)`` is the statistic.
    """

    #: The p-th power of the statistic (the statistic itself for p = infinity).
    statistic_power: float
    #: Monte Carlo standard error over directions; it does not include the noise of the data. None for a maximum.
    standard_error: Optional[float]
    #: Of profiles: lower and upper end of an interval that holds the distance of their rows for certain.
    interval: Optional[Tuple[float, float]]

    def __float__(self) -> float:
        return self.statistic


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TestResult(Result):
    """The outcome of a two-sample test, and what is needed to judge and repeat it.

    Unpacks as ``statistic, pvalue = result``.
    """

    __test__ = False  # not a class of tests, although pytest collects classes by this name

    #: The share of permutations at least as extreme, the observed one included: never 0.
    pvalue: float
    #: An interval for the p-value that all permutations would give; the p-value itself when all were evaluated.
    pvalue_ci: Tuple[float, float]
    #: Permutations with a statistic at least as large, ties included; the observed one only if `enumerated`.
    n_exceed: int
    #: Random permutations that were counted, or all permutations if `enumerated`.
    n_resamples: int
    #: ``pvalue <= alpha``.
    reject: bool
    alpha: float
    #: Of the intervals.
    confidence_level: float
    #: The discrepancy minus its permutation mean, in pooled standard deviations: near 0 for equal distributions.
    #: Of ``method="classifier"`` the AUC: near 0.5 for equal distributions.
    #: None with ``calibration="asymptotic"``, which has no permutations.
    effect_size: Optional[float]
    #: With a margin, and of an AUC always; with ``effect_interval=True``, claimed only away from equal distributions.
    effect_size_ci: Optional[Tuple[float, float]]
    #: The method that the effect size belongs to: `method`, or for a test of several statistics another one.
    effect_method: Optional[str]
    #: The unit of the effect size, in words.
    effect_unit: Optional[str]
    #: With ``null_distribution=True``: the statistic of every permutation, the observed one first if `enumerated`;
    #: read-only.
    null_distribution: Optional[NDArray[np.float64]]
    #: Of the statistic over permutations; None with ``calibration="asymptotic"``.
    permutation_mean: Optional[float]
    permutation_sd: Optional[float]
    #: All permutations were evaluated: the p-value has no Monte Carlo error.
    enumerated: bool
    stopped_early: bool
    #: The rule for early stopping.
    early_stop: str
    #: Whether ties with the observed statistic are broken at random.
    randomised_ties: bool
    #: Whether every column was measured from its pooled median in units of its pooled scale.
    own_scales: bool
    #: Whether reference points taken from the data are held out.
    set_aside: bool
    #: ``"independent"``, ``"paired"``, ``"blocks"`` or ``"clusters"``.
    design: str
    calibration: str
    #: Units whose labels were permuted: ``"rows"`` or ``"groups"``; None with ``calibration="asymptotic"``.
    permute: Optional[str]
    #: Assignment of rows to groups, ``"random"``, ``"key:COLUMN"`` or ``"blocks:COLUMN"``, if groups were permuted.
    groups: Optional[str]
    #: Promise of a test of these groups.
    groups_guarantee: Optional[str]
    #: Rows of a group, on average, if groups were permuted.
    rows_per_group: Optional[int]
    #: Groups of each sample, if groups were permuted.
    n_groups: Optional[Tuple[int, int]]
    #: The limiting distribution behind the p-value, for ``calibration="asymptotic"``.
    limiting_distribution: Optional[str]
    #: Interpretation of weights: ``"checked"``, ``"frequency"``, ``"precision"`` or ``"sampling"``.
    weights_as: str
    #: How weights and cluster sizes were handled.
    notes: Tuple[str, ...]
    #: The name of each note.
    note_ids: Tuple[str, ...]
    #: The component statistics of a test that aggregates several; else empty.
    components: Tuple[ComponentStatistic, ...]
    #: Column or pair of columns of the component with the largest score, of the significant ones that name one.
    largest_change: Optional[str]
    #: The effect against the margin: ``"different"``, ``"equivalent"`` or ``"undecided"``; None without a margin.
    verdict: Optional[str]
    margin: Optional[float]
    #: ``"tolerance"`` or ``"equivalent"``.
    margin_kind: Optional[str]
    #: Which part of the verdict is exact, which asymptotic.
    margin_basis: Optional[str]
    #: P-value of the hypothesis that the effect is at most the margin.
    pvalue_beyond: Optional[float]
    #: P-value of the hypothesis that the effect is at least the margin.
    pvalue_within: Optional[float]
    #: Rows of both samples for a verdict with probability 0.8, if the effect is as estimated; None unless undecided.
    rows_needed: Optional[int]
    #: With a margin: the effect by aspect.
    aspects: Tuple[EffectAspect, ...]
    #: With a margin: the AUC of a cross-fitted rule that tells rows of x and y apart, 0.5 by chance.
    separation: Optional[float]
    separation_ci: Optional[Tuple[float, float]]
    #: With ``tolerance="auto"``: how far each reference batch is from x.
    batch_effects: Tuple[float, ...]

    @property
    def effect_interval(self) -> Optional[Tuple[float, float]]:
        """Another name of `effect_size_ci`."""
        return self.effect_size_ci

    def __iter__(self) -> Iterator[float]:
        return iter((self.statistic, self.pvalue))

    def __bool__(self) -> bool:
        raise TypeError("a TestResult is neither true nor false; use result.reject, or compare result.pvalue")


def frame(rows: List[Dict[str, Any]]) -> "DataFrame":
    """A table of pandas."""
    try:
        import pandas
    except ImportError:
        raise ImportError("to_frame() needs pandas, which is not installed; to_dict() has plain types") from None
    return pandas.DataFrame(rows)


def table(caption: str, rows: Sequence[Sequence[str]]) -> str:
    """A table for a notebook. Each row starts with its name; the last cell of a short row spans the rest."""
    width = max(map(len, rows))

    def cell(tag: str, text: str, span: int) -> str:
        spanned = f' colspan="{span}"' if span > 1 else ""
        return f'<{tag}{spanned} style="text-align:left">{html.escape(text)}</{tag}>'

    def line(name: str, *texts: str) -> str:
        spans = [1] * (len(texts) - 1) + [width - len(texts)]
        return cell("th", name, 1) + "".join(cell("td", text, span) for text, span in zip(texts, spans))

    body = "".join(f"<tr>{line(*row)}</tr>" for row in rows)
    return f"<table><caption>{html.escape(caption)}</caption><tbody>{body}</tbody></table>"


def _public_fields(record: Any) -> List[str]:
    return [field.name for field in dataclasses.fields(record) if not field.name.startswith("_")]


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _plain(dataclasses.asdict(value))
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, (ComponentStatistic, EffectAspect, Maximiser, QuantileProfile)):
        return {key: _plain(entry) for key, entry in value._asdict().items()}
    return [_plain(entry) for entry in value] if isinstance(value, (tuple, list)) else value
