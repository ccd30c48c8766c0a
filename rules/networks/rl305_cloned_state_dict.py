"""A state dict cloned before `load_state_dict`, which copies it anyway.

## What it does
Flags `load_state_dict` called with tensors that were copied only for it: `{k: v.clone() for k, v in
net.state_dict().items()}` or `copy.deepcopy(net.state_dict())`, written in the call or assigned to a variable
that is used for nothing else. Copies of other tensors (`copy.deepcopy(weights)`, `tree_map(torch.clone,
weights)`, a dict that a loop fills with clones) get advice only, in code that runs in training.

The rule does not flag:

- `assign=True`, where the clone keeps the two networks separate;
- variables that are read again or stored, which are snapshots;
- keys that are renamed or filtered, because a network may be loaded into itself.

## Why is it slow
`load_state_dict` copies the values into the existing parameters. A clone before that costs a second copy of
every weight, and the memory to hold all of them at once.

## Example
```python
from torch import nn


def copy_weights(source: nn.Module, target: nn.Module) -> None:
    source_state = source.state_dict()
    cloned_state = {k: v.clone() for k, v in source_state.items()}
    target.load_state_dict(cloned_state, strict=False)
```
Use instead:
```python
from torch import nn


def copy_weights(source: nn.Module, target: nn.Module) -> None:
    source_state = source.state_dict()
    cloned_state = {k: v for k, v in source_state.items()}
    target.load_state_dict(cloned_state, strict=False)
```

## Fix safety
The fix only removes the copy. A comprehension stays a comprehension, because the plain `state_dict()` also
carries version metadata that modules may read while loading.

Safe where both networks are created in the same code, so that they share no weights (each by its own
constructor, or one as a deep copy of the other), and where nothing can change the weights between the clone
and the call.

Unsafe in these cases:

- The networks come from elsewhere. They may share weights (a decoder that is the transposed encoder), and a
  target that is not a `torch.nn.Module` may keep the tensors that it is given.
- Code of the program replaces layers or parameters of the networks after their construction, or their
  constructor takes layers or memory from variables of its module.
- The program uses lazy layers, whose parameters cannot be copied before the first input.
- Code between the clone and the call may run other code, although it contains no call: it reads a property
  that has effects, iterates over what may be a generator (which could train the network), or frees an object
  with `__del__`.
- The whole network is copied: `copy.deepcopy(net).state_dict()`.
- Modules of the project have a `get_extra_state`.
- Modules of the project override `state_dict` or `load_state_dict`, or change what they load or return, by
  hooks or by their own `_load_from_state_dict`.

## References
- https://pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.load_state_dict
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    Applicability,
    Finding,
    Fix,
    Heat,
    Rule,
    SemanticModel,
    StateCopy,
    StateLoad,
    TypeTag,
    last_name,
    made_networks,
    weight_sync,
)


class ClonedStateDict(Rule):
    code = "RL305"
    name = "cloned-state-dict"
    seeds = ("S2.4",)
    claims = ("time", "mem")
    scales_with_network = True
    heat = Heat.COLD
    visits = (ast.Call,)
    callees = frozenset({"load_state_dict"})

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        assert isinstance(node, ast.Call)
        loaded = weight_sync.loaded_state(node, model)
        if loaded is None:
            return
        copied = weight_sync.copied_state(loaded.given, model)
        if copied is None:
            yield from self.check_other(loaded, model)
            return
        if ast.dump(copied.owner) == ast.dump(loaded.target):
            return
        copy = model.source.text(copied.node.func) if copied.deep else "clone"
        source = model.source.text(copied.owner)
        message = f"`{copy}` copies all tensors of `{source}`, though `load_state_dict` copies them itself"
        if copied.whole_network:
            message = (
                f"`{copy}` copies the whole network `{source}`, though `load_state_dict` only needs its "
                f"tensors"
            )
        yield self.finding(
            model,
            copied.node if loaded.given is loaded.argument else loaded.given,
            message,
            fix=build_fix(loaded, copied, model),
            advice="Pass `state_dict()` without copying",
        )

    def check_other(self, loaded: StateLoad, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for copies of tensors that are not known to be those of a network."""
        copy = copy_of_any(loaded.given, model) or copy_by_item(loaded, model)
        if copy is None or model.frequency.heat_of(loaded.call).level is Heat.COLD:
            return
        target = model.source.text(loaded.target)
        is_sure = model.types.type_of(loaded.target).tag is TypeTag.MODULE
        yield self.finding(
            model,
            copy,
            f"`{last_name(copy.func)}` copies all tensors for `{target}`, though `load_state_dict` copies "
            "them itself",
            advice="Pass the tensors without copying",
            assumes=None if is_sure else f"`{target}` is a network",
        )


