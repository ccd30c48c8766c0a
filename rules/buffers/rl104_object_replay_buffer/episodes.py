"""Buffers of whole episodes or games as objects, of which batches are built step by step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    FUNCTIONS,
    BindingKind,
    Function,
    Heat,
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    last_name,
    models,
)
from rlint.rules.buffers._shared.held import is_sampling
from rlint.rules.buffers._shared.store_class import is_store_class
from rlint.rules.buffers.rl104_object_replay_buffer.object_store import StoredItem, uses_of
from rlint.rules.buffers.rl104_object_replay_buffer.replay_list import first_of_kept

_RANDOM = ("random.", "numpy.random.")
_PICKS = models.names_having(Trait.PICKS | Trait.WHOLE, "random", "numpy.random", TypeTag.RANDOM_GENERATOR)
_ARRAYS = ("numpy.array", "numpy.asarray")
_FIELDS = 2
"""So many fields of an episode, or results of its methods, are collected step by step."""
_OTHERS = (TypeTag.NDARRAY, TypeTag.TENSOR, TypeTag.STR, TypeTag.INT, TypeTag.FLOAT, TypeTag.BOOL)


def converted_by(written: StoredItem, model: SemanticModel) -> Function | None:
    """Return the method of a buffer class that builds batches from the steps of stored episodes, if the list
    is one from which episodes are drawn at random and that training keeps.
    """
    holder, cls = written.holder, model.class_of(written.holder)
    if cls is None or not isinstance(holder, ast.Attribute) or not is_store_class(cls, model):
        return None
    if model.types.type_of(written.value).tag in _OTHERS or not isinstance(
        written.value, (ast.Name, ast.Subscript)
    ):
        return None
    uses = uses_of(holder, model)
    drawn = [read for use in uses for read in _drawn_items(use, model)]
    if first_of_kept(drawn, uses, model) is None:
        return None
    held = {holder.attr}
    methods = (method for method in cls.body if isinstance(method, FUNCTIONS))
    for method in methods:
        if model.frequency.heat_of(method.body[0]).level is Heat.COLD:
            continue
        if len(_fields_read(method, held)) >= _FIELDS or _methods_called(method, model) >= _FIELDS:
            return method
    return None


def _drawn_items(use: ast.expr, model: SemanticModel) -> Iterator[ast.AST]:
    """Yield the drawing of an episode: `self.games[i]` at a random index, `random.choice(self.games)`."""
    match model.parent(use):
        case ast.Subscript(value=value, slice=ast.Name() as index, ctx=ast.Load()) as item if value is use:
            if _is_random(index, model):
                yield item
        case ast.Subscript(value=value, slice=ast.Call() as index, ctx=ast.Load()) as item if value is use:
            if (model.names.qualified(index.func) or "").startswith(_RANDOM):
                yield item
        case ast.Call(func=func, args=[first, *_]) as call if first is use:
            if (model.names.qualified(func) or "").startswith(_RANDOM) or last_name(func) in _PICKS:
                yield call
            is_array = model.names.qualified(func) in _ARRAYS and is_sampling(call, model)
            if is_array and isinstance(model.parent(call), ast.Subscript):
                yield call


def _is_random(index: ast.Name, model: SemanticModel) -> bool:
    """Whether an index was drawn, itself or as one of several."""
    for binding in model.dataflow.definitions(index):
        value = binding.value
        if binding.kind in (BindingKind.FOR, BindingKind.COMPREHENSION) and isinstance(value, ast.Name):
            made = model.dataflow.definitions(value)
            value = made[0].value if len(made) == 1 else None
        while isinstance(value, ast.Subscript):
            value = value.value
        if not isinstance(value, ast.Call):
            return False
        name = model.names.qualified(value.func) or ""
        if not name.startswith(_RANDOM) and last_name(value.func) not in _PICKS:
            return False
    return bool(model.dataflow.definitions(index))


def _fields_read(method: Function, held: set[str]) -> set[str]:
    """Return the fields of stored episodes that a loop over steps reads at single steps: `rewards` of
    `self.games[i]["rewards"][step]` and of `game.rewards[step]`.
    """
    items = {
        target.id
        for node in descendants(method)
        if isinstance(node, ast.Assign) and _is_of(node.value, held, set())
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    found: set[str] = set()
    for loop in descendants(method):
        if not isinstance(loop, ast.For):
            continue
        for node in descendants(loop):
            match node:
                case ast.Subscript(
                    value=ast.Subscript(value=item, slice=ast.Constant(value=str(field))),
                    slice=ast.Name() | ast.BinOp(),
                    ctx=ast.Load(),
                ) if _is_of(item, held, items):
                    found.add(field)
                case ast.Subscript(
                    value=ast.Attribute(value=ast.Name() as item, attr=field),
                    slice=ast.Name() | ast.BinOp(),
                    ctx=ast.Load(),
                ) if _is_of(item, held, items):
                    found.add(field)
    return found


def _is_of(item: ast.expr, held: set[str], items: set[str]) -> bool:
    """Whether an expression is an episode: an item of the list, or a variable for one."""
    match item:
        case ast.Name(id=name):
            return name in items
        case ast.Subscript(value=ast.Attribute(value=ast.Name(id="self"), attr=attr)):
            return attr in held
    return False


def _is_given_variable(call: ast.Call) -> bool:
    """Whether the first argument of a call is a variable, such as the number of a step."""
    given = [*call.args[:1], *(keyword.value for keyword in call.keywords)]
    return bool(given) and isinstance(given[0], ast.Name)


def _methods_called(method: Function, model: SemanticModel) -> int:
    """Return how many methods of an episode a loop or comprehension over episodes calls with a position:
    `[(game.image(place), game.targets(place)) for game, place in drawn]`.
    """
    called: dict[str, set[str]] = {}
    for node in descendants(method):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name() as item, attr=name)) if _is_given_variable(
                node
            ):
                bindings = model.dataflow.definitions(item)
                looped = all(b.kind in (BindingKind.FOR, BindingKind.COMPREHENSION) for b in bindings)
                known = models.method_fact(model.types.type_of(item).tag, name) is not None
                if bindings and looped and not known:
                    called.setdefault(item.id, set()).add(name)
    return max(map(len, called.values()), default=0)
