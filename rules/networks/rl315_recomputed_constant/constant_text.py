"""The source of a constant at the place where it is built once."""

from __future__ import annotations

import ast

from rlint.rule import Edit, SemanticModel, descendants
from rlint.rules.networks.rl315_recomputed_constant.constant import Hoisted


def text_of(
    node: ast.expr,
    found: Hoisted,
    model: SemanticModel,
    *,
    inlined: set[ast.Name],
    devices: bool = False,
) -> str | None:
    """Return the source of an expression with the values of names inlined, and without the devices of inputs,
    unless they are kept.
    """
    edits: list[Edit] = []
    for part in descendants(node):
        if isinstance(part, ast.Name) and part in inlined:
            value = found.inlined[part]
            text = text_of(value, found, model, inlined=inlined) if model.edit.is_relocatable(value) else None
            if text is None:
                return None
            plain = isinstance(value, ast.Constant) or model.edit.parenthesized(value) == text
            edits.append(model.edit.replace(part, text if plain else f"({text})"))
        elif isinstance(part, ast.Call) and not devices:
            dropped = [device for device in found.devices if device in _given(part)]
            removed = [_without(part, device, model) for device in dropped]
            if None in removed:
                return None
            edits += filter(None, removed)
    return model.edit.whole(model.edit.text_with(node, edits))


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _without(call: ast.Call, device: ast.expr, model: SemanticModel) -> Edit | None:
    """Remove `device=x.device` from a constructor, or the whole `.to(x.device)`."""
    if model.names.qualified(call.func) is None and isinstance(call.func, ast.Attribute):
        return model.edit.replace_method(call, "") if len(_given(call)) == 1 else None
    return model.edit.cut_keyword(call, device)


def means_the_same(place: ast.AST, found: Hoisted, model: SemanticModel) -> bool:
    """Whether the names of the module have the same meaning in a function, or at module level."""
    scope = model.syntax.scopes[place]
    root = model.syntax.scopes[model.syntax.module]
    expressions = [found.node, *found.inlined.values()]
    for expression in expressions:
        for name in (node for node in descendants(expression) if isinstance(node, ast.Name)):
            here = model.names.scope(name).lookup(name.id)
            if (
                (here is not None and here.is_comprehension)
                or name in found.inlined
                or model.names.is_self(name)
            ):
                continue
            if any(name in descendants(device) for device in found.devices):
                continue
            if here not in (None, root) or scope.lookup(name.id) is not here:
                return False
    return True
