"""Gradient clipping that is commented out between `backward()` and `step()`.

## What it does
Flags an optimizer's `step()` if a call of `clip_grad_norm_` or `clip_grad_value_` is commented out between
it and the preceding `backward()`, and no other code there clips.

The rule does not flag a comment that explains why gradients are not clipped, or a commented-out line beside
one that clips.

The rule is opt-in, because clipping costs time rather than saves it. It exists because a line that was
disabled for an experiment is easily forgotten, and a run that diverges has to be repeated.

## Why is it slow
It is not slow. Without clipping, one bad batch can change the weights so much that the return falls and
does not recover.

## Example
```python
import torch
from torch import nn


def fit(net: nn.Module, optimizer: torch.optim.Optimizer, batches) -> None:
    for states, targets in batches:
        optimizer.zero_grad()
        nn.functional.mse_loss(net(states), targets).backward()
        # nn.utils.clip_grad_norm_(net.parameters(), max_norm=10)
        optimizer.step()
```
Use instead (by hand):
```python
import torch
from torch import nn


def fit(net: nn.Module, optimizer: torch.optim.Optimizer, batches) -> None:
    for states, targets in batches:
        optimizer.zero_grad()
        nn.functional.mse_loss(net(states), targets).backward()
        nn.utils.clip_grad_norm_(net.parameters(), max_norm=10)
        optimizer.step()
```

## Fix safety
There is no fix: only the author knows whether clipping was disabled on purpose.

## References
- https://pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html
- https://pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_value_.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from rlint.rule import Finding, Heat, Rule, SemanticModel, TypeTag

_CLIPS = frozenset({"clip_grad_norm_", "clip_grad_value_", "clip_grad_norm", "clip_grad_value"})
_LONGEST = 8  # comment lines in which one call is searched


class DisabledGradClip(Rule):
    code = "RL311"
    name = "disabled-grad-clip"
    seeds = ("S2.2",)
    claims = ()
    heat = Heat.WARM
    opt_in = True
    visits = (ast.Call,)
    callees = frozenset({"step"})

    def concerns(self, model: SemanticModel) -> bool:
        """Whether a file names any clipping function."""
        return "clip_grad_" in model.syntax.text

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        assert isinstance(node, ast.Call)
        if not (isinstance(node.func, ast.Attribute) and node.func.attr == "step"):
            return
        backward = backward_before(node, model)
        if backward is None or not is_optimizer(node.func.value, model):
            return
        call = commented_clip(
            model.source.comments(model.source.span(backward)[1], model.source.span(node)[0])
        )
        if call is None or is_clipped(backward, node, model):
            return
        yield self.finding(
            model,
            node,
            f"`{call}` is commented out between `backward` and this step, so gradients are not clipped",
            advice="Enable clipping again, or delete the comment if it is not intended",
        )


def is_optimizer(owner: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is an optimizer, by type or by name."""
    kind = model.types.type_of(owner)
    if kind:
        return kind.tag is TypeTag.OPTIMIZER
    name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
    return "optim" in name.lower() or name.lower() in {"opt", "scaler"}


def backward_before(step: ast.Call, model: SemanticModel) -> ast.Call | None:
    """Return the last `backward` of the same function before a step."""
    start, _ = model.source.span(step)
    found = None
    for call in model.names.calls_named("backward", model.function(step)):
        if model.source.span(call)[1] <= start:
            found = call
    return found


def is_clipped(backward: ast.Call, step: ast.Call, model: SemanticModel) -> bool:
    """Whether any call between the two clips, judging by its name."""
    (_, start), (end, _) = model.source.span(backward), model.source.span(step)
    between = (node for node in model.syntax.of_type(ast.Call) if start <= model.source.span(node)[0] < end)
    return any("clip" in called(node) or called(node).startswith("clamp") for node in between)


def called(call: ast.Call) -> str:
    """Return the last name of a callee."""
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def commented_clip(comments: Sequence[str]) -> str | None:
    """Return the callee of a clipping call in comments, on one or several lines."""
    lines = [comment.lstrip("#") for comment in comments]
    for first, line in enumerate(lines):
        if not any(name in line for name in _CLIPS):
            continue
        for last in range(first + 1, min(first + _LONGEST, len(lines)) + 1):
            name = clipping_call("\n".join(part.strip() for part in lines[first:last]))
            if name is not None:
                return name
    return None


def clipping_call(text: str) -> str | None:
    """Return the callee of a text, if it is one statement that clips."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError):
        return None
    match body:
        case [ast.Expr(value=ast.Call() as call)] | [ast.Assign(value=ast.Call() as call)]:
            return ast.unparse(call.func) if called(call) in _CLIPS else None
    return None
