"""Output on a terminal: progress, colours, narrow screens and Ctrl-C."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import pytest
from conftest import PROGRAM

SENSORS = ("sensors-march.csv", "sensors-april.csv")
ENDLESS = ("test", *SENSORS, "--permutations", "1000000")
ERASE = "\r\033[K"


class TerminalRun:
    """The program with stderr on a pseudo-terminal and stdout in a pipe."""

    def __init__(self, folder, *arguments):
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen([PROGRAM, *arguments], cwd=folder, stdin=slave, stdout=subprocess.PIPE,
                                        stderr=slave, start_new_session=True)
        os.close(slave)
        self.stderr = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        os.close(self.master)

    def read_until(self, done, seconds):
        """Collects stderr until done(stderr) or the end of the program."""
        deadline = time.monotonic() + seconds
        while not done(self.stderr) and time.monotonic() < deadline:
            if not select.select([self.master], [], [], 0.1)[0]:
                continue
            try:
                chunk = os.read(self.master, 4096)
            except OSError:  # the terminal is closed: the program has ended
                return
            self.stderr += chunk.decode()

    def finish(self, seconds):
        self.read_until(lambda _: False, seconds)
        stdout = self.process.stdout.read().decode()
        return stdout, self.process.wait(timeout=seconds)


def one_sentence(text):
    return text.replace("\r\n", "\n")


def run_of_three_seconds(folder):
    """A test with as many permutations as make it last three seconds or more, however fast or busy the machine is."""
    num_permutations = 5_000
    while True:
        start = time.monotonic()
        with TerminalRun(folder, "test", *SENSORS, "--permutations", str(num_permutations)) as run:
            stdout, code = run.finish(120)
        if time.monotonic() - start >= 3.0:
            return stdout, run.stderr, code
        num_permutations *= 3


def test_progress_appears_after_a_second_and_is_erased(folder):
    stdout, stderr, code = run_of_three_seconds(folder)
    assert code == 0 and "p-value" in stdout
    assert re.search(r"permutations +\d+%, \d+/s, \d+ s left\033\[K", stderr)
    assert stderr.startswith("\r") and stderr.endswith(ERASE)
    assert "\n" not in stderr


def test_a_short_run_shows_no_progress(folder):
    with TerminalRun(folder, "test", "a.csv", "b.csv") as run:
        stdout, code = run.finish(60)
    assert (run.stderr, code) == ("", 0)
    assert "p-value" in stdout


def test_ctrl_c_ends_a_long_test_with_one_sentence(folder):
    with TerminalRun(folder, *ENDLESS) as run:
        run.read_until(lambda text: "%, " in text, 60)
        assert "%, " in run.stderr, "the run never showed progress"
        start = time.monotonic()
        run.process.send_signal(signal.SIGINT)
        stdout, code = run.finish(60)
        seconds = time.monotonic() - start
    assert (stdout, code) == ("", 130)
    assert one_sentence(run.stderr).endswith(ERASE + "kqd: stopped on request\n")
    assert seconds < 5.0  # about 0.1 s on an idle machine; tests share theirs


def test_quiet_shows_no_progress_and_obeys_ctrl_c(folder):
    with TerminalRun(folder, *ENDLESS, "--quiet") as run:
        time.sleep(2.0)
        run.process.send_signal(signal.SIGINT)
        stdout, code = run.finish(60)
    assert (stdout, one_sentence(run.stderr), code) == ("", "kqd: stopped on request\n", 130)


def test_no_progress_in_a_pipe(folder):
    process = subprocess.Popen([PROGRAM, *ENDLESS], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(2.5)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert (stdout, stderr, process.returncode) == (b"", b"kqd: stopped on request\n", 130)


# ---- Distances and matrices ----

def test_a_log_gets_lines_on_progress(folder):
    """Where stderr is not a terminal: whole lines, without control characters, the first one after KQD_LOG_SECONDS."""
    process = subprocess.Popen([PROGRAM, *ENDLESS], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               env={**os.environ, "KQD_LOG_SECONDS": "0.2"})
    lines = [process.stderr.readline() for _ in range(3)]
    process.send_signal(signal.SIGINT)
    rest = process.communicate(timeout=60)[1]
    assert rest.endswith("kqd: stopped on request\n") and process.returncode == 130
    for line in lines:
        assert re.fullmatch(r"kqd: [a-z ,-]+ +(\d+%.*|\d+ s|.*, \d+ s)( left)?\n", line), line
        assert "\033" not in line and "\r" not in line


def run_with_progress(kqd, folder, command, flags, name):
    """A run that has shown progress: on as many rows as make it last, however fast the machine is."""
    num_rows = 4000
    while True:
        files = [f"slow-{sample}-{num_rows}.npy" for sample in "xy"]
        if not (folder / files[0]).exists():
            assert kqd("sample", "null", "-n", str(num_rows), "-d", "3", "--seed", "1", "-o", *files).code == 0
        run = TerminalRun(folder, command, *files, *flags)
        run.read_until(lambda text: f"\r{name}" in text, 60)
        if f"\r{name}" in run.stderr:
            return run
        with run:
            assert run.finish(60)[1] == 0, "the run neither showed progress nor ended"
        num_rows *= 2


@pytest.mark.parametrize("arguments, name", [
    (("distance", "--method", "wasserstein", "--yes-quadratic"), "wasserstein"),
    (("distance", "--method", "sinkhorn", "--yes-quadratic", "--set", "iterations=100000", "--set", "epsilon=0.0001"),
     "sinkhorn"),
    (("distance", "--num-directions", "200000"), "ekqd"),
    (("matrix", "--num-directions", "200000"), "distances"),
    (("matrix", "--test", "--permutations", "1000000"), "tests"),
])
def test_a_long_distance_shows_progress_and_ends_at_ctrl_c(kqd, folder, arguments, name):
    command, *flags = arguments
    with run_with_progress(kqd, folder, command, flags, name) as run:
        start = time.monotonic()
        run.process.send_signal(signal.SIGINT)
        stdout, code = run.finish(60)
        seconds = time.monotonic() - start
    assert (stdout, code) == ("", 130)
    assert one_sentence(run.stderr).endswith(ERASE + "kqd: stopped on request\n")
    assert seconds < 5.0  # well below a second on an idle machine; tests share theirs


def test_ctrl_c_ends_the_reading_of_a_file_with_a_sentence(folder):
    os.mkfifo(folder / "never.csv")
    with TerminalRun(folder, "distance", "never.csv", "b.csv") as run:
        writer = os.open(folder / "never.csv", os.O_WRONLY)  # returns once the program reads
        os.write(writer, b"1,2\n")
        run.process.send_signal(signal.SIGINT)
        stdout, code = run.finish(60)
        os.close(writer)
    assert (stdout, one_sentence(run.stderr), code) == ("", "kqd: stopped on request\n", 130)


def test_ctrl_c_leaves_nothing_half_written(tmp_path):
    with TerminalRun(tmp_path, "sample", "null", "-n", "1000000", "-d", "20", "-o", "big-x.csv", "big-y.csv") as run:
        deadline = time.monotonic() + 60
        while not list(tmp_path.glob(".kqd-*")) and time.monotonic() < deadline:
            time.sleep(0.01)
        run.process.send_signal(signal.SIGINT)
        stdout, code = run.finish(60)
    assert (stdout, one_sentence(run.stderr), code) == ("", "kqd: stopped on request\n", 130)
    assert not list(tmp_path.glob(".kqd-*")) and not (tmp_path / "big-y.csv").exists()


# ---- Colours and narrow screens ----

def on_screen(folder, *arguments, width=80, **environment):
    """The output of the program on a terminal of this width."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    base = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    process = subprocess.Popen([PROGRAM, *arguments], cwd=folder, stdin=slave, stdout=slave, stderr=subprocess.PIPE,
                               env={**base, "TERM": "xterm-256color", **environment})
    os.close(slave)
    text = b""
    while True:
        try:
            chunk = os.read(master, 65536)
        except OSError:  # the program has ended
            break
        if not chunk:
            break
        text += chunk
    process.stderr.close()
    assert process.wait(timeout=60) == 0
    os.close(master)
    return text.decode().replace("\r\n", "\n")


