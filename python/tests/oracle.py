"""Kernel quantile discrepancies once more, in NumPy and exact fractions: written to be read, sharing nothing with kqd.
"""

from __future__ import annotations

import dataclasses
import functools
from fractions import Fraction

import numpy as np
import scipy.stats

EPS = np.finfo(float).eps

METHODS = ["ekqd", "supkqd", "ekqd-centered", "supkqd-centered"]
POWERS = [1.0, 1.5, 2.0, 3.0, np.inf]
WEIGHTINGS = ["uniform", "triangle", "triangle:0.5", "reverse-triangle:0.25", "slope-up", "slope-down:0.3",
              "interval:0.1:0.7", "beta:2:3", "atom:0.5", "atom:0"]


# ---- Kernels. Each takes two sets of rows and the mean of the pooled samples, which only `energy` looks at. ----

def r2(x, z):
    return ((x[:, None, :] - z[None, :, :]) ** 2).sum(axis=2)


def r(x, z):
    return np.sqrt(r2(x, z))


def r1(x, z):
    return np.abs(x[:, None, :] - z[None, :, :]).sum(axis=2)


def dot(x, z):
    return (x[:, None, :] * z[None, :, :]).sum(axis=2)


def matern32(a):
    return (1 + a) * np.exp(-a)


def matern52(a):
    return (1 + a + a**2 / 3) * np.exp(-a)


def normalised(k, x, z):
    own = lambda points: np.sqrt(np.diag(k(points, points)))
    return k(x, z) / own(x)[:, None] / own(z)[None, :]


def energy(beta, x, z, o):
    to_origin = lambda points: r(points, o[None, :]) ** beta
    return (to_origin(x) + to_origin(z).T - r(x, z) ** beta) / 2


KERNELS = {
    "gaussian@1.3": lambda x, z, o: np.exp(-r2(x, z) / (2 * 1.3**2)),
    "laplace@2.5": lambda x, z, o: np.exp(-r1(x, z) / 2.5),
    "matern12@1.5": lambda x, z, o: np.exp(-r(x, z) / 1.5),
    "matern32@1.5": lambda x, z, o: matern32(np.sqrt(3) * r(x, z) / 1.5),
    "matern52@1.5": lambda x, z, o: matern52(np.sqrt(5) * r(x, z) / 1.5),
    "rq@1.2": lambda x, z, o: 1 / (1 + r2(x, z) / (2 * 1.2**2)),
    "rq:2.5@1.2": lambda x, z, o: (1 + r2(x, z) / (2 * 2.5 * 1.2**2)) ** -2.5,
    "imq@0.8": lambda x, z, o: 1 / np.sqrt(1 + r2(x, z) / 0.8**2),
    "imq:1.5@0.8": lambda x, z, o: (1 + r2(x, z) / 0.8**2) ** -1.5,
    "linear": lambda x, z, o: dot(x, z),
    "linear:2": lambda x, z, o: dot(x, z) + 2,
    "polynomial": lambda x, z, o: (dot(x, z) + 1) ** 3,
    "polynomial:2:0.5": lambda x, z, o: (dot(x, z) + 0.5) ** 2,
    "normalised-polynomial:3:1": lambda x, z, o: normalised(lambda a, b: (dot(a, b) + 1) ** 3, x, z),
    "energy": lambda x, z, o: energy(1.0, x, z, o),
    "energy:0.7": lambda x, z, o: energy(0.7, x, z, o),
    "gaussian@0.5+gaussian@2": lambda x, z, o: np.exp(-2 * r2(x, z)) + np.exp(-r2(x, z) / 8),
    "0.3 gaussian@1+0.7 laplace@2": lambda x, z, o: 0.3 * np.exp(-r2(x, z) / 2) + 0.7 * np.exp(-r1(x, z) / 2),
    "gaussian@2*linear:1": lambda x, z, o: np.exp(-r2(x, z) / 8) * (dot(x, z) + 1),
}


# ---- The measure over quantile levels, from densities and not from distribution functions. ----

def level_mass(weighting: str, low: Fraction, high: Fraction) -> float:
    """How much of the measure lies in (low, high]."""
    name, *numbers = weighting.split(":")
    numbers = [Fraction(number) for number in numbers]
    if name == "atom":  # the level 0 stands for the smallest value
        level = numbers[0]
        return 1.0 if low < level <= high or (level == 0 and low == 0) else 0.0
    if name == "interval":
        first, last = numbers
        return float(max(Fraction(0), min(high, last) - max(low, first)) / (last - first))
    if name == "beta":
        distribution = scipy.stats.beta(*map(float, numbers))
        return distribution.cdf(float(high)) - distribution.cdf(float(low))
    ratio = numbers[0] if numbers else Fraction(0)
    heights = {  # at the levels 0, 1/2 and 1, straight in between
        "uniform": (1, 1, 1),
        "slope-up": (ratio, (ratio + 1) / 2, 1),
        "slope-down": (1, (ratio + 1) / 2, ratio),
        "triangle": (ratio, 1, ratio),
        "reverse-triangle": (1, ratio, 1),
    }[name]

    def height(t):
        start, middle, end = heights
        return start + 2 * t * (middle - start) if t <= Fraction(1, 2) else middle + (2 * t - 1) * (end - middle)

    def area(a, b):  # a trapezium, when no corner lies in between
        return (b - a) * height((a + b) / 2)

    half = min(max(Fraction(1, 2), low), high)
    return float((area(low, half) + area(half, high)) / (area(Fraction(0), Fraction(1, 2)) + area(Fraction(1, 2), 1)))


