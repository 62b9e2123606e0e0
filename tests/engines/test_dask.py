"""Profiles by Dask have the bytes of the program's, whatever happens to workers."""

import os
import warnings

import numpy as np
import pytest

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
dd = pytest.importorskip("dask.dataframe")

from conftest import SEED, paths, rows, write  # noqa: E402

import kqd  # noqa: E402
import kqd.dask  # noqa: E402


@pytest.fixture(scope="module")
def client():
    with distributed.LocalCluster(
        n_workers=2, processes=True, threads_per_worker=1, dashboard_address=None, memory_limit=None
    ) as cluster:
        with distributed.Client(cluster) as made:
            yield made


@pytest.mark.parametrize("tasks", [1, 3, 40])
def test_bytes_are_those_of_the_program(client, data, of_program, tasks):
    made = kqd.dask.profile(str(data / "jan" / "*.parquet"), rng=SEED, tasks=tasks)
    assert made.to_bytes() == of_program["jan"]


def test_bytes_are_those_of_the_program_without_a_cluster(data, of_program):
    assert kqd.dask.profile(paths(data / "jan"), rng=SEED).to_bytes() == of_program["jan"]


def test_a_profile_like_another_has_the_bytes_of_the_program(client, data, of_program):
    like = kqd.Profile.from_bytes(of_program["jan"])
    assert kqd.dask.profile(paths(data / "feb"), like=like).to_bytes() == of_program["feb"]


def test_the_pvalue_is_that_of_the_program(client, data, of_program):
    found = kqd.dask.test(paths(data / "jan"), paths(data / "feb"), rng=SEED, method="ekqd")
    assert (found.pvalue, found.statistic) == (of_program["p"]["pvalue"], of_program["p"]["statistic"])
    by_directions = kqd.dask.test(paths(data / "jan"), paths(data / "feb"), rng=SEED, n_directions=5)
    assert by_directions.method == "ekqd"


def test_a_key_gives_the_same_bytes_for_any_partitions(client, data):
    frame = dd.read_parquet(str(data / "jan"))
    frame = frame.assign(id=1).compute()
    frame["id"] = np.arange(len(frame))
    made = [kqd.dask.profile(dd.from_pandas(frame, npartitions=n), key="id", rng=SEED) for n in (2, 7)]
    mixed = dd.from_pandas(frame.sample(frac=1, random_state=1), npartitions=5, sort=False)
    made.append(kqd.dask.profile(mixed, key="id", rng=SEED))
    assert made[0] == made[1] == made[2]


def test_groups_of_one_table_are_samples(client, data):
    found = [
        kqd.dask.test(paths(data / "jan"), group="flag", values=(True, False), rng=SEED, method="ekqd", tasks=tasks)
        for tasks in (1, 7)
    ]
    assert found[0].pvalue == found[1].pvalue and found[0].pvalue > 0.001


def test_a_file_that_is_given_twice_is_refused_by_name(client, data):
    with pytest.raises(ValueError, match=r"part 1\.parquet is given more than once"):
        kqd.dask.profile([*paths(data / "jan"), paths(data / "jan")[1]], rng=SEED)


def test_a_partition_that_is_counted_twice_is_refused_by_name(client, data, of_program):
    like = kqd.Profile.from_bytes(of_program["jan"])
    feb = kqd.dask.profile(paths(data / "feb"), like=like)
    with pytest.raises(ValueError, match=r"rows 1 to 8000 of feb/part 0\.parquet would be counted twice"):
        feb + feb


def test_missing_values_are_refused_with_place_and_remedy(client, tmp_path):
    columns = rows(np.random.default_rng(3), 5_000)
    columns["a"][17] = np.nan
    write(tmp_path / "x.parquet", columns)
    with pytest.raises(ValueError, match=r'x\.parquet: row 18, column "a" is nan.*nan_policy="omit"'):
        kqd.dask.profile(str(tmp_path / "x.parquet"), rng=SEED)
    assert kqd.dask.profile(str(tmp_path / "x.parquet"), rng=SEED, nan_policy="omit").n_counted in (4_999, 5_000)


def test_partitions_without_key_are_counted_with_a_warning_that_says_so(client, data):
    frame = dd.read_parquet(str(data / "jan"))
    with pytest.warns(UserWarning, match="neither numbers of rows nor key="):
        first = kqd.dask.profile(frame, rng=SEED, method="ekqd")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert kqd.dask.profile(frame, rng=SEED, method="ekqd") == first


# ---- Faults ----


def disturbed(monkeypatch, before):
    from kqd import _pieces

    usual = _pieces.count_piece

    def count(shared, piece, table):
        before(piece)
        return usual(shared, piece, table)

    monkeypatch.setattr(_pieces, "count_piece", count)


def test_a_task_whose_first_attempt_raises_changes_nothing(client, data, of_program, monkeypatch, tmp_path):
    mark = tmp_path / "raised"

    def fail_once(piece):
        if piece.code == 1 and not mark.exists():
            mark.touch()
            raise RuntimeError("the first attempt fails")

    disturbed(monkeypatch, fail_once)
    assert kqd.dask.profile(paths(data / "jan"), rng=SEED).to_bytes() == of_program["jan"]
    assert mark.exists()


def test_a_worker_that_dies_in_the_middle_changes_nothing(client, data, of_program, monkeypatch, tmp_path):
    mark = tmp_path / "died"

    def die_once(piece):
        if piece.code == 1 and not mark.exists():
            mark.touch()
            os._exit(1)

    disturbed(monkeypatch, die_once)
    assert kqd.dask.profile(paths(data / "jan"), rng=SEED).to_bytes() == of_program["jan"]
    assert mark.exists()
