"""Loops that pick items one by one with drawn indices, and append them to lists."""

from __future__ import annotations

import ast
from collections.abc import Collection

from rlint.rule import (
    Binding,
    BindingKind,
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    frozen,
    last_name,
    models,
    regex,
    same_code,
)
from rlint.rules.buffers._shared.held import is_sampling, may_hold_transitions
from rlint.rules.buffers._shared.store_size import holds_transitions
from rlint.rules.buffers._shared.wrapped import container_of
from rlint.rules.buffers.rl102_list_indexed_sample.drawn import drawn_by
from rlint.rules.buffers.rl102_list_indexed_sample.taken_apart import is_drawn

_ARRAYS = (TypeTag.NDARRAY, TypeTag.TENSOR)
_PERMUTED = ("numpy.random.permutation", "torch.randperm")
_CONVERSIONS = models.having(Trait.TO_HOST, TypeTag.TENSOR) | {"cpu", "reshape", "view"}
_DRAWN_BY = models.names_having(Trait.PICKS | Trait.WHOLE, "random", "numpy.random", TypeTag.RANDOM_GENERATOR)
_JOINS = models.having(Trait.JOINS, "numpy", "torch")
_OF_FEW = regex(r"(^|_)(env|agent|worker|task|player)(s|_ids?|_names?)?$")
"""Names of things of which there are a few."""
_FIELDS = 2
"""Fewer columns than this may have another purpose."""


@frozen
class LoopedPick:
    """A loop `for i in indices: … held[i] …`: `first` is the first node that picks an item, `held` contains
    the items, and `indices` are the row indices. `columns` are the other nodes of the loop that index an
    array.
    """

    first: ast.Subscript | ast.Call
    indices: ast.expr
    columns: tuple[ast.Subscript, ...]
    is_array: bool
    held: ast.expr


def picked_in_loop(loop: ast.For, model: SemanticModel) -> LoopedPick | None:
    """Return what a loop picks one by one and appends to lists; None for other loops."""
    found = _counted(loop, model) or _index_of(loop, model)
    if found is None:
        return _drawn_in_turn(loop, model)
    index, indices = found
    names = _computed_from(index, loop) if isinstance(index, ast.Name) else frozenset()
    picks = [
        node
        for statement in loop.body
        for node in descendants(statement)
        if isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Load)
        and (_is_at(node.slice, names) if names else _is_looked_up(node.slice, index))
    ]
    columns = tuple(pick for pick in picks if _is_appended(pick, model) and _is_array(pick, model))
    if len(columns) >= _FIELDS:
        return LoopedPick(columns[0], indices, columns[1:], is_array=True, held=columns[0].value)
    rows = [pick for pick in picks if _is_transition(pick, model)]
    if not rows and is_drawn(indices, model):
        rows = [pick for pick in picks if _is_copied(pick, model) and _is_item(pick, model)]
    copied = any(_is_copied(pick, model) for pick in rows)
    if not rows or not (copied or any(_is_append(node) for part in loop.body for node in descendants(part))):
        return _drawn_in_turn(loop, model)
    return LoopedPick(rows[0], indices, (), is_array=False, held=rows[0].value)


def _drawn_in_turn(loop: ast.For, model: SemanticModel) -> LoopedPick | None:
    """Return the pick of `for _ in range(n): path = random.choice(self.paths); rows.append(path[a:b])`: a
    method that samples draws each item by a call of its own.
    """
    if loop.orelse or not is_sampling(loop, model):
        return None
    appends = any(_is_append(node) for part in loop.body for node in descendants(part))
    for statement in loop.body:
        match statement:
            case ast.Assign(
                targets=[ast.Name()], value=ast.Call(func=func, args=[held], keywords=[]) as draw
            ):
                drawn = model.names.qualified(func) in ("random.choice", "numpy.random.choice")
                named = isinstance(held, (ast.Name, ast.Attribute)) and holds_transitions(held, model)
                if drawn and named and appends and may_hold_transitions(model.types.type_of(held)):
                    return LoopedPick(draw, loop.iter, (), is_array=False, held=held)
    return None


