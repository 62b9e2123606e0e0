"""python examples/clusters/on_ray.py: a test of two months of events by Ray on this machine.

Needs: pip install "kqd[ray]"
"""

import events
import ray

import kqd.ray

if __name__ == "__main__":
    options = events.arguments("Ray")
    january, february = events.write(options.folder, options.rows)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)

    # The usual call: two samples in, a result out.
    print(kqd.ray.test(f"{january}/*.parquet", f"{february}/*.parquet", rng=0))

    # The same in steps: keep a profile of the reference, and count every later month like it.
    reference = kqd.ray.profile(f"{january}/*.parquet", rng=0)
    latest = kqd.ray.profile(f"{february}/*.parquet", like=reference)
    print(reference, f"{len(reference.to_bytes()) / 1e6:.1f} MB")
    print(kqd.test(reference, latest, rng=0).reject)
    ray.shutdown()
