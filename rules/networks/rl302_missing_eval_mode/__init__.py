"""A network with dropout or batch normalisation, evaluated in training mode.

## What it does
Flags loops that evaluate a network known to have dropout or batch normalisation, if no code in the project
calls `eval()` or `train(False)` for it: neither the function, nor its callees, nor its callers. A loop
evaluates a network if it is in a function called `evaluate`, `validate`, `test_epoch` or similar, or
iterates over a `val_loader` or a `test_set`, or if only such functions call its function. Also flags calls
that pass such a network and `do_train=False` to a function of the project that trains otherwise.

A caller that calls `train()` on the network just before it calls the function is enough, even if other code
calls `eval()`: `net.train()`, `net.fit(batches)`, `net.validate(batches)`.

Functions that select an action (`act`, `select_action`) or evaluate one position are flagged without a loop,
if they run repeatedly, no gradient of the result is computed, and no code of the project calls `eval()` on
what may be the network (`target_net.eval()` does not count for `self.net`). The finding is `likely` and has
advice only. Dropout alone is not flagged there, unless the best action is taken, or a random one instead in
some steps: it may be meant to explore.

The rule does not flag functions that train, and functions whose name says that dropout is intended
(`mc_dropout`, `uncertainty`).

## Why is it slow
Dropout draws a mask for each layer and each batch. Batch normalisation computes means and variances and
updates its running statistics. Evaluation needs none of this.

More importantly, the results are wrong. Units are dropped at random, each row is normalised by the other
rows of its batch, and the evaluation data changes the running statistics of the trained network.

## Example
```python
import torch
from torch import nn

net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 1))


def evaluate(batches: list[torch.Tensor]) -> float:
    total = 0.0
    with torch.no_grad():
        for batch in batches:
            total += net(batch).mean().item()
    return total / len(batches)
```
Use instead:
```python
import torch
from torch import nn

net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 1))


def evaluate(batches: list[torch.Tensor]) -> float:
    total = 0.0
    with torch.no_grad():
        was_training = net.training
        net.eval()
        for batch in batches:
            total += net(batch).mean().item()
        net.train(was_training)
    return total / len(batches)
```

## Fix safety
Always unsafe: the results of the loop change, as they should, and so do later random numbers, because
dropout no longer draws any. There is only advice for actions and single positions, as training must go back
to training mode after many of them.

The fix restores the previous mode after the loop for the network as a whole, so a submodule that was in
another mode gets the same one. If an exception leaves the loop, the network stays in evaluation mode. There
is no fix where the loop returns or yields.

## References
- https://pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.eval
- https://pytorch.org/docs/stable/notes/autograd.html#evaluation-mode-nn-module-eval
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    AnyLoop,
    Applicability,
    Finding,
    Fix,
    Heat,
    Rule,
    SemanticModel,
    descendants,
    is_dotted_name,
    last_name,
    regex,
)
from rlint.rules.networks.rl302_missing_eval_mode.acting import acts, may_act, selects_actions
from rlint.rules.networks.rl302_missing_eval_mode.evaluation import evaluates, may_evaluate
from rlint.rules.networks.rl302_missing_eval_mode.layers_by_mode import (
    by_mode,
    is_network,
    network_of,
    networks_in,
)

_TRAINS = regex(r"^(do_|is_|in_)?(train|training)$|^(train|training)_mode$")
"""Parameters of functions that train or evaluate."""
REASON = (
    "the network's output changes, as intended; afterwards all its submodules have the same mode, even if "
    "some had another before"
)


class MissingEvalMode(Rule):
    code = "RL302"
    name = "missing-eval-mode"
    seeds = ("S1.T2",)
    claims = ("time",)
    heat = Heat.COLD
    concerns_evaluation = True
    visits = (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef)

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        function = node if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else None
        if not model.nn.has_layers_by_mode():
            return
        may, maybe_acts = may_evaluate(function, model), may_act(function)
        for call in descendants(node):
            if isinstance(call, ast.Call) and model.function(call) is function:
                if may and model.frequency.loops(call):
                    yield from self.check_call(call, model)
                elif maybe_acts:
                    yield from self.check_acting(call, model)
                yield from self.check_switched_off(call, model)

    def check_switched_off(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for `run(net, batches, do_train=False)`, which evaluates a network by the function
        that also trains it.
        """
        flag = next((each for each in call.keywords if is_training_off(each)), None)
        if flag is None or not model.types.call_targets(call):
            return
        # callers that switched the mode would have switched it for the training, too
        callers = not trains_as_well(call, model)
        for given in (*call.args, *(keyword.value for keyword in call.keywords)):
            if not isinstance(given, (ast.Name, ast.Attribute)):
                continue
            layer = by_mode(call, given, model) if is_network(given, model) else None
            if layer is not None:
                if model.nn.why_in_training_mode(call, given, callers=callers) is None:
                    return
                text = model.source.text(given)
                yield self.finding(
                    model,
                    call,
                    f"`{text}` is evaluated in training mode: {layer}, and nothing calls `eval()` for "
                    f"`{model.source.text(flag)}`",
                    advice=f"Call `{text}.eval()` before it, and `{text}.train()` after it",
                )
                return

    def check_call(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for `net(batch)`, in a function that may evaluate."""
        loops = model.frequency.loops(call)
        if call in model.syntax.buried:
            return
        network = network_of(call, model)
        if network is None or not evaluates(call, loops, model):
            return
        layer = by_mode(call, network, model)
        why = model.nn.why_in_training_mode(call, network) if layer is not None else None
        if why is None:
            return
        flagged = networks_in(loops[-1], model)
        if network not in flagged:
            return
        yield self.finding(
            model,
            call,
            f"`{model.source.text(network)}` is evaluated in training mode: {layer}, and {why}",
            # one edit for all networks of the loop: a loop that switches one of them is not examined again
            fix=build_fix(flagged, loops[-1], model) if network is flagged[0] else None,
            advice="Call `eval()` before the loop, and `train()` after it if training continues",
        )

    def check_acting(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for `net(observation)`, in a function that selects an action or evaluates."""
        network = network_of(call, model) if call not in model.syntax.buried else None
        layer = by_mode(call, network, model) if network is not None else None
        if network is None or layer is None or not acts(call, network, model):
            return
        why = model.nn.why_in_training_mode(call, network, anywhere=True)
        if why is None:
            return
        text, function = model.source.text(network), model.symbols.function_at(call)
        does = "selects actions" if function and selects_actions(function.name) else "is evaluated"
        yield self.finding(
            model,
            call,
            f"`{text}` {does} in training mode: {layer}, and {why}",
            advice=f"Call `{text}.eval()` before it, and `{text}.train()` before the next gradient step",
            assumes=f"`{text}` is not meant to be random here",
        )


def is_training_off(keyword: ast.keyword) -> bool:
    """Whether an argument says that a function shall not train: `do_train=False`."""
    return (
        keyword.arg is not None
        and bool(_TRAINS.search(keyword.arg))
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value is False
    )


def trains_as_well(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the same function makes the same call to train: without `do_train=False`."""
    same = model.names.calls_named(last_name(call.func) or "", model.function(call))
    return any(not any(map(is_training_off, other.keywords)) for other in same)


def build_fix(networks: list[ast.Name | ast.Attribute], outer: AnyLoop, model: SemanticModel) -> Fix | None:
    """Switch to evaluation mode before the loop, and back to the previous mode after it."""
    statement = outer if isinstance(outer, ast.stmt) else model.syntax.statement(outer)
    names = {node.id for network in networks for node in descendants(network) if isinstance(node, ast.Name)}
    for node in descendants(statement):
        if isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom, ast.Await)):
            return None
        if isinstance(node, ast.Name) and node.id in names and not isinstance(node.ctx, ast.Load):
            return None
    if isinstance(statement, (ast.If, ast.With)) or not all(map(is_dotted_name, networks)):
        return None
    enter, leave = [], []
    for network in networks:
        text = model.edit.code(network)
        key = f"mode {model.source.span(network)[0]}"
        before = model.importer.fresh_local(
            ["was_training", f"{words_joined(text)}_was_training"], statement, key
        )
        enter += [f"{before} = {text}.training", f"{text}.eval()"]
        leave.append(f"{text}.train({before})")
    edits = (model.edit.insert_before(statement, *enter), model.edit.insert_after(statement, *leave))
    if edits[0] is None or edits[1] is None:
        return None
    return Fix("Evaluate it in evaluation mode", Applicability.UNSAFE, (edits[0], edits[1]), REASON)


def words_joined(text: str) -> str:
    """Return the words of an access joined to a name: `agent_net` for `self.agent.net`."""
    return text.removeprefix("self.").replace(".", "_")
