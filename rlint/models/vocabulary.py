"""Vocabulary: names that authors choose, and what they usually mean. No library defines these."""

from __future__ import annotations

from rlint.models.fact import words
from rlint.regex import regex

STORES = frozenset(words("push remember save send store write"))
"""Methods that store their arguments: `memory.push(state, action, reward)`, `buffer.remember(episode)`."""

COMMON_METHODS = frozenset(
    words("""get put append add update close reset items keys values copy to step run start join save load
    format write read log sample forward __init__ train eval test call build create make init setup set pop
    clear
    size process execute apply render send recv wait stop shape mean sum predict fit transform encode decode
    split info debug warning error register state_dict load_state_dict parameters backward zero_grad item
    numpy cpu cuda clone detach astype to_dict to_json to_list to_numpy tolist as_dict from_dict from_json
    describe head tail evaluate query select""")
)
"""Methods of many classes, whose name does not determine the class: `worker.run()`."""

PATCHES = frozenset(words("patch setattr delattr object multiple"))
"""Last names of functions that replace attributes in tests: `mock.patch.object(agent, "act")`."""

GENERATES = frozenset(words("generate generate_samples generate_sequences"))
"""Methods that generate text: `engine.generate_sequences(prompts)`."""

NEUTRAL_BASES = frozenset({"builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol"})
"""Base classes without methods that a program relies on, or that a library calls."""

READ_CLASS_NAMES = frozenset(words("gin hydra jsonargparse mmcv mmengine"))
"""Libraries that create the objects which configuration files name."""

READ_SETTINGS = frozenset(words("draccus hydra jsonargparse omegaconf pyrallis ruamel sacred yaml"))
"""Libraries that read the settings of a program from YAML files."""

READ_OTHER_SETTINGS = frozenset(words("gin ml_collections"))
"""Libraries that read them from files of other kinds."""

SETTINGS_CLASSES = frozenset(words("types.SimpleNamespace argparse.Namespace"))
"""Classes whose objects hold the settings of a program."""

GENERATION_SETTINGS = frozenset({"GenerationConfig"})
"""Classes of the settings with which a language model generates tokens."""

OF_TOKENS = words(
    """completion_ids completion_mask input_ids tokenizer pad_token_id eos_token_id past_key_values
    response_mask"""
)
"""Names in files for language models: `model(batch["input_ids"])`, `self.tokenizer.eos_token`."""

FEW = frozenset(words("items keys values parameters named_parameters"))
"""Methods that yield few items: `for name, loss in losses.items()`."""

HANDS_OUT = frozenset(words("get get_nowait recv recv_bytes recv_pyobj sample sample_batch"))
"""Methods that return the next batch or message: `replay.sample(256)`, `socket.recv_pyobj()`."""

LAYERS_WITH_WEIGHTS = tuple(words("Linear Conv LSTM GRU RNN Embedding Attention Transformer"))
"""Parts of the names of layers with weights, including custom ones: `NoisyLinear`, `CrossAttention`."""

SCALARS = frozenset(words("eps epsilon gamma gae_lambda discount tau lr learning_rate momentum"))
"""Hyperparameters that hold one number: `torch.ones_like(probabilities) * epsilon`."""

OPTIONS = frozenset(
    words("""args cfg cfgs conf config configs hp hparams hyperparameters hyperparams opt options params
    settings flags""")
)
"""Names of objects that hold the options of a program: `self.args.weight`."""

CONSTRUCTORS = frozenset({"__init__", "__post_init__"})
"""Methods that run once for each object, as it is created."""

WRAPPERS = frozenset(words("abc contextlib dataclasses functools jax numba tensorflow torch typing"))
"""Libraries whose decorators wrap functions and classes without registering them anywhere."""

AUGMENTS = frozenset(words("aug augment augmentation augmentations augmenter crop transform transforms"))
"""Words in names of modules that change images at random, without weights."""

LARGE_LAYERS = frozenset(
    words("""Conv2d Conv3d ConvTranspose2d GRU GRUCell LazyConv2d LSTM LSTMCell MultiheadAttention
    TransformerEncoder TransformerEncoderLayer""")
)
"""Layers for images and sequences."""

PER_LAYER = frozenset(words("parameters named_parameters modules named_modules state_dict"))
"""Methods of a network that return one item for each of its layers or weights."""

SHORT_NAMES = {"gym": "gymnasium", "np": "numpy", "nn": "torch.nn", "F": "torch.nn.functional"}
"""Usual names of imported modules: `np.zeros(8)` after `from utils import *`."""

IMITATED = frozenset(words("builtins copy json math numpy queue random re string time torch"))
"""Libraries whose name may denote an imitation that behaves differently: `import jax.numpy as np`."""

