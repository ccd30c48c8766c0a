"""Functions stored as values that are called later: through names, in attributes, dicts and lists, and by
libraries.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint import models
from rlint.models import vocabulary
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag
from rlint.regex import regex
from rlint.semantics.file_analysis import FileAnalysis
from rlint.syntax.last_names import last_name
from rlint.syntax.scopes import Binding, BindingKind
from rlint.syntax.syntax_index import FUNCTIONS

_DEPTH = 3
_MOST = 6
_MOST_IN_TABLE = 48
"""The same for a dict literal: a table of functions, one for each type or message."""
_HOOK = regex(r"^register_(\w*(forward|backward|accumulate_grad)\w*_)?hook$")
_BACKWARD = regex(r"backward|^register_hook$|post_accumulate")
_LOSSES = frozenset({"loss_fn", "loss_func", "compute_loss_func"})
"""Keywords with which training frameworks are passed the function that computes the loss."""
_CALL_NOTHING = models.having(Trait.ONLY_LOOKS | Trait.REFLECTS | Trait.SHOWS | Trait.TESTS_CLASS, "builtins")
"""Builtin functions that do not call what they are passed: `getattr(train, "best")`."""
_FUNCTIONS = frozenset({TypeTag.FUNCTION, TypeTag.CLASS})
_WRAPPED = (ast.BoolOp, ast.IfExp, ast.Dict, ast.List, ast.Tuple, ast.Call)


def callables_in(value: ast.expr, analysis: FileAnalysis, depth: int = _DEPTH) -> list[str]:
    """Return the access paths of the functions that a value may be, or contain: `mine or default`,
    `partial(f, 1)`, `{"a": f, "b": g}`.
    """
    if depth <= 0:
        return []
    parts: list[ast.expr] = []
    match value:
        case ast.BoolOp(values=parts):
            pass
        case ast.IfExp(body=body, orelse=orelse):
            parts = [body, orelse]
        case ast.Dict(values=parts) | ast.List(elts=parts) | ast.Tuple(elts=parts):
            pass
        case ast.Subscript(value=held):
            parts = [held]
        case ast.Call(func=func, args=[first, *_]) if _wraps(func, analysis):
            parts = [first]
        case ast.Name():
            path = _path_of(value, analysis)
            if path:
                return [path]
            bindings = analysis.definitions.reaching(value)
            parts = [b.value for b in bindings if b.kind is BindingKind.ASSIGN and b.value and not b.path]
        case ast.Attribute():
            path = _path_of(value, analysis)
            return [path] if path else []
    most = _MOST_IN_TABLE if isinstance(value, ast.Dict) else _MOST
    found = [path for part in parts[: 2 * most] for path in callables_in(part, analysis, depth - 1)]
    return list(dict.fromkeys(found))[:most]


def stored_callables(analysis: FileAnalysis) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the names of attributes with the functions that a file stores there indirectly: one of several,
    bound to arguments, or in a container.
    """
    found: dict[str, dict[str, None]] = {}
    syntax = analysis.syntax
    for attribute in syntax.written.attribute_stores:
        parent = syntax.parents.get(attribute)
        if isinstance(parent, ast.Subscript) and parent.value is attribute:
            parent = syntax.parents.get(parent)
        value = parent.value if isinstance(parent, (ast.Assign, ast.AnnAssign)) else None
        if value is not None and (isinstance(value, _WRAPPED) or _is_one_of_several(value, analysis)):
            found.setdefault(attribute.attr, {}).update(dict.fromkeys(callables_in(value, analysis)))
    for call in syntax.written.calls_of(("append",)):
        match call:
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr=name)), args=[added]):
                found.setdefault(name, {}).update(dict.fromkeys(callables_in(added, analysis)))
    return tuple((name, tuple(paths)) for name, paths in sorted(found.items()) if paths)


def registered_callables(analysis: FileAnalysis) -> tuple[tuple[str, str], ...]:
    """Return the functions that a file passes to a library which calls them repeatedly, each with the purpose
    of those calls.
    """
    found: dict[tuple[str, str], None] = {}
    calls = analysis.syntax.written.calls
    for name in calls:
        if _HOOK.match(name):
            what = "runs in each backward pass" if _BACKWARD.search(name) else "runs in each forward pass"
            for call in calls[name]:
                for given in call.args[:1]:
                    found.update(((path, what), None) for path in callables_in(given, analysis))
    for name in vocabulary.TRANSFORMS_STEPS & calls.keys():
        for call in calls[name]:
            for given in call.args[1:2]:
                found.update(
                    ((path, "runs in each environment step"), None) for path in callables_in(given, analysis)
                )
    for keyword in analysis.syntax.of_type(ast.keyword):
        if keyword.arg in _LOSSES:
            paths = callables_in(keyword.value, analysis)
            found.update(((path, "computes the loss in each gradient step"), None) for path in paths)
    for name, every in calls.items():
        if not name.endswith("Loader"):
            continue
        for call in every:
            for keyword in call.keywords:
                if keyword.arg == "collate_fn":
                    paths = [
                        *callables_in(keyword.value, analysis),
                        *_called_objects(keyword.value, analysis),
                    ]
                    found.update(((path, "is called per batch"), None) for path in paths)
    return tuple(found)


