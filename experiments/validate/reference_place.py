"""Where reference points should be: synthetic garments instead of Fashion-MNIST, which is not needed for this.

PYTHONPATH=build/release/python /usr/bin/python3 experiments/validate/reference_place.py [ROWS [RUNS]]

Prints rejection rates at level 0.05 of e-KQD of order 2 (its points and coefficients fixed over permutations) by the place of
its reference points, of e-KQD with pooled points, and of MMD: for X and Y of one distribution, for 15% of another garment in Y as
in the class shift of the paper, and for a change of all images of Y. docs/reproduction.md quotes them.
"""

import sys

import kqd
import numpy as np

SIDE = 28
ROW, COLUMN = np.mgrid[0:SIDE, 0:SIDE] / (SIDE - 1) * 2 - 1
PERMUTATIONS = 199


def garment(kind, rng):
    """A grey silhouette on black: trousers, a pullover, a dress or a T-shirt; pixels in [0, 255]."""
    width, height = rng.uniform(0.85, 1.15), rng.uniform(0.85, 1.15)
    right, down = rng.normal(scale=0.06, size=2)
    x, y = (COLUMN - right) / width, (ROW - down) / height
    if kind == 0:
        inside = (np.abs(x) < 0.62) & (np.abs(y) < 0.9) & ~((np.abs(x) < 0.13) & (y > -0.45))
    elif kind == 1:
        inside = (np.abs(x) < 0.55) & (np.abs(y) < 0.85) | ((np.abs(x) < 0.9) & (y > -0.85) & (y < 0.7) & (np.abs(x) > 0.62))
    elif kind == 2:
        inside = (np.abs(x) < 0.3 + 0.25 * (y + 0.9)) & (np.abs(y) < 0.95)
    else:
        inside = (np.abs(x) < 0.5) & (np.abs(y) < 0.85) | ((np.abs(x) < 0.9) & (y > -0.85) & (y < -0.35))
    grey = np.clip(rng.normal(150, 50), 40, 255)
    return np.where(inside, np.clip(grey + rng.normal(scale=25, size=inside.shape), 0, 255), 0).ravel()


def garments(n, share, rng):
    """Garments 0, 1, 2, and a share of garment 3."""
    return np.array([garment(kind, rng) for kind in np.where(rng.uniform(size=n) < share, 3, rng.integers(3, size=n))])


def centred(pixels):
    """To [-1, 1], as the authors scale CIFAR."""
    return pixels / 127.5 - 1


def as_it_is(pixels):
    return pixels


def points(pool, count, around, rng):
    """Normal points with the interquartile ranges of the pool, as the authors draw them, around 0 or the pooled mean."""
    low, high = np.quantile(pool, [0.25, 0.75], axis=0)
    return around + rng.normal(size=(count, pool.shape[1])) * (high - low) / 1.349


PLACES = {  # scale of the pixels, and whether the points are around the pooled mean
    "around 0, pixels in 0..255": (as_it_is, False),
    "around 0, pixels in [-1, 1]": (centred, False),
    "around the pooled mean": (as_it_is, True),
}
CHANGES = {  # share of another garment, and what happens to all pixels
    "none": (0, as_it_is),
    "15% of another garment": (0.15, as_it_is),
    "contrast x 0.95": (0, lambda pixels: 127.5 + (pixels - 127.5) * 0.95),
    "brightness x 0.93": (0, lambda pixels: 0.93 * pixels),
}


def decisions(n, share, change, run):
    """Whether each test rejects in one run."""
    rng = np.random.default_rng([run, int(share * 100)])
    x, y = garments(n, 0, rng), change(garments(n, share, rng))
    count = int(np.log(n))
    coefficients = rng.normal(size=(count, count + 1))
    options = dict(kernel="gaussian", rng=run, n_resamples=PERMUTATIONS, workers=1)
    for name, (scale, around_mean) in PLACES.items():
        pool = scale(np.concatenate([x, y]))
        z = points(pool, count, pool.mean(axis=0) if around_mean else 0, np.random.default_rng([run, 7]))
        yield name, kqd.test(scale(x), scale(y), method="ekqd", power=2, reference=z, coefficients=coefficients, **options).reject
    yield "pooled rows", kqd.test(x, y, method="ekqd", power=2, reference="pooled", n_directions=count + 1, n_reference=count,
                                  **options).reject
    yield "MMD", kqd.test(x, y, method="mmd", **options).reject


def main():
    n, runs = (int(text) for text in (sys.argv[1:] + ["300", "100"][len(sys.argv) - 1:])[:2])
    print(f"{n} rows of each sample, {runs} runs")
    for change, (share, function) in CHANGES.items():
        rejected = {}
        for run in range(runs):
            for name, reject in decisions(n, share, function, run):
                rejected[name] = rejected.get(name, 0) + reject
        print(f"{change}: " + ", ".join(f"{name} {count / runs:.3f}" for name, count in rejected.items()), flush=True)


if __name__ == "__main__":
    main()
