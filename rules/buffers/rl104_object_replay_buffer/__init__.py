"""A replay buffer that stores each transition as a Python object and builds arrays for each batch.

## What it does
Flags the place that stores a transition as a tuple, named tuple, dict or object in a list or deque from which
batches are drawn at random, in an array of objects (`np.empty(capacity, dtype=object)`), or in the leaves of
a sum tree (`self.tree.add(priority, transition)`). The list may belong to a buffer class, be an attribute of
the agent, or be a variable of the script. The rule recognises `append`, `extend`, writes to an index that
wraps around, and sequences of transitions that are sliced, picked item by item from a drawn place on, or
unpacked one by one, for each batch. Objects of unknown type count as transitions if their fields are
collected after the draw: by `zip(*batch)`, or by `[t.state for t in batch]`. Whole episodes or games count if
a method of the buffer builds batches from their steps, one by one: by methods of each drawn game
(`game.make_image(i)`, `game.make_target(i)`), or in a loop over steps (`game["rewards"][step]`). A buffer may
also keep one list per field (`self.states.append(state)`, `self.rewards.append(reward)`, …) from which items
at drawn indices are picked, or that is a data set whose `__getitem__` returns the fields of one transition.
It may keep the observations alone in lists, which it overwrites at an index that wraps around
(`self.states[self.index] = state`).

The rule does not flag:

- lists that are emptied during training by the code that samples them, such as on-policy rollouts;
- lists that are not sampled at random: queues, n-step windows, episodes that are read in order;
- items that are sequences of other kinds, or texts, and episodes of which batches are cut as slices;
- buffers that hold fewer than a thousand items;
- files with `LazyFrames` or `FrameStack`, whose observations share their images, unless each transition also
  holds several tensors of one number (where other files of the program have them, the impact is low).

## Why is it slow
Each transition is a container with an object for each field: two arrays with a header each, a float, a
flag. For observations of a few numbers, the objects take several times the memory of the numbers. Each
sampled batch must be unpacked and copied into arrays value by value, while preallocated arrays are indexed
once. The garbage collector also has to scan all these containers.

Writing a transition to the rows of several arrays takes longer than one `append`. Batches hold many
transitions, so faster sampling more than makes up for it. For images, the pixels take nearly all of the
memory, and the gain is small unless each image is stored once instead of as `state` and again as
`next_state`: findings in programs of networks for images or sequences have a low impact. The memory of a
small buffer matters little, and two transitions share each frame of a game, so that the impact there is that
of building each batch from objects.

## Example
```python
import random
from collections import deque

import numpy as np


class ReplayBuffer:
    def __init__(self, capacity):
        self.memory = deque(maxlen=capacity)

    def add(self, state, action, reward, next_state, done):
        self.memory.append((state, action, reward, next_state, done))

    def sample(self, size):
        batch = random.sample(self.memory, size)
        return tuple(np.array(field) for field in zip(*batch))
```
Use instead (by hand):
```python
import numpy as np


class ReplayBuffer:
    def __init__(self, capacity, width):
        self.states = np.zeros((capacity, width), dtype=np.float32)
        self.actions = np.zeros(capacity, dtype=np.int64)
        self.rewards = np.zeros(capacity, dtype=np.float32)
        self.next_states = np.zeros((capacity, width), dtype=np.float32)
        self.dones = np.zeros(capacity, dtype=bool)
        self.count = 0

    def add(self, state, action, reward, next_state, done):
        row = self.count % len(self.dones)
        self.states[row], self.next_states[row] = state, next_state
        self.actions[row], self.rewards[row], self.dones[row] = action, reward, done
        self.count += 1

    def sample(self, size):
        rows = np.random.randint(0, min(self.count, len(self.dones)), size=size)
        fields = (self.states, self.actions, self.rewards, self.next_states, self.dones)
        return tuple(field[rows] for field in fields)
```

## Fix safety
There is only advice: the shapes and types of the fields must be known beforehand, and other code may take
single transitions out of the buffer.

`random.sample` draws without replacement, `randint` with replacement, which makes no difference to learning
in a large buffer. `random.sample(range(count), size)` draws exactly the same transitions as before.

## References
- https://docs.python.org/3/library/collections.html#collections.deque
- https://numpy.org/doc/stable/user/basics.indexing.html#integer-array-indexing
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from rlint.rule import Finding, Heat, ProgramScale, Rule, SemanticModel, Trait, TypeTag, models
from rlint.rules.buffers._shared.observed import are_frames, are_vectors
from rlint.rules.buffers.rl104_object_replay_buffer.capacities import scans_deque, stated_impact
from rlint.rules.buffers.rl104_object_replay_buffer.episodes import converted_by
from rlint.rules.buffers.rl104_object_replay_buffer.object_store import (
    StoredItem,
    is_of_episodes,
    is_transition,
    many_written_by,
    may_be_transition,
    one_number_tensors,
    takes_sequences_apart,
    uses_of,
    written_by,
)
from rlint.rules.buffers.rl104_object_replay_buffer.parallel_lists import parallel_lists
from rlint.rules.buffers.rl104_object_replay_buffer.replay_list import is_drawn_and_unpacked, is_replay
from rlint.rules.buffers.rl104_object_replay_buffer.tree_store import (
    drawn_from_tree,
    given_to_tree,
    is_reported_there,
)
from rlint.rules.buffers.rl104_object_replay_buffer.unpacking import copied_to_host, unpacked_in

_ADDS = models.having(Trait.INSERTS, TypeTag.LIST, TypeTag.DEQUE, TypeTag.SET) | {"extend", "push", "put"}
_PIXELS = "images take nearly all of the memory in any case"
_SHARED = "the stacked frames of this program share their images, of which arrays would hold several copies"
ADVICE = (
    "Keep each field in one preallocated array (`np.zeros((capacity, *shape), dtype)`), write transitions "
    "to the next row, wrapping around, and index all fields with the drawn rows"
)


NUMBERS = (
    "Keep actions, rewards and ends of episodes in one preallocated array each, beside the frames, and "
    "create one tensor of each for a whole batch"
)
FRAMES = (
    "Keep actions, rewards and ends of episodes in one preallocated array each, and all frames in another "
    "one, each once: the next observation is that of the next row; index all fields with the drawn rows"
)
EPISODES = (
    "Keep each field of the steps in one preallocated array for all episodes, with the row at which each "
    "episode begins, and index all fields with the drawn rows"
)
_FEWEST = 2
"""So many tensors of one number in each transition take more memory than shared frames save."""
LAZY = frozenset({"LazyFrames", "FrameStack"})


class ObjectReplayBuffer(Rule):
    """RL104."""

    code = "RL104"
    name = "object-replay-buffer"
    seeds = ("S4.6", "S1.T1")
    claims = ("mem", "time")
    heat = Heat.WARM
    visits = (ast.Call, ast.Assign)
    callees = _ADDS
    triggers = ("sample", "choice", "rand", "integers", "__getitem__")

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for the first statement of a buffer that stores a transition or an episode."""
        found = list(self.transitions(node, model)) or list(self.episodes(node, model))
        yield from found or self.fields(node, model)

    def fields(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a buffer with a list for each field of the transitions."""
        lists = parallel_lists(node, model)
        if lists is None or shares_frames(model):
            return
        first, others = model.source.text(lists.holders[0]), len(lists.holders) - 1
        more = f" and {others} more list{'s' * (others > 1)} store" if others else " stores"
        yield self.finding(
            model,
            node,
            f"`{first}`{more} each field of a transition as an object of its own, which `{lists.read_in}` "
            "looks up one by one for every batch",
            advice=ADVICE,
            assumes=f"training does not empty `{first}` after each update" if lists.is_assumed else None,
            minor=_why_little(model),
        )

    def episodes(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for the first statement of a buffer that stores an episode as an object."""
        written = written_by(node)
        if written is None or shares_frames(model) or model.frequency.heat_of(node).level is Heat.COLD:
            return
        method = converted_by(written, model)
        if method is None or not is_first(node, uses_of(written.holder, model), model):
            return
        yield self.finding(
            model,
            node,
            f"`{model.source.text(written.holder)}` stores whole episodes as Python objects, whose steps "
            f"`{method.name}` collects one by one for every batch",
            advice=EPISODES,
            minor=_why_little(model),
        )

    def transitions(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for the first statement of a buffer that stores a transition."""
        kept_by_tree = given_to_tree(node, model)
        if kept_by_tree is not None:
            yield from self.in_tree(node, kept_by_tree, model)
            return
        written = written_by(node)
        holder = written.holder if written is not None else many_written_by(node)
        if holder is None:
            return
        shared = shares_frames(model)
        tensors = one_number_tensors(written.value, model) if shared and written is not None else 0
        if shared and tensors < _FEWEST:
            return
        one = written is not None and is_transition(written.value, model)
        one = one and written is not None and not is_of_episodes(written, model)
        sequence = not one and written is not None and isinstance(written.value, ast.Name)
        if written is not None and not one and not may_be_transition(written, model):
            return
        uses = uses_of(holder, model)
        draw = is_replay(uses, model)
        if draw is None or is_heap(uses, model) or not is_first(node, uses, model):
            return
        if Heat.HOT not in (model.frequency.heat_of(node).level, model.frequency.heat_of(draw).level):
            return  # few transitions are stored, and few batches drawn
        known = one or (written is None and any(stores_transition(use, model) for use in uses))
        known = known or (sequence and takes_sequences_apart(draw, model))
        if not known and not is_drawn_and_unpacked(draw, model):
            return
        yield self.report(node, holder, draw, tensors if shared else 0, model)

    def in_tree(self, node: ast.AST, stored: StoredItem, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for a transition that is stored in a leaf of a sum tree."""
        tensors = one_number_tensors(stored.value, model) if shares_frames(model) else 0
        if shares_frames(model) and tensors < _FEWEST:
            return
        if model.frequency.heat_of(node).level is Heat.COLD or is_reported_there(stored, model):
            return
        draw = drawn_from_tree(stored, model)
        if draw is not None:
            yield self.report(node, stored.holder, draw, tensors, model)

    def report(
        self, node: ast.AST, holder: ast.expr, draw: ast.AST, tensors: int, model: SemanticModel
    ) -> Finding:
        """Return the finding. `tensors` is the number of tensors of one number in each transition, if these
        are what makes it large.
        """
        unpacks = unpacked_in(draw, model)
        uses = uses_of(holder, model) if isinstance(holder, (ast.Name, ast.Attribute)) else []
        where = f"`{unpacks.name}`" if unpacks is not None else "the loop"
        copied = copied_to_host(unpacks) if unpacks is not None else None
        each = f", with a `.{copied}()` for each item" if copied is not None else ""
        if scans_deque(draw, model):
            each += "; the draw also walks through the deque to each item"
        one_by_one = isinstance(draw, ast.Subscript)
        one_by_one = one_by_one or given_to_tree(node, model) is not None
        does = "looks up one by one" if one_by_one else "unpacks again"
        stores = f"with {tensors} tensors of one number" if tensors else "as Python objects"
        return self.finding(
            model,
            node,
            f"`{model.source.text(holder)}` stores each transition {stores}, which {where} {does} for every "
            f"batch{each}",
            advice=NUMBERS if tensors else FRAMES if are_frames(model) else ADVICE,
            minor=_why_little(model, has_tensors=bool(tensors)),
            stated=None if tensors else stated_impact(uses, model),
        )


def _why_little(model: SemanticModel, *, has_tensors: bool = False) -> str | None:
    """Return why a buffer takes about as much memory in any form, or less than arrays; `has_tensors` says
    that tensors of one number make it large.
    """
    if are_vectors(model):
        return None
    if not has_tensors and model.program.mentions(*LAZY):
        return _SHARED
    return _PIXELS if model.program.scale() is ProgramScale.LARGE else None


def shares_frames(model: SemanticModel) -> bool:
    """Whether the program stacks image frames such that observations share them. Arrays of stacked
    observations would then take more memory.
    """
    names = [*model.module.classes, *(path.rpartition(".")[2] for path in model.module.imports.values())]
    return any(name in LAZY for name in names)


def is_heap(uses: Sequence[ast.Name | ast.Attribute], model: SemanticModel) -> bool:
    """Whether `heapq` orders it by a score. Then its items are ranked: usually episodes."""
    for use in uses:
        parent = model.parent(use)
        if isinstance(parent, ast.Call) and use in parent.args:
            module, _, name = (model.names.qualified(parent.func) or "").partition(".")
            if module == "heapq" and name.startswith("heap"):
                return True
    return False


def stores_transition(use: ast.expr, model: SemanticModel) -> bool:
    """Whether this use of a list puts a single transition into it."""
    writer = _writer(use, model)
    written = written_by(writer) if writer is not None else None
    return written is not None and written.holder is use and is_transition(written.value, model)


def is_first(node: ast.AST, uses: Sequence[ast.Name | ast.Attribute], model: SemanticModel) -> bool:
    """Whether this is the first statement in the file that adds a transition to the buffer during
    training.
    """
    for use in sorted(uses, key=lambda use: (use.lineno, use.col_offset)):
        writer = _writer(use, model)
        if writer is node:
            return True
        adds = stores_transition(use, model) or (writer is not None and many_written_by(writer) is use)
        if writer is not None and adds and model.frequency.heat_of(writer).level > Heat.COLD:
            return False
    return True


def _writer(use: ast.expr, model: SemanticModel) -> ast.AST | None:
    """Return the call or assignment that may modify the list."""
    parent = model.parent(use)
    return model.parent(parent) if parent is not None else None
