"""A copy of network weights that is never read, or only compared in a log message.

## What it does
Flags a clone or another copy of weights in code that runs repeatedly, if the copy is never read, or only
used in a comparison that is printed or logged. Copies are `weight.data.clone()`, `.detach().cpu()`,
`copy.deepcopy` of a network or of its `state_dict()`, and a list or dict of cloned parameters.

## Why is it slow
Such a line is left over from debugging. It still copies the whole tensor on every update or weight sync,
and keeps the copy in memory. On an accelerator, `.cpu()` and `.item()` also synchronise with the device.

## Example
```python
import torch
from torch import nn

model = nn.Linear(4, 2)
optimizer = torch.optim.Adam(model.parameters())


def train(batches):
    for observations, targets in batches:
        weight_before = model.weight.data.clone()
        loss = nn.functional.mse_loss(model(observations), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        change = (model.weight.data - weight_before).abs().mean().item()
        print(f"loss {loss.item():.3f}, change {change:.6f}")
```
Use instead:
```python
import torch
from torch import nn

model = nn.Linear(4, 2)
optimizer = torch.optim.Adam(model.parameters())


def train(batches):
    for observations, targets in batches:
        loss = nn.functional.mse_loss(model(observations), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"loss {loss.item():.3f}")
```

## Fix safety
Safe where the variable is certainly never read, including by a nested function, `locals()` or another
module, and where making the copy cannot fail: it only reads attributes and calls methods that tensors and
networks are known to have (`layer.weight.data.clone()` of a known layer, `[p.clone() for p in
net.parameters()]`).

Unsafe in these cases:

- The copy may raise an error that a handler catches: an attribute of a value that may be None,
  `next(net.parameters())`, a shape mismatch, the parameters of a `LazyLinear` before its first forward pass.
- Layers may be replaced by name (`setattr(module, name, layer)`), or be on the device `meta`.
- The copy might run other code, as `copy.deepcopy` does, and as `parameters()` or `state_dict()` do in a
  program whose classes override or hook them, or override `named_parameters`.
- The program uses `torch.nn.utils.parametrize`: reading `layer.weight` then runs a module, which may draw
  numbers or update its state, as `spectral_norm` does.
- The layer, or its weight, may be replaced after construction: other code than a constructor sets an
  attribute of this name, or attributes by names known only at run time.
- A layer may be on the device `meta`, from which nothing can be copied.
- The variable belongs to a module, and the program may look it up there by its name.
- The fix removes an attribute, which code outside the project may read.
- The fix also removes the comparison and its message.

If a message also reports other values, the fix only removes the part about the comparison. There is only
advice where that part cannot be separated, and where the message is a warning.

## References
- https://docs.pytorch.org/docs/stable/generated/torch.clone.html
- https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html#avoid-unnecessary-cpu-gpu-synchronization
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Applicability, Binding, Finding, Fix, Heat, Rule, SemanticModel, TypeTag, regex
from rlint.rules.debugging._shared import copies, removal, traces

# copies that are stored on purpose, whether or not they are read
_KEPT = regex(r"(^|_)(best|checkpoint|ckpt|backup|saved|restored?)(_|$)")
_KEPT_BY_OBJECT = regex(
    r"(^|_)(best|checkpoint|ckpt|backup|saved|restored?|targets?|ema|averaged?|swa|shadow|snapshots?|reference|"
    r"ref|teacher|anchor|frozen|initial|init|old_policy)(_|$)"
)
_LONGEST = 60


class DebugWeightClone(Rule):
    """See the page above."""

    code = "RL701"
    name = "debug-weight-clone"
    seeds = ("S2.1", "S2.2")
    claims = ("time", "mem")
    scales_with_network = True
    heat = Heat.WARM
    visits = (ast.Assign, ast.AnnAssign, ast.Expr)
    triggers = ("clone", "deepcopy", ".cpu(", "copy(", "parameters_to_vector")

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a statement that copies weights for no use, or only for a log."""
        assert isinstance(node, (ast.Assign, ast.AnnAssign, ast.Expr))
        copy = copies.copy_of(node.value, model) if node.value is not None else None
        if copy is None:
            return
        match node:
            case ast.Expr(value=ast.Call()):
                message = f"this copy of the weights `{_shown(copy.source, model)}` is never used"
                yield self._unread(node, [node], copy, message, model)
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                kept = bool(_KEPT.search(name.lower()))
                if not kept or _is_taken_each_time(node, model):
                    yield from self._bound(node, name, copy, model, kept=kept)
            case ast.Assign(targets=[ast.Attribute() as target]):
                if not _KEPT_BY_OBJECT.search(target.attr.lower()):
                    yield from self._stored(node, target, copy, model)

    def _unread(
        self,
        node: ast.stmt,
        removed: list[ast.stmt],
        copy: copies.WeightCopy,
        message: str,
        model: SemanticModel,
    ) -> Finding:
        edits = model.edit.delete_statements(removed)
        fix = None
        if edits is not None:
            safety = Applicability.UNSAFE if copy.doubt else Applicability.SAFE
            fix = Fix("Remove the copy", safety, tuple(edits), reason=copy.doubt or None)
        return self.finding(model, node, message, fix=fix, advice="Remove the copy")

    def _bound(
        self, node: ast.stmt, name: str, copy: copies.WeightCopy, model: SemanticModel, *, kept: bool
    ) -> Iterator[Finding]:
        """Handle a variable. If its name says that the copy is `kept`, it counts only if it is never read."""
        binding = _binding_of(node, name, model)
        if binding is None or model.names.scope(node).is_class or model.program.is_imported(name):
            return
        every = list(model.names.reads(name, model.names.scope(node)))
        reads = [read for read in every if binding in model.dataflow.definitions(read)]
        trace = traces.LoggedTrace(binding, model)
        if trace.escapes:
            return
        source = _shown(copy.source, model)
        if not reads:
            message = f"`{name}`, a copy of the weights `{source}`, is never read"
            deleted = [each for each in trace.statements if isinstance(each, ast.Delete)]
            if deleted and (
                every or any(model.source.span(each) < model.source.span(node) for each in deleted)
            ):
                return  # code that deletes it first, or reads it afterwards, fails otherwise
            if not copy.doubt and _may_be_looked_up(name, node, model):
                reason = f"other code may read the variable `{name}` of the module"
                copy = copies.WeightCopy(copy.node, copy.source, reason)
            if kept and not copy.doubt:
                copy = copies.WeightCopy(copy.node, copy.source, f"`{name}` may be there to inspect it")
            yield self._unread(node, [node, *deleted], copy, message, model)
        elif trace.compared and not kept:
            use = "only compared in a log message" if trace.logs else "only used for an unused result"
            yield self.finding(
                model,
                node,
                f"`{name}`, a copy of the weights `{source}`, is {use}",
                fix=_without_comparison(trace, model),
                advice="Remove the comparison, or run it only when debugging and every N updates",
            )

    def _stored(
        self, node: ast.stmt, target: ast.Attribute, copy: copies.WeightCopy, model: SemanticModel
    ) -> Iterator[Finding]:
        owner = target.value
        if (
            not isinstance(owner, ast.Name)
            or model.class_of(node) is None
            or model.program.is_attribute_read(target.attr)
        ):
            return
        if (
            model.types.type_of(owner).tag is TypeTag.MODULE
            and model.types.type_of(copy.node).tag is TypeTag.MODULE
        ):
            return  # a part of the network: its parameters are trained and saved with it
        edits = model.edit.delete_statements([node])
        fix = None
        if edits is not None:
            reason = f"code outside of this project may read `{target.attr}`"
            fix = Fix("Remove the copy", Applicability.UNSAFE, tuple(edits), reason=reason)
        message = (
            f"`{model.source.text(target)}`, a copy of the weights "
            f"`{_shown(copy.source, model)}`, is never read"
        )
        yield self.finding(model, node, message, fix=fix, advice="Remove the copy")


