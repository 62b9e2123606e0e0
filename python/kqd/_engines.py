"""The common part of kqd.spark, kqd.dask and kqd.ray: profiles of rows that are on other machines.

An engine scans a sample once for the number of its rows, fetches the rows that are held out for a spec, and counts all
rows where they are. Tasks return the bytes of partial profiles, which are added up. Nothing here depends on an engine.
"""

from __future__ import annotations

import hashlib
import inspect
import warnings
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union
from urllib.parse import unquote, urlsplit

import numpy as np
from numpy.typing import NDArray

from . import _arrays, _core, _profile
from ._options import Rng, count, refuse_unknown, seed_from
from ._profile import PathLike, Profile
from ._results import TestResult
from ._tasks import CHANGED, NO_NUMBERS, SCATTERED, Counted, Draft, Numbering, Numbers, Task, completed, merge
from ._test import test as test_of_profiles

Key = Union[None, str, Sequence[str]]
#: Partial profiles that one task adds up.
MERGED_AT_A_TIME = 8
#: Keywords of kqd.test that decide how rows are counted. The others decide what is made of the counts.
_OF_SPEC = (
    "method", "kernel", "bandwidth", "directions", "n_directions", "whiten", "n_reference", "reference", "coefficients",
    "standardize", "compat",
)
_DEFAULTS = {
    name: parameter.default
    for name, parameter in inspect.signature(test_of_profiles).parameters.items()
    if parameter.default is not inspect.Parameter.empty
}
#: The column of keys of rows that were selected from files: their keys are file and number.
_SELECTED = "file and row"


class File(NamedTuple):
    """A file of a sample, by what a scan without values finds."""

    path: str
    #: By which an engine names the file in its batches.
    code: int
    n_bytes: int
    #: Rows that belong to the sample.
    n_rows: int
    #: One more than the largest number of such a row in the file.
    end: int


class Scan(NamedTuple):
    """A sample before its values are read. Exactly one of the first three is there."""

    files: Optional[Sequence[File]] = None
    #: Rows in each partition, by the number that an engine gives to it.
    partitions: Optional[Mapping[int, int]] = None
    #: Rows, and the sum of their keys.
    keys: Optional[Tuple[int, int]] = None


class Source:
    """A sample on an engine."""

    #: Columns that are counted.
    columns: List[str]
    #: The name of the sample in messages.
    name: str

    def scan(self, key: Sequence[str]) -> Scan:
        """One pass over the rows without their values."""
        raise NotImplementedError

    def tally(self, task: Task) -> List[Tuple[int, int, int]]:
        """Task.tally of all rows of files."""
        raise NotImplementedError

    def draw(self, task: Task) -> List[Tuple[int, NDArray[np.float64]]]:
        raise NotImplementedError

    def draw_checks(self) -> Mapping[int, int]:
        """After draw(): by partition, the sum of hashes of its held-out rows."""
        return {}

    def count(self, task: Task) -> List[Counted]:
        """Task.count of all rows, some of them added up."""
        raise NotImplementedError


def base_of(like: Union[Profile, PathLike]) -> Profile:
    return _profile.profile(like, "like")


def profile(source: Source, base: Optional[Profile], key: Key, options: Mapping[str, Any]) -> Profile:
    """The body of the functions `profile`."""
    spec, omit, rows_per_group = _spec_options("profile", options)
    if base is None:
        return _made([source], keys_of(key), None, spec, omit, rows_per_group)[0]
    given = [name for name in ("rng", "rows_per_group") if options.get(name) is not None]
    given += [name for name in options if name in _OF_SPEC]
    if given:
        raise ValueError(f"{given[0]} is given with like, whose profile has it; give one of them")
    return _made([source], keys_of(key, base), base, spec, omit, rows_per_group)[0]


def test(x: Source, y: Source, key: Key, options: Mapping[str, Any]) -> TestResult:
    """The body of the functions `test`."""
    spec, omit, rows_per_group = _spec_options("test", options)
    refuse_unknown("test", {**_DEFAULTS, "parameters": _own(options)})
    of_x, of_y = _made([x, y], keys_of(key), None, spec, omit, rows_per_group)
    after = {name: value for name, value in options.items() if name in _DEFAULTS and name not in _OF_SPEC[1:]}
    after.pop("nan_policy", None)
    return test_of_profiles(of_x, of_y, **{**after, "method": completed(spec).method, "rng": spec["rng"]})


