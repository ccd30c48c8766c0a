"""Methods that run without being called by name, on objects that code enters, iterates over, indexes or
measures.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.models.value_type import Type, TypeTag
from rlint.semantics.file_analysis import FileAnalysis

_OF_PROJECT = frozenset(
    {TypeTag.INSTANCE, TypeTag.MODULE, TypeTag.DATASET, TypeTag.REPLAY_BUFFER, TypeTag.ENVIRONMENT}
)


def implicit_calls(analysis: FileAnalysis) -> Iterator[tuple[ast.expr, str]]:
    """Yield expressions, each with the access path of a method that runs when they are evaluated."""
    syntax = analysis.syntax
    for block in (*syntax.of_type(ast.With), *syntax.of_type(ast.AsyncWith)):
        assert isinstance(block, (ast.With, ast.AsyncWith))
        for item in block.items:
            yield from _methods(item.context_expr, analysis, "__enter__", "__exit__")
    for loop in syntax.of_type(ast.For):
        assert isinstance(loop, ast.For)
        yield from _methods(loop.iter, analysis, "__iter__")
    for subscript in syntax.of_type(ast.Subscript):
        assert isinstance(subscript, ast.Subscript)
        if isinstance(subscript.value, (ast.Name, ast.Attribute)):
            method = "__getitem__" if isinstance(subscript.ctx, ast.Load) else "__setitem__"
            yield from _methods(subscript.value, analysis, method, at=subscript)
    for call in syntax.written.calls_of(("len",)):
        if len(call.args) == 1:
            yield from _methods(call.args[0], analysis, "__len__", at=call)


def store_path(subscript: ast.Subscript, analysis: FileAnalysis) -> str:
    """Return the access path of the method that sets an item of an object; "" if there is none."""
    owner = _instance(analysis.types.type_of(subscript.value))
    return f"{owner}.__setitem__" if owner else ""


def _methods(
    value: ast.expr, analysis: FileAnalysis, *methods: str, at: ast.expr | None = None
) -> Iterator[tuple[ast.expr, str]]:
    kind = analysis.types.type_of(value)
    owner = _instance(kind)
    if owner:
        for method in methods:
            yield at or value, f"{owner}.{method}"


def _instance(kind: Type) -> str:
    """Return the access path of an object whose class may be one of the project; "" for other objects."""
    if kind.tag in _OF_PROJECT and kind.of:
        return f"{kind.of}()"
    made = kind.of.removesuffix("()") if kind.tag is TypeTag.UNKNOWN else kind.of
    named_like_a_class = made != kind.of and made.rpartition(".")[2][:1].isupper()
    return kind.of if named_like_a_class else ""
