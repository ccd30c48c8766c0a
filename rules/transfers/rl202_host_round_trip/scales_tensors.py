"""Numbers that are read from the device only to take part in arithmetic with its tensors."""

from __future__ import annotations

import ast

from rlint.rule import Device, SemanticModel
from rlint.rules.transfers.rl202_host_round_trip.host_reads import HostRead, where
from rlint.rules.transfers.rl202_host_round_trip.read_together import is_logged


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
    """Whether a number is an operand of arithmetic whose other operand is a tensor of a device."""
    operation = model.parent(use)
    if not isinstance(operation, ast.BinOp):
        return False
    other = operation.right if operation.left is use else operation.left
    return where(other, model) not in (None, Device.HOST, Device.OTHER)
