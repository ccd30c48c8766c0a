"""Reads of one step that can be combined."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence

from rlint.rule import (
    COMPREHENSIONS,
    FUNCTIONS,
    AnyLoop,
    BindingKind,
    Driver,
    Function,
    Guard,
    GuardKind,
    Loop,
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    is_in,
    last_name,
    models,
    regex,
    variable_names,
    vocabulary,
)
from rlint.rules.transfers.rl202_host_round_trip.host_reads import HostRead, reads_below
from rlint.rules.transfers.rl202_host_round_trip.mode_branches import branch_of, takes_step
from rlint.rules.transfers.rl202_host_round_trip.purposes.sanity_checks import only_raises
from rlint.rules.transfers.rl202_host_round_trip.tensor_devices import is_placed_on_device
from rlint.rules.transfers.rl202_host_round_trip.waiting_reads import is_hot

_MOST = 64
"""Maximum number of reads in a group: each is compared with all others."""
_ONLY_GRADIENT = frozenset({Driver.GRADIENT_STEP})
_COMPOUND = (ast.If, ast.While, ast.For, ast.AsyncFor, ast.With, ast.AsyncWith, ast.Match, ast.Try)
_PUTS_ASIDE = (
    vocabulary.LOGS
    | models.having(Trait.INSERTS | Trait.INSERTS_ALL, TypeTag.LIST, TypeTag.SET, TypeTag.DICT)
    | {"store"}
)
_REPORTS = ("log_", "logkv", "record_", "report", "store_")
_STATISTICS = regex(
    r"(^|_)(stats?|statistics?|meters?|metrics?|log|logs|logger|loss(es)?|reporter|tracker|writer|summary|monitor|history"
    r"|infos?|avg|averages?|running)(_|$|\d)"
)
"""What holds statistics: `stats["loss"].feed(loss.item())`, `loss_meter.update(loss.item(), n)`."""


def step_of(read: HostRead, model: SemanticModel) -> Sequence[HostRead]:
    """Return the reads that run in the same iteration of the same loop (or the same call of a function) as
    this one, and that could be combined with it, since none of them depends on another. In their order.
    """
    function, loops = model.function(read.node), tuple(model.frequency.loops(read.node))
    branch = model.once(branch_of, read)
    if branch is None or (
        branch and any(len(group) > 1 for group in model.once(_steps, (function, loops, ())))
    ):
        return ()  # reads that always run are reported already
    one_pass = function, loops, branch
    groups = model.once(_steps, one_pass)
    own: tuple[HostRead, ...] | None = model.once(_by_read, one_pass).get(read.node)
    if own is None:
        return groups[-1] if groups else ()
    if len(own) == 1:
        joined = model.once(_across_branch, (function, loops))
        return joined if read in joined else own
    return own


def only_read_of_pass(read: HostRead, model: SemanticModel) -> bool:
    """Whether no other read runs in the same iteration of the same loop, or call of the same function."""
    one_pass = model.function(read.node), tuple(model.frequency.loops(read.node))
    reads = (other for other in model.once(_reads_of_pass, one_pass) if is_hot(other, model))
    return [other.node for other in reads] == [read.node]


def others_of_step(read: HostRead, model: SemanticModel) -> list[HostRead]:
    """Return the reads in the other methods that the same method calls once in each step: `update` calls
    `update_critic` and `update_actor`, and each reads its loss. The reads of the calling method count, too.
    Only if this read, and each of them, yields a number that is stored or returned, without being used
    meanwhile.
    """
    if not is_put_off(read, model):
        return []
    return [other for other in reads_of_parts(read, model) if is_put_off(other, model)]


def reads_of_parts(read: HostRead, model: SemanticModel) -> list[HostRead]:
    """Return all reads in the other methods that make up a step with the method of this one."""
    function = model.function(read.node)
    if function is None or model.frequency.loops(read.node):
        return []
    parts = dict.fromkeys(_methods_called_in(function, model))
    for call in _own_calls(function.name, model):
        step = model.function(call)
        if step is None or step is function:
            continue
        parts.update(dict.fromkeys(_methods_called_in(step, model, next_to=call)))
        if _runs_each_time(call, model) and not model.frequency.loops(call):
            parts[step] = None
    found: dict[ast.expr, HostRead] = {}
    for other in parts:
        if other is not function:
            reads = (each for group in model.once(_steps, (other, (), ())) for each in group)
            found.update((each.node, each) for each in reads)
    return list(found.values())


def _own_calls(name: str, model: SemanticModel) -> list[ast.Call]:
    """Return the calls `self.name(…)` in this file."""
    found = [model.parent(use) for use in model.names.attribute_uses(name) if model.names.is_self(use.value)]
    return [call for call in found if isinstance(call, ast.Call)]


def _runs_each_time(call: ast.Call, model: SemanticModel, loops: Sequence[AnyLoop] = ()) -> bool:
    """Whether a call is made exactly once whenever its function runs, or in each iteration of some loops
    around it.
    """
    in_loops = [*model.frequency.loops(call)] == [*loops]
    return in_loops and model.frequency.runs_each_pass(call, innermost=True)


def _is_in_same_block(call: ast.Call, other: ast.Call | None, model: SemanticModel) -> bool:
    """Whether two calls run one after the other, as statements of the same block."""
    if other is None or model.frequency.loops(call) != model.frequency.loops(other):
        return False
    block, _ = model.syntax.block(model.syntax.statement(other))
    return model.syntax.block(model.syntax.statement(call))[0] is block


def _methods_called_in(
    step: Function, model: SemanticModel, next_to: ast.Call | None = None
) -> list[Function]:
    """Return the methods of its class that a method calls on `self` once, one after the other: in each call
    (or each iteration of the loops around the call `next_to`), or in the same block as that call, which may
    be a branch.
    """
    owner = model.class_of(step)
    if owner is None:
        return []
    methods = {each.name: each for each in owner.body if isinstance(each, FUNCTIONS)}
    loops = model.frequency.loops(next_to) if next_to is not None else []
    found: dict[Function, None] = {}
    for node in descendants(step):
        match node:
            case ast.Call(func=ast.Attribute(value=receiver, attr=name)) if name in methods:
                if model.names.is_self(receiver) and (
                    _runs_each_time(node, model, loops) or _is_in_same_block(node, next_to, model)
                ):
                    found[methods[name]] = None
    return list(found)


def is_put_off(read: HostRead, model: SemanticModel) -> bool:
    """Whether a number could be read after the step as well: it is stored, logged or returned."""
    statement = model.syntax.statement(read.node)
    if read.method == "numpy":
        return _is_stored_by_name(statement)
    if read.method not in ("item", "float"):
        return False
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]):
            scope = model.names.scope(statement).lookup(name)
            reads = model.names.reads(name, scope) if scope is not None else []
            return all(isinstance(model.syntax.statement(use), ast.Return) for use in reads)
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]) | ast.AugAssign() | ast.Return():
            return True
    return is_logged(statement)


def _is_stored_by_name(statement: ast.stmt) -> bool:
    """Whether a statement only stores a value under a name: `metrics["loss"] = to_np(loss)`."""
    match statement:
        case ast.Assign(targets=[ast.Subscript(slice=ast.Constant(value=str()) | ast.JoinedStr())]):
            return True
    return False


_Pass = tuple[Function | None, tuple[AnyLoop, ...], tuple[Guard, ...]]
"""A function, the loops in it whose iterations are meant, innermost first, and the branch that is meant."""


def _steps(one_pass: _Pass, model: SemanticModel) -> list[tuple[HostRead, ...]]:
    """Return the reads of an iteration, in groups that could each be one read."""
    groups: list[list[HostRead]] = []
    for read in _reads_in(one_pass, model):
        last = groups[-1] if groups else []
        if 0 < len(last) < _MOST and all(could_wait(earlier, read, model) for earlier in last):
            last.append(read)
        else:
            groups.append([read])
    return [tuple(group) for group in groups]


def _by_read(one_pass: _Pass, model: SemanticModel) -> dict[ast.expr, tuple[HostRead, ...]]:
    """Return the group of each read of an iteration."""
    return {read.node: group for group in model.once(_steps, one_pass) for read in group}


def _across_branch(
    loop: tuple[Function | None, tuple[AnyLoop, ...]], model: SemanticModel
) -> tuple[HostRead, ...]:
    """Return a read that always runs, with those in one branch for a setting that it could be
    combined with: `losses = {"l1": l1.item()}`, `if self.config.use_vae: losses["kl"] = kl.item()`.
    """
    every = [(each, model.once(branch_of, each)) for each in model.once(_reads_of_pass, loop)]
    reads = [(each, branch) for each, branch in every if branch is not None and is_hot(each, model)]
    always = next((each for each, branch in reads if not branch), None)
    if always is None:
        return ()
    joined: dict[tuple[Guard, ...], list[HostRead]] = {}
    for each, branch in reads:
        if not branch or any(guard.kind is not GuardKind.SWITCH for guard in branch):
            continue  # arguments may differ from call to call
        group = joined.setdefault(branch, [always])
        group.append(each)
        group.sort(key=lambda read: model.source.span(read.node))
        if not all(could_wait(first, later, model) for first, later in itertools.combinations(group, 2)):
            group.remove(each)
    return next((tuple(group) for group in joined.values() if len(group) > 1), ())


def _reads_in(one_pass: _Pass, model: SemanticModel) -> list[HostRead]:
    """Return the reads of an iteration that run in one branch of it."""
    function, loops, branch = one_pass
    found = model.once(_reads_of_pass, (function, loops))
    hot = [other for other in found if model.once(branch_of, other) == branch and is_hot(other, model)]
    if len(hot) < 2:
        return hot
    # `if writer is not None`, and all calls pass `None`
    return [other for other in hot if not model.branches.why_unreached(other.node)] or hot


def _reads_of_pass(loop: tuple[Function | None, tuple[AnyLoop, ...]], model: SemanticModel) -> list[HostRead]:
    """Return all reads in the innermost of some loops, or in their function, in order."""
    function, loops = loop
    around = loops[0] if loops else function or model.syntax.module
    found = [
        other
        for other in reads_below(around, model)
        if model.function(other.node) is function and tuple(model.frequency.loops(other.node)) == loops
    ]
    if not found or _repeats_work(around, model):
        return []  # once after many iterations of a loop
    return sorted(found, key=lambda other: model.source.span(other.node))


def _repeats_work(around: ast.AST, model: SemanticModel) -> bool:
    """Whether a loop inside of a loop or function takes steps of environments or optimizers, or runs networks
    for no gradient step of the function: those of an unrolled model are part of its step.
    """
    of_type = model.syntax.of_type
    loops: list[Loop] = [*of_type(ast.For), *of_type(ast.AsyncFor), *of_type(ast.While)]
    works = drives if _is_part_of_step(around, model) else _works
    return any(works(loop, model) for loop in loops if loop is not around and is_in(loop, around))


def _is_part_of_step(around: ast.AST, model: SemanticModel) -> bool:
    """Whether a function takes a gradient step itself, outside of its loops, or is part of one."""
    if not isinstance(around, FUNCTIONS):
        return False
    if takes_step(around, model):
        return True
    cadence = model.frequency.cadence(around.body[0])
    return cadence is not None and cadence.drivers == _ONLY_GRADIENT


def _works(loop: Loop, model: SemanticModel) -> bool:
    """Whether a loop runs networks, environments or optimizers."""
    if drives(loop, model):
        return True
    return any(
        isinstance(inner, ast.Call) and model.gradients.gives_gradient(inner) for inner in descendants(loop)
    )


def could_wait(first: HostRead, second: HostRead, model: SemanticModel) -> bool:
    """Whether two reads can be combined, because the second does not depend on the first."""
    statement, later = model.syntax.statement(first.node), model.syntax.statement(second.node)
    if is_in(first.node, second.node):
        return False
    if exclusive(statement, later, model) or _are_alternatives(first.node, second.node, model):
        return False
    if statement is later and not isinstance(statement, _COMPOUND):
        return True
    if only_raises(statement) or _is_put_aside(statement, second.node, model):
        return True
    return is_known_at(second.tensor, statement, model)


def exclusive(first: ast.stmt, second: ast.stmt, model: SemanticModel) -> bool:
    """Whether two statements are in different branches of one condition."""
    branches = {id(branch): owner for owner, branch in _branches(first, model)}
    for owner, branch in _branches(second, model):
        for seen, other in branches.items():
            if other is owner and seen != id(branch):
                return True
    return False


def _are_alternatives(first: ast.expr, second: ast.expr, model: SemanticModel) -> bool:
    """Whether two expressions are the two values of a conditional expression: `x.cpu() if c else y.cpu()`."""
    child: ast.AST = first
    for around in model.ancestors(first):
        if isinstance(around, ast.stmt):
            return False
        if isinstance(around, ast.IfExp) and child is not around.test and is_in(second, around):
            other = around.orelse if child is around.body else around.body
            return is_in(second, other)
        child = around
    return False


def _branches(statement: ast.stmt, model: SemanticModel) -> Iterator[tuple[ast.AST, list[ast.stmt]]]:
    child: ast.AST = statement
    for parent in model.ancestors(statement):
        if isinstance(parent, FUNCTIONS):
            return
        if isinstance(parent, ast.If) and child is not parent.test:
            yield parent, parent.body if child in parent.body else parent.orelse
        child = parent


def is_known_at(tensor: ast.expr, statement: ast.stmt, model: SemanticModel) -> bool:
    """Whether an expression could be evaluated before a statement: whether all its names are bound there to
    the same values as later.
    """
    for node in descendants(tensor):
        match node:
            case ast.Attribute(value=ast.Name(id="self")):
                if not model.dataflow.unchanged_between(node, statement, tensor):
                    return False
        if isinstance(node, ast.Name) and node.id != "self":
            here = model.dataflow.bindings_before(node.id, statement, model.names.scope(node))
            there = model.dataflow.definitions(node)
            if len(here) != len(there) or any(binding not in here for binding in there):
                return False
            start, end = model.source.span(statement)[0], model.source.span(tensor)[0]
            if any(start <= model.source.span(binding.node)[0] < end for binding in there):
                return False  # of the previous iteration
    return True


def _is_put_aside(statement: ast.stmt, later: ast.expr, model: SemanticModel) -> bool:
    """Whether the number that was read is only stored, added up or logged, so that it could be stored
    later.
    """
    match statement:
        case ast.AugAssign():
            return True
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            return True
        case ast.Assign(targets=[ast.Name(id=name)]):
            return not _is_read_before(name, statement, later, model)
    return is_logged(statement)


def _is_read_before(name: str, statement: ast.stmt, later: ast.expr, model: SemanticModel) -> bool:
    scope = model.names.scope(statement).lookup(name)
    if scope is None or model.names.is_captured(name, scope):
        return True
    start, end = model.source.span(statement)[1], model.source.span(later)[0]
    uses = [use for use in model.names.reads(name, scope) if start <= model.source.span(use)[0] < end]
    return not all(is_logged(model.syntax.statement(use)) or _is_stored_into(use, model) for use in uses)


def _is_stored_into(name: ast.Name, model: SemanticModel) -> bool:
    """Whether a use of a dict only sets an item of it: `report["critic_loss"] = loss.item()`."""
    item = model.parent(name)
    return isinstance(item, ast.Subscript) and item.value is name and isinstance(item.ctx, ast.Store)


def is_logged(statement: ast.stmt) -> bool:
    """Whether a statement only passes values to a logger or a container."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr=method))):
            if method in _PUTS_ASIDE or method.startswith(_REPORTS):
                return True
            return method in vocabulary.FEEDS and _holds_statistics(owner)
    return False


