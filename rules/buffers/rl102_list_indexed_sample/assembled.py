"""Batches that a method assembles item by item: with a call for each, or from objects such as whole games."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, Trait, descendants, frozen, last_name, models, only_callee, regex
from rlint.rules.buffers._shared.held import are_few, is_counted
from rlint.rules.buffers._shared.store_class import is_store_class
from rlint.rules.buffers._shared.unpacked import is_unpacked
from rlint.rules.buffers.rl102_list_indexed_sample.drawn import number_drawn

_BATCHES = regex(
    r"^_*(sample|(get|make|build|prepare|next|collect|encode)_(\w+_)?(batch|minibatch|samples?))"
)
_DRAWS = regex(r"sample|(^|_)(ind|indices|idxs?|indexes|rows|batch|minibatch|chosen|drawn|lst|list)(_|$)")
_JOINS = models.having(Trait.JOINS, "numpy", "torch") | {"numpy.array", "numpy.asarray"}
_RANDOM = ("random.", "numpy.random.")
_OF_FEW = regex(r"env|agent|worker|head|layer|key|field|name")
_PARALLEL = 2
"""Lists that a counted loop reads at the same place: of items and of places in them."""
_LISTS = 3
"""A transition has at least so many fields."""


@frozen
class Assembled:
    """The batch is built in `at`, one item at a time, from the items of `source`, whose methods are called if
    they are `objects`.
    """

    at: ast.expr
    source: ast.expr
    objects: bool = False


def assembled_by_calls(node: ast.ListComp, model: SemanticModel) -> Assembled | None:
    """Return the batch of `rows = [self.draw_one(i) for i in range(n)]`, if `zip(*rows)` takes it apart, or
    of `np.stack([self.encode(i) for i in indices])`.
    """
    match node:
        case ast.ListComp(
            elt=ast.Call() | ast.Subscript(value=ast.Call()) as row,
            generators=[ast.comprehension(ifs=[], is_async=0) as clause],
        ):
            call = row.value if isinstance(row, ast.Subscript) else row
        case _:
            return None
    match call:
        case ast.Call(func=ast.Attribute(value=ast.Name() as owner)):
            known = model.names.is_self(owner) and bool(model.types.call_targets(call))
            if known and _is_drawn_in_store(clause.iter, model):
                return Assembled(node, call.func)
            if not known or not _is_of_batches(node, model):
                return None
            joined = not is_counted(clause.iter, model) and _is_joined(node, model)
            if joined or (call is row and model.once(is_unpacked, node)):
                return Assembled(node, call.func)
    return None


def _is_drawn_in_store(indices: ast.expr, model: SemanticModel) -> bool:
    """Whether a method of a class that stores transitions draws the indices of a batch, and not a few."""
    if not isinstance(indices, ast.Name) or not is_store_class(model.class_of(indices), model):
        return False
    drawn = [binding.value for binding in model.dataflow.definitions(indices) if not binding.path]
    sizes = [number_drawn(draw, model) for draw in drawn if isinstance(draw, ast.Call)]
    known = bool(sizes) and len(sizes) == len(model.dataflow.definitions(indices))
    return known and all(size is not None and not are_few(size, model) for size in sizes)


def drawn_in_turn(loop: ast.For, model: SemanticModel) -> Assembled | None:
    """Return the batch of `for _ in range(batch_size): rows.append(self.draw_one())` in a class that stores
    transitions, where `draw_one` draws an item at random.
    """
    if loop.orelse or not is_counted(loop.iter, model) or not is_store_class(model.class_of(loop), model):
        return None
    size = loop.iter.args[-1] if isinstance(loop.iter, ast.Call) and loop.iter.args else None
    if size is None or are_few(size, model) or _OF_FEW.search(model.source.text(size).lower()):
        return None
    for statement in loop.body:
        for node in descendants(statement):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name() as owner)) as call if (
                    model.names.is_self(owner) and _draws_one(call, model) and _is_gathered(call, loop, model)
                ):
                    return Assembled(call, call.func)
    return None


def _draws_one(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a method of this file draws at random which item of the store it reads."""
    method = only_callee(call, model)
    if method is None:
        return False
    calls = [node for node in descendants(method) if isinstance(node, ast.Call)]
    draws = any((model.names.qualified(call.func) or "").startswith(_RANDOM) for call in calls)
    return draws and any(
        model.names.is_self(node.value.value)
        for node in descendants(method)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute)
    )


