"""What is said about a read with few others in its step, by what the read is for."""

from __future__ import annotations

import ast

from rlint.rule import (
    SemanticModel,
    is_in,
)
from rlint.rules.transfers.rl202_host_round_trip import said_of_reads
from rlint.rules.transfers.rl202_host_round_trip.host_reads import (
    HostRead,
)
from rlint.rules.transfers.rl202_host_round_trip.purposes.computed_there import copy_there
from rlint.rules.transfers.rl202_host_round_trip.purposes.debug_messages import debug_message
from rlint.rules.transfers.rl202_host_round_trip.purposes.discarded import discarding_caller
from rlint.rules.transfers.rl202_host_round_trip.purposes.forward_reads import is_in_forward_pass
from rlint.rules.transfers.rl202_host_round_trip.purposes.host_copies import copied_from_host
from rlint.rules.transfers.rl202_host_round_trip.purposes.inner_work import (
    is_repeated,
    sample_loop,
    storing_loop,
)
from rlint.rules.transfers.rl202_host_round_trip.purposes.kept_reads import collecting_caller, collecting_loop
from rlint.rules.transfers.rl202_host_round_trip.purposes.loop_tests import (
    choice_in_loop,
    loop_ended_by,
    tests_of_chain,
)
from rlint.rules.transfers.rl202_host_round_trip.purposes.masked_branches import decides_tensors
from rlint.rules.transfers.rl202_host_round_trip.purposes.put_off_reads import is_put_off_in_update
from rlint.rules.transfers.rl202_host_round_trip.purposes.sanity_checks import only_checks
from rlint.rules.transfers.rl202_host_round_trip.purposes.scales_tensors import use_with_tensor
from rlint.rules.transfers.rl202_host_round_trip.purposes.tested_state import tested_state
from rlint.rules.transfers.rl202_host_round_trip.purposes.value_trips import value_trip
from rlint.rules.transfers.rl202_host_round_trip.read_together import (
    drives,
    step_of,
)
from rlint.rules.transfers.rl202_host_round_trip.said_of_reads import Said


def said_of_few(read: HostRead, model: SemanticModel) -> Said | None:
    """Return what to say about a read with few others in its step, by what the read is for."""
    held = copied_from_host(read, model)
    if held is not None:
        return said_of_reads.of_held(read, held, model)
    there = copy_there(read, model)
    if there is not None:
        return said_of_reads.of_arithmetic(read, there, model)
    state = tested_state(read, model)
    if state is not None:
        return said_of_reads.of_state(read, state, model)
    if only_checks(read, model):
        return said_of_reads.of_check(read, model)
    if read.method == "index":
        return said_of_reads.of_index(read, model) if is_bound_before(read, model) else None
    scaled = use_with_tensor(read, model)
    if scaled is not None:
        return said_of_reads.of_operand(read, scaled, model)
    return _of_decision(read, model)


def _of_decision(read: HostRead, model: SemanticModel) -> Said | None:
    """Return what to say about a read that decides something, that a step repeats or that nothing needs."""
    if loop_ended_by(read, model) is not None:
        return said_of_reads.of_ended_loop(read, model)
    if choice_in_loop(read, model) is not None:
        return said_of_reads.of_choice(read, model)
    chain = tests_of_chain(read, model)
    if len(chain) > 1:
        if chain[0].node is read.node:
            return said_of_reads.of_chain(chain, model)
        model.silent("{} is reported with the first condition of its chain", read.node)
        return None
    if decides_tensors(read, model):
        return said_of_reads.of_branch(read, model)
    message = debug_message(read, model)
    if message is not None:
        return said_of_reads.of_message(read, message, model)
    calls = calls_with_tensors(read, model)
    if calls > 1:
        return said_of_reads.of_called(read, calls, model)
    said = _of_one(read, model)
    if said is not None:
        return said
    if is_in_forward_pass(read, model):
        return said_of_reads.of_forward(read, model)
    if is_put_off_in_update(read, model):
        return said_of_reads.of_put_off(read, model)
    model.silent("{} is the only read of its step, which costs one synchronisation", read.node)
    return None


def _of_one(read: HostRead, model: SemanticModel) -> Said | None:
    """Return what to say about a single read that returns to the device, that a step repeats, or that a
    caller discards.
    """
    trip = value_trip(read, model)
    if trip is not None:
        return said_of_reads.of_trip(read, trip, model)
    inner = storing_loop(read, model)
    if inner is not None:
        return said_of_reads.of_inner_loop(read, inner, model)
    if sample_loop(read, model) is not None:
        return said_of_reads.of_sample(read, model)
    caller = discarding_caller(read, model)
    if caller is not None:
        return said_of_reads.of_discarded(read, caller, model)
    collected = collecting_loop(read, model)
    if collected is not None and not isinstance(collected[1], ast.Name) and not step_of(read, model):
        return None  # one of several, beside others of its step that are reported
    if collected is None and is_repeated(read, model):
        return said_of_reads.of_repeated(read, model)
    collected = collected or collecting_caller(read, model)
    return said_of_reads.of_collected(read, collected[1], model) if collected is not None else None


def calls_with_tensors(read: HostRead, model: SemanticModel) -> int:
    """Return how many times in one step a function is called to read its parameter: the method of a logger,
    once for each loss. A function that returns what it reads leaves it to its callers whether they need it.
    """
    is_whole = isinstance(read.tensor, ast.Name) and not model.frequency.loops(read.node)
    is_whole = is_whole and not isinstance(model.syntax.statement(read.node), ast.Return)
    return model.effects.tensors_passed(read.tensor).together if is_whole else 0


def is_bound_before(read: HostRead, model: SemanticModel) -> bool:
    """Whether a loop around a read does not bind the variable that is read."""
    loops = model.frequency.loops(read.node)
    if not loops or not isinstance(read.tensor, ast.Name) or drives(loops[0], model):
        return False
    bound = model.dataflow.definitions(read.tensor)
    return not any(is_in(binding.node, loops[0]) for binding in bound)
