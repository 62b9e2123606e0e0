"""kqd.Profile: the same bytes for the same rows, merges, tests of profiles, and everything that is refused."""

import copy
import multiprocessing
import pickle
import signal
import subprocess
import sys
import threading
import time

import hypothesis
import hypothesis.strategies as st
import kqd
import numpy as np
import pandas as pd
import pytest
from kqd import _core
from test_arrow import ByHand

RNG = np.random.default_rng(1)
X = RNG.normal(size=(900, 2))
Y = RNG.normal(size=(700, 2)) + [0.5, 0.0]
BASE = kqd.Profile(pd.DataFrame(X, columns=["a", "b"]), rows_per_group=8, rng=0)
PARTS = {"first": 300, "second": 400}


def table_of_columns(columns):
    return ByHand({name: ("g", values, None) for name, values in columns.items()})


def frame(rows):
    return pd.DataFrame(rows, columns=["a", "b"])


def of_rows(first, last, profile=None):
    """The rows first, ..., last - 1 of Y, as a sample in one part."""
    return (profile or BASE.empty()).update(Y[first:last], sample={"y": len(Y)}, first_row=first, workers=1)


def of_all():
    return of_rows(0, len(Y))


# ---- The object ----


def test_a_profile_says_what_it_is():
    assert (BASE.n_rows, BASE.dim, BASE.rows_per_group, BASE.columns) == (900, 2, 8, ("a", "b"))
    assert BASE.n_groups == (900 - 90) // 8  # a tenth chose the spec
    assert repr(BASE) == "Profile(900 rows x 2 columns, 101 groups of 8 rows)"
    assert repr(kqd.Profile(X[:, :1], like=kqd.Profile(X[:, :1], rng=0))).startswith("Profile(900 rows x 1 column, ")
    info = BASE.info
    assert info["spec"] == BASE.spec and len(BASE.spec) == 32
    assert [entry["n_rows"] for entry in info["samples"]] == [900] and len(info["samples"][0]["id"]) == 16
    assert info["columns"] == ["a", "b"] and info["n_rows"] == 900
    html = kqd.Profile(frame(X).rename(columns={"a": "<a>"}), rng=0)._repr_html_()
    assert "&lt;a&gt;" in html and "<a>" not in html


def test_without_a_seed_specs_differ_and_with_one_they_do_not():
    assert kqd.Profile(X) != kqd.Profile(X)
    assert kqd.Profile(X, rng=3) == kqd.Profile(X, rng=np.int64(3))


def test_a_profile_is_pickled_copied_and_compared():
    for again in (pickle.loads(pickle.dumps(BASE)), copy.copy(BASE), copy.deepcopy(BASE), BASE.copy(),
                  kqd.Profile.from_bytes(BASE.to_bytes()), kqd.Profile.from_bytes(memoryview(BASE.to_bytes()))):
        assert again == BASE and again is not BASE and repr(again) == repr(BASE)
    assert BASE != of_all() and BASE != 1 and not BASE == "BASE"
    with pytest.raises(TypeError, match="unhashable"):
        hash(BASE)
    changed = BASE.copy()
    changed.merge(of_all())
    assert changed.n_rows == 1600 and BASE.n_rows == 900


def test_a_file_is_that_of_the_bytes(tmp_path):
    BASE.save(tmp_path / "base.kqp")
    assert (tmp_path / "base.kqp").read_bytes() == BASE.to_bytes()
    assert kqd.Profile.load(tmp_path / "base.kqp") == kqd.Profile.load(str(tmp_path / "base.kqp")) == BASE


def test_the_program_writes_the_same_bytes(tmp_path):
    program = pytest.importorskip("_kqd_program", reason="the package was built without the program")
    del program
    np.savez(tmp_path / "x.npz", X)  # a format that the program reads into memory
    np.savez(tmp_path / "y.npz", Y)

    def run(*arguments):
        subprocess.run([sys.executable, "-m", "kqd", *arguments], cwd=tmp_path, check=True)

    run("profile", "x.npz", "--rows-per-group", "8", "-o", "x.kqp")
    run("profile", "y.npz", "--like", "x.kqp", "-o", "y.kqp")
    run("merge", "x.kqp", "y.kqp", "-o", "xy.kqp")
    base = kqd.Profile(X, rows_per_group=8, rng=0)
    other = kqd.Profile(Y, like=base)
    for name, profile in (("x", base), ("y", other), ("xy", base + other)):
        assert (tmp_path / f"{name}.kqp").read_bytes() == profile.to_bytes(), name
    shown = subprocess.run([sys.executable, "-m", "kqd", "test", "x.kqp", "y.kqp", "--quiet"], cwd=tmp_path,
                           capture_output=True, text=True, check=True)
    assert float(shown.stdout) == kqd.test(base, other, rng=0).pvalue


