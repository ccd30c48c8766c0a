"""Transitions that the methods of a buffer return one at a time: `buffer[i]`, also for a data loader."""

from __future__ import annotations

import ast

from rlint.rule import FUNCTIONS, Function, SemanticModel, TypeTag, descendants, frozen, last_name
from rlint.rules.buffers.rl102_list_indexed_sample.taken_apart import DRAWS, is_drawn

_FIELDS = 2
_GENERATORS = ("__iter__", "iterate", "stream", "generator")


@frozen
class Yielded:
    """A generator of single transitions for a data loader, and the buffer that it reads."""

    at: ast.expr
    held: ast.expr


def holds_fields(held: ast.expr, model: SemanticModel) -> bool:
    """Whether an object's `__getitem__` indexes several arrays or lists: one for each field of a
    transition.
    """
    cls = model.types.class_of_value(held)
    if cls is None and isinstance(held, ast.Name) and model.names.is_self(held):
        around = model.class_of(held)
        return around is not None and any(
            method.name == "__getitem__" and indexes_fields(method)
            for method in around.body
            if isinstance(method, FUNCTIONS)
        )
    if cls is None or model.types.type_of(held).tag in (TypeTag.NDARRAY, TypeTag.TENSOR):
        return False
    summary = model.index.method(cls, "__getitem__")
    method = model.types.definition(summary) if summary is not None else None
    return method is not None and indexes_fields(method)


def indexes_fields(method: Function) -> bool:
    """Whether a method `__getitem__(self, index)` reads items of several attributes."""
    read = {
        node.value.attr
        for node in descendants(method)
        if isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Load)
        and isinstance(node.value, ast.Attribute)
        and isinstance(node.slice, (ast.Name, ast.BinOp))
    }
    return len(read) >= _FIELDS or any(map(_reads_each_field, descendants(method)))


def _reads_each_field(node: ast.AST) -> bool:
    """Whether a comprehension reads the same row of each array of a dict: `self.store[key][index]`."""
    match node:
        case (
            ast.GeneratorExp(elt=element, generators=[ast.comprehension(target=target)])
            | ast.ListComp(elt=element, generators=[ast.comprehension(target=target)])
            | ast.DictComp(value=element, generators=[ast.comprehension(target=target)])
        ):
            names = {part.id for part in descendants(target) if isinstance(part, ast.Name)}
        case _:
            return False
    match element:
        case ast.Subscript(
            value=ast.Subscript(value=ast.Attribute(), slice=ast.Name(id=key)), slice=ast.Name(id=index)
        ):
            return key in names and index not in names
        case ast.Subscript(value=ast.Name(id=rows), slice=ast.Name(id=index)):
            return rows in names and index not in names
    return False


def yielded_item(node: ast.Yield, model: SemanticModel) -> Yielded | None:
    """Return the transition at a random index that a generator yields in a loop: `yield self[index]`."""
    match node.value:
        case ast.Subscript(value=(ast.Name() | ast.Attribute()) as held, slice=index):
            pass
        case _:
            return None
    function = model.function(node)
    if function is None or function.name not in _GENERATORS or not model.frequency.loops(node):
        return None
    if model.types.type_of(held).tag in (TypeTag.DICT, TypeTag.STR):
        return None
    if not is_drawn(index, model) and not _is_drawn_by_method(index, model):
        return None
    return Yielded(node, held)


def _is_drawn_by_method(index: ast.expr, model: SemanticModel) -> bool:
    """Whether an index is the result of a function of the file that draws: `index = self.sample_idx()`."""
    calls = [index]
    if isinstance(index, ast.Name):
        calls = [each.value for each in model.dataflow.definitions(index) if each.value is not None]
    for call in calls:
        if not isinstance(call, ast.Call):
            continue
        for target in model.types.call_targets(call):
            method = model.types.definition(target)
            if method is not None and any(
                isinstance(part, ast.Call) and last_name(part.func) in DRAWS for part in descendants(method)
            ):
                return True
    return False
