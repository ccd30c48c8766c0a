"""What a file already says about how torch computes: in which precision, compiled or not, on which device."""

from __future__ import annotations

import ast
import re
from functools import cache

from rlint.project.guards import last_name
from rlint.project.knowledge import Knowledge
from rlint.regex import regex

PRECISION = "precision"
"""Mixed or lower precision, or a library that sees to it."""
COMPILED = "compiled"
"""`torch.compile`, TorchScript, CUDA graphs, or a library with a compiler of its own."""
CUDA = "cuda"
"""A CUDA device is asked for, or chosen where there is one."""

THREADS = "threads"
"""The number of threads that torch computes with is set, here or for the process by its environment."""

_SETS_THREADS = frozenset(
    """set_num_threads OMP_NUM_THREADS MKL_NUM_THREADS threadpool_limits num_threads_per_worker
    torch_num_threads""".split()
)
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
_ASKS_FOR_CUDA = frozenset(
    {"torch.cuda.is_available", "torch.cuda.device_count", "torch.cuda.current_device"}
)


def speedups_of(knowledge: Knowledge) -> frozenset[str]:
    """The words above that hold for a file; configuration by name (`args.use_amp`, `"--fp16"`) counts."""
    tree = knowledge.tree
    found: set[str] = set()
    for scope in tree.scopes.values():
        for bindings in scope.bindings.values():
            for target in filter(None, (binding.target for binding in bindings)):
                parts = target.split(".")
                found.update(word for word, names in _LIBRARIES.items() if parts[0] in names)
                found.update((THREADS,) if parts[-1] in _SETS_THREADS else ())
                if parts[0] == "torch":
                    found.update((COMPILED,) if parts[-1] == "compile" else _named(parts[-1]))
    for attribute in tree.of_type(ast.Attribute):
        if attribute.attr == "compile":
            qualified = knowledge.names.qualified(attribute) or ""
            found.update(() if qualified.startswith(_NO_COMPILER) else (COMPILED,))
        else:  # `args.precision`, but not the `precision=` of numbers that are printed
            found.update((PRECISION,) if attribute.attr == "precision" else _named(attribute.attr))
        if attribute.attr in _SETS_THREADS:
            found.add(THREADS)
        if attribute.attr in ("is_available", "device_count", "current_device"):
            found.update((CUDA,) if knowledge.names.qualified(attribute) in _ASKS_FOR_CUDA else ())
    for keyword in tree.of_type(ast.keyword):
        found.update((THREADS,) if keyword.arg in _SETS_THREADS else _named(keyword.arg or ""))
    for constant in tree.of_type(ast.Constant):
        if isinstance(constant.value, str) and len(constant.value) < 40:  # a name, no text
            found.update(_named(constant.value.lstrip("-").replace("-", "_")))
            found.update((THREADS,) if constant.value in _SETS_THREADS else ())
            found.update((CUDA,) if _ON_CUDA.match(constant.value) else ())
    for call in tree.of_type(ast.Call):
        if isinstance(call.func, ast.Attribute) and last_name(call.func) == "cuda":
            found.add(CUDA)
    return frozenset(found)


@cache
def _named(name: str) -> tuple[str, ...]:
    if name in _COMPILES:
        return (COMPILED,)
    return (PRECISION,) if _LOWER.search(name) else ()
