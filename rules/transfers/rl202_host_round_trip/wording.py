"""Expressions and groups of reads, in the words of messages."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from rlint.rule import (
    COMPREHENSIONS,
    AnyLoop,
    Driver,
    SemanticModel,
    TypeTag,
    descendants,
    has_key,
    last_name,
    regex,
    variable_names,
)
from rlint.rules.transfers.rl202_host_round_trip.few_reads import distinct
from rlint.rules.transfers.rl202_host_round_trip.host_reads import HostRead
from rlint.rules.transfers.rl202_host_round_trip.read_together import is_put_off

LONGEST_SHOWN = 40
NUMBERS = frozenset({"item", "float", "int", "bool"}) | {"if", "slice", "index"}
"""Reads of tensors that hold a single number."""
_AGENTS = regex(r"(^|_)agents?(_|$)")
_SORTS = (
    regex(r"(^|_)(obs|observation|state|frame|image)(s|es)?(_|$)"),
    regex(r"(^|_)(rew|rewards?|rews)(_|$)"),
    regex(r"(^|_)(dones?|terminals?|terminated|truncated|masks?)(_|$)"),
)
"""Names of tensors that have other shapes or dtypes."""
_ASYNCHRONOUS = '`x.to("cpu", non_blocking=True)` for each, then `torch.cuda.synchronize()`'
_WRITTEN = ("log", "print")
"""Reads of what is written: nearly always losses and other statistics."""


def advice_for_step(group: Sequence[HostRead], model: SemanticModel) -> str:
    """Return the advice for several reads in one step: for values that are only stored, for parts of one
    tensor, or for values that the step needs.
    """
    if all(read.method == "slice" for read in group):
        return "Read each bound once, as a number: `last = int(last)`"
    if len(distinct(group, model)) == 1:
        number = next((read for read in group if isinstance(read.tensor, ast.Name)), None)
        if number is not None:
            return f"Read it once, as a number: `value = {shown(number.tensor, model)}.item()`"
    whole = _only_whole(group, model)
    if whole is not None:
        return f"Read all of it once, and take the parts from that: {_read_of(whole, group, model)}"
    if all(is_put_off(read, model) for read in group):
        return (
            "Keep the tensors (`.detach()`) and read them where they are written or averaged, all at once: "
            f"{together(group)}"
        )
    if _differ(group, model):
        return f"Start all copies, and wait once for them: {_ASYNCHRONOUS}"
    return f"Read them at once: {together(group)}"


def _differ(group: Sequence[HostRead], model: SemanticModel) -> bool:
    """Whether whole tensors of different kinds are read, which have other shapes or dtypes: observations,
    rewards and flags, judging by their names, or tensors of another rank.
    """
    if any(read.method in (*NUMBERS, *_WRITTEN) for read in group):
        return False
    names = [(last_name(original_of(read.tensor)) or "").lower() for read in group]
    sorts = {next((sort for sort, of in enumerate(_SORTS) if of.search(name)), -1) for name in names}
    ranks = {model.types.type_of(read.tensor).rank for read in group}
    return len(sorts - {-1}) > 1 or len(ranks - {None}) > 1


def original_of(tensor: ast.expr) -> ast.expr:
    """Return `x` of `x.detach()` and of similar calls without arguments."""
    while isinstance(tensor, ast.Call) and isinstance(tensor.func, ast.Attribute) and not tensor.args:
        tensor = tensor.func.value
    return tensor


def _only_whole(group: Sequence[HostRead], model: SemanticModel) -> ast.expr | None:
    """Return the tensor of which all reads read a part: `low[:, 0].cpu()`, `low[:, 1].cpu()`."""
    parts = [read.tensor for read in group if isinstance(read.tensor, ast.Subscript)]
    wholes = [part.value for part in parts if not has_key(part.slice)]
    if len(wholes) < len(group) or len({ast.dump(whole) for whole in wholes}) > 1:
        return None
    bound = [
        {id(binding) for binding in model.dataflow.definitions(whole)}
        for whole in wholes
        if isinstance(whole, ast.Name)
    ]
    is_the_same = all(one == bound[0] for one in bound)
    known = model.types.type_of(wholes[0]).tag
    return wholes[0] if is_the_same and known in (TypeTag.TENSOR, TypeTag.UNKNOWN) else None


def _read_of(whole: ast.expr, group: Sequence[HostRead], model: SemanticModel) -> str:
    method = "cpu()" if any(read.method == "cpu" for read in group) else "cpu().numpy()"
    method = "tolist()" if all(read.method in (*NUMBERS, "tolist") for read in group) else method
    return f"`{shown(whole, model)}.{method}`"


def of_elements(read: HostRead, model: SemanticModel) -> str:
    """Return the message for a read in a loop over elements."""
    return f"`{shown(read.node, model)}` synchronises with the device in every iteration of the loop"


def in_every(node: ast.AST, model: SemanticModel) -> str:
    """Return how often a node runs: in every step, in every update if the code around it learns and steps no
    environment, or for each agent.
    """
    beat = model.frequency.cadence(node)
    loops = model.frequency.loops(node)
    is_update = beat is not None and beat.drivers == {Driver.GRADIENT_STEP} and learns(node, model)
    if loops and any(_AGENTS.search(name.lower()) for name in _names_in_header(loops[0])):
        return "for each agent in every update" if is_update else "for each agent in every step"
    return "in every update" if is_update else "in every step"


def learns(node: ast.AST, model: SemanticModel) -> bool:
    """Whether the function of a node, or the innermost loop around it, computes gradients itself."""
    loops, function = model.frequency.loops(node), model.function(node)
    around: ast.AST | None = loops[0] if loops else function
    return around is not None and any(
        isinstance(part, ast.Attribute) and part.attr == "backward" for part in descendants(around)
    )


def synchronises(read: HostRead, model: SemanticModel) -> str:
    """Return that a read synchronises, and how often."""
    return f"`{shown(read.node, model)}` synchronises with the device {in_every(read.node, model)}"


def _names_in_header(loop: AnyLoop) -> list[str]:
    """Return the variables of a loop, and the names in what it iterates over."""
    if isinstance(loop, (ast.For, ast.AsyncFor)):
        parts: list[ast.expr] = [loop.target, loop.iter]
    elif isinstance(loop, ast.While):
        parts = []
    else:
        parts = [part for each in loop.generators for part in (each.target, each.iter)]
    return [last_name(node) or "" for part in parts for node in descendants(part)]


def advice_for_row(read: HostRead, loop: AnyLoop, model: SemanticModel) -> str | None:
    """Return the advice for a read of the row or element that a loop counts: `actions[j].item()`."""
    if not isinstance(loop, (ast.For, ast.AsyncFor)) or not isinstance(read.tensor, ast.Subscript):
        return None
    match read.tensor.slice:
        case ast.Name(id=name) if name in variable_names(loop.target):
            return f"Read all of it before the loop: `{read_whole(read.tensor.value, read, model)}`"
    return None


def read_whole(whole: ast.expr, read: HostRead, model: SemanticModel) -> str:
    """Return code that reads all rows of a tensor at once, of which each is read, or a list of tensors."""
    text = shown(whole, model)
    if model.types.type_of(whole).tag in (TypeTag.LIST, TypeTag.TUPLE) or text.endswith("_list"):
        text = f"torch.stack({text})"
    if read.method in (*NUMBERS, "tolist"):
        return f"{text}.tolist()"
    return f"{text}.cpu()" if read.method == "cpu" else f"{text}.cpu().numpy()"


def advice_for_elements(read: HostRead, loop: AnyLoop, model: SemanticModel) -> str:
    """Return the advice for a read of each element."""
    where = "comprehension" if isinstance(loop, COMPREHENSIONS) else "loop"
    if isinstance(read.tensor, ast.Subscript):
        return f"Read all of it before the {where}: `{read_whole(read.tensor.value, read, model)}`"
    whole = iterated(loop, model)
    if whole is not None:
        return f"Read all of it before the {where}: `{read_whole(whole, read, model)}`"
    at_once = _for_all_columns(read.tensor, model)
    if at_once is not None:
        return f"Compute it for all iterations at once, and read the result before the {where}: `{at_once}`"
    return f"Read them at once before the {where}: {together([read])}"


def _for_all_columns(tensor: ast.expr, model: SemanticModel) -> str | None:
    """Return what computes for all columns what is read for each: `(valid.sum(0) == 0).tolist()` for
    `valid[:, i].sum() == 0`.
    """
    for part in descendants(tensor):
        match part:
            case ast.Call(
                func=ast.Attribute(
                    value=ast.Subscript(
                        value=ast.Name() | ast.Attribute() as whole,
                        slice=ast.Tuple(elts=[ast.Slice(None, None, None), ast.Name()]),
                    ),
                    attr="all" | "any" | "mean" | "sum" as method,
                ),
                args=[],
                keywords=[],
            ):
                before, column = model.source.text(tensor), model.source.text(part)
                if before.count(column) != 1 or "\n" in before or len(before) > LONGEST_SHOWN:
                    return None
                text = before.replace(column, f"{model.source.text(whole)}.{method}(0)")
                return f"{text}.tolist()" if part is tensor else f"({text}).tolist()"
    return None


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
    """Return code that reads several tensors at once: numbers as a list, arrays as one array."""
    numbers, copy = "`torch.stack((...)).tolist()`", "cpu().numpy()"
    if any(read.method == "cpu" for read in group):
        copy = "cpu()"
    arrays = f"`torch.stack((...)).{copy}`"
    few = sum(read.method in (*NUMBERS, *_WRITTEN) for read in group)
    if few == len(group):
        return numbers
    if all(read.method == "tolist" for read in group):
        return f"{numbers}, if they have the same shape"
    if few:
        return f"{numbers} for the numbers, and {arrays} for tensors of the same shape"
    return f"{arrays}, if they have the same shape"


def of_step(group: Sequence[HostRead], model: SemanticModel) -> str:
    """Return the consecutive reads of a step."""
    often = in_every(group[0].node, model)
    different = {one_line(read.node, model): shown(read.node, model) for read in group}
    first, *others = different.values()
    if not others:
        times = "twice" if len(group) == 2 else f"{len(group)} times"
        return f"`{first}` synchronises with the device {times} {often}"
    second = others[0]
    more = len(group) - 2
    if more:
        return f"`{first}`, `{second}` and {more} more each synchronise with the device {often}"
    return f"`{first}` and `{second}` each synchronise with the device {often}"


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
