"""Texts that a loop generates one after the other from the same prompts."""

from __future__ import annotations

import ast

from rlint.rule import AnyLoop, SemanticModel, descendants, is_in, root_of, variable_names

_LEAVES = (ast.Break, ast.Return, ast.Yield, ast.YieldFrom, ast.Await)


def is_generated_again(call: ast.Call, loop: AnyLoop, model: SemanticModel) -> bool:
    """Whether each iteration of `for _ in range(n)` generates from the same inputs: `samples =
    model.generate(**batch)`. The results are independent draws, unless the loop may end early or trains.
    """
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "generate":
        return False
    match loop:
        case (
            ast.For(target=ast.Name(), iter=ast.Call(func=func, args=[_], keywords=[]), orelse=[])
            | ast.ListComp(
                generators=[
                    ast.comprehension(
                        target=ast.Name(), iter=ast.Call(func=func, args=[_], keywords=[]), ifs=[]
                    )
                ]
            )
        ):
            if model.names.qualified(func) != "builtins.range":
                return False
        case _:
            return False
    if any(isinstance(node, _LEAVES) for node in descendants(loop)) or model.nn.takes_gradient_steps(loop):
        return False
    given = [*call.args, *(keyword.value for keyword in call.keywords), root_of(call.func)]
    return not any(_changes(value, loop, model) for value in given)


def _changes(value: ast.expr, loop: AnyLoop, model: SemanticModel) -> bool:
    """Whether the loop binds a variable of an input, or assigns an attribute or item of one."""
    names = variable_names(value)
    bindings = (
        binding
        for node in descendants(value)
        if isinstance(node, ast.Name) and model.names.qualified(node) is None
        for binding in model.dataflow.definitions(node)
    )
    return any(is_in(binding.node, loop) for binding in bindings) or any(
        isinstance(node, (ast.Attribute, ast.Subscript))
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id in names
        and not model.names.is_self(node.value)
        for node in descendants(loop)
    )
