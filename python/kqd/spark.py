"""kqd on Spark: tests and profiles of DataFrames, whose rows stay where they are.

>>> import kqd.spark
>>> january = spark.read.parquet("events/month=1")    # doctest: +SKIP
>>> february = spark.read.parquet("events/month=2")   # doctest: +SKIP
>>> kqd.spark.test(january, february).pvalue          # doctest: +SKIP
0.001

Needs pyspark 3.5 or later, pyarrow, and kqd on the machines that run tasks. Only functions of DataFrames are used that
Spark Connect has, too. Only held-out rows, at most 20,000 of each sample, come to the driver.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from . import _engines, _tasks
from ._arrays import quoted
from ._engines import File, Key, Scan
from ._options import count
from ._profile import PathLike, Profile
from ._results import TestResult
from ._tasks import Block, Counted, Task

__all__ = ["profile", "test"]

_PART, _ROW = "__kqd_part", "__kqd_row"
_TASKS_PER_CORE = 4
_STATE = "task long, state binary, n_rows long, total string, squares string, problem string"


def test(
    x: Any,
    y: Any = None,
    *,
    group: Optional[str] = None,
    values: Optional[Tuple[Any, Any]] = None,
    key: Key = None,
    tasks: Optional[int] = None,
    **options: Any,
) -> TestResult:
    """Are two samples from the same distribution? As kqd.test of two profiles, which Spark makes.

    Parameters
    ----------
    x, y : DataFrame
        The samples. Columns are matched by name. Names of Parquet files are read by the active session.
    group, values
        Instead of `y`: a column of `x`, and the two values whose rows are compared.
    key : str or list of str, optional
        Columns that identify a row, or rows that belong together, such as those of a user: these are in one group, and
        are not compared. Not needed for Parquet files, whose rows have numbers.
    tasks : int, optional
        Tasks that count, at most. By default four for each core.
    **options
        Keywords of kqd.test for profiles, and ``rows_per_group``.

    Parquet files give the p-value of ``kqd test`` on the same files, with the same seed, however Spark cuts them.
    """
    first, second = _pair(x, y, group, values)
    return _engines.test(_Frame(first, "x", key, tasks), _Frame(second, "y", key, tasks), key, options)


def profile(
    df: Any,
    *,
    like: Union[None, Profile, PathLike] = None,
    key: Key = None,
    tasks: Optional[int] = None,
    **options: Any,
) -> Profile:
    """A profile of a DataFrame: enough for a test, and for sums of profiles.

    Parameters
    ----------
    df : DataFrame
        A sample.
    like : Profile or path, optional
        Count as this profile does. Otherwise a tenth of the rows, at most 20,000, are held out to choose directions.
    key, tasks
        As for `test`.
    **options
        ``rows_per_group``, ``nan_policy``, ``rng``, and keywords of kqd.test that choose directions: ``method``,
        ``kernel``, ``n_directions`` and so on.

    Parquet files give the bytes of ``kqd profile`` on the same files, with the same seed.
    """
    base = None if like is None else _engines.base_of(like)
    return _engines.profile(_Frame(_frame(df), "df", _engines.keys_of(key, base), tasks), base, key, options)


def _pair(x: Any, y: Any, group: Optional[str], values: Optional[Tuple[Any, Any]]) -> Tuple[Any, Any]:
    x = _frame(x)
    if not _engines.by_group(y, group, values):
        return x, _frame(y)
    column = _column(group or "")
    first, second = values or (None, None)
    return x.where(column == first).drop(group), x.where(column == second).drop(group)


def _frame(df: Any) -> Any:
    if not isinstance(df, (str, list, tuple)):
        return df
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
    return session.read.parquet(*([df] if isinstance(df, str) else df))


def _column(name: str) -> Any:
    from pyspark.sql import functions as F

    return F.col("`" + name.replace("`", "``") + "`")


class _Frame(_engines.Source):
    """A DataFrame."""

    def __init__(self, df: Any, name: str, key: Key, tasks: Optional[int]) -> None:
        from pyspark.sql import types as T

        self.name, self._df = name, df
        self._key = _engines.keys_of(key)
        fields = {field.name: field.dataType for field in df.schema.fields}
        lacking = [column for column in self._key if column not in fields]
        if lacking:
            raise ValueError(f"{name} has no column {quoted(lacking[0])}, which is a key")
        for column in self._key:
            if not isinstance(fields[column], (T.IntegralType, T.StringType)):
                kind = fields[column].simpleString()
                raise TypeError(f"{name}: key {quoted(column)} has type {kind}, expected whole numbers or texts; cast it")
        self.columns = [column for column in fields if column not in self._key]
        self._cast = []
        for column in self.columns:
            kind = fields[column]
            if isinstance(kind, T.DecimalType):
                self._cast.append(_column(column).cast("double").alias(column))
            elif isinstance(kind, (T.NumericType, T.BooleanType)):
                self._cast.append(_column(column))
            else:
                raise TypeError(f"{name}: {_tasks.refusal(column, kind.simpleString())}")
        self._tasks = count(tasks, "tasks") if tasks is not None else _usual_tasks(df)
        self._checks: Dict[int, int] = {}
        self._kind = "keys" if self._key else "files" if _has_row_numbers(df) else "partitions"

    def scan(self, key: Sequence[str]) -> Scan:
        from pyspark.sql import functions as F

        if self._kind == "files":
            rows = self._df.select(
                F.col("_metadata.file_path").alias("path"),
                F.col("_metadata.file_size").alias("size"),
                F.col("_metadata.row_index").alias("row"),
            )
            found = rows.groupBy("path", "size").agg(F.count("*").alias("n"), F.max("row").alias("last"))
            files = [
                File(row["path"], int(row["code"]), int(row["size"]), int(row["n"]), int(row["last"]) + 1)
                for row in found.withColumn("code", F.xxhash64("path")).collect()
            ]
            if not files:
                raise ValueError(f"{self.name} has no rows")
            return Scan(files=files)
        if self._kind == "keys":
            keys = self._df.select(*map(_column, self._key))
            tallied = self._mapped(keys, _tally(_reader("keys", [], self._key)), "part long, n_rows long, total string")
            found = [(int(row["n_rows"]), int(row["total"])) for row in tallied.collect()]
            return Scan(keys=(sum(rows for rows, _ in found), sum(total for _, total in found) % 2**64))
        # All columns, so that adaptive execution cuts the rows as it will cut them later.
        counted = self._mapped(self._rows(), _lengths, "part long, n_rows long").collect()
        return Scan(partitions={int(row["part"]): int(row["n_rows"]) for row in counted})

    def tally(self, task: Task) -> List[Tuple[int, int, int]]:
        rows = self._numbered([])
        found = self._mapped(rows, _tally(_reader("files", [], []), task), "part long, n_rows long, total string")
        return [(int(row["part"]), int(row["n_rows"]), int(row["total"])) for row in found.collect()]

    def draw(self, task: Task) -> List[Tuple[int, NDArray[np.float64]]]:
        if task.numbering.mode == "rows" and self._kind == "files":
            return self._fetch(task)
        found = self._mapped(
            self._rows(), _draw(_reader(self._kind, task.columns, self._key), task), "part long, place string, cells binary"
        )
        drawn = []
        for row in found.collect():
            cells = np.frombuffer(bytes(row["cells"]), np.float64)
            drawn.append((int(row["place"]), cells))
            part = int(row["part"])
            self._checks[part] = (self._checks.get(part, 0) + _tasks.hash_of(cells)) % 2**64
        return drawn

    def _fetch(self, task: Task) -> List[Tuple[int, NDArray[np.float64]]]:
        """The rows with some numbers, by a join, so that no other row leaves the scan."""
        from pyspark.sql import functions as F

        firsts = task.numbering.firsts
        ordered = sorted((first, code) for code, first in firsts.items() if task.numbering.lengths[code] > 0)
        starts = np.array([first for first, _ in ordered])
        wanted = [
            (ordered[k][1], int(number) - ordered[k][0], int(number))
            for k, number in zip(np.searchsorted(starts, task.held_out, side="right") - 1, task.held_out)
        ]
        places = self._df.sparkSession.createDataFrame(wanted, f"{_PART} long, {_ROW} long, __kqd_place long")
        found = self._numbered(self._cast).join(F.broadcast(places), [_PART, _ROW])
        cells = found.select("__kqd_place", *map(_column, task.columns)).collect()
        return [(row[0], np.array([np.nan if v is None else v for v in row[1:]], np.float64)) for row in cells]

    def draw_checks(self) -> Mapping[int, int]:
        return self._checks

    def count(self, task: Task) -> List[Counted]:
        counted = self._mapped(self._rows(), _count(_reader(self._kind, task.columns, self._key), task), _STATE)
        scattered = task.numbering.mode != "rows"
        for n_tasks in _engines.levels(self._tasks):
            counted = counted.repartition(n_tasks, "task").mapInArrow(_merge(task.spec, scattered), _STATE)
        return [
            Counted(bytes(row["state"]), int(row["n_rows"]), int(row["total"]), int(row["squares"]), row["problem"])
            for row in counted.collect()
        ]

    def _rows(self) -> Any:
        if self._kind == "files":
            return self._numbered(self._cast)
        return self._df.select(*self._cast, *map(_column, self._key))

    def _numbered(self, columns: Sequence[Any]) -> Any:
        """Some columns, and the file and number of each row."""
        from pyspark.sql import functions as F

        return self._df.select(
            *columns, F.xxhash64("_metadata.file_path").alias(_PART), F.col("_metadata.row_index").alias(_ROW)
        )

    def _mapped(self, rows: Any, function: Callable[[Iterator[Any]], Iterator[Any]], schema: str) -> Any:
        return rows.coalesce(self._tasks).mapInArrow(function, schema)


def _has_row_numbers(df: Any) -> bool:
    """Whether rows have the number that Spark gives to rows of Parquet files."""
    from pyspark.errors import AnalysisException

    try:
        df.select("_metadata.file_path", "_metadata.file_size", "_metadata.row_index").schema
    except AnalysisException:
        return False
    return True


def _usual_tasks(df: Any) -> int:
    session = df.sparkSession
    try:
        return _TASKS_PER_CORE * int(session.sparkContext.defaultParallelism)
    except Exception:  # noqa: BLE001  Spark Connect has no context, and says so by an exception of its own
        return int(session.conf.get("spark.sql.shuffle.partitions", "200"))


# ---- In tasks ----

Reader = Callable[[Iterator[Any]], Iterator[Block]]


def _partition() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return int(context.partitionId())


def _reader(kind: str, columns: Sequence[str], key: Sequence[str]) -> Reader:
    """From the batches of a task to its rows."""

    def read(batches: Iterator[Any]) -> Iterator[Block]:
        start = 0
        part = _partition()
        for table in _tables(batches):
            points = _tasks.arrow_points(table, columns)
            if kind == "keys":
                yield Block(points, keys=_tasks.keys_from([table.column(name).to_pandas() for name in key]))
            elif kind == "files":
                yield from _tasks.runs(points, table.column(_PART).to_numpy(), table.column(_ROW).to_numpy())
            else:
                yield Block(points, part, start)
            start += table.num_rows

    return read


def _tables(batches: Iterator[Any]) -> Iterator[Any]:
    """Batches of Spark, which are small, several at a time."""
    import pyarrow as pa

    some: List[Any] = []
    for batch in batches:
        some.append(batch)
        if sum(part.num_rows for part in some) >= _tasks.ROWS_AT_A_TIME:
            yield pa.Table.from_batches(some)
            some = []
    if some:
        yield pa.Table.from_batches(some)


def _lengths(batches: Iterator[Any]) -> Iterator[Any]:
    import pyarrow as pa

    rows = sum(batch.num_rows for batch in batches)
    yield pa.RecordBatch.from_pydict({"part": [_partition()], "n_rows": [rows]})


def _tally(read: Reader, task: Optional[Task] = None) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def tally(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        own = task if task is not None else _tasks.key_task()
        found = own.tally(read(batches))
        yield pa.RecordBatch.from_arrays(
            [
                pa.array([part for part, _, _ in found], pa.int64()),
                pa.array([rows for _, rows, _ in found], pa.int64()),
                pa.array([str(total) for _, _, total in found], pa.string()),
            ],
            ["part", "n_rows", "total"],
        )

    return tally


def _draw(read: Reader, task: Task) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def draw(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        drawn = task.draw(read(batches))
        yield pa.RecordBatch.from_arrays(
            [
                pa.array([_partition()] * len(drawn), pa.int64()),
                pa.array([str(place) for place, _ in drawn], pa.string()),
                pa.array([row.tobytes() for _, row in drawn], pa.binary()),
            ],
            ["part", "place", "cells"],
        )

    return draw


def _count(read: Reader, task: Task) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def count(batches: Iterator[Any]) -> Iterator[Any]:
        yield _state(_partition(), task.count(read(batches), _partition()))

    return count


def _merge(spec: bytes, scattered: bool) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def merge(batches: Iterator[Any]) -> Iterator[Any]:
        counted = (
            Counted(row["state"], row["n_rows"], int(row["total"]), int(row["squares"]), row["problem"])
            for batch in batches
            for row in batch.to_pylist()
        )
        yield _state(_partition(), _tasks.merge(spec, counted, scattered))

    return merge


def _state(task: int, counted: Counted) -> Any:
    import pyarrow as pa

    return pa.RecordBatch.from_pydict(
        {
            "task": [task],
            "state": [counted.state],
            "n_rows": [counted.n_rows],
            "total": [str(counted.total)],
            "squares": [str(counted.squares)],
            "problem": [counted.problem],
        }
    )
