"""Calls rewritten by LibCST: arguments are added and removed, everything else is unchanged."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from project_builder import expression, model_of
from rlint.edit.call_edits import rewritten
from rlint.edit.deferred_edit import CannotWriteError
from rlint.edit.edits import needs_parentheses

ARGUMENTS = (
    *("x", "self.buffer[0]", "(a + b)", "*rows", "'ü, )'", "lambda: (1,)", "f(g, h,)", "dtype=(float)"),
    *("size=n", "**options", "{'a': 1}", "x if y else z", "-1"),
)


@st.composite
def calls(draw: st.DrawFn) -> str:
    """The text of a call, well spaced or not, in one line or more."""
    space = st.sampled_from(["", " ", "  ", "\n", "\n    ", "\r\n  "])
    chosen = draw(st.lists(st.sampled_from(ARGUMENTS), max_size=4))
    positional = [each for each in chosen if not each.startswith(("**", "size=", "dtype="))]
    named = list(dict.fromkeys(each for each in chosen if each.startswith(("size=", "dtype="))))
    arguments = [*positional, *named, *(each for each in chosen[:1] if each.startswith("**"))]
    text = draw(space)
    for number, argument in enumerate(arguments):
        text += argument + draw(space)
        if number + 1 < len(arguments) or draw(st.booleans()):
            text += "," + draw(space)
    called = draw(st.sampled_from(["f", "x.to", "nets[0]", "make()", "(a or b)", "x\n  .y"]))
    return f"{called}({text})"


def with_keyword(call: str) -> str:
    """The call with one more keyword."""
    return rewritten(call, keywords={"key": "True"}, replaced={})


@given(calls())
def test_a_keyword_is_added(call: str) -> None:
    """The call has the new argument, and the others are unchanged."""
    added = with_keyword(call)
    tree, before = (ast.parse(f"({text})", mode="eval").body for text in (added, call))
    assert isinstance(tree, ast.Call)
    assert isinstance(before, ast.Call)
    assert [ast.dump(each) for each in tree.args] == [ast.dump(each) for each in before.args]
    assert [k.arg for k in tree.keywords if k.arg] == [*(k.arg for k in before.keywords if k.arg), "key"]


@given(calls(), st.sets(st.integers(0, 4)))
def test_arguments_are_left_out(call: str, places: set[int]) -> None:
    """The other arguments are unchanged and in order."""
    before = ast.parse(f"({call})", mode="eval").body
    assert isinstance(before, ast.Call)
    given = [*before.args, *before.keywords]
    given.sort(key=lambda each: (each.lineno, each.col_offset))
    dropped = [place for place in places if place < len(given)]
    after = ast.parse(f"({rewritten(call, keywords={}, dropped=dropped, replaced={})})", mode="eval").body
    assert isinstance(after, ast.Call)
    left = [*after.args, *after.keywords]
    left.sort(key=lambda each: (each.lineno, each.col_offset))
    wanted = [ast.dump(each) for place, each in enumerate(given) if place not in dropped]
    assert [ast.dump(each) for each in left] == wanted


@pytest.mark.parametrize(
    ("call", "replaced", "after"),
    [
        ("f(a, b)", {1: "x=1, y=2"}, "f(a, x=1, y=2)"),
        ("f(x=(a), y=b)", {0: "c"}, "f(x=c, y=b)"),
        ("f(\n    a,\n    b,\n)", {1: "c"}, "f(\n    a,\n    c,\n)"),
        ("f(a, # why\n  b)", {0: "c"}, "f(c, # why\n  b)"),
    ],
)
def test_arguments_are_replaced(call: str, replaced: dict[int, str], after: str) -> None:
    """Several arguments may replace one; commas, blanks and comments are kept."""
    assert rewritten(call, keywords={}, replaced=replaced) == after


@pytest.mark.parametrize("text", ["f", "f(a) + g(b)", "f(a", "", "f(key=1, **a, *b"])
def test_what_is_no_call_is_left_alone(text: str) -> None:
    """The edit is empty."""
    with pytest.raises(CannotWriteError):
        with_keyword(text)


def test_a_keyword_is_not_given_twice() -> None:
    """The rule gets no edit for a call that has it."""
    model = model_of("f(key=1)\n")
    call = expression(model, "f(key=1)")
    assert isinstance(call, ast.Call)
    assert model.edit.with_keyword(call, "key", "True") is None


@pytest.mark.parametrize(
    ("text", "needed"),
    [("a\n.b", True), ("f(\na)", False), ("a +\nb", True), ("[\n]", False), ("'x'\n'y'", True)],
)
def test_parentheses_are_needed_where_lines_end_outside_of_brackets(text: str, needed: bool) -> None:
    """An expression that was in parentheses may need them at its new place."""
    assert needs_parentheses(text) is needed


@pytest.mark.parametrize("end", ["\r", "\r\n"])
@given(call=calls(), comment=st.sampled_from(["", "  # why\n"]))
def test_line_ends_are_kept(call: str, comment: str, end: str) -> None:
    """Also old Mac line ends."""
    call = call.replace("\r\n", "\n")
    call = call.replace("\n", comment, 1) if comment else call
    assert with_keyword(call.replace("\n", end)) == with_keyword(call).replace("\n", end)
