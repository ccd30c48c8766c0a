"""Which lines run in each iteration of a training loop, and which at intervals."""

from __future__ import annotations

import ast

import pytest

from project_builder import build, expression, model_of

LEARN = """
    class DQNAgent:
        def learn(self, batch):
            {before}
            loss = self.loss(batch)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            {after}
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("pass", "sync()"),
        ("sync()", "pass"),
        ("if len(self.memory) < self.batch_size: return", "sync()"),
        ("if self.steps % self.every: return", "sync()"),
        ("pass", "if self.steps > self.learning_starts: sync()"),
        ("pass", "if self.steps % 4 == 0: sync()"),
        ("pass", "if self.training: sync()"),
    ],
)
def test_as_often_as_the_parameters_change(before: str, after: str) -> None:
    """A line next to a gradient step runs as often as the step; a `continue` before both changes nothing."""
    model = model_of(LEARN.format(before=before, after=after))
    assert model.frequency.runs_each_pass(expression(model, "sync()"))


@pytest.mark.parametrize(
    "after",
    [
        "if self.steps % 1000 == 0: sync()",
        "if self.steps % self.target_every == 0: sync()",
        "if self.since_sync >= self.target_period: sync()",
        "if self.steps == self.next_sync: sync()",
        "if self.should(): sync()",
        "try:\n                pass\n            except ValueError:\n                sync()",
    ],
)
def test_under_an_interval_or_an_unknown_condition(after: str) -> None:
    """If it is unknown whether code runs each time, the answer is no."""
    model = model_of(LEARN.format(before="pass", after=after))
    assert not model.frequency.runs_each_pass(expression(model, "sync()"))


def test_a_way_out_on_most_steps() -> None:
    """`if step % n: return` after the gradient step is an interval, too."""
    model = model_of(LEARN.format(before="pass", after="if self.steps % 500: return\n            sync()"))
    assert not model.frequency.runs_each_pass(expression(model, "sync()"))


MAIN = """
    import gymnasium
    from agent import DQNAgent
    agent = DQNAgent()
    env = gymnasium.make("CartPole-v1")
    agent.copy()
    for step in range(100000):
        obs, reward, done, info = env.step(env.action_space.sample())
        {call}
"""
AGENT = """
    class DQNAgent:
        def copy(self):
            overwrite()
"""


@pytest.mark.parametrize(
    ("call", "each"),
    [
        ("agent.copy()", True),
        ("for _ in range(2): agent.copy()", True),
        ("if step % 500 == 0: agent.copy()", False),
        ("if step % period == 0: agent.copy()", False),
        ("if step % period == 0:\n            for _ in range(2): agent.copy()", False),
    ],
)
def test_intervals_at_the_calls_count(call: str, *, each: bool) -> None:
    """A method's frequency depends on the conditions around its hot calls; calls in set-up code do not
    count.
    """
    models = build({"agent.py": AGENT, "main.py": MAIN.format(call=call)})
    model = models["agent.py"]
    assert model.frequency.runs_each_pass(expression(model, "overwrite()")) is each


def test_who_calls_a_function_must_be_known() -> None:
    """A method that is hot only judging by its name may be called at long intervals."""
    model = model_of("class Agent:\n    def update_target_network(self):\n        overwrite()\n")
    assert not model.frequency.runs_each_pass(expression(model, "overwrite()"))


def test_helpers_are_judged_by_what_they_are_given() -> None:
    """The names of arguments that hot calls pass to a parameter; those of set-up code do not count."""
    models = build(
        {
            "tools.py": "def overwrite(into, source):\n    into.load(source)\n",
            "main.py": """
                import gymnasium
                from tools import overwrite
                env = gymnasium.make("CartPole-v1")
                overwrite(first, net)
                while True:
                    env.step(0)
                    overwrite(agent.target_net, source=nets[0])
                    overwrite([net], net)
                    overwrite("online", net)
                """,
        }
    )
    model = models["tools.py"]
    into, source = expression(model, "into"), expression(model, "source")
    assert isinstance(into, ast.Name)
    assert isinstance(source, ast.Name)
    assert model.frequency.passed_names(into) == ["target_net", ""]  # none for a text
    assert model.frequency.passed_names(source) == ["nets", "net", "net"]
