"""Symptoms: the bottleneck that a hot function suggests, judging by its name.

The classes are those of the seed documents: "S1.T1" is the first bottleneck of the training
loop in the second of them. A rule finds what is wrong with a piece of code; a class says where to look when
no rule finds anything.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rlint.profiles.profile_model import Frame


@dataclass(frozen=True, slots=True)
class Symptom:
    """A class of bottlenecks."""

    name: str
    seed: str
    advice: str
    own: str = ""
    """Names of functions of the project, as a pattern for the whole name, ignoring case."""
    owner: str = ""
    """A part of their class or file name, if the name alone is not specific enough."""
    library: str = ""
    """Its form outside of the project: a pattern for `file name`, with `/` in the file."""


SYMPTOMS: tuple[Symptom, ...] = (
    Symptom(
        "replay buffer sampling",
        "S1.T1",
        "store transitions in preallocated arrays, and sample a batch with one index array",
        own=r"sample|_?sample_(batch|transitions?|indices|idxs?)|_?get_samples|_?get_batch|_encode_samples?",
    ),
    Symptom(
        "replay buffer writes",
        "S0.3",
        "write each transition into preallocated arrays, at an index that wraps around",
        own=r"add|push|store|append|extend|remember|store_transition|add_batch|add_experience",
        owner=r"buffer|memory|replay|rollout|storage",
    ),
    Symptom(
        "environment steps",
        "S4.2",
        "step several environments at once, in separate processes if a step is expensive",
        own=r"step|_step|step_wait|simulate",
        owner=r"env|wrapper|world|sim|game",
        library=r".*/(gym|gymnasium)/.* step|.*/(ale_py|mujoco|pybullet).*",
    ),
    Symptom(
        "environment resets",
        "S1.E1",
        "prepare the initial state of episodes once, reuse environments, load assets in advance",
        own=r"_?reset|reset_(env|environment|wait|sim)",
        library=r".*/(gym|gymnasium)/.* reset",
    ),
    Symptom(
        "rendering",
        "S1.E2",
        "do not render while training, or only every n-th episode and without a window",
        own=r"_?render\w*|draw\w*|get_frame|get_screen|_?get_image",
        library=r".*/(pygame|matplotlib|PIL|cv2|imageio|pyglet)/.*|"
        r".* <built-in (method|function) .*(blit|flip|imshow).*>",
    ),
    Symptom(
        "rewards and returns",
        "S1.E3",
        "compute invariant terms once, and whole arrays of rewards instead of one reward at a time",
        own=r"(shape|compute|calc|calculate|get)_?\w*rewards?|\w*_rewards?|rewards?|reward_fn|"
        r"(compute|calc|calculate|get)_\w*(gae|advantages?|returns?)|discount(ed)?_\w+|gae",
    ),
    Symptom(
        "preprocessing of observations",
        "S1.D1",
        "process whole arrays, keep the smallest dtype as long as possible, and convert once",
        own=r"_?pre_?process\w*|_?normali[sz]e\w*|"
        r"_?(process|transform|get|encode|stack)_(obs|observations?|frames?|states?)|"
        r"observation|to_gr[ae]y\w*|resize\w*|featuri[sz]e\w*",
    ),
    Symptom(
        "processing of actions",
        "S1.D2",
        "compute bounds once, and clip or scale whole batches in place",
        own=r"_?(un)?(clip|scale|process|transform|squash)_actions?",
        library=r".*/numpy/.* (_?clip\w*)",
    ),
    Symptom(
        "forward passes",
        "S1.T2",
        "run larger batches, under `no_grad` for inference, with all tensors on one device",
        own=r"_?forward\w*|_?(act|predict|evaluate_actions|get_values?|get_q_values?|get_distribution)|"
        r"(select|choose|get|sample)_actions?(_and_value)?",
        library=r".*torch/nn/modules/\w+\.py (_wrapped_call_impl|_call_impl|forward)",
    ),
    Symptom(
        "gradients",
        "S1.T3",
        "use mixed precision on a GPU, a smaller network or graph, and detach tensors that need no gradient",
        library=r".* (backward|_engine_run_backward|<.*run_backward.*>)",
    ),
    Symptom(
        "weight updates",
        "S1.T3",
        "use the fused or foreach implementation of the optimizer, accumulate gradients over several batches",
        library=r".*torch/optim/\w+\.py (step|_single_tensor_\w+|_multi_tensor_\w+|_fused_\w+)",
    ),
    Symptom(
        "target network updates",
        "S1.T4",
        "update in place under `no_grad`, all parameters in one foreach call, and less often",
        own=r"(soft|hard|update|sync|copy|polyak)_?\w*(target|networks?|weights|params|parameters)\w*|"
        r"polyak\w*|soft_update|hard_update|_?update_targets?",
        library=r".*torch/nn/modules/module\.py load_state_dict",
    ),
    Symptom(
        "copies of weights",
        "S2.4",
        "publish weights less often, copy into existing tensors, and transfer only changed ones",
        own=r"(copy|publish|broadcast|sync|get|set)_\w*(state_dict|weights|params|parameters)",
        library=r".*torch/nn/modules/module\.py state_dict|.*/copy\.py deepcopy",
    ),
    Symptom(
        "transfers between host and device",
        "S0.2",
        "read values from the device once per log interval, create tensors on the device that uses them",
        library=r".* <(built-in )?method '?(item|cpu|cuda|to|tolist|numpy|pin_memory)'? of "
        r".*(Tensor|Parameter).*>",
    ),
    Symptom(
        "waiting and locks",
        "S2.2",
        "wait on events and conditions instead of polling, hold locks only while changing shared state",
        library=r".* <(built-in )?(method|function) '?(time\.)?(sleep|acquire|wait|poll|select)'?( of .*)?>|"
        r".*/(queue|threading|multiprocessing/(queues|connection|synchronize))\.py "
        r"(get|put|recv|recv_bytes|poll|wait|acquire)",
    ),
    Symptom(
        "garbage collection",
        "S1.M1",
        "create fewer short-lived objects, reuse buffers, and collect garbage only between episodes",
        library=r".* <built-in method gc\.collect>|.*torch/cuda/memory\.py empty_cache",
    ),
    Symptom(
        "logging",
        "S1.IO1",
        "log every n-th step, buffer output, and write from another thread",
        own=r"_?log(_\w+|ger\w*)?|write_(summary|scalars?|logs?)|record_\w*|print_\w+",
        library=r".* <built-in (method builtins\.|function )print>|"
        r".*/logging/__init__\.py (debug|info|warning|error|log|_log|handle|emit)|"
        r".*/(tensorboardX?|tensorboard|wandb|tqdm)/.* \w+",
    ),
    Symptom(
        "checkpoints",
        "S1.IO2",
        "save less often, or from another thread or process",
        own=r"_?save(_\w+)?|write_checkpoint|checkpoint",
        library=r".*torch/serialization\.py save|.* <built-in method _pickle\.dump>|"
        r".*/numpy/lib/\w+\.py _?savez?\w*",
    ),
    Symptom(
        "text processing",
        "S0.6",
        "compile patterns once, parse each response once, and cache the result",
        own=r"(extract|parse|format|clean|strip|tokeni[sz]e|decode)_\w+|tokeni[sz]e",
        library=r".*/re(/__init__|)\.py (search|match|fullmatch|findall|finditer|sub|split|compile|_compile)|"
        r".* <method '(search|match|fullmatch|findall|finditer|sub)' of 're\.Pattern' objects>",
    ),
    Symptom(
        "model loading",
        "S0.4",
        "load each model once per run and pass it to its users",
        own=r"load_(model|tokenizer|checkpoint|policy|weights)\w*",
        library=r".* from_pretrained|.*torch/serialization\.py load",
    ),
)

_OWN = [(symptom, re.compile(symptom.own, re.IGNORECASE)) for symptom in SYMPTOMS if symptom.own]
_LIBRARY = [(symptom, re.compile(symptom.library)) for symptom in SYMPTOMS if symptom.library]
_LONGEST = 1_000
"""Maximum number of characters of the name of a function with its file. A longer one is not a name, and is
not searched.
"""


def of_function(qualname: str, file: str) -> Symptom | None:
    """Return the class that a function of the project belongs to by its name."""
    owner, _, name = qualname.rpartition(".")
    for symptom, pattern in _OWN:
        if len(name) <= _LONGEST and pattern.fullmatch(name):
            held = f"{owner} {file.rpartition('/')[2]}"
            if not symptom.owner or re.search(symptom.owner, held, re.IGNORECASE):
                return symptom
    return None


def of_frame(frame: Frame) -> Symptom | None:
    """Return the class that a function outside of the project belongs to."""
    file = "/" + frame.file.replace("\\", "/").lstrip("/") if frame.file else ""
    shown = f"{file} {frame.name if frame.name.startswith('<') else frame.last_name}"
    for symptom, pattern in _LIBRARY:
        if len(shown) <= _LONGEST and pattern.fullmatch(shown):
            return symptom
    return None
