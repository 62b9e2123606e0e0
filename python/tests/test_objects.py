"""Objects that are not rows of numbers: Gram matrices, kernel functions of lists, strings, graphs, sets, categories."""

import collections
import itertools
import json
import pickle

import kqd
import numpy as np
import pytest

RNG = np.random.default_rng(5)


# ---- Kernels by their definitions. ----

def normalised(counts):
    """Cosines of counters."""
    def dot(a, b):
        return sum(a[key] * b[key] for key in a if key in b)

    own = [np.sqrt(dot(a, a)) or 1.0 for a in counts]
    return np.array([[dot(a, b) / (s * t) for b, t in zip(counts, own)] for a, s in zip(counts, own)])


def spectrum(texts, p):
    return normalised([collections.Counter(text[i:i + p] for i in range(len(text) - p + 1)) for text in texts])


def weisfeiler_lehman(graphs, rounds):
    """Labels are nested tuples: no dictionary of shorter names."""
    counts = []
    for graph in graphs:
        n = len(graph["labels"])
        neighbours = [[b for a, b in graph["edges"] if a == i] + [a for a, b in graph["edges"] if b == i and a != b]
                      for i in range(n)]
        labels = list(graph["labels"])
        found = collections.Counter((0, label) for label in labels)
        for r in range(1, rounds + 1):
            labels = [(labels[i], tuple(sorted((labels[j] for j in neighbours[i]), key=repr))) for i in range(n)]
            found.update((r, label) for label in labels)
        counts.append(found)
    return normalised(counts)


def markov(n, length, stay, rng):
    """Chains of letters that repeat the last letter with probability `stay`."""
    texts = []
    for _ in range(n):
        letters = [rng.integers(4)]
        for _ in range(length - 1):
            letters.append(letters[-1] if rng.uniform() < stay else rng.integers(4))
        texts.append("".join("acgt"[i] for i in letters))
    return texts


def random_graphs(n, nodes, p, rng):
    """Graphs of independent edges (Erdos and Renyi) and labels."""
    return [{"edges": [[i, j] for i, j in itertools.combinations(range(nodes), 2) if rng.uniform() < p],
             "labels": [int(label) for label in rng.integers(2, size=nodes)]} for _ in range(n)]


def small_worlds(n, nodes, move, rng):
    """Graphs of Watts and Strogatz: rings with two neighbours on either side, of which some edges move their far end."""
    graphs = []
    for _ in range(n):
        edges = {frozenset((i, (i + step) % nodes)) for i in range(nodes) for step in (1, 2)}
        for step in (1, 2):
            for i in range(nodes):
                if rng.uniform() < move:
                    free = [j for j in range(nodes) if j != i and frozenset((i, j)) not in edges]
                    edges.remove(frozenset((i, (i + step) % nodes)))
                    edges.add(frozenset((i, int(rng.choice(free)))))
        graphs.append({"edges": sorted(sorted(edge) for edge in edges),
                       "labels": [int(label) for label in rng.integers(2, size=nodes)]})
    return graphs


TEXTS = markov(12, 30, 0.3, RNG) + ["", "ab", "äöüäöü", "aaaa"]
GRAPHS = random_graphs(8, 6, 0.4, RNG) + [{"edges": [], "labels": [1]}, {"edges": [[0, 0]], "labels": [0]}]
SETS = [set(RNG.choice(list("abcdefgh"), size=RNG.integers(1, 6)).tolist()) for _ in range(10)]
ROWS = [tuple(RNG.choice(["red", "green", "blue"], size=4).tolist()) for _ in range(10)]


def matrix_of(kernel, objects):
    """All values of a kernel of objects, through an embedding."""
    embedding = kqd.Embedding(objects, kernel=kernel, n_directions=2, n_reference=len(objects), rng=0)
    return embedding.kernel_matrix(np.arange(len(objects)))


@pytest.mark.parametrize("p", [1, 2, 3, 5])
def test_spectrum_kernel_is_the_cosine_of_counts_of_substrings(p):
    assert matrix_of(f"spectrum:{p}", TEXTS) == pytest.approx(spectrum(TEXTS, p), rel=0, abs=1e-12)


@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_weisfeiler_lehman_kernel_is_the_cosine_of_counts_of_refined_labels(rounds):
    expected = weisfeiler_lehman(GRAPHS, rounds)
    assert matrix_of(f"wl:{rounds}", GRAPHS) == pytest.approx(expected, rel=0, abs=1e-12)
    lines = [json.dumps(graph) for graph in GRAPHS]
    assert (matrix_of(f"wl:{rounds}", lines) == matrix_of(f"wl:{rounds}", GRAPHS)).all()


def test_kernel_of_sets_is_the_share_of_common_members():
    expected = [[len(a & b) / np.sqrt(len(a) * len(b)) for b in SETS] for a in SETS]
    assert matrix_of("sets", SETS) == pytest.approx(np.array(expected), rel=0, abs=1e-12)


def test_hamming_kernel_is_the_share_of_categories_that_agree():
    expected = [[np.mean([x == y for x, y in zip(a, b)]) for b in ROWS] for a in ROWS]
    assert matrix_of("hamming", ROWS) == pytest.approx(np.array(expected), rel=0, abs=1e-12)


def test_aitchison_kernel_is_a_product_over_columns_that_differ():
    sizes = [len(set(column)) for column in zip(*ROWS)]
    for name, lam in (("aitchison", 0.1), ("aitchison:0.3", 0.3), ("aitchison:0", 0.0), ("aitchison:0.5", 0.5)):
        # k(x, y) / k(x, x) with factors 1 - lambda and lambda / (c - 1).
        expected = [[np.prod([1 if s == t else lam / (c - 1) / (1 - lam) for s, t, c in zip(a, b, sizes)]) for b in ROWS]
                    for a in ROWS]
        assert matrix_of(name, ROWS) == pytest.approx(np.array(expected), rel=0, abs=1e-12)
    one = [("a", "x"), ("a", "y"), ("a", "x")]  # a column with one category
    assert matrix_of("aitchison:0.2", one) == pytest.approx(np.array([[1, 0.25, 1], [0.25, 1, 0.25], [1, 0.25, 1]]))


