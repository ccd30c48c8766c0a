"""The devices of tensors, as far as the source determines them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    MAX_DEFINITIONS,
    BindingKind,
    Device,
    Scope,
    SemanticModel,
    Trait,
    TypeTag,
    containers,
    descendants,
    has_key,
    models,
    target_of_move,
    vocabulary,
)

_KEEP_TENSORS = (
    models.giving(TypeTag.TENSOR, TypeTag.TENSOR) | models.having(Trait.REDUCES, TypeTag.TENSOR) | {"type"}
)
_OF_TENSORS = vocabulary.OF_TENSORS | {"entropy"}
_LEAVES = models.having(Trait.TO_HOST | Trait.MEASURES, TypeTag.TENSOR) | {"backward", "parameters"}
_OF_GRADIENTS = frozenset({"backward", "detach", "requires_grad"})
_CASTS = models.having(Trait.CASTS, TypeTag.TENSOR)
"""Methods that only tensors have: `done.float()`, `mask.bool()`."""
_LOOPED = frozenset({BindingKind.FOR, BindingKind.COMPREHENSION})
_SAME_ITEMS = models.having(Trait.SAME_ITEMS, "builtins", "tqdm")
_DEPTH = 7


def where(expression: ast.expr, model: SemanticModel, depth: int = _DEPTH) -> Device | None:
    """Return the device of a tensor, as far as the source determines it; None for a value that may not be a
    tensor.
    """
    return model.once(_where, (expression, depth))


def _where(about: tuple[ast.expr, int], model: SemanticModel) -> Device | None:
    expression, depth = about
    if isinstance(expression, ast.Compare) and any(map(_is_text, (expression.left, *expression.comparators))):
        return None
    kind = model.types.type_of(expression)
    if kind.tag is TypeTag.TENSOR and kind.device is not Device.UNKNOWN:
        return kind.device
    if kind.tag not in (TypeTag.TENSOR, TypeTag.UNKNOWN):
        return None
    found = _made(expression, model, depth) if depth > 0 else None
    return found or (Device.UNKNOWN if kind.tag is TypeTag.TENSOR else None)


def _is_text(part: ast.expr) -> bool:
    return isinstance(part, ast.Constant) and isinstance(part.value, str)


def _made(expression: ast.expr, model: SemanticModel, depth: int) -> Device | None:
    match expression:
        case ast.Name():
            return None if model.types.excludes_tensor(expression) else _bound(expression, model, depth)
        case ast.Attribute(value=owner, attr="grad"):
            return where(owner, model, depth - 1) or Device.UNKNOWN
        case ast.Attribute(value=owner, attr="data" | "T" | "values" | "indices"):
            return where(owner, model, depth - 1)
        case ast.Subscript(value=owner, slice=index):
            return None if has_key(index) else where(owner, model, depth - 1)
        case ast.UnaryOp(operand=operand):
            return where(operand, model, depth - 1)
        case ast.BinOp(left=left, right=right):
            parts = [part for part in (left, right) if not _has_no_dimensions(part, model, depth)]
            # a tensor without dimensions combines with tensors of any device
            found = _joined([where(part, model, depth - 1) for part in parts])
            return found or _joined([where(part, model, depth - 1) for part in (left, right)])
        case ast.Compare(left=left, comparators=compared):
            return _joined([where(part, model, depth - 1) for part in (left, *compared)])
        case ast.Call(func=ast.Attribute(attr="cpu")):
            return Device.HOST
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if (
            model.names.qualified(expression.func) is None
        ):
            if method in _LEAVES:
                return None
            if method in ("to", "cuda") and _is_moved_tensor(expression, owner, model, depth):
                return _target(expression, owner, model, depth)
            if method in _OF_TENSORS or (method in _CASTS and not expression.args):
                return where(owner, model, depth - 1) or Device.UNKNOWN
            if method in _KEEP_TENSORS:
                return where(owner, model, depth - 1)
            return Device.UNKNOWN if model.gradients.gives_gradient(expression) else None
        case ast.Call():
            given = [where(argument, model, depth - 1) for argument in expression.args]
            _, _, method = (model.names.qualified(expression.func) or "").rpartition("torch.")
            if model.types.type_of(expression).tag is TypeTag.TENSOR or method in _KEEP_TENSORS:
                return _joined(given)
            return Device.UNKNOWN if model.gradients.gives_gradient(expression) else None
    return None


def _has_no_dimensions(part: ast.expr, model: SemanticModel, depth: int) -> bool:
    """Whether a value is a tensor without dimensions, also after arithmetic with numbers."""
    if model.types.type_of(part).rank == 0:
        return True
    if not isinstance(part, ast.BinOp):
        return False
    found = [_has_no_dimensions(side, model, depth) for side in (part.left, part.right)]
    return any(found) and all(
        known or where(side, model, depth - 1) is None
        for known, side in zip(found, (part.left, part.right), strict=True)
    )


def _is_moved_tensor(move: ast.Call, owner: ast.expr, model: SemanticModel, depth: int) -> bool:
    """Whether `.to(…)` or `.cuda()` moves a tensor: what a loop iterates over is no network."""
    if where(owner, model, depth - 1) is not None:
        return True
    if not isinstance(owner, ast.Name) or model.types.type_of(owner):
        return False
    bound = model.dataflow.definitions(owner)
    is_item = bool(bound) and all(binding.kind in _LOOPED and binding.path for binding in bound)
    return is_item and (not move.args or model.types.is_device(move.args[0]))


def is_placed_on_device(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is computed from what this function moves to a device, creates there or gets from a
    network.
    """
    level, seen = [value], {value}
    for _ in range(_DEPTH + 1):
        assigned: list[ast.expr] = []
        for node in (node for part in level for node in _until_moved_to_host(part, model)):
            match node:
                case ast.Call(func=ast.Attribute(attr="cuda")):
                    return True
                case ast.Call(func=ast.Attribute(attr="to"), args=[target, *_]) if model.types.is_device(
                    target
                ):
                    return True
                case ast.Call(func=ast.Attribute(attr="to"), args=[], keywords=[ast.keyword(arg=None)]):
                    return True
                case ast.Call() if model.gradients.gives_gradient(node):
                    return True
                case ast.Name():
                    made = model.dataflow.definitions(node)
                    values = [each.value for each in made if each.kind is BindingKind.ASSIGN]
                    if len(made) <= MAX_DEFINITIONS:
                        assigned += (each for each in values if each is not None and each not in seen)
                        seen.update(assigned)
        level = assigned
    return False


