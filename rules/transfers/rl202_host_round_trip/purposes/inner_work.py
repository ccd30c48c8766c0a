"""Single reads that a step makes many times: in a loop over inner work, or in a function called in one."""

from __future__ import annotations

import ast

from rlint.rule import (
    FUNCTIONS,
    BindingKind,
    Driver,
    Heat,
    Loop,
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    is_in,
    models,
    roles,
)
from rlint.rules.transfers.rl202_host_round_trip.host_reads import HostRead
from rlint.rules.transfers.rl202_host_round_trip.read_together import drives, is_logged
from rlint.rules.transfers.rl202_host_round_trip.tensor_devices import is_placed_on_device

_DRAWS = models.having(Trait.PICKS, "random") & {"random.sample", "random.choices"}
_PASS_ON = frozenset({"builtins.enumerate", "builtins.list", "tqdm.tqdm"})
_STEPS = 4
_CODE = (*FUNCTIONS, ast.Lambda)
_STEPS_OF_ENVIRONMENT = frozenset({Driver.ENVIRONMENT_STEP})
_SEQUENTIAL = _STEPS_OF_ENVIRONMENT | {Driver.GENERATION, Driver.MESSAGE}


def storing_loop(read: HostRead, model: SemanticModel) -> Loop | None:
    """Return the loop over inner work (agents, parts of a model, samples) around a read, if each iteration
    only stores what it reads: all could be read together after the loop.
    """
    loops = model.frequency.loops(read.node)
    if not loops or not isinstance(loops[0], (ast.For, ast.AsyncFor)):
        return None
    loop = loops[0]
    if _is_over_losses(loop, model):
        return loop if _is_stored(model.syntax.statement(read.node)) else None
    if drives(loop, model) or loop is model.frequency.driving_loop(read.node):
        return None
    return loop if _is_only_stored(read, loop, model) else None


def _is_over_losses(loop: ast.For | ast.AsyncFor, model: SemanticModel) -> bool:
    """Whether a loop takes a gradient step for each of the losses that a function returns by name: `for name,
    loss in self.losses(batch).items()`.
    """
    match loop.iter:
        case ast.Call(func=ast.Attribute(value=losses, attr="items" | "values"), args=[]):
            item = model.types.type_of(losses).item
            return item is not None and item.tag is TypeTag.TENSOR
    return False


def sample_loop(read: HostRead, model: SemanticModel) -> Loop | None:
    """Return the loop over the transitions of a sampled batch around a read of what it computes for each of
    them: `for state, reward in random.sample(memory, 32): target = net(state).max().item()`.
    """
    loops = model.frequency.loops(read.node)
    if not loops or not isinstance(loops[0], (ast.For, ast.AsyncFor)) or drives(loops[0], model):
        return None
    drawn = loops[0].iter
    while isinstance(drawn, ast.Call) and model.names.qualified(drawn.func) in _PASS_ON and drawn.args:
        drawn = drawn.args[0]
    if isinstance(drawn, ast.Name):
        bound = model.dataflow.definitions(drawn)
        drawn = bound[0].value if len(bound) == 1 and not bound[0].path and bound[0].value else drawn
    match drawn:
        case ast.Call(func=func) if model.names.qualified(func) in _DRAWS:
            return loops[0]
    return None


def _is_only_stored(read: HostRead, loop: Loop, model: SemanticModel) -> bool:
    """Whether an iteration of a loop only stores what it reads, or what arithmetic makes of it if a variable
    holds the result of a call that is read: `out = net(x).cpu().numpy()`, `outs.append(out * scale)`.
    """
    statement = model.syntax.statement(read.node)
    if _is_stored(statement):
        return True
    return _is_result(read.tensor, model) and _are_uses_stored(read.node, statement, loop, model, _STEPS)


def _is_result(tensor: ast.expr, model: SemanticModel) -> bool:
    """Whether a tensor is the result of a call."""
    if not isinstance(tensor, ast.Name):
        return isinstance(tensor, ast.Call)
    bound = model.dataflow.definitions(tensor)
    return bool(bound) and all(isinstance(each.value, ast.Call) and not each.path for each in bound)


