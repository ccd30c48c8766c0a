"""`rlint profile`, `check --profile` and `fix --profile`, on programs that really run."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from patience import PATIENCE
from process_trees import attentive

ROOT = Path(__file__).parents[2]
TRAINING = """\
import sys

import numpy as np


class Env:
    def step(self, action):
        total = 0
        for number in range(1_000):
            total += number * action
        return np.ones(4) * total, 1.0, False, False, {}


class Buffer:
    def __init__(self):
        self.rows = []

    def sample(self, count):
        indices = np.random.randint(0, len(self.rows), count)
        return np.stack([self.rows[index] for index in indices])


def evaluate(env, steps):
    rewards = np.empty(0)
    for _ in range(steps):
        _, reward, *_ = env.step(0)
        rewards = np.append(rewards, np.float32(reward))
    return rewards


def train(env, steps):
    buffer = Buffer()
    rewards = np.empty(0)
    for step in range(steps):
        row, reward, *_ = env.step(step % 2)
        buffer.rows.append(row)
        rewards = np.append(rewards, np.float32(reward))
        buffer.sample(64)
    return rewards


if __name__ == "__main__":
    print(len(train(Env(), int(sys.argv[1]))))
    sys.exit(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
"""
ENDLESS = """\
import sys

import work

try:
    sys.stdout.write("ready\\n")
    sys.stdout.flush()
    while True:
        work.step()
        work.step()
except KeyboardInterrupt:
    print("stopped")
    raise
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A folder with a training, a program without end, and a package."""
    (tmp_path / "rlint.toml").touch()
    (tmp_path / "train.py").write_text(TRAINING)
    (tmp_path / "endless.py").write_text(ENDLESS)
    (tmp_path / "work.py").write_text("def step():\n    return sum(range(500))\n")
    return tmp_path


def rlint(folder: Path, *arguments: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    """Run rlint there."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "rlint", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A profile of the training, recorded once, in a folder that is not that of the tests."""
    folder = tmp_path_factory.mktemp("recording")
    (folder / "train.py").write_text(TRAINING)
    rlint(folder, "profile", "-o", "run.pstats", "--", sys.executable, "train.py", "1500")
    return folder / "run.pstats"


def test_findings_are_ranked_by_a_real_run(program: Path) -> None:
    """Findings are sorted by cost, with their share and gain; code that never ran comes last, as cold."""
    done = rlint(program, "profile", "--", sys.executable, "train.py", "1500", "3", status=3)
    assert done.stdout == "1500\n"
    assert "`rlint check --profile rlint.pstats` ranks findings by it" in done.stderr
    check = ("check", "--profile", "rlint.pstats", "train.py")
    found = json.loads(rlint(program, *check, "--output-format", "json", status=1).stdout)
    run = found.pop()
    places = [(each["code"], each["location"]["row"]) for each in found]
    assert places.index(("RL102", 20)) < places.index(("RL101", 37)) < places.index(("RL101", 27))
    picked, grown, unused = (
        found[places.index(place)] for place in (("RL102", 20), ("RL101", 37), ("RL101", 27))
    )
    assert picked["profile"]["basis"] == "calls"
    assert 0 < grown["profile"]["share"]["high"] < picked["profile"]["share"]["high"] < 1
    assert (grown["profile"]["evidence"], grown["profile"]["calls"]) == ("measured", 1)
    assert grown["profile"]["saved"]["high"] <= grown["profile"]["share"]["high"]
    assert (unused["profile"]["basis"], unused["profile"]["calls"], unused["heat"]) == ("not seen", 0, "cold")
    assert (run["name"], run["profile"]["format"]) == ("profile", "cProfile")
    assert [each["name"] for each in run["profile"]["hot_functions"] if each["in_project"]] == ["Env.step"]


def test_the_report_for_people_says_shares_and_sums(program: Path, recording: Path) -> None:
    """In full; and short in a line each."""
    shutil.copy(recording, program)
    full = rlint(program, "check", "--profile", "run.pstats", "train.py", status=1).stdout
    assert " of the run (the calls on these lines, and at most the function's own time" in full
    assert " less time if it is fixed (this share, " in full
    assert "share: none of the run: the function was not called while the profile was recorded" in full
    assert "Hot in the profile, but not reported by any rule:" in full
    assert "environment steps: step several environments at once" in full
    assert "`rlint fix` would take " in full
    concise = rlint(
        program, "check", "--profile", "run.pstats", "--output-format", "concise", status=1
    ).stdout
    assert "[did not run]" in concise
    github = rlint(program, "check", "--profile", "run.pstats", "--output-format", "github", status=1).stdout
    assert "of the run" not in github


def test_cold_findings_drop_out(program: Path, recording: Path) -> None:
    """Findings below the minimum share are left out; the report says how many."""
    shutil.copy(recording, program)
    shown = rlint(
        program, "check", "--profile", "run.pstats", "--min-share", "0.01", "train.py", status=1
    ).stdout
    assert "train.py:37" in shown
    assert "train.py:27" not in shown
    assert "below `--min-share` hidden" in shown
    rlint(program, "check", "--profile", "run.pstats", "--min-share", "100", "train.py")


def test_fixing_says_what_it_took_off_the_run(program: Path, recording: Path) -> None:
    """Only findings above the minimum share are fixed."""
    shutil.copy(recording, program)
    before = (program / "train.py").read_text()
    done = rlint(program, "fix", "--profile", "run.pstats", "--min-share", "0.01", "train.py", status=1)
    assert "What was fixed takes " in done.stdout
    after = (program / "train.py").read_text()
    assert after.partition("def train")[0] == before.partition("def train")[0]
    assert "np.append(rewards, np.float32(reward))" not in after.partition("def train")[2]


def test_the_profile_of_another_machine(program: Path, tmp_path: Path, recording: Path) -> None:
    """If the project has moved and its lines have changed, functions are matched by name, and the report says
    so.
    """
    shutil.copy(recording, program)
    other = tmp_path / "elsewhere"
    other.mkdir()
    (other / "rlint.toml").touch()
    (other / "train.py").write_text("# new\n# lines\n" + TRAINING)
    shown = rlint(
        other, "check", "--profile", "../run.pstats", "--min-share", "0.01", "train.py", status=1
    ).stdout
    assert "changed since it was profiled, functions are matched by name: train.py" in shown
    assert "--> train.py:39:" in shown
    (program / "train.py").unlink()
    (other / "train.py").write_text("# new\n# lines\n" + TRAINING)
    assert rlint(other, "check", "--profile", "../run.pstats", "train.py", status=1).stdout.startswith(
        "RL102"
    )


def test_a_profile_makes_hot_what_only_a_run_can_show(program: Path) -> None:
    """A function that is called through a table is cold by static analysis, and hot by the profile."""
    (program / "tables.py").write_text(
        "import numpy as np\n\n\ndef squash(value):\n    return np.clip(float(value), -1.0, 1.0)\n\n\n"
        "table = {'a': squash}\nfor _ in range(2000):\n    table['a'](3)\n"
    )
    rlint(program, "check", "tables.py")
    rlint(program, "profile", "-o", "t.pstats", "--", sys.executable, "tables.py")
    shown = rlint(program, "check", "--profile", "t.pstats", "tables.py", status=1).stdout
    assert "RL508" in shown
    assert "why hot: squash (called 2,000 times in the profiled run)" in shown


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        (["{python}", "-u", "train.py", "5"], "5\n"),
        (["{python}", "-um", "train", "5"], "5\n"),
        (["{python}", "-c", "import sys, train; print(sys.argv, sys.path[0])", "a"], "['-c', 'a'] \n"),
        (["env", "X=1", "{python}", "train.py", "5"], "5\n"),
        (["./tool", "5"], "5\n"),
    ],
)  # fmt: skip
def test_the_ways_to_start_a_program(program: Path, command: list[str], printed: str) -> None:
    """A script, a module, code, a launcher in front, a script with a first line that names its Python."""
    (program / "tool").write_text(f"#!{sys.executable}\n" + TRAINING)
    (program / "tool").chmod(0o755)
    words = [word.format(python=sys.executable) for word in command]
    done = rlint(program, "profile", "-q", "-o", "out/x.pstats", *words)
    assert (done.stdout, done.stderr) == (printed, "")
    assert (program / "out" / "x.pstats").stat().st_size > 0


