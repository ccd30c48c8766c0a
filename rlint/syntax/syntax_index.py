"""One walk over a parsed file: parents, nodes by type, scopes and their bindings."""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from rlint.parsing.later_nodes import TYPE_ALIAS
from rlint.parsing.positions import Positions
from rlint.syntax.evaluation_root import EvaluationRoots
from rlint.syntax.import_statements import absolute_module
from rlint.syntax.name_index import NameIndex
from rlint.syntax.redefinitions import Definition, make_names_unique
from rlint.syntax.scopes import Binding, BindingKind, Scope
from rlint.syntax.too_deep import buried_parts
from rlint.syntax.value_use import SyntacticUse, use_of
from rlint.syntax.variables import Variables
from rlint.syntax.walk import REVERSED_PARTS

if TYPE_CHECKING:
    from rlint.parsing.grammar import Reading

Function = ast.FunctionDef | ast.AsyncFunctionDef
Loop = ast.For | ast.AsyncFor | ast.While
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
TRIES: tuple[type[ast.Try], ...] = (ast.Try, getattr(ast, "TryStar", ast.Try))  # new in Python 3.11
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
DEFINITIONS: tuple[type[Definition], ...] = (*FUNCTIONS, ast.ClassDef)
HOLD_BODIES = frozenset({*DEFINITIONS, ast.Module})
"""A module and definitions: statements directly in them run unconditionally."""

_DECLARATIONS = [word + space for word in ("global", "nonlocal") for space in " \t\f\\"]

_Node = TypeVar("_Node", bound=ast.AST)


