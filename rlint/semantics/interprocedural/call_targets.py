"""What calls run and pass: the one function of a file, callbacks, and the parameters that receive them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlint.semantics.interprocedural.summary import FunctionSummary
    from rlint.semantics.model import SemanticModel
    from rlint.syntax.syntax_index import Function

from rlint.models.parameters import CALLED_AT


def only_callee(call: ast.Call, model: SemanticModel) -> Function | None:
    """Return the function of this file that a call runs; None if it may be one of several, or of another
    file.
    """
    targets = model.types.call_targets(call)
    return model.types.definition(targets[0]) if len(targets) == 1 else None


def calls_in_file(function: Function, model: SemanticModel) -> list[ast.Call]:
    """Return all calls of a function, if they are in its file; else an empty list."""
    calls = [
        call
        for call in model.names.calls_by_name.get(function.name, ())
        if any(model.types.definition(target) is function for target in model.types.call_targets(call))
    ]
    return calls if len(calls) == len(model.usage.call_sites(function.body[0])) else []


def called_back(call: ast.Call, qualified: str) -> list[ast.expr]:
    """Return the arguments that a function may call; all of them if its parameters are unknown."""
    places = CALLED_AT.get(qualified)
    if places is None or any(isinstance(argument, ast.Starred) for argument in call.args):
        return arguments_of(call)
    keywords = [
        keyword.value for keyword in call.keywords if keyword.arg not in ("initial", "default", "reverse")
    ]
    return [call.args[place] for place in places if place < len(call.args)] + keywords


def arguments_of(call: ast.Call) -> list[ast.expr]:
    """Return the values that a call passes."""
    return [*call.args, *[keyword.value for keyword in call.keywords]]


def parameter_of(argument: ast.AST, call: ast.Call, function: FunctionSummary) -> str | None:
    """Return the parameter that receives an argument of a call, a value or a keyword; None if unknown."""
    parameters = function.call_parameters
    for keyword in call.keywords:
        if argument is keyword or argument is keyword.value:
            return keyword.arg if keyword.arg in parameters else None
    if argument not in call.args or any(isinstance(value, ast.Starred) for value in call.args):
        return None
    position = call.args.index(argument)
    return parameters[position] if position < len(parameters) else None
