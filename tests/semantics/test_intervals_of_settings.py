"""An interval cools the code under it, if it is counted by hand, or its length is a constructor argument."""

from __future__ import annotations

import textwrap

import pytest

from project_builder import build, expression
from rlint.findings import Heat

LEARNER = """
    class DQNAgent:
        def __init__(self, network{parameters}):
            self.network = network
            self.count = 0
            self.since = 0
            self.is_due = False
{init}

        def act(self, obs):
            return self.network(obs)

        def observe(self, step, obs):
            self.count += 1
{body}

        def sync(self):
            line()
    """
TRAIN = """
    import argparse
    import gymnasium
    from learner import DQNAgent
    parser = argparse.ArgumentParser()
    parser.add_argument("--target-update", type=int, default=500)
    parser.add_argument("--replace", type=int, default=500)
    parser.add_argument("--often", type=int, default=2)
    args = parser.parse_args()
    PERIOD = 500

    def main():
        env = gymnasium.make("CartPole-v1")
        agent = DQNAgent({call})
        for step in range(10000):
            obs = env.step(agent.act(0))
            agent.observe(step, obs)

    main()
    """


def heat_of_sync(parameters: str, init: str, body: str, call: str) -> Heat:
    """The heat of a method that an agent calls in `body`; the agent is created with these parameters by
    `call`.
    """
    learner = LEARNER.format(
        parameters=parameters,
        init=textwrap.indent(textwrap.dedent(init).strip(), " " * 12),
        body=textwrap.indent(textwrap.dedent(body).strip(), " " * 12),
    )
    models = build({"learner.py": learner, "train.py": TRAIN.format(call=call)})
    model = models["learner.py"]
    return model.frequency.heat_of(expression(model, "line()")).level


@pytest.mark.parametrize(
    ("parameters", "init", "call", "heat"),
    [
        (", target_update=100", "self.target_update = target_update", "net", Heat.WARM),
        (", target_update=1", "self.target_update = target_update", "net", Heat.HOT),
        (", target_update", "self.target_update = target_update", "net, target_update=100", Heat.WARM),
        (", target_update", "self.target_update = target_update", "net, 100", Heat.WARM),
        (", target_update", "self.target_update = target_update", "net, 2", Heat.HOT),
        (", target_update=1", "self.target_update = target_update", "net, target_update=100", Heat.WARM),
        (", target_update=1", "self.target_update = target_update", "net, 100", Heat.WARM),
        (", target_update", "self.target_update = target_update", "net, args.target_update", Heat.WARM),
        (", target_update", "self.target_update = target_update", "net, PERIOD", Heat.WARM),
        (", target_update", "self.target_update = target_update", "net, target_update=PERIOD", Heat.WARM),
        (", target_update", "self.target_update = target_update", "net, args.often", Heat.HOT),
        (", replace=100", "self.target_update = replace", "net", Heat.WARM),
        (", replace", "self.target_update = replace", "net, replace=100", Heat.WARM),
        (", replace", "self.target_update = replace", "net, 100", Heat.WARM),
        (", replace", "self.target_update = int(replace)", "net, args.replace", Heat.WARM),
        (", C=100", "self.target_update = C", "net", Heat.WARM),
        (", args", "self.target_update = args.replace", "net, args", Heat.WARM),
        (", C=1", "self.target_update = C", "net, C=100", Heat.WARM),
        (", C=1", "self.target_update = C", "net", Heat.HOT),
    ],
)
def test_a_length_that_a_constructor_is_given(parameters: str, init: str, call: str, heat: Heat) -> None:
    """The length of an interval is the constructor argument that the program passes, else the default."""
    body = "if self.count % self.target_update == 0:\n    self.sync()"
    assert heat_of_sync(parameters, init, body, call) is heat