def _counted(loop: ast.For, model: SemanticModel) -> tuple[ast.expr, ast.expr] | None:
    """Return `indices[i]` of a loop `for i in range(batch_size)`, and the drawn indices."""
    match loop:
        case ast.For(target=ast.Name(id=count), iter=ast.Call(func=func), orelse=[]) if (
            model.names.qualified(func) == "builtins.range"
        ):
            pass
        case _:
            return None
    for statement in loop.body:
        for node in descendants(statement):
            match node:
                case ast.Subscript(value=ast.Name() as indices, slice=ast.Name(id=name)) if (
                    name == count and (drawn_by(indices, model) is not None or is_drawn(indices, model))
                ):
                    return node, indices
    return None


def _index_of(loop: ast.For, model: SemanticModel) -> tuple[ast.expr, ast.expr] | None:
    """Return the variable that iterates over drawn indices, and the indices."""
    match loop:
        case ast.For(
            target=ast.Tuple(elts=[ast.Name(), ast.Name() as index]),
            iter=ast.Call(func=func, args=[drawn]),
            orelse=[],
        ) if model.names.qualified(func) == "builtins.enumerate":
            named = isinstance(drawn, (ast.Name, ast.Attribute)) and is_sampling(loop, model)
            return (index, drawn) if named or drawn_by(drawn, model) or _is_permuted(drawn, model) else None
    if not isinstance(loop.target, ast.Name) or loop.orelse:
        return None
    if drawn_by(loop.iter, model) is not None or _is_permuted(loop.iter, model):
        return loop.target, loop.iter
    if isinstance(loop.iter, (ast.Name, ast.Attribute)) and is_sampling(loop, model):
        few = _OF_FEW.search((last_name(loop.iter) or "").lower())
        return (loop.target, loop.iter) if not few else None
    for statement in loop.body:
        match statement:
            case ast.Assign(targets=[ast.Name() as index], value=ast.Subscript(value=order, slice=place)) if (
                not isinstance(place, ast.Slice) and _is_permuted(order, model)
            ):
                return index, order
            case ast.Assign(targets=[ast.Name() as index], value=ast.Call(func=func) as drawn) if last_name(
                func
            ) in _DRAWN_BY and not any(k.arg == "size" for k in drawn.keywords):
                return index, drawn
    return None


def _is_permuted(order: ast.expr, model: SemanticModel) -> bool:
    """Whether an expression is `order` after `order = torch.randperm(n).numpy()`, a slice of that, or one
    of a list of such slices that a loop iterates over.
    """
    order = _whole(order)
    if not isinstance(order, ast.Name):
        return False
    definitions = model.dataflow.definitions(order)
    return bool(definitions) and all(_binds_permuted(binding, model) for binding in definitions)


def _binds_permuted(binding: Binding, model: SemanticModel) -> bool:
    if binding.path or binding.value is None:
        return False
    value = binding.value
    if binding.kind is BindingKind.ASSIGN:
        made = _whole(value)
        return isinstance(made, ast.Call) and model.names.qualified(made.func) in _PERMUTED
    if binding.kind is not BindingKind.FOR:
        return False
    if isinstance(value, ast.Name):
        definitions = model.dataflow.definitions(value)
        assigned = [each.value for each in definitions if each.kind is BindingKind.ASSIGN and not each.path]
        value = assigned[0] if len(definitions) == 1 and assigned and assigned[0] is not None else value
    match value:
        case ast.ListComp(elt=ast.Subscript(slice=ast.Slice()) as part):
            return _is_permuted(part, model)
    return False


def _whole(order: ast.expr) -> ast.expr:
    """Return what indices are a slice or a conversion of: `order` for `order[:n].numpy()`."""
    while True:
        match order:
            case ast.Subscript(value=value, slice=ast.Slice()):
                order = value
            case ast.Call(func=ast.Attribute(value=value, attr=method)) if method in _CONVERSIONS:
                order = value
            case _:
                return order


