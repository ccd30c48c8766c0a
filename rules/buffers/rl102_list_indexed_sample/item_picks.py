"""Items picked one by one by comprehensions, generators and `map`, whatever the form of the look-up."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    COMPREHENSIONS,
    SemanticModel,
    Trait,
    Type,
    TypeTag,
    descendants,
    element_types,
    frozen,
    last_name,
    models,
    observations,
    regex,
    same_code,
    variable_names,
)
from rlint.rules.buffers._shared.choice import shown
from rlint.rules.buffers._shared.held import are_few, is_counted, is_sampling, may_hold_transitions
from rlint.rules.buffers._shared.store_size import holds_transitions
from rlint.rules.buffers._shared.unpacked import is_unpacked
from rlint.rules.buffers._shared.wrapped import container_of
from rlint.rules.buffers.rl102_list_indexed_sample.drawn import drawn_by, number_drawn
from rlint.rules.buffers.rl102_list_indexed_sample.gathered import selects_fields
from rlint.rules.buffers.rl102_list_indexed_sample.taken_apart import is_drawn, is_stacked

_JOINS = models.having(Trait.JOINS, "numpy", "torch") | {"numpy.array", "numpy.asarray"}
_CONVERTS = (
    models.having(Trait.FROM_DATA, "numpy", "torch")
    | {"builtins.float", "builtins.int", "builtins.bool", "torch.from_numpy"}
)  # fmt: skip
_CONVERSIONS = models.having(Trait.CASTS | Trait.DETACHES | Trait.COPIES | Trait.TO_HOST, TypeTag.TENSOR)
_CHOOSES = frozenset({"random.choice", "numpy.random.choice"})
_PLACES = frozenset({"randrange", "randint", "integers", "random_integers"})
_ARRAYS = (TypeTag.NDARRAY, TypeTag.TENSOR)
_OF_FEW = regex(r"(^|_)(env|agent|worker|task|player|name|key)(s|_ids?|_names?)?$")
_FIELDS = 3
"""A transition has at least so many fields."""
_CONTAINERS = (ast.Name, ast.Attribute, ast.Subscript)


@frozen
class ItemPick:
    """`node` picks one item of `held` for each of `indices`; `drawn_each` says that a call draws each place.
    `field` is the code of the part that is taken of each item, "" for all of it. `variable` is the name of
    the item of `indices`, and `place` what the items are looked up by, if that is computed: `i + 3`.
    """

    node: ast.expr
    held: ast.expr
    indices: ast.expr
    field: str
    drawn_each: bool = False
    variable: str = ""
    place: ast.expr | None = None

    def at_once(self, model: SemanticModel) -> str | None:
        """Return the code that picks all items of an array at once; None if it is not known."""
        held, indices = shown(self.held, model), shown(self.indices, model)
        if self.place is None:
            return f"{held}[{indices}]"
        if not isinstance(self.place, ast.BinOp) or not isinstance(self.indices, (ast.Name, ast.Attribute)):
            return None
        place = regex(rf"\b{self.variable}\b").sub(lambda _: indices, shown(self.place, model))
        return f"{held}[{place}]"


def item_pick(node: ast.AST, model: SemanticModel) -> ItemPick | None:
    """Return the items that an expression picks one by one."""
    match node:
        case (
            ast.ListComp(elt=element, generators=[clause])
            | ast.GeneratorExp(elt=element, generators=[clause])
        ):
            if clause.ifs or clause.is_async:
                return None
            return _picked(node, element, clause.target, clause.iter, model)
        case ast.Call(func=ast.Name(id="map"), args=[ast.Lambda() as function, indices], keywords=[]):
            match function.args:
                case ast.arguments(args=[argument]):
                    target = ast.Name(argument.arg, ast.Store())
                    return _picked(node, function.body, target, indices, model)
        case ast.Call(
            func=ast.Name(id="map"),
            args=[ast.Attribute(value=held, attr="__getitem__" | "get"), indices],
            keywords=[],
        ):
            return ItemPick(node, held, indices, "")
    return None


def _picked(
    node: ast.expr, element: ast.expr, target: ast.expr, indices: ast.expr, model: SemanticModel
) -> ItemPick | None:
    if not isinstance(target, ast.Name):
        return None
    found = _item(element, target.id, model)
    if found is None:
        return None
    item, held, drawn_each = found
    if not isinstance(held, _CONTAINERS) or (target.id in variable_names(held) and not drawn_each):
        return None
    field = "" if item is element else ast.dump(_without(element, item))
    place = item.slice if isinstance(item, ast.Subscript) and not drawn_each else None
    converted = place.args[0] if isinstance(place, ast.Call) and len(place.args) == 1 else place
    is_plain = isinstance(converted, ast.Name) and converted.id == target.id
    return ItemPick(node, held, indices, field, drawn_each, target.id, None if is_plain else place)


def _without(element: ast.expr, item: ast.expr) -> ast.expr:
    """Return the part that is taken of an item, as shown around it."""
    match element:
        case ast.Attribute(attr=attr):
            return ast.Constant(attr)
        case ast.Subscript(slice=index):
            return index
        case ast.Call(args=[first, *_]) if first is not item:
            return _without(first, item)
    return ast.Constant(value=None)


def _item(element: ast.expr, index: str, model: SemanticModel) -> tuple[ast.expr, ast.expr, bool] | None:
    """Return the look-up in an element, its container, and whether it draws a place itself."""
    match element:
        case ast.Subscript(value=held, slice=place) if index in variable_names(place) and not isinstance(
            place, ast.Slice
        ):
            return element, held, False
        case ast.Call(func=ast.Attribute(value=held, attr="__getitem__" | "get"), args=[place, *_]) if (
            index in variable_names(place)
        ):
            return element, held, False
        case ast.Subscript(value=held, slice=ast.Call() as place) if _draws_place(place, held):
            return element, held, True
        case ast.Call(args=[held]) if _chooses(element, model):
            return element, held, True
        case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.BoolOp(values=[inner, *_]):
            return _item(inner, index, model)
        case ast.Call(func=ast.Attribute(value=inner, attr=method), args=[]) if method in _CONVERSIONS:
            return _item(inner, index, model)
        case ast.Call(func=func, args=[inner, *_]) if index not in variable_names(func):
            return _item(inner, index, model)
        case ast.IfExp(test=inner, body=ast.Constant(), orelse=ast.Constant()) | ast.IfExp(body=inner):
            return _item(inner, index, model)
    return None


def _chooses(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call draws one item: `random.choice(held)`, `rng.choice(held)`."""
    if call.keywords:
        return False
    if model.names.qualified(call.func) in _CHOOSES:
        return True
    owner = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr == "choice" else None
    return owner is not None and model.types.type_of(owner).tag is TypeTag.RANDOM_GENERATOR


