"""Fixes that cache loaded models."""

from __future__ import annotations

import ast

from rlint.rule import FUNCTIONS, Applicability, Edit, Fix, Function, SemanticModel, TypeTag, descendants

_BOUND = 4
_UNHASHABLE = frozenset(
    {TypeTag.LIST, TypeTag.DICT, TypeTag.SET, TypeTag.NDARRAY, TypeTag.STATE_DICT, TypeTag.FILE}
)
_REASON = (
    "all callers share one object: it must not be trained, moved or modified, and later changes to the "
    "files are not picked up"
)
_ENDS_LONG = (ast.For, ast.While, ast.AsyncFor, ast.Yield, ast.YieldFrom, ast.Await, ast.Try, ast.With)


def is_loader(function: Function, call: ast.Call, model: SemanticModel) -> bool:
    """Whether a function only loads and returns the result."""
    if not isinstance(function, ast.FunctionDef) or _top_level(call, model) is not function:
        return False
    body = [node for statement in function.body for node in descendants(statement)]
    returns = [node for node in body if isinstance(node, ast.Return)]
    if len(returns) != 1 or returns[0] is not function.body[-1]:
        return False
    if any(isinstance(node, (*FUNCTIONS, *_ENDS_LONG)) for node in body):
        return False
    if isinstance(model.parent(call), ast.Return):
        return True
    match model.names.targets(call):
        case [ast.Name(id=name)]:
            pass
        case _:
            return False
    value = returns[0].value
    handed = value.elts if isinstance(value, ast.Tuple) else [value]
    return any(isinstance(each, ast.Name) and each.id == name for each in handed)


def remembered(function: Function, model: SemanticModel) -> Fix | None:
    """Cache the result of a function that loads."""
    parameters = function.args
    if parameters.vararg is not None or parameters.kwarg is not None or function.decorator_list:
        return None
    for parameter in (*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs):
        read = next(iter(model.names.reads(parameter.arg, model.syntax.scopes[function])), None)
        if read is not None and model.types.type_of(read).tag in _UNHASHABLE:
            return None
    cache = _cache(function, model)
    if cache is None:
        return None
    spelled, edits = cache
    added = model.edit.insert_before(function, f"@{spelled}(maxsize={_BOUND})")
    if added is None:
        return None
    title = f"Cache the result of `{function.name}`"
    return Fix(title, Applicability.UNSAFE, (*edits, added), _REASON)


def moved(call: ast.Call, what: str, model: SemanticModel) -> Fix | None:
    """Load in a new function, which caches the result."""
    outer = _top_level(call, model)
    if outer is None or not model.edit.is_relocatable(call):
        return None
    given = _given(call, model)
    cache = _cache(outer, model)
    if given is None or cache is None:
        return None
    spelled, edits = cache
    name = model.importer.fresh_name(f"load_{what}", f"loader {model.source.text(call)}")
    text = model.source.text(call)
    start = model.source.span(call)[0]
    for node in sorted(given, key=model.source.span, reverse=True):
        first, after = (offset - start for offset in model.source.span(node))
        text = text[:first] + given[node] + text[after:]
    parameters = dict.fromkeys(given.values())
    lines = [
        f"@{spelled}(maxsize={_BOUND})",
        f"def {name}({', '.join(parameters)}):",
        f"    return {model.edit.whole(text)}",
    ]
    added = model.edit.insert_before(outer, *lines, "", "")
    if added is None:
        return None
    arguments = {parameter: model.source.text(node) for node, parameter in given.items()}
    called = f"{name}({', '.join(arguments[parameter] for parameter in parameters)})"
    shared = added.as_shared()
    title = f"Load it once, in `{name}`"
    return Fix(title, Applicability.UNSAFE, (*edits, shared, model.edit.replace(call, called)), _REASON)


def _top_level(call: ast.Call, model: SemanticModel) -> ast.stmt | None:
    """Return the function or class at module level that contains a call."""
    outer = [node for node in model.ancestors(call) if isinstance(node, (*FUNCTIONS, ast.ClassDef))]
    return outer[-1] if outer else None


def _given(call: ast.Call, model: SemanticModel) -> dict[ast.expr, str] | None:
    """Return the parts of a call that depend on the enclosing function, each with its parameter; None if two
    different ones would have the same name, or one is not hashable.
    """
    module = model.syntax.scopes[model.syntax.module]
    found: dict[ast.expr, str] = {}
    texts: dict[str, str] = {}
    for node in descendants(call):
        if not isinstance(node, ast.Name) or model.names.qualified(node) is not None:
            continue
        if model.names.scope(node).lookup(node.id) in (module, None):
            continue
        if (
            isinstance(model.names.scope(node).node, ast.Lambda)
            and node.id in model.names.scope(node).bindings
        ):
            continue
        part: ast.expr = node
        parent = model.parent(part)
        while isinstance(parent, ast.Attribute):
            part, parent = parent, model.parent(parent)
        if model.syntax.call_of(part) is not None:
            return None
        name = part.attr if isinstance(part, ast.Attribute) else node.id
        if texts.setdefault(name, model.source.text(part)) != model.source.text(part):
            return None
        if model.types.type_of(part).tag in _UNHASHABLE:
            return None
        found[part] = name
    return found


def _cache(user: ast.AST, model: SemanticModel) -> tuple[str, tuple[Edit, ...]] | None:
    """Return the spelling of `functools.lru_cache`, and the import that it needs."""
    spelled = model.names.spelled("functools.lru_cache", user)
    if spelled is not None:
        return spelled, ()
    imported = model.importer.module_import("functools", user=user)
    return ("functools.lru_cache", (imported[1],)) if imported is not None else None
