"""Methods that a file reads from their class as values: they may run with objects of other classes, as in
`Agent.act(SimpleNamespace(n=names), 0)`, `Stub.act = Agent.act` or `MethodType(agent.act.__func__, stub)`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint import models
from rlint.semantics.effects.namespace_writes import ANY_NAME
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.interprocedural.summary import ANY_CLASS
from rlint.syntax.queries import is_classmethod
from rlint.syntax.syntax_index import SyntaxIndex

_LOOKS_UP = ("getattr", "getattr_static", "vars")
_NAMESPACE = "__dict__"
_FUNCTION = "__func__"
_INNER = frozenset({"__wrapped__", "fget", "fset", "fdel", "func", "method"})
"""Attributes of methods and properties that hold the function itself."""
_ACCESSORS = frozenset({"getter", "setter", "deleter"})
_DESCRIPTIONS = frozenset(
    {"__annotations__", "__doc__", "__module__", "__name__", "__qualname__", "__signature__"}
    | {"cache_clear", "cache_info"}
)
"""Attributes of classes and functions that run no method."""
_READERS = frozenset(
    {"builtins.callable", "builtins.isinstance", "builtins.issubclass"}
    | {"functools.update_wrapper", "functools.wraps"}
)
"""Functions that do not run the function that they get."""


def borrowed_methods(analysis: FileAnalysis) -> frozenset[tuple[str, str]]:
    """Return the dotted names that a file reads from classes as values, methods or not, which only the other
    files determine (`*` for any name, or any class), each with the only class whose objects run it, as in
    `Base.act(self, state)`; "" if any object may.
    """
    found = set()
    for node, path in _read_from_classes(analysis):
        value = _whole(node, analysis.syntax)
        if _may_run(value, analysis):
            found.add((path, _borrower(value, analysis)))
    return frozenset(found)


def _read_from_classes(analysis: FileAnalysis) -> Iterator[tuple[ast.expr, str]]:
    """Yield the expressions that read a name from what may be a class, with the dotted name."""
    for attribute in analysis.syntax.of_type(ast.Attribute):
        assert isinstance(attribute, ast.Attribute)
        if isinstance(attribute.ctx, ast.Load):
            path = _path_of(attribute, analysis)
            if path:
                yield attribute, path
    for call in analysis.syntax.written.calls_of(_LOOKS_UP):
        owner = _class_path(call.args[0], analysis) if call.args else ""
        if owner:
            match call.args:
                case [_, ast.Constant(value=str(name)), *_]:
                    yield call, f"{owner}.{name}"
                case _:
                    yield call, f"{owner}.{ANY_NAME}"


def _path_of(attribute: ast.Attribute, analysis: FileAnalysis) -> str:
    name = attribute.attr
    if name in _DESCRIPTIONS:
        return ""
    if name == _FUNCTION:
        bound = attribute.value
        if not isinstance(bound, ast.Attribute):
            return ""
        return f"{_class_of_object(bound.value, analysis)}.{bound.attr}"
    owner = _class_path(attribute.value, analysis)
    return f"{owner}.{ANY_NAME if name == _NAMESPACE else name}" if owner else ""


def _class_path(owner: ast.expr, analysis: FileAnalysis) -> str:
    """Return the dotted name of what may be a class of the project; "" if it is none."""
    match owner:
        case ast.Attribute(value=of, attr="__class__") | ast.Call(func=ast.Name(id="type"), args=[of]):
            return _class_of_object(of, analysis)
        case ast.Name() if _is_own_class(owner, analysis):
            return _class_of_object(owner, analysis)
    path = analysis.names.qualified(owner) or ""
    return "" if models.is_library(path) else path


def _is_own_class(name: ast.Name, analysis: FileAnalysis) -> bool:
    """Whether a name is the class that a class method gets."""
    if analysis.names.class_of_self(name) is None:
        return False
    return is_classmethod(analysis.names.bindings(name)[1][0].statement)


def _class_of_object(value: ast.expr, analysis: FileAnalysis) -> str:
    """Return the dotted name of the class of an object; `*` if it is not known."""
    own = analysis.names.class_of_self(value) if isinstance(value, ast.Name) else None
    if own is not None:
        return f"{analysis.name}.{analysis.syntax.qualname(own)}"
    of = analysis.types.type_of(value).of.removesuffix("()")
    return of if of and not any(sign in of for sign in "{([@") else ANY_CLASS


def _whole(node: ast.expr, syntax: SyntaxIndex) -> ast.expr:
    """Return the function that a method or property holds if the code reads that: `Agent.size.fget`."""
    parent = syntax.parents.get(node)
    while isinstance(parent, ast.Attribute) and parent.attr in _INNER:
        node, parent = parent, syntax.parents.get(parent)
    return node


def _may_run(node: ast.expr, analysis: FileAnalysis) -> bool:
    """Whether code may run what it read with some object: it does not only describe or compare it."""
    match analysis.syntax.parents.get(node):
        case ast.Compare():
            return False
        case ast.Attribute(attr=name):
            return name not in _DESCRIPTIONS
        case ast.Call(func=func, args=args, keywords=keywords) if func is node:
            return bool(args or keywords)
        case ast.Call(func=func):
            path = analysis.names.qualified(func) or ""
            return path not in _READERS and not path.startswith("inspect.")
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return False  # a decorator
    return True


def _borrower(node: ast.expr, analysis: FileAnalysis) -> str:
    """Return the dotted name of the only class whose objects run a method; "" if any object may."""
    parents = analysis.syntax.parents
    cls: ast.ClassDef | None = None
    match parents.get(node):
        case ast.Call(func=func, args=[ast.Name() as receiver, *_]) if func is node:
            cls = analysis.names.class_of_self(receiver) if not _is_own_class(receiver, analysis) else None
        case ast.Attribute(attr=name) if name in _ACCESSORS:
            cls = analysis.syntax.class_of(node)
        case ast.Assign() as statement if isinstance(around := parents.get(statement), ast.ClassDef):
            cls = around
    return f"{analysis.name}.{analysis.syntax.qualname(cls)}" if cls is not None else ""
