"""Tasks of kqd.spark, kqd.dask and kqd.ray: rows in, partial profiles out. `Task` is pickled to where the rows are."""

from __future__ import annotations

import hashlib
from typing import Any, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from . import _arrays, _core
from ._options import core_settings, own_parameters

Numbers = NDArray[np.uint64]
#: Rows that a task counts at a time.
ROWS_AT_A_TIME = 65_536
_MOST_RUNS = 64
NO_NUMBERS = np.empty(0, np.uint64)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
#: Not an error: the rows of a task are not neighbours, and are counted as such in a second attempt.
SCATTERED = "scattered"
CHANGED = (
    "the rows of {} are not those of the first pass. Tasks must give the same rows in the same order: "
    "persist the data, or give key=, columns that identify a row"
)


class Block(NamedTuple):
    """Rows in a task."""

    points: NDArray[np.float64]
    #: The code of their file or partition, or one for each row.
    part: Any = 0
    #: Their numbers within it: the first one, or one for each row.
    row: Any = 0
    keys: Numbers = NO_NUMBERS


class Counted(NamedTuple):
    """The result of a task: a partial profile, rows, sums that check them, and what is wrong, if anything is."""

    state: bytes
    n_rows: int
    total: int
    squares: int
    problem: str = ""


class Numbering(NamedTuple):
    """The number of each row of a sample, and so its group."""

    sample: int
    n_rows: int
    #: "rows": neighbours come together; "scattered": in any order; "keys": groups are assigned by keys.
    mode: str
    #: By the code of a file or partition: the number of its first row, or what makes keys of its rows.
    firsts: Mapping[int, int]
    lengths: Mapping[int, int]
    #: Names, bytes and rows of the parts; empty: they are not named.
    parts: Sequence[Tuple[str, int, int]] = ()
    #: The sums over all rows.
    total: int = 0
    squares: int = 0

    def scattered(self) -> Numbering:
        """The same numbers for rows that come in any order."""
        n = self.n_rows
        return self._replace(
            mode="scattered", total=n * (n - 1) // 2 % 2**64, squares=(n - 1) * n * (2 * n - 1) // 6 % 2**64
        )


