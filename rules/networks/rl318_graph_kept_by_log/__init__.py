"""A loss that is accumulated for logging together with its autograd graph.

## What it does
Flags `total += loss`, `total = total + loss` and `losses.append(loss)` in a loop of training or evaluation
where `loss` is a tensor that still carries its graph: `backward()` was called on it or on a larger loss
that contains it, or the loss is not trained on at all. The call of `backward()` may be in a function of the
project that returns the tensor: `loss, ratio = self.update(batch)`, then `info["ratio"] += ratio.mean()`.
Or it is in a function that receives the tensor: `self.net.fit(loss)`.

The loss may also be an item of a dict or tuple that is appended (`history.append({"loss": loss})`), of a list
that is added (`losses += [loss]`, `extend`, `insert`), or the term of a moving average
(`mean = 0.99 * mean + 0.01 * loss`), of `torch.add`, of `sum(losses, total)`, or of a dict of sums.

Sums in a local dict of statistics count as well if a network surely computed the values with autograd on.

The rule does not flag:

- sums and lists on which `backward()` is called later, in this function or in its callers, and items of
  dicts that each iteration creates;
- values that are stored before `backward()`;
- items of a dict that the function which returns it sets to numbers or detached tensors
  (`stats.update({"loss": loss.item()})`);
- functions that keep graphs on purpose (`create_graph`, or `retain_graph` without a later optimizer step).

## Why is it slow
A stored loss keeps its graph alive. Without `backward()`, that is every activation and intermediate result
of every iteration, so memory grows with the length of the loop. After `backward()` the saved tensors are
freed, but the nodes of the graph remain, one for each operation of each iteration, and the impact of a sum
is low. The measured figures count tensors only and do not include these nodes.

## Example
```python
import torch
from torch import nn
from torch.nn import functional as F


def train(network: nn.Linear, optimizer: torch.optim.Optimizer, loader) -> float:
    total = 0.0
    for states, wanted in loader:
        loss = F.mse_loss(network(states), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss
    return total / len(loader)
```
Use instead:
```python
import torch
from torch import nn
from torch.nn import functional as F


def train(network: nn.Linear, optimizer: torch.optim.Optimizer, loader) -> float:
    total = 0.0
    for states, wanted in loader:
        loss = F.mse_loss(network(states), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.detach()
    return total / len(loader)
```

## Fix safety
Always unsafe: no code may compute a gradient through the stored value (rlint sees none that does), and a
printed tensor no longer shows its `grad_fn`. The fix stores the tensor with `.detach()`. Where a number is
enough, `.item()` returns one; on a GPU it synchronises with the device.

## References
- https://pytorch.org/docs/stable/notes/faq.html#my-model-reports-cuda-runtime-error-2-out-of-memory
- https://pytorch.org/docs/stable/generated/torch.Tensor.detach.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from rlint.rule import (
    AnyLoop,
    Applicability,
    BindingKind,
    Finding,
    Fix,
    FunctionSummary,
    Heat,
    Rule,
    SemanticModel,
    SinkKind,
    TypeTag,
    gradient_sinks,
    weight_sync,
)
from rlint.rules.networks._shared.backward_calls import BACKWARD
from rlint.rules.networks.rl318_graph_kept_by_log.kept_forms import IN_PLACE, PUTS_INTO, Kept, kept_by
from rlint.rules.networks.rl318_graph_kept_by_log.kept_graphs import (
    begins_in_loop,
    has_backward,
    is_called_loss,
    is_item_of_short_lived,
    surely_attached,
)
from rlint.rules.networks.rl318_graph_kept_by_log.returned_losses import (
    is_learned_in_other_file,
    may_be_number,
    returned_values,
    stored_items,
)

STATISTICS = frozenset("info infos metrics stats statistics log logs".split())
_MINOR = "`backward` has freed the saved tensors, so that only the nodes of the graphs remain"
_HOLDERS = (TypeTag.DICT, TypeTag.TUPLE, TypeTag.LIST)
ENDS_OR_LEAVES = gradient_sinks.ENDS | {SinkKind.RETURNED}


class GraphKeptByLog(Rule):
    code = "RL318"
    name = "graph-kept-by-log"
    claims = ("mem",)
    heat = Heat.WARM
    visits = (ast.AugAssign, ast.Assign, ast.Call)
    callees = PUTS_INTO | IN_PLACE
    triggers = ("+=", "-=", "append(", "extend(", "insert(", "add", "sub", "lerp(", "sum(", "+ ", "- ", "[*")

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        for kept in kept_by(node):
            yield from self.check_kept(kept, model)

    def check_kept(self, kept: Kept, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a value that is kept with its graph."""
        after_backward = keeps_graph(kept, model)
        if after_backward is None:
            return
        value, total = model.source.text(kept.value), model.source.text(kept.keeper)
        message = f"`{total}` keeps the graph of every `{value}`, with all tensors saved for `backward`"
        minor = None
        if after_backward:
            exhausted = isinstance(_reduced(kept.value), (ast.Name, ast.Attribute, ast.Subscript))
            message = f"`{total}` keeps the graph of every `{value}`, " + (
                "which `backward` has already used"
                if exhausted
                else "of which `backward` uses at most a part"
            )
            minor = _MINOR if exhausted and (kept.is_sum or is_begun_often(kept.keeper, model)) else None
        advice = f"Keep `{value}.detach()`, or `{value}.item()` where a number is enough"
        fix = build_fix(kept, model)
        if model.types.type_of(kept.value).tag in _HOLDERS or may_be_number(kept.value, model):
            advice, fix = f"Detach the tensors in `{value}`, or keep numbers", None
        assumes = "" if after_backward else assumption(kept.keeper, model)
        yield self.finding(model, kept.value, message, fix=fix, advice=advice, assumes=assumes, minor=minor)


