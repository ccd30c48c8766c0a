"""Arguments that are added to calls: as LibCST would, which is not asked for calls without comments."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlint.edit import call_arguments

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


@given(calls())
def test_a_keyword_goes_where_libcst_puts_it(call: str) -> None:
    """Spaces and trailing commas stay; the call has the new argument, and the others as before."""
    added = call_arguments.with_keyword(call, "key", "True")
    assert added is not None
    tree, before = (ast.parse(f"({text})", mode="eval").body for text in (added, call))
    assert isinstance(tree, ast.Call)
    assert isinstance(before, ast.Call)
    assert [ast.dump(each) for each in tree.args] == [ast.dump(each) for each in before.args]
    assert [k.arg for k in tree.keywords if k.arg] == [*(k.arg for k in before.keywords if k.arg), "key"]
    by_libcst = call_arguments.with_keyword_by_libcst(call, "key", "True")
    assert by_libcst is not None
    assert "".join(by_libcst.split()) == "".join(added.split())


@pytest.mark.parametrize("text", ["f(key=1)", "f", "f(a) + g(b)", "f(a", ""])
def test_what_is_no_call_or_has_the_keyword_is_left_alone(text: str) -> None:
    """There is nothing to add to."""
    assert call_arguments.with_keyword(text, "key", "True") is None


@pytest.mark.parametrize(
    ("text", "needed"),
    [("a\n.b", True), ("f(\na)", False), ("a +\nb", True), ("[\n]", False), ("'x'\n'y'", True)],
)
def test_parentheses_are_needed_where_lines_end_outside_of_brackets(text: str, needed: bool) -> None:
    """An expression that stood in parentheses may need them elsewhere."""
    assert call_arguments.needs_parentheses(text) is needed


@pytest.mark.parametrize("end", ["\r", "\r\n"])
@given(call=calls(), comment=st.sampled_from(["", "  # why\n"]))
def test_line_ends_are_kept(call: str, comment: str, end: str) -> None:
    """Also those of old computers, which end a line for Python, and not for its tokenizer."""
    call = call.replace("\r\n", "\n")
    call = call.replace("\n", comment, 1) if comment else call
    added = call_arguments.with_keyword(call, "key", "True")
    assert added is not None
    assert call_arguments.with_keyword(call.replace("\n", end), "key", "True") == added.replace("\n", end)
