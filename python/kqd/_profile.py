"""kqd.Profile: a summary of a sample that is enough for a test, and that can be added up."""

from __future__ import annotations

import hashlib
import os
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _arrays, _core
from ._arrays import Warned
from ._compare import Comparison
from ._options import Rng, core_settings, count, hinting, refuse_unknown, seed_from, text, threads
from ._progress import ProgressCallback, shown
from ._results import table
from ._tables import Table

PathLike = Union[str, "os.PathLike[str]"]
Parts = Mapping[str, int]

_SUFFIX = ".kqp"
# Keywords of kqd.test that only rows have.
_OF_ROWS = ("x_weights", "y_weights", "blocks", "clusters")


class Profile:
    """A summary of a sample that is enough for a test, and that can be added up.

    A profile has counts of the rows in groups of equal size, along directions and grids that its *spec* fixes. The spec
    is chosen from a tenth of the rows of the first sample, at most 20,000, which are not counted; later samples are
    counted `like` it. A test of two profiles permutes groups; it is exact, and its cost does not depend on the rows.

    The same rows give the same bytes, in whatever blocks, order, threads and processes they were counted, and however
    their profiles were merged. The program reads and writes the same files.

    Parameters
    ----------
    sample : array_like
        A whole sample, as for `kqd.test`: an array, a table of any library, or a list of tables.
    like : Profile or path, optional
        Count as this profile does, to be compared or merged with it. Columns are matched by name where both have names.
    rows_per_group : int, optional
        Rows of a group; by default a 128th of the rows. A later sample needs so many rows for each of its groups, and
        should have 100 groups or more.
    groups : str
        How rows are assigned to groups: ``"random"``; ``"key:COLUMN"``, all rows with the same key together, for users
        or devices with several rows each; ``"blocks:COLUMN"``, neighbours in the order of a column together. The column
        is not compared. With `like` the assignment is that of its profile.
    keys : array_like, optional
        That column, when the sample has no names: whole numbers or texts for ``"key:..."``, numbers for
        ``"blocks:..."``.
    nan_policy : "raise" or "omit"
        What to do with rows that have a NaN.
    progress, rng, workers
        As for `kqd.test`. With `like` nothing is drawn.

    Examples
    --------
    >>> import numpy as np, kqd
    >>> rng = np.random.default_rng(1)
    >>> january, february = rng.normal(size=(4000, 3)), rng.normal(size=(3000, 3)) * [1, 1, 1.2]
    >>> base = kqd.Profile(january, rows_per_group=20, rng=0)
    >>> base
    Profile(4000 rows x 3 columns, 180 groups of 20 rows)
    >>> kqd.test(base, kqd.Profile(february, like=base), rng=0).pvalue
    0.001

    Rows that arrive in parts are counted by their numbers, here in two processes, say:

    >>> first, second = base.empty(), base.empty()
    >>> second.update(february[1000:], sample={"february": 3000}, first_row=1000)
    Profile(2000 rows x 3 columns, 150 groups of 20 rows)
    >>> first.update(february[:1000], sample={"february": 3000})
    Profile(1000 rows x 3 columns, 150 groups of 20 rows)
    >>> both = first + kqd.Profile.from_bytes(second.to_bytes())
    >>> both
    Profile(3000 rows x 3 columns, 150 groups of 20 rows)
    >>> kqd.test(base, both, rng=0).pvalue
    0.001
    """

    _core: _core.Profile
    _info: Optional[Dict[str, Any]]
    __hash__: ClassVar[None]  # type: ignore[assignment]

    @hinting
    def __init__(
        self,
        sample: ArrayLike,
        *,
        like: Union[None, Profile, PathLike] = None,
        rows_per_group: Optional[int] = None,
        groups: Optional[str] = None,
        keys: Optional[ArrayLike] = None,
        nan_policy: str = "raise",
        progress: Union[None, bool, ProgressCallback] = None,
        rng: Rng = None,
        workers: Optional[int] = None,
    ) -> None:
        self._info = None
        number = threads(workers)
        if like is not None:
            for name, value in (("rows_per_group", rows_per_group), ("groups", groups), ("rng", rng)):
                if value is not None:
                    raise ValueError(f"{name} is given with like, whose profile has it; give one of them")
            base = profile(like, "like")
            rows, of_rows = base._points(sample, "sample", keys)
            points, kept, _ = _without_nan(rows, of_rows, nan_policy)
            with shown(progress) as callback, base._cells_named("the sample"):
                self._core = _core.Profile.make_like(points, base._core, _numbers(base.groups, kept), number, callback)
            return
        size = str(count(0 if rows_per_group is None else rows_per_group, "rows_per_group"))
        if rows_per_group is not None and size == "0":
            raise ValueError("rows_per_group=0: expected a whole number >= 1")
        rule = "random" if groups is None else text(groups, "groups")
        frame, of_rows = _split(sample, "sample", rule, keys)
        names = _arrays.column_names(frame)
        points, kept, _ = _without_nan(_arrays.matrix(frame, "sample"), of_rows, nan_policy)
        with shown(progress) as callback, _arrays.cells_named(names, {"the sample": None}):
            self._core = _core.Profile.make(
                points, names, rule, _numbers(rule, kept), size, str(seed_from(rng)), number, callback
            )

    def empty(self) -> Profile:
        """A profile of no rows that counts as this one does: the start of `update` and of sums."""
        return _of(self._core.without_rows())

    def copy(self) -> Profile:
        """A profile that changes by itself."""
        return _of(self._core.copy())

    @hinting
    def update(
        self,
        batch: ArrayLike,
        *,
        sample: Parts,
        part: Optional[str] = None,
        first_row: int = 0,
        keys: Optional[ArrayLike] = None,
        nan_policy: str = "raise",
        workers: Optional[int] = None,
    ) -> Profile:
        """Count rows of a sample that comes in parts; returns the profile itself.

        Batches may come in any order and in any number of profiles, which are merged afterwards. The place of a row in
        the whole sample decides its group, so batches must not overlap, and a test needs all rows.

        Parameters
        ----------
        batch : array_like
            An array or a table, as for `kqd.test`.
        sample : mapping of str to int
            The whole sample, the same in every call: the names of its parts (files, partitions, days) and how many rows
            each has. A sample in one part: ``{"february": 3000}``.
        part : str, optional
            The part that the batch is from; not needed when there is one.
        first_row : int
            The number of the first row of the batch within its part, from 0.
        keys : array_like, optional
            With ``groups="key:..."``, as for a whole sample.
        nan_policy : "raise" or "omit"
            ``"omit"``: rows with a NaN are read and not counted; their groups have fewer rows.
        workers : int, optional
            How many threads may work; None or -1 for all.
        """
        number, n_rows, start = _place(sample, part)
        if self.groups.startswith("blocks:"):
            raise ValueError(f"groups by {self.groups} need the order of all rows; use kqd.Profile(sample, like=...)")
        rows, of_rows = self._points(batch, "batch", keys)
        first = start + count(first_row, "first_row")
        if first + len(rows) > n_rows:
            which = f"rows {first + 1} to {first + len(rows)}"
            raise ValueError(f"{which} are beyond the sample, which has {n_rows} row{'' if n_rows == 1 else 's'}")
        points, kept, places = _without_nan(rows, of_rows, nan_policy)
        self._core.update(
            points, number, n_rows, first, len(rows), (places + first).astype(np.uint64), _numbers(self.groups, kept),
            threads(workers),
        )
        return self._changed()

    def merge(self, other: Profile) -> Profile:
        """Add the rows of another profile; returns the profile itself. Rows that are in both are an error."""
        self._core.merge(_other(other)._core)
        return self._changed()

    def subtract(self, other: Profile) -> Profile:
        """Take away rows that were merged before; returns the profile itself."""
        self._core.subtract(_other(other)._core)
        return self._changed()

    def coarsen(self, factor: int) -> Profile:
        """Add up so many neighbouring groups at a time; returns the profile itself. A remainder is dropped."""
        self._core.coarsen(count(factor, "factor"))
        return self._changed()

    def __add__(self, other: Profile) -> Profile:
        return self.copy().merge(other) if isinstance(other, Profile) else NotImplemented

    def __radd__(self, other: object) -> Profile:
        """The start of ``sum(profiles)``."""
        if other != 0:
            return NotImplemented
        return self.copy()

    def __iadd__(self, other: Profile) -> Profile:
        return self.merge(other) if isinstance(other, Profile) else NotImplemented

    def __sub__(self, other: Profile) -> Profile:
        return self.copy().subtract(other) if isinstance(other, Profile) else NotImplemented

    def __isub__(self, other: Profile) -> Profile:
        return self.subtract(other) if isinstance(other, Profile) else NotImplemented

    def __eq__(self, other: object) -> bool:
        """Whether both have the same bytes: the same spec, and the same rows counted."""
        if not isinstance(other, Profile):
            return NotImplemented
        return self.to_bytes() == other.to_bytes()

    def to_bytes(self) -> bytes:
        """The content of a file. Equal profiles give equal bytes."""
        return self._core.to_bytes()

    @staticmethod
    def from_bytes(data: bytes) -> Profile:
        """The profile that `to_bytes` wrote, here or on another machine. Bytes that are not one are an error."""
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"data is of type {type(data).__name__}, expected bytes")
        return _of(_core.Profile.from_bytes(bytes(data)))

    def save(self, path: PathLike) -> None:
        """Write a file, which `load` and the program read. It appears complete or not at all."""
        _require_suffix(path)
        self._core.save(os.fspath(path))

    @staticmethod
    def load(path: PathLike) -> Profile:
        """The profile in a file that `save` or `kqd profile` wrote."""
        with open(path, "rb") as file:
            data = file.read()
        try:
            return Profile.from_bytes(data)
        except ValueError as error:
            raise ValueError(f"{_arrays.printable(os.fspath(path))}: {error}") from None

    def __reduce__(self) -> Any:
        return Profile.from_bytes, (self.to_bytes(),)

    @property
    def info(self) -> Dict[str, Any]:
        """Everything that is known without counts, in plain types: what ``kqd profile --info`` prints."""
        found = dict(self._known())
        found["columns"] = list(found["columns"])
        found["samples"] = [{"id": f"{number:016x}", "n_rows": rows} for number, rows in found["samples"]]
        return found

    @property
    def n_rows(self) -> int:
        """Rows that were read, those that are in no group included."""
        return int(self._known()["n_rows"])

    @property
    def n_counted(self) -> int:
        """Rows without those that were omitted for a NaN in `update`."""
        return int(self._known()["n_counted"])

    @property
    def groups(self) -> str:
        """How rows are assigned to groups."""
        return str(self._known()["groups"])

    @property
    def n_groups(self) -> int:
        """Groups of all samples."""
        return int(self._known()["n_groups"])

    @property
    def rows_per_group(self) -> int:
        return int(self._known()["rows_per_group"])

    @property
    def dim(self) -> int:
        """Columns."""
        return int(self._known()["dim"])

    @property
    def columns(self) -> Tuple[str, ...]:
        """Their names; empty when none are known."""
        return tuple(self._known()["columns"])

    @property
    def spec(self) -> str:
        """Identifies the spec. Profiles of the same one can be merged and compared."""
        return str(self._known()["spec"])

    def __repr__(self) -> str:
        return (
            f"Profile({self.n_rows} row{'' if self.n_rows == 1 else 's'} x {self.dim} column"
            f"{'' if self.dim == 1 else 's'}, {self.n_groups} groups of {self.rows_per_group} rows)"
        )

    def _repr_html_(self) -> str:
        samples = [["sample", f"{entry['id']}, {entry['n_rows']} rows"] for entry in self.info["samples"]]
        rows = [["rows", str(self.n_rows)], ["groups", f"{self.n_groups} of {self.rows_per_group} rows"],
                ["columns", str(self.dim)]]
        names = [["names", ", ".join(map(_arrays.printable, self.columns))]] if self.columns else []
        return table("Profile", rows + names + samples + [["spec", self.spec]])

    def _known(self) -> Dict[str, Any]:
        if self._info is None:
            self._info = self._core.info()
        return self._info

    def _changed(self) -> Profile:
        self._info = None
        return self

    def _points(
        self, values: ArrayLike, name: str, keys: Optional[ArrayLike]
    ) -> Tuple[NDArray[np.float64], Optional[NDArray[Any]]]:
        """A matrix with the columns of the profile, in its order, and the keys of its rows, if it needs them."""
        frame, of_rows = _split(values, name, self.groups, keys)
        like = Table(self.columns, [np.empty(0)] * len(self.columns)) if self.columns else None
        points = _arrays.matrix(_arrays.matching(frame, like, name, "the profile"), name)
        if points.shape[1] != self.dim:
            columns = f"{points.shape[1]} column{'' if points.shape[1] == 1 else 's'}"
            raise ValueError(f"{name} has {columns}, the profile has {self.dim}")
        return points, of_rows

    def _cells_named(self, place: str) -> Any:
        return _arrays.cells_named(self.columns, {place: None})