def shared(a, b):
    return np.array([[len(x & y) for y in b] for x in a], dtype=float)


@pytest.mark.parametrize("method", ["ekqd", "supkqd", "ekqd-centered", "mmd", "mmd-v", "supkqd-opt", "kce"])
def test_function_names_and_gram_matrix_agree(method):
    x, y = SETS[:4], SETS[4:]
    gram = shared(SETS, SETS)
    options = dict(method=method, rng=3)
    by_function = kqd.distance(x, y, kernel=shared, **options)
    by_matrix = kqd.distance(gram[:4], gram[4:], kernel="precomputed", **options)
    assert by_function.statistic == pytest.approx(by_matrix.statistic, rel=1e-12)
    named = kqd.distance(TEXTS[:7], TEXTS[7:], kernel="spectrum:2", **options)
    gram = spectrum(TEXTS, 2)
    assert named.statistic == pytest.approx(
        kqd.distance(gram[:7], gram[7:], kernel="precomputed", **options).statistic, rel=1e-9)
    assert named.kernel == "spectrum:2"


def lines(path, texts):
    path.write_bytes("\r\n".join(texts).encode() + b"\n\n")
    return path


def test_files_of_lines_tables_and_groups_are_lists_of_objects(tmp_path):
    pandas = pytest.importorskip("pandas")
    texts = [text + "x" for text in TEXTS]
    x, y = texts[:9], texts[9:]
    expected = kqd.distance(x, y, kernel="spectrum:2", rng=0)
    files = lines(tmp_path / "before.txt", x), lines(tmp_path / "after.txt", y)
    of_files = kqd.distance(str(files[0]), files[1], kernel="spectrum:2", rng=0)
    assert (of_files.statistic, of_files.names) == (expected.statistic, ("before", "after"))
    frames = pandas.DataFrame({"text": x}), pandas.DataFrame({"other": y})
    assert kqd.distance(*frames, kernel="spectrum:2", rng=0).statistic == expected.statistic
    # The first value that is met is x, in any order of the rows.
    order = [0, *RNG.permutation(np.arange(1, len(texts)))]
    table = pandas.DataFrame({"arm": ["new"] * 9 + ["old"] * (len(texts) - 9), "text": texts}).iloc[order]
    by_hand = [table["text"][table["arm"] == arm].tolist() for arm in ("new", "old")]
    grouped = kqd.distance(table, group="arm", kernel="spectrum:2", rng=0)
    assert (grouped.statistic, grouped.names) == (kqd.distance(*by_hand, kernel="spectrum:2", rng=0).statistic, ("new", "old"))
    assert kqd.distance(table, **grouped.settings).statistic == grouped.statistic
    test, page = kqd.test(table, group="arm", kernel="spectrum:2", rng=0), tmp_path / "page.html"
    assert test.pvalue == kqd.test(*by_hand, kernel="spectrum:2", rng=0).pvalue
    test.to_html(page)
    assert '"explanation_note":""' in page.read_text().replace(" ", "")
    for wrong, sentence in [("text", 'group="text" has'), ("side", 'group="side": expected the name of one column of x')]:
        with pytest.raises(ValueError, match=sentence):
            kqd.distance(table, group=wrong, kernel="spectrum:2")
    with pytest.raises(ValueError, match='x has 2 columns of objects, "arm", "text", expected one'):
        kqd.distance(table, table, kernel="spectrum:2")


def test_sets_of_files_are_those_of_lists(tmp_path):
    x, y = SETS[:5], SETS[5:]
    files = [lines(tmp_path / name, [",".join(one) for one in sets]) for name, sets in (("x.txt", x), ("y.txt", y))]
    assert kqd.distance(*files, kernel="sets", rng=0).statistic == kqd.distance(x, y, kernel="sets", rng=0).statistic


def test_columns_of_categories_are_matched_by_name():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS, columns=list("abcd"))
    expected = kqd.distance(ROWS[:5], ROWS[5:], kernel="hamming", rng=0).statistic
    assert kqd.distance(frame[:5], frame[5:][list("dbca")], kernel="hamming", rng=0).statistic == expected
    with pytest.raises(ValueError, match='y has the columns "b", "c", "d", expected those of the first sample, "a", '):
        kqd.distance(frame[:5], frame[5:][list("bcd")], kernel="hamming", rng=0)


class ColumnOfTexts:
    def __init__(self, name, cells):
        self.name, self.to_list, self.to_pylist = name, lambda: list(cells), lambda: list(cells)


class LikePolars:
    def __init__(self, columns):
        self.columns = list(columns)
        self.get_columns = lambda: [ColumnOfTexts(*column) for column in columns.items()]


class LikeArrow:
    def __init__(self, columns):
        self.column_names = list(columns)
        self.column = lambda j: ColumnOfTexts(*list(columns.items())[j])


@pytest.mark.parametrize("table_of", [LikePolars, LikeArrow])
def test_tables_without_pandas_are_lists_of_objects(table_of):
    expected = kqd.distance(TEXTS[:8], TEXTS[8:], kernel="spectrum:2", rng=0).statistic
    two = [table_of({"text": texts}) for texts in (TEXTS[:8], TEXTS[8:])]
    one = table_of({"arm": [1] * 8 + [2] * (len(TEXTS) - 8), "text": TEXTS})
    assert kqd.distance(*two, kernel="spectrum:2", rng=0).statistic == expected
    assert kqd.distance(one, group="arm", kernel="spectrum:2", rng=0).statistic == expected


