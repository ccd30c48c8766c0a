"""Whether other code can observe that a variable gets its new value after a loop, and not in each
iteration.
"""

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
"""Context managers of these modules do not suppress exceptions."""
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
    """Whether the variable is local, is named in the loop only where it grows (`uses` times), and is not read
    after an exception in the loop.
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
            return False  # it may suppress the concatenation's error, or change its effect
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
    """Whether code reads the variable after an exception in the part of the statement that contains
    `child`.
    """
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
    """Whether a statement is a `try`, including `except*`."""
    return isinstance(statement, ast.Try) or type(statement).__name__ == "TryStar"


def is_honest(item: ast.withitem, model: SemanticModel) -> bool:
    """Whether a context manager surely does not suppress exceptions."""
    value = item.context_expr
    name = model.names.qualified(value.func if isinstance(value, ast.Call) else value) or ""
    return name.startswith(HONEST) or model.types.type_of(value).tag in HONEST_KINDS
