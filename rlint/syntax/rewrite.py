"""Changing one expression without losing its formatting: LibCST parses just the piece concerned, where it is
broken over lines. Importing LibCST takes longer than checking a file.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import libcst as cst


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


def needs_parentheses(text: str) -> bool:
    """Is the text of an expression broken over lines where only parentheses around it allow that?"""
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return True
    return False


def code(node: cst.CSTNode, newline: str = "\n") -> str:
    """Render a LibCST node, with the line ends of the text that it was parsed from."""
    import libcst as cst

    return cst.Module([], default_newline=newline).code_for_node(node)


def with_keyword(call: str, name: str, value: str) -> str | None:
    """The text of a call with one more keyword argument, trailing comma and comments kept.

    None where `call` is not the text of a call, or already has that keyword.
    """
    if "\n" not in call and "\r" not in call:
        return _with_keyword_in_line(call, name, value)
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


def _with_keyword_in_line(text: str, name: str, value: str) -> str | None:
    try:
        call = ast.parse(text, mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(call, ast.Call) or any(keyword.arg == name for keyword in call.keywords):
        return None
    raw, added = text.encode(), f"{name}={value}".encode()
    given: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    arguments = sorted(given, key=lambda node: node.col_offset)
    close = len(raw.rstrip()) - 1
    if not arguments:
        return (raw[:close] + added + raw[close:]).decode()
    last = arguments[-1]
    if isinstance(last, ast.keyword) and last.arg is None:
        # keywords may follow `**kwargs`, but read better before it
        gap = _gap(raw, arguments) if len(arguments) > 1 else b" "
        return (raw[: last.col_offset] + added + b"," + gap + raw[last.col_offset :]).decode()
    end = _end(raw, last, close)
    behind = raw[end:close]
    if b"," in behind:
        before, _, after = behind.partition(b",")
        gap = _gap(raw, arguments) if len(arguments) > 1 else b" "
        return (raw[:end] + before + b"," + gap + added + b"," + after + raw[close:]).decode()
    return (raw[:end] + b", " + added + behind + raw[close:]).decode()


def _end(raw: bytes, argument: ast.expr | ast.keyword, close: int) -> int:
    """Where an argument ends, with the parentheses that belong to it: none stand behind it but those."""
    end = argument.end_col_offset or 0
    while (bracket := raw.find(b")", end, close)) >= 0 and not raw[end:bracket].strip(b" \t\f"):
        end = bracket + 1
    return end


def _gap(raw: bytes, arguments: list[ast.expr | ast.keyword]) -> bytes:
    """What stands behind the last comma between two arguments."""
    start = arguments[-1].col_offset
    between = raw[arguments[-2].end_col_offset or 0 : start].rpartition(b",")[2]
    return between[: len(between) - len(between.lstrip(b" \t\f"))]


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


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