# ---- Inputs ----


@pytest.mark.parametrize("given", [
    Y.tolist(), frame(Y), frame(Y)[["b", "a"]], [frame(Y[:100]), frame(Y[100:])], np.asfortranarray(Y),
    table_of_columns({"b": Y[:, 1], "a": Y[:, 0]}), [table_of_columns({"b": Y[:9, 1], "a": Y[:9, 0]}), frame(Y[9:])],
], ids=["lists", "frame", "other order", "list of frames", "columns first", "Arrow", "list of an Arrow table and a frame"])
def test_the_same_rows_give_the_same_bytes_in_any_container(given):
    expected = kqd.Profile(Y, like=BASE)
    assert kqd.Profile(given, like=BASE) == expected
    assert BASE.empty().update(given, sample={"y": 700}) == of_all()


def test_names_of_columns_are_in_the_spec_and_matched():
    shuffled = frame(X)[["b", "a"]]
    assert kqd.Profile(shuffled, like=BASE) == kqd.Profile(X, like=BASE)
    assert kqd.Profile(X, rng=0, rows_per_group=8).columns == ()
    assert kqd.Profile(X, rng=0, rows_per_group=8) != BASE  # a spec with names is another one
    with pytest.raises(ValueError, match='the profile and sample have different columns: the profile only has "b"; '
                                         'sample only has "c"; select those that both have'):
        kqd.Profile(frame(X).rename(columns={"b": "c"}), like=BASE)


def test_the_number_of_workers_changes_no_byte():
    expected = kqd.Profile(Y, like=BASE, workers=1)
    for workers in (2, 3, -1):
        assert kqd.Profile(Y, like=BASE, workers=workers) == expected
        assert of_rows(0, 700) == BASE.empty().update(Y, sample={"y": 700}, workers=workers)


def test_a_profile_is_made_like_a_file(tmp_path):
    BASE.save(tmp_path / "base.kqp")
    assert kqd.Profile(Y, like=tmp_path / "base.kqp") == kqd.Profile(Y, like=str(tmp_path / "base.kqp")) == kqd.Profile(Y, like=BASE)


# ---- Parts ----


def test_parts_are_counted_in_any_order_and_merged():
    whole = BASE.empty().update(Y[:300], sample=PARTS, part="first").update(Y[300:], sample=PARTS, part="second")
    one = BASE.empty().update(Y[300:500], sample=PARTS, part="second")
    two = BASE.empty().update(Y[500:], sample=PARTS, part="second", first_row=200)
    three = BASE.empty().update(Y[:300], sample=PARTS, part="first")
    assert one + two + three == three + (one + two) == sum([two, three, one]) == whole
    assert whole.n_rows == 700 and kqd.test(BASE, whole, rng=0).pvalue == 0.001
    renamed = BASE.empty().update(Y, sample={"other": 700})
    assert renamed != of_all()  # other groups


@hypothesis.settings(max_examples=20)
@hypothesis.given(st.lists(st.integers(0, 700), max_size=5), st.randoms(use_true_random=False))
def test_cuts_and_orders_change_no_byte(cuts, order):
    edges = sorted({0, 700, *cuts})
    blocks = list(zip(edges, edges[1:]))
    order.shuffle(blocks)
    updated, merged = BASE.empty(), BASE.empty()
    for first, last in blocks:
        of_rows(first, last, updated)
        merged += of_rows(first, last)
    assert updated == merged == of_all()


def test_subtraction_undoes_a_merge():
    both = BASE + of_all()
    assert both - of_all() == BASE and both - BASE == of_all()
    both -= of_all()
    assert both == BASE
    assert of_all() - of_rows(100, 200) + of_rows(100, 200) == of_all()


