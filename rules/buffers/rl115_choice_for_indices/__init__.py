"""`np.random.choice` used where `randint` would draw the same integers.

## What it does
Flags `np.random.choice(n, size)` in hot code, where `n` is an integer: a length, an entry of a shape, the
number of actions. The same holds for `RandomState.choice`, `Generator.choice` and `choice(range(n))`. Also
flags `np.random.choice(n, p=p)` where `p` is the same on each call: an attribute that only `__init__` sets,
a variable that the surrounding loop does not change, or one of the code around the function, set once.
Probabilities computed from an attribute that only less frequent code sets count as well, and so does a draw
whose `replace` is true by default; both state an assumption and have advice only.

The rule does not flag:

- arrays and lists as first argument, because `choice` returns their items;
- probabilities that change between calls, such as those of a policy;
- draws without replacement, which `no-replace-choice` covers;
- code that runs once per episode or less.

## Why is it slow
`choice` converts its first argument to an array, checks all its arguments, and then calls `randint` to draw
the numbers. It converts `range(n)` to an array of all `n` numbers to pick a few. With `p=`, it checks and
sums all probabilities on each call, although the sums stay the same as long as `p` does.

The call itself costs a few microseconds more than `randint`: much for the draw of one action, little for a
batch of images, and little where a Python loop then processes each drawn item, such as the windows of drawn
trajectories (low impact). The savings for `range(n)` and for `p` grow with their length.

## Example
```python
import numpy as np


class Replay:
    def __init__(self, capacity):
        self.observations = np.zeros((capacity, 4))
        self.size = 0

    def sample(self, batch_size):
        batch = np.random.choice(self.size, batch_size)
        return self.observations[batch]
```

Use instead:

```python
import numpy as np


class Replay:
    def __init__(self, capacity):
        self.observations = np.zeros((capacity, 4))
        self.size = 0

    def sample(self, batch_size):
        batch = np.random.randint(0, self.size, size=batch_size)
        return self.observations[batch]
```

## Fix safety
Safe where the first argument is certainly an integer: `randint` draws the same numbers from the same
stream, as the same type, and leaves the generator in the same state.

Unsafe in these cases:

- There may be nothing to draw from, and any code of the program reads errors (`except ValueError as error:
  print(error)`, `logging.exception`, `sys.excepthook`): both functions raise a `ValueError`, with another
  text. A test before the draw (`if len(self.items) < batch_size: return`) rules it out.
- Only the name suggests that the argument is a number (`n_actions`, `buffer_size`).
- A single number is drawn from `range(n)`: the result becomes a Python number instead of a NumPy scalar.
  For a single draw by a `Generator` it is the other way round.
- The argument is `range(n)`, and `n` and the size may both be 0, which gave an empty array of floats.
- The call passes `p=`. The fix keeps their cumulative sums beside them and draws the same numbers from
  the same stream, but negative probabilities, and a wrong number of probabilities, no longer raise an
  error.

## References
- https://numpy.org/doc/stable/reference/random/generated/numpy.random.choice.html
- https://numpy.org/doc/stable/reference/random/generated/numpy.random.randint.html
- https://numpy.org/doc/stable/reference/random/generated/numpy.random.Generator.integers.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Finding, Heat, Rule, SemanticModel, is_constant
from rlint.rules.buffers._shared.cdf import keep_sums, stays_the_same
from rlint.rules.buffers._shared.choice import Draw, draw_of, population_of, shown
from rlint.rules.buffers.rl115_choice_for_indices.assembled_items import why_little
from rlint.rules.buffers.rl115_choice_for_indices.draw_numbers import draw_numbers
from rlint.rules.buffers.rl115_choice_for_indices.seldom_set import source_of
from rlint.rules.buffers.rl115_choice_for_indices.with_replacement import replaces_by_default


class ChoiceForIndices(Rule):
    """RL115."""

    code = "RL115"
    name = "choice-for-indices"
    seeds = ("S1.T1",)
    claims = ("time",)
    heat = Heat.HOT
    assumed_size = 16
    visits = (ast.Call,)
    callees = frozenset({"choice"})

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a draw of numbers by `choice`."""
        assert isinstance(node, ast.Call)
        draw = draw_of(node, model)
        if draw is None:
            return
        replace = draw.given.get("replace", ast.Constant(value=True))
        is_sure = is_constant(replace, value=True)
        if not is_sure and not replaces_by_default(replace, model):
            return
        population = population_of(draw, model)
        if population is None or model.frequency.heat_of(node).level < self.heat:
            return
        choice = f"`{model.source.text(node.func)}`"
        little = why_little(draw, population, model)
        other = "integers" if draw.generator else "randint"
        p = draw.given.get("p")
        if p is not None and not is_constant(p, None):
            if is_sure and population.low is None and stays_the_same(p, draw, model):
                same = shown(p, model)
                message = f"{choice} checks and sums all of `{same}` on every call, though it never changes"
                advice = f"Keep `np.cumsum({same})`, and draw with `searchsorted` on it"
                fix = keep_sums(draw, model)
                yield self.finding(
                    model, node, message, fix=fix, advice=advice, workload="weighted-tasks", minor=little
                )
            elif is_sure and population.low is None:
                yield from self.same_for_some_time(draw, p, little, model)
            return
        first = shown(draw.given["a"], model)
        if population.made:
            message = f"{choice} creates an array of all of `{first}` on every call to pick from it"
        else:
            message = (
                f"{choice} converts `{first}` to an array and validates it before it calls `{other}` itself"
            )
        low = model.source.text(population.low) if population.low is not None else "0"
        size = f", size={model.source.text(draw.size)}" if draw.size is not None else ""
        advice = f"Draw the numbers with `{other}({low}, {model.source.text(population.high)}{size})`"
        yield self.finding(
            model,
            node,
            message,
            fix=draw_numbers(draw, population, model) if is_sure else None,
            advice=" ".join(advice.split()),
            assumes=None if is_sure else f"`{' '.join(model.source.text(replace).split())}` is true",
            workload="remembered-transitions" if population.made else "exploring-steps",
            minor=little,
        )

    def same_for_some_time(
        self, draw: Draw, p: ast.expr, little: str | None, model: SemanticModel
    ) -> Iterator[Finding]:
        """Yield a finding for probabilities that stay the same for many draws; `little` is why it costs
        little.
        """
        source = source_of(p, model)
        if source is None:
            return
        same, text = shown(p, model), model.source.text(source)
        yield self.finding(
            model,
            draw.call,
            f"`{model.source.text(draw.call.func)}` checks and sums all of `{same}` on every call",
            advice=f"Keep the cumulative sums where `{text}` is set, and draw with `searchsorted` on them",
            assumes=f"`{text}` stays the same for many draws",
            workload="weighted-tasks",
            minor=little,
        )