def _called_objects(given: ast.expr, analysis: FileAnalysis) -> Iterator[str]:
    """Yield the `__call__` of the object that a value is, created there or in the one assignment before."""
    if isinstance(given, ast.Name):
        match analysis.definitions.reaching(given):
            case [Binding(path=(), value=ast.expr() as value)]:
                given = value
    if isinstance(given, ast.Call):
        qualified = analysis.names.qualified(given.func)
        if qualified is not None and not _is_of_library(qualified):
            yield f"{qualified}.__call__"


def called_by_library(call: ast.Call, analysis: FileAnalysis) -> Iterator[str]:
    """Yield the arguments that a library function calls: `sorted(rows, key=priority)`."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    named = [value for value in given if isinstance(value, (ast.Name, ast.Attribute))]
    if not named:
        return
    qualified = analysis.names.qualified(call.func)
    if qualified is None or qualified in _CALL_NOTHING or not _is_of_library(qualified):
        return
    for value in named:
        kind = analysis.types.type_of(value)
        if kind.tag is TypeTag.FUNCTION and kind.of and not _is_of_library(kind.of):
            yield kind.of


def called_by_wrapper(call: ast.Call, analysis: FileAnalysis) -> Iterator[str]:
    """Yield the functions of the project that a function of the project likely wraps and the call runs:
    `timed(self.update)(batch)`.
    """
    match call.func:
        case ast.Call(func=wrapper, args=[ast.Name() | ast.Attribute() as wrapped, *_]):
            if not _is_of_library(analysis.names.qualified(wrapper) or ""):
                kind = analysis.types.type_of(wrapped)
                may_be_called = kind.tag in (TypeTag.FUNCTION, TypeTag.UNKNOWN)
                if may_be_called and kind.of and not _is_of_library(kind.of):
                    yield kind.of


def source_of(called: ast.expr, analysis: FileAnalysis) -> ast.Attribute | None:
    """Return the attribute that holds the called function: `self.handlers[kind](…)`, and `callback(…)` in a
    loop over `self.callbacks`.
    """
    if isinstance(called, ast.Name):
        bindings = analysis.definitions.reaching(called)
        if len(bindings) != 1:
            return None
        statement = bindings[0].statement
        generators = getattr(statement, "generators", ())
        if isinstance(statement, (ast.For, ast.AsyncFor, ast.comprehension)):
            called = statement.iter
        elif bindings[0].kind is BindingKind.COMPREHENSION and generators:
            called = generators[0].iter
        elif bindings[0].kind is BindingKind.ASSIGN and isinstance(bindings[0].value, ast.Subscript):
            called = bindings[0].value
    if isinstance(called, ast.Call) and isinstance(called.func, ast.Attribute) and not called.args:
        called = called.func.value  # `self.handlers.values()`
    while isinstance(called, ast.Subscript):
        called = called.value
    return called if isinstance(called, ast.Attribute) else None


def _wraps(func: ast.expr, analysis: FileAnalysis) -> bool:
    """Whether the result of a library function calls its first argument: `partial`, `torch.compile`."""
    qualified = analysis.names.qualified(func)
    return qualified is not None and (_is_of_library(qualified) or last_name(func) == "partial")


def _is_of_library(qualified: str) -> bool:
    return qualified.startswith("builtins.") or models.callable_fact(qualified) is not None


def _is_one_of_several(value: ast.expr, analysis: FileAnalysis) -> bool:
    return isinstance(value, ast.Name) and len(analysis.definitions.reaching(value)) > 1


def _path_of(value: ast.expr, analysis: FileAnalysis) -> str:
    """Return the access path of a named function; "" for a name that is not a function."""
    kind = analysis.types.type_of(value)
    if kind.tag in _FUNCTIONS and kind.of:
        return "" if _is_of_library(kind.of) else kind.of
    holder = value.value if isinstance(value, ast.Attribute) else None
    owner = analysis.names.class_of_self(holder) if isinstance(holder, ast.Name) else None
    if owner is not None and isinstance(value, ast.Attribute):
        is_method = any(isinstance(each, FUNCTIONS) and each.name == value.attr for each in owner.body)
        return f"{analysis.name}.{analysis.syntax.qualname(owner)}.{value.attr}" if is_method else ""
    qualified = analysis.names.qualified(value) if not kind else None
    return qualified if qualified is not None and not _is_of_library(qualified) else ""
