"""Implicit calls behind plain syntax: properties, operator methods and attribute hooks of the classes of a
file.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Protocol

from rlint import models
from rlint.models.effect import PURE, USES_UP, Effect
from rlint.models.special_methods import (
    ENTERS,
    HASHED,
    IMPLICIT,
    ITERATES,
    KEYS,
    LOOKED_UP,
    OF_BUILTINS,
    OF_METHODS,
    OPERATORS,
    REFLECTED,
    SHOWS,
    STORES,
    TRUTH,
    WRITES,
)
from rlint.models.value_type import Type, TypeTag, alternatives
from rlint.semantics.interprocedural.call_targets import arguments_of
from rlint.semantics.interprocedural.qualified_names import QualifiedNames
from rlint.semantics.types.infer import TypeInference
from rlint.syntax.scopes import BindingKind
from rlint.syntax.syntax_index import Function, SyntaxIndex

_GETTERS = frozenset({"builtins.property", "functools.cached_property", "abc.abstractproperty"})
_BY_NAME = frozenset({"getattr", "hasattr"})
_OF_CLASSES = frozenset(
    {
        TypeTag.UNKNOWN,
        TypeTag.INSTANCE,
        TypeTag.DATASET,
        TypeTag.REPLAY_BUFFER,
        TypeTag.ENVIRONMENT,
        TypeTag.MODULE,
    }
)
"""Types whose values may be instances of a class of the project."""
_DERIVED_FROM = {name: tag for name, tag in models.CLASSES.items() if tag is not TypeTag.MODULE}
"""Library classes whose subclasses have the type of their base."""


class ImplicitEffects(Protocol):
    """Resolves the effects of properties and operators of the classes of a project."""

    @property
    def implicit_names(self) -> frozenset[str]:
        """Return the names of those that do more than return a value."""

    def implicit_effect(self, cls: str, name: str) -> Effect:
        """Return the effect of one on an object of a class, given by its qualified name."""


class ImplicitCalls:
    """The properties and operators of a file's classes that do more than return a value. Effects that are
    merely possible are ignored, except in stores: reading a network's device is assumed to only read it.
    """

    def __init__(
        self,
        syntax: SyntaxIndex,
        names: QualifiedNames,
        types: TypeInference,
        effect_of: Callable[[Function], Effect],
        project: ImplicitEffects | None = None,
    ) -> None:
        self.syntax, self.names, self.types = syntax, names, types
        self._effect_of = effect_of
        self._project = project
        self._named: dict[str, Effect] | None = None

    @property
    def named(self) -> dict[str, Effect]:
        """The effects of all properties and operators, by name. Empty while they are being computed."""
        if self._named is None:
            self._named = {}
            found: dict[str, Effect] = {}
            for name, function in self._candidates():
                effect = self._effect_of(function)
                if function.name == "__iter__" and self._gives_its_own(function):
                    effect = effect.joined(USES_UP)
                if effect.acts or (name in WRITES and not effect.quiet):
                    found[name] = effect
            self._named = found
        return self._named

    @property
    def may_run(self) -> bool:
        """Whether any class of the file, or of the project, has a property or operator with effects."""
        return bool(self.named or self._names_in_project)

    @cached_property
    def _names_in_project(self) -> frozenset[str]:
        return self._project.implicit_names if self._project is not None else frozenset()

    def effect(self, node: ast.AST) -> Effect:
        """Return the effect of a node, without its children, if it runs one of them or may do so."""
        if not self.may_run:
            return PURE
        for operand, methods in self._run(node):
            for method in methods:
                if method in self.named and (
                    operand is None or self._may_be_own(self.types.type_of(operand))
                ):
                    return self.named[method]
                if method in self._names_in_project and operand is not None:
                    effect = self._effect_in_project(operand, method)
                    if effect.acts or (method in WRITES and not effect.quiet):
                        return effect
        return PURE

    def _effect_in_project(self, operand: ast.expr, method: str) -> Effect:
        """Return the effect of a method of the classes that a value may have; for a variable or attribute of
        unknown type, of the classes that the file imports.
        """
        assert self._project is not None
        kind = self.types.type_of(operand)
        if kind.tag not in _OF_CLASSES:
            return PURE
        classes: tuple[str, ...] = alternatives(kind.of) if kind and kind.of else ()
        if kind.tag is TypeTag.UNKNOWN and isinstance(operand, (ast.Name, ast.Attribute)):
            classes = self._imported
        effect = PURE
        for cls in classes:
            effect = effect.joined(self._project.implicit_effect(cls, method))
        return effect

    @cached_property
    def _imported(self) -> tuple[str, ...]:
        """Return the names that the file imports by themselves: classes of the project are among them."""
        bindings = self.syntax.scopes[self.syntax.module].bindings.values()
        targets = (each.target for found in bindings for each in found if each.kind is BindingKind.IMPORT)
        return tuple(dict.fromkeys(target for target in targets if "." in target))

    def _may_be_own(self, kind: Type) -> bool:
        """Whether the value may be an instance of a class of the project."""
        return kind.tag in _OF_CLASSES or (kind.tag in self._derived and not kind.fresh)

    @cached_property
    def _derived(self) -> frozenset[TypeTag]:
        """Return the types that instances of the file's classes may have."""
        bases = (base for owner in self.syntax.of_type(ast.ClassDef) for base in owner.bases)
        found = (_DERIVED_FROM.get(self.names.qualified(base) or "") for base in bases)
        return frozenset(tag for tag in found if tag is not None)

    def _gives_its_own(self, function: Function) -> bool:
        """Whether `__iter__` returns the object itself or an existing object, rather than a new iterator each
        time.
        """
        given = (returned.value for returned in self.syntax.written.returns.get(function, ()))
        return any(isinstance(value, (ast.Name, ast.Attribute)) for value in given)

    def _candidates(self) -> Iterator[tuple[str, Function]]:
        for owner in self.syntax.of_type(ast.ClassDef):
            for node in owner.body:
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and (
                    node.name in IMPLICIT or self._is_getter(node)
                ):
                    yield node.name, node
                elif isinstance(node, ast.FunctionDef) and _is_setter(node):
                    yield f"{node.name}{STORES}", node
                elif isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, ast.Call):
                    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                    for getter in self._getters_of(node.value):
                        yield from ((name.id, getter) for name in targets if isinstance(name, ast.Name))

    def _getters_of(self, made: ast.Call) -> Iterator[Function]:
        """Yield the functions that run when an attribute backed by a descriptor is read: `text = Field()` in
        a class.
        """
        made_of = self.names.qualified(made.func)
        for cls in self.syntax.of_type(ast.ClassDef) if made_of is not None else ():
            if made_of == f"{self.names.module}.{self.syntax.qualname(cls)}":
                for node in cls.body:
                    if isinstance(node, ast.FunctionDef) and node.name == "__get__":
                        yield node

    def _is_getter(self, function: Function) -> bool:
        return any(self.names.qualified(decorator) in _GETTERS for decorator in function.decorator_list)

    def _run(self, node: ast.AST) -> Iterator[tuple[ast.expr | None, tuple[str, ...]]]:
        """Yield operands, with the methods that the node may run on each."""
        match node:
            case ast.Attribute(attr=name, ctx=ast.Load()):
                if not (name.startswith("__") or self.names.qualified(node)):
                    yield node.value, (name, *LOOKED_UP)
            case ast.Attribute(value=owner, attr=name, ctx=ast.Store() | ast.Del()):
                hook = "__setattr__" if isinstance(node.ctx, ast.Store) else "__delattr__"
                yield owner, (f"{name}{STORES}", hook)
            case ast.Subscript(value=owner, ctx=ast.Store() | ast.Del()):
                yield owner, ("__setitem__" if isinstance(node.ctx, ast.Store) else "__delitem__",)
            case ast.Subscript(value=owner, ctx=ast.Load()):
                yield owner, ("__getitem__",)
            case ast.BinOp(left=left, op=op, right=right):
                name = OPERATORS[type(op)]
                yield left, (f"__{name}__",)
                yield right, (f"__r{name}__",)
                if isinstance(op, ast.Mod) and self.types.type_of(left).tag is TypeTag.STR:
                    yield from ((part, SHOWS) for part in _items(right))
            case ast.Assign(targets=[*_, ast.Tuple() | ast.List()], value=value):
                yield value, ITERATES
            case ast.Set(elts=keys):
                yield from ((key, HASHED) for key in keys)
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    yield (value, KEYS) if key is None else (key, HASHED)
            case ast.AugAssign(target=target, op=op):
                name = OPERATORS[type(op)]
                yield target, (f"__i{name}__", f"__{name}__")
            case ast.UnaryOp(op=op, operand=operand):
                yield (
                    operand,
                    TRUTH if isinstance(op, ast.Not) else (f"__{OPERATORS[type(op)]}__",),
                )
            case ast.Compare():
                yield from self._compared(node)
            case ast.Starred(value=value):
                yield value, ITERATES
            case ast.FormattedValue(value=value):
                yield value, SHOWS
            case ast.Call(args=arguments):
                module, _, name = (self.names.qualified(node.func) or "").rpartition(".")
                if module == "builtins" and name in _BY_NAME:
                    yield from _read_by_name(arguments)
                elif module == "builtins" and name in OF_BUILTINS:
                    yield from ((argument, OF_BUILTINS[name]) for argument in arguments)
                elif isinstance(node.func, ast.Attribute) and node.func.attr in OF_METHODS:
                    yield from ((argument, OF_METHODS[node.func.attr]) for argument in arguments_of(node))
        if isinstance(node, ast.expr):
            yield node, self._called_by_parent(node)

    def _called_by_parent(self, node: ast.expr) -> tuple[str, ...]:
        """Return the implicit methods that a statement or expression runs on a part of it."""
        match self.syntax.parents.get(node):
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test):
                return TRUTH if test is node else ()
            case ast.BoolOp():
                return TRUTH
            case ast.For(iter=iterable) | ast.AsyncFor(iter=iterable) | ast.comprehension(iter=iterable):
                if iterable is node:
                    return ITERATES
                parent = self.syntax.parents[node]
                return TRUTH if isinstance(parent, ast.comprehension) and node in parent.ifs else ()
            case ast.withitem(context_expr=context):
                return ENTERS if context is node else ()
        return ()

    def _compared(self, node: ast.Compare) -> Iterator[tuple[ast.expr, tuple[str, ...]]]:
        for left, op, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
            if isinstance(op, (ast.In, ast.NotIn)):
                yield right, ("__contains__", *ITERATES)
            elif not isinstance(op, (ast.Is, ast.IsNot)):
                name = OPERATORS[type(op)]
                yield left, (f"__{name}__",)
                yield right, (f"__{REFLECTED[type(op)]}__",)


def _read_by_name(arguments: list[ast.expr]) -> Iterator[tuple[ast.expr, tuple[str, ...]]]:
    """Yield what `getattr(value, "name")` and `hasattr` run."""
    match arguments:
        case [value, ast.Constant(value=str(name)), *_]:
            yield value, (name, *LOOKED_UP)


def _items(operand: ast.expr) -> list[ast.expr]:
    return operand.elts if isinstance(operand, ast.Tuple) else [operand]


def _is_setter(function: ast.FunctionDef) -> bool:
    """Whether a decorator makes a method the setter or deleter of a property: `@size.setter`."""
    return any(
        isinstance(decorator, ast.Attribute) and decorator.attr in ("setter", "deleter")
        for decorator in function.decorator_list
    )
