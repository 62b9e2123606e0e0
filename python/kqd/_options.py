"""From keywords to the settings of the library, by its table of options."""

from __future__ import annotations

import functools
import inspect
import numbers
import operator
import secrets
from typing import Any, Callable, Collection, Dict, List, Mapping, Optional, ParamSpec, Tuple, TypeVar, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _arrays, _core
from ._kernels import core_kernel, kernel_name

Rng = Union[None, int, np.random.Generator]
Parameter = Union[str, float]
WeightingLike = Union[str, ArrayLike, Callable[[float], float]]
_Given = ParamSpec("_Given")
_Made = TypeVar("_Made")

# Drawn seeds stay below 2^53, so that every reader of JSON keeps all their digits.
_DRAWN_SEED_BITS = 53
_MOST_THREADS = 1024

# Keywords that are the samples, or that change how a run is watched and what is kept of it, but not what is computed.
_NO_SETTINGS = (
    "x", "y", "sample", "workers", "max_memory", "allow_quadratic", "progress", "null_distribution", "profiles",
    "parameters",
)
# Arrays among the others, and pairs of them.
_KEPT_ARRAYS = ("reference", "coefficients", "weights", "x_weights", "y_weights", "blocks", "clusters", "against")


@functools.lru_cache(maxsize=None)
def _defaults_of(call: str) -> List[Tuple[str, str, Any]]:
    """Keyword, type and default of each option; None for the default of one that is always passed on."""
    values: Dict[str, Callable[[str], Any]] = {"flag": "yes".__eq__, "count": int, "real": float, "word": str, "text": str}

    def value(keyword: str, kind: str, default: str) -> Any:
        try:
            return None if keyword in ("kernel", "rng", "workers") or kind not in values else values[kind](default)
        except ValueError:  # a word of an option that is a number otherwise
            return default

    return [(keyword, kind, value(keyword, kind, default)) for keyword, (kind, default) in _core.options(call).items()]


def core_settings(call: str, asked: Mapping[str, Any], kernel: Optional[_core.Kernel] = None) -> _core.Settings:
    """The settings of the library from the keywords of a call, except for parameters that only one method has.

    Types are checked here, ranges by the library. A given `kernel` replaces the one that was asked for.
    """
    given: Dict[str, Union[str, NDArray[Any], _core.Kernel]] = {}
    for keyword, kind, default in _defaults_of(call):
        value = asked.get(keyword)
        if value is not None and type(value) is type(default) and value == default:
            continue  # as most keywords of most calls; to check and print each of them takes longer than to compare
        if keyword == "kernel":
            given[keyword] = core_kernel(asked[keyword]) if kernel is None else kernel
        elif keyword == "rng":
            given[keyword] = str(seed_from(value))
        elif value is None or keyword == "design" or (kind == "list" and isinstance(value, (tuple, list, str)) and not value):
            continue  # a default; the design also depends on `blocks` and `clusters`
        else:
            given[keyword] = _argument(keyword, kind, value, asked)
    return _core.Settings(call, given)


# Options that are a number > 0 or this word.
_WORDS_FOR_NUMBERS = {"bandwidth": "median", "tolerance": "auto"}


def _argument(keyword: str, kind: str, value: Any, asked: Mapping[str, Any]) -> Union[str, NDArray[Any]]:
    """The value of an option as the library takes it: a text that reads back exactly, or a matrix."""
    if keyword == "workers":
        return str(threads(value))
    if keyword == "image_shape":
        return "x".join(_whole_text(size, keyword) for size in value)
    if keyword == "compat":
        return compat_text(value)
    if keyword == "types" and isinstance(value, Mapping):
        return ",".join(f'"{name}"={text(kind, "types")}' for name, kind in value.items())
    if keyword == "names" and isinstance(value, (str, list, tuple)):
        names = value.split(",") if isinstance(value, str) else [text(name, "names") for name in value]
        if len(names) != 2 or not all(name.strip() for name in names):
            raise ValueError(f"names has {len(names)} names, expected one for each of two samples")
        return ",".join(name.replace(",", " ") for name in names)
    if keyword == "weighting" and not isinstance(value, str):
        return _weighting_text(value)
    if kind == "points":
        return value if isinstance(value, str) and keyword == "reference" else _points(keyword, value, asked)
    if kind == "flag":
        return "yes" if boolean(value, keyword) else "no"
    if kind == "count":
        return _whole_text(value, keyword)
    word = _WORDS_FOR_NUMBERS.get(keyword)
    if word is not None and isinstance(value, str) and value != word:
        raise ValueError(f'{keyword}={_arrays.quoted(value)}: expected {word}, or a number > 0')
    if kind in ("real", "size") or (word is not None and not isinstance(value, str)):
        number = real(value, keyword)
        shown = str(value) if isinstance(value, int) else repr(number)  # as it was given
        return shown + ("B" if kind == "size" else "")
    return text(value, keyword)


