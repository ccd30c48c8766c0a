"""Code that runs on a CUDA device, and its calls of the project's networks."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Device, Function, SemanticModel, SyntaxIndex, descendants, torch_settings

_MAKES = frozenset({"torch.device", "torch.set_default_device"})


def may_run_on_cuda(model: SemanticModel) -> bool:
    """Whether the project requests CUDA devices, and this file moves values to a device that may be one."""
    requests = model.program.sets(torch_settings.CUDA, anywhere=True)
    return requests and model.once(_puts_any_on_device, model.syntax)


def _puts_any_on_device(syntax: SyntaxIndex, model: SemanticModel) -> bool:
    return any(_puts_on_device(call, model) for call in syntax.of_type(ast.Call))


def _puts_on_device(call: ast.Call, model: SemanticModel) -> bool:
    if isinstance(call.func, ast.Attribute) and call.func.attr == "cuda":
        return model.names.qualified(call.func) is None
    devices = [keyword.value for keyword in call.keywords if keyword.arg == "device"]
    if isinstance(call.func, ast.Attribute) and call.func.attr == "to":
        devices += call.args[:1]
    if not devices or model.names.qualified(call.func) in _MAKES:
        return False
    device = devices[0]
    return model.types.device_of(device) in (Device.CUDA, Device.UNKNOWN) and model.types.is_device(device)


def calls_in_gradient(expression: ast.expr, model: SemanticModel, depth: int = 2) -> Iterator[ast.Call]:
    """Yield the calls of networks whose gradient a value carries, including calls in functions of the same
    file.
    """
    for call in model.gradients.sources(expression).calls:
        if model.nn.network_run(call) is not None:
            yield call
        elif depth:
            for target in model.types.call_targets(call):
                function = model.types.definition(target)
                for result in _returned(function, model) if function is not None else ():
                    yield from calls_in_gradient(result, model, depth - 1)


def _returned(function: Function, model: SemanticModel) -> Iterator[ast.expr]:
    for node in descendants(function):
        if isinstance(node, ast.Return) and node.value is not None and model.function(node) is function:
            yield node.value
