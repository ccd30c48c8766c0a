"""Costly values that no code reads, or that only one branch reads: results of networks, log-probabilities,
entropies, and copies of tensors to the host.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    FUNCTIONS,
    EffectKind,
    SemanticModel,
    Trait,
    TypeTag,
    descendants,
    frozen,
    is_in,
    is_in_block,
    last_name,
    models,
    regex,
)
from rlint.rules.networks._shared.run_by_functions import runs_network
from rlint.rules.networks._shared.same_input import (
    architecture_of,
    is_forward,
    likely_stays_the_same,
    seems_repeatable,
)
from rlint.rules.networks.rl323_discarded_forward.drawn_in_loop import drawn_in_loop
from rlint.rules.networks.rl323_discarded_forward.gated_in_callee import gate_in_callee
from rlint.rules.networks.rl323_discarded_forward.sinking import end_of_chain, ends_episode, fails, leaves
from rlint.rules.networks.rl323_discarded_forward.value_reads import (
    ValueReads,
    branches_reading,
    reads_of_value,
)

COMPUTED = frozenset({"log_prob", "entropy", "kl_divergence"})
_RUN_NO_LAYER = models.having(Trait.RUNS_NO_LAYER | Trait.REACHES_WEIGHTS, TypeTag.MODULE)
_PROBABILITIES = frozenset({"exp", "softmax"})
_LOGARITHMS = frozenset({"log", "log_softmax"})
_DECODES = frozenset({"decode", "batch_decode"})
_TRAINS = regex(r"(^|_)(train(ing)?|save|store|learn(ing)?|record|memory|collect(ing)?)(_|$)")
_DEPTH = 3


@frozen
class Unread:
    """A value that is never read, or (`returned_by`) that a function returns to callers that drop it, or
    (`branch`) that is only read where a test has an outcome, which is true unless `negated`.
    """

    name: str
    returned_by: str = ""
    branch: ast.If | None = None
    negated: bool = False
    is_network: bool = False
    kept_in: str = ""
    """The attribute of the own object that holds it, which no code of the project reads."""
    in_loop: bool = False
    """Whether the branch is part of a loop, in no iteration of which it may be taken."""
    by_mode: bool = False
    """Whether it is used in training, and unused in other modes."""
    in_chain: bool = False
    """Whether all branches of a chain up to this one use it, and only what follows does not."""


def unread_value(call: ast.Call, model: SemanticModel) -> Unread | None:
    """Return how the value of a costly call is wasted, if it is."""
    if isinstance(model.parent(call), ast.Expr):
        return None
    kind = cost_of(call, model)
    if kind is None or model.function(call) is None or is_unreachable(call, model):
        return None
    found = model.once(_reads, call)
    name = found.name or model.source.text(call.func)
    is_network = kind == "network"
    if not found.needed:
        if found.name.startswith("_") or has_unread_input(call, model):
            return None
        if found.returned_by and _is_requested(call, model):
            return None
        return Unread(name, found.returned_by, is_network=is_network, kept_in=found.kept_in)
    branch = only_branch(call, model)
    if branch is None and is_network:
        gate = gate_in_callee(model.once(branches_reading, call), found.name, model)
        if gate is not None:
            return Unread(name, branch=gate, negated=True, is_network=True)
        drawn = drawn_in_loop(call, model.once(branches_reading, call), model)
        return (
            Unread(name, branch=drawn[0], negated=drawn[1], is_network=True, in_loop=True) if drawn else None
        )
    if branch is None or not is_known_before(branch[0], call, model, is_network=is_network):
        return None
    if has_unread_input(call, model, in_branch=branch[0]):
        return None
    test, negated = branch[0].test, branch[1]
    by_mode = not negated and any(_TRAINS.search(last_name(node) or "") for node in descendants(test))
    inside = [is_in(each, branch[0]) for each in model.once(branches_reading, call)]
    in_chain = any(inside) and not all(inside)
    return Unread(
        name,
        branch=branch[0],
        negated=negated,
        is_network=is_network,
        by_mode=by_mode,
        in_chain=in_chain,
    )


def _is_requested(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a parameter of the function decides whether a call runs: `if with_log_prob:`."""
    function = model.function(call)
    summary = model.symbols.function_at(call)
    parameters = summary.parameters if summary is not None else ()
    for above in model.ancestors(call):
        if above is function:
            break
        if isinstance(above, (ast.If, ast.IfExp)):
            names = (node.id for node in descendants(above.test) if isinstance(node, ast.Name))
            if any(name in parameters and name != "self" for name in names):
                return True
    return False


def is_unreachable(node: ast.AST, model: SemanticModel) -> bool:
    """Whether a statement before a node, in a block around it, ends the block."""
    statement: ast.AST = model.syntax.statement(node)
    while isinstance(statement, ast.stmt) and not isinstance(statement, FUNCTIONS):
        block, index = model.syntax.block(statement)
        if any(isinstance(each, (ast.Raise, ast.Return, ast.Continue, ast.Break)) for each in block[:index]):
            return True
        above = model.parent(statement)
        while above is not None and not isinstance(above, (ast.stmt, ast.Module)):
            above = model.parent(above)
        if not isinstance(above, ast.stmt):
            return False
        statement = above
    return False


