"""How often a function without a visible caller likely runs, by what its own body does."""

from __future__ import annotations

from collections.abc import Collection

from rlint import models
from rlint.findings import Heat
from rlint.models.value_type import TypeTag
from rlint.regex import regex
from rlint.semantics.frequency.drivers import Driver
from rlint.semantics.frequency.guards import MANY_PASSES
from rlint.semantics.frequency.likely_roles.role import LikelyRole
from rlint.semantics.frequency.roles import WHOLE_TRAINING, looks_on
from rlint.semantics.interprocedural.summary import ClassSummary, FunctionSummary

_ROLLOUT = frozenset({Driver.ENVIRONMENT_STEP, Driver.GENERATION})
_LOADED = regex(r"loader|dataset|(^|_)(args|cfg|config|opt|opts|options|hparams|flags)$")
_WHOLE = regex(r"^_*(main|fit|(pre)?train(ing)?|run|(pre|re)?train_\w+|run_\w+|launch|experiment)$")

_FACTORY = regex(r"^_*(create|make|build|init|setup)(_|$)")
"""Names of functions that create an object once: `create_uniform_distribution(action_space)`."""

_BEGINS = regex(
    r"^(_|re_?set|restart|set_?up|start|begin|warm|build|make|create|check|test|demo|render|show)"
)
"""Methods that step an environment once, before it is used, or to look at it; and private methods, whose
callers decide.
"""

_EACH_UPDATE = LikelyRole(Heat.HOT, "takes a gradient step", "for each gradient step")
_WITH_EACH_UPDATE = LikelyRole(Heat.HOT, "takes a gradient step in a call", "for each gradient step")
_EACH_DISTRIBUTION = LikelyRole(
    Heat.HOT, "creates a distribution from its arguments", "for each forward pass"
)
_EACH_EVALUATION = LikelyRole(Heat.HOT, "evaluates a distribution", "for each forward pass")
_EACH_RUN = LikelyRole(Heat.HOT, "runs a network", "for each observation or batch")
_EACH_BATCH = LikelyRole(Heat.WARM, "learns from a batch of rollouts", "for each batch of rollouts")
_EACH_STEP = LikelyRole(Heat.HOT, "takes an environment step", "for each environment step")
_EACH_ROLLOUT = LikelyRole(Heat.WARM, "collects a batch of rollouts", "for each batch of rollouts")


def likely_role(
    function: FunctionSummary, once: Collection[Driver], many: Collection[Driver]
) -> LikelyRole | None:
    """Return the likely role of a function without known callers, given what it drives once and many times,
    calls included. None for whole trainings, demonstrations and evaluations.
    """
    own_loops = {driver for loop in function.loops for driver in loop.drivers}
    # a function inside another one shares its variables, as methods share an object
    is_closure = "." in function.qualname
    if not function.qualname or not (function.call_parameters or function.is_method or is_closure):
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
    if Driver.GRADIENT_STEP in once and function.is_method and not _ROLLOUT & {*once, *many}:
        return _WITH_EACH_UPDATE
    if Driver.ENVIRONMENT_STEP in function.drivers:
        return _EACH_STEP if not _resets(function) and Driver.ENVIRONMENT_STEP not in many else None
    if Driver.ENVIRONMENT_STEP in own_loops and function.returns_values and not _is_long(function):
        return _EACH_ROLLOUT
    return None


def steps_environment(function: FunctionSummary) -> LikelyRole | None:
    """Return the role of a method that takes one environment step in each call, whatever else it does, such
    as learning when a rollout is complete: something calls it in a loop.
    """
    own_loops = {driver for loop in function.loops for driver in loop.drivers}
    steps = Driver.ENVIRONMENT_STEP in function.drivers and Driver.ENVIRONMENT_STEP not in own_loops
    if not steps or not function.is_method or _resets(function):
        return None
    return None if looks_on(function.name) or _BEGINS.search(function.name) else _EACH_STEP


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


DENSITY = "log_prob"
"""The method that makes a class a distribution, whatever its name and its bases."""
_OF_DISTRIBUTION = models.methods_of(TypeTag.DISTRIBUTION) | {"mode", "kl"}


def evaluates_distribution(function: FunctionSummary, cls: ClassSummary) -> LikelyRole | None:
    """Return the role of a method of a distribution: networks return objects of such classes, of which the
    classes are rarely known where the loss is computed.
    """
    if function.name not in _OF_DISTRIBUTION or DENSITY not in cls.methods or function.loops:
        return None
    return _EACH_EVALUATION if not looks_on(cls.qualname) else None


def creates_distribution(function: FunctionSummary) -> LikelyRole | None:
    """Return the role of a function that returns a distribution with the parameters that it receives, as
    those do that the configuration selects by name (`getattr(distributions, config.kind)`).
    """
    if not function.call_parameters or looks_on(function.name):
        return None
    if function.name.startswith("__") and function.name != "__call__":
        return None
    if function.loops or _FACTORY.search(function.name):
        return None
    return _EACH_DISTRIBUTION


def runs_when_called(function: FunctionSummary, owner: str, *, gives_distribution: bool) -> LikelyRole | None:
    """Return the role of the `__call__` of a class, `owner`, that runs a network on its arguments or creates
    a distribution from them: a policy, a head, a loss. What holds the object calls it.
    """
    if function.name != "__call__" or not function.call_parameters or looks_on(owner):
        return None
    created = creates_distribution(function) if gives_distribution else None
    if created is not None or function.loops or not function.returns_values:
        return created
    return _EACH_RUN if function.runs_network else None
