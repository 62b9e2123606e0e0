"""kqd.explain: what is found, how it is named, and what is refused."""

import copy
import json
import pickle

import numpy as np
import pytest

import kqd


@pytest.fixture(scope="module")
def pair():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(200, 4)), rng.normal(size=(150, 4))
    y[:, 2] += 1
    return x, y


@pytest.fixture(scope="module")
def found(pair):
    return kqd.explain(*pair, columns=["a", "b", "c", "d"], rng=0)


def test_shifted_column_comes_first(found):
    first = found.columns[0]
    assert (first.name, first.index, first.where, first.reject) == ("c", 2, "everywhere", True)
    assert [column.reject for column in found.columns[1:]] == [False] * 3


def test_distance_of_a_column_is_the_area_between_its_quantile_functions(pair, found):
    x, y = pair
    grid = np.union1d(np.arange(1, 201) / 200, np.arange(1, 151) / 150)
    middle = grid - np.diff(np.concatenate([[0], grid])) / 2
    for column in found.columns:
        qx = np.sort(x[:, column.index])[(middle * 200).astype(int)]
        qy = np.sort(y[:, column.index])[(middle * 150).astype(int)]
        expected = np.sum(np.abs(qx - qy) * np.diff(np.concatenate([[0], grid])))
        assert column.wasserstein == pytest.approx(expected, rel=1e-12)
        assert column.shift == pytest.approx(np.sort(y[:, column.index])[74] - np.sort(x[:, column.index])[99])


def test_column_of_two_values_is_told_by_its_shares(pair):
    x, y = (np.column_stack([values, np.arange(len(values)) < part]) for values, part in zip(pair, (50, 120)))
    by_index = {column.index: column.shares for column in kqd.explain(x, y, rng=0).columns}
    assert by_index[4] == kqd.TwoValueShares(value=1.0, x=50 / 200, y=120 / 150)
    assert all(by_index[index] is None for index in range(4))


def test_rows_behind_witness_and_principal_functions_are_counted(found):
    assert 0 < found.n_witness_rows <= 350 and 0 < found.n_principal_rows <= 350
    plain = found.to_dict()
    assert (found.n_witness_rows, found.n_principal_rows) == (plain["n_witness_rows"], plain["n_principal_rows"])


def test_adjusted_p_values_are_those_of_the_textbook(found):
    p = np.array([column.pvalue for column in found.columns])
    assert (np.diff(p) >= 0).all()
    expected = np.minimum.accumulate((p * 4 / np.arange(1, 5))[::-1])[::-1]
    assert [column.pvalue_adjusted for column in found.columns] == pytest.approx(expected)


@pytest.mark.parametrize("method", ["max-sw", "max-gsw", "supkqd", "supkqd-opt"])
def test_the_direction_of_the_largest_gap_has_the_distance_of_its_method(pair, found, method):
    explained = kqd.explain(*pair, columns=list("abcd"), maximiser=method, rng=0)
    fitted, measured = explained.maximiser, kqd.distance(*pair, method=method, rng=0)
    assert found.maximiser is None and explained.directions == found.directions
    assert (fitted.name, fitted.family) == (f"largest gap of {method}", method)
    assert fitted.statistic == pytest.approx(measured.statistic, rel=1e-9)
    assert np.isnan(fitted.pvalue) and not fitted.reject
    assert explained.to_dict()["maximiser"]["pvalue"] is None


def test_columns_of_the_largest_gap_are_those_of_its_vector(pair):
    fitted = kqd.explain(*pair, columns=list("abcd"), maximiser="max-sw", rng=0).maximiser
    w = kqd.distance(*pair, method="max-sw", rng=0).maximiser.coefficients
    moved = np.abs(w) * np.vstack(pair).std(axis=0)  # along the direction, by one standard deviation of a column
    assert [column for column, _ in fitted.columns] == [  # largest first
        "abcd"[i] for i in np.argsort(-moved)]
    assert [abs(by) for _, by in fitted.columns] == pytest.approx(sorted(moved, reverse=True), rel=1e-6)


def test_row_scores_tell_the_samples_apart(pair, found):
    assert found.witness_share > 0.1
    assert [row.sample for row in found.most_y].count("y") >= 8
    assert [row.sample for row in found.most_x].count("x") >= 8
    scores = [row.score for row in found.most_y]
    assert scores == sorted(scores, reverse=True)
    x, y = pair
    assert np.mean([y[row.row, 2] for row in found.most_y]) > np.mean([x[row.row, 2] for row in found.most_x])