# Levels at which a function of levels is tabulated: its density is taken as linear in between.
_TABULATED = np.linspace(0.0, 1.0, 513)


def _weighting_text(weighting: Any) -> str:
    """A measure over levels as the library's text: from a density function, or from rows of level and density."""
    if callable(weighting):
        values = [weighting(level) for level in _TABULATED]
        try:
            densities = np.array(values, dtype=float)
        except (TypeError, ValueError):
            densities = np.empty(0)
        if densities.shape != _TABULATED.shape:
            raise TypeError("weighting is a function that does not return a number for a level, expected its density")
        bad = np.flatnonzero(~(np.isfinite(densities) & (densities >= 0)))
        if len(bad):
            place = f"weighting is {densities[bad[0]]:.6g} at level {_TABULATED[bad[0]]:.6g}"
            raise ValueError(f"{place}, expected finite densities >= 0")
        table = np.column_stack([_TABULATED, densities])
    elif not hasattr(weighting, "__len__"):
        kind = type(weighting).__name__
        raise TypeError(f"weighting is of type {kind}, expected a string, a function of levels, or rows of level and density")
    else:
        table = _arrays.matrix(weighting, "weighting")
        if table.shape[1] != 2:
            raise ValueError(f"weighting is {table.shape[0]} x {table.shape[1]}, expected a level and a density in each row")
    return "table:" + ":".join(repr(float(number)) for number in table.ravel())


def compat_text(compat: Any) -> str:
    """Compat flags as one text, from a text or a collection of them; empty for none."""
    if isinstance(compat, str):
        return compat
    if not isinstance(compat, (list, tuple, set, frozenset)):
        raise TypeError(f"compat is of type {type(compat).__name__}, expected a string or a list of them")
    return ",".join(text(flag, "compat") for flag in compat)


def settings(asked: Mapping[str, Any], method: str, seed: int) -> Dict[str, Any]:
    """The keywords that give the same numbers again, in values that can be kept: a function is kept by its name."""
    kept = dict(asked)
    for name in _NO_SETTINGS:
        kept.pop(name, None)
    for name in _KEPT_ARRAYS:
        if kept.get(name) is not None and not isinstance(kept[name], str):
            kept[name] = tuple(map(_kept, kept[name])) if name in ("blocks", "clusters", "against") else _kept(kept[name])
    # Last, because a method may have a parameter of its own that is called as an array of another call.
    if kept.get("weighting") is not None and not isinstance(kept["weighting"], str):
        kept["weighting"] = _weighting_text(kept["weighting"])
    kept.update(method=method, kernel=kernel_name(asked["kernel"]), rng=seed, **asked.get("parameters", {}))
    return kept


def _kept(values: ArrayLike) -> NDArray[Any]:
    """A read-only copy."""
    copy = np.array(values)
    copy.setflags(write=False)
    return copy


def refuse_unknown(call: str, asked: Mapping[str, Any]) -> None:
    """Refuses a keyword that no method has, before any value is looked at."""
    given = asked.get("parameters")
    if not given:
        return  # as nearly always; a list of all methods would take longer than everything else here
    known = {name for method in _core.methods() for name in method.parameters}
    for name in given:
        if name not in known:
            keywords = [keyword for keyword in asked if keyword not in ("x", "y", "parameters")]
            raise TypeError(
                f"unknown keyword {_arrays.quoted(name)}: not one of kqd.{call}, nor of a method"
                + _meant(name, [*keywords, *sorted(known)])
            )


