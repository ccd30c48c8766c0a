"""A sum tree of priorities that Python code descends or updates once for each sampled transition.

## What it does
Flags the loops of a prioritised replay buffer that process one transition after the other in a sum tree:

- the loop that looks up transitions, descending from the root to a leaf each time;
- the loop that sets priorities, recomputing all sums from a leaf to the root each time. The same loop often
  updates a tree of minima, too; the finding is at the first tree.

The tree is kept in an array, a tensor, a list or a dict, also as a Fenwick tree, or consists of objects that
refer to one another (`node.left`). The loop may call the tree's method, which may be iterative or recursive
and may be in another file, or contain the walk itself. It may be that of a generator, which yields one sample
after the other, or `map`.

The rule does not flag:

- methods that process the whole batch at once, and compiled ones (`@njit`);
- loops that change the tree between two draws;
- one transition added per step.

## Why is it slow
Each level indexes an array and compares or adds the results. Both create an object, which takes longer than
the arithmetic (and much longer for tensors). A batch of 64 from a buffer of 100,000 visits about a thousand
levels in total, and as many again to update each tree. All walks of a batch have the same depth, so one
vectorised operation per level can advance all of them: it reads the left sums of all nodes, compares, and
selects.

Array operations have a fixed cost, so small batches (about 20 samples or fewer) gain nothing. Items of a list
are read faster than those of an array, so the gain is smaller for lists.

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
from typing import Literal

from rlint.rule import (
    LOOPS,
    AnyLoop,
    CodeExtent,
    EffectKind,
    Finding,
    Heat,
    Rule,
    SemanticModel,
    Type,
    TypeTag,
    descendants,
    last_name,
    regex,
    same_code,
)

_LINKED = "linked objects"
_IN_ARRAY = ("", "Keep the sums in an array, in which the children of node `n` are `2 * n` and `2 * n + 1`. ")
_DESCEND = (
    "Descend for all samples of the batch together, one level at a time: index the sums with an array of "
    "nodes, compare with an array of target sums, and select with `np.where`"
)
_UPDATE = (
    "Update for all samples of the batch together: set the leaves with an array of indices, then recompute "
    "the `np.unique` parents of each level from their two children"
)
_STORAGES = {
    TypeTag.NDARRAY: "an array",
    TypeTag.TENSOR: "a tensor",
    TypeTag.LIST: "a list",
    TypeTag.DICT: "a dict",
    TypeTag.INSTANCE: _LINKED,
}
_ADDED = "each row is added once: one walk for each collected step"
_OF_PRIORITIES = regex(r"priorit|prob|weight|error|tree|sum|min|max")
"""Names of what else the loop over new priorities may store."""
_MAY_LEAVE_IT = EffectKind.READS | EffectKind.UNKNOWN | EffectKind.INDIRECT


class PythonSumTree(Rule):
    """RL116."""

    code = "RL116"
    name = "python-sum-tree"
    claims = ("time",)
    heat = Heat.WARM
    one_change_mends = CodeExtent.FILE
    visits = (ast.Call, ast.For, ast.While, ast.Subscript)
    triggers = ("for", "while")

    def concerns(self, model: SemanticModel) -> bool:
        """Whether a file descends or updates a sum tree at all."""
        return model.effects.has_sum_trees()

    def size_of(self, node: ast.AST, model: SemanticModel) -> int | None:
        """Return the number of samples of the loop around."""
        return model.sizes.passes_around(node)

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a descent that is made once per sample, and for the first such update."""
        assert isinstance(node, (ast.Call, ast.Subscript, *LOOPS))
        loops = model.frequency.loops(node)
        if is_map(node, model):
            assert isinstance(node, ast.Call)
            yield from self.check_map(node, model)
            return
        if not loops or not model.once(is_per_sample, loops[0]):
            return
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Store):
            return
        where = (
            None if isinstance(node, ast.Subscript) else storage(model.effects.sum_trees(node, "walks_down"))
        )
        if where is not None:
            if not changes_the_tree(loops[0], node, model):
                yield self.descent(node, where, model)
            return
        where = storage(model.effects.sum_trees(node, "walks_up"))
        if where is not None and model.once(first_update, loops[0]) is node:
            yield self.update(node, where, model)

    def check_map(self, node: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for `map(tree.find, values)`."""
        if (where := storage(model.effects.sum_trees(node, "walks_down"))) is not None:
            yield self.descent(node, where, model)
        elif (where := storage(model.effects.sum_trees(node, "walks_up"))) is not None:
            yield self.update(node, where, model)

    def descent(self, node: ast.Call | ast.Subscript | AnyLoop, where: str, model: SemanticModel) -> Finding:
        """Return the finding for a descent."""
        return self.finding(
            model,
            node,
            f"{shown(node, model)} descends a sum tree in {where} node by node, sample by sample",
            advice=_IN_ARRAY[where == _LINKED] + _DESCEND,
            related=[(place, "the descent") for place in walks(node, "walks_down", model)],
        )

    def update(self, node: ast.Call | ast.Subscript | AnyLoop, where: str, model: SemanticModel) -> Finding:
        """Return the finding for an update."""
        return self.finding(
            model,
            node,
            f"{shown(node, model)} updates a sum tree in {where} node by node, sample by sample",
            advice=_IN_ARRAY[where == _LINKED] + _UPDATE,
            related=[(place, "the update") for place in walks(node, "walks_up", model)],
            minor=_ADDED if adds_rows(node, model) else None,
        )


def walks(
    node: ast.Call | ast.Subscript | AnyLoop, way: Literal["walks_down", "walks_up"], model: SemanticModel
) -> list[ast.AST]:
    """Return the places of this file that walk the tree for a call; none for a loop that is the walk."""
    return [] if isinstance(node, AnyLoop) else model.effects.sum_tree_walks(node, way)


def is_map(node: ast.AST, model: SemanticModel) -> bool:
    """Whether a node calls a function for each item: `map(tree.find, values)`."""
    if not isinstance(node, ast.Call) or len(node.args) < 2:
        return False
    return model.names.qualified(node.func) == "builtins.map"


def shown(node: ast.Call | ast.Subscript | AnyLoop, model: SemanticModel) -> str:
    """Return the words for a node at the beginning of a message."""
    match node:
        case ast.Call(func=function):
            called = node.args[0] if is_map(node, model) else function
            return f"`{model.source.text(called)}`"
        case ast.Subscript():
            return f"Assigning to `{model.source.text(node)}`"
    return "This loop"


def storage(types: list[Type]) -> str | None:
    """Return the words for the storage of sum trees; None if it is unknown or differs."""
    stored = {None if kind.of and kind.tag is TypeTag.INSTANCE else _STORAGES.get(kind.tag) for kind in types}
    return stored.pop() if len(stored) == 1 else None


def first_update(loop: AnyLoop, model: SemanticModel) -> ast.AST | None:
    """Return the first node directly in a loop that updates a sum tree; None if the loop also descends one,
    which the updates may have changed.
    """
    first: ast.AST | None = None
    for node in descendants(loop):
        if not isinstance(node, (ast.Call, ast.Subscript, *LOOPS)) or node is loop:
            continue
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Store):
            continue
        if not isinstance(node, ast.Subscript) and model.effects.sum_trees(node, "walks_down"):
            return None
        if not model.effects.sum_trees(node, "walks_up") or model.frequency.loops(node)[:1] != [loop]:
            continue
        if first is None or _position(node) < _position(first):
            first = node
    return first


def adds_rows(update: ast.AST, model: SemanticModel) -> bool:
    """Whether the loop around an update also stores rows, as it adds them to the buffer."""
    loops = model.frequency.loops(update)
    for node in descendants(loops[0]) if loops else ():
        match node:
            case ast.Assign(targets=[ast.Subscript(value=ast.Attribute(attr=rows)) as stored]):
                if stored is not update and not _OF_PRIORITIES.search(rows.lower()):
                    return True
            case ast.Call(func=ast.Attribute(value=ast.Attribute() as rows, attr="append"), args=[_]):
                if node is not update and not _OF_PRIORITIES.search((last_name(rows) or "").lower()):
                    return True
    return False


def is_per_sample(loop: AnyLoop, model: SemanticModel) -> bool:
    """Whether a loop as a whole runs repeatedly, rather than being the training loop, and has more than a few
    constant iterations; also the loop of a generator, which the code that collects its items drives.
    """
    if model.analysis.loops.is_bounded(loop):
        return False
    level = model.frequency.heat_of(loop).level
    if level is Heat.HOT or any(isinstance(node, ast.Yield) for node in descendants(loop)):
        return True
    return level is Heat.WARM and not model.frequency.drivers(loop, iteration=True)


def changes_the_tree(loop: AnyLoop, walk: ast.AST, model: SemanticModel) -> bool:
    """Whether the tree may differ for the next sample: whether the loop calls another method of the same
    object that surely modifies something, or writes to an object that outlives the function. A method that
    calls the operation of its tree (`self.operation(left, right)`) may do anything, but only combines values.
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
                    and (
                        model.effects.call_effect(node).kind & ~_MAY_LEAVE_IT
                        or model.effects.sum_trees(node, "walks_up")
                    )
                ):
                    return True
            case ast.Subscript(value=ast.Attribute(), ctx=ast.Store() | ast.Del()):
                return True
    return False


def _position(node: ast.AST) -> tuple[int, int]:
    return (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))


def _owner(walk: ast.AST) -> ast.expr | None:
    """Return the object whose method descends; `self` for a loop."""
    match walk:
        case ast.Call(func=ast.Attribute(value=owner)):
            return owner
        case ast.For() | ast.While():
            return ast.Name("self", ast.Load())
    return None
