"""Names that a file sets dynamically in modules, classes and objects: `globals()["N"] = 0`, `setattr(m, k,
v)`, `exec`, also through a variable that holds the namespace. A name known only at run time is `ANY_NAME`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple

from rlint import models
from rlint.models.effect import EffectKind
from rlint.models.trait import Trait
from rlint.syntax.import_statements import absolute_module
from rlint.syntax.scopes import Binding, BindingKind
from rlint.syntax.syntax_index import FUNCTIONS, Function, SyntaxIndex
from rlint.syntax.walk import place_in_order

ANY_NAME = "*"
ANY_MODULE = "__any__"
"""The dotted name of a module that is imported by a name known only at run time; `__any__:envs` for one in
the package `envs`.
"""
NameResolver = Callable[[ast.expr], str | None]
"""Resolves the dotted name that an expression refers to."""
_CHOICES = (ast.BoolOp, ast.IfExp, ast.NamedExpr)
_OWN = ast.Name("__main__", ast.Load())
_HINTS = (
    *(name.rpartition(".")[2] for name in models.having(Trait.REFLECTS, "builtins")),
    "__dict__", "__globals__", "__main__", "modules", "import_module", "object",
)  # fmt: skip
"""Every file that sets names dynamically contains one of these words."""
NAMESPACES = ("globals", "locals", "vars")


class NameWrite(NamedTuple):
    """A name that is set in the object of an expression; None means the file's own module."""

    owner: ast.expr | None
    name: str


def name_writes(syntax: SyntaxIndex) -> tuple[NameWrite, ...]:
    """Return all names that a file sets dynamically, in no particular order."""
    if not any(hint in syntax.text for hint in _HINTS):
        return ()
    return tuple(_Writes(syntax).all())


class _Writes:
    def __init__(self, syntax: SyntaxIndex) -> None:
        self._syntax = syntax
        self._holding: dict[str, ast.expr] = {}  # variables and attributes, by their last names
        self._are_modules: set[str] = set()
        for scope in syntax.scopes.values():
            for name, bindings in scope.bindings.items():
                for binding in bindings:
                    if binding.target == "__main__":
                        self._are_modules.add(name)
                    elif binding.value is not None and not binding.path:
                        self._hold(name, binding.value)
        for store in syntax.written.attribute_stores:
            statement = syntax.parents.get(store)
            if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
                self._hold(store.attr, statement.value)

    def _hold(self, name: str, value: ast.expr) -> None:
        if self._is_own_module(value):
            self._are_modules.add(name)
        elif self._owner(value) is not None:
            self._holding[name] = value

    def all(self) -> Iterator[NameWrite]:
        written = self._syntax.written
        for node in sorted(self._namespaces(), key=place_in_order):
            owner = self._owner(node)
            if owner is not None:
                own = owner is _OWN
                yield from (
                    NameWrite(None if own else owner, name) for name in self._set_in(node, escapes=own)
                )
        for store in written.attribute_stores:
            if self._is_own_module(store.value):
                yield NameWrite(None, store.attr)
        for call in written.calls_of(("setattr", "delattr", "__setattr__", "__delattr__", "object")):
            yield from self._set_by_call(call)
        for call in written.calls_of(("exec",)):
            if isinstance(call.func, ast.Name):
                yield from (NameWrite(None, name) for name in self._executed(call))

    def _namespaces(self) -> set[ast.expr]:
        """Return the expressions that may be a namespace."""
        syntax = self._syntax
        found: set[ast.expr] = {*syntax.written.calls_of(NAMESPACES)}
        for attribute in ("__dict__", "__globals__", *self._holding):
            found.update(syntax.written.attributes.get(attribute, ()))
        for name in self._holding:
            found.update(syntax.variables.named(name))
        return found

    def _owner(self, value: ast.expr, depth: int = 4) -> ast.expr | None:
        """Return the owner of the names in a namespace; None if the expression is not a namespace."""
        match value:
            case ast.Call(func=ast.Name(id="globals" | "locals" | "vars"), args=[]):
                return _OWN
            case (
                ast.Call(func=ast.Name(id="vars"), args=[owner]) | ast.Attribute(value=owner, attr="__dict__")
            ):
                return _OWN if self._is_own_module(owner) else owner
            case ast.Attribute(attr="__globals__"):
                return _OWN if self._is_own_function(value.value) else value
            case ast.NamedExpr(value=inner):
                return self._owner(inner, depth)
            case ast.Name(id=name) | ast.Attribute(attr=name) if name in self._holding and depth:
                return self._owner(self._holding[name], depth - 1)
        return None

    def _is_own_function(self, value: ast.expr) -> bool:
        """Whether a function may be defined in this file: true unless it is surely imported."""
        scope = self._syntax.scope(value).lookup(value.id) if isinstance(value, ast.Name) else None
        if scope is None:
            return not isinstance(value, ast.Attribute)
        return any(binding.kind is not BindingKind.IMPORT for binding in scope.bindings[value.id])  # type: ignore[attr-defined]

    def _is_own_module(self, value: ast.expr) -> bool:
        """Whether an expression is the file's own module, also by a variable that holds it."""
        return is_own_module(value) or (isinstance(value, ast.Name) and value.id in self._are_modules)

    def _set_in(self, node: ast.expr, *, escapes: bool) -> Iterator[str]:
        """Yield the names that one use of a namespace sets."""
        parent = self._syntax.parents.get(node)
        match parent:
            case ast.Subscript(value=value, slice=key, ctx=ast.Store() | ast.Del()) if value is node:
                yield _text(key)
            case ast.AugAssign(target=target, value=value) if target is node:
                yield from _keys(value)
            case ast.Attribute(attr=method):
                yield from self._set_by_method(method, parent)
            case ast.Call(func=func, args=args) if escapes and func is not node:
                called = func.id if isinstance(func, ast.Name) else ""
                if node in args and not _only_looks(called):
                    yield ANY_NAME
            case ast.keyword(arg=str()) | ast.Return() | ast.List() | ast.Tuple() | ast.Dict() if escapes:
                yield ANY_NAME

    def _set_by_method(self, method: str, attribute: ast.Attribute) -> Iterator[str]:
        call = self._syntax.parents.get(attribute)
        if not isinstance(call, ast.Call) or call.func is not attribute:
            return
        if method in ("update", "__ior__"):
            yield from (keyword.arg or ANY_NAME for keyword in call.keywords)
            for argument in call.args:
                yield from _keys(argument)
        elif method in ("setdefault", "pop", "__setitem__", "__delitem__"):
            yield from map(_text, call.args[:1])
        elif method in ("popitem", "clear"):
            yield ANY_NAME

    def _set_by_call(self, call: ast.Call) -> Iterator[NameWrite]:
        match call:
            case ast.Call(
                func=ast.Name(id="setattr" | "delattr" | "__setattr__" | "object")
                | ast.Attribute(attr="setattr" | "delattr" | "object" | "__setattr__" | "__delattr__"),
                args=[owner, ast.expr() as name, _, *_],
            ):
                pass
            case ast.Call(
                func=ast.Name(id="delattr") | ast.Attribute(attr="delattr" | "object"), args=[owner, name]
            ):
                pass
            case ast.Call(func=ast.Attribute(value=owner, attr="__setattr__"), args=[name, _]):
                pass
            case _:
                return
        yield NameWrite(None if self._is_own_module(owner) else owner, _text(name))

    def _executed(self, call: ast.Call) -> Iterator[str]:
        """Yield the names that `exec` may bind in this module."""
        if len(call.args) > 1 and self._owner(call.args[1]) is not _OWN:
            return
        match call.args[:1]:
            case [ast.Constant(value=str(text))]:
                yield from _bound_in(text)
            case [ast.Call(func=ast.Name(id="compile"), args=[ast.Constant(value=str(text)), *_])]:
                yield from _bound_in(text)
            case _:
                yield ANY_NAME


