"""Reads that synchronise with a device in each step."""

from __future__ import annotations

import ast

from rlint.rule import (
    MAX_DEFINITIONS,
    Binding,
    BindingKind,
    Device,
    Driver,
    Function,
    GuardKind,
    Heat,
    Scope,
    SemanticModel,
    SinkKind,
    Trait,
    TypeTag,
    descendants,
    models,
    regex,
    root_name,
)
from rlint.rules.transfers._shared.array_libraries import imports_arrays
from rlint.rules.transfers._shared.in_steps import is_in_layer
from rlint.rules.transfers._shared.there_and_back import SAME_NUMBERS
from rlint.rules.transfers._shared.workers_without_devices import runs_without_device
from rlint.rules.transfers.rl202_host_round_trip.handed_values import is_kept_on_host
from rlint.rules.transfers.rl202_host_round_trip.host_reads import HostRead, is_forced
from rlint.rules.transfers.rl202_host_round_trip.tensor_devices import where

_REDUCING = models.having(Trait.REDUCES, TypeTag.TENSOR) | SAME_NUMBERS
_LOOPED = frozenset({BindingKind.FOR, BindingKind.COMPREHENSION})
_SHOWN = frozenset({"print", "log"})
_ON_CONDITION = (GuardKind.OTHER, GuardKind.SWITCH)
_OF_REPORTS = regex(r"statistic|diagnostic|debug|report")


def is_hot(read: HostRead, model: SemanticModel) -> bool:
    """Whether a read runs in each step, and synchronises with a device there."""
    if model.frequency.heat_of(read.node).level is not Heat.HOT or model.usage.is_evaluation(read.node):
        return False
    if not waits(read, model) or has_left_the_device(read.node, model):
        return False
    if runs_without_device(read.node, model):
        return False
    function = model.function(read.node)
    return function is None or not model.once(_is_called_for_reports, function)


def _is_called_for_reports(function: Function, model: SemanticModel) -> bool:
    """Whether all calls of a function run under a condition on reports: `if not skip_statistics`."""
    start = function.body[0]
    own = model.frequency.conditions(start)
    return any(
        guard not in own and guard.kind in _ON_CONDITION and _OF_REPORTS.search(guard.text.lower())
        for guard in model.frequency.guards(start)
    )


def has_left_the_device(node: ast.AST, model: SemanticModel) -> bool:
    """Whether a line is reached on the host only: after `if tensor.is_cuda: return …`, or in a class for the
    CPU (`self.device = torch.device("cpu")`).
    """
    owner = model.class_of(node)
    summary = model.module.classes.get(model.syntax.qualname(owner)) if owner is not None else None
    device = summary.attributes.get("device") if summary is not None else None
    if device is not None and device.device is Device.HOST:
        return True
    exits = model.once(_exits_for_devices, model.syntax.module)
    function, start = model.function(node), model.source.span(node)[0]
    return any(model.function(test) is function and model.source.span(test)[0] < start for test in exits)


def _exits_for_devices(_: ast.Module, model: SemanticModel) -> list[ast.If]:
    """Return the conditions that test for a device before they return."""
    exits = (test for test in model.syntax.of_type(ast.If) if isinstance(test.body[-1], ast.Return))
    return [test for test in exits if model.types.tests_device(test.test)]


def waits(read: HostRead, model: SemanticModel) -> bool:
    """Whether a read uses a tensor that may be on a device. That holds for an unknown value that the program
    moves to the host.
    """
    device = where(read.tensor, model)
    if device is Device.HOST or device is Device.OTHER or _is_used_as_array(read.tensor, model):
        return False
    if device is Device.UNKNOWN and is_kept_on_host(read.tensor, model):
        return False
    if device is not None:
        return True
    if model.types.type_of(read.tensor).tag is not TypeTag.UNKNOWN:
        return False
    if read.method == "item" and isinstance(read.node, ast.Call):
        return _is_of_update(reduced(read.tensor), model) or is_supposed(read, model)
    if read.method in _SHOWN and isinstance(read.tensor, ast.Name):
        return model.once(_is_learned_from, read.tensor)
    return read.method == "numpy" or (read.method == "cpu" and _is_likely_tensor(read, model))


def _is_learned_from(name: ast.Name, model: SemanticModel) -> bool:
    """Whether a gradient is computed from the value of a variable, possibly by a caller: a loss."""
    bound = model.dataflow.definitions(name)
    if not bound or len(bound) > MAX_DEFINITIONS:
        return False
    return all(
        binding.kind is BindingKind.ASSIGN
        and not binding.path
        and isinstance(binding.value, (ast.Call, ast.BinOp))
        and any(sink.label is SinkKind.LEARNED for sink in model.gradients.traced(binding.value).sinks)
        for binding in bound
    )


def _is_likely_tensor(read: HostRead, model: SemanticModel) -> bool:
    """Whether a copied value of unknown type likely is a tensor, although networks, specs and states have a
    `cpu()`, too: it is detached, the result of a call, or a variable that no loop over items sets.
    """
    is_detached = any(
        isinstance(part, ast.Attribute) and part.attr == "detach" for part in descendants(read.node)
    )
    if is_detached or isinstance(read.tensor, ast.Call) or is_kept_part(read, model):
        return True
    if not isinstance(read.tensor, ast.Name):
        return False
    return not any(binding.kind in _LOOPED for binding in model.dataflow.definitions(read.tensor))


