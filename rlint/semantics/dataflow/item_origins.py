"""Origins of values: the list that an item comes from, and the call that created it."""

from __future__ import annotations

import ast

from rlint import models
from rlint.frozen import frozen
from rlint.models.trait import Trait
from rlint.semantics.dataflow.evaluation_order import EvaluationOrder
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.interprocedural.summary import Application
from rlint.syntax.scopes import BindingKind
from rlint.syntax.syntax_index import COMPREHENSIONS, Function

_SAME_ITEMS = models.having(Trait.SAME_ITEMS, "builtins", "tqdm")
_DEPTH = 6


@frozen
class ItemOrigin:
    """The origin of a variable: `root` itself, or with `depth` 1 an item of it, with 2 an item of an item.

    `loops` are the loops and comprehensions that take the items out, innermost first.
    """

    root: ast.Name | ast.Attribute
    depth: int
    loops: tuple[ast.AST, ...]


def place_of(expression: ast.expr, analysis: FileAnalysis) -> ItemOrigin | None:
    """Return the list that a loop variable iterates over, transitively; None if it cannot be determined."""
    loops: list[ast.AST] = []
    current = expression
    while len(loops) <= _DEPTH:
        if isinstance(current, ast.Name):
            bindings = analysis.definitions.reaching(current)
            if len(bindings) != 1 or bindings[0].kind not in (BindingKind.FOR, BindingKind.COMPREHENSION):
                return ItemOrigin(current, len(loops), tuple(loops))
            (binding,) = bindings
            iterable = _iterated(binding.value, binding.path, analysis)
            if iterable is None:
                return None
            loops.append(binding.statement)
            current = iterable
        elif isinstance(current, ast.Attribute) and isinstance(current.value, ast.Name):
            return ItemOrigin(current, len(loops), tuple(loops))
        else:
            return None
    return None


def _iterated(value: ast.expr | None, path: tuple[int, ...], analysis: FileAnalysis) -> ast.expr | None:
    """Return the source of the items at `path` of an iterable, looking through `zip` and `enumerate`."""
    while isinstance(value, ast.Call) and value.args:
        callee = analysis.names.qualified(value.func)
        if callee in _SAME_ITEMS:
            value = value.args[0]
        elif callee == "builtins.enumerate" and path[:1] == (1,):
            value, path = value.args[0], path[1:]
        elif callee == "builtins.zip" and path and 0 <= path[0] < len(value.args):
            value, path = value.args[path[0]], path[1:]
        else:
            return None
    return value if not path else None


def maker_of(expression: ast.expr, depth: int, analysis: FileAnalysis) -> ast.expr | None:
    """Return the call that produced a value (or, with `depth` 1, each item of it): `f(y)` for `x = f(y)`, `x
    = [f(y) for y in z]` or `x.append(f(y))`, and `f` for `x = list(map(f, z))`; else None.
    """
    if isinstance(expression, ast.Call) and not depth:
        return expression
    place = place_of(expression, analysis)
    if place is None or not isinstance(place.root, ast.Name) or place.depth + depth > 1:
        return None
    bindings = analysis.definitions.reaching(place.root)
    if len(bindings) != 1 or bindings[0].kind is not BindingKind.ASSIGN or bindings[0].path:
        return None
    value = bindings[0].value
    if place.depth + depth:
        match value:
            case ast.ListComp(elt=element):
                value = element
            case ast.Call(args=[ast.Call(func=mapper, args=[mapped, _])]) if (
                analysis.names.qualified(mapper) == "builtins.map"
            ):
                return mapped
            case ast.List(elts=[]):
                value = _appended(place.root, analysis)
            case _:
                return None
    return value if isinstance(value, ast.Call) else None


def _appended(name: ast.Name, analysis: FileAnalysis) -> ast.expr | None:
    """Return the expression that is appended to a list, if there is exactly one."""
    tree = analysis.syntax
    scope = tree.scope(name).lookup(name.id)
    found: list[ast.expr] = []
    for attribute in tree.written.attributes.get("append", ()):
        match attribute, tree.parents[attribute]:
            case ast.Attribute(value=ast.Name(id=owner) as holder), ast.Call(args=[value]):
                if owner == name.id and tree.scope(holder).lookup(owner) is scope:
                    found.append(value)
    return found[0] if len(found) == 1 else None


def applications(analysis: FileAnalysis) -> dict[Function, tuple[Application, ...]]:
    """Return the functions that the functions of a file apply to their parameters, or to each item of them,
    on every run that reaches the call.
    """
    tree, order = analysis.syntax, EvaluationOrder(analysis.syntax)
    found: dict[Function, dict[Application, None]] = {}
    for node in tree.of_type(ast.Call):
        if node.keywords or len(node.args) != 1 or not isinstance(node.args[0], ast.Name):
            continue
        function = tree.function(node)
        place = place_of(node.args[0], analysis) if function is not None else None
        if function is None or place is None or not isinstance(place.root, ast.Name):
            continue
        bindings = analysis.definitions.reaching(place.root)
        if place.depth > 1 or [(b.kind, b.statement) for b in bindings] != [
            (BindingKind.PARAMETER, function)
        ]:
            continue
        path = analysis.effects.path_of(node)
        if path is None:
            continue
        if _is_always_run(node, function, order):
            application = Application(path, place.root.id, items=place.depth == 1)
            found.setdefault(function, {})[application] = None
    return {function: tuple(applied) for function, applied in found.items()}


def _is_always_run(node: ast.Call, function: Function, order: EvaluationOrder) -> bool:
    """Whether every run of the function, or every iteration of its loop, that reaches the node evaluates
    it.
    """
    tree = order.syntax
    statement = tree.statement(node)
    for parent in tree.ancestors(statement):
        if parent is function:
            break
        if not isinstance(parent, (ast.For, ast.With, ast.Try)):
            return False
    child: ast.AST = node
    for parent in tree.ancestors(node):
        if parent is statement:
            return order.always_within(node, statement)
        if isinstance(parent, COMPREHENSIONS):
            if child in parent.generators or not order.always_within(node, child):
                return parent.generators[0] is child and order.always_within(node, statement)
            return order.always_within(parent, statement)
        child = parent
    return True