class SyntaxIndex:
    """A parsed file and everything that one walk over it collects.

    `nodes` contains the nodes of each type in source order; `parents` leads upwards; `scopes` maps the nodes
    that open a scope to it; `declares` says if there may be a `global` or `nonlocal` at all. `mask` is the
    text for the running Python, with the same number of characters; `grammar` parses parts of the text, and
    edited text. `marimo_cells` are the spans of the cells of a notebook of marimo.
    """

    def __init__(self, text: str, reading: Reading, package: str = "") -> None:
        self.text = text
        self.module = reading.module
        self.mask = reading.mask
        self.grammar = reading.grammar
        self.marimo_cells = reading.cells
        self.package = package
        self.positions = Positions(text)
        self.parents: dict[ast.AST, ast.AST] = {}
        self.nodes: dict[type[ast.AST], list[ast.AST]] = {}
        self.scopes: dict[ast.AST, Scope] = {}
        self._scope_of: dict[ast.AST, Scope] = {}
        self._places: dict[ast.stmt, tuple[list[ast.stmt], int]] = {}
        self.declares = _may_declare(text)
        self._outside: dict[ast.AST, Scope] = {}  # parts of a scope node that are evaluated in another scope
        self._walk()

    @cached_property
    def declared(self) -> frozenset[str]:
        """Return the names that some scope declares `global` or `nonlocal`."""
        return frozenset[str]().union(*(scope.globals | scope.nonlocals for scope in self.scopes.values()))

    @cached_property
    def buried(self) -> Mapping[ast.AST, ast.AST]:
        """Return the parts that are too deep in an expression to be examined, and their ancestors
        (too_deep.py).
        """
        return buried_parts(self)

    @cached_property
    def wholes(self) -> EvaluationRoots:
        """Return the whole expression with which each part of it is evaluated."""
        return EvaluationRoots(self.parents)

    def expression_before(self, offset: int) -> ast.AST | None:
        """Return the last expression, the innermost of several, that starts at or before an offset."""
        starts, nodes = self._expressions
        place = bisect_right(starts, offset)
        return nodes[place - 1] if place else None

    def statement_in(self, start: int, end: int) -> ast.AST | None:
        """Return the first statement that starts between two offsets."""
        starts, nodes = self._statements
        place = bisect_left(starts, start)
        return nodes[place] if place < len(starts) and starts[place] < end else None

    @cached_property
    def _expressions(self) -> tuple[list[int], list[ast.AST]]:
        return self._by_start(ast.expr)

    @cached_property
    def _statements(self) -> tuple[list[int], list[ast.AST]]:
        return self._by_start(ast.stmt)

    def _by_start(self, kind: type[ast.AST]) -> tuple[list[int], list[ast.AST]]:
        """Return all nodes of a type by their start, the outer before the inner."""
        found = [node for type_, nodes in self.nodes.items() if issubclass(type_, kind) for node in nodes]
        spans = [self.positions.span(node) for node in found]
        order = sorted(range(len(found)), key=lambda number: (spans[number][0], -spans[number][1]))
        return [spans[number][0] for number in order], [found[number] for number in order]

    @cached_property
    def variables(self) -> Variables:
        """Return the variables of the file."""
        return Variables(self)

    @cached_property
    def written(self) -> NameIndex:
        """Return the names that the file calls, reads and sets, as written."""
        return NameIndex(self)

    @cached_property
    def read_from_within(self) -> frozenset[tuple[Scope, str]]:
        """Return the variables that functions, lambdas or classes inside their scope read, with their
        scope.
        """
        found = set()
        for name in self.of_type(ast.Name):
            if isinstance(name.ctx, ast.Load):
                here = self.scope(name)
                scope = here.lookup(name.id)
                if scope is not None and scope.function is not here.function:
                    found.add((scope, name.id))
        return frozenset(found)

    @cached_property
    def functions(self) -> dict[str, Function]:
        """Return the functions of the file by their qualified names; the first of a name counts."""
        found: dict[str, Function] = {}
        for node, scope in self.scopes.items():
            if isinstance(node, FUNCTIONS):
                found.setdefault(scope.qualname, node)
        return found

    @cached_property
    def methods_by_name(self) -> dict[str, list[Function]]:
        """Return the methods of the classes of the file, by name."""
        found: dict[str, list[Function]] = {}
        for cls in self.of_type(ast.ClassDef):
            for part in cls.body:
                if isinstance(part, FUNCTIONS):
                    found.setdefault(part.name, []).append(part)
        return found

    @cached_property
    def names_in_statements(self) -> dict[str, set[ast.stmt]]:
        """Return, for each name, the statements that use it."""
        found: dict[str, set[ast.stmt]] = {}
        for name in self.of_type(ast.Name):
            found.setdefault(name.id, set()).add(self.statement(name))
        return found

    @cached_property
    def jumps(self) -> dict[ast.AST, list[ast.Break | ast.Continue]]:
        """Return the `break` and `continue` statements of each loop that has any."""
        found: dict[ast.AST, list[ast.Break | ast.Continue]] = {}
        every: list[ast.Break | ast.Continue] = [*self.of_type(ast.Break), *self.of_type(ast.Continue)]
        for jump in every:
            child: ast.AST = jump
            for parent in self.ancestors(jump):
                if isinstance(parent, LOOPS) and child not in parent.orelse:
                    found.setdefault(parent, []).append(jump)
                    break
                child = parent
        return found

    def of_type(self, kind: type[_Node]) -> list[_Node]:
        """Return all nodes of exactly this type, in source order."""
        return self.nodes.get(kind, [])  # type: ignore[return-value]

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the node's parent, its parent's parent, … up to the module."""
        parents = self.parents
        current = parents.get(node)
        while current is not None:
            yield current
            current = parents.get(current)

    def statement(self, node: ast.AST) -> ast.stmt:
        """Return the innermost statement that contains the node (the node itself if it is one)."""
        current: ast.AST = node
        while not isinstance(current, ast.stmt):
            current = self.parents[current]
        return current

    def scope(self, node: ast.AST) -> Scope:
        """Return the scope in which the node is evaluated. A def's own node belongs to the enclosing
        scope.
        """
        return self._scope_of.get(node) or self.scopes[self.module]  # operators are shared between scopes

    def function(self, node: ast.AST) -> Function | None:
        """Return the innermost def whose body (or a lambda or comprehension in it) contains the node."""
        scope = self._scope_of.get(node)
        return scope.runner if scope is not None else None

    def run_by(self, functions: Collection[Function | None], kind: type[ast.AST]) -> list[ast.AST]:
        """Return the nodes of exactly this type that some functions run (None: the module), in source
        order.
        """
        scope_of = self._scope_of
        return [node for node in self.nodes.get(kind, ()) if scope_of[node].runner in functions]

    def use(self, node: ast.AST) -> SyntacticUse:
        """Return how the value of an expression is used."""
        return use_of(node, self.parents)

    def call_of(self, function: ast.AST) -> ast.Call | None:
        """Return the call of an expression: `f(x)` for `f`; None if it is not called."""
        parent = self.parents.get(function)
        return parent if isinstance(parent, ast.Call) and parent.func is function else None

    def method_call(self, owner: ast.AST) -> ast.Call | None:
        """Return the call of a method of an object, `owner.method(…)`; None for other uses of it."""
        method = self.parents.get(owner)
        return self.call_of(method) if isinstance(method, ast.Attribute) else None

    def class_of(self, node: ast.AST) -> ast.ClassDef | None:
        """Return the class whose method (or body) contains the node."""
        scope: Scope | None = self.scope(node)
        while scope is not None:
            if isinstance(scope.node, ast.ClassDef):
                return scope.node
            scope = scope.parent
        return None

    def block(self, statement: ast.stmt) -> tuple[list[ast.stmt], int]:
        """Return the list of statements that contains the statement, and its index in it."""
        place = self._places.get(statement)
        if place is None:
            parent = self.parents[statement]
            for name in ("body", "orelse", "finalbody"):
                block = getattr(parent, name, None)
                if isinstance(block, list):
                    for index, sibling in enumerate(block):
                        self._places[sibling] = (block, index)
            place = self._places[statement]
        return place

    def qualname(self, scope_node: ast.AST) -> str:
        """Return the dotted path of a def or class inside its module: `Agent.learn`."""
        return self.scopes[scope_node].qualname

    def _walk(self) -> None:
        parents, scopes, scope_of, outside = self.parents, self.scopes, self._scope_of, self._outside
        root = Scope(self.module, None, "")
        scopes[self.module] = root
        order: list[ast.AST] = []
        end = ast.AST()  # is after the last node
        holders: list[tuple[dict[str, object], ast.AST]] = []  # nodes with parts, with the node after those
        stack: list[tuple[ast.AST, Scope]] = [(end, root), (self.module, root)]
        push = stack.append
        ast_type, list_type = ast.AST, list
        kinds = _Kinds(self.nodes)
        while True:
            node, scope = stack.pop()
            known = node.__dict__
            known["_start"] = start = len(order)
            if node is end:
                break
            known["_order"] = order
            order.append(node)
            scope_of[node] = scope
            same_kind, parts, binder = kinds[type(node)]
            same_kind.append(node)
            if binder is not None:
                scope = binder(self, node, scope) or scope
            if not parts:
                known["_end"] = start + 1
                continue
            holders.append((known, stack[-1][0]))
            for name in parts:
                value = known.get(name)
                if type(value) is list_type:
                    for child in reversed(value):
                        if isinstance(child, ast_type):
                            parents[child] = node
                            push((child, scope))
                elif isinstance(value, ast_type):
                    parents[value] = node
                    push((value, scope))
            if outside:
                self._move_outside(stack, node)
        for known, following in holders:
            known["_end"] = following.__dict__["_start"]
        make_names_unique((node, scopes[node]) for kind in DEFINITIONS for node in self.of_type(kind))

    def _move_outside(self, stack: list[tuple[ast.AST, Scope]], node: ast.AST) -> None:
        """Assign the parts of a node, which are visited next, to the scopes that they are evaluated in."""
        for place in range(len(stack) - 1, -1, -1):
            part = stack[place][0]
            if self.parents.get(part) is not node:
                break
            scope = self._outside.pop(part, None)
            if scope is not None:
                stack[place] = (part, scope)

    def release(self) -> None:
        """Break the cycles of a tree that is no longer needed."""
        if not vars(self):
            return
        for scope in self.scopes.values():
            scope.children.clear()
        vars(self.module)["_order"].clear()
        vars(self).clear()

    def open_scope(self, node: ast.AST, parent: Scope, name: str) -> Scope:
        """Open a scope for `node` (used by the walk)."""
        qualname = f"{parent.qualname}.{name}" if parent.qualname else name
        scope = Scope(node, parent, qualname)
        parent.children.append(scope)
        self.scopes[node] = scope
        return scope

    def open_type_scope(self, parameters: list[ast.AST], owner: ast.AST, parent: Scope) -> Scope:
        """Open the scope of type parameters, around that of their owner (used by the walk)."""
        scope = Scope(parameters[0], parent, parent.qualname)
        parent.children.append(scope)
        self.scopes[parameters[0]] = scope
        for parameter in parameters:
            scope.bind(Binding(parameter.name, BindingKind.TYPE_PARAMETER, parameter, owner))  # type: ignore[attr-defined]
        self.mark_outside(parameters, scope)
        return scope

    def mark_outside(self, parts: Sequence[ast.AST], scope: Scope) -> None:
        """Record parts of a scope node that are evaluated in an enclosing scope: they are direct children of
        it or, like defaults, first iterables and class keywords, one level deeper.
        """
        self._outside.update(dict.fromkeys(parts, scope))


def _may_declare(text: str) -> bool:
    if "global" not in text and "nonlocal" not in text:
        return False
    return any(beginning in text for beginning in _DECLARATIONS)


def _bind_target(
    target: ast.expr,
    kind: BindingKind,
    statement: ast.AST,
    value: ast.expr | None,
    scope: Scope,
    path: tuple[int, ...] = (),
) -> None:
    if isinstance(target, ast.Name):
        scope.bind(Binding(target.id, kind, target, statement, value, path))
    elif isinstance(target, (ast.Tuple, ast.List)):
        literal = (
            value
            if isinstance(value, (ast.Tuple, ast.List)) and kind is BindingKind.ASSIGN and not path
            else None
        )
        starred = any(isinstance(part, ast.Starred) for part in target.elts)
        if literal is not None and (
            starred
            or len(literal.elts) != len(target.elts)
            or any(isinstance(part, ast.Starred) for part in literal.elts)
        ):
            literal = None
        for index, part in enumerate(target.elts):
            if literal is not None:
                _bind_target(part, kind, statement, literal.elts[index], scope)
            else:
                # after a starred target the position from the front is not known
                step = -1 if starred else index
                _bind_target(part, kind, statement, value, scope, (*path, step))
    elif isinstance(target, ast.Starred):
        _bind_target(target.value, kind, statement, value, scope, (*path, -1))


def _assign(tree: SyntaxIndex, node: ast.Assign, scope: Scope) -> None:
    for target in node.targets:
        _bind_target(target, BindingKind.ASSIGN, node, node.value, scope)


def _ann_assign(tree: SyntaxIndex, node: ast.AnnAssign, scope: Scope) -> None:
    if isinstance(node.target, ast.Name):
        kind = BindingKind.ASSIGN if node.value is not None else BindingKind.ANNOTATE
        scope.bind(Binding(node.target.id, kind, node.target, node, node.value))


def _aug_assign(tree: SyntaxIndex, node: ast.AugAssign, scope: Scope) -> None:
    if isinstance(node.target, ast.Name):
        scope.bind(Binding(node.target.id, BindingKind.AUGMENT, node.target, node, node.value))


def _for(tree: SyntaxIndex, node: ast.For | ast.AsyncFor, scope: Scope) -> None:
    _bind_target(node.target, BindingKind.FOR, node, node.iter, scope)


def _with(tree: SyntaxIndex, node: ast.With | ast.AsyncWith, scope: Scope) -> None:
    for item in node.items:
        if item.optional_vars is not None:
            _bind_target(item.optional_vars, BindingKind.WITH, node, item.context_expr, scope)


def _walrus(tree: SyntaxIndex, node: ast.NamedExpr, scope: Scope) -> None:
    scope.function.bind(Binding(node.target.id, BindingKind.WALRUS, node.target, node, node.value))


def _except(tree: SyntaxIndex, node: ast.ExceptHandler, scope: Scope) -> None:
    if node.name:
        scope.bind(Binding(node.name, BindingKind.EXCEPT, node, node))


def _delete(tree: SyntaxIndex, node: ast.Delete, scope: Scope) -> None:
    for target in node.targets:
        if isinstance(target, ast.Name):
            scope.bind(Binding(target.id, BindingKind.DELETE, target, node))


def _match_name(tree: SyntaxIndex, node: ast.MatchAs | ast.MatchStar, scope: Scope) -> None:
    if node.name:
        scope.bind(Binding(node.name, BindingKind.MATCH, node, node))


def _match_rest(tree: SyntaxIndex, node: ast.MatchMapping, scope: Scope) -> None:
    if node.rest:
        scope.bind(Binding(node.rest, BindingKind.MATCH, node, node))


def _import(tree: SyntaxIndex, node: ast.Import, scope: Scope) -> None:
    for alias in node.names:
        name = alias.asname or alias.name.split(".")[0]
        target = alias.name if alias.asname else name
        scope.bind(Binding(name, BindingKind.IMPORT, alias, node, target=target))


def _import_from(tree: SyntaxIndex, node: ast.ImportFrom, scope: Scope) -> None:
    source = absolute_module(node.module or "", node.level, tree.package)
    for alias in node.names:
        if alias.name == "*":
            scope.star_imports.append(source)
        else:
            target = f"{source}.{alias.name}" if source else alias.name
            scope.bind(Binding(alias.asname or alias.name, BindingKind.IMPORT, alias, node, target=target))


def _global(tree: SyntaxIndex, node: ast.Global, scope: Scope) -> None:
    scope.globals.update(node.names)


def _nonlocal(tree: SyntaxIndex, node: ast.Nonlocal, scope: Scope) -> None:
    scope.nonlocals.update(node.names)


def _parameters(arguments: ast.arguments, inner: Scope) -> None:
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [extra for extra in (arguments.vararg, arguments.kwarg) if extra]
    for parameter in every:
        inner.bind(Binding(parameter.arg, BindingKind.PARAMETER, parameter, inner.node))


def _function(tree: SyntaxIndex, node: Function, scope: Scope) -> Scope:
    scope.bind(Binding(node.name, BindingKind.FUNCTION, node, node))
    inner = tree.open_scope(node, scope, node.name)
    if tree.declares:
        _predeclare(node, inner)
    inner.types = _type_scope(tree, node, scope)
    tree.mark_outside(node.decorator_list, scope)
    if node.returns is not None:
        tree.mark_outside([node.returns], inner.types or scope)
    _mark_defaults(tree, node.args, scope)
    _parameters(node.args, inner)
    return inner


def _predeclare(node: Function, inner: Scope) -> None:
    # `global` may be below nested blocks but always above the first use in its function
    stack: list[ast.AST] = list(node.body)
    while stack:
        child = stack.pop()
        if isinstance(child, ast.Global):
            inner.globals.update(child.names)
        elif isinstance(child, ast.Nonlocal):
            inner.nonlocals.update(child.names)
        elif isinstance(child, ast.stmt) and not isinstance(child, (*FUNCTIONS, ast.ClassDef)):
            for block in ("body", "orelse", "finalbody", "handlers", "cases"):
                stack.extend(getattr(child, block, ()))
        elif isinstance(child, (ast.ExceptHandler, ast.match_case)):
            stack.extend(child.body)


def _type_scope(tree: SyntaxIndex, node: Definition, scope: Scope) -> Scope | None:
    parameters: list[ast.AST] = getattr(node, "type_params", [])
    return tree.open_type_scope(parameters, node, scope) if parameters else None


def _mark_defaults(tree: SyntaxIndex, arguments: ast.arguments, scope: Scope) -> None:
    given = [*arguments.defaults, *(default for default in arguments.kw_defaults if default)]
    tree.mark_outside(given, scope)


def _lambda(tree: SyntaxIndex, node: ast.Lambda, scope: Scope) -> Scope:
    inner = tree.open_scope(node, scope, "<lambda>")
    _mark_defaults(tree, node.args, scope)
    _parameters(node.args, inner)
    return inner


def _class(tree: SyntaxIndex, node: ast.ClassDef, scope: Scope) -> Scope:
    scope.bind(Binding(node.name, BindingKind.CLASS, node, node))
    inner = tree.open_scope(node, scope, node.name)
    inner.types = _type_scope(tree, node, scope)
    tree.mark_outside(node.decorator_list, scope)
    tree.mark_outside([*node.bases, *(keyword.value for keyword in node.keywords)], inner.types or scope)
    return inner


def _type_alias(tree: SyntaxIndex, node: Any, scope: Scope) -> Scope:
    name = node.name
    scope.bind(Binding(name.id, BindingKind.TYPE_ALIAS, name, node, node.value))
    inner = tree.open_scope(node, scope, name.id)
    inner.types = _type_scope(tree, node, scope)
    tree.mark_outside([name], scope)
    return inner


def _comprehension(tree: SyntaxIndex, node: Comprehension, scope: Scope) -> Scope:
    inner = tree.open_scope(node, scope, "<comprehension>")
    tree.mark_outside([node.generators[0].iter], scope)
    for generator in node.generators:
        _bind_target(generator.target, BindingKind.COMPREHENSION, node, generator.iter, inner)
    return inner


_BINDERS: dict[type[ast.AST], Callable[..., Scope | None]] = {
    ast.Assign: _assign,
    ast.AnnAssign: _ann_assign,
    ast.AugAssign: _aug_assign,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.NamedExpr: _walrus,
    ast.ExceptHandler: _except,
    ast.Delete: _delete,
    ast.MatchAs: _match_name,
    ast.MatchStar: _match_name,
    ast.MatchMapping: _match_rest,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Global: _global,
    ast.Nonlocal: _nonlocal,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.Lambda: _lambda,
    ast.ClassDef: _class,
    TYPE_ALIAS: _type_alias,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.DictComp: _comprehension,
    ast.GeneratorExp: _comprehension,
}


class _Kinds(dict[type[ast.AST], tuple[list[ast.AST], tuple[str, ...], Callable[..., Scope | None] | None]]):
    """For each type of node in a file: those visited so far, the fields that contain their parts (in reverse
    order, for a stack), and the function that records their bindings.
    """

    def __init__(self, nodes: dict[type[ast.AST], list[ast.AST]]) -> None:
        self._nodes = nodes

    def __missing__(
        self, kind: type[ast.AST]
    ) -> tuple[list[ast.AST], tuple[str, ...], Callable[..., Scope | None] | None]:
        met = self._nodes[kind] = []
        found = self[kind] = (met, REVERSED_PARTS[kind], _BINDERS.get(kind))
        return found
