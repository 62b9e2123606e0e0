"""The common part of kqd.dask and kqd.ray: samples as pieces that tasks read, Parquet files or partitions of a table."""

from __future__ import annotations

import glob
import os
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from . import _arrays, _engines, _tasks
from ._engines import File, Scan
from ._options import count
from ._tasks import Block, Counted, Task


class Select(NamedTuple):
    """Rows with one value of a column."""

    column: str
    value: Any


class Piece(NamedTuple):
    """Neighbouring row groups of a Parquet file, or a partition."""

    #: Of its file or partition.
    code: int
    path: str = ""
    row_groups: Tuple[int, ...] = ()
    #: The number of its first row in the file.
    first: int = 0


class Reading(NamedTuple):
    """How a piece becomes blocks."""

    columns: Sequence[str]
    key: Sequence[str]
    select: Optional[Select]


class Runner:
    """The work of an engine."""

    def n_cores(self) -> int:
        raise NotImplementedError

    def map(self, function: Callable[..., Any], shared: Any, pieces: Sequence[Piece], tables: Sequence[Any]) -> List[Any]:
        """function(shared, piece, table) for every piece, somewhere. Tables are those of partitions; None for files."""
        raise NotImplementedError

    def count(
        self, shared: Any, pieces: Sequence[Piece], tables: Sequence[Any], spec: bytes, scattered: bool
    ) -> List[Counted]:
        """count_piece for every piece, and sums of up to MERGED_AT_A_TIME of them until few are left."""
        raise NotImplementedError


class Pieces(_engines.Source):
    """A sample in pieces."""

    def __init__(
        self, runner: Runner, name: str, columns: Mapping[str, str], key: Sequence[str], select: Optional[Select],
        tables: Optional[Sequence[Any]] = None, paths: Sequence[str] = (), tasks: Optional[int] = None,
    ) -> None:
        self.name, self._runner, self._select = name, runner, select
        for column in [*key, *([select.column] if select else [])]:
            if column not in columns:
                raise ValueError(f"{name} has no column {_arrays.quoted(column)}")
        others = [*key, *([select.column] if select else [])]
        for column, kind in columns.items():
            if column not in others and kind:
                raise TypeError(f"{name}: {_tasks.refusal(column, kind)}")
        self.columns = [column for column in columns if column not in others]
        self._key = list(key)
        self._files: List[File] = []
        if tables is None:
            n_tasks = count(tasks, "tasks") if tasks is not None else 4 * runner.n_cores()
            self._files, self._pieces = _cut(paths, max(1, n_tasks))
            self._tables: Sequence[Any] = [None] * len(self._pieces)
        else:
            self._pieces, self._tables = [Piece(k) for k in range(len(tables))], tables
        self._checks: Dict[int, int] = {}

    def scan(self, key: Sequence[str]) -> Scan:
        if self._key:
            found = self._run(tally_piece, _tasks.key_task(), [])
            return Scan(keys=(sum(rows for _, rows, _ in found), sum(total for *_, total in found) % 2**64))
        if not self._files:
            lengths = self._runner.map(length_of, Reading([], [], self._select), self._pieces, self._tables)
            return Scan(partitions={piece.code: rows for piece, rows in zip(self._pieces, lengths)})
        if self._select is None:
            return Scan(files=self._files)
        lengths = self._runner.map(length_of, Reading([], [], self._select), self._pieces, self._tables)
        kept = {file.code: 0 for file in self._files}
        for piece, rows in zip(self._pieces, lengths):
            kept[piece.code] += rows
        return Scan(files=[file._replace(n_rows=kept[file.code]) for file in self._files])

    def tally(self, task: Task) -> List[Tuple[int, int, int]]:
        return self._run(tally_piece, task, [])

    def draw(self, task: Task) -> List[Tuple[int, NDArray[np.float64]]]:
        shared = task, Reading(task.columns, self._key, self._select)
        drawn = []
        for piece, rows in zip(self._pieces, self._runner.map(draw_piece, shared, self._pieces, self._tables)):
            drawn += rows
            total = self._checks.get(piece.code, 0) + sum(_tasks.hash_of(row) for _, row in rows)
            self._checks[piece.code] = total % 2**64
        return drawn

    def draw_checks(self) -> Mapping[int, int]:
        return self._checks

    def count(self, task: Task) -> List[Counted]:
        shared = task, Reading(task.columns, self._key, self._select)
        return self._runner.count(shared, self._pieces, self._tables, task.spec, task.numbering.mode != "rows")

    def _run(self, function: Callable[..., Any], task: Task, columns: Sequence[str]) -> List[Any]:
        shared = task, Reading(columns, self._key, self._select)
        return [entry for part in self._runner.map(function, shared, self._pieces, self._tables) for entry in part]


def in_levels(counted: List[Any], merged: Callable[[List[Any]], Any]) -> List[Any]:
    """Sums of partial profiles, several at a time, until few are left."""
    while len(counted) > _engines.MERGED_AT_A_TIME:
        step = _engines.MERGED_AT_A_TIME
        counted = [merged(counted[k : k + step]) for k in range(0, len(counted), step)]
    return counted


