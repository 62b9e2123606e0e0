"""Plots of results. matplotlib is imported with the first plot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence, cast

import numpy as np

from ._arrays import quoted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_OBSERVED, _NULL = "#d55e00", "#9aa5b1"
_LEVELS = np.arange(0.5, 200) / 200
_DIRECTIONS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9")  # distinguishable without red and green


def plot(result: Any, kind: Optional[str], ax: Optional["Axes"]) -> "Figure":
    """Plots what the result has: one plot into `ax`, or each into its own axes of a new figure."""
    drawings = _drawings(result, kind)
    if ax is not None:
        if len(drawings) != 1:
            raise ValueError('ax is one Axes for two plots; choose kind="null" or kind="profiles"')
        drawings[0](result, ax)
        return cast("Figure", ax.figure)
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plot() needs matplotlib, which is not installed") from None
    figure, axes = plt.subplots(
        1, len(drawings), figsize=(5.2 * len(drawings), 3.6), squeeze=False, layout="constrained"
    )
    for draw, place in zip(drawings, axes[0]):
        draw(result, place)
    return figure


def quantile_functions(
    embeddings: Sequence[Any], directions: Sequence[int], labels: Optional[Sequence[str]], ax: Any
) -> "Figure":
    """The quantile functions of all samples, one axes per direction."""
    names = [f"sample {i + 1}" for i in range(len(embeddings))] if labels is None else list(labels)
    if len(names) != len(embeddings):
        raise ValueError(f"labels has {len(names)} entries for {len(embeddings)} samples, expected one for each")
    places = _places(ax, len(directions), "directions")
    quantiles = [embedding.quantiles(_LEVELS) for embedding in embeddings]
    for place, direction in zip(places, directions):
        for i, (values, name) in enumerate(zip(quantiles, names)):
            place.plot(
                _LEVELS, values[direction], color=_DIRECTIONS[i % len(_DIRECTIONS)],
                linestyle=("-", "--", ":")[i // len(_DIRECTIONS) % 3], linewidth=1.6, label=name,
            )
        place.set_xlim(0, 1)
        place.set_xlabel("quantile level")
        _finish(place, f"direction {direction}")
    places[0].set_ylabel("quantile")
    if len(embeddings) > 1 or labels is not None:
        places[0].legend(frameon=False, fontsize="small")
    return cast("Figure", places[0].figure)


_SHOWN_LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)


def functions(embedding: Any, directions: Sequence[int], ax: Any) -> "Figure":
    """Directions as functions of one column, the values of the sample along them, and their quantiles."""
    places = _places(ax, len(directions), "directions")
    points = embedding.sample[:, 0]
    margin = 0.1 * float(np.ptp(points)) or 1.0
    grid = np.linspace(points.min() - margin, points.max() + margin, 400)
    curves = embedding.direction_values(grid)
    values = embedding.direction_values(points)
    quantiles = embedding.quantiles(_SHOWN_LEVELS)
    for place, i in zip(places, directions):
        place.plot(grid, curves[i], color=_DIRECTIONS[0], linewidth=1.6)
        place.plot(points, values[i], "|", color=_NULL, markersize=6)
        for level, quantile in zip(_SHOWN_LEVELS, quantiles[i]):
            place.axhline(quantile, color=_OBSERVED, linewidth=0.8, linestyle="-" if level == 0.5 else ":")
            place.annotate(f"{level:g}", xy=(1.01, quantile), xycoords=("axes fraction", "data"), va="center",
                           fontsize="x-small", color=_OBSERVED)
        place.set_xlabel("x")
        _finish(place, f"direction {i}: u(x), and quantiles of u(X)")
    return cast("Figure", places[0].figure)


def plane(embedding: Any, around: Any, ax: Any) -> "Figure":
    """A sample of two columns, its values along one direction, and its quantiles along all directions."""
    cloud, along, curves = _places(ax, 3, "panels")
    points = embedding.sample
    quantiles = around.quantiles(_SHOWN_LEVELS)
    widest = int(np.argmax(quantiles[:, -1] - quantiles[:, 0]))
    direction = around.coefficients[:, widest]
    center = points.mean(axis=0)
    cloud.plot(points[:, 0], points[:, 1], ".", color=_NULL, markersize=3)
    reach = float(np.abs(points - center).max())
    tip = center + reach * direction
    cloud.annotate("", xy=tip, xytext=center, arrowprops=dict(arrowstyle="->", color=_OBSERVED), annotation_clip=False)
    cloud.update_datalim([tip])  # it may lie outside the sample
    cloud.autoscale_view()
    cloud.set_aspect("equal", adjustable="datalim")
    _finish(cloud, "sample, and a direction u")
    values = points @ direction
    along.hist(values, bins=_num_bins(values), weights=embedding.weights, color=_NULL, edgecolor="white", linewidth=0.4)
    for quantile in quantiles[widest]:
        along.axvline(quantile, color=_OBSERVED, linewidth=1)
    along.set_xlabel("u.x")
    _finish(along, "values along u, and quantiles")
    for k, level in enumerate(_SHOWN_LEVELS):
        curve = quantiles[:, [k]] * around.coefficients.T
        closed = np.vstack([curve, curve[:1]])
        curves.plot(closed[:, 0], closed[:, 1], color=_DIRECTIONS[k], linewidth=1.4, label=f"{level:g}")
    curves.set_aspect("equal", adjustable="datalim")
    curves.legend(title="level", frameon=False, fontsize="small")
    _finish(curves, "quantiles along all directions")
    return cast("Figure", cloud.figure)


def _places(ax: Any, count: int, what: str) -> List[Any]:
    """The given Axes, or new ones."""
    places = _axes(count) if ax is None else list(np.ravel(np.asarray(ax, dtype=object)))
    if len(places) != count:
        raise ValueError(f"ax has {len(places)} Axes for {count} {what}, expected one for each")
    return places


def _axes(count: int) -> List[Any]:
    """Axes of a new figure, side by side."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plot() needs matplotlib, which is not installed") from None
    _, axes = plt.subplots(1, count, figsize=(4.2 * count, 3.4), squeeze=False, layout="constrained")
    return list(axes[0])


