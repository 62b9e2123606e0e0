"""Writes suprema.json: 50 small pairs of samples and the largest gap of quantiles along any direction, of order 1, 2 and 3.

Each is the best of 60 starts, each climbed twice: by SciPy's L-BFGS and by gradient ascent with step halving. Takes minutes:
python3 make_suprema.py > suprema.json
"""

import json

import numpy as np
from scipy.optimize import minimize

ROWS = 15


def samples(number):
    rng = np.random.default_rng(number)
    dim = (1, 2, 3, 5)[number % 4]
    x, y = rng.normal(size=(ROWS, dim)), rng.normal(size=(ROWS, dim))
    kind = number // 4 % 4
    if kind == 1:
        y = y + 0.7
    elif kind == 2:
        y = y * 2
    elif kind == 3:
        y = rng.laplace(size=(ROWS, dim))
    return x, y


def features(x, y):
    """Vectors with the inner products exp(-r^2 / median r^2)."""
    pool = np.vstack([x, y])
    squares = ((pool[:, None] - pool[None]) ** 2).sum(axis=2)
    gram = np.exp(-squares / np.median(squares[np.triu_indices(len(pool), 1)]))
    values, vectors = np.linalg.eigh(gram)
    kept = values > 1e-12 * values.max()
    return vectors[:, kept] * np.sqrt(values[kept])


def gap(f, w, p):
    """The gap along w, and its gradient."""
    v = f @ w
    i, j = np.argsort(v[:ROWS], kind="stable"), np.argsort(v[ROWS:], kind="stable") + ROWS
    difference = v[i] - v[j]
    tau = np.mean(np.abs(difference) ** p) ** (1 / p)
    slopes = np.zeros(len(v))
    if tau > 0:
        slopes[i] = np.sign(difference) * np.abs(difference) ** (p - 1) / ROWS * tau ** (1 - p)
        slopes[j] = -slopes[i]
    return tau, f.T @ slopes


def climb(f, w, p):
    """Gradient ascent on the sphere; steps are halved until the gap rises."""
    step = 1.0
    for _ in range(200):
        tau, gradient = gap(f, w, p)
        gradient = gradient - (gradient @ w) * w
        for _ in range(40):
            other = w + step * gradient
            other /= np.linalg.norm(other)
            if gap(f, other, p)[0] > tau + 1e-4 * step * (gradient @ gradient):
                break
            step /= 2
        else:
            return tau
        w, step = other, 2 * step
    return gap(f, w, p)[0]


def supremum(f, p, rng, starts=60):
    def loss(u):
        length = np.linalg.norm(u)
        w = u / length
        tau, gradient = gap(f, w, p)
        return -tau, -(gradient - (gradient @ w) * w) / length

    best = 0.0
    for number in range(starts):
        w = rng.normal(size=f.shape[1])
        if number % 2 == 0:
            w = w * np.linalg.norm(f, axis=0)
        if number == 0:
            w = f[:ROWS].mean(axis=0) - f[ROWS:].mean(axis=0)
        w = w / np.linalg.norm(w)
        best = max(best, climb(f, w, p), -minimize(loss, w, jac=True, method="L-BFGS-B", options=dict(maxiter=300)).fun)
    return best


if __name__ == "__main__":
    found = []
    for number in range(50):
        x, y = (np.round(sample, 6) for sample in samples(number))
        f = features(x, y)
        suprema = [supremum(f, p, np.random.default_rng([number, p])) for p in (1, 2, 3)]
        found.append({"x": x.tolist(), "y": y.tolist(), "suprema": suprema})
    print(json.dumps(found))