@pytest.mark.parametrize(
    ("code", "status", "said"),
    [
        ("raise SystemExit(7)", 7, ""),
        ("raise SystemExit('no')", 1, "no\n"),
        ("def f(): raise ValueError(3)\nf()", 1, 'File "<string>", line 1, in f\nValueError: 3\n'),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM); import time; time.sleep(9)", 143, ""),
    ],
)
def test_the_status_is_that_of_the_program(program: Path, code: str, status: int, said: str) -> None:
    """The program's messages are shown, tracebacks omit rlint's frames, and the profile is written."""
    done = rlint(program, "profile", "-q", "-o", "x.pstats", "--", sys.executable, "-c", code, status=status)
    assert done.stderr.endswith(said)
    assert "runner.py" not in done.stderr
    assert (program / "x.pstats").exists()


@pytest.mark.parametrize(
    "limit", [("--steps", "500"), ("--seconds", "3"), ("--steps", "9", "--step-function", "work.py:step")]
)
def test_a_limit_ends_the_run(program: Path, limit: tuple[str, ...]) -> None:
    """As Ctrl-C would, with status 0 and the profile of what ran."""
    done = rlint(program, "profile", *limit, "-o", "x.pstats", "--", sys.executable, "endless.py")
    assert done.stdout == "ready\nstopped\n"
    assert "Traceback" not in done.stderr
    assert "stopped at the limit" in done.stderr
    assert (program / "x.pstats").exists()


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_has_a_profile(program: Path, number: int, status: int) -> None:
    """Ctrl-C reaches the program by itself; a SIGTERM that only rlint receives is passed on."""
    words = ["-m", "rlint", "profile", "-o", "x.pstats", "--", sys.executable, "endless.py"]
    process = subprocess.Popen(
        attentive(*words),
        cwd=program,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.2)
    if number == signal.SIGINT:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == status, err
    assert ("stopped\n" in out) == (number == signal.SIGINT)
    assert (program / "x.pstats").exists()


