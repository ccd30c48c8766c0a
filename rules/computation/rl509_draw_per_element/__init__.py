"""Random numbers drawn one by one in a list comprehension or loop.

## What it does
Flags `[np.random.uniform(low, high) for _ in range(n)]` and similar comprehensions in hot code: each item
is one number drawn by `np.random`, by a `Generator`, by `random.randint` or `random.randrange`, or by
`torch.rand(1).item()`, and no argument depends on the item. Nested comprehensions, which draw a matrix, are
one finding. Also a loop that does nothing but store such a draw (`for i in ids: positions[i] =
torch.rand(12)`), and an array made of a list of drawn rows (`np.array([np.random.normal(mean, std) for _ in
range(n)])`), with advice only.

Also, with advice only, a draw among the statements of a loop that collects a sample: with bounds that depend
on the loop's variable (`np.random.uniform(width * i, width * (i + 1))` of a prioritised buffer), a place
that selects an item (`storage[np.random.randint(n)]`, if a variable holds it), or a number by which a call
that changes nothing finds one (`tree.find(np.random.uniform(0, total))`). Draws of `random.uniform` count if
their list only becomes an array.

Also, with advice only, a draw among arithmetic that a comprehension, a generator, `map` or a loop does for
each item: `[np.random.rand() < p for _ in range(n)]`, `x[k] += rng.normal()`, `if rng.random() < p: y[i]
= 1`, `[np.random.beta(a, b) for a, b in zip(wins, losses)]` of arrays. Draws of `random` and of `torch`, and
samples of one distribution (`torch.stack([dist.sample() for _ in range(n)])`), count if an array is made of
them or they are stored in one.

The rule does not flag:

- other draws whose arguments differ from item to item or may be arrays, and draws from the items of a list;
- fewer than five items;
- `random.random` and similar functions for a list, which a loop calls as fast as any alternative;
- code that runs once.

## Why is it slow
Each call of `np.random` checks its arguments, takes a lock and creates a Python number, which takes much
longer than drawing it. With `size=` this happens once, and the numbers are drawn in a compiled loop.
Where nothing tells how many items there are, the impact is that of 16 items.

## Example
```python
import numpy as np


class Replay:
    def __init__(self) -> None:
        self.storage = []

    def sample(self, batch_size: int):
        picked = [np.random.randint(0, len(self.storage)) for _ in range(batch_size)]
        return [self.storage[index] for index in picked]
```
Use instead:
```python
import numpy as np


class Replay:
    def __init__(self) -> None:
        self.storage = []

    def sample(self, batch_size: int):
        picked = np.random.randint(0, len(self.storage), size=batch_size).tolist()
        return [self.storage[index] for index in picked]
```

## Fix safety
Safe for functions of `np.random` where the number of items is a length, a size or a constant and the
arguments are constants: the same numbers are drawn from the same stream, as the same Python numbers, and
the generator is left in the same state. The fix removes `np.array` around the list where the array is the
same.

Unsafe in these cases:

- The number of items may be negative. `range` is then empty, but `size=` raises an error.
- An argument is a number by default, but a caller may pass an array.
- An outer list may be empty, and the number of items of the inner lists is neither a constant nor the same:
  it would be computed although there is no inner list (`len(self.other)` fails for `None`).
- The list may be empty and its arguments invalid: with `size=`, they are checked even if no number is
  drawn.
- A `Generator` draws integers: the list holds NumPy scalars, and Python numbers after the fix.
- The draw is `random.randint` or `torch.rand`: other numbers of the same distribution may be drawn.

## References
- https://numpy.org/doc/stable/reference/random/legacy.html
- https://numpy.org/doc/stable/reference/random/generator.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    Applicability,
    Finding,
    Fix,
    Rule,
    SemanticModel,
    TypeTag,
    descendants,
    numbers,
    same_code,
)
from rlint.rules.computation._shared.scalar_draws import ScalarDraw, draw_of, is_plain
from rlint.rules.computation._shared.stratified_draws import (
    StratifiedDraw,
    drawn_among_others,
    drawn_for_array,
)
from rlint.rules.computation.rl509_draw_per_element.collected_draws import CollectedDraw, drawn_per_item
from rlint.rules.computation.rl509_draw_per_element.repeated_draws import (
    RepeatedDraw,
    drawn_in_loop,
    drawn_rows,
)

_FEW = 5
_NUMBERS = frozenset({TypeTag.INT, TypeTag.FLOAT, TypeTag.BOOL, TypeTag.NUMPY_SCALAR})


class DrawPerElement(Rule):
    """RL509."""

    code = "RL509"
    name = "draw-per-element"
    claims = ("time",)
    assumed_size = 16
    visits = (ast.ListComp, ast.GeneratorExp, ast.Call, ast.For, ast.While)
    callees = frozenset({"map"})
    triggers = ("rand", "rng", "sample", "normal")

    def concerns_many(self, node: ast.AST, model: SemanticModel) -> bool:
        """Whether the loop of a draw, not what it draws from, has many items."""
        if isinstance(node, ast.Call):
            node = next((each for each in model.ancestors(node) if isinstance(each, self.visits)), node)
        return model.sizes.has_many(node)

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a loop or comprehension that draws one number, or row, for each item."""
        found = list(self._alone(node, model)) if isinstance(node, (ast.ListComp, ast.For, ast.While)) else []
        yield from found or self._collected(drawn_per_item(node, model), model)

    def _collected(self, found: CollectedDraw | None, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a draw among the arithmetic for each item."""
        if found is None:
            return
        how = "arrays as arguments" if found.varies else "the number of items in `size` or in the shape"
        yield self.finding(
            model,
            found.call,
            f"`{model.source.text(found.call)}` is called once for each of the items, but one call can draw "
            "all of them",
            advice=f"Draw all in one call, with {how}, and compute with the whole array",
        )

    def _alone(self, node: ast.ListComp | ast.For | ast.While, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a draw that is not part of arithmetic, or that selects an item."""
        if isinstance(node, ast.While):
            yield from self._stratified(model.once(drawn_among_others, node), model)
            return
        if isinstance(node, ast.For):
            repeated = drawn_in_loop(node, model)
            yield from self._repeated(node, repeated, model)
            if repeated is None:
                yield from self._stratified(model.once(drawn_among_others, node), model)
            return
        counts, element = counted(node, model)
        if not counts:
            found = drawn_for_array(node, model) or model.once(drawn_among_others, node)
            yield from self._stratified(found, model)
        if not counts or is_inner(node, model):
            return
        draw = draw_of(element, model)
        if draw is None:
            rows = drawn_rows(node, model)
            yield from self._repeated(node, rows, model)
            if rows is None:
                yield from self._stratified(model.once(drawn_among_others, node), model)
        if draw is None or is_few(counts, model):
            return
        text = model.source.text(draw.call)
        size = shape_text(draw, counts, model)
        doubted = [argument for argument in draw.arguments if not is_number(argument, model)]
        for argument in doubted if not draw.listed else ():
            if not numbers.is_number(argument, model):
                model.silent("{} may be an array", argument)
                yield from self._repeated(node, drawn_rows(node, model), model)
                return
        assumes = f"`{model.source.text(doubted[0])}` is a number" if doubted else None
        yield self.finding(
            model,
            node,
            f"`{text}` is called once for each of the {'rows and columns' if len(counts) > 1 else 'items'}, "
            "but one call can draw all of them",
            fix=build_fix(node, draw, counts, model),
            advice=f"Draw all in one call: `{draw.text.format(size)}`",
            assumes=assumes,
        )

    def _repeated(
        self, node: ast.expr | ast.stmt, found: RepeatedDraw | None, model: SemanticModel
    ) -> Iterator[Finding]:
        """Yield a finding for a draw that each iteration repeats."""
        if found is None:
            return
        text = model.source.text(found.call)
        what = "rows" if found.rows else "items"
        yield self.finding(
            model,
            node,
            f"`{text}` is called once for each of the {what}, but one call can draw all of them",
            advice="Draw all in one call, with the number of items in `size` or in the shape",
        )

    def _stratified(self, found: StratifiedDraw | None, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a draw that a loop repeats among other statements."""
        if found is None:
            return
        how = "arrays of the bounds as arguments" if found.varies else "the number of iterations as `size`"
        yield self.finding(
            model,
            found.call,
            f"`{model.source.text(found.call)}` draws one number in each iteration, but one call can draw "
            "all of them",
            advice=f"Draw all in one call before the loop, with {how}",
        )


def counted(node: ast.expr, model: SemanticModel) -> tuple[list[ast.expr], ast.expr]:
    """Return the numbers of items of a comprehension over `range(n)` and of the nested ones, with the
    innermost element; no numbers for any other.
    """
    counts: list[ast.expr] = []
    names: set[str] = set()
    while isinstance(node, ast.ListComp):
        match node.generators:
            case [
                ast.comprehension(
                    target=ast.Name(id=name),
                    iter=ast.Call(args=[count], keywords=[]) as call,
                    ifs=[],
                    is_async=0,
                )
            ] if model.names.qualified(call.func) == "builtins.range" and is_plain(count, model):
                counts.append(count)
                names.add(name)
                node = node.elt
            case _:
                return [], node
    if any(
        isinstance(part, ast.Name) and part.id in names
        for whole in (*counts, node)
        for part in descendants(whole)
    ):
        return [], node
    return counts, node


def is_inner(node: ast.ListComp, model: SemanticModel) -> bool:
    """Whether a comprehension is the element of another that is examined as well."""
    outer = model.parent(node)
    return isinstance(outer, ast.ListComp) and outer.elt is node and bool(counted(outer, model)[0])


def is_few(counts: list[ast.expr], model: SemanticModel) -> bool:
    """Whether fewer items are drawn than a call is worth."""
    product = 1.0
    for count in counts:
        number = numbers.number_of(count, model)
        if number is None or not number.fixed:
            return False
        product *= number.value
    return product < _FEW


def is_number(expression: ast.expr, model: SemanticModel) -> bool:
    """Whether an argument is surely one number."""
    number = numbers.number_of(expression, model)
    if number is not None and number.fixed:
        return True
    found = model.types.type_of(expression)
    return found.tag in _NUMBERS and not found.optional


def shape_text(draw: ScalarDraw, counts: list[ast.expr], model: SemanticModel) -> str:
    """Return the size argument: a number or a tuple, or one argument for each dimension."""
    texts = ", ".join(model.edit.as_argument(count) for count in counts)
    return f"({texts})" if len(counts) > 1 and "={}" in draw.text else texts


def build_fix(
    node: ast.ListComp, draw: ScalarDraw, counts: list[ast.expr], model: SemanticModel
) -> Fix | None:
    """Draw all numbers in one call."""
    if draw.listed and len(counts) > 1:
        return None
    around = array_around(node, model)
    place: ast.expr = around if around is not None and not draw.listed else node
    text = draw.text.format(shape_text(draw, counts, model))
    if place is node and not draw.listed:
        text += ".tolist()"
    reason = doubt_of(draw, counts, model, as_array=place is not node)
    safety = Applicability.UNSAFE if reason else Applicability.SAFE
    return Fix("Draw all numbers in one call", safety, (model.edit.replace(place, text),), reason)


def array_around(node: ast.ListComp, model: SemanticModel) -> ast.Call | None:
    """Return the `np.array` whose only argument is the list."""
    match model.parent(node):
        case ast.Call(args=[first], keywords=[]) as call if first is node:
            converts = model.names.qualified(call.func) in ("numpy.array", "numpy.asarray")
            return call if converts else None
    return None


def doubt_of(draw: ScalarDraw, counts: list[ast.expr], model: SemanticModel, *, as_array: bool) -> str | None:
    """Return the condition of the fix; None if it is safe."""
    if draw.doubt:
        return str(draw.doubt)
    for argument in draw.arguments:
        if numbers.number_of(argument, model) is None:  # an annotation alone is not proof
            return f"`{model.source.text(argument)}` must be one number"
    for count in counts:
        if not is_size(count, model):
            return f"`{model.source.text(count)}` must not be negative"
    skipped = count_of_skipped(counts, model)
    if skipped is not None:
        return f"`{model.source.text(skipped)}` is computed even if there are no rows"
    positive = all(is_positive(count, model) for count in counts)
    if not positive and not draw.valid:
        return "the arguments are checked even if no number is drawn"
    if as_array and not positive and (draw.whole or len(counts) > 1):
        return "an empty array has another dtype or shape"
    return None


def count_of_skipped(counts: list[ast.expr], model: SemanticModel) -> ast.expr | None:
    """Return a number of items of an inner list that was not computed if an outer list is empty, and could
    fail then: it is neither a constant nor the number of an outer list.
    """
    for place, count in enumerate(counts):
        around = counts[:place]
        known = is_positive(count, model) or any(same_code(count, outer) for outer in around)
        if not known and not all(is_positive(outer, model) for outer in around):
            return count
    return None


def is_positive(count: ast.expr, model: SemanticModel) -> bool:
    """Whether a number of items is a constant above zero."""
    number = numbers.number_of(count, model)
    return number is not None and number.fixed and number.value > 0


def is_size(count: ast.expr, model: SemanticModel) -> bool:
    """Whether a number of items is a length or a constant, which is never negative."""
    if is_positive(count, model):
        return True
    match count:
        case ast.Call(func=called):
            return model.names.qualified(called) == "builtins.len"
        case (
            ast.Subscript(value=ast.Attribute(value=array, attr="shape"))
            | ast.Attribute(value=array, attr="size")
        ):
            return model.types.type_of(array).tag in (TypeTag.NDARRAY, TypeTag.TENSOR)
    return False
