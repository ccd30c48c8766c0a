"""How often a function without a visible caller likely runs, by what its own body does."""

from __future__ import annotations

from collections.abc import Collection

from rlint.findings import Heat
from rlint.frozen import frozen
from rlint.regex import regex
from rlint.semantics.frequency.drivers import Driver
from rlint.semantics.frequency.guards import MANY_PASSES
from rlint.semantics.frequency.roles import WHOLE_TRAINING, looks_on
from rlint.semantics.interprocedural.summary import FunctionSummary

_ROLLOUT = frozenset({Driver.ENVIRONMENT_STEP, Driver.GENERATION})
_LOADED = regex(r"loader|dataset|(^|_)(args|cfg|config|opt|opts|options|hparams|flags)$")
_WHOLE = regex(r"^_*(main|fit|(pre)?train(ing)?|run|(pre|re)?train_\w+|run_\w+|launch|experiment)$")


@frozen
class LikelyRole:
    """How often a function likely runs, what it does, and the assumption about its callers."""

    heat: Heat
    what: str
    called: str


_EACH_UPDATE = LikelyRole(Heat.HOT, "takes a gradient step", "for each gradient step")
_EACH_BATCH = LikelyRole(Heat.WARM, "learns from a batch of rollouts", "for each batch of rollouts")
_EACH_STEP = LikelyRole(Heat.HOT, "takes an environment step", "for each environment step")
_EACH_ROLLOUT = LikelyRole(Heat.WARM, "collects a batch of rollouts", "for each batch of rollouts")

_EACH_OBSERVATION = LikelyRole(Heat.HOT, "processes an observation", "for each observation")
_EACH_DRAW = LikelyRole(Heat.HOT, "draws the noise of an action", "for each environment step")
_EACH_ACTION = LikelyRole(Heat.HOT, "selects an action", "for each environment step")
_EACH_SAMPLE = LikelyRole(Heat.HOT, "samples a batch", "for each gradient step")
_EACH_TARGET = LikelyRole(Heat.HOT, "computes targets of a batch", "for each gradient step")
_EACH_RETURN = LikelyRole(Heat.WARM, "computes the returns of a rollout", "for each batch of rollouts")
_EACH_TRANSITION = LikelyRole(Heat.HOT, "stores a transition", "for each environment step")
_EACH_FORWARD = LikelyRole(Heat.HOT, "runs a network", "for each batch or observation")
_EACH_COPY = LikelyRole(Heat.HOT, "updates the target network", "for each gradient step")
_EACH_REWARD = LikelyRole(Heat.HOT, "rewards a batch", "for each batch")
_OF_STEP = LikelyRole(Heat.HOT, "is a part of an environment step", "for each environment step")

_NAMED = (
    (
        regex(r"(Wrapper|Policy|Model|Head|Net|Network|Actor|Critic|Encoder)$"),
        regex(r"^_*forward(_(collect|learn|train|actor|critic|act|explore))?$"),
        _EACH_FORWARD,
    ),
    (regex(r"Target(Net|Network|Model|Q)"), regex(r"^_*(soft_|hard_)?(update|sync)$"), _EACH_COPY),
    (
        regex(r"Reward(Model|Net|Function|Predictor)"),
        regex(r"^(estimate|relabel|predict|score)$"),
        _EACH_REWARD,
    ),
    (
        regex(r"Normali[sz]er|Running(Mean|Stat)|Filter$|Scaler$|Preprocessor|FrameStack"),
        regex(r"^(__call__|(de)?normali[sz]e(_obs|_observation|_state)?|filter|observe|process|preprocess)$"),
        _EACH_OBSERVATION,
    ),
    (
        regex(r"Noise|Ornstein|^OU"),
        regex(r"^(__call__|sample|noise|get_noise|get_action|evolve_state|generate)$"),
        _EACH_DRAW,
    ),
    (
        regex(r"Planner|MPC|CEM|MPPI|MCTS|Shooting|Optimizer$|Controller"),
        regex(
            r"^_*(plan|search|solve|command|get_action|run_mcts|rollout_cost|(get_|compute_)?costs?(_fn)?)$"
        ),
        _EACH_ACTION,
    ),
    (
        regex(
            r"(?i)agent|policy|actor|learner|dqn|ddpg|sac|td3|ppo|a2c|bot|player|brain|q_?table|qlearning|tabular"
        ),
        regex(
            r"^_*((softmax|boltzmann|greedy|epsilon_greedy|eps_greedy|random|explore|noisy|best)_(act|actions?|policy)"
            r"|act_\w+|(select|choose|get|take|pick|compute|predict|sample)_(\w+_)?actions?(_\w+)?|boltzmann|ucb)$"
        ),
        _EACH_ACTION,
    ),
    (
        regex(r"(?i)buffer|memory|replay|storage|experience"),
        regex(
            r"^_*(sample_\w+|(get|draw|next|random|fetch)_(\w+_)?(batch|minibatch|samples?|transitions)|get_samples?"
            r"|encode_samples?|random_batch|get_random_data)$"
        ),
        _EACH_SAMPLE,
    ),
    (
        regex(r"(?i)model|ensemble|dynamics|data|agent|learner|expert|dagger|imitat|demo"),
        regex(
            r"^_*(add|store|push|append|remember|(add|store|append|record)_(\w+_)?(data|samples?|transitions?|experiences?"
            r"|points?|obs|observations?|steps?|rows?|pairs?|demos?|demonstrations?))$"
        ),
        _EACH_TRANSITION,
    ),
    (
        regex(r"Env(ironment)?(V?\d+)?$|Env[A-Z_]|Task$|Simulat"),
        regex(
            r"^_*(reward_\w+|(pre|post)_physics_step|(get|compute|build|make|next)_(obs|observations?|state|infos?)"
            r"|next_(obs|observation|state)|(get|calc|calculate|compute)_\w*rewards?|check_\w*(done|collisions?)"
            r"|check_termination|is_done|measure_heights|simulate|get_distances?|update_(state|world|positions?))$"
        ),
        _OF_STEP,
    ),
    (
        regex(r""),
        regex(
            r"^_*((categorical_)?projection(_distribution|_dist)?|project_(dist\w*|target\w*|categorical)"
            r"|(quantile_)?huber_loss|(compute|get|calc|calculate)_(td_|bellman_|q_)?(td_errors?|targets?|target_q\w*)"
            r"|td_errors?|target_distribution)$"
        ),
        _EACH_TARGET,
    ),
    (
        regex(r""),
        regex(
            r"^_*((compute_|calc_|calculate_|get_|estimate_)?(gae|(lambda_|discounted_|n_?step_|td_lambda_|mc_)"
            r"(returns?|rewards|advantages?|sum|cumsum)|rewards_to_go|reward_to_go)"
            r"|(compute|calc|calculate|get|estimate)_(advantages?|returns?(_to_go)?)"
            r"|discount(ed)?_(rewards|cumsum|sum|return)|discount|v_?trace\w*|retrace)$"
        ),
        _EACH_RETURN,
    ),
)
"""Names of classes ("" for plain functions) and methods that are conventional in reinforcement learning."""


def named_role(function: FunctionSummary, owner: str) -> LikelyRole | None:
    """Return the likely role of a function without known callers, judging by the names of its class and of
    itself.
    """
    if (
        not function.qualname
        or not (function.call_parameters or function.is_method)
        or looks_on(function.name)
    ):
        return None
    for classes, names, role in _NAMED:
        if names.search(function.name) and classes.search(owner):
            return role
    return None


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
