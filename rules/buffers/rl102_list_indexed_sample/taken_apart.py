"""Batches of single transitions that a buffer returns, of which other code collects the fields."""

from __future__ import annotations

import ast

from rlint.rule import (
    BindingKind,
    SemanticModel,
    Trait,
    TypeTag,
    UseKind,
    descendants,
    frozen,
    last_name,
    models,
    regex,
)
from rlint.rules.buffers._shared.held import may_hold_transitions
from rlint.rules.buffers._shared.store_class import is_store_class

_SAMPLES = regex(r"^_*(sample|get_(mini_?)?batch|get_sample|random_sample|sample_\w+|next_batch|draw\w*)$")
_STORES = regex(
    r"buffer|memory|memories|replay|experience|storage|dataset|expert|(^|_)(rb|rpm|er|mem|pool|d)$"
)
DRAWS = models.names_having(Trait.PICKS | Trait.WHOLE, "random", "numpy.random", TypeTag.RANDOM_GENERATOR) | {
    "permutation",
    "randperm",
    "sample",
}
_FIELDS = 3
_COLLECTED = 2
_JOINS = models.having(Trait.JOINS, "numpy", "torch") | models.having(Trait.FROM_DATA, "numpy", "torch")


@frozen
class TakenApart:
    """The fields of a batch are collected at `at`; `source` is the call that returned the batch."""

    at: ast.AST
    source: ast.Call


def unzipped_batch(call: ast.Call, model: SemanticModel) -> TakenApart | None:
    """Return the batch of `zip(*batch)`, if a buffer returned it."""
    match call:
        case ast.Call(args=[ast.Starred(value=batch)], keywords=[]):
            source = _source(batch, model)
            return TakenApart(call, source) if source is not None else None
    return None


def unpacked_in_loop(loop: ast.For, model: SemanticModel) -> TakenApart | None:
    """Return the batch of `for state, action, reward in batch: states.append(state); …`."""
    if loop.orelse:
        return None
    batch = loop.iter
    target: ast.expr = loop.target
    match loop:
        case ast.For(
            target=ast.Tuple(elts=[_, ast.Tuple() | ast.Name() as target]), iter=ast.Call(args=[batch])
        ):
            if last_name(loop.iter) != "enumerate":
                return None
    if not _is_transition(target, loop.body):
        return None
    filled = {
        node.func.value.id
        for statement in loop.body
        for node in descendants(statement)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "append"
        and isinstance(node.func.value, ast.Name)
    }
    source = _source(batch, model) if len(filled) >= _COLLECTED else None
    return TakenApart(loop.iter, source) if source is not None else None


def _is_transition(target: ast.expr, body: list[ast.stmt]) -> bool:
    """Whether the items of a loop are unpacked to fields, in its head or first."""
    if isinstance(target, ast.Tuple):
        return len(target.elts) >= _FIELDS
    match target, body[0]:
        case ast.Name(id=item), ast.Assign(targets=[ast.Tuple(elts=elts)], value=ast.Name(id=read)):
            return item == read and len(elts) >= _FIELDS
    return False


def field_of_batch(node: ast.ListComp, model: SemanticModel) -> TakenApart | None:
    """Return the batch of `[t.state for t in batch]`, if it is the first of several such lists of a function,
    and a buffer returned the batch.
    """
    batch = _fielded(node)
    if batch is None:
        return None
    source = _source(batch, model)
    if source is None:
        return None
    others = [
        use.at
        for use in model.dataflow.uses(source)
        if use.kind is UseKind.ITERATED and isinstance(use.at, ast.comprehension)
    ]
    lists = [
        made for each in others if isinstance(made := model.parent(each), ast.ListComp) and _fielded(made)
    ]
    first = min(lists, key=lambda made: (made.lineno, made.col_offset), default=None)
    return TakenApart(node, source) if len(lists) >= _COLLECTED and first is node else None


def _fielded(node: ast.ListComp) -> ast.Name | None:
    """Return the list of which a comprehension takes one field of each item."""
    match node:
        case ast.ListComp(
            elt=ast.Attribute(value=ast.Name(id=read))
            | ast.Subscript(value=ast.Name(id=read), slice=ast.Constant()),
            generators=[ast.comprehension(target=ast.Name(id=item), iter=ast.Name() as batch)],
        ) if read == item:
            return batch
    return None


def _source(batch: ast.expr, model: SemanticModel) -> ast.Call | None:
    """Return the call of a buffer's method that returned a batch."""
    call = batch
    if isinstance(batch, ast.Name):
        definitions = model.dataflow.definitions(batch)
        if len(definitions) != 1 or definitions[0].kind is not BindingKind.ASSIGN:
            return None
        if definitions[0].path not in ((), (0,)) or definitions[0].value is None:
            return None
        call = definitions[0].value
    match call:
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if _SAMPLES.search(method):
            pass
        case _:
            return None
    assert isinstance(call, ast.Call)
    kind = model.types.type_of(batch)
    if model.names.qualified(call.func) is not None or not may_hold_transitions(kind):
        return None
    if not _STORES.search((last_name(owner) or "").lower()) and not model.names.is_self(owner):
        return None
    return call


def is_stacked(batch: ast.expr, model: SemanticModel) -> bool:
    """Whether an array or tensor is made of the items of a list."""
    for use in model.dataflow.uses(batch):
        match use.kind, use.at:
            case UseKind.ARGUMENT, ast.Call(func=func, args=[_, *_]) if model.names.qualified(func) in _JOINS:
                return True
    return False


def is_drawn(indices: ast.expr, model: SemanticModel) -> bool:
    """Whether indices are drawn at random, also if a call converts them afterwards:
    `np.random.choice(n, k).tolist()`.
    """
    values = [indices]
    if isinstance(indices, ast.Name):
        values += [each.value for each in model.dataflow.definitions(indices) if each.value is not None]
    return any(
        isinstance(node, ast.Call) and last_name(node.func) in DRAWS
        for value in values
        for node in descendants(value)
    )


def is_gathered_by_store(node: ast.ListComp, indices: ast.expr, model: SemanticModel) -> bool:
    """Whether a method of a class that stores transitions makes an array of the items at the indices that it
    receives: `np.stack([self.rows[i] for i in indices])`.
    """
    match model.parent(node):
        case ast.Call(func=func, args=[first, *_]) if first is node and model.names.qualified(func) in _JOINS:
            pass
        case _:
            return False
    if not isinstance(indices, ast.Name) or not is_store_class(model.class_of(node), model):
        return False
    given = model.dataflow.definitions(indices)
    return bool(given) and all(binding.kind is BindingKind.PARAMETER for binding in given)