class Task:
    """Everything that a task needs to count rows, or to find those that are held out."""

    def __init__(
        self,
        numbering: Numbering,
        columns: Sequence[str],
        spec: bytes = b"",
        *,
        omit: bool = False,
        held_out: Numbers = NO_NUMBERS,
        draft: Optional[Draft] = None,
        checks: Optional[Mapping[int, int]] = None,
    ) -> None:
        self.numbering, self.columns, self.spec, self.omit = numbering, list(columns), spec, omit
        self.held_out = np.sort(held_out)
        self.draft = draft
        #: By partition, a hash of its held-out rows, where partitions may change between passes.
        self.checks = checks

    def count(self, blocks: Iterable[Block], part: int = 0) -> Counted:
        """Counts all rows of some blocks. An error about the rows is returned, because trying again does not help."""
        try:
            return self._count(blocks, part)
        except (ValueError, TypeError) as error:
            return Counted(b"", 0, 0, 0, str(error))

    def _count(self, blocks: Iterable[Block], part: int) -> Counted:
        numbers = self.numbering
        profile = _core.PartialProfile(self.spec)
        n_rows = total = squares = check = 0
        for block in blocks:
            rows = len(block.points)
            if rows == 0:
                continue
            first, of_rows, keys = self._numbers(block)
            keep = self._complete(block)
            if numbers.mode == "rows":
                given = NO_NUMBERS if keep is None else np.arange(first, first + rows, dtype=np.uint64)
                _add(profile, block.points, numbers, first, rows, keep, given, False)
            else:
                checked = keys if numbers.mode == "keys" else of_rows
                total += int(checked.sum(dtype=np.uint64))
                squares += int((checked * checked).sum(dtype=np.uint64))
                given = NO_NUMBERS if of_rows is None else of_rows
                _add(profile, block.points, numbers, n_rows, rows, keep, given, True, keys)
            if self.checks is not None:
                check += sum(hash_of(block.points[i]) for i in self._held_out_places(first, rows))
            n_rows += rows
        if self.checks is not None and (
            n_rows != numbers.lengths.get(part, 0) or check % 2**64 != self.checks.get(part, 0)
        ):
            raise Problem(CHANGED.format(f"partition {part}"))
        return Counted(profile.to_bytes(), n_rows, total % 2**64, squares % 2**64)

    def draw(self, blocks: Iterable[Block]) -> List[Tuple[int, NDArray[np.float64]]]:
        """The rows of some blocks that are held out, with their places in the order that the spec takes them in; rows of
        equal places are in the order of their values."""
        drawn: List[Tuple[int, NDArray[np.float64]]] = []
        sample = self.numbering.sample, self.numbering.n_rows
        made = self.draft.made() if self.draft is not None and self.numbering.mode == "keys" else None
        for block in blocks:
            first, of_rows, keys = self._numbers(block)
            if made is not None:
                places = made.places(*sample, keys)
                picks = np.flatnonzero(places < made.n_held_out(*sample))
                drawn += [(int(places[i]), block.points[i]) for i in picks]
            elif of_rows is None:
                drawn += [(first + int(i), block.points[i]) for i in self._held_out_places(first, len(block.points))]
            else:
                at = np.searchsorted(self.held_out, of_rows)
                found = self.held_out[np.minimum(at, len(self.held_out) - 1)] == of_rows
                drawn += [(int(of_rows[i]), block.points[i]) for i in np.flatnonzero(found)]
        return drawn

    def tally(self, blocks: Iterable[Block]) -> List[Tuple[int, int, int]]:
        """For each part: its code, rows and the sum of their keys."""
        found: Dict[int, List[int]] = {}
        for block in blocks:
            for part, picks in _by_part(block.part, len(block.points)):
                keys = self._keys(Block(block.points[picks], part, _picked(block.row, picks), block.keys[picks] if len(block.keys) else NO_NUMBERS))
                entry = found.setdefault(part, [0, 0])
                entry[0] += len(block.points[picks])
                entry[1] = (entry[1] + int(keys.sum(dtype=np.uint64))) % 2**64
        return [(part, rows, total) for part, (rows, total) in found.items()]

    def _numbers(self, block: Block) -> Tuple[int, Any, Numbers]:
        """The number of the first row, or the number of each row; and the keys."""
        numbers = self.numbering
        if numbers.mode == "keys":
            return 0, None, self._keys(block)
        if numbers.mode == "rows" and np.ndim(block.row) == 0 and np.ndim(block.part) == 0:
            return numbers.firsts[int(block.part)] + int(block.row), None, NO_NUMBERS
        rows = np.asarray(block.row)
        if rows.ndim == 0:
            rows = int(rows) + np.arange(len(block.points))
        of_rows = np.empty(len(block.points), np.uint64)
        for part, picks in _by_part(block.part, len(block.points)):
            of_rows[picks] = rows[picks].astype(np.uint64) + np.uint64(numbers.firsts[part])
        if numbers.mode == "scattered":
            return 0, of_rows, NO_NUMBERS
        if len(of_rows) and int(of_rows[-1]) - int(of_rows[0]) == len(of_rows) - 1 and (np.diff(of_rows) == 1).all():
            return int(of_rows[0]), None, NO_NUMBERS
        raise Problem(SCATTERED)

    def _keys(self, block: Block) -> Numbers:
        """The keys of rows: those given, or hashes of file and number."""
        if len(block.keys):
            return block.keys
        rows = np.asarray(block.row)
        if rows.ndim == 0:
            rows = int(rows) + np.arange(len(block.points))
        keys = np.empty(len(block.points), np.uint64)
        for part, picks in _by_part(block.part, len(block.points)):
            keys[picks] = mixed(mixed(rows[picks].astype(np.uint64)) + np.uint64(self.numbering.firsts[part]))
        return keys

    def _held_out_places(self, first: int, rows: int) -> NDArray[np.int64]:
        low, high = np.searchsorted(self.held_out, np.array([first, first + rows], np.uint64))
        return (self.held_out[low:high] - np.uint64(first)).astype(np.int64)

    def _complete(self, block: Block) -> Optional[NDArray[np.bool_]]:
        """True for rows without a missing value; None: all are."""
        finite = np.isfinite(block.points)
        if finite.all():
            return None
        missing = np.isnan(block.points)
        wrong = ~finite & ~missing if self.omit else ~finite
        if wrong.any():
            i, j = map(int, np.argwhere(wrong)[0])
            where = self._where(block, i)
            hint = '; nan_policy="omit" excludes such rows' if missing[i, j] else ""
            raise Problem(
                f"{where}column {_arrays.quoted(self.columns[j])} is {block.points[i, j]}, expected a finite number{hint}"
            )
        return np.asarray(~missing.any(axis=1))

    def _where(self, block: Block, i: int) -> str:
        if np.ndim(block.part) or not self.numbering.parts or int(block.part) not in self.numbering.lengths:
            return ""
        name = self.numbering.parts[list(self.numbering.firsts).index(int(block.part))][0]
        row = int(block.row) + i if np.ndim(block.row) == 0 else int(block.row[i])
        return f"{_arrays.printable(name)}: row {row + 1}, "


class Draft(NamedTuple):
    """How a spec is started, with what can be pickled; `made` has the functions."""

    settings: Mapping[str, Any]
    groups: str
    rows_per_group: int
    samples: Sequence[Tuple[int, int]]

    def made(self) -> _core.ProfileDraft:
        return _core.ProfileDraft(completed(self.settings), self.groups, self.rows_per_group, list(self.samples))


def completed(asked: Mapping[str, Any]) -> _core.Settings:
    """The settings of a test by keywords, with the method that they stand for."""
    settings = core_settings("test", asked)
    settings.complete()
    settings.set_parameters(own_parameters("test", settings.method, asked))
    return settings


def key_task() -> Task:
    """For a tally of rows that have keys."""
    return Task(Numbering(0, 1, "keys", {}, {}), [])


class Problem(ValueError):
    """Something about the rows that another attempt does not change."""


