"""Values of one of several classes: facts about all of them hold."""

from __future__ import annotations

import ast

import pytest

from project_builder import build, expression
from rlint.findings import Heat
from rlint.models.value_type import TypeTag, alternatives, either

AGENTS = """
    import torch.nn as nn

    class Actor(nn.Module):
        def forward(self, x):
            return x

        def act(self, x):
            return self(x)

    class Critic(nn.Module):
        def forward(self, x):
            return x

        def act(self, x):
            return self(x)
"""
TRAIN = """
    from agents import Actor, Critic

    def main(args, env, steps):
        if args.actor:
            policy = Actor()
        else:
            policy = Critic()
        for step in range(steps):
            env.step(policy.act(step))
"""


def test_the_functions_of_all_classes_may_run() -> None:
    """A method of an object of one of two classes of another file may be that of either."""
    model = build({"agents.py": AGENTS, "train.py": TRAIN})["train.py"]
    call = expression(model, "policy.act(step)")
    assert model.types.type_of(expression(model, "policy", last=True)).tag is TypeTag.MODULE
    assert {target.path for target in model.types.call_targets(call)} == {  # type: ignore[arg-type]
        "agents.Actor.act",
        "agents.Critic.act",
    }


@pytest.mark.parametrize(
    ("body", "targets"),
    [
        ("return Actor() if kind else Critic()", {"agents.Actor.act", "agents.Critic.act"}),
        ("return Critic()", {"agents.Critic.act"}),
        ("made = super().__new__(cls)\n        made.kind = kind\n        return made", {"train.Agent.act"}),
    ],
)
def test_a_constructor_may_return_objects_of_other_classes(body: str, targets: set[str]) -> None:
    """`__new__` decides what a call of the class returns."""
    train = f"""
from agents import Actor, Critic

class Agent:
    def __new__(cls, kind):
        {body}

    def act(self, x):
        return x

def main(env, args, steps):
    policy = Agent(args.kind)
    for step in range(steps):
        env.step(policy.act(step))
"""
    model = build({"agents.py": AGENTS, "train.py": train})["train.py"]
    found = model.types.call_targets(expression(model, "policy.act(step)"))  # type: ignore[arg-type]
    assert {target.path for target in found} == targets


def test_what_one_of_several_runs_is_hot() -> None:
    """The loop that calls a method makes it hot in each class that the object may be of."""
    model = build({"agents.py": AGENTS, "train.py": TRAIN})["agents.py"]
    for last in (False, True):
        assert model.frequency.heat_of(expression(model, "self(x)", last=last)).level is Heat.HOT


def test_an_attribute_may_be_of_several_classes() -> None:
    """An attribute that branches of the constructor set is followed to all classes."""
    agent = """
        from agents import Actor, Critic

        class Agent:
            def __init__(self, kind, device):
                if kind == "actor":
                    self.net = Actor().to(device)
                else:
                    self.net = Critic().to(device)

            def act(self, x):
                return self.net.act(x)
    """
    model = build({"agents.py": AGENTS, "agent.py": agent})["agent.py"]
    call = expression(model, "self.net.act(x)")
    assert len(model.types.call_targets(call)) == 2  # type: ignore[arg-type]


def test_one_unknown_class_makes_all_unknown() -> None:
    """If one branch gives an unknown value, not all functions that run are known."""
    train = TRAIN.replace("policy = Critic()", "policy = args.make()")
    model = build({"agents.py": AGENTS, "train.py": train})["train.py"]
    assert model.types.call_targets(expression(model, "policy.act(step)")) == []  # type: ignore[arg-type]


def test_effects_are_those_of_all_classes() -> None:
    """A call has the effects of all methods that it may run."""
    agents = AGENTS.replace("return self(x)", "print(x)\n            return self(x)", 1)
    model = build({"agents.py": agents, "train.py": TRAIN})["train.py"]
    assert not model.effects.effect_of(expression(model, "policy.act(step)")).quiet


@pytest.mark.parametrize(
    ("paths", "joined"),
    [
        (("a.X()", "b.Y()"), "{a.X()|b.Y()}"),
        (("b.Y()", "a.X()", "b.Y()"), "{a.X()|b.Y()}"),
        (("{a.X()|b.Y()}", "c.Z()"), "{a.X()|b.Y()|c.Z()}"),
        (("{a|b}.x", "c"), "{c|{a|b}.x}"),
        (("a", ""), ""),
        (tuple("abcdefghijklm"), ""),
        (("a", "a"), "a"),
    ],
)
def test_paths_are_joined(paths: tuple[str, ...], joined: str) -> None:
    """One path represents several, in a fixed order; too many, or an unknown one, give none."""
    assert either(*paths) == joined


@pytest.mark.parametrize(
    ("path", "plain"),
    [
        ("a.X().net", ("a.X().net",)),
        ("{a.X()|b.Y()}.net", ("a.X().net", "b.Y().net")),
        ("{c|{a|b}.x}()", ("c()", "a.x()", "b.x()")),
        ("{a|b}.{c|d}", ("a.c", "a.d", "b.c", "b.d")),
    ],
)
def test_a_path_is_taken_apart(path: str, plain: tuple[str, ...]) -> None:
    """A path that represents several is split into these."""
    assert alternatives(path) == plain


