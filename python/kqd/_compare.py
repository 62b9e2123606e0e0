"""The common part of kqd.distance and kqd.test: from keywords to samples and settings, and back to a result."""

from __future__ import annotations

import time
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import _arrays, _core, _objects
from ._arrays import Warned
from ._kernels import PRECOMPUTED, kernel_name
from ._options import core_settings, count, own_parameters, refuse_unknown, settings
from ._results import Maximiser, Profile, Result

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
    #: The kernel was named, not given as a function.
    kernel_is_text: bool

    def __reduce__(self) -> Any:
        return Origin, (None, *self[1:])


class Comparison:
    """One call that compares two samples."""

    def __init__(self, call: str, asked: Mapping[str, Any]) -> None:
        self._started = time.perf_counter()
        self._asked = asked
        refuse_unknown(call, asked)
        self._num_profiles = count(asked["profiles"], "profiles")
        kernel = asked["kernel"]
        precomputed = isinstance(kernel, str) and kernel == PRECOMPUTED
        by_objects = not precomputed and _objects.are_meant(kernel, asked["x"], asked["y"])
        if precomputed or by_objects:
            _refuse_columns(asked, kernel_name(kernel))
        if precomputed:
            self.samples, core = _arrays.gram(asked["x"], asked["y"])
            self.settings = core_settings(call, asked, core)
        elif by_objects:
            (x, y), core = _objects.pooled(kernel, asked["x"], asked["y"])
            self.samples = _arrays.Samples(x, y, len(x.points) + len(y.points))
            self.settings = core_settings(call, asked, core)
        else:
            paired = asked.get("design") == "paired" or asked.get("calibration") == "sign-flip"
            self.samples = _arrays.samples(
                asked["x"], asked["y"], asked["x_weights"], asked["y_weights"],
                nan_policy=asked["nan_policy"], paired=paired,
            )
            self.settings = core_settings(call, asked)
        self._ignored = tuple(Warned(*found) for found in self.settings.complete(kernel_values_only=precomputed or by_objects))
        self.settings.set_parameters(own_parameters(call, self.settings.method, asked))
        if self._num_profiles > 0:
            self.settings.keep_effect_directions()

    def fields(self, found: Dict[str, Any]) -> Dict[str, Any]:
        """All fields of a result, from those that the library returns."""
        functions = found.pop("functions")
        self._null_shown = found.pop("null_shown", np.empty(0))
        samples = self.samples
        own = samples.warnings + self._ignored
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
        kernel_is_text = isinstance(self._asked["kernel"], str)
        rows = self._asked["x"], self._asked["y"]
        origin = Origin(rows, given, self._null_shown, kernel_is_text)
        object.__setattr__(result, "_origin", origin)  # results are frozen
        return result

    def _profiles(self, functions: Any, gaps: NDArray[np.float64]) -> List[Profile]:
        """Both samples along the directions with the largest gaps, the largest first."""
        if self._num_profiles == 0 or functions is None:
            return []
        strongest = np.argsort(-gaps, kind="stable")[: self._num_profiles]
        return [self._profile(functions, int(i), float(gaps[i])) for i in strongest]

    def _profile(self, functions: _core.Functions, direction: int, gap: float) -> Profile:
        quantiles = []
        for sample in (self.samples.x, self.samples.y):
            quantiles.append(_quantiles(functions.evaluate(sample.points, direction), sample.weights))
        return Profile(direction, gap, _PROFILE_LEVELS, *quantiles)


def _quantiles(values: NDArray[np.float64], weights: Optional[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The smallest value with at least the share `level` of the weight at or below it, for every level of a profile."""
    order = np.argsort(values, kind="stable")
    mass = np.ones(len(values)) if weights is None else weights[order, 0]
    cumulative = np.cumsum(mass) / mass.sum()
    ranks = np.searchsorted(cumulative, _PROFILE_LEVELS * (1 - 1e-12))
    quantiles = values[order][np.minimum(ranks, len(values) - 1)]
    quantiles.setflags(write=False)
    return quantiles


def _refuse_columns(asked: Mapping[str, Any], kernel: str) -> None:
    """Refuses what looks at the columns of the data, which objects and Gram matrices do not have."""
    for name in ("x_weights", "y_weights"):
        if asked[name] is not None:
            raise ValueError(f'{name} are given with kernel "{kernel}", which takes rows without weights')
    if asked["nan_policy"] != "raise":
        raise ValueError(
            f'nan_policy "omit" excludes rows of data, kernel "{kernel}" has none; exclude them first'
        )
