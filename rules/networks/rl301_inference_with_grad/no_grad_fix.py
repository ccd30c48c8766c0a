"""The fix: a `no_grad` block around forward passes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from rlint.rule import Applicability, Fix, SemanticModel, descendants
from rlint.rules.networks._shared.no_grad import (
    careless_calls,
    doubt_about,
    joined,
    loses_gradient,
    outermost_calls,
    under_no_grad,
    value_of,
)
from rlint.rules.networks._shared.sure_ends import surely_ends


def build_fix(
    run: Sequence[ast.stmt],
    holds: Callable[[ast.Call, SemanticModel], bool],
    model: SemanticModel,
    *,
    traced: bool = False,
) -> Fix | None:
    """Wrap the statements with the forward passes for which `holds` is true in `no_grad`."""
    doubts: dict[str, None] = {}
    if traced:
        doubts["no caller may compute a gradient through the result"] = None
    for statement in run:
        forwards = outermost_calls(statement, holds, model)
        lost = loses_gradient(statement, forwards, model)
        if lost is None:
            return None
        if lost:
            doubts[
                f"{joined(lost)} must not need a gradient: values computed from it no longer carry one"
            ] = None
        bound = [node.target for node in descendants(statement) if isinstance(node, ast.NamedExpr)]
        if bound:
            names = joined([name.id for name in bound])
            doubts[f"{names} must not need a gradient: stored values no longer carry one"] = None
        careless = careless_calls(statement, forwards, model)
        if careless:
            doubts[f"{joined(careless)} also runs with autograd off"] = None
        value = value_of(statement)
        if not forwards and (value is None or not surely_ends(value, model)):
            doubts["values computed in between must not be changed by values with a gradient later"] = None
        for call in forwards:
            reason = doubt_about(call, model)
            if not reason and model.nn.runs_frozen(call):
                reason = "no code may compute the gradient of the inputs of the network"
            if reason:
                doubts[reason] = None
    edits = under_no_grad(run, model) if run else None
    if edits is None:
        return None
    safety = Applicability.UNSAFE if doubts else Applicability.SAFE
    return Fix("Run the forward pass under `torch.no_grad()`", safety, edits, next(iter(doubts), None))