def test_what_has_no_such_method_is_not_meant() -> None:
    """A call of a method that only some of the classes have implies one of these classes."""
    agents = (
        AGENTS.replace("class Critic", "class Other")
        + """
    class Critic(nn.Module):
        def forward(self, x):
            return x

        def value(self, x):
            return self(x)
    """
    )
    train = TRAIN.replace("policy.act(step)", "policy.value(step)")
    model = build({"agents.py": agents, "train.py": train})["train.py"]
    targets = model.types.call_targets(expression(model, "policy.value(step)"))  # type: ignore[arg-type]
    assert [target.path for target in targets] == ["agents.Critic.value"]


LEARNERS = """
    class Model:
        def loss(self, batch):
            return self.net(batch).mean()

    class Policy:
        def __init__(self, env):
            self.env = env

        def loss(self, batch):
            total = 0.0
            done = False
            while not done:
                _, reward, done, _, _ = self.env.step(self.act(batch))
                total = total + reward
            return total
"""
FIT = """
    from learners import Model, Policy

    def fit(part, optimizer, batches, steps):
        for step in range(steps):
            loss = part.loss(batches[step])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    def main(env, optimizer, batches):
        {calls}
"""


@pytest.mark.parametrize(
    ("calls", "level"),
    [
        ("fit(Policy(env), optimizer, batches, 1_000)", Heat.WARM),
        ("fit(Model(), optimizer, batches, 1_000)", Heat.HOT),
        ("fit(Policy(env), optimizer, batches, 1_000); fit(Model(), optimizer, batches, 1_000)", Heat.HOT),
    ],
    ids=["plays", "does not", "one of two"],
)
def test_a_loop_is_over_episodes_where_all_classes_play_one(calls: str, level: Heat) -> None:
    """A loop over gradient steps is hot if the loss of at least one class runs no episode."""
    model = build({"learners.py": LEARNERS, "fit.py": FIT.format(calls=calls)})["fit.py"]
    assert model.frequency.heat_of(expression(model, "optimizer.step()")).level is level


def test_a_class_without_the_method_has_no_part_in_the_effect() -> None:
    """Of two classes of which only one has the method, that method is called."""
    scales = """
        class Fixed:
            def __init__(self):
                self.mean = 0

            def __call__(self, x):
                return x - self.mean

        class Running:
            def __init__(self):
                self.mean = 0

            def normalize(self, x):
                return len(x) - self.mean
    """
    train = """
        from scales import Fixed, Running

        class Trainer:
            def __init__(self, fixed):
                self.scale = Fixed() if fixed else Running()

            def update(self, batch):
                return self.scale.normalize(batch)
    """
    model = build({"scales.py": scales, "train.py": train})["train.py"]
    call = expression(model, "self.scale.normalize(batch)")
    assert isinstance(call, ast.Call)
    assert model.effects.call_effect(call).quiet


CHOSEN = """
    def main(name, env):
        if name == "actor":
            from agents import Actor as Policy
        else:
            from agents import Critic as Policy
        policy = Policy()
        env.step(policy.act(0))
"""


def test_a_condition_chooses_what_is_imported() -> None:
    """A name that branches import from different places means one of them, not the first."""
    model = build({"agents.py": AGENTS, "train.py": CHOSEN})["train.py"]
    kind = model.types.type_of(expression(model, "policy", last=True))
    assert set(alternatives(kind.of)) == {"agents.Actor", "agents.Critic"}
    targets = model.types.call_targets(expression(model, "policy.act(0)"))  # type: ignore[arg-type]
    assert {target.path for target in targets} == {"agents.Actor.act", "agents.Critic.act"}


@pytest.mark.parametrize(
    "imports",
    [
        "try:\n    from fast import Net\nexcept ImportError:\n    from slow import Net",
        "if old:\n    import gym\nelse:\n    import gymnasium as gym",
    ],
)
def test_what_replaces_a_missing_library_is_the_same(imports: str) -> None:
    """The first of two imports counts if the other replaces it."""
    name = "Net" if "Net" in imports else "gym"
    model = build({"train.py": f"{imports}\nuse({name})\n"})["train.py"]
    found = model.names.qualified(expression(model, name, last=True))
    assert found == {"Net": "fast.Net", "gym": "gymnasium"}[name]


def test_only_a_function_that_returns_as_many_items_is_unpacked() -> None:
    """Of several methods that a call may run, one returns a tuple of the length that it is unpacked to."""
    agents = """
        class Small:
            def rate(self, x):
                return x, 1

        class Large:
            def rate(self, x):
                if x:
                    return x, 1, 2
                return x, 2, 3

        class Other:
            def rate(self, x):
                return self.rated[x]
    """
    text = """
        from agents import Large, Other, Small

        def main(kind, x):
            net = Small() if kind == 1 else Large() if kind == 2 else Other()
            a, b, c = net.rate(x)
            d, *e = net.rate(x + 1)
            f = net.rate(x + 2)
    """
    model = build({"agents.py": agents, "train.py": text})["train.py"]
    for call, count in (("net.rate(x)", 2), ("net.rate(x + 1)", 3), ("net.rate(x + 2)", 3)):
        assert len(model.types.call_targets(expression(model, call))) == count  # type: ignore[arg-type]
