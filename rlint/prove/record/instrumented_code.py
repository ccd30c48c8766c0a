"""Insert hooks around regions of a program, in its syntax tree: line numbers and names are unchanged."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import CodeType
from typing import Any

HOOKS = "__rlint_prove__"
"""The name under which all code finds the recorders of regions."""


def instrumented(text: bytes, path: str, regions: Sequence[dict[str, Any]]) -> CodeType:
    """Compile a file with hooks around its regions.

    Regions are plain data: `id`, `steps` from the file to the statement with the `block` that contains them,
    `start` and `stop`. They are disjoint or nested.
    """
    tree = ast.parse(text, path)
    instrument(tree, regions)
    return compile(tree, path, "exec", dont_inherit=True)


def instrument(tree: ast.Module, regions: Sequence[dict[str, Any]]) -> None:
    """Insert hooks around regions of a tree."""
    found = []
    for region in regions:
        node: Any = tree
        for block, place in region["steps"]:
            node = getattr(node, block)[place]
        block = getattr(node, region["block"])
        found.append((region["id"], block, block[region["start"] : region["stop"]]))
    wrapped: dict[int, ast.stmt] = {}  # by statement, the one that replaces it now
    for number, block, statements in sorted(found, key=lambda one: _size(one[2])):
        if statements:
            _wrap(number, block, statements, wrapped)
    ast.fix_missing_locations(tree)


def _size(statements: Sequence[ast.stmt]) -> int:
    return sum(1 for one in statements for _ in ast.walk(one))


def _wrap(
    number: int, block: list[ast.stmt], statements: list[ast.stmt], wrapped: dict[int, ast.stmt]
) -> None:
    standing = []
    for one in statements:
        now = one
        while id(now) in wrapped:
            now = wrapped[id(now)]
        if now not in standing:
            standing.append(now)
    places = [index for index, one in enumerate(block) if any(one is each for each in standing)]
    if not places or places != list(range(places[0], places[0] + len(standing))):
        return
    marks = _Suspensions(number)
    for one in standing:
        _mark_returns(one, number)
        marks.visit(one)
    first = standing[0]
    body = [*_hook(number, "begin", "enter", first), *standing]
    whole = ast.Try(body, [], [], _hook(number, "end", "leave", first))
    ast.copy_location(whole, first)
    block[places[0] : places[-1] + 1] = [whole]
    for one in standing:
        wrapped[id(one)] = whole


def _hook(number: int, ask: str, then: str, place: ast.stmt) -> list[ast.stmt]:
    text = f"if {HOOKS}[{number}].{ask}(): {HOOKS}[{number}].{then}(locals())"
    found = ast.parse(text).body
    for node in ast.walk(found[0]):
        if hasattr(node, "lineno"):
            ast.copy_location(node, place)
    return found


def _mark_returns(node: ast.AST, number: int) -> None:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
        return
    if isinstance(node, ast.Return):
        value = node.value or ast.copy_location(ast.Constant(None), node)
        target = ast.parse(f"{HOOKS}[{number}].returned", mode="eval").body
        for each in ast.walk(target):
            ast.copy_location(each, node)
        node.value = ast.copy_location(ast.Call(target, [value], []), node)
        return
    for child in ast.iter_child_nodes(node):
        _mark_returns(child, number)


class _Suspensions(ast.NodeTransformer):
    """Put hooks around the places where a function suspends: at `yield` and `await`."""

    def __init__(self, number: int) -> None:
        self._number = number

    def visit_Yield(self, node: ast.Yield) -> ast.AST:
        self.generic_visit(node)
        value = node.value or ast.copy_location(ast.Constant(None), node)
        node.value = self._call("pause", value)
        return self._call("resume", node)

    def visit_Await(self, node: ast.Await) -> ast.AST:
        self.generic_visit(node)
        node.value = self._call("pause", node.value)
        return self._call("resume", node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node

    def _call(self, name: str, value: ast.expr) -> ast.Call:
        target = ast.parse(f"{HOOKS}[{self._number}].{name}", mode="eval").body
        for each in ast.walk(target):
            ast.copy_location(each, value)
        return ast.copy_location(ast.Call(target, [value], []), value)


def code_path(root: CodeType, wanted: CodeType) -> list[tuple[str, int]] | None:
    """Return the path of a code object within that of its file, as names and their ordinals."""
    if root is wanted:
        return []
    seen: dict[str, int] = {}
    for one in root.co_consts:
        if isinstance(one, CodeType):
            ordinal = seen[one.co_name] = seen.get(one.co_name, -1) + 1
            below = code_path(one, wanted)
            if below is not None:
                return [(one.co_name, ordinal), *below]
    return None


def code_at(root: CodeType, path: Sequence[tuple[str, int]]) -> CodeType:
    """Return the code object at a path. Raises LookupError."""
    for name, ordinal in path:
        inner = [one for one in root.co_consts if isinstance(one, CodeType) and one.co_name == name]
        root = inner[ordinal]
    return root
