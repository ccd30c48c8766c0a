"""Copies of the parts of one batch, one after the other."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, descendants, last_name, observations, regex, vocabulary
from rlint.rules.transfers._shared.epoch_loops import copied_again
from rlint.rules.transfers.rl201_blocking_transfer.blocking_copies import (
    BlockingCopy,
    blocking_copy,
    minor_gain,
)

_MOST_BETWEEN = 3
"""The statements between two copies that still belong together."""
_LARGE = regex(r"(^|_)(frame|image|img|pixel|screen|rgb|obs|observation|state)s?(_|$)")
_SMALL = regex(
    r"(^|_)(rew|reward|rtg|done|not_done|terminal|terminated|truncated|action|act|timestep|time|step|index"
    r"|indice|idx|id|length|label|weight|discount|target|value)s?(_|$)"
)


def copied_together(copy: BlockingCopy, model: SemanticModel) -> list[ast.Call]:
    """Return the copies that stand next to one, itself included. The first is the one that likely takes the
    longest: the host waits for it, while the others then cost little.
    """
    block, _ = model.syntax.block(model.syntax.statement(copy.call))
    groups: list[list[BlockingCopy]] = model.once(_groups_in, block[0])
    group = next((each for each in groups if any(one.call is copy.call for one in each)), [copy])
    first = min(group, key=lambda one: _size_order(one, model))
    return [first.call, *(one.call for one in group if one is not first)]


def why_shared(first: ast.Call, model: SemanticModel) -> str:
    """Return why a copy costs little beside the first of its group."""
    return f"copied beside line {model.span_of(first)[0].line}: one change mends both"


def _groups_in(statement: ast.stmt, model: SemanticModel) -> list[list[BlockingCopy]]:
    """Return the copies of the block that a statement begins, in groups of those that follow each other
    without a run of a network, for which a copy would wait.
    """
    block, _ = model.syntax.block(statement)
    groups: list[list[BlockingCopy]] = []
    between = _MOST_BETWEEN + 1
    for each in block:
        copies = _copies_in(each, block, model)
        if copies and between <= _MOST_BETWEEN:
            groups[-1] += copies
        elif copies:
            groups.append(copies)
        between = 0 if copies else between + 1
        if _ends_group(each, model):
            between = _MOST_BETWEEN + 1
    return groups


def _copies_in(statement: ast.stmt, block: list[ast.stmt], model: SemanticModel) -> list[BlockingCopy]:
    """Return the copies in the expressions of a statement, in order; not those in the blocks below it."""
    calls = [
        node
        for node in descendants(statement)
        if isinstance(node, ast.Call) and model.syntax.block(model.syntax.statement(node))[0] is block
    ]
    copies = [model.once(blocking_copy, call) for call in sorted(calls, key=model.source.span)]
    return [copy for copy in copies if copy is not None]


def _ends_group(statement: ast.stmt, model: SemanticModel) -> bool:
    """Whether a statement runs a network, or contains others."""
    return hasattr(statement, "body") or any(
        model.nn.network_run(node) is not None or model.gradients.gives_gradient(node)
        for node in descendants(statement)
        if isinstance(node, ast.Call)
    )


def _size_order(copy: BlockingCopy, model: SemanticModel) -> tuple[bool, bool, int, int]:
    """Return a key that is least for the copy that likely takes the longest, or is made most needlessly."""
    kind = model.types.type_of(copy.source)
    is_small = minor_gain(copy.source, model) is not None
    is_new = copied_again(copy.source, model) is None
    return is_small, is_new, _order_of_name(copy.source), -(kind.rank or 0)


def _order_of_name(source: ast.expr) -> int:
    """Return 0 for what is named like observations, 2 for a few numbers per row, else 1."""
    name = _name_of(source).lower()
    if observations.names_several(name) or _LARGE.search(name):
        return 0
    return 2 if name in vocabulary.OF_BATCHES or _SMALL.search(name) else 1


def _name_of(source: ast.expr) -> str:
    """Return the name of a variable or of a part of a batch: `rewards` of `batch["rewards"].float()`."""
    while True:
        match source:
            case ast.Subscript(slice=ast.Constant(value=str(key))):
                return key
            case ast.Subscript(value=inner) | ast.Starred(value=inner):
                source = inner
            case ast.Call(args=[inner, *_], func=ast.Name()):
                source = inner
            case ast.Call(func=ast.Attribute(value=ast.Name(id="torch" | "np" | "numpy")), args=[inner, *_]):
                source = inner
            case ast.Call(func=ast.Attribute(value=inner)):
                source = inner
            case _:
                return last_name(source) or ""
