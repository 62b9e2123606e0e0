"""Adds new files to a monitor: python monitor_loop.py baseline.csv day-001.csv day-002.csv ..."""
import os
import sys

import kqd
import pandas as pd

state, (baseline, *days) = "days.kqm", sys.argv[1:]
monitor = kqd.Monitor.load(state) if os.path.exists(state) else kqd.Monitor(pd.read_csv(baseline), batch_rows=500, rng=0)
for day in days:
    entry = monitor.update(pd.read_csv(day), name=day)
    print(entry.name, "differs in" if entry.reject else "is like the baseline", entry.changed or "")
    monitor.save(state)
print("alarm:", monitor.alarm)
