"""Objects without columns on the command line: Gram matrices, texts, graphs, sets, categories."""

import collections
import json

import numpy as np
import pytest

RNG = np.random.default_rng(3)
X = ["".join(RNG.choice(list("ab"), size=12)) for _ in range(9)]
Y = ["".join(RNG.choice(list("abb"), size=12)) for _ in range(7)]


def spectrum(texts, p):
    counts = [collections.Counter(text[i:i + p] for i in range(len(text) - p + 1)) for text in texts]
    raw = np.array([[sum(a[key] * b[key] for key in a) for b in counts] for a in counts], dtype=float)
    return raw / np.sqrt(np.outer(np.diag(raw), np.diag(raw)))


GRAM = spectrum(X + Y, 2)


@pytest.fixture(scope="module")
def objects(folder):
    (folder / "x.txt").write_text("\n".join(X) + "\n")
    (folder / "y.txt").write_text("\r\n".join(Y))
    np.save(folder / "top.npy", GRAM[:9])
    np.save(folder / "bottom.npy", GRAM[9:])
    order = RNG.permutation(16)
    names = ["x" if i < 9 else "y" for i in order]
    table = GRAM[np.ix_(order, order)]
    lines = ["arm," + ",".join(f"k{j}" for j in range(16))]
    lines += [name + "," + ",".join(map(repr, row.tolist())) for name, row in zip(names, table)]
    (folder / "grouped.csv").write_text("\n".join(lines) + "\n")
    for name, graphs in {"g.jsonl": [[[0, 1]], [[0, 1], [1, 2]]] * 3, "h.jsonl": [[[0, 1], [1, 2], [2, 0]], [[0, 1]]] * 3}.items():
        (folder / name).write_text("\n".join(json.dumps({"edges": edges}) for edges in graphs) + "\n")
    (folder / "sets.txt").write_text("a,b\nb,c\na\na,c\n")
    np.save(folder / "whole.npy", GRAM)
    np.save(folder / "reversed.npy", GRAM[::-1, ::-1])
    (folder / "huge.jsonl").write_text('{"edges": [[0, 100000000]]}\n')
    (folder / "far-rows.csv").write_text("2\n17\n")
    (folder / "empty.txt").write_text("")
    (folder / "texts.csv").write_text("id,arm,text\n1,a,ab\n2,b,ba\n")
    (folder / "left.csv").write_text("text\nabab\nbaba\n")
    (folder / "hole.csv").write_text('text\nabab\n""\n')
    (folder / "bad.jsonl").write_text('{"edges": [[0, 1]]}\nnot json\n')


def mmd_v():
    h = np.r_[np.full(9, 1 / 9), np.full(7, -1 / 7)]
    return np.sqrt(h @ GRAM @ h)


@pytest.mark.parametrize("arguments", [
    ("x.txt", "y.txt", "--kernel", "spectrum:2"),
    ("top.npy", "bottom.npy", "--kernel", "precomputed"),
    ("grouped.csv", "--group", "arm", "--kernel", "precomputed"),
    ("whole.npy", "--sizes", "9,7", "--kernel", "precomputed"),
    ("reversed.npy", "--sizes", "7, 9", "--kernel", "precomputed"),
])
def test_the_same_objects_have_the_same_distance(kqd, objects, arguments):
    found = json.loads(kqd("distance", *arguments, "--method", "mmd-v", "--json").stdout)
    assert found["statistic"] == pytest.approx(mmd_v(), rel=1e-9)
    assert (found["n_x"] + found["n_y"], found["kernel"]) == (16, arguments[-1])


