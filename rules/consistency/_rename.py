"""Renaming a function or method in the only file that knows it."""

from __future__ import annotations

import ast
import re

from rlint.project.site import Site
from rlint.rule import Edit
from rlint.rules.consistency._accessors import has_unknown_base
from rlint.syntax.tree import FUNCTIONS, Function

_KEEP_THE_NAME = frozenset(
    {"builtins.staticmethod", "builtins.classmethod", "abc.abstractmethod", "functools.lru_cache"}
    | {"functools.cache", "torch.no_grad", "torch.inference_mode"}
)
_BY_NAME = frozenset({"getattr", "setattr", "hasattr", "delattr", "methodcaller", "attrgetter", "__import__"})


def is_given_by_others(function: Function, site: Site) -> bool:
    """May a library ask for this name: is it a method of a class with a base that nobody knows?"""
    owner = site.class_of(function)
    if owner is None or site.parent(function) is not owner:
        return False
    summary = site.module.classes.get(site.tree.qualname(owner))
    return summary is None or bool(owner.keywords) or has_unknown_base(summary, site.index)


def renamed(function: Function, new: str, site: Site) -> tuple[Edit, ...] | None:
    """The edits that give a function another name, wherever it is defined, called, overridden or read; None
    where another file knows the name, where a string, a comment or a look-up by name may mean it, or where
    the new name is taken.
    """
    old = function.name
    if not isinstance(function, ast.FunctionDef) or _is_known_elsewhere(old, new, site):
        return None
    if site.free_name(new, f"rename {old}") != new or _looks_up_names(site):
        return None
    places = [*_definitions(old, site), *_reads(old, site)]
    if None in places:
        return None
    starts = sorted({place for place in places if place is not None})
    written = [match.start() for match in re.finditer(rf"\b{re.escape(old)}\b", site.tree.text)]
    if starts != written:
        return None
    return tuple(Edit(start, start + len(old), new) for start in starts)


def _is_known_elsewhere(old: str, new: str, site: Site) -> bool:
    here = site.module.module
    for module in site.index.modules.values():
        if module.module == here:
            continue
        names = {function.name for function in module.functions.values()}
        if {old, new} & (names | module.attributes_read) or here in module.star_imports:
            return True
        if any(target.rpartition(".")[2] == old for target in module.imports.values()):
            return True
    return False


def _looks_up_names(site: Site) -> bool:
    for call in site.tree.of_type(ast.Call):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if name in _BY_NAME or name in ("vars", "globals", "locals", "eval", "exec"):
            return True
    return False


def _definitions(old: str, site: Site) -> list[int | None]:
    """Where functions and methods of that name are defined; None for what has to keep its name."""
    found: list[int | None] = []
    functions: list[Function] = [
        *site.tree.of_type(ast.FunctionDef),
        *site.tree.of_type(ast.AsyncFunctionDef),
    ]
    for node in functions:
        if node.name != old:
            continue
        decorators = [each.func if isinstance(each, ast.Call) else each for each in node.decorator_list]
        known = all(site.qualified(each) in _KEEP_THE_NAME for each in decorators)
        nested = isinstance(site.parent(node), FUNCTIONS)
        if not known or nested or is_given_by_others(node, site):
            found.append(None)
            continue
        start = site.span(node)[0]
        matched = re.compile(r"(?:async\s+)?def\s+").match(site.tree.text, start)
        found.append(matched.end() if matched is not None else None)
    return found


def _reads(old: str, site: Site) -> list[int | None]:
    found: list[int | None] = []
    for name in site.tree.of_type(ast.Name):
        if name.id == old:
            scope = site.scope(name).lookup(old)
            own = scope is not None and (scope.parent is None or scope.is_class)
            found.append(site.span(name)[0] if own and isinstance(name.ctx, ast.Load) else None)
    found += [
        site.span(attribute)[1] - len(old) if isinstance(attribute.ctx, ast.Load) else None
        for attribute in site.attribute_uses(old)
    ]
    return found
