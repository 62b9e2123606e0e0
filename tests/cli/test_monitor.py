"""kqd monitor: batches against a baseline, the state file, batches by time."""

import json
import os
import random
import shutil
import subprocess
import time

import pytest
from conftest import PROGRAM, ROOT

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
    assert monitor(kqd, days, "--show", "two.kqm", "--json-lines").stdout == second.stdout


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
        (("--state", "none.kqm", "--show"), "--show: expected a state file that exists: kqd monitor --show FILE"),
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


def write_table(path, rng, rows=400, share=0.25, correlation=0.0, new_level=None, missing=0.05, speeds_missing=0.0):
    """Columns load (some missing), speed, city (four levels) and flag (yes or no)."""
    with open(path, "w", encoding="utf-8") as file:
        file.write("load,speed,city,flag\n")
        for _ in range(rows):
            load = rng.gauss(0, 1)
            speed = correlation * load + (1 - correlation**2) ** 0.5 * rng.gauss(0, 1)
            city = "A" if rng.random() < share else rng.choice("BCD")
            if new_level and rng.random() < 0.4:
                city = new_level
            cells = ["" if rng.random() < missing else f"{load:.5f}",
                     "" if rng.random() < speeds_missing else f"{speed:.5f}", city, rng.choice(["yes", "no"])]
            file.write(",".join(cells) + "\n")


@pytest.fixture
def tables(tmp_path):
    rng = random.Random(11)
    write_table(tmp_path / "base.csv", rng, rows=2000)
    write_table(tmp_path / "same.csv", rng)
    write_table(tmp_path / "city.csv", rng, share=0.7)
    write_table(tmp_path / "related.csv", rng, correlation=0.9)
    write_table(tmp_path / "new.csv", rng, new_level="E")
    write_table(tmp_path / "gap.csv", rng, speeds_missing=0.1)
    return tmp_path


def test_a_table_with_texts_is_continued_by_its_types_and_levels(kqd, tables):
    whole = batches(monitor(kqd, tables, "base.csv", "same.csv", "city.csv", "--json-lines"))
    assert monitor(kqd, tables, "base.csv", "same.csv", "--state", "t.kqm").code == 0
    later = batches(monitor(kqd, tables, "city.csv", "--state", "t.kqm", "--json-lines"))
    for found in (whole, later):
        assert [batch["reject"] for batch in found] == [False, True]
    # A batch without one of the levels, and without a missing value.
    (tables / "few.csv").write_text("flag,city,speed,load\n" + "yes,A,0.1,0.5\n" * 100 + "no,B,0.3,0.1\n" * 300)
    assert batches(monitor(kqd, tables, "few.csv", "--state", "t.kqm", "--json-lines"))[2]["reject"]


def test_new_levels_and_new_missing_values_are_counted_and_named(kqd, tables):
    assert monitor(kqd, tables, "base.csv", "same.csv", "--state", "t.kqm").code == 0
    run = monitor(kqd, tables, "new.csv", "--state", "t.kqm", "--json")
    found = json.loads(run.stdout)
    assert found["batches"][1]["changed"] == "city"
    texts = " ".join(warning["text"] for warning in found["warnings"])
    assert 'have a text in column "city" that the baseline does not have, such as "E"' in texts
    found = json.loads(monitor(kqd, tables, "gap.csv", "--state", "t.kqm", "--json").stdout)
    texts = " ".join(warning["text"] for warning in found["warnings"])
    assert 'have no value in column "speed", which the baseline always has' in texts
    (tables / "word.csv").write_text("load,speed,city,flag\n1,fast,A,yes\n" + "1,2,A,yes\n" * 300)
    run = monitor(kqd, tables, "word.csv", "--state", "t.kqm")
    assert run.code == 2
    assert 'word.csv:2: column "speed" is "fast", expected a number, as in the baseline' in run.stderr


