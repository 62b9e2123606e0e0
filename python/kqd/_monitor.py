"""kqd.Monitor: a baseline and its batches, one after another."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Tuple, Union

from numpy.typing import ArrayLike

from . import _arrays, _core
from ._options import Rng, count, hinting, seed_from, text, threads
from ._profile import PathLike, Profile, profile
from ._progress import ProgressCallback, shown
from ._results import frame, table


@dataclass(frozen=True)
class MonitoredColumn:
    """A column of a batch: its distance to the baseline in pooled standard deviations, and its shift."""

    name: str
    effect: float
    shift: float
    pvalue_adjusted: float


@dataclass(frozen=True)
class MonitorEntry:
    """A batch and how it compares with the baseline."""

    name: str
    n: int
    statistic: float
    pvalue: float
    pvalue_adjusted: float
    reject: bool
    effect_size: float
    effect_interval: Optional[Tuple[float, float]]
    changed: Optional[str]
    columns: Tuple[MonitoredColumn, ...]
    alarm_pvalue: Optional[float]
    evidence: float
    warnings: Tuple[str, ...]


def _entry(fields: Dict[str, Any]) -> MonitorEntry:
    interval = fields["effect_size_ci"]
    return MonitorEntry(
        name=fields["name"],
        n=fields["n"],
        statistic=fields["statistic"],
        pvalue=fields["pvalue"],
        pvalue_adjusted=fields["adjusted_pvalue"],
        reject=fields["reject"],
        effect_size=fields["effect_size"],
        effect_interval=None if interval is None else (interval[0], interval[1]),
        changed=fields["changed"],
        columns=tuple(
            MonitoredColumn(c["name"], c["effect"], c["shift"], c["adjusted_pvalue"]) for c in fields["columns"]
        ),
        alarm_pvalue=fields["alarm_pvalue"],
        evidence=fields["evidence"],
        warnings=tuple(warning["text"] for warning in fields["warnings"]),
    )


def _cells(entry: MonitorEntry) -> Tuple[str, ...]:
    differs = "yes" if entry.reject else "no"
    return entry.name, str(entry.n), f"{entry.effect_size:.4g}", f"{entry.pvalue_adjusted:.4g}", differs, entry.changed or ""


class Monitor:
    """Which batches differ from a baseline, since when, and in what?

    Each batch is tested against the baseline, and p-values are adjusted for all batches so far. The alarm compares
    batches with each other; it may be looked at after every batch, for ever: while nothing changes it is raised with
    probability `alpha` at most. Only counts are kept, no rows.

    Parameters
    ----------
    baseline : array_like, Profile or path of a profile
        The rows that batches are compared with.
    batch_rows : int, optional
        Rows of a usual batch: groups of rows are made so small that such a batch has 32 of them. By default a tenth of
        the baseline. Not with a profile.
    method : str
        ``"adaptive"`` (default), or ``"ekqd"``, which is faster.
    alpha, n_resamples, rng, workers, progress
        As for `kqd.test`. By default as many permutations as adjusted p-values need.
    baseline_rule : str
        ``"fixed"``, ``"previous"`` or ``"rolling:N"``: the batches that a batch is compared with.
    adjust : "benjamini-hochberg" or "holm"
        Adjustment of p-values for the number of batches.
    average_run_length : float, optional
        Let the alarm be raised once in so many batches on average while nothing changes.

    Examples
    --------
    >>> import numpy as np, kqd
    >>> rng = np.random.default_rng(1)
    >>> monitor = kqd.Monitor(rng.normal(size=(4000, 2)), batch_rows=500, method="ekqd", rng=0)
    >>> for day in range(5):
    ...     entry = monitor.update(rng.normal(size=(500, 2)) + [0, 0.5 * (day == 4)], name=f"day {day}")
    >>> entry.reject, entry.changed
    (True, 'column 2')
    >>> [e.name for e in monitor.history if e.reject]
    ['day 4']
    """

    _core: _core.Monitor

    @hinting
    def __init__(
        self,
        baseline: Union[ArrayLike, Profile, PathLike],
        *,
        batch_rows: Optional[int] = None,
        method: str = "adaptive",
        alpha: float = 0.05,
        n_resamples: Optional[int] = None,
        baseline_rule: str = "fixed",
        adjust: str = "benjamini-hochberg",
        average_run_length: Optional[float] = None,
        rng: Rng = None,
        workers: Optional[int] = None,
        progress: Union[None, bool, ProgressCallback] = None,
    ) -> None:
        if isinstance(baseline, (Profile, str, os.PathLike)):
            if batch_rows is not None:
                raise ValueError("batch_rows is given with a profile, whose groups have a size; leave it out")
            base = profile(baseline, "baseline")
        else:
            n_rows = len(_arrays.matrix(baseline, "baseline"))
            usual = max(1, n_rows // 10) if batch_rows is None else count(batch_rows, "batch_rows")
            base = Profile(
                baseline,
                rows_per_group=_core.monitored_group_rows(n_rows, usual),
                rng=rng,
                workers=workers,
                progress=progress,
            )
        self._core = _core.Monitor.make(
            base._core,
            text(method, "method"),
            float(alpha),
            0 if n_resamples is None else count(n_resamples, "n_resamples"),
            str(seed_from(rng)),
            text(baseline_rule, "baseline_rule"),
            text(adjust, "adjust"),
            None if average_run_length is None else float(average_run_length),
            threads(workers),
        )

    @hinting
    def update(
        self,
        batch: Union[ArrayLike, Profile, PathLike],
        name: Optional[str] = None,
        *,
        progress: Union[None, bool, ProgressCallback] = None,
    ) -> MonitorEntry:
        """Add a batch: its rows, or a profile that was counted like the baseline. Returns how it compares."""
        if isinstance(batch, (Profile, str, os.PathLike)):
            counted = profile(batch, "batch")
        else:
            counted = Profile(batch, like=self.baseline)
        label = f"batch {len(self.history) + 1}" if name is None else text(name, "name")
        with shown(progress) as callback:
            self._core.update(label, counted._core, callback)
        return self.history[-1]

    @property
    def baseline(self) -> Profile:
        """The profile of the baseline, for `kqd.Profile(batch, like=...)`."""
        return Profile.from_bytes(self._core.baseline().to_bytes())

    @property
    def history(self) -> List[MonitorEntry]:
        """All batches, in the order in which they came."""
        return [_entry(fields) for fields in self._fields()["batches"]]

    @property
    def alarm(self) -> Optional[str]:
        """The batch at which the alarm was raised; None: it was not."""
        return self._fields()["alarm"]  # type: ignore[no-any-return]

    @property
    def threshold(self) -> float:
        """The evidence at which the alarm is raised."""
        return self._fields()["threshold"]  # type: ignore[no-any-return]

    @property
    def change(self) -> Optional[Dict[str, Any]]:
        """Since when, once the alarm is raised: ``start``, ``likely`` (its confidence set), ``confidence_level``."""
        return self._fields()["change"]  # type: ignore[no-any-return]

    def to_frame(self) -> Any:
        """The history as a pandas DataFrame, a row per batch."""
        rows = [{key: value for key, value in fields.items() if key not in ("columns", "warnings")}
                for fields in self._fields()["batches"]]
        return frame(rows)

    def summary(self) -> str:
        """The report as text, as ``print`` shows it."""
        return repr(self)

    def plot(self, ax: Any = None) -> Any:
        """Draw effect sizes with their intervals over the batches; filled points differ. Returns the axes."""
        from matplotlib import pyplot

        entries = self.history
        if ax is None:
            ax = pyplot.subplots(figsize=(max(5.0, 0.3 * len(entries)), 3.5))[1]
        for i, entry in enumerate(entries):
            if entry.effect_interval is not None:
                ax.plot([i, i], entry.effect_interval, color="0.5", linewidth=1)
            ax.plot(i, entry.effect_size, "o", color="C3", markerfacecolor="C3" if entry.reject else "white")
        ax.axhline(0, color="0", linewidth=0.8)
        ax.set_xticks(range(len(entries)), [entry.name for entry in entries], rotation=45, ha="right")
        ax.set_ylabel("effect size")
        return ax

    def to_html(self, path: Optional[PathLike] = None) -> str:
        """The report page with the timeline; also written to `path` if that is given."""
        page = self._core.page()
        if path is not None:
            with open(os.fspath(path), "w", encoding="utf-8") as file:
                file.write(page)
        return page

    def save(self, path: PathLike) -> None:
        """Write everything that the next batch needs; the program continues it by ``kqd monitor --state``."""
        self._core.save(os.fspath(path))

    @staticmethod
    def load(path: PathLike) -> Monitor:
        """Continue from a file."""
        return _of(_core.Monitor.load(os.fspath(path)))

    def _fields(self) -> Dict[str, Any]:
        return json.loads(self._core.json())  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return self._core.text().rstrip("\n")

    def _repr_html_(self) -> str:
        alarm = self.alarm
        title = "Monitor: no alarm" if alarm is None else f"Monitor: alarm at {alarm}"
        head = ("batch", "rows", "effect size", "adjusted p", "differs", "changed")
        return table(title, [head, *map(_cells, self.history)])

    def __reduce__(self) -> Tuple[Any, ...]:
        return _from_bytes, (self._core.to_bytes(),)


def _of(core: _core.Monitor) -> Monitor:
    monitor = Monitor.__new__(Monitor)
    monitor._core = core
    return monitor


def _from_bytes(data: bytes) -> Monitor:
    return _of(_core.Monitor.from_bytes(data))
