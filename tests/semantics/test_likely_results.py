"""Results of environments, named tuples and distributions, and likely types of parameters."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from project_builder import both
from rlint.models.value_type import Device, TypeTag
from rlint.parsing.grammar import Reading
from rlint.parsing.parse import parse
from rlint.semantics.file_analysis import FileAnalysis

STEPS = """
    import gymnasium as gym

    env = gym.make("CartPole-v1")

    def run(agent):
        obs, _ = env.reset()
        while True:
            following, reward, terminated, truncated, info = env.step(agent.act(obs))
            if terminated or truncated:
                break
            use(following)
            obs = following
"""


@pytest.mark.parametrize(
    ("source", "tag"),
    [
        ("obs", TypeTag.NDARRAY),
        ("following", TypeTag.NDARRAY),
        ("reward", TypeTag.FLOAT),
        ("terminated", TypeTag.BOOL),
        ("info", TypeTag.DICT),
    ],
)
def test_an_environment_shows_arrays_and_numbers(source: str, tag: TypeTag) -> None:
    """Results of an environment are never sure, and all likely ones depend on one assumption."""
    sure, likely = both(STEPS, source)
    assert not sure
    assert (likely.tag, likely.assumes) == (tag, ("the environment returns arrays and numbers",))


@pytest.mark.parametrize(
    "use",
    [
        "table[following]",
        "table[following, 0]",
        "following['image']",
        "following.items()",
        "len(following)",
        "deepcopy(following)",
    ],
)
def test_what_is_used_as_no_array_is_none(use: str) -> None:
    """A state that indexes a table is a number, and one that is indexed by a key a dictionary."""
    _, likely = both(STEPS.replace("use(following)", f"use({use})"), "following")
    assert not likely


def test_rewards_of_several_environments_are_no_numbers() -> None:
    """If no flag is tested, there may be one for each environment."""
    _, likely = both(STEPS.replace("terminated or truncated", "terminated.all()"), "reward")
    assert not likely


def test_an_unknown_environment_is_recognised_by_what_it_does() -> None:
    """A parameter with such a name, whose `step` has four results, and which is reset."""
    text = """
        def run(env, agent):
            obs = env.reset()
            done = False
            while not done:
                obs, reward, done, info = env.step(agent.act(obs))
            agent.reset()
            a, b, c, d = agent.step(obs)
    """
    assert both(text, "reward")[1].tag is TypeTag.FLOAT
    assert both(text, "obs")[1].tag is TypeTag.NDARRAY
    assert not both(text, "b")[1]


MEMORY = """
    import random
    from collections import deque, namedtuple

    import numpy as np
    import torch

    Transition = namedtuple("Transition", ("state", "action", "reward"))

    class Memory:
        def __init__(self, size):
            self.memory = deque([], maxlen=size)

        def push(self, *args):
            self.memory.append(Transition(*args))

        def sample(self, n):
            return random.sample(self.memory, n)

    class Agent:
        def __init__(self):
            self.memory = Memory(100)

        def act(self):
            self.memory.push(np.zeros(3), torch.zeros(1), 1.0)

        def learn(self):
            batch = Transition(*zip(*self.memory.sample(32)))
            states, _, _ = zip(*self.memory.sample(32))
            use(batch.state, batch.action, batch.reward, states)
