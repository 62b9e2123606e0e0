"""kqd.Monitor: batches against a baseline."""

import json
import pickle

import kqd
import numpy as np
import pytest

ROWS = 240


@pytest.fixture(scope="module")
def watched():
    rng = np.random.default_rng(3)
    monitor = kqd.Monitor(rng.normal(size=(2000, 2)), batch_rows=ROWS, method="ekqd", n_resamples=199, rng=0)
    for day in range(4):
        monitor.update(rng.normal(size=(ROWS, 2)) + [0, 1.0 * (day == 3)], name=f"day {day}")
    return monitor


def test_the_batch_that_differs_is_found(watched):
    assert [entry.reject for entry in watched.history] == [False, False, False, True]
    last = watched.history[-1]
    assert last.changed == "column 2" and last.n == ROWS
    assert last.effect_interval[0] <= last.effect_size <= last.effect_interval[1]
    assert watched.alarm is None and watched.change is None and watched.threshold == 20.0


def test_it_pickles_and_saves(watched, tmp_path):
    watched.save(tmp_path / "days.kqm")
    for copy in (pickle.loads(pickle.dumps(watched)), kqd.Monitor.load(tmp_path / "days.kqm")):
        assert copy.history == watched.history
        copy.update(np.random.default_rng(4).normal(size=(ROWS, 2)))
        assert len(copy.history) == 5 and copy.history[-1].name == "batch 5"
    assert len(watched.history) == 4


def test_profiles_are_batches_too(watched):
    copy = pickle.loads(pickle.dumps(watched))
    rows = np.random.default_rng(5).normal(size=(ROWS, 2))
    of_rows = copy.update(rows, name="x")
    again = pickle.loads(pickle.dumps(watched))
    of_profile = again.update(kqd.Profile(rows, like=again.baseline), name="x")
    assert of_rows == of_profile


def test_the_history_is_a_frame_and_a_page(watched, tmp_path):
    frame = watched.to_frame()
    assert list(frame["name"]) == [f"day {day}" for day in range(4)]
    page = watched.to_html(tmp_path / "days.html")
    assert json.loads(page.split('id="report">')[1].split("</script>")[0])["kind"] == "monitor"
    assert "1 of 4 batches differs" in repr(watched)
    pytest.importorskip("matplotlib").use("Agg")
    assert watched.plot().get_ylabel() == "effect size"


def test_it_shows_itself_as_text_and_as_a_table(watched):
    assert watched.summary() == repr(watched)
    page = watched._repr_html_()
    assert "Monitor: no alarm" in page and page.count("<tr>") == 5
    assert page.count(">yes<") == 1 and ">column 2<" in page and ">day 3<" in page


def test_a_baseline_may_be_a_list_of_tables():
    pandas = pytest.importorskip("pandas")
    rows = np.random.default_rng(6).normal(size=(2000, 2))
    table = pandas.DataFrame(rows, columns=["a", "b"])
    whole = kqd.Monitor(table, method="ekqd", rng=0)
    assert kqd.Monitor([table[:900], table[900:]], method="ekqd", rng=0).baseline == whole.baseline


def test_misuse_is_refused(watched):
    for wrong, word in ((3, "baseline has 0 dimensions, expected 2"), (object(), "expected rows of real numbers")):
        with pytest.raises((TypeError, ValueError), match=word):
            kqd.Monitor(wrong)
    with pytest.raises(ValueError, match="batch \"day 0\" is there already"):
        watched.update(np.zeros((ROWS, 2)) + np.arange(ROWS)[:, None], name="day 0")
    with pytest.raises(ValueError, match="baseline_rule|baseline"):
        kqd.Monitor(np.random.default_rng(1).normal(size=(200, 2)), method="ekqd", baseline_rule="last")
    with pytest.raises(ValueError, match="batch_rows"):
        kqd.Monitor(watched.baseline, batch_rows=10)