def test_result_is_frozen_prints_a_report_and_becomes_a_dictionary(found):
    with pytest.raises(AttributeError):
        found.alpha = 1
    assert "most like Y" in repr(found)
    plain = found.to_dict()
    assert plain["schema"] == "kqd.explain/2"
    json.dumps(plain, allow_nan=False)
    plain["columns"].clear()
    assert found.to_dict()["columns"]


@pytest.mark.parametrize("again", [lambda f: pickle.loads(pickle.dumps(f)), copy.copy, copy.deepcopy])
def test_copies_are_equal(found, again):
    same = again(found)
    assert same == found and hash(same) == hash(found) and repr(same) == repr(found)
    assert (same.columns, same.directions, same.most_x) == (found.columns, found.directions, found.most_x)
    assert set(same.columns) == set(found.columns)


def test_equal_explanations_are_equal_whatever_they_took(pair, found):
    assert kqd.explain(*pair, columns=list("abcd"), rng=0, workers=1) == found
    assert kqd.explain(*pair, columns=list("abcd"), rng=1) != found and found != found.to_dict()
    assert found.columns[0] != found.columns[1] and found.columns[0] != found.directions[0]


def test_columns_and_directions_print_as_a_line(found):
    first = found.columns[0]
    assert repr(first) == (
        f"ExplainedColumn(c: distance {first.wasserstein:.4g}, effect {first.effect:.3f}, p-value 0.001, "
        f"adjusted 0.004 *, where everywhere, median shift {first.shift:+.4g})")
    by_family = {direction.family: repr(direction) for direction in reversed(found.directions)}
    assert by_family["column"].startswith("ExplainedDirection(column c: distance ")
    assert by_family["column"].endswith(", where everywhere, carried by itself)")
    assert by_family["principal"].startswith("ExplainedDirection(principal ")
    assert all("\n" not in line and "array" not in line for line in by_family.values())


def test_column_of_two_values_prints_its_shares():
    x, y = np.repeat([0.0, 1.0], [30, 10]), np.repeat([0.0, 1.0], [8, 32])
    assert ", where 25% to 80%, " in repr(kqd.explain(x, y, rng=0).columns[0])


def test_explanation_shows_as_a_table_in_a_notebook(pair, found):
    page = found._repr_html_()
    assert page.startswith("<table><caption>Explanation</caption>") and page.endswith("</table>")
    heads, rest = 2, 3  # kernel, permutations and seed
    assert page.count("<tr>") == page.count("</tr>") == heads + len(found.columns) + len(found.directions) + rest
    assert f">{found.columns[0].wasserstein:.4g}</td>" in page
    assert '<td colspan="6" style="text-align:left">0</td>' in page
    wide = [np.tile(values, 4) for values in pair]
    marked = kqd.explain(*wide, columns=[f"<{i}>" for i in range(16)], rng=0)._repr_html_()
    assert "and 6 more" in marked and "&lt;2&gt;" in marked and "<2>" not in marked


def test_rows_left_out_for_a_nan_keep_the_numbers_of_the_others(pair):
    x, y = pair
    gaps = x.copy()
    gaps[0] = np.nan
    rows = {(row.sample, row.row) for row in kqd.explain(gaps, y, nan_policy="omit", rng=0).most_x}
    without = {(row.sample, row.row) for row in kqd.explain(x[1:], y, rng=0).most_x}
    assert rows == {(sample, row + (sample == "x")) for sample, row in without}


def test_workers_change_nothing(pair):
    one, three = (kqd.explain(*pair, rng=5, workers=workers).to_dict() for workers in (1, 3))
    for result in (one, three):
        del result["elapsed_s"], result["threads"]
    assert one == three


def test_weights_count_as_repeated_rows_do_for_what_is_described(pair):
    x, y = pair
    twice = kqd.explain(np.repeat(x, 2, axis=0), y, rng=0)
    weighted = kqd.explain(x, y, x_weights=np.full(200, 2.0), rng=0)
    for a, b in zip(sorted(twice.columns, key=lambda c: c.index), sorted(weighted.columns, key=lambda c: c.index)):
        assert a.wasserstein == pytest.approx(b.wasserstein, rel=1e-9)
        assert a.difference == pytest.approx(b.difference)


def test_images_come_with_their_pixels(pair):
    image = kqd.explain(*pair, image_shape=(2, 2), rng=0).to_dict()["image"]
    assert (image["height"], image["width"], image["channels"]) == (2, 2, 1)
    assert len(image["witness"]) == 4 and len(image["most_y"][0]["pixels"]) == 4