def test_sizes_divide_one_gram_matrix_for_tests_and_explanations(kqd, objects):
    flags = ("--kernel", "precomputed", "--method", "mmd", "--json")
    two = json.loads(kqd("test", "top.npy", "bottom.npy", *flags).stdout)
    one = json.loads(kqd("test", "whole.npy", "--sizes", "9,7", *flags).stdout)
    assert (one["n_x"], one["n_y"], one["settings"]["sizes"]) == (9, 7, "9,7")
    assert (one["statistic"], one["pvalue"]) == (two["statistic"], two["pvalue"])
    explained = json.loads(kqd("explain", "whole.npy", "--sizes", "9,7", "--kernel", "precomputed", "--json").stdout)
    assert (explained["n_x"], explained["n_y"], explained["columns"]) == (9, 7, [])


def test_categories_are_different_if_their_texts_are(kqd, folder):
    for name, cells in (("e.csv", '"a,b",1\n"a;b",1'), ("f.csv", '"a;b",1\n"a%2cb",1')):
        (folder / name).write_text("mark,size\n" + cells + "\n")
    # k = 1/2 for the same size, 1 for all the same: e has a,b and a;b, f has a;b and a%2cb.
    found = float(kqd("distance", "e.csv", "f.csv", "--kernel", "hamming", "--method", "mmd-v", "--quiet").stdout)
    within, between = (1 + 1 + 2 * 0.5) / 4, (1 + 3 * 0.5) / 4
    assert found == pytest.approx(np.sqrt(2 * within - 2 * between), rel=1e-9)
    # One column of categories: a comma is a part of its category there too.
    (folder / "g.csv").write_text('mark\n"a,b"\n"a,c"\n')
    (folder / "h.csv").write_text('mark\n"a,b"\n"a,b"\n')
    found = float(kqd("distance", "g.csv", "h.csv", "--kernel", "hamming", "--method", "mmd-v", "--quiet").stdout)
    assert found == pytest.approx(np.sqrt(0.5 + 1 - 2 * 0.5), rel=1e-9)


