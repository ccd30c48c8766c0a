"""Copies that are not needed: of objects that nothing else uses, and copies that are only read."""

from __future__ import annotations

import ast

from rlint.rule import (
    LOOPS,
    BindingKind,
    EscapeLevel,
    SemanticModel,
    Type,
    TypeTag,
    Use,
    UseKind,
    algebra,
    frozen,
)

_NOT_HERE = frozenset(
    {
        TypeTag.MODULE,
        TypeTag.OPTIMIZER,
        TypeTag.ENVIRONMENT,
        TypeTag.STATE_DICT,
        TypeTag.NDARRAY,
        TypeTag.TENSOR,
    }
)
"""Types that other rules, or other forms of this rule, are about."""
_HOLDS_ITEMS = frozenset({TypeTag.LIST, TypeTag.DICT, TypeTag.SET, TypeTag.TUPLE, TypeTag.DEQUE})
_OF_PARTS = frozenset({UseKind.ATTRIBUTE, UseKind.METHOD, UseKind.ITEM, UseKind.ITERATED})
_THROUGH = _OF_PARTS | {UseKind.ARGUMENT}
_STORED = frozenset({UseKind.RETURNED, UseKind.ELEMENT, UseKind.ADDED, UseKind.OTHER, UseKind.CALLED})
"""Uses by which other code may hold the object afterwards."""
_DEEPEST = 4


@frozen
class NeedlessCopy:
    """Why a copy is not needed, and what to write instead."""

    message: str
    advice: str
    assumes: str | None = None


def needless_copy(copy: ast.Call, value: ast.expr, kind: Type, model: SemanticModel) -> NeedlessCopy | None:
    """Return why the copy of an object with parts of its own is not needed; None if it may be."""
    if kind.tag in _NOT_HERE or algebra.is_immutable(kind):
        return None
    text = " ".join(model.source.text(value).split())
    if _is_dropped(copy, value, model):
        return NeedlessCopy(
            f"copies `{text}` and all objects in it, though nothing uses `{text}` afterwards",
            f"Use `{text}` itself",
            f"no other code holds `{text}`, or objects in it",
        )
    if not _is_variable(copy, model) or model.dataflow.use_of(copy).escape_level is not EscapeLevel.READ:
        return None
    if _is_unused(copy, model):
        return NeedlessCopy(
            f"copies `{text}` and all objects in it, but nothing uses the copy", "Remove the copy"
        )
    uses = model.dataflow.uses(copy, _THROUGH)
    if not _has_parts(kind, uses) or _is_small(kind) or any(use.cause is not None for use in uses):
        return None
    doubts = [model.dataflow.doubts_between(value, copy, use.at) for use in uses]
    if not doubts or any(each is None for each in doubts):
        return None
    return NeedlessCopy(
        f"copies `{text}` and all objects in it, but the copy is only read",
        f"Read `{text}` itself",
        f"no code that is called here changes `{text}`" if any(doubts) else None,
    )


def _is_variable(copy: ast.Call, model: SemanticModel) -> bool:
    """Whether one local variable alone is bound to the copy."""
    match model.names.targets(copy):
        case [ast.Name() as target]:
            return _is_of_function(target, model)
    return False


def _has_parts(kind: Type, uses: list[Use]) -> bool:
    """Whether an object has parts that are copied as well, by its type or by the uses of the copy."""
    return kind.tag in _HOLDS_ITEMS or (not kind and any(use.kind in _OF_PARTS for use in uses))


def _is_small(kind: Type) -> bool:
    """Whether an object is a tuple or dict with a few numbers, strings or arrays of fixed names."""
    return bool(kind.parts) and all(map(algebra.is_immutable, kind.parts))


def _is_unused(copied: ast.expr, model: SemanticModel, depth: int = 0) -> bool:
    """Whether nothing uses a value but expressions without effects whose results are not used either:
    `rows = list(copied.values())` without a reader of `rows`.
    """
    if depth > _DEEPEST:
        return False
    for use in model.dataflow.uses(copied):
        if use.cause is not None or not isinstance(use.at, ast.expr) or use.kind not in _THROUGH:
            return False
        if use.kind is UseKind.ITERATED or isinstance(model.parent(use.at), ast.Expr):
            return False
        if isinstance(use.at, ast.Call) and not model.effects.call_effect(use.at).quiet:
            return False
        if not _is_bound(use.at, model) or not _is_unused(use.at, model, depth + 1):
            return False
    return True


def _is_bound(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is only bound to local variables, or is an operand of an expression that is."""
    parent = model.parent(value)
    if isinstance(parent, (ast.Attribute, ast.Subscript, ast.Call)):
        return True
    targets = model.names.targets(value)
    return bool(targets) and all(
        isinstance(target, ast.Name) and _is_of_function(target, model) for target in targets
    )


def _is_of_function(name: ast.Name, model: SemanticModel) -> bool:
    scope = model.names.scope(name).lookup(name.id)
    return scope is not None and scope.is_function


def _is_dropped(copy: ast.Call, value: ast.expr, model: SemanticModel) -> bool:
    """Whether the copied object is itself a deep copy that the function has made, stores nowhere and does
    not read afterwards.
    """
    if not isinstance(value, ast.Name) or not _is_of_function(value, model):
        return False
    scope = model.names.scope(value).lookup(value.id)
    bindings = model.names.bindings(value)
    if scope is None or model.names.is_captured(value.id, scope) or not bindings:
        return False
    loop = _innermost_loop(copy, model)
    for binding in bindings:
        created = binding.value
        if binding.kind is not BindingKind.ASSIGN or binding.path or created is None:
            return False
        if not _is_created(created, model) or _is_stored(created, value, model):
            return False
        if _innermost_loop(created, model) is not loop or created.lineno > copy.lineno:
            return False  # the same object is copied again, or another one
    reads = model.names.reads(value.id, scope)
    end = (copy.end_lineno or copy.lineno, copy.end_col_offset or 0)
    return len(reads) > 1 and all(read is value or (read.lineno, read.col_offset) < end for read in reads)


def _is_created(value: ast.expr, model: SemanticModel) -> bool:
    """Whether an expression has just created its object with all parts. A new list may be filled with
    objects that other code holds.
    """
    return isinstance(value, ast.Call) and model.names.qualified(value.func) == "copy.deepcopy"


def _is_stored(created: ast.expr, copied: ast.Name, model: SemanticModel) -> bool:
    """Whether other code may hold an object, besides functions that it is passed to."""
    for use in model.dataflow.uses(created):
        if use.node is copied:
            continue
        if use.kind in _STORED or use.cause is not None:
            return True
    return False


def _innermost_loop(node: ast.AST, model: SemanticModel) -> ast.AST | None:
    function = model.function(node)
    for parent in model.ancestors(node):
        if parent is function:
            return None
        if isinstance(parent, LOOPS):
            return parent
    return None
