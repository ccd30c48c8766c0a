"""Which of the fixed places a run reached: tests that never run a fixed line do not test its fix."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from comparing.fixing import Fix, Fixes


def reached(fixes: Fixes, lines: Mapping[Path, Collection[int]]) -> tuple[Fix, ...]:
    """Return the fixes whose statement, as it was before fixing, has a line among those that ran, by file."""
    trees: dict[Path, ast.Module] = {}
    found = []
    for fix in fixes.applied:
        ran = lines.get(fix.path)
        if fix.line is None or not ran:
            continue
        if fix.path not in trees:
            trees[fix.path] = ast.parse(fixes.before[fix.path])
        if any(line in ran for line in _lines_of(trees[fix.path], fix.line)):
            found.append(fix)
    return tuple(found)


def _lines_of(tree: ast.Module, line: int) -> range:
    """The lines that run together with the innermost statement around `line`."""
    inside = [each for each in _statements(tree) if each.lineno <= line <= (each.end_lineno or each.lineno)]
    if not inside:
        return range(line, line + 1)
    innermost = min(inside, key=lambda each: (each.end_lineno or each.lineno) - each.lineno)
    if isinstance(innermost, (ast.FunctionDef, ast.AsyncFunctionDef)):
        # its header runs when it is defined, which is not yet a run of its body
        return range(innermost.body[0].lineno, (innermost.end_lineno or line) + 1)
    body = getattr(innermost, "body", None)
    last = innermost.end_lineno or innermost.lineno
    return range(innermost.lineno, (max(body[0].lineno, innermost.lineno + 1) if body else last + 1))


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.stmt))
