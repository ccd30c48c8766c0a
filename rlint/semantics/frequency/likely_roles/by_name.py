"""How often a function without a visible caller likely runs, by names that are conventional in reinforcement
learning.
"""

from __future__ import annotations

from rlint.findings import Heat
from rlint.models.value_type import TypeTag
from rlint.regex import regex
from rlint.semantics.frequency.likely_roles.role import LikelyRole
from rlint.semantics.frequency.roles import looks_on
from rlint.semantics.interprocedural.summary import FunctionSummary

_ACTS = regex(
    r"^_*(select|choose|get|sample|take|pick|compute|predict|generate|infer)_([a-z]+_){0,2}actions?"
    r"(_(and|with|from|for|batch|train|test|eval|greedy|deterministic|logp?|probs?|values?)\w*)?$|^_*(act_\w+|exploit)$"
)
_FORWARDS = regex(r"^forward$|^_*forward_(collect|eval|act|actor|critic|policy|value|inference)$")
_NO_ACTIONS = regex(
    r"avail|legal|valid|space|dim|size|num|mask|bound|limit|name|type|mean(ing)?s|shape|raw|last|prev"
)
_NO_ACTOR = regex(r"[Ee]nv($|[A-Z_])|Space|Buffer|Dataset|Loss$")

_EACH_OBSERVATION = LikelyRole(Heat.HOT, "processes an observation", "for each observation")
_EACH_DRAW = LikelyRole(Heat.HOT, "draws the noise of an action", "for each environment step")
_EACH_ACTION = LikelyRole(Heat.HOT, "acts", "for each action")
_EACH_SAMPLE = LikelyRole(Heat.HOT, "samples a batch", "for each gradient step")
_EACH_TARGET = LikelyRole(Heat.HOT, "computes targets of a batch", "for each gradient step")
_EACH_RETURN = LikelyRole(Heat.WARM, "computes the returns of a rollout", "for each batch of rollouts")
_EACH_TRANSITION = LikelyRole(Heat.HOT, "stores a transition", "for each environment step")
_EACH_FORWARD = LikelyRole(Heat.HOT, "runs in each forward pass", "for each forward pass")
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


def named_role(
    function: FunctionSummary, owner: str = "", tag: TypeTag = TypeTag.UNKNOWN
) -> LikelyRole | None:
    """Return the likely role of a function that no visible code calls, judging by its name and that of its
    class, which is of the type `tag`.
    """
    if not function.qualname or looks_on(function.name):
        return None
    if not (function.call_parameters or function.takes_more or function.is_method):
        return None
    for classes, names, role in _NAMED:
        if names.search(function.name) and classes.search(owner):
            return role
    return _role_of_any_class(function, owner, tag)


def _role_of_any_class(function: FunctionSummary, owner: str, tag: TypeTag) -> LikelyRole | None:
    """Return the role of a method that acts or runs a model, whatever its class is called: not that of an
    environment or a storage.
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
