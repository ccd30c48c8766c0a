"""Processes for jobs: forked ones are like fresh ones, and start faster."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

import measured_programs
from patience import PATIENCE
from process_trees import have_ended
from rlint.harness.processes import process
from rlint.harness.processes.job import TIMING, BenchJob, Message
from rlint.harness.processes.start import ForkServers, ForkStart, fresh
from rlint.harness.program import Subject

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux only")

REPORTS = """
import os, random, sys
import numpy

def run(inputs):
    raise RuntimeError(repr({
        "threads": os.environ["OMP_NUM_THREADS"],
        "hash": hash("rollout"),
        "path": [entry for entry in sys.path if entry],
        "arguments": sys.argv[1:],
        "leads": os.getpgid(0) == os.getpid(),
        "numpy": "numpy" in sys.modules,
    }))
"""


@pytest.fixture
def servers() -> Iterator[ForkServers]:
    """Fork servers that end with the test."""
    with contextlib.closing(ForkServers()) as made:
        yield made


def said(subject: Subject, start: ForkStart, *, threads: int = 1, hash_seed: int = 0) -> str:
    """The message of the error that the program raises."""
    found: list[str] = []

    def take(message: Message) -> None:
        if message.kind == "failed":
            found.append(message.data.partition("RuntimeError: ")[2])

    job = BenchJob(TIMING, subject, (measured_programs.NAME,))
    process.run(
        job, process.ProcessLimits(30, 2**31), take, threads=threads, hash_seed=hash_seed, start=start
    )
    return found[0]


@pytest.mark.parametrize(("threads", "hash_seed"), [(1, 0), (2, 5)])
def test_a_forked_process_is_like_a_fresh_one(
    servers: ForkServers, tmp_path: Path, threads: int, hash_seed: int
) -> None:
    """It has the requested threads and hash seed, and cannot be distinguished from a fresh process."""
    subject = measured_programs.write(tmp_path, REPORTS)
    forked = servers.start_for(subject, "cpu")
    assert forked is not fresh
    assert said(subject, forked, threads=threads, hash_seed=hash_seed) == said(
        subject, fresh, threads=threads, hash_seed=hash_seed
    )


def test_what_is_quick_to_import_is_not_forked(servers: ForkServers, tmp_path: Path) -> None:
    """Processes for other devices are not forked, because drivers do not survive a fork."""
    plain = measured_programs.write(tmp_path, "def run(inputs):\n    return 1\n")
    assert servers.start_for(plain, "cpu") is fresh
    heavy = measured_programs.write(tmp_path, REPORTS)
    assert servers.start_for(heavy, "cuda") is fresh


def test_a_server_that_was_ended_is_replaced(servers: ForkServers, tmp_path: Path) -> None:
    """Jobs continue if a server was killed, for instance for lack of memory."""
    subject = measured_programs.write(tmp_path, REPORTS)
    start = servers.start_for(subject, "cpu")
    first = said(subject, start)
    for one in psutil.Process().children():
        if any("fork_server" in part for part in one.cmdline()):
            one.kill()
    assert said(subject, start) == first
    assert said(subject, start) == first


def test_no_server_is_left(tmp_path: Path) -> None:
    """Closing ends them all, used or not."""
    subject = measured_programs.write(tmp_path, REPORTS)
    with contextlib.closing(ForkServers()) as made, tempfile.TemporaryFile() as errors:
        waiting = made.start_for(subject, "cpu")(errors, threads=1, hash_seed=0)
        started = psutil.Process().children(recursive=True)
        assert waiting.stdin is not None
        assert waiting.stdout is not None
        assert waiting.poll() is None
        waiting.stdin.close()  # it is no longer waited for
        assert waiting.wait(timeout=PATIENCE) != 0
        waiting.stdout.close()
    assert started
    assert have_ended(started)
