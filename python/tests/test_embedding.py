"""kqd.Embedding: quantiles of one sample along directions, and distances between such."""

import copy
import pickle

import kqd
import numpy as np
import oracle
import pytest

RNG = np.random.default_rng(12)
X, Y = RNG.normal(size=(50, 2)), RNG.normal(size=(35, 2)) + 0.5
REFERENCE, COEFFICIENTS = RNG.normal(size=(4, 2)), RNG.normal(size=(4, 3))
GIVEN = dict(kernel="gaussian@1.3", reference=REFERENCE, coefficients=COEFFICIENTS, rng=0)


def projections(points):
    k = oracle.KERNELS["gaussian@1.3"]
    norms = np.sqrt(np.einsum("ji,jk,ki->i", COEFFICIENTS, k(REFERENCE, REFERENCE, None), COEFFICIENTS))
    return (k(points, REFERENCE, None) @ COEFFICIENTS / norms).T


def test_quantiles_are_order_statistics_along_the_directions():
    levels = np.array([0, 0.01, 0.5, 0.77, 1])
    found = kqd.Embedding(X, **GIVEN).quantiles(levels)
    expected = np.quantile(projections(X), levels, axis=1, method="inverted_cdf").T
    assert found == pytest.approx(expected, abs=1e-12) and found.shape == (3, 5)
    assert kqd.Embedding(X, **GIVEN).quantiles(0.5) == pytest.approx(expected[:, 2], abs=1e-12)


def test_means_and_values_are_those_of_the_directions():
    embedding = kqd.Embedding(X, **GIVEN)
    assert embedding.means() == pytest.approx(projections(X).mean(axis=1), abs=1e-12)
    assert embedding.evaluate(Y) == pytest.approx(projections(Y), abs=1e-12)


@pytest.mark.parametrize("power, weighting", [(1, "uniform"), (2, "triangle"), (np.inf, "uniform"), (1.5, "atom:0.5")])
def test_the_distance_of_embeddings_is_that_of_their_samples(power, weighting):
    options = dict(power=power, weighting=weighting)
    first = kqd.Embedding(X, **GIVEN)
    expected = oracle.discrepancy("ekqd", X, Y, oracle.KERNELS["gaussian@1.3"], REFERENCE, COEFFICIENTS, **dict(
        p=power, weighting=weighting))
    for other in (first.embed(Y), Y):
        found = first.distance(other, **options)
        assert found.statistic == pytest.approx(expected.statistic, rel=0, abs=expected.bound)
        assert found.statistic == kqd.distance(X, Y, **GIVEN, **options).statistic
        assert (found.n_x, found.n_y, found.dim, found.power) == (50, 35, 2, power)
        assert (found.reference, found.n_reference, found.seed) == ("points", 4, 0)


def test_weights_count_like_repeated_rows():
    weights = RNG.integers(1, 4, len(X))
    weighted = kqd.Embedding(X, weights=weights, **GIVEN)
    repeated = kqd.Embedding(np.repeat(X, weights, axis=0), **GIVEN)
    levels = np.linspace(0, 1, 41)
    assert (weighted.quantiles(levels) == repeated.quantiles(levels)).all()


@pytest.mark.parametrize("directions", ["gaussian", "linear", "axis", "principal", "mixed"])
def test_every_family_of_directions_can_be_embedded_along(directions):
    embedding = kqd.Embedding(X, directions=directions, n_directions=6, rng=1)
    assert embedding.quantiles([0.1, 0.9]).shape == (embedding.n_directions, 2)
    assert embedding.distance(embedding).statistic == 0 < embedding.distance(Y).statistic
    assert kqd.Embedding(X, directions=directions, n_directions=6, rng=1).distance(Y).statistic == embedding.distance(
        Y).statistic


def test_an_embedding_says_what_it_is():
    embedding = kqd.Embedding(X, rng=3)
    assert (embedding.n_points, embedding.dim, embedding.n_directions, embedding.seed) == (50, 2, 1024, 3)
    assert embedding.n_reference == 512 and embedding.kernel.startswith("gaussian@") and embedding.warnings == ()
    assert embedding.embed(Y).n_points == 35
    assert kqd.Embedding([[1.0, np.nan], [1.0, 2.0], [3.0, 1.0]], nan_policy="omit", rng=0).n_points == 2


