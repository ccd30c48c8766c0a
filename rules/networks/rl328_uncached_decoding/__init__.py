"""A language model that runs over all tokens so far for each new one.

## What it does
Flags calls of a network in a loop that generates a sequence without a cache: the network gets all tokens so
far, the next token is chosen from its last position (`argmax`, `multinomial`, `sample`), and is added to the
input: `ids = torch.cat([ids, token], dim=1)`, `tokens.append(token)`, `ids[:, t] = token`. Also if the
network runs in a function of the same file that the loop calls, or gets only the last tokens that fit into
its context.

`generate(..., use_cache=False)` and `GenerationConfig(use_cache=False)` are flagged, too.

For models of `transformers` that are loaded as causal language models, the finding is certain. For all other
networks, it is likely: results at earlier positions must not depend on later tokens. The rule does not flag:

- loops that pass on a cache or a state (`past_key_values`, `kv_cache`), or only the last token;
- loops over the steps of an environment, in which observations are added to the input;
- networks of known layers with neither attention, recurrent layers nor embeddings;
- loops of a few iterations.

## Why is it slow
With n tokens, the network processes 1 + 2 + … + n positions instead of n. In attention layers, the keys and
values of earlier tokens are the same in each iteration: a cache of them leaves one position to process for
each new token.

## Example
```python
import torch
from transformers import AutoModelForCausalLM


def complete(name: str, ids: torch.Tensor, count: int) -> torch.Tensor:
    model = AutoModelForCausalLM.from_pretrained(name)
    with torch.no_grad():
        for _ in range(count):
            logits = model(ids).logits[:, -1]
            token = logits.argmax(-1, keepdim=True)
            ids = torch.cat([ids, token], dim=1)
    return ids
```
Use instead (by hand):
```python
import torch
from transformers import AutoModelForCausalLM


def complete(name: str, ids: torch.Tensor, count: int) -> torch.Tensor:
    model = AutoModelForCausalLM.from_pretrained(name)
    with torch.no_grad():
        token, cache = ids, None
        for _ in range(count):
            output = model(token, past_key_values=cache, use_cache=True)
            cache = output.past_key_values
            token = output.logits[:, -1].argmax(-1, keepdim=True)
            ids = torch.cat([ids, token], dim=1)
    return ids
```

## Fix safety
There is only advice: `model.generate` of `transformers` keeps a cache by itself; a network of your own needs
attention layers that return their keys and values. Logits may differ in the last bits. If the input is cut to
a window, the positions of all its tokens change as soon as it is full, and the cache must be computed again.

## References
- https://huggingface.co/docs/transformers/cache_explanation
- https://huggingface.co/docs/transformers/kv_cache
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    Finding,
    Heat,
    Rule,
    SemanticModel,
    TypeTag,
    is_constant,
    last_name,
    models,
    trip_count,
    vocabulary,
)
from rlint.rules.networks._shared.last_positions import is_causal_model
from rlint.rules.networks.rl328_uncached_decoding.growing_inputs import growths_in, inputs_of, loops_of
from rlint.rules.networks.rl328_uncached_decoding.runs import (
    extended_by_result,
    is_cached,
    network_of,
    steps_environment,
)

_FEW = 8
"""Number of tokens below which a cache hardly helps."""


class UncachedDecoding(Rule):
    """RL328."""

    code = "RL328"
    name = "uncached-decoding"
    claims = ("time", "exp")
    scales_with_network = True
    heat = Heat.COLD  # the loop takes quadratic time even if it runs only once
    visits = (ast.Call,)
    triggers = ("sampl", "argmax", "multinomial", ".max(", "topk", "logits", "use_cache")

    def size_of(self, node: ast.AST, model: SemanticModel) -> int | None:
        """Return the number of tokens that the loop adds."""
        return model.sizes.passes_around(node)

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a network that runs over a sequence which its result extends."""
        assert isinstance(node, ast.Call)
        if is_generated_without_cache(node, model):
            yield self.without_cache(node, model)
            return
        loops = loops_of(node, model)
        if not loops or not inputs_of(node) or is_of_library(node, model):
            return
        for loop in loops:
            grown = model.once(growths_in, loop)
            run = extended_by_result(node, loop, model) if grown else None
            if run is None:
                continue
            if is_cached(run, node, loop, model) or steps_environment(loop):
                return
            count = trip_count.passes(loop, model)
            if count is not None and count < _FEW:
                return
            yield self.found(node, run, model)
            return

    def without_cache(self, node: ast.Call, model: SemanticModel) -> Finding:
        """Return the finding for `model.generate(ids, use_cache=False)`."""
        name = " ".join(model.source.text(node.func).split())
        runs = "makes `generate` run" if last_name(node.func) in vocabulary.GENERATION_SETTINGS else "runs"
        return self.finding(
            model,
            node,
            f"`{name}` {runs} over all tokens so far for each new token, because of `use_cache=False`",
            advice="Remove `use_cache=False`",
        )

    def found(self, node: ast.Call, run: ast.Call, model: SemanticModel) -> Finding:
        """Return the finding for a call in a loop, which runs the network itself or in a function."""
        network = network_of(run, model)
        name = " ".join(model.source.text(network).split())
        is_pretrained = is_causal_model(network, model)
        advice = (
            "Use `generate`, or pass only the new token, with `past_key_values` of the output before"
            if is_pretrained or model.types.type_of(network).tag is not TypeTag.MODULE
            else "Keep the keys and values of earlier tokens in the layers, and run only the new token"
        )
        return self.finding(
            model,
            node,
            f"`{name}` runs over all tokens so far for each new token",
            advice=advice,
            assumes=None
            if is_pretrained
            else f"`{name}` is causal: earlier positions do not see later tokens",
            related=[(run, "the network runs here")] if run is not node else (),
        )


def is_generated_without_cache(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call generates tokens without a cache of keys and values, or creates the settings for it."""
    name = last_name(call.func)
    if name not in vocabulary.GENERATES and name not in vocabulary.GENERATION_SETTINGS:
        return False
    return any(
        is_constant(keyword.value, value=False)
        if keyword.arg == "use_cache"
        else _has_no_cache(keyword, model)
        for keyword in call.keywords
    )


def _has_no_cache(keyword: ast.keyword, model: SemanticModel) -> bool:
    """Whether `**options` unpacks a dict that is written in the function, with `use_cache` false."""
    if keyword.arg is not None:
        return False
    value: ast.expr | None = keyword.value
    if isinstance(value, ast.Name):
        bindings = model.dataflow.definitions(value)
        value = bindings[0].value if len(bindings) == 1 and not bindings[0].path else None
    match value:
        case ast.Dict(keys=keys, values=values):
            named = zip(keys, values, strict=True)
            return any(
                isinstance(k, ast.Constant) and k.value == "use_cache" and is_constant(v, value=False)
                for k, v in named
            )
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=given):
            return any(each.arg == "use_cache" and is_constant(each.value, value=False) for each in given)
    return False


def is_of_library(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call surely runs a function of a library."""
    path = model.names.qualified(call.func)
    if path is None:
        return False
    return path.startswith("builtins.") or models.callable_fact(path) is not None
