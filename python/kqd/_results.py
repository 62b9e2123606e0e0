"""What comes back: frozen objects that print themselves and turn into plain dictionaries."""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, Iterable, Optional, Tuple

import numpy as np
from numpy.typing import NDArray


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DistanceResult:
    """A discrepancy between two samples, and what is needed to judge and repeat it.

    ``float(result)`` is the statistic.
    """

    #: The discrepancy, a root: in the units of the directions' values.
    statistic: float
    #: Its p-th power (the statistic itself for p = infinity).
    statistic_power: float
    #: Monte Carlo error over directions; it says nothing about the noise of the data. None for a maximum.
    standard_error: Optional[float]
    #: The gap along each direction, rooted; read-only.
    per_direction: NDArray[np.float64]
    #: The squared MMD (V-statistic), when a centered form needed it.
    mmd_squared: Optional[float]
    #: The method's id, one of ``[m.id for m in kqd.methods()]``.
    method: str
    #: The kernel with the bandwidths that were used, such as ``"gaussian@1.5"``; ``kernel=`` takes it back.
    kernel: str
    #: The bandwidth of the first part of the kernel that has one.
    bandwidth: Optional[float]
    #: The family of directions.
    directions: str
    n_directions: int
    #: Reference points that span the directions; 0 for families without.
    n_reference: int
    #: Where they came from, ``"points"`` for the caller's own; None for families without.
    reference: Optional[str]
    power: float
    weighting: str
    #: Passed as ``rng=`` it gives the same numbers again.
    seed: int
    n_x: int
    n_y: int
    dim: int
    warnings: Tuple[str, ...]
    elapsed_s: float

    def __float__(self) -> float:
        return self.statistic

    def to_dict(self) -> Dict[str, Any]:
        """Every field by name, in plain Python types."""
        return {field.name: _plain(getattr(self, field.name)) for field in dataclasses.fields(self)}

    def __repr__(self) -> str:
        error = "" if self.standard_error is None else f" (Monte Carlo error {self.standard_error:.3g})"
        reference = f", {_counted(self.n_reference, 'reference point')} ({self.reference})" if self.reference else ""
        lines = [
            ("statistic", f"{self.statistic:.6g}{error}"),
            ("method", self.method),
            ("samples", f"{self.n_x} and {_counted(self.n_y, 'row')}, {_counted(self.dim, 'column')}"),
            ("kernel", self.kernel),
            ("directions", f"{self.n_directions} {self.directions}{reference}"),
            ("power", f"{self.power:g}"),
            ("weighting", self.weighting),
            ("seed", str(self.seed)),
        ]
        return _block("DistanceResult", lines + [("warning", text) for text in self.warnings])


def _block(title: str, lines: Iterable[Tuple[str, str]]) -> str:
    return "\n".join([title] + [f"  {name:<12}{text}" for name, text in lines])


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value
