"""Classes whose constructors a fix changes together with other methods.

Objects created before the fix lack the attributes that the changed constructor sets, so their calls are
replayed from the constructor on.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rlint.prove.plan.changed_code import FUNCTIONS, ChangedCode, Level, node_at
from rlint.prove.plan.regions import Region, RegionUse, statements

_CONSTRUCTOR = "__init__"


@dataclass(frozen=True)
class MadeObjects:
    """Objects of one class, and the changed methods of it, by the numbers of their regions."""

    path: str
    owner: str
    """The qualified name of the class."""
    instance: str
    """The constructor's name for its object."""
    constructor: int
    regions: Mapping[int, Region]
    own: frozenset[str]
    """Attributes that the changed statements set, before or after the fix: only calls of the changed methods
    show how they are used.
    """
    rebuilt: frozenset[str]
    """Those of them that the constructor sets differently, so that their values are not comparable."""


def made_objects(
    path: str,
    changes: Sequence[ChangedCode],
    uses: Iterable[RegionUse],
    before: ast.Module,
    after: ast.Module,
) -> Iterator[MadeObjects]:
    """Yield the classes whose constructor and other methods are both changed."""
    by_class: dict[tuple[tuple[str, int], ...], list[RegionUse]] = {}
    for use in uses:
        steps = use.region.scope[:-1]
        if use.region.scope and isinstance(node_at(before, steps), ast.ClassDef):
            known = by_class.setdefault(steps, [])
            if all(use.number != one.number for one in known):
                known.append(use)
    for steps, methods in by_class.items():
        makers = [one for one in methods if _name(before, one.region) == _CONSTRUCTOR]
        if len(makers) != 1 or len(methods) < 2:
            continue
        (maker,) = makers
        instance = _instance(before, maker.region)
        if not instance:
            continue
        own: set[str] = set()
        rebuilt: set[str] = set()
        for change in changes:
            level = change.levels[-1]
            if level.before.steps[: len(steps)] != steps:
                continue
            found = _set_by(level, before, after)
            own |= found
            if level.before.steps[: len(maker.region.scope)] == maker.region.scope:
                rebuilt |= found
        if rebuilt:
            owner = ".".join(maker.region.where.split(".")[:-1])
            regions = {one.number: one.region for one in methods}
            yield MadeObjects(
                path, owner, instance, maker.number, regions, frozenset(own), frozenset(rebuilt)
            )


def _name(tree: ast.Module, region: Region) -> str:
    node = node_at(tree, region.scope)
    return node.name if isinstance(node, FUNCTIONS) else ""


def _instance(tree: ast.Module, region: Region) -> str:
    node = node_at(tree, region.scope)
    assert isinstance(node, FUNCTIONS)
    arguments = [*node.args.posonlyargs, *node.args.args]
    return arguments[0].arg if arguments else ""


def _set_by(level: Level, before: ast.Module, after: ast.Module) -> set[str]:
    """Return the attributes of objects that changed statements assign to."""
    ours, counterpart = (
        {ast.dump(one): one for one in statements(tree, place)}
        for tree, place in ((before, level.before), (after, level.after))
    )
    found = [(ours | counterpart)[text] for text in ours.keys() ^ counterpart.keys()]
    return {
        node.attr
        for statement in found
        for node in ast.walk(statement)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
    }
