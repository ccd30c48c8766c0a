"""Rows of an array picked one by one and stacked again, and the index that picks them at once."""

from __future__ import annotations

import ast

from rlint.rule import (
    Applicability,
    Fix,
    SemanticModel,
    Trait,
    TypeTag,
    element_types,
    frozen,
    models,
    variable_names,
)
from rlint.rules.buffers._shared.choice import can_be_edited
from rlint.rules.buffers._shared.row_length import is_laid_out_otherwise
from rlint.rules.buffers.rl102_list_indexed_sample.drawn import are_some, drawn_by

_JOINS = ("numpy.array", "numpy.asarray", "numpy.stack", "torch.stack")
_SELECTS = models.having(Trait.GIVES_INDEX, "numpy") - {"numpy.argmax", "numpy.argmin"} | {
    "numpy.unique",
    "numpy.where",
}
"""Functions that return the indices of many rows."""
_C_ORDERED = models.having(Trait.FILLS, "numpy") | {"numpy.arange"}


@frozen
class Picked:
    """Items picked by `[held[i] for i in indices]`. `whole` is False if a part of each item is taken:
    `held[i].reward`.
    """

    node: ast.ListComp
    held: ast.expr
    indices: ast.expr
    whole: bool = True


def picked_by(node: ast.ListComp) -> Picked | None:
    """Return the items that a comprehension picks one by one with some indices."""
    match node:
        case ast.ListComp(
            elt=element,
            generators=[ast.comprehension(target=ast.Name(id=index), iter=indices, ifs=[], is_async=0)],
        ):
            item = _item_in(element, index)
            if item is None or index in variable_names(item.value):
                return None
            plain = item is element and isinstance(item.slice, ast.Name)
            return Picked(node, item.value, indices, whole=plain)
    return None


def _item_in(element: ast.expr, index: str) -> ast.Subscript | None:
    """Return `held[i]` of `held[i].reward`, `held[i][2]` or `decode(held[i])`."""
    while not _is_item(element, index):
        match element:
            case ast.Attribute(value=value) | ast.Subscript(value=value):
                element = value
            case ast.Call(func=func, args=[given], keywords=[]) if index not in variable_names(func):
                element = given  # a conversion of the item
            case ast.IfExp(test=test, body=ast.Constant(), orelse=ast.Constant()):
                element = test  # `1.0 if held[i] else 0.0`
            case _:
                return None
    assert isinstance(element, ast.Subscript)
    return element


def _is_item(node: ast.expr, index: str) -> bool:
    """Whether an expression is `held[i]` or `held[int(i)]`."""
    match node:
        case ast.Subscript(
            value=ast.Name()
            | ast.Attribute()
            | ast.Subscript(value=ast.Name() | ast.Attribute(), slice=ast.Name() | ast.Constant(value=str())),
            slice=ast.Name(id=used)
            | ast.Call(func=ast.Name(id="int"), args=[ast.Name(id=used)], keywords=[]),
        ):
            return used == index
    return False


def selects_fields(held: ast.expr, indices: ast.expr, model: SemanticModel) -> bool:
    """Whether the items are the fields of a batch, picked by their names: `[batch[key] for key in
    shapes.keys()]`, also of a variable that is indexed with names elsewhere in the function.
    """
    match indices:
        case ast.Call(func=ast.Attribute(attr="keys"), args=[]):
            return True
    item = model.types.type_of(indices).item
    if item is not None and item.tag is TypeTag.STR:
        return True
    scope = model.names.scope(held).lookup(held.id) if isinstance(held, ast.Name) else None
    if scope is None or not scope.is_function or not isinstance(held, ast.Name):
        return False
    for read in model.names.uses(held.id, scope):
        match model.parent(read):
            case ast.Subscript(value=value, slice=ast.Constant(value=str())) if value is read:
                return True
    return False


def join_of(picked: Picked, model: SemanticModel) -> ast.Call | None:
    """Return the call that stacks the items to one array, without other options."""
    parent = model.parent(picked.node)
    if not picked.whole:
        return None
    if isinstance(parent, ast.Call) and parent.args == [picked.node] and not parent.keywords:
        name = model.names.qualified(parent.func)
        tag = model.types.type_of(picked.held).tag
        if name in _JOINS and tag is (TypeTag.TENSOR if name == "torch.stack" else TypeTag.NDARRAY):
            return parent
    return None


def computed_join_of(picked: Picked, model: SemanticModel) -> ast.Call | None:
    """Return the call that stacks rows which NumPy selected: `np.array([x[i] for i in sorted(indices)])`,
    where `indices` are those of `np.unique(x, return_index=True)`. The array may be of unknown type if the
    function also indexes it by several axes.
    """
    parent = model.parent(picked.node)
    if not picked.whole or not isinstance(parent, ast.Call) or parent.args != [picked.node]:
        return None
    if parent.keywords or model.names.qualified(parent.func) not in _JOINS:
        return None
    kind = model.types.type_of(picked.held)
    is_array = kind.tag is TypeTag.NDARRAY or (not kind and _has_axes(picked.held, model))
    return parent if is_array and _are_computed(picked.indices, model) else None


