"""Functions without visible callers that likely run often, judging by their bodies."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from project_builder import build, expression, model_of
from rlint.engine import api
from rlint.findings import Applicability, Confidence, Heat
from rlint.run_data import Target


def heat_of_line(text: str) -> tuple[Heat, str]:
    """The heat of `line()`, and its assumption."""
    model = model_of(textwrap.dedent(text))
    heat = model.frequency.heat_of(expression(model, "line()"))
    return heat.level, heat.assumption


@pytest.mark.parametrize(
    ("text", "level", "assumption"),
    [
        (
            "def adapt(net, batch, optimizer):\n    line()\n    net(batch).backward()\n    optimizer.step()",
            Heat.HOT,
            "`adapt` is called for each gradient step",
        ),
        (
            """
            class Player:
                def choose(self, state):
                    move = self.agent(state)
                    self.improve(state)
                    self.follow()
                    return move

                def improve(self, state):
                    self.optimizer.zero_grad()
                    self.agent(state).mean().backward()
                    self.optimizer.step()

                def follow(self):
                    line()
            """,
            Heat.HOT,
            "`Player.choose` is called for each gradient step",
        ),
        (
            """
            class Player:
                def run(self, state):
                    self.improve(state)
                    line()

                def improve(self, state):
                    self.optimizer.zero_grad()
                    self.agent(state).mean().backward()
                    self.optimizer.step()
            """,
            Heat.COLD,
            "",
        ),
        (
            "from torch.distributions import Normal\n\n"
            "def bounded(mean, std):\n    line()\n    return Normal(mean.tanh(), std.exp())",
            Heat.HOT,
            "`bounded` is called for each forward pass",
        ),
        (
            """
            class TwoHot:
                def __init__(self, logits):
                    self.logits = logits

                def log_prob(self, target):
                    line()
                    return self.logits * target
            """,
            Heat.HOT,
            "`TwoHot.log_prob` is called for each forward pass",
        ),
        (
            """
            class TwoHot:
                def __init__(self, logits):
                    self.logits = logits

                def log_prob(self, target):
                    return self.logits * target

            def two_hot(logits, **options):
                line()
                return TwoHot(logits)
            """,
            Heat.HOT,
            "`two_hot` is called for each forward pass",
        ),
        (
            """
            class Shape:
                def entropy(self):
                    line()

            def shape(sides, **options):
                return Shape(sides)
            """,
            Heat.COLD,
            "",
        ),
        (
            """
            from torch.nn.modules.loss import _Loss

            class Clipped(_Loss):
                def forward(self, values, targets):
                    line()
            """,
            Heat.HOT,
            "",
        ),
        (
            "from torch.distributions import Normal\n\n"
            "class Bounded:\n    def __call__(self, mean, std):\n        line()\n"
            "        return Normal(mean.tanh(), std)",
            Heat.HOT,
            "`Bounded.__call__` is called for each forward pass",
        ),
        (
            "from torch.distributions import Normal\n\n"
            "class Bounded:\n    def __call__(self, mean, std):\n        line()\n"
            "        return Normal(mean.tanh(), std)\n\n"
            "class Wide(Bounded):\n    def __call__(self, mean, std):\n"
            "        return super().__call__(mean, std + 1)",
            Heat.HOT,
            "`Bounded.__call__` is called for each forward pass",
        ),
        (
            "import torch\n\nclass Greedy:\n    def __call__(self, state):\n        line()\n"
            "        return self.net(state.to(self.device)).argmax(-1)",
            Heat.HOT,
            "`Greedy.__call__` is called for each observation or batch",
        ),
        (
            "import torch\n\nclass Join:\n    def __call__(self, state):\n        line()\n"
            "        return torch.cat(state)",
            Heat.COLD,
            "",
        ),
        (
            "from torch.distributions import Uniform\n\n"
            "def create_uniform(space):\n    line()\n    return Uniform(space.low, space.high)",
            Heat.COLD,
            "",
        ),
        (
            "from torch.distributions import Normal\n\ndef prior():\n    line()\n    return Normal(0.0, 1.0)",
            Heat.COLD,
            "",
        ),
        (
            """
            class Algo:
                def gather(self):
                    for step in range(self.count):
                        obs, reward, done, info = self.env.step(self.choose(obs))
                    line()
                    return obs
            """,
            Heat.WARM,
            "`Algo.gather` is called for each batch of rollouts",
        ),
        (
            """
            class Algo:
                def gather(self):
                    for step in range(self.count):
                        obs, reward, done, info = self.env.step(self.choose(obs))
                    for step in reversed(range(self.count)):
                        line()
                    return obs
            """,
            Heat.HOT,
            "`Algo.gather` is called for each batch of rollouts",
        ),
        (
            """
            class Algo:
                def gather(self):
                    for step in range(self.count):
                        obs, reward, done, info = self.env.step(self.choose(obs))
                        line()
                    return obs
            """,
            Heat.HOT,
            "",
        ),
        (
            """
            class Algo:
                def improve(self, rollouts_of_all):
                    for epoch in range(self.epochs):
                        self.loss(rollouts_of_all).backward()
                        self.optimizer.step()
                    line()
            """,
            Heat.WARM,
            "`Algo.improve` is called for each batch of rollouts",
        ),
        (
            """
            class Player:
                def go_on(self, net):
                    line()
                    self.state, reward, done, info = self.env.step(net(self.state))
                    if done:
                        self.state = self.env.reset()
                    return reward, done
            """,
            Heat.HOT,
            "`Player.go_on` is called for each environment step",
        ),
        (
            """
            class Player:
                def go_on(self, net):
                    self.state, reward, done, info = self.env.step(net(self.state))
                    self.keep(reward)
                def keep(self, reward):
                    line()
            """,
            Heat.HOT,
            "`Player.go_on` is called for each environment step",
        ),
    ],
)
def test_by_what_a_function_does(text: str, level: Heat, assumption: str) -> None:
    """A function that takes a step of an optimizer or an environment is called for each step, or for each
    batch.
    """
    assert heat_of_line(text) == (level, assumption)


@pytest.mark.parametrize(
    "text",
    [
        "def main(env):\n    line()\n    while True:\n        env.step(0)\n    return env",
        "def evaluate(env, net):\n    line()\n    for _ in range(9):\n        env.step(0)\n    return env",
        "def try_out(env):\n    obs = env.reset()\n    line()\n    obs, *rest = env.step(0)\n    return obs",
        "def gather(env):\n    line()\n    while True:\n        env.step(0)",
        "def learn_all(loader, net):\n    line()\n    for b in loader:\n        net(b).backward()",
        "def learn_all(net, epochs):\n    line()\n    for b in range(epochs):\n        net(b).backward()",
        "def learn_all(env):\n    line()\n    while True:\n        env.step(0)\n        loss.backward()",
        "def saliency(net, image):\n    line()\n    net(image).max().backward()\n    return image.grad",
        "def once(net, x):\n    line()\n    opt = SGD(net)\n    net(x).backward()\n    opt.step()",
        "def adapt(net, batch):\n    line()\n    net(batch).backward()\nadapt(make(), load())",
        "def adapt(net, batch):\n    line()\n    return net(batch)",
    ],
)
def test_whole_trainings_and_demonstrations_run_once(text: str) -> None:
    """Evaluations, and functions with a visible single call, are excluded."""
    assert heat_of_line(text) == (Heat.COLD, "")


def test_what_is_seen_to_run_seldom_stays_so() -> None:
    """A helper that episodes call is warm, even if a function without callers likely calls it more often."""
    text = """
    def go_on(env, net):
        shared()
        obs, reward, done, info = env.step(net)
        return obs
    def train(env):
        for episode in range(100):
            shared()
            while True:
                env.step(0)
    def shared():
        line()
    """
    assert heat_of_line(text) == (Heat.WARM, "")


def test_a_call_that_fits_is_a_caller() -> None:
    """A call on an unknown object may be the only call; one with too many arguments calls another
    function.
    """
    agent = (
        "class Algo:\n    def improve(self, batch):\n        line()\n        self.loss(batch).backward()\n"
    )
    for call, level in (("thing.improve(1)", Heat.COLD), ("thing.improve(1, 2)", Heat.HOT)):
        models = build({"agent.py": agent, "train.py": f"import agent\nthing = agent.make()\n{call}\n"})
        model = models["agent.py"]
        assert model.frequency.heat_of(expression(model, "line()")).level is level


def test_a_finding_in_code_that_likely_runs_often(tmp_path: Path) -> None:
    """The finding names its assumption, is not certain, and has no safe fix."""
    text = """
    import torch

    def adapt(net, batch, optimizer):
        mask = torch.zeros(32, 4).to("cuda")
        net(batch * mask).mean().backward()
        optimizer.step()
    """
    path = tmp_path / "train.py"
    path.write_text(textwrap.dedent(text))
    report = api.check([Target(None, path, "train.py", frozenset({"RL205"}))])
    [finding] = report.findings
    assert finding.confidence is Confidence.LIKELY
    assert finding.assumption == "`adapt` is called for each gradient step"
    assert finding.fix is not None
    assert finding.fix.safety is Applicability.UNSAFE


@pytest.mark.parametrize(
    ("method", "owner", "assumption"),
    [
        ("select_actions(self, obs)", "Controller", "`Controller.select_actions` is called for each action"),
        ("_choose_greedy_action(self, obs)", "Q", "`Q._choose_greedy_action` is called for each action"),
        ("exploit(self, obs)", "Solver", "`Solver.exploit` is called for each action"),
        ("forward(self, *args)", "Wrapper", "`Wrapper.forward` is called for each forward pass"),
        (
            "_forward_collect(self, data)",
            "Policy",
            "`Policy._forward_collect` is called for each forward pass",
        ),
        ("get_available_actions(self, obs)", "Controller", ""),
        ("get_action_dim(self, obs)", "Controller", ""),
        ("sample_joint_action(self, obs)", "GridEnv", ""),
        ("select_actions(self)", "Controller", ""),
    ],
)
def test_methods_that_no_code_calls_and_act_by_name(method: str, owner: str, assumption: str) -> None:
    """Selecting actions and running a model likely happens in each step, although no code here does it."""
    level, assumed = heat_of_line(f"class {owner}:\n    def {method}:\n        line()\n")
    assert (level, assumed) == (Heat.HOT if assumption else Heat.COLD, assumption)


def test_methods_that_act_in_cold_code_are_cold() -> None:
    """A visible caller decides."""
    called = "class Controller:\n    def select_actions(self, obs):\n        line()\n"
    assert heat_of_line(f"{called}\nController().select_actions(1)\n")[0] is Heat.COLD


@pytest.mark.parametrize(
    ("text", "level", "assumption"),
    [
        (
            "class OUNoise:\n    def sample(self):\n        line()",
            Heat.HOT,
            "`OUNoise.sample` is called for each environment step",
        ),
        (
            "class ObsNormalizer:\n    def normalize(self, v):\n        line()",
            Heat.HOT,
            "`ObsNormalizer.normalize` is called for each observation",
        ),
        (
            "class MPCPlanner:\n    def plan(self, obs):\n        line()",
            Heat.HOT,
            "`MPCPlanner.plan` is called for each action",
        ),
        (
            "class TabularQ:\n    def softmax_action(self, s):\n        line()",
            Heat.HOT,
            "`TabularQ.softmax_action` is called for each action",
        ),
        (
            "class SwarmEnv:\n    def get_obs(self):\n        line()",
            Heat.HOT,
            "`SwarmEnv.get_obs` is called for each environment step",
        ),
        (
            "class Replay:\n    def random_batch(self, n):\n        line()",
            Heat.HOT,
            "`Replay.random_batch` is called for each gradient step",
        ),
        (
            "def projection_distribution(dist, rewards):\n    line()",
            Heat.HOT,
            "`projection_distribution` is called for each gradient step",
        ),
        (
            "def lambda_returns(rewards, values):\n    line()",
            Heat.WARM,
            "`lambda_returns` is called for each batch of rollouts",
        ),
        (
            "class SampleWrapper:\n    def forward(self, obs):\n        line()",
            Heat.HOT,
            "`SampleWrapper.forward` is called for each forward pass",
        ),
        (
            "class TargetNetworkWrapper:\n    def update(self, state):\n        line()",
            Heat.HOT,
            "`TargetNetworkWrapper.update` is called for each gradient step",
        ),
        (
            "class DynamicsModel:\n    def add_data(self, s):\n        line()",
            Heat.HOT,
            "`DynamicsModel.add_data` is called for each environment step",
        ),
        # called once, visibly
        ("class Env:\n    def get_obs(self):\n        line()\nEnv().get_obs()", Heat.COLD, ""),
        # other classes, and functions that run once
        ("class Report:\n    def get_obs(self):\n        line()", Heat.COLD, ""),
        ("class Planner:\n    def load(self, path):\n        line()", Heat.COLD, ""),
        ("class Signal:\n    def sample(self):\n        line()", Heat.COLD, ""),
        ("def plot_returns(rewards):\n    line()", Heat.COLD, ""),
    ],
)
def test_names_that_are_conventional_in_reinforcement_learning(
    text: str, level: Heat, assumption: str
) -> None:
    """Parts of agents, buffers and environments without visible callers likely run often."""
    assert heat_of_line(text) == (level, assumption)


def test_a_vectorised_simulator_resets_some_of_its_environments() -> None:
    """Its `reset_idx` replaces the `reset` of other environments."""
    text = """
    class LeggedEnv:
        def reset_idx(self, ids):
            self.states[ids] = 0

        def step(self, actions):
            line()
            return self.obs, self.rewards, self.resets, {}
    """
    assert heat_of_line(text) == (Heat.HOT, "")


def test_methods_of_a_package_that_loads_files_by_name() -> None:
    """A receiver that is named like a class of the same package likely is of that class."""
    files = {
        "sim/__init__.py": "",
        "sim/core.py": """
            class World:
                def step(self):
                    line()
                def advance(self):
                    other()
            class Clock:
                def tick(self):
                    third()
        """,
        "sim/envs.py": """
            import gym
            class ManyEnv(gym.Env):
                def __init__(self, world, meter):
                    self.world = world
                    self.meter = meter
                def step(self, action):
                    self.world.step()
                    self.world.advance()
                    self.meter.tick()
                    return self.world.state, 0.0, False, {}
        """,
    }
    for known, level in ((files, Heat.HOT), ({**files, "sim/__init__.py": "", "sim/envs.py": ""}, Heat.COLD)):
        core = build(known)["sim/core.py"]
        for line in ("line()", "other()"):
            assert core.frequency.heat_of(expression(core, line)).level is level
        assert core.frequency.heat_of(expression(core, "third()")).level is Heat.COLD
    apart = {name.removeprefix("sim/"): text for name, text in files.items() if "__init__" not in name}
    core = build(apart)["core.py"]
    assert core.frequency.heat_of(expression(core, "line()")).level is Heat.COLD


STEPPING = """
class Agent:
    def NAME(self):
        line()
        self.state, reward, done, info = self.env.step(self.choose(self.state))
        if self.memory.is_full():
            for batch in self.memory.batches():
                self.optimizer.zero_grad()
                self.loss(batch).backward()
                self.optimizer.step()

class First:
    def NAME(self): ...

class Second:
    def NAME(self): ...

class Third:
    def NAME(self): ...

def once(held):
    held.thing.NAME()
"""


@pytest.mark.parametrize(("name", "level"), [("main", Heat.HOT), ("run", Heat.HOT), ("warm_up", Heat.COLD)])
def test_a_method_that_steps_once_runs_in_a_loop(name: str, level: Heat) -> None:
    """Whatever its name, also if it learns as well, and if a call that may mean it is not in a loop."""
    assert heat_of_line(STEPPING.replace("NAME", name))[0] is level