def own_parameters(call: str, method: str, asked: Mapping[str, Any]) -> Dict[str, Parameter]:
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
                f"unknown keyword {_arrays.quoted(name)}: not one of kqd.{call}, nor of method {method} (its own: {own})"
                + _meant(name, [*keywords, *known])
            )
        if not isinstance(value, str):
            real(value, name)
    return dict(given)


def hinting(function: Callable[_Given, _Made]) -> Callable[_Given, _Made]:
    """The function, which suggests a keyword for one that it does not have."""
    known = inspect.signature(function).parameters
    owner = function.__qualname__.removesuffix(".__init__")

    @functools.wraps(function)
    def checked(*args: _Given.args, **keywords: _Given.kwargs) -> _Made:
        for name in keywords:
            if name not in known:
                raise TypeError(f"unknown keyword {_arrays.quoted(name)} of kqd.{owner}" + _meant(name, known))
        return function(*args, **_without_none(keywords, known))

    return checked


def none_is_default(function: Callable[_Given, _Made]) -> Callable[_Given, _Made]:
    """The function, which takes a keyword that is None as one that is not given."""
    known = inspect.signature(function).parameters

    @functools.wraps(function)
    def called(*args: _Given.args, **keywords: _Given.kwargs) -> _Made:
        return function(*args, **_without_none(keywords, known))

    setattr(called, "__kwdefaults__", getattr(function, "__kwdefaults__"))
    return called


def _without_none(keywords: Mapping[str, Any], known: Mapping[str, inspect.Parameter]) -> Dict[str, Any]:
    return {name: value for name, value in keywords.items() if value is not None or name not in known}


def _meant(name: str, known: Collection[str]) -> str:
    """The end of a sentence on an unknown keyword: the one with this name in the program or in C++, or a similar one."""
    for spelled in (name, name.removeprefix("n_")):
        keyword = _core.keyword(spelled)
        if keyword in known:
            return f"; did you mean {keyword}?"
    return _core.suggestion(name, list(known))


def seed_from(rng: Rng) -> int:
    """The seed that every draw follows from: the number itself, one drawn from a Generator, or a fresh one."""
    if rng is None:
        return secrets.randbits(_DRAWN_SEED_BITS)
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**_DRAWN_SEED_BITS))
    return _whole(rng, "rng", "None, a whole number or a numpy.random.Generator")


def threads(workers: Optional[int]) -> int:
    """Threads to use, 0 for all there are."""
    if workers is None:
        return 0
    number = _whole(workers, "workers", "None or a whole number")
    if number < 1 and number != -1:
        raise ValueError(f"workers={number}: expected a whole number >= 1, or -1 for all")
    return min(max(number, 0), _MOST_THREADS)


def _points(keyword: str, values: ArrayLike, asked: Mapping[str, Any]) -> NDArray[Any]:
    """A matrix; the columns of reference points are matched to those of the data by name."""
    data = "x" if "x" in asked else "sample"
    if keyword == "reference":
        values = _arrays.matching(values, asked[data], keyword, data)
    return _filled_matrix(values, keyword)


def _filled_matrix(values: ArrayLike, name: str) -> NDArray[Any]:
    array = _arrays.matrix(values, name)
    if array.size == 0:
        raise ValueError(f"{name} is empty ({array.shape[0]} x {array.shape[1]}), expected at least one row and column")
    return array


def count(value: int, name: str) -> int:
    """A number of things, when it is whole and not negative."""
    number = _whole(value, name, "a whole number")
    if number < 0:
        raise ValueError(f"{name}={number}: expected a whole number >= 0")
    return number


def _whole_text(value: object, name: str) -> str:
    return str(_whole(value, name, "a whole number"))


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
    """The value as a bool, when it is one, or 0 or 1. A text is refused: "no" would be true."""
    if isinstance(value, (bool, np.bool_)) or (isinstance(value, numbers.Integral) and value in (0, 1)):
        return bool(value)
    shown = repr(value) if isinstance(value, (str, numbers.Real)) else f"of type {type(value).__name__}"
    raise TypeError(f"{name} is {shown}, expected True or False")


def text(value: object, name: str) -> str:
    """The value itself, when it is a string."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is of type {type(value).__name__}, expected a string")
    return value
