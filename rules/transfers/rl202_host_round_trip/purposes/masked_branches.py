"""Conditions on device tensors that only decide which tensors are computed: masks need no condition."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from rlint.rule import (
    Driver,
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    last_name,
    models,
    vocabulary,
)
from rlint.rules.transfers._shared.in_steps import is_in_gradient_steps
from rlint.rules.transfers.rl202_host_round_trip.host_reads import HostRead
from rlint.rules.transfers.rl202_host_round_trip.purposes.loop_tests import is_for_host
from rlint.rules.transfers.rl202_host_round_trip.read_together import is_logged
from rlint.rules.transfers.rl202_host_round_trip.tensor_devices import (
    is_in_network,
    is_placed_on_device,
    where,
)

_ON_HOST = vocabulary.LOGS | models.having(Trait.TO_HOST, TypeTag.TENSOR) | {"exit"}
_JOINS = models.having(Trait.JOINS, "torch")
"""Functions whose results have other shapes than their arguments."""
_MOST_OPERATIONS = 6
"""Number of operations that together take longer than one synchronisation with a device that is not busy."""
_BUILT_IN = (TypeTag.LIST, TypeTag.DICT, TypeTag.SET, TypeTag.DEQUE, TypeTag.STR, TypeTag.NDARRAY)


def decides_tensors(read: HostRead, model: SemanticModel) -> bool:
    """Whether a condition on a device tensor only selects the tensors that are computed, stored or returned:
    `if mask.any(): values[mask] = 0.0`, `if not torch.any(mask): return torch.zeros(())`. The host needs the
    answer of others: to write a message, to step an environment, to end a loop, or to fill a list.
    """
    if read.method != "if" or not _is_likely_on_device(read, model):
        return False
    for around in model.ancestors(read.node):
        match around:
            case ast.IfExp(body=body, orelse=orelse):
                return all(_is_tensor(part, model) for part in (body, orelse))
            case ast.If():
                if is_for_host(around, model) or saves_work(around, model):
                    return False
                return _selects_tensors(around, model)
            case ast.stmt():
                return False
    return False


def _is_likely_on_device(read: HostRead, model: SemanticModel) -> bool:
    """Whether a tensor likely is on a device: a gradient step or a network computes it, or the code around
    names devices.
    """
    if is_in_gradient_steps(read.node, model) or is_in_network(read.node, model):
        return True
    if is_placed_on_device(read.tensor, model):
        return True
    around = model.class_of(read.node) or model.function(read.node)
    return around is not None and "device" in model.source.text(around)


def _selects_tensors(branch: ast.If, model: SemanticModel) -> bool:
    """Whether a branch, and what runs instead of it if it returns, only computes tensors."""
    gives_nothing = is_in_gradient_steps(branch, model) and _returns_nothing(branch)
    if not gives_nothing and not _computes_tensors([*branch.body, *branch.orelse], model):
        return False
    if branch.orelse or not isinstance(branch.body[-1], ast.Return):
        return True
    block, index = model.syntax.block(branch)
    rest = block[index + 1 :]
    return bool(rest) and isinstance(rest[-1], ast.Return) and _computes_tensors(rest, model)


def saves_work(branch: ast.If, model: SemanticModel) -> bool:
    """Whether a branch that compares a number computes so much that it costs more than the read to compute it
    each time: `if distance < radius:`, and a dozen of operations. A mask that has no elements is tested for
    less (`if mask.any():`): without the test, the same operations run on no elements.
    """
    if _tests_mask(branch.test, model):
        return False
    inner = (node for each in (*branch.body, *branch.orelse) for node in descendants(each))
    return sum(map(_is_operation, inner)) > _MOST_OPERATIONS


def _tests_mask(test: ast.expr, model: SemanticModel) -> bool:
    """Whether a condition asks whether a mask has elements, also by the name of the answer."""
    if isinstance(test, ast.Name):
        made = model.dataflow.definitions(test)
        values = [binding.value for binding in made if binding.value is not None]
        return bool(values) and all(_tests_mask(value, model) for value in values if value is not test)
    calls = (node for node in descendants(test) if isinstance(node, ast.Call))
    return any(last_name(call.func) in ("all", "any") for call in calls)


def _is_operation(node: ast.AST) -> bool:
    """Whether a node likely starts a kernel."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.ctx, ast.Store)
    return isinstance(node, (ast.AugAssign, ast.BinOp, ast.Call, ast.Compare))


def _returns_nothing(branch: ast.If) -> bool:
    """Whether a branch returns no loss: `if not mask.any(): return None`."""
    match branch:
        case ast.If(body=[ast.Return(value=None | ast.Constant())], orelse=[]):
            return True
    return False


def _computes_tensors(statements: Sequence[ast.stmt], model: SemanticModel) -> bool:
    """Whether statements only compute tensors, at least one."""
    inner = [part for each in statements for part in _unfolded(each)]
    if not all(_stays_on_device(each, model) for each in inner):
        return False
    return any(_gives_tensor(each, model) for each in inner)


def _unfolded(statement: ast.stmt) -> list[ast.stmt]:
    """Return the statements in the branches of a statement, or itself."""
    match statement:
        case ast.If(body=body, orelse=orelse):
            return [part for each in (*body, *orelse) for part in _unfolded(each)]
        case ast.With(body=body):
            return [part for each in body for part in _unfolded(each)]
    return [statement]


def _stays_on_device(statement: ast.stmt, model: SemanticModel) -> bool:
    if is_logged(statement):
        return False
    match statement:
        case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.Return() | ast.Pass():
            pass
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr=method), args=given)):
            if model.types.type_of(owner).tag in _BUILT_IN:
                return False
            is_in_place = method.endswith("_")  # of a tensor: `values.fill_(0.0)`
            if not is_in_place and not any(_is_tensor(each, model) for each in (owner, *given)):
                return False  # an action: `term.run(env)`
        case ast.Expr(value=ast.Constant()):
            return True
        case _:
            return False
    calls = [node for node in descendants(statement) if isinstance(node, ast.Call)]
    return not any(_needs_host(call, model) for call in calls)


def _needs_host(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call reads numbers, writes a message, steps an environment or gives a tensor of another
    shape.
    """
    if last_name(call.func) in _ON_HOST or model.names.qualified(call.func) in _JOINS:
        return True
    return model.analysis.loops.driver_of(call) is Driver.ENVIRONMENT_STEP


def _gives_tensor(statement: ast.stmt, model: SemanticModel) -> bool:
    """Whether a statement stores or returns a tensor, changes a part of one, or passes one on."""
    match statement:
        case ast.Assign(targets=targets, value=value):
            holders = [target.value for target in targets if isinstance(target, ast.Subscript)]
            return any(_is_tensor(each, model) for each in (value, *holders))
        case ast.AugAssign(target=target, value=value):
            return _is_tensor(target, model) or _is_tensor(value, model)
        case ast.Return(value=ast.expr() as value) | ast.AnnAssign(value=ast.expr() as value):
            parts = value.elts if isinstance(value, ast.Tuple) else [value]
            return any(_is_tensor(part, model) for part in parts)
        case ast.Expr(value=ast.Call(args=args)):
            return any(_is_tensor(argument, model) for argument in args)
    return False


def _is_tensor(value: ast.expr, model: SemanticModel) -> bool:
    return model.types.type_of(value).tag is TypeTag.TENSOR or where(value, model) is not None
