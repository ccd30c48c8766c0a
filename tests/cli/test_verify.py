"""`rlint verify` as users run it: in real processes, on their own programs."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest

from fixture_folders import ROOT
from patience import PATIENCE
from process_trees import have_ended

PROGRAM = '''\
"""Rewards for answers that are marked by tags."""

import re


def answer_reward(completions):
    """How long the answer in each completion is."""
    rewards = []
    for completion in completions:
        match = re.search(r"<answer>(.*?)</answer>", completion)
        rewards.append(len(match.group(1).strip()) if match else 0.0)
    return rewards
'''
WORKLOAD = '''\
"""Drives rewards.py."""

from rlint.harness import Workload


class Answers(Workload):
    """Short completions"""

    sizes = (50, 100)
    unit = "completions"

    def prepare(self, program, case):
        draw = case.random()
        return [f"so <answer> {draw.random()} </answer>" for _ in range(case.size)]

    def run(self, program, inputs):
        return program.answer_reward(inputs)
'''


def write(folder: Path, **files: str) -> None:
    """Write Python files by their stems."""
    for stem, text in files.items():
        (folder / f"{stem}.py").write_text(text, encoding="utf-8")


def verify(folder: Path, *arguments: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run `rlint verify --quick` in a folder; on the CPU, if the arguments name no device.

    Modules in `path` take precedence over installed ones.
    """
    device = () if "--device" in arguments else ("--device", "cpu")  # other devices are detected with PyTorch
    command = [sys.executable, "-m", "rlint", "verify", "--quick", "--isolated", *device, *arguments]
    return subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env=environment(path),
    )


def environment(first: Path | None = None) -> Mapping[str, str]:
    """That of the tests, with rlint importable from any folder."""
    path = os.pathsep.join(map(str, filter(None, (first, ROOT))))
    return {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}


def without(folder: Path, module: str) -> Path:
    """A folder that hides an installed module: importing it fails."""
    (folder / f"{module}.py").write_text(
        f"raise ModuleNotFoundError(\"No module named '{module}'\", name='{module}')\n", encoding="utf-8"
    )
    return folder


def outcomes(done: subprocess.CompletedProcess[str]) -> dict[str, dict[str, Any]]:
    """The outcomes of a report in JSON, by the name of their workload."""
    assert done.stdout, done.stderr
    return {outcome["workload"]: outcome for outcome in json.loads(done.stdout)["outcomes"]}


OWN = ("--workload", "drive.py", "rewards.py", "--output-format", "json")


def test_a_program_of_ones_own_is_run_before_and_after_its_fix(tmp_path: Path) -> None:
    """The file is unchanged; its fix behaves the same in at least 20 cases at each size, and is timed."""
    write(tmp_path, rewards=PROGRAM, drive=WORKLOAD)
    done = verify(tmp_path, *OWN)
    assert done.returncode == 0, done.stdout + done.stderr
    [outcome] = outcomes(done).values()
    assert outcome["verdict"] in ("faster", "no change")
    assert outcome["behaviour"]["differences"] == []
    assert outcome["behaviour"]["seeds"] >= 20
    assert outcome["behaviour"]["sizes"] == [2]  # a quick run compares one small size
    timed = [one for one in outcome["measurements"] if one["claim"] == "time"]
    assert {one["size"] for one in timed} == {100}  # a quick run measures the typical size
    assert all(one["after"] > 0 for one in timed)
    assert (tmp_path / "rewards.py").read_text() == PROGRAM
    assert sorted(path.name for path in tmp_path.iterdir()) == ["drive.py", "rewards.py"]


def test_a_program_may_import_its_neighbours(tmp_path: Path) -> None:
    """Fixes are applied in all named files, and the modules of a package can import each other."""
    package = tmp_path / "src" / "agent"
    package.mkdir(parents=True)
    write(package, __init__="", rewards=PROGRAM)
    write(
        package,
        train="from .rewards import answer_reward\n\ndef step(texts):\n    return answer_reward(texts)\n",
    )
    write(tmp_path, drive=WORKLOAD.replace("program.answer_reward", "program.step"))
    files = ("src/agent/train.py", "src/agent/rewards.py")
    done = verify(tmp_path, "--workload", "drive.py", *files, "--output-format", "json")
    assert done.returncode == 0, done.stdout + done.stderr
    [outcome] = outcomes(done).values()
    assert outcome["subject"] == "src/agent/train.py"
    assert outcome["behaviour"]["cases"] > 20