def without_colours(text):
    return re.sub(r"\033\[[0-9;]*m", "", text)


def test_a_difference_is_red_on_a_terminal_and_only_the_colour_changes(folder):
    text = on_screen(folder, "test", *SENSORS, width=200)
    assert "  \033[1;31mThe samples differ (p = 0.001, " in text
    plain = on_screen(folder, "test", *SENSORS, width=200, NO_COLOR="1")
    assert "\033" not in plain
    mask = lambda report: re.sub(r", [0-9.]+ s, kqd", ", kqd", report)  # noqa: E731
    assert mask(without_colours(text)) == mask(plain)


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colours_where_they_are_not_wanted(folder, environment):
    assert "\033" not in on_screen(folder, "test", "a.csv", "b.csv", **environment)


def test_an_empty_no_color_means_nothing(folder):
    assert "\033[1m" in on_screen(folder, "test", "a.csv", "b.csv", NO_COLOR="")


@pytest.mark.parametrize("width", [60, 72, 80])
def test_reports_are_folded_to_the_screen(folder, width):
    for arguments in (("test", "a.csv", "b.csv", "--power", "2"), ("distance", "row.csv", "a.csv")):
        lines = without_colours(on_screen(folder, *arguments, width=width)).splitlines()
        assert max(len(line) for line in lines) <= width


def test_an_adaptive_report_fits_eighty_columns(folder):
    lines = without_colours(on_screen(folder, "test", *SENSORS, width=80)).splitlines()
    assert max(len(line) for line in lines) <= 80 and sum(line.startswith("  quantiles, ") for line in lines) > 0


def test_help_is_folded_to_the_screen(folder):
    lines = on_screen(folder, "distance", "--help", width=60).splitlines()
    described = [line for line in lines[:lines.index("Examples:")] if "[OPTIONS]" not in line]
    assert max(len(line) for line in described if len(line.split()) > 1) <= 60  # one long word cannot be folded


def test_a_heat_map_has_colours_with_the_numbers_and_shades_where_there_is_no_room(folder):
    files = ("a.csv", "b.csv", "four.csv", "row.csv", "equal.csv", "constant.csv")
    wide = on_screen(folder, "matrix", *files, width=120)
    assert re.search(r"\033\[48;5;\d+;38;5;\d+m +0\.\d+\033\[0m", wide)
    narrow = on_screen(folder, "matrix", *files, width=60)
    assert re.search(r"\033\[48;5;\d+;38;5;\d+m  \033\[0m", narrow)
    shades = on_screen(folder, "matrix", *files, width=60, NO_COLOR="1")
    assert "\033" not in shades and "██" in shades
    table = without_colours(narrow).split("\n\n")[1].splitlines()
    assert len({len(line) for line in table}) == 1 and len(table[0]) <= 60
