"""Gradients of a run's result, by all leaves that it depends on."""

from __future__ import annotations

import hashlib
import sys
import warnings
from dataclasses import dataclass, field
from typing import Any

from rlint.harness.compare.snapshot import MOST_NODES, Node, Walker
from rlint.harness.compare.snapshot_tensors import copied
from rlint.harness.compare.texts import settled
from rlint.harness.compare.values import Data, TextData, TorchData, bytes_of
from rlint.harness.program import WorkloadError

_SINGLY = 16
"""Maximum number of outputs whose gradients are computed one by one; more are computed together, which
detects as much.
"""
_SEED = 20_240_613  # of the weights, independent of all random streams


@dataclass(slots=True, eq=False)
class Leaf:
    """A leaf by which a gradient is computed. `node` is None if it is not among the compared objects; it is
    then identified by its shape, dtype and contents.
    """

    node: Node | None
    contents: str


@dataclass(slots=True, eq=False)
class Probe:
    """The gradients of some outputs, weighted by fixed random numbers, or the error."""

    outputs: list[Node]
    gradients: list[tuple[Leaf, Data | None]] = field(default_factory=list)
    """None if an output does not depend on the leaf."""
    error: str | None = None


def probe(walker: Walker) -> list[Probe]:
    """Compute gradients of the visited tensors. Graphs, gradients and random streams are not modified."""
    torch: Any = sys.modules.get("torch")
    outputs = [(tensor, node) for tensor, node in walker.objects if tensor.grad_fn is not None]
    if torch is None or not outputs:
        return []
    leaves = _leaves(walker, [tensor for tensor, _ in outputs])
    groups = [[one] for one in outputs[:_SINGLY]]
    if len(outputs) > _SINGLY:
        groups = [*groups[: _SINGLY - 1], outputs[_SINGLY - 1 :]]
    with warnings.catch_warnings(), torch.inference_mode(mode=False), torch.enable_grad():
        warnings.simplefilter("ignore")
        return [_probe(group, leaves, torch) for group in groups]


def _probe(group: list[tuple[Any, Node]], leaves: list[tuple[Any, Leaf]], torch: Any) -> Probe:
    tensors = [tensor for tensor, _ in group]
    found = Probe([node for _, node in group])
    try:
        gradients = torch.autograd.grad(
            tensors,
            [tensor for tensor, _ in leaves],
            grad_outputs=[_weights(tensor, torch) for tensor in tensors],
            retain_graph=True,
            allow_unused=True,
        )
    except Exception as error:  # noqa: BLE001 - hooks and functions of the program may raise anything
        found.error = settled(f"{type(error).__name__}: {error}")
        return found
    found.gradients = [
        (leaf, None if gradient is None else _data(gradient))
        for (_, leaf), gradient in zip(leaves, gradients, strict=True)
    ]
    return found


def _data(gradient: Any) -> Data:
    if gradient.device.type == "meta":
        return TextData(f"{gradient.dtype} {tuple(gradient.shape)}")
    return TorchData(copied(gradient))


def _weights(tensor: Any, torch: Any) -> Any:
    generator = torch.Generator().manual_seed(_SEED)
    dtype = torch.complex128 if tensor.is_complex() else torch.float64
    drawn = torch.randn(tensor.shape, generator=generator, dtype=dtype)
    return drawn.to(tensor.dtype).to(tensor.device)


def _leaves(walker: Walker, outputs: list[Any]) -> list[tuple[Any, Leaf]]:
    """Return the visited leaves, and those that occur only in the graphs."""
    torch: Any = sys.modules["torch"]
    found = {
        id(tensor): (tensor, Leaf(node, ""))
        for tensor, node in walker.objects
        if tensor.is_leaf and tensor.requires_grad
    }
    visited: dict[Any, None] = {}
    pending = [tensor.grad_fn for tensor in outputs]
    while pending:
        function = pending.pop()
        if function is None or function in visited:
            continue
        visited[function] = None
        if len(visited) > MOST_NODES:
            raise WorkloadError("a gradient graph is too large to compare; override `outcome` to detach it")
        tensor = getattr(function, "variable", None)
        if isinstance(tensor, torch.Tensor) and id(tensor) not in found:
            found[id(tensor)] = (tensor, Leaf(None, _contents(tensor)))
        pending.extend(following for following, _ in function.next_functions)
    return list(found.values())


def _contents(tensor: Any) -> str:
    plain = copied(tensor) if tensor.device.type != "meta" else None
    digest = "" if plain is None else hashlib.blake2b(bytes_of(plain), digest_size=8).hexdigest()
    return f"a leaf of shape {tuple(tensor.shape)}, {tensor.dtype}, {digest or tensor.device}"
