"""Checking syntax without a tree gives the same result as with one."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixture_folders import ROOT
from rlint.findings import Problem
from rlint.parsing.parse import parse, problem_in

PROGRAMS = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "fixtures").glob("*/before.py"))] + [
    path.read_text(encoding="utf-8") for path in sorted((ROOT / "rlint" / "syntax").glob("*.py"))
]
PIECES = (
    "(",
    ")",
    "[",
    "}",
    '"',
    "'''",
    "\\",
    "\n",
    "    ",
    "\t",
    ":",
    "=",
    "*",
    "\0",
    "\ud800",
    "é",
    "0777",
    "$",
)


def said_with_a_tree(text: str) -> Problem | None:
    """The syntax error of a text, found by parsing it."""
    reading = parse(text, "program.py")
    return reading if isinstance(reading, Problem) else None


@given(st.data())
def test_a_text_is_as_sound_without_a_tree(data: st.DataObject) -> None:
    """For any part that is removed from or inserted into a program, with the same message."""
    text = data.draw(st.sampled_from(PROGRAMS))
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    text = text[:start] + data.draw(st.sampled_from(PIECES)) + text[min(end, start + 40) :]
    assert problem_in(text, "program.py") == said_with_a_tree(text)


@pytest.mark.parametrize(
    "text",
    [
        "return 1\n",  # outside of a function: it parses, but the compiler refuses it
        "def f(a):\n    global a\n",
        "def f():\n    nonlocal a\n",
        "def f(a, a):\n    pass\n",
        "from __future__ import braces\n",
        "def f():\n    from x import *\n",
        "class A:\n    [y := 1 for x in z]\n",
        "async def f():\n    yield 1\n    return 2\n",
        "x = " + "(" * 90 + ")" * 90,
        "x = " + "-" * 100_000 + "1",
        "x = " + "+ 1" * 100_000,
        f"x = {'9' * 5000}",
        "x = 1\0",
        "",
    ],
)
def test_what_the_compiler_alone_refuses_is_sound(text: str) -> None:
    """A file that no rule examines is held to no stricter syntax than others."""
    assert problem_in(text, "program.py") == said_with_a_tree(text)


def test_no_tree_is_made_of_a_sound_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """That would be most of the work."""
    monkeypatch.delattr(ast, "parse")
    assert problem_in("x = 1\n", "program.py") is None
