"""Turns CIFAR-10 from PNG sheets, one image per row, into NPY files with one row of 3072 bytes per image.

Usage: cifar_to_npy.py FOLDER_OF_SHEETS OUTPUT_FOLDER
"""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np
from PIL import Image

# SHA-256 of the original test images as bytes (10000, 32, 32, 3), to show that the sheets have lost nothing.
TEST_SHA256 = "f9b1e2130bab680db56eb06d886f7f1ad0f1183907ceff4659d1735c890f5b04"


def sheet(path: Path) -> np.ndarray:
    Image.MAX_IMAGE_PIXELS = None
    return np.asarray(Image.open(path).convert("RGB")).reshape(-1, 32 * 32 * 3)


def main() -> None:
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    images = {
        "test": sheet(source / "test_batch.png"),
        "train": np.concatenate([sheet(source / f"data_batch_{k}.png") for k in range(1, 6)]),
    }
    found = hashlib.sha256(images["test"].tobytes()).hexdigest()
    if found != TEST_SHA256:
        raise SystemExit(f"{source}/test_batch.png: not the images of CIFAR-10 (sha256 {found})")
    for part, rows in images.items():
        labels = np.array(json.loads((source / f"{part}_lables.json").read_text()), np.uint8)  # the file has this name
        if len(labels) != len(rows):
            raise SystemExit(f"{source}: {len(rows)} {part} images and {len(labels)} labels")
        np.save(target / f"{part}-images.npy", rows)
        np.save(target / f"{part}-labels.npy", labels)


if __name__ == "__main__":
    main()
