"""A Python loop over the elements of an array that one vectorised operation can replace.

## What it does
Flags the following in hot code, and with a low impact in code that is called in two nested loops or more, of
which it is not known how often they run:

- A loop that computes elements of arrays or tensors only from elements at the same index and from numbers:
  `for i in range(len(x)): x[i] = x[i] / 255.0`, two loops over rows and columns, `if x[i] < 0: x[i] = 0`.
- A loop that sums such values: `total += a[i] * b[i]`.
- A comprehension that does the same and is converted to an array or summed: `np.array([x / 255.0 for x in
  pixels])`, `sum(a * b for a, b in zip(weights, values))`.
- A loop over a batch that writes into an array element by element (`for i, p in zip(indices, priorities):
  self.priorities[i] = p`; priorities of an unknown type are likely an array), reduces one window or row
  after the other (`torch.stack([row.mean() for row in x])`), or computes each item of a batch (importance
  weights, a softmax per row) only to build one array from them.
- A loop over a batch, each iteration of which only computes its own row of an array from the same rows of
  others: `for i in range(batch_size): target[i, actions[i]] = rewards[i] + gamma * next_q[i].max()`, or only
  writes to a place in its row: `for i, action in enumerate(actions): one_hot[i, action] = 1`, also by a
  method (`target[i].index_add_(0, lower[i], share[i])`, as in C51).
- A loop or comprehension that collects the places at which a comparison holds: `if board[i, j] == 0:
  free.append((i, j))`, `torch.tensor([i for i, done in enumerate(dones) if done])`, also of rows that it
  reduces one by one (`if np.any(mask): marked.append(i)`).
- A loop that computes with tensors of several lists, one step after the other, whose results are joined:
  `for log_prob, ret in zip(log_probs, returns): losses.append(-log_prob * ret)`, `torch.stack(losses).sum()`.
  Also a comprehension that computes with the rows of `torch.unbind(x)`, whose results are joined.
- Any other loop over the elements or rows of arrays whose iterations are independent, also with windows and
  conditions: `for j in range(n): D[i, j] = np.linalg.norm(pos[i] - pos[j])`, `if grid[r, c] > 0: count += 1`,
  `for row in food: grid[row[0], row[1]] += 1`, `min([np.hypot(f[0] - x, f[1] - y) for f in food])`, also
  with densities of one distribution (`logs.append(dist.log_prob(samples[:, k]))`), loops that only raise a
  flag (`if distance < radius: hit = True`), also over each pair once, and rows of new values in nested lists.
  The environments of a simulator that keeps them in tensors count as many, which is an assumption.
- A list with one element of each row of an array (`torch.stack([q[i, actions[i]] for i in range(n)])`), a
  list of distributions over the rows of tensors, and an array that is copied through a list
  (`np.array(list(weights)[:n])`).
- A loop or comprehension that collects consecutive items of arrays in lists, of which arrays are made again:
  `for t in range(n): rewards.append(episode["reward"][start + t])`; likely, if the types are unknown. Also a
  list of equal arrays that are stacked (`np.stack([np.arange(n) for _ in range(batch_size)])`).
- A comprehension that searches the rows of a batch one by one (`[np.nonzero(mask[j])[0] for j in
  range(batch_size)]`), or a whole array for each item (`[np.where(indices == i)[0][0] for i in drawn]`).
- A loop that calls `env.compute_reward` for one row of a batch after the other, and one that flattens arrays
  to lists of numbers for a new array (`rows.append(list(chain(*row)))`); both are likely.
- A loop that sets single elements of a new tensor (`for action in legal: mask[action] = True`), and a loop
  that computes the columns of a tensor one by one, each with several operations on whole tensors
  (`for s in range(n): x[:, s] = (places == s).float().sum(-1)`). Also one that adds to elements selected by
  arrays, with several operations on whole arrays in each iteration, such as the projection of C51 over its
  atoms (`m[rows, low] += p[:, j] * (high - b)`, `m.scatter_add_(1, low, share)`).
- A loop that gathers one step of a sequence after the other from a tensor in host memory, and copies each to
  a device (`states[t] = self.states[indices].to(device)`, then `indices += n`).
- A number that numpy draws between bounds of the item (`kept.append(np.random.randint(i, ends[i]))`).
- A loop over the rows of an array that passes on only an extremum, with the values that belong to it
  (`if distance < nearest: nearest = distance`), or ends at the first match after much arithmetic for each row
  (`for ax, ay, bx, by in walls: if crossing(ray, ax, ay, bx, by): return True`), also if it calls functions
  of the file that only compute with numbers.
- A loop that fills lists under a condition on each element, and one that reads numbers out of objects to make
  an array of them: `np.array([child.prior / (child.count + 1) for child in children])`, cells of a grid.
- Python's `sum`, `max` or `min` of an array, also through a generator of its elements (`min(x for x in
  scan)`, `sum(1 for x in mask.flat if x > 0.5)`), and arrays that `zip` pairs (`np.stack(zip(low, high))`).
- A function in Python that NumPy calls for each element (`np.vectorize(f)(x)`, `np.apply_along_axis(f, 1,
  x)`), and loops over `np.ndenumerate(x)`, `np.ndindex(x.shape)` and `itertools.product(range(h), range(w))`.
- Scans of arrays: nested loops over all cells that do something only in those which meet a condition (`if
  cell == wall: close(i, j)`); loops over the places that `np.where` found, which read elements there one by
  one; comparisons of whole tensors with the bounds of one part after the other, each part of which is reduced
  (`total[k] = ((x >= low) & (x < high)).sum()`); writes to the rows of an array by a mask for each row.
- Numbers of Python that a loop writes into a new tensor (`places[i] = place`), and comprehensions that call a
  function of the project which looks for its argument in a whole array (`[self.index_of(edge.end) for edge in
  edges]`).

The rule does not flag:

- loops that end early after little work for each element, or that carry a value from one to the next;
- loops that call functions that work on single numbers only or have side effects;
- loops over a few items (`range(4)`, layers, agents, environments);
- views of arrays that are only joined (`torch.cat([x[:, i].unsqueeze(2) for i in places])`);
- sequences that may be lists;
- functions that numba compiles.

## Why is it slow
Every iteration creates an object for each element that it reads, dispatches the operation by type, and
stores the result. For tensors, each of these goes through the dispatcher. A vectorised operation does that
once and then runs a compiled loop. With fewer than about ten elements there is no gain. Loops of environment
steps that compute with no tensors have a low impact: the arrays of one step are small. So have loops over
log-probabilities and the like, because a network ran for each of these steps. Where nothing tells how many
items there are (a board, a mask), the impact is that of 16 items; batches, rollouts, images and the rows of
tensors in learning count as many.

## Example
```python
import numpy as np


def preprocess_observation(frame):
    pixels = np.array(frame, dtype=np.float64)
    for i in range(len(pixels)):
        pixels[i] = pixels[i] / 255.0
    return pixels
```
Use instead:
```python
import numpy as np


def preprocess_observation(frame):
    pixels = np.array(frame, dtype=np.float64)
    pixels[:] = pixels / 255.0
    return pixels
```

## Fix safety
The fix assigns to the whole array in place, so that other references to it see the new values and its dtype
stays the same (an integer array truncates, as in the loop). It is offered for a loop over the whole length
of one array, if its operators work on arrays as they do on numbers.

Safe for a float64 array that the function created itself, with a known number of dimensions and with
constants that can neither overflow nor give an invalid result, as a factor of 0 does for infinite elements.
Also safe for float32 and uint8, with a single operation with such a constant.

Unsafe otherwise: an object array uses the operators of its objects, and warnings differ. Also unsafe where
code around the loop catches errors and reads the array afterwards, or where the program makes NumPy raise
errors (`errstate`, `seterr`): the loop stops half-way, while the fixed code changes nothing.

Loops over several arrays, sums, collected indices, conditions and functions of single numbers get only
advice: sums are rounded in another order, and arrays of other shapes would be broadcast instead of raising an
error.

## References
- https://numpy.org/doc/stable/user/basics.broadcasting.html
- https://numpy.org/doc/stable/reference/ufuncs.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from rlint.rule import (
    FUNCTIONS,
    Finding,
    Heat,
    Rule,
    SemanticModel,
    Trait,
    last_names,
    models,
)
from rlint.rules.computation.rl505_scalar_loop_over_array.builtin_reductions import REDUCTIONS, reduced_array
from rlint.rules.computation.rl505_scalar_loop_over_array.by_item import (
    ItemLoop,
    item_loop,
    item_method,
    reduced_rows,
)
from rlint.rules.computation.rl505_scalar_loop_over_array.collected_places import (
    listed_places,
    position_loop,
    selected_items,
)
from rlint.rules.computation.rl505_scalar_loop_over_array.column_loops import column_loop
from rlint.rules.computation.rl505_scalar_loop_over_array.consecutive_items import (
    consecutive_comprehension,
    consecutive_items,
    equal_items,
)
from rlint.rules.computation.rl505_scalar_loop_over_array.elements import (
    ElementAccess,
    elements_of,
    gathered,
    held_by,
)
from rlint.rules.computation.rl505_scalar_loop_over_array.enough_iterations import (
    OF_FEW,
    is_called_in_nested_loops,
    is_compiled,
    is_hot,
    is_of_one_step,
    is_repeated,
    is_short,
)
from rlint.rules.computation.rl505_scalar_loop_over_array.filled_places import filled_places
from rlint.rules.computation.rl505_scalar_loop_over_array.independent_items import (
    GATHERING,
    gathered_items,
    independent_comprehension,
    independent_loop,
    kept_comprehension,
)
from rlint.rules.computation.rl505_scalar_loop_over_array.joined_items import (
    appended_items,
    joined_comprehension,
)
from rlint.rules.computation.rl505_scalar_loop_over_array.moved_rows import moved_rows
from rlint.rules.computation.rl505_scalar_loop_over_array.per_element_calls import (
    LOOPS_OVER,
    WRAPPERS,
    calls_per_element,
)
from rlint.rules.computation.rl505_scalar_loop_over_array.picked_rows import (
    distributions_of_rows,
    picked_by_row,
    through_list,
)
from rlint.rules.computation.rl505_scalar_loop_over_array.row_loops import row_loop
from rlint.rules.computation.rl505_scalar_loop_over_array.rows_for_calls import flattened_rows, rewarded_rows
from rlint.rules.computation.rl505_scalar_loop_over_array.scans.masked_parts import masked_parts
from rlint.rules.computation.rl505_scalar_loop_over_array.scans.masked_rows import masked_rows
from rlint.rules.computation.rl505_scalar_loop_over_array.scans.searched_items import searched_items
from rlint.rules.computation.rl505_scalar_loop_over_array.scans.selected_places import selected_places
from rlint.rules.computation.rl505_scalar_loop_over_array.scans.tested_cells import tested_cells
from rlint.rules.computation.rl505_scalar_loop_over_array.scans.written_numbers import written_numbers
from rlint.rules.computation.rl505_scalar_loop_over_array.searched_rows import places_by_row, scanned_places
from rlint.rules.computation.rl505_scalar_loop_over_array.whole_arrays import whole_fix
from rlint.rules.computation.rl505_scalar_loop_over_array.zipped_arrays import zipped_arrays

Loop: TypeAlias = "ast.For | ast.ListComp | ast.GeneratorExp"

_ARRAYS_OF = models.having(Trait.FROM_DATA, "torch", "numpy") | {"numpy.fromiter"}
_JOINS = models.having(Trait.JOINS, "torch", "numpy")
_SUMS = frozenset({"builtins.sum", "math.fsum", "numpy.sum"})
_NOT_KNOWN = "the loops that call it are not known to train"
_SMALL = "the arrays of a single environment step are small"
_OF_STEPS = "each of these steps also ran a network, which takes far longer"


class ScalarLoopOverArray(Rule):
    """RL505."""

    code = "RL505"
    name = "scalar-loop-over-array"
    seeds = ("S1.D1",)
    claims = ("time",)
    heat = Heat.COLD
    assumed_size = 16
    visits = (ast.Call, ast.For, ast.ListComp)
    callees = last_names(*_ARRAYS_OF, *_JOINS, *_SUMS, *REDUCTIONS, *GATHERING, *WRAPPERS, *LOOPS_OVER)
    triggers = ("for", "sum", "max", "min", *last_names(*WRAPPERS, *LOOPS_OVER))

    def size_of(self, node: ast.AST, model: SemanticModel) -> int | None:
        """Return the number of items that are computed one by one."""
        if isinstance(node, ast.Call) and node.args:
            return model.sizes.length(node.args[0])
        return model.sizes.passes(node)

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a loop that an operation on whole arrays could replace."""
        assert isinstance(node, (ast.Call, ast.For, ast.ListComp))
        if is_compiled(node, model):
            return
        if isinstance(node, ast.ListComp):
            item = joined_comprehension(node, model) or distributions_of_rows(node, model)
            item = item or picked_by_row(node, model) or equal_items(node, model)
            item = item or places_by_row(node, model) or scanned_places(node, model)
            item = item or listed_places(node, model) or searched_items(node, model)
            yield from self._first(node, node, (item, kept_comprehension(node, model)), model)
            return
        if isinstance(node, ast.Call):
            found = [*self._reduced(node, model), *self._called(node, model)]
            yield from found
            if found:
                return
        made = made_from(node, model) if isinstance(node, ast.Call) else node
        if isinstance(node, ast.Call) and made is None:
            made = gathered_items(node, model)
            item = independent_comprehension(made, model) if made is not None else None
            yield from self._first(node, made or node, (item,), model)
            return
        assert isinstance(made, (ast.For, ast.ListComp, ast.GeneratorExp))
        found = elements_of(made, model) if isinstance(made, ast.For) else gathered(made, model)
        if found is None:
            yield from self._by_item(node, made, model)
        elif is_short(found, model) or not is_hot(node, model):
            yield from self._first(node, made, (independent(made, model),), model)
        elif not is_inner(node, model) and not is_within_independent(node, model):
            yield self._of_elements(node, made, found, model)

    def _of_elements(
        self, node: ast.Call | ast.For, made: Loop, found: ElementAccess, model: SemanticModel
    ) -> Finding:
        held = model.source.text(
            held_by(found.arrays[0]) if found.arrays else next(iter(found.items.values()))
        )
        sort = "loop" if node is made else "comprehension"
        adds = found.summed is not None or (isinstance(node, ast.Call) and is_sum(node, model))
        does = "sums" if adds else "computes"
        return self.finding(
            model,
            node,
            f"The {sort} {does} `{held}` element by element in Python",
            fix=whole_fix(found, model) if found.stored else None,
            advice=advice(found, adds=adds),
            minor=seldom(node, model),
        )

    def _by_item(self, node: ast.Call | ast.For, made: Loop, model: SemanticModel) -> Iterator[Finding]:
        item = None
        if isinstance(made, ast.For):
            item = item_loop(made, model) or position_loop(made, model) or appended_items(made, model)
            item = item or rewarded_rows(made, model) or flattened_rows(made, model)
            item = item or row_loop(made, model) or consecutive_items(made, model)
            item = (
                item or selected_items(made, model) or filled_places(made, model) or column_loop(made, model)
            )
            item = item or moved_rows(made, model)
        elif isinstance(made, ast.ListComp):
            item = item_method(made, model) or reduced_rows(made, model) or listed_places(made, model)
            item = item or flattened_rows(made, model) or consecutive_comprehension(made, model)
        outer = model.parent(made)
        if isinstance(outer, ast.For) and outer.body == [made] and position_loop(outer, model) is not None:
            return
        scanned = scan(made, model) if isinstance(made, ast.For) and item is None else None
        yield from self._first(node, made, (item, independent(made, model), scanned), model)

    def _first(
        self, node: ast.AST, made: ast.AST, items: Sequence[ItemLoop | None], model: SemanticModel
    ) -> Iterator[Finding]:
        """Yield a finding for the first of several descriptions of a loop that is worth one."""
        for item in items:
            if item is None or not isinstance(made, (ast.For, ast.ListComp, ast.GeneratorExp)):
                continue
            body = made.body[0] if isinstance(made, ast.For) else made.elt
            if item.sized:
                if not is_repeated(node, body, model):
                    continue
            else:
                access = ElementAccess(made, counters=("",) * item.depth)
                if is_short(access, model, item.rows, item.paired):
                    continue
                if not is_hot(body if item.paired else node, model):
                    continue
            sort = "loop" if isinstance(node, ast.For) else "comprehension"
            message = f"The {sort} {item.does} in Python"
            minor = _SMALL if not item.heavy and is_of_one_step(made, model) else seldom(made, model)
            minor = minor or (_OF_STEPS if item.paired else None)
            place = item.at or node
            yield self.finding(model, place, message, advice=item.advice, assumes=item.assumes, minor=minor)
            return

    def _called(self, node: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for each hot use of `np.vectorize(f)`, and for `np.apply_along_axis(f, …)`."""
        for used, item in calls_per_element(node, model):
            if is_hot(used, model):
                minor = _SMALL if is_of_one_step(used, model) else seldom(used, model)
                text = model.source.text(used.func)
                yield self.finding(
                    model, used, f"`{text}` {item.does} in Python", advice=item.advice, minor=minor
                )

    def _reduced(self, node: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        item = reduced_array(node, model) or through_list(node, model) or zipped_arrays(node, model)
        if item is None or not is_hot(node, model):
            return
        if not item.sized and OF_FEW.search(model.source.text(item.held).lower()):
            return
        yield self.finding(
            model,
            node,
            f"`{model.source.text(node.func)}` {item.does} in Python",
            advice=item.advice,
            minor=seldom(node, model),
        )


def scan(loop: ast.For, model: SemanticModel) -> ItemLoop | None:
    """Return what a loop does that scans arrays, unless an enclosing loop is reported with it."""
    if is_within_independent(loop, model):
        return None
    found = tested_cells(loop, model) or selected_places(loop, model)
    found = found or masked_parts(loop, model) or masked_rows(loop, model)
    return found or written_numbers(loop, model)


def seldom(node: ast.AST, model: SemanticModel) -> str | None:
    """Return the reason for low impact in code that is only known to be called in nested loops."""
    return _NOT_KNOWN if is_called_in_nested_loops(node, model) else None


def independent(made: Loop, model: SemanticModel) -> ItemLoop | None:
    """Return what a loop or comprehension computes, if its iterations are independent of each other, and no
    enclosing loop is reported with it.
    """
    if not isinstance(made, ast.For):
        return independent_comprehension(made, model)
    return None if is_within_independent(made, model) else model.once(independent_loop, made)


def is_within_independent(loop: ast.AST, model: SemanticModel) -> bool:
    """Whether an enclosing loop with independent iterations is reported."""
    outer = next((above for above in model.ancestors(loop) if isinstance(above, (ast.For, *FUNCTIONS))), None)
    if not isinstance(outer, ast.For) or model.once(independent_loop, outer) is None:
        return False
    repeated: bool = is_repeated(outer, outer.body[0], model)
    return repeated


def made_from(call: ast.Call, model: SemanticModel) -> ast.ListComp | ast.GeneratorExp | None:
    """Return the comprehension that is converted to an array, or summed."""
    match call:
        case ast.Call(args=[ast.ListComp() as made, *_]) if model.names.qualified(call.func) in _JOINS:
            return made if reduced_rows(made, model) is not None else None
        case ast.Call(args=[ast.ListComp() as made]) if model.names.qualified(call.func) in _ARRAYS_OF:
            return made
        case ast.Call(
            args=[], keywords=[ast.keyword(arg="data" | "object", value=ast.ListComp() as made), *_]
        ) if model.names.qualified(call.func) in _ARRAYS_OF:
            return made
        case ast.Call(args=[(ast.ListComp() | ast.GeneratorExp()) as made], keywords=[]):
            return made if is_sum(call, model) else None
    return None


def is_sum(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call is `sum(…)`."""
    return model.names.qualified(call.func) in _SUMS


def advice(found: ElementAccess, *, adds: bool) -> str:
    """Return the code to write instead."""
    if adds:
        return "Sum in one call: `(a * b).sum()`, or `a @ b` for a dot product"
    if not found.plain:
        return (
            "Compute with the whole arrays: `np.where` and `np.clip` for conditions, `np.exp` for `math.exp`"
        )
    if not found.stored:
        return "Compute with the whole array: `x / 255.0`"
    return "Compute with the whole arrays, without the index: `x[:] = x / 255.0`"


def is_inner(loop: ast.AST, model: SemanticModel) -> bool:
    """Whether the enclosing loop does nothing else, and is reported itself."""
    outer = model.parent(loop)
    return isinstance(outer, ast.For) and outer.body == [loop] and elements_of(outer, model) is not None
