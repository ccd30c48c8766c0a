"""Architectures of networks, across classes, helper functions and files."""

from __future__ import annotations

import pytest

from rlint.semantics.nn.module_graph import Architecture
from tests.project_builder import build, expression, model_of

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"


def structure(text: str, source: str, method: str | None = "forward") -> Architecture:
    """The network of an expression in a program of one file."""
    model = model_of(HEAD + text)
    return model.nn.architecture(expression(model, source, last=True), method)


def names(found: Architecture) -> set[str]:
    """The short names of the layers."""
    return {name.rpartition(".")[2] for name in found.layers}


def has_dropout(found: Architecture) -> bool:
    """Whether it may have dropout that `eval()` turns off."""
    return any("Dropout" in name for name in found.layers)


def test_layers_of_a_sequential() -> None:
    """Layers written in place are all known, and a pure network is repeatable."""
    found = structure("net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))\nuse(net)\n", "net")
    assert (names(found), found.repeatable) == ({"Linear", "ReLU"}, True)


def test_classes_with_what_they_inherit() -> None:
    """Layers of the base class count, and `super().forward` is followed."""
    found = structure(
        """
class Base(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(size, 8), nn.Dropout(0.1))

    def forward(self, x):
        return self.body(x)

class Head(Base):
    def __init__(self, size):
        super().__init__(size)
        self.out = nn.Linear(8, 1)

    def forward(self, x):
        return self.out(super().forward(x))

net = Head(3)
use(net)
""",
        "net",
    )
    assert names(found) == {"Linear", "Dropout"}
    assert found.complete
    assert found.layers["torch.nn.Dropout"]
    assert not found.repeatable


def test_helper_functions_and_what_they_are_handed() -> None:
    """`mlp(sizes, nn.Tanh)` in the style of Spinning Up: the list, the loop, the default."""
    text = """
def mlp(sizes, activation, output_activation=nn.Identity):
    layers = []
    for j in range(len(sizes) - 1):
        act = activation if j < len(sizes) - 2 else output_activation
        layers += [nn.Linear(sizes[j], sizes[j + 1]), act()]
    return nn.Sequential(*layers)

class Q(nn.Module):
    def __init__(self, obs, hidden, activation):
        super().__init__()
        self.q = mlp([obs] + list(hidden) + [1], activation)

    def forward(self, x):
        return torch.squeeze(self.q(x), -1)

class Agent:
    def __init__(self, cfg):
        self.known = Q(3, [64], nn.Tanh)
        self.unknown = Q(3, [64], cfg.activation)

    def learn(self):
        use(self.known)
        use(self.unknown)
"""
    known = structure(text, "self.known")
    assert (names(known), known.complete) == ({"Linear", "Identity", "Tanh"}, True)
    assert not structure(text, "self.unknown").complete


def test_initialised_layers() -> None:
    """A function that returns the layer that it was passed."""
    text = """
def layer_init(layer, std=1.4, bias=0.0):
    nn.init.orthogonal_(layer.weight, std)
    return layer

class Agent(nn.Module):
    def __init__(self, envs):
        super().__init__()
        self.critic = nn.Sequential(
            layer_init(nn.Linear(4, 64)), nn.Tanh(), layer_init(nn.Linear(64, 1), std=1.0)
        )
        self.actor = nn.Sequential(layer_init(nn.Linear(4, 64)), nn.Dropout(0.2))

    def get_value(self, x):
        return self.critic(x)

    def get_action(self, x):
        probs = torch.distributions.Categorical(logits=self.actor(x))
        return probs.sample()

agent = Agent(envs)
use(agent)
"""
    value = structure(text, "agent", "get_value")
    assert (names(value), value.repeatable) == ({"Linear", "Tanh"}, True)
    action = structure(text, "agent", "get_action")
    assert (action.draws, has_dropout(action)) == (True, True)
    assert has_dropout(structure(text, "agent", None))


def test_networks_in_other_files() -> None:
    """Classes and helpers are followed through imports."""
    models = build(
        {
            "nets.py": """
                import torch.nn as nn
                from blocks import block

                class Net(nn.Module):
                    def __init__(self, size):
                        super().__init__()
                        self.blocks = nn.ModuleList([block(size) for _ in range(3)])

                    def forward(self, x):
                        for layer in self.blocks:
                            x = layer(x)
                        return x
            """,
            "blocks.py": """
                from torch import nn

                def block(size):
                    return nn.Sequential(nn.Linear(size, size), nn.BatchNorm1d(size))
            """,
            "train.py": """
                from nets import Net

                def evaluate(net: Net, x):
                    return net(x)

                model = Net(8)
                evaluate(model, 1)
            """,
        }
    )
    model = models["train.py"]
    for source in ("net", "model"):
        found = model.nn.architecture(expression(model, source, last=True))
        assert (names(found), found.complete) == ({"Linear", "BatchNorm1d"}, True)


def test_what_runs_in_forward() -> None:
    """Noise, stored state, functional dropout and the mode are distinguished."""
    text = """
class Noisy(nn.Module):
    def forward(self, x):
        if self.training:
            return x + torch.randn_like(x)
        return x

class Stateful(nn.Module):
    def forward(self, x):
        self.hidden = x
        return x

class Functional(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(1, 1)

    def forward(self, x):
        return F.dropout(self.layer(x), 0.5, training=self.training)

class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.noisy = Noisy()
        self.stateful = Stateful()

    def forward(self, x):
        return self.stateful(self.noisy(x))

a = Noisy()
b = Stateful()
c = Functional()
d = Outer()
use(a, b, c, d)
"""
    noisy, kept, functional, outer = (structure(text, name) for name in "abcd")
    assert (noisy.reads_training, noisy.draws, noisy.keeps) == (True, True, set())
    assert (kept.draws, kept.keeps) == (False, {"hidden"})
    assert has_dropout(functional)
    assert (outer.draws, outer.keeps) == (True, {"hidden"})


