"""A soft target update that allocates temporary tensors for each parameter.

## What it does
Flags loops that blend the weights of one network into those of another and allocate new tensors to do so:
`t.data.copy_(tau * p.data + (1 - tau) * t.data)` and similar updates, by `copy_`, by assignment to `.data`,
or through the items of a state dict that is loaded afterwards. In-place updates that add a product,
`t.data.mul_(1 - tau); t.data.add_(tau * p.data)`, allocate one tensor per parameter and are flagged, too.
The blend may be what a function of the file returns: `t.data = self.average(t.data, p.data)`.

The rule does not flag `lerp_`, or `mul_` with `add_(p, alpha=tau)`, or the result of its own safe fix.

## Why is it slow
Every iteration allocates two products and their sum, and copies the sum into the parameter. This happens
for every parameter and every gradient step. Large weights cost most: their temporary tensors do not fit
into the cache, and the operating system allocates them each time. The in-place update needs only one
temporary tensor. Beside the gradient step of a language model, which uses each weight for each token, the
impact is low.

## Example
```python
import torch
from torch import nn


class Agent:
    def __init__(self, tau: float = 0.005) -> None:
        self.tau = tau
        self.online = nn.Linear(4, 2)
        self.target = nn.Linear(4, 2)
        self.optimizer = torch.optim.Adam(self.online.parameters())

    def learn(self, loss: torch.Tensor) -> None:
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        for stale, fresh in zip(self.target.parameters(), self.online.parameters()):
            stale.data.copy_(self.tau * fresh.data + (1 - self.tau) * stale.data)
```
Use instead:
```python
import torch
from torch import nn


class Agent:
    def __init__(self, tau: float = 0.005) -> None:
        self.tau = tau
        self.online = nn.Linear(4, 2)
        self.target = nn.Linear(4, 2)
        self.optimizer = torch.optim.Adam(self.online.parameters())

    def learn(self, loss: torch.Tensor) -> None:
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        for stale, fresh in zip(self.target.parameters(), self.online.parameters()):
            weighted = self.tau * fresh.data
            stale.data.mul_(1 - self.tau).add_(weighted)
```

## Fix safety
Safe for `copy_` into parameters that autograd does not track (`.data`, or under `torch.no_grad()`), if the
coefficients are numbers and both networks are known to have the same structure. That is known if the same
function or class creates them, and one is a deep copy of the other, or both come from the same call and one
has loaded the state of the other, and if no code of the program replaces layers or parameters later. The fix
adds the same products in the same precision, so the result is identical to the bit. It computes the share of
the new weights first, because both networks may hold the same tensor.

Unsafe in these cases:

- The structure of the networks is not known, as in a function that receives both, or may differ: variables in
  the calls that create them change in between, or code reparametrises or prunes a finished network
  (`torch.nn.utils`). If shapes, dtypes or devices differ, the error is raised after the old weights were
  scaled.
- A list or iterator of the parameters is also used elsewhere, and may have lost some or their order.
- The tensors may be integers, which cannot be multiplied in place (`state_dict()` contains the counters of
  batch normalisation): a class of the network creates parameters without gradient, or code casts networks to
  integers or complex numbers.
- The coefficients may be tensors.
- Autograd may be on.
- The code assigns to `.data` or to the items of a state dict, or adds a product in place. These become
  `lerp_`, which allocates no tensor but rounds differently, and which also changes other tensors that share
  memory with the old one.

Other dicts of weights get only advice.

Using `lerp_` instead of the safe fix gains more. Its rounding is no worse, but the last digits differ from
earlier runs.

## References
- https://pytorch.org/docs/stable/generated/torch.Tensor.lerp_.html
- https://pytorch.org/docs/stable/generated/torch.Tensor.mul_.html
- https://arxiv.org/abs/1509.02971
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import CodeExtent, Finding, Heat, Rule, SemanticModel, weight_sync
from rlint.rules.networks.rl304_looped_target_update.blend_fixes import fix_of, in_one_call, is_complement
from rlint.rules.networks.rl304_looped_target_update.blends import (
    Blend,
    BlendResult,
    BlendStep,
    Lerp,
    Mix,
    blends_in,
)
from rlint.rules.networks.rl304_looped_target_update.by_helper import HelpedBlend, blend_by_helper
from rlint.rules.networks.rl304_looped_target_update.taken_from import source_of

MADE = {
    Mix: "two products and their sum",
    BlendStep: "a difference, its share and their sum",
    Lerp: "the mixture",
}
ENDS = {
    BlendResult.COPY: "then copied",
    BlendResult.DATA: "in place of the old memory",
    BlendResult.ITEM: "which later code copies into the network",
    BlendResult.MADE: "which later code copies into the network",
    BlendResult.SCALED: "added to the scaled tensor",
}
_MINOR = "only one temporary tensor per parameter is saved"
IN_PLACE = "Loop over `parameters()` under `torch.no_grad()` and blend in place with `lerp_`"


class LoopedTargetUpdate(Rule):
    code = "RL304"
    name = "looped-target-update"
    seeds = ("S1.T4",)
    claims = ("time", "alloc")
    heat = Heat.WARM
    one_change_mends = CodeExtent.FUNCTION
    visits = (ast.For, ast.ListComp, ast.DictComp)
    triggers = ("copy_", "parameters", "state_dict")

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        assert isinstance(node, (ast.For, ast.ListComp, ast.DictComp))
        blends = [blend for blend in blends_in(node, model) if is_update(blend, model)]
        if not blends:
            helped = blend_by_helper(node, model)
            if helped is not None:
                yield self.by_helper(node, helped, model)
            return
        first = blends[0]
        made = "a product" if first.result == BlendResult.SCALED else MADE[type(first.mixture)]
        made = f"{made}, {ENDS[first.result]}"
        yield self.finding(
            model,
            node,
            f"{whose_tensors(first, model)} is updated through temporary tensors: {made}",
            fix=fix_of(blends, model),
            advice=advice_of(first, model),
            minor=_MINOR if all(blend.result == BlendResult.SCALED for blend in blends) else None,
        )

    def by_helper(self, node: ast.AST, helped: HelpedBlend, model: SemanticModel) -> Finding:
        """Return the finding for tensors that a function of the program blends one by one."""
        place = source_of(helped.old, model)
        assert place is not None
        return self.finding(
            model,
            node,
            f"Each tensor of `{model.source.text(place.network)}` is updated through temporary tensors: two "
            f"products and their sum, which `{model.source.text(helped.call.func)}` returns",
            advice=f"Blend in place under `torch.no_grad()`: `{model.source.text(helped.old)}.lerp_("
            f"{model.source.text(helped.new)}, share)`, with the share of the new weights",
        )


def is_update(blend: Blend, model: SemanticModel) -> bool:
    """Whether weights of one network are blended into those of another, or at least a tensor into another
    one.
    """
    old, new = source_of(blend.mixture.old, model), source_of(blend.mixture.new, model)
    if old is not None and new is not None:
        return ast.dump(old.network) != ast.dump(new.network)
    if not is_complement(blend.mixture, model):
        return False
    return blend.result == BlendResult.COPY or loaded_into(blend, model) is not None


def loaded_into(blend: Blend, model: SemanticModel) -> ast.expr | None:
    """Return the network that loads a dict of blended weights, if its own are among them: `net` of
    `net.load_state_dict({k: tau * new[k] + (1 - tau) * v for k, v in net.state_dict().items()})`.
    """
    sources = (source_of(tensor, model) for tensor in (blend.mixture.old, blend.mixture.new))
    networks = {ast.dump(part.network): part.network for part in sources if part is not None and part.state}
    made = model.parent(blend.node)
    if blend.result != BlendResult.MADE or not networks or not isinstance(made, ast.DictComp):
        return None
    places: list[ast.expr] = [made]
    match model.parent(made):
        case ast.Assign(targets=[ast.Name(id=name)]) as statement:
            scope = model.names.scope(statement).lookup(name)
            reads = model.names.reads(name, scope) if scope is not None else []
            places += [
                read
                for read in reads
                if [binding.statement for binding in model.dataflow.definitions(read)] == [statement]
            ]
    for place in places:
        match model.parent(place):
            case ast.Call(func=ast.Attribute(value=network, attr="load_state_dict"), args=[loaded, *_]):
                if loaded is place and ast.dump(network) in networks:
                    return network
    return None


def whose_tensors(blend: Blend, model: SemanticModel) -> str:
    """Return what is updated: all tensors of a network, or the tensor that is written."""
    old, new = source_of(blend.mixture.old, model), source_of(blend.mixture.new, model)
    if (loaded := loaded_into(blend, model)) is not None:
        return f"Each tensor of `{model.source.text(loaded)}`"
    if old is None or new is None:
        return f"`{model.source.text(blend.mixture.old)}`"
    if blend.result in (BlendResult.ITEM, BlendResult.MADE) and weight_sync.is_follower(
        new.network, old.network, model
    ):
        old = new  # the loaded dict determines which of the two it is, not the order of the terms
    return f"Each tensor of `{model.source.text(old.network)}`"


def advice_of(blend: Blend, model: SemanticModel) -> str:
    """Return the code to write instead."""
    if blend.result in (BlendResult.ITEM, BlendResult.MADE):
        return IN_PLACE
    if blend.result == BlendResult.SCALED and isinstance(blend.mixture, Mix):
        mixture = blend.mixture
        if not is_complement(mixture, model):
            new, weight = model.source.text(mixture.new), model.source.text(mixture.weight)
            return f"Add in one call: `add_({new}, alpha={weight})`"
    return f"Blend in place: `{in_one_call(blend, model)}` allocates no tensor, and rounds differently"
