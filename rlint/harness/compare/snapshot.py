"""A copy of everything reachable from some objects at one moment, for later comparison."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from rlint.harness.compare.shared_memory import Extent
from rlint.harness.compare.texts import name_of
from rlint.harness.compare.values import SCALARS, Data, Scalar
from rlint.harness.program import WorkloadError

MOST_NODES = 500_000
"""Maximum number of objects examined in one run."""


class TooManyObjectsError(WorkloadError):
    """There are too many objects to compare."""


@dataclass(frozen=True, slots=True)
class ObjectFact:
    """A property of an object besides its contents: `kind` of difference, suffix of the path, value."""

    kind: str
    label: str
    value: object


@dataclass(slots=True, eq=False)
class Node:
    """A copy of one object. Its contents are copied; objects that it contains are separate nodes."""

    type: str
    mutable: bool = False
    """Whether it matters that two places refer to the same object."""
    facts: list[ObjectFact] = field(default_factory=list)
    data: Data | None = None
    items: list[Child] | None = None
    names: tuple[str, ...] = ()
    """Of the items, for a tuple whose items have names."""
    parts: dict[str, Child] = field(default_factory=dict)
    """By suffix of the path: `.weight`, `['obs']`, `{3}` (a member of a set)."""
    extent: Extent | None = None
    kind: str | None = None
    """The kind of difference in its data, if not "value"."""


Child: TypeAlias = Node | Scalar


@dataclass(slots=True, eq=False)
class Root:
    """An object at which the comparison starts. `kind` is that of any difference below, unless the difference
    determines it.
    """

    child: Child
    kind: str | None = None


class Walker:
    """Builds nodes. Nothing that it reads is modified, and no method of a user's class is called."""

    def __init__(self, limit: int = MOST_NODES) -> None:
        self._limit = limit
        self._count = 0
        self._nodes: dict[int, Node] = {}
        self._alive: list[Any] = []  # keeps them alive, so that no two of them have the same id
        self._pending: deque[tuple[Node, Any]] = deque()
        self.objects: list[tuple[Any, Node]] = []
        """Visited tensors, whose gradients may be needed, the nearest first."""

    def walk(self, value: Any) -> Child:
        """Return the node of a value, complete with everything reachable from it."""
        child = self.child(value)
        while self._pending:
            node, pending = self._pending.popleft()
            _fill(node, pending, self)
        return child

    def child(self, value: Any) -> Child:
        """Return the node of a value, which `walk` completes."""
        self.count(1)
        if type(value) in SCALARS:
            scalar: Scalar = value
            return scalar
        known = self._nodes.get(id(value))
        if known is None:
            known = self._nodes[id(value)] = Node(name_of(type(value)))
            self._alive.append(value)
            self._pending.append((known, value))
        return known

    def children(self, values: Any) -> list[Child]:
        """Return the nodes of several values."""
        values = list(values)
        self.count(len(values))
        return [value if type(value) in SCALARS else self.child(value) for value in values]

    def known(self, value: Any) -> Node | None:
        """Return the node of a visited object."""
        return self._nodes.get(id(value))

    def data_bytes(self) -> int:
        """Return how many bytes of arrays and tensors were copied."""
        return sum(getattr(node.data, "nbytes", 0) for node in self._nodes.values())

    def count(self, number: int) -> None:
        """Count objects. Raises TooManyObjectsError."""
        self._count += number
        if self._count > self._limit:
            raise TooManyObjectsError(
                f"the outcome contains more than {self._limit:,} objects; "
                "override `outcome` to return only what must be equal"
            )


Filler: TypeAlias = Callable[[Node, Any, Walker], bool]
"""Completes the node of an object if it knows its type; else returns False."""


def _fill(node: Node, value: Any, walker: Walker) -> None:
    for filler in _fillers():
        if filler(node, value, walker):
            return


def _fillers() -> tuple[Filler, ...]:
    """Return the fillers for the packages that the program has loaded, the most specific first."""
    from rlint.harness.compare import snapshot_arrays, snapshot_objects, snapshot_tensors

    torch = (snapshot_tensors.fill,) if hasattr(sys.modules.get("torch"), "Tensor") else ()
    numpy = (snapshot_arrays.fill,) if "numpy" in sys.modules else ()
    return (*torch, *numpy, *snapshot_objects.FILLERS)
