"""Windows of a replay picked item by item, and fields of a whole replay collected to draw from it."""

from __future__ import annotations

import ast

from rlint.rule import (
    Function,
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    frozen,
    last_name,
    models,
    same_code,
)
from rlint.rules.buffers._shared.held import is_short, may_hold_transitions
from rlint.rules.buffers._shared.store_size import LARGE, holds_transitions
from rlint.rules.buffers._shared.windows import in_window, is_drawn_place, is_sliced_window, is_taken_apart
from rlint.rules.buffers.rl102_list_indexed_sample.taken_apart import DRAWS

_JOINS = models.having(Trait.JOINS, "numpy", "torch") | models.having(Trait.FROM_DATA, "numpy", "torch")
_KEPT = (TypeTag.LIST, TypeTag.DEQUE)


@frozen
class PickedWindow:
    """The items of `held` in a window that begins at a drawn place are picked one by one, first at `at`."""

    at: ast.expr
    held: ast.expr


def window_of(node: ast.AST, model: SemanticModel) -> PickedWindow | None:
    """Return the window that a comprehension, loop or `islice` picks, the first of its function."""
    if isinstance(node, ast.Call):
        held = node.args[0] if is_sliced_window(node, model) else None
        at: ast.expr = node
    else:
        item = _first_item(node, model)
        held = item.value if item is not None else None
        if item is None:
            return None
        at = node if isinstance(node, ast.expr) else item
    return PickedWindow(at, held) if held is not None and _is_store(held, model) else None


def _first_item(node: ast.AST, model: SemanticModel) -> ast.Subscript | None:
    """Return the first item that a loop or comprehension itself reads of a window."""
    inside = [
        part
        for part in descendants(node)
        if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Load)
        if model.frequency.loops(part)[:1] == [node] and in_window(part, model)
    ]
    for item in sorted(inside, key=lambda part: (part.lineno, part.col_offset)):
        if _is_store(item.value, model) and is_taken_apart(item, model):
            return item if not _is_reported_before(item, model) else None
    return None


def _is_reported_before(item: ast.Subscript, model: SemanticModel) -> bool:
    """Whether the function reads a window of the same list earlier, where all fields are reported at once."""
    function = model.function(item)
    return function is not None and any(
        isinstance(node, ast.Subscript)
        and (node.lineno, node.col_offset) < (item.lineno, item.col_offset)
        and same_code(node.value, item.value)
        and in_window(node, model)
        for node in descendants(function)
    )


def _is_store(held: ast.expr, model: SemanticModel) -> bool:
    """Whether items of a long list or deque may be transitions."""
    if not isinstance(held, (ast.Name, ast.Attribute)):
        return False
    kind = model.types.type_of(held)
    named = kind.tag is TypeTag.DEQUE or holds_transitions(held, model)
    return named and may_hold_transitions(kind) and not is_short(held, model, LARGE)


@frozen
class CollectedField:
    """`at` makes an array of one field of all items of `held`, of which the function then draws."""

    at: ast.Call
    held: ast.expr


def field_of_all(node: ast.ListComp, model: SemanticModel) -> CollectedField | None:
    """Return the array of one field of all transitions that is made to draw from them: `np.array([t[2] for t
    in memory])`.
    """
    join = model.parent(node)
    function = model.function(node)
    held = _whole_of(node, model)
    match join:
        case ast.Call(func=func, args=[first, *_]) if (
            first is node and model.names.qualified(func) in _JOINS and function is not None
        ):
            pass
        case _:
            return None
    if held is None or not _is_store(held, model) or model.types.type_of(held).tag not in _KEPT:
        return None
    if not _is_kept(held, model) or not _is_drawn_from(held, node, function, model):
        return None
    return CollectedField(join, held)


def _whole_of(node: ast.ListComp, model: SemanticModel) -> ast.expr | None:
    """Return the list of which a comprehension takes one field of every item."""
    match node:
        case ast.ListComp(
            elt=ast.Attribute(value=item) | ast.Subscript(value=item, slice=ast.Constant()),
            generators=[ast.comprehension(target=ast.Name(id=name), iter=over, ifs=[], is_async=0)],
        ):
            pass
        case _:
            return None
    match item, over:
        case ast.Name(id=read), ast.Name() | ast.Attribute() if read == name:
            return over
        case (
            ast.Subscript(value=held, slice=ast.Name(id=read)),
            ast.Call(func=func, args=[ast.Call(func=ast.Name(id="len"), args=[counted])]),
        ) if read == name and model.names.qualified(func) == "builtins.range" and same_code(held, counted):
            return held
    return None


def _is_kept(held: ast.expr, model: SemanticModel) -> bool:
    """Whether an attribute is created by the constructor and never emptied."""
    if not isinstance(held, ast.Attribute):
        return False
    uses = [use for use in model.names.attribute_uses(held.attr) if same_code(use.value, held.value)]
    for use in uses:
        if isinstance(use.ctx, ast.Store):
            method = model.function(use)
            if method is None or method.name != "__init__":
                return False
        match model.parent(use):
            case ast.Attribute(attr="clear" | "pop" | "popleft") | ast.Subscript(ctx=ast.Del()):
                return False
    return bool(uses)


def _is_drawn_from(held: ast.expr, node: ast.ListComp, function: Function, model: SemanticModel) -> bool:
    """Whether a function draws an index after it collected the field, and reads the item at that index."""
    draws = any(
        isinstance(part, ast.Call) and last_name(part.func) in DRAWS and part.lineno > node.lineno
        for part in descendants(function)
    )
    return draws and any(
        isinstance(part, ast.Subscript)
        and same_code(part.value, held)
        and (is_drawn_place(part.slice, model) or in_window(part, model, also_short=True))
        for part in descendants(function)
    )
