"""Conversions of a list or array to a tensor that are repeated although only calls run in between."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from rlint.rule import SemanticModel, Trait, TypeTag, UseKind, descendants, last_name, models, regex

_DATA = frozenset({TypeTag.NDARRAY, TypeTag.LIST, TypeTag.TUPLE})
_UNKNOWN = _DATA | {TypeTag.UNKNOWN}
_CONVERTS = models.having(Trait.FROM_DATA | Trait.LEGACY, "torch") - {"torch.from_numpy"}
_MOVES = frozenset({"to", "cuda"})
_NETWORK = regex(r"net|model|module|policy|actor|critic|agent|encoder|decoder|layer|buffer")


def data_of(call: ast.Call, model: SemanticModel) -> ast.Name | ast.Attribute | None:
    """Return the variable or attribute that a call converts to a tensor: `states` of `torch.tensor(states)`,
    of unknown type or a list or array.
    """
    match call.args:
        case [(ast.Name() | ast.Attribute()) as data] if model.names.qualified(call.func) in _CONVERTS:
            kind = model.types.type_of(data)
            return data if kind.tag in _UNKNOWN and not kind.optional else None
    return None


def converts_whole(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call converts a whole list or array to a tensor: `torch.tensor(states)`, of which each
    iteration of a training loop only uses a part.
    """
    data = data_of(call, model)
    return data is not None and model.types.type_of(data).tag in _DATA


def are_only_read(data: ast.expr, nodes: Iterable[ast.AST], model: SemanticModel) -> bool:
    """Whether none of the nodes binds a variable or writes to its items; calls may do so."""
    shape = ast.dump(data)
    roots = {part.id for part in descendants(data) if isinstance(part, ast.Name)}
    for node in nodes:
        if isinstance(node, ast.Name) and node.id in roots and not isinstance(node.ctx, ast.Load):
            return False
        if not isinstance(node, (ast.Name, ast.Attribute)) or last_name(node) != last_name(data):
            continue
        if not isinstance(node.ctx, ast.Load):
            return False
        use = model.syntax.use(node)
        if ast.dump(node) != shape or use.kind is UseKind.AUGMENTED:
            return False
        if isinstance(getattr(use.at, "ctx", None), (ast.Store, ast.Del)):
            return False
        if use.kind is UseKind.METHOD and isinstance(model.parent(use.at), ast.Expr):
            return False  # `states.append(state)`
    return True


def converted_before(call: ast.Call, model: SemanticModel) -> ast.expr | None:
    """Return the earlier evaluation of a conversion of the same variable, perhaps moved to a device:
    `torch.tensor(obs).to(device)`. Calls in between may modify the variable, but nothing else does.
    """
    made = _conversion(call)
    data = data_of(made, model)
    if data is None or _is_part_of_equal(call, model):
        return None
    for earlier in reversed(model.dataflow.equal_to(call)):
        between = model.dataflow.between(earlier, call) if _is_before(earlier, call) else None
        if between is None or model.syntax.statement(earlier) is model.syntax.statement(call):
            continue
        inside = (part for node in between for part in descendants(node))
        return earlier if are_only_read(data, (*between, *inside), model) else None
    return None


def is_likely_copy(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call likely copies a tensor of unknown type to the host or to another dtype: `value.cpu()`,
    `weight.to(torch.float32)`. A network is moved in place.
    """
    match call:
        case ast.Call(func=ast.Attribute(value=ast.Name() as copied, attr="cpu"), args=[], keywords=[]):
            pass
        case ast.Call(func=ast.Attribute(value=ast.Name() as copied, attr="to"), args=[dtype], keywords=[]):
            if model.types.type_of(dtype).tag is not TypeTag.DTYPE:
                return False
        case _:
            return False
    if model.types.type_of(copied).tag is not TypeTag.UNKNOWN or _NETWORK.search(copied.id.lower()):
        return False
    use = model.syntax.use(call)
    return use.kind not in (UseKind.METHOD, UseKind.ATTRIBUTE) and not isinstance(
        model.parent(call), (ast.Expr, ast.Assign, ast.Attribute)
    )


def is_moved(call: ast.Call) -> bool:
    """Whether a conversion is followed by a copy to a device."""
    return any(isinstance(part, ast.Attribute) and part.attr in _MOVES for part in descendants(call)) or any(
        keyword.arg == "device" for keyword in call.keywords
    )


def _conversion(call: ast.Call) -> ast.Call:
    """Return `torch.tensor(obs)` of `torch.tensor(obs).to(device)`."""
    while isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call):
        call = call.func.value
    return call


def _is_part_of_equal(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a larger expression around a call is evaluated again as a whole."""
    match model.parent(call):
        case ast.Attribute() as method if (outer := model.syntax.call_of(method)) is not None:
            return len(model.dataflow.equal_to(outer)) > 1
    return False


def _is_before(earlier: ast.expr, call: ast.Call) -> bool:
    return (earlier.lineno, earlier.col_offset) < (call.lineno, call.col_offset)