def _own(options: Mapping[str, Any]) -> Dict[str, Any]:
    return {name: value for name, value in options.items() if name not in _DEFAULTS and name != "rows_per_group"}


def _spec_options(call: str, options: Mapping[str, Any]) -> Tuple[Dict[str, Any], bool, int]:
    """Settings that a spec is made by, whether rows with missing values are left out, and rows per group."""
    nan_policy = options.get("nan_policy") or "raise"
    _arrays.require_nan_policy(nan_policy)
    if call == "profile":
        for name in options:
            if name in _DEFAULTS and name not in (*_OF_SPEC, "nan_policy", "rng"):
                raise TypeError(f"{name} is given to profile, expected as a keyword of kqd.test of the profiles")
    asked = {**_DEFAULTS, **{name: options[name] for name in _OF_SPEC if options.get(name) is not None}}
    asked["parameters"] = _own(options)
    asked["rng"] = seed_from(options.get("rng"))
    rows_per_group = count(options.get("rows_per_group") or 0, "rows_per_group")
    return asked, nan_policy == "omit", rows_per_group


def keys_of(key: Key, base: Optional[Profile] = None) -> List[str]:
    """Columns that identify a row, or rows that belong together."""
    given = [] if key is None else [key] if isinstance(key, str) else list(key)
    if base is None:
        return given
    kind, _, column = base.groups.partition(":")
    if kind == "blocks":
        raise ValueError(f"groups by {base.groups} need the order of all rows; use kqd.Profile(sample, like=...)")
    if kind == "key" and given and ",".join(given) != column:
        raise ValueError(f"key is {','.join(given)}, expected {column}, as the profile of like has it")
    return given or (column.split(",") if kind == "key" and column != _SELECTED else [])


def _made(
    sources: Sequence[Source], key: Sequence[str], base: Optional[Profile], spec: Mapping[str, Any], omit: bool,
    rows_per_group: int,
) -> List[Profile]:
    """Profiles of the samples, by one spec: that of `base`, or one from their own held-out rows."""
    columns = _columns(sources, base)
    scans = [source.scan(key) for source in sources]
    groups = _groups(sources, scans, key, base)
    by_keys = groups != "random"
    numberings = _numberings(sources, scans, by_keys)
    checks: List[Optional[Mapping[int, int]]] = [None] * len(sources)
    held_out = [NO_NUMBERS] * len(sources)
    if base is None:
        draft = Draft(spec, groups, rows_per_group, [(n.sample, n.n_rows) for n in numberings])
        made = draft.made()
        pilots = []
        for k, (source, numbering, scan) in enumerate(zip(sources, numberings, scans)):
            order = None if by_keys else made.held_out_rows(numbering.sample, numbering.n_rows)
            task = Task(numbering, columns, held_out=NO_NUMBERS if order is None else order, draft=draft)
            pilots.append(_in_order(source.draw(task), order, len(columns)))
            if scan.partitions is not None:
                held_out[k], checks[k] = task.held_out, source.draw_checks()
        empty = _profile._of(made.finish(np.vstack(pilots), columns))
    else:
        empty = base.empty()
    data = empty.to_bytes()
    return [
        _count(source, Task(numbering, columns, data, omit=omit, held_out=rows, checks=check))
        for source, numbering, rows, check in zip(sources, numberings, held_out, checks)
    ]


