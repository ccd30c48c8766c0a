"""Parameters to which every caller passes a constant, so that the function computes few different values."""

from __future__ import annotations

import ast
from collections.abc import Callable

from rlint.rule import BindingKind, CallEdge, SemanticModel, TypeTag, descendants, models, regex

_DEPTH = 3
_NUMBERS = frozenset({TypeTag.INT, TypeTag.FLOAT, TypeTag.UNKNOWN})
_LISTS = frozenset({TypeTag.LIST, TypeTag.TUPLE, TypeTag.UNKNOWN})
_VARIES = regex(
    r"batch|len|count|total|step|idx|index|seq|time|horizon|shape|^(n|t|k|i|b|x|y|num|size|value|rows|device)$"
)
"""Names of numbers that differ from call to call."""
_NAMES = (ast.Name, ast.Attribute)
_LITERAL = (ast.Constant, ast.List, ast.Tuple, ast.UnaryOp, ast.unaryop, ast.expr_context)

IsConstant = Callable[[ast.expr], bool]


def varies(name: str) -> bool:
    """Whether a number of this name differs from call to call."""
    return _VARIES.search(name.lower()) is not None


def is_setting_name(name: str, model: SemanticModel) -> bool:
    """Whether objects of the program have an attribute of this name, which only constructors set, and code
    that reads options before training. Methods of arrays are none.
    """
    if not name or varies(name) or models.method_fact(TypeTag.TENSOR, name) is not None:
        return False
    return model.types.is_likely_setting(name) and model.program.is_attribute_read(name)


def is_passed_number(name: ast.Name, model: SemanticModel, is_constant: IsConstant) -> bool:
    """Whether every call passes a constant number to the parameter `name`, perhaps another one than the other
    calls: a literal, a setting, a value computed from these, or a parameter of the caller for which the same
    holds. `is_constant` decides for expressions in this file. If no call is known, the name decides.
    """
    calls = _calls_of(name, _NUMBERS, model)
    return bool(calls) and all(_passes_number(call, name.id, model, is_constant, _DEPTH) for call in calls)


def is_passed_list(name: ast.Name, model: SemanticModel) -> bool:
    """Whether every call passes a list of constants to the parameter `name`: one that is written in the call,
    or that of a variable of the module.
    """
    calls = _calls_of(name, _LISTS, model)
    if not calls:
        return False
    given = [_argument(call, _keys(call, name.id), model) for call in calls]
    return all(each is not None and _is_constant_list(each, model) for each in given)


def _calls_of(name: ast.Name, tags: frozenset[TypeTag], model: SemanticModel) -> list[CallEdge]:
    """Return the calls of the function of which a name is a parameter that is not bound again."""
    function = model.function(name)
    if function is None or model.types.type_of(name).tag not in tags:
        return []
    if [each.kind for each in model.dataflow.definitions(name)] != [BindingKind.PARAMETER]:
        return []
    summary = model.module.functions.get(model.syntax.qualname(function))
    return model.dataflow.calls_of(summary) if summary is not None else []


def _passes_number(
    call: CallEdge, parameter: str, model: SemanticModel, is_constant: IsConstant, depth: int
) -> bool:
    keys = _keys(call, parameter)
    if any(key in keys for key, _ in call.site.numbers):
        return True
    given = _argument(call, keys, model)
    if given is not None and is_constant(given):
        return True
    name = next((name for key, name in call.site.names if key in keys), "")
    if not name:
        is_passed = any(key in keys for key, _ in call.site.arguments)
        return not is_passed and any(name == parameter for name, _ in call.target.numbers)
    if name in call.caller.call_parameters and (given is None or isinstance(given, ast.Name)):
        above = model.dataflow.calls_of(call.caller) if depth else []
        return bool(above) and all(
            _passes_number(each, name, model, is_constant, depth - 1) for each in above
        )
    return given is None and is_setting_name(name, model)


def _keys(call: CallEdge, parameter: str) -> tuple[str, str]:
    """Return the two keys under which a call records the argument for a parameter."""
    parameters = call.target.call_parameters
    return parameter, str(parameters.index(parameter)) if parameter in parameters else ""


def _argument(call: CallEdge, keys: tuple[str, str], model: SemanticModel) -> ast.expr | None:
    """Return the argument of a call in this file."""
    caller = model.types.definition(call.caller)
    if caller is None:
        return None
    owner, _, name = call.target.qualname.rpartition(".")
    if name == "__init__":
        name = owner.rpartition(".")[2]
    for node in model.names.calls_named(name, caller):
        if node.lineno != call.site.line:
            continue
        for keyword in node.keywords:
            if keyword.arg == keys[0]:
                return keyword.value
        place = int(keys[1] or -1)
        if 0 <= place < len(node.args) and not any(isinstance(arg, ast.Starred) for arg in node.args):
            return node.args[place]
    return None


def _is_constant_list(given: ast.expr, model: SemanticModel) -> bool:
    """Whether an argument is a list of constants, or a variable that only holds such lists: one of the module
    that no method changes, or one of the caller, to which it may add.
    """
    if isinstance(given, ast.Name):
        return _holds_constant_list(given, model)
    return isinstance(given, (ast.List, ast.Tuple)) and all(
        isinstance(part, _LITERAL) or (isinstance(part, _NAMES) and model.names.qualified(part) is not None)
        for part in descendants(given)
    )


def _holds_constant_list(name: ast.Name, model: SemanticModel) -> bool:
    scope = model.names.scope(name).lookup(name.id)
    bindings = model.names.bindings(name)
    if scope is None or not bindings or bindings[0].kind is BindingKind.IMPORT:
        return name.id.isupper()  # of another file
    if scope.parent is None:
        reads = model.names.reads(name.id, scope)
        if any(isinstance(model.parent(read), (ast.Attribute, ast.AugAssign)) for read in reads):
            return False
    return all(
        isinstance(each.value, (ast.List, ast.Tuple)) and _is_constant_list(each.value, model)
        for each in bindings
    )
