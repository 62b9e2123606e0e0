"""Objects that are not rows of numbers: Gram matrices, and kernel functions of lists."""

import collections

import kqd
import numpy as np
import pytest

RNG = np.random.default_rng(5)


def cosine(counts):
    """Cosines between counters."""
    def dot(a, b):
        return sum(a[key] * b[key] for key in a if key in b)

    own = [np.sqrt(dot(a, a)) or 1.0 for a in counts]
    return np.array([[dot(a, b) / (s * t) for b, t in zip(counts, own)] for a, s in zip(counts, own)])


def spectrum(a, b, p=2):
    """The p-spectrum kernel of two lists of texts: cosines between counts of substrings."""
    counts = [collections.Counter(text[i:i + p] for i in range(len(text) - p + 1)) for text in [*a, *b]]
    return cosine(counts)[: len(a), len(a):]


def refined(graph, rounds):
    """Counts of labels after rounds of Weisfeiler and Lehman. A graph is a dictionary: node -> neighbours."""
    labels = {node: "" for node in graph}
    counts = collections.Counter()
    for r in range(rounds + 1):
        counts.update((r, label) for label in labels.values())
        labels = {node: labels[node] + "(" + ",".join(sorted(labels[other] for other in graph[node])) + ")"
                  for node in graph}
    return counts


def subtrees(a, b):
    """The Weisfeiler-Lehman kernel of two lists of graphs."""
    return cosine([refined(graph, 2) for graph in [*a, *b]])[: len(a), len(a):]


def shared(a, b):
    """Common members of sets."""
    return np.array([[len(x & y) for y in b] for x in a], dtype=float)


def markov(n, length, stay, rng):
    """Chains of letters that repeat the last letter with probability `stay`, and else draw one of four."""
    texts = []
    for _ in range(n):
        letters = [rng.integers(4)]
        for _ in range(length - 1):
            letters.append(letters[-1] if rng.uniform() < stay else rng.integers(4))
        texts.append("".join("acgt"[i] for i in letters))
    return texts


def random_graph(nodes, p, rng):
    graph = {i: [] for i in range(nodes)}
    for i in range(nodes):
        for j in range(i):
            if rng.uniform() < p:
                graph[i].append(j)
                graph[j].append(i)
    return graph


def ring(nodes):
    return {i: [(i + 1) % nodes, (i - 1) % nodes] for i in range(nodes)}


def random_set(rng):
    return set(rng.choice(list("abcdefgh"), size=rng.integers(1, 6)).tolist())


TEXTS = markov(12, 30, 0.3, RNG) + ["ab", "äöüäöü", "aaaa", "acgt"]
SETS = [random_set(RNG) for _ in range(10)]


@pytest.mark.parametrize("method", ["ekqd", "supkqd", "ekqd-centered", "mmd", "mmd-v", "supkqd-opt", "kce", "kmedian"])
@pytest.mark.parametrize("objects, function", [(SETS, shared), (TEXTS, spectrum)], ids=["sets", "texts"])
def test_a_function_of_objects_gives_the_numbers_of_its_gram_matrix(method, objects, function):
    gram = function(objects, objects)
    by_function = kqd.distance(objects[:4], objects[4:], kernel=function, method=method, rng=3)
    by_matrix = kqd.distance(gram[:4], gram[4:], kernel="precomputed", method=method, rng=3)
    assert by_function.statistic == pytest.approx(by_matrix.statistic, rel=1e-9, abs=1e-12)
    assert by_function.kernel == function.__name__ and (by_function.n_x, by_function.n_y) == (4, len(objects) - 4)


