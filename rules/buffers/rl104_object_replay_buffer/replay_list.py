"""Lists and deques from which batches are drawn at random, and which training never empties."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from rlint.rule import (
    BindingKind,
    Heat,
    SemanticModel,
    Trait,
    TypeTag,
    array_growth,
    descendants,
    element_types,
    last_name,
    models,
    numbers,
    regex,
)
from rlint.rules.buffers._shared.held import is_counted, is_length_of, is_sampling
from rlint.rules.buffers._shared.store_class import is_store_class
from rlint.rules.buffers._shared.unpacked import is_unpacked
from rlint.rules.buffers._shared.wrapped import wraps_list
from rlint.rules.buffers.rl104_object_replay_buffer.emptied import is_emptied
from rlint.rules.buffers.rl104_object_replay_buffer.object_store import FIELDS

SMALL = 1_000
"""Fewer objects than this take little memory."""
_DRAWS = frozenset({"random.sample", "random.choices", "numpy.random.choice"})
_METHODS = frozenset({path.rpartition(".")[2] for path in _DRAWS})
_DRAWN_BY = models.names_having(Trait.PICKS | Trait.WHOLE, "random", "numpy.random", TypeTag.RANDOM_GENERATOR)
_CONVERTS = frozenset({"numpy.array", "numpy.asarray"})
_ALLOCATES = models.having(Trait.FILLS, "numpy")
_INDICES = regex(r"(^|_)(indices|indexes|idxs?|idxes|inds)$")
_EMPTIES = frozenset({"clear"})


def is_replay(uses: Sequence[ast.Name | ast.Attribute], model: SemanticModel) -> ast.AST | None:
    """Return where batches are drawn at random from a list that is created empty, is not small, and is never
    replaced or emptied during training by the code that draws; None otherwise.
    """
    draws = [draw for use in uses for draw in draws_of(use, model) if _runs_often(draw, model)]
    stores = (use for use in uses if isinstance(use.ctx, ast.Store))
    if not draws and any(is_object_array(model.names.assigned(use), model) for use in stores):
        draws = [read for use in uses for read in _item_reads(use, model)]
    return first_of_kept(draws, uses, model)


def first_of_kept(
    draws: Sequence[ast.AST], uses: Sequence[ast.Name | ast.Attribute], model: SemanticModel
) -> ast.AST | None:
    """Return the first draw from a list, if the code around it keeps the list for the whole training."""
    if not draws:
        return None
    begins = False
    emptied: list[ast.AST] = []
    for use in uses:
        parent = model.parent(use)
        if isinstance(use.ctx, ast.Store):
            value = parent.value if isinstance(parent, (ast.Assign, ast.AnnAssign)) else None
            if isinstance(parent, ast.Tuple):
                value = model.names.assigned(use)
            if value is None:
                if not isinstance(parent, ast.AnnAssign) and _runs_often(use, model):
                    return None
                continue  # one of several that are loaded from a file
            if is_cut(value, use):
                continue
            if _is_replaced(use, value, model):
                if not is_empty(value, model):
                    return None
                emptied.append(use)
            # it may be loaded from a file before training starts
            begins = begins or is_empty(value, model)
        elif _empties(parent) and _runs_often(use, model):
            emptied.append(use)
    if not begins:
        return None
    return next((draw for draw in draws if not is_emptied(draw, emptied, model)), None)


def _empties(user: ast.AST | None) -> bool:
    """Whether a use is `memory.clear()` or `del memory[:]`."""
    match user:
        case ast.Attribute(attr=method):
            return method in _EMPTIES
        case ast.Subscript(slice=ast.Slice(lower=None, upper=None), ctx=ast.Del()):
            return True
    return False


def _is_replaced(use: ast.expr, value: ast.expr, model: SemanticModel) -> bool:
    """Whether a list of transitions is replaced by this value during training. A constructor creates another
    buffer: one created for each epoch, or for each file that is loaded, is still sampled from.
    """
    method = model.function(use)
    level = model.frequency.heat_of(use).level
    if method is None or method.name != "__init__" or not is_empty(value, model):
        return level > Heat.COLD
    beat = model.frequency.cadence(use)
    return level > Heat.WARM and (beat is None or bool(beat.drivers))


def _runs_often(node: ast.AST, model: SemanticModel) -> bool:
    return model.frequency.heat_of(node).level > Heat.COLD


def draws_of(use: ast.expr, model: SemanticModel) -> Iterator[ast.AST]:
    """Yield the drawing of a batch that this use of a list is part of."""
    parent = model.parent(use)
    match parent:
        case ast.Call(func=func, args=[first, *rest]) if first is use:
            qualified = model.names.qualified(func)
            method = func.attr if isinstance(func, ast.Attribute) else ""
            size = (
                rest[0] if rest else next((k.value for k in parent.keywords if k.arg in ("k", "size")), None)
            )
            by_generator = (
                method in _METHODS
                and model.names.qualified(func) is None
                and isinstance(func, ast.Attribute)
                and (
                    "rng" in model.source.text(func)
                    or model.types.type_of(func.value).tag is TypeTag.RANDOM_GENERATOR
                )
            )
            drawn = size is not None and (qualified in _DRAWS or by_generator)
            whole = qualified in _CONVERTS and _is_indexed(parent, model) and is_sampling(parent, model)
            if whole or (drawn and size is not None and not is_length_of(size, use, model)):
                yield parent
        case ast.Subscript(value=value, slice=ast.Name() as index) if value is use:
            for item in (parent, *_items_of_self(parent, model)):
                if _is_picked(item, index if item is parent else item.slice, model):
                    yield item
        case ast.Subscript(value=value, slice=ast.Slice(lower=ast.expr(), upper=ast.expr())) if value is use:
            if is_sampling(parent, model) and model.frequency.loops(parent):
                yield parent  # sequences of transitions
        case ast.comprehension() if parent.iter is use and _takes_fields(parent, use, model):
            yield use


def _is_picked(item: ast.Subscript, index: ast.expr, model: SemanticModel) -> bool:
    """Whether an item is one of several that a batch consists of."""
    if not isinstance(index, ast.Name):
        return False
    in_loop = bool(model.frequency.loops(item)) and is_store_class(model.class_of(item), model)
    if in_loop and (is_sampling(item, model) or _is_of_given_indices(index, model)):
        return True
    return _is_drawn(index, model) or _is_picked_and_unpacked(item, index, model)


def _items_of_self(item: ast.Subscript, model: SemanticModel) -> Iterator[ast.Subscript]:
    """Yield the items `self[index]` in the methods of a class whose `__getitem__` returns this item, and the
    items of its objects in the rest of the file.
    """
    method, cls = model.function(item), model.class_of(item)
    returned = isinstance(model.parent(item), ast.Return)
    if method is None or cls is None or method.name != "__getitem__" or not returned:
        return
    path = f"{model.module.module}.{model.syntax.qualname(cls)}"
    inside = set(map(id, descendants(cls)))
    for node in model.syntax.of_type(ast.Subscript):
        if id(node) in inside:
            if isinstance(node.value, ast.Name) and node.value.id == "self":
                yield node
        elif isinstance(node.slice, ast.Name):
            kind = model.types.type_of(node.value)
            if kind.tag is TypeTag.INSTANCE and kind.of == path:
                yield node


def _is_of_given_indices(index: ast.Name, model: SemanticModel) -> bool:
    """Whether an index iterates over indices that a method receives: `for i in indices`."""
    for binding in model.dataflow.definitions(index):
        over = binding.value
        if binding.kind not in (BindingKind.FOR, BindingKind.COMPREHENSION) or not isinstance(over, ast.Name):
            return False
        given = model.dataflow.definitions(over)
        if not _INDICES.search(over.id.lower()) or any(b.kind is not BindingKind.PARAMETER for b in given):
            return False
    return True


def _is_picked_and_unpacked(item: ast.Subscript, index: ast.Name, model: SemanticModel) -> bool:
    """Whether a comprehension picks items with given indices, and their fields are collected."""
    made = _picking(item, model)
    match made:
        case ast.ListComp(generators=[ast.comprehension(target=ast.Name(id=name), iter=indices, ifs=[])]):
            drawn = name == index.id and not is_counted(indices, model)
            return drawn and model.once(is_unpacked, made)
    return False


def _item_reads(use: ast.expr, model: SemanticModel) -> Iterator[ast.AST]:
    """Yield the read of an item of an array of objects in code that runs often: `self.data[index]`."""
    match model.parent(use):
        case ast.Subscript(value=value, slice=index, ctx=ast.Load()) as item if value is use:
            if not isinstance(index, (ast.Constant, ast.Slice)) and _runs_often(item, model):
                yield item


def _is_indexed(made: ast.Call, model: SemanticModel) -> bool:
    """Whether an array of all items is indexed with several indices: `np.array(self.memory)[indices]`."""
    match model.parent(made):
        case ast.Subscript(value=value, slice=ast.Name() | ast.Attribute() | ast.Call()):
            return value is made
    return False


def _takes_fields(clause: ast.comprehension, use: ast.expr, model: SemanticModel) -> bool:
    """Whether a function takes several fields out of all items of a list: `[t.state for t in memory]`."""
    function = model.function(use)
    if function is None or clause.ifs or not isinstance(clause.target, ast.Name):
        return False
    fields = {
        ast.dump(node.elt)
        for node in descendants(function)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp))
        if array_growth.same_place(node.generators[0].iter, use)
        if isinstance(node.elt, (ast.Attribute, ast.Subscript)) and isinstance(node.elt.value, ast.Name)
    }
    enough: bool = len(fields) >= FIELDS
    return enough


def _is_drawn(index: ast.Name, model: SemanticModel) -> bool:
    """Whether an index iterates over integers that a generator drew."""
    bindings = model.dataflow.definitions(index)
    if not bindings or not all(
        b.kind in (BindingKind.FOR, BindingKind.COMPREHENSION) and not b.path for b in bindings
    ):
        return False
    over = bindings[0].value
    if isinstance(over, ast.Name):
        made = model.dataflow.definitions(over)
        over = made[0].value if len(made) == 1 and not made[0].path else None
    return isinstance(over, ast.Call) and last_name(over) in _DRAWN_BY


def is_cut(value: ast.expr, use: ast.expr) -> bool:
    """Whether a use is `self.memory = self.memory[-capacity:]`."""
    return isinstance(value, ast.Subscript) and array_growth.same_place(value.value, use)


def is_empty(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is an empty list or deque, or one filled with `None`, with capacity for many items."""
    match value:
        case ast.List(elts=[]):
            return True
        # `[None] * capacity`, or another placeholder for later transitions: `[Transition] * capacity`
        case ast.BinOp(
            left=ast.List(elts=[ast.Constant(value=None) | ast.Name() | ast.Attribute()]),
            op=ast.Mult(),
            right=size,
        ):
            return not _is_small(size, model)
        case ast.ListComp(elt=ast.Constant(value=None)):
            return True
        case ast.ListComp(
            elt=ast.Call() | ast.Constant() as dummy,
            generators=[ast.comprehension(target=ast.Name(id=name), iter=ast.Call(args=[size]))],
        ):
            numbered = any(isinstance(node, ast.Name) and node.id == name for node in descendants(dummy))
            return not numbered and not _is_small(size, model)
        case ast.Call() if is_object_array(value, model):
            return not _is_small(value.args[0], model)
        case ast.Call(func=func, args=args, keywords=keywords):
            if model.names.qualified(func) == "builtins.list":
                return not args
            if model.names.qualified(func) != "collections.deque":
                wraps: bool = wraps_list(value, model)
                return wraps
            given = [keyword.value for keyword in keywords if keyword.arg == "maxlen"] or args[1:2]
            empty = not args or (isinstance(args[0], (ast.List, ast.Tuple)) and not args[0].elts)
            empty = empty or (isinstance(args[0], (ast.BinOp, ast.ListComp)) and is_empty(args[0], model))
            return empty and not (given and _is_small(given[0], model))
    return False


