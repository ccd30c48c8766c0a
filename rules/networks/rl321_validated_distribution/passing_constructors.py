"""Subclasses of distributions of torch whose constructor passes its `validate_args` on."""

from __future__ import annotations

import ast

from rlint.rule import ClassSummary, SemanticModel, defaults_of, descendants
from rlint.rules.networks.rl321_validated_distribution.base_constructors import decides

_SETTING = "validate_args"


def base_by_argument(call: ast.Call, qualified: str, model: SemanticModel) -> str | None:
    """Return the qualified name of the first base outside the program of the class that a call creates an
    instance of, if the constructor in this file passes `validate_args` on to it, which the call leaves out.
    """
    symbol = model.index.symbol(qualified, model.module.module)
    if not isinstance(symbol, ClassSummary):
        return None
    own: ClassSummary | None = None
    for base in model.index.ancestry(symbol):
        if isinstance(base, str):
            return base if own is not None else None
        if "__new__" in base.methods or (own is not None and "__init__" in base.methods):
            return None
        if "__init__" in base.methods:
            own = base
            if not _passes_on(base, call, model):
                return None
    return None


def _passes_on(cls: ClassSummary, call: ast.Call, model: SemanticModel) -> bool:
    """Whether a constructor passes a parameter `validate_args`, by default `None`, that a call leaves out."""
    summary = model.index.method(cls, "__init__")
    constructor = model.types.definition(summary) if summary is not None else None
    body = model.class_of(constructor) if constructor is not None else None
    if summary is None or constructor is None or body is None or decides(body):
        return False
    default = defaults_of(constructor.args).get(_SETTING)
    if not isinstance(default, ast.Constant) or default.value is not None:
        return False
    if _SETTING in summary.call_parameters[: len(call.args)]:
        return False
    made = [
        node
        for node in descendants(constructor)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "__init__"
        and isinstance(node.func.value, ast.Call)
    ]
    return bool(made) and all(map(_gets_setting, made))


def _gets_setting(made: ast.Call) -> bool:
    given = [*made.args, *(keyword.value for keyword in made.keywords if keyword.arg == _SETTING)]
    return any(isinstance(value, ast.Name) and value.id == _SETTING for value in given)