@pytest.mark.parametrize("kernel", ["spectrum:2", "function", "precomputed"])
def test_matrices_of_objects_are_those_of_their_gram_matrix(kernel, tmp_path):
    texts = [text + "x" for text in TEXTS]
    bounds = [(0, 5), (5, 9), (9, len(texts))]
    parts = [texts[first:last] for first, last in bounds]
    gram = spectrum(texts, 2)
    samples, given = parts, kernel
    if kernel == "precomputed":
        samples = [gram[first:last] for first, last in bounds]
    elif kernel == "function":
        def given(a, b):
            return gram[np.ix_([texts.index(one) for one in a], [texts.index(one) for one in b])]
    found = kqd.matrix(samples, kernel=given, method="mmd-v", names="a,b,c", rng=0)
    assert (found.names, found.n) == (("a", "b", "c"), (5, 4, len(texts) - 9))
    for i, (a, b) in enumerate(bounds):
        for j, (c, d) in enumerate(bounds):
            square = gram[a:b, a:b].mean() + gram[c:d, c:d].mean() - 2 * gram[a:b, c:d].mean()
            assert found.distances[i, j] == (0 if i == j else pytest.approx(np.sqrt(square), rel=1e-9))
    assert kqd.matrix(samples, kernel=given, test=True, rng=0).pvalues.shape == (3, 3)
    if kernel == "spectrum:2":
        files = [lines(tmp_path / f"{i}.txt", part) for i, part in enumerate(parts)]
        assert (kqd.matrix(files, kernel=kernel, method="mmd-v", rng=0).distances == found.distances).all()


@pytest.mark.parametrize("kernel, objects", [("spectrum:2", TEXTS), ("precomputed", spectrum(TEXTS, 2)), (shared, list(map(set, TEXTS)))],
                         ids=["name", "matrix", "function"])
def test_a_mask_selects_objects_as_in_numpy(kernel, objects, tmp_path):
    embedding = kqd.Embedding(objects, kernel=kernel, n_directions=3, rng=0)
    mask = RNG.uniform(size=len(objects)) < 0.5
    mask[:2] = False, True
    numbers = np.flatnonzero(mask)
    again = [embedding, embedding.embed(numbers)]
    if kernel is not shared:
        embedding.save(tmp_path / "e")
        again += [kqd.Embedding.load(tmp_path / "e"), pickle.loads(pickle.dumps(embedding))]
    for one in again:
        for chosen in (mask, mask.tolist(), mask.astype(object)):
            assert one.embed(chosen).quantiles([0.2, 0.7]).tobytes() == one.embed(numbers).quantiles([0.2, 0.7]).tobytes()
            assert (one.evaluate(chosen, 0.5) == one.evaluate(numbers, 0.5)).all()
            assert (one.kernel_matrix(chosen, mask) == one.kernel_matrix(numbers)).all()
            assert one.distance(chosen) == one.distance(numbers)
    options = dict(kernel=kernel, n_directions=3, rng=0)
    by_mask, by_number = (kqd.Embedding(objects, reference=chosen, **options) for chosen in (mask, numbers))
    assert (by_mask.reference[:, 0] == numbers).all() and by_mask.quantiles(0.5).tobytes() == by_number.quantiles(0.5).tobytes()


def test_algorithm_1_on_a_gram_matrix_with_reference_rows_of_ones_own():
    gram = spectrum(TEXTS, 2)
    rows, c = [0, 5, 9], RNG.normal(size=(3, 4))
    norms = np.sqrt(np.einsum("ji,jk,ki->i", c, gram[np.ix_(rows, rows)], c))
    u = gram[:, rows] @ c / norms
    x, y = np.sort(u[:8], axis=0), np.sort(u[8:], axis=0)
    found = kqd.distance(gram[:8], gram[8:], kernel="precomputed", reference=rows, coefficients=c, power=2, rng=0)
    assert found.statistic == pytest.approx(np.sqrt(np.mean((x - y) ** 2)), rel=1e-12)


@pytest.mark.parametrize("method", ["mmd", "ekqd", "adaptive"])
def test_a_function_computes_each_value_once(method):
    asked = collections.Counter()

    def counting(a, b):
        for x in a:
            for y in b:
                asked[x, y] += 1
        return shared([set(x) for x in a], [set(y) for y in b])

    texts = ["".join(sorted(one)) + str(i) for i, one in enumerate(SETS)]
    kqd.test(texts[:5], texts[5:], kernel=counting, method=method, rng=0, n_resamples=99)
    assert asked and max(asked.values()) == 1


def of_series(a, b):
    """Of sequences of numbers of any length: by their means and lengths."""
    def features(one):
        return np.array([np.mean(one) if len(one) else 0.0, np.log1p(len(one)), 1.0])

    return np.array([[features(x) @ features(y) for y in b] for x in a])


def of_items(a, b):
    """Of lists of anything: shared items, nested ones too."""
    def items(one):
        return set().union(*map(items, one)) if isinstance(one, (list, tuple)) else {one}

    return shared([items(x) for x in a], [items(y) for y in b])


SERIES = [RNG.normal(size=RNG.integers(1, 9)) for _ in range(12)]
TOKENS = [["a", "b", "c"], ["b", "c", "d"], ["a", "c", "e"], ["a", "b", "f"], ["f", "g", "h"], ["b", "g", "h"]]
TREES = [(1, (2, 3)), (1, (2, (3, 4))), ((1, 2), 5), (6, (5, (4, 3))), (2, 7), ((3, 1), (8, 2))]


@pytest.mark.parametrize("kernel, objects", [
    (of_series, SERIES), (of_series, [one.tolist() for one in SERIES]), (of_series, [tuple(one) for one in SERIES]),
    (of_items, TOKENS), (of_items, [tuple(one) for one in TOKENS]), (of_items, TREES),
    (lambda a, b: np.array([[np.exp(-abs(x.sum() - y.sum())) for y in b] for x in a]),
     [RNG.normal(size=(2, 3)) for _ in range(8)]),  # matrices
], ids=["arrays", "lists", "tuples", "tokens", "tuples of tokens", "trees", "matrices"])
def test_lists_of_anything_are_objects_of_a_function(kernel, objects):
    half = len(objects) // 2
    gram = kernel(objects, objects)
    found = kqd.distance(objects[:half], objects[half:], kernel=kernel, method="mmd-v", rng=0)
    assert found.statistic == pytest.approx(
        kqd.distance(gram[:half], gram[half:], kernel="precomputed", method="mmd-v", rng=0).statistic, rel=1e-12)
    assert kqd.Embedding(objects, kernel=kernel, n_directions=3, rng=0).n_points == len(objects)