def copy_of_any(given: ast.expr, model: SemanticModel) -> ast.Call | None:
    """Return the call that copies a whole dict of tensors, or each of its items: `copy.deepcopy(weights)`,
    `{name: w.clone() for name, w in weights.items()}`, `tree_map(torch.clone, weights)`.
    """
    item = weight_sync.item_of_dict(given, model)
    if item is not None:
        return _copy_in(item[1], model)
    match given:
        case ast.Call(func=func, args=[_], keywords=[]) if model.names.qualified(func) == "copy.deepcopy":
            return given
        case ast.Call(func=func, args=[ast.Attribute(attr="clone") as clone, _]) if (
            last_name(func) == "tree_map"
        ):
            return given if model.names.qualified(clone) == "torch.clone" else None
        case ast.Call(
            args=[
                ast.Call(
                    func=ast.Name(id="zip"), args=[_, ast.ListComp(elt=value) | ast.GeneratorExp(elt=value)]
                )
            ]
        ) if model.names.qualified(given.func) in weight_sync.MAKES_A_DICT:
            return _copy_in(value, model)
    return None


def copy_by_item(loaded: StateLoad, model: SemanticModel) -> ast.Call | None:
    """Return the copy of each item in a dict that a loop fills only to load it: `state[name] = w.clone()`."""
    name = loaded.argument
    if not isinstance(name, ast.Name):
        return None
    scope = model.names.scope(name).lookup(name.id)
    reads = model.names.reads(name.id, scope) if scope is not None else []
    others = [read for read in reads if read is not name]
    item = model.parent(others[0]) if len(others) == 1 else None
    statement = model.parent(item) if item is not None else None
    match item, statement, model.parent(statement) if statement is not None else None:
        case (
            ast.Subscript(slice=ast.Name(id=key), ctx=ast.Store()),
            ast.Assign(targets=[_], value=value),
            ast.For(target=ast.Name(id=first) | ast.Tuple(elts=[ast.Name(id=first), _])) as loop,
        ) if key == first:
            if not _follows(model.syntax.statement(loaded.call), loop, model):
                return None
            return _copy_in(value, model)
    return None


def _copy_in(value: ast.expr, model: SemanticModel) -> ast.Call | None:
    """Return the call that copies a tensor in a value."""
    found = weight_sync.copy_in(value, model)
    return found[0] if found is not None else None


def _follows(statement: ast.stmt, loop: ast.For, model: SemanticModel) -> bool:
    """Whether a statement comes directly after a loop."""
    block, index = model.syntax.block(loop)
    return block[index + 1 : index + 2] == [statement]


def build_fix(loaded: StateLoad, copied: StateCopy, model: SemanticModel) -> Fix | None:
    """Replace the copy by the original."""
    edit = model.edit.replace(copied.node, model.edit.parenthesized(copied.original))
    reason = doubt(loaded, copied, model)
    safety = Applicability.UNSAFE if reason else Applicability.SAFE
    return Fix("Load the tensors without copying them first", safety, (edit,), reason)


def doubt(loaded: StateLoad, copied: StateCopy, model: SemanticModel) -> str | None:
    """Return the condition of the fix; None if it is safe."""
    if copied.whole_network:
        return "the class of the network may define `__deepcopy__`, which is no longer called"
    if model.index.defines_method("get_extra_state"):
        target = model.source.text(loaded.target)
        return f"the extra state of a module in `{target}` is shared with the other network instead of copied"
    if loaded.may_modify is not None:
        line = model.span_of(loaded.may_modify)[0].line
        return f"the code on line {line} must not change the weights of `{model.source.text(copied.owner)}`"
    reason: str | None = made_networks.loading_doubt(loaded.target, copied.owner, model)
    return reason