def _holds_statistics(owner: ast.expr) -> bool:
    """Whether an object is named like statistics, or is an item of a collection of them."""
    while isinstance(owner, ast.Subscript):
        owner = owner.value
    return bool(_STATISTICS.search((last_name(owner) or "").lower()))


def element_loop(read: HostRead, model: SemanticModel) -> AnyLoop | None:
    """Return the innermost loop around a read, if it iterates over the elements of one tensor or over tensors
    that all exist before it: its reads could be one read before it.
    """
    loops = model.frequency.loops(read.node)
    if not loops or isinstance(loops[0], ast.While):
        return None
    loop = loops[0]
    if isinstance(loop, COMPREHENSIONS):
        if len(loop.generators) != 1:
            return None
        target, iterable = loop.generators[0].target, loop.generators[0].iter
    else:
        target, iterable = loop.target, loop.iter
    variables = variable_names(target)
    if not _is_made_of(read.tensor, variables, loop, model):
        return None
    if read.method == "slice" and not is_placed_on_device(read.tensor, model):
        return None  # lengths of sequences are often on the host
    if _is_for_one_item(read.node, variables, loop, model):
        return None
    counts = isinstance(iterable, ast.Call) and model.names.qualified(iterable.func) == "builtins.range"
    if counts and not _is_indexed(read.tensor, variables, loop, model):
        return None
    return None if drives(loop, model) else loop


