"""Products of a Hessian (or Fisher matrix) with vectors, which run the network again for each vector."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import BindingKind, Function, SemanticModel, descendants, last_name, root_of

_DEPTH = 8


def runs_per_vector(gradient: ast.Call, model: SemanticModel) -> Iterator[tuple[ast.Call, Function]]:
    """Yield the calls that a first derivative (`grad(kl, weights, create_graph=True)`) is computed from, with
    their function, if the function multiplies it with a parameter, differentiates it again, and the calls do
    not depend on that parameter.
    """
    function = model.function(gradient)
    if function is None or not gradient.args or not _keeps_graph(gradient):
        return
    runs = [call for call in _values(gradient.args[0], function, model) if isinstance(call, ast.Call)]
    runs = [call for call in runs if _is_of_program(call, function, model)]
    if not runs:
        return
    given = _parameters(function)
    for second in descendants(function):
        if not isinstance(second, ast.Call) or second is gradient or not second.args:
            continue
        if "grad" not in (last_name(second.func) or "") or _keeps_graph(second):
            continue
        vectors = _factors(second.args[0], function, model) & given
        for call in runs if vectors else ():
            if not vectors & _names(call, function, model):
                yield call, function
        if vectors:
            return


def is_called_in_loop(function: Function, model: SemanticModel) -> bool:
    """Whether a loop of this file calls a function and takes no gradient steps: conjugate gradients."""
    scope = model.names.scope(function)
    uses = [*model.names.attribute_uses(function.name), *model.names.reads(function.name, scope)]
    for use in uses:
        call = model.parent(use)
        if isinstance(call, ast.Call) and call.func is use:
            loops = model.frequency.loops(call)
            if loops and not model.nn.takes_gradient_steps(loops[0]):
                return True
    return False


def _keeps_graph(call: ast.Call) -> bool:
    return any(
        keyword.arg == "create_graph"
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value is True
        for keyword in call.keywords
    )


def _parameters(function: Function) -> set[str]:
    arguments = function.args
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return {each.arg for each in every} - {"self", "cls"}


def _values(
    value: ast.expr, function: Function, model: SemanticModel, depth: int = _DEPTH
) -> Iterator[ast.AST]:
    """Yield the parts of a value, and those of the variables of the function that it is computed from."""
    for node in descendants(value):
        yield node
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and depth:
            for binding in model.dataflow.definitions(node):
                if (
                    binding.kind is BindingKind.ASSIGN
                    and binding.value is not None
                    and model.function(binding.value) is function
                    and not any(node is part for part in descendants(binding.value))
                ):
                    yield from _values(binding.value, function, model, depth - 1)


def _names(value: ast.expr, function: Function, model: SemanticModel) -> set[str]:
    return {node.id for node in _values(value, function, model) if isinstance(node, ast.Name)}


def _factors(value: ast.expr, function: Function, model: SemanticModel) -> set[str]:
    """Return the names that are multiplied in the computation of a value: `v` of `(flat * v).sum()`."""
    found: set[str] = set()
    for node in _values(value, function, model):
        match node:
            case ast.BinOp(left=left, op=ast.Mult() | ast.MatMult(), right=right):
                found |= {side.id for side in (left, right) if isinstance(side, ast.Name)}
            case ast.Call(args=arguments) if last_name(node.func) in ("dot", "matmul", "mv"):
                found |= {each.id for each in arguments if isinstance(each, ast.Name)}
    return found


def _is_of_program(call: ast.Call, function: Function, model: SemanticModel) -> bool:
    """Whether a call runs code of the program, or a network."""
    qualified = model.names.qualified(call.func)
    if qualified is not None:
        return bool(model.types.call_targets(call)) and model.gradients.gives_gradient(call)
    root = root_of(call.func)
    if not isinstance(root, ast.Name):
        return False
    if root.id == "self" or root.id in _parameters(function):
        return True
    scope = model.names.scope(root).lookup(root.id)
    return scope is None or scope.node is not function  # otherwise a method of a value computed here
