"""Code parsed and written by LibCST, and the smallest edits between two texts."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from itertools import accumulate
from typing import ParamSpec, TypeVar

from rlint.edit.deferred_edit import CannotWriteError
from rlint.findings import Edit
from rlint.parsing.imported_libcst import cst
from rlint.regex import regex

_MOST_WORDS = 1_000  # comparing more is slow: it takes quadratic time
_TOKEN = regex(r"\w+|\s+|[^\w\s]+")
_LINE_END = regex(r"\r\n|\r|\n")
HEADER = "if 1:"
"""Precedes indented lines, so that they form a block of a program unchanged."""


_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def by_libcst(write: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Decorate a function to raise `CannotWriteError` for code that LibCST cannot parse or write."""

    @functools.wraps(write)
    def guarded(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        try:
            return write(*args, **kwargs)
        except (cst.ParserSyntaxError, cst.CSTValidationError, RecursionError) as error:
            raise CannotWriteError("LibCST cannot read or write the code") from error

    return guarded


def parsed(text: str, unit: str | None = None) -> cst.Module:
    """Parse a program that LibCST writes back byte for byte; raise `CannotWriteError` for another. Blocks
    inserted into it are indented by a `unit`.
    """
    module = cst.parse_module(text)
    if module.code != text:
        raise CannotWriteError("LibCST would write the code in another way")
    if unit is not None and unit != module.default_indent:
        module = cst.ensure_type(module.visit(_Indented(module.default_indent)), cst.Module)
        module = module.with_changes(default_indent=unit)
    return module


class _Indented(cst.CSTTransformer):
    """Records the indentation of each block explicitly, even if it is the default."""

    def __init__(self, unit: str) -> None:
        super().__init__()
        self._unit = unit

    def leave_IndentedBlock(  # noqa: N802 - LibCST calls it so
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        """Record the indentation of one block."""
        return updated_node if original_node.indent else updated_node.with_changes(indent=self._unit)


def statements(lines: str, like: cst.Module) -> Sequence[cst.BaseStatement]:
    """Parse new lines of code that are not indented, for insertion into another program."""
    text = _LINE_END.sub(like.default_newline, f"{lines}\n")
    body = parsed(text, like.default_indent).body
    if not body:
        raise CannotWriteError("there is no statement to write")
    found: list[cst.BaseStatement] = []
    for each in body:
        assert isinstance(each, cst.BaseStatement)
        found.append(each)
    return found


def expression(text: str) -> cst.BaseExpression:
    """Parse the text of one expression, which may contain line breaks."""
    with suppress(cst.ParserSyntaxError):
        return cst.parse_expression(text)
    # a chain broken over lines needs the parentheses that surround it in the file
    wrapped = cst.parse_expression(f"({text})")
    if not wrapped.lpar:
        raise CannotWriteError("LibCST cannot read the code")
    return wrapped.with_changes(lpar=wrapped.lpar[1:], rpar=wrapped.rpar[:-1])


def newline_of(text: str) -> str:
    """Return the line end that a text uses."""
    found = _LINE_END.search(text)
    return found.group() if found else "\n"


def code(node: cst.CSTNode, newline: str = "\n") -> str:
    """Return the source of a node, with the line ends of the text that it was parsed from."""
    return cst.Module([], default_newline=newline).code_for_node(node)


def smallest_edits(start: int, old: str, new: str) -> tuple[Edit, ...]:
    """Return the smallest edits that turn a text at `start` into another. Common words are not part of them,
    so that other edits may change those.
    """
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    if len(before) > _MOST_WORDS:
        return _edits_of_lines(start, old.splitlines(keepends=True), new.splitlines(keepends=True))
    places = [0, *accumulate(map(len, before))]
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    return tuple(
        Edit(start + places[first], start + places[last], "".join(after[new_first:new_last]))
        for kind, first, last, new_first, new_last in matcher.get_opcodes()
        if kind != "equal"
    )


def _edits_of_lines(start: int, old: list[str], new: list[str]) -> tuple[Edit, ...]:
    """Return the same for a long text, in one pass: lines at its beginning and end that differ only in
    indentation are re-indented, and the text between them is compared word by word, or replaced if it is
    long.
    """
    head = _equal_leading_lines(old, new)
    tail = _equal_leading_lines(old[head:][::-1], new[head:][::-1])
    places = [start, *(start + place for place in accumulate(map(len, old)))]
    first, last = places[head], places[len(old) - tail]
    middle, changed = "".join(old[head : len(old) - tail]), "".join(new[head : len(new) - tail])
    if len(_TOKEN.findall(middle)) > _MOST_WORDS:
        between: tuple[Edit, ...] = (Edit(first, last, changed),)
    else:
        between = smallest_edits(first, middle, changed)
    following = len(new) - len(old)
    ends = (
        [
            Edit(places[index], places[index] + len(_indent(old[index])), _indent(new[index + offset]))
            for index in lines
            if old[index] != new[index + offset]
        ]
        for lines, offset in ((range(head), 0), (range(len(old) - tail, len(old)), following))
    )
    return _together([*next(ends), *between, *next(ends)])


def _together(edits: list[Edit]) -> tuple[Edit, ...]:
    """Join edits that touch."""
    found: list[Edit] = []
    for edit in edits:
        if found and found[-1].end == edit.start:
            found[-1] = Edit(found[-1].start, edit.end, found[-1].text + edit.text)
        else:
            found.append(edit)
    return tuple(found)


def _equal_leading_lines(old: list[str], new: list[str]) -> int:
    """Return how many leading lines are equal up to indentation."""
    pairs = zip(old, new, strict=False)
    differ = (index for index, (a, b) in enumerate(pairs) if a.lstrip(" \t") != b.lstrip(" \t"))
    return next(differ, min(len(old), len(new)))


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]
