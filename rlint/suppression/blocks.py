"""Blocks from `# rlint: disable[RL101]` to `# rlint: enable[RL101]`, and the lines in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlint.suppression.comments import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rlint.suppression.comments import Layout
    from rlint.suppression.directives import Directive


def close_blocks(
    layout: Layout, marks: Iterable[tuple[bool, Directive]], mistaken: Callable[[Directive, str], None]
) -> list[Directive]:
    """Return the directives that open a block, each with the lines that it covers.

    `marks` are the comments of a file in order, True for those that open. A block ends at the `enable` with
    the same codes and indentation, or with the code block that contains its comment. Other `enable` comments
    are passed to `mistaken`.
    """
    opened: list[Directive] = []
    blocks = []
    for opens, mark in marks:
        if opens:
            opened.append(mark)
            blocks.append(mark)
            continue
        equal = (each for each in reversed(opened) if _key(each) == _key(mark))
        opener = next(equal, None)
        if opener is None or mark.comment.line > _end_of_scope(layout, opener):
            mistaken(mark, "no `rlint: disable` with these codes is open before this `rlint: enable`")
            continue
        opened.remove(opener)
        opener.closing = mark
        opener.reach = Span(opener.comment.line, mark.comment.line)
    for opener in opened:
        opener.reach = Span(opener.comment.line, _end_of_scope(layout, opener))
    return blocks


def _key(directive: Directive) -> tuple[int, frozenset[str] | None]:
    """Return the key of the two comments of a block: their indentation and their codes."""
    items = directive.items
    codes = frozenset(item.text.upper() for item in items) if items is not None else None
    return directive.comment.column, codes


def _end_of_scope(layout: Layout, opener: Directive) -> int:
    """Return the last line of the code that is indented at least as far as the comment."""
    positions = layout.positions
    for statement in layout.statements:
        if statement.first > opener.comment.line:
            line = positions.line_text(statement.first)
            if len(line) - len(line.lstrip()) + 1 < opener.comment.column:
                return statement.first - 1
    return len(positions.starts)
