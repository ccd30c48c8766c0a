"""Real programs with other names."""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Iterator

from rewriting import Edit, edited, offsets

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def renamed(text: str) -> str:
    """With other names for variables local to one function."""
    if re.search(r"\b(locals|vars|eval|exec|globals)\s*\(", text):
        return text
    taken = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    edits: list[Edit] = []
    offset = offsets(text)
    for function in ast.walk(ast.parse(text)):
        if isinstance(function, _FUNCTIONS):
            locals_ = _plain_locals(function)
            for node in _own_names(function):
                if node.id in locals_ and f"my_{node.id}" not in taken:
                    begin = offset(node)
                    edits.append((begin, begin + len(node.id), f"my_{node.id}"))
    return edited(text, edits)


def aliased(text: str) -> str:
    """With other names for imported modules."""
    tree = ast.parse(text)
    bound = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    offset, edits, new = offsets(text), [], {}
    for statement in tree.body:
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                name = alias.asname or alias.name
                again = sum(name == (other.asname or other.name) for other in _aliases(tree))
                if "." not in name and name not in bound and again == 1:
                    new[name] = f"{name}_lib"
                    written = f"{alias.name} as {name}_lib"
                    end = offset(alias) + (alias.end_col_offset or 0) - alias.col_offset
                    edits.append((offset(alias), end, written))
    if re.search(r"\b(locals|globals|eval|exec)\s*\(", text) or not new:
        return text
    roots = {
        alias.name.partition(".")[0] for alias in _aliases(tree) if "." in alias.name and not alias.asname
    }
    if roots & set(new):
        return text
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in new:
            edits.append((offset(node), offset(node) + len(node.id), new[node.id]))
        elif isinstance(node, (ast.Global, ast.Nonlocal)) and set(node.names) & set(new):
            return text
    return edited(text, edits)


def _aliases(tree: ast.Module) -> list[ast.alias]:
    return [
        alias
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    ]


def _plain_locals(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """The variables of a function that are bound only by plain names, and not used by inner functions."""
    try:
        table = symtable.symtable(ast.unparse(function), "f", "exec").get_children()[0]
    except (SyntaxError, IndexError):
        return set()
    if not isinstance(table, symtable.Function) or any(_inner_scopes(function)):
        return set()
    stored = {node.id for node in _own_names(function) if isinstance(node.ctx, ast.Store)}
    arguments = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    otherwise = {name for node in ast.walk(function) for name in _bound_otherwise(node)}
    return {name for name in table.get_locals() if name in stored} - arguments - otherwise


def _bound_otherwise(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            yield from names
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in aliases)


def _inner_scopes(function: ast.AST) -> Iterator[ast.AST]:
    kinds = (*_FUNCTIONS, ast.ClassDef, ast.Lambda)
    return (node for node in ast.walk(function) if isinstance(node, kinds) and node is not function)


def _own_names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.Name]:
    return [node for part in function.body for node in ast.walk(part) if isinstance(node, ast.Name)]
