"""Code that a fix changes: the blocks around the changed statements, from the file inwards.

Two texts of a file are compared as syntax trees, so that layout and comments do not count.
"""

from __future__ import annotations

import ast
import copy
import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rlint.prove.plan.liveness import BlockStep

BLOCKS = ("body", "orelse", "finalbody")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
_SUPPORT = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, *_DEFINITIONS)


@dataclass(frozen=True)
class BlockPlace:
    """Statements `start:stop` of a block in one text; `steps` lead from the file to the block's statement."""

    steps: tuple[BlockStep, ...]
    block: str
    start: int
    stop: int


@dataclass(frozen=True)
class Level:
    """Changed statements of one block, in both texts."""

    before: BlockPlace
    after: BlockPlace


@dataclass(frozen=True)
class ChangedCode:
    """One place that a fix changes. `levels` are the blocks around it, from the file inwards."""

    levels: tuple[Level, ...]
    whole: bool = False
    """The decorators of the function differ, so that only the whole function can be replayed."""
    support: bool = False
    """Only new definitions of the file, which other changes use."""


def changes(before: ast.Module, after: ast.Module) -> list[ChangedCode]:
    """Return the places where two texts of a file differ."""
    return list(_of_block(before, after, (), (), "body", ()))


def _of_block(
    before: ast.AST,
    after: ast.AST,
    steps: tuple[BlockStep, ...],
    other_steps: tuple[BlockStep, ...],
    block: str,
    levels: tuple[Level, ...],
) -> Iterator[ChangedCode]:
    ours, counterpart = getattr(before, block), getattr(after, block)
    hunks = _hunks(ours, counterpart)
    if not hunks:
        return
    separate = isinstance(before, (ast.Module, ast.ClassDef))
    if not separate:
        first, last = hunks[0], hunks[-1]
        hunks = [(first[0], last[1], first[2], last[3])]
    for start, stop, other_start, other_stop in hunks:
        here = Level(
            BlockPlace(steps, block, start, stop), BlockPlace(other_steps, block, other_start, other_stop)
        )
        pairs = _paired(ours[start:stop], counterpart[other_start:other_stop])
        inner = [
            (i, j, name)
            for i, j in pairs
            for name in BLOCKS
            if _dumped(getattr(ours[start + i], name, []))
            != _dumped(getattr(counterpart[other_start + j], name, []))
        ]
        for i, j in pairs:
            yield from _redecorated(
                ours[start + i],
                counterpart[other_start + j],
                (*steps, (block, start + i)),
                (*other_steps, (block, other_start + j)),
                (*levels, here),
            )
        if (inner or pairs) and (
            separate or (len(inner) == 1 and stop - start == 1 == other_stop - other_start)
        ):
            for i, j, name in inner:
                at, other = start + i, other_start + j
                one = Level(
                    BlockPlace(steps, block, at, at + 1), BlockPlace(other_steps, block, other, other + 1)
                )
                yield from _of_block(
                    ours[at],
                    counterpart[other],
                    (*steps, (block, at)),
                    (*other_steps, (block, other)),
                    name,
                    (*levels, one),
                )
            matched = {i for i, _ in pairs}, {j for _, j in pairs}
            rest = [one for i, one in enumerate(ours[start:stop]) if i not in matched[0]]
            rest += [one for j, one in enumerate(counterpart[other_start:other_stop]) if j not in matched[1]]
            if rest and separate:
                yield ChangedCode((*levels, here), support=all(isinstance(one, _SUPPORT) for one in rest))
            continue
        statements = [*ours[start:stop], *counterpart[other_start:other_stop]]
        support = separate and all(isinstance(one, _SUPPORT) for one in statements)
        yield ChangedCode((*levels, here), support=support)


def _redecorated(
    before: ast.AST,
    after: ast.AST,
    steps: tuple[BlockStep, ...],
    other_steps: tuple[BlockStep, ...],
    levels: tuple[Level, ...],
) -> Iterator[ChangedCode]:
    """Yield the whole body of a function whose decorators differ."""
    if not isinstance(before, FUNCTIONS) or not isinstance(after, FUNCTIONS):
        return
    if _dumped(before.decorator_list) != _dumped(after.decorator_list):
        places = [
            BlockPlace(one, "body", 0, len(node.body))
            for one, node in ((steps, before), (other_steps, after))
        ]
        yield ChangedCode((*levels, Level(*places)), whole=True)


def _hunks(ours: Sequence[ast.AST], counterpart: Sequence[ast.AST]) -> list[tuple[int, int, int, int]]:
    matcher = difflib.SequenceMatcher(None, _dumped(ours), _dumped(counterpart), autojunk=False)
    return [(a, b, c, d) for kind, a, b, c, d in matcher.get_opcodes() if kind != "equal"]


def _paired(ours: Sequence[ast.AST], counterpart: Sequence[ast.AST]) -> list[tuple[int, int]]:
    """Return pairs of compound statements in both texts that differ only in their blocks."""
    found: list[tuple[int, int]] = []
    free = list(range(len(counterpart)))
    for i, one in enumerate(ours):
        header = _header(one)
        if header is None:
            continue
        match = next((j for j in free if _header(counterpart[j]) == header), None)
        if match is not None:
            found.append((i, match))
            free.remove(match)
    return found


def _header(node: ast.AST) -> str | None:
    """Return the text that identifies a compound statement, without its blocks."""
    if not any(getattr(node, name, None) for name in BLOCKS) or isinstance(node, (ast.IfExp, ast.Lambda)):
        return None
    if isinstance(node, _DEFINITIONS):
        more = ast.dump(node.args) if isinstance(node, FUNCTIONS) else _dumped([*node.bases, *node.keywords])
        return f"{type(node).__name__} {node.name} {more}"
    bare = copy.copy(node)
    for name in BLOCKS:
        if hasattr(bare, name):
            setattr(bare, name, [])
    return ast.dump(bare)


def _dumped(block: Sequence[ast.AST]) -> list[str]:
    return [ast.dump(one) for one in block]


def node_at(tree: ast.AST, steps: Sequence[BlockStep]) -> ast.AST:
    """Return the node that steps lead to."""
    for block, place in steps:
        tree = getattr(tree, block)[place]
    return tree
