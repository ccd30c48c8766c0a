"""Tensors formatted for debug messages, which are formatted even if their level is off."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, TypeTag, last_name, regex
from rlint.rules.transfers.rl202_host_round_trip.host_reads import HostRead
from rlint.rules.transfers.rl202_host_round_trip.mode_branches import branch_of

_LEVELS = frozenset({"debug", "trace"})
_LOGGER = regex(r"(^|_)log(ger|ging)?$")


def debug_message(read: HostRead, model: SemanticModel) -> ast.Call | None:
    """Return the call that takes a text with the numbers of a tensor: `logger.debug(f"loss: {loss}")`, if no
    other conditions than modes and settings decide whether it runs.
    """
    if read.method != "print" or read.node is not read.tensor:
        return None
    text = model.parent(model.parent(read.node) or read.node)
    call = model.parent(text) if isinstance(text, ast.JoinedStr) else None
    match call:
        case ast.Call(func=ast.Attribute(value=owner, attr=method), args=[first, *_]) if (
            method in _LEVELS and first is text
        ):
            pass
        case _:
            return None
    is_logger = model.types.type_of(owner).tag is TypeTag.LOGGER
    if not is_logger and not _LOGGER.search((last_name(owner) or "").lower()):
        return None
    return call if model.once(branch_of, read) is not None else None
