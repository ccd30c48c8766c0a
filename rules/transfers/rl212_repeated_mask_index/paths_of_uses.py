"""Which uses of a mask run together, and where its indices can be computed for all of them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from rlint.rule import LOOPS, SemanticModel, is_in
from rlint.rules.transfers.rl212_repeated_mask_index.mask_uses import MaskUse


def on_one_path(uses: list[MaskUse], start: ast.AST, model: SemanticModel) -> list[MaskUse]:
    """Return the largest set of uses that all run whenever a certain one of them runs."""
    branches = {use.place: branch_of(use.place, start, model) for use in uses}
    best: list[MaskUse] = []
    for branch in branches.values():
        together = [
            use
            for use in uses
            if branch[: len(branches[use.place])] == branches[use.place]
            and not is_left_before(use.place, branch[len(branches[use.place]) :])
        ]
        if sum(use.times for use in together) > sum(use.times for use in best):
            best = together
    return best


def is_left_before(place: ast.expr, branches: tuple[tuple[ast.AST, str], ...]) -> bool:
    """Whether a place comes after one of these branches, and the branch always returns or raises."""
    return any(
        isinstance(block := getattr(branch, part), list)
        and isinstance(block[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))
        and place.lineno > (branch.end_lineno or 0)
        for branch, part in branches
        if isinstance(branch, (ast.If, ast.Try))
    )


def branch_of(node: ast.AST, start: ast.AST, model: SemanticModel) -> tuple[tuple[ast.AST, str], ...]:
    """Return the branches around a place that are not around `start` as well, from outside."""
    found = []
    below = node
    for around in model.ancestors(node):
        if is_in(start, around):
            break
        part = part_with(below, around)
        if isinstance(around, (ast.If, ast.IfExp, ast.BoolOp, ast.Try, ast.Match)) and part != "test":
            found.append((around, part))
        below = around
    return tuple(reversed(found))


def part_with(child: ast.AST, around: ast.AST) -> str:
    """Return the name of the part of a node that contains a child; the test of a branch counts for all."""
    for name, part in ast.iter_fields(around):
        if part is child or (isinstance(part, list) and any(each is child for each in part)):
            return name
    return ""


def statement_before(places: Sequence[ast.expr], start: ast.AST, model: SemanticModel) -> ast.stmt | None:
    """Return the first statement in the innermost block around all places, outside of the loops that begin
    after `start`; None if that is a loop whose condition reads the mask.
    """
    chains = [
        [above for above in model.ancestors(place) if isinstance(above, ast.stmt)][::-1] for place in places
    ]
    shared = 0
    for level in zip(*chains, strict=False):
        if any(statement is not level[0] for statement in level):
            break
        shared += 1
    around = chains[0][: shared + 1]
    loops = [each for each in around if isinstance(each, LOOPS) and not is_in(start, each)]
    first = loops[0] if loops else around[-1]
    looks = isinstance(first, ast.While) and any(is_in(place, first.test) for place in places)
    return None if looks else first
