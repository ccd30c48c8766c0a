"""Steps with few reads, which cost little together."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from rlint.rule import (
    AnyLoop,
    SemanticModel,
    descendants,
    last_name,
    regex,
    trip_count,
    vocabulary,
)
from rlint.rules.transfers._shared.in_steps import is_in_long_step, is_repeated
from rlint.rules.transfers.rl202_host_round_trip.costlier_work import why_below_loop
from rlint.rules.transfers.rl202_host_round_trip.host_reads import HostRead
from rlint.rules.transfers.rl202_host_round_trip.mode_branches import is_given
from rlint.rules.transfers.rl202_host_round_trip.purposes.loop_tests import loop_ended_by

_FEW = 4
CHEAP = "a few reads once per step: they only add up where there are many, or in a loop"
_SOME = 12
_MANY = 32
_LONG_STEP = "a few reads beside the gradient step of a large network, which takes far longer"
NEEDED = "the loop needs what it reads: with fewer tests, it would run on for some iterations"
_WAITS = "the program needs one of the values at once: the others are copied when the device is done"
STATISTIC = regex(r"loss|entropy|(^|_)(kl|norm|mean|std|grad|ratio|acc|accuracy)(_|$)")
_AGAIN = "the same value is read again: nothing is left to wait for"
_PARTS = "one read for each of a few parts, once per step"


def why_cheap(reads: Sequence[HostRead], model: SemanticModel) -> str | None:
    """Return why these reads of one step cost little together: there are few, and none is repeated. Each
    takes a call and a wait for kernels that the step waits for in any case. A long gradient step may have
    more of them. If the program needs one of the values at once, it waits for all of them, and so it does in
    each iteration of a loop that one of them may end. A loop beside them that reads row by row takes longer.
    """
    if len(reads) > 1 and len(distinct(reads, model)) == 1 and _runs_networks_too(reads[0].node, model):
        return _AGAIN
    if any(loop_ended_by(read, model) is not None for read in reads):
        return NEEDED
    outweighed: str | None = why_below_loop(reads[0].node, model)
    if outweighed is not None:
        return outweighed
    if 1 < len(reads) <= 2 * _FEW and any(is_needed(read, model) for read in reads):
        loops = model.frequency.loops(reads[0].node)
        if not is_repeated(reads[0].node, model) or (loops and why_few_parts(loops[0], model)):
            return _WAITS
    is_long = all(is_in_long_step(read.node, model) for read in reads)
    if len(reads) > (_SOME if is_long else _FEW):
        return None
    if any(is_repeated(read.node, model) for read in reads):
        return None
    return CHEAP if len(reads) <= _FEW else _LONG_STEP


def _runs_networks_too(node: ast.AST, model: SemanticModel) -> bool:
    """Whether each iteration that runs a node also runs a network, which takes longer than a read."""
    if not is_repeated(node, model):
        return True
    calls = (each for each in descendants(model.frequency.loops(node)[0]) if isinstance(each, ast.Call))
    return any(model.nn.network_run(call) is not None for call in calls)


def distinct(reads: Sequence[HostRead], model: SemanticModel) -> list[HostRead]:
    """Return the reads without those of a variable whose value an earlier one reads or compares, too."""
    kept: list[HostRead] = []
    seen: set[tuple[str, frozenset[int]]] = set()
    for read in reads:
        value = read.tensor.left if isinstance(read.tensor, ast.Compare) else read.tensor
        if isinstance(value, ast.Name):
            bound = frozenset(id(binding) for binding in model.dataflow.definitions(value))
            key = value.id, bound
            if bound and key in seen:
                continue
            seen.add(key)
        kept.append(read)
    return kept


def is_needed(read: HostRead, model: SemanticModel) -> bool:
    """Whether the program needs what is read before it goes on: a condition tests it, or it is an array that
    the host computes with. Losses and other statistics are read to be logged.
    """
    if read.method in ("if", "bool", "slice", "index"):
        return True
    uses = _uses(read.node, model)
    if any(_is_tested(use, model) for use in uses):
        return True
    if read.method not in ("numpy", "tolist"):
        return False
    if not any(map(STATISTIC.search, last_names_in(read.tensor))):
        return model.types.type_of(read.tensor).rank != 0
    return any(isinstance(model.parent(use), (ast.BinOp, ast.Subscript)) for use in uses)


def last_names_in(tensor: ast.expr) -> Iterator[str]:
    """Yield the names in an expression."""
    for node in descendants(tensor):
        name = last_name(node)
        if name:
            yield name


def _uses(node: ast.expr, model: SemanticModel) -> list[ast.expr]:
    """Return a read, or the places where the variable is used that holds it."""
    for around in model.ancestors(node):
        if isinstance(around, ast.Assign):
            match around.targets:
                case [ast.Name(id=name) as target]:
                    scope = model.names.scope(target).lookup(name)
                    return [node, *(model.names.reads(name, scope) if scope is not None else ())]
            break
        if isinstance(around, ast.stmt):
            break
    return [node]


def _is_tested(use: ast.expr, model: SemanticModel) -> bool:
    """Whether a condition of an `if` or a loop contains a value, whatever the settings: `if self.limit is not
    None and kl > self.limit` often tests nothing.
    """
    child: ast.AST = use
    for around in model.ancestors(use):
        if isinstance(around, (ast.If, ast.While)):
            return child is around.test and not any(map(_is_set, _tests_around(around, model)))
        if isinstance(around, ast.stmt):
            return False
        if isinstance(around, ast.BoolOp) and any(map(_is_set, around.values)):
            return False
        child = around
    return False


def _tests_around(statement: ast.stmt, model: SemanticModel) -> Iterator[ast.expr]:
    for around in model.ancestors(statement):
        if isinstance(around, ast.If):
            yield around.test
        elif not isinstance(around, ast.With):
            return


def _is_set(test: ast.expr) -> bool:
    """Whether a test asks for a setting: `self.limit is not None`, `self.stops_early`."""
    return is_given(test) or isinstance(test, ast.Attribute)


def why_few_parts(loop: AnyLoop, model: SemanticModel) -> str | None:
    """Return why a read in each iteration of a loop costs little: the loop has a few iterations (the agents
    of a team, the entries of a dict), and no other loop repeats it in a step, unless that is over the entries
    of a dict, too.
    """
    if is_repeated(loop, model):
        driving = model.frequency.driving_loop(loop)
        around = [each for each in model.frequency.loops(loop) if each not in (loop, driving)]
        if not around or not all(trip_count.over_components(each, model) for each in around):
            return None
    count = trip_count.passes(loop, model)
    if count is not None:
        return why_few_items(count)
    if not (trip_count.over_components(loop, model) or trip_count.collects_components(loop, model)):
        return None
    header = loop.iter if isinstance(loop, (ast.For, ast.AsyncFor)) else loop
    called = (node.attr for node in descendants(header) if isinstance(node, ast.Attribute))
    return None if any(name in vocabulary.PER_LAYER for name in called) else _PARTS


def reads_of_loop(loop: AnyLoop, model: SemanticModel) -> int:
    """Return how many reads a loop with one in each iteration makes: one if nothing is known of its length,
    many if it has the length of a batch or the like.
    """
    passes = model.sizes.passes(loop)
    if passes is not None:
        return max(1, passes)
    return _MANY if model.sizes.has_many(loop) else 1


def why_few_items(count: int | None) -> str | None:
    """Return why a read for each item costs little: the items are few."""
    return _PARTS if count is not None and count <= _FEW else None
