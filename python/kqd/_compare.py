"""The common part of kqd.distance and kqd.test: from keywords to samples and settings, and back to a result."""

from __future__ import annotations

import time
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import _arrays, _core, _frames, _objects
from ._arrays import Warned
from ._kernels import KernelLike
from ._options import core_settings, count, own_parameters, refuse_unknown, settings
from ._results import Maximiser, QuantileProfile, Result

_PROFILE_LEVELS = np.arange(0.5, 100) / 100
_PROFILE_LEVELS.setflags(write=False)

SomeResult = TypeVar("SomeResult", bound=Result)


class Origin(NamedTuple):
    """The call that a result comes from, for its page."""

    #: The samples as they were given; None in a result that was pickled or copied.
    rows: Optional[Tuple[Any, Any]]
    #: How many rows they had.
    given: Tuple[int, ...]
    #: Values of the null distribution, at most 2000; none for a distance.
    null_shown: NDArray[np.float64]
    #: As it was given; None in a result that was pickled or copied.
    kernel: Optional[KernelLike]

    def __reduce__(self) -> Any:
        return Origin, (None, self.given, self.null_shown, None)


class Comparison:
    """One call that compares two samples."""

    samples: _arrays.Samples
    settings: _core.Settings
    _own_warnings: Tuple[Warned, ...]

    def __init__(self, call: str, asked: Mapping[str, Any]) -> None:
        self._start(asked)
        refuse_unknown(call, asked)
        self._num_profiles = count(asked["profiles"], "profiles")
        objects = _objects.compared(call, asked)
        if objects is not None:
            self.samples, self.settings = objects
        else:
            asked_for = [asked[name] for name in ("design", "calibration") if isinstance(asked.get(name), str)]
            paired = "paired" in asked_for or "sign-flip" in asked_for
            self.settings = core_settings(call, asked)
            self.samples = _frames.samples(asked, self.settings, paired)
        ignored = self.settings.complete()
        self._own_warnings = self.samples.warnings + tuple(Warned(*found) for found in ignored)
        self.settings.set_parameters(own_parameters(call, self.settings.method, asked))
        if self._num_profiles > 0:
            self.settings.keep_effect_directions()

    def _start(self, asked: Mapping[str, Any]) -> None:
        self._started = time.perf_counter()
        self._asked = asked
        self._num_profiles = 0
        self._own_warnings = ()

    def fields(self, found: Dict[str, Any]) -> Dict[str, Any]:
        """All fields of a result, from those that the library returns."""
        functions = found.pop("functions")
        self._null_shown = found.pop("null_shown", np.empty(0))
        own = self._own_warnings
        found["warnings"] = tuple(warning.text for warning in own) + found["warnings"]
        found["warning_ids"] = tuple(warning.id for warning in own) + found["warning_ids"]
        found["profiles"] = tuple(self._profiles(functions, found.pop("gaps")))
        found["maximiser"] = None if found["maximiser"] is None else Maximiser(*found["maximiser"])
        found["settings"] = settings(self._asked, self.settings.method, self.settings.seed)
        found["elapsed_s"] = time.perf_counter() - self._started
        return found

    def remembered(self, result: SomeResult) -> SomeResult:
        """The result, with the call that it comes from."""
        given = tuple(map(len, self.samples.kept or (self.samples.x.points, self.samples.y.points)))
        rows = self._asked["x"], self._asked["y"]
        origin = Origin(rows, given, self._null_shown, self._asked["kernel"])
        object.__setattr__(result, "_origin", origin)  # results are frozen
        return result

    def _profiles(self, functions: Any, gaps: NDArray[np.float64]) -> List[QuantileProfile]:
        """Both samples along the directions with the largest gaps, the largest first."""
        if self._num_profiles == 0 or functions is None:
            return []
        strongest = np.argsort(-gaps, kind="stable")[: self._num_profiles]
        return [self._profile(functions, int(i), float(gaps[i])) for i in strongest]

    def _profile(self, functions: _core.Functions, direction: int, gap: float) -> QuantileProfile:
        quantiles = []
        for sample in (self.samples.x, self.samples.y):
            quantiles.append(_quantiles(functions.evaluate(sample.points, direction), sample.weights))
        return QuantileProfile(direction, gap, _PROFILE_LEVELS, *quantiles)


def _quantiles(values: NDArray[np.float64], weights: Optional[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The smallest value with at least the share `level` of the weight at or below it, for every level of a profile."""
    order = np.argsort(values, kind="stable")
    mass = np.ones(len(values)) if weights is None else weights[order, 0]
    cumulative = np.cumsum(mass) / mass.sum()
    ranks = np.searchsorted(cumulative, _PROFILE_LEVELS * (1 - 1e-12))
    quantiles: NDArray[np.float64] = values[order][np.minimum(ranks, len(values) - 1)]
    quantiles.setflags(write=False)
    return quantiles
