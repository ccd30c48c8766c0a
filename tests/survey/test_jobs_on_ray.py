"""Jobs of verify and prove on other machines: their files are transferred, and devices run one job at a
time.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("psutil")

from patience import PATIENCE
from rlint.harness.processes.job import BEHAVIOUR, BenchJob
from rlint.harness.processes.process import EndedError
from rlint.harness.program import Subject
from rlint.survey import jobs_on_ray


def test_the_files_of_a_job(tmp_path: Path) -> None:
    """The workload, the program and its modules are transferred, but not its environment."""
    for name in ("program.py", "part/module.py", "venv/lib.py", ".hidden/a.py", "data.bin"):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(name)
    workload = tmp_path.parent / f"{tmp_path.name}-workload.py"
    workload.write_text("w")
    subject = Subject(str(tmp_path / "program.py"), "program", (str(tmp_path),), str(workload), {})
    found = jobs_on_ray.files_of(BenchJob(BEHAVIOUR, subject))
    expected = {"program.py": b"program.py", "part/module.py": b"part/module.py"}
    assert found == {str(workload): b"w", **{str(tmp_path / name): text for name, text in expected.items()}}
    assert jobs_on_ray.files_of(BenchJob(BEHAVIOUR)) == {}


def test_files_are_there_as_long_as_a_job_needs_them(tmp_path: Path) -> None:
    """Files on a node are kept; missing ones are written, and removed after the last job that needs them."""
    here, away = tmp_path / "here.py", tmp_path / "new" / "deep" / "away.py"
    here.write_bytes(b"1")
    files = {str(here): b"1", str(away): b"2"}
    with jobs_on_ray._present(files):
        with jobs_on_ray._present(files):
            assert away.read_bytes() == b"2"
        assert away.read_bytes() == b"2"
    assert here.read_bytes() == b"1"
    assert not (tmp_path / "new").exists()
    with pytest.raises(EndedError, match="another file"), jobs_on_ray._present({str(here): b"3"}):
        pass


def test_one_job_at_a_time() -> None:
    """Of two measurements on one device, the second waits; others do not."""
    order: list[str] = []

    def second() -> None:
        with jobs_on_ray._turn("test-device"):
            order.append("second")

    waiting = threading.Thread(target=second)
    with jobs_on_ray._turn("test-device"), jobs_on_ray._turn(""):
        waiting.start()
        time.sleep(0.05)
        order.append("first")
    waiting.join(PATIENCE)
    assert order == ["first", "second"]


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ([], ""),
        ([{"Alive": True, "Resources": {"CPU": 4.0}}], ""),
        (
            [
                {"Alive": True, "Resources": {"GPU": 1.0, "accelerator_type:T4": 1.0}},
                {"Alive": True, "Resources": {"GPU": 8.0, "accelerator_type:H100": 1.0}},
                {"Alive": False, "Resources": {"GPU": 16.0, "accelerator_type:A100": 1.0}},
            ],
            "accelerator_type:H100",
        ),
    ],
)
def test_one_kind_of_gpu(nodes: list[dict[str, Any]], expected: str) -> None:
    """A run measures on one kind of device, the most frequent one."""
    assert jobs_on_ray._most_frequent_gpu(nodes) == expected


@pytest.mark.slow
@pytest.mark.xdist_group("ray")
def test_verify_on_a_cluster(tmp_path: Path) -> None:
    """A rule is verified by jobs of Ray, with the result of this machine."""
    pytest.importorskip("ray")
    command = [sys.executable, "-m", "rlint", "verify", "RL101", "--quick", "--device", "cpu", "--ray"]
    done = subprocess.run(
        [*command, "--output-format", "json", "-o", "out.json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    outcomes = json.loads((tmp_path / "out.json").read_text())["outcomes"]
    assert [one["subject"] for one in outcomes] == ["RL101"] * len(outcomes)
    assert outcomes
    assert not any(one["failed"] or one["behaviour"]["differences"] for one in outcomes)
    assert "faster" in [one["verdict"] for one in outcomes]


PROGRAM = """import numpy as np


def gather(rows):
    found = np.zeros((0, 8))
    for row in rows:
        found = np.concatenate([found, row[None]])
    return found


def main():
    rows = [np.random.rand(8) for _ in range(400)]
    for step in range(20):
        gather(rows)


if __name__ == "__main__":
    main()
"""


@pytest.mark.slow
@pytest.mark.xdist_group("ray")
def test_prove_on_a_cluster(tmp_path: Path) -> None:
    """Calls of a run are replayed by jobs of Ray, with the verdict of this machine."""
    pytest.importorskip("ray")
    (tmp_path / "train.py").write_text(PROGRAM, encoding="utf-8")
    options = (
        "--isolated",
        "--path",
        "train.py",
        "--budget",
        "0.5",
        "--output-format",
        "json",
        "-o",
        "out.json",
    )
    done = subprocess.run(
        [sys.executable, "-m", "rlint", "prove", "--ray", *options, "--", sys.executable, "train.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    [fix] = [one for one in json.loads((tmp_path / "out.json").read_text())["fixes"] if one["calls"]]
    assert (fix["code"], fix["verdict"], fix["calls"]) == ("RL101", "faster", 20)