def test_rows_of_numbers_are_objects_in_an_array_of_objects_only():
    rows = [(1.0, 2.0), (3.0, 5.0), (2.0, 2.5), (0.5, 1.0)]
    seen = []

    def kernel(a, b):
        seen.append(type(a))
        return np.array([[np.dot(x, y) for y in b] for x in a])

    by_rows = kqd.distance(rows[:2], rows[2:], kernel=kernel, method="mmd-v", rng=0)
    assert set(seen) == {np.ndarray} and by_rows.dim == 2
    seen.clear()
    objects = np.empty(4, dtype=object)
    objects[:] = rows
    by_objects = kqd.distance(objects[:2], objects[2:], kernel=kernel, method="mmd-v", rng=0)
    assert set(seen) == {list} and by_objects.dim == 0
    assert by_objects.statistic == pytest.approx(by_rows.statistic, rel=1e-12)
    # One sample whose rows differ in length makes both samples lists of objects.
    seen.clear()
    kqd.distance(rows, [(1.0,), (1.0, 2.0)], kernel=lambda a, b: kernel([x[:1] for x in a], [y[:1] for y in b]),
                 method="mmd-v", rng=0)
    assert set(seen) == {list}


def test_a_column_of_texts_is_a_list_of_objects():
    pandas = pytest.importorskip("pandas")
    def letters(a, b):
        return shared([set(x) for x in a], [set(y) for y in b])

    texts = [text + "x" for text in TEXTS]
    expected = kqd.distance(texts[:8], texts[8:], kernel=letters, rng=0).statistic
    columns = pandas.Series(texts[:8]), pandas.Series(texts[8:], index=range(50, 50 + len(texts) - 8))
    assert kqd.distance(*columns, kernel=letters, rng=0).statistic == expected
    named = kqd.distance(texts[:8], texts[8:], kernel="spectrum:2", rng=0).statistic
    assert kqd.distance(*columns, kernel="spectrum:2", rng=0).statistic == named
    frame = pandas.DataFrame(ROWS)
    assert kqd.distance(frame[:5], frame[5:], kernel="hamming", rng=0).statistic == kqd.distance(
        ROWS[:5], ROWS[5:], kernel="hamming", rng=0).statistic


class LabelledGraph:
    """As graphs of networkx are: nodes is a mapping that can be called."""

    class Nodes(dict):
        def __call__(self, data):
            assert data == "label"
            return self.items()

    def __init__(self, labels, edges):
        self.nodes, self.edges = self.Nodes(labels), edges


def test_graphs_of_networkx_have_the_labels_of_their_nodes():
    def as_object(graph, names):
        return LabelledGraph({names[i]: label for i, label in enumerate(graph["labels"])},
                             [(names[a], names[b]) for a, b in graph["edges"]])

    graphs = [as_object(graph, "uvwxyz") for graph in GRAPHS]
    assert (matrix_of("wl:2", graphs) == matrix_of("wl:2", GRAPHS)).all()
    bare = [LabelledGraph({node: None for node in graph.nodes}, graph.edges) for graph in graphs]
    without = [{"nodes": len(graph["labels"]), "edges": graph["edges"]} for graph in GRAPHS]
    assert (matrix_of("wl:2", bare) == matrix_of("wl:2", without)).all()
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph([("a", "b"), ("b", "c")])
    networkx.set_node_attributes(graph, {"a": "C", "b": "O", "c": "C"}, "label")
    same = {"edges": [[0, 1], [1, 2]], "labels": ["C", "O", "C"]}
    assert matrix_of("wl:2", [graph, same])[0, 1] == pytest.approx(1.0)


OF_OBJECTS = [("precomputed", spectrum(TEXTS, 3)), ("spectrum:3", TEXTS), ("wl:2", GRAPHS), ("sets", SETS), ("hamming", ROWS),
              ("aitchison:0.2", ROWS)]


@pytest.mark.parametrize("kernel, objects", OF_OBJECTS, ids=[kernel for kernel, _ in OF_OBJECTS])
def test_embeddings_of_objects_can_be_saved_and_pickled(kernel, objects, tmp_path):
    first = kqd.Embedding(objects, kernel=kernel, n_directions=4, rng=1)
    first.save(tmp_path / "e.kqd")
    numbers = np.arange(5)
    part = first.embed(numbers)
    for again in (kqd.Embedding.load(tmp_path / "e.kqd"), pickle.loads(pickle.dumps(first))):
        assert (repr(again), again.kernel, again.seed) == (repr(first), first.kernel, 1)
        assert again.quantiles([0.1, 0.5]).tobytes() == first.quantiles([0.1, 0.5]).tobytes()
        assert again.evaluate(numbers, [0.1, 0.9], centered=True).tobytes() == first.evaluate(
            numbers, [0.1, 0.9], centered=True).tobytes()
        assert again.distance(part) == first.distance(part) == first.distance(again.embed(numbers))
        assert (again.kernel_matrix(numbers) == first.kernel_matrix(numbers)).all()
    with np.load(tmp_path / "e.kqd") as file:  # readable without kqd
        about = json.loads(str(file["about"]))
        if kernel == "precomputed":
            assert (file["gram"] == objects).all() and about.get("objects") is None
        else:
            assert len(about["objects"]) == len(objects)
    # Loaded again, embeddings of other objects do not share directions with them.
    others = kqd.Embedding(objects[::-1, ::-1] if kernel == "precomputed" else objects[::-1], kernel=kernel,
                           reference=first.reference, coefficients=first.coefficients, rng=1)
    with pytest.raises(ValueError, match="directions of their own"):
        pickle.loads(pickle.dumps(first)).distance(others)


