"""Every permutation that a design allows, by itertools, and the statistics that oracle.py does not have."""

import itertools
import math

import numpy as np


def independent(n_x, n_y):
    return [set(chosen) for chosen in itertools.combinations(range(n_x + n_y), n_x)]


def paired(n):
    return [{i + n * swap for i, swap in enumerate(swaps)} for swaps in itertools.product((0, 1), repeat=n)]


def within_blocks(n_x, ids):
    """The number of X rows of each block is kept."""
    choices = []
    for block in sorted(set(ids)):
        rows = [i for i, other in enumerate(ids) if other == block]
        choices.append(itertools.combinations(rows, sum(i < n_x for i in rows)))
    return [set().union(*map(set, parts)) for parts in itertools.product(*choices)]


def of_clusters(n_x, ids):
    """The number of X clusters is kept."""
    clusters = sorted(set(ids))
    n_x_clusters = len(set(ids[:n_x]))
    return [{i for i, cluster in enumerate(ids) if cluster in chosen}
            for chosen in itertools.combinations(clusters, n_x_clusters)]


def null_values(statistic, x, y, permutations, x_weights=None, y_weights=None):
    """The statistic of every permutation; row weights travel with their rows."""
    pool = np.concatenate([x, y])
    weights = None if x_weights is None else np.concatenate([x_weights, y_weights])
    values = []
    for chosen in permutations:
        is_x = np.isin(np.arange(len(pool)), list(chosen))
        more = () if weights is None else (weights[is_x], weights[~is_x])
        values.append(statistic(pool[is_x], pool[~is_x], *more))
    return np.array(values)


def exact_pvalue(values, observed):
    """The share of values >= observed. Ties to rounding are ties; values nearly tied would make the share a guess
    for an implementation that is good to 1e-6."""
    distance = np.abs(values - observed) / np.abs(values).max()
    assert not ((distance > 1e-12) & (distance < 4e-6)).any()
    return np.mean((values > observed) | (distance <= 1e-12))


def mmd_v(k):
    def statistic(x, y, a=None, b=None):
        a, b = (np.full(len(x), 1 / len(x)), np.full(len(y), 1 / len(y))) if a is None else (a / a.sum(), b / b.sum())
        return math.sqrt(max(0.0, a @ k(x, x, None) @ a + b @ k(y, y, None) @ b - 2 * a @ k(x, y, None) @ b))
    return statistic


def mmd_u(k):
    def mean_over_different(points, a):
        gram = k(points, points, None) * np.outer(a, a)
        return (gram.sum() - np.trace(gram)) / (1 - a @ a)

    def statistic(x, y, a=None, b=None):
        a, b = (np.full(len(x), 1 / len(x)), np.full(len(y), 1 / len(y))) if a is None else (a / a.sum(), b / b.sum())
        return mean_over_different(x, a) + mean_over_different(y, b) - 2 * a @ k(x, y, None) @ b
    return statistic


def wasserstein(p):
    def statistic(x, y):
        """Each point as often as it takes for equal numbers, then sorted against sorted."""
        n = math.lcm(len(x), len(y))
        gaps = np.sort(np.repeat(x, n // len(x))) - np.sort(np.repeat(y, n // len(y)))
        return np.mean(np.abs(gaps) ** p) ** (1 / p)
    return statistic
