"""What reads the copies of a repeated tensor."""

from __future__ import annotations

import ast

from rlint.rule import Enum, SemanticModel, Trait, TypeTag, Use, UseKind, models, parameter_of, weight_sync
from rlint.rules.networks.rl325_repeated_to_read.joined_lists import is_joined_list

_BATCHES = Trait.MULTIPLIES_BATCHES
"""Products that read the same matrix for each item of a batch without a copy."""
_READS = Trait.ELEMENTWISE | Trait.REDUCES | Trait.PAIRWISE | Trait.COMPARES | Trait.SAME_KIND | Trait.CASTS
_LOSSES = models.having(Trait.DIFFERS, "torch.nn.functional") | {
    name
    for name in models.giving(TypeTag.TENSOR, "torch.nn.functional")
    if name.endswith(("_loss", ".binary_cross_entropy", ".binary_cross_entropy_with_logits"))
}
_PERMUTES = models.having(Trait.PERMUTES, TypeTag.TENSOR)
_VIEWS = _PERMUTES | {"unsqueeze", "detach"}
"""Methods that return a view also of a tensor that is expanded."""
_LAYS_OUT = frozenset({"contiguous", "flatten", "ravel", "reshape"})
"""Methods that copy a permuted tensor."""
_TAKES = Trait.PAIRWISE | Trait.SAME_KIND | _BATCHES


class Read(Enum):
    """How a use reads the copies."""

    READ = "read"
    COPIED = "copied"
    """It copies them to another place anyway."""
    VIEWED = "viewed"
    """It only makes a view, whose uses are followed."""


def reads_of(copies: ast.Call, model: SemanticModel) -> list[Read]:
    """Return how copies are read, also through views of them and in functions of the file that get them;
    empty if they are not only read.
    """
    found: list[Read] = []
    for use in model.dataflow.uses_across_functions(copies, _is_view):
        read = _read_by(use, model)
        if read is None:
            return []
        if read is not Read.VIEWED:
            found.append(read)
    return found


def _is_view(use: Use) -> bool:
    """Whether the result of a use is a view of the copies."""
    match use.kind, use.at:
        case (UseKind.METHOD, ast.Call(func=ast.Attribute(attr=method))):
            return method in _VIEWS
        case (UseKind.ITEM, ast.Subscript(slice=index, ctx=ast.Load())):
            parts = index.elts if isinstance(index, ast.Tuple) else [index]
            return all(isinstance(part, (ast.Slice, ast.Constant)) for part in parts)
    return False


def _read_by(use: Use, model: SemanticModel) -> Read | None:
    """Return how a use reads the elements; None if it does not only read them, or is not known."""
    if use.cause is not None:
        return None
    if _is_view(use):
        return Read.VIEWED
    match use.kind, use.at:
        case (UseKind.OPERAND, ast.BinOp(op=ast.MatMult())):
            return None
        case (UseKind.OPERAND | UseKind.COMPARED | UseKind.INDEX, _):
            return Read.READ
        case (UseKind.ITEM, ast.Subscript(ctx=ast.Load())):
            return Read.READ
        case (UseKind.ATTRIBUTE, ast.Attribute(attr=attribute, ctx=ast.Load())):
            return Read.VIEWED if attribute in ("shape", "device", "dtype", "ndim") else None
        case (UseKind.METHOD, ast.Call(func=ast.Attribute(attr=method, value=receiver))):
            if method in _LAYS_OUT and _is_permuted(receiver):
                return Read.COPIED
            return Read.READ if method in models.having(_READS | Trait.MEASURES, TypeTag.TENSOR) else None
        case (UseKind.ELEMENT, (ast.List() | ast.Tuple()) as display):
            return _read_in_display(display, model)
        case (UseKind.ARGUMENT, ast.Call() as call):
            return _read_by_call(call, use.node, model)
    return None


def runs_network(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call runs a network or a method of one, whose layers copy a view that is not contiguous."""
    if weight_sync.is_network(call.func, model):
        return True
    match call.func:
        case ast.Attribute(value=owner):
            return not model.names.is_self(owner) and weight_sync.is_network(owner, model)
    return False


def _is_permuted(receiver: ast.expr) -> bool:
    """Whether a tensor is permuted in the same expression, so that reshaping it copies it anyway."""
    match receiver:
        case ast.Call(func=ast.Attribute(attr=method)):
            return method in _PERMUTES
    return False


def _read_in_display(display: ast.List | ast.Tuple, model: SemanticModel) -> Read | None:
    """Return how copies in a list or tuple are read: joined, or used as one of several indexes."""
    match model.parent(display):
        case ast.Call(func=called):
            is_joined = model.names.qualified(called) in models.having(Trait.JOINS, "torch")
            return Read.COPIED if is_joined else None
        case ast.Subscript(slice=index) if index is display:
            return Read.READ
    return None


def _read_by_call(call: ast.Call, argument: ast.AST, model: SemanticModel) -> Read | None:
    """Return how a function reads the copies that it is passed."""
    path = model.names.qualified(call.func) or ""
    if path in models.having(_READS | _BATCHES, "torch") or path in _LOSSES:
        return Read.READ
    targets = model.types.call_targets(call)
    if targets:
        definitions = [model.types.definition(target) for target in targets]
        taken = [parameter_of(argument, call, target) for target in targets]
        if all(definitions) and all(taken):
            return Read.VIEWED
    if runs_network(call, model):
        return Read.COPIED
    if targets:
        return None
    if path or not isinstance(call.func, ast.Attribute):
        return None
    if is_joined_list(call, model):
        return Read.COPIED
    is_method = model.types.type_of(call.func.value).tag is TypeTag.TENSOR
    return Read.READ if is_method and call.func.attr in models.having(_TAKES, TypeTag.TENSOR) else None
