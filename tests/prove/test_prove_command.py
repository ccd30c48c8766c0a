"""`rlint prove` as a user runs it, on small programs, and the uses of its proof."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from process_trees import attentive

pytestmark = pytest.mark.xdist_group("prove_command")  # they share one proof, which takes long

ARRAYS = """\
import sys

import numpy as np


class Agent:
    def gather(self, rows):
        found = np.zeros((0, 8))
        for row in rows:
            found = np.concatenate([found, row[None]])
        return found

    def never(self, rows):
        found = np.zeros((0, 8))
        for row in rows:
            found = np.concatenate([found, row[None]])
        return found.sum()


def main():
    np.random.seed(0)
    agent = Agent()
    rows = [np.random.rand(8) for _ in range(400)]
    for step in range(int(sys.argv[1])):
        if step % 10 == 0:
            agent.gather(rows)
    print("done")


if __name__ == "__main__":
    main()
"""
NETWORK = """\
class Agent:
    def __init__(self):
        self.net = nn.Linear(8, 4)

    def act(self, obs):
        logits = self.net(torch.from_numpy(obs).float())
        return logits.argmax().item()

"""
PROGRAM = (
    ARRAYS.replace("import numpy as np\n", "import numpy as np\nimport torch\nfrom torch import nn\n")
    .replace("class Agent:\n", NETWORK)
    .replace("        if step", "        agent.act(rows[step % 400].astype(np.float32))\n        if step")
)
"""The same program with a network; importing PyTorch takes most of the time of a test."""


def rlint(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run rlint in a folder."""
    return subprocess.run(
        [sys.executable, "-m", "rlint", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def prove(folder: Path, *words: str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Prove a program's fixes."""
    return rlint(folder, "prove", "--isolated", "--budget", "0.3", "-q", *options, "--", *words)


@dataclass
class Proven:
    """A program, and the output of proving it."""

    folder: Path
    proof: dict[str, object]
    output: str


@pytest.fixture(scope="module")
def proven(tmp_path_factory: pytest.TempPathFactory) -> Proven:
    """One proven program, which no test changes."""
    folder = tmp_path_factory.mktemp("proven")
    (folder / "train.py").write_text(PROGRAM)
    done = prove(
        folder, sys.executable, "train.py", "100", options=("--output-format", "json", "-o", "out.json")
    )
    assert done.returncode == 0, done.stderr
    return Proven(folder, json.loads((folder / "out.json").read_text()), done.stdout)


def copied(proven: Proven, to: Path) -> Path:
    """A copy of the program and its proof, to be changed."""
    for name in ("train.py", "rlint.proof"):
        (to / name).write_bytes((proven.folder / name).read_bytes())
    return to


def test_each_fix_has_a_verdict_or_a_reason(proven: Proven) -> None:
    """The program's output is shown; code that the run does not reach is listed."""
    assert proven.output == "done\n"
    fixes = proven.proof["fixes"]
    assert isinstance(fixes, list)
    grown = next(one for one in fixes if one["code"] == "RL101" and one["calls"])
    assert (grown["where"], grown["verdict"], grown["calls"]) == ("Agent.gather", "faster", 10)
    assert grown["ratio"]["low"] > 1
    assert 0 < grown["share"] <= 1
    verdicts = sorted((one["code"], one["verdict"]) for one in fixes if one is not grown)
    assert verdicts[0] == ("RL101", "not reached")
    assert verdicts[1][1] in ("faster", "no change", "slower")


@pytest.mark.parametrize("form", ["table", "markdown", "html"])
def test_every_format_names_every_fix(proven: Proven, form: str) -> None:
    """None is left out silently."""
    from rlint.prove import proof, report

    found, own = proof.read(proven.folder / "rlint.proof", None)
    text = report.render(found, form, color=False, width=200)
    assert not own
    assert all(f"{one.code} train.py:{one.line}" in text for one in found.fixes)


def test_proven_fixes_are_applied_and_nothing_else(proven: Proven, tmp_path: Path) -> None:
    """Unsafe fixes are applied, too; the report states the condition."""
    folder = copied(proven, tmp_path)
    done = rlint(folder, "fix", "--isolated", "--proven", "rlint.proof", "--allow-dirty", "train.py")
    assert (folder / "train.py").read_text().count("np.concatenate([found, row[None]])") == 1
    assert "applied RL101 train.py" in done.stderr
    assert "not applied" in done.stderr
    assert "not reached" in done.stderr


def test_code_that_changed_since_is_not_fixed(proven: Proven, tmp_path: Path) -> None:
    """A proof is only valid for one text."""
    folder = copied(proven, tmp_path)
    (folder / "train.py").write_text(PROGRAM + "\n# later\n")
    done = rlint(folder, "fix", "--isolated", "--proven", "rlint.proof", "--allow-dirty", "train.py")
    assert done.returncode == 2
    assert "has changed since it was proven" in done.stderr
    assert (folder / "train.py").read_text() == PROGRAM + "\n# later\n"


def test_findings_are_ranked_by_what_was_measured(proven: Proven, tmp_path: Path) -> None:
    """The first is the one that gains most."""
    folder = copied(proven, tmp_path)
    done = rlint(folder, "check", "--isolated", "--proof", "rlint.proof", "train.py")
    assert done.returncode == 1
    assert done.stdout.index("RL101") < done.stdout.index("RL301")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not an rlint proof"),
        ("{}", "not an rlint proof"),
        ('{"rlint-proof": 99}', "another version"),
        ('{"rlint-proof": 1, "signature": "", "proof": {"fixes": 3}}', "not an rlint proof"),
    ],
)
def test_what_is_no_proof_is_an_error(tmp_path: Path, text: str, said: str) -> None:
    """It is data, and read as such."""
    (tmp_path / "train.py").write_text(PROGRAM)
    (tmp_path / "rlint.proof").write_text(text)
    done = rlint(tmp_path, "fix", "--isolated", "--proven", "rlint.proof", "train.py")
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize(
    ("program", "words", "said"),
    [
        ("x = 1\n", ("train.py",), "no finding has a fix"),
        (ARRAYS, ("train.py", "many"), "exit status 1"),
        (ARRAYS, ("-c", "pass"), "Not reached by this run"),
        (ARRAYS, ("-c", "open('train.py', 'a').write('#')"), "changed while it was proven"),
    ],
)
def test_bad_input_is_a_clear_sentence(
    tmp_path: Path, program: str, words: tuple[str, ...], said: str
) -> None:
    """Errors: nothing to prove, a command that fails, that runs another program, or that changes the code."""
    (tmp_path / "train.py").write_text(program)
    done = prove(tmp_path, sys.executable, *words)
    assert (done.returncode, said in done.stdout + done.stderr) == (2, True), done.stderr


def test_a_whole_run_that_fails_does_not_cost_the_verdicts(tmp_path: Path) -> None:
    """Code that runs only once has no verdict, and the report says so."""
    once = ARRAYS.replace('    print("done")', '    open("/".join([sys.argv[2], "ran"]), "x")')
    (tmp_path / "train.py").write_text(once)
    options = ("--whole-run", "1", "--select", "RL101")
    done = prove(tmp_path, sys.executable, "train.py", "30", str(tmp_path), options=options)
    assert (done.returncode, "Agent.gather" in done.stdout) == (0, True), done.stderr
    assert "whole run: not measured: the command fails before any fix" in done.stdout


def test_a_proof_that_cannot_be_written_is_said_before_the_run(tmp_path: Path) -> None:
    """The error comes before the run."""
    (tmp_path / "train.py").write_text("open('ran', 'w')\n")
    done = prove(tmp_path, sys.executable, "train.py", options=("--proof", "gone/rlint.proof"))
    assert (done.returncode, "no folder to write the proof into" in done.stderr) == (2, True)
    assert not (tmp_path / "ran").exists()


ENDLESS = ARRAYS.replace("range(int(sys.argv[1]))", "iter(int, 1)")


def test_a_program_that_never_ends_is_ended(tmp_path: Path) -> None:
    """The progress by then depends on the machine."""
    (tmp_path / "train.py").write_text(ENDLESS)
    done = prove(tmp_path, sys.executable, "train.py", options=("--seconds", "2", "--select", "RL101"))
    assert "ended early" in done.stdout, done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="no process groups to interrupt")
