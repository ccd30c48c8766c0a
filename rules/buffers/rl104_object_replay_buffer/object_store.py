"""Lists and deques that hold one object per transition, from which batches are drawn at random."""

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
    frozen,
    last_name,
    models,
    numbers,
    regex,
)
from rlint.rules.buffers._shared.held import NO_TRANSITIONS, is_counted, is_length_of, is_sampling
from rlint.rules.buffers._shared.store_class import is_store_class
from rlint.rules.buffers._shared.unpacked import is_unpacked

FIELDS = 3
"""A tuple with fewer parts is not a transition."""
SMALL = 1_000
"""Fewer objects than this take little memory."""

_ONE = regex(
    r"(^|_)(transition|experience|exp|e|sample|data|item|element|step|record|memory|obs|sarsa?|tuple|timestep|t|x"
    r"|args|obj|sarsd?)_?$"
)
_OTHERS = frozenset({*NO_TRANSITIONS, TypeTag.NDARRAY, TypeTag.TENSOR})
_MANY = regex(
    r"episode|trajector|traj|rollout|seq|path|batch|game|task|text|prompt|chunk|segment|score|reward|loss|s$"
)
_VAGUE = regex(r"(^|_)(e|sample|data|item|element|record|x|args|obj)_?$")
"""Types that may be a transition, or a whole episode: the name of the list decides."""
_EPISODES = regex(r"episode|trajector|(^|_)traj|segment|(^|_)games?(_|$)|(^|_)paths?(_|$)|sequences?(_|$)")
_DRAWS = frozenset({"random.sample", "random.choices", "numpy.random.choice"})
_METHODS = frozenset({path.rpartition(".")[2] for path in _DRAWS})
_DRAWN_BY = models.names_having(Trait.PICKS | Trait.WHOLE, "random", "numpy.random", TypeTag.RANDOM_GENERATOR)
_CONVERTS = frozenset({"numpy.array", "numpy.asarray"})
_ALLOCATES = models.having(Trait.FILLS, "numpy")
_TENSORS_OF = models.having(Trait.FROM_DATA | Trait.LEGACY, "torch")
_MOVES = models.having(Trait.CASTS | Trait.RELOCATES, TypeTag.TENSOR)
_COPIES = frozenset({"copy.copy", "copy.deepcopy"})
_EMPTIES = frozenset({"clear"})


@frozen
class StoredItem:
    """A statement that stores a transition: `value` becomes an item of the list `holder`."""

    holder: ast.Name | ast.Attribute
    value: ast.expr


def written_by(node: ast.AST) -> StoredItem | None:
    """Return the list and the value of `memory.append(value)` or `memory[position] = value`."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=(ast.Name() | ast.Attribute(value=ast.Name())) as holder, attr="append"),
            args=[value],
            keywords=[],
        ):
            return StoredItem(holder, value)
        case ast.Assign(
            targets=[
                ast.Subscript(
                    value=(ast.Name() | ast.Attribute(value=ast.Name())) as holder,
                    slice=ast.Name() | ast.Attribute() | ast.BinOp(),
                )
            ],
            value=value,
        ):
            return StoredItem(holder, value)
    return None


def is_transition(value: ast.expr, model: SemanticModel, depth: int = 3) -> bool:
    """Whether a value is one transition: an object of several parts, or named like one."""
    return _reads_like_one(value, model, depth) and model.types.type_of(value).tag not in _OTHERS


def may_be_transition(written: StoredItem, model: SemanticModel) -> bool:
    """Whether nothing is known of a stored value that contradicts that it is a transition."""
    value = written.value
    if isinstance(value, (ast.Constant, ast.BinOp, ast.Compare, ast.ListComp, ast.DictComp)):
        return False
    return model.types.type_of(value).tag not in _OTHERS and not is_of_episodes(written, model)


def one_number_tensors(value: ast.expr, model: SemanticModel) -> int:
    """Return how many fields of a transition are tensors of one number that were made for it, also by the
    function of this file that returns the transition: `torch.tensor([reward])`.
    """
    match value:
        case ast.Tuple(elts=parts):
            return sum(_is_of_one_number(part, model) for part in parts)
        case ast.Call():
            targets = model.types.call_targets(value)
            definition = model.types.definition(targets[0]) if len(targets) == 1 else None
            returned = (
                [node for node in definition.body if isinstance(node, ast.Return)] if definition else []
            )
            if len(returned) == 1 and isinstance(returned[0].value, ast.Tuple):
                return one_number_tensors(returned[0].value, model)
    return 0


def _is_of_one_number(part: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is `torch.tensor([x])`, by its only assignment, on any device."""
    if isinstance(part, ast.Name):
        bindings = model.dataflow.definitions(part)
        if len(bindings) != 1 or bindings[0].kind is not BindingKind.ASSIGN or bindings[0].path:
            return False
        part = bindings[0].value or part
    while isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr in _MOVES:
        part = part.func.value
    match part:
        case ast.Call(func=func, args=[ast.List(elts=[_]), *_]):
            return model.names.qualified(func) in _TENSORS_OF
    return False


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