def test_an_embedding_of_objects_by_a_function_says_why_it_cannot_be_saved(tmp_path):
    embedding = kqd.Embedding(SETS, kernel=shared, n_directions=3, rng=0)
    for call in (lambda: pickle.dumps(embedding), lambda: embedding.save(tmp_path / "e")):
        with pytest.raises(TypeError, match="by a kernel function cannot be saved, because the function is not data"):
            call()
    gram = shared(SETS, SETS)  # its values can
    kqd.Embedding(gram, kernel="precomputed", n_directions=3, rng=0).save(tmp_path / "e")


def test_embedding_of_objects_is_that_of_its_gram_matrix():
    gram = spectrum(TEXTS, 3)
    named = kqd.Embedding(TEXTS, kernel="spectrum:3", n_directions=5, rng=1)
    matrix = kqd.Embedding(gram, kernel="precomputed", n_directions=5, rng=1)
    for embedding in (named, matrix):
        rows = embedding.reference[:, 0].astype(int)
        u = gram[:, rows] @ embedding.coefficients
        assert embedding.direction_values(np.arange(len(TEXTS))) == pytest.approx(u.T, rel=0, abs=1e-9)
        first, second = embedding.embed(np.arange(6)), embedding.embed(np.arange(6, 12))
        expected = np.mean(np.abs(np.sort(u[:6], axis=0) - np.sort(u[6:12], axis=0)))
        assert first.distance(second).statistic == pytest.approx(expected, rel=0, abs=1e-9)
    assert named.quantiles(0.5) == pytest.approx(matrix.quantiles(0.5), rel=0, abs=1e-9)


# Exact tests of 19 permutations reject in 0.05 of all runs, less often only with ties. Binomial(300, 0.05) is 0, or above
# 36, with probability below 1e-6 each.
@pytest.mark.parametrize("kernel, draw", [
    ("spectrum:2", lambda rng: markov(24, 20, 0.3, rng)),
    ("wl:2", lambda rng: random_graphs(24, 7, 0.3, rng)),
    ("wl:2", lambda rng: small_worlds(24, 12, 0.1, rng)),
    ("sets", lambda rng: [set(rng.choice(list("abcdefgh"), size=4).tolist()) for _ in range(24)]),
    (shared, lambda rng: [set(rng.choice(list("abcdefgh"), size=4).tolist()) for _ in range(24)]),
])
@pytest.mark.parametrize("method", ["ekqd", "adaptive"])
def test_level_on_objects_of_one_distribution(kernel, draw, method):
    rejected = 0
    for seed in range(300):
        objects = draw(np.random.default_rng([1, seed]))
        rejected += kqd.test(objects[:12], objects[12:], kernel=kernel, method=method, rng=0, n_resamples=19,
                             workers=1).reject
    assert 1 <= rejected <= 36


def test_power_on_two_markov_chains_and_two_models_of_graphs_and_sets():
    rng = np.random.default_rng(8)
    x, y = markov(60, 60, 0.1, rng), markov(60, 60, 0.6, rng)
    assert kqd.test(x, y, kernel="spectrum:2", rng=0).pvalue <= 0.01
    x, y = random_graphs(40, 12, 4 / 11, rng), small_worlds(40, 12, 0.1, rng)  # 24 edges on average, and 24
    assert kqd.test(x, y, kernel="wl:2", rng=0).pvalue <= 0.01
    x, y = ([{member for member in "abcdefgh" if rng.uniform() < (first if member == "a" else 0.5)} for _ in range(60)]
            for first in (0.9, 0.2))
    assert kqd.test(x, y, kernel="sets", rng=0).pvalue <= 0.01


def test_the_adaptive_test_of_objects_is_that_of_their_gram_matrix():
    rng = np.random.default_rng(8)
    texts = markov(20, 40, 0.1, rng) + markov(20, 40, 0.4, rng)
    gram = spectrum(texts, 2)
    found = [kqd.test(texts[:20], texts[20:], kernel="spectrum:2", method="adaptive", rng=0),
             kqd.test(gram[:20], gram[20:], kernel="precomputed", method="adaptive", rng=0)]
    for result in found:
        assert all("kernel" in component.name for component in result.components)
        assert result.pvalue <= 0.05 and result.dim == 0
    # Kernel values differ by roundings, and with them the permutations: each data set has its own.
    assert [one.name.partition(",")[0] for one in found[0].components] == [
        one.name.partition(",")[0] for one in found[1].components]


def test_explanations_of_objects_have_directions_and_rows():
    rng = np.random.default_rng(8)
    x, y = markov(60, 60, 0.1, rng), markov(60, 60, 0.6, rng)
    found = kqd.explain(x, y, kernel="spectrum:2", rng=0)
    assert found.columns == () and found.directions[0].reject and found.directions[0].columns == ()
    assert "carried by" not in repr(found.directions[0])
    assert repr(kqd.Embedding(x, kernel="spectrum:2", n_directions=2, rng=0)) == (
        "Embedding(60 objects, 2 gaussian directions, kernel spectrum:2)")
    assert {row.sample for row in found.most_x} == {"x"} and {row.sample for row in found.most_y} == {"y"}
    gram = spectrum(x + y, 2)
    of_gram = kqd.explain(gram[:60], gram[60:], kernel="precomputed", maximiser="supkqd-opt", rng=0)
    assert of_gram.directions[0].effect == pytest.approx(found.directions[0].effect, abs=1e-6)
    assert of_gram.maximiser.family == "supkqd-opt" and np.isnan(of_gram.maximiser.pvalue)
    assert of_gram.maximiser.statistic == pytest.approx(
        kqd.distance(gram[:60], gram[60:], kernel="precomputed", method="supkqd-opt", rng=0).statistic, rel=1e-9)
    # A kernel function of lists gives the same ranks.
    of_sets = kqd.explain(SETS[:5], SETS[5:], kernel=shared, rng=0)
    assert of_sets.columns == () and len(of_sets.most_x) + len(of_sets.most_y) > 0


