"""result.to_html: the page holds the result and where the samples differ, whatever the samples came as."""

import copy
import json
import pickle

import kqd
import numpy as np
import pandas as pd
import pytest

DATA = '<script type="application/json" id="report">'
RNG = np.random.default_rng(7)
X, Y = RNG.normal(size=(60, 3)), RNG.normal(size=(50, 3)) + [0, 2, 0]


def report_of(result, tmp_path, **options):
    path = tmp_path / "page.html"
    assert result.to_html(path, **options) is None
    page = path.read_text()
    start = page.index(DATA) + len(DATA)
    text = page[start:page.index("</script>", start)]
    assert "<" not in text
    return json.loads(text)


def test_a_test_becomes_a_page_with_its_null_distribution(tmp_path):
    result = kqd.test(X, Y, rng=3, n_resamples=199)
    report = report_of(result, tmp_path)
    assert (report["kind"], report["result"]["pvalue"], report["result"]["n_x"]) == ("test", result.pvalue, 60)
    whole = kqd.test(X, Y, rng=3, n_resamples=199, null_distribution=True).null_distribution
    assert report["null"] == {"values": list(whole), "of": 199, "observed": result.statistic}


def test_a_distance_becomes_a_page(tmp_path):
    result = kqd.distance(X, Y, rng=3, power=np.inf)
    report = report_of(result, tmp_path)
    assert (report["kind"], report["result"]["statistic"]) == ("distance", result.statistic)
    assert (report["result"]["power"], report["null"]) == ("inf", None)


def test_columns_keep_the_names_of_a_frame_and_the_changed_one_comes_first(tmp_path):
    names = ["a", "<b>", "c"]
    result = kqd.test(pd.DataFrame(X, columns=names), pd.DataFrame(Y, columns=names), rng=3)
    columns = report_of(result, tmp_path)["explanation"]["columns"]
    assert {column["name"] for column in columns} == set(names)
    medians = [np.quantile(rows[:, 1], 0.5, method="inverted_cdf") for rows in (X, Y)]
    assert (columns[0]["name"], columns[0]["shift"]) == ("<b>", pytest.approx(medians[1] - medians[0], rel=1e-5))


def test_rows_that_are_left_out_are_told_and_the_others_keep_their_numbers(tmp_path):
    holes = X.copy()
    holes[:10, 0] = np.nan
    result = kqd.test(holes, Y, rng=3, nan_policy="omit")
    report = report_of(result, tmp_path)
    assert report["result"]["data"]["rows_x"]["omitted"] == 10
    rows = report["explanation"]["rows"]["most_x"]
    assert all(row["row"] >= 10 for row in rows if row["sample"] == "x")
    row = next(row for row in rows if row["sample"] == "x")
    shown = dict(zip(report["explanation"]["row_columns"], row["values"]))
    assert sorted(shown.values()) == pytest.approx(sorted(holes[row["row"]]))


def test_images_are_shown_as_images(tmp_path):
    x, y = RNG.uniform(size=(40, 12)), RNG.uniform(size=(40, 12))
    y[:, 5] += 1
    image = report_of(kqd.test(x, y, rng=1), tmp_path, image_shape=(2, 2, 3))["explanation"]["image"]
    assert (image["height"], image["width"], image["channels"]) == (2, 2, 3)
    assert int(np.argmax(image["witness"])) == 5


@pytest.mark.parametrize("options", [
    dict(design="paired"), dict(blocks=([0, 1] * 25, [0, 1] * 25)), dict(kernel=lambda a, b: a @ b.T),
    dict(method="mmd", x_weights=np.ones(50)), dict(kernel="laplace", bandwidth=2.0), dict(calibration="sign-flip"),
])
def test_every_kind_of_call_has_its_page(tmp_path, options):
    result = kqd.test(X[:50], Y, rng=2, n_resamples=99, **options)
    assert report_of(result, tmp_path)["explanation"]["n_x"] == 50


def test_a_gram_matrix_has_no_columns_to_explain_and_the_page_says_so(tmp_path):
    pool = np.concatenate([X, Y])
    gram = pool @ pool.T
    report = report_of(kqd.test(gram[:60], gram[60:], kernel="precomputed", rng=1, n_resamples=99), tmp_path)
    assert (report["explanation"]["columns"], report["explanation_note"]) == ([], "")


@pytest.mark.parametrize("again", [lambda r: pickle.loads(pickle.dumps(r)), copy.deepcopy])
def test_a_pickled_result_has_a_page_without_the_rows(tmp_path, again):
    result = again(kqd.test(X, Y, rng=3, n_resamples=99))
    assert len(pickle.dumps(result)) < 20_000
    report = report_of(result, tmp_path)
    assert report["explanation"] is None and "pickled" in report["explanation_note"]
    assert len(report["null"]["values"]) == 99


def test_the_command_of_the_page_repeats_the_numbers(tmp_path):
    result = kqd.distance(X, Y, power=2, weighting="triangle", x_weights=np.ones(60))
    command = report_of(result, tmp_path)["command"]
    again = eval(command, {"kqd": kqd, "x": X, "y": Y, "x_weights": np.ones(60)})
    assert again.statistic == result.statistic
    assert command == ("kqd.distance(x, y, method='ekqd', power=2, weighting='triangle', x_weights=x_weights, "
                       f"rng={result.seed})")


def test_what_cannot_be_written_is_an_os_error_and_leaves_nothing(tmp_path):
    result = kqd.distance(X, Y, rng=1)
    with pytest.raises(OSError, match="nowhere"):
        result.to_html(tmp_path / "nowhere" / "page.html")
    assert list(tmp_path.iterdir()) == []


def test_a_distance_of_embeddings_has_no_page(tmp_path):
    embedding = kqd.Embedding(X, rng=1)
    with pytest.raises(ValueError, match="embeddings"):
        embedding.distance(embedding.embed(Y)).to_html(tmp_path / "page.html")


def test_a_page_is_a_file_for_a_browser(tmp_path):
    with pytest.raises(ValueError, match=r"x\.txt: expected a file name ending in \.html$"):
        kqd.distance([0.0, 1], [2.0, 3], rng=0).to_html(tmp_path / "x.txt")
    assert not list(tmp_path.iterdir())