def is_object_array(value: ast.expr | None, model: SemanticModel) -> bool:
    """Whether a value is an array of objects: `np.empty(capacity, dtype=object)`, `np.array([None] * n)`."""
    match value:
        case ast.Call(func=func, args=[first, *more], keywords=keywords):
            name = model.names.qualified(func)
        case _:
            return False
    if name in _CONVERTS:
        is_plain = not more and all(keyword.arg != "dtype" for keyword in keywords)
        has_objects = is_plain or model.types.type_of(value).dtype == element_types.OBJECT
        return has_objects and isinstance(first, ast.BinOp) and is_empty(first, model)
    return name in _ALLOCATES and model.types.type_of(value).dtype == element_types.OBJECT


def _is_small(size: ast.expr, model: SemanticModel) -> bool:
    number = numbers.number_of(size, model)
    return number is not None and number.value < SMALL


def is_drawn_and_unpacked(draw: ast.AST, model: SemanticModel) -> bool:
    """Whether the fields of the drawn items are collected, as those of transitions are."""
    if isinstance(draw, ast.Subscript):
        draw = _picking(draw, model) or draw
    return isinstance(draw, ast.expr) and model.once(is_unpacked, draw)


def _picking(item: ast.Subscript, model: SemanticModel) -> ast.ListComp | None:
    """Return the comprehension that picks items one by one: `[decode(memory[i]) for i in indices]`."""
    for node in model.ancestors(item):
        if isinstance(node, ast.ListComp):
            return node
        if not isinstance(node, (ast.Call, ast.Attribute, ast.Subscript)):
            return None
    return None
