"""Forward passes in worker processes that compute no gradient: none reaches the process that trains."""

from __future__ import annotations

import ast

from rlint.rule import CallSite, FunctionSummary, SemanticModel, SinkKind, TypeTag, WorkerStart, roles, spawn
from rlint.rules.networks.rl301_inference_with_grad.leaving import records

_DIFFERENTIATE = ("torch.autograd.", "torch.func.")


def idle_worker(call: ast.Call, model: SemanticModel) -> FunctionSummary | None:
    """Return the function that a worker process starts with, if a forward pass that records a graph runs in
    it, no code that the worker runs is known to compute a gradient, and none of this file is known to learn
    from the result. Tensors with a graph cannot be sent to another process.
    """
    if not records(call, model) or _is_in_network(call, model):
        return None
    if SinkKind.LEARNED in model.gradients.traced(call).labels:
        return None
    starts = [start for start in model.threads.runners(call).starts if start.sort == spawn.PROCESS]
    if not starts or any(_computes_gradients(start, model) for start in starts):
        return None
    return starts[0].target


def _is_in_network(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call is in a method of a network, which training may run, too."""
    owner = model.symbols.class_at(call)
    return owner is not None and model.index.class_kind(owner).tag is TypeTag.MODULE


def _computes_gradients(start: WorkerStart, model: SemanticModel) -> bool:
    """Whether any function that a worker runs takes a gradient step or differentiates, or calls a method of
    an unknown object that may do so.
    """
    return any(
        model.nn.learns(function) or any(_may_compute_gradients(site, model) for site in function.calls)
        for function in model.threads.run_with(start.target)
    )


def _may_compute_gradients(site: CallSite, model: SemanticModel) -> bool:
    if site.method == "backward" or site.method in roles.LEARNS or site.path.startswith(_DIFFERENTIATE):
        return True
    return bool(site.method) and any(map(model.nn.learns, model.index.methods_named(site.method)))
