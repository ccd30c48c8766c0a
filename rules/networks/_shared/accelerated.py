"""Which code runs on a CUDA device, and which calls in it run a network of the project."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.models.kind import Device
from rlint.semantics.model import Site
from rlint.semantics.nn.torch_settings import CUDA
from rlint.syntax.syntax_index import Function, Tree
from rlint.syntax.walk import below

_MAKES = frozenset({"torch.device", "torch.set_default_device"})


def may_run_on_cuda(site: Site) -> bool:
    """Does the project ask for CUDA devices, and does this file put something on a device that may be one?"""
    return site.is_told(CUDA) and site.once(_puts_any_on_device, site.tree)


def _puts_any_on_device(tree: Tree, site: Site) -> bool:
    return any(_puts_on_device(call, site) for call in tree.of_type(ast.Call))


def _puts_on_device(call: ast.Call, site: Site) -> bool:
    if isinstance(call.func, ast.Attribute) and call.func.attr == "cuda":
        return site.qualified(call.func) is None
    devices = [keyword.value for keyword in call.keywords if keyword.arg == "device"]
    if isinstance(call.func, ast.Attribute) and call.func.attr == "to":
        devices += call.args[:1]
    if not devices or site.qualified(call.func) in _MAKES:
        return False
    device = devices[0]
    return site.device_of(device) in (Device.CUDA, Device.UNKNOWN) and site.is_device(device)


def calls_behind(expression: ast.expr, site: Site, depth: int = 2) -> Iterator[ast.Call]:
    """The calls of networks whose gradient a value carries, those in functions of the same file included."""
    for call in site.sources(expression).calls:
        if site.network_run(call) is not None:
            yield call
        elif depth:
            for target in site.callables(call):
                function = site.definition(target)
                for result in _returned(function, site) if function is not None else ():
                    yield from calls_behind(result, site, depth - 1)


def _returned(function: Function, site: Site) -> Iterator[ast.expr]:
    for node in below(function):
        if isinstance(node, ast.Return) and node.value is not None and site.function(node) is function:
            yield node.value
