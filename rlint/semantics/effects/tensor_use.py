"""Moves and casts of values of unknown type whose results are used as only tensors can be.

`x.to(device)` moves a module in place but leaves a tensor as it is. If the result is added to something, or
converted with `.numpy()`, then `x` is a tensor.
"""

from __future__ import annotations

import ast

from rlint import models
from rlint.models import vocabulary
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag
from rlint.semantics.types.infer import TypeInference
from rlint.syntax.scopes import BindingKind
from rlint.syntax.syntax_index import FUNCTIONS

MOVES = models.having(Trait.CASTS | Trait.RELOCATES, TypeTag.MODULE)
"""Methods of modules and of tensors: only modules are modified in place."""
_OF_TENSORS = (
    models.having(Trait.TO_HOST | Trait.REDUCES, TypeTag.TENSOR) | (vocabulary.OF_TENSORS - MOVES)
) - {"requires_grad_"}
_TAKES_TENSORS = models.giving(TypeTag.TENSOR, "torch")


def is_move_of_tensor(call: ast.Call, types: TypeInference) -> bool:
    """Whether a method call, `x.to(…)` or similar, certainly is that of a tensor, judging by its receiver or
    by the uses of its result.
    """
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in MOVES:
        return False
    moved = call.func.value
    match moved:
        case ast.Call(func=ast.Attribute(attr=method)) if method in _OF_TENSORS:
            return True
        case ast.Call() if is_move_of_tensor(moved, types):
            return True
    return _is_used_as_tensor(call, types) or _is_kept_as_tensor(call, types)


def _is_kept_as_tensor(call: ast.Call, types: TypeInference) -> bool:
    """Whether the result is assigned to a local variable that later code uses as a tensor."""
    target = types.syntax.parents.get(call)
    if not isinstance(target, ast.Assign) or len(target.targets) != 1:
        return False
    name = target.targets[0]
    scope = types.syntax.scope(call)
    if not isinstance(name, ast.Name) or not isinstance(scope.node, FUNCTIONS):
        return False
    return any(
        use.lineno > call.lineno
        and isinstance(use.ctx, ast.Load)
        and _is_used_as_tensor(use, types)
        and any(
            binding.kind is BindingKind.ASSIGN and binding.value is call
            for binding in types.definitions.reaching(use)
        )
        for use in types.syntax.variables.uses(name.id, scope)
    )


def _is_used_as_tensor(value: ast.expr, types: TypeInference) -> bool:
    match types.syntax.parents.get(value):
        case ast.BinOp() | ast.UnaryOp(op=ast.USub()):
            return True
        case ast.Attribute(attr=method) as called if types.syntax.call_of(called) is not None:
            move = types.syntax.call_of(called)
            return method in _OF_TENSORS or (
                method in MOVES and move is not None and _is_used_as_tensor(move, types)
            )
        case ast.Call(func=function, args=[first, *_]) if first is value:
            return types.names.qualified(function) in _TAKES_TENSORS
    return False
