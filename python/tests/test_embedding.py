"""kqd.Embedding: quantiles of one sample along directions, and distances between such."""

import copy
import os
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
    assert embedding.direction_values(Y) == pytest.approx(projections(Y), abs=1e-12)


# ---- The paper's object, from its definition: rho = q u as a function and as a vector of the span of kernel functions.

KERNEL = oracle.KERNELS["gaussian@1.3"]
LEVELS = [0.0, 0.2, 0.5, 1.0]
OTHER_LEVELS = [0.35, 0.9]


class Written:
    """Kernel quantile embeddings as vectors of coefficients at the points z, x and y, in a space with their Gram matrix."""

    def __init__(self, sample, position, weights=None):
        points = np.concatenate([REFERENCE, X, Y])
        self.points, self.gram = points, KERNEL(points, points, None)
        self.weights = np.full(len(sample), 1 / len(sample)) if weights is None else weights / weights.sum()
        self.mean = np.zeros(len(points))
        self.mean[position:position + len(sample)] = self.weights
        self.directions = np.zeros((3, len(points)))
        self.directions[:, :4] = COEFFICIENTS.T
        self.directions /= np.sqrt(np.einsum("ia,ab,ib->i", self.directions, self.gram, self.directions))[:, None]
        self.values = self.directions @ self.gram[:, position:position + len(sample)]

    def quantile(self, i, level):
        order = np.argsort(self.values[i])
        cumulative = np.cumsum(self.weights[order])
        return self.values[i][order][min(np.searchsorted(cumulative, level - 1e-12), len(order) - 1)]

    def vector(self, i, level, centered):
        q, u = self.quantile(i, level), self.directions[i]
        return (q - u @ self.gram @ self.mean) * u + self.mean if centered else q * u

    def all_vectors(self, levels, centered):
        return np.array([[self.vector(i, level, centered) for level in levels] for i in range(3)])


P, Q = Written(X, 4), Written(Y, 4 + len(X))


@pytest.mark.parametrize("centered", [False, True])
def test_evaluate_is_the_embedding_as_a_function(centered):
    embedding = kqd.Embedding(X, **GIVEN)
    points = RNG.normal(size=(7, 2))
    expected = P.all_vectors(LEVELS, centered) @ KERNEL(P.points, points, None)
    found = embedding.evaluate(points, LEVELS, centered=centered)
    assert found.shape == (3, 4, 7) and found == pytest.approx(expected, rel=0, abs=1e-12)
    assert (embedding.evaluate(points, 0.2, centered=centered) == found[:, 1]).all()
    assert (embedding.evaluate(points, centered=centered) == found[:, 2]).all()  # the median


def test_mean_embedding_is_the_mean_of_the_kernel():
    points = RNG.normal(size=(7, 2))
    found = kqd.Embedding(X, **GIVEN).mean_embedding(points)
    assert found == pytest.approx(KERNEL(X, points, None).mean(axis=0), rel=0, abs=1e-12)


def test_mean_embedding_and_quantiles_follow_weights():
    weights = RNG.uniform(0.1, 2, len(X))
    weighted = Written(X, 4, weights)
    embedding = kqd.Embedding(X, weights=weights, **GIVEN)
    points = RNG.normal(size=(5, 2))
    assert embedding.mean_embedding(points) == pytest.approx(
        weights / weights.sum() @ KERNEL(X, points, None), rel=0, abs=1e-12)
    expected = weighted.all_vectors([0.3, 0.8], True) @ KERNEL(weighted.points, points, None)
    assert embedding.evaluate(points, [0.3, 0.8], centered=True) == pytest.approx(expected, rel=0, abs=1e-12)


@pytest.mark.parametrize("centered", [False, True])
def test_inner_products_and_norms_are_those_of_the_vectors(centered):
    first = kqd.Embedding(X, **GIVEN)
    second = first.embed(Y)
    p, q = P.all_vectors(LEVELS, centered), Q.all_vectors(OTHER_LEVELS, centered)
    expected = np.einsum("iax,xy,jby->iajb", p, P.gram, q)
    found = first.inner_product(second, LEVELS, OTHER_LEVELS, centered=centered)
    assert found.shape == (3, 4, 3, 2) and found == pytest.approx(expected, rel=0, abs=1e-12)
    assert first.inner_product(second, 0.2, 0.9, centered=centered) == pytest.approx(found[:, 1, :, 1], abs=1e-14)
    assert first.inner_product(second, 0.2, [0.9], centered=centered).shape == (3, 3, 1)
    own = first.inner_product(levels=LEVELS, centered=centered)
    norms = first.norm(LEVELS, centered=centered)
    assert norms == pytest.approx(np.sqrt(np.einsum("iax,xy,iay->ia", p, P.gram, p)), rel=0, abs=1e-12)
    assert norms**2 == pytest.approx(np.einsum("iaia->ia", own), rel=0, abs=1e-12)
    assert (first.norm(0.2, centered=centered) == norms[:, 1]).all()