def _reads_like_one(value: ast.expr, model: SemanticModel, depth: int) -> bool:
    """Whether a value may be a transition by its syntax."""
    match value:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return len(parts) >= FIELDS or any(isinstance(part, ast.Starred) for part in parts)
        case ast.Dict(keys=keys):
            return len(keys) >= FIELDS
        case ast.Call(func=func, args=[copied]) if model.names.qualified(func) in _COPIES:
            return depth > 0 and is_transition(copied, model, depth - 1)
        case ast.Call(func=func, args=args, keywords=keywords):
            name = (model.names.qualified(func) or "").partition(".")[0]
            made = name not in ("numpy", "torch", "random") and not _MANY.search(
                (last_name(func) or "").lower()
            )
            whole = any(isinstance(part, ast.Starred) for part in args)
            whole = whole or any(keyword.arg is None for keyword in keywords)
            return made and (whole or len(args) + len(keywords) >= FIELDS)
        case ast.Name(id=name):
            bindings = model.dataflow.definitions(value)
            if bindings and all(binding.kind is BindingKind.PARAMETER for binding in bindings):
                plain = name.lower()
                return bool(_ONE.search(plain)) and (plain in ("args", "obs") or not _MANY.search(plain))
            values = [
                b.value
                for b in bindings
                if b.kind is BindingKind.ASSIGN and not b.path and b.value is not None
            ]
            return bool(values) and depth > 0 and all(is_transition(v, model, depth - 1) for v in values)
    return False


