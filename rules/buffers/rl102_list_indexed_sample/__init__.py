"""A batch assembled from single transitions that are looked up one by one.

## What it does
Flags hot code that builds a batch from a replay buffer one transition at a time:

- `[self.buffer[i] for i in indices]`, where the indices were drawn at random or the method samples, also from
  lists of one field each (`[self.fields[key][i] for i in indices]`), or with a conversion of each item;
- the same by a generator or by `map` (`map(self.buffer.__getitem__, indices)`), with a computed index
  (`self.buffer[(i + 1) % n]`), or a draw for each item (`[random.choice(self.buffer) for _ in range(n)]`);
- the same with any indices that are not counted, if the fields of the picked items are collected afterwards,
  by `zip(*batch)` or `[t.state for t in batch]`;
- a loop that appends such items to lists, including rows of a tensor's columns, slices that begin at a drawn
  index (`for i in order: obs.append(self.obs[i * length : (i + 1) * length])`), items drawn by a call of
  `random.choice` each, items copied to the rows of an array, and parts of trajectories
  (`for i in range(batch_size): path = trajectories[drawn[i]]`);
- a method of a buffer that calls another one for each item of a batch, which `zip(*batch)` then takes apart,
  or an array is made of (`np.concatenate([self.encode(i)[None] for i in indices])`), or that collects the
  fields of drawn items in three or more lists, also with a counter (`game, place = games[i], places[i]`);
- `np.array(self.buffer)[indices]`, and `rng.choice(self.buffer, size)` of a list by NumPy;
- a batch of single transitions that a buffer's method returns (`memory.sample(n)`), where other code takes it
  apart: with `zip(*batch)`, with a loop that unpacks each transition and appends its fields to lists, or with
  a comprehension for each field, or with `zip(*batch)` in a function that such a batch is passed to (likely);
- items of an object whose `__getitem__` indexes each field (`[self[i] for i in indices]`), and a generator
  that yields such items at random indices to a data loader, which collates them;
- a sequence that begins at a drawn place, item by item (`[self.memory[i] for i in range(start, start + n)]`,
  or by `islice`), if its fields are collected, and a field of all items that is collected again to draw one
  (`np.array([t.reward for t in self.memory])`);
- slices of one length that a buffer stacks (`np.stack([self.frames[t : t + n, b] for t, b in zip(ts, bs)])`),
  or that a loop over drawn places copies to a batch (`batch[:, i] = self.rows[t : t + n, b]`);
- `random.sample` on a list of transitions or of items that are stacked afterwards, or on a deque that may
  hold ten thousand or more;
- `np.array([rewards[i] for i in indices])` and `torch.stack([states[i] for i in indices])`, where the
  indexed object is already an array or tensor, also with a conversion of each number (`1.0 if dones[i] else
  0.0`), and with indices that NumPy selected (`sorted(np.unique(x, return_index=True)[1])`).

The impact is low if the items are objects with methods, such as whole games, or whole episodes that are not
taken apart where they are picked, and if the code that draws the batch also runs a network for one of its
items after the other.

The rule does not flag draws of fewer than eight items, shorter deques, lists of text, `random.sample` on a
range or on a list of other things than transitions, such as indices, `zip(*rows)` of rows that no buffer
returned, the fields of a batch that are selected by name (`[batch[key] for key in names]`), or crops of
images at drawn places.

## Why is it slow
Each transition costs an interpreted iteration and a look-up. The batch must then be unpacked and copied
into arrays value by value. An array is indexed with all indices at once and copies the rows in one call. A
deque is slower than a list, because it scans to each index from the nearer end. For large images the copy
itself dominates, and the gain is smaller.

## Example
```python
import numpy as np


class ReplayBuffer:
    def __init__(self, capacity):
        self.rewards = np.zeros(capacity, dtype=np.float32)

    def sample(self):
        indices = np.random.randint(0, len(self.rewards), size=64)
        return np.array([self.rewards[i] for i in indices])
```

Use instead:

```python
import numpy as np


class ReplayBuffer:
    def __init__(self, capacity):
        self.rewards = np.zeros(capacity, dtype=np.float32)

    def sample(self):
        indices = np.random.randint(0, len(self.rewards), size=64)
        return self.rewards[indices]
```

## Fix safety
There is a fix only where the storage is already an array or tensor. Other storage gets advice, because
changing it is a design decision.

Safe for a numeric C-contiguous array, if `randint`, `choice` or `random.sample` drew the indices and drew
at least one. Values, type, shape and memory layout are the same.

Unsafe where there may be no index at all: an empty list becomes an empty float array, while an empty index
gives zero rows in the array's dtype. Also unsafe for tensors, for arrays that may hold objects or strings,
and for arrays that may be Fortran-ordered, because the result then has another memory layout.

Indices of unknown origin get only advice: a tuple or a boolean array has another meaning as an index.

## References
- https://numpy.org/doc/stable/user/basics.indexing.html#integer-array-indexing
- https://docs.python.org/3/library/collections.html#collections.deque
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from rlint.rule import (
    CodeExtent,
    Finding,
    Heat,
    Rule,
    SemanticModel,
    Type,
    TypeTag,
    descendants,
    last_name,
    last_names,
    regex,
    same_code,
)
from rlint.rules.buffers._shared.choice import shown
from rlint.rules.buffers._shared.held import (
    are_few,
    is_counted,
    is_length_of,
    is_sampling,
    is_short,
    may_hold_transitions,
    walks,
)
from rlint.rules.buffers._shared.store_size import holds_transitions
from rlint.rules.buffers._shared.unpacked import is_unpacked
from rlint.rules.buffers._shared.wrapped import container_of, looked_up
from rlint.rules.buffers.rl102_list_indexed_sample.assembled import (
    Assembled,
    assembled_by_calls,
    assembled_in_loop,
    drawn_in_turn,
)
from rlint.rules.buffers.rl102_list_indexed_sample.drawn import drawn_by, number_drawn
from rlint.rules.buffers.rl102_list_indexed_sample.gathered import (
    Picked,
    computed_join_of,
    join_of,
    numbers_join_of,
    pick_at_once,
    picked_by,
    selects_fields,
)
from rlint.rules.buffers.rl102_list_indexed_sample.given_batches import given_batch
from rlint.rules.buffers.rl102_list_indexed_sample.item_picks import (
    ItemPick,
    is_batch,
    is_first,
    item_pick,
    rows_join,
)
from rlint.rules.buffers.rl102_list_indexed_sample.looped import picked_in_loop
from rlint.rules.buffers.rl102_list_indexed_sample.picked_windows import PickedWindow, field_of_all, window_of
from rlint.rules.buffers.rl102_list_indexed_sample.placed_slices import placed_slices
from rlint.rules.buffers.rl102_list_indexed_sample.single_forwards import why_below_forwards
from rlint.rules.buffers.rl102_list_indexed_sample.single_items import holds_fields, yielded_item
from rlint.rules.buffers.rl102_list_indexed_sample.sliced import sliced_rows
from rlint.rules.buffers.rl102_list_indexed_sample.taken_apart import (
    TakenApart,
    field_of_batch,
    is_drawn,
    is_gathered_by_store,
    is_stacked,
    unpacked_in_loop,
    unzipped_batch,
)
from rlint.rules.buffers.rl102_list_indexed_sample.whole_items import (
    appends_whole,
    are_kept_whole,
    takes_windows,
)

ARRAYS = (
    "Keep each field of the transitions in one preallocated array, and index it with all indices at once: "
    "`self.rewards[indices]`"
)
SLICES = (
    "Keep each field of the transitions in one preallocated array, and slice it: "
    "`self.rewards[start : start + length]`"
)
WINDOWS = (
    "Pad the episodes to one array for each field, and index all windows at once: "
    "`rewards[episodes[:, None], starts[:, None] + np.arange(length)]`"
)
FIELDS = "Draw the indices of a whole batch, and index the storage of each field with all of them at once"
_DRAWS = ("random.sample", "random.choices")
_OBJECTS = "the items are objects with methods, which arrays do not replace"
_EPISODES = "the items are whole episodes, which are not taken apart here"
_INDICES = regex(r"(^|_)(indices|indexes|idxs?|idxes|inds)$")
_SAME_ITEMS = frozenset({"builtins.list", "numpy.array", "numpy.asarray"})


class ListIndexedSample(Rule):
    """RL102."""

    code = "RL102"
    name = "list-indexed-sample"
    seeds = ("S1.T1",)
    claims = ("time",)
    heat = Heat.WARM
    one_change_mends = CodeExtent.FUNCTION
    mended_with = ("RL104",)
    visits = (ast.ListComp, ast.GeneratorExp, ast.Call, ast.For, ast.Yield)
    callees = last_names(
        *_DRAWS,
        "operator.itemgetter",
        "itertools.islice",
        "numpy.array",
        "numpy.asarray",
        "numpy.random.choice",
        "builtins.zip",
        "builtins.map",
    )

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a batch that is picked item by item."""
        window = window_of(node, model) if isinstance(node, (ast.ListComp, ast.For, ast.Call)) else None
        if window is not None:
            found: Finding | None = self.window(window, model)
        elif isinstance(node, ast.ListComp):
            found = self.comprehension(node, model) or self.one_by_one(node, model)
        elif isinstance(node, ast.GeneratorExp) or last_name_of(node) == "map":
            found = self.one_by_one(node, model)
        elif isinstance(node, ast.Call) and model.names.qualified(node.func) in _DRAWS:
            found = self.sample(node, model)
        elif isinstance(node, ast.Call) and model.names.qualified(node.func) == "builtins.zip":
            found = self.apart(unzipped_batch(node, model), model) or self.given(node, model)
        elif isinstance(node, ast.Call) and is_numpy_choice(node, model):
            found = self.choice(node, model)
        elif isinstance(node, ast.Call):
            found = self.converted(node, model)
        elif isinstance(node, ast.For):
            found = self.loop(node, model)
        elif isinstance(node, ast.Yield):
            found = self.yielded(node, model)
        else:
            found = None
        if found is not None and found.heat >= self.heat:
            yield found if found.minor else replace(found, minor=why_below_forwards(node, model))

    def comprehension(self, node: ast.ListComp, model: SemanticModel) -> Finding | None:
        """Return a finding for `[self.buffer[i] for i in indices]`."""
        whole = field_of_all(node, model)
        if whole is not None:
            held = shown(whole.held, model)
            message = f"A field of all items of `{held}` is collected one by one to draw from it"
            return self.finding(model, whole.at, message, advice=ARRAYS)
        picked = picked_by(node)
        if picked is None:
            return (
                self.slices(node, model)
                or self.by_method(node, model)
                or self.assembled(assembled_by_calls(node, model), model)
                or self.apart(field_of_batch(node, model), model)
            )
        call = drawn_by(picked.indices, model)
        if call is not None and are_few(number_drawn(call, model), model):
            model.silent("only a few items of {} are drawn", picked.held)
            return None
        if is_counted(picked.indices, model):
            model.silent("{} are not drawn, but counted", picked.indices)  # the arrays of all agents
            return None
        if selects_fields(picked.held, picked.indices, model):
            model.silent(
                "{} are names of fields, of which {} has one array each", picked.indices, picked.held
            )
            return None
        kind = container_of(picked.held, model)
        held, indices = shown(picked.held, model), shown(picked.indices, model)
        join = join_of(picked, model)
        if join is not None and (call is not None or is_sampling(node, model)):
            message = f"`{held}` is indexed once for each of `{indices}`, and the rows are stacked again"
            advice = f"Index with all of them at once: `{held}[{indices}]`"
            return self.finding(model, join, message, fix=pick_at_once(picked, join, model), advice=advice)
        join = computed_join_of(picked, model)
        if join is not None and model.frequency.heat_of(node).level is Heat.HOT:
            message = f"`{held}` is indexed once for each of `{indices}`, and the rows are stacked again"
            advice = f"Index with all of them at once: `{held}[np.sort(indices)]`, or without the sort"
            assumes = None if model.types.type_of(picked.held) else f"`{held}` is an array"
            return self.finding(model, join, message, advice=advice, assumes=assumes)
        join = numbers_join_of(picked, model)
        if join is not None and (call is not None or is_sampling(node, model)):
            message = f"`{held}` is indexed once for each of `{indices}`, and each number is converted alone"
            advice = f"Index with all of them at once, and convert the array: `{held}[{indices}]`"
            return self.finding(model, join, message, advice=advice)
        if not may_hold_transitions(kind):
            if holds_fields(picked.held, model):
                return self.items(picked, call, model)
            model.silent("{} is not known to hold transitions", picked.held)
            return None
        named = kind.tag is TypeTag.DEQUE or holds_transitions(picked.held, model)
        sampled = named and (
            call is not None or is_sampling(node, model) or is_gathered_by_store(node, picked.indices, model)
        )
        if (
            not sampled
            and not is_unpacked(node, model)
            and not (is_drawn(picked.indices, model) and is_stacked(node, model))
        ):
            model.silent("{} is not known to hold transitions, or to be sampled here", picked.held)
            return None
        if kind.tag is TypeTag.DEQUE and is_short(picked.held, model):
            return None
        equal = comprehensions_with_same_indices(picked, model)
        if equal[0] is not node:
            return None  # reported once for all fields of the batch
        message = f"The batch is picked from `{held}` one by one{walks(kind)}"
        related = [(other, "iterates over the same items again") for other in equal[1:]]
        minor = _EPISODES if are_kept_whole(node, picked.held, model) else minor_of(kind, model)
        return self.finding(model, node, message, advice=ARRAYS, related=related, minor=minor)

    def one_by_one(self, node: ast.AST, model: SemanticModel) -> Finding | None:
        """Return a finding for `(self.rows[int(i)] for i in indices)`, `map(self.rows.__getitem__, indices)`
        and `[random.choice(self.rows) for _ in range(n)]`.
        """
        pick = item_pick(node, model)
        if pick is None:
            return None
        held, indices = shown(pick.held, model), shown(pick.indices, model)
        join = rows_join(pick, model)
        if join is not None:
            message = f"`{held}` is indexed once for each of `{indices}`, and the rows are stacked again"
            advice = "Index with all of them at once"
            written = pick.at_once(model)
            advice += f": `{written}`" if written is not None else ", by an array of the same places"
            return self.finding(model, join, message, advice=advice)
        kind = container_of(pick.held, model)
        if holds_fields(pick.held, model) and not is_counted(pick.indices, model):
            return self.items(pick, None, model)
        if not is_batch(pick, model) or not is_first(pick, model):
            return None
        if kind.tag is TypeTag.DEQUE and is_short(pick.held, model):
            return None
        message = f"The batch is picked from `{held}` one by one{walks(kind)}"
        return self.finding(model, pick.node, message, advice=ARRAYS, minor=minor_of(kind, model))

    def window(self, found: PickedWindow, model: SemanticModel) -> Finding:
        """Return a finding for `[self.memory[i] for i in range(start, start + length)]`."""
        kind = container_of(found.held, model)
        message = f"The sequence is picked from `{shown(found.held, model)}` one by one{walks(kind)}"
        return self.finding(model, found.at, message, advice=SLICES, minor=minor_of(kind, model))

    def by_method(self, node: ast.ListComp, model: SemanticModel) -> Finding | None:
        """Return a finding for `[self.storage.get(i) for i in indices]`."""
        match node:
            case ast.ListComp(
                elt=ast.Call(
                    func=ast.Attribute(value=ast.Attribute() as held), args=[ast.Name(id=read)]
                ) as call,
                generators=[ast.comprehension(target=ast.Name(id=index), iter=indices, ifs=[], is_async=0)],
            ) if read == index:
                pass
            case _:
                return None
        kind = looked_up(call, model)
        drawn = drawn_by(indices, model)
        if kind is None or not may_hold_transitions(kind) or is_counted(indices, model):
            return None
        if drawn is not None and are_few(number_drawn(drawn, model), model):
            return None
        sampled = drawn is not None or is_sampling(node, model)
        if not is_unpacked(node, model) and not (sampled and holds_transitions(held, model)):
            return None
        message = f"The batch is picked from `{shown(held, model)}` one by one{walks(kind)}"
        return self.finding(model, node, message, advice=ARRAYS, minor=minor_of(kind, model))

    def items(self, picked: Picked | ItemPick, call: ast.Call | None, model: SemanticModel) -> Finding | None:
        """Return a finding for `[self[i] for i in indices]`, where `__getitem__` reads each field."""
        if call is None and not is_sampling(picked.node, model) and not is_drawn(picked.indices, model):
            return None
        held = shown(picked.held, model)
        message = f"The batch is picked from `{held}` one by one, and its fields must be stacked again"
        return self.finding(model, picked.node, message, advice=FIELDS)

    def yielded(self, node: ast.Yield, model: SemanticModel) -> Finding | None:
        """Return a finding for `yield self[index]` in a generator that a data loader reads."""
        found = yielded_item(node, model)
        if found is None:
            return None
        message = (
            f"`{shown(found.held, model)}` is read one transition at a time, and a loader collates them again"
        )
        return self.finding(model, found.at, message, advice=FIELDS)

    def slices(self, node: ast.ListComp, model: SemanticModel) -> Finding | None:
        """Return a finding for `np.stack([self.frames[t : t + n, b] for t, b in zip(starts, columns)])`."""
        found = sliced_rows(node, model)
        if found is None:
            return None
        held = shown(found.held, model)
        message = (
            f"One slice of `{held}` after the other is taken, for each of `{shown(found.indices, model)}`, "
            "and all are stacked again"
        )
        advice = (
            "Index with the rows of all slices at once: "
            f"`{held}[starts[:, None] + np.arange(length)]`, with `columns[:, None]` beside it"
        )
        return self.finding(model, found.join, message, advice=advice)

    def assembled(self, found: Assembled | None, model: SemanticModel) -> Finding | None:
        """Return a finding for a batch of which a method builds one item after the other."""
        if found is None:
            return None
        message = f"The batch is assembled one by one from `{shown(found.source, model)}`"
        return self.finding(
            model, found.at, message, advice=ARRAYS, minor=_OBJECTS if found.objects else None
        )

    def apart(self, found: TakenApart | None, model: SemanticModel) -> Finding | None:
        """Return a finding for a batch of single transitions, returned by a buffer, that is taken apart."""
        if found is None:
            return None
        message = (
            f"The single transitions that `{shown(found.source.func, model)}` returns are taken apart, and "
            "their fields are stacked again"
        )
        return self.finding(model, found.at, message, advice=ARRAYS)

    def given(self, call: ast.Call, model: SemanticModel) -> Finding | None:
        """Return a finding for `zip(*batch)` of a parameter, if callers draw the batch from a buffer."""
        found = given_batch(call, model)
        if found is None:
            return None
        batch = found.batch.id
        message = f"The single transitions of `{batch}` are taken apart, and their fields are joined again"
        assumes = f"`{batch}` is a batch that `{found.drawn_by}` returned"
        return self.finding(model, call, message, advice=ARRAYS, assumes=assumes)

    def converted(self, call: ast.Call, model: SemanticModel) -> Finding | None:
        """Return a finding for `np.array(self.rows)[indices]` and `itemgetter(*indices)(self.rows)`."""
        outer = model.parent(call)
        match call, outer:
            case ast.Call(args=[ast.Starred(value=indices)]), ast.Call(func=func, args=[held]) if (
                func is call and model.names.qualified(call.func) == "operator.itemgetter"
            ):
                message = f"The batch is picked from `{shown(held, model)}` one by one"
            case ast.Call(args=[held, *_]), _ if model.names.qualified(call.func) in (
                "numpy.array",
                "numpy.asarray",
            ):
                indexed = rows_of(call, model)
                if indexed is None:
                    return None
                outer, indices = indexed
                message = f"All of `{shown(held, model)}` is converted to an array to sample one batch"
            case _:
                return None
        kind = model.types.type_of(held)
        is_stored = isinstance(held, (ast.Name, ast.Attribute)) and holds_transitions(held, model)
        drawn = drawn_by(indices, model) is not None or is_sampling(call, model)
        if not (is_stored and drawn and may_hold_transitions(kind)) or is_short(held, model):
            return None
        return self.finding(model, outer, message, advice=ARRAYS)

    def loop(self, node: ast.For, model: SemanticModel) -> Finding | None:
        """Return a finding for `for i in indices: state, action = self.buffer[i]; states.append(state);
        …`.
        """
        picked = picked_in_loop(node, model)
        if picked is None:
            return (
                self.assembled(assembled_in_loop(node, model) or drawn_in_turn(node, model), model)
                or self.apart(unpacked_in_loop(node, model), model)
                or self.placed(node, model)
            )
        call = drawn_by(picked.indices, model)
        if call is not None and are_few(number_drawn(call, model), model):
            return None
        held, indices = shown(picked.held, model), shown(picked.indices, model)
        if not picked.is_array:
            kind = container_of(picked.held, model)
            if kind.tag is TypeTag.DEQUE and is_short(picked.held, model):
                return None
            if takes_windows(node, picked.first, model):
                message = f"The windows of a batch are picked from the episodes in `{held}` one by one"
                return self.finding(model, picked.first, message, advice=WINDOWS)
            message = f"The batch is picked from `{held}` one by one{walks(kind)}"
            minor = _EPISODES if appends_whole(node) else None
            return self.finding(model, picked.first, message, advice=ARRAYS, minor=minor)
        related = [(column, "is also indexed one by one") for column in picked.columns]
        message = f"`{held}` is indexed once for each of `{indices}` (and {len(related)} more in this loop)"
        advice = f"Index each of them once with all indices of the batch: `{held}[{indices}]`"
        if isinstance(picked.first, ast.Subscript) and isinstance(picked.first.slice, ast.Slice):
            advice = (
                "Index each of them once with the rows of all slices: "
                f"`{held}[starts[:, None] + np.arange(length)]`"
            )
        return self.finding(model, picked.first, message, advice=advice, related=related)

    def placed(self, node: ast.For, model: SemanticModel) -> Finding | None:
        """Return a finding for `for i, (t, b) in enumerate(zip(ts, bs)): batch[:, i] = rows[t : t + n, b]`
        and similar loops.
        """
        found = placed_slices(node, model)
        if found is None:
            return None
        held, indices = shown(found.held, model), shown(found.indices, model)
        message = (
            f"The loop copies one slice of `{held}` after the other to `{shown(found.batch, model)}`, at the "
            f"places in `{indices}`"
        )
        rows = "starts[:, None] + np.arange(length)"
        rows = f"({rows}) % len({held})" if found.wraps else rows
        advice = (
            f"Index with the rows of all slices at once: `{held}[{rows}]`, with `columns[:, None]` beside it"
        )
        return self.finding(model, node, message, advice=advice)

    def sample(self, call: ast.Call, model: SemanticModel) -> Finding | None:
        """Return a finding for `random.sample(self.buffer, batch_size)`."""
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        held = call.args[0] if call.args else given.get("population")
        match held:
            case ast.Subscript(value=whole, slice=ast.Slice()):
                held = whole  # the rows that are filled
        sizes = call.args[1:] if model.names.qualified(call.func) == _DRAWS[0] else []
        size = sizes[0] if sizes else given.get("k")
        if not isinstance(held, (ast.Name, ast.Attribute)) or size is None or are_few(size, model):
            return None
        kind = model.types.type_of(held)
        if not may_hold_transitions(kind) or is_length_of(size, held, model):
            model.silent("{} is not known to hold transitions, or all of it is drawn", held)
            return None
        if kind.tag is TypeTag.DEQUE:
            if is_short(held, model):
                model.silent("{} is short", held)
                return None
        elif _INDICES.search((last_name(held) or "").lower()) or (
            not holds_transitions(held, model) and not (is_unpacked(call, model) or is_stacked(call, model))
        ):
            model.silent("{} is not known to hold transitions", held)
            return None
        message = (
            f"`{model.source.text(call.func)}` picks the batch from `{shown(held, model)}` "
            f"one by one{walks(kind)}"
        )
        return self.finding(model, call, message, advice=ARRAYS, minor=minor_of(kind, model))

    def choice(self, call: ast.Call, model: SemanticModel) -> Finding | None:
        """Return a finding for `rng.choice(self.buffer, batch_size)` of NumPy, which converts the list."""
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        size = given.get("size", call.args[1] if len(call.args) > 1 else None)
        held = call.args[0] if call.args else None
        if not isinstance(held, (ast.Name, ast.Attribute)) or size is None or are_few(size, model):
            return None
        kind = model.types.type_of(held)
        if kind.tag not in (TypeTag.LIST, TypeTag.DEQUE) or not may_hold_transitions(kind):
            return None
        if not holds_transitions(held, model) or is_length_of(size, held, model):
            return None
        message = f"All of `{shown(held, model)}` is converted to an array to draw one batch"
        return self.finding(model, call, message, advice=ARRAYS, minor=minor_of(kind, model))


