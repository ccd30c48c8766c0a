"""What a file replaces by something else: functions of libraries, and names that it binds by their text."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from rlint.models import vocabulary
from rlint.syntax.syntax_index import SyntaxIndex

_Resolve = Callable[[ast.expr], str | None]


def replaced_paths(syntax: SyntaxIndex, resolve: _Resolve) -> Iterator[str]:
    """Yield the dotted names of what is set or deleted in modules and classes, settings aside."""
    for node in syntax.written.attribute_stores:
        if not _is_setting(syntax.parents.get(node)):
            path = resolve(node)
            if path:
                yield path
    for call in syntax.written.calls_of(vocabulary.PATCHES):
        yield from _patched(call, resolve)
    for subscript in syntax.written.item_stores:
        owner, key = _namespace(subscript.value), subscript.slice
        base = resolve(owner) if owner is not None else None
        if base and isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield f"{base}.{key.value}"


def names_set_by_text(syntax: SyntaxIndex) -> frozenset[str]:
    """Return the names of the module that `exec("...")`, `globals()["..."] = ...` and similar code bind."""
    found: set[str] = set()
    for subscript in syntax.written.item_stores:
        if not isinstance(subscript.slice, ast.Constant):
            continue
        if _is_own_namespace(subscript.value):
            found.add(str(subscript.slice.value))
    for attribute in syntax.written.attribute_stores:
        match attribute:
            case ast.Attribute(value=ast.Name(id=name), attr="__code__" | "__defaults__" | "__kwdefaults__"):
                found.add(name)
            case ast.Attribute(value=owner, attr=name) if _is_own_module(owner):
                found.add(name)
    for call in syntax.written.calls_of(("setattr", "exec", "update")):
        match call:
            case ast.Call(func=ast.Name(id="setattr"), args=[owner, ast.Constant(value=str(name)), _]) if (
                _is_own_module(owner)
            ):
                found.add(name)
            case ast.Call(func=ast.Name(id="exec"), args=[ast.Constant(value=str(text)), *_]):
                found |= _bound_in(text)
            case ast.Call(func=ast.Attribute(value=owner, attr="update"), keywords=keywords) if (
                _is_own_namespace(owner)
            ):
                found |= {keyword.arg for keyword in keywords if keyword.arg}
                found |= {
                    str(key.value)
                    for argument in call.args
                    if isinstance(argument, ast.Dict)
                    for key in argument.keys
                    if isinstance(key, ast.Constant)
                }
    return frozenset(found)


def attributes_set_by_name(syntax: SyntaxIndex) -> Iterator[tuple[ast.expr, str]]:
    """Find what is set in objects and classes by a text: `setattr(agent, "act", f)`, `agent.__dict__["act"] =
    f`, `vars(agent).update(act=f)`; each as the object and the name of its attribute.
    """
    for call in syntax.written.calls_of(("setattr", "__setattr__", "object", "update")):
        match call:
            case ast.Call(
                func=ast.Name(id="setattr") | ast.Attribute(attr="setattr" | "__setattr__" | "object"),
                args=[owner, ast.Constant(value=str(name)), *_],
            ):
                yield owner, name
            case ast.Call(
                func=ast.Attribute(value=owner, attr="__setattr__"), args=[ast.Constant(value=str(name)), _]
            ):
                yield owner, name
            case ast.Call(func=ast.Attribute(value=namespace, attr="update")):
                held = _namespace(namespace)
                given = [keyword.arg for keyword in call.keywords]
                for argument in call.args:
                    keys = argument.keys if isinstance(argument, ast.Dict) else []
                    given += [str(key.value) for key in keys if isinstance(key, ast.Constant)]
                if held is not None:
                    yield from ((held, name) for name in given if name)
    for item in syntax.written.item_stores:
        held = _namespace(item.value)
        if held is not None and isinstance(item.slice, ast.Constant):
            yield held, str(item.slice.value)


def _patched(call: ast.Call, resolve: _Resolve) -> Iterator[str]:
    function = call.func
    last = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    match call.args:
        case [ast.Constant(value=str(path)), *_] if last != "multiple" and "." in path:
            yield path
        case [owner, ast.Constant(value=str(name)), *_] if last != "multiple":
            base = resolve(owner)
            if base:
                yield f"{base}.{name}"
        case [owner] if last == "multiple":
            base = str(owner.value) if isinstance(owner, ast.Constant) else resolve(owner)
            yield from (f"{base}.{keyword.arg}" for keyword in call.keywords if base and keyword.arg)


def _namespace(value: ast.expr) -> ast.expr | None:
    """Return the module or class whose names `vars(module)` and `module.__dict__` hold."""
    match value:
        case ast.Call(func=ast.Name(id="vars"), args=[owner]) | ast.Attribute(value=owner, attr="__dict__"):
            return owner
    return None


def _is_own_namespace(value: ast.expr) -> bool:
    match value:
        case ast.Call(func=ast.Name(id="globals" | "locals" | "vars"), args=[]):
            return True
        case ast.Call(func=ast.Name(id="vars"), args=[module]):
            return _is_own_module(module)
        case ast.Attribute(value=owner, attr="__dict__") if _is_own_module(owner):
            return True
        case ast.Attribute(attr="__globals__"):
            return True
    return False


def _is_own_module(value: ast.expr) -> bool:
    """`sys.modules[__name__]`"""
    match value:
        case ast.Subscript(value=ast.Attribute(attr="modules"), slice=ast.Name(id="__name__")):
            return True
    return False


def _bound_in(text: str) -> set[str]:
    """Return the names that a program given as text binds in its outermost scope, or says that it does."""
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
            case ast.alias(name=name, asname=asname):
                found.add(asname or name.partition(".")[0])
    return found


def _is_setting(statement: ast.AST | None) -> bool:
    """Whether an assignment sets a number, string or bool, as `torch.backends.cudnn.benchmark = True`
    does.
    """
    return isinstance(statement, (ast.Assign, ast.AnnAssign)) and isinstance(statement.value, ast.Constant)