def many_written_by(node: ast.AST) -> ast.Name | ast.Attribute | None:
    """Return the list to which `memory.extend(batch)` or `memory[start:end] = batch` adds several at once."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=(ast.Name() | ast.Attribute(value=ast.Name())) as holder, attr="extend"),
            args=[_],
            keywords=[],
        ):
            return holder
        case ast.Assign(
            targets=[
                ast.Subscript(
                    value=(ast.Name() | ast.Attribute(value=ast.Name())) as holder, slice=ast.Slice()
                )
            ]
        ):
            return holder
    return None


def takes_sequences_apart(draw: ast.AST, model: SemanticModel) -> bool:
    """Whether the function that draws items iterates over each, and unpacks its elements as transitions: `for
    sequence in batch: for transition in sequence: state, action, reward = transition`.
    """
    function = model.function(draw)
    return function is not None and any(
        _takes_apart(node, model.parent(node)) for node in descendants(function)
    )


def _takes_apart(inner: ast.AST, outer: ast.AST | None) -> bool:
    match inner, outer:
        case ast.For(iter=ast.Name(id=items)), ast.For(target=ast.Name(id=item)) if items == item:
            return any(_unpacks(part, inner) for part in (inner, *inner.body))
    return False


def _unpacks(statement: ast.stmt, loop: ast.For) -> bool:
    match statement, loop.target:
        case ast.For(target=ast.Tuple(elts=parts)), _:
            return len(parts) >= FIELDS
        case ast.Assign(targets=[ast.Tuple(elts=parts)], value=ast.Name(id=read)), ast.Name(id=transition):
            return len(parts) >= FIELDS and read == transition
    return False


def is_of_episodes(written: StoredItem, model: SemanticModel) -> bool:
    """Whether the list contains whole episodes, judging by its name, and no transitions are put into it:
    `self.segments.append(data)`.
    """
    value, holder = written.value, last_name(written.holder) or ""
    if not isinstance(value, ast.Name) or not _VAGUE.search(value.id.lower()):
        return False
    given = all(binding.kind is BindingKind.PARAMETER for binding in model.dataflow.definitions(value))
    return given and bool(_EPISODES.search(holder.lower()))


def uses_of(holder: ast.Name | ast.Attribute, model: SemanticModel) -> Sequence[ast.Name | ast.Attribute]:
    """Return all nodes of the file for the same list."""
    if isinstance(holder, ast.Name):
        scope = model.names.scope(holder).lookup(holder.id)
        return model.names.uses(holder.id, scope) if scope is not None else []
    related = _related_classes(model.class_of(holder), model)
    return [
        use
        for use in model.names.attribute_uses(holder.attr)
        if array_growth.same_place(use.value, holder.value) and model.class_of(use) in related
    ]


def _related_classes(cls: ast.ClassDef | None, model: SemanticModel) -> list[ast.ClassDef | None]:
    """Return a class with the classes of this file that it extends, and those that extend it."""
    if cls is None:
        return [None]
    classes = model.syntax.of_type(ast.ClassDef)
    bases = {each.name: {last_name(base) for base in each.bases} for each in classes}
    above, below = {cls.name}, {cls.name}
    for _ in classes:  # each pass adds one generation
        more = {name for name in bases if any(name in bases[each] for each in above)} - above
        fewer = {name for name, extended in bases.items() if extended & below} - below
        if not more and not fewer:
            break
        above, below = above | more, below | fewer
    return [each for each in classes if each.name in above | below]


def is_replay(uses: Sequence[ast.Name | ast.Attribute], model: SemanticModel) -> ast.AST | None:
    """Return where batches are drawn at random from a list that is created empty, is not small, and is never
    replaced or emptied during training; None otherwise.
    """
    begins = objects = False
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
            if _is_cut(value, use):
                continue
            if _is_replaced(use, value, model):
                return None
            # it may be loaded from a file before training starts
            begins = begins or _is_empty(value, model)
            objects = objects or is_object_array(value, model)
        elif _empties(parent) and _runs_often(use, model):
            return None
    if not begins:
        return None
    draws = (draw for use in uses for draw in _draws(use, model) if _runs_often(draw, model))
    looked_up = (read for use in uses if objects for read in _item_reads(use, model))
    return next(draws, None) or next(looked_up, None)


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
    buffer: one created for each epoch is still sampled from.
    """
    method = model.function(use)
    is_new = method is not None and method.name == "__init__" and _is_empty(value, model)
    return model.frequency.heat_of(use).level > (Heat.WARM if is_new else Heat.COLD)


def _runs_often(node: ast.AST, model: SemanticModel) -> bool:
    return model.frequency.heat_of(node).level > Heat.COLD


def _draws(use: ast.expr, model: SemanticModel) -> Iterator[ast.AST]:
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
            picked_in_loop = is_sampling(parent, model) and is_store_class(model.class_of(use), model)
            repeated = picked_in_loop and bool(model.frequency.loops(parent))
            drawn = repeated or _is_drawn(index, model)
            if drawn or _is_picked_and_unpacked(parent, index, model):
                yield parent
        case ast.Subscript(value=value, slice=ast.Slice(lower=ast.expr(), upper=ast.expr())) if value is use:
            if is_sampling(parent, model) and model.frequency.loops(parent):
                yield parent  # sequences of transitions
        case ast.comprehension() if parent.iter is use and _takes_fields(parent, use, model):
            yield use


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
    return len(fields) >= FIELDS


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


def _is_cut(value: ast.expr, use: ast.expr) -> bool:
    """Whether a use is `self.memory = self.memory[-capacity:]`."""
    return isinstance(value, ast.Subscript) and array_growth.same_place(value.value, use)


def _is_empty(value: ast.expr, model: SemanticModel) -> bool:
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
        case ast.Call() if is_object_array(value, model):
            return not _is_small(value.args[0], model)
        case ast.Call(func=func, args=args, keywords=keywords):
            if model.names.qualified(func) == "builtins.list":
                return not args
            if model.names.qualified(func) != "collections.deque":
                return False
            given = [keyword.value for keyword in keywords if keyword.arg == "maxlen"] or args[1:2]
            empty = not args or (isinstance(args[0], (ast.List, ast.Tuple)) and not args[0].elts)
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
        return has_objects and isinstance(first, ast.BinOp) and _is_empty(first, model)
    return name in _ALLOCATES and model.types.type_of(value).dtype == element_types.OBJECT


def _is_small(size: ast.expr, model: SemanticModel) -> bool:
    number = numbers.number_of(size, model)
    return number is not None and number.value < SMALL
