"""Fixes that run a network once and use the result in all places."""

from __future__ import annotations

import ast

from rlint.rule import AnyLoop, Applicability, EscapeLevel, Fix, Repetition, SemanticModel, extract_variable

REASON = "both uses share one tensor and one graph: calling `backward()` for each of them would fail"
NAMES = (
    ({"q", "qf", "qnet", "dqn", "qnetwork", "q1", "q2"}, ["q_values", "output"]),
    ({"critic", "value", "vf", "v"}, ["values", "critic_output"]),
    ({"actor", "policy", "pi"}, ["policy_output", "output"]),
    ({"encoder", "embed", "embedding", "backbone", "features", "extractor"}, ["features", "encoded"]),
)


def may_share(results: list[ast.expr], model: SemanticModel) -> bool:
    """Whether no code modifies a result in place, or runs backward through its graph twice."""
    if any(model.dataflow.use_of(result).escape_level is EscapeLevel.CHANGED for result in results):
        return False
    return len(model.names.calls_named("backward", model.function(results[0]))) <= 1


def build_fix(first: ast.Call, again: list[ast.expr], model: SemanticModel) -> Fix | None:
    """Run it once, at the first call."""
    if not may_share([first, *again], model):
        return None
    bound = extract_variable.bind_once(
        Repetition(first, tuple(again), ()), again, model, result_names(first.func)
    )
    if bound is None:
        return None
    title = f"Run the network once, as `{bound.name}`"
    if bound.reused:
        title = f"Use `{bound.name}`, which already holds the result"
    return Fix(title, Applicability.UNSAFE, bound.edits, REASON)


def hoist(call: ast.Call, loop: AnyLoop, model: SemanticModel) -> Fix | None:
    """Run it once, before the loop."""
    statement = loop if isinstance(loop, ast.stmt) else model.syntax.statement(loop)
    inside = [ancestor for ancestor in model.ancestors(call) if isinstance(ancestor, (ast.With, ast.Lambda))]
    if any(statement in model.ancestors(block) for block in inside) or not may_share([call], model):
        return None
    if isinstance(statement, (ast.While, ast.If)) and statement is not loop:
        return None
    if not model.edit.is_relocatable(call):
        return None
    name = model.importer.fresh_local(result_names(call.func), call, f"hoist {model.source.span(call)[0]}")
    before = model.edit.insert_before(statement, f"{name} = {model.edit.parenthesized(call)}")
    if before is None:
        return None
    reason = f"{REASON}; the network runs once even if the loop has no iterations"
    return Fix(
        f"Run the network once, as `{name}`",
        Applicability.UNSAFE,
        (before, model.edit.replace(call, name)),
        reason,
    )


def result_names(func: ast.expr) -> list[str]:
    """Return names for the output of a network."""
    name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    if name in ("forward", "__call__") and isinstance(func, ast.Attribute):
        return result_names(func.value)
    words = set(name.lower().split("_"))
    for called, names in NAMES:
        if words & called:
            return names
    return ["output", "network_output"]
