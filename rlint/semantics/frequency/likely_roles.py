"""How often a function without a visible caller likely runs, by what its own body does."""

from __future__ import annotations

from collections.abc import Collection

from rlint.findings import Heat
from rlint.frozen import frozen
from rlint.models.value_type import TypeTag
from rlint.regex import regex
from rlint.semantics.frequency.drivers import Driver
from rlint.semantics.frequency.guards import MANY_PASSES
from rlint.semantics.frequency.roles import WHOLE_TRAINING, looks_on
from rlint.semantics.interprocedural.summary import FunctionSummary

_ROLLOUT = frozenset({Driver.ENVIRONMENT_STEP, Driver.GENERATION})
_LOADED = regex(r"loader|dataset|(^|_)(args|cfg|config|opt|opts|options|hparams|flags)$")
_WHOLE = regex(r"^_*(main|fit|(pre)?train(ing)?|run|(pre|re)?train_\w+|run_\w+|launch|experiment)$")
_ACTS = regex(
    r"^_*(select|choose|get|sample|take|pick|compute|predict|generate|infer)_([a-z]+_)?actions?"
    r"(_(and|with|from|for|batch|train|test|eval|greedy|deterministic|logp?|probs?|values?)\w*)?$|^_*(act_\w+|exploit)$"
)
_FORWARDS = regex(r"^forward$|^_*forward_(collect|eval|act|actor|critic|policy|value|inference)$")
_NO_ACTIONS = regex(
    r"avail|legal|valid|space|dim|size|num|mask|bound|limit|name|type|mean(ing)?s|shape|raw|last|prev"
)
_NO_ACTOR = regex(r"[Ee]nv($|[A-Z_])|Space|Buffer|Dataset|Loss$")


@frozen
class LikelyRole:
    """How often a function likely runs, what it does, and the assumption about its callers."""

    heat: Heat
    what: str
    called: str


_EACH_UPDATE = LikelyRole(Heat.HOT, "takes a gradient step", "for each gradient step")
_EACH_BATCH = LikelyRole(Heat.WARM, "learns from a batch of rollouts", "for each batch of rollouts")
_EACH_STEP = LikelyRole(Heat.HOT, "takes an environment step", "for each environment step")
_EACH_FORWARD = LikelyRole(Heat.HOT, "runs in each forward pass", "for each forward pass")
_EACH_ACTION = LikelyRole(Heat.HOT, "acts", "for each action")
_EACH_ROLLOUT = LikelyRole(Heat.WARM, "collects a batch of rollouts", "for each batch of rollouts")


def likely_role(function: FunctionSummary, many: Collection[Driver]) -> LikelyRole | None:
    """Return the likely role of a function without known callers, given what it drives many times, calls
    included. None for whole trainings, demonstrations and evaluations.
    """
    own_loops = {driver for loop in function.loops for driver in loop.drivers}
    if not function.qualname or not (function.call_parameters or function.is_method):
        return None
    if looks_on(function.name) or function.name.startswith("__"):
        return None
    if function.updates and not _ROLLOUT & set(many):
        return _EACH_UPDATE
    if _WHOLE.search(function.name) or WHOLE_TRAINING & set(function.parameters):
        return None
    if Driver.GRADIENT_STEP in own_loops:
        return _EACH_BATCH if _trains_on_arguments(function, many) else None
    if Driver.GRADIENT_STEP in many:
        return None
    if Driver.ENVIRONMENT_STEP in function.drivers:
        return _EACH_STEP if not _resets(function) and Driver.ENVIRONMENT_STEP not in many else None
    if Driver.ENVIRONMENT_STEP in own_loops and function.returns_values and not _is_long(function):
        return _EACH_ROLLOUT
    return None


def likely_role_by_name(function: FunctionSummary, owner: str, tag: TypeTag) -> LikelyRole | None:
    """Return the likely role of a method that no visible code calls, judging by its name: the forward pass of
    a model that is no network of torch, or the selection of actions by an object that is no environment.
    """
    if not function.is_method or not (function.call_parameters or function.takes_more):
        return None
    if tag in (TypeTag.ENVIRONMENT, TypeTag.DATASET, TypeTag.SPACE) or _NO_ACTOR.search(owner):
        return None
    if _FORWARDS.search(function.name):
        return _EACH_FORWARD
    if _ACTS.search(function.name) and not _NO_ACTIONS.search(function.name):
        return _EACH_ACTION
    return None


def _trains_on_arguments(function: FunctionSummary, many: Collection[Driver]) -> bool:
    return (
        bool(function.call_parameters)
        and not _ROLLOUT & set(many)
        and not any(map(_LOADED.search, function.call_parameters))
    )


def _is_long(function: FunctionSummary) -> bool:
    """Whether a function runs so many steps in one call that the call is a training run of its own."""
    numbers = dict(function.numbers)
    lengths = [
        loop.length.period or numbers.get(loop.length.decider, 0)
        for loop in function.loops
        if loop.length is not None
    ]
    return any(length >= MANY_PASSES for length in lengths)


def _resets(function: FunctionSummary) -> bool:
    """Whether a function begins an episode of its own, outside of loops and unconditionally."""
    return any(site.method == "reset" and site.loop == -1 and not site.guards for site in function.calls)