def _until_moved_to_host(value: ast.expr, model: SemanticModel) -> Iterator[ast.AST]:
    """Yield the nodes of a value up to a move to the host, after which nothing is on a device."""
    for node in descendants(value):
        match node:
            case ast.Call(func=ast.Attribute(attr="to"), args=[target, *_]) if (
                model.types.is_device(target) and model.types.device_of(target) is Device.HOST
            ):
                return
        yield node


def _target(move: ast.Call, owner: ast.expr, model: SemanticModel, depth: int) -> Device | None:
    """Return the device to which `.to(…)` or `.cuda()` moves a tensor."""
    target = target_of_move(move)
    if target is None:
        return Device.CUDA
    if model.types.is_device(target):
        return model.types.device_of(target)
    return where(owner, model, depth - 1)


def _bound(name: ast.Name, model: SemanticModel, depth: int) -> Device | None:
    """Return the device of a variable's tensor; a value that is differentiated is a tensor, too."""
    definitions = model.dataflow.definitions(name)
    if len(definitions) > MAX_DEFINITIONS:
        return None
    joined = _either(
        [
            where(binding.value, model, depth - 1)
            for binding in definitions
            if binding.kind in (BindingKind.ASSIGN, BindingKind.WALRUS)
            and binding.value is not None
            and not binding.path
        ]
        + [
            _items(binding.value, binding.path, model, depth - 1)
            for binding in definitions
            if binding.kind in _LOOPED and binding.value is not None
        ]
    )
    if joined is not None:
        return joined
    scope = model.names.scope(name).lookup(name.id)
    if scope is None:
        return None
    if model.once(_is_differentiated, (name.id, scope)):
        return Device.UNKNOWN
    shown = model.once(_casts_of, (name.id, scope))
    if is_in_network(name, model):
        shown = [*shown, *model.once(_sliced_in, (name.id, scope))]
    return Device.UNKNOWN if any(model.dataflow.definitions(use) == definitions for use in shown) else None


