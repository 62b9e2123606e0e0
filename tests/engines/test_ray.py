"""Profiles by Ray have the bytes of the program's."""

import os
import warnings

import numpy as np
import pytest

ray = pytest.importorskip("ray")

from conftest import SEED, paths  # noqa: E402

import kqd  # noqa: E402
import kqd.ray  # noqa: E402


@pytest.fixture(scope="module", autouse=True)
def cluster():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=200_000_000)
    yield
    ray.shutdown()


@pytest.mark.parametrize("tasks", [1, 40])
def test_bytes_are_those_of_the_program(data, of_program, tasks):
    made = kqd.ray.profile(str(data / "jan" / "*.parquet"), rng=SEED, tasks=tasks)
    assert made.to_bytes() == of_program["jan"]


def test_a_profile_like_another_has_the_bytes_of_the_program(data, of_program):
    like = kqd.Profile.from_bytes(of_program["jan"])
    assert kqd.ray.profile(paths(data / "feb"), like=like).to_bytes() == of_program["feb"]


def test_the_pvalue_is_that_of_the_program(data, of_program):
    found = kqd.ray.test(paths(data / "jan"), paths(data / "feb"), rng=SEED, method="ekqd")
    assert (found.pvalue, found.statistic) == (of_program["p"]["pvalue"], of_program["p"]["statistic"])


def test_a_key_gives_the_same_bytes_for_any_blocks():
    rng = np.random.default_rng(2)
    rows = {"id": np.arange(5_000), "u": rng.normal(size=5_000)}
    data = ray.data.from_arrow(_table(rows))
    made = [kqd.ray.profile(some, key="id", rng=SEED, method="ekqd") for some in (data, data.repartition(4))]
    assert made[0] == made[1]


def test_blocks_without_key_are_counted_with_a_warning_that_says_so():
    data = ray.data.from_arrow(_table({"u": np.random.default_rng(2).normal(size=4_000)}))
    with pytest.warns(UserWarning, match="neither numbers of rows nor key="):
        kqd.ray.profile(data, rng=SEED, method="ekqd")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert kqd.ray.test(data, data.map_batches(lambda b: {"u": b["u"] + 1.0}), rng=SEED, method="ekqd").pvalue < 0.01


def test_a_task_whose_process_dies_changes_nothing(data, of_program, monkeypatch, tmp_path):
    from kqd import _pieces

    usual, mark = _pieces.count_piece, tmp_path / "died"

    def die_once(shared, piece, table):
        if piece.code == 1 and not mark.exists():
            mark.touch()
            os._exit(1)
        return usual(shared, piece, table)

    monkeypatch.setattr(_pieces, "count_piece", die_once)
    assert kqd.ray.profile(paths(data / "jan"), rng=SEED).to_bytes() == of_program["jan"]
    assert mark.exists()


def _table(columns):
    import pyarrow as pa

    return pa.table(columns)
