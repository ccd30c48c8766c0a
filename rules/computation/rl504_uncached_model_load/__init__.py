"""A model or tokenizer loaded anew on each call.

## What it does
Flags `from_pretrained`, `pipeline`, `SentenceTransformer`, `torch.load` of a file and kin in code that
runs again and again (per batch, per episode, per sample), if they are given the same each time: constants,
settings, or parameters that no loop of the callers changes.

Not flagged is what is kept for the next time already (in an attribute, a dict, a global name, behind a
cache), what is loaded to be trained or into a network's `load_state_dict`, functions whose names speak of
checkpoints, weights or of a program's start, and files of which the same module writes new ones.

## Why is it slow
Loading reads files, builds all layers, fills them, and often asks a server whether the files are still
current. A reward function that does so scores a handful of texts in the time in which it loads.

## Example
```python
from transformers import AutoTokenizer

NAME = "Qwen/Qwen2.5-0.5B"


def length_reward(completion):
    tokenizer = AutoTokenizer.from_pretrained(NAME)
    return -len(tokenizer.encode(completion)) / 1000
```
Use instead:
```python
import functools
from transformers import AutoTokenizer

NAME = "Qwen/Qwen2.5-0.5B"


@functools.lru_cache(maxsize=4)
def load_tokenizer():
    return AutoTokenizer.from_pretrained(NAME)


def length_reward(completion):
    tokenizer = load_tokenizer()
    return -len(tokenizer.encode(completion)) / 1000
```

## Fix safety
Always unsafe. All callers share one object from then on: a call of `train()`, of `to(device)`, a padding
token that is set or a layer that is changed is seen by all of them. What changes on the disk is not
noticed, the memory stays taken, and each of several processes keeps its own. The cache has a bound, since
without one every model that was ever asked for would stay. Methods are not cached, since that would keep
their objects; the load moves to a function of its own instead. Arguments that cannot be looked up in a
cache, such as lists and dicts, leave advice alone, and so does a call that is broken over several lines.

## References
- https://docs.python.org/3/library/functools.html#functools.lru_cache
- https://huggingface.co/docs/transformers/main_classes/model
- https://docs.pytorch.org/docs/stable/generated/torch.load.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Finding, Heat, Rule, SemanticModel
from rlint.rules.computation.rl504_uncached_model_load import load_fixes, loads


class UncachedModelLoad(Rule):
    """See the page above."""

    code = "RL504"
    name = "uncached-model-load"
    seeds = ("S0.4",)
    claims = ("time",)
    heat = Heat.WARM
    visits = (ast.Call,)
    callees = loads.NAMES

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a call that loads again what the last run of its function loaded."""
        assert isinstance(node, ast.Call)
        what = loads.what_it_loads(node, model)
        function = model.function(node)
        if not what or function is None:
            return
        if loads.is_meant_once(function) or loads.is_kept_or_trained(node, model):
            return
        if what == "file" and (not loads.names_a_file(node, model) or loads.is_checkpoint(node, model)):
            return
        if what == "file" and loads.saves_files(model):
            return
        if model.frequency.heat_of(node).level < self.heat or not loads.is_same_each_time(node, model):
            return
        if load_fixes.is_loader(function, node, model):
            fix = load_fixes.remembered(function, model)
        else:
            fix = load_fixes.moved(node, what, model)
        called = model.source.text(node.func)
        often = (
            "in each pass of a loop"
            if model.frequency.loops(node)
            else f"each time that `{function.name}` runs"
        )
        yield self.finding(
            model,
            node,
            f"`{called}` loads the same {what} again {often}",
            fix=fix,
            advice="Load it once and hand it in, or load it in a function with `functools.lru_cache`",
        )
