"""Re-indented code: LibCST moves its lines, and does not change the content of strings."""

from __future__ import annotations

import ast
import warnings

from rlint.edit.deferred_edit import CannotWriteError
from rlint.edit.parsed_code import HEADER, by_libcst, parsed
from rlint.parsing.grammar import RUNNING, Grammar
from rlint.parsing.imported_libcst import cst


def moved(code: str, old: str, new: str, grammar: Grammar = RUNNING) -> str:
    """Move the lines of whole statements, or of an expression, from one indentation to another; return the
    text, which begins with the code itself, as that of `code` does. Raise `CannotWriteError` if the program
    would change.
    """
    if old == new or ("\n" not in code and "\r" not in code):
        return code
    for opened, closed in (("", ""), ("(", "\n)")):  # an expression may be broken over lines
        try:
            text = _moved_lines(f"{opened}{code}{closed}", old, new)
        except CannotWriteError:
            continue
        result = text[len(opened) : len(text) - len(closed)]
        if _meaning(code, old, grammar) == _meaning(result, new, grammar) is not None:
            return result
    raise CannotWriteError("moved to another indentation, the code would mean something else")


@by_libcst
def _moved_lines(code: str, old: str, new: str) -> str:
    """Return the lines with another indentation, without that of the first and the last line end."""
    newline = "\r\n" if "\r\n" in code else "\n" if "\n" in code else "\r"
    header = f"{HEADER}{newline}" if old else ""
    module = parsed(f"{header}{old}{code}{newline}")
    first, *others = module.body
    if old:
        if not isinstance(first, cst.If) or not isinstance(first.body, cst.IndentedBlock):
            raise CannotWriteError("the code is no block")
        block = first.body
    else:
        first = first.with_changes(leading_lines=[*module.header, *first.leading_lines])
        block = cst.IndentedBlock([first, *others])
    if "\\" in code:
        block = cst.ensure_type(block.visit(_Continued(old, new)), cst.IndentedBlock)
    if new:
        shown = cst.If(cst.Integer("1"), block.with_changes(indent=new))
        text = module.with_changes(header=[], body=[shown]).code.removeprefix(f"{HEADER}{newline}{new}")
    else:
        text = module.with_changes(header=[], body=block.body).code
    return text.removesuffix(newline)


class _Continued(cst.CSTTransformer):
    """Moves lines that follow a backslash, which are whitespace to LibCST."""

    def __init__(self, old: str, new: str) -> None:
        super().__init__()
        self._old, self._new = old, new

    def leave_SimpleWhitespace(  # noqa: N802 - LibCST calls it so
        self, original_node: cst.SimpleWhitespace, updated_node: cst.SimpleWhitespace
    ) -> cst.SimpleWhitespace:
        """Indent the text after each line end."""
        lines = original_node.value.splitlines(keepends=True)
        if len(lines) < 2:
            return updated_node
        moved = (
            self._new + line[len(self._old) :] if line.startswith(self._old) else line for line in lines[1:]
        )
        return updated_node.with_changes(value="".join([lines[0], *moved]))


def _meaning(code: str, indentation: str, grammar: Grammar) -> str | None:
    """Return the syntax tree of code at an indentation; None for a part of a statement."""
    header = f"{HEADER}\n{indentation}" if indentation else ""
    for text in (header + code, f"({code}\n)"):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                body = grammar.parse(text).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        block = body[0] if header and text.startswith(header) and body else None
        return "".join(map(ast.dump, block.body if isinstance(block, ast.If) else body))
    return None
