"""Places where a boolean mask indexes tensors."""

from __future__ import annotations

import ast

from rlint.rule import (
    COMPREHENSIONS,
    LOOPS,
    BindingKind,
    Function,
    Scope,
    SemanticModel,
    Trait,
    TypeTag,
    axes_of,
    descendants,
    frozen,
    has_key,
    is_in,
    last_name,
    models,
    regex,
)

_COMPARES = models.having(Trait.COMPARES, "torch") | models.having(Trait.COMPARES, TypeTag.TENSOR)
_RESHAPES = models.having(Trait.KEEPS_ORDER, TypeTag.TENSOR)
_BITS = (ast.BitAnd, ast.BitOr, ast.BitXor)
_VALUES = (ast.In, ast.NotIn, ast.Is, ast.IsNot)
_NAMED = regex(
    r"(^|_)(masks?|dones?|valids?|alive|terminated|terminals?|truncated|finished|active|filled|keep|kept)$"
)
"""Names of masks: a tensor of one of these names that is an index holds booleans."""
SELECTS = models.names_having(Trait.SELECTS_BY_MASK, "torch")
_SELECTING = models.having(Trait.SELECTS_BY_MASK, "torch")
_IN_LOOP = 3
"""Number of uses that one in a loop counts for."""


@frozen
class MaskUse:
    """`place` reads or writes the elements of `indexed` selected by the mask `index`: `values[mask]`,
    `values.masked_select(mask)`.
    """

    place: ast.Subscript | ast.Call
    indexed: ast.expr
    index: ast.expr
    times: int
    is_in_loop: bool

    @property
    def is_alone(self) -> bool:
        """Whether there is no other index."""
        return isinstance(self.place, ast.Subscript) and self.place.slice is self.index


def is_mask(value: ast.expr, model: SemanticModel, depth: int = 3) -> bool:
    """Whether an expression is a boolean mask, by its syntax or its type."""
    match value:
        case ast.Compare(ops=[operator]):
            return not isinstance(operator, _VALUES)
        case ast.UnaryOp(op=ast.Invert(), operand=part) if depth:
            return is_mask(part, model, depth - 1)
        case ast.BinOp(left=left, op=operator, right=right) if depth and isinstance(operator, _BITS):
            return is_mask(left, model, depth - 1) or is_mask(right, model, depth - 1)
        case ast.Call(func=ast.Attribute(attr="bool"), args=[], keywords=[]):
            return True
        case ast.Subscript(value=whole, slice=index) if depth and _is_view(index):
            return is_mask(whole, model, depth - 1) or model.types.type_of(value).dtype == "bool"
        case ast.Call(func=ast.Attribute(value=whole, attr=method)) if depth and method in _RESHAPES:
            return is_mask(whole, model, depth - 1) or model.types.type_of(value).dtype == "bool"
        case ast.Call(func=ast.Attribute(attr="to" | "type"), args=args, keywords=keywords):
            given = (*args, *(keyword.value for keyword in keywords))
            if any(model.analysis.types.dtype_of(each) == "bool" for each in given):
                return True
        case ast.Name() if depth:
            if _holds_mask(value, model, depth - 1):
                return True
        case ast.Call(func=called):
            path = model.names.qualified(called)
            if path in _COMPARES if path else last_name(called) in _COMPARES:
                return True
    return model.types.type_of(value).dtype == "bool" or is_named_mask(value, model)


def _is_view(index: ast.expr) -> bool:
    """Whether an index only selects ranges and adds dimensions: `[:, 1:]`, `[:, None]`; not a key."""
    return not has_key(index) and all(isinstance(part, (ast.Slice, ast.Constant)) for part in axes_of(index))


def _holds_mask(name: ast.Name, model: SemanticModel, depth: int) -> bool:
    """Whether each value of a variable is a mask."""
    made = model.dataflow.definitions(name)
    return bool(made) and all(
        each.kind is BindingKind.ASSIGN
        and not each.path
        and each.value is not None
        and is_mask(each.value, model, depth)
        for each in made
    )


def is_named_mask(value: ast.expr, model: SemanticModel, read: ast.expr | None = None) -> bool:
    """Whether a tensor of unknown dtype in a variable, dict or attribute is named like a mask:
    `batch["done"]`. What it is may be known only where a variable that holds it is read.
    """
    match value:
        case (
            ast.Subscript(slice=ast.Constant(value=str(name))) | ast.Attribute(attr=name) | ast.Name(id=name)
        ):
            kind = model.types.type_of(value) or (model.types.type_of(read) if read is not None else None)
            if kind is None:
                return False
            return bool(_NAMED.search(name)) and kind.tag is TypeTag.TENSOR and not kind.dtype
    return False


def uses_of_mask(mask: ast.Name, value: ast.expr, model: SemanticModel) -> list[MaskUse]:
    """Return the places where a variable that surely holds this mask is used as an index, in order."""
    found = []
    for read, place in model.once(_indices, (mask.id, model.names.scope(mask))):
        if model.function(read) is not model.function(mask):
            continue
        definitions = model.dataflow.definitions(read)
        if [each.value for each in definitions] == [value]:
            use = use_of(place, read, mask, model)
            if use is not None:
                found.append(use)
    return found


