"""Forward passes whose result a parameter detaches: `if detach: features = features.detach()`."""

from __future__ import annotations

import ast

from rlint.rule import Autograd, SemanticModel, defaults_of


def option_that_detaches(call: ast.Call, model: SemanticModel) -> str | None:
    """Return the parameter, off by default, that detaches the result of a forward pass before it is used for
    anything else.
    """
    statement, function = model.syntax.statement(call), model.function(call)
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is call and function is not None:
            pass
        case _:
            return None
    block, index = model.syntax.block(statement)
    following = block[index + 1] if index + 1 < len(block) else None
    option = _option_in(following, name)
    if option is None or function is None:
        return None
    default = defaults_of(function.args).get(option)
    if not isinstance(default, ast.Constant) or default.value is not False:
        return None
    run = model.nn.network_run(call)
    if run is None or not model.nn.architecture(*run).weights or model.nn.runs_frozen(call):
        return None
    return option if model.gradients.autograd_at(call) is not Autograd.OFF else None


def _option_in(statement: ast.stmt | None, name: str) -> str | None:
    """Return the variable on which a statement depends that detaches another variable."""
    match statement:
        case ast.If(
            test=ast.Name(id=option),
            body=[ast.Assign(targets=[ast.Name(id=target)], value=detached)],
            orelse=[],
        ) if target == name and _detaches(detached, name):
            return option
        case ast.Assign(
            targets=[ast.Name(id=target)],
            value=ast.IfExp(test=ast.Name(id=option), body=detached, orelse=ast.Name(id=other)),
        ) if target == other == name and _detaches(detached, name):
            return option
    return None


def _detaches(value: ast.expr, name: str) -> bool:
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr="detach"), args=[]):
            return owner == name
    return False