def owner_paths(owner: ast.expr, syntax: SyntaxIndex, resolve: NameResolver, depth: int = 3) -> Iterator[str]:
    """Yield the dotted names of the modules or classes that the object of a write may be, including those
    that a loop iterates over, that a variable or attribute holds, or that are passed to a function of the
    file.
    """
    path = _owner_path(owner, syntax, resolve)
    if path:
        yield path
    elif isinstance(owner, _CHOICES):
        for value in choices(owner):
            yield from owner_paths(value, syntax, resolve, depth)
    elif isinstance(owner, ast.Attribute):
        held = [
            _value_of(each, syntax) for each in syntax.written.attribute_stores if each.attr == owner.attr
        ]
        values = [each for value in held if value is not None for each in choices(value)]
        yield from filter(None, (imported_path(value, syntax) for value in values))
    elif isinstance(owner, ast.Name) and depth:
        scope = syntax.scope(owner).lookup(owner.id)
        for binding in scope.bindings[owner.id] if scope is not None else ():
            for value in _bound_values(binding, syntax):
                yield from owner_paths(value, syntax, resolve, depth - 1)
            if _iterates_over_modules(binding.value):
                yield ANY_MODULE


def choices(value: ast.expr) -> list[ast.expr]:
    """Return the expressions whose value an expression may have: `a` and `b` for `a or b`."""
    match value:
        case ast.BoolOp(values=values):
            pass
        case ast.IfExp(body=body, orelse=orelse):
            values = [body, orelse]
        case ast.NamedExpr(value=inner):
            values = [inner]
        case _:
            return [value]
    return [choice for each in values for choice in choices(each)]


def chosen(value: ast.expr, syntax: SyntaxIndex) -> ast.expr:
    """Return the outermost expression that may have a value: `a or b` for `a`."""
    around = syntax.parents.get(value)
    while isinstance(around, _CHOICES) and value is not getattr(around, "test", None):
        value, around = around, syntax.parents.get(around)
    return value


