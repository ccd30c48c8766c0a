"""A network with dropout or batch normalisation, evaluated in training mode.

## What it does
Flags loops that evaluate a network known to have dropout or batch normalisation, if no code in the project
calls `eval()` or `train(False)` for it: neither the function, nor its callees, nor its callers. A loop
evaluates a network if it is in a function called `evaluate`, `validate`, `test_epoch` or similar, or
iterates over a `val_loader` or a `test_set`, or if only such functions call its function. Also flags calls
that pass such a network and `do_train=False` to a function of the project that trains otherwise.

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
dropout no longer draws any.

The fix restores the previous mode after the loop for the network as a whole, so a submodule that was in
another mode gets the same one. If an exception leaves the loop, the network stays in evaluation mode. There
is no fix where the loop returns or yields.

## References
- https://pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.eval
- https://pytorch.org/docs/stable/notes/autograd.html#evaluation-mode-nn-module-eval
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

from rlint.rule import (
    AnyLoop,
    Applicability,
    Finding,
    Fix,
    Function,
    Heat,
    Rule,
    SemanticModel,
    TypeTag,
    descendants,
    is_dotted_name,
    last_name,
    regex,
)

EVALUATES = frozenset(
    """eval evaluate evaluation evaluating evaluator val valid validate validation test testing arena
    benchmark probe""".split()
)
DATA = EVALUATES | {"holdout", "heldout"}
LEARNS = frozenset("train training fit learn update optimize optimise finetune calibrate".split())
ENDS = ("loader", "set", "data", "dataset", "iter", "batches", "dl")
MEANT = frozenset("mc uncertainty bayesian stochastic epistemic ensemble".split())
_MAY_MEAN_DATA = regex("|".join(sorted(DATA)), re.IGNORECASE)  # most names contain none of the words
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
        may = may_evaluate(function, model)
        for call in descendants(node):
            if isinstance(call, ast.Call) and model.function(call) is function:
                if may:
                    yield from self.check_call(call, model)
                yield from self.check_switched_off(call, model)

    def check_switched_off(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for `run(net, batches, do_train=False)`, which evaluates a network by the function
        that also trains it.
        """
        flag = next((each for each in call.keywords if is_training_off(each)), None)
        if flag is None or not model.types.call_targets(call):
            return
        # callers that switched the mode would have switched it for the training, too
        if model.nn.may_be_in_eval_mode(call, callers=not trains_as_well(call, model)):
            return
        for given in (*call.args, *(keyword.value for keyword in call.keywords)):
            if not isinstance(given, (ast.Name, ast.Attribute)):
                continue
            layer = by_mode(call, given, model) if is_network(given, model) else None
            if layer is not None:
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
        if not loops or call in model.syntax.buried:
            return
        network = network_of(call, model)
        if network is None or not evaluates(call, loops, model):
            return
        if by_mode(call, network, model) is None or model.nn.may_be_in_eval_mode(call):
            return
        flagged = networks_in(loops[-1], model)
        if network not in flagged:
            return
        layer = by_mode(call, network, model)
        yield self.finding(
            model,
            call,
            (
                f"`{model.source.text(network)}` is evaluated in training mode: {layer}, and `eval()` is "
                f"never called"
            ),
            # one edit for all networks of the loop: a loop that switches one of them is not examined again
            fix=build_fix(flagged, loops[-1], model) if network is flagged[0] else None,
            advice="Call `eval()` before the loop, and `train()` after it if training continues",
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


def is_network(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is a network."""
    return model.types.type_of(value).tag is TypeTag.MODULE


def by_mode(call: ast.Call, network: ast.expr, model: SemanticModel) -> str | None:
    """Return what a layer that surely is in the network does in training mode."""
    method = "forward" if network is call.func else getattr(call.func, "attr", "forward")
    structure = model.nn.architecture(network, method)
    if structure.overrides:
        return None
    return next(
        (described(name) for name, sure in structure.layers.items() if sure and described(name)), None
    )


def networks_in(outer: AnyLoop, model: SemanticModel) -> list[ast.Name | ast.Attribute]:
    """Return the networks with such layers that a loop runs, each at its first call."""
    found: dict[str, ast.Name | ast.Attribute] = {}
    calls = [node for node in descendants(outer) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=model.source.span):
        network = network_of(call, model)
        if network is not None and by_mode(call, network, model) is not None:
            found.setdefault(model.source.text(network), network)
    return list(found.values())


def described(layer: str) -> str | None:
    """Return what a layer does in training mode; None for layers that do not depend on the mode."""
    name = layer.rpartition(".")[2]
    if "BatchNorm" in name:
        return f"`{name}` normalises with batch statistics and updates its running statistics"
    return f"`{name}` drops units at random" if "Dropout" in name else None


def network_of(call: ast.Call, model: SemanticModel) -> ast.Name | ast.Attribute | None:
    """Return the network that a call runs: `net` for `net(x)` and for `net.get_value(x)`."""
    match call.func:
        case ast.Name() | ast.Attribute() as func if is_network(func, model):
            return func
        case ast.Attribute(value=ast.Name() | ast.Attribute() as owner) if model.types.type_of(
            owner
        ).tag is TypeTag.MODULE and model.types.call_targets(call):
            return owner
    return None


def may_evaluate(function: Function | None, model: SemanticModel) -> bool:
    """Whether any code in a function (None: at module level) can be evaluation: by its name, or because it
    loops over evaluation data.
    """
    loops = model.analysis.loops.of_function.get(function)
    if loops is None:
        return False  # a network is evaluated in a loop
    words = words_in(function.name) if function is not None else frozenset()
    if not (words.isdisjoint(MEANT) and words.isdisjoint(LEARNS)):
        return False
    if means_to_evaluate(function) or any(map(is_over_data, loops)):
        return True
    return function is not None and model.once(is_called_by_evaluation, function)


def means_to_evaluate(function: Function | None) -> bool:
    """Whether a function is named after an evaluation."""
    return function is not None and means_evaluation(function.name)


def evaluates(call: ast.Call, loops: list[AnyLoop], model: SemanticModel) -> bool:
    """Whether these loops of a function that may evaluate do so, rather than train."""
    function = model.function(call)
    learning = [call for name in ("backward", "train") for call in model.names.calls_named(name, function)]
    if means_to_evaluate(function):
        return not learning
    if any(map(is_over_data, loops)):
        return not any(loops[-1] in model.ancestors(other) for other in learning)
    return not learning and function is not None and model.once(is_called_by_evaluation, function)


def is_called_by_evaluation(function: Function, model: SemanticModel) -> bool:
    """Whether all functions that call a function are named after evaluations."""
    body = function.body if isinstance(function.body, ast.expr) else function.body[0]
    callers = [caller for caller, _ in model.usage.call_sites(body)]
    return bool(callers) and all(means_evaluation(caller.name) for caller in callers)


def is_over_data(loop: AnyLoop) -> bool:
    """Whether a loop iterates over data that are named after evaluation."""
    return any(map(means_data, iterated(loop)))


@lru_cache(maxsize=4096)
def means_data(name: str) -> bool:
    """Whether a name is that of evaluation data."""
    return _MAY_MEAN_DATA.search(name) is not None and not words_in(name).isdisjoint(DATA)


@lru_cache(maxsize=4096)
def means_evaluation(name: str) -> bool:
    """Whether a name is that of an evaluation."""
    return _MAY_MEAN_DATA.search(name) is not None and not words_in(name).isdisjoint(EVALUATES)


def iterated(loop: AnyLoop) -> Iterator[str]:
    """Yield the names in the iterable of a loop."""
    if isinstance(loop, ast.While):
        return
    over = [loop.iter] if isinstance(loop, (ast.For, ast.AsyncFor)) else [g.iter for g in loop.generators]
    for node in (child for value in over for child in descendants(value)):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


@lru_cache(maxsize=4096)
def words_in(name: str) -> frozenset[str]:
    """Return the words of a name: evaluate, all and policy for `evaluateAll_policy`."""
    spaced = name if name.islower() else "".join(f" {char}" if char.isupper() else char for char in name)
    words = {word.strip("0123456789").lower() for word in spaced.replace("_", " ").split()}
    return frozenset(words | {word.removesuffix(end) for word in words for end in ENDS})


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
