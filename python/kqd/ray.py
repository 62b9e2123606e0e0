"""kqd on Ray: tests and profiles of Parquet files and Ray Datasets, whose rows stay where they are.

>>> import kqd.ray
>>> kqd.ray.test("events/january/*.parquet", "events/february/*.parquet").pvalue   # doctest: +SKIP
0.001

Needs ray and pyarrow; on a cluster, kqd on all nodes. Only held-out rows, at most 20,000 of each sample, come to the
driver. Files are read by tasks directly; the blocks of a Dataset are kept in Ray's object store meanwhile.
"""

from __future__ import annotations

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
    """Are two samples from the same distribution? As kqd.test of two profiles, which Ray makes.

    Parameters
    ----------
    x, y : names of Parquet files, or ray.data.Dataset
        The samples: a name, a pattern such as ``"january/*.parquet"``, a list of names, or a Dataset. Columns are
        matched by name. Nodes must see the files under the same names.
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
    """A profile of Parquet files or a Ray Dataset: enough for a test, and for sums of profiles.

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
    import ray

    if not ray.is_initialized():
        ray.init(log_to_driver=False)
    only = None if select is None else Select(*select)
    paths = _pieces.parquet_paths(data)
    if paths is not None:
        return Pieces(_Ray(), name, _pieces.parquet_columns(paths), key, only, paths=paths, tasks=tasks)
    if not hasattr(data, "to_arrow_refs"):
        kind = type(data).__name__
        raise TypeError(f"{name} is of type {kind}, expected names of Parquet files or a Ray Dataset")
    schema = data.schema()
    columns = {column: _tasks.kind_of(kind) for column, kind in zip(schema.names, schema.types)}
    return Pieces(_Ray(), name, columns, key, only, tables=data.to_arrow_refs(), tasks=tasks)


class _Ray(_pieces.Runner):
    def n_cores(self) -> int:
        import ray

        return int(ray.cluster_resources().get("CPU", 1))

    def map(self, function: Callable[..., Any], shared: Any, pieces: Sequence[Piece], tables: Sequence[Any]) -> List[Any]:
        import ray

        found: List[Any] = ray.get(self._each(function, shared, pieces, tables))
        return found

    def count(
        self, shared: Any, pieces: Sequence[Piece], tables: Sequence[Any], spec: bytes, scattered: bool
    ) -> List[Counted]:
        import ray

        counted = self._each(_pieces.count_piece, shared, pieces, tables)
        of_spec = ray.put(spec)
        merge = _remote(_merge)
        found: List[Counted] = ray.get(_pieces.in_levels(counted, lambda some: merge(of_spec, scattered, *some)))
        return found

    def _each(
        self, function: Callable[..., Any], shared: Any, pieces: Sequence[Piece], tables: Sequence[Any]
    ) -> List[Any]:
        import ray

        once = ray.put(shared)
        called = _remote(function)
        return [called(once, piece, table) for piece, table in zip(pieces, tables)]


def _merge(spec: bytes, scattered: bool, *counted: Counted) -> Counted:
    return _tasks.merge(spec, counted, scattered)


def _remote(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as a task that is tried again after any failure: what is wrong with the rows is returned."""
    import ray

    call: Callable[..., Any] = ray.remote(max_retries=_RETRIES, retry_exceptions=True)(function).remote
    return call
