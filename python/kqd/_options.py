"""From keywords to the options of the library. Every function that compares samples goes through here."""

from __future__ import annotations

import functools
import inspect
import numbers
import operator
import secrets
from typing import Any, Callable, Collection, Dict, Mapping, Optional, ParamSpec, Sequence, TypeVar, Union

import numpy as np
from numpy.typing import ArrayLike

from . import _arrays, _core
from ._kernels import core_kernel, kernel_name

Rng = Union[None, int, np.random.Generator]
Parameter = Union[str, float]
_Given = ParamSpec("_Given")
_Made = TypeVar("_Made")

# What the program calls otherwise.
KEYWORDS = {
    "max-memory": "max_memory", "na": "nan_policy", "num-directions": "n_directions", "num-reference": "n_reference",
    "permutations": "n_resamples", "randomise-ties": "randomised_ties", "seed": "rng", "threads": "workers",
    "weights": "x_weights", "yes-quadratic": "allow_quadratic",
}

# Drawn seeds stay below 2^53, so that every reader of JSON keeps all their digits.
_DRAWN_SEED_BITS = 53
_LARGEST_COUNT = 2**31 - 1  # what the library is asked for at most; its own bounds are lower

# Keywords that are the samples, or that change how a run is watched and what is kept of it, but not what is computed.
_NO_SETTINGS = (
    "x", "y", "sample", "workers", "max_memory", "allow_quadratic", "progress", "null_distribution", "profiles",
    "parameters",
)
# Arrays among the others, and pairs of them.
_KEPT_ARRAYS = ("reference", "coefficients", "weights", "x_weights", "y_weights", "blocks", "clusters")


def core_options(asked: Mapping[str, Any], kernel: Optional[_core.Kernel] = None) -> _core.Options:
    """The options of the library from the keywords of a call, but for parameters that only one method has; those that
    the call does not have keep their defaults.

    Ranges are the library's own affair; here types are checked and words become values. A `kernel` that is there
    already is taken instead of the one that was asked for.
    """
    reference = asked["reference"]
    coefficients = asked["coefficients"]
    own_points = not isinstance(reference, str)
    return _core.Options(
        kernel=core_kernel(asked["kernel"]) if kernel is None else kernel,
        bandwidth=_bandwidth(asked["bandwidth"], asked["kernel"]),
        directions=text(asked["directions"], "directions"),
        n_directions=count(asked["n_directions"], "n_directions"),
        whiten=boolean(asked["whiten"], "whiten"),
        n_reference=None if asked["n_reference"] is None else count(asked["n_reference"], "n_reference"),
        reference="points" if own_points else reference,
        reference_points=_reference(asked) if own_points else None,
        coefficients=None if coefficients is None else _filled_matrix(coefficients, "coefficients"),
        power=real(asked.get("power", 1.0), "power"),
        weighting=text(asked.get("weighting", "uniform"), "weighting"),
        compat=compat_text(asked["compat"]),
        seed=seed_from(asked["rng"]),
        workers=_threads(asked["workers"]),
        max_memory=_bytes(asked.get("max_memory")),
        allow_quadratic=boolean(asked.get("allow_quadratic", False), "allow_quadratic"),
    )


def _bytes(limit: Optional[float]) -> int:
    """0 stands for the library's own bounds."""
    if limit is None:
        return 0
    size = real(limit, "max_memory")
    if not 1e6 <= size <= 1e15:
        raise ValueError(f"max_memory is {limit}, expected a number of bytes of at least 1e6")
    return int(size)


def compat_text(compat: Union[str, Sequence[str]]) -> str:
    """Compat flags as one text, from a text or a sequence of them; empty for none."""
    if isinstance(compat, str):
        return compat
    if not isinstance(compat, (list, tuple, set, frozenset)):
        raise TypeError(f"compat is of type {type(compat).__name__}, expected a string or a list of them")
    return ",".join(text(flag, "compat") for flag in compat)


def settings(asked: Mapping[str, Any], method: str, seed: int) -> Dict[str, Any]:
    """The keywords that give the same numbers again, in values that can be kept: a function is told by its name."""
    kept = dict(asked)
    for name in _NO_SETTINGS:
        kept.pop(name, None)
    for name in _KEPT_ARRAYS:
        if kept.get(name) is not None and not isinstance(kept[name], str):
            kept[name] = tuple(map(_kept, kept[name])) if name in ("blocks", "clusters") else _kept(kept[name])
    # Last, because a method may have a parameter of its own that is called as an array of another call.
    kept.update(method=method, kernel=kernel_name(asked["kernel"]), rng=seed, **asked.get("parameters", {}))
    return kept


def _kept(values: ArrayLike) -> np.ndarray:
    """A copy that nobody changes."""
    copy = np.array(values)
    copy.setflags(write=False)
    return copy


