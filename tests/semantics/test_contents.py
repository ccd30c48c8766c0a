"""Items of lists, and observations."""

from __future__ import annotations

import pytest

from project_builder import expression, model_of
from rlint.semantics.types.containers import contents
from rlint.semantics.types.observations import are_observations, is_observation


@pytest.mark.parametrize(
    ("program", "held"),
    [
        ("rows = [a, b]", ["a", "b"]),
        ("rows = [f(x) for x in y]", ["f(x)"]),
        ("rows = []\nfor x in y:\n    rows.append(x)\n    rows.insert(0, z)", ["x", "z"]),
        ("rows, others = [], list()\nrows.append(x)", ["x"]),
        ("rows = list(x.a for x in y)", ["x.a"]),
        ("rows = list(map(lambda x: x.a, y))", ["x.a"]),
        ("rows = []\nrows.extend([a, b])", ["a", "b"]),
        ("rows = []\nrows.extend(map(lambda x: x.a, y))", ["x.a"]),
        ("rows = [a]\nrows += more", None),
        ("rows = [a]\nrows[0] = b", None),
        ("rows = [*a]", None),
        ("rows = []\nrows.extend(more)", None),
        ("rows = load()\nrows.append(x)", None),
    ],
)
def test_a_list_holds_what_is_put_into_it(program: str, held: list[str] | None) -> None:
    """Displays, comprehensions, `append` and similar methods are recognised; after other operations, the
    items are unknown.
    """
    model = model_of(f"{program}\nprint(rows)\n")
    found = contents(expression(model, "rows", last=True), model)
    assert (found if found is None else [model.source.text(node) for node in found]) == held


def test_an_attribute_holds_what_any_method_puts_into_it() -> None:
    """`self.rows` begins as a list in one method and is filled in another."""
    model = model_of(
        """
        class Buffer:
            def __init__(self):
                self.rows, self.count = [], 0
            def push(self, row):
                self.rows.append(row)
            def sample(self):
                return self.rows
        """
    )
    found = contents(expression(model, "self.rows", last=True), model)
    assert [model.source.text(node) for node in found or ()] == ["row"]


@pytest.mark.parametrize(
    ("program", "observed"),
    [
        ("x = env.reset()", True),
        ("x, info = env.reset()", True),
        ("x, reward, done, info = self.env.step(action)", True),
        ("reward, x = env.step(action)", False),
        ("x = env.step(action)", False),
        ("x, done = env.reset(), False", True),
        ("x = memory.reset()", False),
        ("state = x = load()", False),
        ("x = 3", False),
    ],
)
def test_environments_show_observations(program: str, observed: bool) -> None:
    """The first result of `reset` and `step` is an observation, whatever its name."""
    model = model_of(f"{program}\nprint(x)\n")
    assert is_observation(expression(model, "x", last=True), model) is observed


@pytest.mark.parametrize(
    ("used", "observed"),
    [
        ("next_state", True),
        ("t.obs", True),
        ("t['state']", True),
        ("obs.copy()", True),
        ("s", True),
        ("a", False),
        ("t[0]", False),
        ("statement", False),
        ("env_state_dict", False),
        ("reward", False),
    ],
)
def test_observations_are_known_by_name(used: str, observed: bool) -> None:
    """Observations are called state or obs; `s` is one next to `a` and `r`."""
    model = model_of(f"for t in batch:\n    s, a, r, s_prime = t\n    print({used})\n")
    assert is_observation(expression(model, used, last=True), model) is observed


def test_the_observations_of_a_batch() -> None:
    """`zip(*batch)` separates all observations from all actions."""
    model = model_of(
        "states, actions = zip(*batch)\nwhole = Transition(*zip(*batch))\n"
        "obs, acts = map(list, zip(*batch))\nstate, other = load()\n"
        "print(states, actions, whole.state, obs, state)\n"
    )
    described = {
        used: are_observations(expression(model, used, last=True), model)
        for used in ("states", "actions", "whole.state", "obs", "state")
    }
    assert described == {"states": True, "actions": False, "whole.state": True, "obs": True, "state": False}
