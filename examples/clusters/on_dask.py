"""python examples/clusters/on_dask.py: a test of two months of events by Dask on this machine.

Needs: pip install "kqd[dask]"
"""

import events
from distributed import Client, LocalCluster

import kqd.dask

if __name__ == "__main__":
    options = events.arguments("Dask")
    january, february = events.write(options.folder, options.rows)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        # The usual call: two samples in, a result out.
        print(kqd.dask.test(f"{january}/*.parquet", f"{february}/*.parquet", rng=0))

        # The same in steps: keep a profile of the reference, and count every later month like it.
        reference = kqd.dask.profile(f"{january}/*.parquet", rng=0)
        latest = kqd.dask.profile(f"{february}/*.parquet", like=reference)
        print(reference, f"{len(reference.to_bytes()) / 1e6:.1f} MB")
        print(kqd.test(reference, latest, rng=0).reject)
