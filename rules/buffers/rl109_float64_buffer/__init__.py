"""A float64 array whose rows are only read as float32.

## What it does
Flags an array of a buffer or rollout that NumPy allocates as float64 (by default or explicitly), if it is
filled row by row and its rows become float32 tensors when they are read:
`torch.FloatTensor(self.states[indices])`, `torch.from_numpy(self.states[indices]).float()`,
`torch.as_tensor(self.states[indices], dtype=torch.float32)`.

The array may be an attribute, a variable, an item of a list or an entry of a dict (`self.buffers =
{"states": np.empty((size, width))}`, `self.buffers[key] = np.zeros((size, width))`). A method may also return
its rows, alone or in a tuple, dict or named tuple, which become tensors elsewhere in the program. A
function of the program may convert them (`to_tensor(self.states[indices])`), also after NumPy concatenated
them. A loop over the keys of a dict may convert its entries; conditions on the key (`if key == "actions"`)
select the conversion.

The arrays of a buffer are one finding. Its impact is low if they have few rows, or only hold the steps of
one update (`np.zeros((batch_size, width))`), unless the rows may be frames, and if a variable of a function
that runs in each step holds them.

The finding is likely if single rows are also read otherwise, or if a method replaces the array by data of
unknown dtype (`self.states = dataset["observations"]`).

Frames are another finding (likely): a wrapper of an environment that divides them (`frame / 255`) and keeps
the float64 that results, in a program whose networks compute in float32.

The rule does not flag small arrays, arrays that are incremented or computed with as a whole, arrays that are
also read as integers (saving them does not count), arrays with a comment that asks for float64, vectors that
a variable of a function holds (`np.zeros(action_size)`), and what environments report besides observations
(`self.env_infos[key] = np.zeros((size, width))`), unless other arrays of the buffer are float64, too.

## Why is it slow
NumPy allocates float64 by default, torch computes in float32. Each number takes twice the memory for as
long as the buffer lives, and is converted again in each batch that contains it. For frames the waste is
larger: as bytes (`np.uint8`) they take an eighth of the memory.

## Example
```python
import numpy as np
import torch


class ReplayBuffer:
    def __init__(self, capacity: int, width: int) -> None:
        self.states = np.zeros((capacity, width))
        self.size = 0

    def add(self, state: np.ndarray) -> None:
        self.states[self.size] = state
        self.size += 1

    def sample(self, indices: np.ndarray) -> torch.Tensor:
        return torch.as_tensor(self.states[indices], dtype=torch.float32)
```
Use instead:
```python
import numpy as np
import torch


class ReplayBuffer:
    def __init__(self, capacity: int, width: int) -> None:
        self.states = np.zeros((capacity, width), dtype=np.float32)
        self.size = 0

    def add(self, state: np.ndarray) -> None:
        self.states[self.size] = state
        self.size += 1

    def sample(self, indices: np.ndarray) -> torch.Tensor:
        return torch.as_tensor(self.states[indices], dtype=torch.float32)
```

## Fix safety
Unsafe: the fix sets the dtype to `np.float32`. Numbers are then rounded when they are stored instead of
when they are read, which is the same only if no code computes with the stored values. A float32 count stops
increasing at about sixteen million, and a saved buffer has another dtype.

## References
- https://numpy.org/doc/stable/reference/generated/numpy.zeros.html
- https://docs.pytorch.org/docs/stable/generated/torch.get_default_dtype.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from rlint.rule import (
    Applicability,
    Edit,
    Finding,
    Fix,
    Function,
    Heat,
    Rule,
    SemanticModel,
    TypeTag,
    descendants,
    last_name,
    numbers,
    regex,
)
from rlint.rules.buffers._shared.observed import are_vectors
from rlint.rules.buffers.rl109_float64_buffer.entries import (
    Entry,
    entries,
    judged,
    listed,
    own_uses,
    shape_of,
)
from rlint.rules.buffers.rl109_float64_buffer.scaled_frames import is_scaled_frame

MAKERS = {"numpy.zeros": 1, "numpy.ones": 1, "numpy.empty": 1, "numpy.full": 2}
"""Functions that allocate, with the position of the dtype among their arguments."""
_ALLOCATING = (ast.Assign, ast.AnnAssign, ast.Expr)
SMALL = 1_000
SINGLE = ("float32", "FloatTensor", "float")
"""Names in a program that convert rows to single-precision tensors."""
LARGE = 50_000
"""Rows of an array whose memory counts."""
_ROLLOUT = regex(r"(^|_)(batch|rollout|horizon|episode|epoch|envs?|seq|trajectory|t|nsteps?|steps?)(_|$)")
"""Names of the numbers of rows of buffers that one update empties."""
_LENGTH = regex(r"(^|_)(dims?|size|width|len|length|num|n|count|actions?|features?)(_|$)")
"""Names of the lengths of vectors, rather than shapes."""
_OF_INFO = regex(r"(_|\b)infos?(_|\b)")
"""Storages of what an environment reports besides observations: few numbers, if any."""
_FRAMES = 3
"""Axes of an array whose rows likely are frames."""
_BYTES = ", or `np.uint8` if the rows are frames"
_MINOR = "the arrays have few rows, or only those of one update, which take little memory"
_TEMPORARY = "the array only lives until the function returns, which runs in each step"
MEANT = ("float64", "double", "precision", "precise")


class Float64Buffer(Rule):
    code = "RL109"
    name = "float64-buffer"
    seeds = ("S4.mem",)
    claims = ("mem",)
    heat = Heat.COLD
    visits = (*_ALLOCATING, ast.BinOp)
    triggers = ("zeros(", "empty(", "ones(", "full(", "255", "127.5")

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        if isinstance(node, ast.BinOp):
            if is_scaled_frame(node, model) and model.program.mentions(*SINGLE):
                yield self._of_frame(node, model)
            return
        assert isinstance(node, (ast.Assign, ast.AnnAssign, ast.Expr))
        for group in model.once(_buffers, model.syntax.module):
            if group[0][0] is node:
                yield self._of_buffer([entry for _, entry in group], model)

    def _of_frame(self, scaled: ast.BinOp, model: SemanticModel) -> Finding:
        """Return the finding for frames that a wrapper of an environment converts to float64."""
        frame = " ".join(model.source.text(scaled.left).split())
        return self.finding(
            model,
            scaled,
            f"`{' '.join(model.source.text(scaled).split())}` makes float64 of every frame, which takes "
            "eight times the memory of its bytes wherever it is stored or sent",
            advice="Keep the bytes, and scale batches where the network gets them; or divide "
            f"`{frame}.astype(np.float32)`, which takes half of it",
            assumes=f"`{frame}` holds bytes, and networks compute in float32",
        )

    def _of_buffer(self, entries: list[Entry], model: SemanticModel) -> Finding:
        """Return the finding for the arrays of one buffer."""
        first, *others = entries
        match others:
            case []:
                what, verbs, whose = f"`{first.shown}`", ("holds", "takes", "needs"), "its"
            case [other]:
                what, verbs, whose = f"`{first.shown}` and `{other.shown}`", ("hold", "take", "need"), "their"
            case _:
                what = f"`{first.shown}` and {len(others)} more arrays of the buffer"
                verbs, whose = ("hold", "take", "need"), "their"
        holds, takes, needs = verbs
        known = f": {whose} rows are read as float32" if first.surely else ""
        pronoun = "it" if whose == "its" else "they"
        return self.finding(
            model,
            first.call,
            f"{what} {holds} float64 and {takes} twice the memory that {pronoun} {needs}{known}",
            fix=build_fix([entry.call for entry in entries], model),
            advice="Allocate with `dtype=np.float32`" + (_BYTES if may_hold_frames(entries, model) else ""),
            related=[(entry.call, "holds float64, too") for entry in others],
            assumes=None if first.surely else f"{whose} rows become float32 tensors where they are read",
            minor=why_small(entries, model),
        )


def may_hold_frames(entries: Sequence[Entry], model: SemanticModel) -> bool:
    """Whether the rows of an array may have several axes, by the shape that it is allocated with and the
    environments of the program.
    """
    return not are_vectors(model) and any(
        isinstance(node, ast.Starred) or "shape" in (last_name(node) or "").lower()
        for entry in entries
        for node in descendants(entry.call)
    )


def _buffers(_: ast.Module, model: SemanticModel) -> list[list[tuple[ast.stmt, Entry]]]:
    """Return the storages of a file with their statements, in source order, grouped by the function that
    allocates them and by whether all of their reads are known.
    """
    found: dict[tuple[Function | None, bool], list[tuple[ast.stmt, Entry]]] = {}
    statements = [node for kind in _ALLOCATING for node in model.syntax.of_type(kind)]
    for statement in sorted(statements, key=lambda node: (node.lineno, node.col_offset)):
        for entry in _storages(statement, model):
            if is_meant(statement, model) or not is_doubles(entry.call, model) or is_small(entry.call, model):
                continue
            if entry.surely or model.program.mentions(*SINGLE):
                group = (model.function(statement), entry.surely)
                found.setdefault(group, []).append((statement, entry))
    return [
        entries
        for entries in found.values()
        if not all(_OF_INFO.search(entry.shown.lower()) for _, entry in entries)
    ]


def _storages(node: ast.AST, model: SemanticModel) -> list[Entry]:
    """Return the storages that a statement allocates."""
    match node:
        case ast.Expr() | ast.Assign(value=ast.ListComp()):
            held = listed(node, model)
            return [held] if held is not None else []
        case ast.Assign(targets=[ast.Subscript(value=ast.Attribute())], value=ast.Call() as made) if (
            is_doubles(made, model)
        ):
            held = listed(node, model)
            return [held] if held is not None else []
        case (
            ast.Assign(targets=[target], value=ast.Dict() | ast.Call(func=ast.Name(id="dict")) as parts)
            | ast.AnnAssign(target=target, value=ast.Dict() | ast.Call(func=ast.Name(id="dict")) as parts)
        ):
            found: list[Entry] = entries(target, parts, model)
            return found
        case (
            ast.Assign(targets=[ast.Attribute() | ast.Name() as target], value=ast.Call() as call)
            | ast.AnnAssign(target=ast.Attribute() | ast.Name() as target, value=ast.Call() as call)
        ) if is_doubles(call, model) and not is_small(call, model):
            surely = is_storage(target, call, model)
            return [Entry(model.source.text(target), call, surely)] if surely is not None else []
    return []


def is_doubles(call: ast.Call, model: SemanticModel) -> bool:
    """Whether numpy allocates an array of doubles."""
    if model.names.qualified(call.func) not in MAKERS:
        return False
    return model.types.type_of(call).dtype == "float64" or is_double_by_default(call, model)


def is_double_by_default(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the dtype is a variable that is float64 unless a condition replaces it."""
    given = dtype_argument(call, model)
    bindings = model.dataflow.definitions(given) if isinstance(given, ast.Name) else []
    values = [binding.value for binding in bindings]
    if len(values) < 2 or any(value is None for value in values):
        return False
    doubles = [
        binding
        for binding in bindings
        if binding.value is not None and model.analysis.types.dtype_of(binding.value) == "float64"
    ]
    return len(doubles) == 1 and not _is_conditional(doubles[0].statement, call, model)


