"""A forward pass whose result is unused on the branch that is taken.

## What it does
Flags `q = net(state)`, also inside `torch.no_grad()`, if the result and values derived from it are only
needed on some paths: one branch of a following `if` or conditional expression reads them, another branch
returns or continues the loop before they are read, or a branch overwrites them. The typical case is a greedy
action that is computed before the epsilon draw, also by a function of the project that runs the network
(`action = self.greedy(state)`; this is `likely`). In a chain of branches (`elif`), the `else`
may be the only one that does not use it (likely). A result that is never read is flagged as well, also one
that a function of the project, a lambda, a network that draws random numbers or one of unknown layers
returns, or a method of a network that is not known and runs again for the same variable (likely).

Batches that a replay buffer samples in every step are flagged if they are only used at an interval of steps
(`if step % 4 == 0: learn(batch)`).

A result for all agents is likely unused in many steps if a loop over the agents only reads it where the agent
draws no random action.

If a call returns several values, all of them must be unused, or those that are unused must come from
sub-networks of their own: the second of two critics in `self.critic(state, action)[0]`, or the value body of
`(mean, std), _ = self.net(state)`, also if the network has several `return` statements, or networks of
several layers, such as the mixing network of QMIX in `_, values = self.net(inputs, state)`. That also holds
for methods that are no networks, for sub-networks that another method of the object runs (`self.value(x)`,
which calls `self.critic(x)`), and for the log-probability of a squashed action that is computed in every
step: `action, _ = self.actor(state)`. If an argument asks for it, the advice is to turn that off
(`with_log_prob=False`). Of several classes that an object may have, those count which return as many values
as the call unpacks; if they run different parts, the finding is `likely`.

Costly values that no code reads are flagged, too: results of networks, log-probabilities, entropies,
divergences, and texts that a tokenizer decodes. The value is followed through computations without side
effects, also a copy to the host (`log_prob.item()`), into lists and attributes that no code reads, and to the
callers of the function that returns it as an item of a tuple, under a key of a dict, or as a field of a data
class (likely: no other code calls the function). If only one branch reads the value (`if log_metrics:`), or
code before it returns, the finding names the test; log-probabilities, and values that only training uses,
then have low impact. So do results that are computed if one setting is on and used if another one is, as the
settings may depend on each other, and parts of results that are computed once before many gradient steps.

Outputs that the arguments of a call ask for, and no code reads, are flagged as well: `output_scores=True`,
`output_hidden_states=True` and similar options of language models, their logits if only hidden states are
used (likely, if the class of the model is not known), and the weights of `nn.MultiheadAttention`
(`need_weights=False`). `RL327` is about logits of which only some positions are used.

Log-probabilities over a vocabulary are flagged if code only reads a slice of the positions that drops the
first ones, such as those of the prompt: `log_probs_of(logits[:, :-1], tokens[:, 1:])[:, start:]`.

If layers of the network are created elsewhere, or if calls in between might change its weights, the finding
is `likely` and there is only advice. The rule is silent:

- if the network has batch normalisation, hooks or state that is kept between calls, because it may be run for
  its side effects (with dropout or noise, there is only advice);
- if the other branch only raises an error, or runs only at the end of an episode;
- if the condition depends on the result;
- if the program never takes the other branch: no call passes the parameter that it tests, or the constructor
  raises an error for such settings;
- if code in between changes the input or the weights, and the test depends on that code;
- for `_ = net(x)`, which shows that the result is not wanted.

A forward pass that is a statement by itself (`self.layer(x)`) is flagged if the network stores nothing
during it.

## Why is it slow
The forward pass of a policy is a large part of the cost of a step. While epsilon is near one, its result is
discarded in almost every step.

## Example
```python
import random

import torch
from torch import nn


class Agent:
    def __init__(self) -> None:
        self.q_net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))
        self.epsilon = 0.9

    def act(self, state: torch.Tensor) -> int:
        with torch.no_grad():
            q_values = self.q_net(state)
        if random.random() < self.epsilon:
            return random.randrange(2)
        return int(q_values.argmax())
```
Use instead:
```python
import random

import torch
from torch import nn


class Agent:
    def __init__(self) -> None:
        self.q_net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))
        self.epsilon = 0.9

    def act(self, state: torch.Tensor) -> int:
        if random.random() < self.epsilon:
            return random.randrange(2)
        with torch.no_grad():
            q_values = self.q_net(state)
        return int(q_values.argmax())
```

## Fix safety
Always unsafe. The fix moves the forward pass, and the statements derived from its result, into the branch
that uses them; a result that is never read is removed. An input that the network cannot process, such as
one of the wrong shape, then raises an error only on that path. Results and random numbers stay the same.

## References
- https://docs.pytorch.org/docs/stable/generated/torch.no_grad.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    FUNCTIONS,
    Applicability,
    Finding,
    Fix,
    Guard,
    Heat,
    Rule,
    SemanticModel,
    last_name,
    vocabulary,
)
from rlint.rules.networks._shared.network_traces import HOOKS
from rlint.rules.networks._shared.run_by_functions import called_by_lambda, runs_network
from rlint.rules.networks._shared.same_input import architecture_of, is_forward
from rlint.rules.networks.rl323_discarded_forward.dropped_positions import kept_positions
from rlint.rules.networks.rl323_discarded_forward.partly_used import Unused, runs_per_round, unused_parts
from rlint.rules.networks.rl323_discarded_forward.possible_paths import is_impossible, why_unlikely
from rlint.rules.networks.rl323_discarded_forward.sampled_batches import only_at_interval
from rlint.rules.networks.rl323_discarded_forward.sinking import (
    Waste,
    bound_names,
    has_branch_after,
    is_read,
    only_computes,
    reads_of,
    sink,
    tests_of_chain,
    unit_of,
    waste_of,
)
from rlint.rules.networks.rl323_discarded_forward.unread_outputs import (
    assumed_head,
    has_unread_weights,
    unread_logits,
    unread_option,
)
from rlint.rules.networks.rl323_discarded_forward.unread_values import Unread, unread_value

_OF_DISTRIBUTION = "it is arithmetic on the output of a network, a small part of the step"
_OUTSIDE = "it is only unused outside of training"
_WHILE_EXPLORING = "some agent needs the result in most steps, once epsilon has fallen"
_PER_ROUND = "it runs once, before many gradient steps on the same data"
REASON = "an invalid input raises an error only where the result is used"


class DiscardedForward(Rule):
    code = "RL323"
    name = "discarded-forward"
    claims = ("time",)
    scales_with_network = True
    heat = Heat.WARM
    visits = (ast.Call,)

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        assert isinstance(node, ast.Call)
        interval = only_at_interval(node, model)
        if interval is not None:
            yield self.sampled(node, interval, model)
            return
        known = list(self.known(node, model))
        value = unread_value(node, model) if not known else None
        yield from known or (self.unread_value(node, value, model) if value is not None else ())
        if not known and value is None:
            yield from self.unread_outputs(node, model)

    def known(self, node: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield findings for networks and results whose waste is known in detail."""
        if not (node.args or node.keywords):
            return
        kept = kept_positions(node, model)
        if kept is not None:
            yield self.dropped_positions(node, kept, model)
            return
        part = unused_parts(node, model)
        if part is not None:
            yield self.partly(node, part, model)
            return
        if model.nn.network_run(node) is None:
            yield from self.by_helper(node, model)
            return
        if isinstance(model.parent(node), ast.Expr):
            yield from self.dropped(node, model)
            return
        unit = unit_of(node, model)
        names = bound_names(unit)
        scope = model.names.scope(unit)
        if not names or not isinstance(scope.node, FUNCTIONS):
            return
        if not has_branch_after(unit, model) and any(is_read(name, scope, model) for name in names):
            return  # the result is used, or the network runs, wherever it is computed
        is_known = is_forward(node, model, may_draw=True)
        is_any = is_forward(node, model, may_draw=True, may_have_unknown=True)
        reads = reads_of(names, scope, model)
        if reads is None or is_inside_forward(node, model):
            return
        if not (is_any or is_called_again(node, names, model) or (not reads and is_of_unknown(node, model))):
            return
        if not only_computes(unit, model, but=node):
            return
        if not is_any and reads:
            return
        draws = not is_forward(node, model)
        if not reads:
            yield from self.unread(node, unit, names, model, is_sure=is_known and not draws)
            return
        waste = waste_of(unit, scope, model)
        if waste is not None and not is_impossible(node, waste.branch.test, model, outcome=waste.taken):
            edits = sink(waste, model) if waste.is_sure and not draws else None
            fix = (
                Fix("Run it where the result is used", Applicability.UNSAFE, edits, REASON) if edits else None
            )
            yield self.finding(
                model,
                node,
                f"`{called(node, model)}` also runs where {condition(waste, model)}, where its result is "
                f"unused",
                fix=fix,
                advice="Run the network in the branch that uses its result",
                assumes=assumption(node, waste, model),
                minor=why_unlikely(node, waste.branch.test, model, outcome=waste.taken),
            )

    def by_helper(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a function of the project that runs a network, and whose result only one branch
        uses.
        """
        unit = unit_of(call, model)
        names = bound_names(unit)
        scope = model.names.scope(unit)
        if not names or not isinstance(scope.node, FUNCTIONS) or not has_targets(call, model):
            return
        reads = reads_of(names, scope, model)
        if reads is None or not only_computes(unit, model, but=call) or not runs_network(call, model):
            return
        if not reads:
            yield from self.unread(call, unit, names, model, is_sure=False)
            return
        waste = waste_of(unit, scope, model)
        if waste is None or is_impossible(call, waste.branch.test, model, outcome=waste.taken):
            return
        yield self.finding(
            model,
            call,
            f"`{called(call, model)}` runs a network also where {condition(waste, model)}, where its result "
            f"is unused",
            advice="Call it in the branch that uses its result",
            assumes=f"`{called(call, model)}` only computes its result, and the code in between does not "
            "change it",
            minor=why_unlikely(call, waste.branch.test, model, outcome=waste.taken),
        )

    def unread_value(self, call: ast.Call, value: Unread, model: SemanticModel) -> Iterator[Finding]:
        """Yield the finding for a costly value that no code reads, or only one branch."""
        if is_measured(call, model):
            return
        if value.branch is not None:
            tests = tests_of_chain(value.branch, call, model) if value.in_chain else [value.branch.test]
            text = " or ".join(f"`{_on_one_line(each, model)}`" for each in tests)
            outcome = f"{text} is false" if value.negated else text
            if value.in_loop:
                yield self.drawn_in_loop(call, outcome, model)
                return
            test, unused = value.branch.test, value.negated
            if is_impossible(call, test, model, outcome=unused):
                return
            yield self.finding(
                model,
                call,
                f"`{called(call, model)}` is computed each time, and only used if {outcome}",
                advice="Compute it in the branch that uses it",
                minor=_minor(value) or why_unlikely(call, test, model, outcome=unused),
                assumes=_assumption(call, value, model),
            )
            return
        if not value.returned_by:
            yield self.finding(
                model,
                call,
                f"`{value.name}` is computed here, and never used",
                advice="Remove the computation",
                assumes=_assumption(call, value, model),
            )
            return
        yield self.finding(
            model,
            call,
            f"`{value.name}` is computed in every call of `{value.returned_by}`, and no caller uses it",
            advice="Compute it in a method of its own, for callers that need it",
            assumes=f"no other code calls `{value.returned_by}`",
        )

    def sampled(self, call: ast.Call, interval: Guard, model: SemanticModel) -> Finding:
        """Return a finding for a batch that is drawn in each step, and used at an interval of steps."""
        return self.finding(
            model,
            call,
            f"`{model.source.text(call.func)}` draws a batch in every step, which is only used at an "
            f"interval of steps (`{interval.text}`)",
            advice="Sample where the batch is used (the random stream then advances less often)",
        )

    def drawn_in_loop(self, call: ast.Call, outcome: str, model: SemanticModel) -> Finding:
        """Return a finding for results of all agents, each of which may draw a random action instead."""
        return self.finding(
            model,
            call,
            f"`{called(call, model)}` also runs where no iteration of the loop uses its result, which is "
            f"only read if {outcome}",
            advice="Draw for all iterations first, and run the network on the rows that need its result",
            assumes="all iterations often draw a random action",
            minor=_WHILE_EXPLORING,
        )

    def unread_outputs(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield findings for outputs that arguments of a call ask for, and that no code reads."""
        requested = unread_option(call, model)
        if requested is not None:
            yield self.finding(
                model,
                call,
                f"`{requested.option}=True` is set, and no code reads `{requested.field}` of the result: "
                f"{requested.cost}",
                advice=f"Remove `{requested.option}`",
            )
            return
        if has_unread_weights(call, model):
            yield self.finding(
                model,
                call,
                f"`{called(call, model)}` also computes attention weights of all heads, which are "
                "unused here and rule out the fused kernel",
                advice="Pass `need_weights=False`",
            )
        elif unread_logits(call, model):
            yield self.finding(
                model,
                call,
                f"`{called(call, model)}` also computes logits over the vocabulary, and only other outputs "
                "are used",
                advice="Run the model without its head: `model.model(...)`, `model.get_decoder()(...)`, or "
                "load it with `AutoModel`",
                assumes=assumed_head(call, model),
            )

    def dropped_positions(self, call: ast.Call, kept: ast.Subscript, model: SemanticModel) -> Finding:
        """Return a finding for log-probabilities of positions that a slice drops."""
        name, cut = called(call, model), " ".join(model.source.text(kept.slice).split())
        return self.finding(
            model,
            call,
            f"`{name}` computes log-probabilities over the vocabulary for all positions, of which only "
            f"`[{cut}]` are used",
            advice="Slice the logits and the labels first, so that prompt positions are neither computed nor "
            "kept for the backward pass",
            assumes=None
            if last_name(call.func) == "log_softmax"
            else f"`{name}` returns one log-probability per position",
        )

    def partly(self, call: ast.Call, part: Unused, model: SemanticModel) -> Finding:
        """Return a finding for results of which some are computed by sub-networks of their own, and are not
        used.
        """
        names = " and ".join(f"`{name}`" for name in part.attributes)
        if part.each:
            message = f"`{called(call, model)}` runs each of its {names}, and only the first result is used"
        elif part.log_probability:
            also = f"{names} and " if names else ""
            message = (
                f"`{called(call, model)}` also computes {also}the log-probability of the squashed action, "
                f"which is unused here"
            )
        else:
            message = f"`{called(call, model)}` also runs {names}, whose result is unused here"
        return self.finding(
            model,
            call,
            message,
            advice=way_without(part),
            assumes=part.assumes,
            minor=_PER_ROUND if runs_per_round(call, model) else None,
        )

    def dropped(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a statement that is only a forward pass, of a network that keeps no result of
        it.
        """
        if model.frequency.heat_of(call).level is not Heat.HOT or not is_forward(call, model):
            return
        structure = model.nn.architecture(call.func)
        if not structure.repeatable or not structure.weights or is_measured(call, model):
            return
        if any(model.program.is_attribute_read(hook) for hook in HOOKS):
            return
        yield self.finding(
            model,
            call,
            f"`{called(call, model)}` runs here, and its result is discarded",
            advice="Remove the forward pass, or use its result",
        )

    def unread(
        self, call: ast.Call, unit: ast.stmt, names: list[ast.Name], model: SemanticModel, *, is_sure: bool
    ) -> Iterator[Finding]:
        """Yield a finding for a result that is never read. It is not sure if the network draws random
        numbers, or is only known in parts.
        """
        if all(name.id.startswith("_") for name in names) or is_measured(call, model):
            return
        if not is_sure and is_kept_otherwise(call, model) and not is_called_again(call, names, model):
            return
        edit = model.edit.delete_statement(unit) if is_sure else None
        fix = (
            Fix("Remove the forward pass", Applicability.UNSAFE, (edit,), REASON)
            if edit is not None
            else None
        )
        yield self.finding(
            model,
            call,
            f"`{called(call, model)}` runs here, and its result is never used",
            fix=fix,
            advice="Remove the forward pass, or assign it to `_` if it is run for its side effects",
            assumes=None if is_sure else f"`{called(call, model)}` is called for its result only",
        )


def has_targets(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call runs functions of the project, directly or by a lambda of the function around it."""
    return bool(model.types.call_targets(called_by_lambda(call, model) or call))


def is_called_again(call: ast.Call, names: list[ast.Name], model: SemanticModel) -> bool:
    """Whether a method of a network that is not known is called again for a later value of the same variable:
    `out = net.infer(x)`, and then `out = net.infer(x, task)`.
    """
    wanted = ast.dump(call.func)
    return any(
        isinstance(other := binding.value, ast.Call) and other is not call and ast.dump(other.func) == wanted
        for name in names
        for binding in model.names.bindings(name)
    )


def is_of_unknown(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call runs a network of which no layer is known."""
    structure, run = architecture_of(call, model), model.nn.network_run(call)
    return (
        structure is not None
        and not (structure.layers or structure.complete)
        and run is not None
        and run[1] == "forward"
    )


def is_kept_otherwise(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a network may be run for what it keeps: attributes that it sets, or the outputs that hooks
    receive.
    """
    structure = architecture_of(call, model)
    if structure is not None and (structure.keeps or structure.hooks):
        return True
    return any(model.program.is_attribute_read(hook) for hook in HOOKS)


def assumption(call: ast.Call, waste: Waste, model: SemanticModel) -> str:
    """Return what must hold for the network to give the same result in the branch."""
    if not waste.is_sure:
        return f"no code in between changes the weights of `{called(call, model)}`"
    if not is_forward(call, model, may_draw=True):
        return f"the layers of `{called(call, model)}` keep no state"
    return ""


def is_inside_forward(call: ast.Call, model: SemanticModel) -> bool:
    """Whether it is an argument of another forward pass of the same statement, which is reported for both."""
    for above in model.ancestors(call):
        if isinstance(above, ast.stmt):
            return False  # a call that it may be an argument of is in the same statement
        if isinstance(above, ast.Call) and is_forward(above, model):
            return True
    return False


def is_measured(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the function measures the time of a network."""
    function = model.function(call)
    return any(model.names.calls_named(name, function) for name in vocabulary.MEASURES_TIME)


def called(call: ast.Call, model: SemanticModel) -> str:
    """Return the source of the network, on one line."""
    return " ".join(model.source.text(call.func).split())


def condition(waste: Waste, model: SemanticModel) -> str:
    """Return the outcome of the test for which the result is not used, with those of the tests before it in
    a chain of branches, which use the result.
    """
    branch = waste.branch
    chain = tests_of_chain(branch, waste.moved[0], model) if isinstance(branch, ast.If) else [branch.test]
    texts = " and ".join(f"`{_on_one_line(each, model)}`" for each in chain)
    if len(chain) > 1:
        return f"{texts} are false"
    return texts if waste.taken else f"{texts} is false"


def _on_one_line(node: ast.expr, model: SemanticModel) -> str:
    return " ".join(model.source.text(node).split())


def _minor(value: Unread) -> str | None:
    """Return why a value that only one branch uses costs little elsewhere."""
    return _OUTSIDE if value.by_mode else None if value.is_network else _OF_DISTRIBUTION


def _assumption(call: ast.Call, value: Unread, model: SemanticModel) -> str | None:
    """Return what a finding about a value that is not used, or only in one branch, assumes."""
    if value.kept_in:
        return f"no code outside of this project reads `self.{value.kept_in}`"
    return f"`{called(call, model)}` is called for its result only" if value.is_network else None


def way_without(part: Unused) -> str:
    """Return advice on how to compute only the results that are used."""
    if part.option and not part.attributes:
        return f"Pass `{part.option}=False`"
    if part.log_probability and not part.attributes:
        return (
            "Skip the log-probability here: by an argument (`with_log_prob=False`), or in a method without it"
        )
    return "Call the sub-network whose result is used, or add a method that runs it alone"
