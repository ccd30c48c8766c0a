"""Batches of whole games or episodes, or of windows of them."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, descendants, last_name, regex
from rlint.rules.buffers._shared.unpacked import is_unpacked
from rlint.rules.buffers.rl102_list_indexed_sample.taken_apart import is_stacked

_WHOLE = regex(r"(^|_)(traj(ector(y|ies))?|episodes?|games?|segments?|paths?|rollouts?)(_|$)")


def are_kept_whole(made: ast.ListComp, held: ast.expr, model: SemanticModel) -> bool:
    """Whether a list of picked episodes, `[self.traj_buffer[i] for i in order]`, is not taken apart."""
    if not _WHOLE.search((last_name(held) or "").lower()):
        return False
    return not (is_unpacked(made, model) or is_stacked(made, model))


def appends_whole(loop: ast.For) -> bool:
    """Whether a loop appends the whole episodes that it picks: `segments.append(segment)`."""
    names = {
        value.id
        for node in descendants(loop)
        if (value := _appended(node)) is not None and _WHOLE.search(value.id.lower())
    }
    return bool(names) and not any(_reads_field(node, names) for node in descendants(loop))


def takes_windows(loop: ast.For, pick: ast.expr, model: SemanticModel) -> bool:
    """Whether a loop takes a range of steps of an episode that it picks: `episode["rewards"][start:end]`."""
    statement = model.syntax.statement(pick)
    match statement:
        case ast.Assign(targets=[ast.Name(id=episode)]):
            return any(_is_window(node, episode) for node in descendants(loop))
    return False


def _is_window(node: ast.AST, episode: str) -> bool:
    match node:
        case ast.Subscript(
            value=ast.Attribute(value=ast.Name(id=name)) | ast.Subscript(value=ast.Name(id=name)),
            slice=ast.Slice(lower=ast.expr(), upper=ast.expr()),
        ):
            return name == episode
    return False


def _appended(node: ast.AST) -> ast.Name | None:
    match node:
        case ast.Call(func=ast.Attribute(attr="append"), args=[ast.Name() as value]):
            return value
    return None


def _reads_field(node: ast.AST, names: set[str]) -> bool:
    """Whether a node reads a field or a part of one of the items."""
    match node:
        case ast.Attribute(value=ast.Name(id=name)) | ast.Subscript(value=ast.Name(id=name)):
            return name in names and isinstance(node.ctx, ast.Load)
    return False
