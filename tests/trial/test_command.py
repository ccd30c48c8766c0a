"""The user's command as a process: how it ends, its captured output, and its remaining processes."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from patience import PATIENCE, TimerUntil, soon
from rlint.trial.user_command import Ran, run_command

pytestmark = pytest.mark.skipif(os.name == "nt", reason="process groups of POSIX")


def run(command: str, folder: Path, timeout: float | None = PATIENCE) -> Ran:
    """Run a command as a trial does."""
    return run_command(command, folder, os.environ, timeout=timeout, started=[].append)


def is_running(number: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        status = Path(f"/proc/{number}/stat").read_text() if Path("/proc/self").exists() else ""
        os.kill(number, 0)
    except (ProcessLookupError, FileNotFoundError):
        return False
    return ") Z " not in status


def assert_ends(number: int) -> None:
    """A process that was killed is gone soon."""
    assert soon(lambda: not is_running(number)), f"{number} still runs"


def test_both_streams_are_kept_in_order(tmp_path: Path) -> None:
    """Its exit code, and what it wrote to both streams."""
    ran = run("echo one; echo two >&2; cat; exit 3", tmp_path)
    assert (ran.exit_code, ran.output, ran.passed, ran.ending) == (3, "one\ntwo\n", False, "exit code 3")
    assert run("true && echo $PWD | grep -q .", tmp_path).passed


def test_only_the_end_of_a_long_output_is_kept(tmp_path: Path) -> None:
    """A command that writes without end fills no memory."""
    ran = run("yes line | head -c 30000000; echo the end", tmp_path)
    assert len(ran.output) <= 64_000
    assert ran.output.endswith("the end\n")


def test_time_is_limited_for_all_that_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its children end with it, even those that ignore SIGTERM. The time limit expires once all of them have
    started.
    """
    ready = (tmp_path / "ready", tmp_path / "child-ready")
    monkeypatch.setattr(
        "threading.Timer",
        lambda _seconds, function: TimerUntil(function, lambda: all(one.exists() for one in ready)),
    )
    monkeypatch.setattr("rlint.trial.user_command._GRACE", 0.2)
    child = "(trap '' TERM; touch child-ready; exec sleep 9999) & echo $! > child"
    ran = run(f"{child}; trap '' TERM; touch ready; sleep 9999; sleep 9999", tmp_path, 5)
    assert ran.timed_out
    assert not ran.passed
    assert "did not end within" in ran.ending
    assert_ends(int((tmp_path / "child").read_text()))


def test_nothing_is_left_running(tmp_path: Path) -> None:
    """A background server does not delay the run, and is ended."""
    ran = run("sleep 9999 & echo $! > child; exit 0", tmp_path)
    assert ran.passed
    assert_ends(int((tmp_path / "child").read_text()))


def test_a_crash_is_named(tmp_path: Path) -> None:
    """A signal that ended it is named."""
    assert run("kill -SEGV $$", tmp_path).ending == "ended by SIGSEGV"


def test_an_interrupt_ends_the_command(tmp_path: Path) -> None:
    """Ctrl-C ends the command and reaches the caller."""

    def interrupt(signum: int, frame: object) -> None:
        if (tmp_path / "child").exists() and (tmp_path / "child").read_text():
            raise KeyboardInterrupt

    previous = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.5, 0.1)
        with pytest.raises(KeyboardInterrupt):
            run(f"echo $$ > child; exec {sys.executable} -c 'import time; time.sleep(9999)'", tmp_path)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert_ends(int((tmp_path / "child").read_text()))


def test_a_command_begins_only_when_its_process_is_recorded(tmp_path: Path) -> None:
    """If rlint ends before it has registered the command, the command does not run, and no process is
    left.
    """
    numbers: list[int] = []

    def interrupted(number: int) -> None:
        numbers.append(number)
        time.sleep(0.2)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_command("touch ran", tmp_path, os.environ, timeout=PATIENCE, started=interrupted)
    assert_ends(numbers[0])
    assert not (tmp_path / "ran").exists()


def test_a_command_reads_nothing(tmp_path: Path) -> None:
    """Its input is empty, and not the user's keyboard."""
    assert run("cat; echo done", tmp_path).tail(2) == ["done"]
