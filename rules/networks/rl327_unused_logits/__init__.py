"""Logits over the vocabulary at positions whose logits no code reads.

## What it does
Flags calls of a language model in hot or warm code, or in loops, if only the last position of its logits is
read, or the last few: `model(ids).logits[:, -1]`, `model(**batch).logits[:, -count - 1 : -1]`; also through
variables, `softmax`, scaling, and several slices. The models are:

- causal language models of `transformers`, whose `logits_to_keep` limits the positions (`num_logits_to_keep`
  in older versions);
- networks of the project whose `forward` has such a parameter;
- models of unknown class in files that process tokens (likely);
- networks of the project that embed tokens and return logits, if what is read is a distribution (likely).

Also flags models of `transformers` that are called with `output_hidden_states=True` if only the hidden states
are read.

The rule does not flag calls that pass `labels`, `past_key_values` or the number of logits already, outputs
that are returned or passed on as a whole, and classifiers.

## Why is it slow
The last layer multiplies the hidden state of each position by a matrix of width × vocabulary, which is a
large part of a small model, and its result has positions × vocabulary numbers: often more memory than all
activations of the layers before it.

## Example
```python
import torch
from transformers import AutoModelForCausalLM


class Judge:
    def __init__(self, name: str, yes: int) -> None:
        self.model = AutoModelForCausalLM.from_pretrained(name)
        self.yes = yes

    def score(self, ids: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            logits = self.model(ids).logits
        return logits[:, -1].log_softmax(-1)[:, self.yes]


def train(policy: torch.nn.Module, judge: Judge, batches: list, optimizer: torch.optim.Optimizer) -> None:
    for ids in batches:
        loss = -(policy(ids) * judge.score(ids)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```
Use instead:
```python
import torch
from transformers import AutoModelForCausalLM


class Judge:
    def __init__(self, name: str, yes: int) -> None:
        self.model = AutoModelForCausalLM.from_pretrained(name)
        self.yes = yes

    def score(self, ids: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            logits = self.model(ids, logits_to_keep=1).logits
        return logits[:, -1].log_softmax(-1)[:, self.yes]


def train(policy: torch.nn.Module, judge: Judge, batches: list, optimizer: torch.optim.Optimizer) -> None:
    for ids in batches:
        loss = -(policy(ids) * judge.score(ids)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```

## Fix safety
Always unsafe. Some models of `transformers`, and old versions of others, have no such parameter. A product of
fewer rows may differ in the last bits. If several positions are read, or the class of the model is not known,
there is only advice.

## References
- https://huggingface.co/docs/transformers/main_classes/output
- https://huggingface.co/docs/transformers/model_doc/llama
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    LOOPS,
    Applicability,
    Finding,
    Fix,
    Heat,
    Rule,
    SemanticModel,
    TypeTag,
    descendants,
    last_name,
    models,
)
from rlint.rules.networks._shared.last_positions import is_causal_model
from rlint.rules.networks._shared.seldom import runs_in_few_steps
from rlint.rules.networks.rl327_unused_logits.kept_positions import (
    NORMALISES,
    KeptPositions,
    LogitsRead,
    reads_of_logits,
)
from rlint.rules.networks.rl327_unused_logits.other_outputs import reads_only_hidden_states
from rlint.rules.networks.rl327_unused_logits.own_heads import reads_of_own_network

_LIMITS = ("logits_to_keep", "num_logits_to_keep")
_NEEDS_ALL = frozenset({*_LIMITS, "labels", "past_key_values"})
_REASON = "the model must have this parameter, and its result may differ in the last bits"
_WORDS = NORMALISES | {"argmax", "topk", "Categorical", "multinomial"}


class UnusedLogits(Rule):
    """RL327."""

    code = "RL327"
    name = "unused-logits"
    claims = ("time", "mem")
    scales_with_network = True
    heat = Heat.COLD  # loops over prompts outside of training, see `is_repeated`
    mended_with = ("RL328",)
    visits = (ast.Call,)
    triggers = ("logits", "hidden_states", "Embedding", *sorted(_WORDS))

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a language model of whose logits only some positions are read."""
        assert isinstance(node, ast.Call)
        if not (node.args or node.keywords) or any(each.arg in _NEEDS_ALL for each in node.keywords):
            return
        is_open = any(keyword.arg is None for keyword in node.keywords)
        if is_open and may_be_limited(node, model):
            model.silent("the unpacked arguments of {} may limit the positions", node)
            return
        parameter = limit_of(node, model)
        if parameter is None:
            yield from self.check_own(node, model)
            return
        if reads_only_hidden_states(node, model) and is_repeated(node, model):
            yield self.without_logits(node, parameter, model)
            return
        is_sure = parameter != ""
        if not is_sure and not model.program.handles_tokens():
            return
        reads = reads_of_logits(node, model)
        if not reads or not is_repeated(node, model):
            return
        if any(each.position is KeptPositions.ONE for each in reads):
            return  # libraries limit the positions from the last on
        if not is_sure and not all(is_of_words(read, model) for read in reads):
            return
        network = " ".join(model.source.text(node.func).split())
        only_last = all(each.position is KeptPositions.LAST for each in reads)
        count = "1" if only_last else "the number of positions that are read"
        yield self.finding(
            model,
            node,
            _read_in_part(network, reads, model),
            fix=build_fix(node, parameter, model) if is_sure and only_last and not is_open else None,
            advice=f"Pass `{parameter or _LIMITS[0]}`: {count}",
            assumes=None if is_sure else f"`{network}` is a causal language model of `transformers`",
        )

    def check_own(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a network of the project whose last layer need not run at all positions."""
        reads = reads_of_own_network(call, model)
        if not reads or not all(is_of_words(read, model) for read in reads) or not is_repeated(call, model):
            return
        network = " ".join(model.source.text(call.func).split())
        yield self.finding(
            model,
            call,
            _read_in_part(network, reads, model),
            advice="Let the network apply its last layer to the positions that are read alone",
            assumes=f"the last layer of `{network}` is over a large vocabulary",
        )

    def without_logits(self, call: ast.Call, parameter: str, model: SemanticModel) -> Finding:
        """Return the finding for a language model of which only the hidden states are read."""
        network = " ".join(model.source.text(call.func).split())
        return self.finding(
            model,
            call,
            f"`{network}` computes logits over the vocabulary at all positions, but only the hidden states "
            "are read",
            advice=f"Call `{network}.base_model`, which has no last layer, and read `last_hidden_state`",
            assumes=None if parameter else f"`{network}` is a causal language model of `transformers`",
        )


def _read_in_part(network: str, reads: list[LogitsRead], model: SemanticModel) -> str:
    read = " ".join(model.source.text(reads[0].at.slice).split())
    return (
        f"`{network}` computes logits over the vocabulary at all positions, of which only `[{read}]` are read"
    )


def limit_of(call: ast.Call, model: SemanticModel) -> str | None:
    """Return the parameter by which a language model limits the positions of its logits; "" if its class is
    not known, None if it is another network.
    """
    run = model.nn.network_run(call)
    if run is not None and run[1] == "forward" and is_causal_model(run[0], model):
        return _LIMITS[0]
    targets = model.types.call_targets(call)
    for target in targets:
        known = [name for name in _LIMITS if name in target.parameters]
        if known:
            return known[0]
    if targets or run is not None or model.types.type_of(call.func).tag is not TypeTag.UNKNOWN:
        return None
    path = model.names.qualified(call.func)
    return None if path is not None and models.callable_fact(path) is not None else ""


def may_be_limited(call: ast.Call, model: SemanticModel) -> bool:
    """Whether arguments that a call unpacks may limit the positions: code around it, or elsewhere in the
    file, names such an argument.
    """
    function = model.function(call) or model.syntax.module
    return bool(_named_in(function) & _NEEDS_ALL or model.once(_limits_named, model.syntax.module))


def _limits_named(module: ast.Module, _: SemanticModel) -> bool:
    return not _named_in(module).isdisjoint(_LIMITS)


def _named_in(part: ast.AST) -> set[str]:
    """Return the names of arguments and keys in a part of a program."""
    found: set[str] = set()
    for node in descendants(part):
        match node:
            case ast.Constant(value=str(name)) | ast.keyword(arg=str(name)):
                found.add(name)
    return found


def is_repeated(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call runs for each of many inputs, in training or not."""
    if model.frequency.heat_of(call).level is not Heat.COLD:
        return not runs_in_few_steps(call, model)
    if any(isinstance(loop, LOOPS) for loop in model.frequency.loops(call)):
        return True
    function = model.symbols.function_at(call)
    return function is not None and any(edge.site.loop >= 0 for edge in model.dataflow.calls_of(function))


def is_of_words(read: LogitsRead, model: SemanticModel) -> bool:
    """Whether what a read keeps of logits is a distribution over a vocabulary: by its axes or use."""
    if read.over_words or any(
        isinstance(part, ast.Call) and last_name(part.func) in _WORDS for part in descendants(read.at.value)
    ):
        return True
    for use in model.dataflow.uses(read.at):
        match use.at:
            case ast.Call(func=func) if last_name(func) in _WORDS:
                return True
            case ast.Subscript(value=value) if value is use.node:
                return True
    return False


def build_fix(call: ast.Call, parameter: str, model: SemanticModel) -> Fix | None:
    """Compute the logits of the last position alone."""
    edit = model.edit.with_keyword(call, parameter, "1")
    return Fix("Only compute the last logits", Applicability.UNSAFE, (edit,), _REASON) if edit else None