def cost_of(call: ast.Call, model: SemanticModel) -> str | None:
    """Return what makes a call costly; None if it is cheap, or does more than to compute a value."""
    called = call.func
    name = last_name(called)
    if name in COMPUTED:
        return "distribution" if call.args or isinstance(called, ast.Attribute) else None
    if name == "sum" and isinstance(called, ast.Attribute) and _is_expected_logarithm(called.value, model):
        return "distribution"
    if name in _DECODES and isinstance(called, ast.Attribute):
        return "text" if "tokenizer" in (last_name(called.value) or "").lower() else None
    run = model.nn.network_run(call)
    if run is not None and run[1] in _RUN_NO_LAYER:
        return None
    if run is not None:
        structure = architecture_of(call, model)
        if structure is None or structure.keeps or structure.hooks:
            return None
        known = is_forward(call, model, may_draw=True, may_have_unknown=True)
        if known or seems_repeatable(call, model):
            return "network"
        if run[1] == "forward":
            return None
    if not (call.args or call.keywords):
        return None
    return "network" if model.types.call_targets(call) and runs_network(call, model) else None


def _is_expected_logarithm(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is the product of probabilities and logarithms, whose sum is an entropy:
    `p * p.log()`, `logs.exp() * logs`.
    """
    match value:
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            one, other = _last_functions(left, model), _last_functions(right, model)
            return bool(
                (one & _PROBABILITIES and other & _LOGARITHMS)
                or (other & _PROBABILITIES and one & _LOGARITHMS)
            )
    return False


def _last_functions(value: ast.expr, model: SemanticModel) -> set[str]:
    """Return the function that computes a value last, of all values that a variable may have."""
    values: list[ast.expr | None] = [value]
    if isinstance(value, ast.Name):
        values = [binding.value for binding in model.dataflow.definitions(value) if not binding.path]
    return {last_name(each.func) or "" for each in values if isinstance(each, ast.Call)}


def _reads(call: ast.Call, model: SemanticModel) -> ValueReads:
    return reads_of_value(call, model)


def is_known_before(branch: ast.If, call: ast.Call, model: SemanticModel, *, is_network: bool) -> bool:
    """Whether the test of a branch may as well be evaluated before a call, or the call after the test."""
    position = model.dataflow.order.position
    start, end = position(model.syntax.statement(call)), position(branch)
    test = branch.test
    if not _bound_between(test, start, end, model) and model.effects.effect_of(test).does_only(
        EffectKind.DRAWS
    ):
        return True
    if not is_network:
        return not _bound_between(call, start, end, model)
    block, index = model.syntax.block(branch)
    before = [each for each in block[:index] if position(each) > start]
    return bool(likely_stays_the_same(call, [*before, test], model))


def _bound_between(
    expression: ast.AST, start: tuple[int, ...], end: tuple[int, ...], model: SemanticModel
) -> bool:
    """Whether a variable of an expression is bound between two positions."""
    return any(
        start < (binding.node.lineno, getattr(binding.node, "col_offset", 0)) < end
        for name in descendants(expression)
        if isinstance(name, ast.Name)
        for binding in model.names.bindings(name)
        if hasattr(binding.node, "lineno")
    )


def has_unread_input(call: ast.Call, model: SemanticModel, in_branch: ast.If | None = None) -> bool:
    """Whether an input of a call is a costly value as well that is only used for it: the better place."""
    return any(
        cost_of(each, model) is not None
        and (
            (found := model.once(_reads, each)) is not None
            and (
                not found.needed
                or (in_branch is not None and (only_branch(each, model) or (None,))[0] is in_branch)
            )
        )
        for each in _inputs(call, model, _DEPTH)
    )


def _inputs(node: ast.AST, model: SemanticModel, depth: int) -> Iterator[ast.Call]:
    """Yield the calls that compute the inputs of a call, in the same function."""
    for part in descendants(node):
        if isinstance(part, ast.Call) and part is not node:
            yield part
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and depth:
            for binding in model.dataflow.definitions(part):
                value = binding.value
                if isinstance(value, ast.Call) and not is_in(node, value):
                    yield value
                    yield from _inputs(value, model, depth - 1)


def only_branch(call: ast.Call, model: SemanticModel) -> tuple[ast.If, bool] | None:
    """Return the branch after a statement that alone needs its value, and whether it is taken if the test
    fails.
    """
    statement: ast.AST = model.syntax.statement(call)
    while isinstance(model.parent(statement), (ast.With, ast.AsyncWith)):
        above = model.parent(statement)
        assert above is not None
        statement = above
    assert isinstance(statement, ast.stmt)
    block, index = model.syntax.block(statement)
    needed = model.once(branches_reading, call)
    after = block[index + 1 :]
    if not all(any(is_in(each, following) for following in after) for each in needed):
        return None
    for following in after:
        inside = [each for each in needed if is_in(each, following)]
        if not isinstance(following, ast.If):
            if inside:
                return None
            continue
        if any(is_in(each, following.test) for each in inside):
            return None
        if inside:
            if len(inside) < len(needed):
                return None
            return _arm(following, needed) or end_of_chain(following, needed)
        leaving = leaves(following.body, following, model), leaves(following.orelse, following, model)
        if leaving[0] != leaving[1]:
            is_rare = ends_episode(following.test, outcome=leaving[0])
            return None if fails(following) or is_rare else (following, leaving[0])
    return None


def _arm(branch: ast.If, needed: tuple[ast.AST, ...]) -> tuple[ast.If, bool] | None:
    if fails(branch):
        return None
    for arm, negated in ((branch.body, False), (branch.orelse, True)):
        if all(is_in_block(each, arm) for each in needed):
            if len(arm) == 1 and isinstance(arm[0], ast.If) and branch.orelse is arm:
                return _arm(arm[0], needed) or (branch, negated)
            return None if ends_episode(branch.test, outcome=negated) else (branch, negated)
    return None
