"""kqd on Dask: tests and profiles of Parquet files and Dask DataFrames, whose rows stay where they are.

>>> import kqd.dask
>>> kqd.dask.test("events/january/*.parquet", "events/february/*.parquet").pvalue   # doctest: +SKIP
0.001

Needs dask and, for Parquet, pyarrow; on a cluster, kqd on the workers. Tasks run on the active client, otherwise on the
default scheduler. Only held-out rows, at most 20,000 of each sample, come to the client.
"""

from __future__ import annotations

import os
from typing import Any, Callable, List, Optional, Sequence, Tuple, Union

from . import _engines, _pieces, _tasks
from ._engines import Key
from ._pieces import Piece, Pieces, Select
from ._profile import PathLike, Profile
from ._results import TestResult
from ._tasks import Counted

__all__ = ["profile", "test"]

_RETRIES = 3


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
    """Are two samples from the same distribution? As kqd.test of two profiles, which Dask makes.

    Parameters
    ----------
    x, y : names of Parquet files, or dask.dataframe.DataFrame
        The samples: a name, a pattern such as ``"january/*.parquet"``, a list of names, or a DataFrame. Columns are
        matched by name. Workers must see the files under the same names.
    group, values
        Instead of `y`: a column of `x`, and the two values whose rows are compared.
    key : str or list of str, optional
        Columns that identify a row, or rows that belong together, such as those of a user: these are in one group, and
        are not compared. Not needed for files, whose rows have numbers.
    tasks : int, optional
        About how many tasks read the files. By default four for each core.
    **options
        Keywords of kqd.test for profiles, and ``rows_per_group``.

    Files give the p-value of ``kqd test`` on the same files, with the same seed, however they are cut.
    """
    pair = _engines.pair_of(x, y, group, values)
    sources = [_source(data, name, _engines.keys_of(key), value, tasks) for name, (data, value) in zip("xy", pair)]
    return _engines.test(sources[0], sources[1], key, options)


def profile(
    data: Any,
    *,
    like: Union[None, Profile, PathLike] = None,
    key: Key = None,
    tasks: Optional[int] = None,
    **options: Any,
) -> Profile:
    """A profile of Parquet files or a Dask DataFrame: enough for a test, and for sums of profiles.

    Parameters
    ----------
    data, key, tasks
        A sample, as for `test`.
    like : Profile or path, optional
        Count as this profile does. Otherwise a tenth of the rows, at most 20,000, are held out to choose directions.
    **options
        ``rows_per_group``, ``nan_policy``, ``rng``, and keywords of kqd.test that choose directions: ``method``,
        ``kernel``, ``n_directions`` and so on.

    Files give the bytes of ``kqd profile`` on the same files, with the same seed.
    """
    base = None if like is None else _engines.base_of(like)
    source = _source(data, "data", _engines.keys_of(key, base), None, tasks)
    return _engines.profile(source, base, key, options)


def _source(data: Any, name: str, key: Sequence[str], select: Optional[Tuple[str, Any]], tasks: Optional[int]) -> Pieces:
    only = None if select is None else Select(*select)
    paths = _pieces.parquet_paths(data)
    if paths is not None:
        return Pieces(_Dask(), name, _pieces.parquet_columns(paths), key, only, paths=paths, tasks=tasks)
    if not hasattr(data, "to_delayed") or not hasattr(data, "dtypes"):
        kind = type(data).__name__
        raise TypeError(f"{name} is of type {kind}, expected names of Parquet files or a Dask DataFrame")
    columns = {
        str(column): "" if getattr(kind, "kind", "O") in "biuf" else str(kind) for column, kind in data.dtypes.items()
    }
    return Pieces(_Dask(), name, columns, key, only, tables=data.to_delayed(), tasks=tasks)


class _Dask(_pieces.Runner):
    def n_cores(self) -> int:
        client = _client()
        return sum(client.ncores().values()) if client is not None else os.cpu_count() or 1

    def map(self, function: Callable[..., Any], shared: Any, pieces: Sequence[Piece], tables: Sequence[Any]) -> List[Any]:
        return _computed(self._each(function, shared, pieces, tables))

    def count(
        self, shared: Any, pieces: Sequence[Piece], tables: Sequence[Any], spec: bytes, scattered: bool
    ) -> List[Counted]:
        import dask

        counted = self._each(_pieces.count_piece, shared, pieces, tables)
        of_spec = dask.delayed(spec)
        merge = dask.delayed(_tasks.merge, pure=False)
        return _computed(_pieces.in_levels(counted, lambda some: merge(of_spec, some, scattered)))

    def _each(
        self, function: Callable[..., Any], shared: Any, pieces: Sequence[Piece], tables: Sequence[Any]
    ) -> List[Any]:
        import dask

        once = dask.delayed(shared, traverse=False)
        called = dask.delayed(function, pure=False)
        return [
            called(once, dask.delayed(piece, traverse=False), table) for piece, table in zip(pieces, tables)
        ]


def _client() -> Any:
    """The active client of dask.distributed, if there is one."""
    try:
        from distributed import get_client
    except ImportError:
        return None
    try:
        return get_client()
    except ValueError:
        return None


def _computed(values: List[Any]) -> List[Any]:
    import dask

    client = _client()
    if client is None:
        return list(dask.compute(*values))
    return list(client.gather(client.compute(values, retries=_RETRIES)))
