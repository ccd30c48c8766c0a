"""The same network run a second time on the same input.

## What it does
Flags a call of a network that is repeated in the same function with the same arguments, if nothing in
between changes the input or the weights. The calls may be in one expression or in two statements, for
different outputs (`probs, _ = net(x)`, then `_, value = net(x)`), or before a loop and in it. Calls of
`forward`, of other methods of a network, and of networks from other files of the project are recognised. A
method that the other call runs on the same input counts as well: `net(x)` and `net.dist(x)`, where
`forward` calls `dist`. So do two methods that run the same part of the network on it: `net.act(x)` and
`net.value(x)`, if both compute the features.

If layers of the network are created elsewhere, or only some options make them random, or if code in between
is not known to change nothing, the finding is `likely`. So is that of a network which two methods of a class
run on the same input, if a third method (also one of a base class in another file) calls both with
unchanged weights: the value in the loss of the critic and in the advantage of the actor. Where autograd is
on for one call and off for the other, there is only advice: `detach()` gives both results. An optimizer that
is named after another network (`self.actor_optimizer`, for `self.critic`) likely does not change this one.

So is a network that two methods of another object run on the same input: `agent.evaluate(states, actions)`,
then `agent.distribution(states)`.

So is a network that one branch of a condition runs, and the code after it again: the default of an option
may make the two calls equal.

A target network that runs in a
method is flagged as well if all calls of the method are in loops that change neither its input nor its
weights: the old policy in each of several update steps on one batch.

A function that multiplies a second derivative with a vector (the Fisher products of conjugate gradients in
TRPO) is flagged if it runs the network again for each vector (likely).

The rule is silent:

- if the network has dropout, batch normalisation, noise, hooks, or state that is kept between calls;
- if an optimizer step, `backward()` or another call between the two likely changes weights;
- across methods, if autograd is off for the first call only;
- if a condition runs the call in only one iteration of a loop (`if t == last_step`).

## Why is it slow
A forward pass is often the largest part of a step, and its backward pass takes even longer. The second call
doubles the cost of both, and the activations are kept in memory twice.

## Example
```python
import torch
from torch import nn


class Agent:
    def __init__(self) -> None:
        self.q_net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))
        self.optimizer = torch.optim.Adam(self.q_net.parameters())

    def learn(self, states: torch.Tensor, actions: torch.Tensor, targets: torch.Tensor) -> None:
        chosen = self.q_net(states).gather(1, actions)
        penalty = self.q_net(states).logsumexp(1).mean()
        loss = (chosen - targets).pow(2).mean() + penalty
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
```
Use instead:
```python
import torch
from torch import nn


class Agent:
    def __init__(self) -> None:
        self.q_net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))
        self.optimizer = torch.optim.Adam(self.q_net.parameters())

    def learn(self, states: torch.Tensor, actions: torch.Tensor, targets: torch.Tensor) -> None:
        q_values = self.q_net(states)
        chosen = q_values.gather(1, actions)
        penalty = q_values.logsumexp(1).mean()
        loss = (chosen - targets).pow(2).mean() + penalty
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
```

## Fix safety
Always unsafe. The fix stores the result in a variable and uses it in both places. Both uses then share one
graph. The gradients are the same up to rounding, but two calls of `backward()`, which needed one graph
each, raise an error.

There is only advice where the function calls `backward()` twice, and where one of the results is changed in
place (`target = net(x)`, `target[0, action] = ...`): that one needs a `clone()`.

## References
- https://pytorch.org/docs/stable/notes/autograd.html#how-autograd-encodes-the-history
- https://pytorch.org/docs/stable/generated/torch.autograd.backward.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import AnyLoop, CodeExtent, Finding, GuardKind, Heat, Rule, SemanticModel, last_name
from rlint.rules.networks._shared.same_input import (
    architecture_of,
    has_seen_the_same,
    have_same_blocks,
    is_forward,
    loop_without_change,
)
from rlint.rules.networks.rl313_repeated_forward.common_parts import common_part
from rlint.rules.networks.rl313_repeated_forward.equal_calls import (
    earlier_equal_calls,
    likely_repeats_of,
    repeats_of,
    repeats_on_branch,
)
from rlint.rules.networks.rl313_repeated_forward.run_in_callees import repeated_in_callees
from rlint.rules.networks.rl313_repeated_forward.run_in_callers import loop_of_callers
from rlint.rules.networks.rl313_repeated_forward.run_in_methods import repeated_in_methods
from rlint.rules.networks.rl313_repeated_forward.run_once import build_fix, hoist
from rlint.rules.networks.rl313_repeated_forward.run_within import run_before_or_within
from rlint.rules.networks.rl313_repeated_forward.vector_products import is_called_in_loop, runs_per_vector

_DENSE = frozenset({"torch.nn.Linear", "torch.nn.LazyLinear"})
_EMBEDDINGS = frozenset({"torch.nn.Embedding", "torch.nn.EmbeddingBag"})
_LOOKUP = "an embedding only looks up rows of a matrix, a small part of most networks"
_ONE_LAYER = "it is one dense layer, a small part of most networks"
ADVICE = "Run the network once and reuse the result; `clone()` it where it is modified in place"

ADVICE_WITH_GRADIENT = (
    "Run the network once with autograd on, and `detach()` the result where no gradient is needed"
)


class RepeatedForward(Rule):
    code = "RL313"
    name = "repeated-forward"
    seeds = ("S3.4", "S0.1")
    claims = ("time",)
    scales_with_network = True
    heat = Heat.WARM
    one_change_mends = CodeExtent.FUNCTION
    visits = (ast.Call,)

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        assert isinstance(node, ast.Call)
        if any(keyword.arg == "create_graph" for keyword in node.keywords):
            yield from self.check_products(node, model)
        if not (node.args or node.keywords):
            return
        if model.nn.network_run(node) is None:
            yield from self.check_callees(node, model)
            return
        if not isinstance(node.func, (ast.Name, ast.Attribute, ast.Subscript)):
            return
        equal_calls = model.dataflow.equal_to(node)
        looped = model.frequency.loops(node)
        if len(equal_calls) < 2:
            yield from self.check_within(node, model)
            yield from self.check_callers(node, model)
            yield from self.check_methods(node, model)
        if len(equal_calls) < 2 and not looped:
            return
        again = repeats_of(node, equal_calls, model) if len(equal_calls) > 1 else []
        assumed = assumption(node, model) if again else ""
        if not again and len(equal_calls) > 1:
            again = likely_repeats_of(node, equal_calls, model)
            assumed = (
                f"no code in between changes the weights of `{model.source.text(node.func)}` or its input"
            )
        on_branch = not again and len(equal_calls) > 1
        if on_branch:
            again = repeats_on_branch(node, equal_calls, model)
        if not again and len(equal_calls) > 1:
            yield from self.check_within(node, model)
        often = [other for other in again if model.frequency.heat_of(other).level >= self.heat]
        if often:
            in_same_blocks = have_same_blocks(node, often[0], model)
            advice = ADVICE if in_same_blocks else ADVICE_WITH_GRADIENT
            twin = twin_meant(node, often[0], model)
            yield self.finding(
                model,
                often[0],
                message(node, often[0], model),
                fix=build_fix(node, again, model) if in_same_blocks and not (on_branch or twin) else None,
                advice=f"Run `{twin}` here, if that network was meant. {advice}" if twin else advice,
                assumes=assumed,
                minor=why_small(often[0], model),
            )
        elif looped and model.frequency.heat_of(node).level >= self.heat and is_used(node, model):
            yield from self.check_loop(node, model)

    def check_products(self, gradient: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a network that runs again for each product of its Hessian with a vector."""
        if not model.frequency.may_be_warm(gradient):
            return
        runs = sorted(runs_per_vector(gradient, model), key=lambda run: model.source.span(run[0]))
        for call, function in runs[:1]:  # the remedy is the same for all of them
            text = " ".join(model.source.text(call.func).split())
            yield self.finding(
                model,
                call,
                f"`{text}` runs again for each vector that `{function.name}` multiplies with a second "
                "derivative",
                advice="Compute the first derivative once (`create_graph=True`), and only the product for "
                "each vector (`torch.autograd.grad(gradient @ vector, weights, retain_graph=True)`)",
                assumes=""
                if is_called_in_loop(function, model)
                else f"`{function.name}` is called for several vectors with the same weights",
            )

    def check_within(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for `net(x)` and `net.dist(x)`, if `forward` calls `dist`."""
        if model.frequency.heat_of(call).level < self.heat:
            return
        found = run_before_or_within(call, model)
        if found is None:
            yield from self.check_parts(call, model)
            return
        other, inner, outer = found
        line = model.span_of(other)[0].line
        text, around = (" ".join(model.source.text(each.func).split()) for each in (inner, outer))
        yield self.finding(
            model,
            call,
            f"`{around}` runs `{text}` on the same input as line {line}, so the forward pass runs twice",
            advice=f"Run `{text}` once, and compute the rest from its result",
            related=[(other, "the other call")],
        )

    def check_parts(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for `net.act(x)`, then `net.value(x)`, if both run the same features."""
        found = common_part(call, model) if is_used(call, model) else None
        if found is None:
            return
        first, again = (" ".join(model.source.text(each.func).split()) for each in (found.first, call))
        line = model.span_of(found.first)[0].line
        yield self.finding(
            model,
            call,
            f"`{again}` runs `{found.part}` on the same input as `{first}` in line {line}, so that part of "
            "the network runs twice",
            advice=f"Compute both from one pass through `{found.part}`, in one method",
            assumes=found.assumes,
            related=[(found.first, "the other call")],
            minor=_ONE_LAYER if found.is_small else None,
        )

    def check_callers(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a network that runs on an argument which the caller's loop never changes."""
        if model.frequency.heat_of(call).level < self.heat or not is_used(call, model):
            return
        site = loop_of_callers(call, model)
        if site is None:
            return
        text, name = model.source.text(call.func), model.source.text(site.func)
        line = model.span_of(site)[0].line
        yield self.finding(
            model,
            call,
            f"`{text}` runs on the same input in every iteration of the loop around `{name}` in line {line}",
            advice="Run the network once before the loop, and pass its result",
            assumes=f"no other code changes the weights of `{text}` or its input during the loop",
            related=[(site, "called here in every iteration")],
        )

    def check_callees(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a network that two methods of an object run on the same input."""
        if model.frequency.heat_of(call).level < self.heat or not is_used(call, model):
            return
        found = repeated_in_callees(call, model)
        if found is None:
            return
        text, line = model.source.text(call.func), model.span_of(found.first)[0].line
        first = model.source.text(found.first.func)
        yield self.finding(
            model,
            call,
            f"`{text}` runs `{found.network}` on the same input as `{first}` in line {line}: the second "
            "forward pass is redundant",
            advice=f"Return what both need from one method that runs `{found.network}` once",
            assumes=f"no code in between changes the weights of `{found.network}` or its input",
            related=[(found.first, "runs first here")],
        )

    def check_methods(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a network that two methods run on the same input, which a third one calls."""
        if model.frequency.heat_of(call).level < self.heat or not is_used(call, model):
            return
        found = repeated_in_methods(call, model)
        if found is None:
            return
        text, line = model.source.text(call.func), model.span_of(found.first)[0].line
        yield self.finding(
            model,
            call,
            f"`{text}` runs again on the same input as in line {line}, where `{found.function}` calls both: "
            f"the second {'lookup' if is_lookup(call, model) else 'forward pass'} is redundant",
            advice=f"Run `{text}` once in `{found.function}`, and pass its result",
            assumes=f"no code in between changes the weights of `{text}` or its input",
            related=[(found.first, "runs first here")],
            minor=why_small(call, model),
        )

    def check_loop(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for `[net(x)[action] for action in actions]`."""
        if not is_forward(call, model):
            return
        loop = loop_without_change(call, model)
        if loop is None or runs_in_one_pass(call, loop, model):
            return
        if has_seen_the_same(call, earlier_equal_calls(call, model), model):
            return
        what = "loop" if isinstance(loop, (ast.For, ast.AsyncFor)) else "comprehension"
        text = " ".join(model.source.text(call.func).split())
        yield self.finding(
            model,
            call,
            f"`{text}` runs again in every iteration of the {what} on the same input",
            fix=hoist(call, loop, model),
            advice="Run the network once before the loop, and reuse its result",
        )


def why_small(call: ast.expr, model: SemanticModel) -> str | None:
    """Return why a repeated forward pass costs little: that of one dense layer, or of an embedding."""
    if is_lookup(call, model):
        return _LOOKUP
    is_dense = isinstance(call, ast.Call) and model.types.type_of(call.func).of in _DENSE
    return _ONE_LAYER if is_dense else None


def is_lookup(call: ast.expr, model: SemanticModel) -> bool:
    """Whether a call runs an embedding, which looks up rows of a matrix."""
    return isinstance(call, ast.Call) and model.types.type_of(call.func).of in _EMBEDDINGS


def runs_in_one_pass(call: ast.Call, loop: AnyLoop, model: SemanticModel) -> bool:
    """Whether a condition lets the call run in one iteration of the loop only: `t == last`, `value is
    None`.
    """
    index = model.analysis.loops.index.get(loop)
    return any(
        guard.kind is GuardKind.ONCE and guard.loop == index for guard in model.frequency.conditions(call)
    )


def message(first: ast.Call, again: ast.expr, model: SemanticModel) -> str:
    """Return the message: what runs again, and where it ran first."""
    text = " ".join(model.source.text(first.func).split())
    redundant = "lookup" if is_lookup(again, model) else "forward pass"
    if model.syntax.statement(first) is model.syntax.statement(again):
        return f"`{text}` runs twice on the same input in one statement: the second {redundant} is redundant"
    line = model.span_of(first)[0].line
    return f"`{text}` runs again on the same input as in line {line}: the second {redundant} is redundant"


def is_used(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the result is used. Loops that measure the time of a network discard it."""
    if isinstance(model.parent(call), ast.Expr):
        return False
    match model.names.targets(call):
        case [ast.Name(id=name) as target]:
            scope = model.names.scope(target).lookup(name)
            return scope is None or bool(model.names.reads(name, scope))
    return True


def assumption(call: ast.Call, model: SemanticModel) -> str:
    """Return what must hold for the result to be the same: that unknown layers are deterministic."""
    if is_forward(call, model):
        return ""
    structure = architecture_of(call, model)
    which = "" if structure is not None and structure.complete else " that are created elsewhere"
    return f"the layers of `{model.source.text(call.func)}`{which} are deterministic"


def twin_meant(first: ast.Call, again: ast.expr, model: SemanticModel) -> str | None:
    """Return the network of a pair that the second run may have meant: `critic2` of `q1 = critic1(x)`,
    `q2 = critic1(x)`, which is evidently an error.
    """
    name = last_name(first.func) or ""
    match model.names.targets(first), model.names.targets(again):
        case [ast.Name(id=one)], [ast.Name(id=other)] if (
            name[-1:].isdigit() and one[-1:] == name[-1] and other[-1:].isdigit() and one[-1] != other[-1]
        ):
            twin = f"{name[:-1]}{other[-1]}"
            return twin if model.names.attribute_uses(twin) or model.names.calls_named(twin, None) else None
    return None
