"""How many environment steps a program takes for each of its gradient steps."""

from __future__ import annotations

import pytest

from project_builder import build, find

LEARNER = """
class Agent:
    def act(self, state):
        return self.net(state)

    def update(self, memory):
        batch = memory.sample()
        self.net_loss(batch).backward()
        self.optimizer.step()
        self.soften(self.net)

    def soften(self, net):
        self.target.copy(net)
"""
ONLINE = """
import argparse
from agent import Agent

def train(env, agent: Agent, memory, args):
    state = env.reset()
    for step in range(args.total):
        state, reward, done, _ = env.step(agent.act(state))
        memory.push(state)
        if CONDITION:
            LOOPagent.update(memory)

parser = argparse.ArgumentParser()
parser.add_argument("--train-every", type=int, default=50)
parser.add_argument("--train-steps", type=int, default=2)
parser.add_argument("--max-episode-steps", type=int, default=40)
"""
AFTERWARDS = """
from agent import Agent

def play(env, agent: Agent, memory):
    RESETdone = False
    while not done:
        state, reward, done, _ = env.step(agent.act(memory.last))
        memory.push(state)

def train(env, agent: Agent, memory):
    for episode in range(1000):
        play(env, agent, memory)
        agent.update(memory)
"""


def rate(train: str, agent: str = LEARNER, source: str = "self.target.copy(net)") -> int:
    """Return the number of environment steps that come with a gradient step around a line of the agent."""
    model = build({"agent.py": agent, "train.py": train})["agent.py"]
    return model.sizes.steps_per_update(find(model, source))


def online(condition: str, loop: str = "") -> str:
    """Return a loop over environment steps that updates under a condition."""
    return ONLINE.replace("CONDITION", condition).replace("LOOP", loop)


@pytest.mark.parametrize(
    ("condition", "steps"),
    [
        ("step % 15 == 0", 15),
        ("step % args.train_every == 0", 50),
        ("step > 1000 and step % args.train_every == 0", 50),
        ("done", 40),
        ("step % args.unknown == 0", 1),
        ("len(memory) > 64", 1),
    ],
)
def test_intervals_count(condition: str, steps: int) -> None:
    """By constants and by the defaults of options; the end of an episode comes after its steps."""
    assert rate(online(condition)) == steps


@pytest.mark.parametrize(
    ("loop", "steps"),
    [
        ("for _ in range(5): ", 10),
        ("for _ in range(args.train_steps): ", 25),
        ("for agent in agents: ", 50),
        ("for _ in range(len(memory)): ", 0),
    ],
)
def test_several_updates_at_once_share_the_steps(loop: str, steps: int) -> None:
    """Each of several agents acts in each step. An unknown number of updates leaves all unknown."""
    assert rate(online("step % args.train_every == 0", loop)) == steps


def test_a_delay_of_some_gradient_steps_does_not_count() -> None:
    """The others are taken more often. A line under an interval of its own is no update."""
    delayed = LEARNER.replace("        self.soften(", "        if self.n % 2 == 0: self.soften(")
    assert rate(online("step % 15 == 0"), delayed) == 15


def test_updates_after_an_episode() -> None:
    """It begins with `reset`; other loops may end after any number of steps."""
    episode = AFTERWARDS.replace("RESET", "env.reset()\n    ")
    assert rate(episode) == 100
    assert rate(AFTERWARDS.replace("RESET", "")) == 0
    counted = episode.replace("while not done:", "for t in range(30):")
    assert rate(counted) == 30


def test_updates_after_a_rollout_of_known_length() -> None:
    """Shared by the updates that pass over it."""
    rollout = AFTERWARDS.replace("RESET", "").replace("while not done:", "for t in range(200):")
    assert rate(rollout) == 200
    passes = rollout.replace("        agent.update(", "        for _ in range(4): agent.update(")
    assert rate(passes) == 50


def test_evaluations_collect_nothing() -> None:
    """A loop of gradient steps that evaluates in between learns from other steps."""
    evaluates = AFTERWARDS.replace("RESET", "env.reset()\n    ").replace("play(", "evaluate(")
    assert rate(evaluates) == 0


def test_the_most_frequent_call_counts() -> None:
    """Of two programs that share a learner, one updates in each step."""
    assert rate(online("step % 15 == 0") + online("True").replace("def train", "def other")) == 1


def test_steps_of_the_environment_itself() -> None:
    """What acts runs once in each of them."""
    assert rate(online("step % 15 == 0"), source="self.net(state)") == 1