@pytest.mark.parametrize(
    ("body", "heat"),
    [
        ("if (step + 1) % self.every == 0: self.sync()", Heat.WARM),
        ("if self.count % self.every == self.every - 1: self.sync()", Heat.WARM),
        ("if step // self.every > self.last: self.sync()", Heat.WARM),
        ("if step // self.every != (step - 1) // self.every: self.sync()", Heat.WARM),
        ("self.since += 1\nif self.since >= self.every:\n    self.since = 0\n    self.sync()", Heat.WARM),
        ("self.since += 1\nif self.since == self.every:\n    self.since = 0\n    self.sync()", Heat.WARM),
        ("self.since += 1\nif self.since >= 100:\n    self.since = 0\n    self.sync()", Heat.WARM),
        ("self.since += 1\nif self.since >= 100:\n    self.sync()\n    self.since = 0", Heat.WARM),
        ("self.since += 1\nif self.since > 100:\n    self.sync()", Heat.HOT),
        ("self.since += 1\nif self.since >= 2:\n    self.since = 0\n    self.sync()", Heat.HOT),
        ("self.since -= 1\nif self.since <= 0:\n    self.since = 100\n    self.sync()", Heat.WARM),
        ("self.since -= 1\nif self.since == 0:\n    self.since = self.every\n    self.sync()", Heat.WARM),
        ("if self.count % self.every == 0: self.is_due = True\nif self.is_due:\n    self.sync()", Heat.HOT),
        (
            "self.is_due = self.count % self.every == 0\nif self.is_due:\n    self.sync()",
            Heat.WARM,
        ),
        (
            "if step % self.every == 0: self.is_due = True\nif self.is_due:\n    self.sync()\n"
            "    self.is_due = False",
            Heat.WARM,
        ),
        ("due = False\nif step % self.every == 0:\n    due = True\nif due:\n    self.sync()", Heat.WARM),
        ("self.since = (self.since + 1) % self.every\nif self.since == 0:\n    self.sync()", Heat.WARM),
    ],
)
def test_an_interval_that_is_written_otherwise(body: str, heat: Heat) -> None:
    """Counters that are reset by hand, flags that are set at intervals, and quotients of a count."""
    assert heat_of_sync(", every=100", "self.every = every\nself.last = 0", body, "net") is heat


@pytest.mark.parametrize(
    ("parameters", "init", "test", "call", "heat"),
    [
        (", render=False", "self.render = render", "self.render", "net", Heat.COLD),
        (", render=False", "self.show = render", "self.show", "net", Heat.COLD),
        (", render=False", "self.show = render", "self.show", "net, True", Heat.HOT),
        (", render=False", "self.render = render", "self.render", "net, True", Heat.HOT),
        (", verbose=0", "self.verbose = verbose", "self.verbose > 0", "net", Heat.COLD),
        (", verbose=0", "self.verbose = verbose", "self.verbose == 1", "net", Heat.COLD),
        (", verbose=0", "self.verbose = verbose", "self.verbose >= 1", "net, verbose=1", Heat.COLD),
        (", draw_debug=False", "self._draw_debug = draw_debug", "self._draw_debug", "net", Heat.COLD),
        (", use_gae=False", "self.use_gae = use_gae", "self.use_gae", "net", Heat.HOT),
        (", is_plotted=True", "self.plot = is_plotted", "self.plot", "net", Heat.HOT),
    ],
)
def test_switches_that_a_constructor_is_given(
    parameters: str, init: str, test: str, call: str, heat: Heat
) -> None:
    """Output on request is cold if no constructor call requests it."""
    assert heat_of_sync(parameters, init, f"if {test}: self.sync()", call) is heat


@pytest.mark.parametrize(
    ("every", "is_often", "periods"), [("4", True, [4]), ("1", True, []), ("50", False, [50])]
)
def test_all_questions_know_how_long_an_interval_is(every: str, is_often: bool, periods: list[int]) -> None:
    """Cadence and conditions of a line use the same interval lengths as its heat."""
    learner = LEARNER.format(
        parameters=f", replace={every}",
        init="            self.every = replace",
        body="            self.loss(obs).backward()\n"
        "            if self.count % self.every == 0:\n                self.sync()",
    )
    models = build({"learner.py": learner, "train.py": TRAIN.format(call="net")})
    model = models["learner.py"]
    line = expression(model, "line()")
    assert model.frequency.runs_each_pass(line) is is_often
    assert [guard.period for guard in model.frequency.guards(line)] == periods