def last_name_of(node: ast.AST) -> str:
    """Return the name of the function that a node calls."""
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def minor_of(kind: Type, model: SemanticModel) -> str | None:
    """Return the reason for low impact where the items are objects with methods of their own, such as whole
    games: their fields are not stacked to arrays as those of transitions are.
    """
    item = kind.item
    if item is None or item.tag is not TypeTag.INSTANCE:
        return None
    methods = [
        method
        for summary in model.module.classes.values()
        if summary.path == item.of
        for method in summary.methods
        if not method.startswith("__")
    ]
    return _OBJECTS if methods else None


def is_numpy_choice(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call is `np.random.choice`, or that of a generator of NumPy."""
    if model.names.qualified(call.func) == "numpy.random.choice":
        return True
    match call.func:
        case ast.Attribute(value=owner, attr="choice"):
            kind = model.types.type_of(owner)
            return kind.tag is TypeTag.RANDOM_GENERATOR and kind.of.startswith("numpy.")
    return False


def rows_of(made: ast.Call, model: SemanticModel) -> tuple[ast.expr, ast.expr] | None:
    """Return where a new array is indexed with several indices, directly or as a variable, and the indices:
    `np.array(rows)[list(indices)]`.
    """
    for place in (made, *variable_reads(made, model)):
        match model.parent(place):
            case ast.Subscript(value=value, slice=index) as outer if value is place:
                while (
                    isinstance(index, ast.Call)
                    and len(index.args) == 1
                    and (model.names.qualified(index.func) in _SAME_ITEMS)
                ):
                    index = index.args[0]
                if isinstance(index, (ast.Name, ast.Attribute)) or drawn_by(index, model) is not None:
                    return (outer if place is made else made), index
    return None


def variable_reads(made: ast.Call, model: SemanticModel) -> list[ast.Name]:
    """Return the reads of the variable that a new array is assigned to."""
    match model.parent(made):
        case ast.Assign(targets=[ast.Name(id=name) as target], value=value) if value is made:
            scope = model.names.scope(target).lookup(name)
            return list(model.names.reads(name, scope)) if scope is not None and scope.is_function else []
    return []


def comprehensions_with_same_indices(picked: Picked, model: SemanticModel) -> list[ast.ListComp]:
    """Return the comprehensions of the same function that pick from the same list, in order."""
    function = model.function(picked.node)
    if function is None:
        return [picked.node]
    found = [
        node
        for node in descendants(function)
        if isinstance(node, ast.ListComp)
        and (other := picked_by(node)) is not None
        and same_code(other.held, picked.held)
        and same_code(other.indices, picked.indices)
    ]
    return sorted(found, key=lambda node: (node.lineno, node.col_offset))
