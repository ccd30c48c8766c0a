"""Lists of numbers that NumPy converts to an array on every call."""

from __future__ import annotations

import ast
from collections.abc import Callable

from rlint.rule import BindingKind, SemanticModel, TypeTag

SEARCHES = {"numpy.digitize": (1, 0, "bins"), "numpy.searchsorted": (0, 1, "a")}
"""Functions that search a sorted list: the positions of the list and of the value, and the list's keyword."""
_MOST = 8
_READS = frozenset({"builtins.len", "builtins.bool"})


def searched_list(call: ast.Call, model: SemanticModel) -> tuple[ast.expr, ast.expr] | None:
    """Return the list that a call searches, and the value that it looks for."""
    of_list, of_value, _ = SEARCHES[model.names.qualified(call.func) or ""]
    if len(call.args) != 2 or any(keyword.arg not in ("side", "right") for keyword in call.keywords):
        return None
    held = call.args[of_list]
    kind = model.types.type_of(held)
    return (held, call.args[of_value]) if kind.tag is TypeTag.LIST and not kind.optional else None


def holds_few_numbers(
    held: ast.Name, is_number: Callable[[ast.expr, SemanticModel], bool], model: SemanticModel
) -> bool:
    """Whether a variable holds a new list to which the function only appends a few numbers, outside of
    loops.
    """
    scope, bindings = model.names.scope(held).lookup(held.id), model.names.bindings(held)
    if scope is None or scope.node is not model.function(held) or len(bindings) != 1:
        return False
    (binding,) = bindings
    match binding.value:
        case ast.List(elts=[]) if binding.kind is BindingKind.ASSIGN:
            pass
        case _:
            return False
    appended = 0
    for use in model.names.reads(held.id, scope):
        if use is held:
            continue
        match model.parent(use):
            case ast.Attribute(attr="append") as method if (call := model.syntax.call_of(method)) is not None:
                if model.frequency.loops(call) or len(call.args) != 1 or not is_number(call.args[0], model):
                    return False
                appended += 1
            case ast.Call(func=func) if model.names.qualified(func) in _READS:
                pass
            case ast.UnaryOp(op=ast.Not()) | ast.If() | ast.IfExp() | ast.BoolOp() | ast.Compare():
                pass
            case _:
                return False
    return 0 < appended <= _MOST