def _has_axes(held: ast.expr, model: SemanticModel) -> bool:
    """Whether a function reads a part of a variable along several axes, which only arrays have: `x[:, 0]`."""
    scope = model.names.scope(held).lookup(held.id) if isinstance(held, ast.Name) else None
    if scope is None or not scope.is_function or not isinstance(held, ast.Name):
        return False
    parents = (model.parent(read) for read in model.names.reads(held.id, scope))
    return any(
        isinstance(parent, ast.Subscript)
        and isinstance(parent.slice, ast.Tuple)
        and any(isinstance(axis, ast.Slice) for axis in parent.slice.elts)
        for parent in parents
    )


def _are_computed(indices: ast.expr, model: SemanticModel) -> bool:
    """Whether indices are the result of a function of NumPy, perhaps sorted."""
    match indices:
        case ast.Call(func=func, args=[given], keywords=[]) if (
            model.names.qualified(func) == "builtins.sorted"
        ):
            return _are_computed(given, model)
        case ast.Name():
            made = model.dataflow.definitions(indices)
            return bool(made) and all(
                each.value is not None
                and not isinstance(each.value, ast.Name)
                and _are_computed(each.value, model)
                for each in made
            )
        case ast.Subscript(value=found, slice=ast.Constant()):
            return _are_computed(found, model)
        case ast.Call(func=func):
            return model.names.qualified(func) in _SELECTS
    return False


def numbers_join_of(picked: Picked, model: SemanticModel) -> ast.Call | None:
    """Return the call that makes an array of numbers, of which each was converted alone: `np.array([1.0 if
    dones[i] else 0.0 for i in indices], dtype=np.float32)`.
    """
    match picked.node.elt, model.parent(picked.node):
        case (
            (ast.IfExp() | ast.Call(func=ast.Name(id="float" | "int" | "bool"))),
            ast.Call(args=[first, *_]) as parent,
        ) if first is picked.node:
            held = model.types.type_of(picked.held)
            tags = (TypeTag.NDARRAY, TypeTag.TENSOR)
            return parent if model.names.qualified(parent.func) in _JOINS and held.tag in tags else None
    return None


def pick_at_once(picked: Picked, join: ast.Call, model: SemanticModel) -> Fix | None:
    """Index the array with all indices at once."""
    call = drawn_by(picked.indices, model)
    if call is None or not can_be_edited(join, model):
        return None
    held, indices = model.source.text(picked.held), model.source.text(picked.indices)
    edit = model.edit.replace(join, f"{held}[{indices}]")
    reason = doubt(picked, call, model)
    safety = Applicability.UNSAFE if reason else Applicability.SAFE
    return Fix("Index the array with all indices at once", safety, (edit,), reason)


def doubt(picked: Picked, call: ast.Call, model: SemanticModel) -> str | None:
    """Return the condition of the fix; None if it is safe."""
    kind = model.types.type_of(picked.held)
    held = model.source.text(picked.held)
    if not are_some(call, model):
        return (
            "without any index, the result has the array's dtype and row shape, instead of an empty "
            "float array"
        )
    if kind.tag is TypeTag.TENSOR:
        return f"`{held}` must be a plain tensor, with at least one dimension"
    if kind.dtype not in element_types.BITS or not is_plain_array(picked.held, model):
        return f"`{held}` must be a plain numeric array in C order"
    drawn = model.syntax.statement(call)
    if picked.indices is not call and not model.dataflow.unchanged_between(
        picked.indices, drawn, picked.node
    ):
        return f"`{model.source.text(picked.indices)}` must still hold the drawn indices"
    return None


def is_plain_array(held: ast.expr, model: SemanticModel) -> bool:
    """Whether this certainly is an array that NumPy created row by row."""
    values: list[ast.expr | None]
    if is_laid_out_otherwise("strides", model):
        return False
    if isinstance(held, ast.Name):
        values = [binding.value if not binding.path else None for binding in model.dataflow.definitions(held)]
    elif isinstance(held, ast.Attribute):
        parents = [
            model.parent(use)
            for use in model.names.attribute_uses(held.attr)
            if isinstance(use.ctx, ast.Store)
        ]
        values = [
            parent.value if isinstance(parent, (ast.Assign, ast.AnnAssign)) else None for parent in parents
        ]
    else:
        return False
    return bool(values) and all(
        isinstance(value, ast.Call)
        and model.names.qualified(value.func) in _C_ORDERED
        and not any(keyword.arg in ("order", "like", None) for keyword in value.keywords)
        and len(value.args) <= 2
        for value in values
    )
