"""A person at a terminal: progress that appears late and leaves no trace, and Ctrl-C."""

import os
import pty
import select
import signal
import subprocess
import time

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
    """A test with as many labellings as make it last three seconds or more, however fast or busy the machine is."""
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
    assert " %, " in stderr and " left\033[K" in stderr
    assert stderr.startswith("\r") and stderr.endswith(ERASE)
    assert "\n" not in stderr


def test_a_short_run_shows_no_progress(folder):
    with TerminalRun(folder, "test", "a.csv", "b.csv") as run:
        stdout, code = run.finish(60)
    assert (run.stderr, code) == ("", 0)
    assert "p-value" in stdout


def test_ctrl_c_ends_a_long_test_with_one_sentence(folder):
    with TerminalRun(folder, *ENDLESS) as run:
        run.read_until(lambda text: " %, " in text, 60)
        assert " %, " in run.stderr, "the run never showed progress"
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
