"""Changing one expression without losing its formatting: LibCST parses just the piece concerned, where there
are comments in it. Importing LibCST takes longer than checking a file.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rlint.cst.grammar import RUNNING, Grammar
from rlint.edit.argument_spans import argument_spans
from rlint.regex import regex
from rlint.syntax.positions import Positions

if TYPE_CHECKING:
    import libcst as cst

_LINE_END = regex(r"\r\n|\n|\r")


def parse_expression(text: str) -> cst.BaseExpression | None:
    """Parse the text of one expression; None where LibCST cannot read it."""
    import libcst as cst

    try:
        return cst.parse_expression(text)
    except cst.ParserSyntaxError:
        pass
    try:  # a chain broken over lines needs the parentheses that stand around it in the file
        wrapped = cst.parse_expression(f"({text})")
    except cst.ParserSyntaxError:
        return None
    if not wrapped.lpar:
        return None
    return wrapped.with_changes(lpar=wrapped.lpar[1:], rpar=wrapped.rpar[:-1])


def needs_parentheses(text: str, grammar: Grammar = RUNNING) -> bool:
    """Is the text of an expression broken over lines where only parentheses around it allow that?"""
    try:
        grammar.expression(text)
    except SyntaxError:
        return True
    return False


def code(node: cst.CSTNode, newline: str = "\n") -> str:
    """Render a LibCST node, with the line ends of the text that it was parsed from."""
    import libcst as cst

    return cst.Module([], default_newline=newline).code_for_node(node)


def with_keyword(call: str, name: str, value: str, grammar: Grammar = RUNNING) -> str | None:
    """The text of a call with one more keyword argument, trailing comma and comments kept.

    None where `call` is not the text of a call, or already has that keyword.
    """
    by_libcst = "#" in call or grammar is not RUNNING
    add = with_keyword_by_libcst if by_libcst else _with_keyword_among_blanks
    return add(call, name, value)


def with_keyword_by_libcst(call: str, name: str, value: str) -> str | None:
    """The same for every call, comments between the arguments or not."""
    import libcst as cst

    node = parse_expression(call)
    if not isinstance(node, cst.Call) or any(arg.keyword and arg.keyword.value == name for arg in node.args):
        return None
    added = cst.Arg(
        keyword=cst.Name(name),
        value=cst.parse_expression(value),
        equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
    )
    arguments = list(node.args)
    if arguments and arguments[-1].star == "**":
        # keywords may follow `**kwargs`, but read better before it
        last = arguments.pop()
        between = cst.Comma(whitespace_after=_space_after_comma(arguments or [last]))
        arguments += [added.with_changes(comma=between), last]
        return code(node.with_changes(args=arguments), _newline(call))
    if arguments:
        last = arguments[-1]
        trailing = last.comma
        if isinstance(trailing, cst.Comma):
            # a trailing comma, often at a line's end: what follows it now follows the new one, but for a
            # comment, which is about the argument before it
            gap, behind = _space_between(node), trailing.whitespace_after
            if isinstance(gap, cst.ParenthesizedWhitespace) and isinstance(
                behind, cst.ParenthesizedWhitespace
            ):
                gap = gap.with_changes(first_line=behind.first_line)
                trailing = trailing.with_changes(
                    whitespace_after=behind.with_changes(first_line=cst.TrailingWhitespace())
                )
            arguments[-1] = last.with_changes(comma=cst.Comma(whitespace_after=gap))
            added = added.with_changes(comma=trailing)
        else:
            arguments[-1] = last.with_changes(
                comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")),
                whitespace_after_arg=cst.SimpleWhitespace(""),
            )
            added = added.with_changes(whitespace_after_arg=last.whitespace_after_arg)
    arguments.append(added)
    return code(node.with_changes(args=arguments), _newline(call))


def _with_keyword_among_blanks(text: str, name: str, value: str) -> str | None:
    """The same for a call without comments: between its arguments there are commas and blanks alone."""
    wrapped = f"(\n{text}\n)"  # a chain may be broken over lines
    try:
        call = ast.parse(wrapped, mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(call, ast.Call) or any(keyword.arg == name for keyword in call.keywords):
        return None
    opened = Positions(wrapped).span(call.func)[1] - 2
    while opened < len(text) and text[opened] == ")":  # around what is called
        opened += 1 + len(text[opened + 1 :]) - len(text[opened + 1 :].lstrip())
    spans = argument_spans(text[opened:])
    if spans is None:
        return None
    close = len(text.rstrip()) - 1
    added = f"{name}={value}"
    if not spans:
        return text[:close] + added + text[close:]
    start, end = opened + spans[-1][0], opened + spans[-1][1]
    gap = text[opened + spans[-2][1] : start].rpartition(",")[2] if len(spans) > 1 else " "
    if text.startswith("**", start):
        # keywords may follow `**kwargs`, but read better before it
        return f"{text[:start]}{added},{gap}{text[start:]}"
    before, comma, after = text[end:close].partition(",")
    if not comma:
        return f"{text[:end]}, {added}{text[end:]}"
    first = text[text.index("(", opened) + 1 : start]
    if len(spans) == 1 and _LINE_END.search(first):
        gap = first
    if _LINE_END.search(gap):
        gap = _newline(gap) + _LINE_END.split(gap)[-1]
    return f"{text[:end]}{before},{gap}{added},{after}{text[close:]}"


def _newline(text: str) -> str:
    return next((end for end in ("\r\n", "\n", "\r") if end in text), "\n")


def _space_after_comma(arguments: list[cst.Arg]) -> cst.BaseParenthesizableWhitespace:
    import libcst as cst

    comma = arguments[-1].comma
    return comma.whitespace_after if isinstance(comma, cst.Comma) else cst.SimpleWhitespace(" ")


def _space_between(node: cst.Call) -> cst.BaseParenthesizableWhitespace:
    """What stands between the arguments: a space, or a line end with the arguments' indentation."""
    import libcst as cst

    if len(node.args) > 1:
        comma = node.args[-2].comma
        if isinstance(comma, cst.Comma):
            space = comma.whitespace_after
            if isinstance(space, cst.ParenthesizedWhitespace):
                # the line break without the comment that may stand before it
                return space.with_changes(first_line=cst.TrailingWhitespace(), empty_lines=[])
            return space
    before = node.whitespace_before_args
    if isinstance(before, cst.ParenthesizedWhitespace):
        return before.with_changes(first_line=cst.TrailingWhitespace(), empty_lines=[])
    return cst.SimpleWhitespace(" ")
