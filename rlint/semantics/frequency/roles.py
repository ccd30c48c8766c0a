"""Roles of functions, from names that are conventional in reinforcement learning."""

from __future__ import annotations

import re

from rlint.findings import Heat
from rlint.frozen import frozen
from rlint.models.value_type import TypeTag
from rlint.regex import regex
from rlint.semantics.frequency.drivers import Driver
from rlint.semantics.interprocedural.summary import CallSite, FunctionSummary


def _roles(**names: str) -> dict[str, str]:
    """Invert a mapping from roles to function names."""
    return {name: what.replace("_", " ") for what, several in names.items() for name in several.split()}


_HOT = _roles(
    acts="""act select_action choose_action get_action get_actions sample_action take_action pick_action
        best_action get_best_action select_best_action choose_best_action act_batch get_action_and_value
        explore policy epsilon_greedy action_probabilities compute_action compute_actions
        compute_single_action forward_exploration forward_inference""",
    is_called_on_each_step="_on_step on_step on_train_batch_start on_train_batch_end on_before_zero_grad",
    takes_a_gradient_step="training_step train_step optimize_model optimize update learn learn_step",
    computes_a_loss="loss_fn",
    updates_the_target_network="hard_update",
    learns_from_replayed_transitions="replay experience_replay",
    is_called_per_batch="collate_fn",
    runs_per_observation="preprocess_observation preprocess_obs process_observation normalize_obs",
)
ACTS = frozenset(name for name, what in _HOT.items() if what == "acts") - {"policy"}
"""Names of functions that select an action for an observation."""
_LOSS_CLASS = regex(r"loss$", re.IGNORECASE)
_COMPUTES_LOSS = regex(r"^_*(compute|calculate|calc)_(\w+_)?loss(es)?(_\w+)?$")
_UPDATES_TARGET = regex(
    r"^_*((soft|polyak|ema)_(\w+_)?update|(soft|polyak|ema)_update(_\w+)?|(soft_|polyak_)?(update|sync)_(the_)?(\w+_)?targets?(_\w+)?"
    r"|targets?_(\w+_)?(soft_|polyak_)?update)$"
)
_NO_NETWORK = regex(
    r"position|pos(e|$)|goal|entropy|frame|label|veloc|heading|rate|freq|interval|every|kl|lr$"
)
_ACTING_CLASS = regex(r"(Agent|Policy|Actor)(V?\d+|[A-Z0-9]{2,4})?$")
_OBSERVED = regex(r"^(states?|obs|observations?)(_\w+)?$")
_AGENT_ONLY = frozenset("learn update optimize policy explore replay loss_fn".split())
_AGENT_CLASS = regex(
    r"agent|dqn|ddpg|sac|td3|ppo|a2c|a3c|reinforce|actor|critic|policy|trainer|learner|algo", re.IGNORECASE
)

_BUFFER = _roles(
    stores_a_transition="""add push store append put insert record remember memorize store_transition
        store_experience store_memory add_transition add_experience add_memory add_to_memory
        push_transition""",
    samples_a_batch="sample sample_batch sample_buffer sample_memory get_batch",
    runs_per_sampled_batch="update_priorities",
)
_BUFFER_CLASS = regex(r"buffer|memory|replay|storage|rollout|experience|history|trajectory", re.IGNORECASE)
_UNMISTAKABLE = frozenset(
    """remember memorize store_transition store_experience store_memory add_transition add_experience
    add_memory add_to_memory push_transition sample_batch sample_memory sample_buffer""".split()
)

_LIBRARY = {
    (TypeTag.MODULE, "forward"): "runs in each forward pass",
    (TypeTag.ENVIRONMENT, "step"): "runs once per environment step",
    (TypeTag.ENVIRONMENT, "step_wait"): "runs once per environment step",
    (TypeTag.ENVIRONMENT, "observation"): "runs once per environment step",
    (TypeTag.ENVIRONMENT, "reward"): "runs once per environment step",
    (TypeTag.ENVIRONMENT, "action"): "runs once per environment step",
    (TypeTag.DATASET, "__getitem__"): "loads one sample",
}

