"""Code at an interval is not hot, in whatever form and wherever the interval is written."""

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


def heat_under(body: str) -> Heat:
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
    """A line that runs every few steps, in most steps, or with each gradient step stays hot."""
    assert heat_under(body) is Heat.HOT


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
        "if step - last_log >= agent.log_interval:\n    line()",
        "if agent.should_log(step):\n    line()",
        "if not (done or truncated): continue\nline()",
        "loss.backward()\nif step % 25 == 0:\n    line()",
    ],
)
def test_a_long_interval_cools(body: str) -> None:
    """A line that runs every ten steps or less often is not hot."""
    assert heat_under(body) is Heat.WARM


@pytest.mark.parametrize(
    ("body", "heat"),
    [
        ("if step == last:\n    line()", Heat.COLD),
        ("if step == num_steps - 1:\n    line()", Heat.COLD),
        ("if agent.steps == agent.most_steps:\n    line()", Heat.WARM),
        ("for i in range(agent.count):\n    if i == 0:\n        line()", Heat.HOT),
        ("for i in range(agent.count):\n    if i == agent.me:\n        line()", Heat.HOT),
        ("for i in range(agent.count):\n    if i % 16 == 0:\n        line()", Heat.HOT),
        ("for epoch in range(9):\n    if step % 16 == 0:\n        line()", Heat.WARM),
        ("if agent.truncated_window:\n    line()", Heat.HOT),
        ("if agent.record_count > 3:\n    line()", Heat.HOT),
        ("if agent.record_routes:\n    line()", Heat.HOT),
        ("if agent.is_best:\n    line()", Heat.WARM),
        ("if agent.best < reward:\n    line()", Heat.WARM),
        ("if 'episode' in info:\n    line()", Heat.WARM),
    ],
)
def test_what_is_counted(body: str, heat: Heat) -> None:
    """The first or tenth iteration of a loop runs once per run of the loop."""
    assert heat_under(body) is heat


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
    """A gradient step at an interval stays hot, unless the interval is long."""
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


AGENT = """
    class Agent:
        def act(self, obs{parameter}):
            if {test}:
                line()
            return 0
"""
PROGRAM = """
    import argparse
    import gymnasium
    from agent import Agent
    parser = argparse.ArgumentParser()
    parser.add_argument("--render", action="store_true")
    parser.add_argument("--use-gae", action="store_true")
    parser.add_argument("--freq", type=int, default=100)
    parser.add_argument("--train-freq", type=int, default=4)
    args = parser.parse_args()

    def forward(agent, obs, show=False):
        return agent.act(obs, visualise=show)

    def main(agent: Agent):
        env = gymnasium.make("CartPole-v1")
        for step in range(10000):
            obs = env.step(0)
            {call}
"""


@pytest.mark.parametrize(
    ("call", "heat"),
    [
        ("agent.act(obs, True)", Heat.HOT),
        ("agent.act(obs, visualise=True)", Heat.HOT),
        ("agent.act(obs, visualise=unknown(step))", Heat.HOT),
        ("agent.act(obs, *others)", Heat.HOT),
        ("agent.act(obs, **others)", Heat.HOT),
        ("agent.act(obs, step % 4 == 0)", Heat.HOT),
        ("agent.act(obs, step % 1000 == 0)", Heat.WARM),
        ("agent.act(obs, visualise=step % 1000 == 0)", Heat.WARM),
        ("agent.act(obs, visualise=step % 1000 == 0 and args.anything)", Heat.WARM),
        ("agent.act(obs, visualise=step % args.freq == 0)", Heat.WARM),
        ("agent.act(obs, visualise=step % args.train_freq == 0)", Heat.HOT),
        ("shown = step % 1000 == 0; agent.act(obs, shown)", Heat.WARM),
        ("agent.act(obs); agent.act(obs, step % 1000 == 0)", Heat.WARM),
        ("agent.act(obs, True); agent.act(obs, step % 1000 == 0)", Heat.HOT),
        ("forward(agent, obs, step % 1000 == 0)", Heat.WARM),
        ("forward(agent, obs, show=True)", Heat.HOT),
        ("forward(agent, obs)", Heat.COLD),
        ("agent.act(obs, visualise=args.render)", Heat.COLD),
        ("agent.act(obs, visualise=False)", Heat.COLD),
        ("agent.act(obs)", Heat.COLD),
    ],
)
def test_a_flag_that_callers_pass(call: str, heat: Heat) -> None:
    """A line guarded by a parameter runs as often as callers enable it."""
    agent = AGENT.format(parameter=", visualise=False", test="visualise")
    models = build({"agent.py": agent, "train.py": PROGRAM.format(call=call)})
    model = models["agent.py"]
    assert model.frequency.heat_of(expression(model, "line()")).level is heat


