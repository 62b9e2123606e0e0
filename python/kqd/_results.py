"""What comes back: frozen objects that print themselves and turn into plain dictionaries."""

from __future__ import annotations

import dataclasses
import html
import os
from typing import (TYPE_CHECKING, Any, ClassVar, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Type,
                    TypeVar, Union)

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ._compare import Origin

Lines = List[Tuple[str, str]]
_AnyResult = TypeVar("_AnyResult", bound="Result")


class Configuration(NamedTuple):
    """One of several statistics that a test looked at."""

    name: str
    statistic: float
    #: How extreme the statistic is among permutations, as a standard normal deviate.
    score: float
    #: For itself.
    pvalue: float
    #: For all configurations together (step-down); holds when the distributions are equal.
    adjusted_pvalue: float


class Profile(NamedTuple):
    """Both samples along one direction: where their quantile functions part."""

    #: Which direction, as in `per_direction`.
    direction: int
    #: The gap along it, rooted.
    gap: float
    levels: NDArray[np.float64]
    x_quantiles: NDArray[np.float64]
    y_quantiles: NDArray[np.float64]


class Finding:
    """A frozen dataclass of plain values and arrays: equal to another when all is the same but what the run took."""

    #: What a run takes, in the names of `to_dict`.
    _CIRCUMSTANCES: ClassVar[Tuple[str, ...]] = ("elapsed_s", "threads")
    #: Fields that tell findings apart well enough for a set of them.
    _TELLING: ClassVar[Tuple[str, ...]] = ()

    def to_dict(self) -> Dict[str, Any]:
        """Every field by name, in plain Python types."""
        return {field.name: _plain(getattr(self, field.name)) for field in dataclasses.fields(self)}

    def __eq__(self, other: object) -> bool:
        """Whether all is the same but for the time that it took."""
        if type(other) is not type(self):
            return NotImplemented
        mine, others = self.to_dict(), other.to_dict()  # type: ignore[attr-defined]
        return mine.keys() == others.keys() and all(
            mine[name] == others[name] for name in mine if name not in self._CIRCUMSTANCES
        )

    def __hash__(self) -> int:
        return hash((type(self), *(getattr(self, name) for name in self._TELLING)))


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Result(Finding):
    """What a distance and a test have in common."""

    #: The observed discrepancy, as the method reports it.
    statistic: float
    #: The observed gap along each direction, rooted; empty for methods without directions; read-only.
    per_direction: NDArray[np.float64]
    #: With ``profiles=k``: the quantiles of both samples along the k directions with the largest gaps.
    profiles: Tuple[Profile, ...]
    #: The method's id, one of ``[m.id for m in kqd.methods()]``.
    method: str
    #: The kernel with the bandwidths that were used, such as ``"gaussian@1.5"``; ``kernel=`` takes it back.
    kernel: Optional[str]
    #: The bandwidth of the first part of the kernel that has one.
    bandwidth: Optional[float]
    #: The family of directions; with `power` and `weighting` None for methods without directions.
    directions: Optional[str]
    n_directions: int
    #: Reference points that span the directions; 0 for families without.
    n_reference: int
    #: Where they came from, ``"points"`` for the caller's own; None for families without.
    reference: Optional[str]
    power: Optional[float]
    weighting: Optional[str]
    #: Passed as ``rng=`` it gives the same numbers again.
    seed: int
    #: Rows that were compared, without those left out for a NaN.
    n_x: int
    n_y: int
    #: Columns.
    dim: int
    #: The method's own parameters, defaults included.
    parameters: Dict[str, Union[str, float]]
    #: What the method has to say of its own, such as ``{"converged": 1.0}``.
    details: Dict[str, float]
    #: The keywords of the call with the method and the seed that were used: ``kqd.test(x, y, **result.settings)``
    #: repeats it. A kernel function is told by its name only and has to be given again.
    settings: Dict[str, Any]
    warnings: Tuple[str, ...]
    #: The name of each warning, such as ``"constant-columns"``: the guide lists all of them.
    warning_ids: Tuple[str, ...]
    #: ``"fma"``: every CPU with fused multiply-add gives the same bits; ``"no-fma"`` on others.
    bits: str
    elapsed_s: float

    #: Where it comes from, for its page; no field, and None for results of embeddings.
    _origin: ClassVar[Optional["Origin"]] = None
    _TELLING: ClassVar[Tuple[str, ...]] = ("method", "statistic", "seed")

    @classmethod
    def _of(cls: Type[_AnyResult], fields: Dict[str, Any]) -> _AnyResult:
        """From all fields by name; without the call for each that a frozen class makes, the most expensive part of a result."""
        result = object.__new__(cls)
        result.__dict__.update(fields)
        return result

    def to_html(self, path: Union[str, "os.PathLike[str]"], *, image_shape: Optional[Sequence[int]] = None) -> None:
        """Write a page for a browser: the result in words and charts, and where the samples differ.

        One file that opens without a network, as `kqd test --report` writes it. The samples are looked at again, as
        they are then: a result keeps a reference to them, but not when it is pickled or copied, and its page then
        leaves out where they differ.

        Parameters
        ----------
        path : str or path
            Where to write; the file is there as a whole or not at all.
        image_shape : (height, width) or (height, width, channels), optional
            Rows are pictures, and are shown as such.
        """
        from . import _page

        _page.write(self, self._origin, path, image_shape)  # type: ignore[arg-type]

    def plot(self, *, kind: Optional[str] = None, ax: Optional["Axes"] = None) -> "Figure":
        """Draw what was kept, with matplotlib: the null distribution, the quantile profiles, or both side by side.

        Parameters
        ----------
        kind : "null" or "profiles", optional
            One of the two only. The first needs ``null_distribution=True``, the second ``profiles=k`` in the call.
        ax : matplotlib Axes, optional
            Where to draw one of them, instead of a figure of its own.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from . import _plots  # matplotlib is wanted here only

        return _plots.plot(self, kind, ax)

    def __repr__(self) -> str:
        return "\n".join([type(self).__name__] + [f"  {name:<12}{text}" for name, text in self._lines()])

    def _repr_html_(self) -> str:
        return table(type(self).__name__, self._lines())

    def _lines(self) -> Lines:
        return self._findings() + self._circumstances()

    def _findings(self) -> Lines:
        raise NotImplementedError

    def _circumstances(self) -> Lines:
        """What was compared and how."""
        lines = [
            ("samples", f"{self.n_x} and {_counted(self.n_y, 'row')}, {_counted(self.dim, 'column')}"),
        ]
        if self.kernel is not None:
            lines.append(("kernel", self.kernel))
        if self.n_directions:
            points = _counted(self.n_reference, "reference point")
            reference = f", {points} ({self.reference})" if self.reference else ""
            lines.append(("directions", f"{self.n_directions} {self.directions}{reference}"))
        if self.power is not None:
            lines.append(("power", f"{self.power:g}"))
        if self.weighting is not None:
            lines.append(("weighting", self.weighting))
        if self.parameters:
            own = ", ".join(f"{name} = {_short(value)}" for name, value in self.parameters.items())
            lines.append(("settings", own))
        if self.details:
            lines.append(("details", ", ".join(f"{name} {value:.6g}" for name, value in self.details.items())))
        return lines + [("seed", str(self.seed))] + [("warning", text) for text in self.warnings]


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DistanceResult(Result):
    """A discrepancy between two samples, and what is needed to judge and repeat it.

    ``float(result)`` is the statistic.
    """

    #: The p-th power of the statistic (the statistic itself for p = infinity).
    statistic_power: float
    #: Monte Carlo error over directions; it says nothing about the noise of the data. None for a maximum.
    standard_error: Optional[float]
    #: The squared MMD (V-statistic), when a centered form needed it.
    mmd_squared: Optional[float]

    def __float__(self) -> float:
        return self.statistic

    def _findings(self) -> Lines:
        error = "" if self.standard_error is None else f" (Monte Carlo error {self.standard_error:.3g})"
        return [("statistic", f"{self.statistic:.6g}{error}"), ("method", self.method)]


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TestResult(Result):
    """The outcome of a two-sample test, and what is needed to judge and repeat it.

    Unpacks as ``statistic, pvalue = result``.
    """

    __test__ = False  # not a class of tests, whatever pytest thinks of its name

    #: The share of permutations at least as extreme, the observed one included: never 0.
    pvalue: float
    #: An interval for the p-value that all permutations would give; the p-value itself when all were evaluated.
    pvalue_ci: Tuple[float, float]
    #: PermutationSet with a discrepancy at least as large, ties included; the observed one only if `enumerated`.
    n_exceed: int
    #: Random permutations that were counted, or all permutations if `enumerated`.
    n_resamples: int
    #: ``pvalue <= alpha``.
    reject: bool
    alpha: float
    #: Of the intervals.
    confidence_level: float
    #: The discrepancy beyond its mean over permutations, in units of the pooled spread: near 0 for equal distributions.
    #: None with ``calibration="asymptotic"``, which permutes nothing.
    effect_size: Optional[float]
    #: With ``effect_interval=True``; claimed away from equal distributions only.
    effect_size_ci: Optional[Tuple[float, float]]
    #: With ``null_distribution=True``: the value of every permutation, the observed one first if `enumerated`; read-only.
    null_distribution: Optional[NDArray[np.float64]]
    #: Of the values of the permutations; None with ``calibration="asymptotic"``.
    permutation_mean: Optional[float]
    permutation_sd: Optional[float]
    #: All permutations were evaluated: the p-value has no Monte Carlo error.
    enumerated: bool
    stopped_early: bool
    #: Rows that took no part, as they were reference points.
    n_set_aside: int
    #: ``"independent"``, ``"paired"``, ``"blocks"`` or ``"clusters"``.
    design: str
    calibration: str
    #: The limiting distribution behind the p-value, for ``calibration="asymptotic"``.
    limiting_distribution: Optional[str]
    #: What weights were taken to be: ``"checked"``, ``"frequency"``, ``"precision"`` or ``"sampling"``.
    weights_as: str
    #: How weights and cluster sizes were dealt with.
    notes: Tuple[str, ...]
    #: The name of each note.
    note_ids: Tuple[str, ...]
    #: What a test that aggregates several statistics found for each; else empty.
    configurations: Tuple[Configuration, ...]

    def __iter__(self) -> Iterator[float]:
        return iter((self.statistic, self.pvalue))

    def __bool__(self) -> bool:
        raise TypeError("a TestResult is neither true nor false; use result.reject, or compare result.pvalue")

    def _findings(self) -> Lines:
        found = "different" if self.reject else "no difference found"
        lines = [
            ("statistic", f"{self.statistic:.6g}{self._chance()}"),
            ("p-value", f"{self.pvalue:.4g} ({self._certainty()})"),
            ("decision", f"{found} at level {self.alpha:g}"),
        ]
        if self.effect_size is not None:
            stopped = " random (stopped early)" if self.stopped_early else "" if self.enumerated else " random"
            lines += [
                ("effect size", f"{self.effect_size:.3g}{self._effect_interval()}"),
                ("permutations", f"{self.n_resamples}{stopped}, {self.n_exceed} as far apart or further"),
            ]
        lines.append(("method", f"{self.method}, {self.design} design, {self.calibration}"))
        lines += [("note", note) for note in self.notes]
        return lines + self._telling()

    def _chance(self) -> str:
        if self.permutation_mean is None:
            return ""
        return f" (by chance {self.permutation_mean:.3g} +- {self.permutation_sd:.3g})"

    def _telling(self) -> Lines:
        """The configurations that stand out most."""
        first = sorted(self.configurations, key=lambda c: -c.score)[:3]
        word = "seen in" if self.reject else "looked for"
        return [(word, f"{c.name} (p {c.pvalue:.3g}, adjusted {c.adjusted_pvalue:.3g})") for c in first]

    def _certainty(self) -> str:
        if self.limiting_distribution is not None:
            return self.limiting_distribution
        if self.enumerated:
            return "exact: all permutations were evaluated"
        return _interval(self.pvalue_ci, self.confidence_level) + (", anytime-valid" if self.stopped_early else "")

    def _effect_interval(self) -> str:
        return f" ({_interval(self.effect_size_ci, self.confidence_level)})" if self.effect_size_ci else ""


def table(caption: str, rows: Sequence[Sequence[str]]) -> str:
    """A table for a notebook: each row starts with its name, and the last cell of a short one takes the room left."""
    width = max(map(len, rows))

    def cell(tag: str, text: str, span: int) -> str:
        spanned = f' colspan="{span}"' if span > 1 else ""
        return f'<{tag}{spanned} style="text-align:left">{html.escape(text)}</{tag}>'

    def line(name: str, *texts: str) -> str:
        spans = [1] * (len(texts) - 1) + [width - len(texts)]
        return cell("th", name, 1) + "".join(cell("td", text, span) for text, span in zip(texts, spans))

    body = "".join(f"<tr>{line(*row)}</tr>" for row in rows)
    return f"<table><caption>{html.escape(caption)}</caption><tbody>{body}</tbody></table>"


def _short(value: Union[str, float]) -> str:
    return value if isinstance(value, str) else f"{value:.6g}"


def _interval(ends: Tuple[float, float], confidence_level: float) -> str:
    return f"{100 * confidence_level:g} % interval {ends[0]:.3g} to {ends[1]:.3g}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if dataclasses.is_dataclass(value):
        return _plain(dataclasses.asdict(value))
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, (Configuration, Profile)):
        return {key: _plain(entry) for key, entry in value._asdict().items()}
    return [_plain(entry) for entry in value] if isinstance(value, (tuple, list)) else value
