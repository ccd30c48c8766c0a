"""Blends that a function of the program computes: `target.data = self.average(target.data, param.data)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import FUNCTIONS, SemanticModel, descendants, frozen
from rlint.rules.networks.rl304_looped_target_update.taken_from import source_of

_TENSORS = 2


@frozen
class HelpedBlend:
    """A statement of a loop that writes the blend of an `old` and a `new` tensor, which `call` computes."""

    call: ast.Call
    old: ast.expr
    new: ast.expr


def blend_by_helper(loop: ast.AST, model: SemanticModel) -> HelpedBlend | None:
    """Return the first blend of the weights of two networks that a called function of the file computes."""
    if not isinstance(loop, ast.For):
        return None
    for statement in loop.body:
        for written, call in _written(statement):
            found = _blend_of(written, call, model)
            if found is not None:
                return found
    return None


def _written(statement: ast.stmt) -> Iterator[tuple[ast.expr, ast.Call]]:
    match statement:
        case ast.Assign(targets=[ast.Attribute(attr="data") as written], value=ast.Call() as call):
            yield written, call
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=written, attr="copy_"), args=[ast.Call() as call])
        ):
            yield written, call


def _blend_of(written: ast.expr, call: ast.Call, model: SemanticModel) -> HelpedBlend | None:
    tensors = [argument for argument in call.args if source_of(argument, model) is not None]
    place = source_of(written, model)
    if place is None or len(tensors) != _TENSORS:
        return None
    networks = [ast.dump(found.network) for part in tensors if (found := source_of(part, model)) is not None]
    if len(set(networks)) != _TENSORS or ast.dump(place.network) not in networks:
        return None
    for target in model.types.call_targets(call):
        function = model.types.definition(target)
        if isinstance(function, FUNCTIONS) and _blends_arguments(function):
            old = networks.index(ast.dump(place.network))
            return HelpedBlend(call, tensors[old], tensors[1 - old])
    return None


def _blends_arguments(function: ast.AST) -> bool:
    """Whether a function returns `old * keep + (1 - keep) * new` of two of its parameters."""
    assert isinstance(function, FUNCTIONS)
    parameters = {argument.arg for argument in function.args.args}
    return any(
        _is_blend(statement.value, parameters)
        for statement in descendants(function)
        if isinstance(statement, ast.Return)
    )


def _is_blend(value: ast.expr | None, parameters: set[str]) -> bool:
    match value:
        case ast.BinOp(
            left=ast.BinOp(op=ast.Mult()) as first, op=ast.Add(), right=ast.BinOp(op=ast.Mult()) as last
        ):
            scaled = [_tensor_of(part, parameters) for part in (first, last)]
            return all(scaled) and scaled[0] != scaled[1]
    return False


def _tensor_of(product: ast.BinOp, parameters: set[str]) -> str:
    """Return the parameter that is one of the two operands of a product."""
    names = [part.id for part in (product.left, product.right) if isinstance(part, ast.Name)]
    given = [name for name in names if name in parameters]
    return given[0] if len(given) == 1 else ""
