"""Functions that TorchScript or numba compiles, which accept only a part of Python."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.findings import Fix
from rlint.semantics.model import SemanticModel
from rlint.syntax.last_names import last_name
from rlint.syntax.redefinitions import Definition
from rlint.syntax.syntax_index import FUNCTIONS
from rlint.syntax.walk import descendants

_COMPILERS = frozenset(
    {"torch.jit.export", "torch.jit.script", "torch.jit.script_method"}
    | {f"numba.{name}" for name in ("guvectorize", "jit", "njit", "vectorize")}
)
"""Functions and decorators that compile what they are given, and all functions that it calls."""


def changes_compiled_code(fix: Fix, model: SemanticModel) -> bool:
    """Whether a fix changes a function that is decorated with a compiler or given to one in its file, one
    that such a function calls, or a network of a program that compiles.
    """
    return any(_is_compiled(node, model) for node in definitions(fix, model))


def definitions(fix: Fix, model: SemanticModel) -> Iterator[Definition]:
    """Yield the functions and classes that a fix changes."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    for node in (each for kind in kinds for each in model.syntax.of_type(kind)):
        start, end = model.source.span(node)
        if any(start <= edit.start <= end for edit in fix.edits if not edit.shared):
            assert isinstance(node, kinds)
            yield node


def _is_compiled(node: Definition, model: SemanticModel) -> bool:
    if isinstance(node, ast.ClassDef):
        bases = map(model.names.qualified, node.bases)
        return _is_decorated(node, model) or (
            "torch.nn.Module" in bases and model.program.mentions("script", "script_method")
        )
    if node in model.once(_compiled, model.syntax.module):
        return True
    may_be = "jit" in model.syntax.text and model.program.mentions("script")
    return may_be and model.frequency.is_called(node.body[0], other_file=True)


def _compiled(module: ast.Module, model: SemanticModel) -> frozenset[ast.AST]:  # noqa: ARG001
    """Return the functions of the file that are compiled, with those that they call by their names."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    functions = [each for kind in kinds for each in model.syntax.of_type(kind) if isinstance(each, FUNCTIONS)]
    given = {
        call.args[0].id
        for call in model.syntax.of_type(ast.Call)
        if call.args and isinstance(call.args[0], ast.Name) and model.names.qualified(call.func) in _COMPILERS
    }
    found: set[ast.AST] = set()
    pending = [each for each in functions if each.name in given or _is_decorated(each, model)]
    while pending:
        function = pending.pop()
        if function in found:
            continue
        found.add(function)
        called = {last_name(node.func) for node in descendants(function) if isinstance(node, ast.Call)}
        pending += (each for each in functions if each.name in called)
    return frozenset(found)


def _is_decorated(node: Definition, model: SemanticModel) -> bool:
    called = (each.func if isinstance(each, ast.Call) else each for each in node.decorator_list)
    return any(model.names.qualified(each) in _COMPILERS for each in called)