def test_what_was_recorded_until_an_interrupt_is_replayed(tmp_path: Path) -> None:
    """Ctrl-C, which rlint and the program both receive, ends the program, but not rlint's work."""
    mark = "            agent.gather(rows)\n"
    program = ENDLESS.replace(mark, f'{mark}            open("gathered", "w").close()\n')
    (tmp_path / "train.py").write_text(program)
    options = ("--isolated", "--budget", "0.3", "-q", "--select", "RL101")
    started = subprocess.Popen(
        attentive("-m", "rlint", "prove", *options, "--", sys.executable, "train.py"),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not (tmp_path / "gathered").exists():
        assert started.poll() is None, started.communicate()
        time.sleep(0.05)
    os.killpg(started.pid, signal.SIGINT)
    shown, errors = started.communicate()
    assert "ended early" in shown, errors
    assert "Agent.gather" in shown


CHILDREN = """\
import multiprocessing
import sys

import numpy as np


def gather(rows):
    found = np.zeros((0, 3))
    for row in rows:
        found = np.concatenate([found, row[None]])
    return found


def work(count):
    rows = [np.random.rand(3) for _ in range(count)]
    for _ in range(4):
        gather(rows)


if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    children = [context.Process(target=work, args=(200,)) for _ in range(2)]
    for child in children:
        child.start()
    for child in children:
        child.join()
"""


@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_children_are_recorded(tmp_path: Path, method: str) -> None:
    """Processes that `multiprocessing` forks or spawns are recorded."""
    if method == "fork" and sys.platform != "linux":
        pytest.skip("this system does not fork")
    (tmp_path / "train.py").write_text(CHILDREN)
    done = prove(tmp_path, sys.executable, "train.py", method, options=("--output-format", "json"))
    [fix] = json.loads(done.stdout)["fixes"]
    assert (fix["verdict"], fix["calls"], fix["where"]) == ("faster", 8, "gather"), fix


def test_a_test_suite_is_a_run(tmp_path: Path) -> None:
    """`rlint prove -- pytest` records what the tests call in modules."""
    (tmp_path / "library.py").write_text(CHILDREN)
    (tmp_path / "test_library.py").write_text(
        "import library\nimport numpy as np\n\ndef test_it():\n    for n in range(9):\n"
        "        assert len(library.gather([np.ones(3)] * n)) == n\n"
    )
    done = prove(
        tmp_path, sys.executable, "-m", "pytest", "-q", options=("--output-format", "json", "-o", "out.json")
    )
    [fix] = json.loads((tmp_path / "out.json").read_text())["fixes"]
    assert (fix["calls"], fix["where"]) == (9, "gather"), done.stderr
    assert fix["cases"] > 0