def _are_uses_stored(
    value: ast.expr, statement: ast.stmt, loop: Loop, model: SemanticModel, depth: int
) -> bool:
    """Whether all uses of the variable that an assignment computes from a value only store it."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name) as target], value=computed) if depth > 0:
            scope = model.names.scope(target).lookup(name)
            if scope is None or not scope.is_function or not _is_arithmetic(value, computed, model):
                return False
            uses = [
                use
                for use in model.names.reads(name, scope)
                if any(binding.value is computed for binding in model.dataflow.definitions(use))
            ]
            return bool(uses) and all(
                is_in(use, loop) and _is_use_stored(use, loop, model, depth - 1) for use in uses
            )
    return False


def _is_use_stored(use: ast.Name, loop: Loop, model: SemanticModel, depth: int) -> bool:
    statement = model.syntax.statement(use)
    match statement:
        case (
            ast.Expr(value=ast.Call(args=[value]))
            | ast.Assign(targets=[ast.Subscript()], value=value)
            | ast.AugAssign(value=value)
        ):
            return _is_stored(statement) and _is_arithmetic(use, value, model)
    return _are_uses_stored(use, statement, loop, model, depth)


def _is_arithmetic(value: ast.expr, computed: ast.expr, model: SemanticModel) -> bool:
    """Whether an expression is computed from one of its parts by arithmetic and methods of arrays."""
    for around in model.ancestors(value):
        if value is computed:
            return True
        if not isinstance(around, (ast.BinOp, ast.Attribute, ast.Subscript, ast.Call, ast.UnaryOp)):
            return False
        if isinstance(around, ast.Call) and value is not around.func:
            return False
        value = around
    return False


def _is_stored(statement: ast.stmt) -> bool:
    """Whether a statement only stores, adds up or logs what it reads."""
    match statement:
        case ast.AugAssign() | ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"))):
            return True
    is_log: bool = is_logged(statement)
    return is_log


def is_repeated(read: HostRead, model: SemanticModel) -> bool:
    """Whether a function reads what it has computed itself, and a step of a program that trains no language
    model calls it several times, without anything in between that needs an earlier result: a token, an
    action or a message.
    """
    if model.frequency.loops(read.node) or model.function(read.node) is None:
        return False
    beat = model.frequency.cadence(read.node)
    if beat is None or not beat.repeated or not beat.calls:
        return False
    sequential = beat.drivers & _SEQUENTIAL
    if sequential and not (sequential == _STEPS_OF_ENVIRONMENT and _only_observes(read, model)):
        return False
    if model.program.uses_language_models():
        return False  # steps take seconds, and much is computed on the host between them
    if any(guard.cap is not Heat.HOT for guard in beat.guards):
        return False
    if read.method == "cpu" and not is_placed_on_device(read.tensor, model):
        return False
    return _is_computed_here(read.tensor, model)


def _only_observes(read: HostRead, model: SemanticModel) -> bool:
    """Whether a function computes rewards or observations in an environment step, rather than the action, of
    which the environment needs the numbers: it runs no network. Functions within others, and lambdas, are
    often called only for what a cache lacks.
    """
    function = model.function(read.node)
    if sum(isinstance(around, _CODE) for around in model.ancestors(read.node)) > 1:
        return False
    if function is None or function.name in roles.ACTS or "action" in function.name:
        return False
    calls = (each for each in descendants(function) if isinstance(each, ast.Call))
    return all(model.nn.network_run(call) is None for call in calls)


def _is_computed_here(tensor: ast.expr, model: SemanticModel) -> bool:
    """Whether a tensor is not just a parameter: the read of a function that converts its argument belongs to
    its callers.
    """
    if not isinstance(tensor, ast.Name):
        return any(isinstance(part, ast.Call) for part in descendants(tensor))
    return all(binding.kind is not BindingKind.PARAMETER for binding in model.dataflow.definitions(tensor))
