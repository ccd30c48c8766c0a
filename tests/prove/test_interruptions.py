"""Interrupts of recording and of replays: recorded data is kept, and no folder is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from patience import PATIENCE, soon
from process_trees import attentive, have_ended

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no process groups to interrupt")

PROGRAM = """\
import multiprocessing
import sys
import time
from pathlib import Path

import numpy as np


def gather(rows):
    found = np.zeros((0, 3))
    for row in rows:
        found = np.concatenate([found, row[None]])
    return found


def gathered(rows):
    found = np.zeros((0, 3))
    for row in rows:
        found = np.concatenate([found, row[None]])
    return found.sum()


def work():
    rows = [np.random.rand(3) for _ in range(200)]
    calls = 0
    while True:
        gather(rows)
        gathered(rows)
        calls += 1
        if calls == 20:
            Path(f"recorded-{multiprocessing.current_process().pid}").touch()
        if calls > 20:
            time.sleep(0.05)
        if calls > 40 and sys.argv[2:] == ["ends"]:
            break


if __name__ == "__main__":
    if sys.argv[1] == "alone":
        work()
    else:
        context = multiprocessing.get_context(sys.argv[1])
        children = [context.Process(target=work) for _ in range(2)]
        for child in children:
            child.start()
        for child in children:
            child.join()
"""


def proving(folder: Path, *words: str) -> subprocess.Popen[str]:
    """Start `rlint prove` so that interrupts reach it, with its own folder for temporary files."""
    (folder / "train.py").write_text(PROGRAM)
    (folder / "tmp").mkdir()
    options = ("--isolated", "--budget", "0.5", "--output-format", "json", "--path", "train.py")
    return subprocess.Popen(
        attentive("-m", "rlint", "prove", *options, "--", sys.executable, "train.py", *words),
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder / "tmp")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def left(folder: Path) -> list[str]:
    """Remaining temporary folders."""
    return [one.name for one in (folder / "tmp").iterdir() if one.name.startswith("rlint")]


def ended(started: subprocess.Popen[str], children: list[psutil.Process]) -> tuple[str, str]:
    """Its output, once it and all of its child processes have ended."""
    shown, errors = started.communicate(timeout=PATIENCE)
    assert have_ended(children), errors
    return shown, errors


@pytest.mark.parametrize(
    ("method", "number"),
    [
        *(
            pytest.param(method, number, marks=pytest.mark.slow)
            for method, number in (
                ("alone", signal.SIGINT),
                ("alone", signal.SIGTERM),
                ("fork", signal.SIGTERM),
                ("fork", signal.SIGINT),
                ("spawn", signal.SIGINT),
                ("spawn", signal.SIGTERM),
            )
        ),
    ],
)
def test_a_recorded_run_is_ended_and_replayed(tmp_path: Path, method: str, number: signal.Signals) -> None:
    """Ctrl-C reaches all processes of a terminal; SIGTERM reaches only rlint, which passes it on."""
    if method == "fork" and sys.platform != "linux":
        pytest.skip("this system does not fork")
    started = proving(tmp_path, method)
    count = 1 if method == "alone" else 2
    assert soon(lambda: len(list(tmp_path.glob("recorded-*"))) == count or started.poll() is not None)
    children = psutil.Process(started.pid).children(recursive=True)
    if number == signal.SIGINT:
        os.killpg(started.pid, number)
    else:
        started.send_signal(number)
    shown, errors = ended(started, children)
    found = json.loads(shown)
    assert found["stopped"], errors
    assert [one["where"] for one in found["fixes"]] == ["gather", "gathered"], errors
    assert all(one["cases"] for one in found["fixes"])
    assert left(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_interrupted_replays_are_kept(tmp_path: Path, number: signal.Signals) -> None:
    """The proof has the results so far, and lists the fixes for which there was no time."""
    started = proving(tmp_path, "alone", "ends")
    assert started.stderr is not None
    for line in started.stderr:
        if "replaying" in line and "(2 of 2)" in line:
            break
    children = psutil.Process(started.pid).children(recursive=True)
    started.send_signal(number)
    shown, errors = ended(started, children)
    assert started.returncode == 128 + number, errors
    first, second = json.loads(shown)["fixes"]
    assert (first["where"], first["verdict"] != "not recorded") == ("gather", True), errors
    assert (second["verdict"], "interrupted" in second["reason"]) == ("not recorded", True), errors
    assert (tmp_path / "rlint.proof").exists()
    assert left(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_of_an_early_interrupt(tmp_path: Path, number: signal.Signals) -> None:
    """Before anything is recorded, there is no report."""
    started = proving(tmp_path, "alone")
    assert started.stderr is not None
    assert any("preparing fix" in line for line in started.stderr)
    started.send_signal(number)
    ended(started, [])
    assert started.returncode in (0, 2, 130)
    assert left(tmp_path) == []