@pytest.mark.parametrize(
    ("setter", "cleared", "heat"),
    [
        ("end_epoch", "self.wanted = False", Heat.WARM),
        ("__init__", "self.wanted = False", Heat.HOT),  # only once, which other code may ensure
        ("push", "self.wanted = False", Heat.HOT),
        ("end_epoch", "pass", Heat.HOT),
    ],
)
def test_a_flag_that_is_cleared_where_it_is_read(setter: str, cleared: str, heat: Heat) -> None:
    """Code guarded by a flag runs once per round, if the flag is set per round."""
    model = model_of(
        "import gymnasium as gym\nclass Trainer:\n"
        f"    def {setter}(self):\n        self.wanted = True\n"
        "    def fit(self, batch):\n        if self.wanted:\n"
        f"            {cleared}\n            tell(batch)\n"
        "def run(trainer: Trainer):\n    env = gym.make('a')\n"
        "    while True:\n        trainer.fit(env.step(0))\n"
    )
    assert model.frequency.heat_of(expression(model, "tell(batch)")).level is heat


def test_a_flag_that_alternates() -> None:
    """Functions that call each other pass a flag on; it is on if an outside caller enables it."""
    model = model_of(
        """
        import gymnasium
        def first(obs, show=False):
            second(obs, show=show)
        def second(obs, show=False):
            if show:
                line()
            first(obs, show=show)
        env = gymnasium.make("CartPole-v1")
        while True:
            obs = env.step(0)
            second(obs)
            first(obs, show=True)
        """
    )
    assert model.frequency.heat_of(expression(model, "line()")).level is Heat.HOT


def test_a_flag_that_is_handed_on_and_on() -> None:
    """A long chain of calls is followed to a limit, and beyond it, code does not count as cold."""
    chain = "".join(f"def f{i}(obs, show=False):\n    f{i + 1}(obs, show=show)\n" for i in range(600))
    model = model_of(
        f"import gymnasium\n{chain}"
        "def f600(obs, show=False):\n    while True:\n        env.step(0)\n"
        "        if show:\n            line()\n"
    )
    assert model.frequency.heat_of(expression(model, "line()")).level is Heat.HOT


@pytest.mark.parametrize(
    ("parameter", "test", "heat"),
    [
        (", deterministic=False", "deterministic", Heat.HOT),  # its purpose, although nothing requests it yet
        (", visualise=True", "visualise", Heat.HOT),
        (", visualise=False", "not visualise", Heat.HOT),
        (", visualise=False", "visualise and self.ready", Heat.COLD),
        (", visualise=False", "visualise or self.ready", Heat.HOT),
        (", log=None", "log", Heat.COLD),
        (", log_probs=False", "log_probs", Heat.HOT),
        (", player=None", "player", Heat.HOT),
        ("", "self.args.render", Heat.COLD),
        ("", "not self.args.render", Heat.HOT),
        ("", "self.args.use_gae", Heat.HOT),
        ("", "self.t % self.args.freq == 0", Heat.WARM),
        ("", "self.t % self.args.train_freq == 0", Heat.HOT),
        ("", "self.t % self.unknown_freq == 0", Heat.HOT),
        ("", "self.t % self.log_freq == 0", Heat.WARM),
    ],
)
def test_switches_that_are_off(parameter: str, test: str, heat: Heat) -> None:
    """Output that is only shown on request, and not requested by default, is cold."""
    agent = AGENT.format(parameter=parameter, test=test)
    models = build({"agent.py": agent, "train.py": PROGRAM.format(call="agent.act(obs)")})
    model = models["agent.py"]
    assert model.frequency.heat_of(expression(model, "line()")).level is heat


@pytest.mark.parametrize(
    ("declared", "heat"),
    [
        ("DEBUG_PLOTS = False", Heat.COLD),
        ("DEBUG_PLOTS = True", Heat.HOT),  # left on
        ("class Config:\n    plots: bool = False", Heat.COLD),
        ("class Config:\n    plots: bool = field(default=False)", Heat.COLD),
        ("class Config:\n    plots: bool = True", Heat.HOT),
        ("class Config:\n    plots: bool = False\nconfig = Config(plots=True)", Heat.HOT),
        ("class Config:\n    plots: bool = False\nconfig.plots = ask()", Heat.HOT),
        ("class Config:\n    plots = False\nclass Other(Config):\n    def plots(self): ...", Heat.HOT),
        ("def make(plots=False):\n    return Config(plots=plots)", Heat.COLD),
        ("def make(plots=False):\n    pass\nmake(True)", Heat.HOT),
    ],
)
def test_switches_that_are_declared_in_other_files(declared: str, heat: Heat) -> None:
    """A switch is off if all code of the program that sets it disables it."""
    test = "DEBUG_PLOTS" if "DEBUG" in declared else "self.config.plots"
    agent = AGENT.format(parameter="", test=test)
    train = f"from config import *\n{textwrap.dedent(PROGRAM.format(call='agent.act(obs)'))}"
    models = build({"agent.py": agent, "train.py": train, "config.py": declared})
    model = models["agent.py"]
    assert model.frequency.heat_of(expression(model, "line()")).level is heat


