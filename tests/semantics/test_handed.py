"""Arguments that callers pass in their loops."""

from __future__ import annotations

import ast

import pytest

from project_builder import build, model_of


def parameter_of(body: str, *, others: dict[str, str] | None = None) -> tuple[bool, bool]:
    """Whether the parameter `name` of `fetch` receives loop variables, and whether `fetch` is called at
    all.
    """
    files = {"loads.py": "def fetch(name):\n    return open(name)\n", "rewards.py": body, **(others or {})}
    model = build(files)["loads.py"]
    read = next(node for node in model.syntax.of_type(ast.Name) if node.id == "name")
    return model.frequency.takes_loop_items(read), model.frequency.is_called(read)


@pytest.mark.parametrize(
    ("body", "handed"),
    [
        ("def length_reward(x):\n    return fetch('a')", False),
        ("def length_reward(x, names):\n    return [fetch(n) for n in names]", True),
        ("def length_reward(x, names):\n    for i, n in enumerate(names):\n        fetch(n)", True),
        ("def length_reward(x, n):\n    for i in x:\n        fetch(n)", False),
        (
            "def length_reward(names):\n    [get(n) for n in names]\n\ndef get(m):\n    return fetch(m)",
            True,
        ),
    ],
)
def test_loop_variables(body: str, handed: bool) -> None:
    """The variable of a loop around the call differs in each iteration, also through helpers."""
    assert parameter_of(f"from loads import fetch\n\n{body}\n") == (handed, True)


def test_without_callers() -> None:
    """Without callers, it is unknown."""
    assert parameter_of("") == (False, False)


def test_roles_heat_what_they_call_now_and_then() -> None:
    """Calls of a reward function are warm even if rare, as are those of a training loop."""
    model = model_of(
        """
        def load_table(name):
            return open(name)

        def length_reward(completion):
            return load_table("a")
        """
    )
    (call,) = [
        node
        for node in model.syntax.of_type(ast.Call)
        if isinstance(node.func, ast.Name) and node.func.id == "open"
    ]
    assert model.frequency.heat_of(call).level.name == "WARM"
