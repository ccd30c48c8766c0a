"""A sum tree of priorities that Python code descends once for each sampled transition.

## What it does
Flags the loop of a prioritised replay buffer that looks up one transition after the other in a sum tree,
descending from the root to a leaf each time. The tree is kept in an array or a tensor. The loop may call
the tree's search method, which may be iterative or recursive and may be in another file, or contain the
search itself.

The rule does not flag:

- trees kept in Python lists, whose items are read so quickly that vectorisation only pays off for large
  batches;
- searches that process the whole batch at once, and compiled searches (`@njit`);
- loops that change the tree between two draws.

## Why is it slow
Each level indexes an array and compares the result. Both create an object, which takes longer than the
arithmetic (and much longer for tensors). A batch of 64 from a buffer of 100,000 visits about a thousand
levels in total. All searches of a batch have the same depth, so one vectorised operation per level can
advance all of them: it reads the left sums of all nodes, compares, and selects.

Array operations have a fixed cost, so small batches (about 20 samples or fewer) gain nothing.

## Example
```python
import numpy as np


class PrioritizedReplay:
    def __init__(self, capacity: int) -> None:
        self.capacity = capacity  # a power of two
        self.sums = np.zeros(2 * capacity)

    def find(self, wanted: float) -> int:
        node = 1
        while node < self.capacity:
            node = 2 * node
            if wanted >= self.sums[node]:
                wanted -= self.sums[node]
                node += 1
        return node - self.capacity

    def sample(self, batch_size: int) -> np.ndarray:
        wanted = np.random.uniform(0.0, self.sums[1], size=batch_size)
        return np.array([self.find(value) for value in wanted])
```
Use instead (by hand):
```python
import numpy as np


class PrioritizedReplay:
    def __init__(self, capacity: int) -> None:
        self.capacity = capacity  # a power of two
        self.sums = np.zeros(2 * capacity)

    def find(self, wanted: np.ndarray) -> np.ndarray:
        nodes = np.ones(len(wanted), dtype=np.int64)
        for _ in range(self.capacity.bit_length() - 1):
            nodes = 2 * nodes
            below = self.sums[nodes]
            right = wanted >= below
            wanted = np.where(right, wanted - below, wanted)
            nodes += right
        return nodes - self.capacity

    def sample(self, batch_size: int) -> np.ndarray:
        wanted = np.random.uniform(0.0, self.sums[1], size=batch_size)
        return self.find(wanted)
```

## Fix safety
There is no fix: the search, its callers and often the layout of the tree change together. With a capacity
that is a power of two, all leaves are on one level, so the comparisons and the sampled transitions are the
same.

The new priorities of a batch can be written level by level, too: set the leaves, then for the `np.unique`
parents of each level the sum of the two children.

## References
- https://arxiv.org/abs/1511.05952
- https://numpy.org/doc/stable/reference/generated/numpy.where.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import LOOPS, AnyLoop, Finding, Heat, Rule, SemanticModel, TypeTag, descendants, same_code

_STORAGES = {TypeTag.NDARRAY: "an array", TypeTag.TENSOR: "a tensor"}
"""Storages in which reading one sum creates an expensive object."""


class PythonSumTree(Rule):
    """RL116."""

    code = "RL116"
    name = "python-sum-tree"
    claims = ("time",)
    heat = Heat.HOT
    visits = (ast.Call, ast.For, ast.While)
    triggers = ("for", "while")

    def concerns(self, model: SemanticModel) -> bool:
        """Whether a file descends a sum tree at all."""
        return model.effects.has_sum_trees()

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a descent that is made once per sample."""
        assert isinstance(node, (ast.Call, *LOOPS))
        loops = model.frequency.loops(node)
        if not loops or not model.once(is_per_sample, loops[0]):
            return
        stored = {_STORAGES.get(kind.tag) for kind in model.effects.sum_tree_descents(node)}
        if len(stored) != 1:
            return
        where = stored.pop()
        if where is None or changes_the_tree(loops[0], node, model):
            return
        shown = f"`{model.source.text(node.func)}`" if isinstance(node, ast.Call) else "This loop"
        yield self.finding(
            model,
            node,
            f"{shown} descends a sum tree in {where} node by node, sample by sample",
            advice="Descend for all samples of the batch together, one level at a time: index the sums with "
            "an array of nodes, compare with an array of target sums, and select with `np.where`",
        )


def is_per_sample(loop: AnyLoop, model: SemanticModel) -> bool:
    """Whether a loop as a whole runs repeatedly, rather than being the training loop, and has more than a few
    constant iterations.
    """
    return not model.analysis.loops.is_bounded(loop) and model.frequency.heat_of(loop).level is Heat.HOT


def changes_the_tree(loop: AnyLoop, walk: ast.AST, model: SemanticModel) -> bool:
    """Whether the tree may differ for the next sample: whether the loop calls another method of the same
    object that may modify it, or writes to an object that outlives the function.
    """
    inside = set(map(id, descendants(walk)))
    owner = _owner(walk)
    for node in descendants(loop):
        if id(node) in inside:
            continue
        match node:
            case ast.Call(func=ast.Attribute(value=receiver)):
                if (
                    owner is not None
                    and same_code(receiver, owner)
                    and not model.effects.call_effect(node).quiet
                ):
                    return True
            case ast.Subscript(value=ast.Attribute(), ctx=ast.Store() | ast.Del()):
                return True
    return False


def _owner(walk: ast.AST) -> ast.expr | None:
    """Return the object whose method descends; `self` for a loop."""
    match walk:
        case ast.Call(func=ast.Attribute(value=owner)):
            return owner
        case ast.For() | ast.While():
            return ast.Name("self", ast.Load())
    return None
