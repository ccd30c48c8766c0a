"""Marimo notebooks: Python files whose functions with `@app.cell` share their variables.

A cell takes variables of other cells as parameters, and returns those that others may read. Marimo's editor
writes both, and only the body matters: it runs as if it were at module level. To give names that meaning, a
mask of equal length removes the headers and returns of cells; offsets are those of the file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from rlint.parsing.grammar import Reading
from rlint.parsing.positions import Positions

_SIGN = "marimo.App("
_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def with_cells_opened(reading: Reading, text: str) -> Reading:
    """Return a marimo notebook with the bodies of its cells at module level; any other file unchanged."""
    if _SIGN not in text:
        return reading
    apps = set(_apps(reading.module))
    cells = [
        each for each in reading.module.body if isinstance(each, ast.FunctionDef) and _is_cell(each, apps)
    ]
    if not cells:
        return reading
    positions = Positions(text)
    masked = list(reading.mask)
    spans = []
    for cell in cells:
        start, end = _opened(cell, masked, positions)
        spans.append((start, end))
    mask = "".join(masked)
    try:
        module = ast.parse(mask)
    except SyntaxError:  # a cell that is not a block of statements by itself
        return reading
    return replace(reading, module=module, mask=mask, cells=tuple(spans))


def _apps(module: ast.Module) -> Iterator[str]:
    """Yield the names of the apps of a module: `app = marimo.App()`."""
    for statement in module.body:
        match statement:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(func=ast.Attribute(ast.Name("marimo"), "App"))
            ):
                yield name


def _is_cell(function: ast.FunctionDef, apps: set[str]) -> bool:
    for decorator in function.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        match called:
            case ast.Attribute(value=ast.Name(id=name), attr="cell") if name in apps:
                return True
    return False


def _opened(cell: ast.FunctionDef, masked: list[str], positions: Positions) -> tuple[int, int]:
    """Mask the header and the returns of a cell. Return the span of its body."""
    header, end = positions.span(cell)
    _blank(masked, positions.span(cell.decorator_list[0])[0] - 1, header)
    opening, closing, colon = _signs(masked, header)
    if "\n" in masked[opening:closing]:  # only parentheses continue over lines
        _write(masked, opening + 1, closing, "1")
        _blank(masked, closing + 1, colon)
        _write(masked, header, opening, "if")
    else:
        _write(masked, header, colon, "if 1")
    for node in _returns(cell):
        _write(masked, *positions.span(node), "pass")
    return colon + 1, end


def _signs(masked: list[str], header: int) -> tuple[int, int, int]:
    """Return the offsets of the parentheses around parameters, which are plain names, and of the colon."""
    opening = masked.index("(", header)
    closing = masked.index(")", opening)
    return opening, closing, masked.index(":", closing)


def _returns(cell: ast.FunctionDef) -> Iterator[ast.Return]:
    waiting: list[ast.AST] = list(cell.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Return):
            yield node
        elif not isinstance(node, _NESTED):
            waiting += ast.iter_child_nodes(node)


def _write(masked: list[str], start: int, end: int, text: str) -> None:
    """Replace the text between two offsets, padded with blanks; line ends are kept."""
    _blank(masked, start, end)
    while masked[start] in "\r\n":
        start += 1
    masked[start : start + len(text)] = text


def _blank(masked: list[str], start: int, end: int) -> None:
    for place in range(start, end):
        if masked[place] not in "\r\n":
            masked[place] = " "