def parquet_paths(given: Any) -> Optional[List[str]]:
    """Names of files, from names, patterns and lists of them; None for anything else."""
    if isinstance(given, (str, os.PathLike)):
        given = [given]
    if not isinstance(given, (list, tuple)) or not all(isinstance(path, (str, os.PathLike)) for path in given):
        return None
    found: List[str] = []
    for path in map(os.fspath, given):
        is_pattern = any(letter in path for letter in "*?[") and "://" not in path and not os.path.exists(path)
        matching = sorted(glob.glob(path, recursive=True)) if is_pattern else [path]
        if not matching:
            raise FileNotFoundError(f"no file matches {_arrays.quoted(path)}")
        found += matching
    if len(set(found)) < len(found):
        raise ValueError(f"{_arrays.printable(next(path for path in found if found.count(path) > 1))} is given more than once")
    return found


def parquet_columns(paths: Sequence[str]) -> Dict[str, str]:
    """The columns of Parquet files; with the name of its type for a column that is not a number."""
    with _opened(paths[0]) as file:
        return {field.name: _tasks.kind_of(field.type) for field in file.schema_arrow}


def _opened(path: str) -> Any:
    import pyarrow.fs
    import pyarrow.parquet

    if "://" not in path:
        return pyarrow.parquet.ParquetFile(path)
    system, inside = pyarrow.fs.FileSystem.from_uri(path)
    return pyarrow.parquet.ParquetFile(system.open_input_file(inside))


def _size(path: str) -> int:
    import pyarrow.fs

    if "://" not in path:
        return os.stat(path).st_size
    system, inside = pyarrow.fs.FileSystem.from_uri(path)
    return int(system.get_file_info(inside).size)


def _cut(paths: Sequence[str], n_tasks: int) -> Tuple[List[File], List[Piece]]:
    """Files, and pieces of about equally many rows."""
    groups: List[List[int]] = []
    for path in paths:
        with _opened(path) as file:
            footer = file.metadata
            groups.append([footer.row_group(k).num_rows for k in range(footer.num_row_groups)])
    usual = -(-sum(sum(rows) for rows in groups) // n_tasks)
    files, pieces = [], []
    for code, (path, rows) in enumerate(zip(paths, groups)):
        absolute = path if "://" in path else os.path.normpath(os.path.abspath(path))
        files.append(File(absolute, code, _size(path), sum(rows), sum(rows)))
        first, begin = 0, 0
        for k in range(len(rows)):
            if sum(rows[begin : k + 1]) >= usual or k + 1 == len(rows):
                pieces.append(Piece(code, absolute, tuple(range(begin, k + 1)), first))
                first, begin = first + sum(rows[begin : k + 1]), k + 1
    return files, pieces


# ---- In tasks ----


def count_piece(shared: Tuple[Task, Reading], piece: Piece, table: Any) -> Counted:
    task, reading = shared
    return task.count(_blocks(reading, piece, table), piece.code)


def draw_piece(shared: Tuple[Task, Reading], piece: Piece, table: Any) -> List[Tuple[int, NDArray[np.float64]]]:
    task, reading = shared
    return task.draw(_blocks(reading, piece, table))


def tally_piece(shared: Tuple[Task, Reading], piece: Piece, table: Any) -> List[Tuple[int, int, int]]:
    task, reading = shared
    return task.tally(_blocks(reading, piece, table))


def length_of(reading: Reading, piece: Piece, table: Any) -> int:
    return sum(len(block.points) for block in _blocks(reading, piece, table))


def _blocks(reading: Reading, piece: Piece, table: Any) -> Iterator[Block]:
    first = piece.first
    for some in _tables(reading, piece, table):
        picks = _picks(some, reading.select)
        points = _points(some, reading.columns)
        keys = _tasks.keys_from([_values(some, name) for name in reading.key]) if reading.key else _tasks.NO_NUMBERS
        if picks is None:
            yield Block(points, piece.code, first, keys)
        else:
            start = 0 if not piece.path else first
            yield Block(points[picks], piece.code, start + picks, keys[picks] if len(keys) else keys)
        first += len(points)


def _tables(reading: Reading, piece: Piece, table: Any) -> Iterator[Any]:
    if not piece.path:
        yield table
        return
    wanted = [*reading.columns, *reading.key, *([reading.select.column] if reading.select else [])]
    with _opened(piece.path) as file:
        lacking = [name for name in wanted if name not in file.schema_arrow.names]
        if lacking:
            raise ValueError(f"{_arrays.printable(piece.path)} has no column {_arrays.quoted(lacking[0])}")
        yield from file.iter_batches(_tasks.ROWS_AT_A_TIME, row_groups=list(piece.row_groups), columns=wanted)


def _picks(table: Any, select: Optional[Select]) -> Optional[NDArray[np.int64]]:
    if select is None:
        return None
    return np.flatnonzero(np.asarray(_values(table, select.column)) == select.value)


def _values(table: Any, name: str) -> Any:
    return table[name].to_numpy() if _arrays.is_pandas(table) else table.column(name).to_numpy(zero_copy_only=False)


def _points(table: Any, columns: Sequence[str]) -> NDArray[np.float64]:
    if not _arrays.is_pandas(table):
        return _tasks.arrow_points(table, columns)
    return _arrays.matrix(table[list(columns)], "the partition") if columns else np.empty((len(table), 0))
