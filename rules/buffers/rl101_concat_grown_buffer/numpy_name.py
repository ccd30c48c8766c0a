"""The names of numpy in a file."""

from __future__ import annotations

import ast

from rlint.rule import ArrayGrowth, Edit, SemanticModel

MODULE = "numpy"


def numpy_name(growth: ArrayGrowth, model: SemanticModel) -> str | None:
    """Return the name of numpy where the array grows, or the one that `missing_import` gives it."""
    return bound_name(growth, model) or (MODULE if missing_import(growth, model) is not None else None)


def bound_name(growth: ArrayGrowth, model: SemanticModel) -> str | None:
    """Return the name in the concatenation itself, or the one that the module gives to numpy."""
    node = growth.join.node
    func = node.func if isinstance(node, ast.Call) else node.value
    if isinstance(func, ast.Attribute):
        return model.source.text(func.value)
    module, scope = model.syntax.scopes[model.syntax.module], model.names.scope(growth.statement)
    for name, (first, *others) in module.bindings.items():
        if first.target != MODULE or others or scope.lookup(name) is not module:
            continue
        if model.importer.runs_before(model.syntax.statement(first.statement), growth.statement):
            return name
    return None


def missing_import(growth: ArrayGrowth, model: SemanticModel) -> Edit | None:
    """Return the edit that imports numpy, if only functions of it are imported."""
    if not growth.join.function.startswith("numpy.") or bound_name(growth, model) is not None:
        return None
    found = model.importer.module_import(MODULE, user=growth.statement)
    return found[1].as_shared() if found is not None else None
