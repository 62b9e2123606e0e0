"""What kqd.distance and kqd.test share: from the keywords of a call to samples and options, and back to a result."""

from __future__ import annotations

import time
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import _arrays, _core
from ._arrays import Warned, warned
from ._kernels import PRECOMPUTED
from ._options import KEYWORDS, compat_text, core_options, count, own_parameters, settings, text
from ._results import Profile, Result

_PROFILE_LEVELS = np.arange(0.5, 100) / 100
_PROFILE_LEVELS.setflags(write=False)

SomeResult = TypeVar("SomeResult", bound=Result)


class Origin(NamedTuple):
    """What a result knows of the call it comes from, next to its fields: for its page."""

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
    """One call that compares two samples; a test may name no method."""

    def __init__(self, asked: Mapping[str, Any], method: Optional[str], defaults: Mapping[str, Any]) -> None:
        self._started = time.perf_counter()
        self._asked = asked
        self._num_profiles = count(asked["profiles"], "profiles", lowest=0)
        precomputed = isinstance(asked["kernel"], str) and asked["kernel"] == PRECOMPUTED
        if precomputed:
            _require_kernel_values_only(asked, "ekqd" if method is None else text(method, "method"))
            self.samples, kernel = _arrays.gram(asked["x"], asked["y"])
            self.options = core_options({**asked, "reference": _pooled(asked["reference"])}, kernel)
        else:
            paired = asked.get("design") == "paired" or asked.get("calibration") == "sign-flip"
            self.samples = _arrays.samples(
                asked["x"], asked["y"], asked["x_weights"], asked["y_weights"],
                nan_policy=asked["nan_policy"], paired=paired,
            )
            self.options = core_options(asked)
        default = _core.default_test_method(self.options, precomputed) if method is None else method
        self.method = text(default, "method")
        self.options.set_parameters(self.method, own_parameters(self.method, asked))
        self._ignored = _ignored(asked, self.method, defaults) + _ignored_by_calibration(asked, defaults)

    def fields(self, found: Dict[str, Any]) -> Dict[str, Any]:
        """All fields of a result, from those that the library returns."""
        functions = found.pop("functions")
        self._null_shown = found.pop("null_shown", np.empty(0))
        samples = self.samples
        own = samples.warnings + self._ignored
        found["warnings"] = tuple(warning.text for warning in own) + found["warnings"]
        found["warning_ids"] = tuple(warning.id for warning in own) + found["warning_ids"]
        found["profiles"] = tuple(self._profiles(functions, found.pop("gaps")))
        found["settings"] = settings(self._asked, self.method, self.options.seed)
        found["elapsed_s"] = time.perf_counter() - self._started
        return found

    def remembered(self, result: SomeResult) -> SomeResult:
        """The result, which then knows where it comes from."""
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


def is_default(value: Any, default: Any) -> bool:
    """No default is an array, whose == is not a truth value."""
    return value is default or (np.isscalar(value) and bool(value == default))


def _ignored(asked: Mapping[str, Any], method: str, defaults: Mapping[str, Any]) -> Tuple[Warned, ...]:
    """A warning about the options that were given and change nothing, so that they do not look as if they did."""
    directions, reference = asked["directions"], asked["reference"]
    unused = _core.unused_options(method, directions, not isinstance(reference, str))
    keywords = [KEYWORDS.get(name, name) for name in unused]
    names = [name for name in keywords if not is_default(asked[name], defaults[name])]
    if "compat" in names and not compat_text(asked["compat"]):  # an empty list
        names.remove("compat")
    if not names:
        return ()
    along = f" with {directions} directions" if _core.method(method).uses_directions else ""
    return (warned("options-unused-by-method", ", ".join(names), f"method {method}{along}"),)


def _ignored_by_calibration(asked: Mapping[str, Any], defaults: Mapping[str, Any]) -> Tuple[Warned, ...]:
    """The same for the calibration of a test."""
    calibration = asked.get("calibration", "permutation")
    keywords = [KEYWORDS.get(name, name.replace("-", "_")) for name in _core.unused_test_options(calibration)]
    names = [name for name in keywords if not is_default(asked[name], defaults[name])]
    return (warned("options-unused-by-calibration", ", ".join(names), calibration),) if names else ()


def _quantiles(values: NDArray[np.float64], weights: Optional[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The smallest value with at least the share `level` of the weight at or below it, for every level of a profile."""
    order = np.argsort(values, kind="stable")
    mass = np.ones(len(values)) if weights is None else weights[order, 0]
    cumulative = np.cumsum(mass) / mass.sum()
    ranks = np.searchsorted(cumulative, _PROFILE_LEVELS * (1 - 1e-12))
    quantiles = values[order][np.minimum(ranks, len(values) - 1)]
    quantiles.setflags(write=False)
    return quantiles


def _require_kernel_values_only(asked: Mapping[str, Any], method: str) -> None:
    """Refuses what looks at the columns of the data, of which a Gram matrix knows nothing."""
    info = _core.method(method)
    if not info.uses_kernel or info.uses_columns:
        raise ValueError(
            f'method "{method}" looks at columns, kernel "precomputed" has none; use "ekqd", "mmd" or another'
        )
    directions = asked["directions"]
    if directions in ("linear", "axis"):
        raise ValueError(
            f'directions "{directions}" look at columns, kernel "precomputed" has none; use "gaussian" or "principal"'
        )
    for name in ("x_weights", "y_weights"):
        if asked[name] is not None:
            raise ValueError(f'{name} are given next to kernel "precomputed", which takes rows without weights')
    if asked["nan_policy"] != "raise":
        raise ValueError(
            'nan_policy "omit" leaves rows of data out, kernel "precomputed" has a matrix; leave them out first'
        )
    if asked["bandwidth"] != "median":
        raise ValueError('bandwidth is given next to kernel "precomputed", which has none; leave it out')


def _pooled(reference: Any) -> str:
    """Reference points of a Gram matrix are pooled rows, since it is known nowhere else."""
    if not isinstance(reference, str):
        raise ValueError('reference points are given next to kernel "precomputed", which knows the pooled rows only')
    return "pooled" if reference == "gaussian" else reference