def test_categories_and_relations_that_changed_are_named(kqd, tables):
    same, city, related = batches(kqd("monitor", "base.csv", "same.csv", "city.csv", "related.csv", "--json-lines",
                                      cwd=tables))
    assert [column["name"] for column in same["columns"]] == ["city", "flag", "load", "speed"]
    assert city["changed"] == "city"
    column = city["columns"][0]
    assert column["level"] == "A" and 0.35 < column["shift"] < 0.55
    assert related["changed"] == "load with speed"
    assert related["relations"][0]["adjusted_pvalue"] <= 0.05
    assert related["reject"] and not same["reject"]


def test_keys_keep_rows_of_a_user_together(kqd, tmp_path):
    rng = random.Random(12)
    for name, users in (("base", 200), ("day-1", 60), ("day-2", 60)):
        with open(tmp_path / f"{name}.csv", "w", encoding="utf-8") as file:
            file.write("user,x\n")
            for user in range(users):
                level = rng.gauss(0, 1)
                for _ in range(10):
                    file.write(f"{name}-{user},{level + 0.1 * rng.gauss(0, 1):.5f}\n")
    together = batches(monitor(kqd, tmp_path, "base.csv", "day-*.csv", "--groups", "key:user", "--json-lines"))
    assert monitor(kqd, tmp_path, "base.csv", "day-1.csv", "--groups", "key:user", "--state", "u.kqm").code == 0
    later = batches(monitor(kqd, tmp_path, "day-2.csv", "--state", "u.kqm", "--json-lines"))
    assert later == together
    apart = batches(monitor(kqd, tmp_path, "base.csv", "day-*.csv", "--drop", "user", "--json-lines"))
    assert [batch["pvalue"] for batch in apart] != [batch["pvalue"] for batch in together]
    run = monitor(kqd, tmp_path, "base.csv", "--groups", "key:user", "--time", "x", "--every", "100")
    assert run.code == 2 and "--groups key:user: expected the column of --time" in run.stderr


def test_the_same_command_continues_after_a_stop(kqd, days):
    command = ("base.csv", "day-*.csv", "--state", "d.kqm", "--json-lines", "--adjust", "holm")
    assert monitor(kqd, days, "base.csv", "day-1.csv", "day-2.csv", "--state", "d.kqm", "--adjust", "holm").code == 0
    run = monitor(kqd, days, *command)
    assert [batch["name"] for batch in batches(run)] == [f"day-{day}.csv" for day in range(1, 6)]
    assert "3 inputs are known already and skipped: base.csv, day-1.csv, day-2.csv" in run.stderr
    again = monitor(kqd, days, *command)
    assert again.stdout == run.stdout


def test_a_state_keeps_the_options_that_it_was_begun_with(kqd, days):
    assert monitor(kqd, days, "base.csv", "day-1.csv", "--state", "d.kqm", "--alpha", "0.01").code == 0
    run = monitor(kqd, days, "day-2.csv", "--state", "d.kqm", "--alpha", "0.1")
    assert run.code == 2
    assert "--alpha 0.1: expected 0.01, as the state was begun with it" in run.stderr
    run = monitor(kqd, days, "day-2.csv", "--state", "d.kqm", "--average-run-length", "100")
    assert "--average-run-length 100: expected none, as the state was begun without it" in run.stderr
    run = monitor(kqd, days, "day-2.csv", "--state", "d.kqm", "--alpha", "0.01", "--json")
    found = json.loads(run.stdout)
    assert found["alpha"] == 0.01 and found["settings"]["alpha"] == "0.01"
    assert found["baseline"] == "base.csv"


