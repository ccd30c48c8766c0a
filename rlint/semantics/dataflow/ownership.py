"""Containers whose items the function created itself, so that no other code observes changes to them."""

from __future__ import annotations

import ast

from rlint import models
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag
from rlint.semantics.interprocedural.qualified_names import QualifiedNames
from rlint.syntax.scopes import BindingKind
from rlint.syntax.syntax_index import SyntaxIndex

_FACTORIES = frozenset(models.CLASSES) | {"collections.Counter"}
_FRESH = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
_PUTS_IN = models.having(Trait.INSERTS | Trait.INSERTS_ALL, TypeTag.LIST, TypeTag.DICT, TypeTag.DEQUE)
CHANGES = models.mutators(TypeTag.LIST, TypeTag.DICT, TypeTag.SET, TypeTag.DEQUE)
"""Methods that only modify the container that they are called on."""


def holds_own_items(name: ast.Name, syntax: SyntaxIndex, names: QualifiedNames) -> bool:
    """Whether the items of a local container were all created by the function that created it: rows of a
    literal table or a comprehension, defaults of a `defaultdict`. False if any other value may be put into
    it.
    """
    scope, bindings = names.bindings(name)
    if scope is None or not scope.is_function or syntax.function(name) is not scope.node:
        return False
    for binding in bindings:
        made = binding.kind is BindingKind.ASSIGN and not binding.path and binding.value is not None
        if not made or binding.value is None or not _makes_items(binding.value, names):
            return False
    return all(_puts_in_own(use, syntax) for use in syntax.variables.uses(name.id, scope))


def _makes_items(value: ast.expr, names: QualifiedNames) -> bool:
    match value:
        case ast.ListComp(elt=item) | ast.DictComp(value=item):
            return _is_own(item)
        case ast.List(elts=items) | ast.Dict(values=items):
            return all(map(_is_own, items))
        case ast.Call(func=func, args=[factory]):
            return (
                names.qualified(func) == "collections.defaultdict" and names.qualified(factory) in _FACTORIES
            )
    return False


def _is_own(item: ast.expr) -> bool:
    """Whether an item is a newly created container of constants, numbers or strings."""
    match item:
        case ast.BinOp(left=ast.List(elts=items), op=ast.Mult()) | ast.List(elts=items):
            return all(isinstance(each, ast.Constant) for each in items)
    return isinstance(item, (*_FRESH, ast.Constant))


def _puts_in_own(use: ast.Name, syntax: SyntaxIndex) -> bool:
    """Whether a use of the container only adds newly created values to it."""
    parent = syntax.parents.get(use)
    match parent:
        case ast.Subscript(value=owner, ctx=ast.Store()) if owner is use:
            statement = syntax.parents.get(parent)
            return isinstance(statement, ast.Assign) and _is_own(statement.value)
        case ast.Attribute(attr=method):
            call = syntax.call_of(parent)
            if call is not None and method in _PUTS_IN:
                return all(_is_own(argument) for argument in call.args)
            return call is not None
        case ast.Assign(targets=targets):
            return use in targets  # else it gets an alias
        case ast.AnnAssign(target=target):
            return use is target
        case ast.Subscript() | ast.Call() | ast.For() | ast.comprehension() | ast.Return() | ast.Compare():
            return True
    return False
