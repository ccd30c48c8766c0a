"""Differences between two snapshots, as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from rlint.harness.compare.allowed_differences import AllowedDifferences
from rlint.harness.compare.shared_memory import Extent, pairs, relation
from rlint.harness.compare.snapshot import Child, Node, Root
from rlint.harness.compare.texts import count, shortened
from rlint.harness.compare.trail import Trail
from rlint.harness.compare.values import Data, Gap, described, same_scalars, scalar_gap

if TYPE_CHECKING:
    from rlint.harness.compare.gradients import Probe
    from rlint.harness.workload import Tolerance

_MISSING = "nothing"
_MOST = 200
"""Maximum number of differences of one case that are distinguished."""
_ENDING = frozenset({"type", "dtype", "shape"})
"""Kinds of facts whose difference makes comparing the contents pointless."""


@dataclass(frozen=True, slots=True)
class FoundDifference:
    """One difference. Differences of the same kind at the same `place` are reported as one."""

    kind: str
    path: str
    before: str
    after: str
    place: str
    """The path with `[*]` for positions in lists, and without positions in arrays."""


@dataclass(slots=True)
class Snapshot:
    """Observation at one moment."""

    roots: Mapping[str, Root]
    probes: Sequence[Probe] = ()


class _Pair(NamedTuple):
    before: Child
    after: Child
    at: int
    kind: str | None


@dataclass(slots=True)
class Comparison:
    """Compares two snapshots once."""

    allowances: AllowedDifferences = field(default_factory=AllowedDifferences)
    found: list[FoundDifference] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)
    """Not reported as differences: names with a leading underscore that only the second snapshot has."""
    _trail: Trail = field(default_factory=Trail)
    _pending: list[_Pair] = field(default_factory=list)
    _met: dict[tuple[Node, Node], int] = field(default_factory=dict)
    """Pairs of nodes, with the paths where they were first met."""
    _after_of: dict[Node, Node] = field(default_factory=dict)
    _before_of: dict[Node, Node] = field(default_factory=dict)
    _where_before: dict[Node, int] = field(default_factory=dict)
    _where_after: dict[Node, int] = field(default_factory=dict)

    def run(self, before: Snapshot, after: Snapshot) -> list[FoundDifference]:
        """Return all differences, in the order of the roots, without excused ones."""
        for name in (*before.roots, *(name for name in after.roots if name not in before.roots)):
            at = self._trail.start(name)
            if name in before.roots and name in after.roots:
                a, b = before.roots[name], after.roots[name]
                self._compare_all(_Pair(a.child, b.child, at, a.kind))
            else:
                ours = before.roots.get(name) or after.roots[name]
                if name not in before.roots and name.rpartition(".")[2].startswith("_"):
                    self.notes[f"the fix adds `{name}`"] = None
                    continue
                texts = (_shown_alone(ours.child), _MISSING)
                self._report(ours.kind or "value", at, texts if name in before.roots else texts[::-1])
        self._compare_memory()
        self._compare_gradients(before.probes, after.probes)
        return self.found

    # --- values ---

    def _compare_all(self, first: _Pair) -> None:
        self._pending.append(first)
        while self._pending and len(self.found) < _MOST:
            pair = self._pending.pop()
            below = len(self._pending)
            self._compare(pair)
            self._pending[below:] = reversed(self._pending[below:])  # the first one in order is reported next
        self._pending.clear()

    def _compare(self, pair: _Pair) -> None:
        before, after, at, kind = pair
        if not isinstance(before, Node) or not isinstance(after, Node):
            self._scalars(pair)
            return
        if before.type != after.type:
            self._report(kind or "type", at, (_shown_alone(before), _shown_alone(after)))
            return
        fresh = self._meet(before, after, at)
        if fresh is None:
            return
        for one, other in zip(before.facts, after.facts, strict=False):
            if one != other:
                texts = (_fact(one.value), _fact(other.value))
                self._report(kind or one.kind, self._trail.step(at, one.label), texts)
                if one.kind in _ENDING:
                    return
        if type(before.data) is type(after.data) and before.data is not None:
            self._data(kind or before.kind or "value", at, before.data, after.data)
        if fresh:
            self._items(before, after, at, kind)
            self._parts(before, after, at, kind)

    def _data(self, kind: str, at: int, before: Data, after: Data | None) -> None:
        if not before.same(after):
            tolerance = self.allowances.tolerance(self._trail.path(at))
            self._gap(kind, at, before.gap(after, tolerance), tolerance)

    def _scalars(self, pair: _Pair) -> None:
        before, after, at, kind = pair
        if isinstance(before, Node) or isinstance(after, Node) or type(before) is not type(after):
            self._report(kind or "type", at, (_shown_alone(before), _shown_alone(after)))
        elif not same_scalars(before, after):
            tolerance = self.allowances.tolerance(self._trail.path(at))
            self._gap(kind or "value", at, scalar_gap(before, after, tolerance), tolerance)

    def _meet(self, before: Node, after: Node, at: int) -> bool | None:
        """Whether two nodes are met as a pair for the first time; None: they were compared already.

        False if they were met, but paired with other nodes.
        """
        if (before, after) in self._met:
            return None
        if not (before.mutable or after.mutable):
            self._met[before, after] = at
            return True
        partner, other = self._after_of.get(before), self._before_of.get(after)
        self._met[before, after] = at
        if partner is None and other is None:
            self._after_of[before], self._before_of[after] = after, before
            self._where_before[before] = self._where_after[after] = at
            return True
        texts = (self._same_as(self._where_before.get(before)), self._same_as(self._where_after.get(after)))
        self._report("aliasing", at, texts)
        return False

    def _same_as(self, where: int | None) -> str:
        return "an object of its own" if where is None else f"the same object as `{self._trail.path(where)}`"

    def _items(self, before: Node, after: Node, at: int, kind: str | None) -> None:
        ours, counterpart = before.items, after.items
        if ours is None or counterpart is None:
            return
        if len(ours) != len(counterpart):
            self._report(kind or "length", at, (count(len(ours), "item"), count(len(counterpart), "item")))
            return
        listed = before.type != "tuple" and not before.names
        for index, (a, b) in enumerate(zip(ours, counterpart, strict=True)):
            if a is b or (type(a) is type(b) and not isinstance(a, Node) and same_scalars(a, b)):  # type: ignore[arg-type]
                continue
            label = f".{before.names[index]}" if before.names else f"[{index}]"
            self._pending.append(_Pair(a, b, self._trail.step(at, label, listed=listed), kind))

    def _parts(self, before: Node, after: Node, at: int, kind: str | None) -> None:
        for label in before.parts:
            if label in after.parts:
                below = "gradient" if label == ".grad" else kind
                a, b = before.parts[label], after.parts[label]
                if a is not b or isinstance(a, Node):
                    self._pending.append(_Pair(a, b, self._trail.step(at, label), below))
            else:
                self._one_sided(label, before.parts[label], at, kind, only_after=False)
        for label in after.parts:
            if label not in before.parts:
                if label.startswith("._"):
                    place = self._trail.pattern(self._trail.step(at, label))
                    self.notes[f"the fix adds the attribute `{place}`"] = None
                else:
                    self._one_sided(label, after.parts[label], at, kind, only_after=True)
        order = [[label for label in node.parts if label.startswith("[")] for node in (before, after)]
        if order[0] != order[1] and sorted(order[0]) == sorted(order[1]):
            first = next(i for i, (a, b) in enumerate(zip(*order, strict=True)) if a != b)
            texts = [", ".join(label[1:-1] for label in labels[first : first + 3]) for labels in order]
            more = "…, " if first else ""
            self._report(kind or "order", at, (more + texts[0], more + texts[1]))

    def _one_sided(self, label: str, child: Child, at: int, kind: str | None, *, only_after: bool) -> None:
        if label.startswith("{"):
            texts = (f"with {label[1:-1]}", f"without {label[1:-1]}")
        else:
            at, texts = self._trail.step(at, label), (_shown_alone(child), _MISSING)
        kind = kind or ("attribute" if label.startswith(".") else "value")
        self._report(kind, at, texts[::-1] if only_after else texts)

    # --- memory ---

    def _compare_memory(self) -> None:
        """Compare which arrays are views of one another, before and after."""
        ours: list[Extent] = []
        counterpart: list[Extent] = []
        places: list[int] = []
        for before, at in self._where_before.items():
            one, other = before.extent, self._after_of[before].extent
            if one is not None and other is not None:
                ours.append(one)
                counterpart.append(other)
                places.append(at)
        for early, late in sorted({*pairs(ours), *pairs(counterpart)}, key=lambda pair: pair[::-1]):
            path = self._trail.path(places[early])
            texts = [relation(extents[early], extents[late], path) for extents in (ours, counterpart)]
            if texts[0] != texts[1] and len(self.found) < _MOST:
                self._report("aliasing", places[late], (texts[0], texts[1]))

    # --- gradients ---

    def _compare_gradients(self, before: Sequence[Probe], after: Sequence[Probe]) -> None:
        counterpart = {
            tuple(self._before_of.get(node, node) for node in probe.outputs): probe for probe in after
        }
        for probe in before:
            other, at = counterpart.get(tuple(probe.outputs)), self._where_before.get(probe.outputs[0])
            if other is None or at is None:
                # A graph that exists only before or only after shows as a difference in `requires_grad`.
                if len(probe.outputs) > 1 and at is not None:
                    self.notes[f"gradients of `{self._trail.path(at)}` and others are not compared"] = None
                continue
            named = self._trail.step(at, " and others" if len(probe.outputs) > 1 else "")
            if probe.error is not None or other.error is not None:
                if probe.error != other.error:
                    texts = (probe.error or "no exception", other.error or "no exception")
                    self._report("gradient", self._trail.step(named, ".backward()"), texts)
                continue
            self._compare_by_leaf(probe, other, named)

    def _compare_by_leaf(self, before: Probe, after: Probe, at: int) -> None:
        ours = dict(self._by_leaf(before, {}))
        counterpart = dict(self._by_leaf(after, self._before_of))
        for key in (*ours, *(key for key in counterpart if key not in ours)):
            a, b = ours.get(key), counterpart.get(key)
            if a is None and b is None:
                continue
            step = self._trail.step(at, f".backward({self._leaf_name(key)})")
            if a is None or b is None:
                texts = ("a gradient", "no gradient")
                self._report("gradient", step, texts if b is None else texts[::-1])
            elif type(a) is type(b) and a.has_same_form(
                b
            ):  # otherwise another leaf differs, and is reported there
                self._data("gradient", step, a, b)

    def _leaf_name(self, key: Node | tuple[str, int]) -> str:
        if isinstance(key, tuple):
            return key[0]
        where = self._where_before.get(key)
        return "a leaf" if where is None else self._trail.path(where)

    def _by_leaf(
        self, probe: Probe, partners: Mapping[Node, Node]
    ) -> Iterator[tuple[Node | tuple[str, int], Data | None]]:
        seen: dict[str, int] = {}
        for leaf, gradient in probe.gradients:
            node = leaf.node if leaf.node is None else partners.get(leaf.node, leaf.node)
            if node is not None:
                yield node, gradient
            else:
                seen[leaf.contents] = seen.get(leaf.contents, 0) + 1
                yield (leaf.contents, seen[leaf.contents]), gradient

    # --- reports ---

    def _gap(self, kind: str, at: int, gap: Gap | None, tolerance: Tolerance | None) -> None:
        """Report values that are not the same, unless they are within tolerance."""
        if gap is not None:
            self._report(kind, at, (gap.before, gap.after), gap.index)
        elif tolerance is not None:
            self.allowances.needed(tolerance)

    def _report(self, kind: str, at: int, texts: tuple[str, str], index: str = "") -> None:
        path = self._trail.path(at) + index
        if not self.allowances.allows(path):
            self.found.append(FoundDifference(kind, path, texts[0], texts[1], self._trail.pattern(at)))


def _shown_alone(child: Child) -> str:
    """Return the text of a value whose counterpart has another type or is missing."""
    if not isinstance(child, Node):
        return described(child)
    facts = [f"{_fact(fact.value)}" for fact in child.facts if fact.kind in ("dtype", "shape")]
    return f"{child.type} ({', '.join(facts)})" if facts else child.type


def _fact(value: object) -> str:
    return shortened(value if isinstance(value, str) else repr(value))
