"""Failures of the machine: killed at any moment, disk full, folder forbidden, memory short, too many threads.
Nothing is lost, nothing is left half written, nothing hangs."""

import json
import os
import random
import resource
import signal
import subprocess
import time

import pytest
from conftest import PROGRAM

OLD = "what was here before\n"


def start(folder, *arguments, **popen):
    return subprocess.Popen([PROGRAM, *arguments], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, **popen)


def run(folder, *arguments, limit=None, **popen):
    def limited():
        resource.setrlimit(*limit)

    process = start(folder, *arguments, preexec_fn=limited if limit else None, **popen)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


@pytest.fixture
def work(tmp_path, folder):
    """A folder of its own with the sensors and a file that an output would replace."""
    for name in ("sensors-march.csv", "sensors-april.csv"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    (tmp_path / "out.json").write_text(OLD)
    return tmp_path


TEST = ("test", "sensors-march.csv", "sensors-april.csv", "--method", "ekqd", "--json", "--output", "out.json",
        "--permutations", "5000")


def is_whole(path):
    """The old file, or the whole of the new one."""
    text = path.read_text()
    return text == OLD or json.loads(text)["method"] == "ekqd"


@pytest.fixture(scope="module")
def duration(folder):
    """How long TEST takes here, about: moments are drawn from it."""
    began = time.monotonic()
    subprocess.run([PROGRAM, *TEST[:6], *TEST[-2:]], cwd=folder, capture_output=True, check=True)
    return time.monotonic() - began


@pytest.mark.parametrize("kind", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_ended_at_any_moment_leaves_the_old_file_or_the_whole_new_one(work, duration, kind):
    draw = random.Random(7)
    for _ in range(12):
        process = start(work, *TEST)
        time.sleep(draw.uniform(0.0, 1.2 * duration))
        process.send_signal(kind)
        process.communicate(timeout=60)
        assert is_whole(work / "out.json")
        left = [path.name for path in work.iterdir() if path.name.startswith(".kqd-")]
        assert kind == signal.SIGKILL or not left, "a run that may clean up does"
        (work / "out.json").write_text(OLD)
    assert run(work, *TEST)[0] == 0 and json.loads((work / "out.json").read_text())["reject"], "and the next one works"


def test_a_disk_that_fills_up_leaves_the_old_file(work):
    # As far as a file may grow is where the disk ends.
    def small():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    process = start(work, *TEST, preexec_fn=small)
    out, err = process.communicate(timeout=120)
    assert process.returncode != 0 and out == ""
    assert err.startswith("kqd: cannot write out.json: ") and err.count("\n") == 1, err
    assert (work / "out.json").read_text() == OLD
    assert sorted(path.name for path in work.iterdir()) == ["out.json", "sensors-april.csv", "sensors-march.csv"]


def test_large_samples_on_a_disk_that_fills_up_leave_nothing(work):
    def small():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))

    process = start(work, "sample", "null", "-n", "20000", "-o", "x.npy", "y.npy", preexec_fn=small)
    out, err = process.communicate(timeout=120)
    assert process.returncode != 0 and out == "" and err.startswith("kqd: cannot write x.npy: "), err
    assert not list(work.glob("*.npy")) and not list(work.glob(".kqd-*"))


def test_one_file_under_two_names_is_refused_for_two_outputs(work):
    (work / "link.html").symlink_to("page.html")
    (work / "page.html").write_text(OLD)
    for other in ("./page.html", "link.html", str(work / "page.html")):
        code, _, err = run(work, "test", "sensors-march.csv", "sensors-april.csv", "--report", "page.html", "--output", other)
        assert (code, "--report page.html: expected another file than that of --output" in err) == (2, True), err
    code, _, err = run(work, "sample", "null", "-n", "5", "-o", "s.csv", "./s.csv")
    assert (code, "expected two files, or Y would replace X" in err, (work / "s.csv").exists()) == (2, True, False)
    assert (work / "page.html").read_text() == OLD


@pytest.mark.parametrize("target", ["/proc/kqd.json", "missing/out.json", "sensors-march.csv/out.json"])
def test_a_place_that_cannot_be_written_is_refused_before_the_work(work, target):
    code, out, err = run(work, "test", "sensors-march.csv", "sensors-april.csv", "--json", "--output", target)
    assert (code, out) == (2, "") and err.startswith(f"kqd: cannot write {target}: ") and err.count("\n") == 1, err


def test_memory_that_runs_out_is_a_sentence_and_not_a_crash(work):
    assert run(work, "sample", "null", "-n", "200000", "-d", "20", "-o", "x.npy", "y.npy")[0] == 0
    for megabytes in (120, 250, 400):
        code, out, err = run(work, "test", "x.npy", "y.npy", "--method", "ekqd", "--num-directions", "200",
                             "--permutations", "99", "--permute", "rows", "--threads", "1", "--output", "out.json",
                             limit=(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20)))
        assert (code, out) == (4, ""), (megabytes, code, err)
        assert err.startswith("kqd: ") and err.count("\n") == 1, err
        assert (work / "out.json").read_text() == OLD


@pytest.mark.parametrize("arguments", [("explain", "--threads", "3"), ("test", "--permutations", "99", "--threads", "3"),
                                       ("test", "--method", "ekqd", "--permutations", "99", "--threads", "14"),
                                       ("test", "--method", "mmd-fuse", "--permutations", "99", "--threads", "2")])
