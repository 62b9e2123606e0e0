"""Writes expected.json: kernel quantile embeddings of two samples by their definitions, in NumPy and without kqd.

Run once; the file is committed. Elements are ordered by sample, direction and level, the level changing fastest.
"""

import json
from pathlib import Path

import numpy as np

RNG = np.random.default_rng(27)
BANDWIDTH = 1.5
LEVELS = [0.0, 0.1, 0.5, 0.77, 1.0]
SAMPLES = [RNG.normal(size=(7, 2)), RNG.normal(size=(5, 2)) * 1.3 + 0.4]
REFERENCE, COEFFICIENTS = RNG.normal(size=(4, 2)), RNG.normal(size=(4, 3))
POINTS = RNG.normal(size=(6, 2)) * 2


def gaussian(a, b):
    return np.exp(-((a[:, None] - b[None]) ** 2).sum(axis=2) / (2 * BANDWIDTH**2))


def main():
    units = COEFFICIENTS / np.sqrt(np.einsum("ji,jk,ki->i", COEFFICIENTS, gaussian(REFERENCE, REFERENCE), COEFFICIENTS))

    # Every element is a sum of kernel functions: weights at the reference points, then at the rows of both samples.
    centres = np.concatenate([REFERENCE, *SAMPLES])
    plain, centered = [], []
    first = len(REFERENCE)
    for rows in SAMPLES:
        mean = np.zeros(len(centres))
        mean[first:first + len(rows)] = 1 / len(rows)
        first += len(rows)
        for unit in units.T:
            u = np.r_[unit, np.zeros(len(centres) - len(unit))]
            along = gaussian(rows, centres) @ u
            for level in LEVELS:
                rank = max(int(np.ceil(level * len(rows))), 1)
                quantile = np.sort(along)[rank - 1]
                plain.append(quantile * u)
                centered.append((quantile - along.mean()) * u + mean)
    gram = gaussian(centres, centres)
    expected = {
        "bandwidth": BANDWIDTH, "levels": LEVELS, "samples": [rows.tolist() for rows in SAMPLES],
        "reference": REFERENCE.tolist(), "coefficients": COEFFICIENTS.tolist(), "points": POINTS.tolist(),
    }
    for name, elements in (("plain", np.array(plain)), ("centered", np.array(centered))):
        expected[name] = {"values": (elements @ gaussian(centres, POINTS)).tolist(),
                          "inner_products": (elements @ gram @ elements.T).tolist()}
    Path(__file__).with_name("expected.json").write_text(json.dumps(expected) + "\n")


if __name__ == "__main__":
    main()
