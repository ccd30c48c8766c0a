"""Edits of calls by LibCST: arguments added, removed or replaced, with their commas and comments."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from rlint.edit.deferred_edit import CannotWriteError
from rlint.edit.parsed_code import by_libcst, code, expression, newline_of
from rlint.parsing.imported_libcst import cst


@by_libcst
def rewritten(
    text: str,
    *,
    function: str | None = None,
    keywords: Mapping[str, str],
    dropped: Collection[int] = (),
    replaced: Mapping[int, str],
) -> str:
    """Return the text of a call with another `function`, without the arguments at some positions, with
    replacements at others, and with more keywords.
    """
    node = expression(text)
    if not isinstance(node, cst.Call):
        raise CannotWriteError("LibCST reads the code in another way")
    if function is not None:
        node = node.with_changes(func=expression(function))
    node = _with_arguments(node, dropped, replaced)
    for name, value in keywords.items():
        node = _with_keyword(node, name, value)
    return code(node, newline_of(text))


def _with_arguments(node: cst.Call, dropped: Collection[int], replaced: Mapping[int, str]) -> cst.Call:
    """Remove arguments, with the comma and the blanks after them, or before them at the end; replace others
    by the given source.
    """
    arguments: list[cst.Arg] = []
    for place, argument in enumerate(node.args):
        if place in replaced:
            arguments += _arguments(replaced[place], argument)
        elif place not in dropped:
            arguments.append(argument)
            continue
        if arguments and (place in replaced or place == len(node.args) - 1):
            arguments[-1] = arguments[-1].with_changes(
                comma=argument.comma, whitespace_after_arg=argument.whitespace_after_arg
            )
    if not arguments:
        return node.with_changes(args=[], whitespace_before_args=cst.SimpleWhitespace(""))
    return node.with_changes(args=arguments)


def _arguments(text: str, old: cst.Arg) -> Sequence[cst.Arg]:
    """Parse arguments; a replacement keeps the keyword."""
    made = expression(f"f({text})")
    assert isinstance(made, cst.Call)
    if len(made.args) == 1 and made.args[0].keyword is None:
        return [old.with_changes(value=made.args[0].value)]
    return made.args


def _with_keyword(node: cst.Call, name: str, value: str) -> cst.Call:
    """Add a keyword argument; a trailing comma and the comments stay."""
    added = cst.Arg(
        keyword=cst.Name(name),
        value=expression(value),
        equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
    )
    arguments = list(node.args)
    if arguments and arguments[-1].star == "**":
        # keywords may follow `**kwargs`, but usually come before it
        last = arguments.pop()
        between = cst.Comma(whitespace_after=_space_after_comma(arguments or [last]))
        arguments += [added.with_changes(comma=between), last]
        return node.with_changes(args=arguments)
    if arguments:
        last = arguments[-1]
        trailing = last.comma
        if isinstance(trailing, cst.Comma):
            # a trailing comma, often at a line's end: what follows it now follows the new argument, except a
            # comment, which belongs to the argument before it
            gap, following = _space_between(node), trailing.whitespace_after
            if isinstance(gap, cst.ParenthesizedWhitespace) and isinstance(
                following, cst.ParenthesizedWhitespace
            ):
                gap = gap.with_changes(first_line=following.first_line)
                trailing = trailing.with_changes(
                    whitespace_after=following.with_changes(first_line=cst.TrailingWhitespace())
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
    return node.with_changes(args=arguments)


def _space_after_comma(arguments: list[cst.Arg]) -> cst.BaseParenthesizableWhitespace:
    comma = arguments[-1].comma
    return comma.whitespace_after if isinstance(comma, cst.Comma) else cst.SimpleWhitespace(" ")


def _space_between(node: cst.Call) -> cst.BaseParenthesizableWhitespace:
    """Return the whitespace between arguments: a space, or a newline with the arguments' indentation."""
    if len(node.args) > 1:
        comma = node.args[-2].comma
        if isinstance(comma, cst.Comma):
            space = comma.whitespace_after
            if isinstance(space, cst.ParenthesizedWhitespace):
                # the line break without the comment that may precede it
                return space.with_changes(first_line=cst.TrailingWhitespace(), empty_lines=[])
            return space
    before = node.whitespace_before_args
    if isinstance(before, cst.ParenthesizedWhitespace):
        return before.with_changes(first_line=cst.TrailingWhitespace(), empty_lines=[])
    return cst.SimpleWhitespace(" ")