def use_of(
    place: ast.Subscript | ast.Call, index: ast.expr, made: ast.AST, model: SemanticModel
) -> MaskUse | None:
    """Return the use of a mask that is created at `made`; None if its indices are not computed there."""
    times = times_looked_up(place, model)
    indexed = indexed_at(place, model)
    if not times or indexed is None:
        return None
    loop = any(
        isinstance(above, (*LOOPS, *COMPREHENSIONS)) and not is_in(made, above)
        for above in model.ancestors(index)
    )
    return MaskUse(place, indexed, index, _IN_LOOP if loop else times, loop)


def _indices(
    variable: tuple[str, Scope], model: SemanticModel
) -> list[tuple[ast.Name, ast.Subscript | ast.Call]]:
    """Return the reads of a variable that are indices, with the places where they select elements."""
    reads = ((read, place_of(read, model)) for read in model.names.reads(*variable))
    return [(read, place) for read, place in reads if place is not None]


def selected_by(call: ast.Call, model: SemanticModel) -> ast.expr | None:
    """Return the mask of `x.masked_select(mask)` and `torch.masked_select(x, mask)`."""
    if last_name(call.func) not in SELECTS:
        return None
    given = {word.arg: word.value for word in call.keywords}
    place = 1 if model.names.qualified(call.func) in _SELECTING else 0
    return call.args[place] if len(call.args) > place else given.get("mask")


def indexed_at(place: ast.Subscript | ast.Call, model: SemanticModel) -> ast.expr | None:
    """Return the tensor whose elements a place selects."""
    if isinstance(place, ast.Subscript):
        return place.value
    if model.names.qualified(place.func) in _SELECTING:
        given = {word.arg: word.value for word in place.keywords}
        return place.args[0] if place.args else given.get("input")
    return place.func.value if isinstance(place.func, ast.Attribute) else None


def places_in(function: Function | ast.Module, model: SemanticModel) -> list[ast.Subscript | ast.Call]:
    """Return the subscripts and calls of a function that may select elements by a mask, in order."""
    places = [
        node
        for node in descendants(function)
        if isinstance(node, ast.Subscript) or (isinstance(node, ast.Call) and last_name(node.func) in SELECTS)
    ]
    return sorted(places, key=model.source.span)


def mask_expression(place: ast.Subscript | ast.Call, model: SemanticModel) -> ast.expr | None:
    """Return the index that is computed as a mask in place: `~done`, `rewards > 0`; or read from a dict or
    attribute: `batch["done"]`.
    """
    if isinstance(place, ast.Call):
        mask = selected_by(place, model)
        return None if isinstance(mask, ast.Name) else mask
    index = place.slice
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    for part in parts:
        match part:
            case ast.UnaryOp(op=ast.Invert()) | ast.BinOp(op=ast.BitAnd() | ast.BitOr() | ast.BitXor()):
                return part
            case ast.Compare(ops=[operator]) if not isinstance(operator, _VALUES):
                return part
            case ast.Subscript() | ast.Attribute() if is_named_mask(part, model):
                return part
    return None


def place_of(index: ast.Name, model: SemanticModel) -> ast.Subscript | ast.Call | None:
    """Return the subscript of which a name is an index, or the call that selects by it."""
    around = model.parent(index)
    around = model.parent(around) if isinstance(around, ast.keyword) else around
    if isinstance(around, ast.Call):
        return around if selected_by(around, model) is index else None
    if isinstance(around, ast.Tuple):
        index_or_display: ast.AST = around
        around = model.parent(around)
    else:
        index_or_display = index
    if isinstance(around, ast.Subscript) and around.slice is index_or_display:
        return around
    return None


def times_looked_up(place: ast.Subscript | ast.Call, model: SemanticModel) -> int:
    """Return how often a place computes the indices of the mask: never for `del`, or to write a number, twice
    to modify elements in place.
    """
    if isinstance(place, ast.Call) or isinstance(place.ctx, ast.Load):
        return 1
    match model.parent(place):
        case ast.AugAssign(target=target) if target is place:
            return 2
        case ast.Assign(value=value):
            return 1 if _is_tensor_or_result(value, model) or is_item_for_each(value, model) else 0
    return 0


def is_item_for_each(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a value of unknown type is the item that a loop over names picks: `fresh[name]`. What a mask
    stores under each name in turn is likely a tensor of rows, not one number for all.
    """
    if not isinstance(value, ast.Subscript) or not isinstance(value.slice, ast.Name):
        return False
    if model.types.type_of(value).tag is not TypeTag.UNKNOWN:
        return False
    bound = model.dataflow.definitions(value.slice)
    return bool(bound) and all(binding.kind is BindingKind.FOR for binding in bound)


def _is_tensor_or_result(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is a tensor, or a result of a call that is not known to be something else."""
    tag = model.types.type_of(value).tag
    if tag is not TypeTag.UNKNOWN or not isinstance(value, ast.Name):
        return tag is TypeTag.TENSOR
    bindings = model.dataflow.definitions(value)
    return bool(bindings) and all(isinstance(binding.value, ast.Call) for binding in bindings)