def is_own_module(value: ast.expr) -> bool:
    """Whether an expression is `sys.modules[__name__]`, `importlib.import_module(__name__)`."""
    match value:
        case ast.Subscript(value=ast.Attribute(attr="modules"), slice=ast.Name(id="__name__")):
            return True
        case ast.Call(
            func=ast.Name(id="__import__" | "import_module") | ast.Attribute(attr="import_module"),
            args=[ast.Name(id="__name__"), *_],
        ):
            return True
    return False


def _bound_values(binding: Binding, syntax: SyntaxIndex) -> list[ast.expr]:
    """Return the values of a variable, or one item of each."""
    if binding.kind is BindingKind.PARAMETER and isinstance(binding.statement, FUNCTIONS):
        return _passed(binding, binding.statement, syntax)
    if binding.value is None or binding.path:
        return []
    return binding.value.elts if isinstance(binding.value, (ast.Tuple, ast.List)) else [binding.value]


def _owner_path(owner: ast.expr, syntax: SyntaxIndex, resolve: NameResolver) -> str | None:
    if isinstance(owner, ast.Attribute) and owner.attr == "__globals__":
        return (resolve(owner.value) or "").rpartition(".")[0] or None
    return imported_path(owner, syntax) or resolve(owner)


def imported_path(value: ast.expr, syntax: SyntaxIndex) -> str | None:
    """Return the dotted name of the module that is imported, or looked up in `sys.modules`, by name."""
    match value:
        case (
            ast.Subscript(value=ast.Attribute(attr="modules"), slice=name)
            | ast.Call(func=ast.Attribute(value=ast.Attribute(attr="modules"), attr="get"), args=[name, *_])
            | ast.Call(
                func=ast.Name(id="__import__" | "import_module") | ast.Attribute(attr="import_module"),
                args=[name, *_],
            )
        ):
            if not isinstance(name, ast.Constant) or not isinstance(name.value, str):
                own = isinstance(name, ast.Name) and name.id == "__name__"
                return None if own else _any_in(name)
            module = name.value.lstrip(".")
            return absolute_module(module, len(name.value) - len(module), syntax.package)
        case ast.Call(
            func=ast.Name(id="module_from_spec" | "load_module")
            | ast.Attribute(attr="module_from_spec" | "load_module")
        ):
            return ANY_MODULE
    return None


def _any_in(name: ast.expr) -> str:
    """Return the name for any module, or for any in the package that the text of its name begins with."""
    match name:
        case ast.JoinedStr(values=[ast.Constant(value=str(text)), *_]):
            pass
        case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Add() | ast.Mod()):
            pass
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format")):
            pass
        case _:
            text = ""
    package, is_whole, _ = text.partition(".")
    return f"{ANY_MODULE}:{package}" if is_whole and package.isidentifier() else ANY_MODULE


def may_be_module(path: str, module: str) -> bool:
    """Whether the name for any module, or for any in a package, may be that of a module of the project."""
    marker, _, package = path.partition(":")
    return marker == ANY_MODULE and (not package or package in module.split("."))


def _iterates_over_modules(value: ast.expr | None) -> bool:
    """Whether an expression is `sys.modules.values()`."""
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="modules"), attr="values" | "items")):
            return True
    return False


def _value_of(store: ast.Attribute, syntax: SyntaxIndex) -> ast.expr | None:
    statement = syntax.parents.get(store)
    return statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None


def _passed(parameter: Binding, function: Function, syntax: SyntaxIndex) -> list[ast.expr]:
    """Return the arguments that calls in this file pass for a parameter."""
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    if parameter.name not in names:
        return []
    place = names.index(parameter.name)
    is_method = isinstance(syntax.parents.get(function), ast.ClassDef)
    if is_method and place == 0 and parameter.name in ("self", "cls"):
        return []
    found = []
    for call in syntax.written.calls_of((function.name,)):
        # `instance.method(value)`, and `Class.method(instance, value)`
        found += call.args[max(place - 1, 0) if is_method else place : place + 1]
        found += [keyword.value for keyword in call.keywords if keyword.arg == parameter.name]
    return found


def _only_looks(builtin: str) -> bool:
    """Whether a function of this name only reads a namespace that it is passed, or is `exec`, which is
    handled elsewhere.
    """
    fact = models.callable_fact(f"builtins.{builtin}") if builtin else None
    return fact is not None and not fact.effect.kind & EffectKind.MUTATES


def _text(name: ast.expr) -> str:
    return name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else ANY_NAME


def _keys(value: ast.expr) -> Iterator[str]:
    """Yield the keys of a dictionary passed to `update`."""
    if isinstance(value, ast.Dict):
        yield from (ANY_NAME if key is None else _text(key) for key in value.keys)
    else:
        yield ANY_NAME


def _bound_in(text: str) -> set[str]:
    """Return the names that a program given as text binds in its outermost scope, or declares."""
    try:
        syntax = ast.parse(text)
    except (SyntaxError, ValueError):
        return set()
    found: set[str] = set()
    for node in ast.walk(syntax):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.alias(name="*"):
                found.add(ANY_NAME)
            case ast.alias(name=name, asname=asname):
                found.add(asname or name.partition(".")[0])
    return found