def test_algorithm_1_on_a_gram_matrix_with_reference_rows_of_ones_own():
    gram = spectrum(TEXTS, TEXTS)
    rows, c = [0, 5, 9], RNG.normal(size=(3, 4))
    norms = np.sqrt(np.einsum("ji,jk,ki->i", c, gram[np.ix_(rows, rows)], c))
    u = gram[:, rows] @ c / norms
    x, y = np.sort(u[:8], axis=0), np.sort(u[8:], axis=0)
    options = dict(reference=rows, coefficients=c, power=2, rng=0)
    expected = np.sqrt(np.mean((x - y) ** 2))
    assert kqd.distance(gram[:8], gram[8:], kernel="precomputed", **options).statistic == pytest.approx(expected, rel=1e-12)
    assert kqd.distance(TEXTS[:8], TEXTS[8:], kernel=spectrum, **options).statistic == pytest.approx(expected, rel=1e-12)


def test_a_function_is_called_on_blocks_and_its_values_are_kept():
    pairs, calls = collections.Counter(), []

    def counting(a, b):
        calls.append((len(a), len(b)))
        pairs.update((x, y) for x in a for y in b)
        return shared([set(x) for x in a], [set(y) for y in b])

    texts = ["".join(sorted(one)) + str(i) for i, one in enumerate(SETS)]
    kqd.test(texts[:5], texts[5:], kernel=counting, method="mmd", rng=0, n_resamples=99)
    assert len(calls) <= 4 and max(pairs.values()) <= 2 and len(pairs) == 100


def test_embedding_of_objects_and_of_their_gram_matrix_by_the_definition():
    gram = spectrum(TEXTS, TEXTS)
    everyone = np.arange(len(TEXTS))
    for embedding in (kqd.Embedding(TEXTS, kernel=spectrum, n_directions=5, rng=1),
                      kqd.Embedding(gram, kernel="precomputed", n_directions=5, rng=1)):
        rows = embedding.reference[:, 0].astype(int)
        u = gram[:, rows] @ embedding.coefficients
        assert np.einsum("ji,jk,ki->i", embedding.coefficients, gram[np.ix_(rows, rows)],
                         embedding.coefficients) == pytest.approx(np.ones(5))
        assert embedding.direction_values(everyone) == pytest.approx(u.T, rel=0, abs=1e-9)
        assert embedding.quantiles(0.5) == pytest.approx(np.quantile(u, 0.5, axis=0, method="inverted_cdf"), abs=1e-9)
        assert embedding.mean_embedding(everyone) == pytest.approx(gram.mean(axis=0), rel=0, abs=1e-12)
        assert embedding.kernel_matrix(everyone) == pytest.approx(gram, rel=0, abs=1e-12)
        first, second = embedding.embed(np.arange(6)), embedding.embed(np.arange(6, 12))
        expected = np.mean(np.abs(np.sort(u[:6], axis=0) - np.sort(u[6:12], axis=0)))
        assert first.distance(second).statistic == pytest.approx(expected, rel=0, abs=1e-9)
        assert first.distance(second, method="supkqd").statistic >= expected


# An exact test rejects with probability at most 0.05: more than 20 of 120 with probability below 1e-6.
@pytest.mark.parametrize("function, draw", [
    (spectrum, lambda rng: markov(16, 12, 0.3, rng)),
    (subtrees, lambda rng: [random_graph(6, 0.3, rng) for _ in range(16)]),
    (shared, lambda rng: [random_set(rng) for _ in range(16)]),
], ids=["strings", "graphs", "sets"])
def test_level_on_objects_of_one_distribution(function, draw):
    rejected = 0
    for seed in range(120):
        objects = draw(np.random.default_rng([1, seed]))
        rejected += kqd.test(objects[:8], objects[8:], kernel=function, rng=seed, n_resamples=99, n_directions=8).reject
    assert rejected <= 20


def test_power_on_two_markov_chains_and_on_two_models_of_graphs():
    rng = np.random.default_rng(8)
    x, y = markov(40, 40, 0.1, rng), markov(40, 40, 0.6, rng)
    assert kqd.test(x, y, kernel=spectrum, rng=0).pvalue <= 0.01
    x, y = [random_graph(8, 2 / 7, rng) for _ in range(30)], [ring(8) for _ in range(30)]
    assert kqd.test(x, y, kernel=subtrees, rng=0).pvalue <= 0.01