def test_however_little_memory_there_is_a_run_ends(work, arguments):
    command, *flags = arguments
    for megabytes in range(100, 480, 20):  # threads need stacks, and those that multiply buffers
        code, out, err = run(work, command, "sensors-march.csv", "sensors-april.csv", *flags, "--quiet",
                             limit=(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20)))
        assert code == 0 or (code, out, err.count("\n")) == (4, "", 1), (megabytes, code, err)


def test_many_more_threads_than_cores_change_nothing(work):
    results = []
    for threads in ("1", "64"):
        code, out, err = run(work, "test", "sensors-march.csv", "sensors-april.csv", "--permutations", "99", "--json",
                             "--threads", threads)
        assert code == 0, err
        result = json.loads(out)
        results.append({k: v for k, v in result.items() if k not in ("threads", "elapsed_s")})
    assert results[0] == results[1]


def test_without_a_home_or_a_folder_for_temporary_files_it_works(work):
    environment = {name: value for name, value in os.environ.items() if name not in ("HOME", "TMPDIR")}
    code, _, err = run(work, *TEST, env={**environment, "TMPDIR": "/nowhere"})
    assert code == 0, err


def test_negative_numbers_are_no_formulas(work):
    table = run(work, "test", "sensors-march.csv", "sensors-april.csv", "--csv", "--method", "mmd", "--permutations", "9")[1]
    assert "'" not in table


MESSAGES = {
    "note": (("test", "sensors-march.csv", "swapped.csv", "--quiet", "--output", "-"), 0),
    "note and file": (("test", "sensors-march.csv", "swapped.csv", "--method", "ekqd", "--json", "--output", "out.json"), 0),
    "difference": (("test", "sensors-march.csv", "swapped.csv", "--exit-code", "--output", "report.txt"), 1),
    "missing argument": (("test", "sensors-march.csv"), 2),
    "unknown command": (("tset",), 2),
    "no file": (("test", "nofile.csv", "sensors-march.csv"), 2),
    "bad value": (("test", "sensors-march.csv", "swapped.csv", "--alpha", "7"), 2),
    "sample": (("sample", "mean-shift", "-n", "5", "-o", "x.csv", "y.csv"), 0),
}


@pytest.mark.parametrize("stream", ["full", "closed", "broken"])
@pytest.mark.parametrize("arguments, code", MESSAGES.values(), ids=MESSAGES)
def test_a_message_that_nobody_can_read_changes_nothing(work, arguments, code, stream):
    rows = [line.split(",") for line in (work / "sensors-april.csv").read_text().splitlines()]
    (work / "swapped.csv").write_text("".join(",".join(reversed(row)) + "\n" for row in rows))
    expected = run(work, *arguments)
    assert expected[0] == code
    where = {"full": "2>/dev/full", "closed": "2>&-", "broken": "2> >(exit 0)"}[stream]
    wait = "sleep 0.05;" if stream == "broken" else ""
    before = {path: path.read_bytes() for path in work.iterdir() if path.suffix in (".txt", ".csv")}
    done = subprocess.run(["bash", "-c", f'({wait} exec "$@") {where}', "bash", PROGRAM, *arguments], cwd=work,
                          stdout=subprocess.PIPE, timeout=120, text=True)
    assert (done.returncode, done.stdout) == expected[:2]
    assert is_whole(work / "out.json")
    for path, content in before.items():  # nor does the message end up in a file
        assert b"kqd:" not in path.read_bytes() and (path.name == "report.txt" or path.read_bytes() == content)


# Issue 22: all 10^9 values of permutations were kept although they were not requested.
def test_memory_does_not_grow_with_the_number_of_permutations(tmp_path):
    rng = random.Random(2)
    for name in ("x.csv", "y.csv"):
        (tmp_path / name).write_text("".join(f"{rng.gauss(0, 1)}\n" for _ in range(20)))

    def peak_megabytes(num_permutations):
        process = start(tmp_path, "test", "x.csv", "y.csv", "--method", "ekqd", "--num-directions", "1", "--quiet",
                        "--permutations", str(num_permutations), "--max-memory", "100MB", "--threads", "1")
        process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        assert status == 0
        return usage.ru_maxrss / 1000

    assert peak_megabytes(8_000_000) < peak_megabytes(100_000) + 30  # 64 MB or more for 8e6 values


# Issue 22: these took 3 to 5 s with 3000 + 3000 rows, and more than 20 s with these. The machine may be busy.
@pytest.mark.parametrize("method", ["mmd", "mmd-v", "energy", "kce"])
def test_ctrl_c_ends_long_tests_soon(tmp_path, method):
    rng = random.Random(3)
    for name in ("x.csv", "y.csv"):
        (tmp_path / name).write_text("".join(f"{rng.gauss(0, 1)},{rng.gauss(0, 1)}\n" for _ in range(8000)))
    process = start(tmp_path, "test", "x.csv", "y.csv", "--method", method, "--permutations", "99999", "--yes-quadratic",
                    preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    time.sleep(1.5)
    assert process.poll() is None
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert (process.returncode, time.monotonic() - sent < 10) == (130, True)