SET_UP = frozenset(
    words("""plot draw render visualize visualise visualization show save load export report init setup build
    make create config configure parse read write download summary summarize print display figure""")
)
"""First words of functions that run once, before or after the training: `build_model()`, `plot_returns()`."""

INITIALISES = frozenset(words("init initialize initialise setup"))
"""Words in the names of methods that complete the construction of an object: `async_initialize()`."""

DONE = {
    "casefold": "folded",
    "cat": "joined",
    "clean": "cleaned",
    "concat": "joined",
    "concatenate": "joined",
    "decode": "decoded",
    "discount": "discounted",
    "encode": "encoded",
    "extract": "extracted",
    "findall": "matches",
    "finditer": "matches",
    "fullmatch": "match",
    "literal_eval": "parsed",
    "join": "joined",
    "loads": "loaded",
    "lower": "lowered",
    "lstrip": "stripped",
    "match": "match",
    "normalise": "normalised",
    "normalize": "normalized",
    "parse": "parsed",
    "preprocess": "preprocessed",
    "process": "processed",
    "replace": "replaced",
    "rsplit": "parts",
    "rstrip": "stripped",
    "search": "match",
    "sorted": "ordered",
    "split": "parts",
    "splitlines": "lines",
    "strip": "stripped",
    "tokenise": "tokens",
    "tokenize": "tokens",
    "tolist": "values",
    "transform": "transformed",
}
"""Names of variables for the result of a function: `parsed = parse(text)`."""

CONSTANTS = {
    "arange": "indices",
    "eye": "identity",
    "linspace": "grid",
    "logspace": "grid",
    "geomspace": "grid",
    "tril": "mask",
    "triu": "mask",
    "zeros": "zeros",
    "ones": "ones",
    "pow": "powers",
    "power": "powers",
}
"""Names of constants that a library function creates: `mask = torch.tril(…)`."""

TESTS_FINITE = frozenset(words("isfinite isinf isnan"))
"""Functions and methods that test numbers for a computation that broke down: `torch.isnan(loss).any()`."""

LOGS = frozenset(
    words("""add_histogram add_scalar add_scalars add_text critical debug error exception info log log_dict
    log_metric log_metrics log_scalar print record scalar set_description set_postfix set_postfix_str track
    warn warning write""")
)
"""Methods that report progress to the user or a tracker: `tracker.log_scalar("loss", loss)`."""

FEEDS = frozenset(words("add add_value feed push put scalar update write"))
"""Methods by which what holds statistics takes a number: `meters["loss"].feed(loss)`."""
WRITES_NUMBERS = frozenset(words("add_scalar add_scalars"))
"""Methods of writers of event files, whose class programs seldom name: `writer.add_scalar("loss", loss)`."""

LOGS_METRICS = frozenset(
    words("""dump_tabular dumpkvs log_dict log_metric log_metrics log_scalar log_scalars log_value
    report_scalar report_scalars""")
)
"""Methods of loggers that frameworks hand out, which write at once: `logger.log_metrics(metrics, step)`."""

LOGGER_NAME = regex(r"(^|_)(logger|experiment|tracker|accelerator|fabric|writer)_?$")
"""Names of objects with such methods."""

OF_BATCHES = frozenset(
    words("""adv advs advantage advantages done dones entropy entropies error errors log_prob log_probs logp
    logps logprob logprobs loss losses mask masks ratio ratios return returns reward rewards td_error
    td_errors""")
)
"""Values of a batch or of its loss, which no optimizer trains: `entropy.mean()`, `batch["mask"].sum()`."""

OF_MANY = frozenset(
    words("""batch batches dataset frame image images img imgs lidar minibatch minibatches particles pixel
    pixels points rays screen token tokens""")
)
"""Words in names of values with many items, or of their number: `range(batch_size)`."""

OF_MANY_IN_LEARNING = (OF_BATCHES - {"mask", "masks"}) | frozenset(
    words("""buffer dones episodes experiences horizon memory priorities replay returns rewards rollout
    rollouts samples sequences steps timesteps trajectories trajectory transitions""")
)
"""The same for code that learns from the data of many steps: `for step in rollout`."""

ROLLOUT_LENGTHS = words(
    """rollout_length rollout_len rollout_steps n_rollout_steps num_rollout_steps n_steps num_steps nsteps
    num_local_steps local_steps steps_per_rollout steps_per_env num_steps_per_env unroll_length"""
)
"""Options for the number of steps in a rollout, between two updates."""

EPISODE_LENGTHS = words(
    """max_episode_steps max_episode_length max_episode_len episode_length episode_len episode_limit
    max_ep_len max_ep_steps max_steps_per_episode steps_per_episode ep_len horizon max_steps"""
)
"""Options for the number of steps in an episode, at most."""

MAPS_PARTS = frozenset(words("map tree_map map_structure map_many"))
"""Functions that apply a function to all parts of a structure: `nest.map(move, batch)`."""