def _reduced(value: ast.expr) -> ast.expr:
    """Return the tensor of a mean or a sum, whose own node saves no tensor."""
    match value:
        case ast.Call(func=ast.Attribute(value=tensor, attr="mean" | "sum"), args=[], keywords=[]):
            return tensor
        case (
            ast.BinOp(left=tensor, op=ast.Mult() | ast.Div(), right=ast.Constant())
            | ast.BinOp(left=ast.Constant(), op=ast.Mult(), right=tensor)
        ):
            return tensor
    return value


def keeps_graph(kept: Kept, model: SemanticModel) -> bool | None:
    """Whether the container keeps graphs that are no longer used for a gradient (True), or never are (False).
    None if it may not keep graphs.
    """
    value, keeper = kept.value, kept.keeper
    local = isinstance(keeper, ast.Name)
    loops = _loops_around(kept, model)
    if local and not loops and not is_of_module(keeper, model):
        return None
    if (
        not any(map(model.names.attribute_uses, BACKWARD))
        and not (local and is_called_loss(kept, model))
        and not is_learned_in_other_file(value, model)
    ):
        return None  # no gradient is computed from it
    if model.types.type_of(keeper).tag in (TypeTag.DEQUE, TypeTag.NDARRAY) or model.types.type_of(
        value
    ).tag in (
        TypeTag.FLOAT,
        TypeTag.INT,
    ):
        return None
    if isinstance(keeper, ast.Name) and loops and begins_in_loop(keeper, kept.node, model):
        return None
    stored = stored_items(value, model)
    if stored and not any(model.gradients.sources(each).calls for each in stored):
        return None
    if is_item_of_short_lived(kept, model):
        return None
    if not any(adds_gradient(call, loops, model) for call in model.gradients.sources(value).calls):
        return None
    becomes = (
        {left.label for left in model.gradients.variable_sinks(keeper)}
        if isinstance(keeper, ast.Name)
        else set()
    )
    if SinkKind.LEARNED in becomes or SinkKind.ARRAY in becomes:
        return None
    learned = has_backward(value, model)
    if learned is None or (SinkKind.RETURNED in becomes and retains_graph(kept, model)):
        return None
    if learned:
        return True
    if sum_of(kept) is not None:
        return False if is_statistic(kept, model) else None
    if not local or not becomes or not becomes <= ENDS_OR_LEAVES or not is_called_loss(kept, model):
        return None
    if not surely_attached(value, model):
        return None
    if SinkKind.RETURNED in becomes and not model.gradients.traced(keeper).labels <= gradient_sinks.ENDS:
        return None
    return False


def _loops_around(kept: Kept, model: SemanticModel) -> Sequence[AnyLoop]:
    """Return the loops around a kept value, without the innermost if it only iterates over the losses of one
    step: `for name, loss in losses.items()`.
    """
    loops = model.frequency.loops(kept.node)
    if not loops or not isinstance(kept.value, ast.Name) or not isinstance(loops[0], ast.For):
        return loops
    bindings = model.dataflow.definitions(kept.value)
    iterates = bool(bindings) and all(
        each.kind is BindingKind.FOR and each.value is loops[0].iter for each in bindings
    )
    calls = model.gradients.sources(kept.value).calls if iterates else ()
    if calls and not any(loops[0] in model.ancestors(call) for call in calls):
        return loops[1:]
    return loops