_COLLATE_CLASS = regex(r"Collat(e|or)")
_TOKEN_CLASS = regex(r"LogitsProcessor|LogitsWarper|StoppingCriteria")
_REWARD = regex(r"(^|_)rewards?($|_)|^compute_score$|^score_response|_score_fn$")
_NOT_A_REWARD = regex(
    r"^test_|plot|print|log|save|load|make|build|create|prepare|get_reward_f|init|parse_args|config|register|setup|model"
)
_REWARD_CLASS = regex(r"Rewards?($|[A-Z_])|Verifier$|Grader$|Scorer$")
_OF_MANY = frozenset("completions responses solutions prompts predictions outputs texts generations".split())
_ANSWER = regex(
    r"^_*(extract|parse|grade|verify|check|normali[sz]e|score)_(\w+_)?(answer|solution|boxed|completion|response)$"
    r"|^is_equiv$|^last_boxed_only_string$"
)


_LOOKS_ON = regex(
    r"(^|_)(eval\w*|plot\w*|tests?|testing|play\w*|enjoy|demo\w*|watch\w*|visuali[sz]\w*|record\w*|render\w*"
    r"|benchmark\w*|profil\w*|debug\w*|(?<!initial_)(?<!recurrent_)(?<!mcts_)inference|infer"
    r"|show\w*|human\w*|replay_episode|manual|example_env)($|_)"
)


_WORD = regex(r"(?<=[a-z0-9])(?=[A-Z])")


def snake_case(name: str) -> str:
    """Return `selectAction` as `select_action`."""
    return name if "_" in name or name.islower() else _WORD.sub("_", name).lower()


def looks_on(name: str) -> bool:
    """Whether a function or file of this name only evaluates a trained policy, and trains nothing."""
    return bool(_LOOKS_ON.search(name.lower()))


_TRIES = regex(r"(^|_)(check\w*|tests?|try\w*|demo\w*|debug\w*|random|sanity|smoke)($|_)")


def tries(name: str) -> bool:
    """Whether a function of this name tests whether an object works."""
    return bool(_TRIES.search(name.lower()))


_EVALUATES = regex(
    r"(^|_)(eval\w*|validation|tests?|testing|enjoy|demo\w*|watch\w*|visuali[sz]\w*|render\w*|show\w*"
    r"|record_video\w*)($|_)|(^|_)validate$"
)


def evaluates(name: str) -> bool:
    """Whether a function of this name measures or shows a trained policy. A function that steps an
    environment may also collect training data.
    """
    return bool(_EVALUATES.search(name.lower()))


def acts_when_called(function: FunctionSummary, owner: str) -> bool:
    """Whether a function is the `__call__` of an object that selects actions for observations, judging by the
    names of its class and of its first parameter.
    """
    given = function.call_parameters[:1]
    return (
        function.name == "__call__"
        and bool(_ACTING_CLASS.search(owner))
        and any(map(_OBSERVED.search, given))
    )


def is_loss(owner: str) -> bool:
    """Whether a class is a loss function, judging by its name: `PolicyLoss`."""
    return bool(_LOSS_CLASS.search(owner))


def computes_loss(name: str) -> bool:
    """Whether a function computes the loss of a gradient step, judging by its name: `compute_policy_loss`."""
    return bool(_COMPUTES_LOSS.search(name)) and not evaluates(name)


def updates_target_network(name: str) -> bool:
    """Whether a function of this name copies or blends weights into a target network."""
    return bool(_UPDATES_TARGET.search(name)) and not _NO_NETWORK.search(name)


LEARNS = frozenset("learn train_step learn_step training_step train_on_batch optimize_model".split())
"""Names of methods that take gradient steps."""
_LEARNS = LEARNS | {"update"}
WHOLE_TRAINING = frozenset("total_timesteps epochs n_epochs num_epochs episodes n_episodes".split())


