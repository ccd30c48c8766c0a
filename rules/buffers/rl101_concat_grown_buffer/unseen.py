"""Can anybody tell that a variable gets its new value behind a loop, and not in each pass?"""

from __future__ import annotations

import ast

from rlint.rule import (
    FUNCTIONS,
    AnyLoop,
    ArrayGrowth,
    Scope,
    SemanticModel,
    TypeTag,
    descendants,
    is_in,
    is_in_block,
)

HONEST = (
    "torch.",
    "numpy.",
    "tqdm.",
    "builtins.open",
    "warnings.",
    "threading.",
    "multiprocessing.",
    "tempfile.",
)
"""Context managers of these let errors through."""
HONEST_KINDS = frozenset(
    {
        TypeTag.LOCK,
        TypeTag.FILE,
        TypeTag.POOL,
        TypeTag.CONDITION,
        TypeTag.SEMAPHORE,
        TypeTag.WRITER,
        TypeTag.ENVIRONMENT,
    }
)


def is_unseen(
    name: str, growth: ArrayGrowth, loop: AnyLoop, scope: Scope, model: SemanticModel, uses: int = 2
) -> bool:
    """Is the variable one of the function alone, which names it in the loop only where it grows (`uses`
    times), and does nobody read it after an error in the loop?
    """
    if model.names.is_captured(name, scope) or name in scope.globals | scope.nonlocals or scope.is_class:
        return False
    named = [node for node in model.names.uses(name, scope) if is_in(node, loop)]
    if len(named) != uses or model.once(_yields, loop):
        return False
    for parent in model.ancestors(growth.statement):
        if parent is loop:
            break
        if is_try(parent) or isinstance(parent, (ast.With, ast.AsyncWith)):
            return False  # it may swallow the join's error, or change what the join does
    child: ast.AST = loop
    for parent in model.ancestors(loop):
        if isinstance(parent, (*FUNCTIONS, ast.Lambda)):
            break
        if sees_error(parent, child, name, scope, model):
            return False
        child = parent
    return True


def _yields(loop: AnyLoop, _site: SemanticModel) -> bool:
    return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in descendants(loop))


def sees_error(statement: ast.AST, child: ast.AST, name: str, scope: Scope, model: SemanticModel) -> bool:
    """Does code read the variable after an error in the part of the statement that holds `child`?"""
    body = getattr(statement, "body", None)
    if not isinstance(body, list) or child not in body:
        return False
    if is_try(statement):
        handlers, final = getattr(statement, "handlers", []), getattr(statement, "finalbody", [])
        if not handlers:
            return any(is_in_block(node, final) for node in model.names.reads(name, scope))
    elif not isinstance(statement, (ast.With, ast.AsyncWith)) or all(
        is_honest(i, model) for i in statement.items
    ):
        return False
    return not all(is_in_block(node, body) for node in model.names.reads(name, scope))


def is_try(statement: ast.AST) -> bool:
    """`try`, with `except*` too."""
    return isinstance(statement, ast.Try) or type(statement).__name__ == "TryStar"


def is_honest(item: ast.withitem, model: SemanticModel) -> bool:
    """Does a context manager surely let errors through?"""
    value = item.context_expr
    name = model.names.qualified(value.func if isinstance(value, ast.Call) else value) or ""
    return name.startswith(HONEST) or model.types.type_of(value).tag in HONEST_KINDS