def test_coarse_groups_are_those_of_coarse_parts():
    coarse = of_all().coarsen(3)
    assert coarse.rows_per_group == 24 and coarse.n_groups == of_all().n_groups // 3
    assert of_rows(0, 100).coarsen(3) + of_rows(100, 700).coarsen(3) == coarse
    assert of_rows(0, 700, BASE.copy().coarsen(3).empty()) == coarse


def test_processes_make_what_one_process_makes():
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        bounds = [(0, 250), (250, 251), (251, 700)]
        found = pool.starmap(_counted, [(BASE.to_bytes(), Y[a:b], a) for a, b in bounds])
    assert sum(map(kqd.Profile.from_bytes, found)) == of_all()


def _counted(spec, rows, first):
    return kqd.Profile.from_bytes(spec).empty().update(rows, sample={"y": 700}, first_row=first).to_bytes()


# ---- Missing values, keys and blocks ----


def test_rows_with_missing_values_are_omitted_on_request():
    holed = Y.copy()
    holed[[3, 500], [0, 1]] = np.nan
    complete = np.delete(Y, [3, 500], axis=0)
    assert kqd.Profile(holed, like=BASE, nan_policy="omit") == kqd.Profile(complete, like=BASE)
    assert kqd.Profile(holed, rng=0, nan_policy="omit") == kqd.Profile(complete, rng=0)
    # A batch keeps the numbers of its rows: groups have fewer rows, and the sample is complete.
    found = BASE.empty().update(holed, sample={"y": 700}, nan_policy="omit")
    assert (found.n_rows, found.n_counted) == (700, 698)
    assert found == sum(BASE.empty().update(holed[a:b], sample={"y": 700}, first_row=a, nan_policy="omit")
                        for a, b in [(0, 3), (3, 4), (4, 600), (600, 700)])
    assert found != of_all() and kqd.test(BASE, found, rng=0).reject


def test_rows_of_a_key_stay_together():
    users = RNG.integers(300, size=900)
    by_user = kqd.Profile(frame(X).assign(user=users), rows_per_group=9, groups="key:user", rng=0)
    assert (by_user.groups, by_user.columns, by_user.dim) == ("key:user", ("a", "b"), 2)
    for keys in (users, [str(user) for user in users], pd.Series(users)):
        assert kqd.Profile(X, rows_per_group=9, groups="key:user", keys=keys, rng=0).info == {
            **by_user.info, "columns": [], "spec": kqd.Profile(X, rows_per_group=9, groups="key:user", keys=users, rng=0).spec}
    table = table_of_columns({"a": Y[:, 0], "b": Y[:, 1]})
    other = kqd.Profile(table, like=by_user, keys=users[:700])
    assert other == kqd.Profile(frame(Y).assign(user=users[:700]), like=by_user)
    assert kqd.test(by_user, other, rng=0).pvalue < 0.05
    # Rows of one key are in one group, or all in none.
    one_user = np.repeat([7], 700)
    of_one = by_user.empty().update(Y, sample={"y": 700}, keys=one_user)
    assert of_one.n_counted in (0, 700) or of_one.n_rows == 700
    parts = by_user.empty()
    for a, b in [(300, 700), (0, 300)]:
        parts.update(Y[a:b], sample={"y": 700}, first_row=a, keys=users[a:b])
    assert parts == by_user.empty().update(frame(Y).assign(user=users[:700]), sample={"y": 700})


def test_neighbours_in_an_order_stay_together():
    when = pd.date_range("2026-01-01", periods=900, freq="h")
    by_time = kqd.Profile(frame(X).assign(when=when), rows_per_group=10, groups="blocks:when", rng=0)
    assert by_time.groups == "blocks:when" and by_time.n_groups == 81
    order = RNG.permutation(700)
    other = kqd.Profile(frame(Y).assign(when=when[:700]), like=by_time)
    assert kqd.Profile(frame(Y[order]).assign(when=when[:700][order]), like=by_time).n_groups == other.n_groups
    assert kqd.test(by_time, other, rng=0).pvalue < 0.05
    with pytest.raises(ValueError, match=r"groups by blocks:when need the order of all rows; use kqd.Profile\(sample, like"):
        by_time.empty().update(Y, sample={"y": 700})


