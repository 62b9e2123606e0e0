"""Two-sample permutation tests as users of Python write them, timed by bench_peers.py.

Each is as fast as its scheme and its library allow. A test takes two samples and the number of permutations to draw, and
returns the value of its statistic for the samples as they are and then for every permutation; `p_value` judges them.
The permutations are those of `permuted_rows`, so that a value can be checked against kqd's for the same rows.
"""

import concurrent.futures
import dataclasses
import functools

import numpy as np
import scipy.spatial.distance
import scipy.stats


def permuted_rows(permutation, total):
    """The rows of the pool in the order of a permutation, the first sample first; number 0 is the samples as they are."""
    return np.random.default_rng(permutation).permutation(total) if permutation > 0 else np.arange(total)


def p_value(values):
    return np.mean(values >= values[0])


def for_each_permutation(statistic, permutations, threads):
    """Divides permutations among threads: NumPy and PyTorch sort on one thread, but release the interpreter lock."""
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        return np.array(list(pool.map(statistic, range(permutations + 1))))


# ---- e-KQD_1 for samples of one size ---------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Directions:
    """l functions sum_j c_ji k(z_j, .) of the Gaussian kernel: reference points are rows, coefficients m x l."""

    reference: np.ndarray
    coefficients: np.ndarray
    bandwidth: float

    def kernel(self, rows):
        """k(z_j, x), a row for each reference point. One product, then all in place."""
        squares = np.einsum("ij,ij->i", rows, rows)
        values = self.reference @ rows.T
        values *= -2
        values += squares
        values += np.einsum("ij,ij->i", self.reference, self.reference)[:, None]
        values *= -0.5 / self.bandwidth**2
        return np.exp(values, out=values)

    @functools.cached_property
    def unit_coefficients(self):
        """l x m, of functions of norm one."""
        squared_norms = np.einsum("ji,jk,ki->i", self.coefficients, self.kernel(self.reference), self.coefficients)
        return (self.coefficients / np.sqrt(squared_norms)).T

    def values(self, rows):
        """u_i(x), a contiguous row for each direction, for sorting."""
        return self.unit_coefficients @ self.kernel(rows)


def ekqd_numpy(x, y, directions, permutations, threads):
    """The scheme of the published experiments: split the pool again, project both halves, sort both, compare."""
    pool = np.concatenate([x, y])

    def sorted_values(rows):
        values = directions.values(pool[rows])
        values.sort(axis=1)
        return values

    def statistic(permutation):
        of_x, of_y = np.split(permuted_rows(permutation, len(pool)), [len(x)])
        gaps = sorted_values(of_x)
        gaps -= sorted_values(of_y)
        return np.abs(gaps, out=gaps).mean()

    return for_each_permutation(statistic, permutations, threads)


def ekqd_numpy_sorted_once(x, y, directions, permutations, threads):
    """The algorithm of kqd in NumPy: project and sort the pool once. Along a direction the distance is the integral of the
    gap of the distribution functions, a running sum of labels."""
    pool = np.concatenate([x, y])
    values = directions.values(pool)
    order = np.argsort(values, axis=1)
    widths = np.diff(np.take_along_axis(values, order, axis=1), axis=1)

    def statistic(permutation):
        signs = np.full(len(pool), -1, np.int8)
        signs[permuted_rows(permutation, len(pool))[: len(x)]] = 1
        areas = [np.abs(np.cumsum(signs[ranked], dtype=np.int32))[:-1] @ width for ranked, width in zip(order, widths)]
        return sum(areas) / len(areas) / len(x)

    return for_each_permutation(statistic, permutations, threads)


def ekqd_torch(x, y, directions, permutations, threads):
    """The scheme of the published experiments in PyTorch, both halves in one batch."""
    import torch

    tensor = lambda array: torch.from_numpy(np.ascontiguousarray(array))
    pool, reference = tensor(np.concatenate([x, y])), tensor(directions.reference)
    coefficients = tensor(directions.unit_coefficients)
    reference_squares = (reference**2).sum(1, keepdim=True)

    @torch.inference_mode()
    def statistic(permutation):
        rows = pool[torch.from_numpy(permuted_rows(permutation, len(pool)))]
        kernel = torch.addmm((rows**2).sum(1), reference, rows.T, alpha=-2).add_(reference_squares)
        kernel.mul_(-0.5 / directions.bandwidth**2).exp_()
        ranked = torch.sort((coefficients @ kernel).view(-1, 2, len(x)), dim=2).values
        return (ranked[:, 0] - ranked[:, 1]).abs_().mean().item()

    return for_each_permutation(statistic, permutations, threads)


