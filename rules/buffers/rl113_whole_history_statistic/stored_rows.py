"""Statistics of all rows of a replay buffer: `self.rewards[: self.size].std()`, `self.priorities.max()`."""

from __future__ import annotations

import ast

from rlint.rule import FUNCTIONS, Heat, SemanticModel, Trait, TypeTag, descendants, models, numbers, regex
from rlint.rules.buffers._shared.store_class import is_store_class
from rlint.rules.buffers._shared.store_size import LARGE, counts_a_store

_PRIORITIES = regex(r"priorit|(^|_)prios?(_|$)|td_err")
_TREES = regex(r"tree|fenwick|priorit")
_ALLOCATES = models.having(Trait.ALLOCATES, "numpy", "torch")


def all_rows_of_store(rows: ast.expr, at: ast.Call, model: SemanticModel) -> ast.Subscript | None:
    """Return the filled part of a buffer that a hot method reads as a whole; None if it is emptied."""
    match rows:
        case ast.Subscript(
            value=ast.Attribute() | ast.Subscript(value=ast.Attribute()) as store,
            slice=ast.Slice(lower=None, upper=ast.Attribute() as count, step=None),
        ):
            held = store.value if isinstance(store, ast.Subscript) else store
        case _:
            return None
    cls = model.class_of(at)
    if cls is None or not isinstance(held, ast.Attribute) or not model.names.is_self(held.value):
        return None
    if not is_store_class(cls, model) or not counts_a_store(count, model):
        return None
    if model.frequency.heat_of(at).level is not Heat.HOT or _is_reset(count, cls, model):
        return None
    return rows


def whole_ring(rows: ast.expr, at: ast.Call, model: SemanticModel) -> ast.expr | None:
    """Return the array of one number per transition that a hot method reads as a whole: `self.priorities`,
    which the class writes at an index that wraps around, or the leaves of a sum tree.
    """
    cls = model.class_of(at)
    if cls is None or model.frequency.heat_of(at).level is not Heat.HOT:
        return None
    match rows:
        case ast.Attribute(value=owner, attr=name) if model.names.is_self(owner):
            is_array = model.types.type_of(rows).tag in (TypeTag.NDARRAY, TypeTag.TENSOR)
            is_ring = is_array and model.once(_is_ring, (cls, name))
            return rows if is_ring or model.once(_is_of_priorities, (cls, name)) else None
        case ast.Subscript(
            value=ast.Attribute() as tree,
            slice=ast.Slice(lower=ast.UnaryOp(op=ast.USub(), operand=ast.Attribute() as count), upper=None),
        ):
            named = "tree" in tree.attr.lower() or "prior" in tree.attr.lower()
            return rows if named and counts_a_store(count, model) else None
    return None


def _is_of_priorities(about: tuple[ast.ClassDef, str], model: SemanticModel) -> bool:
    """Whether a class keeps the priorities of all rows in an array or list of fixed length, which it writes
    one by one: `self.priorities = np.zeros(capacity)`, also `self.leaves = [0.0] * n` of a sum tree.
    """
    cls, name = about
    if not (_PRIORITIES.search(name.lower()) or _TREES.search(cls.name.lower())):
        return False
    uses = [use for use in model.names.attribute_uses(name) if model.class_of(use) is cls]
    made = [model.parent(use) for use in uses if isinstance(use.ctx, ast.Store)]
    values = [each.value for each in made if isinstance(each, ast.Assign)]
    if len(values) != 1 or len(made) != 1 or not _is_long(values[0], model):
        return False
    return any(_is_written_once(use, model) for use in uses)


def _is_long(value: ast.expr, model: SemanticModel) -> bool:
    """Whether an array or list is created with a length that is not known to be small."""
    match value:
        case ast.Call(func=func, args=[size, *_]) if model.names.qualified(func) in _ALLOCATES:
            size = size.elts[0] if isinstance(size, ast.Tuple) and size.elts else size
        case ast.BinOp(left=ast.List(elts=[_]), op=ast.Mult(), right=size):
            pass
        case _:
            return False
    number = numbers.number_of(size, model)
    return number is None or number.value >= LARGE


def _is_written_once(use: ast.Attribute, model: SemanticModel) -> bool:
    """Whether an item at an index is assigned, outside of the constructor: `self.priorities[i] = p`."""
    match model.parent(use):
        case ast.Subscript(value=value, slice=ast.Name() | ast.Attribute() | ast.BinOp(), ctx=ast.Store()):
            return value is use and getattr(model.function(use), "name", "") != "__init__"
    return False


def _is_ring(about: tuple[ast.ClassDef, str], model: SemanticModel) -> bool:
    """Whether a class writes the items of an array at an index that wraps around after many."""
    cls, name = about
    for node in descendants(cls):
        match node:
            case ast.Subscript(
                value=ast.Attribute(value=owner, attr=attr),
                slice=ast.Attribute(value=ast.Name(), attr=place),
                ctx=ast.Store(),
            ) if attr == name and model.names.is_self(owner):
                if _wraps_around(place, cls, model):
                    return True
    return False


def _wraps_around(place: str, cls: ast.ClassDef, model: SemanticModel) -> bool:
    for node in descendants(cls):
        match node:
            case (
                ast.Assign(targets=[ast.Attribute(attr=attr)], value=ast.BinOp(op=ast.Mod(), right=modulus))
                | ast.AugAssign(target=ast.Attribute(attr=attr), op=ast.Mod(), value=modulus)
            ):
                if attr == place:
                    number = numbers.number_of(modulus, model)
                    return number is None or not number.value or number.value >= LARGE
    return False


def _is_reset(count: ast.Attribute, cls: ast.ClassDef, model: SemanticModel) -> bool:
    """Whether a method other than the constructor sets the number of rows to a literal, which empties the
    buffer, or nothing but the constructor sets it.
    """
    stores = [
        use
        for use in model.names.attribute_uses(count.attr)
        if isinstance(use.ctx, ast.Store)
        and model.class_of(use) is cls
        and isinstance(function := model.function(use), FUNCTIONS)
        and function.name != "__init__"
    ]
    values = [getattr(model.parent(use), "value", None) for use in stores]
    starts = [
        value
        for use, value in zip(stores, values, strict=True)
        if isinstance(value, ast.Constant) and isinstance(model.parent(use), ast.Assign)
    ]
    return not stores or bool(starts)