# ---- Tests ----


def test_profiles_are_tested():
    other = kqd.Profile(Y, like=BASE)
    found = kqd.test(BASE, other, rng=0)
    assert found.pvalue == 0.001 and found.reject and found.method == "adaptive"
    assert (found.permute, found.rows_per_group, found.n_groups) == ("groups", 8, (101, 87))
    assert (found.n_x, found.n_y, found.dim) == (900, 700, 2)
    assert "permutations of 101 + 87 groups of 8 rows" in repr(found)
    assert len(found.components) > 5 and found.effect_size > 0.1
    assert pickle.loads(pickle.dumps(found)) == found
    assert kqd.test(BASE, other, **found.settings).to_dict()["pvalue"] == found.pvalue
    alike = kqd.Profile(RNG.normal(size=(800, 2)), like=BASE)
    assert not kqd.test(BASE, alike, rng=0).reject


@pytest.mark.parametrize("options", [
    dict(method="ekqd"), dict(method="supkqd"), dict(method="ekqd", power=2, weighting="triangle"),
    dict(method="ekqd", early_stop="betting"), dict(n_resamples=199, alpha=0.01, workers=1, permute="groups"),
    dict(method="ekqd", null_distribution=True, randomised_ties=True, confidence_level=0.9),
])
def test_options_of_the_test_hold_for_profiles(options):
    other = kqd.Profile(Y, like=BASE)
    found = kqd.test(BASE, other, rng=0, **options)
    assert found.reject and found.permute == "groups"
    assert found == kqd.test(BASE, other, rng=0, **options)
    assert found.method == options.get("method", "adaptive")
    if "null_distribution" in options:
        assert found.null_distribution.shape == (999,) and found.confidence_level == 0.9


def test_the_statistic_is_that_of_rows_up_to_the_grid():
    # The e-KQD along the directions of the spec: by profiles from bins, by kqd.distance from rows with other directions.
    other = kqd.Profile(Y, like=BASE)
    by_profiles = kqd.test(BASE, other, method="ekqd", rng=0).statistic
    assert by_profiles == pytest.approx(kqd.distance(X, Y, rng=0).statistic, rel=0.2)


def test_files_are_tested_like_profiles(tmp_path):
    other = kqd.Profile(Y, like=BASE)
    BASE.save(tmp_path / "x.kqp")
    other.save(tmp_path / "y.kqp")
    expected = kqd.test(BASE, other, rng=0)
    assert kqd.test(tmp_path / "x.kqp", str(tmp_path / "y.kqp"), rng=0) == expected
    assert kqd.test(BASE, tmp_path / "y.kqp", rng=0) == expected


def test_progress_is_reported():
    seen = []
    other = kqd.Profile(np.tile(Y, (60, 1)), like=BASE, progress=lambda fraction, what: seen.append((fraction, what)))
    del other
    assert all(0 <= fraction <= 1 for fraction, _ in seen)
    seen.clear()
    kqd.test(BASE, kqd.Profile(Y, like=BASE), rng=0, n_resamples=20_000, progress=lambda *at: seen.append(at))
    assert seen


# ---- What is refused ----

OTHER = kqd.Profile(Y, like=BASE)
HOLED = X.copy()
HOLED[3, 1] = np.nan


