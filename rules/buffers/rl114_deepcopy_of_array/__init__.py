"""An array, a tensor or a state dict copied by `copy.deepcopy`, which is slower than its own copy.

## What it does
Flags `copy.deepcopy` in hot code if its argument is known to be a NumPy array, a tensor, the state dict of
a network, or a list, tuple or dict of arrays or tensors. An action of unknown type that is copied for
`env.step` likely is an array, and so is a goal of unknown type, and an observation from `env.step` or
`env.reset` that is copied to a variable, if the function reads no entry of it. A list that `torch.cat` joins
likely holds tensors, and a copy that is moved to a device and added to a list likely is a tensor. These get
only advice.

It also flags copies of any other object, with advice only, if

- nothing uses the copy, or only expressions whose results are not used either;
- the copy is only read, and nothing changes the original meanwhile;
- the original is itself a deep copy that the function does not use after this one:
  `self.graph = copy.deepcopy(pruned)`;
- the original is a list or dict of containers that grow while the program runs, such as the history of an
  episode: a copy of the containers is enough unless code changes the objects in them.

The rule does not flag other objects of unknown type, arrays of objects, networks and optimizers (which need
`deepcopy`), copies made for `load_state_dict` (RL305), and code that is not hot, such as an occasional
snapshot.

## Why is it slow
`copy.deepcopy` dispatches on the type of an object and records each copy in a memo dict. For an observation
of a few numbers, this takes far longer than the copy itself. For a tensor, all of it is Python code, which
copies the storage, the gradient and the attributes; for a view it copies the whole underlying storage.

## Example
```python
import copy

import numpy as np


def rollout(env, policy, steps):
    observation = np.zeros(4, dtype=np.float32)
    rows = []
    for _ in range(steps):
        rows.append(copy.deepcopy(observation))
        reward, done = env.step(policy(observation), out=observation)
    return rows
```
Use instead:
```python
import copy

import numpy as np


def rollout(env, policy, steps):
    observation = np.zeros(4, dtype=np.float32)
    rows = []
    for _ in range(steps):
        rows.append(observation.copy(order="K"))
        reward, done = env.step(policy(observation), out=observation)
    return rows
```

## Fix safety
Safe for an array that is known to hold numbers: the copy has the same values, dtype, shape, memory order
and flags. `order="K"` keeps the order of the axes in memory, as `deepcopy` does. Where all arrays are in C
order, NumPy's default, the fix writes a plain `.copy()`. An array that the expression itself creates
(`deepcopy(frames / 255)`) needs no copy at all.

Unsafe in these cases:

- The dtype of the array is unknown. If it holds objects, these would not be copied with it.
- The value is a tensor, which becomes `.detach().clone()`. That copy has no gradient, does not require one,
  and is not a `torch.nn.Parameter`.
- The value is a list, tuple or dict, which is rebuilt item by item. An item that occurs twice is copied
  twice.
- The value is a state dict. The copy is a plain dict without the version metadata that some modules read
  while loading.

There is only advice where the value may be `None`, and inside an f-string. The fix keeps the import of
`copy`.

## References
- https://docs.python.org/3/library/copy.html#copy.deepcopy
- https://numpy.org/doc/stable/reference/generated/numpy.ndarray.copy.html
- https://docs.pytorch.org/docs/stable/generated/torch.Tensor.clone.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    Applicability,
    Driver,
    Finding,
    Fix,
    Heat,
    Rule,
    SemanticModel,
    Trait,
    Type,
    TypeTag,
    element_types,
    last_name,
    models,
    observations,
    regex,
    weight_sync,
)
from rlint.rules.buffers.rl114_deepcopy_of_array.copied_tensors import is_likely_tensor
from rlint.rules.buffers.rl114_deepcopy_of_array.growing_containers import growing_containers
from rlint.rules.buffers.rl114_deepcopy_of_array.needless_copies import NeedlessCopy, needless_copy

COPIES = {TypeTag.NDARRAY: '.copy(order="K")', TypeTag.TENSOR: ".detach().clone()"}
"""The code for a copy, by type."""
SHOWN = {TypeTag.NDARRAY: "array", TypeTag.TENSOR: "tensor"}
CONTAINERS = {TypeTag.LIST: "list", TypeTag.TUPLE: "tuple", TypeTag.DICT: "dict"}
_JOINS = models.having(Trait.JOINS, "torch")
_NAMED = regex(r"^_?(next_?|new_?|last_?|prev_?|old_?|her_?)?(desired_|achieved_|sub_?)?goal$")
"""Names of goals; an observation may be a dict."""
_MAY_BE_OBJECTS = "`{0}` must not be an object array: its objects would not be copied"
_NO_GRADIENT = "the copy of `{0}` is detached, has no `grad` and is never a `Parameter`"
_CREATED_BY_CALL = (
    "the items of `{0}` are copied one by one into a plain {1}: an item that occurs twice is copied twice"
)
_NO_VERSIONS = (
    "the copy of the state dict is a plain dict of tensors, without the version metadata that some modules "
    "read while loading"
)


class DeepcopyOfArray(Rule):
    """RL114."""

    code = "RL114"
    name = "deepcopy-of-array"
    claims = ("time",)
    heat = Heat.HOT
    visits = (ast.Call,)
    callees = frozenset({"deepcopy"})

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a deep copy of an object with a copy method of its own."""
        match node:
            case ast.Call(args=[value], keywords=[]) if not isinstance(value, ast.Starred):
                pass
            case _:
                return
        if model.names.qualified(node.func) != "copy.deepcopy":
            return
        kind = model.types.type_of(value)
        if not kind and weight_sync.state_owner(value, model) is not None:
            kind = Type(TypeTag.STATE_DICT)
        what = described(kind)
        if not kind and is_action(node, value, model):
            yield self.action(node, value, model)
            return
        if not what and (assumed := likely_kind(node, value, kind, model)) is not None:
            yield self.likely(node, value, assumed, model)
            return
        if not what:
            yield from self.of_parts(node, value, kind, model)
            return
        if is_loaded(node, model):
            return
        text = " ".join(model.source.text(value).split())
        message = (
            f"copies the {what} `{text}` by the generic object protocol, which takes longer than the "
            f"copy itself"
        )
        advice = f"Write `{copied(' '.join(model.edit.parenthesized(value).split()), kind)}`"
        if is_just_made(value, kind):
            message = f"copies the {what} `{text}`, which is already a new object"
            advice = "Remove the copy"
        fix = build_fix(node, value, kind, model)
        yield self.finding(
            model,
            node,
            f"`{model.source.text(node.func)}` {message}",
            fix=fix,
            advice=advice,
            workload="rollout" if kind.tag in (TypeTag.NDARRAY, TypeTag.TENSOR) else None,
        )

    def of_parts(
        self, node: ast.Call, value: ast.expr, kind: Type, model: SemanticModel
    ) -> Iterator[Finding]:
        """Yield the finding for an object with parts of its own, or of unknown type, whose copy is not needed
        or copies more than is needed.
        """
        needless = needless_copy(node, value, kind, model)
        copied_only = growing_containers(value, kind, model) if needless is None else None
        text = " ".join(model.source.text(value).split())
        if copied_only is not None:
            needless = NeedlessCopy(
                f"copies `{text}` and all objects in it, which grows while the program runs",
                f"Copy only the containers: `{copied_only}`",
                f"no code changes the objects in `{text}` in place",
            )
        if needless is None and not kind and is_likely_tensor(node, value, model):
            needless = NeedlessCopy(
                f"copies the tensor `{text}` by the generic object protocol, which takes longer than the "
                "copy itself",
                f"Write `{text}.detach().clone()`, or only move it if nothing writes to `{text}` afterwards",
                f"`{text}` is a tensor",
            )
        if needless is not None:
            yield self.finding(
                model,
                node,
                f"`{model.source.text(node.func)}` {needless.message}",
                advice=needless.advice,
                assumes=needless.assumes,
            )

    def action(self, node: ast.Call, value: ast.expr, model: SemanticModel) -> Finding:
        """Return the finding for an action of unknown type that is copied for a step of the environment."""
        text = model.source.text(value)
        return self.finding(
            model,
            node,
            f"`{model.source.text(node.func)}` copies the action `{text}` by the generic object protocol, "
            "which takes longer than the copy itself",
            advice=f"Write `{text}.copy()`, or pass the action itself if nothing writes to it",
            assumes=f"`{text}` is an array",
            workload="rollout",
        )

    def likely(self, node: ast.Call, value: ast.expr, kind: Type, model: SemanticModel) -> Finding:
        """Return the finding for a value whose type only its name or its uses suggest."""
        text = " ".join(model.source.text(value).split())
        is_list = kind.tag is TypeTag.LIST
        assumed = f"the items of `{text}` are tensors" if is_list else f"`{text}` is an array"
        return self.finding(
            model,
            node,
            f"`{model.source.text(node.func)}` copies `{text}` by the generic object protocol, which takes "
            "longer than the copy itself",
            advice=f"Write `{copied(text, kind)}`, or `list({text})` if only whole items are replaced"
            if is_list
            else f"Write `{text}.copy()`",
            assumes=assumed,
            workload="rollout",
        )