def _drawings(result: Any, kind: Optional[str]) -> List[Callable[[Any, Any], None]]:
    """The requested plot, or all for which the result has data."""
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
        raise ValueError(f"the result has nothing to plot; call with {wanted}")
    return found


def _draw_null(result: Any, ax: "Axes") -> None:
    """Histogram of the null distribution, with the observed statistic."""
    values = result.null_distribution
    ax.hist(values, bins=_num_bins(values), color=_NULL, edgecolor="white", linewidth=0.4)
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
    """The second sample minus the first at every level, along the strongest directions. The sign of a direction is arbitrary."""
    ax.axhline(0.0, color=_NULL, linewidth=1)
    for i, profile in enumerate(result.profiles):
        ax.plot(
            profile.levels,
            profile.y_quantiles - profile.x_quantiles,
            color=_DIRECTIONS[i % len(_DIRECTIONS)],
            linestyle=("-", "--", ":")[i // len(_DIRECTIONS) % 3],
            drawstyle="steps-mid",
            linewidth=1.6,
            label=f"direction {profile.direction}: gap {profile.gap:.3g}",
        )
    ax.set_xlim(0, 1)
    ax.set_xlabel("quantile level")
    ax.set_ylabel(f"quantile of {result.names[1]} minus quantile of {result.names[0]}")
    ax.legend(
        loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3, frameon=False, fontsize="small",
        columnspacing=1.2, handlelength=1.2,
    )
    _finish(ax, "quantile differences")


_X, _Y = "#0072b2", "#d55e00"


def explanation(found: Any, ax: Any, count: int) -> "Figure":
    """The columns and relations that changed most, one panel each."""
    panels = _panels(found.to_dict(), count)
    names = found.names
    places = _places(ax, len(panels), "panels")
    for place, (draw, entry) in zip(places, panels):
        draw(entry, names, place)
    places[0].legend(frameon=False, fontsize="small")
    return cast("Figure", places[0].figure)


def _panels(data: Dict[str, Any], count: int) -> List[Any]:
    """The panels: columns and relations that differ, relations first if there is room for one only of each kind."""
    drawable = [column for column in data["columns"] if column["levels"] or column["density"]]
    columns = [(_draw_column, column) for column in drawable if column["reject"]]
    relations = [(_draw_relation, relation) for relation in data["relations"] if relation["reject"]]
    room = max(1, count - min(len(relations), max(1, count // 2))) if columns else 0
    chosen = columns[:room] + relations[: count - min(room, len(columns))]
    return chosen or [(_draw_column, column) for column in drawable[:1]]


def _draw_column(column: Dict[str, Any], names: Sequence[str], ax: "Axes") -> None:
    """Densities of numbers, shares of levels."""
    if column["levels"]:
        levels = column["levels"][:10][::-1]
        _draw_pairs([(level["name"], level["x"], level["y"]) for level in levels], "share of the rows", names, ax)
    else:
        density = column["density"]
        ax.plot(density["at"], density["x"], color=_X, linewidth=1.6, label=names[0])
        ax.plot(density["at"], density["y"], color=_Y, linewidth=1.6, linestyle="--", label=names[1])
        ax.set_yticks([])
        ax.set_ylabel("density")
    _finish(ax, column["name"])


def _draw_relation(relation: Dict[str, Any], names: Sequence[str], ax: "Axes") -> None:
    """Means by level, means along a number, or a map of pairs of levels."""
    cells = relation["cells"]
    if relation["kind"] == "number by level":
        entries = [(c["second"], c["x"], c["y"]) for c in cells[:10][::-1]]
        _draw_pairs(entries, f"mean of {relation['first']}", names, ax)
    elif relation["kind"] == "numbers":
        at = list(range(len(cells)))
        ax.plot(at, [c["x"] for c in cells], "o-", color=_X, linewidth=1.6, label=names[0])
        ax.plot(at, [c["y"] for c in cells], "^--", color=_Y, linewidth=1.6, label=names[1])
        ax.set_xticks(at, [c["first"] for c in cells], rotation=45, ha="right")
        ax.set_xlabel(relation["first"])
        ax.set_ylabel(f"mean of {relation['second']}")
    else:
        firsts, seconds = (sorted({c[key] for c in cells}) for key in ("first", "second"))
        changes = np.zeros((len(firsts), len(seconds)))
        for c in cells:
            changes[firsts.index(c["first"]), seconds.index(c["second"])] = 100 * c["change"]
        reach = np.abs(changes).max() or 1.0
        shown = ax.imshow(changes, cmap="PuOr_r", vmin=-reach, vmax=reach, aspect="auto")
        ax.figure.colorbar(shown, ax=ax, label=f"change of the share, points, {names[1]} minus {names[0]}")
        ax.set_xticks(range(len(seconds)), seconds, rotation=45, ha="right")
        ax.set_yticks(range(len(firsts)), firsts)
    _finish(ax, relation["name"])


def _draw_pairs(entries: Sequence[Any], label: str, names: Sequence[str], ax: "Axes") -> None:
    """A row per name, with a point of each sample."""
    places = list(range(len(entries)))
    x, y = [entry[1] for entry in entries], [entry[2] for entry in entries]
    ax.hlines(places, np.minimum(x, y), np.maximum(x, y), color=_NULL, linewidth=1.4)
    ax.plot(x, places, "o", color=_X, markerfacecolor="white", label=names[0])
    ax.plot(y, places, "^", color=_Y, markerfacecolor="white", label=names[1])
    ax.set_yticks(places, [entry[0] for entry in entries])
    ax.set_xlabel(label)


def _finish(ax: "Axes", title: str) -> None:
    ax.set_title(title, loc="left", fontsize="medium")
    ax.spines[["top", "right"]].set_visible(False)


def _num_bins(values: Any) -> int:
    return int(np.clip(1.3 * np.sqrt(len(values)), 10, 60))