def _groups(sources: Sequence[Source], scans: Sequence[Scan], key: Sequence[str], base: Optional[Profile]) -> str:
    """The assignment to groups that the samples need."""
    selected = [any(file.n_rows < file.end for file in scan.files or ()) for scan in scans]
    wanted = f"key:{','.join(key)}" if key else f"key:{_SELECTED}" if any(selected) else "random"
    if base is not None and base.groups == f"key:{_SELECTED}" and wanted == "random":
        wanted = base.groups
    if base is not None and base.groups != wanted:
        reason = f"key is {','.join(key)}" if key else f"some rows of the files of {sources[0].name} were selected"
        raise ValueError(
            f"{reason}, but like assigns rows to groups by {base.groups}, not by {wanted}; make both profiles in the same way"
        )
    if wanted == f"key:{_SELECTED}" and any(scan.files is None for scan in scans):
        raise ValueError("one sample has rows that were selected from files, the other has none of files; give key=")
    return wanted


def _columns(sources: Sequence[Source], base: Optional[Profile]) -> List[str]:
    """The columns that are counted, in the order of the profile or of the first sample."""
    wanted = list(base.columns) if base is not None and base.columns else sources[0].columns
    owner = "the profile" if base is not None else sources[0].name
    for source in sources:
        only = [(owner, set(wanted) - set(source.columns)), (source.name, set(source.columns) - set(wanted))]
        listed = [f"{name} only has {_arrays._listed(sorted(some))}" for name, some in only if some]
        if listed:
            raise ValueError(
                f"{owner} and {source.name} have different columns: {'; '.join(listed)}; select those that both have"
            )
    if not wanted:
        raise ValueError(f"{sources[0].name} has no columns of numbers")
    return wanted


def _numberings(sources: Sequence[Source], scans: Sequence[Scan], by_keys: bool) -> List[Numbering]:
    """By the folder of all samples, so that a file of one sample is never taken for a file of the other."""
    paths = [_plain_path(file.path) for scan in scans for file in scan.files or ()]
    names = iter(_core.source_names(paths))
    made = []
    for source, scan in zip(sources, scans):
        if scan.keys is not None:
            made.append(_by_keys(scan.keys))
        elif scan.files is not None:
            made.append(_by_files(source, scan.files, [next(names) for _ in scan.files], by_keys))
        else:
            assert scan.partitions is not None
            made.append(_by_partitions(source, scan.partitions))
    if len(made) == 2 and (made[0].sample, made[0].n_rows) == (made[1].sample, made[1].n_rows):
        raise ValueError("x and y have the same rows, expected samples without rows in common")
    both = {part[0] for part in made[0].parts} & {part[0] for part in made[-1].parts} if len(made) == 2 else set()
    if both and all(scan.files is not None for scan in scans) and all(n.mode == "rows" for n in made):
        raise ValueError(f"{_arrays.printable(min(both))} is in both samples, expected samples without rows in common")
    return made


def _by_keys(found: Tuple[int, int]) -> Numbering:
    n_rows, total = found
    return Numbering(_id("keys", n_rows, total), n_rows, "keys", {}, {}, total=total)


def _by_files(source: Source, files: Sequence[File], names: Sequence[str], by_keys: bool) -> Numbering:
    for file, name in zip(files, names):
        if file.n_rows > file.end:
            raise ValueError(
                f"{_arrays.printable(name)} is in {source.name} more than once: {file.n_rows} rows have {file.end} numbers"
            )
    if not by_keys:
        parts = [(name, file.n_bytes, file.n_rows) for file, name in zip(files, names)]
        made = _core.SampleSources(parts)
        firsts = {file.code: made.first_row(name) for file, name in zip(files, names)}
        return Numbering(made.id, made.n_rows, "rows", firsts, {file.code: file.n_rows for file in files}, parts)
    # Some rows of the files were selected, so numbers have gaps. What is selected decides the id.
    salts = {file.code: _id("file", name) for file, name in zip(files, names)}
    tallied: Dict[int, int] = {}
    task = Task(Numbering(0, 1, "keys", salts, {}), source.columns)
    n_rows = total = 0
    for code, rows, keys in source.tally(task):
        tallied[code] = (tallied.get(code, 0) + keys) % 2**64
        n_rows, total = n_rows + rows, (total + keys) % 2**64
    selected = sorted((name, tallied.get(file.code, 0)) for file, name in zip(files, names))
    return Numbering(_id("selected", n_rows, *selected), n_rows, "keys", salts, {}, total=total)


