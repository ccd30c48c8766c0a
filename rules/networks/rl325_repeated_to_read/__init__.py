"""A tensor repeated along a new dimension where a view would be enough.

## What it does
Flags `x.unsqueeze(1).repeat(1, n, 1)` and `tile` in hot or warm code where each repeated dimension has one
element (from `unsqueeze`, `x[:, None]`, `view(-1, 1)`, `keepdim=True`), and the copies are only read: by
arithmetic, comparisons, `gather`, `where`, `bmm`, reductions, as an index, also through views (`unsqueeze`,
slices), by networks, in lists that are only filled and concatenated, and in functions of the same file that
they are passed to or returned from. A value of unknown type counts as a tensor if only tensors have such
methods: `mask.view(1, -1, 1).repeat(n, 1, 1)`. One tensor that is stacked several times (`torch.stack([x] *
n)`) is repeated along a new dimension. Further counts in front repeat a tensor whose number of dimensions is
known, or asserted by `assert x.ndim == 2`: `x.repeat(n, 1, 1)`. A learned parameter that is repeated for each
row of a batch likely has one row: `self.log_std.repeat(len(mean), 1)`.

The rule does not flag:

- repeats of dimensions with several elements;
- copies that are written to, returned to other files or passed to unknown functions;
- copies that are immediately flattened by `view` or `reshape`, which needs the memory.

Copies that only go into `cat`, `stack` or a network, or that are permuted and then reshaped, have low impact,
because their values are copied anyway. So do copies that are not known to be many: the number of repetitions
is the size of another tensor or at least 32, and the result has three dimensions or more.

## Why is it slow
`repeat` allocates memory for all copies and fills it, and later operations read all of it. `expand` returns
a view that reads the same elements several times, at no cost in time or memory. Arithmetic does the same by
broadcasting.

## Example
```python
import torch


class Critic:
    def learn(self, states: torch.Tensor, goals: torch.Tensor) -> torch.Tensor:
        ahead = states.unsqueeze(1).repeat(1, goals.shape[0], 1) - goals
        return ahead.pow(2).sum(-1).min(1).values
```
Use instead:
```python
import torch


class Critic:
    def learn(self, states: torch.Tensor, goals: torch.Tensor) -> torch.Tensor:
        ahead = states.unsqueeze(1).expand(-1, goals.shape[0], -1) - goals
        return ahead.pow(2).sum(-1).min(1).values
```

## Fix safety
Always unsafe. The values are the same, but the view shares its memory with the original, so neither may be
written to while the other is used. Gradients are added in another order. The memory layout of a result may
differ, which `view` rejects and `reshape` accepts.

## References
- https://docs.pytorch.org/docs/stable/generated/torch.Tensor.expand.html
- https://docs.pytorch.org/docs/stable/generated/torch.Tensor.repeat.html
- https://docs.pytorch.org/docs/stable/notes/broadcasting.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from rlint.rule import (
    Applicability,
    Finding,
    Fix,
    Heat,
    Rule,
    SemanticModel,
    TypeTag,
    last_name,
    trip_count,
)
from rlint.rules.networks._shared.seldom import runs_in_few_steps
from rlint.rules.networks.rl325_repeated_to_read.read_copies import Read, reads_of
from rlint.rules.networks.rl325_repeated_to_read.single_dimensions import (
    asserted_rank,
    has_new_dimension,
    is_learned_row,
    is_one,
    single_dimensions,
)
from rlint.rules.networks.rl325_repeated_to_read.stacked_copies import stacked_tensor

_OF_ARRAYS = 2
"""Maximum number of arguments of `repeat` of numpy: the counts and the axis."""
_OF_ROWS = 2
"""A matrix of numbers: one row, or one column, that is repeated."""
_MANY = 32
"""Number of repetitions of the size that was measured."""
_REPEATS = frozenset({"repeat", "tile", "repeat_interleave"})
_JOINS = frozenset({"stack", "cat", "concat", "concatenate"})
_FEW_COPIES = "a few copies of a batch take microseconds, unless its rows are long"
_LONG = 50
_OF_NUMBERS = "each row is one number: the copies take microseconds"
_MINOR = "their values are copied to another place anyway, so at most half of the time is saved"


class RepeatedToRead(Rule):
    """RL325."""

    code = "RL325"
    name = "repeated-to-read"
    claims = ("time", "mem")
    heat = Heat.WARM
    visits = (ast.Call,)
    callees = _REPEATS | _JOINS
    triggers = (".repeat(", ".tile(", "repeat_interleave(", "stack(", "cat(", "concat(", "concatenate(")

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for copies along dimensions of size 1 that are only read."""
        assert isinstance(node, ast.Call)
        if last_name(node.func) in _JOINS:
            yield from self.check_stacked(node, model)
            return
        is_function = model.names.qualified(node.func) == "torch.tile" and len(node.args) > 1
        counts = counts_of(node, node.args[1:] if is_function else node.args)
        if last_name(node.func) == "repeat_interleave":
            yield from self.check_interleaved(node, model)
            return
        if counts is None or not isinstance(node.func, ast.Attribute) or node.func.attr not in self.callees:
            return
        tensor = node.args[0] if is_function else node.func.value
        is_sure = model.types.type_of(tensor).tag is TypeTag.TENSOR
        if not is_sure and not is_shaped_like_tensor(tensor, counts, model):
            return
        sizes = expanded(counts, tensor, model)
        uses = reads_of(node, model) if sizes is not None else None
        if sizes is None or not uses or runs_in_few_steps(node, model):
            return
        text = " ".join(model.source.text(node.func).split())
        yield self.finding(
            model,
            node,
            f"`{shortened(text)}` copies the tensor for each repetition, though it is only read",
            fix=build_fix(node, tensor, sizes, model),
            advice=f"Use a view: `expand({', '.join(sizes)})`",
            assumes=assumption(tensor, counts, model, is_tensor=is_sure),
            minor=_OF_NUMBERS if holds_numbers(tensor, counts, model) else why_small(uses, counts, model),
        )

    def check_stacked(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for one tensor that is stacked several times, whose copies are only read."""
        stacked = stacked_tensor(call, model)
        uses = reads_of(call, model) if stacked is not None else []
        if stacked is None or Read.READ not in uses or runs_in_few_steps(call, model):
            return
        tensor, count = stacked
        yield self.finding(
            model,
            call,
            f"`{model.source.text(call.func)}` copies `{shortened(model.source.text(tensor))}` for each "
            "repetition, though it is only read",
            advice="Use a view: `expand`, after `unsqueeze` for a new dimension",
            minor=why_small(uses, [count] if count is not None else [], model),
        )

    def check_interleaved(self, call: ast.Call, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for `repeat_interleave` along a dimension of size 1, whose copies are only read."""
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        arguments = list(call.args)
        if model.names.qualified(call.func) != "torch.repeat_interleave":
            if not isinstance(call.func, ast.Attribute):
                return
            arguments.insert(0, call.func.value)
        dimension = given.get("dim") or (arguments[2] if len(arguments) > len(("input", "repeats")) else None)
        if len(arguments) + ("repeats" in given) < len(("input", "repeats")):
            return
        if not isinstance(dimension, ast.Constant) or not isinstance(dimension.value, int):
            return
        tensor, place = arguments[0], dimension.value
        if model.types.type_of(tensor).tag not in (TypeTag.TENSOR, TypeTag.UNKNOWN):
            return
        count = given.get("repeats") or arguments[1]
        copies: ast.Call | None = call
        if place not in single_dimensions(tensor, place + 1, model):
            copies = split_rows(call, count, model) if place == 0 else None
            place = 1
        uses = reads_of(copies, model) if copies is not None else []
        view = "`expand`" if copies is call else "`unsqueeze(1)` and `expand`"
        if uses:
            yield self.finding(
                model,
                call,
                f"`{shortened(model.source.text(call.func))}` copies the tensor for each repetition, though "
                "it is only read",
                advice=f"Use a view: {view}, with the number of repetitions for dimension {place}",
                minor=why_small(uses, [count], model),
            )


def holds_numbers(tensor: ast.expr, counts: list[ast.expr], model: SemanticModel) -> bool:
    """Whether each repeated row is one number: `x.view(n, 1).repeat(1, k, 1)`, `torch.tensor(size)`."""
    rank = len(counts)
    if rank == 1:
        return model.types.type_of(tensor).rank == 0
    return is_one(counts[-1]) and rank - 1 in single_dimensions(tensor, rank, model)


def why_small(uses: list[Read], counts: list[ast.expr], model: SemanticModel) -> str | None:
    """Return why the copies cost little: their values are copied anyway, or they are not known to be many.
    The number of repetitions is large if it is the size of another tensor, or a large constant.
    """
    if all(read is Read.COPIED for read in uses):
        return _MINOR
    many = len(counts) != _OF_ROWS and any(is_many(count, model) for count in counts)
    return None if many else _FEW_COPIES


def is_many(count: ast.expr, model: SemanticModel) -> bool:
    """Whether a number of repetitions is large."""
    number = trip_count.whole_number(count, model)
    if number is not None:
        return number >= _MANY
    match count:
        case ast.Subscript(value=ast.Attribute(attr="shape")):
            return True
        case ast.Call(func=ast.Attribute(attr="size"), args=[_]):
            return True
        case ast.Call(func=func, args=[_]):
            return model.names.qualified(func) == "builtins.len"
    return False


def assumption(
    tensor: ast.expr, counts: list[ast.expr], model: SemanticModel, *, is_tensor: bool
) -> str | None:
    """Return the assumption about the repeated value, if any."""
    text = f"`{shortened(model.source.text(tensor))}`"
    rank = model.types.type_of(tensor).rank
    if rank is None and has_new_dimension(tensor, counts, model):
        return f"{text} is a matrix" if is_tensor else f"{text} is a tensor of two dimensions"
    if not is_tensor:
        return f"{text} is a tensor"
    return f"{text} has one row" if rank != 1 and is_learned_row(tensor, counts, model) else None


def split_rows(call: ast.Call, count: ast.expr, model: SemanticModel) -> ast.Call | None:
    """Return the call that gives the copies of each row a dimension of their own, so that `expand` of a new
    dimension has the same elements: `x.repeat_interleave(n, dim=0).view(size, n, -1)`.
    """
    method = model.parent(call)
    match model.parent(method) if method is not None else None:
        case (
            ast.Call(
                func=ast.Attribute(attr="reshape" | "view"),
                args=[_, ast.expr() as size, _, *_] | [ast.Tuple(elts=[_, ast.expr() as size, _, *_])],
                keywords=[],
            ) as reshaped
        ) if reshaped.func is method:
            return reshaped if ast.unparse(size) == ast.unparse(count) else None
    return None


def is_shaped_like_tensor(value: ast.expr, counts: list[ast.expr], model: SemanticModel) -> bool:
    """Whether a value of unknown type can only be a tensor, by its methods: arrays have no `unsqueeze`, no
    `view` as two sizes, and no `repeat` with three counts.
    """
    if model.types.type_of(value):
        return False
    match value:
        case ast.Call(func=ast.Attribute(attr="unsqueeze"), args=[_]):
            return True
        case ast.Call(func=ast.Attribute(attr="view"), args=[_, _, *_] | [ast.Tuple(elts=[_, _, *_])]):
            return True
    return len(counts) > _OF_ARRAYS


def shortened(text: str) -> str:
    """Return a text for a message, without arguments if it is long: `x.view(…).unsqueeze(…).repeat`."""
    if len(text) <= _LONG:
        return text
    kept, depth = "", 0
    for letter in text:
        depth -= letter == ")"
        if depth == 0:
            kept += letter
        elif kept.endswith("("):
            kept += "…"
        depth += letter == "("
    return kept


def counts_of(call: ast.Call, given: Sequence[ast.expr]) -> list[ast.expr] | None:
    """Return the number of repetitions of each dimension; None if they are not literals, or all are one."""
    if call.keywords:
        return None
    counts = list(given)
    match counts:
        case [ast.Tuple(elts=items) | ast.List(elts=items)]:
            counts = list(items)
    if not counts or any(isinstance(count, ast.Starred) for count in counts):
        return None
    return None if all(is_one(count) for count in counts) else counts


def expanded(counts: list[ast.expr], tensor: ast.expr, model: SemanticModel) -> list[str] | None:
    """Return the equivalent arguments of `expand`; None if a dimension may not have size 1."""
    rank = model.types.type_of(tensor).rank
    if rank is None:
        rank = asserted_rank(tensor, model)
    if rank != 1 and is_learned_row(tensor, counts, model):
        return [model.edit.as_argument(counts[0]), *["-1"] * (len(counts) - 1)]
    offset = len(counts) - rank if rank is not None else int(has_new_dimension(tensor, counts, model))
    if offset < 0:
        return None
    single = single_dimensions(tensor, len(counts) - offset, model)
    sizes = []
    for index, count in enumerate(counts):
        if is_one(count):
            sizes.append("1" if index < offset else "-1")
        elif index < offset or index - offset in single:
            sizes.append(model.edit.as_argument(count))
        else:
            return None
    return sizes


def build_fix(call: ast.Call, tensor: ast.expr, sizes: list[str], model: SemanticModel) -> Fix | None:
    """Read the same elements several times."""
    is_receiver = isinstance(call.func, ast.Attribute) and call.func.value is tensor
    code = model.edit.code(tensor) if is_receiver else model.edit.parenthesized(tensor)
    text = f"{code}.expand({', '.join(sizes)})"
    reason = "the view shares memory with the tensor, neither of which may be written to in place"
    return Fix("Expand without a copy", Applicability.UNSAFE, (model.edit.replace(call, text),), reason)