def test_reference_rows_are_counted_from_1(kqd, objects, folder):
    (folder / "rows.csv").write_text("2\n11\n")
    (folder / "lambda.csv").write_text("1,0.5\n-1,2\n")
    c = np.array([[1, 0.5], [-1, 2]])
    z = GRAM[np.ix_([1, 10], [1, 10])]
    u = GRAM[:, [1, 10]] @ c / np.sqrt(np.einsum("ji,jk,ki->i", c, z, c))
    x, y = (np.repeat(np.sort(u[part], axis=0), 63 // len(u[part]), axis=0) for part in (slice(0, 9), slice(9, 16)))
    found = json.loads(kqd("distance", "top.npy", "bottom.npy", "--kernel", "precomputed", "--reference", "rows.csv",
                           "--coefficients", "lambda.csv", "--json").stdout)
    assert found["statistic"] == pytest.approx(np.mean(np.abs(x - y)), rel=1e-12)


def test_tests_of_objects_are_adaptive_unless_one_statistic_is_asked_for(kqd, objects):
    for files, kernel in ((("x.txt", "y.txt"), "spectrum"), (("g.jsonl", "h.jsonl"), "wl:1"), (("sets.txt", "sets.txt"), "sets")):
        run = kqd("test", *files, "--kernel", kernel, "--json")
        assert (run.stderr, run.code) == ("", 0)
        found = json.loads(run.stdout)
        assert found["method"] == "adaptive" and 0 < found["pvalue"] <= 1
        one = json.loads(kqd("test", *files, "--kernel", kernel, "--power", "2", "--json").stdout)
        assert one["method"] == "ekqd" and one["reference"] == "pooled"


def sets(n, with_first, rng):
    """Sets of about half of eight members, the first of them with another probability."""
    keep = rng.uniform(size=(n, 8)) < np.r_[with_first, np.full(7, 0.5)]
    return "\n".join(",".join(member for member, kept in zip("abcdefgh", row) if kept) or "none" for row in keep)


def test_what_explain_finds_in_objects(kqd, objects):
    found = json.loads(kqd("explain", "x.txt", "y.txt", "--kernel", "spectrum:2", "--maximiser", "supkqd", "--json").stdout)
    assert (found["dim"], found["columns"], found["n_x"], found["n_y"]) == (0, [], 9, 7)
    assert found["directions"] and len(found["rows"]["most_x"]) == 10
    assert found["maximiser"]["pvalue"] is None and found["maximiser"]["profile"]["levels"]
    text = kqd("explain", "x.txt", "y.txt", "--kernel", "spectrum:2").stdout
    assert "principal 1" in text and "column" not in text
    head = kqd("explain", "top.npy", "bottom.npy", "--kernel", "precomputed", "--csv").stdout.splitlines()[0]
    assert head.startswith("name,family,statistic")


def test_matrices_and_embeddings_of_objects(kqd, objects):
    three = ("x.txt", "y.txt", "x.txt")
    found = json.loads(kqd("matrix", *three, "--kernel", "spectrum:2", "--test", "--json").stdout)
    assert found["distances"][0][2] == 0 < found["distances"][0][1] and found["pvalues"][0][2] > 0.5
    table = json.loads(kqd("embed", *three, "--kernel", "spectrum:2", "--json").stdout)
    assert table["quantiles"][0] == table["quantiles"][2] != table["quantiles"][1]
    gram = kqd("embed", "top.npy", "bottom.npy", "--kernel", "precomputed", "--gram", "--csv").stdout
    assert len(gram.splitlines()) == 3


def test_texts_may_be_a_column_of_a_table(kqd, objects, folder):
    order = RNG.permutation(16)
    lines = ["id,arm,text"] + [f'{i},{"x" if i < 9 else "y"},"{(X + Y)[i]}"' for i in order]
    (folder / "texts.csv").write_text("\n".join(lines) + "\n")
    one = json.loads(kqd("distance", "texts.csv", "--group", "arm", "--columns", "text", "--kernel", "spectrum:2",
                         "--method", "mmd-v", "--json").stdout)
    assert one["statistic"] == pytest.approx(mmd_v(), rel=1e-9) and {one["n_x"], one["n_y"]} == {7, 9}
    for name, texts in (("left.csv", X), ("right.csv", Y)):
        (folder / name).write_text("\n".join(["text", *texts]) + "\n")
    two = kqd("distance", "left.csv", "right.csv", "--kernel", "spectrum:2", "--method", "mmd-v", "--quiet")
    assert float(two.stdout) == pytest.approx(mmd_v(), rel=1e-9)
    # Rows of categories are all columns; a comma within a category does not divide it.
    (folder / "c.csv").write_text('colour,size\n"red, dark",1\nblue,2\n')
    (folder / "d.csv").write_text('colour,size\n"red, dark",2\nblue,2\n')
    found = float(kqd("distance", "c.csv", "d.csv", "--kernel", "hamming", "--method", "mmd-v", "--quiet").stdout)
    assert found == pytest.approx(np.sqrt(2 / 4 + 3 / 4 - 2 * 2 / 4), rel=1e-9)


def test_pages_of_objects(kqd, objects, folder):
    run = kqd("test", "x.txt", "y.txt", "--kernel", "spectrum:2", "--method", "supkqd-opt", "--report", "objects.html")
    assert (run.stderr, run.code) == ("", 0)
    page = (folder / "objects.html").read_text()
    report = json.loads(page.partition('id="report">')[2].partition("</script>")[0])
    assert report["explanation"]["columns"] == [] and report["explanation"]["maximiser"]["family"] == "supkqd-opt"


# Exact tests of 19 permutations reject in 0.05 of all runs, less often only with ties. Binomial(300, 0.05) is 0, or above
# 36, with probability below 1e-6 each.
@pytest.mark.parametrize("kernel, draw", [
    ("spectrum:2", lambda n, rng: markov(n, 0.3, rng)),
    ("wl:2", lambda n, rng: graphs(n, independent_edges, rng)),
    ("wl:2 --method ekqd", lambda n, rng: graphs(n, small_world, rng)),
    ("sets", lambda n, rng: sets(n, 0.5, rng)),
    ("spectrum:2 --method ekqd", lambda n, rng: markov(n, 0.3, rng)),
])
def test_level_on_objects_of_one_distribution(kqd, folder, kernel, draw):
    rejected = 0
    for seed in range(300):
        rng = np.random.default_rng([9, seed])
        (folder / "null-x.txt").write_text(draw(12, rng))
        (folder / "null-y.txt").write_text(draw(12, rng))
        run = kqd("test", "null-x.txt", "null-y.txt", "--kernel", *kernel.split(), "--permutations", "19", "--quiet",
                  "--threads", "1")
        rejected += float(run.stdout) <= 0.05
    assert 1 <= rejected <= 36


def markov(n, stay, rng):
    """Chains of four letters that repeat the last one with probability `stay`."""
    lines = []
    for _ in range(n):
        letters = [rng.integers(4)]
        for _ in range(49):
            letters.append(letters[-1] if rng.uniform() < stay else rng.integers(4))
        lines.append("".join("acgt"[i] for i in letters))
    return "\n".join(lines)


NODES = 12


def independent_edges(rng):
    """Erdos and Renyi: 24 edges on average."""
    return {(i, j) for i in range(NODES) for j in range(i) if rng.uniform() < 4 / (NODES - 1)}


def small_world(rng):
    """Watts and Strogatz: a ring with two neighbours on either side, 24 edges; the far ends of some move elsewhere."""
    edges = {frozenset((i, (i + step) % NODES)) for i in range(NODES) for step in (1, 2)}
    for step in (1, 2):
        for i in range(NODES):
            if rng.uniform() < 0.1:
                free = [j for j in range(NODES) if j != i and frozenset((i, j)) not in edges]
                edges.remove(frozenset((i, (i + step) % NODES)))
                edges.add(frozenset((i, int(rng.choice(free)))))
    return {tuple(edge) for edge in edges}


def graphs(n, model, rng):
    return "\n".join(json.dumps({"nodes": NODES, "edges": sorted(model(rng))}) for _ in range(n))


def test_power_on_two_markov_chains_and_two_models_of_graphs(kqd, folder):
    rng = np.random.default_rng(8)
    (folder / "slow.txt").write_text(markov(60, 0.6, rng))
    (folder / "fast.txt").write_text(markov(60, 0.1, rng))
    (folder / "small-worlds.jsonl").write_text(graphs(40, small_world, rng))
    (folder / "edges.jsonl").write_text(graphs(40, independent_edges, rng))
    (folder / "often.txt").write_text(sets(60, 0.9, rng))
    (folder / "seldom.txt").write_text(sets(60, 0.2, rng))
    for kernel, x, y in (("spectrum:2", "slow.txt", "fast.txt"), ("wl:2", "edges.jsonl", "small-worlds.jsonl"),
                         ("sets", "often.txt", "seldom.txt")):
        run = kqd("test", x, y, "--kernel", kernel, "--num-directions", "32", "--quiet")
        assert (run.stderr, run.code) == ("", 0) and float(run.stdout) <= 0.01


@pytest.mark.parametrize("arguments, sentence", [
    (("test", "top.npy", "top.npy", "--kernel", "precomputed"),
     "kernel precomputed: 18 pooled rows with 16 columns, expected a square Gram matrix"),
    (("test", "a.csv", "b.csv", "--kernel", "precomputed"), "6 pooled rows with 2 columns"),
    (("test", "x.txt", "y.txt", "--kernel", "spectrum:0"), "--kernel spectrum:0: expected spectrum:N"),
    (("test", "x.txt", "missing.txt", "--kernel", "spectrum:2"), "missing.txt: no such file"),
    (("test", "x.txt", "empty.txt", "--kernel", "spectrum:2"), "empty.txt: no lines"),
    (("test", "g.jsonl", "bad.jsonl", "--kernel", "wl:2"), "bad.jsonl: object 2: not a graph in JSON"),
    (("test", "g.jsonl", "huge.jsonl", "--kernel", "wl:2"),
     "huge.jsonl: object 1: a node is 100000000, expected at most 99999 for so few edges"),
    (("test", "whole.npy", "--sizes", "9,6", "--kernel", "precomputed"),
     "--sizes 9,6: expected numbers that add up to the 16 rows of whole.npy"),
    (("test", "whole.npy", "--sizes", "9,7,2", "--kernel", "precomputed"), "--sizes 9,7,2: expected two whole numbers"),
    (("test", "whole.npy", "--sizes", "16,0", "--kernel", "precomputed"), "--sizes 0: expected a whole number in 1..1000000"),
    (("test", "whole.npy", "--sizes", "9,7"), "--sizes 9,7: expected kernel precomputed"),
    (("test", "top.npy", "bottom.npy", "--sizes", "9,7", "--kernel", "precomputed"), "--sizes 9,7: expected one file"),
    (("test", "x.txt", "y.txt", "--kernel", "spectrum:2", "--method", "energy"), "--method energy: expected adaptive, ekqd, mmd"),
    (("test", "x.txt", "y.txt", "--kernel", "spectrum:2", "--bandwidth", "2"), "--bandwidth 2: expected none"),
    (("test", "x.txt", "y.txt", "--kernel", "spectrum:2", "--directions", "axis"), "--directions axis: expected gaussian"),
    (("test", "x.txt", "y.txt", "--kernel", "spectrum:2", "--reference", "far-rows.csv"), "the number of a pooled row, 1..16"),
    (("test", "texts.csv", "--group", "arm", "--kernel", "spectrum:2"), "2 columns: id, text, expected one column of objects"),
    (("test", "x.txt", "left.csv", "--kernel", "spectrum:2"), "expected one kind of file"),
    (("test", "x.txt", "--group", "arm", "--kernel", "spectrum:2"), "--group arm: expected a table"),
    (("test", "left.csv", "hole.csv", "--kernel", "spectrum:2"), "hole.csv:3: column \"text\" is empty, expected a text"),
    (("profile", "x.txt", "--kernel", "spectrum:2", "-o", "x.kqp"), "a kernel of columns, for kqd profile"),
    (("explain", "x.txt", "y.txt", "--kernel", "spectrum:2", "--maximiser", "max-sw"), "max-sw: expected adaptive, ekqd"),
    (("explain", "a.csv", "b.csv", "--maximiser", "mmd"), "--maximiser mmd: expected one of supkqd"),
    (("matrix", "top.npy", "top.npy", "bottom.npy", "--kernel", "precomputed"), "25 pooled rows with 16 columns"),
    (("matrix", "g.jsonl", "h.jsonl", "bad.jsonl", "--kernel", "wl:2"), "bad.jsonl: object 2: not a graph in JSON"),
    (("embed", "x.txt", "--kernel", "spectrum:2", "--directions", "axis"), "--directions axis: expected gaussian"),
])
def test_what_cannot_be_done_is_refused(kqd, objects, arguments, sentence):
    run = kqd(*arguments)
    assert (run.stdout, run.code) == ("", 2) and sentence in run.stderr


@pytest.mark.parametrize("flags", [("--groups", "key:a"), ("--groups", "blocks:a"), ("--weights", "a"), ("--max-rows", "4"),
                                   ("--standardize", "zscore"), ("--na", "omit"), ("--types", "a=number")])
def test_options_for_rows_of_numbers_are_refused(kqd, folder, flags):
    (folder / "refused.txt").write_text("ab\nba\naab\n")
    run = kqd("test", "refused.txt", "refused.txt", "--kernel", "spectrum:2", *flags)
    assert (run.code, run.stdout) == (2, "")
    assert run.stderr == f"kqd: {' '.join(flags)}: expected none, because kernel spectrum:2 compares objects, not rows of columns\n"