# ---- Quantile functions and the gap between them. ----

def fractions(weights) -> tuple[Fraction, ...]:
    exact = [Fraction(w.item()) for w in np.asarray(weights)]
    return tuple(w / sum(exact) for w in exact)


def equal_weights(n: int) -> tuple[Fraction, ...]:
    return (Fraction(1, n),) * n


@functools.lru_cache(maxsize=None)
def pieces(a: tuple[Fraction, ...], b: tuple[Fraction, ...], weighting: str):
    """Where both quantile functions are constant: rank in x, rank in y, mass. Weights come in the values' order."""
    ends_x = [sum(a[: i + 1]) for i in range(len(a))]
    ends_y = [sum(b[: j + 1]) for j in range(len(b))]
    ends = sorted(set(ends_x) | set(ends_y))
    rank = lambda cumulative, level: next(i for i, c in enumerate(cumulative) if c >= level)
    found = [(rank(ends_x, high), rank(ends_y, high), level_mass(weighting, low, high))
             for low, high in zip([Fraction(0)] + ends, ends)]
    return [np.array(part) for part in zip(*found)]


def root_mean_power(values, masses, p):
    if np.isinf(p):
        return values[masses > 0].max()
    return (masses @ values**p) ** (1 / p)


def mass_bound(tau, largest_gap, num_pieces, p):
    """How far tau moves when every mass is off by at most 4 roundings."""
    if np.isinf(p):
        return 0.0
    change = num_pieces * 4 * EPS * largest_gap**p  # of tau^p
    at_zero = change ** (1 / p)
    return at_zero if tau == 0 else min(at_zero, change * tau ** (1 - p))


@dataclasses.dataclass
class Discrepancy:
    statistic: float
    per_direction: np.ndarray
    mmd_squared: float
    #: How far rounding may take another implementation that computes the same formulas in doubles.
    bound: float


def discrepancy(method, x, y, k, z, c, p=1.0, weighting="uniform", x_weights=None, y_weights=None) -> Discrepancy:
    """The discrepancy of x and y along the directions u_i = f_i / ||f_i||, f_i = sum_j c_ji k(z_j, .)."""
    a = equal_weights(len(x)) if x_weights is None else fractions(x_weights)
    b = equal_weights(len(y)) if y_weights is None else fractions(y_weights)
    o = np.concatenate([x, y]).mean(axis=0)
    norms = np.sqrt(np.einsum("ji,jk,ki->i", c, k(z, z, o), c))
    ux = (k(x, z, o) @ c / norms).T
    uy = (k(y, z, o) @ c / norms).T

    af, bf = np.array(a, dtype=float), np.array(b, dtype=float)
    mmd_squared = af @ k(x, x, o) @ af + bf @ k(y, y, o) @ bf - 2 * af @ k(x, y, o) @ bf

    # Rounding. A kernel value is off by at most `unit` times the largest k(p, p), as |k(p, q)| is at most that: d terms
    # in a distance or product and a dozen operations, powers up to 3. In u = f / ||f|| the sum has m of them with
    # coefficients c, and so has ||f||^2: g says how much larger the terms are than their sum.
    largest = max(np.diag(k(points, points, o)).max() for points in (x, y, z))
    unit = 16 * (x.shape[1] + len(z) + 16) * EPS
    g = (np.abs(c).sum(axis=0) * np.sqrt(largest) / norms).max()
    value_bound = unit * np.sqrt(largest) * (g + g**2)

    tau, bounds = [], []
    for u, v in zip(ux, uy):
        x_order, y_order = np.argsort(u, kind="stable"), np.argsort(v, kind="stable")
        i, j, mass = pieces(tuple(a[s] for s in x_order), tuple(b[s] for s in y_order), weighting)
        gap = np.abs(u[x_order][i] - v[y_order][j])
        gap_bound = 2 * value_bound
        if method.endswith("centered"):
            mean_gap = af @ u - bf @ v
            gap = np.sqrt(np.maximum(0, gap**2 - mean_gap**2 + mmd_squared))
            # d sqrt(s) = ds / (2 sqrt(s)), with |mean_gap|^2 <= mmd_squared and four kernel sums in mmd_squared.
            gap_bound += (np.sqrt(mmd_squared) * gap_bound + 2 * unit * largest) / gap.min()
        tau.append(root_mean_power(gap, mass, p))
        # tau is off by no more than the gaps are, and by what the masses, differences of levels, lose.
        bounds.append(gap_bound + mass_bound(tau[-1], gap.max(), len(mass), p))

    tau = np.array(tau)
    if method.startswith("sup"):
        statistic = tau.max()
    else:
        statistic = root_mean_power(tau, np.full(len(tau), 1 / len(tau)), p)
    return Discrepancy(statistic, tau, mmd_squared, max(bounds))
