"""Drawings of results. matplotlib is imported when the first one is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional

import numpy as np

from ._arrays import quoted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_OBSERVED, _CHANCE = "#d55e00", "#9aa5b1"
_DIRECTIONS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9")  # distinguishable without red and green


def plot(result: Any, kind: Optional[str], ax: Optional["Axes"]) -> "Figure":
    """Draws what the result kept: one drawing into `ax`, or each into a place of a figure of its own."""
    drawings = _drawings(result, kind)
    if ax is not None:
        if len(drawings) != 1:
            raise ValueError('one place for two drawings; choose by kind="null" or kind="profiles"')
        drawings[0](result, ax)
        return ax.figure
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plot() draws with matplotlib, which is not installed") from None
    figure, axes = plt.subplots(
        1, len(drawings), figsize=(5.2 * len(drawings), 3.6), squeeze=False, layout="constrained"
    )
    for draw, place in zip(drawings, axes[0]):
        draw(result, place)
    return figure


def _drawings(result: Any, kind: Optional[str]) -> List[Callable[[Any, Any], None]]:
    """The drawings that were asked for, or all that there is something to draw for."""
    kept: Dict[str, Optional[Callable[[Any, Any], None]]] = {
        "null": _draw_null if getattr(result, "null_distribution", None) is not None else None,
        "profiles": _draw_profiles if result.profiles else None,
    }
    if kind is not None and kind not in kept:
        raise ValueError(f'kind {quoted(kind)} is unknown, expected "null" or "profiles"')
    found = [draw for name, draw in kept.items() if draw is not None and kind in (None, name)]
    if not found:
        how = {"null": "null_distribution=True", "profiles": "profiles=3"}
        wanted = how.get(kind or "", " or ".join(how.values()))
        raise ValueError(f"the result kept nothing to draw; call with {wanted}")
    return found


def _draw_null(result: Any, ax: "Axes") -> None:
    """The values of all permutations, and the place of the observed one among them."""
    values = result.null_distribution
    ax.hist(values, bins=_num_bins(values), color=_CHANCE, edgecolor="white", linewidth=0.4)
    ax.axvline(result.statistic, color=_OBSERVED, linewidth=2)
    low, high = min(values.min(), result.statistic), max(values.max(), result.statistic)
    margin = 0.05 * (high - low) or 1.0
    ax.set_xlim(low - margin, high + margin)
    right = result.statistic > (low + high) / 2
    ax.annotate(
        f"observed\np = {result.pvalue:.3g}",
        xy=(result.statistic, 0.97),
        xycoords=("data", "axes fraction"),
        xytext=(-6 if right else 6, 0),
        textcoords="offset points",
        ha="right" if right else "left",
        va="top",
        color=_OBSERVED,
    )
    ax.set_xlabel(f"{result.method} statistic")
    ax.set_ylabel("permutations")
    _finish(ax, f"all {len(values)} permutations" if result.enumerated else f"{len(values)} random permutations")


def _draw_profiles(result: Any, ax: "Axes") -> None:
    """x minus y at every level, along the strongest directions. The sign of a direction means nothing."""
    ax.axhline(0.0, color=_CHANCE, linewidth=1)
    for i, profile in enumerate(result.profiles):
        ax.plot(
            profile.levels,
            profile.x_quantiles - profile.y_quantiles,
            color=_DIRECTIONS[i % len(_DIRECTIONS)],
            linestyle=("-", "--", ":")[i // len(_DIRECTIONS) % 3],
            drawstyle="steps-mid",
            linewidth=1.6,
            label=f"direction {profile.direction}: gap {profile.gap:.3g}",
        )
    ax.set_xlim(0, 1)
    ax.set_xlabel("quantile level")
    ax.set_ylabel("quantile of x minus that of y")
    ax.legend(
        loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3, frameon=False, fontsize="small",
        columnspacing=1.2, handlelength=1.2,
    )
    _finish(ax, "where the samples differ")


def _finish(ax: "Axes", title: str) -> None:
    ax.set_title(title, loc="left", fontsize="medium")
    ax.spines[["top", "right"]].set_visible(False)


def _num_bins(values: Any) -> int:
    return int(np.clip(1.3 * np.sqrt(len(values)), 10, 60))
