"""The kernel "mixed" against NumPy: a product over columns, written out."""

import numpy as np
import pytest

import kqd


def kernel(pool, ordered, s):
    """Values between all rows of the pool: Gaussian in numbers, exponential in ordered columns."""
    total = np.zeros((len(pool), len(pool)))
    for j, values in enumerate(pool.T):
        gaps = np.abs(values[:, None] - values[None, :])
        if j in ordered:
            different = np.unique(values)
            total += gaps / (np.abs(different[:, None] - different[None, :]).mean() / 2)
        else:
            low, high = np.percentile(values, [25, 75])
            total += (gaps / ((high - low) / 1.349)) ** 2
    return np.exp(-total / (2 * s * s))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_mmd_with_the_mixed_kernel_is_that_of_numpy(seed):
    rng = np.random.default_rng(seed)
    x, y = (np.column_stack([1e4 * rng.normal(size=n), rng.integers(0, 5, n), rng.normal(size=n) / 7]) for n in (60, 45))
    y[:, 0] += 5e3
    gram = kernel(np.vstack([x, y]), {1}, 1.5)
    expected = np.sqrt(gram[:60, :60].mean() + gram[60:, 60:].mean() - 2 * gram[:60, 60:].mean())
    found = kqd.distance(x, y, method="mmd-v", kernel="mixed@1.5")
    assert found.statistic == pytest.approx(expected, rel=1e-10)


def test_units_do_not_matter():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(50, 3)), rng.normal(size=(40, 3)) + 0.3
    units = np.array([1e-3, 1.0, 1e6])
    plain, scaled = (kqd.distance(a, b, method="mmd-v", kernel="mixed").statistic for a, b in ((x, y), (x * units, y * units)))
    assert scaled == pytest.approx(plain, rel=1e-9)
