"""Checking in several real processes, which a user, the system or a lack of memory may end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from fixture_folders import ROOT
from patience import PATIENCE
from process_trees import have_ended

JOBS = 3
MODULE = """\
import numpy as np
import torch


class Agent{number}:
    def __init__(self, env, network):
        self.env, self.network = env, network
        self.states = np.zeros((0, 4))

"""
METHOD = """\
    def rollout_{number}(self, steps):
        state = self.env.reset()
        for step in range(steps):
            action = self.network(torch.as_tensor(state)).argmax().item()
            state, reward, done, info = self.env.step(action)
            self.states = np.concatenate([self.states, state[None]])
        return self.states

"""


def write_project(folder: Path, methods: int) -> None:
    """Unrelated programs, and one of several files that is too large for a single process. With 50 methods,
    checking them takes seconds.
    """
    body = "".join(METHOD.format(number=number) for number in range(methods))
    for number in range(8):
        (folder / f"script_{number}.py").write_text(MODULE.format(number=number) + body)
    package = folder / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    for number in range(30):
        adjacent = f"from package.agent_{number - 1} import Agent{number - 1}\n" if number else ""
        (package / f"agent_{number}.py").write_text(adjacent + MODULE.format(number=number) + body)


def started(*arguments: str, cwd: Path) -> subprocess.Popen[str]:
    """Start `rlint check` as a user does, on everything and without a cache."""
    command = [sys.executable, "-m", "rlint", "check", "--no-cache", "--output-format", "concise", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        command, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.fixture
def checking(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], list[psutil.Process]]]:
    """A running check and its worker processes."""
    write_project(tmp_path, 50)
    process = started("--jobs", str(JOBS), cwd=tmp_path)
    try:
        end = time.monotonic() + PATIENCE
        while len(below := psutil.Process(process.pid).children(recursive=True)) < JOBS:
            assert process.poll() is None
            assert time.monotonic() < end, "the processes are not started"
            time.sleep(0.005)
        yield process, below
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("methods", "numbers"), [(3, ("1", "3")), pytest.param(5, ("1", "2", "3"), marks=pytest.mark.slow)]
)
def test_several_processes_find_what_one_finds(
    tmp_path: Path, methods: int, numbers: tuple[str, ...]
) -> None:
    """The findings do not depend on which process checks a file, or reads the rest of its group."""
    write_project(tmp_path, methods)
    outputs = []
    for jobs in numbers:
        process = started("--jobs", jobs, cwd=tmp_path)
        output, errors = process.communicate()
        assert (process.returncode, errors) == (1, "")
        outputs.append(output)
    assert outputs[0].count("RL101") == 38 * methods
    assert set(outputs) == {outputs[0]}


@pytest.mark.skipif(sys.platform != "linux", reason="processes are told by their parents")
@pytest.mark.parametrize(
    "how", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow), signal.SIGKILL]
)
def test_no_process_outlives_the_run(
    checking: tuple[subprocess.Popen[str], list[psutil.Process]], how: signal.Signals
) -> None:
    """Ctrl-C ends all of them; if one is killed, the others notice."""
    process, below = checking
    process.send_signal(how)
    output, errors = process.communicate()
    assert process.returncode == (130 if how is signal.SIGINT else -how)
    assert "Traceback" not in output + errors
    assert have_ended(below)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are told by their parents")
@pytest.mark.parametrize(
    "number", [0, *(pytest.param(each, marks=pytest.mark.slow) for each in range(1, JOBS))]
)
def test_a_process_that_is_killed_is_reported(
    checking: tuple[subprocess.Popen[str], list[psutil.Process]], number: int
) -> None:
    """The system may kill any of them for lack of memory: the run then reports that it is incomplete."""
    process, below = checking
    below[number].kill()
    output, errors = process.communicate()
    assert (process.returncode, output) == (2, "")
    assert errors == ("rlint: error: a worker process of rlint died unexpectedly; try `--jobs 1`\n")
    assert have_ended(below)


SPAWNING = """\
import rlint.engine.pool.workers

rlint.engine.pool.workers.FORKS = False
if __name__ == "__main__":
    from rlint.__main__ import main

    main()
"""


@pytest.mark.slow
def test_processes_that_cannot_be_copied_find_the_same(tmp_path: Path) -> None:
    """Without fork, each process is spawned."""
    write_project(tmp_path, 3)
    script = tmp_path / "spawning" / "start.py"
    script.parent.mkdir()
    script.write_text(SPAWNING)
    command = ["check", "--no-cache", "--output-format", "concise", "--jobs", "2", "package"]
    done = [
        subprocess.run(
            [sys.executable, *start, *command],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        for start in (["-m", "rlint"], [str(script)])
    ]
    assert [each.stderr for each in done] == ["", ""]
    assert done[0].stdout.count("RL101") == 30 * 3
    assert done[1].stdout == done[0].stdout


@pytest.mark.skipif(sys.platform != "linux", reason="limits")
@pytest.mark.parametrize(("files", "jobs", "status"), [(64, "1", 1), (64, "100", 2), (10, "3", 1)])
def test_a_system_that_gives_too_little_is_reported(
    files: int, jobs: str, status: int, tmp_path: Path
) -> None:
    """Fewer processes are used if few files can be open; otherwise the message says what to do."""
    import resource

    write_project(tmp_path, 1)
    command = [sys.executable, "-m", "rlint", "check", "--no-cache", "--quiet", "--jobs", jobs]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)),
    )
    assert (done.returncode, "RL101" in done.stdout) == (status, status == 1)
    said = "rlint: error: cannot start worker processes: Too many open files; try `--jobs 1`\n"
    assert done.stderr == (said if status == 2 else "")
