"""Profiles by Spark have the bytes of the program's, whatever Spark does on the way."""

import os
import warnings

import numpy as np
import pytest

pytest.importorskip("pyspark")

from conftest import SEED, paths, rows, write  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402
from pyspark.sql import functions as F  # noqa: E402

import kqd  # noqa: E402
import kqd.spark  # noqa: E402


def session(master="local[2]", **settings):
    builder = SparkSession.builder.master(master).appName("kqd")
    usual = {
        "spark.driver.memory": "1g", "spark.executor.memory": "1g", "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "4", "spark.ui.showConsoleProgress": "false",
    }
    for name, value in {**usual, **settings}.items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    return made


@pytest.fixture(scope="module")
def spark():
    made = session()
    yield made
    made.stop()


@pytest.mark.parametrize("split", ["16k", "64k", "128m"])
@pytest.mark.parametrize("adaptive", ["true", "false"])
def test_bytes_are_those_of_the_program_for_any_partitions(spark, data, of_program, split, adaptive):
    spark.conf.set("spark.sql.files.maxPartitionBytes", split)
    spark.conf.set("spark.sql.files.openCostInBytes", "1k")
    spark.conf.set("spark.sql.adaptive.enabled", adaptive)
    made = kqd.spark.profile(spark.read.parquet(str(data / "jan")), rng=SEED)
    assert made.to_bytes() == of_program["jan"]


@pytest.mark.parametrize("tasks", [1, 30])
def test_bytes_are_those_of_the_program_after_a_shuffle_and_for_any_number_of_tasks(spark, data, of_program, tasks):
    df = spark.read.parquet(*paths(data / "jan")).repartition(20)
    assert kqd.spark.profile(df, rng=SEED, tasks=tasks).to_bytes() == of_program["jan"]


def test_a_profile_like_another_has_the_bytes_of_the_program(spark, data, of_program):
    like = kqd.Profile.from_bytes(of_program["jan"])
    made = kqd.spark.profile(spark.read.parquet(str(data / "feb")), like=like)
    assert made.to_bytes() == of_program["feb"]


def test_the_pvalue_is_that_of_the_program(spark, data, of_program):
    frames = [spark.read.parquet(str(data / month)) for month in ("jan", "feb")]
    found = kqd.spark.test(*frames, rng=SEED, method="ekqd")
    assert (found.pvalue, found.statistic) == (of_program["p"]["pvalue"], of_program["p"]["statistic"])


def test_a_key_gives_the_same_bytes_for_any_partitions(spark, data):
    df = spark.read.parquet(str(data / "jan")).withColumn("id", F.monotonically_increasing_id())
    df = df.localCheckpoint()
    made = [kqd.spark.profile(frame, key="id", rng=SEED).to_bytes() for frame in (df, df.repartition(5), df.coalesce(1))]
    assert made[0] == made[1] == made[2]
    assert kqd.Profile.from_bytes(made[0]).groups == "key:id"


def test_groups_of_one_table_are_samples(spark, data):
    both = spark.read.parquet(*paths(data / "jan")).withColumn("month", F.when(F.rand(1) < 0.5, "one").otherwise("two"))
    both = both.withColumn("id", F.monotonically_increasing_id()).localCheckpoint()
    found = kqd.spark.test(both, group="month", values=("one", "two"), key="id", rng=SEED, method="ekqd")
    assert found.pvalue > 0.001
    with pytest.raises(TypeError, match='key "a" has type double, expected whole numbers or texts'):
        kqd.spark.test(both, group="month", values=("one", "two"), key="a")
    by_value = kqd.spark.test(
        spark.read.parquet(*paths(data / "jan")), group="flag", values=(True, False), rng=SEED, method="ekqd"
    )
    again = kqd.spark.test(
        spark.read.parquet(*paths(data / "jan")).repartition(9), group="flag", values=(True, False), rng=SEED, method="ekqd"
    )
    assert by_value.pvalue == again.pvalue and by_value.pvalue > 0.001


def test_a_file_that_is_given_twice_is_refused_by_name(spark, data):
    twice = spark.read.parquet(*paths(data / "jan"), paths(data / "jan")[1])
    with pytest.raises(ValueError, match=r"part 1\.parquet is in df more than once"):
        kqd.spark.profile(twice, rng=SEED)


def test_a_profile_that_is_merged_twice_is_refused_by_name(spark, data, of_program):
    base = kqd.Profile.from_bytes(of_program["jan"])
    feb = kqd.spark.profile(spark.read.parquet(str(data / "feb")), like=base)
    with pytest.raises(ValueError, match=r"rows 1 to 8000 of feb/part 0\.parquet would be counted twice"):
        feb + feb
    with pytest.raises(ValueError, match="without rows in common"):
        kqd.spark.test(*(spark.read.parquet(str(data / "jan")) for _ in "xy"))
    with pytest.raises(ValueError, match=r"part 0\.parquet is in both samples"):
        kqd.spark.test(*(spark.read.parquet(*paths(data / "jan")[:n]) for n in (2, 3)))


