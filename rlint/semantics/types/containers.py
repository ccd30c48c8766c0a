"""Items of lists: the expressions whose values are put into them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rlint.syntax.queries import element_at
from rlint.syntax.scopes import Binding, BindingKind

if TYPE_CHECKING:
    from rlint.semantics.model import SemanticModel

_MAKERS = frozenset({"builtins.list", "collections.deque"})
_ADDS = {"append": 0, "appendleft": 0, "insert": 1}


def contents(expression: ast.expr, model: SemanticModel) -> list[ast.expr] | None:
    """Return the expressions that become the items of a list: of a display or comprehension, or those that
    this file puts into a variable or attribute that is initialised with one. None if there may be others;
    insertions by another function that the list is passed to are not seen.
    """
    match expression:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return None if any(isinstance(element, ast.Starred) for element in elements) else elements
        case ast.ListComp(elt=element):
            return [element]
        case ast.Call(func=func, args=[], keywords=[]) if model.names.qualified(func) in _MAKERS:
            return []
        case ast.Call(func=func, args=[ast.GeneratorExp(elt=element)], keywords=[]):
            return [element] if model.names.qualified(func) in _MAKERS else None
        case ast.Call(func=func, args=[ast.Call() as inner], keywords=[]) if (
            model.names.qualified(func) in _MAKERS
        ):
            return contents(inner, model)
        case ast.Call(func=func, args=[ast.Lambda(body=element), _], keywords=[]):
            return [element] if model.names.qualified(func) == "builtins.map" else None
        case ast.Name():
            return _of_variable(expression, model)
        case ast.Attribute():
            return _of_attribute(expression, model)
    return None


def _of_variable(name: ast.Name, model: SemanticModel) -> list[ast.expr] | None:
    bindings = model.dataflow.definitions(name)
    scope = model.names.scope(name).lookup(name.id)
    if not bindings or scope is None:
        return None
    found: list[ast.expr] = []
    for binding in bindings:
        value = _bound(binding)
        held = contents(value, model) if value is not None and _is_new(value) else None
        if held is None:
            return None
        found += held
    added = _added(list(model.names.reads(name.id, scope)), model)
    return found + added if added is not None else None


def _of_attribute(attribute: ast.Attribute, model: SemanticModel) -> list[ast.expr] | None:
    uses = model.names.attribute_uses(attribute.attr)
    found: list[ast.expr] = []
    begins = False
    for use in uses:
        if isinstance(use.ctx, ast.Store):
            value = model.names.assigned(use)
            if _is_part_of(value, attribute.attr):
                continue
            held = contents(value, model) if value is not None and _is_new(value) else None
            if held is None:
                return None
            begins = True
            found += held
    added = _added(list(uses), model)
    return found + added if begins and added is not None else None


def _added(uses: list[ast.expr], model: SemanticModel) -> list[ast.expr] | None:
    """Return the arguments of `append` and similar methods on the list under these names."""
    found: list[ast.expr] = []
    for use in uses:
        owner = model.parent(use)
        outer = model.parent(owner) if owner is not None else None
        match owner, outer:
            case ast.AugAssign(), _:
                return None
            case ast.Subscript(ctx=ast.Store()), _:
                return None
            case ast.Attribute(attr=name), ast.Call(args=arguments) if outer.func is owner:
                if name in _ADDS and len(arguments) > _ADDS[name]:
                    found.append(arguments[_ADDS[name]])
                elif name in ("extend", "extendleft"):
                    held = contents(arguments[0], model) if _is_display(arguments) else None
                    if held is None:
                        return None
                    found += held
    return found


def _is_part_of(value: ast.expr | None, attribute: str) -> bool:
    """Whether a value is a slice of the attribute that it is assigned to: `self.rows = self.rows[1:]`."""
    match value:
        case ast.Subscript(value=ast.Attribute(attr=attr), slice=ast.Slice()):
            return attr == attribute
    return False


def _is_new(value: ast.expr) -> bool:
    return not isinstance(value, (ast.Name, ast.Attribute))


def _is_display(arguments: list[ast.expr]) -> bool:
    return len(arguments) == 1 and isinstance(arguments[0], (ast.List, ast.Tuple, ast.ListComp, ast.Call))


def _bound(binding: Binding) -> ast.expr | None:
    """Return the value of `a = []`, of `a: list = []` and of `a` in `a, b = [], []`."""
    if binding.kind is not BindingKind.ASSIGN or binding.value is None:
        return None
    return element_at(binding.value, binding.path)