def _by_partitions(source: Source, partitions: Mapping[int, int]) -> Numbering:
    warnings.warn(
        f"{source.name} has neither numbers of rows nor key=: rows are numbered by partition and position. The test is "
        "valid, but other partitions give another p-value; give key=, columns that identify a row",
        UserWarning,
        stacklevel=6,
    )
    parts = [(f"{source.name} partition {number:09d}", 0, rows) for number, rows in sorted(partitions.items())]
    made = _core.SampleSources(parts)
    firsts = {number: made.first_row(f"{source.name} partition {number:09d}") for number in sorted(partitions)}
    return Numbering(made.id, made.n_rows, "rows", firsts, dict(partitions), parts)


def _in_order(
    drawn: List[Tuple[int, NDArray[np.float64]]], order: Optional[Numbers], n_columns: int
) -> NDArray[np.float64]:
    """The held-out rows in the order of their places."""
    if not drawn:
        return np.empty((0, n_columns))
    at = np.array([place for place, _ in drawn], np.uint64)
    rows = np.vstack([row for _, row in drawn])
    if order is not None:  # drawn by row numbers
        back = np.argsort(order, kind="stable")
        at = back[np.searchsorted(order[back], at)].astype(np.uint64)
    ordered: NDArray[np.float64] = rows[np.lexsort([*rows.T[::-1], at])]
    return ordered


def _count(source: Source, task: Task) -> Profile:
    counted = source.count(task)
    if any(entry.problem == SCATTERED for entry in counted):
        task.numbering = task.numbering.scattered()
        counted = source.count(task)
    numbering = task.numbering
    merged = merge(task.spec, counted, numbering.mode != "rows")
    if merged.problem:
        raise ValueError(f"{source.name}: {merged.problem}")
    if numbering.mode != "rows":
        squares = numbering.squares if numbering.mode == "scattered" else merged.squares
        if (merged.n_rows, merged.total, merged.squares) != (numbering.n_rows, numbering.total, squares):
            raise ValueError(f"{source.name}: " + CHANGED.format("the data"))
    elif merged.n_rows != numbering.n_rows:
        raise ValueError(f"{source.name}: " + CHANGED.format("the data"))
    profile = Profile.from_bytes(merged.state)
    if numbering.parts and numbering.mode in ("rows", "scattered"):
        partial = _core.PartialProfile(merged.state)
        partial.name_sources(_core.SampleSources(list(numbering.parts)))
        profile = Profile.from_bytes(partial.to_bytes())
    return profile


def by_group(y: Any, group: Optional[str], values: Optional[Sequence[Any]]) -> bool:
    """True for samples that are rows of one table with two values of a column."""
    if y is not None:
        if group is not None or values is not None:
            raise ValueError("group and values are given with y; give y, or one table with group= and values=")
        return False
    if group is None or values is None:
        raise ValueError("y is missing: give two samples, or one with group=, a column, and values=, two of its values")
    if isinstance(values, str) or len(values) != 2 or values[0] == values[1]:
        raise ValueError(f"values={values!r}: expected two different values of the column")
    return True


def pair_of(x: Any, y: Any, group: Optional[str], values: Optional[Sequence[Any]]) -> List[Tuple[Any, Any]]:
    """Both samples: the data of each, and the column and value of its rows where they are in one table."""
    if by_group(y, group, values):
        assert values is not None
        return [(x, (group, value)) for value in values]
    return [(x, None), (y, None)]


def levels(n_tasks: int) -> List[int]:
    """Numbers of tasks that add up partial profiles, level by level, until few are left."""
    found = []
    while n_tasks > MERGED_AT_A_TIME:
        n_tasks = -(-n_tasks // MERGED_AT_A_TIME)
        found.append(n_tasks)
    return found


def _id(*of: object) -> int:
    return int.from_bytes(hashlib.sha256(repr(of).encode()).digest()[:8], "little")


def _plain_path(path: str) -> str:
    """The path of a URI, with the name of the store in front."""
    if "://" not in path and not path.startswith("file:"):
        return path
    parts = urlsplit(path)
    return unquote(f"/{parts.netloc}{parts.path}" if parts.netloc else parts.path)
