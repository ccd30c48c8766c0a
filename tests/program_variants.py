"""Variants of a program, in each of which rlint must find the same as in the original."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

INDENT = "    "


def crlf(text: str) -> str:
    """With the line ends of Windows."""
    return text.replace("\n", "\r\n")


def tabs(text: str) -> str:
    """Indented with tabs."""
    return re.sub(r"^(?: {4})+", lambda match: "\t" * (len(match.group()) // 4), text, flags=re.MULTILINE)


def unterminated(text: str) -> str:
    """Without a line end after the last line."""
    return text.rstrip("\n")


def wrapped(text: str) -> str:
    """Inside `if True:`, except for statements that must come first."""
    lines = text.splitlines(keepends=True)
    first = 0
    for statement in ast.parse(text).body:
        docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if not (docstring or future):
            break
        first = statement.end_lineno or first
    body = [INDENT + line if line.strip() else line for line in lines[first:]]
    return "".join([*lines[:first], "if True:\n", *body])


def plain_imports(text: str) -> str:
    """With modules under their own names: `import numpy as np` becomes `import numpy`."""
    return _rename_imports(text, lambda imported, _bound: None if "." in imported else imported)


def aliased_imports(text: str) -> str:
    """With imports under unused names: `import torch` becomes `import torch as torch_`."""
    return _rename_imports(text, lambda _imported, bound: f"{bound}_")


VARIANTS: tuple[Callable[[str], str], ...] = (
    crlf,
    tabs,
    unterminated,
    wrapped,
    plain_imports,
    aliased_imports,
)


def _rename_imports(text: str, rename: Callable[[str, str], str | None]) -> str:
    """Bind what the top level imports to other names, throughout the file.

    Names that the file also binds in another way, and the roots of `import a.b`, stay as they are.
    """
    tree = ast.parse(text)
    otherwise = _bound_otherwise(tree)
    taken = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | otherwise
    changes: list[tuple[int, int, int, str]] = []  # line, first and last column in bytes, new text
    renamed: dict[str, str] = {}
    for statement in tree.body:
        if not isinstance(statement, (ast.Import, ast.ImportFrom)):
            continue
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            continue
        for alias in statement.names:
            bound = alias.asname or alias.name
            if bound == "*" or "." in bound or bound in otherwise or bound in renamed:
                continue
            new = rename(alias.name, bound)
            if new is None or new == bound or new in taken:
                continue
            renamed[bound] = new
            written = alias.name if new == alias.name else f"{alias.name} as {new}"
            changes.append((alias.lineno, alias.col_offset, alias.end_col_offset or 0, written))
    changes += [
        (node.lineno, node.col_offset, node.end_col_offset or 0, renamed[node.id])
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id in renamed
    ]
    lines = [line.encode() for line in text.splitlines(keepends=True)]
    for line, start, end, new in sorted(changes, reverse=True):
        old = lines[line - 1]
        lines[line - 1] = old[:start] + new.encode() + old[end:]
    return b"".join(lines).decode()


def _bound_otherwise(tree: ast.Module) -> set[str]:
    """The names that something besides a plain import binds, and the roots of dotted imports."""
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.ExceptHandler(name=str(name)):
                names.add(name)
            case ast.Global(names=several) | ast.Nonlocal(names=several):
                names.update(several)
            case ast.Import(names=aliases):
                names.update(
                    alias.name.partition(".")[0]
                    for alias in aliases
                    if "." in alias.name and not alias.asname
                )
    return names