def test_inner_products_with_other_directions_of_the_same_kernel():
    first = kqd.Embedding(X, **GIVEN)
    other = kqd.Embedding(Y, kernel="gaussian@1.3", reference=X[:2], coefficients=np.array([[1.0], [2.0]]), rng=0)
    u = P.directions
    v = np.zeros((1, len(P.points)))
    v[0, 4:6] = [1, 2]
    v /= np.sqrt(v[0] @ P.gram @ v[0])
    expected = first.quantiles(0.5)[:, None] * (u @ P.gram @ v.T) * other.quantiles(0.5)[None, :]
    assert first.inner_product(other) == pytest.approx(expected, rel=0, abs=1e-12)
    with pytest.raises(ValueError, match="live in different spaces"):
        first.inner_product(kqd.Embedding(Y, kernel="laplace@1", rng=0))


@pytest.mark.parametrize("method", oracle.METHODS)
@pytest.mark.parametrize("power, weighting", [(1, "uniform"), (2, "triangle")])
def test_every_discrepancy_of_embeddings_is_that_of_their_samples(method, power, weighting):
    first = kqd.Embedding(X, **GIVEN)
    expected = oracle.discrepancy(method, X, Y, KERNEL, REFERENCE, COEFFICIENTS, p=power, weighting=weighting)
    found = first.distance(Y, method=method, power=power, weighting=weighting)
    assert found.statistic == pytest.approx(expected.statistic, rel=0, abs=expected.bound)
    assert found.per_direction == pytest.approx(expected.per_direction, rel=0, abs=expected.bound)
    assert found.method == method == found.settings["method"]


@pytest.mark.parametrize("options", [
    dict(), dict(kernel="laplace", bandwidth=0.7), dict(directions="linear"), dict(directions="axis"),
    dict(directions="principal", whiten=True), dict(directions="mixed"), dict(kernel="linear:1"),
], ids=str)
def test_kernel_reference_and_coefficients_redo_every_result(options):
    embedding = kqd.Embedding(X, n_directions=6, rng=3, **options)
    if embedding.reference is None:
        u = X @ embedding.coefficients
        again = kqd.Embedding(X, kernel="linear", reference=np.eye(2), coefficients=embedding.coefficients,
                              compat="unnormalised", rng=0)
    else:
        u = embedding.kernel_matrix(X, embedding.reference) @ embedding.coefficients
        again = kqd.Embedding(X, kernel=embedding.kernel, reference=embedding.reference,
                              coefficients=embedding.coefficients, compat="unnormalised", rng=0)
    assert embedding.direction_values(X) == pytest.approx(u.T, rel=1e-12, abs=1e-12)
    assert again.quantiles([0.1, 0.5]) == pytest.approx(embedding.quantiles([0.1, 0.5]), rel=1e-12, abs=1e-12)
    assert (embedding.sample == X).all() and embedding.weights is None


def test_kernel_matrix_is_the_kernel():
    embedding = kqd.Embedding(X, **GIVEN)
    assert embedding.kernel_matrix(X, Y) == pytest.approx(KERNEL(X, Y, None), rel=0, abs=1e-14)
    assert embedding.kernel_matrix(Y) == pytest.approx(KERNEL(Y, Y, None), rel=0, abs=1e-14)


def test_the_centered_form_of_unnormalised_directions_is_refused():
    embedding = kqd.Embedding(X, kernel="gaussian@1", compat="unnormalised", rng=0)
    with pytest.raises(ValueError, match="a centered discrepancy needs directions of norm 1, but direction 1 has norm"):
        embedding.distance(Y, method="ekqd-centered")


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
    assert (embedding.n_points, embedding.dim, embedding.n_directions, embedding.seed) == (50, 2, 400, 3)
    assert embedding.n_reference == 200 and embedding.kernel.startswith("gaussian@") and embedding.warnings == ()
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
    (lambda e: e.evaluate(X, 2), ValueError, "level = 2, needs a number in [0, 1]"),
    (lambda e: e.evaluate(X[:, :1]), ValueError,
     "points have 1 columns and the sample 2, expected the same number"),
    (lambda e: e.evaluate([[np.inf, 1]]), ValueError, "points: row 1, column 1 is inf, expected a finite number"),
    (lambda e: e.mean_embedding([[1.0]]), ValueError,
     "points have 1 columns and the sample 2, expected the same number"),
    (lambda e: e.evaluate(X, centered="no"), TypeError, "centered is 'no', expected True or False"),
    (lambda e: e.inner_product(X), TypeError, "other is of type ndarray, expected an Embedding; embed() makes one"),
    (lambda e: e.inner_product(levels=[[0.5]]), ValueError,
     "levels has 2 dimensions, expected a number or one dimension"),
    (lambda e: e.inner_product(other_levels=[[0.5]]), ValueError,
     "other_levels has 2 dimensions, expected a number or one dimension"),
    (lambda e: e.distance(Y, method="mmd"), ValueError,
     "method=\"mmd\": expected ekqd, supkqd, ekqd-centered or supkqd-centered for embeddings"),
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


