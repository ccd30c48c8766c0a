"""Numbers that are read from the device only to take part in arithmetic with its tensors."""

from __future__ import annotations

import ast

from rlint.rule import Device, SemanticModel, Trait, TypeTag, models
from rlint.rules.transfers.rl202_host_round_trip.host_reads import HostRead
from rlint.rules.transfers.rl202_host_round_trip.read_together import is_logged
from rlint.rules.transfers.rl202_host_round_trip.tensor_devices import where

_TAKES = Trait.LIMITS | Trait.ELEMENTWISE | Trait.COMPARES
_TAKES_NUMBERS = models.having(_TAKES, TypeTag.TENSOR) | {
    "masked_fill",
    "masked_fill_",
    "fill_",
    "mul_",
    "div_",
}
_FUNCTIONS = models.having(_TAKES, "torch") | {"torch.where", "torch.masked_fill"}


def use_with_tensor(read: HostRead, model: SemanticModel) -> ast.expr | None:
    """Return the first use, in arithmetic with a device tensor, of a number that a statement reads and
    stores: `alpha * log_probs` after `alpha = log_alpha.exp().item()`. None if anything else is done with it,
    except that it is logged.
    """
    if read.method not in ("item", "float"):
        return None
    uses = _uses(read.node, model)
    found = [use for use in uses if _is_operand(use, model)]
    if not found or any(use not in found and not is_logged(model.syntax.statement(use)) for use in uses):
        return None
    return min(found, key=model.source.span)


def _uses(value: ast.expr, model: SemanticModel) -> list[ast.expr]:
    """Return the reads of the variable or the attribute of `self` in which a statement stores a value."""
    match model.syntax.statement(value):
        case ast.Assign(targets=[ast.Name(id=name) as target], value=stored) if stored is value:
            scope = model.names.scope(target).lookup(name)
            if scope is None or scope.parent is None or model.names.is_captured(name, scope):
                return []
            return [
                use
                for use in model.names.reads(name, scope)
                if any(binding.value is value for binding in model.dataflow.definitions(use))
            ]
        case ast.Assign(targets=[ast.Attribute(value=owner, attr=name)], value=stored) if stored is value:
            if not model.names.is_self(owner):
                return []
            cls = model.class_of(value)
            return [
                use
                for use in model.names.attribute_uses(name)
                if isinstance(use.ctx, ast.Load) and model.class_of(use) is cls
            ]
    return []


def _is_operand(use: ast.expr, model: SemanticModel) -> bool:
    """Whether a number is an operand of arithmetic whose other operand is a tensor of a device, is stored in
    elements of one (`x[mask] = largest`), or limits or fills one (`x.clamp(max=largest)`).
    """
    operation = model.parent(use)
    if isinstance(operation, ast.keyword):
        operation = model.parent(operation)
    match operation:
        case ast.BinOp(left=left, right=right):
            return _is_on_device(right if left is use else left, model)
        case ast.Assign(targets=[ast.Subscript(value=filled)], value=value):
            return value is use and _is_on_device(filled, model)
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if (
            model.names.qualified(operation.func) is None
        ):
            return method in _TAKES_NUMBERS and _is_on_device(owner, model)
        case ast.Call(func=func, args=args):
            is_torch = (model.names.qualified(func) or "") in _FUNCTIONS
            return is_torch and any(_is_on_device(each, model) for each in args if each is not use)
    return False


def _is_on_device(tensor: ast.expr, model: SemanticModel) -> bool:
    return where(tensor, model) not in (None, Device.HOST, Device.OTHER)
