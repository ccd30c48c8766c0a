"""Lists of transitions, recognised by what becomes of them: their fields are collected."""

from __future__ import annotations

import ast

from rlint.rule import BindingKind, SemanticModel, Use, UseKind, descendants
from rlint.rules.buffers._shared.held import is_counter

_FIELDS = 3
"""A transition has at least so many fields."""
_COLLECTED = 2
"""Fields collected by comprehensions or calls of `append`, of which each takes another one."""


def is_unpacked(batch: ast.expr, model: SemanticModel) -> bool:
    """Whether the fields of the items of a list are collected: by `zip(*batch)`, by comprehensions
    (`[t.state for t in batch]`, `[batch[i].state for i in range(len(batch))]`) or by a loop that unpacks each
    item, here or in a function of the file that receives the list.
    """
    fields: set[str] = set()
    for use in model.dataflow.uses_across_functions(batch, _is_wrapped):
        if use.kind is UseKind.ELEMENT and _is_unzipped(use.at, model):
            return True
        if use.kind is UseKind.ITERATED:
            fields |= _fields_taken(use, model)
        if use.kind is UseKind.ITEM and isinstance(use.at, ast.Subscript) and _is_counted(use.at, model):
            fields |= parts_of(use.at, model)  # `batch[i].state`
    return len(fields) >= _COLLECTED


def parts_of(item: ast.expr, model: SemanticModel) -> set[str]:
    """Return the part of one item that the expression around it reads (`state` of `item.state`), or the
    variables that it is unpacked to.
    """
    match model.parent(item):
        case ast.Attribute(value=value, attr=field) as read if value is item:
            call = model.parent(read)
            return set() if isinstance(call, ast.Call) and call.func is read else {field}
        case ast.Subscript(value=value, slice=ast.Constant() as field) if value is item:
            return {ast.dump(field)}
        case ast.Assign(targets=[ast.Tuple(elts=elements)]) if len(elements) >= _FIELDS:
            return {ast.dump(element) for element in elements}
    return set()


def _is_counted(item: ast.Subscript, model: SemanticModel) -> bool:
    """Whether the index of an item counts through a list: `batch[i]` for `i in range(len(batch))`."""
    return isinstance(item.ctx, ast.Load) and is_counter(item.slice, model)


def _is_wrapped(use: Use) -> bool:
    """Whether a call returns the same items: `list(batch)`, `enumerate` and the like are no such calls."""
    match use.at:
        case ast.Call(func=ast.Name(id="list" | "tuple"), args=[_], keywords=[]):
            return use.kind is UseKind.ARGUMENT
    return False


def _is_unzipped(starred: ast.AST, model: SemanticModel) -> bool:
    """Whether a starred argument is that of `zip(*batch)`."""
    call = model.parent(starred) if isinstance(starred, ast.Starred) else None
    return isinstance(call, ast.Call) and model.names.qualified(call.func) == "builtins.zip"


def _fields_taken(use: Use, model: SemanticModel) -> set[str]:
    """Return the parts that a loop or comprehension takes from each item."""
    match use.at, model.parent(use.at):
        case ast.comprehension(target=target), (ast.ListComp() | ast.GeneratorExp()) as made:
            return _each_field(target, made.elt, model) or _parts(target, [made.elt])
        case ast.For(target=target, body=body), _:
            return _parts(target, body)
    return set()


def _each_field(target: ast.expr, read: ast.expr, model: SemanticModel) -> set[str]:
    """Return two parts if a comprehension takes the field that an outer loop names, of each item: `row[key]`,
    `getattr(row, key)`.
    """
    match read:
        case ast.Subscript(value=ast.Name(id=item), slice=ast.Name() as key):
            pass
        case ast.Call(func=ast.Name(id="getattr"), args=[ast.Name(id=item), ast.Name() as key]):
            pass
        case _:
            return set()
    if not isinstance(target, ast.Name) or target.id != item:
        return set()
    kinds = {binding.kind for binding in model.dataflow.definitions(key)}
    looped = kinds and kinds <= {BindingKind.FOR, BindingKind.COMPREHENSION}
    return {f"{key.id} of one iteration", f"{key.id} of the next"} if looped else set()


def _parts(target: ast.expr, read: list[ast.expr] | list[ast.stmt]) -> set[str]:
    """Return the parts of an item that some code reads: variables of an unpacked item, attributes, items."""
    match target:
        case ast.Tuple(elts=elements):
            return {ast.dump(element) for element in elements} if len(elements) >= _FIELDS else set()
        case ast.Name(id=item):
            pass
        case _:
            return set()
    found: set[str] = set()
    for statement in read:
        called = {node.func for node in descendants(statement) if isinstance(node, ast.Call)}
        for node in descendants(statement):
            match node:
                case ast.Attribute(value=ast.Name(id=name), attr=field) if name == item:
                    if node not in called:
                        found.add(field)
                case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant() as field) if name == item:
                    found.add(ast.dump(field))
                case ast.Assign(targets=[ast.Tuple(elts=elements)], value=ast.Name(id=name)) if (
                    name == item and len(elements) >= _FIELDS
                ):
                    found |= {ast.dump(element) for element in elements}
    return found
