"""mmd-rff, mmd-nystrom, me and scf against NumPy: explicit formulas for given points, and the limits that are MMD_V."""

import kqd
import numpy as np
import oracle
import pytest
import scipy.stats

S = 1.3
KERNEL = f"gaussian@{S}"


def gaussian(x, z):
    return np.exp(-oracle.r2(x, z) / (2 * S**2))


def samples(nx=30, ny=40, dim=3, seed=1, shift=0.5, weighted=False):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(nx, dim)), rng.normal(size=(ny, dim)) + shift
    weights = {}
    if weighted:
        weights = {"x_weights": rng.uniform(0.2, 1.2, nx), "y_weights": rng.uniform(0.2, 1.2, ny)}
    return x, y, weights


def shares(points, weights):
    return np.full(len(points), 1 / len(points)) if weights is None else weights / weights.sum()


def signed_shares(x, y, weights):
    return np.concatenate([shares(x, weights.get("x_weights")), -shares(y, weights.get("y_weights"))])


def mmd_v(x, y, weights, kernel=gaussian):
    z, h = np.concatenate([x, y]), signed_shares(x, y, weights)
    return np.sqrt(h @ kernel(z, z) @ h)


# ---- Random Fourier features ----

# A pair of features has |k_hat - k| of standard deviation at most 1/sqrt(R), and so has h'(K_hat - K)h over |h|_1^2 = 4.
# Six of them, carried through the root.
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel, orthogonal", [
    ("gaussian@1.3", 0), ("gaussian@1.3", 1), ("matern32@1.3", 0), ("matern32@1.3", 1), ("rq:2@1.3", 0), ("rq:2@1.3", 1),
    ("imq@1.3", 0), ("imq@1.3", 1), ("laplace@2", 0),
])
def test_many_random_features_are_close_to_mmd_v(kernel, orthogonal, weighted):
    x, y, weights = samples(weighted=weighted)
    full = kqd.distance(x, y, method="mmd-v", kernel=kernel, rng=0, **weights).statistic
    found = kqd.distance(x, y, method="mmd-rff", kernel=kernel, features=20000, orthogonal=orthogonal, rng=0, **weights)
    bound = 6 * 4 / np.sqrt(20000)
    assert abs(found.statistic**2 - full**2) < bound


def test_the_error_of_random_features_shrinks_with_their_number():
    x, y, _ = samples()
    full = kqd.distance(x, y, method="mmd", kernel=KERNEL, rng=0).statistic

    def error(features):
        found = [kqd.distance(x, y, method="mmd-rff", form="u", kernel=KERNEL, features=features, rng=seed).statistic
                 for seed in range(40)]
        return np.sqrt(np.mean((np.array(found) - full) ** 2))

    # Mean squares of 40 independent errors: their ratio follows about F(40, 40), whose 1e-6 quantiles are 1/4.9 and 4.9.
    assert 16 / 4.9 < (error(16) / error(256)) ** 2 < 16 * 4.9


# ---- Nystroem ----

def nystrom(x, y, weights, landmarks):
    """t' K_ss^+ t with t = sum_i h_i k(z_i, s), eigenvalues below 1e-10 of the largest left out."""
    z, h = np.concatenate([x, y]), signed_shares(x, y, weights)
    t = h @ gaussian(z, landmarks)
    return np.sqrt(t @ np.linalg.pinv(gaussian(landmarks, landmarks), rcond=1e-10, hermitian=True) @ t)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sizes", [(30, 40), (25, 25), (5, 60)])
def test_all_rows_as_landmarks_give_mmd_v(sizes, weighted):
    x, y, weights = samples(*sizes, weighted=weighted)
    for sampling in ["uniform", "leverage"]:
        found = kqd.distance(x, y, method="mmd-nystrom", kernel=KERNEL, landmarks=sum(sizes), sampling=sampling, rng=0,
                             **weights)
        assert found.statistic == pytest.approx(mmd_v(x, y, weights), abs=1e-8)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("count", [1, 4, 10])
def test_given_landmarks_agree_with_the_formula(count, weighted):
    x, y, weights = samples(weighted=weighted)
    landmarks = np.random.default_rng(5).normal(size=(count, 3))
    found = kqd.distance(x, y, method="mmd-nystrom", kernel=KERNEL, reference=landmarks, rng=0, **weights)
    # The condition number of ten landmarks in three dimensions is below 1e5.
    assert found.statistic == pytest.approx(nystrom(x, y, weights, landmarks), rel=1e-9)
    assert found.statistic <= mmd_v(x, y, weights) + 1e-12


# ---- Locations ----

def waves(points, v, origin):
    t = (points - origin) / S
    window = np.exp(-(t**2).sum(axis=1) / 2)[:, None]
    return np.hstack([window * np.sin(t @ v.T), window * np.cos(t @ v.T)])


def features(method, x, y, v):
    if method == "me":
        return gaussian(x, v), gaussian(y, v)
    origin = np.concatenate([x, y]).mean(axis=0)
    return waves(x, v, origin), waves(y, v, origin)


def hotelling(gx, gy, ridge):
    gap = gx.mean(axis=0) - gy.mean(axis=0)
    kappa = 1 / len(gx) + 1 / len(gy)
    covariance = (np.atleast_2d(np.cov(gx.T)) / len(gx) + np.atleast_2d(np.cov(gy.T)) / len(gy)
                  + ridge * kappa / 2 * np.eye(len(gap)))
    return gap @ np.linalg.solve(covariance, gap)


