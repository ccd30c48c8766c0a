"""Monkey-patching: functions, methods and constants that a file replaces in modules and classes."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from rlint.models import vocabulary
from rlint.semantics.effects.namespace_writes import NameResolver, NameWrite, owner_paths
from rlint.syntax.syntax_index import SyntaxIndex

_CODE = ("__code__", "__defaults__", "__kwdefaults__")


def set_paths(
    syntax: SyntaxIndex, writes: Iterable[NameWrite], resolve: NameResolver, *, settings: bool
) -> Iterator[str]:
    """Yield the dotted names that are set or deleted in modules and classes, with `settings` also those set
    to a number, string or bool; `package.module.*` if any name may be set.
    """
    for node in syntax.written.attribute_stores:
        if settings or not _is_setting(syntax.parents.get(node)):
            for path in owner_paths(node.value, syntax, resolve):
                yield f"{path}.{node.attr}"
    for call in syntax.written.calls_of(vocabulary.PATCHES):
        yield from _patched(call, resolve)
    for write in writes:
        if write.owner is not None:
            for path in owner_paths(write.owner, syntax, resolve):
                yield f"{path}.{write.name}"


def replaced_code(syntax: SyntaxIndex) -> frozenset[str]:
    """Return the variables that hold functions whose code or defaults the file replaces."""
    return frozenset(
        store.value.id
        for store in syntax.written.attribute_stores
        if store.attr in _CODE and isinstance(store.value, ast.Name)
    )


def _patched(call: ast.Call, resolve: NameResolver) -> Iterator[str]:
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


def _is_setting(statement: ast.AST | None) -> bool:
    """Whether an assignment sets a number, string or bool, as `torch.backends.cudnn.benchmark = True`
    does.
    """
    return isinstance(statement, (ast.Assign, ast.AnnAssign)) and isinstance(statement.value, ast.Constant)
