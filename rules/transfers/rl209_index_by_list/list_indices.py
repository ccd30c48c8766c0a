"""Python lists and ranges as indices of tensors, and their replacements."""

from __future__ import annotations

import ast

from rlint.rule import Binding, BindingKind, SemanticModel, TypeTag, frozen

FEWEST = 8
"""Converting fewer numbers than this, by a literal, costs little."""

_LISTS = frozenset({TypeTag.LIST})
_FROM_TO = 2
"""Number of bounds of a range that counts in steps of one."""
_SHORT = (ast.Constant, ast.Name, ast.Attribute)
_PLAIN = (*_SHORT, ast.BinOp)
_HOLD_LISTS = (BindingKind.ASSIGN, BindingKind.FOR, BindingKind.PARAMETER)


@frozen
class Counted:
    """`range(…)`, or a list of only that, in the place of an index; `parts` are all indices there."""

    node: ast.expr
    counter: ast.Call
    parts: tuple[ast.expr, ...]

    @property
    def is_alone(self) -> bool:
        """Whether there are only slices and new axes beside it, so that a slice would select the same
        rows.
        """
        others = [part for part in self.parts if part is not self.node]
        return all(
            isinstance(part, ast.Slice) or (isinstance(part, ast.Constant) and part.value in (None, ...))
            for part in others
        )


def counted(subscript: ast.Subscript, model: SemanticModel) -> Counted | None:
    """Return the first range among the indices of a subscript that may be long."""
    index = subscript.slice
    parts = (*index.elts,) if isinstance(index, ast.Tuple) else (index,)
    for part in parts:
        counter = counter_of(part, model)
        if counter is not None and not is_short(counter):
            return Counted(part, counter, parts)
    return None


def counter_of(expression: ast.expr, model: SemanticModel) -> ast.Call | None:
    """Return the `range(…)` that an expression is or lists: `list(range(n))`, `[i for i in range(n)]`."""
    match expression:
        case ast.Call(func=ast.Name(id="list") as func, args=[ast.Call() as inner], keywords=[]):
            return counter_of(inner, model) if model.names.qualified(func) == "builtins.list" else None
        case ast.List(elts=[ast.Starred(value=ast.Call() as inner)]):
            return counter_of(inner, model)
        case ast.ListComp(
            elt=ast.Name(id=name),
            generators=[ast.comprehension(target=ast.Name(id=target), iter=inner, ifs=[], is_async=0)],
        ):
            return counter_of(inner, model) if name == target and isinstance(inner, ast.Call) else None
        case ast.Call(func=ast.Name() as func, args=[_] | [_, _] | [_, _, _], keywords=[]):
            starred = any(isinstance(bound, ast.Starred) for bound in expression.args)
            return expression if model.names.qualified(func) == "builtins.range" and not starred else None
    return None


def counts_columns(binding: Binding, subscript: ast.Subscript, model: SemanticModel) -> bool:
    """Whether a variable lists consecutive numbers and is the only index of a tensor beside full slices:
    `states[:, columns]`, after `columns = list(range(n))`.
    """
    value = _unpacked(binding) if binding.kind is BindingKind.ASSIGN else None
    counter = counter_of(value, model) if value is not None else None
    if counter is None or len(counter.args) > _FROM_TO or is_short(counter):
        return False
    if not isinstance(subscript.ctx, ast.Load) or not isinstance(subscript.slice, ast.Tuple):
        return False
    kinds = [type(part) for part in subscript.slice.elts if not isinstance(part, ast.Constant)]
    return sorted(kinds, key=str) == [ast.Name, *[ast.Slice] * (len(kinds) - 1)] and len(kinds) > 1


def is_short(counter: ast.Call) -> bool:
    """Whether a literal shows that the range is short."""
    match counter.args:
        case [ast.Constant(value=int(stop))]:
            return stop < FEWEST
        case [ast.Constant(value=int(start)), ast.Constant(value=int(stop)), *_]:
            return stop - start < FEWEST
    return False


def is_never_negative(counter: ast.Call, model: SemanticModel) -> bool:
    """Whether `range(…)` counts up from zero to a bound that surely is not negative."""
    return len(counter.args) == 1 and _is_size(counter.args[0], model)


def _is_size(number: ast.expr, model: SemanticModel) -> bool:
    if isinstance(number, ast.Name):
        made = model.dataflow.definitions(number)
        value = (
            made[0].value
            if len(made) == 1 and made[0].kind is BindingKind.ASSIGN and not made[0].path
            else None
        )
        return value is not None and not isinstance(value, ast.Name) and _is_size(value, model)
    match number:
        case ast.Constant(value=int()):
            return True
        case ast.Call(func=ast.Name(id="len") as func):
            return model.names.qualified(func) == "builtins.len"
        case ast.Subscript(value=ast.Attribute(value=owner, attr="shape"), slice=ast.Constant(value=int())):
            return model.types.type_of(owner).tag is TypeTag.TENSOR
        case ast.Call(func=ast.Attribute(value=owner, attr="size"), args=[ast.Constant(value=int())]):
            return model.types.type_of(owner).tag is TypeTag.TENSOR
    return False