def _is_for_one_item(node: ast.AST, variables: set[str], loop: AnyLoop, model: SemanticModel) -> bool:
    """Whether a line only runs for one of the items of a loop: `if key == "camera":`."""
    child = node
    for around in model.ancestors(node):
        if around is loop:
            return False
        match around:
            case ast.If(
                test=ast.Compare(left=ast.Name(id=name), ops=[ast.Eq()], comparators=[ast.Constant()]),
                body=body,
            ) if name in variables and child in body:
                return True
        child = around
    return False


def _is_made_of(
    tensor: ast.expr, variables: set[str], loop: AnyLoop, model: SemanticModel, depth: int = 3
) -> bool:
    """Whether a tensor is taken from the variables of a loop with little computation, and without other
    values of the loop.
    """
    if depth <= 0 or not is_plain(tensor, model):
        return False
    uses_variable = False
    for name in (node for node in descendants(tensor) if isinstance(node, ast.Name)):
        if name.id in model.once(_written_at_other_indices, loop):
            return False
        if name.id in variables:
            uses_variable = True
        elif _is_bound_in(name, loop, model):
            value = _only_value(name, model)
            if value is None or not _is_made_of(value, variables, loop, model, depth - 1):
                return False
            uses_variable = True
    return uses_variable


def _written_at_other_indices(loop: AnyLoop, _: SemanticModel) -> frozenset[str]:
    """Return the variables of which a loop writes other elements than that of its own iteration, such as both
    rows of a pair: later iterations read what earlier ones wrote.
    """
    own = loop.target if isinstance(loop, (ast.For, ast.AsyncFor)) else None
    found = set()
    for node in descendants(loop):
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=index, ctx=ast.Store()):
                if not isinstance(index, ast.Name) or not isinstance(own, ast.Name) or index.id != own.id:
                    found.add(name)
    return frozenset(found)


