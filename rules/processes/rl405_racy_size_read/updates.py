"""Updates of shared values, and whether they are atomic."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    BindingKind,
    ChannelMaker,
    LockSection,
    SemanticModel,
    TypeTag,
    descendants,
    frozen,
    last_name,
)

_MAKERS = frozenset({"__init__", "__new__", "__post_init__", "__setstate__", "load_state_dict"})


@frozen
class Update:
    """A read of `shared.value` and a write that depends on it. `statements` are those from one to the other,
    in one block.
    """

    shared: ast.expr
    statements: tuple[ast.stmt, ...]

    @property
    def place(self) -> ast.stmt:
        """Return the statement that writes, or that decides on the write."""
        return self.statements[-1]


def update_of(statement: ast.stmt, model: SemanticModel) -> Update | None:
    """Return the update that a statement makes or ends: `v.value += 1`, `v.value = f(v.value)`, `old =
    v.value; v.value = old + 1`, `if v.value < best: v.value = best`.
    """
    match statement:
        case ast.AugAssign(target=ast.Attribute(attr="value", value=shared)):
            return Update(shared, (statement,))
        case ast.Assign(targets=[ast.Attribute(attr="value", value=shared)], value=value):
            if any(reads_value(node, shared) for node in descendants(value)):
                return Update(shared, (statement,))
            return _split_update(statement, shared, value, model)
        case ast.If(test=test, body=body):
            for node in descendants(test):
                if isinstance(node, ast.Attribute) and node.attr == "value":
                    shared = node.value
                    if any(_sets_value(inner, shared) for inner in body):
                        return Update(shared, (statement,))
    return None


def reads_value(node: ast.AST, shared: ast.expr) -> bool:
    """Whether this is a read of the `value` of a shared value."""
    match node:
        case ast.Attribute(attr="value", value=owner, ctx=ast.Load()):
            return ast.dump(owner) == ast.dump(shared)
    return False


def _sets_value(statement: ast.stmt, shared: ast.expr) -> bool:
    """Whether it is set to something other than a constant. Two writers of a constant flag do not
    conflict.
    """
    match statement:
        case ast.Assign(targets=[ast.Attribute(attr="value", value=owner)], value=value):
            if isinstance(value, ast.Constant) or any(
                reads_value(node, shared) for node in descendants(value)
            ):
                return False
            return ast.dump(owner) == ast.dump(shared)
    return False


def _split_update(
    statement: ast.Assign, shared: ast.expr, value: ast.expr, model: SemanticModel
) -> Update | None:
    """Return the update of `old = v.value`, further statements of the same block, `v.value = old + 1`."""
    block, end = model.syntax.block(statement)
    for node in descendants(value):
        if not isinstance(node, ast.Name):
            continue
        for binding in model.dataflow.definitions(node):
            read = binding.value
            if binding.kind is not BindingKind.ASSIGN or binding.path or read is None:
                continue
            if reads_value(read, shared) and binding.statement in block[:end]:
                begin = block.index(binding.statement)
                return Update(shared, tuple(block[begin : end + 1]))
    return None


def is_raced(update: Update, model: SemanticModel) -> bool:
    """Whether another thread or process can write the value between the read and the write."""
    statement = update.place
    function = model.function(statement)
    if function is not None and function.name in _MAKERS:
        return False
    if model.types.type_of(update.shared).tag is not TypeTag.SHARED_VALUE:
        return False
    made = model.threads.channel_makers(update.shared)
    if not made or any(one.many for one in made) or model.threads.is_locked(statement):
        return False
    return _has_several_writers(update, model) or bool(other_sections(update.shared, model))


def _has_several_writers(update: Update, model: SemanticModel) -> bool:
    """Whether several threads or processes may run this update, or other writes to a value of the same
    name.
    """
    name = last_name(update.shared)
    writes: list[ast.AST] = []
    for other in model.names.attribute_uses("value"):
        if isinstance(other.ctx, ast.Store) and last_name(other.value) == name:
            function = model.function(other)
            if function is not None and function.name not in _MAKERS:
                writes.append(other)
    return bool(model.threads.run_at_once([update.place, *writes]))


def other_sections(shared: ast.expr, model: SemanticModel) -> list[LockSection]:
    """Return the sections of the file that write a value of this name under a lock."""
    name = last_name(shared)
    return [
        section
        for section in model.threads.lock_sections()
        for statement in section.body
        if any(last_name(written) == name for written in written_in(statement))
    ]


def written_in(statement: ast.stmt) -> Iterator[ast.expr]:
    """Yield the shared values that a statement itself writes."""
    for node in descendants(statement):
        match node:
            case ast.Attribute(attr="value", value=owner, ctx=ast.Store()):
                yield owner


def has_own_lock(made: tuple[ChannelMaker, ...]) -> bool:
    """Whether each of the values has a lock of its own, which `get_lock()` returns."""
    return all(one.own_lock for one in made)
