"""Calls that add a transition to a buffer: the values, and whether the buffer is read."""

from __future__ import annotations

import ast
import re

from rlint.rule import (
    BindingKind,
    ClassSummary,
    SemanticModel,
    Type,
    TypeTag,
    descendants,
    frozen,
    last_name,
    regex,
    write_only,
)

_PARTS = 3
"""A state, an action and a reward: fewer values are not a transition."""
_BUFFER = regex(r"buffer|memory|replay|storage|experience|history|trajectory|rollout", re.IGNORECASE)
_HARMLESS_BASES = frozenset(
    {"builtins.object", "object", "torch.nn.Module", "abc.ABC", "typing.Generic", "typing.Protocol"}
)


@frozen
class BufferTarget:
    """The buffer that a call adds to: `held` is it, or the object whose attribute `name` it is."""

    held: ast.expr
    name: str
    owner: ClassSummary | None
    through: bool = False


def values_of(call: ast.Call, model: SemanticModel) -> list[ast.expr] | None:
    """Return the parts of the transition that a call adds; None if there is none."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    if any(isinstance(value, ast.Starred) for value in call.args) or None in [k.arg for k in call.keywords]:
        return None
    if len(given) >= _PARTS:
        return given
    if len(given) != 1:
        return None
    (value,) = given
    if isinstance(value, ast.Name):
        definitions = model.dataflow.definitions(value)
        if len(definitions) != 1 or definitions[0].kind is not BindingKind.ASSIGN or definitions[0].path:
            return None
        return [value] if definitions[0].value is not None and _is_tuple(definitions[0].value) else None
    return [value] if _is_tuple(value) else None


def _is_tuple(value: ast.expr) -> bool:
    """Return the values of a tuple, list, dict or object of several."""
    match value:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return len(parts) >= _PARTS
        case ast.Dict(values=parts):
            return len(parts) >= _PARTS
        case ast.Call(args=args, keywords=keywords):
            return len(args) + len(keywords) >= _PARTS
    return False


def same_values(first: list[ast.expr], second: list[ast.expr], model: SemanticModel) -> bool:
    """Whether the parts have the same source, with variables that were not assigned in between."""
    if [ast.dump(value) for value in first] != [ast.dump(value) for value in second]:
        return False
    for one, other in zip(first, second, strict=True):
        for left, right in zip(descendants(one), descendants(other), strict=True):
            if (
                isinstance(left, ast.Name)
                and isinstance(right, ast.Name)
                and set(map(id, model.dataflow.definitions(left)))
                != set(map(id, model.dataflow.definitions(right)))
            ):
                return False
    return True


def target_of(call: ast.Call, model: SemanticModel) -> BufferTarget | None:
    """Return the buffer that a call adds to, directly or in a method that does nothing else; None for an
    unknown object, or one that is not a buffer.
    """
    assert isinstance(call.func, ast.Attribute)
    held = call.func.value
    targets = model.types.call_targets(call)
    if not _is_buffer(model.types.type_of(held), held) and len(targets) == 1:
        handed = [inner for inner in targets[0].calls if inner.method in write_only.ADDS]
        own = targets[0].parameters[1:]
        owner = model.types.class_of_value(held)
        if len(handed) == len(targets[0].calls) == 1 and owner is not None and handed[0].loop == -1:
            name = handed[0].receiver
            if tuple(passed for _, passed in handed[0].names) == own and _is_kept(owner, name, model):
                return BufferTarget(held, name, owner, through=True)
        return None
    if isinstance(held, ast.Attribute) and _is_buffer(model.types.type_of(held), held):
        whose = model.types.class_of_value(held.value)
        return BufferTarget(held, held.attr, whose)
    if isinstance(held, ast.Name) and _is_buffer(model.types.type_of(held), held):
        return BufferTarget(held, held.id, None)
    return None


def _is_buffer(kind: Type, held: ast.expr) -> bool:
    """Whether a value is a list, a deque or an object whose class is named like a buffer."""
    if kind.tag in (TypeTag.LIST, TypeTag.DEQUE, TypeTag.REPLAY_BUFFER):
        return True
    return kind.tag is TypeTag.INSTANCE and bool(
        _BUFFER.search(kind.of) or _BUFFER.search(last_name(held) or "")
    )


def _is_kept(owner: ClassSummary, name: str, model: SemanticModel) -> bool:
    kind = model.index.attribute(owner, name)
    return kind.tag in (TypeTag.LIST, TypeTag.DEQUE, TypeTag.REPLAY_BUFFER) or (
        kind.tag is TypeTag.INSTANCE and bool(_BUFFER.search(kind.of))
    )


def is_unread(target: BufferTarget, model: SemanticModel) -> bool:
    """Whether surely no code in the project reads the contents of a buffer."""
    if target.owner is None:
        return isinstance(target.held, ast.Name) and _is_unread_variable(target.held, model)
    if not model.program.is_write_only(target.name):
        return False
    bases = model.index.ancestry(target.owner)
    if any(isinstance(base, str) and base not in _HARMLESS_BASES for base in bases):
        return False  # a library may read it
    if target.owner.module != model.module.module:
        return False  # its constructor there is unknown
    if any(setter.module != model.module.module for _, setter in model.index.setters(target.name)):
        return False
    sets = [use for use in model.names.attribute_uses(target.name) if isinstance(use.ctx, ast.Store)]
    return all(_is_plain(model.parent(use), model) for use in sets)


def _is_unread_variable(name: ast.Name, model: SemanticModel) -> bool:
    scope = model.names.scope(name).lookup(name.id)
    if scope is None or (scope.parent is None and model.program.is_imported(name.id)):
        return False
    bindings = model.names.bindings(name)
    return (
        all(binding.kind is BindingKind.ASSIGN and not binding.path for binding in bindings)
        and all(_is_plain(binding.statement, model) for binding in bindings)
        and write_only.only_adds_or_empties(model.names.reads(name.id, scope), model.syntax)
        and not any(name.id in inner.globals | inner.nonlocals for inner in model.syntax.scopes.values())
    )


def _is_plain(statement: ast.AST | None, model: SemanticModel) -> bool:
    """Whether a statement creates a buffer to which no other code has a reference, from numbers and strings
    only.
    """
    match statement:
        case ast.Assign(targets=[_], value=value) | ast.AnnAssign(value=ast.expr() as value):
            pass
        case _:
            return False
    if not isinstance(value, ast.Call):
        return isinstance(value, ast.List)
    given = [*value.args, *(keyword.value for keyword in value.keywords)]
    return not any(
        _BUFFER.search(last_name(argument) or "")
        or model.types.type_of(argument).tag in (TypeTag.INSTANCE, TypeTag.FUNCTION)
        for argument in given
        if not isinstance(argument, ast.Constant) and not (last_name(argument) or "").endswith("size")
    )
