"""Meanings of loop variables."""

from __future__ import annotations

import ast

import pytest

from project_builder import find, model_of
from rlint.semantics.frequency.loop_variables import ItemKind, is_short, items_of


def _loop(header: str) -> tuple[ast.For, object]:
    model = model_of(f"from tqdm import tqdm\n\n{header}:\n    pass\n")
    loop = find(model, f"{header}:\n    pass")
    assert isinstance(loop, ast.For)
    return loop, model.names.qualified


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("for s in states", {"s": (ItemKind.ELEMENT, "states", False)}),
        ("for i in range(n)", {"i": (ItemKind.COUNT, "range(n)", False)}),
        ("for start in range(0, n, size)", {"start": (ItemKind.KEY, "range(0, n, size)", False)}),
        (
            "for i, (s, a) in enumerate(zip(states, actions))",
            {
                "i": (ItemKind.COUNT, "zip(states, actions)", False),
                "s": (ItemKind.ELEMENT, "states", False),
                "a": (ItemKind.ELEMENT, "actions", False),
            },
        ),
        (
            "for s, a in tqdm(batch)",
            {"s": (ItemKind.ELEMENT, "batch", True), "a": (ItemKind.ELEMENT, "batch", True)},
        ),
        (
            "for k, o in obs.items()",
            {"k": (ItemKind.KEY, "obs", False), "o": (ItemKind.ELEMENT, "obs", False)},
        ),
        ("for k in obs.keys()", {"k": (ItemKind.KEY, "obs", False)}),
        ("for o in obs.values()", {"o": (ItemKind.ELEMENT, "obs", False)}),
    ],
)
def test_what_a_variable_stands_for(header: str, expected: dict[str, tuple[ItemKind, str, bool]]) -> None:
    """Each variable is a count, a key or an element of the iterated object, also through wrappers."""
    loop, qualified = _loop(header)
    found = items_of(loop, qualified)  # type: ignore[arg-type]
    assert {n: (i.sort, ast.unparse(i.over), i.is_part) for n, i in found.items()} == expected


@pytest.mark.parametrize(
    ("header", "short"),
    [
        ("for x in (a, b)", True),
        ("for i, x in enumerate([a, b])", True),
        ("for i in range(3)", True),
        ("for x, y in zip(xs, (a, b))", True),
        ("for i in range(n)", False),
        ("for i in range(64)", False),
        ("for x in xs", False),
    ],
)
def test_short_loops(header: str, *, short: bool) -> None:
    """A loop over a few literal items does not count."""
    loop, qualified = _loop(header)
    assert is_short(loop, qualified) is short  # type: ignore[arg-type]
