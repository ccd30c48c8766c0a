"""A model or tokenizer reloaded on every call.

## What it does
Flags `from_pretrained`, `pipeline`, `SentenceTransformer`, `InferenceSession`, `torch.load`, `pickle.load`
and similar calls in repeatedly executed code (per batch, per episode, per sample) if their arguments never
change: constants, settings, or parameters that no loop of the callers changes. The call, or a `with`
statement around it, may open the file.

Also flags objects of the project that load a model or access files in their constructor, if code that runs
in each step constructs one and only calls its methods (`agent = Agent()`, `return agent.act(state)`).

The rule does not flag:

- results that are already cached in an attribute, a dict or a global variable, or by a cache decorator;
- models that are loaded in order to train them, and calls whose result goes to `load_state_dict` of a
  network;
- functions whose names mention checkpoints, weights or start-up;
- files that the same module writes.

## Why is it slow
Loading reads files, builds all layers, fills them, and often queries a server for newer files. A reward
function could score a handful of texts in the time that one load takes.

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
Always unsafe. All callers then share one object: a call of `train()` or `to(device)`, a changed padding
token or a modified layer affects all of them. Later changes to the files are not picked up, the memory is
never freed, and each process has its own copy. The fix uses a bounded cache, because an unbounded one would
keep every model ever loaded. It moves a load in a method to a new function, because caching a method would
keep its objects alive.

There is only advice for unhashable arguments, such as lists and dicts, for a call that spans several
lines, and for an open file.

## References
- https://docs.python.org/3/library/functools.html#functools.lru_cache
- https://huggingface.co/docs/transformers/main_classes/model
- https://docs.pytorch.org/docs/stable/generated/torch.load.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Finding, Heat, Rule, SemanticModel, last_name
from rlint.rules.computation.rl504_uncached_model_load import load_fixes, loading_objects, loads


class UncachedModelLoad(Rule):
    """See the page above."""

    code = "RL504"
    name = "uncached-model-load"
    seeds = ("S0.4",)
    claims = ("time",)
    heat = Heat.WARM
    visits = (ast.Call,)

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a call that loads again what the previous run of its function loaded."""
        assert isinstance(node, ast.Call)
        reads = loading_objects.read_for_one_use(node, model)
        if reads is not None:
            yield self.finding(
                model,
                node,
                f"`{model.source.text(node.func)}` {reads} each time that it is constructed, in every step",
                advice="Construct it once, before the steps, and keep it",
            )
            return
        if last_name(node.func) not in loads.NAMES:
            return
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
        if loads.is_of_open_file(node, model):
            fix = None  # it would move the load away from the file that it reads
        elif load_fixes.is_loader(function, node, model):
            fix = load_fixes.remembered(function, model)
        else:
            fix = load_fixes.moved(node, what, model)
        called = model.source.text(node.func)
        often = (
            "in every iteration of a loop"
            if model.frequency.loops(node)
            else f"on every call of `{function.name}`"
        )
        yield self.finding(
            model,
            node,
            f"`{called}` reloads the same {what} {often}",
            fix=fix,
            advice="Load it once and pass it in, or load it in a function with `functools.lru_cache`",
        )
