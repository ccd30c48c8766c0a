"""Settings of torch that a file mentions: precision, compilation, device, pinned memory; and whether it is
for language models, its training steps are large, and what its environments observe.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache

from rlint import models
from rlint.models import vocabulary
from rlint.models.rl import DEVICE_SIMULATORS, LANGUAGE_MODELS, SIMULATORS
from rlint.models.value_type import TypeTag
from rlint.regex import regex
from rlint.semantics.file_analysis import FileAnalysis
from rlint.semantics.nn.autograd import GRAD_MODES
from rlint.semantics.nn.forward import environment_ids
from rlint.semantics.types.legacy_tensors import ENTERS_DEVICE, GIVES_OUT, enters_device
from rlint.syntax.last_names import last_name
from rlint.syntax.scopes import Scope
from rlint.syntax.syntax_index import FUNCTIONS, SyntaxIndex
from rlint.syntax.walk import descendants, is_in

PRECISION = "precision"
"""Mixed or lower precision, or a library that provides it."""
COMPILED = "compiled"
"""`torch.compile`, TorchScript, CUDA graphs, or a library with a compiler of its own."""
DYNAMO = "dynamo"
"""`torch.compile` is called, which turns off the validation of distributions in the whole process."""
CUDA = "cuda"
"""A CUDA device is requested, or chosen if there is one."""

META = "meta"
"""Tensors without data may be created, or moved to the device `meta`."""
DEFAULT_DEVICE = "default device"
"""The default device may be another than the CPU: by `set_default_device`, or a default type on a device."""
GRAD_MODE = "grad mode"
"""Autograd is enabled or disabled other than by a decorator or for the statements of a `with` block."""
PINS = "pins"
"""Memory is pinned, by `pin_memory=` or `tensor.pin_memory()`."""
THREADS = "threads"
"""The number of threads of torch is set, here or for the process by its environment."""
TOKENS = "tokens"
"""Language models are trained or run: a library for them is imported, or text is processed as tokens."""

LARGE_LAYERS = "large layers"
"""Layers for images or sequences: a training step takes long."""
UNROLLED = "unrolled"
"""A gradient step runs a network for each time step, or uses conjugate gradients: it takes long."""
SIMULATES = "simulates"
"""Environments that render or simulate: their step takes long."""
DEVICE_ENVIRONMENTS = "device environments"
"""Environments that run on the GPU: their observations are tensors there."""

VECTORS = "vectors"
"""The id of an environment that observes a few numbers: `"CartPole-v1"`."""
FRAMES = "frames"
"""The id of an environment that observes frames: `"ALE/Pong-v5"`."""
OTHER_OBSERVATIONS = "other observations"
"""The id of an environment that may observe anything but a few numbers, or frames that the file renders."""

_RENDERED = ("rgb_array", "Pixel", "RenderObservation", "dm_control")
"""Words in files whose environments may observe what they render."""
_SETS_THREADS = frozenset(
    """set_num_threads OMP_NUM_THREADS MKL_NUM_THREADS threadpool_limits num_threads_per_worker
    torch_num_threads""".split()
)
_HOST_TYPE = regex(r"^(torch\.)?(Float|Double|Half|BFloat16)?Tensor$")
_LOWER = regex(
    r"(^|_)(amp|autocast|bf16|bfloat16|fp16|fp8|float16|half|halftensor|bfloat16tensor|gradscaler|grad_scaler"
    r"|mixed_?precision|matmul_precision|tf32)($|_)",
    re.IGNORECASE,
)
_COMPILES = frozenset(
    "CUDAGraph CudaGraphModule jit make_graphed_callables torch_compile use_compile".split()
)
_NO_COMPILER = ("re.", "regex.", "builtins.")
_LIBRARIES = {
    PRECISION: frozenset(
        """accelerate apex bitsandbytes colossalai composer deepspeed fairscale lightning lightning_fabric
        megatron pytorch_lightning torchtune transformer_engine transformers trl unsloth""".split()
    ),
    COMPILED: frozenset(
        "jax lightning onnx onnxruntime openvino pytorch_lightning tensorrt torch_tensorrt vllm".split()
    ),
}
_ON_CUDA = regex(r"^cuda(:\d+|:\{|:$|$)")
_TESTS_FOR_CUDA = frozenset(
    {"torch.cuda.is_available", "torch.cuda.device_count", "torch.cuda.current_device"}
)
_CUDA_QUESTIONS = frozenset(name.rpartition(".")[2] for name in _TESTS_FOR_CUDA)
_CONJUGATE = "conjugate_grad"
_FEW = regex(r"agent|critic|ensemble|head|_q\b")
"""Loops over a few networks, which are no loops over time."""
_NETWORK = regex(r"(^|_)(actor|policy|critic|net|network|model|rnn|gru|lstm|mac|agent|q\d?)$")
_SET_GRAD_MODE = frozenset({"set_grad_enabled", "_set_grad_enabled"})
_ENTERED_BY_HAND = ("__enter__", "enter_context")
_MAKES_CONTEXT = ("contextmanager", "asynccontextmanager")
_LONGEST_NAME = 39
"""Longer strings are text, not names."""


def speedups_of(analysis: FileAnalysis) -> frozenset[str]:
    """Return the settings above that a file mentions; configuration by name (`args.use_amp`, `"--fp16"`)
    counts.
    """
    tree = analysis.syntax
    found: set[str] = set()
    every = (bindings for scope in tree.scopes.values() for bindings in scope.bindings.values())
    for target in {binding.target for bindings in every for binding in bindings} - {""}:
        parts = target.split(".")
        found.update(word for word, names in _LIBRARIES.items() if parts[0] in names)
        found.update((THREADS,) if parts[-1] in _SETS_THREADS else ())
        found.update((TOKENS,) if parts[0] in LANGUAGE_MODELS else ())
        found.update((LARGE_LAYERS,) if parts[-1] in vocabulary.LARGE_LAYERS else ())
        found.update((SIMULATES,) if parts[0] in SIMULATORS else ())
        found.update((DEVICE_ENVIRONMENTS,) if parts[0] in DEVICE_SIMULATORS else ())
        if parts[0] == "torch":
            found.update((COMPILED,) if parts[-1] == "compile" else _named(parts[-1]))
            found.update((DYNAMO,) if parts == ["torch", "compile"] else ())
    for name, attributes in tree.written.attributes.items():
        found.update(_shown_by_attributes(name, attributes, analysis))
    for name in {keyword.arg or "" for keyword in tree.of_type(ast.keyword)}:
        found.update((THREADS,) if name in _SETS_THREADS else _named(name))
    texts = {node.value for node in tree.of_type(ast.Constant) if isinstance(node.value, str)}
    for text in (text for text in texts if len(text) <= _LONGEST_NAME):
        found.update(_named(text.lstrip("-").replace("-", "_")))
        found.update((THREADS,) if text in _SETS_THREADS else ())
        found.update((CUDA,) if _ON_CUDA.match(text) else ())
        if "-v" in text:
            found.update(_observed(text))
    if VECTORS in found and any(word in tree.text for word in _RENDERED):
        found.add(OTHER_OBSERVATIONS)
    if any(isinstance(call.func, ast.Attribute) for call in tree.written.calls.get("cuda", ())):
        found.add(CUDA)
    if META in texts and any(_is_meta_device(node, tree) for node in tree.of_type(ast.Constant)):
        found.add(META)
    if "pin_memory" in tree.text and _pins(analysis):
        found.add(PINS)
    if "set_default_" in tree.text and _moves_default(tree):
        found.add(DEFAULT_DEVICE)
    if any(mode in tree.text for mode in GRAD_MODES) and _sets_grad_mode(tree):
        found.add(GRAD_MODE)
    if "device" in tree.text and enters_device(tree, analysis.types.type_of):
        found.add(ENTERS_DEVICE)
    if not vocabulary.LARGE_LAYERS.isdisjoint(tree.written.attributes):
        found.add(LARGE_LAYERS)
    if ("backward" in tree.written.calls and _unrolls(tree)) or _CONJUGATE in tree.text:
        found.add(UNROLLED)
    if "out=" in tree.text.replace(" ", "") and _gives_out(analysis):
        found.add(GIVES_OUT)
    if any(word in tree.text for word in vocabulary.OF_TOKENS):
        found.add(TOKENS)
    return frozenset(found)


def _sets_grad_mode(tree: SyntaxIndex) -> bool:
    """Whether a file calls or hands on `set_grad_enabled` other than to decorate a function or enter a `with`
    block, may enter the context of an autograd mode by hand, or yields from a generator within it.
    """
    if any(name in tree.written.attributes for name in _ENTERED_BY_HAND):
        return True
    setters = {name for name in _SET_GRAD_MODE if name in tree.text}
    texts = (
        {node.value for node in tree.of_type(ast.Constant) if isinstance(node.value, str)} if setters else ()
    )
    if not setters.isdisjoint(texts) or any(map(_is_renamed, tree.scopes.values())):
        return True
    for name in GRAD_MODES | setters:
        for node in (*tree.written.attributes.get(name, ()), *tree.variables.named(name)):
            block = _entered_with(node, tree)
            if name in setters if block is None else _is_left_by_generator(block, tree):
                return True
    return False


def _is_renamed(scope: Scope) -> bool:
    """Whether an import gives `set_grad_enabled` another name."""
    return any(
        binding.target.rpartition(".")[2] in _SET_GRAD_MODE and name not in _SET_GRAD_MODE
        for name, bindings in scope.bindings.items()
        for binding in bindings
    )


def _entered_with(mode: ast.AST, tree: SyntaxIndex) -> ast.AST | None:
    """Return the `with` statement or the function for which a name of an autograd mode is called."""
    around = tree.parents.get(mode)
    while isinstance(around, (ast.Call, ast.IfExp)):
        mode, around = around, tree.parents.get(around)
    if isinstance(around, ast.withitem):
        return tree.parents.get(around)
    return around if isinstance(around, FUNCTIONS) and mode in around.decorator_list else None


def _is_left_by_generator(block: ast.AST, tree: SyntaxIndex) -> bool:
    """Whether the code that iterates over a generator runs while a `with` block in it is entered."""
    function = tree.function(block)
    if isinstance(block, FUNCTIONS) or not isinstance(function, FUNCTIONS):
        return False
    if any(last_name(decorator) in _MAKES_CONTEXT for decorator in function.decorator_list):
        return False
    return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in descendants(block))


def _gives_out(analysis: FileAnalysis) -> bool:
    """Whether a file passes `out=` to a function of torch or to a method that may be one of a tensor."""
    for keyword in analysis.syntax.of_type(ast.keyword):
        call = analysis.syntax.parents.get(keyword) if keyword.arg == "out" else None
        if not isinstance(call, ast.Call):
            continue
        qualified = analysis.names.qualified(call.func)
        if qualified is not None and qualified.startswith("torch."):
            return True
        if qualified is None and isinstance(call.func, ast.Attribute):
            of_array = analysis.types.type_of(call.func.value).tag is TypeTag.NDARRAY
            if not of_array and models.method_fact(TypeTag.TENSOR, call.func.attr) is not None:
                return True
    return False


def _is_meta_device(node: ast.Constant, tree: SyntaxIndex) -> bool:
    """Whether a text may name the device `meta`: it is no key (`data["meta"]`)."""
    if node.value != META:
        return False
    parent = tree.parents.get(node)
    if isinstance(parent, ast.Dict):
        return node in parent.values
    if isinstance(parent, ast.Call) and node in parent.args[:1]:
        return last_name(parent.func) not in ("get", "pop", "getattr")
    return not isinstance(parent, (ast.Subscript, ast.Compare))


def _unrolls(tree: SyntaxIndex) -> bool:
    """Whether a function that differentiates a loss runs a network before in each iteration of a loop over
    numbers, as learners do that unroll a recurrent network over time.
    """
    learning: dict[object, list[ast.AST]] = {}
    for call in tree.written.calls_of(("backward",)):
        learning.setdefault(tree.function(call), []).append(call)
    for loop in tree.of_type(ast.For):
        losses = learning.get(tree.function(loop), ())
        if not losses or last_name(getattr(loop.iter, "func", loop.iter)) != "range":
            continue
        if _FEW.search(ast.unparse(loop.iter)) or any(is_in(loss, loop) for loss in losses):
            continue
        if any(isinstance(node, ast.Call) and _runs_network(node) for node in descendants(loop)):
            return True
    return False


def _runs_network(call: ast.Call) -> bool:
    match call.func:
        case ast.Attribute(attr="forward"):
            return True
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return bool(_NETWORK.search(name))
    return False


def _moves_default(tree: SyntaxIndex) -> bool:
    """Whether a file sets the default device, or a default tensor type that may not be one of the host."""
    if "set_default_device" in tree.text:
        return True
    for call in tree.written.calls_of(("set_default_tensor_type",)):
        match call.args:
            case [ast.Constant(value=str(path))]:
                pass
            case [ast.Name() | ast.Attribute() as given]:
                path = ast.unparse(given)
            case _:
                return True
        if not _HOST_TYPE.match(path):
            return True
    return False


def _pins(analysis: FileAnalysis) -> bool:
    """Whether a file names pinned memory, other than to refuse it."""
    tree = analysis.syntax
    if "pin_memory" in tree.written.attributes:
        return True
    given = (keyword.value for keyword in tree.of_type(ast.keyword) if keyword.arg == "pin_memory")
    if any(not isinstance(value, ast.Constant) or value.value for value in given):
        return True
    return any(node.value == "pin_memory" for node in tree.of_type(ast.Constant))


def observes_vectors(sets: Callable[[str], bool]) -> bool:
    """Whether all environments that a program names observe a few numbers, given which of the words above its
    files say.
    """
    return sets(VECTORS) and not sets(OTHER_OBSERVATIONS) and not sets(SIMULATES)


def _observed(text: str) -> tuple[str, ...]:
    """Return what a text says about observations if it is the id of an environment."""
    if not environment_ids.is_id(text):
        return ()
    frames = environment_ids.observes_frames(text)
    if frames is None:
        return (OTHER_OBSERVATIONS,)
    return (FRAMES, OTHER_OBSERVATIONS) if frames else (VECTORS,)


def _shown_by_attributes(name: str, attributes: list[ast.Attribute], analysis: FileAnalysis) -> Iterator[str]:
    """Yield the settings that attributes of one name show."""
    if name == "compile":
        qualified = {analysis.names.qualified(attribute) or "" for attribute in attributes}
        if not all(path.startswith(_NO_COMPILER) for path in qualified):
            yield COMPILED
        if "torch.compile" in qualified:
            yield DYNAMO
    elif name == "precision":  # `args.precision`, but not the `precision=` of printed numbers
        yield PRECISION
    else:
        yield from _named(name)
    if name in _SETS_THREADS:
        yield THREADS
    if name in _CUDA_QUESTIONS and any(
        analysis.names.qualified(attribute) in _TESTS_FOR_CUDA for attribute in attributes
    ):
        yield CUDA


@cache
def _named(name: str) -> tuple[str, ...]:
    if name in _COMPILES:
        return (COMPILED,)
    return (PRECISION,) if _LOWER.search(name) else ()
