"""A state dict cloned before `load_state_dict`, which copies it anyway.

## What it does
Flags `load_state_dict` called with tensors that were copied only for it: `{k: v.clone() for k, v in
net.state_dict().items()}` or `copy.deepcopy(net.state_dict())`, written in the call or assigned to a
variable that is used for nothing else.

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
        copied = weight_sync.copied_state(loaded.given, model) if loaded else None
        if loaded is None or copied is None or ast.dump(copied.owner) == ast.dump(loaded.target):
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