@pytest.mark.parametrize(
    ("workload", "message"),
    [
        (WORKLOAD.replace("    sizes = (50, 100)\n", ""), "`sizes` is empty"),
        (WORKLOAD.replace("(50, 100)", "(100, 50)"), "`sizes` must ascend"),
        ("x = 1\n", "defines no workload"),
        ("import missing_module\n", "drive.py:1: cannot be loaded: ModuleNotFoundError"),
        ("def broken(:\n", "drive.py:1: cannot be loaded: SyntaxError"),
        (WORKLOAD.replace("program.answer_reward", "program.questions"), "AttributeError"),
        (WORKLOAD.replace("case.random()", "case.rendom()"), "AttributeError"),
    ],
)
def test_a_broken_workload_is_explained(tmp_path: Path, workload: str, message: str) -> None:
    """The error and its place are shown, without a verdict."""
    write(tmp_path, rewards=PROGRAM, drive=workload)
    done = verify(tmp_path, *OWN)
    assert done.returncode == 1, done.stdout + done.stderr
    [outcome] = outcomes(done).values()
    assert (outcome["verdict"], outcome["failed"]) == ("not run here", True)
    assert message in outcome["reason"]


def test_a_package_that_a_fixture_needs_and_does_not_find_is_named(tmp_path: Path) -> None:
    """The program of RL608 draws with matplotlib, which `rlint[verify]` does not install: that is not a
    failure.
    """
    done = verify(tmp_path, "RL608", "--output-format", "json", path=without(tmp_path, "matplotlib"))
    assert done.returncode == 0, done.stdout + done.stderr
    for outcome in outcomes(done).values():
        assert (outcome["verdict"], outcome["failed"]) == ("not run here", False)
        assert outcome["reason"] == "matplotlib is not installed: `pip install matplotlib` installs it"