def _is_conditional(statement: ast.AST, call: ast.Call, model: SemanticModel) -> bool:
    """Whether a condition that does not guard the call, too, guards a statement."""
    around = set(model.ancestors(call))
    return any(isinstance(parent, ast.If) and parent not in around for parent in model.ancestors(statement))


def dtype_argument(call: ast.Call, model: SemanticModel) -> ast.expr | None:
    """Return the argument for the dtype of a function that allocates."""
    position = MAKERS[model.names.qualified(call.func) or ""]
    named = [keyword.value for keyword in call.keywords if keyword.arg == "dtype"]
    return next(iter(named or call.args[position : position + 1]), None)


def is_small(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the array surely has few rows."""
    shape = shape_of(call)
    first = shape.elts[0] if isinstance(shape, (ast.Tuple, ast.List)) and shape.elts else shape
    if first is None or isinstance(first, ast.Starred):
        return True
    number = numbers.number_of(first, model)
    return number is not None and number.fixed and number.value < SMALL


def is_meant(statement: ast.AST, model: SemanticModel) -> bool:
    """Whether a comment at the statement says that float64 is intended."""
    first, last = model.logical_lines(statement)
    lines = [model.syntax.positions.line_text(line) for line in range(first, last + 1)]
    comments = [line.partition("#")[2].lower() for line in lines]
    return any(word in comment for comment in comments for word in MEANT)


def is_storage(target: ast.Attribute | ast.Name, call: ast.Call, model: SemanticModel) -> bool | None:
    """Whether all reads of the assigned storage convert it to float32; None if it is not written row by row,
    or not read so.
    """
    uses: list[ast.Attribute | ast.Name] = []
    if isinstance(target, ast.Attribute):
        uses.extend(own_uses(target, model))
    else:
        scope = model.names.scope(target).lookup(target.id)
        if scope is None or not scope.is_function or model.names.is_captured(target.id, scope):
            return None
        if is_vector(call, model):
            return None  # a single row, which lives until the function returns
        uses.extend(model.names.uses(target.id, scope))
    others = [use for use in uses if isinstance(use.ctx, ast.Store) and use is not target]
    replaced = [use for use in others if not is_like(use, model)]
    if any(not is_given(use, model) for use in replaced):
        return None
    name = target.attr if isinstance(target, ast.Attribute) else target.id
    surely: bool | None = judged(uses, call, name, model)
    return surely if not replaced or surely is None else False


def is_vector(call: ast.Call, model: SemanticModel) -> bool:
    """Whether an array has one dimension, of a length that is not known to be large."""
    shape = shape_of(call)
    if isinstance(shape, (ast.Tuple, ast.List)) and len(shape.elts) == 1:
        shape = shape.elts[0]
    if not isinstance(shape, (ast.Name, ast.Attribute, ast.Constant)):
        return False
    if model.types.type_of(shape).tag in (TypeTag.TUPLE, TypeTag.LIST):
        return False
    if not _LENGTH.search((last_name(shape) or "").lower()):
        return False
    number = numbers.number_of(shape, model)
    return number is None or number.value < LARGE


def is_like(use: ast.expr, model: SemanticModel) -> bool:
    """Whether the storage is assigned another float64 array there, for instance by a reset, or None."""
    parent = model.parent(use)
    if not isinstance(parent, (ast.Assign, ast.AnnAssign)) or parent.value is None:
        return False
    kind = model.types.type_of(parent.value)
    return kind.tag is TypeTag.NONE or (kind.tag is TypeTag.NDARRAY and kind.dtype in ("float64", ""))


def is_given(use: ast.expr, model: SemanticModel) -> bool:
    """Whether a method replaces the storage by data of unknown dtype, as one that loads a data set does."""
    parent = model.parent(use)
    if not isinstance(parent, (ast.Assign, ast.AnnAssign)) or parent.value is None:
        return False
    casts = any(
        isinstance(part, ast.Attribute) and part.attr == "astype" for part in descendants(parent.value)
    )
    unknown = model.types.type_of(parent.value).tag is TypeTag.UNKNOWN
    return unknown and not casts and not isinstance(parent.value, ast.Name)


def why_small(entries: list[Entry], model: SemanticModel) -> str | None:
    """Return why the arrays of a buffer take little memory; None for arrays of many rows, or of frames."""
    if all(is_temporary(entry.call, model) for entry in entries):
        return _TEMPORARY
    return None if any(is_large(entry.call, model) for entry in entries) else _MINOR


def is_temporary(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a variable of a function that runs in each step holds the array: a mask, a one-hot code."""
    match model.syntax.statement(call):
        case ast.Assign(targets=[ast.Name()], value=value) if value is call:
            return model.frequency.heat_of(call).level is Heat.HOT
    return False


def is_large(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the array may hold many rows, or frames."""
    shape = shape_of(call)
    axes = shape.elts if isinstance(shape, (ast.Tuple, ast.List)) else [shape]
    if len(axes) > _FRAMES or any(isinstance(axis, ast.Starred) for axis in axes):
        return True
    if not isinstance(shape, (ast.Tuple, ast.List)) and not isinstance(shape, (ast.Name, ast.Attribute)):
        return True
    number = numbers.number_of(axes[0], model)
    if number is not None and number.value:
        return number.value >= LARGE
    return not _ROLLOUT.search((last_name(axes[0]) or "").lower())


def build_fix(calls: list[ast.Call], model: SemanticModel) -> Fix | None:
    """Pass `dtype=np.float32` to each call."""
    edits = [edit for call in calls if (edit := _edit_of(call, model)) is not None]
    if not edits:
        return None
    reason = "numbers are rounded when they are stored: no code may need more than float32 precision"
    return Fix("Allocate float32", Applicability.UNSAFE, tuple(edits), reason)


def _edit_of(call: ast.Call, model: SemanticModel) -> Edit | None:
    wanted = model.names.spelled("numpy.float32", call)
    if wanted is None:
        return None
    given = dtype_argument(call, model)
    if isinstance(given, ast.Name) and is_double_by_default(call, model):
        return None  # the same variable is another dtype under a condition
    edit: Edit | None
    edit = model.edit.replace(given, wanted) if given else model.edit.with_keyword(call, "dtype", wanted)
    return edit
