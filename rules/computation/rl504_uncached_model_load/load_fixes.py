"""Fixes that remember what was loaded."""

from __future__ import annotations

import ast

from rlint.models.kind import Tag
from rlint.rule import Edit, Fix, Safety
from rlint.semantics.model import Site
from rlint.syntax.syntax_index import FUNCTIONS, Function
from rlint.syntax.walk import below

_BOUND = 4
_UNHASHABLE = frozenset({Tag.LIST, Tag.DICT, Tag.SET, Tag.NDARRAY, Tag.STATE_DICT, Tag.FILE})
_REASON = (
    "all callers then share one object, which nobody may train, move or change, and which stays as it was "
    "when the files change"
)
_ENDS_LONG = (ast.For, ast.While, ast.AsyncFor, ast.Yield, ast.YieldFrom, ast.Await, ast.Try, ast.With)


def is_loader(function: Function, call: ast.Call, site: Site) -> bool:
    """Does a function do nothing but load and hand out what it loaded?"""
    if not isinstance(function, ast.FunctionDef) or _top_level(call, site) is not function:
        return False
    body = [node for statement in function.body for node in below(statement)]
    returns = [node for node in body if isinstance(node, ast.Return)]
    if len(returns) != 1 or returns[0] is not function.body[-1]:
        return False
    if any(isinstance(node, (*FUNCTIONS, *_ENDS_LONG)) for node in body):
        return False
    match site.parent(call):
        case ast.Return():
            return True
        case ast.Assign(targets=[ast.Name(id=name)]):
            pass
        case _:
            return False
    value = returns[0].value
    handed = value.elts if isinstance(value, ast.Tuple) else [value]
    return any(isinstance(each, ast.Name) and each.id == name for each in handed)


def remembered(function: Function, site: Site) -> Fix | None:
    """Let a function that loads remember what it loaded."""
    parameters = function.args
    if parameters.vararg is not None or parameters.kwarg is not None or function.decorator_list:
        return None
    for parameter in (*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs):
        read = next(iter(site.reads(parameter.arg, site.tree.scopes[function])), None)
        if read is not None and site.kind_of(read).tag in _UNHASHABLE:
            return None
    cache = _cache(function, site)
    if cache is None:
        return None
    spelled, edits = cache
    added = site.insert_before(function, f"@{spelled}(maxsize={_BOUND})")
    if added is None:
        return None
    title = f"Let `{function.name}` remember what it loaded"
    return Fix(title, Safety.UNSAFE, (*edits, added), _REASON)


def moved(call: ast.Call, what: str, site: Site) -> Fix | None:
    """Load in a function of its own, which remembers."""
    outer = _top_level(call, site)
    if outer is None or not site.can_be_moved(call) or "\n" in site.text(call):
        return None
    given = _given(call, site)
    cache = _cache(outer, site)
    if given is None or cache is None:
        return None
    spelled, edits = cache
    name = site.free_name(f"load_{what}", f"loader {site.text(call)}")
    text = site.text(call)
    start = site.span(call)[0]
    for node in sorted(given, key=site.span, reverse=True):
        first, behind = (offset - start for offset in site.span(node))
        text = text[:first] + given[node] + text[behind:]
    parameters = dict.fromkeys(given.values())
    lines = [f"@{spelled}(maxsize={_BOUND})", f"def {name}({', '.join(parameters)}):", f"    return {text}"]
    added = site.insert_before(outer, *lines, "", "")
    if added is None:
        return None
    arguments = {parameter: site.text(node) for node, parameter in given.items()}
    called = f"{name}({', '.join(arguments[parameter] for parameter in parameters)})"
    shared = Edit(added.start, added.end, added.text, shared=True)
    title = f"Load it once, in `{name}`"
    return Fix(title, Safety.UNSAFE, (*edits, shared, site.replace(call, called)), _REASON)


def _top_level(call: ast.Call, site: Site) -> ast.stmt | None:
    """The function or class at module level that holds a call."""
    outer = [node for node in site.ancestors(call) if isinstance(node, (*FUNCTIONS, ast.ClassDef))]
    return outer[-1] if outer else None


def _given(call: ast.Call, site: Site) -> dict[ast.expr, str] | None:
    """The parts of a call that hang on the function around it, each with the parameter that takes it; None
    where two different ones would be called the same, or one cannot be looked up in a cache.
    """
    module = site.tree.scopes[site.tree.module]
    found: dict[ast.expr, str] = {}
    texts: dict[str, str] = {}
    for node in below(call):
        if not isinstance(node, ast.Name) or site.qualified(node) is not None:
            continue
        if site.scope(node).lookup(node.id) in (module, None):
            continue
        if isinstance(site.scope(node).node, ast.Lambda) and node.id in site.scope(node).bindings:
            continue
        part: ast.expr = node
        parent = site.parent(part)
        while isinstance(parent, ast.Attribute):
            part, parent = parent, site.parent(parent)
        if isinstance(parent, ast.Call) and parent.func is part:
            return None
        name = part.attr if isinstance(part, ast.Attribute) else node.id
        if texts.setdefault(name, site.text(part)) != site.text(part):
            return None
        if site.kind_of(part).tag in _UNHASHABLE:
            return None
        found[part] = name
    return found


def _cache(user: ast.AST, site: Site) -> tuple[str, tuple[Edit, ...]] | None:
    """How `functools.lru_cache` is written, and the import that it needs."""
    spelled = site.spelled("functools.lru_cache", user)
    if spelled is not None:
        return spelled, ()
    imported = site.module_import("functools", user=user)
    return ("functools.lru_cache", (imported[1],)) if imported is not None else None