def likely_kind(copy: ast.Call, value: ast.expr, kind: Type, model: SemanticModel) -> Type | None:
    """Return the likely type of a copied value: a list of tensors if `torch.cat` or `torch.stack` joins its
    items or those of the copy, an array if it is named like a goal, or is an observation.
    """
    if kind.tag is TypeTag.LIST and not (kind.item or kind.parts or kind.optional):
        target = model.parent(copy)
        names = [value, *(target.targets if isinstance(target, ast.Assign) else [])]
        joined = any(isinstance(name, ast.Name) and _is_joined(name, model) for name in names)
        return Type(TypeTag.LIST, item=Type(TypeTag.TENSOR)) if joined else None
    is_bound = isinstance(model.parent(copy), ast.Assign)
    if is_bound and isinstance(value, ast.Name) and observations.is_from_environment(value, model):
        return None if _has_fields(value, model) else Type(TypeTag.NDARRAY)
    name = last_name(value) if isinstance(value, (ast.Name, ast.Attribute)) else None
    return Type(TypeTag.NDARRAY) if not kind and name and _NAMED.search(name.lower()) else None


def _has_fields(observation: ast.Name, model: SemanticModel) -> bool:
    """Whether a function reads an entry of an observation: `obs["image"]`."""
    scope = model.names.scope(observation).lookup(observation.id)
    reads = model.names.reads(observation.id, scope) if scope is not None else []
    parents = (model.parent(read) for read in reads)
    return any(
        isinstance(parent, ast.Subscript)
        and isinstance(parent.slice, ast.Constant)
        and isinstance(parent.slice.value, str)
        for parent in parents
    )