@pytest.mark.parametrize("options", [
    dict(), dict(directions="linear"), dict(directions="axis"), dict(directions="principal", whiten=True),
    dict(kernel="energy"), dict(kernel="gaussian@2+0.5 energy:1.5"), dict(weights=np.arange(50.0)),
    dict(reference=REFERENCE, coefficients=COEFFICIENTS), dict(compat=("jitter", "median-diagonal")),
], ids=str)
def test_an_embedding_can_be_saved_and_loaded_bit_for_bit(options, tmp_path):
    first = kqd.Embedding(X, n_directions=6, rng=3, **options)
    first.save(tmp_path / "first.kqd")
    again = kqd.Embedding.load(tmp_path / "first.kqd")
    assert again.quantiles([0.1, 0.5]).tobytes() == first.quantiles([0.1, 0.5]).tobytes()
    assert repr(again) == repr(first) and again.seed == 3 and again.warnings == first.warnings
    assert again.distance(Y) == first.distance(Y) == again.distance(first.embed(Y))
    assert os.listdir(tmp_path) == ["first.kqd"]
    with np.load(tmp_path / "first.kqd") as file:  # readable without kqd
        assert (file["coefficients"] == first.coefficients).all() and (file["sample"] == first.sample).all()


def test_a_saved_embedding_keeps_the_names_of_its_columns(tmp_path):
    pandas = pytest.importorskip("pandas")
    first = kqd.Embedding(pandas.DataFrame(X, columns=["a", "b"]), rng=0)
    first.save(tmp_path / "e.npz")
    other = pandas.DataFrame(Y[:, ::-1], columns=["b", "a"])
    assert kqd.Embedding.load(str(tmp_path / "e.npz")).distance(other) == first.distance(other)


