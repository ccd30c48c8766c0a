"""A few indices drawn without replacement from a large buffer by permuting all of them.

## What it does
Flags draws in hot code whose population is a replay buffer:

- `np.random.choice(n, k, replace=False)` and `RandomState.choice`, where `n` is the number of transitions:
  `len(self.buffer)`, also returned by a method of the buffer, `min(self.mem_cntr, self.mem_size)`, a `size`
  of a replay memory, the number of items of any attribute to which one method adds and from which another
  draws, or a `range(n)` or `np.arange(n)` of one of these;
- `np.random.permutation(n)[:k]`, `rng.permutation(n)[:k]` and `torch.randperm(n)[:k]`, which do the same
  work, also by way of `.numpy()` or `.to(device)`;
- orders of a random number for each index, `np.argsort(np.random.rand(n))[:k]`, `torch.rand(n).topk(k)`,
  `sorted(range(n), key=lambda _: random.random())[:k]`, and `torch.multinomial(torch.ones(n), k)`;
- scikit-learn's `resample(rows, n_samples=k, replace=False)`, and `table.sample(k)` of pandas and
  `dataset.shuffle().select(range(k))` of Hugging Face (both likely);
- `random.sample(list(range(n)), k)`, where the range itself would serve, and ranges that are shuffled to
  take the first `k`;
- `np.random.choice(n, k, p=p)`, also with the length of the probabilities in a class that stores transitions;
- draws from a list of any name, whose items make the batch of a gradient step: `i =
  np.random.choice(len(samples), k, p=p)`, `batch = [samples[j] for j in i]`; likely.

The rule does not flag:

- `numpy.random.Generator.choice`, which draws only as many as needed;
- numbers of agents, critics or environments, which are small, and numbers of unknown meaning;
- whole permutations, which each epoch over a rollout needs;
- code that runs once per episode or less.

The impact is low for lists of trajectories and for rollouts, for buffers that the program gives a capacity of
at most a few thousand rows, and for permutations of pools and codebooks of unknown size.

## Why is it slow
`np.random.choice` without replacement permutes all `n` numbers and discards all but the first `k`, so the
cost of each batch is proportional to the size of the buffer. From about ten thousand transitions on, that
costs more than the batch itself. The cost of `numpy.random.Generator.choice` depends on `k` only; below
about a thousand transitions it is not faster.

With `p=`, `choice` checks and sums all probabilities, again in time proportional to the size of the buffer.
A sum tree finds an index in logarithmic time. Where the weights of the rows only change when rows are added,
as those of trajectories by their length do, a cumulative sum that is kept serves as well.

## Example
```python
import numpy as np


class ReplayBuffer:
    def __init__(self, max_size):
        self.mem_size = max_size
        self.mem_cntr = 0
        self.rewards = np.zeros(max_size)

    def sample_buffer(self, batch_size):
        max_mem = min(self.mem_cntr, self.mem_size)
        batch = np.random.choice(max_mem, batch_size, replace=False)
        return self.rewards[batch]
```

Use instead:

```python
import numpy as np


class ReplayBuffer:
    def __init__(self, max_size):
        self.mem_size = max_size
        self.mem_cntr = 0
        self.rewards = np.zeros(max_size)
        self.index_rng = np.random.default_rng(np.random.randint(2**31))

    def sample_buffer(self, batch_size):
        max_mem = min(self.mem_cntr, self.mem_size)
        batch = self.index_rng.choice(max_mem, size=batch_size, replace=False)
        return self.rewards[batch]
```

## Fix safety
Unsafe: the fix draws as many indices, of the same type and without repeats, but different ones, because a
`Generator` has its own random stream. The fix seeds the generator from `np.random`, so two runs with the
same seed still give the same indices. `np.random.permutation(n)[:k]` returns all `n` indices if `k` is
larger, where `choice` would raise a `ValueError`; the fix therefore draws `min` of the two.

The object keeps the generator, so the fix needs a class with an `__init__` that runs to its end. Functions,
`torch.randperm` and draws with probabilities get only advice. Where duplicates in a batch are acceptable,
as in most replay buffers, `np.random.randint(0, n, size=k)` is simpler and faster still.

## References
- https://numpy.org/doc/stable/reference/random/generated/numpy.random.choice.html
- https://numpy.org/doc/stable/reference/random/generated/numpy.random.Generator.choice.html
- https://numpy.org/doc/stable/reference/random/index.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    BindingKind,
    Finding,
    Fix,
    Heat,
    Rule,
    SemanticModel,
    Trait,
    TypeTag,
    defaults_of,
    descendants,
    is_constant,
    last_name,
    last_names,
    models,
)
from rlint.rules.buffers._shared.cdf import stays_the_same
from rlint.rules.buffers._shared.choice import Draw, Population, draw_of, population_of, shown
from rlint.rules.buffers._shared.store_class import is_store_class
from rlint.rules.buffers._shared.store_size import counts_a_store, holds_transitions, is_kept_small
from rlint.rules.buffers.rl111_no_replace_choice.listed import ListedIndices, listed_to_draw
from rlint.rules.buffers.rl111_no_replace_choice.own_generator import draw_by_own_generator
from rlint.rules.buffers.rl111_no_replace_choice.random_orders import (
    ORDERS,
    RandomOrder,
    library_draw,
    random_order,
    taken_of,
)
from rlint.rules.buffers.rl111_no_replace_choice.row_counts import rows_of
from rlint.rules.buffers.rl111_no_replace_choice.training_rows import training_rows

TREE = "Keep the priorities in a sum tree, which finds an index in logarithmic time"
GENERATOR = (
    "Draw with `rng.choice(n, k, replace=False)` of one `rng = np.random.default_rng()` that is kept, or "
    "with `np.random.randint` if duplicates are acceptable"
)
TORCH = (
    "Draw with `torch.randint(n, (k,))` if duplicates are acceptable, else with a `numpy.random.Generator`"
)
RANGE = "`random.sample(range(n), k)` needs neither a list nor a permutation"
KEPT_SUM = (
    "Keep the cumulative sum of the weights if they only change when rows are added, and draw with "
    "`np.searchsorted(sums, np.random.random(k) * sums[-1])`"
)
PERMUTATIONS = ("numpy.random.permutation", "torch.randperm")
CONVERSIONS = models.having(Trait.TO_HOST | Trait.RELOCATES | Trait.CASTS, TypeTag.TENSOR)


class NoReplaceChoice(Rule):
    """RL111."""

    code = "RL111"
    name = "no-replace-choice"
    seeds = ("S1.T1",)
    claims = ("time", "exp")
    heat = Heat.HOT
    visits = (ast.Call,)
    callees = last_names(*PERMUTATIONS, "choice", "sample", "shuffle", "resample") | ORDERS

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a draw whose cost grows with the buffer."""
        assert isinstance(node, ast.Call)
        if is_permutation(node, model):
            found = self.cut_permutation(node, model)
        elif (drawn := library_draw(node, model)) is not None:
            found = self.by_library(drawn, model)
        elif last_name(node.func) in ORDERS:
            found = self.ordered(random_order(node, model), model)
        elif (listed := listed_to_draw(node, model)) is not None:
            found = self.list_of_all(node, listed, model)
        else:
            draw = draw_of(node, model)
            population = population_of(draw, model) if draw is not None else None
            found = (
                self.choice(draw, population, model) if draw is not None and population is not None else None
            )
        if found is not None:
            yield found

    def cut_permutation(self, call: ast.Call, model: SemanticModel) -> Finding | None:
        """Return the size of `np.random.permutation(n)[:k]`."""
        if not call.args or isinstance(call.args[0], ast.Starred):
            return None
        kept = only_use(call, model)
        order = converted(kept if kept is not None else call, model)
        size, cut = taken_of(order, model), model.parent(order)
        if size is None or not isinstance(cut, ast.Subscript):
            return None
        count = call.args[0]
        numbers = listed_by(count, model)
        count = numbers or count
        if not self.is_worth_it(count, call, model):
            return None
        message = shuffles(model.source.text(call.func), count, f"`{shown(size, model)}`", model)
        of_torch = model.names.qualified(call.func) == "torch.randperm"
        rows = rows_of(count, model, codes=of_torch)
        if of_torch:
            return self.finding(model, cut, message, advice=TORCH, size=rows.number, minor=rows.few)
        fix = None
        in_place = order is call and numbers is None and not call.keywords and len(call.args) == 1
        in_place = in_place and _is_begun_at_first(cut.slice, size)
        in_place = in_place and model.names.qualified(call.func) in PERMUTATIONS
        if in_place and isinstance(call.func, ast.Attribute):
            fix = draw_by_own_generator(cut, count, size, model, cut=True)
        return self.finding(model, cut, message, fix=fix, advice=GENERATOR, size=rows.number, minor=rows.few)

    def ordered(self, found: RandomOrder | None, model: SemanticModel) -> Finding | None:
        """Return a finding for an order of all indices by random numbers, of which few are used."""
        if found is None or not self.is_worth_it(found.count, found.node, model):
            return None
        count, size = shown(found.count, model), shown(found.size, model)
        function = shown(found.node.func, model) if isinstance(found.node, ast.Call) else ""
        of_torch = "torch" in function or (model.types.type_of(found.node).tag is TypeTag.TENSOR)
        rows = rows_of(found.count, model)
        return self.finding(
            model,
            found.node,
            f"`{function}` orders random numbers for all `{count}` indices to use `{size}` of them",
            advice=TORCH if of_torch else GENERATOR,
            size=rows.number,
            minor=rows.few,
        )

    def by_library(self, found: RandomOrder, model: SemanticModel) -> Finding | None:
        """Return a finding for a function of another library that permutes all rows to take a few."""
        if model.frequency.heat_of(found.node).level < self.heat or not isinstance(found.node, ast.Call):
            return None
        rows, size = shown(found.count, model), shown(found.size, model)
        is_method = isinstance(found.node.func, ast.Attribute) and found.node.func.value is found.count
        if not is_method and not holds_transitions(found.count, model):
            return None
        return self.finding(
            model,
            found.node,
            f"`{shown(found.node.func, model)}` permutes all rows of `{rows}` to use `{size}` of them",
            advice=GENERATOR,
            assumes=f"`{rows}` holds thousands of rows" if is_method else None,
        )

    def list_of_all(self, call: ast.Call, listed: ListedIndices, model: SemanticModel) -> Finding | None:
        """Return a finding for a list of all indices of a buffer."""
        if not self.is_worth_it(listed.count, listed.made, model):
            return None
        count, size = shown(listed.count, model), shown(listed.size, model)
        rows = rows_of(listed.count, model)
        if last_name(call.func) == "sample":
            message = f"`{shown(listed.made, model)}` lists all `{count}` indices to draw `{size}` of them"
            advice = f"Draw from the range itself: {RANGE}"
            return self.finding(model, listed.made, message, advice=advice, size=rows.number, minor=rows.few)
        message = shuffles(model.source.text(call.func), listed.count, f"`{size}`", model)
        advice = f"Draw them from the range: {RANGE}"
        return self.finding(model, call, message, advice=advice, size=rows.number, minor=rows.few)

    def choice(self, draw: Draw, population: Population, model: SemanticModel) -> Finding | None:
        """Return a finding for `np.random.choice(n, k, replace=False)`, and for draws with probabilities."""
        p, replace = _chosen(draw.given.get("p"), model), draw.given.get("replace")
        once = is_constant(replace, value=False) or is_off_by_default(replace, model)
        weighted = p is not None and not is_constant(p, None)
        if not (weighted or (once and not draw.generator)):
            return None
        large = weighted and p is not None and is_length_of_priorities(population.high, p, model)
        if large and model.frequency.heat_of(draw.call).level < self.heat:
            return None
        assumed = None
        if not large and not self.is_worth_it(population.high, draw.call, model):
            drawn_from = training_rows(population.high, draw.call, model)
            if drawn_from is None or model.frequency.heat_of(draw.call).level < self.heat:
                return None
            assumed = f"`{drawn_from.id}` holds thousands of samples"
        function = model.source.text(draw.call.func)
        rows = rows_of(population.high, model)
        size = f"`{shown(_number_of(draw.size), model)}`" if draw.size is not None else "one"
        if weighted and p is not None:
            if not once and stays_the_same(p, draw, model):
                return None  # the affair of choice-for-indices
            message = f"`{function}` checks and sums all of `{shown(p, model)}` on every call to draw {size}"
            advice = TREE if rows.few is None and assumed is None else KEPT_SUM
            return self.finding(
                model,
                draw.call,
                message,
                advice=advice,
                assumes=assumed,
                size=rows.number,
                minor=rows.few,
            )
        message = shuffles(function, population.high, size, model)
        is_sure = assumed is None and is_constant(replace, value=False)
        if assumed is None and not is_sure and replace is not None:
            assumed = f"`{shown(replace, model)}` is `False`"
        return self.finding(
            model,
            draw.call,
            message,
            fix=self.fix(draw, population, model) if is_sure else None,
            advice=GENERATOR,
            assumes=assumed,
            size=rows.number,
            minor=rows.few,
        )

    def fix(self, draw: Draw, population: Population, model: SemanticModel) -> Fix | None:
        """Draw with a generator of the object."""
        func = draw.call.func
        if population.low is not None or draw.size is None or not isinstance(func, ast.Attribute):
            return None
        if model.names.qualified(func.value) != "numpy.random":
            return None
        fix: Fix | None = draw_by_own_generator(draw.call, population.high, draw.size, model, cut=False)
        return fix

    def is_worth_it(self, count: ast.expr, at: ast.expr, model: SemanticModel) -> bool:
        """Whether this is drawn often, and out of many."""
        if not counts_a_store(count, model) or is_kept_small(count, at, model):
            return False
        return model.frequency.heat_of(at).level >= self.heat


