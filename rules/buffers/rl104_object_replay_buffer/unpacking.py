"""Where the transitions of a drawn batch are unpacked, and what else is done to each of them there."""

from __future__ import annotations

import ast

from rlint.rule import FUNCTIONS, Function, SemanticModel, descendants, variable_names

_TO_HOST = frozenset({"cpu", "numpy"})
_FIELDS = 2


def unpacked_in(draw: ast.AST, model: SemanticModel) -> Function | None:
    """Return the function that unpacks a batch: the one that draws it, or the method of the class to whose
    parameter it is passed, if the drawing method only returns it.
    """
    drawn_in: Function | None = model.function(draw)
    cls = model.class_of(draw)
    if cls is None or not isinstance(model.parent(draw), ast.Return):
        return drawn_in
    methods = [each for each in cls.body if isinstance(each, FUNCTIONS)]
    return next((each for each in methods if len(_collected(each)) >= _FIELDS), drawn_in)


def _collected(method: Function) -> list[ast.ListComp | ast.GeneratorExp]:
    """Return the comprehensions that take one field of each item of a parameter."""
    given = {argument.arg for argument in method.args.args}
    return [
        node
        for node in descendants(method)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp))
        and isinstance(node.generators[0].iter, ast.Name)
        and node.generators[0].iter.id in given
        and isinstance(node.generators[0].target, ast.Name)
    ]


def copied_to_host(function: Function) -> str | None:
    """Return the method that copies a field of each transition from a device: `[t.state.cpu() for t in
    batch]`.
    """
    for made in descendants(function):
        if not isinstance(made, (ast.ListComp, ast.GeneratorExp)):
            continue
        names = variable_names(made.generators[0].target)
        for node in descendants(made.elt):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Attribute(value=ast.Name(id=item)), attr=method), args=[]
                ) if item in names and method in _TO_HOST:
                    return method
    return None