def is_kept_part(read: HostRead, model: SemanticModel) -> bool:
    """Whether the copy of a value in a dict is kept in its place: `setattr(self, name, part.cpu())` or
    `{name: part.cpu() for …}`, where `name, part` are items. In code that runs in each step, few other
    objects than tensors are copied so.
    """
    if read.method not in ("cpu", "numpy") or not isinstance(read.tensor, ast.Name):
        return False
    bound = model.dataflow.definitions(read.tensor)
    if not bound or not all(_is_value_of_dict(each) for each in bound):
        return False
    around = model.parent(read.node)
    match around:
        case ast.DictComp(value=value):
            return value is read.node
        case ast.Assign(targets=[ast.Subscript()], value=value):
            return value is read.node
        case ast.Call(func=ast.Name(id="setattr"), args=[_, _, value]):
            return value is read.node
    return False


def _is_value_of_dict(binding: Binding) -> bool:
    """Whether a loop takes a variable from the values of a dict: `for name, part in parts.items()`."""
    match binding.value:
        case ast.Call(func=ast.Attribute(attr="items"), args=[]):
            return binding.kind in _LOOPED and binding.path == (1,)
        case ast.Call(func=ast.Attribute(attr="values"), args=[]):
            return binding.kind in _LOOPED and not binding.path
    return False


def _is_used_as_array(tensor: ast.expr, model: SemanticModel) -> bool:
    """Whether `.numpy()` is called on the same tensor without a copy to the host, which fails for a tensor on
    a device.
    """
    if not isinstance(tensor, ast.Name):
        return False
    scope = model.names.scope(tensor).lookup(tensor.id)
    if scope is None:
        return False
    arrays = model.once(_taken_as_arrays, (tensor.id, scope))
    bound = model.dataflow.definitions(tensor) if arrays else []
    return any(model.dataflow.definitions(use) == bound for use in arrays)


def _taken_as_arrays(variable: tuple[str, Scope], model: SemanticModel) -> list[ast.Name]:
    """Return the uses of a variable that share their memory with an array: `x.numpy()`,
    `x.detach().numpy()`.
    """
    found = []
    for use in model.names.reads(*variable):
        user = model.parent(use)
        if isinstance(user, ast.Attribute) and user.attr == "detach":
            call = model.parent(user)
            user = model.parent(call) if isinstance(call, ast.Call) else None
        if isinstance(user, ast.Attribute) and user.attr == "numpy" and not is_forced(user, model):
            found.append(use)
    return found


def is_supposed(read: HostRead, model: SemanticModel) -> bool:
    """Whether the only known fact about a value is that `.item()` is called on it in a function that takes a
    gradient step or is part of a forward pass, or in a file without NumPy. Few other objects than tensors
    have that method there. The same holds for the values of a dict that are copied in their place.
    """
    if read.method in ("cpu", "numpy"):
        return where(read.tensor, model) is None and is_kept_part(read, model)
    if read.method != "item" or where(read.tensor, model) is not None:
        return False
    value = reduced(read.tensor)
    if model.types.type_of(read.tensor).tag is not TypeTag.UNKNOWN or _is_of_update(value, model):
        return False
    root = root_name(value)
    if root is None or model.names.qualified(root) is not None:
        return False
    if model.types.type_of(root).tag in (TypeTag.NDARRAY, TypeTag.NUMPY_SCALAR):
        return False
    if any(_steps_environment(binding.value, model) for binding in model.dataflow.definitions(root)):
        return False
    return model.once(_has_tensors_only, model.function(read.node))


def _steps_environment(value: ast.expr | None, model: SemanticModel) -> bool:
    return isinstance(value, ast.Call) and model.analysis.loops.driver_of(value) is Driver.ENVIRONMENT_STEP


def _has_tensors_only(function: Function | None, model: SemanticModel) -> bool:
    """Whether numbers of a function that are read by `.item()` are likely those of tensors."""
    summary = model.symbols.function_at(function.body[0]) if function is not None else None
    if function is None or summary is None:
        return False
    if not imports_arrays(model):
        return True
    steps = summary.drivers.union(*(loop.drivers for loop in summary.loops))
    if Driver.GRADIENT_STEP in steps or is_in_layer(function.body[0], model):
        return True
    cadence = model.frequency.cadence(function.body[0])
    return cadence is not None and cadence.drivers == {Driver.GRADIENT_STEP}


def reduced(value: ast.expr) -> ast.expr:
    """Return the value whose reduction is read: `values` in `values.detach().mean()`."""
    while True:
        match value:
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _REDUCING:
                value = inner
            case _:
                return value


def _is_of_update(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is returned by a function that takes a gradient step: a loss, an entropy, a gradient
    norm. A value with an `.item()` there is a tensor.
    """
    if not isinstance(value, ast.Name):
        return False
    made = [binding.value for binding in model.dataflow.definitions(value)]
    return bool(made) and all(
        isinstance(call, ast.Call)
        and any(Driver.GRADIENT_STEP in target.drivers for target in model.types.call_targets(call))
        for call in made
    )