@pytest.mark.parametrize("call, kind, sentence", [
    (lambda: kqd.Profile(), TypeError, "missing 1 required positional argument: 'sample'"),
    (lambda: kqd.Profile(X[:39]), ValueError, "a profile needs at least 40 rows, got 39"),
    (lambda: kqd.Profile(X[:0]), ValueError, "no rows|at least 40 rows, got 0|is empty"),
    (lambda: kqd.Profile(3), ValueError, "sample has 0 dimensions"),
    (lambda: kqd.Profile(object()), TypeError, "sample is of type object, expected rows of real numbers"),
    (lambda: kqd.Profile(frame(X).assign(c="t")), TypeError, 'sample: column "c" has dtype object'),
    (lambda: kqd.Profile(HOLED), ValueError, 'the sample: row 4, column 2 is nan, expected a finite number; nan_policy="omit" excludes such rows$'),
    (lambda: kqd.Profile(frame(HOLED), like=BASE), ValueError,
     r'the sample: row 4, column 2 \(b\) is nan, expected a finite number; nan_policy="omit" excludes such rows$'),
    (lambda: kqd.Profile(X[:, :1], like=BASE), ValueError, "sample has 1 column, the profile has 2"),
    (lambda: kqd.Profile(X, like=X), TypeError, "like is of type ndarray, expected a kqd.Profile or the name of its file"),
    (lambda: kqd.Profile(X, like="x.csv"), ValueError, "x.csv: expected a file name ending in .kqp"),
    (lambda: kqd.Profile(X, like="none.kqp"), FileNotFoundError, "none.kqp"),
    (lambda: kqd.Profile(X, like=BASE, rng=0), ValueError, "rng is given with like, whose profile has it; give one of them"),
    (lambda: kqd.Profile(X, like=BASE, rows_per_group=9), ValueError, "rows_per_group is given with like"),
    (lambda: kqd.Profile(X, rows_per_group=0), ValueError, "rows_per_group=0: expected a whole number >= 1"),
    (lambda: kqd.Profile(X, rows_per_group=2.5), TypeError, "rows_per_group is of type float, expected a whole number"),
    (lambda: kqd.Profile(X, rows_per_group=-1), ValueError, "rows_per_group=-1: expected a whole number >= 0"),
    (lambda: kqd.Profile(X, rows_per_group=2**70), ValueError, f"rows_per_group={2**70}: expected a whole number in 0..4000000000"),
    (lambda: BASE.empty().update(Y, sample={"y": 2**70}), ValueError, "expected fewer than 2"),
    (lambda: BASE.empty().update(Y, sample={"y": 700}, first_row=2**70), ValueError, "are beyond the sample, which has 700 rows"),
    (lambda: kqd.Profile(X, rng=-1), ValueError, "rng=-1: expected a whole number"),
    (lambda: kqd.Profile(X, seed=1), TypeError, 'unknown keyword "seed" of kqd.Profile; did you mean rng?'),
    (lambda: kqd.Profile(X, workers=0), ValueError, "workers=0: expected a whole number >= 1, or -1 for all"),
    (lambda: BASE.empty().update(Y), TypeError, "missing 1 required keyword-only argument: 'sample'"),
    (lambda: BASE.empty().update(Y, sample="y"), TypeError,
     r'sample is of type str, expected the rows of each of its parts, such as \{"february": 3000\}'),
    (lambda: BASE.empty().update(Y, sample={"y": 2.0}), TypeError, r'sample\["y"\] is of type float, expected a whole number'),
    (lambda: BASE.empty().update(Y, sample={1: 700}), TypeError, "a part of the sample is named by a int, expected a string"),
    (lambda: BASE.empty().update(Y, sample=PARTS), ValueError, "part is not given, expected the name of one of the 2 parts"),
    (lambda: BASE.empty().update(Y, sample={}), ValueError, "part is not given, expected the name of one of the 0 parts"),
    (lambda: BASE.empty().update(Y, sample=PARTS, part="third"), ValueError, 'part="third": expected one of "first", "second"'),
    (lambda: BASE.empty().update(Y, sample={"y": 699}), ValueError, "rows 1 to 700 are beyond the sample, which has 699 rows"),
    (lambda: BASE.empty().update(Y, sample={"y": 700}, first_row=1), ValueError, "rows 2 to 701 are beyond the sample"),
    (lambda: BASE.empty().update(Y, sample={"y": 700}, first_row=-1), ValueError, "first_row=-1: expected a whole number >= 0"),
    (lambda: BASE.empty().update(Y[:, :1], sample={"y": 700}), ValueError, "batch has 1 column, the profile has 2"),
    (lambda: BASE.empty().update(HOLED, sample={"y": 900}), ValueError, "row 4 has a value that is not a finite number"),
    (lambda: kqd.Profile(X, groups="user"), ValueError, 'groups="user": expected'),
    (lambda: kqd.Profile(X, groups="key"), ValueError, "sample has no column|groups=.key.: expected random, key:COLUMN or blocks"),
    (lambda: kqd.Profile(X, groups="key:user"), ValueError, 'sample has no column "user" of keys; give keys='),
    (lambda: kqd.Profile(X, groups="key:user", keys=X[:, 0]), TypeError, "keys have dtype float64 and 1 dimensions, expected whole"),
    (lambda: kqd.Profile(X, groups="key:user", keys=[1, 2]), ValueError, "there are 2 keys for 900 rows, expected one for each"),
    (lambda: kqd.Profile(X, groups="blocks:t", keys=HOLED[:, 1]), ValueError, "keys: row 4 is nan, expected a number"),
    (lambda: kqd.Profile(X, keys=range(900)), ValueError, 'keys are given with groups "random", expected none'),
    (lambda: kqd.Profile(Y, like=BASE, keys=range(700)), ValueError, 'keys are given with groups "random", expected none'),
    (lambda: kqd.Profile(Y, like=BASE, groups="random"), ValueError, "groups is given with like, whose profile has it"),
    (lambda: kqd.Profile(X, groups=1), TypeError, "groups is of type int, expected a string"),
    (lambda: kqd.Profile(X, nan_policy="drop"), ValueError, 'nan_policy="drop": expected "raise" or "omit"'),
    (lambda: BASE.empty().update("text", sample={"y": 900}), TypeError, 'batch is "text", expected rows of real numbers; read'),
    (lambda: of_rows(0, 100, of_rows(50, 150)), ValueError, "rows 51 to 100 of a sample would be counted twice"),
    (lambda: of_rows(0, 100) + of_rows(99, 200), ValueError, "row 100 of a sample would be counted twice"),
    (lambda: BASE + BASE, ValueError, "rows 1 to 900 of a sample would be counted twice"),
    (lambda: of_rows(0, 100) - of_rows(99, 200), ValueError, "rows 100 to 200 of a sample are to be taken away but are not all"),
    (lambda: BASE - of_all(), ValueError, "a sample of 700 rows is to be taken away but is not in the profile"),
    (lambda: BASE + kqd.Profile(Y, rng=1), ValueError, "the profiles were made by different specs"),
    (lambda: BASE.copy().coarsen(300).coarsen(2), ValueError, "groups of 2400 rows are to be added up, 2 at a time"),
    (lambda: BASE + 1, TypeError, "unsupported operand"),
    (lambda: BASE.merge(Y), TypeError, "other is of type ndarray, expected a kqd.Profile"),
    (lambda: BASE.copy().coarsen(0), ValueError, "factor=0: expected a whole number in 1 .. 512"),
    (lambda: BASE.copy().coarsen(1.5), TypeError, "factor is of type float, expected a whole number"),
    (lambda: kqd.Profile.from_bytes("text"), TypeError, "data is of type str, expected bytes"),
    (lambda: kqd.Profile.from_bytes(b"PAR1"), ValueError, "not a valid profile: it does not begin as one"),
    (lambda: kqd.Profile.from_bytes(BASE.to_bytes()[:-1]), ValueError, "not a valid profile: it ends too early"),
    (lambda: kqd.Profile.from_bytes(BASE.to_bytes().replace(b"SPEC", b"SPIC")), ValueError, "not a valid profile: "),
    (lambda: BASE.save("x.csv"), ValueError, "x.csv: expected a file name ending in .kqp"),
    (lambda: BASE.save("/nowhere/x.kqp"), OSError, "/nowhere"),
    (lambda: kqd.Profile.load("none.kqp"), FileNotFoundError, "none.kqp"),
    (lambda: kqd.test(BASE, X), TypeError, r"x is a profile and y is not; kqd.Profile\(y, like=x\) makes one"),
    (lambda: kqd.test(X, BASE), TypeError, r"y is a profile and x is not; kqd.Profile\(x, like=y\) makes one"),
    (lambda: kqd.test(BASE, of_rows(0, 100)), ValueError,
     "rows 101 to 700 of a sample of 700 rows are missing: merge the profiles of all its parts"),
    (lambda: kqd.test(BASE, kqd.Profile(Y[:7], like=BASE)), ValueError, "a profile of 7 rows has no group of 8 rows"),
    (lambda: kqd.test(BASE, kqd.Profile(Y, rng=1)), ValueError, "the profiles were made by different specs"),
    (lambda: kqd.test(BASE, OTHER, method="mmd"), ValueError, 'method="mmd": expected adaptive, ekqd or supkqd for profiles'),
    (lambda: kqd.test(BASE, OTHER, permute="rows"), ValueError, 'permute="rows": expected groups or auto for profiles'),
    (lambda: kqd.test(BASE, OTHER, kernel="laplace"), ValueError,
     'kernel="laplace": expected none for profiles, whose rows are counted already'),
    (lambda: kqd.test(BASE, OTHER, n_directions=9), ValueError, "n_directions=9: expected none for profiles"),
    (lambda: kqd.test(BASE, OTHER, standardize="none"), ValueError, 'standardize="none": expected none for profiles'),
    (lambda: kqd.test(BASE, OTHER, x_weights=X[:, 0]), ValueError, "x_weights is given with profiles, which have no rows"),
    (lambda: kqd.test(BASE, OTHER, profiles=2, nan_policy="omit"), ValueError, "nan_policy, profiles are given with profiles"),
    (lambda: kqd.test(BASE, OTHER, landmarks=9), ValueError, "landmarks is given with profiles"),
    (lambda: kqd.test(BASE, OTHER, no_such=9), TypeError, 'unknown keyword "no_such"'),
    (lambda: kqd.test(BASE, OTHER, rng=0, n_resamples=19).to_html("x.html"), ValueError,
     "a result of embeddings or profiles has no rows to show on a page"),
])
def test_what_cannot_be_done_is_said(tmp_path, monkeypatch, call, kind, sentence):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind, match=sentence) as raised:
        call()
    assert str(raised.value).isprintable()


