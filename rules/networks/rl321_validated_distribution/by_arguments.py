"""Distributions of a class that is not known, recognised by their arguments and by how the class is used."""

from __future__ import annotations

import ast

from rlint.rule import BindingKind, SemanticModel, TypeTag, UseKind, last_name, models, vocabulary

_METHODS = models.methods_of(TypeTag.DISTRIBUTION) - models.methods_of(TypeTag.TENSOR)
ANY_CLASS = "Distribution"
_HELD = (BindingKind.PARAMETER, BindingKind.ASSIGN)


def distribution_by_arguments(call: ast.Call, model: SemanticModel) -> str | None:
    """Return a torch class that takes the keywords of a call, if the callee is a parameter, a variable or an
    attribute that likely holds a class of distributions: `loc` and `scale` are passed, or code uses the
    class or the result as only distributions can be used. `ANY_CLASS` if only `**parameters` are passed.
    """
    given = {keyword.arg for keyword in call.keywords if keyword.arg is not None}
    if call.args or not call.keywords or not _may_be_held(call.func, model):
        return None
    if not given:
        return ANY_CLASS if _is_used_as_class(call, model) else None
    for name, known in vocabulary.DISTRIBUTION_ARGUMENTS.items():
        if any(given == set(each) for each in known):
            several = len(given) > 1
            return name if several or _is_used_as_class(call, model) else None
    return None


def _may_be_held(called: ast.expr, model: SemanticModel) -> bool:
    """Whether a callee is a variable or an attribute without a known function, network or class."""
    if model.names.qualified(called) is not None or model.types.type_of(called):
        return False
    match called:
        case ast.Name():
            bindings = model.dataflow.definitions(called)
            return bool(bindings) and all(binding.kind in _HELD for binding in bindings)
        case ast.Attribute(attr=attribute):
            stored = [
                use for use in model.names.attribute_uses(attribute) if not isinstance(use.ctx, ast.Load)
            ]
            return bool(stored)
    return False


def _is_used_as_class(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the file reads `cls.arg_constraints`, where `cls` is a variable or attribute of the same name,
    or calls a method of distributions on the result.
    """
    called = last_name(call.func)
    for attribute in vocabulary.ONLY_DISTRIBUTION_CLASSES:
        if any(last_name(use.value) == called for use in model.names.attribute_uses(attribute)):
            return True
    return any(
        use.kind is UseKind.METHOD and isinstance(use.at, ast.Call) and _named(use.at) in _METHODS
        for use in model.dataflow.uses_across_functions(call, lambda _: False)
    )


def _named(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def passes_no_setting(options: ast.expr, model: SemanticModel) -> bool:
    """Whether `**options` are known not to contain `validate_args`: a dict with constant keys to which
    nothing is added.
    """
    match options:
        case ast.Dict(keys=keys):
            return all(isinstance(key, ast.Constant) and key.value != "validate_args" for key in keys)
        case ast.IfExp(body=body, orelse=orelse):
            return passes_no_setting(body, model) and passes_no_setting(orelse, model)
        case ast.Name(id=name):
            scope = model.names.scope(options).lookup(name)
            bindings = model.dataflow.definitions(options)
            if scope is None or not bindings:
                return False
            used = [model.parent(use) for use in model.names.reads(name, scope)]
            return all(isinstance(use, ast.keyword) and use.arg is None for use in used) and all(
                binding.kind is BindingKind.ASSIGN
                and not binding.path
                and isinstance(binding.value, (ast.Dict, ast.IfExp))
                and passes_no_setting(binding.value, model)
                for binding in bindings
            )
    return False