def test_missing_values_are_refused_or_left_out_as_by_the_program(spark, tmp_path):
    from conftest import program

    columns = rows(np.random.default_rng(3), 5_000)
    columns["a"][[17, 4_000]] = np.nan
    write(tmp_path / "with" / "x.parquet", columns)
    df = spark.read.parquet(str(tmp_path / "with"))
    with pytest.raises(ValueError, match=r'x\.parquet: row 18, column "a" is nan.*nan_policy="omit"'):
        kqd.spark.profile(df, rng=SEED)
    write(tmp_path / "with" / "y.parquet", rows(np.random.default_rng(4), 500))
    done = program("profile", tmp_path / "with" / "*.parquet", "--na", "omit", "--seed", SEED, "-o", tmp_path / "out.kqp")
    assert done.returncode == 0, done.stderr
    df = spark.read.parquet(str(tmp_path / "with"))
    assert kqd.spark.profile(df, rng=SEED, nan_policy="omit").to_bytes() == (tmp_path / "out.kqp").read_bytes()


def test_columns_that_are_no_numbers_are_refused_with_the_remedy(spark):
    df = spark.range(100).withColumn("day", F.current_date())
    with pytest.raises(TypeError, match=r'column "day" has type date, expected numbers; turn it into a number'):
        kqd.spark.profile(df)
    with pytest.raises(TypeError, match=r'column "name" has type string, expected numbers; drop it or encode it'):
        kqd.spark.profile(spark.range(100).withColumn("name", F.lit("x")))
    with pytest.raises(ValueError, match="different columns"):
        kqd.spark.test(spark.range(100), spark.range(100).withColumnRenamed("id", "other"))


def test_without_row_numbers_and_key_a_warning_says_so(spark):
    df = spark.range(4_000).select((F.rand(5) * 1.0).alias("u")).localCheckpoint()
    with pytest.warns(UserWarning, match="neither numbers of rows nor key="):
        first = kqd.spark.profile(df, rng=SEED, method="ekqd")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert kqd.spark.profile(df, rng=SEED, method="ekqd") == first


def test_rows_that_change_between_passes_are_refused(spark):
    import time

    # The seed of rand() is fixed in a plan, so the rows are changed by a clock.
    clock = F.udf(lambda k: float(k) + time.time() % 1, "double").asNondeterministic()
    with pytest.raises(ValueError, match="not those of the first pass"):
        kqd.spark.profile(spark.range(4_000).select(clock("id").alias("t")), rng=SEED, method="ekqd")


# ---- Faults ----


@pytest.fixture()
def disturbed(monkeypatch):
    """Replaces the function of the counting tasks; undone afterwards."""
    usual = kqd.spark._count

    def replace(before):
        def count(read, task):
            inner = usual(read, task)

            def function(batches):
                before()
                yield from inner(batches)

            return function

        monkeypatch.setattr(kqd.spark, "_count", count)

    return replace


def test_a_task_whose_first_attempt_raises_changes_nothing(data, of_program, disturbed):
    def fail_once():
        from pyspark import TaskContext

        if TaskContext.get().attemptNumber() == 0:
            raise RuntimeError("the first attempt fails")

    _stop()
    spark = session("local[2,4]")
    try:
        disturbed(fail_once)
        assert kqd.spark.profile(spark.read.parquet(str(data / "jan")), rng=SEED).to_bytes() == of_program["jan"]
    finally:
        spark.stop()


def test_a_worker_that_dies_in_the_middle_changes_nothing(data, of_program, disturbed):
    def die_once():
        from pyspark import TaskContext

        context = TaskContext.get()
        if context.attemptNumber() == 0 and context.partitionId() == 0:
            os._exit(1)

    _stop()
    spark = session("local[2,4]")
    try:
        disturbed(die_once)
        assert kqd.spark.profile(spark.read.parquet(str(data / "jan")), rng=SEED).to_bytes() == of_program["jan"]
    finally:
        spark.stop()


@pytest.fixture(scope="module")
def cluster():
    """Two executors in processes of their own."""
    _stop()
    settings = {
        "spark.executorEnv.PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "spark.speculation": "true", "spark.speculation.interval": "100ms", "spark.speculation.multiplier": "1.1",
        "spark.speculation.quantile": "0.5", "spark.speculation.minTaskRuntime": "1ms",
    }
    made = session("local-cluster[2,1,1024]", **settings)
    yield made
    made.stop()


def test_bytes_of_a_cluster_are_those_of_the_program(cluster, data, of_program):
    df = cluster.read.parquet(str(data / "jan"))
    assert kqd.spark.profile(df, rng=SEED).to_bytes() == of_program["jan"]


def test_an_attempt_that_is_run_twice_is_counted_once(cluster, data, of_program, disturbed):
    def sleep_once():
        import time

        from pyspark import TaskContext

        context = TaskContext.get()
        if context.attemptNumber() == 0 and context.partitionId() == 0:
            time.sleep(20)

    disturbed(sleep_once)
    df = cluster.read.parquet(str(data / "jan"))
    assert kqd.spark.profile(df, rng=SEED).to_bytes() == of_program["jan"]


def test_an_executor_that_is_killed_changes_nothing(cluster, data, of_program, disturbed):
    def kill_executor():
        import os
        import signal

        from pyspark import TaskContext

        context = TaskContext.get()
        if context.attemptNumber() == 0 and context.partitionId() == 0 and context.stageId() >= 0:
            # The JVM of the executor is the parent of the daemon that forked this worker.
            daemon = os.getppid()
            with open(f"/proc/{daemon}/stat", encoding="ascii") as stat:
                os.kill(int(stat.read().rsplit(")", 1)[1].split()[1]), signal.SIGKILL)

    disturbed(kill_executor)
    df = cluster.read.parquet(str(data / "jan"))
    assert kqd.spark.profile(df, rng=SEED).to_bytes() == of_program["jan"]


def _stop():
    active = SparkSession.getActiveSession()
    if active is not None:
        active.stop()