def _split(values: Any, name: str, rule: str, keys: Optional[ArrayLike]) -> Tuple[Any, Optional[NDArray[Any]]]:
    """The rows without the column of keys, and the keys: those given, or that column."""
    frame = _arrays.as_frame(values)
    kind, _, column = rule.partition(":")
    if kind not in ("key", "blocks"):
        if keys is not None:
            raise ValueError(f'keys are given with groups {_arrays.quoted(rule)}, expected none')
        return frame, None
    if keys is None:
        names = _arrays.column_names(frame)
        if column not in names:
            raise ValueError(f"{name} has no column {_arrays.quoted(column)} of keys; give keys=, one for each row")
        frame, keys = _arrays.without_column(frame, column)
    found = np.asarray(keys)
    if found.dtype.kind == "O":
        found = found.astype(str) if all(isinstance(key, str) for key in found.flat) else found
    if found.dtype.kind in "mM" and kind == "blocks":
        found = found.astype(np.int64)
    if found.ndim != 1 or found.dtype.kind not in ("iubf" if kind == "blocks" else "iuU"):
        expected = "numbers or times" if kind == "blocks" else "whole numbers or texts"
        raise TypeError(f"keys have dtype {found.dtype} and {found.ndim} dimensions, expected {expected}, one for each row")
    if found.dtype.kind == "f" and np.isnan(found).any():
        raise ValueError(f"keys: row {int(np.isnan(found).argmax()) + 1} is nan, expected a number")
    return frame, found


