"""What runs at an interval, in whichever way and wherever the interval is written, is not hot."""

from __future__ import annotations

import textwrap

import pytest

from project_builder import build, expression, model_of
from rlint.findings import Heat

LOOP = """
    import gymnasium
    PERIOD = 25
    def train(agent, num_steps, checkpoints, last):
        env = gymnasium.make("CartPole-v1")
        for step in range(num_steps):
            obs, reward, done, truncated, info = env.step(agent.act())
{body}
"""


def heat_behind(body: str) -> Heat:
    """How hot `line()` is in the body of a loop over environment steps."""
    model = model_of(LOOP.format(body=textwrap.indent(textwrap.dedent(body).strip(), " " * 12)))
    return model.frequency.heat_of(expression(model, "line()")).level


@pytest.mark.parametrize(
    "body",
    [
        "if step % 4 == 0:\n    line()",
        "if step % 4 == 3:\n    line()",
        "if 0 == step % 4:\n    line()",
        "if step % 4:\n    line()",
        "if step % 100:\n    line()",
        "if step % 100 != 0:\n    line()",
        "if step % 100 == 0:\n    pass\nelse:\n    line()",
        "if step % 100 < 50:\n    line()",
        "if step % 25 == 0:\n    line()\n    loss.backward()",
        "if step % 25 == 0:\n    line()\n    agent.learn(obs)",
        "if step > 1000:\n    line()",
        "first = step > 1000\nif first:\n    line()",
        "if step in agent.replayed:\n    pass\nline()",
        "for reward, done in zip(rewards, dones):\n    line()",
    ],
)
def test_a_short_interval_is_no_pause(body: str) -> None:
    """A line that runs every few steps, or in most of them, or with each gradient step, stays hot."""
    assert heat_behind(body) is Heat.HOT


@pytest.mark.parametrize(
    "body",
    [
        "if step % 20 == 0:\n    line()",
        "if step % 20 == 19:\n    line()",
        "if 0 == step % 20:\n    line()",
        "if not step % 20:\n    line()",
        "if step % PERIOD == 0:\n    line()",
        "if step % 20: continue\nline()",
        "if step % 20 != 0: continue\nline()",
        "if step % 1000 == 0:\n    line()\n    agent.learn(obs)",
        "if step % 20 == 0 or step % 50 == 0:\n    line()",
        "is_time = step % 20 == 0\nif is_time:\n    line()",
        "is_time = step % 20 == 0 and step > 100\nif is_time and done:\n    line()",
        "line() if step % 20 == 0 else None",
        "step % 20 == 0 and line()",
        "if step in checkpoints:\n    line()",
        "if step == last:\n    line()",
        "if step == num_steps - 1:\n    line()",
        "if step - last_log >= agent.log_interval:\n    line()",
        "if agent.should_log(step):\n    line()",
        "if not (done or truncated): continue\nline()",
        "loss.backward()\nif step % 25 == 0:\n    line()",
    ],
)
def test_a_long_interval_cools(body: str) -> None:
    """A line that runs every ten steps or less often is not hot."""
    assert heat_behind(body) is Heat.WARM


@pytest.mark.parametrize(
    ("call", "heat"),
    [
        ("agent.improve(obs)", Heat.HOT),
        ("if step % 4 == 0: agent.improve(obs)", Heat.HOT),
        ("if step % 20 == 0: agent.improve(obs)", Heat.HOT),
        ("if step % 500 == 0: agent.improve(obs)", Heat.WARM),
    ],
)
def test_an_update_every_few_steps_is_worth_saying(call: str, heat: Heat) -> None:
    """What takes gradient steps is what the loop is for, unless it waits for long."""
    models = build(
        {
            "agent.py": """
                class Agent:
                    def improve(self, obs):
                        line()
                        self.loss(obs).backward()
                """,
            "train.py": f"""
                import gymnasium
                from agent import Agent
                agent = Agent()
                env = gymnasium.make("CartPole-v1")
                for step in range(10000):
                    obs = env.step(0)
                    {call}
                """,
        }
    )
    model = models["agent.py"]
    assert model.frequency.heat_of(expression(model, "line()")).level is heat