def test_a_margin_gives_a_verdict_per_batch_and_decides_the_exit_code(kqd, days):
    run = monitor(kqd, days, "base.csv", "day-1.csv", "day-5.csv", "--tolerance", "0.3", "--state", "m.kqm", "--json")
    found = json.loads(run.stdout)
    assert found["margin"] == 0.3
    assert [batch["verdict"] for batch in found["batches"]] == ["equivalent", "different"]
    assert 0.7 < found["batches"][1]["effect_size"] < 1.3
    later = monitor(kqd, days, "day-2.csv", "--state", "m.kqm", "--exit-code")
    assert later.code == 1
    assert "Margin 0.3: 1 different, 2 equivalent, 0 undecided." in later.stdout
    assert monitor(kqd, days, "base.csv", "day-1.csv", "--equivalent", "0.3", "--exit-code").code == 0
    assert monitor(kqd, days, "base.csv", "day-5.csv", "--equivalent", "0.3", "--exit-code").code == 1
    run = monitor(kqd, days, "base.csv", "day-5.csv", "--tolerance", "auto")
    assert run.code == 2 and "--tolerance auto: expected a number > 0 for a monitor" in run.stderr


def test_a_margin_holds_for_tables_with_texts(kqd, tables):
    found = batches(monitor(kqd, tables, "base.csv", "same.csv", "city.csv", "--tolerance", "0.4", "--json-lines"))
    assert [batch["verdict"] for batch in found] == ["equivalent", "different"]


def test_a_change_is_dated_without_an_alarm(kqd, tmp_path):
    rng = random.Random(13)
    write(tmp_path / "base.csv", rng, rows=2000)
    for month in range(1, 13):
        write(tmp_path / f"month-{month:02d}.csv", rng, shift=0.5 if month > 6 else 0.0)
    found = json.loads(monitor(kqd, tmp_path, "base.csv", "month-*.csv", "--json").stdout)
    assert found["alarm"] is None
    assert found["change"]["start"] == "month-07.csv" and not found["change"]["after_alarm"]
    assert found["change"]["pvalue"] <= 0.05


def test_a_killed_run_loses_at_most_one_batch(kqd, days):
    """kill -9 at many moments: the state is that after some whole batches, and the same command ends with all."""
    arguments = ("base.csv", "day-*.csv", "--state", "k.kqm", "--permutations", "99")
    whole = batches(monitor(kqd, days, *arguments, "--json-lines"))
    final = (days / "k.kqm").read_bytes()
    killed = 0
    for step in range(12):
        (days / "k.kqm").unlink(missing_ok=True)
        process = subprocess.Popen([PROGRAM, "monitor", *arguments, "--method", "ekqd"], cwd=days, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        time.sleep(0.03 * step)
        process.kill()
        killed += process.wait() == -9
        if (days / "k.kqm").exists():
            shown = batches(monitor(kqd, days, "--show", "k.kqm", "--json-lines"))
            assert [batch["name"] for batch in shown] == [batch["name"] for batch in whole][:len(shown)]
        assert monitor(kqd, days, *arguments).code == 0
        assert (days / "k.kqm").read_bytes() == final
    assert killed > 0


def test_the_example_for_cron_adds_the_file_of_yesterday(days):
    folder = days / "bin"
    folder.mkdir()
    (folder / "kqd").symlink_to(PROGRAM)
    (folder / "mail").write_text('#!/bin/sh\nprintf "%s\\n" "$2" >> mails.txt\n')
    (folder / "mail").chmod(0o755)
    for date in ("yesterday", "2 days ago"):
        day = subprocess.run(["date", "-d", date, "+%F"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        shutil.copy(days / "day-1.csv", days / f"day-{day}.csv")
    shutil.copy(days / "base.csv", days / "baseline.csv")
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "DATA_FOLDER": str(days), "MAIL_TO": "nobody"}
    for _ in range(2):  # a second run of the day finds the file known
        run = subprocess.run(["sh", str(ROOT / "examples" / "monitor-cron.sh")], env=environment, check=False)
        assert run.returncode == 0
        assert "The batch does not differ from the baseline" in (days / "days.txt").read_text()
    assert not (days / "mails.txt").exists()
