"""Registries: dicts at the top level of a file that map strings to classes, `REGISTRY["coma"] = Coma`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.frequency.branches.option_choices import option_of
from rlint.syntax.scopes import BindingKind
from rlint.syntax.syntax_index import SyntaxIndex


def registry_entry(use: ast.Name, analysis: FileAnalysis) -> tuple[str, str] | None:
    """Return the dotted name of the registry of which a use of a class is an item, and its key."""
    syntax = analysis.syntax
    parent = syntax.parents[use]
    registry: ast.expr | None = None
    key: ast.expr | None = None
    match parent:
        case ast.Assign(targets=[ast.Subscript(value=registry, slice=key)], value=value) if value is use:
            pass
        case ast.Dict(keys=keys, values=values) if use in values:
            outer, key = syntax.parents[parent], keys[values.index(use)]
            if isinstance(outer, ast.Assign) and len(outer.targets) == 1 and outer.value is parent:
                registry = outer.targets[0]
    if not isinstance(registry, ast.Name) or not isinstance(key, ast.Constant):
        return None
    path = _path(registry, analysis)
    return (path, key.value) if path and isinstance(key.value, str) else None


def registry_lookups(analysis: FileAnalysis) -> dict[str, tuple[str, ...]]:
    """Return the dotted names of the registries that a file uses, own ones and imported ones, and the options
    by which it looks classes up; "" stands for any other use.
    """
    syntax = analysis.syntax
    names = dict.fromkeys(_candidates(syntax))
    found: dict[str, dict[str, None]] = {}
    for name in names:
        for use in syntax.variables.named(name):
            path = _path(use, analysis)
            if path:
                options = found.setdefault(path, {})
                if isinstance(use.ctx, ast.Load):
                    options.update(dict.fromkeys(_looked_up(use, syntax)))
    return {path: tuple(options) for path, options in found.items()}


def _candidates(syntax: SyntaxIndex) -> Iterator[str]:
    """Yield names that may be those of registries."""
    for item in syntax.of_type(ast.Subscript):
        if isinstance(item.value, ast.Name):
            is_set = isinstance(item.ctx, ast.Store) and isinstance(item.slice, ast.Constant)
            if is_set or option_of(item.slice) is not None:
                yield item.value.id
    for display in syntax.of_type(ast.Dict):
        match syntax.parents[display]:
            case ast.Assign(targets=[ast.Name(id=name)]):
                if any(isinstance(value, ast.Name) for value in display.values):
                    yield name


def _looked_up(use: ast.Name, syntax: SyntaxIndex) -> Iterator[str]:
    item = syntax.parents[use]
    if not isinstance(item, ast.Subscript) or item.value is not use:
        yield ""
    elif isinstance(item.ctx, ast.Load):
        yield option_of(item.slice) or ""


def _path(name: ast.Name, analysis: FileAnalysis) -> str:
    """Return the dotted name of a variable at the top level of a file, "" for others."""
    syntax = analysis.syntax
    root = syntax.scopes[syntax.module]
    if syntax.scope(name).lookup(name.id) is not root:
        return ""
    imports = [each.target for each in root.bindings[name.id] if each.kind is BindingKind.IMPORT]
    return imports[0] if imports else f"{analysis.name}.{name.id}"