@pytest.mark.parametrize("late", [False, True], ids=["imported", "imported in a run"])
def test_a_package_that_ones_own_program_does_not_find_fails(late: bool, tmp_path: Path) -> None:
    """For a user's own program it is a failure, with the command that installs the missing package."""
    drive = WORKLOAD.replace('"""Drives rewards.py."""', "import PIL")
    if late:
        drive = WORKLOAD.replace("        return program", "        import PIL\n        return program")
    write(tmp_path, rewards=PROGRAM, drive=drive)
    done = verify(tmp_path, *OWN, path=without(tmp_path, "PIL"))
    assert done.returncode == 1, done.stdout + done.stderr
    [outcome] = outcomes(done).values()
    assert outcome["failed"]
    assert "`pip install pillow` installs it" in outcome["reason"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--workload", "drive.py"), "name the files to verify"),
        (("--workload", "drive.py", "."), "is not a file"),
        (("--workload", "drive.py", "clean.py"), "clean.py has nothing to fix"),
        (("--workload", "drive.py", "broken.py"), "broken.py:1"),
        (("rewards.py",), "`--workload` must name"),
        (("RL999",), "unknown rule `RL999`"),
        (("RL900",), "has no fixture"),
        (("--record", "RL502"), "excludes `--quick`"),
    ],
)
def test_what_cannot_be_verified_is_refused(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    """Nothing is run, the status is 2, and the message says what to do."""
    write(tmp_path, rewards=PROGRAM, drive=WORKLOAD, clean="x = 1\n", broken="def f(:\n")
    done = verify(tmp_path, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_a_device_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    """Its rows give the reason, and do not count."""
    write(
        tmp_path,
        rewards=PROGRAM,
        drive=WORKLOAD.replace("    unit", '    devices = ("cpu", "mps")\n    unit'),
    )
    done = verify(tmp_path, *OWN, "--device", "mps")
    found = outcomes(done)
    if found["answers"]["verdict"] != "not run here":
        pytest.skip("this machine has such a device")
    assert done.returncode == 0
    assert found["answers"]["reason"]
    assert not found["answers"]["failed"]
    assert found["answers"]["measurements"] == []


FORKS = sys.platform == "linux"
started_or_forked = pytest.mark.parametrize(
    "heavy",
    [
        pytest.param("", id="fresh", marks=pytest.mark.slow if FORKS else ()),
        pytest.param("import numpy\n", id="forked", marks=pytest.mark.skipif(not FORKS, reason="forks")),
    ],
)
"""Programs with slow imports run in processes forked from one that has imported these."""

HANGING = '''

class Hangs(Answers):
    """Never comes back"""

    def run(self, program, inputs):
        import time

        while True:
            time.sleep(1)
'''
ENDINGS = '''

class Crashes(Answers):
    """Takes the interpreter with it"""

    def run(self, program, inputs):
        import os

        os.abort()


class Grows(Answers):
    """Takes all memory"""

    def run(self, program, inputs):
        held = []
        while True:
            held.append(bytearray(2**24))


class Leaves(Answers):
    """Ends the process"""

    def run(self, program, inputs):
        import os

        os._exit(3)


class Last(Answers):
    """Comes after all of these"""
'''


@started_or_forked
def test_a_workload_that_ends_badly_is_reported_and_the_others_go_on(heavy: str, tmp_path: Path) -> None:
    """Workloads that crash or use too much memory are killed; the others are verified."""
    write(tmp_path, rewards=heavy + PROGRAM, drive=WORKLOAD + ENDINGS)
    done = verify(tmp_path, *OWN, "--timeout", str(PATIENCE), "--memory-limit", "0.5")
    assert done.returncode == 1
    found = outcomes(done)
    assert list(found) == ["answers", "crashes", "grows", "leaves", "last"]
    reasons = {name: outcome["reason"] for name, outcome in found.items() if outcome["failed"]}
    assert "SIGABRT" in reasons["crashes"]
    assert "0.5 GiB allowed" in reasons["grows"]
    assert "status 3" in reasons["leaves"]
    for name in ("answers", "last"):
        assert found[name]["verdict"] in ("faster", "no change")
    assert all(found[name]["verdict"] == "not run here" for name in reasons)


@started_or_forked
def test_a_workload_that_hangs_is_ended_and_the_others_have_their_turn(heavy: str, tmp_path: Path) -> None:
    """It is killed after the time limit; the results of the others depend on the machine."""
    write(tmp_path, rewards=heavy + PROGRAM, drive=WORKLOAD + HANGING)
    done = verify(tmp_path, *OWN, "--timeout", "3")
    assert done.returncode == 1
    found = outcomes(done)
    assert list(found) == ["answers", "hangs"]
    assert "no activity for 3 s" in found["hangs"]["reason"]
    assert found["hangs"]["verdict"] == "not run here"


SLOW = '''

class Slow(Answers):
    """Starts a process of its own and waits"""

    def run(self, program, inputs):
        import pathlib, subprocess, sys, time

        other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        pathlib.Path({mark!r}).write_text(str(other.pid))
        time.sleep(600)
'''


@contextlib.contextmanager
def _running(folder: Path, heavy: str) -> Iterator[tuple[subprocess.Popen[str], list[psutil.Process]]]:
    """`rlint verify`, once the workload's own process is there, and all processes below it."""
    mark = folder / "started"
    write(folder, rewards=heavy + PROGRAM, drive=WORKLOAD + SLOW.format(mark=str(mark)))
    command = [sys.executable, "-m", "rlint", "verify", "--quick", "--isolated", "--device", "cpu", *OWN]
    verifying = subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=environment(),
    )
    try:
        end = time.monotonic() + PATIENCE
        while not (mark.exists() and mark.read_text()):
            assert verifying.poll() is None, verifying.communicate()
            assert time.monotonic() < end, "the workload has not begun"
            time.sleep(0.05)
        below = psutil.Process(verifying.pid).children(recursive=True)
        assert int(mark.read_text()) in {process.pid for process in below}
        yield verifying, below
    finally:
        verifying.kill()
        verifying.communicate()


@pytest.mark.skipif(os.name != "posix", reason="sends POSIX signals")
@started_or_forked
def test_an_interrupt_leaves_no_process(heavy: str, tmp_path: Path) -> None:
    """Ctrl-C ends all processes; results so far are printed."""
    with _running(tmp_path, heavy) as (verifying, below):
        verifying.send_signal(signal.SIGINT)
        output, errors = verifying.communicate(timeout=PATIENCE)
        assert have_ended(below)
    assert verifying.returncode == 130, errors
    report = json.loads(output)
    assert report["interrupted"] is True
    assert {one["workload"]: one["reason"] for one in report["outcomes"]}["slow"] == "interrupted"


@pytest.mark.skipif(os.name != "posix", reason="sends POSIX signals")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
@started_or_forked
def test_a_killed_session_leaves_no_process(heavy: str, tmp_path: Path, how: signal.Signals) -> None:
    """However rlint ends, the processes that it started end, too."""
    with _running(tmp_path, heavy) as (verifying, below):
        verifying.send_signal(how)
        verifying.communicate(timeout=PATIENCE)
        assert have_ended(below)


def test_the_report_is_written_where_it_is_requested(tmp_path: Path) -> None:
    """The page is written to one file, and nothing to the terminal."""
    write(tmp_path, rewards=PROGRAM, drive=WORKLOAD)
    done = verify(tmp_path, *OWN[:-2], "--output-format", "html", "-o", "report.html")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    assert "rewards.py" in page