# ---- transport -------------------------------------------------------------------------------------------------------


def sliced_pot(x, y, lines, permutations, threads, to_array=np.asarray):
    """POT's SW_2 along given lines (unit columns), called for every permutation; torch.from_numpy as `to_array` has POT
    run on PyTorch."""
    import ot

    pool, lines = to_array(np.concatenate([x, y])), to_array(lines)

    def statistic(permutation):
        of_x, of_y = np.split(permuted_rows(permutation, len(pool)), [len(x)])
        return float(ot.sliced_wasserstein_distance(pool[of_x], pool[of_y], p=2, projections=lines,
                                                    n_projections=lines.shape[1]))

    return for_each_permutation(statistic, permutations, threads)


def wasserstein_scipy(x, y, permutations):
    """SciPy's W_1 of one column in SciPy's permutation test, which draws its own permutations."""
    found = scipy.stats.permutation_test((x, y), scipy.stats.wasserstein_distance, n_resamples=permutations,
                                         alternative="greater", random_state=0)
    return np.concatenate([[found.statistic], found.null_distribution])


# ---- statistics of a matrix of all pairs: made once, then one product with all permutations ----------------------------


def label_matrix(nx, total, permutations):
    """A row for each permutation: 1 for rows of the first sample, else 0."""
    labels = np.zeros((permutations + 1, total))
    for permutation, row in enumerate(labels):
        row[permuted_rows(permutation, total)[:nx]] = 1
    return labels


def sums_of_pairs(matrix, labels):
    """Sums of a symmetric matrix over pairs within the first sample, within the second and between them, for every
    permutation. The arrays are NumPy's or PyTorch's."""
    of_columns = matrix.sum(0)
    within_x = (labels * (labels @ matrix)).sum(1)
    between = labels @ of_columns - within_x
    return within_x, of_columns.sum() - within_x - 2 * between, between


def unbiased_mmd(gram_without_diagonal, labels, nx, ny):
    xx, yy, xy = sums_of_pairs(gram_without_diagonal, labels)
    return xx / (nx * (nx - 1)) + yy / (ny * (ny - 1)) - 2 * xy / (nx * ny)


def mmd_numpy(x, y, bandwidth, permutations):
    pool = np.concatenate([x, y])
    squares = np.einsum("ij,ij->i", pool, pool)
    gram = pool @ pool.T
    gram *= -2
    gram += squares
    gram += squares[:, None]
    gram *= -0.5 / bandwidth**2
    np.exp(gram, out=gram)
    np.fill_diagonal(gram, 0)
    return unbiased_mmd(gram, label_matrix(len(x), len(pool), permutations), len(x), len(y))


def mmd_torch(x, y, bandwidth, permutations, dtype):
    import torch

    with torch.inference_mode():
        pool = torch.from_numpy(np.concatenate([x, y])).to(dtype)
        squares = (pool**2).sum(1)
        gram = torch.addmm(squares, pool, pool.T, alpha=-2).add_(squares[:, None])
        gram.mul_(-0.5 / bandwidth**2).exp_().fill_diagonal_(0)
        labels = torch.from_numpy(label_matrix(len(x), len(pool), permutations)).to(dtype)
        return unbiased_mmd(gram, labels, len(x), len(y)).numpy()


def energy_scipy(x, y, permutations):
    """2 E|X-Y| - E|X-X'| - E|Y-Y'| of SciPy's distances."""
    pool = np.concatenate([x, y])
    nx, ny = len(x), len(y)
    distances = scipy.spatial.distance.cdist(pool, pool)
    xx, yy, xy = sums_of_pairs(distances, label_matrix(nx, len(pool), permutations))
    return 2 * xy / (nx * ny) - xx / nx**2 - yy / ny**2
