"""Statements that store one object per transition in a list, deque or array of objects."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from rlint.rule import (
    BindingKind,
    SemanticModel,
    Trait,
    TypeTag,
    array_growth,
    descendants,
    frozen,
    last_name,
    models,
    only_callee,
    regex,
)
from rlint.rules.buffers._shared.held import NO_TRANSITIONS

FIELDS = 3
"""A tuple with fewer parts is not a transition."""

_ONE = regex(
    r"(^|_)(transition|experience|exp|e|sample|data|item|element|step|record|memory|obs|sarsa?|tuple|timestep|t|x"
    r"|args|obj|sarsd?)_?$"
)
_NAMED_ONE = regex(r"(^|_)(transition|experience)$")
"""Names of nothing but single transitions, whatever code creates them."""
_OTHERS = frozenset({*NO_TRANSITIONS, TypeTag.NDARRAY, TypeTag.TENSOR})
_MANY = regex(
    r"episode|trajector|traj|rollout|seq|path|batch|game|task|text|prompt|chunk|segment|score|reward|loss|s$"
)
_VAGUE = regex(r"(^|_)(e|sample|data|item|element|record|x|args|obj)_?$")
"""Types that may be a transition, or a whole episode: the name of the list decides."""
_EPISODES = regex(r"episode|trajector|(^|_)traj|segment|(^|_)games?(_|$)|(^|_)paths?(_|$)|sequences?(_|$)")
_TENSORS_OF = models.having(Trait.FROM_DATA | Trait.LEGACY, "torch")
_MOVES = models.having(Trait.CASTS | Trait.RELOCATES, TypeTag.TENSOR)
_COPIES = frozenset({"copy.copy", "copy.deepcopy"})


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
            definition = only_callee(value, model)
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
            if depth > 0 and values and _NAMED_ONE.search(name.lower()):
                values = [v for v in values if not _is_unknown_result(v, model)]
                return all(is_transition(v, model, depth - 1) for v in values)
            return bool(values) and depth > 0 and all(is_transition(v, model, depth - 1) for v in values)
    return False


def _is_unknown_result(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is the result of a call of unknown type: `experience = self.n_step_return(steps)`."""
    return isinstance(value, ast.Call) and not model.types.type_of(value)


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