def _draws_place(place: ast.Call, held: ast.expr) -> bool:
    """Whether a call draws one place in a container: `random.randrange(len(held))`."""
    if last_name(place.func) not in _PLACES or any(each.arg == "size" for each in place.keywords):
        return False
    return any(
        isinstance(part, ast.Call) and last_name(part.func) == "len" and same_code(part.args[0], held)
        for argument in place.args
        for part in descendants(argument)
        if not isinstance(part, ast.Call) or part.args
    )


def rows_join(pick: ItemPick, model: SemanticModel) -> ast.Call | None:
    """Return the call that stacks picked rows of an array to one again, with conversions of each at most."""
    if pick.drawn_each or is_counted(pick.indices, model) or _is_few(pick, model):
        return None
    if is_drawn(pick.indices, model) and drawn_by(pick.indices, model) is None:
        return None  # of another kind than integers, such as a mask
    item = model.types.type_of(pick.indices).item
    if (item is not None and item.tag is TypeTag.STR) or _is_of_agents(pick):
        return None
    kind = model.types.type_of(pick.held)
    if kind.tag not in _ARRAYS or kind.dtype == element_types.OBJECT or kind.optional:
        return None
    join = model.parent(pick.node)
    if isinstance(join, ast.Call) and isinstance(join.func, ast.Name) and join.func.id == "list":
        join = model.parent(join)
    if not isinstance(join, ast.Call) or model.names.qualified(join.func) not in _JOINS:
        return None
    element = pick.node.elt if isinstance(pick.node, (ast.ListComp, ast.GeneratorExp)) else None
    return join if element is None or _only_converts(element, model) else None


def _is_of_agents(pick: ItemPick) -> bool:
    """Whether the observations of agents are picked by their names, or few things by theirs."""
    held, indices = last_name(pick.held) or "", last_name(pick.indices) or ""
    return bool(_OF_FEW.search(indices.lower())) or (
        isinstance(pick.held, ast.Name) and observations.names_one(held)
    )