def _without_nan(
    points: NDArray[np.float64], keys: Optional[NDArray[Any]], nan_policy: str
) -> Tuple[NDArray[np.float64], Optional[NDArray[Any]], NDArray[np.int64]]:
    """The rows that are counted, their keys and their places."""
    _arrays.require_nan_policy(nan_policy)
    if keys is not None and len(keys) != len(points):
        raise ValueError(f"there are {len(keys)} keys for {len(points)} rows, expected one for each")
    keep = _arrays.complete(points) if nan_policy == "omit" else np.ones(len(points), bool)
    places = np.flatnonzero(keep)
    if len(places) == len(points):
        return points, keys, places
    return points[places], None if keys is None else keys[places], places


def _numbers(rule: str, keys: Optional[NDArray[Any]]) -> NDArray[np.uint64]:
    """Keys as the library takes them: a number for each text, or ranks."""
    if keys is None:
        return np.empty(0, np.uint64)
    if rule.startswith("blocks:"):
        return _core.ranks_of(keys.astype(np.float64).tolist())
    return _core.keys_of([str(key) for key in keys.tolist()])


def _of(core: _core.Profile) -> Profile:
    made = object.__new__(Profile)
    made._core, made._info = core, None
    return made


def _other(other: object) -> Profile:
    if not isinstance(other, Profile):
        raise TypeError(f"other is of type {type(other).__name__}, expected a kqd.Profile")
    return other