def is_in_network(node: ast.AST, model: SemanticModel) -> bool:
    """Whether a node is part of a class with a `forward` method."""
    owner = model.symbols.class_at(node)
    return owner is not None and "forward" in owner.methods


def _sliced_in(variable: tuple[str, Scope], model: SemanticModel) -> list[ast.Name]:
    """Return the uses of a variable with slices of several axes, which only arrays and tensors have: `mask[:,
    :, 0]`. Networks compute with tensors.
    """
    return [
        use
        for use in model.names.reads(*variable)
        if isinstance(index := model.parent(use), ast.Subscript)
        and index.value is use
        and isinstance(index.slice, ast.Tuple)
        and any(isinstance(axis, ast.Slice) for axis in index.slice.elts)
    ]


def _is_differentiated(variable: tuple[str, Scope], model: SemanticModel) -> bool:
    users = map(model.parent, model.names.reads(*variable))
    return any(isinstance(user, ast.Attribute) and user.attr in _OF_GRADIENTS for user in users)


def _casts_of(variable: tuple[str, Scope], model: SemanticModel) -> list[ast.Name]:
    """Return the uses of a variable with a conversion that only tensors have: `done.float()`."""
    found = []
    for use in model.names.reads(*variable):
        method = model.parent(use)
        if isinstance(method, ast.Attribute) and method.attr in _CASTS:
            call = model.parent(method)
            if isinstance(call, ast.Call) and call.func is method and not call.args:
                found.append(use)
    return found


def _items(iterable: ast.expr, path: tuple[int, ...], model: SemanticModel, depth: int) -> Device | None:
    """Return the device of the tensors that a loop iterates over, if they are the parts of one:
    `torch.split(x, sizes)`. `path` is the place of the loop variable in the items.
    """
    if depth <= 0:
        return None
    if isinstance(iterable, ast.Name):
        made = [
            binding.value
            for binding in model.dataflow.definitions(iterable)
            if binding.kind is BindingKind.ASSIGN and not binding.path
        ]
        found = _joined([_items(value, path, model, depth - 1) for value in made if value is not None])
        if found is not None or path:
            return found
        held = model.types.type_of(iterable).tag is TypeTag.LIST and containers.contents(iterable, model)
        return _joined([where(each, model, depth - 1) for each in held or ()]) or where(
            iterable, model, depth - 1
        )
    if not isinstance(iterable, ast.Call):
        return None
    called = model.names.qualified(iterable.func)
    if called == "builtins.zip":
        zipped = iterable.args
        if not path or any(isinstance(argument, ast.Starred) for argument in zipped):
            return None
        return _items(zipped[path[0]], path[1:], model, depth) if 0 <= path[0] < len(zipped) else None
    if called == "builtins.enumerate":
        is_item = path[:1] == (1,) and bool(iterable.args)
        return _items(iterable.args[0], path[1:], model, depth) if is_item else None
    if called in _SAME_ITEMS and iterable.args:
        return _items(iterable.args[0], path, model, depth)
    if called is not None and not called.startswith("torch.") and not path:
        return None  # of a function of the project, which may return anything
    return _joined([where(argument, model, depth - 1) for argument in iterable.args])


def _joined(found: list[Device | None]) -> Device | None:
    """Return the device of a result computed from several values, some of which may not be tensors."""
    devices = [device for device in found if device is not None]
    if not devices:
        return None
    if Device.HOST in devices:
        return Device.HOST
    return devices[0]


def _either(found: list[Device | None]) -> Device | None:
    """Return the device of a variable with several definitions: `if cuda: x = x.cuda()` may move it."""
    devices = [device for device in found if device is not None]
    return next((device for device in devices if device is not Device.HOST), devices[0] if devices else None)