def test_what_is_not_an_embedding_is_not_loaded(tmp_path):
    np.savez(tmp_path / "other.npz", x=X)
    (tmp_path / "text").write_text("a,b\n1,2\n")
    kqd.Embedding(X, rng=0).save(tmp_path / "cut")
    (tmp_path / "cut").write_bytes((tmp_path / "cut").read_bytes()[:500])
    for name in ("other.npz", "text", "cut"):
        with pytest.raises(ValueError, match="is not an embedding; Embedding.save writes one"):
            kqd.Embedding.load(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        kqd.Embedding.load(tmp_path / "missing")


def test_an_embedding_plots_the_quantile_functions_of_several_samples():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    first = kqd.Embedding(X, **GIVEN)
    figure = first.plot(Y, first.embed(Y + 1), directions=[0, 2], labels=["x", "y", "z"])
    assert [place.get_title(loc="left") for place in figure.axes] == ["direction 0", "direction 2"]
    for place, direction in zip(figure.axes, (0, 2)):
        lines = place.get_lines()
        assert [line.get_label() for line in lines] == ["x", "y", "z"]
        levels = lines[1].get_xdata()
        assert (lines[1].get_ydata() == first.embed(Y).quantiles(levels)[direction]).all()
    # A number asks for the directions along which the samples differ most.
    strongest = int(np.argmax(first.distance(Y).per_direction))
    assert first.plot(Y, directions=1).axes[0].get_title(loc="left") == f"direction {strongest}"
    assert len(first.plot().axes) == 3
    for wrong in ([], [3], 0, -1):
        with pytest.raises(ValueError, match="directions="):
            first.plot(directions=wrong)
    with pytest.raises(ValueError, match="labels has 1 entries for 2 samples, expected one for each"):
        first.plot(Y, labels=["x"])
    with pytest.raises(ValueError, match="ax has 1 Axes for 3 directions, expected one for each"):
        first.plot(Y, ax=figure.axes[0])


def test_an_embedding_by_a_function_cannot_be_pickled_but_copied():
    embedding = kqd.Embedding(X, kernel=lambda a, b: np.exp(a @ b.T), rng=0)
    with pytest.raises(TypeError, match="kernel function cannot be saved"):
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


def test_an_embedding_of_two_columns_plots_its_quantiles_around_the_plane():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    figure = kqd.Embedding(X, n_directions=4, rng=0).plot(kind="plane")
    cloud, along, curves = figure.axes
    assert (cloud.get_lines()[0].get_xydata() == X).all()
    lines = curves.get_lines()
    assert [line.get_label() for line in lines] == ["0.05", "0.25", "0.5", "0.75", "0.95"]
    angles = np.radians(np.arange(0, 360, 2))
    u = np.array([np.cos(angles), np.sin(angles)])
    for line, level in zip(lines, (0.05, 0.25, 0.5, 0.75, 0.95)):
        expected = (np.quantile(X @ u, level, axis=0, method="inverted_cdf") * u).T
        assert line.get_xydata()[:-1] == pytest.approx(expected, abs=1e-12)
        assert (line.get_xydata()[-1] == line.get_xydata()[0]).all()
    spread = np.quantile(X @ u, 0.95, axis=0, method="inverted_cdf") - np.quantile(
        X @ u, 0.05, axis=0, method="inverted_cdf")
    shown = [line.get_xdata()[0] for line in along.get_lines()]
    assert shown[-1] - shown[0] == pytest.approx(spread.max(), abs=1e-12)


@pytest.mark.parametrize("stretch", [(1, 1), (9, 1), (1, 0.01)])
@pytest.mark.parametrize("turn", [0, 30, 45, 80])
def test_the_arrow_in_the_plane_is_drawn_inside_the_axes(stretch, turn):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    angle = np.radians(turn)
    rotation = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    skewed = np.random.default_rng(4).exponential(size=(60, 2)) * stretch @ rotation
    figure = kqd.Embedding(skewed, n_directions=4, rng=0).plot(kind="plane")
    figure.canvas.draw()
    cloud = figure.axes[0]
    arrow, = cloud.texts
    for value, limits in zip(arrow.xy, (cloud.get_xlim(), cloud.get_ylim())):
        assert limits[0] < value < limits[1]
    assert np.hypot(*(arrow.xy - skewed.mean(axis=0))) == pytest.approx(np.abs(skewed - skewed.mean(axis=0)).max())


def test_a_direction_with_a_given_sign_weighs_one_tail():
    x, y = np.random.default_rng(6).normal(size=(2, 400))
    y = np.where(y > 1, y + 2, y)  # the upper tail only
    options = dict(kernel="linear", reference=[[1]], weighting="slope-up", power=1, rng=0)
    upper, lower = (kqd.distance(x, y, coefficients=[[sign]], **options).statistic for sign in (1, -1))
    drawn = kqd.distance(x, y, kernel="linear", weighting="slope-up", rng=0)
    assert upper > 2 * lower and set(np.round(drawn.per_direction, 9)) == {round(upper, 9), round(lower, 9)}


def test_an_embedding_of_one_column_plots_its_directions_as_functions():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    embedding = kqd.Embedding(X[:, 0], n_directions=4, rng=0)
    figure = embedding.plot(kind="functions", directions=[1, 3])
    for place, i in zip(figure.axes, (1, 3)):
        curve, ticks, *quantiles = place.get_lines()
        assert (curve.get_ydata() == embedding.direction_values(curve.get_xdata())[i]).all()
        assert (ticks.get_ydata() == embedding.direction_values(X[:, 0])[i]).all()
        assert [line.get_ydata()[0] for line in quantiles] == embedding.quantiles([0.05, 0.25, 0.5, 0.75, 0.95])[i].tolist()


@pytest.mark.parametrize("call, sentence", [
    (lambda e: e.plot(kind="other"), 'kind "other" is unknown, expected "quantiles", "functions" or "plane"'),
    (lambda e: e.plot(kind="functions"), 'kind "functions" needs a sample of 1 column, this one has 2'),
    (lambda e: kqd.Embedding(X[:, 0], rng=0).plot(kind="plane"), 'kind "plane" needs a sample of 2 columns, this one has 1'),
    (lambda e: e.plot(Y, kind="plane"), 'kind "plane" shows one sample; other samples and labels are for "quantiles"'),
    (lambda e: e.plot(kind="plane", ax=[1, 2]), "ax has 2 Axes for 3 panels, expected one for each"),
])
def test_plots_that_cannot_be_made_are_refused(call, sentence):
    with pytest.raises(ValueError) as raised:
        call(kqd.Embedding(X, rng=0))
    assert str(raised.value) == sentence