class Raises(Exception):
    pass


def raises(a, b):
    raise Raises("no kernel today")


GOOD = np.eye(6) + 1.0


def changed(*entries):
    gram = GOOD.copy()
    for i, j, value in entries:
        gram[i, j] = value
    return gram


INDEFINITE = np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]])  # eigenvalue 1 - 1.8


@pytest.mark.parametrize("gram, sentence", [
    (changed((0, 1, 1.5)), "the matrix is not symmetric, 1.5 here and 1 the other way round (row 1, column 2"),
    (changed((2, 2, -1.0)), "-1 on the diagonal, needs >= 0 (row 3, column 3"),
    (changed((0, 1, np.nan)), "nan, expected a finite number (row 1, column 2"),
    (changed((3, 4, np.inf)), "inf, expected a finite number (row 4, column 5"),
    (changed((0, 1, 9.0), (1, 0, 9.0)), "9, needs at most 2 in size"),
    (1 - np.eye(6), "this looks like a distance matrix D"),
    (INDEFINITE, "the matrix has the eigenvalue -0.8 (the largest is 1.9), needs >= 0"),
    (-GOOD, "on the diagonal, needs >= 0"),
])
def test_a_matrix_that_is_not_a_gram_matrix_is_refused(gram, sentence):
    half = len(gram) // 2
    for call in (lambda: kqd.test(gram[:half], gram[half:], kernel="precomputed", rng=0),
                 lambda: kqd.distance(gram[:half], gram[half:], kernel="precomputed", rng=0),
                 lambda: kqd.Embedding(gram, kernel="precomputed", rng=0)):
        with pytest.raises(ValueError) as raised:
            call()
        assert sentence in str(raised.value)


FOUR = (["a", "b"], ["c", "d"])
GRAM = (GOOD[:3], GOOD[3:])