def test_function_of_ones_own_as_kernel_is_explained_too(pair):
    def product(a, b):
        return np.exp(-((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2) / 8)

    own = kqd.explain(*pair, kernel=product, rng=0)
    same = kqd.explain(*pair, kernel="gaussian@2", rng=0, standardize="none")
    assert own.columns[0].index == 2
    assert [c.pvalue for c in own.columns] == [c.pvalue for c in same.columns]


@pytest.mark.parametrize(
    "options, sentence",
    [
        ({"columns": ["a"]}, "columns has 1 names, the samples have 4 columns"),
        ({"image_shape": (3, 3)}, 'image_shape="3x3": expected a shape of 4 values, as many as the rows have (this one has 9)'),
        ({"kernel": "precomputed"}, 'but kernel "precomputed" needs one per pooled row'),
        ({"maximiser": "mmd"}, 'maximiser="mmd": expected one of supkqd'),
        ({"n_resamples": 0}, "n_resamples=0: expected a whole number in 1..1000000000"),
        ({"alpha": 2.0}, "alpha=2.0: expected a number between 0 and 1"),
    ],
)
def test_what_cannot_be_used_is_refused_with_a_sentence(pair, options, sentence):
    with pytest.raises(ValueError) as raised:
        kqd.explain(*pair, **options)
    assert sentence in str(raised.value)


def test_rows_are_counted_from_zero_and_have_the_label_of_a_dataframe(pair):
    pandas = pytest.importorskip("pandas")
    x, y = (pandas.DataFrame(values, columns=list("abcd")) for values in pair)
    y.index = [f"row {i}" for i in range(len(y))]
    found = kqd.explain(x, y, rng=0)
    for row in (*found.most_x, *found.most_y):
        frame, scores = (x, found.scores_x) if row.sample == "x" else (y, found.scores_y)
        assert frame.index[row.row] == row.label
        assert scores[row.row] == pytest.approx(row.score, rel=1e-5)
    assert {row.label for row in found.most_y if row.sample == "y"} <= set(y.index)


def test_every_row_has_a_score_but_those_that_were_not_compared(pair):
    x, y = (values.copy() for values in pair)
    x[7] = np.nan
    found = kqd.explain(x, y, nan_policy="omit", rng=0)
    assert (len(found.scores_x), len(found.scores_y)) == (200, 150)
    assert np.flatnonzero(np.isnan(found.scores_x)).tolist() == [7] and not np.isnan(found.scores_y).any()
    assert found.scores_y.mean() > found.scores_x[np.arange(200) != 7].mean()


def test_changes_are_said_in_words_with_signs_of_the_second_minus_the_first(found):
    (change,) = found.changes
    assert change.startswith("c: differs at all levels (median +")


def test_changed_relation_of_two_numbers_is_named():
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=(400, 3)), rng.normal(size=(400, 3))
    y[:, 2] = 0.6 * y[:, 0] + 0.8 * y[:, 2]
    found = kqd.explain(x, y, columns=list("abc"), rng=0)
    first = found.relations[0]
    assert (first.name, first.kind, first.reject) == ("a and c", "numbers", True)
    assert found.n_relations_examined == 3 and [r.reject for r in found.relations] == [True, False, False]
    normal_scores = [np.corrcoef(values[:, 0], values[:, 2])[0, 1] for values in (x, y)]
    # Normal scores of the pool are the values but for the error of ranks, some 0.05.
    assert (first.correlation_x, first.correlation_y) == pytest.approx(normal_scores, abs=0.1)
    assert found.changes[-1].startswith("a and c: correlation ")


def test_frames_have_columns_relations_levels_and_rows(found):
    pytest.importorskip("pandas")
    assert found.to_frame()["name"].tolist() == [column.name for column in found.columns]
    assert found.to_frame("relations")["pvalue_adjusted"].tolist() == [r.pvalue_adjusted for r in found.relations]
    assert len(found.to_frame("rows")) == 20 and len(found.to_frame("levels")) == 0
    with pytest.raises(ValueError, match="of is 'row', expected one of 'columns', 'relations', 'levels', 'rows'"):
        found.to_frame("row")


def test_plot_has_a_panel_per_change(found):
    pytest.importorskip("matplotlib").use("Agg")
    figure = found.plot()
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["c"]
    assert [line.get_label() for line in figure.axes[0].lines] == ["X", "Y"]


def test_page_of_an_explanation_has_its_data(found, tmp_path):
    found.to_html(tmp_path / "where.html")
    text = (tmp_path / "where.html").read_text()
    assert '"kind": "explanation"' in text and "c: differs at all levels" in text
    with pytest.raises(ValueError, match="expected a file name ending in .html"):
        found.to_html(tmp_path / "where.txt")
