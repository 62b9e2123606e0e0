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
    (folder / "far.csv").write_text("2\n17\n")
    (folder / "bad.jsonl").write_text('{"edges": [[0, 1]]}\nnot json\n')


def mmd_v():
    h = np.r_[np.full(9, 1 / 9), np.full(7, -1 / 7)]
    return np.sqrt(h @ GRAM @ h)


@pytest.mark.parametrize("arguments", [
    ("x.txt", "y.txt", "--kernel", "spectrum:2"),
    ("top.npy", "bottom.npy", "--kernel", "precomputed"),
    ("grouped.csv", "--group", "arm", "--kernel", "precomputed"),
])
def test_the_same_objects_have_the_same_distance(kqd, objects, arguments):
    found = json.loads(kqd("distance", *arguments, "--method", "mmd-v", "--json").stdout)
    assert found["statistic"] == pytest.approx(mmd_v(), rel=1e-9)
    assert (found["n_x"] + found["n_y"], found["kernel"]) == (16, arguments[-1])


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


def test_tests_of_objects_are_ekqd_by_default(kqd, objects):
    for files, kernel in ((("x.txt", "y.txt"), "spectrum"), (("g.jsonl", "h.jsonl"), "wl:1"), (("sets.txt", "sets.txt"), "sets")):
        run = kqd("test", *files, "--kernel", kernel, "--json")
        assert (run.stderr, run.code) == ("", 0)
        found = json.loads(run.stdout)
        assert found["method"] == "ekqd" and found["reference"] == "pooled" and 0 < found["pvalue"] <= 1


def markov(n, stay, rng):
    """Chains of four letters that repeat the last one with probability `stay`."""
    lines = []
    for _ in range(n):
        letters = [rng.integers(4)]
        for _ in range(49):
            letters.append(letters[-1] if rng.uniform() < stay else rng.integers(4))
        lines.append("".join("acgt"[i] for i in letters))
    return "\n".join(lines)


def graphs(n, ring, rng):
    """Rings of eight nodes, or as many independent edges on average."""
    found = []
    for _ in range(n):
        pairs = [(i, (i + 1) % 8) for i in range(8)] if ring else [
            (i, j) for i in range(8) for j in range(i) if rng.uniform() < 2 / 7]
        found.append(json.dumps({"nodes": 8, "edges": [[int(i), int(j)] for i, j in pairs]}))
    return "\n".join(found)


def test_power_on_two_markov_chains_and_two_models_of_graphs(kqd, folder):
    rng = np.random.default_rng(8)
    (folder / "slow.txt").write_text(markov(60, 0.6, rng))
    (folder / "fast.txt").write_text(markov(60, 0.1, rng))
    (folder / "rings.jsonl").write_text(graphs(40, True, rng))
    (folder / "edges.jsonl").write_text(graphs(40, False, rng))
    for kernel, x, y in (("spectrum:2", "slow.txt", "fast.txt"), ("wl:2", "edges.jsonl", "rings.jsonl")):
        run = kqd("test", x, y, "--kernel", kernel, "--num-directions", "32", "--quiet")
        assert (run.stderr, run.code) == ("", 0) and float(run.stdout) <= 0.01


@pytest.mark.parametrize("arguments, sentence", [
    (("test", "top.npy", "top.npy", "--kernel", "precomputed"),
     "kernel precomputed: 18 pooled rows with 16 columns, expected a square Gram matrix"),
    (("test", "a.csv", "b.csv", "--kernel", "precomputed"), "6 pooled rows with 2 columns"),
    (("test", "x.txt", "y.txt", "--kernel", "spectrum:0"), "--kernel spectrum:0: expected spectrum:N"),
    (("test", "x.txt", "missing.txt", "--kernel", "spectrum:2"), "missing.txt: no such file"),
    (("test", "x.txt", "empty.csv", "--kernel", "spectrum:2"), "empty.csv: no lines"),
    (("test", "g.jsonl", "bad.jsonl", "--kernel", "wl:2"), "bad.jsonl: object 2: not a graph in JSON"),
    (("test", "x.txt", "y.txt", "--kernel", "spectrum:2", "--method", "energy"), "--method energy: expected ekqd, mmd"),
    (("test", "x.txt", "y.txt", "--kernel", "spectrum:2", "--bandwidth", "2"), "--bandwidth 2: expected none"),
    (("test", "x.txt", "y.txt", "--kernel", "spectrum:2", "--directions", "axis"), "--directions axis: expected gaussian"),
    (("test", "x.txt", "y.txt", "--kernel", "spectrum:2", "--reference", "far.csv"), "the number of a pooled row, 1..16"),
    (("test", "x.txt", "y.txt", "--kernel", "spectrum:2", "--report", "page.html"), "--report page.html: expected no page"),
    (("explain", "x.txt", "y.txt", "--kernel", "spectrum:2"), "a kernel of columns, for kqd explain"),
    (("matrix", "x.txt", "y.txt", "--kernel", "spectrum:2"), "a kernel of columns, for kqd matrix"),
    (("embed", "x.txt", "--kernel", "spectrum:2"), "a kernel of columns, for kqd embed"),
])
def test_what_cannot_be_done_is_refused(kqd, objects, arguments, sentence):
    run = kqd(*arguments)
    assert (run.stdout, run.code) == ("", 2) and sentence in run.stderr