def _is_joined(name: ast.Name, model: SemanticModel) -> bool:
    scope = model.names.scope(name).lookup(name.id)
    if scope is None or not scope.is_function:
        return False
    calls = (model.parent(read) for read in model.names.reads(name.id, scope))
    return any(isinstance(call, ast.Call) and model.names.qualified(call.func) in _JOINS for call in calls)


def is_action(copy: ast.Call, value: ast.expr, model: SemanticModel) -> bool:
    """Whether a variable that holds the result of a call is copied as the action of an environment step:
    `env.step(copy.deepcopy(action))`.
    """
    step = model.parent(copy)
    if not isinstance(value, ast.Name) or not isinstance(step, ast.Call):
        return False
    scope, bindings = model.names.scope(value).lookup(value.id), model.dataflow.definitions(value)
    if scope is None or not scope.is_function or not bindings:
        return False
    if not all(isinstance(binding.value, ast.Call) for binding in bindings):
        return False
    return step.args[:1] == [copy] and model.analysis.loops.driver_of(step) is Driver.ENVIRONMENT_STEP


def is_just_made(value: ast.expr, kind: Type) -> bool:
    """Whether it is an array that the expression creates, so that no other code refers to it."""
    return (
        kind.tag is TypeTag.NDARRAY and kind.fresh and isinstance(value, (ast.BinOp, ast.UnaryOp, ast.Call))
    )


