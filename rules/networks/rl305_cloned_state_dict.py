"""A state dict cloned only to be loaded, which copies it anyway.

## What it does
Flags `load_state_dict` of tensors that were copied for it: `{k: v.clone() for k, v in
net.state_dict().items()}` or `copy.deepcopy(net.state_dict())`, written in the call or kept in a
name that is used for nothing else.

## Why is it slow
`load_state_dict` copies the values into the parameters that are there. A clone made before that
costs a second copy of every weight, and the memory to hold all of them at once.

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
The fix drops the copy and nothing else: a comprehension stays a comprehension, since the plain
`state_dict()` also carries version metadata that modules may read while loading.

It is safe where both networks are built here, each by a constructor of its own or one as a deep copy
of the other, so that they share no weights, and where nothing can change the weights between the clone
and the call. It is unsafe where the networks come from elsewhere: they may share weights (a decoder that
is the encoder transposed), and a target of another class than `torch.nn.Module` may keep what it is given.
It is unsafe, too, where the whole network is copied (`copy.deepcopy(net).state_dict()`), for
`copy.deepcopy` in a project whose modules have a `get_extra_state`, and in a project with modules that
override `state_dict` or `load_state_dict`, or change what they load or return, by hooks or by a
`_load_from_state_dict` of their own.

With `assign=True` the clone is what keeps the two networks apart; names that are read again or
stored are snapshots; keys that are renamed or filtered may mean that a network is loaded into
itself. None of these is flagged.

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
    """Put the original in the place of the copy."""
    edit = model.edit.replace(copied.node, model.edit.parenthesized(copied.original))
    reason = doubt(loaded, copied, model)
    safety = Applicability.UNSAFE if reason else Applicability.SAFE
    return Fix("Load the tensors without copying them first", safety, (edit,), reason)


def doubt(loaded: StateLoad, copied: StateCopy, model: SemanticModel) -> str | None:
    """Find what a reader has to agree to; None where there is nothing."""
    if copied.whole_network:
        return "the class of the network may define `__deepcopy__`, which is no longer called"
    if copied.deep and model.index.defines_method("get_extra_state"):
        target = model.source.text(loaded.target)
        return f"the extra state of a module in `{target}` is shared with the other network instead of copied"
    reason: str | None = made_networks.loading_doubt(loaded.target, copied.owner, model)
    return reason
