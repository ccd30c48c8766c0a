"""Buffers that keep each field of the transitions in a list of its own, with one object per transition."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from rlint.rule import FUNCTIONS, Function, Heat, SemanticModel, TypeTag, descendants, frozen, regex
from rlint.rules.buffers.rl104_object_replay_buffer.object_store import FIELDS, uses_of, written_by
from rlint.rules.buffers.rl104_object_replay_buffer.replay_list import draws_of, is_cut, is_empty

_FIELD = regex(r"rew|act|done|term|obs|state|next|mask")
_OBSERVATION = regex(r"(^|_)(obs|observation|state)")
_LISTS = frozenset({TypeTag.LIST, TypeTag.DEQUE, TypeTag.UNKNOWN})
_CAPACITY = regex(r"capacity|limit|max|maxlen|size")


@frozen
class ParallelLists:
    """The lists of a buffer to which one method appends one value each, and where items are read."""

    holders: tuple[ast.Attribute, ...]
    read_in: str
    is_assumed: bool
    """Whether code of the file also empties the lists."""


def parallel_lists(node: ast.AST, model: SemanticModel) -> ParallelLists | None:
    """Return the lists of which this call fills the first, if batches are drawn from them."""
    holder = _appended(node)
    method, cls = model.function(node), model.class_of(node)
    if holder is None or method is None or cls is None or method.name == "__init__":
        return None
    if model.frequency.heat_of(node).level is Heat.COLD:
        return None
    holders = model.once(_filled_by, method)
    rings = tuple(each for each in holders if _is_ring_of_observations(each, cls))
    if rings and rings[0] is holder and all(model.types.type_of(each).tag in _LISTS for each in rings):
        return _drawn_rings(rings, model)
    if len(holders) < FIELDS or holders[0] is not holder:
        return None
    if len([each for each in holders if _FIELD.search(each.attr.lower())]) < FIELDS - 1:
        return None
    if not all(model.types.type_of(each).tag in _LISTS for each in holders):
        return None
    read_in = _read_item_in(holders, cls)
    draws = [draw for each in holders for use in uses_of(each, model) for draw in draws_of(use, model)]
    draws = [draw for draw in draws if isinstance(draw, ast.Subscript)]
    if not draws and not read_in:
        return None
    if not read_in:
        drawing = model.function(draws[0])
        read_in = drawing.name if drawing is not None else ""
    if _has_capacity(holders, cls):
        return ParallelLists(holders, read_in, is_assumed=_is_emptied(holders, model))
    # a data set without a limit that is emptied at any place holds rollouts
    if _is_emptied(holders, model) or not _begins_empty(holder, model):
        return None
    return ParallelLists(holders, read_in, is_assumed=False)


def _is_ring_of_observations(holder: ast.Attribute, cls: ast.ClassDef) -> bool:
    """Whether a list of observations is also overwritten at an index that the class counts, as a replay
    buffer with a capacity: `self.states[self.index] = state`.
    """
    if not _OBSERVATION.search(holder.attr.lower()):
        return False
    for node in descendants(cls):
        match node:
            case ast.Subscript(
                value=ast.Attribute(attr=name),
                slice=ast.Attribute(value=ast.Name(id="self")),
                ctx=ast.Store(),
            ) if name == holder.attr:
                return True
    return False


def _drawn_rings(rings: tuple[ast.Attribute, ...], model: SemanticModel) -> ParallelLists | None:
    """Return lists of observations of which items at drawn indices are picked for each batch."""
    draws = [draw for use in uses_of(rings[0], model) for draw in draws_of(use, model)]
    drawing = next((model.function(draw) for draw in draws if isinstance(draw, ast.Subscript)), None)
    if drawing is None or _is_emptied(rings, model):
        return None
    return ParallelLists(rings, drawing.name, is_assumed=False)


def _appended(node: ast.AST) -> ast.Attribute | None:
    written = written_by(node)
    if written is None or not isinstance(node, ast.Call) or not isinstance(written.holder, ast.Attribute):
        return None
    return written.holder


def _filled_by(method: Function, model: SemanticModel) -> tuple[ast.Attribute, ...]:
    """Return the lists of the object to which a method appends once per call, in source order."""
    found: dict[str, ast.Attribute] = {}
    for node in descendants(method):
        holder = _appended(node)
        if holder is not None and model.names.is_self(holder.value) and not model.frequency.loops(node):
            found.setdefault(holder.attr, holder)
    return tuple(sorted(found.values(), key=lambda each: (each.lineno, each.col_offset)))


def _read_item_in(holders: Sequence[ast.Attribute], cls: ast.ClassDef) -> str:
    """Return the method with which a data set reads one transition: items of several lists at its index."""
    names = {each.attr for each in holders}
    for method in cls.body:
        if not isinstance(method, FUNCTIONS) or method.name != "__getitem__" or len(method.args.args) < 2:
            continue
        index = method.args.args[1].arg
        read = {
            node.value.attr
            for node in descendants(method)
            if isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Attribute)
            and isinstance(node.slice, ast.Name)
            and node.slice.id == index
        }
        if len(read & names) >= FIELDS:
            return method.name
    return ""


def _has_capacity(holders: Sequence[ast.Attribute], cls: ast.ClassDef) -> bool:
    """Whether the class drops the oldest item where a length reaches a limit."""
    names = {each.attr for each in holders}
    for branch in descendants(cls):
        match branch:
            case ast.If(test=ast.Compare(left=left, comparators=[right])):
                limits = [part.attr for part in (left, right) if isinstance(part, ast.Attribute)]
                if not any(_CAPACITY.search(limit.lower()) for limit in limits):
                    continue
                if any(_drops_first(node, names) for part in branch.body for node in descendants(part)):
                    return True
            case ast.Call(func=ast.Name(id="deque") | ast.Attribute(attr="deque"), keywords=[*keywords]):
                if any(keyword.arg == "maxlen" for keyword in keywords):
                    return True
    return False


def _drops_first(node: ast.AST, names: set[str]) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Attribute(attr=name), attr="pop" | "popleft")):
            return name in names
        case ast.Delete(targets=[ast.Subscript(value=ast.Attribute(attr=name))]):
            return name in names
        case ast.Assign(
            targets=[ast.Attribute(attr=name)], value=ast.Subscript(value=ast.Attribute(attr=source))
        ):
            return name == source and name in names
    return False


def _begins_empty(holder: ast.Attribute, model: SemanticModel) -> bool:
    """Whether a constructor assigns an empty list, perhaps in one of its branches."""
    stores = (use for use in uses_of(holder, model) if isinstance(use.ctx, ast.Store))
    values = (model.names.assigned(use) for use in stores)
    return any(value is not None and is_empty(value, model) for value in values)


def _is_emptied(holders: Sequence[ast.Attribute], model: SemanticModel) -> bool:
    """Whether a method other than the constructor replaces or empties one of the lists."""
    for use in uses_of(holders[0], model):
        method = model.function(use)
        if method is None or method.name == "__init__":
            continue
        parent = model.parent(use)
        if isinstance(use.ctx, ast.Store):
            value = model.names.assigned(use)
            if value is None or not is_cut(value, use):
                return True
        elif isinstance(use.ctx, ast.Del) or (isinstance(parent, ast.Attribute) and parent.attr == "clear"):
            return True
        elif isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Del):
            whole = parent.slice
            if isinstance(whole, ast.Slice) and whole.upper is None:
                return True
    return False
