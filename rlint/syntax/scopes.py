"""Scopes and their bindings, collected in the one walk over a tree."""

from __future__ import annotations

import ast
from dataclasses import field

from rlint.enums import Enum
from rlint.frozen import single
from rlint.parsing.later_nodes import TYPE_ALIAS, TYPE_PARAMETERS


class BindingKind(Enum):
    """The ways in which a name is bound."""

    ASSIGN = "assign"
    AUGMENT = "augment"
    ANNOTATE = "annotate"  # `x: int` without a value
    FOR = "for"
    COMPREHENSION = "comprehension"
    WITH = "with"
    WALRUS = "walrus"
    PARAMETER = "parameter"
    IMPORT = "import"
    FUNCTION = "function"
    CLASS = "class"
    EXCEPT = "except"
    MATCH = "match"
    DELETE = "delete"
    TYPE_ALIAS = "type alias"
    TYPE_PARAMETER = "type parameter"


@single
class Binding:
    """One place that binds a name.

    `value` is the expression that the name is bound to (ASSIGN, AUGMENT, WALRUS), iterated over (FOR,
    COMPREHENSION) or entered (WITH). `path` leads through tuple targets: `a, (b, c) = v` binds `c` at path
    (1, 1). `target` is the dotted name of an import.
    """

    name: str
    kind: BindingKind
    node: ast.AST
    statement: ast.AST
    value: ast.expr | None = None
    path: tuple[int, ...] = ()
    target: str = ""


@single
class Scope:
    """A module, class, function, lambda or comprehension, and the names bound in it."""

    node: ast.AST
    parent: Scope | None
    qualname: str
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    globals: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    children: list[Scope] = field(default_factory=list)
    star_imports: list[str] = field(default_factory=list)
    types: Scope | None = None
    """Its type parameters, whose scope is between it and its parent."""
    is_class: bool = field(init=False)
    """Names of a class body are not visible in its functions."""
    is_function: bool = field(init=False)
    """A def or lambda."""
    is_comprehension: bool = field(init=False)
    """A list, set or dict comprehension or a generator expression."""
    runner: ast.FunctionDef | ast.AsyncFunctionDef | None = field(init=False)
    """The innermost def that runs the code of this scope; lambdas and comprehensions belong to it."""

    def __post_init__(self) -> None:
        node = self.node
        self.is_class = isinstance(node, ast.ClassDef)
        self.is_function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        self.is_comprehension = isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self.runner = node
        else:
            self.runner = None if self.is_class or self.parent is None else self.parent.runner

    def bind(self, binding: Binding) -> None:
        """Add a binding, in the scope that `global` and `nonlocal` choose."""
        scope = self
        if binding.name in self.globals:
            scope = self.module
        elif binding.name in self.nonlocals and self.parent:
            scope = self.parent.lookup(binding.name) or self
        scope.bindings.setdefault(binding.name, []).append(binding)

    @property
    def module(self) -> Scope:
        """Return the outermost scope."""
        scope = self
        while scope.parent:
            scope = scope.parent
        return scope

    @property
    def function(self) -> Scope:
        """Return the nearest scope that is not a comprehension, in which a walrus binds."""
        scope = self
        while scope.is_comprehension and scope.parent:
            scope = scope.parent
        return scope

    def _sees(self, around: Scope) -> bool:
        """Whether this is the scope of type parameters in the body of a class, in which its names are
        visible.
        """
        return around is self.parent and isinstance(self.node, (*TYPE_PARAMETERS, TYPE_ALIAS))

    def lookup(self, name: str) -> Scope | None:
        """Return the scope in which a name used here is bound, by Python's rules; None for builtins."""
        if name in self.globals:
            return self.module if name in self.module.bindings else None
        scope: Scope | None = self
        while scope is not None:
            if name in scope.bindings and (not scope.is_class or scope is self or self._sees(scope)):
                return scope
            if scope.types is not None and name in scope.types.bindings:
                return scope.types
            scope = scope.parent
        return None