def takes_gradient_step(site: CallSite) -> bool:
    """Whether an unresolved call takes a gradient step, judging by its name and its receiver's.

    `model.learn(total_timesteps=...)` is a whole training, and `update` is also a method of dicts and
    progress bars.
    """
    if site.method not in _LEARNS or WHOLE_TRAINING & {name for name, _ in site.arguments}:
        return False
    if site.method in ("learn", "update"):
        learner = _AGENT_CLASS.search(site.receiver) or "model" in site.receiver
        return bool(learner) and any(name == "0" for name, _ in site.arguments)
    return True


_BATCHES = frozenset(
    """batch batches sample samples minibatch mini_batch memory buffer replay_buffer replay rollouts rollout
    trajectories transitions experiences episode_batch data""".split()
)


@frozen
class Role:
    """How often a function of this name is called, and what it does then."""

    heat: Heat
    what: str


def role_of(
    function: FunctionSummary,
    owner: str,
    tag: TypeTag,
    in_loops: frozenset[Driver],
    bases: tuple[str, ...] = (),
) -> Role | None:
    """Return the role of a function. `owner`, `tag` and `bases` are the name and type of its class ("" for
    none) and the dotted names of its bases; `in_loops` is what drives its loops, including those of functions
    that it calls.
    """
    name = snake_case(function.name)
    if owner:
        if tag is TypeTag.ENVIRONMENT and name == "reset":
            return Role(Heat.WARM, "begins each episode")
        if (tag, name) in _LIBRARY:
            return Role(Heat.HOT, _LIBRARY[tag, name])
        if name in _BUFFER and (_BUFFER_CLASS.search(owner) or name in _UNMISTAKABLE):
            return Role(Heat.HOT, _BUFFER[name])
    if name == "__call__" and any(map(_TOKEN_CLASS.search, (owner, *bases))):
        return Role(Heat.HOT, "is called for each generated token")
    if name == "__call__" and any(map(_COLLATE_CLASS.search, (owner, *bases))):
        return Role(Heat.HOT, "is called per batch")
    rewards = name == "__call__" and _REWARD_CLASS.search(owner)
    if rewards or (_REWARD.search(name) and not _NOT_A_REWARD.search(name)):
        if _OF_MANY & set(function.parameters):
            return Role(Heat.WARM, "rewards each batch")
        return Role(Heat.HOT, "rewards each sample")
    if _ANSWER.search(name):
        return Role(Heat.HOT, "looks at each answer")
    if (name == "__call__" and is_loss(owner)) or computes_loss(name):
        return Role(Heat.HOT, "computes a loss")
    if acts_when_called(function, owner):
        name = "act"
    what = _HOT.get(name, "updates the target network" if updates_target_network(name) else "")
    if not what or (name in _AGENT_ONLY and not _AGENT_CLASS.search(owner)):
        return None
    if in_loops & {Driver.ENVIRONMENT_STEP, Driver.GENERATION}:
        return None  # holds the training loop itself
    if in_loops & {Driver.GRADIENT_STEP, Driver.BATCH}:
        return Role(Heat.WARM, "learns from a batch of rollouts")
    return Role(Heat.HOT, what)


def role_of_learner(function: FunctionSummary, in_loops: frozenset[Driver]) -> Role | None:
    """Return the role of a method without a known caller whose own body takes a gradient step: it is called
    for each step. One that takes them in loops over its arguments learns from a batch of rollouts. A function
    that belongs to no learner may be an example, or a whole training.
    """
    if (
        not function.is_method
        or evaluates(function.name)
        or in_loops & {Driver.ENVIRONMENT_STEP, Driver.GENERATION}
    ):
        return None
    if Driver.GRADIENT_STEP in function.drivers and Driver.GRADIENT_STEP not in in_loops:
        return Role(Heat.HOT, "takes a gradient step")
    learns = Driver.GRADIENT_STEP in in_loops | function.drivers
    if learns and _BATCHES & set(function.parameters):
        return Role(Heat.WARM, "learns from a batch of rollouts")
    return None