@pytest.mark.parametrize(
    ("call", "heat"),
    [
        ("trainer.tick(step)", Heat.HOT),
        ("if step % 4 == 0: trainer.tick(step)", Heat.HOT),
        ("if step % 2000 == 0: trainer.tick(step)", Heat.WARM),
        ("if step % args.freq == 0: trainer.tick(step)", Heat.WARM),
        ("if step % args.train_freq == 0: trainer.tick(step)", Heat.HOT),
    ],
)
def test_an_interval_some_calls_up(call: str, heat: Heat) -> None:
    """An interval cools all functions called under it, at any depth, whatever their names."""
    models = build(
        {
            "agent.py": """
                class Learner:
                    def update(self):
                        line()
                        loss = self.loss()
                        loss.backward()
                class Agent:
                    def __init__(self):
                        self.learner = Learner()
                    def tick(self, step):
                        self.learner.update()
                """,
            "train.py": PROGRAM.format(call=call).replace("main(agent: Agent)", "main(trainer: Agent)"),
        }
    )
    model = models["agent.py"]
    assert model.frequency.heat_of(expression(model, "line()")).level is heat


def test_a_batch_of_rollouts_at_an_unknown_interval() -> None:
    """Many gradient steps in a row train on everything collected since the last update."""
    models = build(
        {
            "agent.py": """
                class Agent:
                    def improve(self):
                        line()
                        for epoch in range(80):
                            self.loss().backward()
                """,
            "train.py": PROGRAM.format(call="if step % agent.length == 0: agent.improve()"),
        }
    )
    model = models["agent.py"]
    assert model.frequency.heat_of(expression(model, "line()")).level is Heat.WARM


@pytest.mark.parametrize(
    ("call", "heat"),
    [
        ("if step - agent.last >= agent.log_interval: agent.show()", Heat.WARM),
        ("if step % 2000 == 0: agent.show()", Heat.WARM),
        ("if step % 2000 == 0: agent.show(); agent.improve()", Heat.HOT),
        ("if agent.is_done(obs): agent.show()", Heat.HOT),
        ("if agent.is_done(obs):\n                if step % 2000 == 0: agent.show()", Heat.WARM),
    ],
)
def test_a_loop_at_an_interval(call: str, heat: Heat) -> None:
    """A loop in what logs at an interval does not run once per step; in what learns from the steps since the
    last time, it does.
    """
    models = build(
        {
            "agent.py": """
                class Agent:
                    def show(self):
                        for row in self.rows:
                            line()
                    def improve(self):
                        for epoch in range(80):
                            self.loss().backward()
                """,
            "train.py": PROGRAM.format(call=call),
        }
    )
    model = models["agent.py"]
    assert model.frequency.heat_of(expression(model, "line()")).level is heat


@pytest.mark.parametrize(
    ("script", "heat"), [("evaluate.py", Heat.COLD), ("plot_values.py", Heat.COLD), ("run.py", Heat.HOT)]
)
def test_scripts_that_look_at_results_heat_no_library(script: str, heat: Heat) -> None:
    """Code that plays for viewing does not affect how often training runs the same functions."""
    models = build(
        {
            "tools.py": "def shape_of(obs):\n    line()\n",
            script: """
                import gymnasium
                from tools import shape_of
                env = gymnasium.make("CartPole-v1")
                while True:
                    obs = env.step(0)
                    shape_of(obs)
                """,
        }
    )
    model = models["tools.py"]
    assert model.frequency.heat_of(expression(model, "line()")).level is heat


def test_a_script_that_is_called_a_test_and_trains() -> None:
    """A function that takes gradient steps is a training, whatever its name."""
    models = build(
        {
            "tools.py": "def shape_of(obs):\n    line()\n",
            "play.py": """
                import gymnasium
                from tools import shape_of
                env = gymnasium.make("CartPole-v1")
                while True:
                    obs = env.step(0)
                    shape_of(obs)
                    loss.backward()
                """,
        }
    )
    model = models["tools.py"]
    assert model.frequency.heat_of(expression(model, "line()")).level is Heat.HOT
