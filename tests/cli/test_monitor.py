"""kqd monitor: batches against a baseline, the state file, batches by time."""

import json
import random

import pytest

ROWS = 300


def write(path, rng, shift=0.0, rows=ROWS, dates=None):
    with open(path, "w", encoding="utf-8") as file:
        file.write(("date," if dates else "") + "load,speed\n")
        for i in range(rows):
            when = f"{dates[i]}," if dates else ""
            file.write(f"{when}{rng.gauss(0, 1):.6f},{rng.gauss(shift, 1):.6f}\n")


@pytest.fixture
def days(tmp_path):
    rng = random.Random(5)
    write(tmp_path / "base.csv", rng, rows=2000)
    for day in range(1, 6):
        write(tmp_path / f"day-{day}.csv", rng, shift=0.0 if day < 5 else 1.0)
    return tmp_path


def monitor(kqd, folder, *arguments):
    return kqd("monitor", *arguments, "--method", "ekqd", cwd=folder)


def batches(run):
    assert run.code == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def test_the_batch_that_differs_is_named_with_its_column(kqd, days):
    found = batches(monitor(kqd, days, "base.csv", "day-*.csv", "--json-lines"))
    assert [batch["name"] for batch in found] == [f"day-{day}.csv" for day in range(1, 6)]
    assert [batch["reject"] for batch in found] == [False] * 4 + [True]
    assert found[-1]["changed"] == "speed"
    assert found[-1]["n"] == ROWS


def test_batches_are_called_by_the_names_that_are_given(kqd, days):
    found = batches(monitor(kqd, days, "base.csv", "day-1.csv", "day-5.csv", "--names", "base,Monday,Friday", "--json-lines"))
    assert [batch["name"] for batch in found] == ["Monday", "Friday"]
    refused = monitor(kqd, days, "base.csv", "day-1.csv", "--names", "Monday")
    assert refused.code == 2 and "2 names with commas between them, one for each sample" in refused.stderr


def test_the_report_says_how_many_differ(kqd, days):
    run = monitor(kqd, days, "base.csv", "day-1.csv", "day-5.csv")
    assert "1 of 2 batches differs from the baseline, first day-5.csv. The alarm is not raised." in run.stdout


def test_a_state_is_continued_with_the_same_result(kqd, days):
    whole = monitor(kqd, days, "base.csv", "day-1.csv", "day-2.csv", "day-5.csv", "--json-lines", "--state", "one.kqm")
    first = monitor(kqd, days, "base.csv", "day-1.csv", "day-2.csv", "--state", "two.kqm", "--json-lines")
    assert first.code == 0, first.stderr
    second = monitor(kqd, days, "day-5.csv", "--state", "two.kqm", "--json-lines")
    assert batches(second) == batches(whole)
    assert (days / "one.kqm").read_bytes() == (days / "two.kqm").read_bytes()
    shown = monitor(kqd, days, "--state", "two.kqm", "--show", "--json-lines")
    assert shown.stdout == second.stdout


def test_exit_codes_follow_the_tests_or_the_alarm(kqd, days):
    assert monitor(kqd, days, "base.csv", "day-5.csv", "--exit-code").code == 1
    assert monitor(kqd, days, "base.csv", "day-1.csv", "--exit-code").code == 0
    assert monitor(kqd, days, "base.csv", "day-5.csv", "--exit-code", "--alarm").code == 0


def test_batches_by_time(kqd, tmp_path):
    rng = random.Random(6)
    dates = [f"2024-{month:02d}-{1 + i % 28:02d}" for month in range(1, 7) for i in range(ROWS)]
    rng.shuffle(dates)
    write(tmp_path / "all.csv", rng, rows=len(dates), dates=dates)
    found = batches(monitor(kqd, tmp_path, "all.csv", "--time", "date", "--every", "month", "--baseline", "first:3", "--json-lines"))
    assert [batch["name"] for batch in found] == ["2024-04", "2024-05", "2024-06"]
    assert [batch["n"] for batch in found] == [ROWS] * 3
    found = batches(monitor(kqd, tmp_path, "all.csv", "--time", "date", "--every", "600", "--json-lines"))
    assert [batch["n"] for batch in found] == [600, 600]


def test_json_has_all_batches_and_the_alarm(kqd, days):
    run = monitor(kqd, days, "base.csv", "day-1.csv", "day-5.csv", "--json")
    found = json.loads(run.stdout)
    assert found["schema"] == "kqd.monitor/1"
    assert found["n_rejected"] == 1 and found["alarm"] is None and found["threshold"] == 20
    assert found["n_baseline"] == 2000 and found["dim"] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("base.csv",), "1 of 1 inputs are the baseline, expected at least one batch more"),
        (("--state", "none.kqm", "--show"), "--show: expected a state file that exists, given by --state"),
        (("base.csv", "day-1.csv", "--baseline", "last"), "--baseline last: expected fixed, first:N, previous or rolling:N"),
        (("base.csv", "day-1.csv", "--every", "month"), None),
        (("base.csv", "--time", "load", "--every", "day"), "--time load: expected a column of dates such as 2024-03-05"),
        (("base.csv", "day-1.csv", "--average-run-length", "3"), "--average-run-length 3: expected a number from 10 to 10^9"),
    ],
)
def test_misuse_is_refused(kqd, days, arguments, message):
    run = monitor(kqd, days, *arguments)
    if message is None:  # an option without effect is a note only
        assert run.code == 0 and "--every: no effect without --time" in run.stderr
        return
    assert run.code == 2
    assert message in run.stderr


def test_a_damaged_state_is_refused_and_kept(kqd, days):
    state = days / "days.kqm"
    state.write_bytes(b"KQDMON\r\n" + b"\0" * 40)
    before = state.read_bytes()
    run = monitor(kqd, days, "day-1.csv", "--state", "days.kqm")
    assert run.code == 2
    assert "days.kqm: not a valid state of a monitor" in run.stderr
    assert state.read_bytes() == before
