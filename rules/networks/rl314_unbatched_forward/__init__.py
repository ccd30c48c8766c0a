"""A network run in a loop on one item at a time, where one batched forward pass would do.

## What it does
Flags a network that a `for` loop, a comprehension or `map` calls on one item at a time: on `states[i]`, on
the `state` of `for state in states`, on a batch of one (`state.unsqueeze(0)`, `state[None]`,
`torch.tensor([state])`), or on the transitions of a `random.sample`. Methods of networks, and functions of
the project that return the output of a network, are recognised as well. So is a network whose `forward`
runs another network on each tensor of a list, such as the encoding of each agent, and a network on samples
that a loop draws from one distribution (likely). A loop over a list of batches outside of networks, such as
the latent states of all steps, has low impact, and so has a loop that passes a bounded part of each column
(`states[i:i + 256, j]`), one over a few agents that runs once for each rollout, and one over batches that
have one row by default. Functions of the project that run a network and return numbers are `likely`
(`for state in states: values.append(agent.evaluate(state))`), and so are those that add the batch dimension
to their argument themselves, whatever its name (`for move in moves: scores.append(net.predict(move))`).

A network in a loop over the items of a batch, on whose loss `backward()` is called once after the loop, is
likely, too: each iteration runs it on one item, also if a function of the project reads the item.

Texts that a loop generates several times from the same prompts (`for _ in range(n): model.generate(**batch)`)
are likely, too, and so are those that it generates for one prompt at a time (`for prompt in prompts:`),
and language models that it runs on one tokenised text at a time (`judge(**tokenizer(text)).logits`). To
decode whole texts in each iteration has a high impact.

In a rollout of a model over time, it flags networks whose results the loop only stores, such as a decoder
or a reward model, and networks on a step of a sequence that do not depend on the state, such as an encoder
of observations in the function of one step (likely).

A network that at least three statements run on inputs of their own, and whose results are then joined, is
likely, too: `torch.stack((net(x1), net(x2), net(x3)))`.

The rule does not flag:

- inputs that depend on an earlier iteration: recurrent states, environments that are stepped in the loop
  (unless each iteration copies the environment or sets its state), models that are rolled out;
- mini-batches (slices, loaders, chunks), and loops with a different network for each item;
- loops over a few literal items, and over a batch of one in all calls (`state.unsqueeze(0)`);
- loops that train the network, stop early or yield, and loops in functions that draw a figure;
- recurrent networks and transformers, whose inputs differ in length, and other tokens.

## Why is it slow
For the small networks of reinforcement learning, a forward pass costs nearly the same for one row as for a
hundred: the cost is Python overhead, the dispatch of each layer and, on a GPU, kernel launches. A loop pays
this cost for each item, and again in the backward pass.

## Example
```python
import torch
from torch import nn


class Critic:
    def __init__(self) -> None:
        self.net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 1))
        self.optimizer = torch.optim.Adam(self.net.parameters())

    def learn(self, states: torch.Tensor, returns: torch.Tensor) -> None:
        values = torch.cat([self.net(state) for state in states])
        loss = (values - returns).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
```
Use instead (by hand):
```python
import torch
from torch import nn


class Critic:
    def __init__(self) -> None:
        self.net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 1))
        self.optimizer = torch.optim.Adam(self.net.parameters())

    def learn(self, states: torch.Tensor, returns: torch.Tensor) -> None:
        values = self.net(states).squeeze(1)
        loss = (values - returns).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
```

## Fix safety
There is no fix: the inputs have to be stacked before the loop, and the results indexed in it. Results agree
up to rounding, because a larger matrix product adds in another order. In training mode, batch normalisation
sees other batches, and dropout draws other numbers.

## References
- https://docs.pytorch.org/docs/stable/generated/torch.stack.html
- https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from rlint.rule import (
    AnyLoop,
    Finding,
    Heat,
    ItemKind,
    LoopItem,
    Rule,
    SemanticModel,
    TypeTag,
    last_name,
    loop_variables,
    observations,
    trip_count,
    vocabulary,
)
from rlint.rules.networks._shared.run_by_functions import runs_network
from rlint.rules.networks.rl314_unbatched_forward.batch_sizes import is_of_one_row, why_few
from rlint.rules.networks.rl314_unbatched_forward.decodes import WHOLE_DECODES, generates, is_decoded
from rlint.rules.networks.rl314_unbatched_forward.generations import is_generated_again
from rlint.rules.networks.rl314_unbatched_forward.independent_runs import (
    IndependentRun,
    independent_run,
    why_off,
)
from rlint.rules.networks.rl314_unbatched_forward.looped_networks import depends, draws_figure, runs_rows
from rlint.rules.networks.rl314_unbatched_forward.one_row import is_bounded_part
from rlint.rules.networks.rl314_unbatched_forward.per_item import (
    is_batch_of_many,
    single_item,
)
from rlint.rules.networks.rl314_unbatched_forward.per_sample import draws_each_input
from rlint.rules.networks.rl314_unbatched_forward.prompts import is_generated_per_prompt, is_run_per_text
from rlint.rules.networks.rl314_unbatched_forward.rollouts import encoders_of_steps, is_only_stored
from rlint.rules.networks.rl314_unbatched_forward.summed_losses import is_repeated_in, item_of_summed_loss
from rlint.rules.networks.rl314_unbatched_forward.unrolled_runs import unrolled_runs

_FEW = "the loop runs a few times for each rollout or epoch"
_MINOR = "each iteration runs a whole batch, so only the dispatch of the layers is saved"
_REPEATED = (
    "the loop generates again from the same inputs, often because a batch of all does not fit in memory"
)


class UnbatchedForward(Rule):
    code = "RL314"
    name = "unbatched-forward"
    seeds = ("S1.T2",)
    claims = ("time",)
    scales_with_network = True
    heat = Heat.WARM
    visits = (ast.Call,)

    def size_of(self, node: ast.AST, model: SemanticModel) -> int | None:
        """Return the number of iterations of the loop, each of which runs the network."""
        return model.sizes.passes_around(node)

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        assert isinstance(node, ast.Call)
        if not (node.args or node.keywords) or not isinstance(node.func, (ast.Name, ast.Attribute)):
            return
        if isinstance(node.func, ast.Name) and node.func.id == "map":
            yield from self.check_map(node, model)
            return
        runs = unrolled_runs(node, model)
        if runs:
            yield self.unrolled(runs, model)
        looped = model.frequency.loops(node)
        if not looped or isinstance(looped[0], ast.While) or is_of_one_row(looped[0], model):
            return
        if model.branches.is_of_one_iteration(node, looped[0]):
            return
        known = list(self.check_known(node, looped[0], model))
        yield from known or self.check_independent(node, looped[:2], model)

    def unrolled(self, runs: Sequence[ast.Call], model: SemanticModel) -> Finding:
        """Return the finding for a network that several statements run on inputs of their own."""
        text = " ".join(model.source.text(runs[0].func).split())
        return self.finding(
            model,
            runs[0],
            f"`{text}` runs {len(runs)} times, each time on another input, and the results are joined: each "
            "run dispatches every layer",
            advice=f"Concatenate the inputs along the batch, run `{text}` once, and split or reshape its "
            "result",
            assumes="the inputs have the same shape",
            related=[(run, "runs it again") for run in runs[1:]],
        )

    def check_independent(
        self, node: ast.Call, looped: Sequence[AnyLoop], model: SemanticModel
    ) -> Iterator[Finding]:
        """Yield a finding for the first network that a loop runs on items which are independent."""
        function = model.function(node) or model.syntax.module
        if model.once(draws_figure, function) or model.usage.is_overridden(node):
            return
        for loop in looped:
            run = model.once(independent_run, loop)
            if run is None:
                continue
            if run.call is node:
                yield self.independent(run, model)
            return

    def independent(self, run: IndependentRun, model: SemanticModel) -> Finding:
        """Return the finding for a network that runs on one of several independent items."""
        text = " ".join(model.source.text(run.call.func).split())
        if is_decoded(run, model):
            return self.decoded(run, text, model)
        does = "runs a network" if run.in_callee else "runs"
        each = "for each item of the loop" if run.item.is_part else often(run.item)
        decodes = generates(run, model)
        of_language = decodes or model.program.uses_language_models()
        repeated = _REPEATED if of_language and run.item.sort is ItemKind.COUNT else None
        return self.finding(
            model,
            run.call,
            f"`{text}` {does} once {each}, and no iteration needs the result of an earlier one: each "
            + ("decodes token by token" if decodes else "dispatches every layer"),
            advice="Pad the prompts on the left, and generate in large batches"
            if decodes
            else "Stack or pad the inputs of all iterations, and run the network once on the batch",
            assumes=f"`{text}` treats its inputs independently",
            minor=why_off(run, model) or repeated or why_seldom(run.call, model),
            stated=WHOLE_DECODES if decodes else None,
        )

    def decoded(self, run: IndependentRun, text: str, model: SemanticModel) -> Finding:
        """Return the finding for a function of the project that decodes texts in each iteration."""
        return self.finding(
            model,
            run.call,
            f"`{text}` decodes token by token in each iteration, and no iteration needs the result of an "
            "earlier one",
            advice="Decode the inputs of all iterations in one batch, as large as memory permits: that for "
            "keys and values grows with it",
            assumes=f"`{text}` treats its inputs independently",
            minor=why_off(run, model),
        )

    def check_known(self, node: ast.Call, loop: AnyLoop, model: SemanticModel) -> Iterator[Finding]:
        """Yield findings for loops whose inputs and networks are known in detail."""
        if is_generated_again(node, loop, model):
            yield self.generated_again(node, model)
            return
        if is_generated_per_prompt(node, loop, model):
            yield self.generated_per_prompt(node, model)
            return
        if is_run_per_text(node, loop, model):
            yield self.run_per_text(node, model)
            return
        if not model.gradients.gives_gradient(node):
            yield from self.check_functions(node, loop, model)
            return
        yield from self.check_encoders(node, loop, model)
        if (
            not runs_rows(node, model)
            or loop_variables.is_short(loop, model.names.qualified)
            or depends(node.func, loop, model)
        ):
            return
        if any(model.names.calls_named(name, model.function(node)) for name in vocabulary.MEASURES_TIME):
            return
        if model.once(draws_figure, model.function(node) or model.syntax.module):
            return
        item = single_item(node, loop, model)
        if item is None and item_of_summed_loss(node, loop, model) is not None:
            if not is_repeated_in(loop, node, model):
                yield self.summed_loss(node, model)
            return
        if item is None:
            yield from self.check_samples(node, loop, model)
            yield from self.check_outputs(node, loop, model)
            return
        what = "loop" if isinstance(loop, (ast.For, ast.AsyncFor)) else "comprehension"
        several = is_batch_of_many(item, model)
        in_part = is_bounded_part(node, item)
        yield self.described(
            node,
            node.func,
            often(item, what),
            model,
            several=several,
            in_part=in_part,
            counted=item.sort is ItemKind.COUNT,
        )

    def generated_again(self, node: ast.Call, model: SemanticModel) -> Finding:
        """Return the finding for texts that a loop generates one after the other from the same prompts."""
        text = " ".join(model.source.text(node.func).split())
        return self.finding(
            model,
            node,
            f"`{text}` generates from the same input in every iteration, one batch after the other: each "
            "decodes token by token",
            advice="Generate all at once: `num_return_sequences=n`, or repeat each prompt n times "
            "(`input_ids.repeat_interleave(n, 0)`), in as large batches as fit in memory",
            assumes=f"`{text}` samples",
            stated=WHOLE_DECODES,
        )

    def generated_per_prompt(self, node: ast.Call, model: SemanticModel) -> Finding:
        """Return the finding for texts that a loop generates for one prompt after the other."""
        text = " ".join(model.source.text(node.func).split())
        return self.finding(
            model,
            node,
            f"`{text}` generates for one prompt in each iteration, and decodes token by token each time",
            advice="Tokenise the prompts with padding on the left, and generate in large batches: all "
            "prompts of a batch share each decoding step",
            assumes=f"`{text}` takes several prompts at once",
            stated=WHOLE_DECODES,
        )

    def run_per_text(self, node: ast.Call, model: SemanticModel) -> Finding:
        """Return the finding for a language model that a loop runs on one text after the other."""
        text = " ".join(model.source.text(node.func).split())
        return self.finding(
            model,
            node,
            f"`{text}` runs on one text in each iteration",
            advice="Tokenise the texts with padding, and run it on large batches of similar lengths",
            assumes=f"`{text}` takes several texts at once",
        )

    def check_functions(self, node: ast.Call, loop: AnyLoop, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a function of the project that runs a network on one item and returns numbers:
        `for state in states: values.append(agent.evaluate(state))`.
        """
        if not model.types.call_targets(node) or model.types.type_of(node.func).tag is TypeTag.MODULE:
            return
        if loop_variables.is_short(loop, model.names.qualified) or depends(node.func, loop, model):
            return
        if not runs_network(node, model) or single_item(node, loop, model, of_objects=True) is None:
            return
        text = " ".join(model.source.text(node.func).split())
        yield self.finding(
            model,
            node,
            f"`{text}` runs a network once for each item of the loop, on a batch of one, and dispatches "
            "every layer each time",
            advice="Stack the inputs, and run the network once on all of them",
            assumes=f"`{text}` treats its inputs independently",
        )

    def summed_loss(self, node: ast.Call, model: SemanticModel) -> Finding:
        """Return the finding for a loop that sums up the loss of a batch item by item."""
        text = " ".join(model.source.text(node.func).split())
        return self.finding(
            model,
            node,
            f"`{text}` runs once for each item of the loop, after which `backward` is called once for all, "
            "and dispatches every layer each time",
            advice=f"Concatenate the inputs, run `{text}` once, and split its result where items are "
            "compared",
            assumes=f"`{text}` treats the rows of its input independently",
        )

    def check_samples(self, node: ast.Call, loop: AnyLoop, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a network that runs on samples which the loop draws one after the other."""
        source = draws_each_input(node, loop, model)
        if source is None:
            return
        text, drawn = model.source.text(node.func), model.source.text(source)
        yield self.finding(
            model,
            node,
            f"`{text}` runs once for each sample of `{drawn}` that the loop draws, and dispatches its layers "
            "each time",
            advice=f"Draw all samples at once (`{drawn}.sample((n,))`), run `{text}` once on the flattened "
            "batch, and reshape its result",
            assumes=f"`{text}` treats the rows of its input independently",
        )

    def check_outputs(self, node: ast.Call, loop: AnyLoop, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a network whose results a rollout over time only stores."""
        if not is_only_stored(node, loop, model):
            return
        text = " ".join(model.source.text(node.func).split())
        yield self.finding(
            model,
            node,
            f"`{text}` runs once per step of the loop, which only stores its result: it dispatches every "
            "layer each time",
            advice=f"Collect its inputs in the loop, stack them, and run `{text}` once after the loop",
            assumes=f"`{text}` treats the rows of its input independently",
        )

    def check_encoders(self, node: ast.Call, loop: AnyLoop, model: SemanticModel) -> Iterator[Finding]:
        """Yield findings for networks that a step function runs on a step of a sequence alone."""
        for run in encoders_of_steps(node, loop, model):
            if not runs_rows(run, model) or loop_variables.is_short(loop, model.names.qualified):
                continue
            text = " ".join(model.source.text(run.func).split())
            yield self.finding(
                model,
                run,
                f"`{text}` runs once per step of a sequence although it does not depend on the state: it "
                "dispatches every layer each time",
                advice=f"Run `{text}` once on the whole sequence, before the loop over its steps "
                f"(line {loop.lineno}), and pass each step of the result",
                assumes=f"`{text}` treats the rows of its input independently",
            )

    def check_map(self, node: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for `list(map(net, states))`."""
        match node.args:
            case [network, iterable]:
                run = ast.copy_location(ast.Call(network, [iterable], []), node)
                many = model.types.type_of(iterable).tag in (TypeTag.TENSOR, TypeTag.NDARRAY)
                many = many or observations.names_several(last_name(iterable) or "")
                if many and model.types.type_of(network).tag is TypeTag.MODULE and runs_rows(run, model):
                    yield self.described(node, network, "for each item", model)

    def described(
        self,
        node: ast.Call,
        network: ast.expr,
        how_often: str,
        model: SemanticModel,
        *,
        several: bool = False,
        in_part: bool = False,
        counted: bool = False,
    ) -> Finding:
        """Return the finding; `several`: each input is a batch already, `in_part`: it is a bounded number of
        rows of one, `counted`: it is the part of a larger one at an index.
        """
        text = " ".join(model.source.text(network).split())
        on = (
            "on a batch of its own"
            if several
            else "on its part of the input"
            if counted
            else "on a batch of one"
        )
        return self.finding(
            model,
            node,
            f"`{text}` runs once {how_often}, {on}, and dispatches every layer each time",
            advice=f"Stack the inputs (`torch.stack`, one array), run `{text}` once, "
            "and index its result where it is used",
            assumes="the batches have one shape" if several else None,
            minor=_MINOR
            if in_part or (several and not runs_in_network(node, model))
            else why_seldom(node, model),
        )


def runs_in_network(node: ast.AST, model: SemanticModel) -> bool:
    """Whether a node is in a method of a network, which runs in each forward pass of the whole."""
    cls = model.class_of(node)
    summary = model.module.classes.get(model.syntax.qualname(cls)) if cls is not None else None
    return summary is not None and model.index.class_kind(summary).tag is TypeTag.MODULE


def why_seldom(node: ast.AST, model: SemanticModel) -> str | None:
    """Return why a loop costs little: it goes through batches of one by default, or through a few agents once
    for each rollout or epoch.
    """
    loop = next(iter(model.frequency.loops(node)), None)
    if loop is None:
        return None
    is_few = trip_count.over_components(loop, model) or trip_count.collects_components(loop, model)
    if is_few and model.frequency.heat_of(node).level is Heat.WARM:
        return _FEW
    few: str | None = why_few(loop, model)
    return few


def often(item: LoopItem, what: str = "loop") -> str:
    """Return in words how often an item of a loop, or of a comprehension, is processed."""
    if item.sort is ItemKind.COUNT:
        return f"in each iteration of the {what}"
    return f"for each `{item.name}` of the {what}"