def adds_gradient(call: ast.Call, loops: Sequence[AnyLoop], model: SemanticModel) -> bool:
    """Whether a call in the innermost of the `loops` around a kept value may return another graph each time.
    A function of the project that only combines its arguments (`mean(error.detach())`) adds none.
    """
    if loops and loops[0] not in model.ancestors(call):
        return False
    targets = model.types.call_targets(call)
    return not targets or any(
        function.is_method
        or function.runs
        or function.outside_reads
        or not all(_is_of_argument(path, function) for path in function.gradient_from)
        for function in targets
    )


def _is_of_argument(path: str, function: FunctionSummary) -> bool:
    """Whether a called path is a method of an argument: `module.function@values.mean`."""
    owner, _, method = path.partition("@")
    return owner == function.path and method.partition(".")[0] in function.parameters


def retains_graph(kept: Kept, model: SemanticModel) -> bool:
    """Whether a list collects losses in a function that retains graphs: the caller may use them."""
    if not isinstance(kept.node, ast.Call) or not isinstance(kept.keeper, ast.Name):
        return False
    return any(
        keyword.arg == "retain_graph"
        for call in model.names.calls_named("backward", model.function(kept.node))
        for keyword in call.keywords
    )


def is_of_module(keeper: ast.expr, model: SemanticModel) -> bool:
    """Whether a function adds to a variable of the module, which outlives its calls."""
    if not isinstance(keeper, ast.Name) or model.function(keeper) is None:
        return False
    scope = model.names.scope(keeper).lookup(keeper.id)
    return scope is not None and scope.parent is None


def is_statistic(kept: Kept, model: SemanticModel) -> bool:
    """Whether a sum in a local dict of statistics (`info["kl"] += kl`) adds values with their graphs, and no
    gradient of the dict's items is computed, as far as it is followed.
    """
    total = sum_of(kept)
    if total is None or not model.frequency.loops(kept.node):
        return False
    if not is_called_loss(kept, model) and not weight_sync.words_of(total, model) & STATISTICS:
        return False
    labels = {left.label for left in model.gradients.variable_sinks(total)}
    if not labels <= ENDS_OR_LEAVES:
        return False
    if not model.names.calls_named("backward", None) and not model.names.attribute_uses("backward"):
        return False
    if SinkKind.RETURNED in labels and SinkKind.LEARNED in model.gradients.traced(total).labels:
        return False
    results = [result for found in returned_values(kept.value, model) for result in found]
    return any(surely_attached(each, model) for each in (kept.value, *results))


def sum_of(kept: Kept) -> ast.Name | None:
    """Return the local dict of a sum that is one of its items: `info` of `info["kl"] += kl`."""
    match kept:
        case Kept(
            node=ast.AugAssign(), keeper=ast.Subscript(value=ast.Name() as total, slice=ast.Constant())
        ):
            return total
    return None


def assumption(keeper: ast.expr, model: SemanticModel) -> str:
    """Return the assumption under which no code computes a gradient from the part of the container that is
    returned.
    """
    keeper = keeper.value if isinstance(keeper, ast.Subscript) else keeper
    assert isinstance(keeper, ast.Name)
    if any(left.label is SinkKind.RETURNED for left in model.gradients.variable_sinks(keeper)):
        return model.gradients.traced(keeper).assumption
    return ""


def build_fix(kept: Kept, model: SemanticModel) -> Fix | None:
    """Detach the stored value."""
    value = kept.whole or kept.value
    edit = model.edit.replace(value, f"{model.edit.parenthesized(value)}.detach()")
    reason = f"no code may compute a gradient through the stored `{model.source.text(kept.value)}`"
    return Fix("Detach it from its graph", Applicability.UNSAFE, (edit,), reason)


def is_begun_often(keeper: ast.expr, model: SemanticModel) -> bool:
    """Whether a list is created again on every call, such as in a function that learns from one batch: it is
    gone when the function returns.
    """
    if not isinstance(keeper, ast.Name):
        return False
    begun = [binding.statement for binding in model.dataflow.definitions(keeper)]
    return bool(begun) and all(
        isinstance(each, ast.stmt) and model.frequency.heat_of(each).level >= Heat.WARM for each in begun
    )
