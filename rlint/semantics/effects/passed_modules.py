"""Modules that a file passes to functions or keeps in variables, and variables that it sets in an object that
its functions get as an argument: `override(config, values)`, where `override` sets attributes of the module.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator

from rlint import models
from rlint.models.effect import EffectKind
from rlint.models.value_type import TypeTag
from rlint.semantics.effects.namespace_writes import (
    ANY_MODULE,
    ANY_NAME,
    NameResolver,
    NameWrite,
    choices,
    chosen,
    imported_path,
    is_own_module,
    owner_paths,
)
from rlint.syntax.last_names import last_name
from rlint.syntax.scopes import Binding, BindingKind
from rlint.syntax.syntax_index import FUNCTIONS, SyntaxIndex
from rlint.syntax.value_use import is_handed_on

PASSED_MODULE = "__passed__@"
"""Begins the name of a module that a function (or a class, by its constructor) gets as an argument:
`__passed__@override`.
"""
_CONTAINERS = (TypeTag.LIST, TypeTag.DICT, TypeTag.SET, TypeTag.DEQUE)
_HOLDERS = (ast.Name, ast.Attribute, ast.Subscript, ast.Call)
_LOOKED_UP = ("import_module", "__import__", "module_from_spec", "load_module")


def passed_modules(syntax: SyntaxIndex, module: str) -> frozenset[str]:
    """Return the dotted names of imports that a file uses as values, other than to access their attributes;
    `__any__@override` for a module of a name known only at run time that is passed to `override`. Most are
    not modules, which only the other files determine.
    """
    return frozenset((*_imports_passed(syntax), *_looked_up_and_passed(syntax, module)))


def may_be_any(path: str, passed: Collection[str]) -> bool:
    """Whether a dotted name begins with that of a module which is known only at run time, also of one that a
    function gets or returns, given the modules that the file passes.
    """
    receiver = path.partition(PASSED_MODULE)[2].partition(".")[0]
    return path.startswith(ANY_MODULE) or f"{ANY_MODULE}@{receiver}" in passed


def _imports_passed(syntax: SyntaxIndex) -> Iterator[str]:
    for scope in syntax.scopes.values():
        for name, bindings in scope.bindings.items():
            targets = {each.target for each in bindings if each.kind is BindingKind.IMPORT}
            own = {target for target in targets if not models.is_library(target)}
            for use in syntax.variables.uses(name, scope) if own else ():
                node, steps = _whole(use, syntax)
                if _is_value(node, syntax):
                    yield from (".".join((target, *steps)) for target in own)


def _whole(use: ast.Name, syntax: SyntaxIndex) -> tuple[ast.expr, list[str]]:
    """Return the attribute that a use of an import leads to, if it may be a module, and its names."""
    node: ast.expr = use
    steps: list[str] = []
    parent = syntax.parents.get(node)
    while isinstance(parent, ast.Attribute) and not parent.attr[0].isupper():
        node = parent
        steps.append(parent.attr)
        parent = syntax.parents.get(node)
    return node, steps


def _looked_up_and_passed(syntax: SyntaxIndex, module: str) -> Iterator[str]:
    nodes: list[ast.expr] = [*syntax.written.calls_of(_LOOKED_UP)]
    for modules in syntax.written.attributes.get("modules", ()):
        parent = syntax.parents.get(modules)
        if isinstance(parent, ast.Attribute) and parent.attr == "get":
            parent = syntax.parents.get(parent)
        if isinstance(parent, (ast.Subscript, ast.Call)):
            nodes.append(parent)
    for node in nodes:
        path = module if is_own_module(node) else imported_path(node, syntax)
        value = chosen(node, syntax)
        uses = [value, *_uses_of_variable(value, syntax)]
        if path is not None and path.startswith(ANY_MODULE):
            # one that is only stored may be any of the project, but rarely is one of its settings
            yield from (f"{ANY_MODULE}@{name}" for use in uses if (name := _receiver_of(use, syntax)))
        elif path and any(_is_value(use, syntax) for use in uses):
            yield path


def _receiver_of(use: ast.expr, syntax: SyntaxIndex) -> str | None:
    """Return the name of the function that a module is passed to, `load()` if the function `load` returns
    it.
    """
    match syntax.parents.get(use):
        case ast.Call(func=func) if func is not use:
            return last_name(func)
        case ast.Return():
            function = syntax.function(use)
            return f"{function.name}()" if function is not None else None
    return None


def _uses_of_variable(value: ast.expr, syntax: SyntaxIndex) -> list[ast.Name]:
    """Return the uses of the variable that an assignment binds to a value."""
    match syntax.parents.get(value):
        case ast.Assign(targets=[ast.Name() as target]) | ast.NamedExpr(target=ast.Name() as target):
            return syntax.variables.uses(target.id, syntax.scope(target).lookup(target.id))
    return []


def _is_value(node: ast.expr, syntax: SyntaxIndex, depth: int = 2) -> bool:
    """Whether a module is passed to a function, returned, or stored in an attribute or container. Built-in
    functions such as `vars` and `getattr` are understood where they are called.
    """
    match syntax.parents.get(node):
        case ast.Call(func=ast.Name(id=name)) if models.callable_fact(f"builtins.{name}"):
            return False
        case ast.Assign(targets=[ast.Name()]) if depth and syntax.function(node) is not None:
            return any(_is_value(use, syntax, depth - 1) for use in _uses_of_variable(node, syntax))
        case ast.Lambda() | ast.Starred():
            return True
    return is_handed_on(node, syntax.parents)


def set_in_passed(syntax: SyntaxIndex, writes: Iterable[NameWrite], resolve: NameResolver) -> Iterator[str]:
    """Yield the names that a file sets in objects that its functions get as arguments, and the containers
    that it changes in modules by name: `getattr(module, name).append(value)`.
    """
    for store in syntax.written.attribute_stores:
        yield from (f"{path}.{store.attr}" for path in passed_paths(store.value, syntax))
    for write in writes:
        if write.owner is not None:
            yield from (f"{path}.{write.name}" for path in unknown_paths(write.owner, syntax, resolve))
    for call in syntax.written.calls_of(("getattr",)):
        match call.args:
            case [owner, name, *_] if _is_changed(call, syntax):
                known = isinstance(name, ast.Constant) and isinstance(name.value, str)
                text = name.value if known else ANY_NAME  # type: ignore[attr-defined]
                for path in (*owner_paths(owner, syntax, resolve), *unknown_paths(owner, syntax, resolve)):
                    yield f"{path}.{text}"


def _is_changed(node: ast.expr, syntax: SyntaxIndex, depth: int = 2) -> bool:
    """Whether a container is changed in place, also by a variable that holds it."""
    match syntax.parents.get(node):
        case ast.Subscript(value=value, ctx=ast.Store() | ast.Del()):
            return value is node
        case ast.Attribute(attr=method):
            facts = (models.method_fact(tag, method) for tag in _CONTAINERS)
            return any(fact is not None and fact.effect.kind & EffectKind.MUTATES for fact in facts)
        case ast.Assign() | ast.NamedExpr() if depth:
            return any(_is_changed(use, syntax, depth - 1) for use in _uses_of_variable(node, syntax))
    return False


def unknown_paths(node: ast.expr, syntax: SyntaxIndex, resolve: NameResolver) -> Iterator[str]:
    """Yield the same as `passed_paths`, and `__passed__@` for every object that the file does not determine:
    any that is used as a value.
    """
    yield from passed_paths(node, syntax)
    if resolve(node) is not None or isinstance(node, ast.Constant):
        return
    if isinstance(node, ast.Name):
        scope = syntax.scope(node).lookup(node.id)
        bindings = scope.bindings[node.id] if scope is not None else []
        if any(each.kind is BindingKind.PARAMETER and _is_receiver(each, syntax) for each in bindings):
            return
    yield PASSED_MODULE


def passed_paths(node: ast.expr, syntax: SyntaxIndex, depth: int = 3) -> Iterator[str]:
    """Yield the names of modules passed to functions that an object may be, if it is one that callers pass (a
    parameter, an item of one, an attribute that holds one), or that a function returns (`__passed__@load()`).
    """
    match node:
        case ast.Name(id=name) if depth:
            scope = syntax.scope(node).lookup(name)
            for binding in scope.bindings[name] if scope is not None else ():
                if binding.kind is BindingKind.PARAMETER:
                    if not _is_receiver(binding, syntax):
                        yield f"{PASSED_MODULE}{_called_name(binding, syntax)}"
                elif binding.value is not None and not binding.path:
                    for value in choices(binding.value):
                        if isinstance(value, _HOLDERS):
                            yield from passed_paths(value, syntax, depth - 1)
        case ast.Attribute(attr=attribute) if depth:
            for store in syntax.written.attributes.get(attribute, ()):
                statement = syntax.parents.get(store)
                is_set = isinstance(store.ctx, ast.Store) and isinstance(
                    statement, (ast.Assign, ast.AnnAssign)
                )
                if is_set and isinstance(statement.value, ast.Name):  # type: ignore[union-attr]
                    yield from passed_paths(statement.value, syntax, depth - 1)  # type: ignore[union-attr]
        case ast.Call(func=func):
            made = last_name(func)
            if made and not models.callable_fact(f"builtins.{made}"):
                yield f"{PASSED_MODULE}{made}()"
        case ast.Subscript(value=items) if depth:
            yield from passed_paths(items, syntax, depth - 1)


def _called_name(parameter: Binding, syntax: SyntaxIndex) -> str:
    """Return the name by which calls pass an argument for a parameter; "" for a lambda."""
    function = parameter.statement
    if not isinstance(function, FUNCTIONS):
        return ""
    owner = syntax.parents.get(function)
    return owner.name if function.name == "__init__" and isinstance(owner, ast.ClassDef) else function.name


def _is_receiver(parameter: Binding, syntax: SyntaxIndex) -> bool:
    """Whether a parameter is the `self` or `cls` of a method."""
    function = parameter.statement
    if not isinstance(function, FUNCTIONS) or not isinstance(syntax.parents.get(function), ast.ClassDef):
        return False
    first = [*function.args.posonlyargs, *function.args.args][:1]
    return parameter.name in ("self", "cls") and [each.arg for each in first] == [parameter.name]
