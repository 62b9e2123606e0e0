"""Incomplete MMDs, MONK, covariance distances, geometric medians and the Laplace MMD on the line, once more in NumPy."""

import itertools

import kqd
import numpy as np
import pytest
import scipy.spatial.distance
import scipy.stats

RNG = np.random.default_rng(11)
X, Y = RNG.normal(size=(40, 3)), RNG.normal(size=(40, 3)) + 0.4
S = 1.7


def gaussian(x, y, s=S):
    return np.exp(-scipy.spatial.distance.cdist(x, y, "sqeuclidean") / (2 * s**2))


def laplace(x, y, s):
    return np.exp(-scipy.spatial.distance.cdist(x, y, "cityblock") / s)


# ---- Incomplete MMDs ----

def h_matrix(x, y):
    return gaussian(x, x) + gaussian(y, y) - gaussian(x, y) - gaussian(x, y).T


def lin_pairs(n):
    return [(i, i + 1) for i in range(0, n - 1, 2)]


def multi_pairs(n, r):
    return [(i, j) for i in range(n) for j in range(i + 1, min(n, i + r + 1))]


def block_pairs(n, b):
    return [(i, j) for i in range(n - n % b) for j in range(i + 1, (i // b + 1) * b)]


# Options, and the pairs of rows they average over.
INCOMPLETE = {
    "mmd-lin": (dict(method="mmd-lin"), lin_pairs),
    "mmd-multi": (dict(method="mmd-multi"), lambda n: multi_pairs(n, max(1, int(np.log(n)) ** 2))),
    "mmd-multi 2": (dict(method="mmd-multi", subdiagonals=2), lambda n: multi_pairs(n, 2)),
    "mmd-multi all": (dict(method="mmd-multi", subdiagonals=10**6), lambda n: multi_pairs(n, n - 1)),
    "mmd-block": (dict(method="mmd-block"), lambda n: block_pairs(n, max(2, int(np.sqrt(n))))),
    "mmd-block 3": (dict(method="mmd-block", block=3), lambda n: block_pairs(n, min(3, n))),
}


def incomplete(x, y, pairs):
    n = min(len(x), len(y))
    h = h_matrix(x[:n], y[:n])
    return np.mean([h[i, j] for i, j in pairs(n)])


@pytest.mark.parametrize("name", INCOMPLETE)
@pytest.mark.parametrize("n_x, n_y", [(40, 40), (39, 40), (40, 7), (2, 3)])
def test_incomplete_mmd_is_the_mean_of_its_terms_in_row_order(name, n_x, n_y):
    options, pairs = INCOMPLETE[name]
    found = kqd.distance(X[:n_x], Y[:n_y], **options, kernel="gaussian", bandwidth=S)
    assert found.statistic == pytest.approx(incomplete(X[:n_x], Y[:n_y], pairs), abs=1e-14)


@pytest.mark.parametrize("name", INCOMPLETE)
@pytest.mark.parametrize("n", [4, 7])
def test_sign_flips_are_all_swaps_of_pairs(name, n):
    options, pairs = INCOMPLETE[name]
    x, y = X[:n], Y[:n]
    values = []
    for signs in itertools.product((1, -1), repeat=n):
        swap = np.array(signs)[:, None] < 0
        values.append(incomplete(np.where(swap, y, x), np.where(swap, x, y), pairs))
    values = np.array(values)
    found = kqd.test(x, y, **options, kernel="gaussian", bandwidth=S, calibration="sign-flip", rng=0,
                     null_distribution=True)
    assert found.enumerated and found.n_resamples == 2**n
    assert np.sort(found.null_distribution) == pytest.approx(np.sort(values), abs=1e-14)
    # All sign flips of a form in e_i e_j: ties are exact, rounding apart.
    assert found.pvalue == np.mean(values >= incomplete(x, y, pairs) - 1e-13)


@pytest.mark.parametrize("method, b", [("mmd-lin", 2), ("mmd-block", 6)])
def test_asymptotic_pvalues_are_one_sided_z_tests_of_block_means(method, b):
    h = h_matrix(X, Y)
    terms = [np.mean([h[i, j] for i, j in itertools.combinations(range(k, k + b), 2)]) for k in range(0, 40 - b + 1, b)]
    z = np.mean(terms) / (np.std(terms, ddof=1) / np.sqrt(len(terms)))
    found = kqd.test(X, Y, method=method, kernel="gaussian", bandwidth=S, calibration="asymptotic")
    assert found.pvalue == pytest.approx(scipy.stats.norm.sf(z), rel=1e-9)


# ---- MONK ----

def test_monk_of_one_block_is_the_mmd_and_of_single_pairs_the_median_pair():
    one = kqd.distance(X, Y, method="monk", blocks=1, kernel="gaussian", bandwidth=S)
    mmd = kqd.distance(X, Y, method="mmd-v", kernel="gaussian", bandwidth=S)
    assert one.statistic == pytest.approx(mmd.statistic, rel=1e-12)
    # As many blocks as rows: blocks are pairs x_i, y_i whatever the random order is.
    pairs = np.sqrt(2 - 2 * np.diag(gaussian(X[:39], Y[:39])))
    found = kqd.distance(X[:39], Y[:39], method="monk", blocks=39, kernel="gaussian", bandwidth=S)
    assert found.statistic == pytest.approx(np.median(pairs), rel=1e-12)


def test_monk_refuses_an_even_number_of_blocks():
    with pytest.raises(ValueError, match="blocks = 4 is even"):
        kqd.distance(X, Y, method="monk", blocks=4)


# ---- Covariances ----

def centred(k, p, q):
    return k - np.outer(k @ q, np.ones(len(q))) - np.outer(np.ones(len(p)), p @ k) + p @ k @ q


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_x, n_y", [(40, 40), (13, 40), (40, 1)])
def test_covariance_distance_is_that_of_centred_gram_matrices(n_x, n_y, weighted):
    x, y = X[:n_x], Y[:n_y]
    a = RNG.uniform(0.2, 2, n_x) if weighted else np.ones(n_x)
    b = RNG.uniform(0.2, 2, n_y) if weighted else np.ones(n_y)
    options = dict(method="kce", kernel="gaussian", bandwidth=S, **(dict(x_weights=a, y_weights=b) if weighted else {}))
    a, b = a / a.sum(), b / b.sum()
    product = lambda k, p, q: p @ centred(k, p, q) ** 2 @ q
    squared = product(gaussian(x, x), a, a) + product(gaussian(y, y), b, b) - 2 * product(gaussian(x, y), a, b)
    assert kqd.distance(x, y, **options).statistic == pytest.approx(np.sqrt(squared), rel=1e-10)
    plain = a @ gaussian(x, x) ** 2 @ a + b @ gaussian(y, y) ** 2 @ b - 2 * a @ gaussian(x, y) ** 2 @ b
    assert kqd.distance(x, y, **options, form="uncentered").statistic == pytest.approx(np.sqrt(plain), rel=1e-10)

    # Other norms from the operators themselves, in coordinates of the span of the pooled features.
    pool = np.concatenate([x, y])
    values, vectors = np.linalg.eigh(gaussian(pool, pool))
    features = vectors * np.sqrt(np.maximum(values, 0))
    for form, mean in (("centered", 1), ("uncentered", 0)):
        p, q = np.append(a, np.zeros(n_y)), np.append(np.zeros(n_x), b)
        moment = lambda w: (features.T * w) @ features - mean * np.outer(w @ features, w @ features)
        spectrum = np.abs(np.linalg.eigvalsh(moment(p) - moment(q)))
        for norm, expected in (("hs", np.sqrt((spectrum**2).sum())), ("trace", spectrum.sum()),
                               ("operator", spectrum.max())):
            found = kqd.distance(x, y, **options, form=form, norm=norm)
            assert found.statistic == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("form", ["centered", "uncentered"])
def test_covariance_test_lists_the_values_of_all_permutations(form):
    x, y = X[:4], Y[:5]
    found = kqd.test(x, y, method="kce", form=form, kernel="gaussian", bandwidth=S, rng=0, null_distribution=True)
    pool = np.concatenate([x, y])
    expected = []
    for chosen in itertools.combinations(range(9), 4):
        is_x = np.isin(np.arange(9), chosen)
        expected.append(kqd.distance(pool[is_x], pool[~is_x], method="kce", form=form, kernel="gaussian",
                                     bandwidth=S).statistic)
    assert np.sort(found.null_distribution) == pytest.approx(np.sort(expected), rel=1e-9)


# ---- Geometric medians ----

def objective(w, k, a):
    return a @ np.sqrt(np.maximum(np.diag(k) - 2 * k @ w + w @ k @ w, 0))


def extended(kernel, x, s):
    """A kernel matrix in extended precision."""
    gaps = x[:, None].astype(np.longdouble) - x[None]
    return np.exp(-(gaps**2).sum(-1) / (2 * s * s) if kernel == "gaussian" else -np.abs(gaps).sum(-1) / s)


def geometric_median(k, a):
    """Weights of the median in extended precision: steps of Weiszfeld, then of Newton with the whole Hessian. A step is
    solved in double precision, and the next one corrects it."""
    w, identity = a, np.eye(len(a))
    for step in range(70):
        products = k @ w
        d = np.sqrt(np.diag(k) - 2 * products + w @ products)
        pull = (a / d).sum()
        gradient = pull * w - a / d
        if step < 50:
            w = w - gradient / pull
        else:
            hessian = pull * identity + (identity - w[:, None]) @ ((a / d**3)[:, None] * (products - k))
            w = w - np.linalg.solve(hessian.astype(float), gradient.astype(float))
    assert np.sqrt(np.maximum(gradient @ k @ gradient, 0)) < 1e-16
    return w


# A median is good to 1e-10 of the mean distance from it, which is less than 1; the distances here are above 0.02.
@pytest.mark.parametrize("kernel, s", [("gaussian", 1.0), ("gaussian", 4.0), ("laplace", 1.0), ("gaussian", 0.2)])
@pytest.mark.parametrize("n_x, n_y, dim, weighted", [(9, 7, 2, False), (40, 25, 1, True), (60, 80, 3, False)])
def test_geometric_medians_are_those_of_an_oracle_in_extended_precision(kernel, s, n_x, n_y, dim, weighted):
    rng = np.random.default_rng(n_x)
    x, y = rng.normal(size=(n_x, dim)), 1.4 * rng.standard_t(3, size=(n_y, dim)) + 0.4
    a = rng.uniform(0.5, 1.5, n_x) if weighted else np.ones(n_x)
    b = rng.uniform(0.5, 1.5, n_y) if weighted else np.ones(n_y)
    found = kqd.distance(x, y, method="kmedian", kernel=kernel, bandwidth=s,
                         **(dict(x_weights=a, y_weights=b) if weighted else {}))
    a, b = (w.astype(np.longdouble) / w.sum() for w in (a, b))
    k = extended(kernel, np.concatenate([x, y]), s)
    of_x, of_y = geometric_median(k[:n_x, :n_x], a), geometric_median(k[n_x:, n_x:], b)
    h = np.append(of_x, -of_y)
    expected = float(np.sqrt(h @ k @ h))
    assert expected > 0.02
    assert found.statistic == pytest.approx(expected, rel=1e-8)
    assert found.details["objective_x"] == pytest.approx(float(objective(of_x, k[:n_x, :n_x], a)), rel=1e-13)
    assert found.details["converged"] == 1 and found.details["iterations"] <= 60


def test_the_median_of_the_check_values():
    found = kqd.distance([0, 1, 3], [0, 1, 10], method="kmedian", kernel="gaussian", bandwidth=1)
    assert found.details["objective_x"] == pytest.approx(0.6841884364, abs=1e-10)
    w = np.array([0.3542037202, 0.4493855242, 0.1964107556])
    points = np.array([[0.0], [1.0], [3.0]])
    assert objective(w, gaussian(points, points, 1), np.ones(3) / 3) == pytest.approx(0.6841884364, abs=1e-10)


# ---- The Laplace kernel on the line ----

@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", ["laplace", "matern12"])
@pytest.mark.parametrize("s", [1e-3, 0.3, 50.0])
def test_the_laplace_mmd_on_the_line_is_that_of_the_gram_matrix(kernel, s, weighted):
    x, y = RNG.normal(size=(150, 1)), RNG.normal(size=(90, 1)).round(1)
    a = RNG.uniform(0.2, 2, 150) if weighted else np.ones(150)
    b = RNG.uniform(0.2, 2, 90) if weighted else np.ones(90)
    options = dict(kernel=kernel, bandwidth=s, **(dict(x_weights=a, y_weights=b) if weighted else {}))
    a, b = a / a.sum(), b / b.sum()
    xx, yy, xy = a @ laplace(x, x, s) @ a, b @ laplace(y, y, s) @ b, a @ laplace(x, y, s) @ b
    found = kqd.distance(x, y, method="mmd-v", **options)
    assert found.statistic**2 == pytest.approx(xx + yy - 2 * xy, abs=1e-14)
    unbiased = (xx - a @ a) / (1 - a @ a) + (yy - b @ b) / (1 - b @ b) - 2 * xy
    assert kqd.distance(x, y, method="mmd", **options).statistic == pytest.approx(unbiased, abs=1e-14)


def test_the_laplace_test_on_the_line_has_the_values_of_the_gram_matrix():
    x, y = RNG.normal(size=4), RNG.normal(size=5) + 0.5
    found = kqd.test(x, y, method="mmd-v", kernel="laplace", bandwidth=0.8, rng=0, null_distribution=True)
    pool = np.concatenate([x, y])[:, None]
    k = laplace(pool, pool, 0.8)
    values = []
    for chosen in itertools.combinations(range(9), 4):
        h = np.where(np.isin(np.arange(9), chosen), 1 / 4, -1 / 5)
        values.append(np.sqrt(h @ k @ h))
    assert np.sort(found.null_distribution) == pytest.approx(np.sort(values), rel=1e-12)
    assert found.pvalue == np.mean(np.array(values) >= values[0] - 1e-13)
