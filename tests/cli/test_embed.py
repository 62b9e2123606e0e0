"""kqd embed: data sets as quantiles along shared directions, the embeddings as functions, and the kernel between data sets.

The oracle is NumPy.
"""

import csv
import io
import json

import numpy as np
import pytest

SETS = ("a.csv", "b.csv", "four.csv")
ROWS = [np.array([[1, 2], [3, 4], [5, 6]]), np.array([[2, 2], [3, 5], [5, 9]]), np.array([[1, 2], [3, 4], [5, 6], [6, 7]])]
Z = np.array([[1.0, 2.0], [4.0, 4.0], [5.0, 8.0]])
C = np.array([[1.0, 0.5], [-1.0, 2.0], [0.3, 1.0]])
S = 2.5


def gaussian(a, b):
    return np.exp(-((a[:, None] - b[None]) ** 2).sum(axis=2) / (2 * S**2))


def values(rows):
    """A row per direction of values u(x)."""
    norms = np.sqrt(np.einsum("ji,jk,ki->i", C, gaussian(Z, Z), C))
    return (gaussian(rows, Z) @ C / norms).T


def ekqd_2(x, y):
    """On the common grid of levels of samples of sizes that divide 12."""
    x, y = (np.repeat(np.sort(values(rows), axis=1), 12 // len(rows), axis=1) for rows in (x, y))
    return np.sqrt(np.mean((x - y) ** 2))


@pytest.fixture(scope="module")
def given(folder):
    """Flags for the directions above."""
    np.savetxt(folder / "z.csv", Z, delimiter=",")
    np.savetxt(folder / "c.csv", C, delimiter=",")
    return ("--kernel", f"gaussian@{S}", "--reference", "z.csv", "--coefficients", "c.csv")


def as_json(kqd, *arguments):
    run = kqd("embed", *arguments, "--json")
    assert (run.stderr, run.code) == ("", 0)
    return json.loads(run.stdout)


def test_quantiles_are_order_statistics_along_the_given_directions(kqd, given):
    found = as_json(kqd, *SETS, *given, "--levels", "0,0.3,0.5,1")
    expected = [np.quantile(values(rows), [0, 0.3, 0.5, 1], axis=1, method="inverted_cdf").T for rows in ROWS]
    for mine, theirs in zip(found["quantiles"], expected):
        assert np.array(mine) == pytest.approx(theirs, rel=0, abs=1e-12)
    assert found["schema"] == "kqd.embedding/1" and found["names"] == list(SETS) and found["n"] == [3, 3, 4]
    assert found["levels"] == [0, 0.3, 0.5, 1] and found["kernel"] == f"gaussian@{S}"
    norms = np.sqrt(np.einsum("ji,jk,ki->i", C, gaussian(Z, Z), C))
    assert found["reference_points"] == Z.tolist()
    assert np.array(found["coefficients"]) == pytest.approx(C / norms, rel=1e-12)
    assert found["gram"] is None and found["gram_scale"] is None


def test_all_forms_have_the_same_numbers(kqd, given, folder):
    flags = (*SETS, *given, "--levels", "4")
    expected = np.array(as_json(kqd, *flags)["quantiles"]).reshape(3, 8)
    lines = list(csv.reader(io.StringIO(kqd("embed", *flags, "--csv").stdout)))
    assert lines[0][:6] == ["data_set", "u1_q0.2", "u1_q0.4", "u1_q0.6", "u1_q0.8", "u2_q0.2"]
    assert [line[0] for line in lines[1:]] == list(SETS)
    assert (np.array([line[1:] for line in lines[1:]], dtype=float) == expected).all()
    for name in ("table.csv", "table.npy", "table.json"):
        run = kqd("embed", *flags, "--output", name)
        assert (run.stdout, run.stderr, run.code) == ("", "", 0)
    assert (np.load(folder / "table.npy") == expected).all()
    assert (folder / "table.csv").read_text() == kqd("embed", *flags, "--csv").stdout
    assert (np.array(json.loads((folder / "table.json").read_text())["quantiles"]).reshape(3, 8) == expected).all()
    quiet = kqd("embed", *flags, "--quiet").stdout
    assert (np.loadtxt(io.StringIO(quiet), delimiter=",") == expected).all()
    text = kqd("embed", *flags).stdout
    assert text.startswith("\nembed: quantiles along 2 directions at 4 levels\n") and "a.csv" in text


def test_gram_is_the_kernel_of_the_distances(kqd, given):
    found = as_json(kqd, *SETS, *given, "--gram")
    squares = np.array([[ekqd_2(x, y) ** 2 for y in ROWS] for x in ROWS])
    scale = np.median(squares[np.triu_indices(3, 1)])
    assert found["gram_scale"] == pytest.approx(scale, rel=1e-12)
    assert np.array(found["gram"]) == pytest.approx(np.exp(-squares / scale), rel=1e-12)
    own = as_json(kqd, *SETS, *given, "--gram", "--gram-scale", "0.25")
    assert np.array(own["gram"]) == pytest.approx(np.exp(-squares / 0.25), rel=1e-12)
    lines = list(csv.reader(io.StringIO(kqd("embed", *SETS, *given, "--gram", "--csv").stdout)))
    assert lines[0] == ["", *SETS] and np.array([line[1:] for line in lines[1:]], dtype=float).shape == (3, 3)
    assert as_json(kqd, "a.csv", "--gram")["gram"] == [[1]]


def test_gram_is_positive_definite(kqd, folder):
    rng = np.random.default_rng(1)
    names = []
    for k in range(12):
        names.append(f"set-{k}.npy")
        np.save(folder / names[-1], rng.normal(size=(rng.integers(5, 40), 3)) * rng.uniform(0.5, 2) + rng.normal())
    gram = np.array(as_json(kqd, *names, "--gram", "--seed", "2")["gram"])
    assert (gram == gram.T).all() and (np.diag(gram) == 1).all()
    # Eigenvalues of a symmetric matrix of entries up to 1 are exact to about n eps.
    assert np.linalg.eigvalsh(gram).min() > -12 * 12 * np.finfo(float).eps


def test_drawn_directions_are_written_and_give_the_same_numbers_again(kqd, folder):
    for family in ("gaussian", "principal", "linear"):
        flags = (*SETS, "--levels", "3", "--directions", family, "--num-directions", "4", "--seed", "5")
        first = as_json(kqd, *flags, "--write-directions", "mine")
        again = as_json(kqd, *SETS, "--levels", "3", "--kernel", first["kernel"], "--reference", "mine-reference.csv",
                        "--coefficients", "mine-coefficients.csv", "--compat", "unnormalised")
        assert np.array(again["quantiles"]) == pytest.approx(np.array(first["quantiles"]), rel=1e-9, abs=1e-12)


def test_the_table_on_a_screen_says_what_it_leaves_out(kqd, given):
    cut = kqd("embed", "a.csv", "--levels", "3", "--num-directions", "7").stdout
    assert "(level 0.5, one of 3, along 5 of 7 directions; CSV, NPY and JSON have all)\n" in cut
    assert "have all" not in kqd("embed", "a.csv", *given, "--levels", "0.5").stdout


def test_distance_takes_the_directions_of_algorithm_1(kqd, given):
    found = json.loads(kqd("distance", "a.csv", "four.csv", *given, "--power", "2", "--json").stdout)
    assert found["statistic"] == pytest.approx(ekqd_2(ROWS[0], ROWS[2]), rel=1e-12)
    assert (found["num_directions"], found["num_reference"]) == (2, 3)
    test = json.loads(kqd("test", "a.csv", "four.csv", *given, "--json").stdout)
    assert test["method"] == "ekqd" and test["num_directions"] == 2


def test_python_agrees(kqd, given):
    module = pytest.importorskip("kqd")
    found = as_json(kqd, "a.csv", *given, "--levels", "0.1,0.5,0.9")
    embedding = module.Embedding(ROWS[0], kernel=f"gaussian@{S}", reference=Z, coefficients=C)
    assert np.array(found["quantiles"][0]) == pytest.approx(embedding.quantiles([0.1, 0.5, 0.9]), rel=0, abs=1e-12)


LEVELS = [0.1, 0.5, 0.9]
POINTS = np.array([[0.0, 0.0], [2.0, 3.0], [4.5, 5.0], [-1.0, 7.0]])


def elements(centered):
    """All embeddings of the three data sets as weights of k(c, .) at common centres c, by their definition."""
    units = C / np.sqrt(np.einsum("ji,jk,ki->i", C, gaussian(Z, Z), C))
    centres = np.concatenate([Z, *ROWS])
    found, first = [], len(Z)
    for rows in ROWS:
        mean = np.zeros(len(centres))
        mean[first:first + len(rows)] = 1 / len(rows)
        first += len(rows)
        for along, unit in zip(values(rows), units.T):
            u = np.r_[unit, np.zeros(len(centres) - len(unit))]
            for quantile in np.quantile(along, LEVELS, method="inverted_cdf"):
                found.append((quantile - along.mean()) * u + mean if centered else quantile * u)
    return np.array(found), centres


@pytest.fixture(scope="module")
def functions(given, folder):
    """Flags for values at points of the embeddings of three data sets."""
    np.savetxt(folder / "points.csv", POINTS, delimiter=",")
    return (*SETS, *given, "--levels", ",".join(map(str, LEVELS)), "--points", "points.csv")


@pytest.mark.parametrize("centered", [False, True])
def test_values_and_inner_products_are_those_of_the_definition(kqd, functions, centered):
    found = as_json(kqd, *functions, "--inner-products", *["--centered"][:centered])
    weights, centres = elements(centered)
    expected = (weights @ gaussian(centres, POINTS)).reshape(3, 2, 3, 4)
    assert np.array(found["values"]) == pytest.approx(expected, rel=0, abs=1e-12)
    products = weights @ gaussian(centres, centres) @ weights.T
    assert np.array(found["inner_products"]) == pytest.approx(products, rel=0, abs=1e-12)
    assert found["points"] == POINTS.tolist() and found["centered"] is centered


@pytest.mark.parametrize("centered", [False, True])
def test_python_has_the_same_values_and_inner_products(kqd, functions, centered):
    module = pytest.importorskip("kqd")
    found = as_json(kqd, *functions, "--inner-products", *["--centered"][:centered])
    first = module.Embedding(ROWS[0], kernel=f"gaussian@{S}", reference=Z, coefficients=C)
    embeddings = [first, first.embed(ROWS[1]), first.embed(ROWS[2])]
    products = np.array(found["inner_products"]).reshape(3, 2, 3, 3, 2, 3)
    for i, embedding in enumerate(embeddings):
        assert np.array(found["values"][i]) == pytest.approx(
            embedding.evaluate(POINTS, LEVELS, centered=centered), rel=0, abs=1e-12)
        for j, other in enumerate(embeddings):
            assert products[i, :, :, j] == pytest.approx(
                embedding.inner_product(other, LEVELS, centered=centered), rel=0, abs=1e-12)


def test_all_forms_have_the_same_values_and_inner_products(kqd, functions, folder):
    both = as_json(kqd, *functions, "--inner-products")
    for flags, name, columns in (((), "values", ["point1", "point2", "point3", "point4"]),
                                 (("--inner-products",), "inner_products", None)):
        expected = np.array(both[name]).reshape(18, -1)
        lines = list(csv.reader(io.StringIO(kqd("embed", *functions, *flags, "--csv").stdout)))
        assert lines[0][:3] == ["data_set", "direction", "level"] and len(lines) == 19
        assert lines[0][3:] == (columns or [f"{line[0]}:u{line[1]}_q{line[2]}" for line in lines[1:]])
        assert [line[:3] for line in lines[1:]] == [
            [name, direction, str(level)] for name in SETS for direction in "12" for level in LEVELS]
        assert (np.array([line[3:] for line in lines[1:]], dtype=float) == expected).all()
        run = kqd("embed", *functions, *flags, "--output", "elements.npy")
        assert (run.stdout, run.stderr, run.code) == ("", "", 0)
        assert (np.load(folder / "elements.npy") == expected).all()
        quiet = kqd("embed", *functions, *flags, "--quiet").stdout
        assert (np.loadtxt(io.StringIO(quiet), delimiter=",") == expected).all()
    text = kqd("embed", *functions, "--centered").stdout
    assert "embed: values of the centered embeddings along 2 directions at 3 levels and 4 points" in text
    plain = as_json(kqd, *SETS)
    assert plain["values"] is plain["inner_products"] is plain["points"] is plain["centered"] is None


def test_points_of_objects_are_numbers_of_pooled_objects(kqd, folder):
    module = pytest.importorskip("kqd")
    texts = ["abab", "baba", "aabb", "bbba", "abba"]
    (folder / "p.txt").write_text("\n".join(texts[:3]))
    (folder / "q.txt").write_text("\n".join(texts[3:]))
    (folder / "numbers.csv").write_text("1\n5\n")
    found = as_json(kqd, "p.txt", "q.txt", "--kernel", "spectrum:2", "--points", "numbers.csv", "--centered", "--levels", "0.5",
                    "--num-directions", "3")
    assert found["points"] == [[1], [5]]
    whole = module.Embedding(texts, kernel="spectrum:2", reference=np.array(found["reference_points"]) - 1,
                             coefficients=np.array(found["coefficients"]), compat="unnormalised")
    for k, numbers in enumerate(([0, 1, 2], [3, 4])):
        expected = whole.embed(numbers).evaluate([0, 4], [0.5], centered=True)
        assert np.array(found["values"][k]) == pytest.approx(expected, rel=0, abs=1e-12)


@pytest.mark.parametrize("arguments, sentence", [
    (("a.csv", "--levels", "0.5,2"),
     "--levels 0.5,2: expected numbers from 0 to 1, separated by commas, or a whole number >= 2"),
    (("a.csv", "--levels", "x"), "--levels x: expected numbers from 0 to 1, separated by commas, or a whole number >= 2"),
    (("a.csv", "--levels", "-1"),
     "--levels -1: expected numbers from 0 to 1, separated by commas, or a whole number >= 2"),
    (("a.csv", "--levels", "1000000"), "--levels 1000000: expected a whole number in 1..100000"),
    (("a.csv", "--gram", "--gram-scale", "0"), "--gram-scale 0: expected a number > 0"),
    (("a.csv", "--gram", "--gram-scale", "nan"), "--gram-scale nan: expected a number > 0"),
    (("a.csv", "--reference", "balanced"),
     "--reference balanced: expected pooled, gaussian, uniform or a file of points, for embeddings"),
    (("a.csv", "--reference", "z.csv", "--coefficients", "a.csv", "--num-reference", "3"),
     "--num-reference 3: expected none, because the given reference points are all used"),
    (("a.csv", "--reference", "z.csv", "--coefficients", "row.csv"),
     "coefficients have 1 rows for 3 reference points, expected one row per point"),
    (("a.csv", "--coefficients", "word.csv"), 'word.csv:2: column 2 is "four", expected a number'),
    (("a.csv", "--coefficients", "missing.csv"), "missing.csv: no such file"),
    (("a.csv", "one-column.csv"), "a.csv has 2 columns of points and one-column.csv has 1"),
    (("a.csv", "--points", "one-column.csv"), "points have 1 column and the samples 2, expected the same number"),
    (("a.csv", "--points", "missing.csv"), "missing.csv: no such file"),
    (("a.csv", "--points", "word.csv"), 'word.csv:2: column 2 is "four", expected a number'),
    (("a.csv", "--points", "z.csv", "--output", "z.csv"), "--output z.csv: expected another file than the input z.csv"),
    (("a.csv", "--output", "table.txt"),
     "--output table.txt: expected a file name ending in .csv, .npy or .json, or --csv, --json or --quiet"),
    (("a.csv", "--directions", "principal", "--whiten", "--write-directions", "mine"),
     "--write-directions mine: expected directions without --whiten, because those read from files are scaled to norm 1"),
    (("a.csv", "--directions", "linear", "--coefficients", "c.csv"), "--coefficients are given, but linear directions have "
     "no reference points; use them with the linear kernel and gaussian directions"),
    (("a.csv", "--directions", "principal", "--reference", "z.csv"),
     "reference points are given, but principal directions draw reference points themselves"),
    (("named.csv", "--points", "other.csv"),
     '--points other.csv and the data have different columns; only the data has "b"; only the file has "c"'),
    (("named.csv", "--reference", "other.csv"), "--reference other.csv and the data have different columns"),
    (("a.csv", "--output", "a.csv"), "--output a.csv: expected another file than the input a.csv"),
    (("a.csv", "--reference", "z.csv", "--coefficients", "c.csv", "--output", "c.csv"),
     "--output c.csv: expected another file than the input c.csv"),
])
def test_what_cannot_be_done_is_refused(kqd, given, folder, arguments, sentence):
    (folder / "named.csv").write_text("a,b\n1,2\n3,5\n4,4\n")
    (folder / "other.csv").write_text("a,c\n1,2\n")
    run = kqd("embed", *arguments)
    assert (run.stdout, run.code) == ("", 2) and run.stderr.startswith("kqd: ") and sentence in run.stderr


def test_more_inner_products_than_memory_allows_are_refused(kqd):
    run = kqd("embed", "a.csv", "b.csv", "--inner-products", "--levels", "6000", "--num-directions", "1")
    assert (run.stdout, run.code) == ("", 4)  # a resource limit
    assert "2 data sets, 1 directions and 6000 levels make 12000 embeddings, expected at most 10000" in run.stderr


def test_options_without_effect_are_noted(kqd):
    assert "--gram-scale: no effect without --gram" in kqd("embed", "a.csv", "--gram-scale", "2").stderr
    assert "--centered: no effect without --points or --inner-products" in kqd("embed", "a.csv", "--centered").stderr
    assert "--levels: no effect with --gram" in kqd("embed", "a.csv", "--gram", "--levels", "3").stderr