def _is_taken_each_time(node: ast.stmt, model: SemanticModel) -> bool:
    """Whether a function takes the copy without a condition: not that of the best weights so far."""
    return model.names.scope(node).is_function and not model.frequency.conditions(node)


def _may_be_looked_up(name: str, node: ast.stmt, model: SemanticModel) -> bool:
    """Whether code may read a variable of the module through the module's object, or by its name as text."""
    if model.names.scope(node).lookup(name) is not model.syntax.scopes[model.syntax.module]:
        return False
    return (
        model.program.is_attribute_read(name)
        or model.index.observed_names.is_observed(model.module.module)
        or any(constant.value == name for constant in model.syntax.of_type(ast.Constant))
    )


def _without_comparison(trace: traces.LoggedTrace, model: SemanticModel) -> Fix | None:
    if trace.checked or trace.tangled:
        return None
    removed, shorter = model.edit.delete_statements(trace.statements), removal.trimmed(trace.parts, model)
    if removed is None or shorter is None:
        return None
    lines = sorted({log.lineno for log in trace.logs})
    described = f"the comparison is no longer logged (line {', '.join(map(str, lines))})"
    reason = described if lines else "the comparison is removed, too"
    title = (
        "Remove the copy, the comparison and its part of the log"
        if lines
        else "Remove the copy and the comparison"
    )
    return Fix(title, Applicability.UNSAFE, (*removed, *shorter), reason=reason)


def _binding_of(node: ast.stmt, name: str, model: SemanticModel) -> Binding | None:
    scope = model.names.scope(node).lookup(name)
    bindings = scope.bindings[name] if scope is not None else []
    return next((binding for binding in bindings if binding.statement is node), None)


def _shown(source: ast.expr, model: SemanticModel) -> str:
    """Return the source of the weights, shortened to their last part."""
    text = " ".join(model.source.text(source).split())
    return (
        text
        if len(text) <= _LONGEST
        else f"…{text[-_LONGEST:].partition('.')[1]}{text[-_LONGEST:].partition('.')[2]}"
    )
