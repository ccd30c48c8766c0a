"""Test files: analysed for facts about the code that they use, but not checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from project_builder import build, expression
from rlint.engine import api
from rlint.run_data import Target
from rlint.semantics.imports.test_files import is_for_a_runner, is_test_file

CLONED = """
def sync(target, source):
    target.load_state_dict({k: v.clone() for k, v in source.state_dict().items()})
"""


def found(folder: Path, files: dict[str, str], codes: set[str]) -> list[tuple[str, str]]:
    """The code and file of each finding in a project of these files."""
    targets = []
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        targets.append(Target(None, path, name, frozenset(codes)))
    report = api.check(targets)
    assert not report.problems
    return [(finding.code, finding.path) for finding in report.findings]


@pytest.mark.parametrize(
    ("path", "is_test", "for_runner"),
    [
        ("agents/dqn.py", False, False),
        ("tests/test_dqn.py", True, True),
        ("tests/helpers.py", True, True),
        ("agents/dqn_test.py", True, True),
        ("conftest.py", True, True),
        ("test.py", True, False),  # many projects evaluate their agent with it
        ("docs/example.py", True, False),
        ("agents/testing/fakes.py", True, False),
        ("agents/latest.py", False, False),
        ("contest.py", False, False),
        ("agents/test_dqn.ipynb", True, False),  # no runner loads a notebook
        ("tests/test_dqn.ipynb", True, True),
    ],
)
def test_which_files_are_tests(path: str, is_test: bool, for_runner: bool) -> None:
    """By the names of files and folders."""
    module = path.partition(".")[0].replace("/", ".")
    assert is_test_file(path, module, "import agents") is is_test
    assert is_for_a_runner(path, module, "import agents") is for_runner


RANDOM = "env.step(env.action_space.sample())\n"


@pytest.mark.parametrize(
    ("text", "is_test"),
    [
        (RANDOM, True),
        ("env.step([space.sample() for space in env.action_space])\n", False),
        (f"{RANDOM}actions = agent.get_actions(state)\n", False),
        (f"{RANDOM}agent.learn(batch)\n", False),
        (f"{RANDOM}loss.backward()\n", False),
        ("env.step(agent(state))\n", False),
    ],
)
@pytest.mark.parametrize("path", ["test_env.py", "agents/test_env.ipynb", "/home/me/agents/test_env.ipynb"])
def test_files_that_only_act_at_random(path: str, text: str, *, is_test: bool) -> None:
    """They try an environment or a buffer. A script that evaluates or trains an agent is no test."""
    assert is_test_file(path, "agents.test_env", text) is is_test
    assert not is_for_a_runner(path, "agents.test_env", text)


def test_folders_above_a_project_may_be_called_anything() -> None:
    """Of an absolute path, only the part below the project's root counts."""
    assert not is_test_file("/home/me/tests/agents/dqn.py", "agents.dqn", "")
    assert is_test_file("/home/me/agents/tests/dqn.py", "tests.dqn", "")


TRAINS = """
def train(env, agent):
    while True:
        loss = agent.loss(env.step(0))
        loss.backward()
"""


@pytest.mark.parametrize(
    ("path", "text", "is_test"),
    [
        ("test.py", TRAINS, False),
        ("agents/test_dqn.py", TRAINS, False),
        ("agents/dqn_test.py", TRAINS, False),
        ("test_dqn.py", f"import pytest\n{TRAINS}", True),
        ("test_dqn.py", f"{TRAINS}\n\ndef test_train():\n    train(None, None)\n", True),
        ("test.py", f"{TRAINS}\n\ndef test(args):\n    train(args, None)\n\ntest(load())\n", False),
        ("test.py", f"{TRAINS}\n\ndef test(args):\n    assert train(args)\n\ntest(load())\n", True),
        ("test.py", f"{TRAINS}\n\ndef test(args, agent):\n    train(args, agent)\n", False),
        ("test_dqn.py", f"{TRAINS}\n\ndef test(args, agent):\n    train(args, agent)\n", True),
        ("test_dqn.py", f"{TRAINS}\n\nclass TestTrain:\n    pass\n", True),
        ("test_dqn.py", "import dqn\n", True),
        ("tests/helpers.py", TRAINS, True),
        ("conftest.py", TRAINS, True),
    ],
)
def test_a_script_is_recognised_by_its_content(path: str, text: str, is_test: bool) -> None:
    """A file named like a test that steps an environment or an optimizer and contains no test is checked."""
    assert is_test_file(path, path.removesuffix(".py").replace("/", "."), text) is is_test


def test_no_rule_looks_at_tests(tmp_path: Path) -> None:
    """Test files are not checked, among other files or alone."""
    library = {"dqn.py": CLONED}
    tests = {"tests/test_dqn.py": f"import dqn\n{CLONED}", "test.py": f"import dqn\n{CLONED}"}
    assert found(tmp_path / "a", {**library, **tests}, {"RL305"}) == [("RL305", "dqn.py")]
    assert found(tmp_path / "b", tests, {"RL305"}) == []


def test_a_test_that_cannot_be_parsed_is_reported(tmp_path: Path) -> None:
    """Also if there are only tests."""
    path = tmp_path / "test_dqn.py"
    path.write_text("def broken(:\n")
    report = api.check([Target(None, path, path.name, frozenset({"RL305"}))])
    assert [problem.path for problem in report.problems] == ["test_dqn.py"]


def test_comments_in_tests_are_checked(tmp_path: Path) -> None:
    """A comment with an unknown code is reported in any file."""
    text = "import dqn\nsteps = 3  # rlint: ignore[RL999]\n"
    files = {"dqn.py": CLONED, "tests/test_dqn.py": text}
    assert ("RL901", "tests/test_dqn.py") in found(tmp_path, files, {"RL305", "RL901"})


def test_calls_of_tests_heat_nothing() -> None:
    """A test may step through ten thousand losses: that says nothing of the training."""
    test = """
        from losses import huber, mse
        from agent import optimizer

        def test_losses():
            for _ in range(10_000):
                huber(1.0)
                optimizer.step()
    """
    train = """
        from losses import mse
        from agent import optimizer

        for _ in range(10_000):
            mse(1.0)
            optimizer.step()
    """
    losses = "def huber(x):\n    return x * 2\n\ndef mse(x):\n    return x * x\n"
    agent = "import torch\noptimizer = torch.optim.Adam(net.parameters())\n"
    models = build({"losses.py": losses, "agent.py": agent, "train.py": train, "tests/test_losses.py": test})
    model = models["losses.py"]
    assert model.frequency.may_be_warm(expression(model, "x * x"))
    assert not model.frequency.may_be_warm(expression(model, "x * 2"))


def test_a_called_test_has_unknown_effects() -> None:
    """A call of a test function may have any effect."""
    script = (
        "from test_policy import test_policy, score\n\nfor _ in range(9):\n    test_policy(1)\n    score(2)\n"
    )
    policy = "def test_policy(x):\n    return x\n\ndef score(x):\n    return x * 2\n"
    model = build({"train.py": script, "test_policy.py": policy})["train.py"]
    assert not model.effects.effect_of(expression(model, "test_policy(1)")).quiet
    assert model.effects.effect_of(expression(model, "score(2)")).quiet


def test_what_tests_read_of_an_object_is_known() -> None:
    """An attribute that only a test reads counts as read."""
    models = build(
        {
            "agent.py": "class Agent:\n    def act(self):\n        self.copied = 1\n",
            "tests/test_agent.py": "from agent import Agent\n\ndef test_act():\n    assert Agent().copied\n",
        }
    )
    assert models["agent.py"].program.is_read_in_other_file("copied")
