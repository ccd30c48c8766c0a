"""One canonical name for each object that a library exports under several."""

from __future__ import annotations

from functools import lru_cache

from rlint.models.fact import words
from rlint.regex import regex

SAME = {
    "Queue.Queue": "queue.Queue",
    "io.open": "builtins.open",
    "numpy.absolute": "numpy.abs",
    "numpy.alltrue": "numpy.all",
    "numpy.around": "numpy.round",
    "numpy.concat": "numpy.concatenate",
    "numpy.product": "numpy.prod",
    "numpy.random.mtrand.RandomState": "numpy.random.RandomState",
    "numpy.round_": "numpy.round",
    "numpy.row_stack": "numpy.vstack",
    "numpy.sometrue": "numpy.any",
    "six.moves.input": "builtins.input",
    "six.moves.map": "builtins.map",
    "six.moves.range": "builtins.range",
    "six.moves.xrange": "builtins.range",
    "six.moves.zip": "builtins.zip",
    "torch._tensor.Tensor": "torch.Tensor",
    "torch.absolute": "torch.abs",
    "torch.clip": "torch.clamp",
    "torch.clip_": "torch.clamp_",
    "torch.concat": "torch.cat",
    "torch.concatenate": "torch.cat",
    "torch.nn.modules.loss._Loss": "torch.nn.Module",
    "torch.nn.modules.loss._WeightedLoss": "torch.nn.Module",
    "torch.nn.parallel.distributed.DistributedDataParallel": "torch.nn.parallel.DistributedDataParallel",
    "torch.optim.lr_scheduler._LRScheduler": "torch.optim.lr_scheduler.LRScheduler",
    "torch.random.manual_seed": "torch.manual_seed",
    "torch.row_stack": "torch.vstack",
    "typing.ChainMap": "collections.ChainMap",
    "typing.Counter": "collections.Counter",
    "typing.DefaultDict": "collections.defaultdict",
    "typing.Deque": "collections.deque",
    "typing.OrderedDict": "collections.OrderedDict",
}
"""The canonical names of aliases."""

# Modules whose names are all exported by another one, too.
_MODULES = {
    "concurrent.futures._base": "concurrent.futures",
    "concurrent.futures.process": "concurrent.futures",
    "concurrent.futures.thread": "concurrent.futures",
    "genericpath": "os.path",
    "gymnasium.core": "gymnasium",
    "gymnasium.envs.registration": "gymnasium",
    "multiprocessing.context": "multiprocessing",
    "multiprocessing.queues": "multiprocessing",
    "multiprocessing.synchronize": "multiprocessing",
    "ntpath": "os.path",
    "posixpath": "os.path",
    "tensorboardX": "torch.utils.tensorboard",
    "tensorboardX.writer": "torch.utils.tensorboard",
    "torch.amp.autocast_mode": "torch.amp",
    "torch.amp.grad_scaler": "torch.amp",
    "torch.autograd.grad_mode": "torch",
    "torch.autograd.variable": "torch.autograd",
    "torch.cuda.amp.autocast_mode": "torch.cuda.amp",
    "torch.cuda.amp.grad_scaler": "torch.cuda.amp",
    "torch.cuda.memory": "torch.cuda",
    "torch.cuda.random": "torch.cuda",
    "torch.distributed.distributed_c10d": "torch.distributed",
    "torch.distributions.kl": "torch.distributions",
    "torch.functional": "torch",
    "torch.nn.modules": "torch.nn",
    "torch.nn.parameter": "torch.nn",
    "torch.nn.utils.clip_grad": "torch.nn.utils",
    "torch.nn.utils.convert_parameters": "torch.nn.utils",
    "torch.serialization": "torch",
    "torch.utils.data._utils.collate": "torch.utils.data",
    "torch.utils.tensorboard.writer": "torch.utils.tensorboard",
    "tqdm.asyncio": "tqdm",
    "tqdm.auto": "tqdm",
    "tqdm.autonotebook": "tqdm",
    "tqdm.notebook": "tqdm",
    "tqdm.std": "tqdm",
}

# Packages that export the classes of their submodules.
_PACKAGES = regex(
    r"(torch\.nn|torch\.optim|torch\.distributions|torch\.utils\.data|transformers"
    r"|gymnasium\.spaces|gymnasium\.wrappers|gymnasium\.vector)"
    r"\.(?!lr_scheduler\.|parallel\.|init\.|utils\.)[a-z]\w*(?:\.[a-z]\w*)*\.([A-Z]\w*|random_split)((?:\.\w+)?)"
)
_LIBRARIES = regex(
    r"(stable_baselines3\.common\.vec_env|stable_baselines3|tianshou\.data|torchrl\.data|torchrl\.envs"
    r"|pfrl\.replay_buffers|agilerl\.components|elegantrl\.train|skrl\.memories\.torch|tianshou\.env)"
    r"\.[a-z]\w*(?:\.[a-z]\w*)*\.([A-Z]\w*)"
)
_ONLY_IN_TORCH = frozenset(
    f"torch.multiprocessing.{name}"
    for name in words("""spawn start_processes reductions get_sharing_strategy set_sharing_strategy
    get_all_sharing_strategies""")
)
_ROOTS = frozenset(name.partition(".")[0] for name in (*SAME, *_MODULES)) | {
    "gym",
    "gymnasium",
    "transformers",
}


@lru_cache(maxsize=16384)
def canonical(qualified: str) -> str:
    """Return the canonical name of an object: `torch.nn.Linear` for `torch.nn.modules.linear.Linear`.

    A name that is not known to be an alias is returned unchanged.
    """
    root, _, rest = qualified.partition(".")
    if root not in _ROOTS:
        return qualified
    if root == "gym":
        qualified = f"gymnasium.{rest}" if rest else "gymnasium"
    elif qualified == "torch.multiprocessing":
        return "multiprocessing"
    elif qualified.startswith("torch.multiprocessing."):
        tail = qualified.removeprefix("torch.")
        if ".".join(qualified.split(".")[:3]) in _ONLY_IN_TORCH:
            return qualified
        qualified = tail
    if (match := _PACKAGES.fullmatch(qualified)) is not None:
        qualified = f"{match[1]}.{match[2]}{match[3]}"
    module, _, name = qualified.rpartition(".")
    if module in _MODULES:
        qualified = f"{_MODULES[module]}.{name}"
    return SAME.get(qualified, qualified)


def public(qualified: str) -> str:
    """Return the name under which an RL library exports a class of a submodule.

    Separate from `canonical`: when such a library itself is analysed, its classes must keep the names of
    their modules.
    """
    match = _LIBRARIES.fullmatch(qualified)
    return f"{match[1]}.{match[2]}" if match is not None else qualified