def _place(sample: Parts, part: Optional[str]) -> Tuple[int, int, int]:
    """Number and rows of a sample, and the number of the first row of a part."""
    if not isinstance(sample, Mapping):
        kind = type(sample).__name__
        raise TypeError(f'sample is of type {kind}, expected the rows of each of its parts, such as {{"february": 3000}}')
    parts = sorted((_name(name), count(rows, f"sample[{_arrays.quoted(name)}]")) for name, rows in sample.items())
    if part is None and len(parts) != 1:
        raise ValueError(f"part is not given, expected the name of one of the {len(parts)} parts of the sample")
    if part is not None and part not in sample:
        known = _arrays._listed([name for name, _ in parts])
        raise ValueError(f"part={_arrays.quoted(part)}: expected one of {known}")
    total = sum(rows for _, rows in parts)
    if total >= 2**63:
        raise ValueError(f"the parts of the sample have {total} rows, expected fewer than 2^63")
    before = sum(rows for name, rows in parts if part is not None and name < part)
    digest = hashlib.sha256(repr(parts).encode()).digest()
    return int.from_bytes(digest[:8], "little"), total, before


def _name(name: object) -> str:
    if not isinstance(name, str):
        raise TypeError(f"a part of the sample is named by a {type(name).__name__}, expected a string")
    return name


