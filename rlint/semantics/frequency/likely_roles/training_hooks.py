"""Hooks of training frameworks and methods of callbacks, which run as often as their names say."""

from __future__ import annotations

from rlint.findings import Heat
from rlint.frozen import frozen
from rlint.regex import regex
from rlint.semantics.frequency.callers import ProgramCalls
from rlint.semantics.frequency.drivers import Driver
from rlint.semantics.interprocedural.project_index import ProjectIndex
from rlint.semantics.interprocedural.summary import FunctionSummary

_GRADIENT, _ENVIRONMENT = frozenset({Driver.GRADIENT_STEP}), frozenset({Driver.ENVIRONMENT_STEP})

OF_FRAMEWORK = "framework.train"
"""Stands for the function with the training loop, which no visible code defines."""


@frozen
class Hook:
    """How often a framework calls a method, and what its training loop does for each call: `drivers` once,
    and `nested` many times. `within` is the function of the framework with the loop, if it trains, and
    `header` describes the loop. Each call belongs to one episode if the loop `resets` the environment.
    """

    heat: Heat
    what: str
    called: str
    drivers: frozenset[Driver] = frozenset()
    nested: frozenset[Driver] = frozenset()
    within: str = OF_FRAMEWORK
    header: str = ""
    resets: bool = False


_EACH_UPDATE = Hook(
    Heat.HOT,
    "is called in each gradient step",
    "for each gradient step",
    _GRADIENT,
    header="each gradient step",
)
_EACH_STEP = Hook(
    Heat.HOT,
    "is called on each step",
    "for each environment step",
    _ENVIRONMENT,
    header="each environment step",
)
_EACH_EPISODE = Hook(
    Heat.WARM,
    "is called for each episode",
    "for each episode",
    nested=_ENVIRONMENT,
    header="each episode",
    resets=True,
)
_EACH_ROLLOUT = Hook(
    Heat.WARM,
    "is called for each batch of rollouts",
    "for each batch of rollouts",
    nested=_ENVIRONMENT | _GRADIENT,
    header="each rollout",
)
_EACH_EPOCH = Hook(
    Heat.WARM, "is called for each epoch", "for each epoch", nested=_GRADIENT, header="each epoch"
)
_EACH_EVALUATED = Hook(
    Heat.HOT,
    "is called for each batch of an evaluation",
    "for each batch of an evaluation",
    frozenset({Driver.BATCH}),
    within="",
    header="each batch of an evaluation",
)


def _hooks(*rows: tuple[Hook, str]) -> dict[str, Hook]:
    return {name: hook for hook, names in rows for name in names.split()}


_LIBRARY = _hooks(
    (
        _EACH_UPDATE,  # of transformers, Lightning, Keras, fastai, Composer, mmengine, RLlib
        """on_step_begin on_step_end on_substep_end on_pre_optimizer_step on_optimizer_step
        on_train_batch_start on_train_batch_end on_before_zero_grad
        on_before_backward on_after_backward on_before_optimizer_step optimizer_step optimizer_zero_grad
        lr_scheduler_step configure_gradient_clipping transfer_batch_to_device on_before_batch_transfer
        on_after_batch_transfer on_train_batch_begin on_batch_begin on_batch_start on_batch_end
        before_batch after_batch before_step after_step before_backward after_backward after_pred after_loss
        batch_start batch_end before_forward after_forward before_loss after_loss before_train_batch
        after_train_batch before_train_iter after_train_iter on_learn_on_batch""",
    ),
    (_EACH_STEP, "_on_step on_step on_episode_step pre_interaction post_interaction"),
    (_EACH_EPISODE, "on_episode_begin on_episode_created on_episode_start on_episode_end"),
    (
        _EACH_ROLLOUT,
        """_on_rollout_start _on_rollout_end on_rollout_start on_rollout_end on_sample_end on_train_result
        on_postprocess_trajectory""",
    ),
    (
        _EACH_EPOCH,
        """on_epoch_begin on_epoch_start on_epoch_end on_train_epoch_start on_train_epoch_end
        training_epoch_end before_epoch after_epoch before_train_epoch after_train_epoch epoch_start
        epoch_end""",
    ),
    (
        _EACH_EVALUATED,
        """validation_step test_step predict_step prediction_step on_prediction_step
        on_validation_batch_start on_validation_batch_end on_test_batch_start on_test_batch_end""",
    ),
)
"""Methods that frameworks call on classes derived from theirs. `training_step` has a role of its own, as it
may hold the collection of rollouts (see roles.py).
"""

_FRAMEWORK = regex(r"Callbacks?$|Hook$|Lightning(Data)?Module$|Plugin$")
_LISTENS = regex(r"(?i)(callback|hook|listener|observer|plugin|reporter|monitor)s?$")
_WHEN = (
    r"^_*(on|after|before|post|pre)_"
    r"((every|each|the|train|training|env|environment|gradient|optimi[sz]er|opt|agent|learner)_)*"
)
_THEN = r"(_(start|started|begin|end|ended|done|taken|finished|complete|completed))?$"
_NAMED = (
    (regex(rf"{_WHEN}(update|backward|batch|minibatch|iter|iteration|substep|learn){_THEN}"), _EACH_UPDATE),
    (regex(rf"{_WHEN}(step|transition|frame|act|action){_THEN}"), _EACH_STEP),
    (regex(rf"{_WHEN}(episode|game|reset){_THEN}"), _EACH_EPISODE),
    (regex(rf"{_WHEN}(rollouts?|collect|trajectory){_THEN}"), _EACH_ROLLOUT),
    (regex(rf"{_WHEN}epoch{_THEN}"), _EACH_EPOCH),
)
"""Methods of hooks that a project calls itself, such as those that it looks up by name."""


class Hooks:
    """The hooks among the methods of a project."""

    def __init__(self, index: ProjectIndex, calls: ProgramCalls) -> None:
        self._index, self._calls = index, calls

    def called_by_framework(self, function: FunctionSummary) -> Hook | None:
        """Return how often a framework calls a method of a class derived from one of its own; None for other
        functions.
        """
        hook = _LIBRARY.get(function.name)
        cls = self._index.owner_of(function) if hook is not None and function.is_method else None
        if cls is None:
            return None
        outside = (base for base in self._index.ancestry(cls) if isinstance(base, str))
        return hook if any(map(_FRAMEWORK.search, outside)) else None

    def likely(self, function: FunctionSummary) -> Hook | None:
        """Return how often a method is likely called if its class, or one of its bases, has the name of hooks
        (`SaveHook`) and no visible code calls it.
        """
        hook = next((hook for names, hook in _NAMED if names.search(function.name)), None)
        cls = self._index.owner_of(function) if hook is not None and function.is_method else None
        if cls is None or self._calls.of(function):
            return None
        names = (base if isinstance(base, str) else base.qualname for base in self._index.ancestry(cls))
        return hook if any(map(_LISTENS.search, names)) else None

    def of(self, function: FunctionSummary) -> Hook | None:
        """Return the sure or likely hook that a function is, if no visible code calls it."""
        if self._calls.of(function):
            return None
        return self.called_by_framework(function) or self.likely(function)