def slice_text(counter: ast.Call, model: SemanticModel) -> str | None:
    """Return the slice that selects what a `range(…)` counts; None if a step may be negative."""
    bounds = counter.args
    texts = [
        model.source.text(bound) if isinstance(bound, _PLAIN) else model.edit.parenthesized(bound)
        for bound in bounds
    ]
    colon = ":" if all(isinstance(bound, _SHORT) for bound in bounds) else " : "
    match bounds:
        case [_]:
            return f":{texts[0]}" if colon == ":" else f": {texts[0]}"
        case [_, _]:
            return colon.join(texts)
        case [_, _, ast.Constant(value=int(step))] if step > 0:
            return colon.join(texts)
    return None


def listed_binding(index: ast.expr, model: SemanticModel) -> Binding | None:
    """Return the assignment that created the list of numbers in a variable, alone or with other indices, the
    loop that iterates over such lists, or the parameter that is one.
    """
    if isinstance(index, ast.Tuple):
        found = (listed_binding(part, model) for part in index.elts if isinstance(part, ast.Name))
        return next((binding for binding in found if binding is not None), None)
    if not isinstance(index, ast.Name):
        return None
    made = model.dataflow.definitions(index)
    if len(made) != 1 or made[0].kind not in _HOLD_LISTS:
        return None
    kind = model.types.type_of(index)
    if kind.tag is not TypeTag.LIST:
        return None
    if made[0].kind is not BindingKind.ASSIGN:
        numbers = kind.item is not None and kind.item.tag is TypeTag.INT
        return made[0] if numbers and not made[0].path else None
    match _unpacked(made[0]):
        case None:
            return None
        case ast.List(elts=[]):
            return made[0]  # filled later
        case value:
            return made[0] if not is_literal(value) else None


def _unpacked(binding: Binding) -> ast.expr | None:
    """Return what an assignment gives to a variable, also beside others: `rows, nodes = [], []`."""
    match binding.value, binding.path:
        case value, ():
            return value
        case ast.Tuple(elts=values), (place,) if 0 <= place < len(values):
            return values[place]
    return None


def held_list(subscript: ast.Subscript, model: SemanticModel) -> ast.Attribute | None:
    """Return the attribute that holds a list of numbers and is an index of a tensor."""
    index = subscript.slice
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    for part in parts:
        if not isinstance(part, ast.Attribute) or not isinstance(subscript.ctx, ast.Load):
            continue
        kind = model.types.type_of(part)
        item = kind.item.tag if kind.item is not None else TypeTag.UNKNOWN
        if kind.tag not in lists_at(part, subscript) or item not in (TypeTag.INT, TypeTag.UNKNOWN):
            continue
        if model.types.type_of(subscript.value).tag is TypeTag.TENSOR and _holds_long_lists(part, model):
            return part
    return None


def lists_at(part: ast.expr, subscript: ast.Subscript) -> frozenset[TypeTag]:
    """Return the types whose numbers are converted to a tensor in the place of an index: beside others, a
    tuple is one index like a list (`rows[chosen, :]`); alone, each of its numbers is an index of its own.
    """
    return _LISTS if part is subscript.slice else _LISTS | {TypeTag.TUPLE}


def _holds_long_lists(held: ast.Attribute, model: SemanticModel) -> bool:
    """Whether this file only assigns lists, or None, to an attribute, and not only displays of few items."""
    stores = [use for use in model.names.attribute_uses(held.attr) if isinstance(use.ctx, ast.Store)]
    values = [getattr(model.parent(use), "value", None) for use in stores]
    tags = {model.types.type_of(value).tag for value in values if isinstance(value, ast.expr)}
    return tags <= {TypeTag.LIST, TypeTag.TUPLE, TypeTag.NONE} and not all(
        is_literal(value) for value in values
    )


def places_indexed_by(held: ast.Attribute, model: SemanticModel) -> list[ast.Subscript]:
    """Return the places of a function that index tensors by a list in an attribute, in source order."""
    found = [
        subscript
        for use in model.names.attribute_uses(held.attr)
        if model.function(use) is model.function(held) and model.source.text(use) == model.source.text(held)
        if (subscript := _subscript_of(use, model)) is not None and held_list(subscript, model) is not None
    ]
    return sorted(found, key=model.source.span)


def _subscript_of(index: ast.expr, model: SemanticModel) -> ast.Subscript | None:
    """Return the subscript of which an expression is an index, alone or with others."""
    part: ast.AST = index
    around = model.parent(index)
    if isinstance(around, ast.Tuple):
        part, around = around, model.parent(around)
    return around if isinstance(around, ast.Subscript) and around.slice is part else None


def is_literal(value: ast.expr | None) -> bool:
    """Whether it is a list display of few items."""
    return isinstance(value, (ast.List, ast.Tuple)) and len(value.elts) < FEWEST


def tensors_indexed_by(binding: Binding, model: SemanticModel) -> list[ast.Subscript]:
    """Return the places that index tensors by the list of a binding, in source order."""
    scope = model.names.scope(binding.node).lookup(binding.name)
    if scope is None:
        return []
    found = []
    for use in model.names.reads(binding.name, scope):
        subscript = _subscript_of(use, model)
        if (
            subscript is not None
            and model.dataflow.definitions(use) == [binding]
            and model.types.type_of(subscript.value).tag is TypeTag.TENSOR
        ):
            found.append(subscript)
    return sorted(found, key=model.source.span)