def _require_suffix(path: PathLike) -> None:
    if not os.fspath(path).endswith(_SUFFIX):
        raise ValueError(f"{_arrays.printable(os.fspath(path))}: expected a file name ending in {_SUFFIX}")


def is_profile(values: Any) -> bool:
    """True for a profile and for the name of a file of one."""
    if isinstance(values, (str, os.PathLike)):
        return str(os.fspath(values)).endswith(_SUFFIX)
    return isinstance(values, Profile)


def profile(values: Any, name: str) -> Profile:
    """A profile, from itself or from its file."""
    if isinstance(values, Profile):
        return values
    if isinstance(values, (str, os.PathLike)):
        _require_suffix(values)
        return Profile.load(values)
    raise TypeError(f"{name} is of type {type(values).__name__}, expected a kqd.Profile or the name of its file")


def are_profiles(x: Any, y: Any) -> bool:
    """True for two profiles; one profile and rows are an error."""
    found = is_profile(x), is_profile(y)
    if all(found) or not any(found):
        return all(found)
    rows, other = ("x", "y") if found[1] else ("y", "x")
    raise TypeError(f"{other} is a profile and {rows} is not; kqd.Profile({rows}, like={other}) makes one")


class ProfileComparison(Comparison):
    """One call that compares two profiles."""

    def __init__(self, call: str, asked: Mapping[str, Any]) -> None:
        self._start(asked)
        refuse_unknown(call, asked)
        given: List[str] = [name for name in _OF_ROWS if asked.get(name) is not None]
        given += [name for name in asked["parameters"]]
        given += ["nan_policy"] if asked["nan_policy"] not in ("raise", "indicator") else []
        given += ["profiles"] if count(asked["profiles"], "profiles") > 0 else []
        if given:
            raise ValueError(f"{', '.join(given)} {'is' if len(given) == 1 else 'are'} given with profiles, which have no rows")
        self.x, self.y = profile(asked["x"], "x"), profile(asked["y"], "y")
        self.settings = core_settings(call, asked)
        self.settings.require_for_profiles()
        self._own_warnings = tuple(Warned(*found) for found in self.settings.complete())

    def test(self, progress: Union[None, bool, ProgressCallback], batches: Sequence[Any] = ()) -> Dict[str, Any]:
        effects = [self.x._core.batch_effect(profile(batch, "against")._core, self.settings) for batch in batches]
        self.settings.set_batch_effects(effects)
        with shown(progress) as callback:
            return self.x._core.test(self.y._core, self.settings, callback)
