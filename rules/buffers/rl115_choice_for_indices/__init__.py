"""`np.random.choice` used where `randint` would draw the same integers.

## What it does
Flags `np.random.choice(n, size)` in hot code, where `n` is a whole number: a length, an entry of a
shape, the number of actions. `RandomState.choice`, `Generator.choice` and `choice(range(n))` count,
too. So does `np.random.choice(n, p=p)` where `p` is the same each time: an attribute that `__init__`
alone sets, or a variable that stays the same in the loop around the call.

Not flagged are arrays and lists as first argument, whose items come back; probabilities that change from
call to call, as those of a policy do; draws without replacement, which `no-replace-choice` covers; and code
that runs once per episode or less.

## Why is it slow
`choice` turns its first argument into an array, measures that and checks the rest before it asks
`randint` for the same numbers. Of `range(n)` it makes an array with all of the numbers in it to pick
a few. With `p=` it checks all of the probabilities and sums them in each call, though the sums stay
the same as long as `p` does.

What the call itself saves is a few microseconds: much beside the draw of one action, little beside a
batch of images. What is saved on `range(n)` and on `p` grows with their length.

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
Safe where the first argument surely is a whole number: `randint` draws the same numbers from the same
stream, as the same type, and leaves the generator in the same state. Where there is nothing to draw
from, both raise a `ValueError`.

Unsafe where only the name says that it is a number (`n_actions`, `buffer_size`). Unsafe for a single
draw from `range(n)`, which gave a numpy scalar and gives a Python number then, and for a single draw
by a `Generator`, where it is the other way round. For `range(n)`, unsafe also where `n` and the size
may both be 0, since that gave an empty array of floats.

Unsafe for probabilities, whose sums the fix keeps beside them: the same numbers are drawn from the
same stream, but probabilities that are negative, or more or fewer than there are numbers, are no
longer noticed.

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
from rlint.rules.buffers._shared.choice import draw_of, population_of, shown
from rlint.rules.buffers.rl115_choice_for_indices.draw_numbers import draw_numbers


class ChoiceForIndices(Rule):
    """RL115."""

    code = "RL115"
    name = "choice-for-indices"
    seeds = ("S1.T1",)
    claims = ("time",)
    heat = Heat.HOT
    visits = (ast.Call,)
    callees = frozenset({"choice"})

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a draw of numbers by `choice`."""
        assert isinstance(node, ast.Call)
        draw = draw_of(node, model)
        if draw is None:
            return
        if not is_constant(draw.given.get("replace", ast.Constant(value=True)), value=True):
            return
        population = population_of(draw, model)
        if population is None or model.frequency.heat_of(node).level < self.heat:
            return
        choice = f"`{model.source.text(node.func)}`"
        other = "integers" if draw.generator else "randint"
        p = draw.given.get("p")
        if p is not None and not is_constant(p, None):
            if population.low is None and stays_the_same(p, draw, model):
                same = shown(p, model)
                message = f"{choice} checks and sums all of `{same}` on every call, though it never changes"
                advice = f"Keep `np.cumsum({same})`, and draw with `searchsorted` on it"
                yield self.finding(model, node, message, fix=keep_sums(draw, model), advice=advice)
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
            model, node, message, fix=draw_numbers(draw, population, model), advice=" ".join(advice.split())
        )