def py_spy_works() -> bool:
    """Whether py-spy is installed and may trace a process here."""
    found = shutil.which("py-spy") or str(Path(sys.executable).with_name("py-spy"))
    try:
        done = subprocess.run(
            [
                found,
                "record",
                "-d",
                "1",
                "-f",
                "raw",
                "-o",
                os.devnull,
                "--",
                sys.executable,
                "-c",
                "import time; time.sleep(.5)",
            ],
            capture_output=True,
            check=False,
            timeout=PATIENCE,
        )
    except OSError:
        return False
    return done.returncode == 0


def test_py_spy_records_lines(program: Path) -> None:
    """The program's output and status are kept, and shares refer to lines."""
    if not py_spy_works():
        pytest.skip("py-spy is not installed, or may not trace processes here (ptrace)")
    words = (
        "profile",
        "-q",
        "--profiler",
        "py-spy",
        "-o",
        "x.json",
        "--",
        sys.executable,
        "train.py",
        "4000",
        "5",
    )
    assert rlint(program, *words, status=5).stdout == "4000\n"
    found = json.loads(
        rlint(program, "check", "--profile", "x.json", "--output-format", "json", "train.py", status=1).stdout
    )
    by_line = {each["location"]["row"]: each["profile"] for each in found if each["code"]}
    assert by_line[20]["basis"] == "lines"
    assert 0 < by_line[20]["share"]["low"] == by_line[20]["share"]["high"] < 1
    assert by_line[27]["basis"] == "not seen"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("check", "--profile", "none.pstats"), "none.pstats: cannot read the profile: No such file"),
        (("check", "--profile", "train.py"), "train.py: cannot read the profile: line 1 is not a stack"),
        (("fix", "--profile", "train.py"), "train.py: cannot read the profile: "),
        (("check", "--min-share", "3"), "`--min-share` needs a `--profile`"),
        (("profile",), "Missing argument"),
        (("profile", "python", "none.py"), "no such file: `none.py`"),
        (("profile", "python"), "names no script or module to profile"),
        (("profile", "no-such-program"), "no such program: `no-such-program`"),
        (("profile", "ls"), "cannot tell which Python runs `ls`"),
        (("profile", "-o", ".", "python", "train.py"), "cannot write the profile: it is a folder"),
        (("profile", "--profiler", "py-spy", "--steps", "3", "python", "train.py"), "py-spy counts no calls"),
        (("profile", "-q", "-o", "x", "python", "-c", "import os; os._exit(4)"), "without a profile"),
    ],
)
def test_mistakes_are_explained(program: Path, arguments: tuple[str, ...], said: str) -> None:
    """The status is 2, the message says what is wrong and where, and nothing is written."""
    words = [sys.executable if word == "python" else word for word in arguments]
    assert said in rlint(program, *words, status=2).stderr
    assert (program / "train.py").read_text() == TRAINING