def _computed_from(index: ast.Name, loop: ast.For) -> frozenset[str]:
    """Return the drawn index and the variables computed from it in the loop: `start = i * length`."""
    names = {index.id}
    for statement in loop.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp() as value) if _reads(value, names):
                names.add(name)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(args=[value, *_])) if _reads(
                value, names
            ):
                names.add(name)  # `row = np.mod(i + offset, capacity)`
    return frozenset(names)


def _reads(value: ast.expr, names: Collection[str]) -> bool:
    """Whether arithmetic reads one of the variables."""
    match value:
        case ast.Name(id=name):
            return name in names
        case ast.BinOp(left=left, right=right):
            return _reads(left, names) or _reads(right, names)
    return False


def _is_at(place: ast.expr, names: Collection[str]) -> bool:
    """Whether an index is the drawn index, is computed from it, or is a slice that begins there."""
    for part in place.elts if isinstance(place, ast.Tuple) else [place]:
        start = part.lower if isinstance(part, ast.Slice) else part
        if start is not None and _reads(start, names):
            return True
    return False


def _is_looked_up(place: ast.expr, index: ast.expr) -> bool:
    """Whether an index is looked up with the drawn index `indices[i]`."""
    return any(isinstance(part, ast.Subscript) and same_code(part, index) for part in descendants(place))


def _is_append(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append"


def _is_copied(pick: ast.Subscript, model: SemanticModel) -> bool:
    """Whether an expression is written to a row of an array: `batch[k] = held[i].state`."""
    node: ast.AST = pick
    parent = model.parent(node)
    while isinstance(parent, (ast.Attribute, ast.Subscript)):
        node, parent = parent, model.parent(parent)
    match parent:
        case ast.Assign(targets=[ast.Subscript(value=ast.Name() | ast.Attribute() as batch)], value=value):
            return value is node and model.types.type_of(batch).tag in _ARRAYS
    return False


def _is_item(pick: ast.Subscript, model: SemanticModel) -> bool:
    """Whether an item of a container of objects is looked up, of which a field is read: `edges[i].state`."""
    if not isinstance(pick.value, (ast.Name, ast.Attribute)):
        return False
    kind = model.types.type_of(pick.value)
    held = kind.tag is TypeTag.DICT or may_hold_transitions(kind)
    return held and isinstance(model.parent(pick), (ast.Attribute, ast.Subscript))


def _is_appended(pick: ast.Subscript, model: SemanticModel) -> bool:
    """Whether an expression is `column.append(held[i])`."""
    parent = model.parent(pick)
    return _is_append(parent) and isinstance(parent, ast.Call) and parent.args == [pick]


def _is_array(pick: ast.Subscript, model: SemanticModel) -> bool:
    """Whether an array or tensor is indexed, or several indices are used at once, which only those allow, or
    slices are stacked after the loop.
    """
    tag = model.types.type_of(pick.value).tag
    if tag is not TypeTag.UNKNOWN:
        return tag in _ARRAYS
    return isinstance(pick.slice, ast.Tuple) or (
        isinstance(pick.slice, ast.Slice) and _is_stacked(pick, model)
    )


def _is_stacked(pick: ast.Subscript, model: SemanticModel) -> bool:
    """Whether the list that an item is appended to is joined to one array."""
    match model.parent(pick):
        case ast.Call(func=ast.Attribute(value=ast.Name() as column)):
            for use in model.names.uses(column.id, model.names.scope(column)):
                call = model.parent(use)
                if isinstance(call, ast.Call) and model.names.qualified(call.func) in _JOINS:
                    return True
    return False


def _is_transition(pick: ast.Subscript, model: SemanticModel) -> bool:
    """Whether one transition is read from the list of all transitions."""
    held = pick.value
    kind = container_of(held, model)
    named = held.value if isinstance(held, ast.Subscript) else held  # `self.fields["state"]`
    if not isinstance(named, (ast.Name, ast.Attribute)) or isinstance(pick.slice, ast.Tuple):
        return False
    return last_name(named) is not None and may_hold_transitions(kind) and holds_transitions(held, model)
