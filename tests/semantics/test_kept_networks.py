"""Networks that objects keep: in containers that other methods fill, and as arguments of constructors."""

from __future__ import annotations

import ast
import textwrap

import pytest

from project_builder import both, expression, model_of
from rlint.models.value_type import TypeTag

ANNOTATED = """
    from typing import Dict, List
    import torch
    from torch import nn

    class Agent:
        of_class: Dict[str, nn.Module]

        def __init__(self):
            self.of_class = {}
            self.of_object: List[nn.Module] = []
            self.other: Dict[str, nn.Module] = {}
            self.plain = {}

        def register(self, name, net):
            self.of_class[name] = net
            self.of_object.append(net)
            self.other[name] = torch.ones(3)
            self.plain[name] = net

        def use(self, name):
            return self.of_class[name], self.of_object[0], self.other[name], self.plain[name]
"""


@pytest.mark.parametrize(
    ("used", "tag"),
    [
        ("self.of_class[name]", TypeTag.MODULE),
        ("self.of_object[0]", TypeTag.MODULE),
        ("self.other[name]", TypeTag.UNKNOWN),
        ("self.plain[name]", TypeTag.UNKNOWN),
    ],
)
def test_annotations_of_containers_promise_their_items(used: str, tag: TypeTag) -> None:
    """Items of unknown type have the annotated type; items of another type contradict it."""
    model = model_of(textwrap.dedent(ANNOTATED))
    assert model.types.type_of(expression(model, used, last=True)).tag is tag


KEPT = """
    import copy
    import torch

    class Learner:
        def __init__(self, net, store, size):
            self.net = net.to("cuda")
            self.target = copy.deepcopy(net)
            self.store = store
            self.optimizer = torch.optim.Adam(net.parameters())

        def learn(self, states):
            return self.net(states), self.target(states), self.store(states)
"""


@pytest.mark.parametrize(
    ("used", "tag"),
    [("self.net", TypeTag.MODULE), ("self.target", TypeTag.MODULE), ("self.store", TypeTag.UNKNOWN)],
)
def test_an_argument_whose_weights_are_read_is_kept_as_a_network(used: str, tag: TypeTag) -> None:
    """An attribute likely holds a network if the constructor reads the weights of the argument for it."""
    sure, likely = both(KEPT, used)
    assert not sure
    assert likely.tag is tag


def test_a_variable_bound_again_shows_nothing() -> None:
    """Another value of the same name does not show what the attribute holds."""
    program = KEPT.replace("            self.optimizer", "            net = size\n            self.optimizer")
    _, likely = both(program, "self.target")
    assert not likely


FILLED = """
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 3)

        def forward(self, x):
            return self.layer(x)

    def log_probs(model, ids):
        found = []
        for row in model(ids):
            found.append(row.log_softmax(-1))
        return torch.stack(found)

    class Agent:
        def __init__(self):
            self.nets = {}
            self.register("q", Net())

        def register(self, name, net):
            self.nets[name] = net

        def use(self, x):
            return self.nets["q"](x), log_probs(self.nets["q"], x), log_probs(print, x)
"""


@pytest.mark.parametrize(
    ("used", "gives"),
    [
        ('self.nets["q"](x)', True),
        ('log_probs(self.nets["q"], x)', True),
        ("log_probs(print, x)", False),
    ],
)
def test_networks_of_a_filled_container_return_gradients(used: str, gives: bool) -> None:
    """An item of a container that another method fills runs its layers, also if it is passed on."""
    model = model_of(textwrap.dedent(FILLED))
    call = expression(model, used, last=True)
    assert isinstance(call, ast.Call)
    assert model.gradients.gives_gradient(call) is gives


PRETRAINED = """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    def train(name, ids):
        tokenizer = AutoTokenizer.from_pretrained(name)
        model = AutoModelForCausalLM.from_pretrained(name)
        reference = AutoModelForCausalLM.from_pretrained(name)
        optimizer = torch.optim.AdamW(model.parameters())
        return model(ids), reference(ids), tokenizer(ids)
"""


def test_networks_of_libraries_are_networks() -> None:
    """Pretrained models run layers, and loading one creates no optimizer."""
    model = model_of(textwrap.dedent(PRETRAINED))
    calls = {ast.unparse(call): call for call in model.syntax.of_type(ast.Call) if isinstance(call, ast.Call)}
    gives = [
        model.gradients.gives_gradient(calls[f"{name}(ids)"]) for name in ("model", "reference", "tokenizer")
    ]
    assert gives == [True, True, False]
    stepped = [model.nn.is_optimized(calls[f"{name}(ids)"].func) for name in ("model", "reference")]
    assert stepped == [True, False]


def test_an_isinstance_test_excludes_networks() -> None:
    """In the `else` of a test for a network, a call runs another function."""
    model = model_of(
        textwrap.dedent(
            """
            from torch import nn

            def reward(functions, x):
                for function in (nn.Linear(2, 2), *functions):
                    if isinstance(function, nn.Module):
                        first = function(x)
                    else:
                        second = function(x, 2)
            """
        )
    )
    assert not model.gradients.gives_gradient(expression(model, "function(x, 2)"))  # type: ignore[arg-type]