# Holm's rule: at most 0.05 of the runs. Binomial(100, 0.05) is above 18 with probability below 1e-6; Binomial(100, 0.13) is
# 0 with such a probability, and adjusted p-values up to 0.25 are not as rare as that.
def test_directions_of_objects_keep_the_level():
    rejected = small = 0
    for seed in range(100):
        texts = markov(24, 20, 0.3, np.random.default_rng([2, seed]))
        found = kqd.explain(texts[:12], texts[12:], kernel="spectrum:2", rng=0, n_resamples=399, workers=1)
        rejected += any(direction.reject for direction in found.directions)
        small += any(direction.pvalue_adjusted <= 0.25 for direction in found.directions)
    assert rejected <= 18 and small >= 1


def test_results_of_objects_have_pages(tmp_path):
    result = kqd.test(SETS[:5], SETS[5:], kernel=shared, method="supkqd-opt", rng=0, n_resamples=19)
    for name, found in (("function", result), ("text", kqd.test(TEXTS[:8], TEXTS[8:], kernel="spectrum:2", rng=0))):
        found.to_html(tmp_path / f"{name}.html")
        page = (tmp_path / f"{name}.html").read_text()
        report = json.loads(page.partition('id="report">')[2].partition("</script>")[0])
        assert report["explanation"]["columns"] == [] and report["explanation_note"] == ""
    assert "maximiser" in report["explanation"]


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


NO_GRAM_MATRICES = [
    (changed((0, 1, 1.5)), "the Gram matrix is not symmetric: 1 in row 2, column 1 and 1.5 the other way round"),
    (changed((2, 2, -1.0)), "row 3 of the Gram matrix has -1 on the diagonal, needs >= 0"),
    (changed((0, 1, np.nan)), "row 1, column 2 of the Gram matrix is nan, expected a finite number"),
    (changed((3, 4, np.inf)), "row 4, column 5 of the Gram matrix is inf, expected a finite number"),
    (changed((0, 1, 9.0), (1, 0, 9.0)), "row 2, column 1 of the Gram matrix is 9, needs at most 2 in size"),
    (1 - np.eye(6), "a distance D is not a kernel, but exp(-D^2 / h^2) is"),
    (INDEFINITE, "the Gram matrix is not positive semidefinite: it has the eigenvalue -0.8 (the largest is 1.9)"),
    (-GOOD, "on the diagonal, needs >= 0"),
]


@pytest.mark.parametrize("gram, sentence", NO_GRAM_MATRICES)
def test_a_matrix_that_is_not_a_gram_matrix_is_refused(gram, sentence):
    half = len(gram) // 2
    for call in (lambda: kqd.test(gram[:half], gram[half:], kernel="precomputed", rng=0),
                 lambda: kqd.distance(gram[:half], gram[half:], kernel="precomputed", rng=0),
                 lambda: kqd.Embedding(gram, kernel="precomputed", rng=0)):
        with pytest.raises(ValueError) as raised:
            call()
        assert sentence in str(raised.value)


def test_a_large_indefinite_matrix_is_refused():
    n = 500
    unit = np.sin(np.arange(1.0, n + 1))
    unit /= np.sqrt(unit @ unit)
    gram = np.eye(n) - 1.3 * np.outer(unit, unit)  # eigenvalues 1 and -0.3
    with pytest.raises(ValueError, match="not positive semidefinite: it has the eigenvalue -0.3"):
        kqd.distance(gram[:200], gram[200:], kernel="precomputed", rng=0)