def test_embeddings_do_not_hold_on_to_the_callers_memory():
    points = X.copy()
    embedding = kqd.Embedding(points, **GIVEN)
    before = embedding.quantiles([0.3])
    points[:] = 0
    assert (embedding.quantiles([0.3]) == before).all()


def test_embeddings_with_other_directions_cannot_be_compared():
    with pytest.raises(ValueError) as raised:
        kqd.Embedding(X, rng=0).distance(kqd.Embedding(Y, rng=0))
    assert str(raised.value) == ("the embeddings have directions of their own; make the second one by "
                                 "first.embed(sample)")


@pytest.mark.parametrize("action, error, sentence", [
    (lambda e: e.quantiles(1.5), ValueError, "level = 1.5, needs a number in [0, 1]"),
    (lambda e: e.quantiles([np.nan]), ValueError, "level = nan, needs a number in [0, 1]"),
    (lambda e: e.quantiles([[0.5]]), ValueError, "levels has 2 dimensions, expected a number or one dimension"),
    (lambda e: e.embed(X[:, :1]), ValueError, "points have 1 column and the directions 2, expected the same number"),
    (lambda e: e.embed([[np.nan, 1]]), ValueError, 
     'sample: row 1, column 1 is nan, expected a finite number; nan_policy="omit" excludes such rows'),
    (lambda e: e.evaluate(["a"]), TypeError, "points has dtype <U1, expected real numbers"),
    (lambda e: e.distance(Y, power=0.5), ValueError, "power=0.5: expected a number >= 1, or inf"),
    (lambda e: kqd.Embedding(X, reference="balanced"), ValueError,
     "reference balanced needs two samples, an embedding has one"),
    (lambda e: kqd.Embedding([]), ValueError, "sample: no rows, expected at least one"),
])
def test_what_cannot_be_done_is_refused(action, error, sentence):
    with pytest.raises(error) as raised:
        action(kqd.Embedding(X, rng=0))
    assert str(raised.value) == sentence


@pytest.mark.parametrize("options", [
    dict(), dict(kernel="laplace", bandwidth=0.7), dict(directions="linear"), dict(directions="axis"),
    dict(directions="principal", whiten=True), dict(directions="mixed"), dict(kernel="linear"), dict(kernel="energy"),
    dict(kernel="gaussian@2+0.5 energy:1.5"),
    dict(reference=REFERENCE, coefficients=COEFFICIENTS), dict(weights=np.arange(50.0)),
], ids=str)
def test_an_embedding_survives_pickle_bit_for_bit(options):
    first = kqd.Embedding(X, n_directions=6, rng=3, **options)
    second = first.embed(Y)
    again = pickle.loads(pickle.dumps(first))
    assert again.quantiles([0.1, 0.5]).tobytes() == first.quantiles([0.1, 0.5]).tobytes()
    assert (repr(again), again.seed, again.n_reference, again.warnings) == (
        repr(first), first.seed, first.n_reference, first.warnings)
    expected = first.distance(second)
    for a, b in ((again, second), (first, pickle.loads(pickle.dumps(second))), (again, again.embed(Y))):
        assert a.distance(b) == expected


def test_an_embedding_by_a_function_cannot_be_pickled_but_copied():
    embedding = kqd.Embedding(X, kernel=lambda a, b: np.exp(a @ b.T), rng=0)
    with pytest.raises(TypeError, match="kernel function cannot be pickled"):
        pickle.dumps(embedding)
    for same in (copy.copy(embedding), copy.deepcopy(embedding)):
        assert embedding.distance(same).statistic == 0


def test_an_embedding_does_not_follow_its_sample():
    points = X.copy()
    embedding = kqd.Embedding(points, rng=0)
    before = embedding.quantiles(0.5)
    points[:] = 0
    assert pickle.loads(pickle.dumps(embedding)).quantiles(0.5).tolist() == before.tolist()


def test_no_levels_have_no_quantiles():
    assert kqd.Embedding(X, n_directions=5, rng=0).quantiles([]).shape == (5, 0)