def _only_converts(element: ast.expr, model: SemanticModel) -> bool:
    """Whether an element is a row, or a conversion of it: `torch.from_numpy(rows[i])`."""
    match element:
        case ast.Subscript(value=ast.Name() | ast.Attribute() | ast.Subscript()):
            return True
        case ast.Call(func=func, args=[inner, *_]) if model.names.qualified(func) in _CONVERTS:
            return _only_converts(inner, model)
        case ast.Call(func=ast.Attribute(value=inner, attr="float" | "long" | "copy" | "clone" | "item")):
            return _only_converts(inner, model)
    return False


def is_batch(pick: ItemPick, model: SemanticModel) -> bool:
    """Whether the picked items are transitions, of which a batch is made."""
    kind = container_of(pick.held, model)
    of_own = isinstance(pick.held, ast.Name) and model.names.is_self(pick.held)
    if of_own and not model.once(_returns_item, pick.held):
        return False
    if (
        not (of_own or _may_hold(kind))
        or _is_few(pick, model)
        or not isinstance(pick.held, (ast.Name, ast.Attribute))
    ):
        return False
    if not pick.drawn_each and is_counted(pick.indices, model):
        return False
    if not pick.drawn_each and selects_fields(pick.held, pick.indices, model):
        return False
    whole = _whole(pick.node, model)
    if is_unpacked(whole, model) or _takes_fields(pick, model):
        return True
    drawn = pick.drawn_each or is_drawn(pick.indices, model) or is_sampling(pick.node, model)
    if kind.tag is TypeTag.DICT or not drawn:
        return False
    return bool(holds_transitions(pick.held, model) or is_stacked(whole, model))


def _returns_item(own: ast.expr, model: SemanticModel) -> bool:
    """Whether `self[i]` is an item of one list in an attribute: `return self.rows[index]`."""
    cls = model.class_of(own)
    method = model.method(cls, "__getitem__") if cls is not None else None
    match method.body[-1] if method is not None else None:
        case ast.Return(value=ast.Subscript(value=ast.Attribute() as held, slice=ast.Name())):
            may: bool = may_hold_transitions(model.types.type_of(held))
            return may
    return False


def _may_hold(kind: Type) -> bool:
    """Whether a value of this type may hold transitions, also by number in a dict or an array of objects."""
    if kind.tag is TypeTag.NDARRAY:
        return kind.dtype == element_types.OBJECT
    if kind.tag is TypeTag.DICT:
        return not kind.keys and kind.item is not None and kind.item.tag in (TypeTag.INSTANCE, TypeTag.TUPLE)
    may: bool = may_hold_transitions(kind)
    return may


def _whole(node: ast.expr, model: SemanticModel) -> ast.expr:
    """Return the list that is made of an iterator: `list(map(…))`."""
    match model.parent(node):
        case ast.Call(func=ast.Name(id="list" | "tuple"), args=[first]) as made if first is node:
            return made
    return node


def _is_few(pick: ItemPick, model: SemanticModel) -> bool:
    """Whether only a few items are picked for sure."""
    call = drawn_by(pick.indices, model)
    if call is not None:
        return bool(are_few(number_drawn(call, model), model))
    match pick.indices:
        case ast.Call(func=ast.Name(id="range"), args=[size]):
            return bool(are_few(size, model))
    return False


def _takes_fields(pick: ItemPick, model: SemanticModel) -> bool:
    """Whether a function picks three fields or more of the same items by a comprehension each."""
    return bool(pick.field) and len({other.field for other in _same(pick, model)} - {""}) >= _FIELDS


def _same(pick: ItemPick, model: SemanticModel) -> Iterator[ItemPick]:
    """Yield the picks of the same items in the function."""
    function = model.function(pick.node)
    for node in descendants(function) if function is not None else ():
        if isinstance(node, COMPREHENSIONS):
            other = item_pick(node, model)
            if other and same_code(other.held, pick.held) and same_code(other.indices, pick.indices):
                yield other


def is_first(pick: ItemPick, model: SemanticModel) -> bool:
    """Whether a function picks these items here first, where all fields are reported at once."""
    here = (pick.node.lineno, pick.node.col_offset)
    return not any((other.node.lineno, other.node.col_offset) < here for other in _same(pick, model))