@pytest.mark.parametrize("method", ["me", "scf"])
@pytest.mark.parametrize("sizes", [(40, 40), (30, 45)])
def test_statistics_at_given_locations_agree_with_the_formula(method, sizes):
    x, y, _ = samples(*sizes)
    v = np.random.default_rng(6).normal(size=(4, 3))
    gx, gy = features(method, x, y, v)
    find = lambda **options: kqd.distance(x, y, method=method, kernel=KERNEL, reference=v, rng=0, **options).statistic
    for ridge in [0, 1e-5, 0.1]:  # covariances of condition numbers below 1e6
        assert find(ridge=ridge) == pytest.approx(hotelling(gx, gy, ridge), rel=1e-8)
    gap = gx.mean(axis=0) - gy.mean(axis=0)
    assert find(form="unnormalised") == pytest.approx((gap**2).mean(), rel=1e-12)


# For nx = ny = n this is n z'(S_X + S_Y + gamma I)^-1 z.
def test_the_ridge_is_that_of_the_equal_size_form():
    x, y, _ = samples(40, 40)
    v = np.random.default_rng(6).normal(size=(4, 3))
    gx, gy = features("me", x, y, v)
    gap = gx.mean(axis=0) - gy.mean(axis=0)
    expected = 40 * gap @ np.linalg.solve(np.cov(gx.T) + np.cov(gy.T) + 0.01 * np.eye(4), gap)
    found = kqd.distance(x, y, method="me", kernel=KERNEL, reference=v, ridge=0.01, rng=0).statistic
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("method, freedom", [("me", 4), ("scf", 8)])
def test_the_asymptotic_p_value_is_the_tail_of_chi_square(method, freedom):
    x, y, _ = samples(260, 230, shift=0.1)
    found = kqd.test(x, y, method=method, locations=4, calibration="asymptotic", rng=0)
    assert (found.effect_size, found.permutation_mean, found.permutation_sd) == (None, None, None)
    assert "effect size" not in str(found) and "permutation null" not in str(found)
    assert found.pvalue == pytest.approx(scipy.stats.chi2.sf(found.statistic, freedom), rel=1e-10)


# Issue 22: at 20 + 20 rows 22% (scf) and 17% (me) of true nulls were rejected.
@pytest.mark.parametrize("method, features", [("me", 10), ("scf", 20)])
def test_the_asymptotic_p_value_is_refused_for_few_rows(method, features):
    rows = 30 * features
    x, y, _ = samples(rows, rows)
    kqd.test(x, y, method=method, calibration="asymptotic", rng=0)
    with pytest.raises(ValueError, match=f"needs 30 rows per feature in each sample, {rows} here.*permutation"):
        kqd.test(x[:-1], y, method=method, calibration="asymptotic", rng=0)


# One feature: the square of Welch's t, with scipy's own t.
def test_one_location_is_the_square_of_welchs_t():
    x, y, _ = samples(20, 30)
    v = np.array([[0.2, 0.1, -0.3]])
    t = scipy.stats.ttest_ind(gaussian(x, v)[:, 0], gaussian(y, v)[:, 0], equal_var=False).statistic
    found = kqd.distance(x, y, method="me", kernel=KERNEL, reference=v, ridge=0, rng=0).statistic
    assert found == pytest.approx(t**2, rel=1e-9)


# ---- Tests ----

@pytest.mark.parametrize("method, options", [
    ("mmd-rff", {}), ("mmd-rff", {"form": "u"}), ("mmd-nystrom", {}), ("mmd-nystrom", {"sampling": "leverage"}),
    ("me", {}), ("me", {"form": "unnormalised"}), ("scf", {}), ("me", {"optimise": 1}), ("scf", {"optimise": 1}),
])
def test_a_test_has_the_statistic_of_the_distance_and_sees_a_shift(method, options):
    x, y, _ = samples(60, 70, shift=0.9)
    found = kqd.test(x, y, method=method, n_resamples=199, rng=3, **options)
    assert found.statistic == pytest.approx(kqd.distance(x, y, method=method, rng=3, **options).statistic, rel=1e-7)
    assert found.pvalue <= 0.01


def test_as_coded_loses_what_the_corrected_form_sees():
    x, y, _ = samples(60, 60, shift=0.6)
    p_value = lambda form: kqd.test(x, y, method="mmd-nystrom", landmarks=10, form=form, n_resamples=199, rng=1).pvalue
    assert p_value("standard") == 0.005
    assert p_value("as-coded") > 0.005


@pytest.mark.parametrize("method, options, sentence", [
    ("mmd-rff", {"kernel": "polynomial"}, "expected one with random Fourier features"),
    ("mmd-nystrom", {"landmarks": 100}, "landmarks = 100, the pool has 70 rows"),
    ("me", {"locations": 29, "ridge": 0}, "29 features and 30 rows of X: their covariance is singular"),
    ("scf", {"kernel": "laplace"}, "scf: kernel laplace"),
])
def test_bad_options_are_named(method, options, sentence):
    x, y, _ = samples()
    with pytest.raises(ValueError, match=sentence):
        kqd.distance(x, y, method=method, **options)
