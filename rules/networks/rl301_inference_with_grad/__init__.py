"""A forward pass that builds an autograd graph from which no gradient is ever computed.

## What it does
Flags a forward pass in hot code (to act, to evaluate, to compute targets) that runs with autograd on, if its
result is only used as numbers (also as items of a numpy array), as indices (`argmax`), as samples of a
distribution, or detached from the graph (also by `Variable(x)`). In warm code (once per update or episode) a
forward pass is flagged if it runs on a whole batch of sequences or of a rollout, or for a loss: a line search
that only compares the losses of several steps, also by a function or lambda that it is passed.

Results that a parameter of the function detaches (`if detach: features = features.detach()`) are flagged in
hot code, with advice only, as a caller likely passes it.

rlint follows results that are returned, stored in attributes or passed to functions of the same file to all
code that receives them. If other files might use them too, the finding is `likely` and its fix unsafe.
Recurrent state that callers, also in other files, only pass back to the same function or store in a buffer
does not count as a use of its gradient.

A value of unknown type is `likely` a network if its name says so and a tensor is passed to it
(`self.model(x).argmax()`). A loss module of the project that detaches one of its arguments in `forward` ends
the gradient of that argument.

A policy that the loss of a critic runs through is flagged, if the optimizer that steps next does not update
it and `zero_grad` discards its gradients: sampled actions in a penalty or a target that are not detached.

A result that leaves a function which returns a random action while it explores (`if random.random() <
epsilon:`) is `likely` not trained on, whatever its callers are.

A method of a network that selects an action, and that is only called of copies of it which follow its weights
(`self.policy_old.act(state, memory)`), likely needs no graph, even if it stores log-probabilities.

A forward pass in a worker process (`Process`, or work passed to a process pool) whose code computes no
gradient is likely not trained on: a tensor with a graph cannot be sent to another process. `torch.no_grad()`
around the code that starts the workers has no effect in them.

A network whose weights do not require gradients is flagged if it runs on the output of a network whose
weights do: `baseline = frozen(encoder(x)).detach()`.

The rule does not flag results passed to unknown functions, other networks whose weights do not require
gradients, and functions that are only called with autograd off.

## Why is it slow
With autograd on, each layer saves its input for the backward pass and each operation adds a node to the
graph. The graph is then freed unused. For a batch, this keeps all activations in memory at once. For one
observation, creating the nodes is a considerable part of the time of each action.

For large batches the time hardly changes. Peak memory does not change where one layer needs more memory
than all others together, such as the first convolution of an image network.

## Example
```python
import torch
from torch import nn


class Agent:
    def __init__(self) -> None:
        self.network = nn.Linear(4, 2)

    def act(self, observation: torch.Tensor) -> int:
        values = self.network(observation)
        return values.argmax().item()
```
Use instead:
```python
import torch
from torch import nn


class Agent:
    def __init__(self) -> None:
        self.network = nn.Linear(4, 2)

    def act(self, observation: torch.Tensor) -> int:
        with torch.no_grad():
            values = self.network(observation)
        return values.argmax().item()
```

## Fix safety
The fix puts the statement with the forward pass in a `with torch.no_grad():` block. It does not use
`torch.inference_mode()`, which is no faster and whose tensors raise an error if they are saved for a
backward pass or written to later.

Safe where all layers of the network are known, no code of it stores, prints or modifies tensors other than
its own, all uses of the result are in sight and end its graph (`.argmax()`, `.item()`, `.detach()`), and the
types of all other operands of the statement show that they carry no gradient. A result that is also passed
to another network must not be stored there.

Unsafe in these cases:

- The network is created elsewhere, sets attributes (also in a property or operator that its code uses) or has
  hooks.
- The code of the network prints values, updates buffers in place, changes its arguments or other objects, or
  is decorated; or code of the program replaces layers of it after their construction.
- The code runs inside `autocast`, whose cached weights carry no gradient in old versions of PyTorch.
- The result, or a view of it (`.detach().squeeze(-1)`), is changed in place later: views that are created
  under `no_grad` cannot be changed by values with a gradient.
- A layer of the network may write to its input (`nn.ReLU(inplace=True)`), and the input may carry a gradient.
- The network contains attention, a transformer or a recurrent layer (`LSTM`), or the values are multiplied as
  matrices or decomposed (`svdvals`). These use another kernel under `no_grad`, so the last digits differ.
- The program uses `weight_norm`, `spectral_norm` or a parametrization, which may store the weights of the
  last forward pass.

There is no fix where the statement also computes a value that is trained on.

## References
- https://pytorch.org/docs/stable/generated/torch.no_grad.html
- https://pytorch.org/docs/stable/notes/autograd.html#locally-disabling-gradient-computation
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from rlint.rule import (
    Autograd,
    Driver,
    Finding,
    FunctionSummary,
    Heat,
    Rule,
    SemanticModel,
    SinkKind,
    weight_sync,
)
from rlint.rules.networks._shared.no_grad import (
    joined,
    only_leads_on,
    outermost_calls,
    value_of,
)
from rlint.rules.networks.rl301_inference_with_grad.acting_copies import acts_for_copies
from rlint.rules.networks.rl301_inference_with_grad.drawn_arrays import reads_arrays_of_samples
from rlint.rules.networks.rl301_inference_with_grad.exploring import selects_action
from rlint.rules.networks.rl301_inference_with_grad.frozen_networks import records_nothing
from rlint.rules.networks.rl301_inference_with_grad.leaving import is_cut_off_later
from rlint.rules.networks.rl301_inference_with_grad.many_rows import is_worth_it
from rlint.rules.networks.rl301_inference_with_grad.no_grad_fix import build_fix
from rlint.rules.networks.rl301_inference_with_grad.optional_detach import option_that_detaches
from rlint.rules.networks.rl301_inference_with_grad.stored_values import leaves_something
from rlint.rules.networks.rl301_inference_with_grad.thrown_away import thrown_away
from rlint.rules.networks.rl301_inference_with_grad.worker_processes import idle_worker

ADVICE = "Run the forward pass under `torch.no_grad()`"
NOTHING_TAKEN = "no gradient of the result is computed"
LEAVES = {
    SinkKind.NUMBER: "only numbers are used",
    SinkKind.CONVERTED: "only numbers are used",
    SinkKind.SHOWN: "the result is only printed",
    SinkKind.INDEX: "only the indices are used",
    SinkKind.DETACHED: "the result is detached",
}


class InferenceWithGrad(Rule):
    code = "RL301"
    name = "inference-with-grad"
    seeds = ("S1.T2",)
    claims = ("time", "mem")
    scales_with_network = True
    heat = Heat.WARM
    visits = (ast.Call,)
    triggers = ("torch", ".detach()", ".item()", ".cpu()", ".data")

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        assert isinstance(node, ast.Call)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "backward":
            yield from self._thrown_away(node, model)
            return
        if not (node.args or node.keywords or model.gradients.runs_lambda(node)):
            return
        if not is_idle(node, model):
            option = option_that_detaches(node, model)
            if option is None:
                yield from self._leaving(node, model)
            elif model.frequency.heat_of(node).level is Heat.HOT:
                yield self._detached_by_option(node, option, model)
            return
        statement = model.syntax.statement(node)
        if value_of(statement) is None:
            outer = [a for a in model.ancestors(node) if isinstance(a, ast.Call) and is_idle(a, model)]
            run = [] if outer else [node]
            statements: list[ast.stmt] = []
        else:
            if outermost_calls(statement, is_idle, model)[0] is not node or is_led_on_to(node, model):
                return  # reported with the previous one
            statements = run_from(node, model)
            run = [call for one in statements for call in outermost_calls(one, is_idle, model)]
        if not run:
            return
        if not is_worth_it(node, model):
            model.silent("{} runs less than once per step, and its names suggest one row at a time", node)
            return
        names = list(dict.fromkeys(model.source.text(call.func) for call in run))
        outlets = {left.label for call in run for left in model.gradients.sinks(call)}
        what = LEAVES.get(outlets.pop(), NOTHING_TAKEN) if len(outlets) == 1 else NOTHING_TAKEN
        records = "builds an autograd graph that is" if len(names) == 1 else "build autograd graphs that are"
        message = f"{joined(names)} {records} never used: {what}"
        yield self.finding(
            model,
            node,
            message,
            fix=build_fix(statements, is_idle, model),
            advice=ADVICE,
            related=[(call, "also builds a graph that is never used") for call in run if call is not node],
        )

    def _thrown_away(self, backward: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield findings for policies that the loss of a critic runs through."""
        for each in thrown_away(backward, model):
            loss = model.source.text(each.loss)
            yield self.finding(
                model,
                each.call,
                f"`{each.network}` builds an autograd graph for `{loss}`, whose gradients of its weights "
                f"{each.by} discards",
                advice=ADVICE,
            )

    def _of_copy(self, call: ast.Call, copy: str, model: SemanticModel) -> Finding:
        """Return a finding for a forward pass of a copy of a network that only acts."""
        return self.finding(
            model,
            call,
            f"`{model.source.text(call.func)}` builds an autograd graph to act, and only "
            f"`{copy}` acts, which takes over the weights of another network",
            fix=build_fix([model.syntax.statement(call)], is_acting_for_copies, model, traced=True),
            advice=ADVICE,
            assumes=f"no optimizer updates `{copy}`",
        )

    def _in_worker(self, call: ast.Call, worker: FunctionSummary, model: SemanticModel) -> Finding:
        """Return a finding for a forward pass in a worker process that computes no gradient."""
        return self.finding(
            model,
            call,
            f"`{model.source.text(call.func)}` builds an autograd graph in worker processes, which compute "
            f"no gradient and cannot pass the graph on: they run `{worker.shown}`",
            advice=f"Decorate `{worker.shown}` with `@torch.no_grad()`: a block around the code that starts "
            "the processes does not reach into them",
            # what is assumed of the network is enough: no code of the worker that is known learns
            assumes=None
            if model.gradients.is_assumed(call)
            else f"no code that `{worker.shown}` runs computes a gradient",
        )

    def _detached_by_option(self, call: ast.Call, option: str, model: SemanticModel) -> Finding:
        """Return a finding for a forward pass whose result a parameter of the function detaches."""
        return self.finding(
            model,
            call,
            f"`{model.source.text(call.func)}` builds an autograd graph that the parameter `{option}` drops",
            advice=f"Run it under `torch.set_grad_enabled(not {option})`",
            assumes=f"a caller passes `{option}=True`",
        )

    def _leaving(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a forward pass whose result leaves the function, if all receivers detach it, or
        if the function selects an action, which it may also draw at random.
        """
        statement = model.syntax.statement(call)
        if value_of(statement) is None or not model.gradients.gives_gradient(call):
            return
        if not is_worth_it(call, model):
            return
        text = model.source.text(call.func)
        if is_cut_off_later(call, model):
            if outermost_calls(statement, is_cut_off_later, model)[0] is not call:
                return
            if is_reported_at_callers(call, model):
                return
            traced = model.gradients.traced(call)
            what = LEAVES[next(iter(traced.labels))] if len(traced.labels) == 1 else NOTHING_TAKEN
            message = f"`{text}` builds an autograd graph that is never used: {what}"
            fix = build_fix([statement], is_cut_off_later, model, traced=True)
            yield self.finding(model, call, message, fix=fix, advice=ADVICE, assumes=traced.assumption)
            return
        copy = acts_for_copies(call, model)
        if copy:
            if outermost_calls(statement, is_acting_for_copies, model)[0] is call:
                yield self._of_copy(call, copy, model)
            return
        worker = idle_worker(call, model)
        if worker is not None:
            if outermost_calls(statement, is_in_idle_worker, model)[0] is call:
                yield self._in_worker(call, worker, model)
            return
        function = selects_action(call, model)
        if function is None or outermost_calls(statement, is_selecting, model)[0] is not call:
            return
        yield self.finding(
            model,
            call,
            f"`{text}` builds an autograd graph to select an action, where the function may also return a "
            "random one",
            fix=build_fix([statement], is_selecting, model, traced=True),
            advice=ADVICE,
            assumes=f"no caller of `{function.name}` computes a gradient",
        )


def is_acting_for_copies(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a forward pass selects an action in a method that is only called of copies of a network."""
    return bool(acts_for_copies(call, model))


def is_in_idle_worker(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a forward pass runs in a worker process that computes no gradient."""
    return idle_worker(call, model) is not None


def is_selecting(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a forward pass selects an action in a function that may also return a random one."""
    return selects_action(call, model) is not None


def is_idle(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call runs a network with autograd enabled, and no gradient of its result is used."""
    if isinstance(call.func, ast.Call):
        return False
    if not (call.args or call.keywords or model.gradients.runs_lambda(call)):
        return False
    if not model.gradients.gives_gradient(call):
        if model.types.type_of(call.func) or not weight_sync.is_network(call.func, model):
            return False
        if model.names.qualified(call.func) or model.types.call_targets(call):
            return False
    if model.gradients.autograd_at(call) is not Autograd.ON or records_nothing(call, model):
        model.silent("{} runs a network, but autograd is off there, or is not known to be on", call)
        return False
    sinks = model.gradients.contained_sinks(call)
    if not sinks and reads_arrays_of_samples(call, model):
        sinks = model.gradients.sinks(call)
    outlets = {left.label for left in sinks}
    detached = [left.node for left in sinks if left.label is SinkKind.DETACHED]
    if not outlets or outlets == {SinkKind.SHOWN} or _may_have_ended_before(call, detached, model):
        model.silent("a gradient may be computed through the result of {}", call)
        return False
    return not leaves_something(call, model)


def _may_have_ended_before(call: ast.Call, detached: Sequence[ast.AST], model: SemanticModel) -> bool:
    """Whether a function whose result goes to an environment may convert it itself: the step of the
    environment says nothing of where the gradient ends.
    """
    run = model.nn.network_run(call)
    return (run is None or run[1] != "forward") and any(
        isinstance(node, ast.Call) and model.analysis.loops.driver_of(node) is Driver.ENVIRONMENT_STEP
        for node in detached
    )


def is_reported_at_callers(call: ast.Call, model: SemanticModel) -> bool:
    """Whether all callers of the function, in this file, get findings of their own."""
    function = model.function(call)
    if function is None:
        return False
    calls = [
        around
        for use in model.names.attribute_uses(function.name)
        if isinstance(around := model.parent(use), ast.Call) and around.func is use
    ]
    return bool(calls) and all(is_idle(each, model) and is_worth_it(each, model) for each in calls)


def run_from(call: ast.Call, model: SemanticModel) -> list[ast.stmt]:
    """Return the statements from one with an unused graph to the last such, if nothing else is between
    them. What is certain is reported by itself.
    """
    block, index = model.syntax.block(model.syntax.statement(call))
    end = index + 1
    is_assumed = model.gradients.is_assumed(call)
    for position in range(end, len(block)):
        found = outermost_calls(block[position], is_idle, model)
        if is_assumed and not all(model.gradients.is_assumed(each) for each in found):
            break
        if found:
            end = position + 1
        elif not only_leads_on(block[position], model):
            break
    return block[index:end]


def is_led_on_to(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the statement of a forward pass belongs to a run that began before it. A run that is certain
    is reported without what only likely belongs to it.
    """
    block, index = model.syntax.block(model.syntax.statement(call))
    for earlier in reversed(block[:index]):
        before = outermost_calls(earlier, is_idle, model)
        if before:
            return len({model.gradients.is_assumed(each) for each in (call, *before)}) == 1
        if not only_leads_on(earlier, model):
            return False
    return False