"""


@pytest.mark.parametrize(
    ("source", "tag"),
    [
        ("batch.state", TypeTag.NDARRAY),
        ("batch.action", TypeTag.TENSOR),
        ("batch.reward", TypeTag.FLOAT),
        ("states", TypeTag.NDARRAY),
    ],
)
def test_fields_of_named_tuples_are_known_by_name(source: str, tag: TypeTag) -> None:
    """Values passed by `*args`, stored, sampled and transposed are columns of the fields."""
    sure, _ = both(MEMORY, source)
    assert sure.tag is TypeTag.TUPLE
    assert sure.item is not None
    assert sure.item.tag is tag


def test_a_named_tuple_of_another_file() -> None:
    """The class may be imported, and its field names may be a single string."""
    text = """
        import numpy as np
        from memory import Step

        step = Step(np.zeros(3), reward=0.5)
        use(step.state, step.reward, step._replace(reward=1.0).state)
    """
    memory = "from collections import namedtuple\nStep = namedtuple('Step', 'state, reward')\n"
    assert both(text, "step.state", memory=memory)[0].tag is TypeTag.NDARRAY
    assert both(text, "step.reward", memory=memory)[0].tag is TypeTag.FLOAT
    assert both(text, "step._replace(reward=1.0).state", memory=memory)[0].tag is TypeTag.NDARRAY


@pytest.mark.parametrize(
    ("made", "device"),
    [
        ("Normal(0, 1)", Device.HOST),
        ("Normal(torch.zeros(3), 1.0)", Device.HOST),
        ("Normal(torch.zeros(3, device='cuda'), 1.0)", Device.CUDA),
        ("Normal(mean, 1.0)", Device.UNKNOWN),
    ],
)
def test_samples_are_on_the_device_of_the_parameters(made: str, device: Device) -> None:
    """Numbers become tensors in host memory; results computed from an argument may be on another device."""
    text = f"""
        import torch
        from torch.distributions import Normal

        def draw(mean, x):
            dist = {made}
            use(dist.sample((3,)), dist.log_prob(x))
    """
    assert both(text, "dist.sample((3,))")[0].device is device
    assert both(text, "dist.log_prob(x)")[0].device is Device.UNKNOWN


def test_devices_are_kept_along_access_paths() -> None:
    """`self.alpha`, computed from another attribute, is on the same device, and is moved with it."""
    text = """
        import torch

        class Agent:
            def __init__(self):
                self.log_alpha = torch.zeros(1, requires_grad=True)
                self.alpha = self.log_alpha.exp().detach()
                self.moved = self.log_alpha.exp().cuda()
                self.some = self.log_alpha.exp().to(DEVICE)

            def learn(self):
                use(self.alpha, self.moved, self.some)
    """
    assert both(text, "self.alpha")[0].device is Device.HOST
    assert both(text, "self.moved")[0].device is Device.CUDA
    assert both(text, "self.some")[0].device is Device.UNKNOWN


def test_what_modules_register_are_attributes() -> None:
    """Buffers are tensors that move with their module, layers are networks."""
    text = """
        import torch
        from torch import nn

        class Norm(nn.Module):
            def __init__(self, size):
                super().__init__()
                self.register_buffer("count", torch.tensor(0))
                self.add_module("head", nn.Linear(size, size))

            def forward(self, x):
                use(self.count, self.head)
    """
    sure, _ = both(text, "self.count")
    assert (sure.tag, sure.device, sure.dtype) == (TypeTag.TENSOR, Device.UNKNOWN, "int64")
    assert both(text, "self.head")[0].tag is TypeTag.MODULE


def test_an_attribute_that_begins_as_a_number_and_gets_another_is_one() -> None:
    """Two assignments that agree outweigh an initial value."""
    text = """
        class Buffer:
            def __init__(self, size: int):
                self.size = size
                self.filled = 0

            def add(self, n):
                self.filled += n
                if self.filled > self.size:
                    self.filled = self.size

            def sample(self):
                use(self.filled)
    """
    sure, likely = both(text, "self.filled")
    assert not sure
    assert sure.short
    assert likely.tag is TypeTag.INT


def test_a_sum_that_begins_as_a_number_is_what_is_added() -> None:
    """`loss = 0`, and then tensors."""
    text = """
        import torch

        def learn(batches):
            loss = 0
            for batch in batches:
                loss = loss + torch.relu(batch)
            use(loss)
    """
    sure, likely = both(text, "loss")
    assert not sure
    assert likely.tag is TypeTag.TENSOR


@pytest.mark.parametrize(
    ("text", "source", "tag"),
    [
        ("def act(obs, scale=0.5):\n    use(scale)\n", "scale", TypeTag.FLOAT),
        ("def act(obs, scale=None):\n    use(scale)\n", "scale", TypeTag.UNKNOWN),
        (
            "import torch\nclass Memory:\n    def store(self, row):\n        use(row)\n"
            "def run(memory):\n    memory.store(torch.zeros(3))\n",
            "row",
            TypeTag.TENSOR,
        ),
        (
            "import torch\nclass Base:\n    def store(self, row):\n        pass\n"
            "class Memory(Base):\n    def store(self, row):\n        use(row)\n"
            "def run():\n    Base().store(torch.zeros(3))\n",
            "row",
            TypeTag.TENSOR,
        ),
    ],
)
def test_what_parameters_likely_take(text: str, source: str, tag: TypeTag) -> None:
    """Likely types of parameters come from calls whose target is guessed by name, overridden methods, or
    defaults.
    """
    sure, likely = both(text, source)
    assert likely.tag is tag
    assert tag is TypeTag.UNKNOWN or sure.tag is tag or not sure


def test_names_that_import_star_binds(tmp_path: Path) -> None:
    """Libraries and functions are resolved through `import *` of files of the project."""
    package = tmp_path / "agents"
    package.mkdir()
    (package / "__init__.py").write_text("from .tools import *\n")
    (package / "tools.py").write_text(
        "import numpy as np\nfrom torch import nn as layers\nif np:\n    import os\n"
        "def to_np(x): return x\nboth = 1\nimport both\n_own = 2\n"
    )
    (package / "closed.py").write_text("import math\n__all__ = ['pi']\n")
    text = textwrap.dedent("""
        from . import *
        from .closed import *
        use(np.array, layers.Linear, to_np, os, both, _own, math)
    """)
    reading = parse(text, "dqn.py")
    assert isinstance(reading, Reading)
    analysis = FileAnalysis(text, reading, "agents.dqn", "agents", path=package / "dqn.py")
    call = next(iter(analysis.syntax.written.calls_of(("use",))))
    assert [analysis.names.qualified(value) for value in call.args] == [
        "numpy.array",
        "torch.nn.Linear",
        "agents.tools.to_np",
        "os",
        "agents.dqn.both",
        "agents.dqn._own",
        "math",
    ]


SMALLER = """
    import torch

    def update(net, state, axis):
        lower = torch.min(net.first(state), net.second(state))
        best = torch.max(net.first(state), axis)
        ends = torch.all(net.done(state), dim=1)
        use(lower, best, ends)
"""


@pytest.mark.parametrize(
    ("source", "sure", "likely"),
    [
        ("lower", TypeTag.UNKNOWN, TypeTag.TENSOR),
        ("best", TypeTag.UNKNOWN, TypeTag.UNKNOWN),
        ("ends", TypeTag.TENSOR, TypeTag.TENSOR),
    ],
)
def test_the_smaller_of_two_values_likely_is_a_tensor(source: str, sure: TypeTag, likely: TypeTag) -> None:
    """A second argument of `torch.min` that is no literal likely is another tensor, not a dimension."""
    assert tuple(kind.tag for kind in both(SMALLER, source)) == (sure, likely)