@pytest.mark.parametrize("call, error, sentence", [
    (lambda: kqd.test(GOOD[:3, :5], GOOD[3:], kernel="precomputed"), ValueError, "x has 5 columns"),
    (lambda: kqd.test(GOOD[:3], GOOD[3:5], kernel="precomputed"), ValueError, "needs one per pooled row, 5"),
    (lambda: kqd.Embedding(GOOD[:3], kernel="precomputed"), ValueError, "sample is 3 x 6"),
    (lambda: kqd.Embedding([], kernel="precomputed"), ValueError, "needs a square Gram matrix"),
    (lambda: kqd.distance(*GRAM, kernel="precomputed", reference=[0, 6]), ValueError, "only on the pooled rows"),
    (lambda: kqd.distance(*GRAM, kernel="precomputed", reference=[0.5]), ValueError, "only on the pooled rows"),
    (lambda: kqd.distance(*GRAM, kernel="precomputed", reference=[-1]), ValueError, "only on the pooled rows"),
    (lambda: kqd.distance(*GRAM, kernel="precomputed", reference="uniform"), ValueError, "only on the pooled rows"),
    (lambda: kqd.distance(*GRAM, kernel="precomputed", reference=[0, 1], n_reference=2), ValueError, "n_reference=2"),
    (lambda: kqd.distance(*GRAM, kernel="precomputed", reference=[]), ValueError, "reference is empty"),
    (lambda: kqd.distance(*GRAM, kernel="precomputed", reference=[0, 1, 2], coefficients=np.ones((2, 3))), ValueError,
     "coefficients have 2 rows for 3 reference points, expected one row per point"),
    (lambda: kqd.distance(*GRAM, kernel="precomputed", reference=[0, 1], coefficients=[[1, np.nan], [1, 1]]), ValueError,
     "coefficients: row 1, column 2 is nan, expected a finite number"),
    (lambda: kqd.distance(*GRAM, kernel="precomputed", reference=[0, 0], coefficients=[[1], [-1]]), ValueError,
     "degenerate reference points"),
    (lambda: kqd.test(*GRAM, kernel="precomputed", bandwidth=2), ValueError, "bandwidth is given"),
    (lambda: kqd.test(*GRAM, kernel="precomputed", directions="linear"), ValueError, 'directions "linear"'),
    (lambda: kqd.test(*GRAM, kernel="precomputed", method="wasserstein"), ValueError, 'method "wasserstein"'),
    (lambda: kqd.test(*GRAM, kernel="precomputed", method="adaptive"), ValueError, 'method "adaptive"'),
    (lambda: kqd.test(*GRAM, kernel="precomputed", x_weights=[1, 1, 1]), ValueError, "x_weights are given"),
    (lambda: kqd.test(*GRAM, kernel="precomputed", nan_policy="omit"), ValueError, "nan_policy"),
    (lambda: kqd.explain(*GRAM, kernel="precomputed"), ValueError, "has no columns to explain"),
    (lambda: kqd.test(*FOUR, kernel=raises), Raises, "no kernel today"),
    (lambda: kqd.test(*FOUR, kernel=lambda a, b: np.ones(3)), ValueError, "returned shape (3,)"),
    (lambda: kqd.test(*FOUR, kernel=lambda a, b: 1.0), ValueError, "returned shape ()"),
    (lambda: kqd.test(*FOUR, kernel=lambda a, b: np.ones((len(a) + 1, len(b)))), ValueError, "returned shape"),
    (lambda: kqd.test(*FOUR, kernel=lambda a, b: [["x"] * len(b)] * len(a)), TypeError, "expected real numbers"),
    (lambda: kqd.test(*FOUR, kernel=lambda a, b: None), TypeError, "expected real numbers"),
    (lambda: kqd.test(*FOUR, kernel=lambda a, b: np.full((len(a), len(b)), np.nan)), ValueError, "a finite number"),
    (lambda: kqd.test(*FOUR, kernel=lambda a, b: np.full((len(a), len(b)), np.inf)), ValueError, "a finite number"),
    (lambda: kqd.test(*FOUR, kernel=lambda a, b: -np.ones((len(a), len(b)))), ValueError, "needs >= 0"),
    (lambda: kqd.test(*FOUR, kernel=lambda a, b: np.array([[ord(x) + 2.0 * ord(y) for y in b] for x in a])), ValueError,
     "is not symmetric"),
    (lambda: kqd.test(*FOUR, kernel=lambda a: a), TypeError, "positional argument"),
    (lambda: kqd.test(*FOUR, kernel="gaussian"), TypeError, "expected real numbers"),
    (lambda: kqd.test(["a", "b"], [1.0, 2.0], kernel=shared), TypeError, "expected real numbers"),
    (lambda: kqd.test(SETS[:3], SETS[3:], kernel=shared, method="energy"), ValueError,
     'method "energy" looks at columns, kernel "shared" has none'),
    (lambda: kqd.test(SETS[:3], SETS[3:], kernel=shared, y_weights=[1] * 7), ValueError, "y_weights are given"),
    (lambda: kqd.test(SETS[:3], SETS[3:], kernel=shared, reference="uniform", rng=0), ValueError, "needed elsewhere"),
    (lambda: kqd.test(SETS[:3], SETS[3:], kernel=shared, reference=[12], rng=0), ValueError, "needed elsewhere"),
    (lambda: kqd.Embedding(SETS, kernel=shared, weights=[1] * 10), ValueError, "weights and nan_policy are for rows"),
    (lambda: kqd.Embedding(SETS, kernel=shared, directions="axis"), ValueError, "need columns, which objects do not have"),
    (lambda: kqd.Embedding(SETS, kernel=shared, rng=0).embed([99]), ValueError, "needed elsewhere"),
    (lambda: kqd.Embedding(GOOD, kernel="precomputed", rng=0).evaluate([6]), ValueError, "only on the pooled rows"),
])
def test_what_cannot_be_done_is_refused(call, error, sentence):
    with pytest.raises(error) as raised:
        call()
    assert sentence in str(raised.value)
