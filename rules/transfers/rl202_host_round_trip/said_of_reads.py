"""What is said about a single read, by what it is for."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from rlint.rule import (
    AnyLoop,
    FunctionSummary,
    Loop,
    SemanticModel,
    TypeTag,
    frozen,
    trip_count,
)
from rlint.rules.transfers._shared.in_steps import is_in_layer
from rlint.rules.transfers.rl202_host_round_trip.costlier_work import why_outweighed
from rlint.rules.transfers.rl202_host_round_trip.few_reads import (
    CHEAP,
    NEEDED,
    reads_of_loop,
    why_cheap,
    why_few_items,
    why_few_parts,
)
from rlint.rules.transfers.rl202_host_round_trip.host_reads import (
    HostRead,
)
from rlint.rules.transfers.rl202_host_round_trip.purposes.forward_reads import layer_of
from rlint.rules.transfers.rl202_host_round_trip.purposes.mapped_reads import MappedReads
from rlint.rules.transfers.rl202_host_round_trip.purposes.value_trips import ValueTrip
from rlint.rules.transfers.rl202_host_round_trip.wording import (
    advice_for_elements,
    advice_for_row,
    of_elements,
    of_step,
    read_whole,
    shown,
    synchronises,
    together,
)


@frozen
class Said:
    """The message of a finding, and what goes with it."""

    message: str
    advice: str
    related: Sequence[tuple[ast.AST, str]] = ()
    minor: str | None = None
    reads: int = 1
    """How many reads one run makes, as far as known."""


def of_compared(read: HostRead, model: SemanticModel) -> Said:
    """Return what to say about a tensor whose elements Python compares one by one."""
    assert isinstance(read.node, ast.Call)
    function, tensor = shown(read.node.func, model), shown(read.tensor, model)
    better = f"`{tensor}.sort()`" if function == "sorted" else f"`{tensor}.{function}()`"
    return Said(
        f"`{shown(read.node, model)}` compares the elements of a tensor one by one, and synchronises "
        f"with the device for each",
        advice=f"Compute it on the device, and read the result: {better}",
    )


def of_index(read: HostRead, model: SemanticModel) -> Said:
    """Return what to say about a number on the device that selects an element in each iteration of a loop."""
    return Said(
        f"`{shown(read.node, model)}` is a tensor: as an index it is read from the device in every "
        f"iteration of the loop",
        advice=f"Read it once, before the loop: `int({shown(read.tensor, model)})`; a counter can be a "
        f"number of Python",
    )


def of_held(read: HostRead, there: ast.Call, model: SemanticModel) -> Said:
    """Return what to say about a tensor whose numbers the host holds, as it copied them to the device."""
    return Said(
        f"`{shown(read.node, model)}` synchronises with the device to copy back what line "
        f"{model.span_of(there)[0].line} copied there from the host",
        advice="Keep the tensor that is on the host before the copy (a clone, if its memory is reused), "
        "and use it here",
        related=[(there, "copied to the device here")],
    )


def of_arithmetic(read: HostRead, there: ast.Call, model: SemanticModel) -> Said:
    """Return what to say about an array that is copied to the device for a little arithmetic."""
    return Said(
        f"`{shown(read.node, model)}` synchronises with the device to read what was computed, by "
        f"arithmetic only, from the array that line {model.span_of(there)[0].line} copies there",
        advice="Compute it on the host, in numpy: both copies take longer than the arithmetic",
        related=[(there, "copied to the device here")],
        minor=why_cheap([read], model) if read.method not in ("numpy", "tolist") else None,
    )


def of_trip(read: HostRead, trip: ValueTrip, model: SemanticModel) -> Said:
    """Return what to say about what is computed on the host from a tensor, and copied back to the device."""
    back = trip.back
    assert isinstance(back, ast.expr)
    return Said(
        f"`{shown(read.node, model)}` synchronises with the device, and line "
        f"{model.span_of(back)[0].line} copies what is computed from it back to the device",
        advice="Keep it on the device, and compute it there with torch",
        related=[(back, "copied back to the device here")],
        minor=trip.minor,
    )


def of_inner_loop(read: HostRead, loop: Loop, model: SemanticModel) -> Said:
    """Return what to say about a read in a loop that only stores what it reads."""
    return Said(
        of_elements(read, model),
        advice=advice_for_row(read, loop, model)
        or f"Keep the tensors in a list, and read them at once after the loop: {together([read])}",
        minor=why_few_parts(loop, model) or why_outweighed(loop, model),
        reads=reads_of_loop(loop, model),
    )


def of_sample(read: HostRead, model: SemanticModel) -> Said:
    """Return what to say about a read of what is computed for each transition of a sampled batch."""
    return Said(
        f"`{shown(read.node, model)}` synchronises with the device for each transition of the batch",
        advice="Stack the transitions, compute the batch at once, and keep the result on the device",
    )


def of_discarded(read: HostRead, caller: FunctionSummary, model: SemanticModel) -> Said:
    """Return what to say about a read whose result a caller discards."""
    return Said(
        f"`{shown(read.node, model)}` synchronises with the device in every call, also for "
        f"`{caller.shown}`, which discards the result",
        advice="Return the tensor, and read it in the callers that need it",
        minor=why_cheap([read], model),
    )


def of_collected(read: HostRead, collected: ast.expr, model: SemanticModel) -> Said:
    """Return what to say about a read that a loop only collects in a list or a sum."""
    name = shown(collected, model)
    is_list = model.types.type_of(collected).tag is TypeTag.LIST
    return Said(
        f"{synchronises(read, model)}, though `{name}` is not used before the loop ends",
        advice=f"Append the tensor (`.detach()`), and read all of them together after the loop: "
        f"`torch.stack({name}).cpu()`"
        if is_list or isinstance(getattr(collected, "ctx", None), ast.Load)
        else f"Add the tensor (`.detach()`), and read `{name}` after the loop",
        minor=why_cheap([read], model),
    )


def of_repeated(read: HostRead, model: SemanticModel) -> Said:
    """Return what to say about a read in a function that a step calls several times."""
    return Said(
        f"`{shown(read.node, model)}` synchronises with the device in every call, and a step makes "
        f"several calls",
        advice="Return the tensor (`.detach()`): it need not be read to compute other tensors, and the "
        f"results of several calls can be read at once: {together([read])}",
    )


def of_put_off(read: HostRead, model: SemanticModel) -> Said:
    """Return what to say about the only read of a gradient step, which does not need it."""
    return Said(
        f"{synchronises(read, model)}, though the step itself does not need what is read",
        advice="Keep or return the tensor (`.detach()`), and read it where it is written or averaged",
        minor=why_cheap([read], model) or CHEAP,
    )


def of_state(read: HostRead, state: ast.Attribute, model: SemanticModel) -> Said:
    """Return what to say about a condition on a buffer or parameter of a network."""
    return Said(
        f"{synchronises(read, model)}: "
        f"`{shown(state, model)}` is a tensor that moves to the device with its network",
        advice="Keep a Python number or bool beside it, and use that",
        minor=None if is_in_layer(read.node, model) else why_cheap([read], model),
    )


def of_operand(read: HostRead, use: ast.expr, model: SemanticModel) -> Said:
    """Return what to say about a number that only arithmetic with device tensors uses."""
    return Said(
        f"{synchronises(read, model)}, though the number is "
        f"only used in arithmetic with tensors of the device",
        advice="Keep it on the device, as a tensor: `.detach()`",
        related=[(use, "used with a tensor here")],
        minor=why_cheap([read], model),
    )


def of_called(read: HostRead, calls: int, model: SemanticModel) -> Said:
    """Return what to say about a read in a function that is called several times in a step."""
    return Said(
        f"`{shown(read.node, model)}` synchronises with the device in every call, and a step makes "
        f"{calls} calls or more",
        advice="Keep the tensors (`.detach()`), and read all of them at once when they are needed: "
        f"{together([read])}",
        minor=why_cheap([read] * calls, model),
        reads=calls,
    )


def of_message(read: HostRead, message: ast.Call, model: SemanticModel) -> Said:
    """Return what to say about a tensor in the text of a debug message."""
    function = shown(message.func, model)
    return Said(
        f"{synchronises(read, model)} to be formatted, even if `{function}` writes nothing",
        advice=f'Pass it as an argument, which is formatted only if it is written: `{function}("%s", x)`',
        minor=why_cheap([read], model),
    )


def of_check(read: HostRead, model: SemanticModel) -> Said:
    """Return what to say about a check of a device tensor, which nothing else depends on."""
    return Said(
        f"{synchronises(read, model)}, only to be checked",
        advice="Remove the check, check in every few steps only, or on the device with `torch._assert_async`",
        minor=why_cheap([read], model),
    )


def of_ended_loop(read: HostRead, model: SemanticModel) -> Said:
    """Return what to say about a condition that ends a loop over inner work."""
    return Said(
        f"`{shown(read.node, model)}` synchronises with the device in every iteration of the loop, to "
        f"decide whether it goes on",
        advice="Test it in every few iterations only, or run a fixed number of iterations",
        minor=NEEDED,
    )


def of_choice(read: HostRead, model: SemanticModel) -> Said:
    """Return what to say about a condition that selects the best result of the iterations of a loop."""
    return Said(
        f"`{shown(read.node, model)}` synchronises with the device in every iteration of the loop, only "
        f"to select values",
        advice="Select them on the device: `torch.where`, `torch.maximum`",
    )


def of_forward(read: HostRead, model: SemanticModel) -> Said:
    """Return what to say about a read in the middle of a forward pass."""
    return Said(
        f"`{shown(read.node, model)}` synchronises with the device in the middle of "
        f"`{layer_of(read, model)}`: the rest of the forward pass is queued only after all of it is done",
        advice="Compute it on the device, with masks, or pass it from where it is known on the host",
        minor=why_cheap([read], model),
    )


def of_branch(read: HostRead, model: SemanticModel) -> Said:
    """Return what to say about a condition that selects which tensors are computed."""
    return Said(
        f"{synchronises(read, model)}, only to decide which tensors are computed",
        advice="Compute with the mask itself, without a condition: `torch.where`, or multiply by it",
        minor=why_cheap([read], model),
    )


def of_loop(read: HostRead, loop: AnyLoop, model: SemanticModel) -> Said:
    """Return what to say about a read of each element in a loop."""
    return Said(
        of_elements(read, model),
        advice=advice_for_elements(read, loop, model),
        minor=why_few_parts(loop, model) or why_outweighed(loop, model),
        reads=reads_of_loop(loop, model),
    )


def of_mapped(mapped: MappedReads, model: SemanticModel) -> Said:
    """Return what to say about the reads of a lambda that is called for each of several items."""
    first, *others = mapped.reads
    read = f"`{shown(first.node, model)}`"
    if len(others) > 1:
        read += f", `{shown(others[0].node, model)}` and {len(others) - 1} more each synchronise"
    elif others:
        read += f" and `{shown(others[0].node, model)}` each synchronise"
    else:
        read += " synchronises"
    called = shown(mapped.caller.func, model)
    few = trip_count.length_of(mapped.items[0], model) if len(mapped.items) == 1 else None
    return Said(
        f"{read} with the device for each item that `{called}` passes",
        advice=f"Read all of it once, before the call: `{read_whole(first.tensor.value, first, model)}`"
        if isinstance(first.tensor, ast.Subscript) and not others
        else f"Read all of them once, before the call: {together(mapped.reads)}",
        related=[(each.node, "read for each item, too") for each in others],
        minor=why_few_items(few),
        reads=(few or 1) * len(mapped.reads),
    )


def of_chain(chain: Sequence[HostRead], model: SemanticModel) -> Said:
    """Return what to say about the conditions of an `if` and its `elif`."""
    return Said(
        of_step(chain, model),
        advice="Read what they test once, before the `if`; `torch.where` selects without reading",
        minor=why_cheap(chain, model),
        reads=len(chain),
    )


def of_parts(read: HostRead, others: Sequence[HostRead], model: SemanticModel) -> Said:
    """Return what to say about a read that has others in other methods of the same step."""
    more = f"`{shown(others[0].node, model)}`"
    if len(others) > 1:
        more += f" and {len(others) - 1} more in other methods"
    return Said(
        f"`{shown(read.node, model)}` synchronises with the device in the middle of every step, as does "
        f"{more}: later kernels cannot be queued meanwhile",
        advice="Return or store it as a tensor (`.detach()`), and read all values of a step at once at "
        f"its end: {together([read, *others])}",
        minor=why_cheap([read, *others], model),
        reads=1 + len(others),
    )
