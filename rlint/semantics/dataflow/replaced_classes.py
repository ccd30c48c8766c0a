"""Classes whose objects look up their attributes otherwise: by `__getattribute__`, by methods that other code
sets in the class, by another class that an object gets, or by a derived class that a call creates.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.interprocedural.summary import ModuleSummary

_LOOK_UP = frozenset({"__class__", "__getattr__", "__getattribute__"})
_MAKERS = ("type", "new_class", "make_dataclass")


def doubt_replaced_classes(
    summary: ModuleSummary, analysis: FileAnalysis, self_class: Callable[[ast.Name], ast.ClassDef | None]
) -> None:
    """Mark the types of all attributes of such classes as doubtful; if the class is defined in another file,
    those of the classes that the file refers to.
    """
    syntax = analysis.syntax
    for method in syntax.of_type(ast.FunctionDef):
        around = syntax.parents[method]
        if method.name == "__getattribute__" and isinstance(around, ast.ClassDef) and _does_more(method):
            summary.classes[syntax.qualname(around)].restored = True
    for store in syntax.written.attribute_stores:
        if store.attr not in _LOOK_UP or not isinstance(store.ctx, ast.Store):
            continue
        own = self_class(store.value) if isinstance(store.value, ast.Name) else None
        if own is not None:
            summary.classes[syntax.qualname(own)].restored = True
        else:
            _doubt(analysis.names.qualified(store.value) or analysis.types.type_of(store.value).of, summary)
    for call in syntax.written.calls_of(_MAKERS):
        match call.args:
            case [_, ast.Tuple(elts=bases), *rest]:
                given = rest[0] if rest and isinstance(rest[0], ast.Dict) else None
                for base in bases:
                    path = analysis.names.qualified(base) or ""
                    if given is None or _overrides(given, path, summary):
                        _doubt(path, summary)


def _does_more(method: ast.FunctionDef) -> bool:
    """Whether a method does anything besides returning a value."""
    body = [part for part in method.body if not _is_docstring(part)]
    return len(body) != 1 or not isinstance(body[0], ast.Return)


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _overrides(given: ast.Dict, base: str, summary: ModuleSummary) -> bool:
    """Whether the body of a class, as a dict, may contain attributes of its base."""
    names = [key.value if isinstance(key, ast.Constant) else None for key in given.keys]
    known = summary.classes.get(base.removeprefix(f"{summary.module}."))
    if known is None:
        return bool(names)
    return any(name is None or name in known.attributes for name in names)


def _doubt(path: str, summary: ModuleSummary) -> None:
    known = summary.classes.get(path.removesuffix("()").removeprefix(f"{summary.module}."))
    if known is not None:
        known.restored = True
    else:
        summary.restores = True