def _chosen(value: ast.expr | None, model: SemanticModel) -> ast.expr | None:
    """Return the alternative of a conditional expression that the program takes, if its settings tell."""
    while isinstance(value, ast.IfExp):
        outcome = model.branches.outcome(value.test)
        if outcome is None:
            break
        value = value.body if outcome else value.orelse
    return value


def _is_begun_at_first(part: ast.expr, size: ast.expr) -> bool:
    """Whether a slice is written `[:size]`."""
    return isinstance(part, ast.Slice) and part.upper is size and part.lower is None


def _number_of(size: ast.expr) -> ast.expr:
    """Return how many are drawn, of a number or the shape of a vector: `(batch_size,)`."""
    return size.elts[0] if isinstance(size, ast.Tuple) and len(size.elts) == 1 else size


def is_permutation(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call permutes all of a range: `np.random.permutation(n)`, `rng.permutation(n)`."""
    if not isinstance(call.func, (ast.Name, ast.Attribute)):
        return False
    if model.names.qualified(call.func) in PERMUTATIONS:
        return True
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "permutation":
        return False
    return model.types.type_of(call.func.value).tag is TypeTag.RANDOM_GENERATOR


def is_off_by_default(replace: ast.expr | None, model: SemanticModel) -> bool:
    """Whether an argument is a parameter whose default is `False`."""
    if not isinstance(replace, ast.Name):
        return False
    definitions = model.dataflow.definitions(replace)
    function = model.function(replace)
    if function is None or len(definitions) != 1 or definitions[0].kind is not BindingKind.PARAMETER:
        return False
    return is_constant(defaults_of(function.args).get(replace.id), value=False)


def is_length_of_priorities(count: ast.expr, p: ast.expr, model: SemanticModel) -> bool:
    """Whether a number is the length of the probabilities themselves, in a class that stores transitions:
    `rng.choice(len(probs), size, p=probs)`.
    """
    if not is_store_class(model.class_of(p), model):
        return False
    if isinstance(count, ast.Name):
        definitions = model.dataflow.definitions(count)
        if len(definitions) != 1 or definitions[0].path or definitions[0].value is None:
            return False
        count = definitions[0].value
    match count:
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name() as counted]):
            pass
        case ast.Subscript(value=ast.Attribute(value=ast.Name() as counted, attr="shape")):
            pass
        case ast.Attribute(value=ast.Name() as counted, attr="size"):
            pass
        case _:
            return False
    return any(isinstance(part, ast.Name) and part.id == counted.id for part in descendants(p))


def listed_by(numbers: ast.expr, model: SemanticModel) -> ast.expr | None:
    """Return `n` of `np.arange(n)`."""
    match numbers:
        case ast.Call(func=func, args=[count], keywords=[]) if model.names.qualified(func) in (
            "numpy.arange",
            "builtins.range",
        ):
            return count
    return None


def only_use(call: ast.Call, model: SemanticModel) -> ast.Name | None:
    """Return the one read of `order` after `order = np.random.permutation(n)`, outside of a loop that would
    take a slice for each batch.
    """
    match model.parent(call):
        case ast.Assign(targets=[ast.Name(id=name)]) as kept:
            scope = model.names.scope(call).lookup(name)
            uses = model.names.uses(name, scope) if scope is not None else ()
            reads = [use for use in uses if isinstance(use.ctx, ast.Load)]
            after = [use for use in reads if any(b.value is call for b in model.dataflow.definitions(use))]
            if len(after) == 1 and model.frequency.loops(after[0]) == model.frequency.loops(kept):
                return after[0]
    return None


def converted(order: ast.expr, model: SemanticModel) -> ast.expr:
    """Return what a permutation becomes by conversions that keep its order: `torch.randperm(n).numpy()`."""
    method = model.parent(order)
    while isinstance(method, ast.Attribute) and method.attr in CONVERSIONS:
        call = model.parent(method)
        if not isinstance(call, ast.Call) or call.func is not method:
            break
        order, method = call, model.parent(call)
    return order


def shuffles(function: str, count: ast.expr, size: str, model: SemanticModel) -> str:
    """Return the message: the cost, and what it is for."""
    return f"`{function}` permutes all `{shown(count, model)}` indices to use {size} of them"
