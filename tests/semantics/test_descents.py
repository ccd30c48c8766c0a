"""Descents in a sum tree: in loops, by recursion, through other functions and files."""

from __future__ import annotations

import ast

import pytest

from project_builder import build, expression, find, model_of
from rlint.models.value_type import TypeTag
from rlint.semantics.dataflow.sum_trees.sum_tree_uses import SumTreeUses

LOOP = """
import numpy as np

class Tree:
    def __init__(self, n):
        self.n = n
        self.sums = np.zeros(2 * n)

    def find(self, v):
        i = 1
        while i < self.n:
            STEP
        return i

    def wrapped(self, v):
        return self.find(v)

    def many(self, vs):
        return [self.find(v) for v in vs]

def f(tree: Tree, v):
    tree.find(v)
    tree.wrapped(v)
    tree.many(v)
"""
STEPS = [
    """l = 2 * i
            if v < self.sums[l]: i = l
            else:
                v -= self.sums[l]
                i = l + 1""",
    """i *= 2
            if v >= self.sums[i]:
                v = v - self.sums[i]
                i += 1""",
    """i <<= 1
            b = self.sums[i]
            if b <= v:
                v -= b
                i += 1""",
    """if self.sums[i << 1] > v: i = i << 1
            else:
                v -= self.sums[i << 1]
                i = (i << 1) + 1""",
]


@pytest.mark.parametrize("step", STEPS)
def test_loops_walk_down(step: str) -> None:
    """Any numbering of the children is recognised; a call of the search is a descent, a loop over searches is
    not.
    """
    model = model_of(LOOP.replace("STEP", step))
    [loop] = model.syntax.of_type(ast.While)
    assert [kind.tag for kind in model.effects.sum_trees(loop, "walks_down")] == [TypeTag.NDARRAY]
    for call, count in (("tree.find(v)", 1), ("tree.wrapped(v)", 1), ("tree.many(v)", 0)):
        node = expression(model, call)
        assert isinstance(node, ast.Call)
        assert [kind.tag for kind in model.effects.sum_trees(node, "walks_down")] == [TypeTag.NDARRAY] * count


@pytest.mark.parametrize(
    "step",
    [
        "i *= 2\n            if v >= self.sums[i]:\n                i += 1",
        "i += 2\n            if v >= self.sums[i]:\n                v -= self.sums[i]",
        "i *= 2\n            if v >= self.sums[i]:\n                v -= self.n",
    ],
)
def test_other_searches_do_not(step: str) -> None:
    """A search for a larger value, a walk along a row, a budget."""
    model = model_of(LOOP.replace("STEP", step))
    [loop] = model.syntax.of_type(ast.While)
    assert model.effects.sum_trees(loop, "walks_down") == []
    assert not SumTreeUses(model.index).any


def test_recursion_is_seen_from_another_file() -> None:
    """A function that calls itself with the target sum, or with the rest of it."""
    tree = """
        import numpy
        class Tree:
            def __init__(self, n):
                self.tree = numpy.zeros(2 * n - 1)
            def _retrieve(self, i, s):
                left = 2 * i + 1
                if left >= len(self.tree):
                    return i
                if s <= self.tree[left]:
                    return self._retrieve(left, s)
                else:
                    return self._retrieve(left + 1, s - self.tree[left])
            def get(self, s):
                i = self._retrieve(0, s)
                return i, self.tree[i]
        """
    model = build({"sums.py": tree, "use.py": "from sums import Tree\ntree = Tree(4)\ntree.get(1.0)\n"})[
        "use.py"
    ]
    node = find(model, "tree.get(1.0)")
    call = node.value if isinstance(node, ast.Expr) else node
    assert isinstance(call, ast.Call)
    assert [kind.tag for kind in model.effects.sum_trees(call, "walks_down")] == [TypeTag.NDARRAY]


LINKED = """
class Node:
    def __init__(self, total, left=None, right=None, parent=None):
        self.total, self.left, self.right, self.parent = total, left, right, parent

    def pick(self, v):
        if self.left is None:
            return self
        return self.left.pick(v) if v < self.left.total else self.right.pick(v - self.left.total)

class Tree:
    def __init__(self, root: Node):
        self.root = root

    def step(self, v):
        node = self.root
        while node.left is not None:
            if v <= node.left.total:
                node = node.left
            else:
                v -= node.left.total
                node = node.right
        return node


    def conditional(self, v):
        node = self.root
        while node.left:
            lower = node.left.total
            goes_right = v > lower
            node = node.right if goes_right else node.left
            v = v - lower if goes_right else v
        return node

    def chain(self, v):
        node = self.root
        while node.right:
            if v <= node.right.total:
                break
            v -= node.right.total
            node = node.right
        return node

    def raised(self, node, change):
        while node is not None:
            node.total += change
            node = node.parent

    def summed(self, node):
        while node.parent:
            node = node.parent
            node.total = node.left.total + node.right.total

    def written(self, node, v, path):
        if path:
            if path.pop():
                self.written(node.left, v, path)
            else:
                self.written(node.right, v, path)
            node.total = node.left.total + node.right.total
        else:
            node.total = v

    def rebuilt(self, node):
        if node.left:
            self.rebuilt(node.left)
            self.rebuilt(node.right)
            node.total = node.left.total + node.right.total

    def visited(self, node, change):
        while node is not None:
            node.visits += change
            node = node.parent

def f(tree: Tree, node: Node, v, path):
    CALL
"""


@pytest.mark.parametrize("call", ["node.pick(v)", "tree.step(v)", "tree.conditional(v)"])
def test_linked_nodes_are_descended(call: str) -> None:
    """The children are attributes of the node; the sums are stored in no container."""
    model = model_of(LINKED.replace("CALL", call))
    node = expression(model, call)
    assert isinstance(node, ast.Call)
    assert [kind.tag for kind in model.effects.sum_trees(node, "walks_down")] == [TypeTag.INSTANCE]


@pytest.mark.parametrize("call", ["tree.raised(node, v)", "tree.summed(node)", "tree.written(node, v, path)"])
def test_linked_nodes_are_updated(call: str) -> None:
    """From a node to its parents, or on the way back from the leaf."""
    model = model_of(LINKED.replace("CALL", call))
    node = expression(model, call)
    assert isinstance(node, ast.Call)
    assert [kind.tag for kind in model.effects.sum_trees(node, "walks_up")] == [TypeTag.INSTANCE]


@pytest.mark.parametrize("call", ["tree.chain(v)", "tree.rebuilt(node)", "tree.visited(node, v)"])
def test_other_linked_objects_are_no_sum_trees(call: str) -> None:
    """A list, a tree that is summed as a whole, and a count of visits."""
    model = model_of(LINKED.replace("CALL", call))
    node = expression(model, call)
    assert isinstance(node, ast.Call)
    assert model.effects.sum_trees(node, "walks_down") == []
    assert model.effects.sum_trees(node, "walks_up") == []