def test_layers_put_in_later() -> None:
    """`append`, `add_module`, dictionaries and conditions; a layer under a condition is not sure."""
    found = structure(
        """
ACTIVATIONS = {"relu": nn.ReLU, "elu": nn.ELU}

class Net(nn.Module):
    def __init__(self, sizes, activation="relu", drop=False):
        super().__init__()
        self.layers = nn.ModuleList()
        for size in sizes:
            self.layers.append(nn.Linear(size, size))
        self.add_module("norm", nn.LayerNorm(3))
        self.act = ACTIVATIONS[activation]()
        if drop:
            self.drop = nn.Dropout(0.1)
        else:
            self.drop = nn.Identity()

    def forward(self, x):
        for layer in self.layers:
            x = self.act(layer(x))
        return self.drop(x)

net = Net([1, 2])
use(net)
""",
        "net",
    )
    assert names(found) >= {"Linear", "LayerNorm", "ReLU", "ELU", "Dropout", "Identity"}
    assert found.complete
    assert found.by_mode
    assert not found.layers["torch.nn.Dropout"]


def test_unknown_parts_are_reported() -> None:
    """A network of another library, or one passed as argument, makes the architecture incomplete."""
    text = """
import torchvision

class Net(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body
        self.eyes = torchvision.models.resnet18()

    def forward(self, x):
        return self.body(x)

    def look(self, x):
        return self.eyes(x)

net = Net(make())
use(net)
good = Net(nn.Linear(1, 1))
use(good)
"""
    assert not structure(text, "net").complete
    assert structure(text, "good").complete
    assert not structure(text, "good", "look").complete
    assert not structure(text, "good", None).complete


def test_recurrent_and_attention() -> None:
    """The dropout inside recurrent layers and transformers counts if it is not zero."""
    found = structure("net = nn.LSTM(4, 4, num_layers=2, dropout=0.2)\nuse(net)\n", "net")
    assert (found.recurrent, has_dropout(found)) == (True, True)
    plain = structure("net = nn.GRU(4, 4)\nuse(net)\n", "net")
    assert (plain.recurrent, has_dropout(plain)) == (True, False)
    layer = structure("net = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2), 2)\nuse(net)\n", "net")
    assert (layer.attention, has_dropout(layer)) == (True, True)


def test_who_switches_the_mode() -> None:
    """`eval()` counts in the function itself, in its callers and in their callees, across files."""
    models = build(
        {
            "net.py": """
                def evaluate(net, batches):
                    return [net(batch) for batch in batches]

                def alone(net, batches):
                    return [net(batch) + 1 for batch in batches]
            """,
            "train.py": """
                from net import alone, evaluate

                def set_modes(net):
                    net.eval()

                def main(net, batches):
                    set_modes(net)
                    evaluate(net, batches)

                def other(net, batches):
                    net.train()
                    alone(net, batches)
            """,
        }
    )
    model = models["net.py"]
    network = expression(model, "net")
    assert model.nn.why_in_training_mode(expression(model, "net(batch)"), network) is None
    alone = expression(model, "net(batch)", last=True)
    assert model.nn.why_in_training_mode(alone, expression(model, "net", last=True)) is not None


def test_layers_appended_under_a_condition_are_not_sure() -> None:
    """`if rate > 0: layers.append(nn.Dropout(rate))` in a list, and on the attribute itself."""
    for put in ("layers", "self.layers"):
        found = structure(
            f"""
class Net(nn.Module):
    def __init__(self, rate):
        super().__init__()
        layers = [nn.Linear(1, 1)]
        self.layers = nn.Sequential(*layers)
        if rate > 0:
            {put}.append(nn.Dropout(rate))

    def forward(self, x):
        return self.layers(x)

net = Net(0.1)
use(net)
""",
            "net",
        )
        assert (found.layers["torch.nn.Dropout"], found.complete) == (False, True)


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("if __name__ == '__main__':\n    net = nn.Linear(4, 2)\n    use(net)\n", True),
        ("if a:\n    net = nn.Linear(4, 2)\n    if b:\n        use(net)\n", True),
        ("if a:\n    net = nn.Linear(4, 2)\n    def f():\n        use(net)\n", True),
        ("if a:\n    net = nn.Linear(4, 2)\nuse(net)\n", False),
        ("if a:\n    net = nn.Linear(4, 2)\nelse:\n    use(net)\n", False),
        ("if a:\n    if b:\n        net = nn.Linear(4, 2)\n    use(net)\n", False),
        ("net = None\nif a:\n    for b in c:\n        use(net)\n        net = nn.Linear(4, 2)\n", False),
    ],
)
def test_a_condition_around_a_network_and_its_use_decides_nothing(text: str, sure: bool) -> None:
    """A network that is created and used under the same condition exists there."""
    assert structure(text, "net").layers.get("torch.nn.Linear", False) is sure


def test_a_test_that_a_network_calls_may_do_anything() -> None:
    """Functions that a test runner calls are not analysed; their helpers are."""
    helpers = """
        import torch

        def test_scale(x):
            return torch.tanh(x)

        def scale(x):
            return torch.tanh(x)
    """
    network = """
        import torch.nn as nn
        from tests.test_scaling import {name}

        class Net(nn.Module):
            def forward(self, x):
                return {name}(x)

        net = Net()
        use(net)
    """
    for name, complete in (("scale", True), ("test_scale", False)):
        files = {"tests/test_scaling.py": helpers, "net.py": network.format(name=name)}
        model = build(files)["net.py"]
        assert model.nn.architecture(expression(model, "net", last=True), "forward").complete is complete
