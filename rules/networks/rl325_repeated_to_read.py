"""A tensor repeated along a new dimension where a view would be enough.

## What it does
Flags `x.unsqueeze(1).repeat(1, n, 1)` and `tile` in hot code where each repeated dimension has one element
(from `unsqueeze`, `x[:, None]`, `view(-1, 1)`, `keepdim=True`), and the copies are only read: by
arithmetic, comparisons, `gather`, `where`, reductions. A value of unknown type counts as a tensor if only
tensors have such methods: `mask.view(1, -1, 1).repeat(n, 1, 1)`. Further counts in front repeat a tensor
whose number of dimensions is known, or asserted by `assert x.ndim == 2`: `x.repeat(n, 1, 1)`.

The rule does not flag:

- repeats of dimensions with several elements;
- copies that are written to, stored, returned or passed to unknown functions;
- copies that are immediately flattened by `view` or `reshape`, which needs the memory.

Copies that only go into `cat` or `stack`, which copy them anyway, have low impact.

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
from collections.abc import Iterator

from rlint.rule import (
    Applicability,
    Finding,
    Fix,
    Rule,
    SemanticModel,
    Trait,
    TypeTag,
    Use,
    UseKind,
    last_name,
    models,
)

_DEPTH = 3
_OF_ARRAYS = 2
"""Maximum number of arguments of `repeat` of numpy: the counts and the axis."""
_READS = Trait.ELEMENTWISE | Trait.REDUCES | Trait.PAIRWISE | Trait.COMPARES | Trait.SAME_KIND | Trait.CASTS
_LOSSES = models.having(Trait.DIFFERS, "torch.nn.functional")
_MEASURES = Trait.MEASURES
_VIEWS = models.having(Trait.PERMUTES, TypeTag.TENSOR)
_MINOR = "the concatenation copies the values anyway, so at most half of the time is saved"
_TAKES = Trait.PAIRWISE | Trait.SAME_KIND


class RepeatedToRead(Rule):
    """RL325."""

    code = "RL325"
    name = "repeated-to-read"
    claims = ("time", "mem")
    visits = (ast.Call,)
    callees = frozenset({"repeat", "tile", "repeat_interleave"})
    triggers = (".repeat(", ".tile(", "repeat_interleave(")

    def check(self, node: ast.AST, model: SemanticModel) -> Iterator[Finding]:
        """Yield a finding for copies along dimensions of size 1 that are only read."""
        assert isinstance(node, ast.Call)
        counts = counts_of(node)
        if last_name(node.func) == "repeat_interleave":
            yield from self.check_interleaved(node, model)
            return
        if counts is None or not isinstance(node.func, ast.Attribute) or node.func.attr not in self.callees:
            return
        tensor = node.func.value
        is_sure = model.types.type_of(tensor).tag is TypeTag.TENSOR
        if not is_sure and not is_shaped_like_tensor(tensor, counts, model):
            return
        sizes = expanded(counts, tensor, model)
        uses = uses_of(node, model, _DEPTH) if sizes is not None else None
        if sizes is None or not uses:
            return
        text = " ".join(model.source.text(node.func).split())
        yield self.finding(
            model,
            node,
            f"`{shortened(text)}` copies the tensor for each repetition, though it is only read",
            fix=build_fix(node, sizes, model),
            advice=f"Use a view: `expand({', '.join(sizes)})`",
            assumes=None if is_sure else f"`{shortened(model.source.text(tensor))}` is a tensor",
            minor=_MINOR if all(use.kind is UseKind.ELEMENT for use in uses) else None,
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
        if not arguments or not isinstance(dimension, ast.Constant) or not isinstance(dimension.value, int):
            return
        tensor, place = arguments[0], dimension.value
        if model.types.type_of(tensor).tag not in (TypeTag.TENSOR, TypeTag.UNKNOWN):
            return
        if place not in single_dimensions(tensor, place + 1, model):
            return
        uses = uses_of(call, model, _DEPTH)
        if uses:
            yield self.finding(
                model,
                call,
                f"`{shortened(model.source.text(call.func))}` copies the tensor for each repetition, though "
                "it is only read",
                advice=f"Use a view: `expand`, with the number of repetitions for dimension {place}",
                minor=_MINOR if all(use.kind is UseKind.ELEMENT for use in uses) else None,
            )


def is_shaped_like_tensor(value: ast.expr, counts: list[ast.expr], model: SemanticModel) -> bool:
    """Whether a value of unknown type can only be a tensor, by its methods: arrays have no `unsqueeze`, no
    `view` as two sizes, and no `repeat` with three counts.
    """
    if model.types.type_of(value):
        return False
    match value:
        case ast.Call(func=ast.Attribute(attr="unsqueeze"), args=[_]):
            return True
        case ast.Call(func=ast.Attribute(attr="view"), args=[_, _, *_]):
            return True
    return len(counts) > _OF_ARRAYS


def shortened(text: str) -> str:
    """Return a text shortened for a message."""
    return text if len(text) <= 50 else f"...{text[-47:]}"


def counts_of(call: ast.Call) -> list[ast.expr] | None:
    """Return the number of repetitions of each dimension; None if they are not literals, or all are one."""
    if call.keywords:
        return None
    counts = list(call.args)
    match counts:
        case [ast.Tuple(elts=items) | ast.List(elts=items)]:
            counts = list(items)
    if not counts or any(isinstance(count, ast.Starred) for count in counts):
        return None
    return None if all(is_one(count) for count in counts) else counts


def is_one(expression: ast.expr) -> bool:
    """Whether an expression is the number 1."""
    return isinstance(expression, ast.Constant) and expression.value == 1


def expanded(counts: list[ast.expr], tensor: ast.expr, model: SemanticModel) -> list[str] | None:
    """Return the equivalent arguments of `expand`; None if a dimension may not have size 1."""
    rank = model.types.type_of(tensor).rank
    if rank is None:
        rank = asserted_rank(tensor, model)
    offset = len(counts) - rank if rank is not None else 0
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


def asserted_rank(tensor: ast.expr, model: SemanticModel) -> int | None:
    """Return the number of dimensions that the function asserts of a variable: `assert target.ndim == 2`."""
    if not isinstance(tensor, ast.Name):
        return None
    bound = model.dataflow.definitions(tensor)
    function, start = model.function(tensor), model.source.span(tensor)[0]
    for check in model.syntax.of_type(ast.Assert):
        if model.function(check) is not function or model.source.span(check)[0] >= start:
            continue
        tests = check.test.values if isinstance(check.test, ast.BoolOp) else [check.test]
        if isinstance(check.test, ast.BoolOp) and not isinstance(check.test.op, ast.And):
            continue
        for test in tests:
            match test:
                case ast.Compare(
                    left=ast.Attribute(value=ast.Name(id=tensor.id) as checked, attr="ndim")
                    | ast.Call(func=ast.Attribute(value=ast.Name(id=tensor.id) as checked, attr="dim")),
                    ops=[ast.Eq()],
                    comparators=[ast.Constant(value=int(rank))],
                ) if model.dataflow.definitions(checked) == bound:
                    return rank
    return None


def single_dimensions(tensor: ast.expr, rank: int, model: SemanticModel, depth: int = _DEPTH) -> set[int]:
    """Return the dimensions of a tensor that surely have size 1."""
    match tensor:
        case ast.Name() if depth:
            definitions = model.dataflow.definitions(tensor)
            value = definitions[0].value if len(definitions) == 1 else None
            targets = model.names.targets(value) if value is not None else []
            if value is not None and any(
                isinstance(target, ast.Name) and target.id == tensor.id for target in targets
            ):
                return single_dimensions(value, rank, model, depth - 1)
        case ast.Call(func=ast.Attribute(attr="unsqueeze"), args=[*_, place]):
            return {dimension for dimension in [constant(place, rank)] if dimension is not None}
        case ast.Call(func=ast.Attribute(attr="view" | "reshape"), args=sizes) if len(sizes) == rank:
            return {index for index, size in enumerate(sizes) if is_one(size)}
        case ast.Call(func=ast.Attribute(), keywords=keywords, args=args):
            given = {keyword.arg: keyword.value for keyword in keywords}
            kept = given.get("keepdim")
            along = given.get("dim") or (args[0] if len(args) == 1 else None)
            if isinstance(kept, ast.Constant) and kept.value is True and along is not None:
                return {dimension for dimension in [constant(along, rank)] if dimension is not None}
        case ast.Subscript(slice=index):
            return new_dimensions(index, rank)
    return set()


def new_dimensions(index: ast.expr, rank: int) -> set[int]:
    """Return the dimensions that an index adds: those of `None` in `x[:, None]`."""
    items = index.elts if isinstance(index, ast.Tuple) else [index]
    found: set[int] = set()
    place = 0
    for number, item in enumerate(items):
        match item:
            case ast.Constant(value=None):
                found.add(place)
            case ast.Slice():
                pass
            case ast.Constant(value=value) if value is ...:
                place = rank - (len(items) - number)
            case _:
                return set()
        place += 1
    return found


def constant(expression: ast.expr, rank: int) -> int | None:
    """Return a literal dimension, counted from the first."""
    match expression:
        case ast.Constant(value=int(value)):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            return rank - value
    return None


def uses_of(copies: ast.Call, model: SemanticModel, depth: int) -> list[Use]:
    """Return the uses that read copies, also through views of them; empty if they are not only read."""
    found: list[Use] = []
    for use in model.dataflow.uses(copies):
        match use.kind, use.at:
            case (UseKind.METHOD, ast.Call(func=ast.Attribute(attr=method)) as view) if method in _VIEWS:
                through = uses_of(view, model, depth - 1) if depth > 1 else []
                if not through:
                    return []
                found += through
            case _ if not is_read(use, model):
                return []
            case (UseKind.ATTRIBUTE, _):
                pass
            case _:
                found.append(use)
    return found


def is_read(use: Use, model: SemanticModel) -> bool:
    """Whether a use only reads the elements."""
    if use.cause is not None:
        return False
    match use.kind, use.at:
        case (UseKind.OPERAND, ast.BinOp(op=ast.MatMult())):
            return False
        case (UseKind.OPERAND | UseKind.COMPARED, _):
            return True
        case (UseKind.ATTRIBUTE, ast.Attribute(attr=attribute, ctx=ast.Load())):
            return attribute in ("shape", "device", "dtype", "ndim")
        case (UseKind.METHOD, ast.Call(func=ast.Attribute(attr=method))):
            return method in models.having(_READS | _MEASURES, TypeTag.TENSOR)
        case (UseKind.ELEMENT, (ast.List() | ast.Tuple()) as display):
            join = model.parent(display)
            joins = models.having(Trait.JOINS, "torch")
            return isinstance(join, ast.Call) and model.names.qualified(join.func) in joins
        case (UseKind.ARGUMENT, ast.Call(func=called)):
            path = model.names.qualified(called) or ""
            if path:
                return path in models.having(_READS, "torch") or path in _LOSSES
            if not isinstance(called, ast.Attribute):
                return False
            is_method = model.types.type_of(called.value).tag is TypeTag.TENSOR
            return is_method and called.attr in models.having(_TAKES, TypeTag.TENSOR)
    return False


def build_fix(call: ast.Call, sizes: list[str], model: SemanticModel) -> Fix | None:
    """Read the same elements several times."""
    if not isinstance(call.func, ast.Attribute):
        return None
    text = f"{model.edit.code(call.func.value)}.expand({', '.join(sizes)})"
    reason = "the view shares memory with the tensor, neither of which may be written to in place"
    return Fix("Expand without a copy", Applicability.UNSAFE, (model.edit.replace(call, text),), reason)
