"""State dicts that are moved to the host, and the moves in them."""

from __future__ import annotations

import ast

from rlint.rule import BindingKind, Device, SemanticModel, descendants, frozen, weight_sync

_SAME_TENSOR = frozenset({"detach", "contiguous"})


@frozen
class Moved:
    """`node` moves `original` to the host; the tensors are those of the network `owner` (or the tensor)."""

    node: ast.Call
    original: ast.expr
    owner: ast.expr

    @property
    def shown(self) -> str:
        """Return the source of the move."""
        return ".cpu()" if getattr(self.node.func, "attr", "") == "cpu" else ".to(...)"


def move_in(value: ast.expr, model: SemanticModel) -> Moved | None:
    """Return the move to the host in `v.detach().cpu()`."""
    found: tuple[ast.Call, ast.expr] | None = None
    while True:
        match value:
            case ast.Call(func=ast.Attribute(value=inner, attr="cpu"), args=[], keywords=[]):
                found = found or (value, inner)
            case ast.Call(func=ast.Attribute(value=inner, attr="to"), args=[target], keywords=[]) if (
                model.types.device_of(target) is Device.HOST
            ):
                found = found or (value, inner)
            case ast.Call(func=ast.Attribute(value=inner, attr=method), args=[], keywords=[]) if (
                method in _SAME_TENSOR
            ):
                pass
            case ast.Attribute(value=inner, attr="data"):
                pass
            case _:
                return Moved(*found, value) if found else None
        value = inner


def moved_state(given: ast.expr, model: SemanticModel) -> Moved | None:
    """Return the move in an expression that is the state of a network, with each tensor moved under its own
    key.
    """
    item = weight_sync.item_of_dict(given, model)
    if item is None:
        return None
    key, value, items = item
    return _moved_item(key, value, items.target, items.iter, model)


def moved_weights(node: ast.DictComp | ast.ListComp, model: SemanticModel) -> Moved | None:
    """Return the move in a comprehension that copies all weights of a network to the host, also as arrays:
    `{k: v.cpu() for k, v in net.state_dict().items()}`, `[p.data.cpu().numpy() for p in net.parameters()]`.
    """
    if len(node.generators) != 1:
        return None
    value = node.value if isinstance(node, ast.DictComp) else node.elt
    match value:
        case ast.Call(func=ast.Attribute(value=tensor, attr="numpy"), args=[], keywords=[]):
            value = tensor
    moved = move_in(value, model)
    items = node.generators[0]
    if moved is None or not isinstance(moved.owner, ast.Name):
        return None
    variables = [part.id for part in descendants(items.target) if isinstance(part, ast.Name)]
    if moved.owner.id not in variables:
        return None
    owner = _network_of(items.iter, model)
    return Moved(moved.node, moved.original, owner) if owner is not None else None


def _network_of(iterable: ast.expr, model: SemanticModel) -> ast.expr | None:
    """Return the network whose weights a loop iterates over, also through a variable for its state."""
    match iterable:
        case ast.Call(func=ast.Attribute(value=owner, attr="parameters" | "named_parameters" | "state_dict")):
            return owner
        case ast.Call(func=ast.Attribute(value=state, attr="items" | "values"), args=[]):
            return _network_of(state, model)
        case ast.Name():
            bound = model.dataflow.definitions(iterable)
            value = bound[0].value if len(bound) == 1 and not bound[0].path else None
            return _network_of(value, model) if isinstance(value, ast.Call) else None
    return None


def _moved_item(
    key: str, value: ast.expr, target: ast.expr, iterable: ast.expr, model: SemanticModel
) -> Moved | None:
    """Return the move in `key: v.cpu()` for `key, v in net.state_dict().items()`, or for `key in
    net.state_dict()`.
    """
    moved = move_in(value, model)
    owner = weight_sync.item_owner(key, moved.owner, target, iterable, model) if moved is not None else None
    return Moved(moved.node, moved.original, owner) if moved is not None and owner is not None else None


def filled_by_loop(argument: ast.expr, load: ast.Call, model: SemanticModel) -> Moved | None:
    """Return the move in a loop that fills an empty dict with the state, which is only loaded: `for k, v in
    net.state_dict().items(): state[k] = v.cpu()`.
    """
    if not isinstance(argument, ast.Name):
        return None
    scope = model.names.scope(argument).lookup(argument.id)
    bindings = model.names.bindings(argument)
    if scope is None or len(bindings) != 1 or bindings[0].kind is not BindingKind.ASSIGN:
        return None
    if not _is_empty_dict(bindings[0].value, model) or model.names.is_captured(argument.id, scope):
        return None
    others = [use for use in model.names.reads(argument.id, scope) if use is not argument]
    if len(others) != 1 or model.frequency.loops(bindings[0].statement) != model.frequency.loops(load):
        return None
    stored = model.parent(others[0])
    assignment = model.parent(stored) if stored is not None else None
    loop = model.parent(assignment) if assignment is not None else None
    match stored, assignment, loop:
        case (
            ast.Subscript(slice=ast.Name(id=key)),
            ast.Assign(targets=[target], value=value),
            ast.For(target=variables, iter=iterable, body=[_]),
        ) if target is stored:
            return _moved_item(key, value, variables, iterable, model)
    return None


def _is_empty_dict(value: ast.expr | None, model: SemanticModel) -> bool:
    match value:
        case ast.Dict(keys=[]):
            return True
        case ast.Call(func=func, args=[], keywords=[]):
            return model.names.qualified(func) in weight_sync.MAKES_A_DICT
    return False
