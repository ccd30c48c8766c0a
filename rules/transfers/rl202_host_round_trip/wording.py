"""Expressions and groups of reads, in the words of messages."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from rlint.rule import (
    COMPREHENSIONS,
    AnyLoop,
    SemanticModel,
    TypeTag,
)
from rlint.rules.transfers.rl202_host_round_trip.host_reads import HostRead

LONGEST_SHOWN = 40
NUMBERS = frozenset({"item", "float", "int", "bool"}) | {"if", "slice", "index"}
"""Reads of tensors that hold a single number."""


def advice_for_step(group: Sequence[HostRead]) -> str:
    """Return the advice for several reads in one step."""
    if all(read.method == "slice" for read in group):
        return "Read each bound once, as a number: `last = int(last)`"
    return (
        "Keep values that are only logged on the device (`.detach()`) and read them later, or read all "
        f"together: {together(group)}"
    )


def of_elements(read: HostRead, model: SemanticModel) -> str:
    """Return the message for a read in a loop over elements."""
    return f"`{shown(read.node, model)}` synchronises with the device in every iteration of the loop"


def advice_for_elements(read: HostRead, loop: AnyLoop, model: SemanticModel) -> str:
    """Return the advice for a read of each element."""
    where = "comprehension" if isinstance(loop, COMPREHENSIONS) else "loop"
    if isinstance(read.tensor, ast.Subscript):
        return f"Read all of it before the {where}: `{shown(read.tensor.value, model)}.tolist()`"
    whole = iterated(loop, model)
    if whole is not None:
        return f"Read all of it before the {where}: `{shown(whole, model)}.tolist()`"
    return f"Concatenate the tensors before the {where} and read them together: {together([read])}"


def iterated(loop: AnyLoop, model: SemanticModel) -> ast.expr | None:
    """Return the tensor whose elements a loop iterates over, also with `enumerate`."""
    if isinstance(loop, ast.While):
        return None
    iterable = loop.generators[0].iter if isinstance(loop, COMPREHENSIONS) else loop.iter
    match iterable:
        case ast.Call(func=func, args=[inner, *_]) if model.names.qualified(func) == "builtins.enumerate":
            iterable = inner
    return iterable if model.types.type_of(iterable).tag is TypeTag.TENSOR else None


def together(group: Sequence[HostRead]) -> str:
    """Return code that reads several tensors at once: numbers can be stacked, tensors of different shapes
    cannot.
    """
    if all(read.method in NUMBERS for read in group):
        return "`torch.stack((...)).tolist()`"
    if any(read.method == "cpu" for read in group):
        return "`torch.cat([x.flatten(), ...]).cpu()`, as their shapes may differ"
    return "`torch.cat([x.flatten(), ...]).tolist()`, as their shapes may differ"


def of_step(group: Sequence[HostRead], model: SemanticModel) -> str:
    """Return the consecutive reads of a step."""
    different = {one_line(read.node, model): shown(read.node, model) for read in group}
    first, *others = different.values()
    if not others:
        times = "twice" if len(group) == 2 else f"{len(group)} times"
        return f"`{first}` synchronises with the device {times} in every step"
    second = others[0]
    more = len(group) - 2
    if more:
        return f"`{first}`, `{second}` and {more} more each synchronise with the device in every step"
    return f"`{first}` and `{second}` each synchronise with the device in every step"


def shown(node: ast.expr, model: SemanticModel) -> str:
    """Return an expression in one line, shortened if it is long."""
    text = one_line(node, model)
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"


def one_line(node: ast.expr, model: SemanticModel) -> str:
    """Return the source of an expression without line breaks."""
    text = " ".join(model.source.text(node).split())
    for bracket in "([{":
        text = text.replace(f"{bracket} ", bracket)
    return text