REFUSED = [
    (lambda: kqd.test(GOOD[:3, :5], GOOD[3:], kernel="precomputed"), ValueError, "x has 5 columns"),
    (lambda: kqd.Embedding(GOOD[:3], kernel="precomputed"), ValueError, "the Gram matrix is 3 x 6, expected a square one"),
    (lambda: kqd.distance(GOOD[:3], GOOD[3:], kernel="precomputed", reference=[0, 6]), ValueError,
     "reference has 6, expected numbers of the 6 objects, 0 to 5"),
    (lambda: kqd.distance(GOOD[:3], GOOD[3:], kernel="precomputed", reference=[0.5]), ValueError, "reference has 0.5"),
    (lambda: kqd.test(GOOD[:3], GOOD[3:], kernel="precomputed", reference="uniform"), ValueError,
     'reference="uniform": expected pooled'),
    (lambda: kqd.test(GOOD[:3], GOOD[3:], kernel="precomputed", bandwidth=2), ValueError, "bandwidth=2"),
    (lambda: kqd.test(GOOD[:3], GOOD[3:], kernel="precomputed", directions="linear"), ValueError, 'directions="linear"'),
    (lambda: kqd.test(GOOD[:3], GOOD[3:], kernel="precomputed", method="wasserstein"), ValueError,
     'method="wasserstein": expected adaptive, ekqd, mmd or another one'),
    (lambda: kqd.test(GOOD[:3], GOOD[3:], kernel="precomputed", method="mmd-agg"), ValueError, 'method="mmd-agg"'),
    (lambda: kqd.test(GOOD[:3], GOOD[3:], kernel="precomputed", method="classifier"), ValueError, 'method="classifier"'),
    (lambda: kqd.test(GOOD[:3], GOOD[3:], kernel="precomputed", x_weights=[1, 1, 1]), ValueError, "x_weights are given"),
    (lambda: kqd.test(GOOD[:3], GOOD[3:], kernel="precomputed", nan_policy="omit"), ValueError, "nan_policy"),
    (lambda: kqd.distance(GOOD[:3], GOOD[3:], kernel="precomputed", coefficients=np.ones((2, 3)), reference=[0, 1, 2]),
     ValueError, "coefficients have 2 rows for 3 reference points"),
    (lambda: kqd.test(GOOD[:3], GOOD[3:], kernel="precomputed", reference=[0, 1]), ValueError,
     "2 of 2 reference points are rows of X and not of Y"),
    (lambda: kqd.test(TEXTS[:4], TEXTS[4:], kernel="spectrum:0"), ValueError, "spectrum:N with a whole number in 1..64"),
    (lambda: kqd.test(TEXTS[:4], TEXTS[4:], kernel="spectrum:1.5"), ValueError, "spectrum:N with a whole number"),
    (lambda: kqd.test(TEXTS[:4], TEXTS[4:], kernel="spectrum:x"), ValueError, "spectrum:N with a whole number"),
    (lambda: kqd.test(SETS[:4], SETS[4:], kernel="sets:2"), ValueError, "sets without a parameter"),
    (lambda: kqd.test([1, 2], [3, 4], kernel="spectrum:2"), TypeError, "object 0 is of type int, expected a string"),
    (lambda: kqd.test("abc", "def", kernel="spectrum:2"), ValueError, 'x is the name of a file, "abc", that cannot be read'),
    (lambda: kqd.test([], TEXTS, kernel="spectrum:2"), ValueError, "x: no objects, expected at least one"),
    (lambda: kqd.test([1.5], [2.5], kernel="wl:2"), TypeError, "object 0 is of type float, expected a graph"),
    (lambda: kqd.test([{"edges": [[0, -1]]}], GRAPHS, kernel="wl:2"), ValueError, "object 0: a node is -1"),
    (lambda: kqd.test([{"edges": [[0]]}], GRAPHS, kernel="wl:2"), ValueError, "object 0: an edge is [0]"),
    (lambda: kqd.test([{"nodes": 1}], GRAPHS, kernel="wl:2"), ValueError, "object 0: not a graph in JSON"),
    (lambda: kqd.test([{"edges": [[0, 2]], "nodes": 2}], GRAPHS, kernel="wl:2"), ValueError, "2 nodes and an edge to node 2"),
    (lambda: kqd.test([{"edges": [[0, 2]], "labels": ["a"]}], GRAPHS, kernel="wl:2"), ValueError, "1 labels for 3 nodes"),
    (lambda: kqd.test(["{"], GRAPHS, kernel="wl:2"), ValueError, "object 0: not a graph in JSON"),
    (lambda: kqd.test([{"edges": [[0, 100000000]]}], GRAPHS, kernel="wl:2"), ValueError,
     "object 0: a node is 100000000, expected at most 99999 for so few edges"),
    (lambda: kqd.test([{"edges": [], "nodes": 10**9}], GRAPHS, kernel="wl:2"), ValueError,
     "object 0: the number of nodes is 1000000000, expected at most 100000 for so few edges"),
    (lambda: kqd.test([LabelledGraph({0: "a", 1: None}, [(0, 1)])], GRAPHS, kernel="wl:2"), ValueError,
     'object 0: node "1" has no label'),
    (lambda: kqd.test(["ab"], SETS, kernel="sets"), TypeError, "object 0 is of type str, expected a set"),
    (lambda: kqd.test([{"a,b"}], SETS, kernel="sets"), ValueError, 'object 0 has the member "a,b", expected no comma'),
    (lambda: kqd.test([("a", "b")], [("a",)], kernel="hamming"), ValueError, "object 1: 1 categories, expected 2"),
    (lambda: kqd.test([("a",)], [("a", "b")], kernel="aitchison"), ValueError, "object 1: 2 categories, expected 1"),
    (lambda: kqd.test(ROWS[:5], ROWS[5:], kernel="aitchison:0.6"), ValueError, "aitchison:L with L in [0, 0.5]"),
    (lambda: kqd.test(ROWS[:5], ROWS[5:], kernel="aitchison:x"), ValueError, "aitchison:L with L in [0, 0.5]"),
    (lambda: kqd.test(["a", "b"], ["c", "d"], kernel=raises), Raises, "no kernel today"),
    (lambda: kqd.test(["a", "b"], ["c", "d"], kernel=lambda a, b: np.ones(3)), ValueError, "returned shape (3,)"),
    (lambda: kqd.test(["a", "b"], ["c", "d"], kernel=lambda a, b: [["x"] * len(b)] * len(a)), TypeError,
     "expected real numbers"),
    (lambda: kqd.test(["a", "b"], ["c", "d"], kernel=lambda a, b: np.full((len(a), len(b)), np.nan)), ValueError,
     "expected a finite number"),
    (lambda: kqd.test(["a", "b"], ["c", "d"], kernel=lambda a, b: -np.ones((len(a), len(b)))), ValueError, "needs >= 0"),
    (lambda: kqd.test(["a", "b"], ["c", "d"],
                      kernel=lambda a, b: np.array([[ord(x) + 2.0 * ord(y) for y in b] for x in a])), ValueError,
     "is not symmetric"),
    (lambda: kqd.test(["a", "b"], ["c"], kernel=lambda a, b: INDEFINITE[np.ix_(["abc".index(x) for x in a],
                                                                               ["abc".index(y) for y in b])]),
     ValueError, "not positive semidefinite"),
    (lambda: kqd.Embedding(TEXTS, kernel="spectrum:2", rng=0).embed(["new text"]), TypeError,
     'sample has "new text", expected numbers of objects, from 0: kernel spectrum:2 is known only between the objects'),
    (lambda: kqd.Embedding(TEXTS, kernel="spectrum:2", rng=0).evaluate(["new text"]), TypeError, 'points has "new text"'),
    (lambda: kqd.test([(1, 2), (3, 4)], [(1, 2, 3), (4, 5, 6)], kernel=of_series), ValueError, "columns"),
    (lambda: kqd.test(["a", "b"], ["c", "d"], kernel="gaussian"), TypeError, "expected real numbers"),
    (lambda: kqd.test(["a", "b"], ["c", "d"], kernel=shared, method="energy"), ValueError, 'method="energy"'),
    (lambda: kqd.explain(GOOD[:3], GOOD[3:], kernel="precomputed", columns=["a"]), ValueError, "columns is given"),
    (lambda: kqd.explain(GOOD[:3], GOOD[3:], kernel="precomputed", image_shape=(1, 1)), ValueError, "image_shape is given"),
    (lambda: kqd.explain(GOOD[:3], GOOD[3:], kernel="precomputed", maximiser="max-sw"), ValueError, 'method="max-sw"'),
    (lambda: kqd.explain(X, Y, maximiser="mmd"), ValueError, 'maximiser="mmd": expected one of supkqd'),
    (lambda: kqd.Embedding(TEXTS, kernel="spectrum:2", weights=[1] * len(TEXTS)), ValueError, "a kernel of objects takes all of them alike"),
    (lambda: kqd.Embedding(TEXTS, kernel="spectrum:2", rng=0).embed([99]), ValueError,
     "sample has 99, expected numbers of the 16 objects, 0 to 15"),
    (lambda: kqd.Embedding(TEXTS, kernel="spectrum:2", rng=0).evaluate([True, False]), ValueError,
     "points is a mask of 2 values, expected one for each of the 16 objects"),
    (lambda: kqd.Embedding(TEXTS, kernel="spectrum:2", rng=0).embed([False] * 16), ValueError, "sample is a mask that is False for all"),
    (lambda: kqd.Embedding(TEXTS, kernel="spectrum:2", rng=0).embed([True, 2]), TypeError, "sample has both numbers and True or False"),
    *((lambda option=option: kqd.test(TEXTS[:8], TEXTS[8:], kernel="spectrum:2", **option), ValueError, f"{list(option)[0]} is given with kernel")
      for option in (dict(standardize="zscore"), dict(types={"a": "text"}), dict(categorical="onehot"))),
    # Files, tables and groups.
    (lambda: kqd.test("a.csv", "b.csv", kernel="spectrum:2"), TypeError, 'x is the name of a table, "a.csv", expected a list of objects'),
    (lambda: kqd.test("a.npy", "b.npy", kernel="precomputed"), TypeError, "x is the name of a file, expected rows of the Gram matrix"),
    (lambda: kqd.test(GOOD, kernel="precomputed", group="a"), ValueError, 'group is given with kernel "precomputed"'),
    (lambda: kqd.test(TEXTS, kernel="spectrum:2", group="arm"), TypeError, 'expected a table with the column "arm" of groups'),
    (lambda: kqd.matrix([GOOD[:3], GOOD[3:, :5]], kernel="precomputed"), ValueError, "rows of the Gram matrix have 6 columns and others not"),
    (lambda: kqd.matrix([TEXTS, []], kernel="spectrum:2"), ValueError, "sample 2: no objects"),
    # Coefficients and measures over levels.
    (lambda: kqd.distance(X, Y, coefficients=np.ones(3), reference=Z), ValueError, "coefficients have 3 rows for 2"),
    (lambda: kqd.distance(X, Y, coefficients=np.ones((2, 2, 2)), reference=Z), ValueError, "coefficients has 3 dimensions"),
    (lambda: kqd.distance(X, Y, coefficients=np.ones((2, 0)), reference=Z), ValueError, "coefficients is empty"),
    (lambda: kqd.distance(X, Y, coefficients=[[1.0], [np.nan]], reference=Z), ValueError, "nan"),
    (lambda: kqd.distance(X, Y, coefficients=[[0.0], [0.0]], reference=Z), ValueError, "direction"),
    (lambda: kqd.distance(X, Y, weighting=[[0, 1], [1, -1]]), ValueError, "finite densities >= 0"),
    (lambda: kqd.distance(X, Y, weighting=[[0, 0], [1, 0]]), ValueError, "a density that is above 0 somewhere"),
    (lambda: kqd.distance(X, Y, weighting=[[0.1, 1], [1, 1]]), ValueError, "levels from 0.1 to 1"),
    (lambda: kqd.distance(X, Y, weighting=[[0, 1], [0.9, 1]]), ValueError, "levels from 0 to 0.9"),
    (lambda: kqd.distance(X, Y, weighting=[[0, 1], [0.7, 1], [0.3, 1], [1, 1]]), ValueError, "ascending levels"),
    (lambda: kqd.distance(X, Y, weighting=[[0, 1]]), ValueError, "at least two levels"),
    (lambda: kqd.distance(X, Y, weighting=[[0, 1, 2], [1, 1, 1]]), ValueError, "a level and a density in each row"),
    (lambda: kqd.distance(X, Y, weighting=lambda level: -level), ValueError, "expected finite densities >= 0"),
    (lambda: kqd.distance(X, Y, weighting=lambda level: 0.0), ValueError, "a density that is above 0 somewhere"),
    (lambda: kqd.distance(X, Y, weighting=lambda level: np.nan), ValueError, "weighting is nan at level 0"),
    (lambda: kqd.distance(X, Y, weighting=lambda level: "much"), TypeError, "does not return a number"),
    (lambda: kqd.distance(X, Y, weighting="0.5 uniform+-0.5 atom:0.5"), ValueError, "weighting"),
]
X, Y, Z = np.arange(12.0).reshape(6, 2), np.arange(12.0).reshape(6, 2) ** 1.1, np.array([[1.0, 2.0], [3.0, 1.0]])


def test_forty_kinds_of_bad_input_have_sentences_of_their_own():
    assert len({sentence for *_, sentence in REFUSED} | {sentence for _, sentence in NO_GRAM_MATRICES}) >= 40


@pytest.mark.parametrize("call, error, sentence", REFUSED)
def test_what_cannot_be_done_is_refused(call, error, sentence):
    with pytest.raises(error) as raised:
        call()
    assert sentence in str(raised.value)
