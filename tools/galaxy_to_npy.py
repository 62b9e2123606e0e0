"""Turns HDF5 files of Galaxy MNIST (data sets `images` and `labels`) into NPY files, one row of 12288 bytes per image.

Usage: galaxy_to_npy.py OUTPUT_FOLDER FILE.hdf5 [FILE.hdf5 ...]
"""

import sys
from pathlib import Path

import h5py
import numpy as np

PIXELS = 3 * 64 * 64


def read(path: str) -> tuple:
    try:
        with h5py.File(path, "r") as file:
            images, labels = np.asarray(file["images"], np.uint8), np.asarray(file["labels"], np.uint8)
    except (OSError, KeyError) as error:
        raise SystemExit(f"{path}: not an HDF5 file with `images` and `labels` ({error})") from error
    if len(images) == 0 or images.size != len(images) * PIXELS or labels.shape != (len(images),):
        raise SystemExit(f"{path}: images of shape {images.shape} and labels of shape {labels.shape}, expected n images "
                         "of 3 x 64 x 64 and n labels")
    return images.reshape(len(images), PIXELS), labels


def main() -> None:
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    parts = [read(path) for path in sys.argv[2:]]
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    for name, arrays in zip(("images", "labels"), zip(*parts)):
        np.save(target / f"{name}.npy", np.concatenate(arrays))


if __name__ == "__main__":
    main()