def _is_gathered(call: ast.Call, loop: ast.For, model: SemanticModel) -> bool:
    """Whether a loop appends the result of a call to a list, directly or by a variable."""
    names = {target.id for target in model.names.targets(call) if isinstance(target, ast.Name)}
    for statement in loop.body:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="append"), args=[value])):
                if value is call or (isinstance(value, ast.Name) and value.id in names):
                    return True
    return False


def _is_joined(node: ast.ListComp, model: SemanticModel) -> bool:
    """Whether an array or tensor is made of the rows of a comprehension, directly."""
    match model.parent(node):
        case ast.Call(func=func, args=[first, *_]) if first is node:
            return model.names.qualified(func) in _JOINS
    return False


def assembled_in_loop(loop: ast.For, model: SemanticModel) -> Assembled | None:
    """Return the batch whose fields a loop over drawn items collects in several lists: `for game, place in
    drawn: boards.append(game.board(place)); values.append(game.value(place)); …`. Also with a counter: `for i
    in range(batch_size): game, place = games[i], places[i]; …`.
    """
    if loop.orelse or not _is_of_batches(loop, model):
        return None
    counted = is_counted(loop.iter, model)
    if counted and _OF_FEW.search(model.source.text(loop.iter).lower()):
        return None
    sources = _looked_up(loop) if counted else _sources(loop.iter)
    is_drawn = any(_DRAWS.search((last_name(source) or "").lower()) for source in sources)
    if not sources or not (is_drawn or (counted and len(sources) >= _PARALLEL)):
        return None
    if any(_OF_FEW.search((last_name(source) or "").lower()) for source in sources):
        return None
    if any(_is_reported(source, model) for source in sources):
        return None
    items = {part.id for part in descendants(loop.target) if isinstance(part, ast.Name)}
    objects = any(_calls_method(node, frozenset(items)) for node in descendants(loop))
    filled: dict[str, ast.Call] = {}
    for statement in loop.body:
        for node in descendants(statement):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[value]):
                    filled.setdefault(name, node)
                    if _reads(value, items):
                        items.add(name)
                case ast.Assign(targets=targets, value=value) if _reads(value, items):
                    items |= {p.id for t in targets for p in descendants(t) if isinstance(p, ast.Name)}
    own = [call for name, call in filled.items() if name in items]
    return Assembled(own[0], sources[0], objects) if len(own) >= _LISTS else None


def _is_reported(source: ast.expr, model: SemanticModel) -> bool:
    """Whether a list was drawn or picked in the same function, where it is reported."""
    values = (
        [each.value for each in model.dataflow.definitions(source)] if isinstance(source, ast.Name) else []
    )
    return any(
        isinstance(value, ast.ListComp)
        or (isinstance(value, ast.Call) and (model.names.qualified(value.func) or "").startswith("random."))
        for value in values
    )


def _calls_method(node: ast.AST, items: frozenset[str]) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name))):
            return name in items
    return False


def _is_of_batches(node: ast.AST, model: SemanticModel) -> bool:
    """Whether a method of a class that stores transitions returns batches, judging by its name."""
    function = model.function(node)
    named = function is not None and bool(_BATCHES.search(function.name))
    return named and is_store_class(model.class_of(node), model)


def _sources(iterable: ast.expr) -> list[ast.expr]:
    """Return what a loop iterates over: the arguments of `zip` and `enumerate`, the function of a call."""
    match iterable:
        case ast.Call(func=ast.Name(id="zip" | "enumerate"), args=args):
            return [source for argument in args for source in _sources(argument)]
        case ast.Call(func=ast.Attribute() | ast.Name() as func):
            return [func]
        case ast.Name() | ast.Attribute():
            return [iterable]
        case ast.Subscript(value=ast.Name() as fields, slice=ast.Constant()):
            return [fields]
    return []


def _looked_up(loop: ast.For) -> list[ast.expr]:
    """Return the lists of which each iteration of a counted loop begins by taking one item: `game =
    games[i]`.
    """
    taken: list[ast.expr] = []
    for statement in loop.body:
        match statement:
            case ast.Assign(targets=[ast.Name()], value=value):
                values = [value]
            case ast.Assign(targets=[ast.Tuple()], value=ast.Tuple(elts=values)):
                pass
            case _:
                break
        for value in values:
            match value, loop.target:
                case ast.Subscript(value=ast.Name() as held, slice=ast.Name(id=place)), ast.Name(
                    id=counter
                ) if place == counter:
                    taken.append(held)
    return taken


def _reads(value: ast.AST, names: set[str]) -> bool:
    return any(isinstance(part, ast.Name) and part.id in names for part in descendants(value))
