"""Blocks whose errors other code reads: the text of an error that is raised there can be observed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.semantics.interprocedural.qualified_names import QualifiedNames
from rlint.syntax.last_names import last_name
from rlint.syntax.syntax_index import TRIES, SyntaxIndex
from rlint.syntax.walk import descendants

ANY_CALL = "*"
"""Stands for all calls of a program whose uncaught errors are read."""
_READERS = frozenset({"exc_info", "exception", "format_exc", "print_exc", "print_exception"})
"""Functions that read the error being handled."""


def reading_blocks(syntax: SyntaxIndex, names: QualifiedNames) -> Iterator[list[ast.stmt]]:
    """Yield the bodies of `try` whose handlers read the error, and of `with` whose context manager does, if
    the file defines it.
    """
    for kind in dict.fromkeys(TRIES):
        for trying in syntax.of_type(kind):
            if any(_reads(handler, handler.name) for handler in trying.handlers):
                yield trying.body
    managers = _managers_that_read(syntax, names)
    if not managers:
        return
    blocks: list[ast.With | ast.AsyncWith] = [*syntax.of_type(ast.With), *syntax.of_type(ast.AsyncWith)]
    for block in blocks:
        called = (
            item.context_expr.func if isinstance(item.context_expr, ast.Call) else item.context_expr
            for item in block.items
        )
        if any(names.qualified(manager) in managers for manager in called):
            yield block.body


def calls_with_errors_read(syntax: SyntaxIndex, names: QualifiedNames) -> frozenset[str]:
    """Return the last names of the functions that a file calls where their errors are read."""
    found = {
        last_name(node.func) or ""
        for block in reading_blocks(syntax, names)
        for statement in block
        for node in descendants(statement)
        if isinstance(node, ast.Call)
    }
    if "excepthook" in syntax.written.attributes:
        found.add(ANY_CALL)
    return frozenset(found - {""})


def _reads(handler: ast.AST, name: str | None) -> bool:
    """Whether a handler, or `__exit__`, reads the error."""
    for node in descendants(handler):
        match node:
            case ast.Name(id=read, ctx=ast.Load()) if read == name:
                return True
            case ast.Call(func=func) if last_name(func) in _READERS:
                return True
            case ast.keyword(arg="exc_info"):
                return True
    return False


def _managers_that_read(syntax: SyntaxIndex, names: QualifiedNames) -> frozenset[str]:
    """Return the dotted names of the file's context managers that read the error."""
    found = set()
    functions: list[ast.FunctionDef | ast.AsyncFunctionDef] = [
        *syntax.of_type(ast.FunctionDef),
        *syntax.of_type(ast.AsyncFunctionDef),
    ]
    for function in functions:
        around = syntax.parents.get(function)
        if function.name in ("__exit__", "__aexit__") and isinstance(around, ast.ClassDef):
            given = [parameter.arg for parameter in function.args.args][2:3]
            if function.args.vararg is not None or (given and _reads(function, given[0])):
                found.add(f"{names.module}.{syntax.qualname(around)}")
        elif any(last_name(each) == "contextmanager" for each in function.decorator_list):
            handlers = (node for node in descendants(function) if isinstance(node, ast.ExceptHandler))
            if any(_reads(handler, handler.name) for handler in handlers):
                found.add(f"{names.module}.{syntax.qualname(function)}")
    return frozenset(found)