def is_plain(tensor: ast.expr, model: SemanticModel) -> bool:
    """Whether an expression consists of accesses (`getattr(param, "grad")`, too), of cheap methods and
    functions of tensors, and of arithmetic.
    """
    calls = (node.func for node in descendants(tensor) if isinstance(node, ast.Call))
    return all(_is_cheap(func, model) for func in calls)


def _is_cheap(func: ast.expr, model: SemanticModel) -> bool:
    qualified = model.names.qualified(func)
    if qualified in _CHEAP_FUNCTIONS:
        return True
    return isinstance(func, ast.Attribute) and qualified is None and func.attr in _CHEAP


_CHEAP_TRAITS = Trait.KEEPS_ORDER | Trait.REDUCES | Trait.ELEMENTWISE | Trait.COMPARES | Trait.GIVES_INDEX
_CHEAP = models.having(_CHEAP_TRAITS, TypeTag.TENSOR) | {"abs", "detach", "numel", "pow"}
_CHEAP_FUNCTIONS = models.having(_CHEAP_TRAITS, "torch") | {"builtins.getattr"}


def _is_indexed(
    tensor: ast.expr, variables: set[str], loop: AnyLoop, model: SemanticModel, depth: int = 3
) -> bool:
    """Whether an expression is computed from an element that the loop variables index: `rewards[i]`,
    `rewards[0, i]`, `rewards[i + 1]`, `mask[i].sum()`, `row[:n]` of `row = rewards[i]`.
    """
    for node in descendants(tensor):
        match node:
            case ast.Subscript(value=value, slice=index):
                used = {part.id for part in descendants(index) if isinstance(part, ast.Name)}
                owners = {part.id for part in descendants(value) if isinstance(part, ast.Name)}
                if used & variables and not owners & variables:
                    return True
            case ast.Name() if depth > 0 and node.id not in variables and _is_bound_in(node, loop, model):
                made = _only_value(node, model)
                if made is not None and _is_indexed(made, variables, loop, model, depth - 1):
                    return True
    return False


def _only_value(name: ast.Name, model: SemanticModel) -> ast.expr | None:
    """Return the value of a variable that one assignment sets."""
    made = model.dataflow.definitions(name)
    is_plain = len(made) == 1 and made[0].kind is BindingKind.ASSIGN and not made[0].path
    return made[0].value if is_plain else None


def _is_bound_in(name: ast.Name, loop: AnyLoop, model: SemanticModel) -> bool:
    return any(
        loop is ancestor
        for binding in model.dataflow.definitions(name)
        for ancestor in model.ancestors(binding.node)
    )


def drives(loop: AnyLoop, model: SemanticModel) -> bool:
    """Whether a loop steps an environment or an optimizer, waits for messages or iterates over batches."""
    summary = model.symbols.function_at(loop)
    index = model.analysis.loops.index.get(loop)
    if summary is None or index is None:
        return True
    return bool(summary.loops[index].drivers)
