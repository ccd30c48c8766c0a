"""Code that only runs at the beginning of a training."""

from __future__ import annotations

import pytest

from tests.project_builder import build, find

AGENT = """\
import gymnasium
from measures import Measures


class Agent:
    def __init__(self, config):
        self.left = 4
        self.steps = 0
        self.checks = False
        self.config = config
        SETUP

    def learn(self, batch):
        FLAG
        if TEST:
            self.look(batch)
        self.left -= 1
        self.steps += 1
        LATER


def train(args, agent, measures: Measures):
    env = gymnasium.make("CartPole-v1")
    env.reset()
    global_step = 0
    FIRST
    for step in range(args.total_steps):
        global_step += 1
        if BRANCH:
            action = env.action_space.sample()
        else:
            action = agent.act(step)
        env.step(action)
        agent.learn(action)
        MAIN


train(parse(), Agent(parse()), Measures())
"""
MEASURES = """\
class Measures:
    def explored(self, step):
        self.write(step)
"""


def is_beginning(source: str, name: str = "agent.py", **parts: str) -> bool:
    """Whether an expression runs only at the beginning, with parts of the program replaced."""
    given = {
        "SETUP": "pass", "FLAG": "pass", "TEST": "self.left > 0", "LATER": "pass", "FIRST": "pass",
        "BRANCH": "step < args.learning_starts", "MAIN": "pass",
    }  # fmt: skip
    text = AGENT
    for part, value in {**given, **parts}.items():
        text = text.replace(part, value)
    model = build({"agent.py": text, "measures.py": MEASURES})[name]
    return model.usage.phase(find(model, source)) == "in the first steps of a training"


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"TEST": "self.left != 0"},
        {"TEST": "self.left"},
        {"TEST": "0 < self.left and batch is not None"},
        {"TEST": "not self.left <= 0"},
        {"TEST": "self.checks", "FLAG": "self.checks = self.left > 0"},
        {"TEST": "checks", "FLAG": "checks = self.left > 0"},
        {"TEST": "self.steps < self.config.warmup_steps"},
    ],
)
def test_counters_that_run_down(parts: dict[str, str]) -> None:
    """A counter that nothing raises is used up after a few steps, also if a flag holds the test."""
    assert is_beginning("self.look(batch)", **parts)


@pytest.mark.parametrize(
    "parts",
    [
        {"LATER": "self.left = 4 if self.left < 0 else self.left"},
        {"LATER": "self.left += 1"},
        {"SETUP": "self.left = config.steps"},
        {"SETUP": "self.left = 100_000"},
        {"TEST": "self.left <= 0"},
        {"TEST": "self.left > 0 or batch is not None"},
        {"TEST": "self.checks", "FLAG": "self.checks = self.left > 0 or batch is None"},
        {"TEST": "self.steps > self.config.warmup_steps"},
        {"TEST": "self.steps < self.config.total_steps"},
        {"MAIN": "Agent(args).learn(step)"},
    ],
)
def test_counters_that_begin_again(parts: dict[str, str]) -> None:
    """Other code sets it again, it is large, or objects with such a counter are created in each step."""
    assert not is_beginning("self.look(batch)", **parts)


@pytest.mark.parametrize(
    ("branch", "expected"),
    [
        ("step < args.learning_starts", True),
        ("global_step <= args.num_unsup_steps + args.seed_steps", True),
        ("len(agent.memory) < args.min_buffer_size", True),
        ("not global_step > args.start_steps", True),
        ("global_step > args.learning_starts", False),
        ("step < args.total_steps", False),
        ("agent.reward < args.warmup_steps", False),
    ],
)
def test_branches_of_a_warm_up(branch: str, expected: bool) -> None:
    """Actions are random until a number of steps, which its name says to be that of the beginning."""
    assert is_beginning("env.action_space.sample()", BRANCH=branch) is expected


LOOP = "for explore_step in range(args.total_explore_steps): env.step(measures.explored(explore_step))"


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({"FIRST": LOOP}, True),
        ({"FIRST": LOOP.replace("range(", "trange(1, 1 + ")}, True),
        ({"FIRST": LOOP.replace("for explore_step in range(args", "while global_step < (args")}, True),
        ({"FIRST": LOOP, "MAIN": "measures.explored(step)"}, False),
        ({"FIRST": LOOP.replace("explore_steps", "timesteps")}, False),
        ({"MAIN": LOOP}, False),
        ({"FIRST": f"args.total_explore_steps = 1_000_000\n    {LOOP}"}, False),
    ],
)
def test_loops_before_the_main_loop(parts: dict[str, str], expected: bool) -> None:
    """Functions that only such a loop calls run at the beginning, unless it has very many steps."""
    parts = {**parts, **{key: value.replace("1 + args", "args") for key, value in parts.items()}}
    assert is_beginning("self.write(step)", "measures.py", **parts) is expected
