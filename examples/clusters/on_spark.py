"""python examples/clusters/on_spark.py: a test of two months of events by Spark on this machine.

Needs: pip install "kqd[spark]", and Java 17.
"""

import os
import sys

import events
from pyspark.sql import SparkSession

import kqd.spark

if __name__ == "__main__":
    options = events.arguments("Spark")
    january, february = events.write(options.folder, options.rows)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "1g").config("spark.ui.showConsoleProgress", "false")
    session = builder.config("spark.ui.enabled", "false").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")

    # The usual call: two DataFrames in, a result out.
    x, y = session.read.parquet(january), session.read.parquet(february)
    print(kqd.spark.test(x, y, rng=0))

    # The same in steps: keep a profile of the reference, and count every later month like it.
    reference = kqd.spark.profile(x, rng=0)
    latest = kqd.spark.profile(y, like=reference)
    print(reference, f"{len(reference.to_bytes()) / 1e6:.1f} MB")
    print(kqd.test(reference, latest, rng=0).reject)
    session.stop()
