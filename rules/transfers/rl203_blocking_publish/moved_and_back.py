"""Networks that are moved to the host and back to publish their weights."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Device, SemanticModel, TypeTag, descendants, is_dotted_name, same_code, target_of_move

_MOVES = frozenset({"to", "cuda", "cpu"})


def moved_back(move: ast.Call, model: SemanticModel) -> ast.Call | None:
    """Return the call that moves a network back to the device after `net.to("cpu")`, if the statements up to
    there only read its state: `weights = net.cpu().state_dict()`, then `net.cuda()`.
    """
    if not isinstance(move.func, ast.Attribute) or _target(move, model) is Device.CUDA:
        return None
    network = move.func.value
    if not is_dotted_name(network) or model.types.type_of(network).tag is not TypeTag.MODULE:
        return None
    block, index = model.syntax.block(model.syntax.statement(move))
    is_read = False
    for place, statement in enumerate(block[index:]):
        for call in _calls_of(statement, network):
            assert isinstance(call.func, ast.Attribute)
            if place and call.func.attr in _MOVES:
                is_back = _target(call, model) is not Device.HOST and not _is_same_move(move, call)
                return call if is_back and is_read else None
        is_read = is_read or _reads_state(statement, network)
        if _runs(statement, network):
            return None
    return None


def _target(move: ast.Call, model: SemanticModel) -> Device:
    """Return the device that a call moves to."""
    match move.func:
        case ast.Attribute(attr="cpu"):
            return Device.HOST
        case ast.Attribute(attr="cuda"):
            return Device.CUDA
    target = target_of_move(move)
    return model.types.device_of(target) if target is not None else Device.CUDA


def _is_same_move(first: ast.Call, second: ast.Call) -> bool:
    targets = target_of_move(first), target_of_move(second)
    return targets[1] is not None and same_code(targets[0], targets[1])


def _calls_of(statement: ast.stmt, network: ast.expr) -> Iterator[ast.Call]:
    """Yield the calls of methods of a network in a statement."""
    for node in descendants(statement):
        match node:
            case ast.Call(func=ast.Attribute(value=owner)) if same_code(owner, network):
                yield node


def _reads_state(statement: ast.stmt, network: ast.expr) -> bool:
    """Whether a statement reads the state of a network, also of the result of its move."""
    for node in descendants(statement):
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr="state_dict")):
                while isinstance(owner, ast.Call) and isinstance(owner.func, ast.Attribute):
                    owner = owner.func.value
                if same_code(owner, network):
                    return True
    return False


def _runs(statement: ast.stmt, network: ast.expr) -> bool:
    return any(
        isinstance(node, ast.Call) and same_code(node.func, network) for node in descendants(statement)
    )