def merge(spec: bytes, counted: Iterable[Counted], scattered: bool) -> Counted:
    """The sum of partial profiles, or the first problem."""
    total = _core.PartialProfile(spec)
    n_rows = keys = squares = 0
    for entry in counted:
        if entry.problem:
            return entry
        try:
            total.add(entry.state, scattered)
        except ValueError as error:
            return Counted(b"", 0, 0, 0, str(error))
        n_rows += entry.n_rows
        keys, squares = (keys + entry.total) % 2**64, (squares + entry.squares) % 2**64
    return Counted(total.to_bytes(), n_rows, keys, squares)


def kind_of(arrow_type: Any) -> str:
    """The name of an Arrow type that is not a number."""
    import pyarrow as pa

    if not isinstance(arrow_type, pa.DataType):
        return str(arrow_type)
    tests = pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal
    return "" if any(is_number(arrow_type) for is_number in tests) else str(arrow_type)


def runs(points: NDArray[np.float64], parts: Any, rows: NDArray[np.int64]) -> Iterator[Block]:
    """Rows with their files and numbers as blocks of neighbours; as one block where there are hardly any neighbours."""
    apart = (np.diff(rows) != 1) | (np.diff(parts) != 0)
    ends = np.flatnonzero(apart) + 1
    if len(ends) > _MOST_RUNS:
        yield Block(points, parts, rows)
        return
    for first, last in zip([0, *ends], [*ends, len(rows)]):
        if first < last:
            yield Block(points[first:last], int(parts[first]), int(rows[first]))


def keys_from(columns: Sequence[Any]) -> Numbers:
    """The key of each row, from columns of whole numbers or texts."""
    arrays = [np.asarray(column) for column in columns]
    if len(arrays) == 1 and arrays[0].dtype.kind in "iu" and arrays[0].dtype != np.uint64:
        return _core.keys_of_wholes(arrays[0].astype(np.int64))
    for array in arrays:
        if array.dtype.kind not in "iuOU" or any(value is None or value != value for value in array.tolist()):
            raise Problem(f"key has values of type {array.dtype} or missing ones, expected whole numbers or texts")
    texts = zip(*(map(str, array.tolist()) for array in arrays))
    return _core.keys_of(["\x1f".join(text) for text in texts])


def arrow_points(table: Any, columns: Sequence[str]) -> NDArray[np.float64]:
    """The columns of an Arrow table or batch as rows of doubles; missing values are NaN."""
    import pyarrow as pa

    points = np.empty((table.num_rows, len(columns)))
    for j, name in enumerate(columns):
        column = table.column(name)
        start = 0
        for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
            kind = chunk.type
            if pa.types.is_boolean(kind):
                chunk = chunk.cast(pa.int8())
            elif pa.types.is_decimal(kind):
                chunk = chunk.cast(pa.float64())
            elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
                raise TypeError(refusal(name, str(kind)))
            values = chunk.to_numpy(zero_copy_only=False)
            if values.dtype.kind in "iu" and values.dtype.itemsize == 8 and len(values):
                if int(values.max()) > 2**53 or int(values.min()) < -(2**53):
                    raise ValueError(
                        f"column {_arrays.quoted(name)} has integers beyond 2^53 that would be rounded; exclude it if it is "
                        "an id, otherwise divide it"
                    )
            points[start : start + len(values), j] = values
            start += len(values)
    return points


def refusal(name: str, kind: str) -> str:
    """Why a column is not counted, with what to do."""
    hint = "drop it or encode it as numbers"
    if any(word in kind.lower() for word in ("date", "time", "duration", "interval")):
        hint = "turn it into a number, such as days or seconds since a fixed date, or drop it"
    return f"column {_arrays.quoted(name)} has type {kind}, expected numbers; {hint}"


def _add(
    profile: _core.PartialProfile, points: NDArray[np.float64], numbering: Numbering, first: int, rows: int,
    keep: Optional[NDArray[np.bool_]], numbers: Numbers, scattered: bool, keys: Numbers = NO_NUMBERS,
) -> None:
    if keep is None:
        numbers = numbers if scattered else NO_NUMBERS
    else:
        points, numbers = points[keep], numbers[keep] if len(numbers) else numbers
        keys = keys[keep] if len(keys) else keys
    profile.count(points, numbering.sample, numbering.n_rows, first, rows, numbers, keys, scattered)


def _by_part(part: Any, rows: int) -> Iterator[Tuple[int, Any]]:
    """The codes of parts, each with its rows."""
    if np.ndim(part) == 0:
        yield int(part), slice(None)
        return
    codes = np.asarray(part)
    for code in np.unique(codes):
        yield int(code), np.flatnonzero(codes == code)


def _picked(rows: Any, picks: Any) -> Any:
    return rows if np.ndim(rows) == 0 else rows[picks]


def mixed(values: Numbers) -> Numbers:
    """The finaliser of SplitMix64."""
    values = values + _GOLDEN
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def hash_of(row: NDArray[np.float64]) -> int:
    return int.from_bytes(hashlib.blake2b(np.ascontiguousarray(row).tobytes(), digest_size=8).digest(), "little")