TRANSFORMS_STEPS = frozenset(words("TransformAction TransformObservation TransformReward"))
"""Wrappers of environments that apply a function in each step: `TransformReward(env, clip)`."""

MEASURES_TIME = tuple(words("perf_counter perf_counter_ns time monotonic synchronize elapsed_time timeit"))
"""Last names of functions that measure time: `start = time.perf_counter()`."""

OF_TENSORS = frozenset(
    words("detach cpu cuda unsqueeze log_prob log_probs backward requires_grad_ masked_fill logsumexp")
)
"""Methods that only tensors, or tensor-like objects, have: `values.unsqueeze(0)`."""

WORKS = frozenset(words("step backward render act learn train forward predict generate reset"))
"""Methods that advance the training: `agent.learn(batch)`."""

NOTHING_THERE = frozenset(
    words("Empty Full IndexError KeyError FileNotFoundError BlockingIOError Again QueueEmpty QueueFull")
)
"""Last names of exceptions for an empty queue or the like: `except queue.Empty:`."""

READS_TENSOR = frozenset(
    words("""as_np as_numpy asnumpy detach_numpy get_numpy np_from_torch numpify t2n _t2n tensor2np
    tensor2numpy tensor_to_numpy to_host to_np to_numpy tonumpy torch_to_numpy _as_numpy _tensor_to_numpy
    _to_np _to_numpy""")
)
"""Custom functions that return the numbers of a tensor: `_t2n(action)`, `ptu.get_numpy(loss)`."""

COPIES_TENSOR = READS_TENSOR | frozenset(words("CPU to_cpu _to_cpu"))
"""Custom functions that copy a tensor to the host, also as a tensor: `CPU(model(states))`."""

NETWORKS = frozenset(
    words("actor autoencoder critic decoder encoder model net network policy vae vqvae backbone dynamics")
)
"""Words in the names of networks: `self.vae.encode(images)`, `learn_model.recurrent_inference(state)`."""

SCALES = frozenset(words("div div_ divide true_divide mul mul_ multiply"))
"""Methods that multiply or divide a tensor."""

REWARDS_OF_BATCHES = frozenset(words("compute_reward compute_rewards"))
"""Methods of environments with goals, which by convention take batches: `env.compute_reward(got, goals)`."""

CONVERTS_TO_TENSOR = frozenset(
    words("as_tensor from_numpy np_to_torch np2torch numpy_to_torch to_tensor to_torch torchify totensor")
)
"""Custom functions that create a tensor from numbers or arrays: `ptu.from_numpy(batch)`."""

DISTRIBUTION_ARGUMENTS = {
    "MultivariateNormal": (words("loc covariance_matrix"), words("loc scale_tril")),
    "Normal": (words("loc scale"),),
    "Categorical": (words("logits"), words("probs"), words("logits temperature"), words("probs temperature")),
}
"""Keywords by which constructors of distributions are recognised, with a distribution that takes them."""

ONLY_DISTRIBUTION_CLASSES = frozenset(words("arg_constraints has_rsample has_enumerate_support"))
"""Attributes that only classes of distributions, and their instances, have."""

KEEP_GRAPH = frozenset(words("retain_graph create_graph"))
"""Keywords with which `backward` keeps the graph for another gradient."""

UNPICKLES = frozenset(words("torch.load pickle.load pickle.loads joblib.load dill.load cloudpickle.load"))
"""Functions that return an object of any class from a file, such as a network."""

_MAKE_OR_ARE_BASES = frozenset(
    words(
        """enum.Enum enum.Flag enum.IntEnum enum.IntFlag enum.StrEnum typing.NamedTuple typing.TypedDict
        typing_extensions.NamedTuple typing_extensions.TypedDict"""
    )
)

CLASS_MAKERS = _MAKE_OR_ARE_BASES.union(
    words(
        """collections.namedtuple dataclasses.make_dataclass attr.make_class attrs.make_class
    pydantic.create_model msgspec.defstruct"""
    )
)
"""Functions that return a class with generated methods, given its name."""

COSTLY_CLASSES = _MAKE_OR_ARE_BASES.union(
    words(
        """typing.Protocol typing_extensions.Protocol dataclasses.dataclass attr.attrs attr.dataclass
    attr.define attr.frozen attr.mutable attr.s attrs.define attrs.frozen attrs.mutable pydantic.BaseModel
    pydantic.dataclasses.dataclass msgspec.Struct ctypes.Structure ctypes.Union flax.struct.dataclass
    chex.dataclass torch.autograd.Function"""
    )
)
"""Base classes and decorators that generate methods or have a metaclass: to define such a class takes several
times as long as a plain one.
"""

KEEP_FRAME_DTYPE = frozenset(words("copy flatten mean moveaxis reshape resize squeeze swapaxes transpose"))
"""Methods and functions whose result has the dtype of the frame that they get, if it is of floats."""