def test_a_foreign_file_is_named(tmp_path):
    (tmp_path / "a.kqp").write_text("1,2\n")
    with pytest.raises(ValueError, match=r"a\.kqp: not a valid profile: it does not begin as one"):
        kqd.test(BASE, tmp_path / "a.kqp")


@hypothesis.settings(max_examples=60)
@hypothesis.given(st.data())
def test_damaged_bytes_are_refused(data):
    good = of_rows(0, 50).to_bytes()
    place = data.draw(st.integers(0, len(good) - 1))
    value = data.draw(st.integers(0, 255).filter(lambda v: v != good[place]))
    with pytest.raises(ValueError, match="not a valid profile: "):
        kqd.Profile.from_bytes(good[:place] + bytes([value]) + good[place + 1:])


def test_what_fails_changes_nothing():
    profile = of_rows(0, 100)
    before = profile.to_bytes()
    for change in (lambda: of_rows(50, 150, profile), lambda: profile.merge(of_rows(99, 120)),
                   lambda: profile.subtract(BASE), lambda: profile.coarsen(0)):
        with pytest.raises(ValueError):
            change()
        assert profile.to_bytes() == before and profile.n_rows == 100


# ---- Threads and interruption ----


def test_other_threads_run_and_updates_do_not_disturb_each_other():
    rows = np.random.default_rng(2).normal(size=(40_000, 2))
    together = BASE.empty()
    blocks = [(first, first + 5000) for first in range(0, 40_000, 5000)]
    threads = [
        threading.Thread(target=lambda a=a, b=b: together.update(rows[a:b], sample={"r": 40_000}, first_row=a, workers=1))
        for a, b in blocks
    ]
    for thread in threads:
        thread.start()
    ticks = 0
    while any(thread.is_alive() for thread in threads):
        ticks += 1
        time.sleep(0.001)
    assert ticks > 3
    assert together == BASE.empty().update(rows, sample={"r": 40_000})


def test_ctrl_c_ends_counting_and_leaves_the_profile_as_it_was():
    rows = np.tile(np.random.default_rng(3).normal(size=(100_000, 2)), (30, 1))
    profile = of_rows(0, 100)
    before = profile.to_bytes()
    timer = threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT))
    started = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        profile.update(rows, sample={"rows": len(rows)}, workers=1)
        pytest.fail("was over before the interruption")
    assert time.monotonic() - started < 3.0
    assert profile.to_bytes() == before


def test_a_failing_progress_ends_the_work():
    def fail(*_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        kqd.test(BASE, OTHER, rng=0, n_resamples=200_000, progress=fail)


def test_the_core_refuses_what_is_not_a_matrix():
    with pytest.raises(TypeError):
        _core.Profile.make(np.zeros((50, 2), dtype=np.float32), [], "0", "0", 0, None)