def described(kind: Type) -> str:
    """Return a description of the copied object; "" if it is unknown, or has no copy method of its own."""
    if kind.dtype == element_types.OBJECT or (
        kind.item is not None and kind.item.dtype == element_types.OBJECT
    ):
        return ""  # the objects are to be copied, too
    if kind.tag in SHOWN:
        return SHOWN[kind.tag]
    if kind.tag is TypeTag.STATE_DICT:
        return "state dict"
    if kind.tag in CONTAINERS and kind.item is not None and kind.item.tag in SHOWN:
        return f"{CONTAINERS[kind.tag]} of {SHOWN[kind.item.tag]}s"
    return ""


def copied(text: str, kind: Type) -> str:
    """Return the code that copies a value, by its type."""
    if kind.tag in COPIES:
        return f"{text}{COPIES[kind.tag]}"
    if kind.tag is TypeTag.STATE_DICT:
        return f"{{key: value.clone() for key, value in {text}.items()}}"
    assert kind.item is not None
    copy = COPIES[kind.item.tag]
    if kind.tag is TypeTag.DICT:
        return f"{{key: value{copy} for key, value in {text}.items()}}"
    items = f"item{copy} for item in {text}"
    return f"[{items}]" if kind.tag is TypeTag.LIST else f"tuple({items})"


def build_fix(call: ast.Call, value: ast.expr, kind: Type, model: SemanticModel) -> Fix | None:
    """Replace the deep copy by the type's own copy."""
    may_be_none = kind.optional or (kind.item is not None and kind.item.optional)
    if may_be_none:
        return None
    if any(isinstance(parent, ast.JoinedStr) for parent in model.ancestors(call)):
        return None  # its quotes may be those of the copy
    if kind.tag not in COPIES and not isinstance(value, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
        return None
    reason = doubt(kind, model.source.text(value))
    safety = Applicability.UNSAFE if reason else Applicability.SAFE
    if is_just_made(value, kind):
        alone = isinstance(model.parent(call), (ast.stmt, ast.keyword)) and "\n" not in model.source.text(
            value
        )
        text = model.source.text(value) if alone else model.edit.parenthesized(value)
        return Fix("Remove the copy", safety, (model.edit.replace(call, text),), reason=reason)
    title = f"Use `{COPIES[kind.tag][1:]}`" if kind.tag in COPIES else "Copy each of the items"
    edit = model.edit.replace(call, copied(model.edit.parenthesized(value), kind))
    return Fix(title, safety, (edit,), reason=reason)


def doubt(kind: Type, text: str) -> str | None:
    """Return the condition of the fix; None if it is safe."""
    if kind.tag is TypeTag.NDARRAY:
        return None if kind.dtype else _MAY_BE_OBJECTS.format(text)
    if kind.tag is TypeTag.TENSOR:
        return _NO_GRADIENT.format(text)
    return (
        _NO_VERSIONS
        if kind.tag is TypeTag.STATE_DICT
        else _CREATED_BY_CALL.format(text, CONTAINERS[kind.tag])
    )


def is_loaded(copy: ast.Call, model: SemanticModel) -> bool:
    """Whether the copy is passed to `load_state_dict`."""
    calls = model.names.calls_named("load_state_dict", model.function(copy))
    loaded = (weight_sync.loaded_state(call, model) for call in calls)
    return any(found is not None and copy in (found.given, found.argument) for found in loaded)
