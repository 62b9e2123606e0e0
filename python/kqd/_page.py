"""result.to_html: a result as a page for a browser."""

from __future__ import annotations

import json
import math
import os
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core, _distance, _frames, _objects, _test
from ._arrays import printable
from ._compare import Origin
from ._explain import Explanation, explain
from ._results import DistanceResult, TestResult

# Settings that mean the same to kqd.explain.
_SHARED = ("bandwidth", "x_weights", "y_weights", "weights_as", "standardize", "types", "categorical", "nan_policy", "group",
           "names", "alpha", "design", "blocks", "clusters")

_Field = Tuple[str, str, str, bool]  # name in JSON, in Python, label, whether it is a setting


def write(
    result: Union[DistanceResult, TestResult],
    origin: Optional[Origin],
    path: Union[str, "os.PathLike[str]"],
    image_shape: Optional[Sequence[int]],
) -> None:
    """Writes the page completely or not at all."""
    if not os.fspath(path).endswith((".html", ".htm")):
        raise ValueError(f"{printable(os.fspath(path))}: expected a file name ending in .html")
    if origin is None:
        raise ValueError("a result of embeddings or profiles has no rows to show on a page; use the result of two samples")
    explanation, note = _explained(result, origin, image_shape)
    kind = "test" if isinstance(result, TestResult) else "distance"
    fields = _core.test_fields() if kind == "test" else _core.distance_fields()
    report = {
        "schema": "kqd.report/2",
        "kind": kind,
        "command": _call(kind, result.settings),
        "version": _core.__version__,
        "result": _json_object(kind, result, fields, origin),
        "labels": {name: label for name, _, label, is_setting in fields if is_setting},
        "null": _null(result, origin),
        "first_row": 0,
        "flags": _flags(),
        "explanation": explanation,
        "explanation_note": note,
    }
    _core.write_text(os.fspath(path), _core.report_page(json.dumps(report)))


def write_explanation(found: Explanation, path: Union[str, "os.PathLike[str]"]) -> None:
    """Writes the page of an explanation completely or not at all."""
    if not os.fspath(path).endswith((".html", ".htm")):
        raise ValueError(f"{printable(os.fspath(path))}: expected a file name ending in .html")
    data = found.to_dict()
    known = {"alpha": "significance level", "kernel": "kernel", "n_resamples": "permutations", "seed": "seed"}
    rows = {name: {"read": data[f"n_{name}"], "omitted": 0, "not_drawn": 0, "missing_values": 0} for name in "xy"}
    result = {
        **{name: data[name] for name in ("n_x", "n_y", "dim", "names", "warnings", "notes", *known)},
        "x": data["x"] or "x",
        "y": data["y"] or "y",
        "data": data["data"] or {"rows_x": rows["x"], "rows_y": rows["y"], "na": "raise", "standardize": "none"},
    }
    report = {
        "schema": "kqd.report/2",
        "kind": "explanation",
        "command": "",
        "version": _core.__version__,
        "result": result,
        "labels": known,
        "null": None,
        "first_row": 0,
        "flags": _flags(),
        "explanation": data,
        "explanation_note": "",
    }
    _core.write_text(os.fspath(path), _core.report_page(json.dumps(report)))


def _json_object(
    kind: str, result: Union[DistanceResult, TestResult], fields: List[_Field], origin: Origin
) -> Dict[str, Any]:
    """The result as the program prints it in JSON."""
    values: Dict[str, Any] = {**result.to_dict(), "null_distribution": None}  # shown thinned
    for texts, ids in (("warnings", "warning_ids"), ("notes", "note_ids")):
        if texts in values:
            values[texts] = [{"id": name, "text": text} for name, text in zip(values.pop(ids), values[texts])]
    printed = {name: values[python] for name, python, *_ in fields if python}
    power = "inf" if result.power == math.inf else result.power
    x, y = _sources(origin)
    return {**printed, "schema": f"kqd.{kind}/2", "x": x, "y": y, "power": power, "data": _data(result, origin)}


def _sources(origin: Origin) -> Tuple[str, str]:
    """The names of the files, or of the parameters."""
    if origin.rows is None or not _frames.is_path(origin.rows[0]):
        return "x", "y"
    x, y = origin.rows
    return os.fspath(x), os.fspath(x if y is None else y)


def _flags() -> Dict[str, str]:
    """The keywords that change what was decided about columns."""
    return {name: f"{_core.keyword(name)}=" for name in ("types", "na", "standardize")}


def _data(result: Union[DistanceResult, TestResult], origin: Origin) -> Dict[str, Any]:
    if result.data["columns"]:  # prepared by the library, which counted
        return result.data

    def rows(given: int, used: int) -> Dict[str, Optional[int]]:
        # The missing cells of omitted rows are not counted.
        return {"read": given, "omitted": given - used, "not_drawn": 0, "missing_values": None if given > used else 0}

    return {
        **result.data,
        "columns_read": result.dim,
        "columns_used": result.dim,
        "rows_x": rows(origin.given[0], result.n_x),
        "rows_y": rows(origin.given[1], result.n_y),
        "na": result.settings["nan_policy"],
        "standardize": "none",
    }


def _null(result: Union[DistanceResult, TestResult], origin: Origin) -> Optional[Dict[str, Any]]:
    if not isinstance(result, TestResult) or len(origin.null_shown) == 0:
        return None
    return {"values": origin.null_shown.tolist(), "of": result.n_resamples, "observed": result.statistic}


def _explained(
    result: Union[DistanceResult, TestResult], origin: Origin, image_shape: Optional[Sequence[int]]
) -> Tuple[Optional[Dict[str, Any]], str]:
    """The explanation, or the reason why there is none."""
    settings = result.settings
    if origin.rows is None:
        return None, "the rows are not part of a result that was pickled or copied"
    kernel = origin.kernel
    if kernel is None or not (isinstance(kernel, str) or _objects.are_meant(kernel, *origin.rows)):
        kernel = "gaussian"  # a function of rows has no gradient
    try:
        found = explain(
            *origin.rows,
            kernel=kernel,
            image_shape=image_shape,
            maximiser=result.method if result.maximiser is not None else None,
            rng=result.seed,
            **{name: settings[name] for name in _SHARED if name in settings},
        )
    except _core.ResourceLimitError as error:  # the rest of the page is still written
        return None, str(error)
    except ValueError as error:
        if "weights" not in str(error):
            raise
        return None, str(error)
    return found.to_dict(), ""


def _call(kind: str, settings: Dict[str, Any]) -> str:
    """The call that gives the same numbers again; arrays appear by their names."""
    function = _test.test if kind == "test" else _distance.distance
    defaults = function.__kwdefaults__ or {}

    def is_default(name: str) -> bool:
        value, default = settings[name], defaults.get(name)
        comparable = np.isscalar(value) or isinstance(value, tuple)
        return name in defaults and (value is default or (comparable and value == default))

    def shown(name: str) -> str:
        value = settings[name]
        return repr(value) if isinstance(value, (str, int, float)) else name

    given = [name for name in settings if name in ("method", "rng") or not is_default(name)]
    return f"kqd.{kind}(x, y, {', '.join(f'{name}={shown(name)}' for name in given)})"
