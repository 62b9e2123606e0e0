"""Small well-formed files for the fuzzers to start from: seeds.py FOLDER writes FOLDER/fuzz_<format>/<name>."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))
from hostile import gz, idx, npy, npz, saved  # noqa: E402

ARRAY = np.arange(6.0).reshape(3, 2)
SEEDS = {
    "fuzz_csv": [b"\0a,b\n1,2\n3,4\n", b'\x80"a","b ""c"""\r\n1.5e-3,"2"\r\n# c\r\n,NA\r\n', b"\x46a;b\n1,5;2,5\n",
                 b"\x20d\n2024-01-01T10:00:00Z\n", b"\x03\xef\xbb\xbfx\ty\ninf\t1e400\n", b"\0'a','b'\n'1','2'\n"],
    "fuzz_npy": [saved(ARRAY), saved(np.asfortranarray(ARRAY)), saved(ARRAY.astype(">f2")), saved(ARRAY > 2),
                 saved(ARRAY.reshape(1, 3, 2).astype("u1")), npy(version=2), npy(version=3), gz(saved(ARRAY))],
    "fuzz_npz": [npz(x=ARRAY), npz(compressed=True, x=ARRAY), npz(x=ARRAY, y=ARRAY)],
    "fuzz_config": [b'seed = 1\n[test]\npermutations = 99\nwhiten = true\n', b'columns = ["a", "b"]  # two\nalpha = 0.1\n',
                    b"kernel = 'laplace'\n"],
    "fuzz_idx": [idx(), idx(kind=14, shape=(1,), data=bytes(8)), idx(kind=11, shape=(1, 2, 1), data=bytes(4))],
}

for target, files in SEEDS.items():
    folder = Path(sys.argv[1]) / target
    folder.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(files):
        (folder / f"seed-{number}").write_bytes(data)
