"""A repeated check of a device's name whose result cannot change.

## What it does
Flags `"cuda" in str(device)`, `str(device).startswith("cuda")`, `str(device) == "cpu"` and similar checks,
and `torch.cuda.is_available()`, in code that runs per step.

The rule does not flag checks of `device.type`, and checks that run once, or once per episode or checkpoint,
where their cost does not matter.

The rule is opt-in. A check takes a fraction of a microsecond, which is not measurable in most training
loops; `device.type == "cuda"` takes even longer. Storing the result pays off only in code that runs very
often and does little else.

## Why is it slow
`str(device)` builds the name from the type and index of the device on every call, and `is_available()`
queries the driver. Neither result changes while the program runs.

## Example
```python
import torch


def collect(env, policy, steps: int, device: torch.device):
    state = env.reset()
    for _ in range(steps):
        if "cuda" in str(device):
            state = state.to(device, non_blocking=True)
        state = env.step(policy(state))
    return state
```

Use instead:

```python
import torch


def collect(env, policy, steps: int, device: torch.device):
    state = env.reset()
    on_cuda = "cuda" in str(device)
    for _ in range(steps):
        if on_cuda:
            state = state.to(device, non_blocking=True)
        state = env.step(policy(state))
    return state
```

## Fix safety
For the device of a tensor, `"cuda" in str(x.device)` becomes `x.is_cuda`, which is safe.

In a loop, the fix stores the result in a variable before the loop; in a method, in an attribute that is set
next to the device attribute. Both are unsafe: other code may change the device in between.

## References
- https://docs.pytorch.org/docs/stable/tensor_attributes.html#torch.device
- https://docs.pytorch.org/docs/stable/generated/torch.Tensor.is_cuda.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import ClassVar

from rlint.rule import (
    Applicability,
    Finding,
    Fix,
    Heat,
    Rule,
    SemanticModel,
    TypeTag,
    descendants,
    last_names,
)

NAMES = ("cuda", "cpu", "mps", "xpu", "gpu")
CHECKS = frozenset(f"torch.{kind}.is_available" for kind in ("cuda", "xpu", "backends.mps"))
TITLE = "Keep the answer"


class DeviceStringCheck(Rule):
    code = "RL204"
    name = "device-string-check"
    seeds = ("S3.5",)
    claims = ("time",)
    heat = Heat.HOT
    opt_in: ClassVar[bool] = True
    visits = (ast.Compare, ast.Call)
    callees = last_names(*CHECKS, "startswith")
    triggers = ("str", "is_available", "repr")

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        assert isinstance(node, (ast.Compare, ast.Call))
        device = checked(node, model)
        requests = (
            device is None and isinstance(node, ast.Call) and model.names.qualified(node.func) in CHECKS
        )
        if device is None and not requests:
            return
        if device is not None and not model.types.is_device(device):
            return
        if model.frequency.heat_of(node).level < self.heat:
            return
        shown = model.source.text(node)
        what = "asks the driver" if requests else "builds the name of the device as a string and searches it"
        yield self.finding(
            model,
            node,
            f"`{shown}` {what} each time, for a result that never changes"
            if "\n" not in shown
            else f"A check {what} each time, for a result that never changes",
            fix=build_fix(node, device, model),
            advice="Check once, where the device is set, and keep the result",
        )


def checked(node: ast.Compare | ast.Call, model: SemanticModel) -> ast.expr | None:
    """Return the device whose name is tested."""
    match node:
        case ast.Compare(
            left=ast.Constant(value=str(word)), ops=[ast.In() | ast.NotIn()], comparators=[text]
        ):
            pass
        case ast.Compare(
            left=text, ops=[ast.Eq() | ast.NotEq()], comparators=[ast.Constant(value=str(word))]
        ):
            pass
        case ast.Call(
            func=ast.Attribute(value=text, attr="startswith"),
            args=[ast.Constant(value=str(word))],
            keywords=[],
        ):
            pass
        case _:
            return None
    if not word.startswith(NAMES):
        return None
    match text:
        case ast.Call(func=ast.Name(id="str" | "repr") as func, args=[device], keywords=[]):
            return device if (model.names.qualified(func) or "").startswith("builtins.") else None
    return None


def build_fix(node: ast.Compare | ast.Call, device: ast.expr | None, model: SemanticModel) -> Fix | None:
    """Test the tensor instead, or store the answer before the loop or in an attribute."""
    match node, device:
        case (
            ast.Compare(left=ast.Constant(value="cuda"), ops=[operator]),
            ast.Attribute(value=tensor, attr="device"),
        ) if model.types.type_of(tensor).tag is TypeTag.TENSOR and not model.types.type_of(tensor).optional:
            queried = f"{model.edit.parenthesized(tensor)}.is_cuda"
            queried = f"(not {queried})" if isinstance(operator, ast.NotIn) else queried
            clean = model.edit.is_relocatable(node)
            return (
                Fix("Use `is_cuda` of the tensor", Applicability.SAFE, (model.edit.replace(node, queried),))
                if clean
                else None
            )
    if not model.edit.is_relocatable(node):
        return None
    return before_loop(node, device, model) or store_after_device(node, device, model)


def answer_name(node: ast.expr, model: SemanticModel) -> str:
    """Return a name for the stored answer."""
    text = model.source.text(node)
    kind = next((name for name in NAMES if name in text), "device")
    if text.endswith("is_available()"):
        return f"has_{kind}"
    return f"{'not_' if isinstance(node, ast.Compare) and isinstance(node.ops[0], _NOT) else ''}on_{kind}"


_NOT = (ast.NotIn, ast.NotEq)


def equal_tests(node: ast.expr, around: ast.AST, model: SemanticModel) -> list[ast.expr]:
    """Return the same checks in a loop or a class; empty if `node` is not the first."""
    same = model.once(_by_form, around).get(ast.dump(node), [])
    return same if same[:1] == [node] else []


def _by_form(around: ast.AST, model: SemanticModel) -> dict[str, list[ast.expr]]:
    """Return the comparisons and calls in a part of the file, grouped by source."""
    found: dict[str, list[ast.expr]] = {}
    for other in descendants(around):
        if isinstance(other, (ast.Compare, ast.Call)) and model.edit.is_relocatable(other):
            found.setdefault(ast.dump(other), []).append(other)
    for same in found.values():
        same.sort(key=model.source.span)
    return found


def before_loop(node: ast.Compare | ast.Call, device: ast.expr | None, model: SemanticModel) -> Fix | None:
    """Return a fix that stores the answer before the outermost loop in which the device does not change."""
    loops = [loop for loop in model.frequency.loops(node) if isinstance(loop, (ast.For, ast.While))]
    if not loops:
        return None
    loop = loops[-1]
    start = loop.iter if isinstance(loop, ast.For) else loop.test
    if any(part is node for part in descendants(start)):
        return None
    if device is not None and not (
        isinstance(device, (ast.Name, ast.Attribute))
        and model.dataflow.doubts_between(device, start, node) is not None
    ):
        return None
    same = [
        other for other in equal_tests(node, loop, model) if model.function(other) is model.function(node)
    ]
    name = model.importer.fresh_local(
        [answer_name(node, model)], loop, f"RL204 {ast.dump(node)} {model.source.span(loop)[0]}"
    )
    made = model.edit.insert_before(loop, f"{name} = {model.edit.code(node)}")
    if made is None or not same:
        return None
    reason = "the available devices must not change while the loop runs"
    if device is not None:
        reason = f"`{model.source.text(device)}` must stay the same device while the loop runs"
    return Fix(
        TITLE, Applicability.UNSAFE, (made, *(model.edit.replace(other, name) for other in same)), reason
    )


def store_after_device(
    node: ast.Compare | ast.Call, device: ast.expr | None, model: SemanticModel
) -> Fix | None:
    """Return a fix that stores the answer in an attribute, set in `__init__` after the one from which the
    device is read.
    """
    cls = model.class_of(node)
    made = model.method(cls, "__init__") if cls is not None else None
    attribute = device
    while isinstance(attribute, ast.Attribute) and not isinstance(attribute.value, ast.Name):
        attribute = attribute.value
    if cls is None or made is None or device is None or not isinstance(attribute, ast.Attribute):
        return None
    owner = attribute.value
    if not isinstance(owner, ast.Name) or [parameter.arg for parameter in made.args.args[:1]] != [owner.id]:
        return None
    stores = [use for use in model.names.attribute_uses(attribute.attr) if isinstance(use.ctx, ast.Store)]
    statement = model.syntax.statement(stores[0]) if len(stores) == 1 else None
    same = equal_tests(node, cls, model)
    if (
        statement is None
        or statement not in made.body
        or any(model.function(other) is made for other in same)
    ):
        return None
    name = answer_name(node, model)
    if not same or model.names.attribute_uses(name) or model.program.is_attribute_read(name):
        return None
    kept = model.edit.insert_after(statement, f"{owner.id}.{name} = {model.edit.code(node)}")
    if kept is None:
        return None
    edits = (kept, *(model.edit.replace(other, f"{owner.id}.{name}") for other in same))
    return Fix(TITLE, Applicability.UNSAFE, edits, f"`{model.source.text(device)}` must stay the same device")
