"""Methods of networks that select actions, which code only calls of copies that no optimizer updates."""

from __future__ import annotations

import ast

from rlint.rule import CallSite, FunctionSummary, SemanticModel, SinkKind, TypeTag, root_name, weight_sync
from rlint.rules.networks.rl301_inference_with_grad.leaving import records

_DRAWN = frozenset({SinkKind.DETACHED, SinkKind.INDEX})


def acts_for_copies(call: ast.Call, model: SemanticModel) -> str:
    """Return the name of the copy (`policy_old`) for which alone a method selects actions with a forward
    pass; "" if there is none. Whatever becomes of its other results, their graph leads to weights that no
    optimizer updates: the state that it acts on is data.
    """
    if not (call.args or call.keywords) or not records(call, model):
        return ""
    labels = {left.label for left in model.gradients.sinks(call)}
    if SinkKind.LEARNED in labels or not labels & _DRAWN:
        return ""
    function = model.function(call)
    if function is None or function.name in ("forward", "__call__"):
        return ""
    if not _is_own_part(call, model):
        return ""
    sites = model.usage.call_sites(call)
    names = {_copy_called(caller, site, function.name, model) for caller, site in sites}
    return min(names) if names and "" not in names else ""


def _is_own_part(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a method runs its own network, or a part of it: `self(x)`, `self.actor(x)`."""
    root, cls = root_name(call.func), model.class_of(call)
    if root is None or cls is None or not model.names.is_self(root):
        return False
    summary = model.module.classes.get(model.syntax.qualname(cls))
    return summary is not None and model.index.class_kind(summary).tag is TypeTag.MODULE


def _copy_called(caller: FunctionSummary, site: CallSite, method: str, model: SemanticModel) -> str:
    """Return the attribute that holds the network whose method a caller calls, if it is a copy that the
    caller's class passes to no optimizer; "" otherwise.
    """
    name = site.receiver
    if not name or name == "self":
        return ""
    if caller.module == model.module.module:
        return name if _is_copy_here(method, site, model) else ""
    owner = model.index.modules[caller.module].classes.get(caller.qualname.rpartition(".")[0])
    if owner is None or not weight_sync.is_named_like_follower(name):
        return ""
    line = [cls for cls in model.index.ancestry(owner) if not isinstance(cls, str)]
    return name if not any(name in cls.trained for cls in line) else ""


def _is_copy_here(method: str, site: CallSite, model: SemanticModel) -> bool:
    """Whether a call of this file is one of a copy, into which the file loads the weights of another."""
    for use in model.names.attribute_uses(method):
        called = model.parent(use)
        if isinstance(called, ast.Call) and called.func is use and called.lineno == site.line:
            return weight_sync.called_follower(use.value, model) and (
                model.nn.is_optimized(use.value) is False
            )
    return False