def own_parameters(method: str, asked: Mapping[str, Any]) -> Dict[str, Parameter]:
    """The keywords that belong to the method only, checked for names and types as Python checks its own."""
    given: Mapping[str, Parameter] = asked.get("parameters", {})
    if not given:
        return {}
    known = _core.method(method).parameters
    for name, value in given.items():
        if name not in known:
            own = ", ".join(known) or "none"
            keywords = [keyword for keyword in asked if keyword not in ("x", "y", "parameters")]
            raise TypeError(
                f'{_arrays.quoted(name)} is not a keyword of kqd.test and kqd.distance, nor of method {method} (its own: {own})'
                + _meant(name, [*keywords, *known])
            )
        if not isinstance(value, str):
            real(value, name)
    return dict(given)


def hinting(function: Callable[_Given, _Made]) -> Callable[_Given, _Made]:
    """The function, which tells what may have been meant by a keyword that it does not have."""
    known = inspect.signature(function).parameters
    owner = function.__qualname__.removesuffix(".__init__")

    @functools.wraps(function)
    def checked(*args: _Given.args, **keywords: _Given.kwargs) -> _Made:
        for name in keywords:
            if name not in known:
                raise TypeError(f'{_arrays.quoted(name)} is not a keyword of kqd.{owner}' + _meant(name, known))
        return function(*args, **_without_none(keywords, known))

    return checked


def none_is_default(function: Callable[_Given, _Made]) -> Callable[_Given, _Made]:
    """The function, for which a keyword that is None is as one that is not given."""
    known = inspect.signature(function).parameters

    @functools.wraps(function)
    def called(*args: _Given.args, **keywords: _Given.kwargs) -> _Made:
        return function(*args, **_without_none(keywords, known))

    called.__kwdefaults__ = function.__kwdefaults__
    return called


def _without_none(keywords: Mapping[str, Any], known: Mapping[str, inspect.Parameter]) -> Dict[str, Any]:
    return {name: value for name, value in keywords.items() if value is not None or name not in known}


def _meant(name: str, known: Collection[str]) -> str:
    """The end of a sentence on an unknown keyword: the one that the program calls so, or that looks like it."""
    keyword = KEYWORDS.get(name.replace("_", "-"))
    return f"; did you mean {keyword}?" if keyword in known else _core.suggestion(name, list(known))


def seed_from(rng: Rng) -> int:
    """The seed that every draw follows from: the number itself, one drawn from a Generator, or a fresh one."""
    if rng is None:
        return secrets.randbits(_DRAWN_SEED_BITS)
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**_DRAWN_SEED_BITS))
    seed = _whole(rng, "rng", "None, a whole number or a numpy.random.Generator")
    if not 0 <= seed < 2**64:
        raise ValueError(f"rng = {seed}, needs 0..{2**64 - 1}")
    return seed


def _bandwidth(value: Union[str, float], kernel: object) -> Optional[float]:
    if isinstance(value, str):
        if value == "median":
            return None
        raise ValueError(f'bandwidth {_arrays.quoted(value)} is unknown, expected "median" or a number')
    bandwidth = real(value, "bandwidth")
    if callable(kernel):
        raise ValueError(
            f"bandwidth = {bandwidth:g} is given next to a kernel function, which has its own; leave it out"
        )
    return bandwidth


def _threads(workers: Optional[int]) -> int:
    """Threads to use, 0 for all there are."""
    if workers is None:
        return 0
    count = _whole(workers, "workers", "None or a whole number")
    if count == -1:
        return 0
    if count < 1:
        raise ValueError(f"workers = {count}, needs >= 1, or -1 for all")
    return min(count, _LARGEST_COUNT)


def _reference(asked: Mapping[str, Any]) -> np.ndarray:
    """The caller's own reference points, their columns matched to those of the data by name."""
    data = "x" if "x" in asked else "sample"
    return _filled_matrix(_arrays.matching(asked["reference"], asked[data], "reference", data), "reference")


def _filled_matrix(values: ArrayLike, name: str) -> np.ndarray:
    array = _arrays.matrix(values, name)
    if array.size == 0:
        raise ValueError(f"{name} is empty ({array.shape[0]} x {array.shape[1]}), expected at least one row and column")
    return array


def count(value: int, name: str, lowest: int = 1) -> int:
    """A number of things, when it is whole and not negative. The library refuses 0 where the `lowest` is 1."""
    number = _whole(value, name, "a whole number")
    if number < 0:
        raise ValueError(f"{name} = {number}, needs >= {lowest}")
    if number > _LARGEST_COUNT:
        raise ValueError(f"{name} = {number} is too large")
    return number


def _whole(value: object, name: str, expected: str) -> int:
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} is of type {type(value).__name__}, expected {expected}") from None


def real(value: object, name: str) -> float:
    """The value as a float, when it is a real number."""
    if type(value) is float:  # as nearly always
        return value
    if not isinstance(value, (numbers.Real, np.number)) or isinstance(value, np.complexfloating):
        raise TypeError(f"{name} is of type {type(value).__name__}, expected a number")
    return float(value)


def boolean(value: object, name: str) -> bool:
    """The value as a bool, when it is one, or 0 or 1. A text is none: "no" would be true."""
    if isinstance(value, (bool, np.bool_)) or (isinstance(value, numbers.Integral) and value in (0, 1)):
        return bool(value)
    raise TypeError(f"{name} is {value!r}, expected True or False")


def text(value: object, name: str) -> str:
    """The value itself, when it is a string."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is of type {type(value).__name__}, expected a string")
    return value
