"""The positions at which code reads the logits of a language model."""

from __future__ import annotations

import ast

from rlint.rule import Enum, SemanticModel, Trait, TypeTag, Use, UseKind, frozen, models, numbers, regex
from rlint.rules.networks._shared.last_positions import is_last

_FIELD = "logits"
_LOSS = "loss"
_FOLLOWED = models.having(Trait.KEEPS_VALUES | Trait.ELEMENTWISE, TypeTag.TENSOR)
_MEASURES = models.having(Trait.MEASURES, TypeTag.TENSOR)
_FORM = models.FORM_ATTRIBUTES
_PER_POSITION = regex(r"^torch\.(nn\.functional\.)?(log_)?softmax$")
NORMALISES = frozenset({"softmax", "log_softmax"})


class KeptPositions(Enum):
    """Which positions a read of logits keeps."""

    LAST = "last"
    SOME = "some"
    """Not the first ones: `logits[:, start:]`."""
    ONE = "one"
    """A position that a variable tells: `logits[:, length - 1]`."""


@frozen
class LogitsRead:
    """One read of logits, by a subscript; `over_words` if it surely keeps the axis of the vocabulary."""

    at: ast.Subscript
    position: KeptPositions
    over_words: bool


class _AllReadError(Exception):
    """The logits of all positions may be read."""


def reads_of_logits(call: ast.Call, model: SemanticModel) -> list[LogitsRead]:
    """Return the reads of the logits of a call of a language model, if none needs those of all positions;
    else an empty list.
    """
    found: list[LogitsRead] = []
    try:
        for use in model.dataflow.uses(call):
            _read_output(use, found, model)
    except _AllReadError:
        return []
    return found


def own_reads(call: ast.Call, model: SemanticModel) -> list[LogitsRead]:
    """Return the same for a network whose whole result is logits."""
    found: list[LogitsRead] = []
    try:
        _read_logits(call, found, model, in_batch=False)
    except _AllReadError:
        return []
    return found


def _read_output(use: Use, found: list[LogitsRead], model: SemanticModel) -> None:
    match use.kind, use.at:
        case (UseKind.ATTRIBUTE, ast.Attribute(attr=name, ctx=ast.Load()) as part):
            if name == _FIELD:
                _read_logits(part, found, model, in_batch=False)
            elif name == _LOSS:
                raise _AllReadError
        case (UseKind.ITEM, ast.Subscript(slice=ast.Constant(value=key), ctx=ast.Load()) as part):
            if key in (_FIELD, 0):
                _read_logits(part, found, model, in_batch=False)
            elif key == _LOSS:
                raise _AllReadError
        case (UseKind.DISCARDED, _):
            pass
        case _:
            raise _AllReadError


def _read_logits(value: ast.expr, found: list[LogitsRead], model: SemanticModel, *, in_batch: bool) -> None:
    """Add the reads of logits; `in_batch` if they are those of one sequence of the batch."""
    for use in model.dataflow.uses(value):
        if use.cause is not None:
            raise _AllReadError
        match use.kind, use.at:
            case (UseKind.ATTRIBUTE, ast.Attribute(attr=name, ctx=ast.Load())) if name in _FORM:
                pass
            case (UseKind.METHOD, ast.Call(func=ast.Attribute(attr=name), args=given) as call):
                if name == "squeeze" and not in_batch and [*map(ast.unparse, given)] == ["0"]:
                    _read_logits(call, found, model, in_batch=True)
                elif name in _FOLLOWED or name in NORMALISES:
                    _read_logits(call, found, model, in_batch=in_batch)
                elif name not in _MEASURES:
                    raise _AllReadError
            case (UseKind.OPERAND, ast.BinOp(left=left, op=ast.Div() | ast.Mult()) as scaled) if (
                left is use.node
            ):
                _read_logits(scaled, found, model, in_batch=in_batch)
            case (UseKind.ARGUMENT, ast.Call(func=func, args=[first, *_]) as call) if first is use.node:
                if not _PER_POSITION.search(model.names.qualified(func) or ""):
                    raise _AllReadError
                _read_logits(call, found, model, in_batch=in_batch)
            case (UseKind.ITEM, ast.Subscript(ctx=ast.Load()) as part):
                _read_item(part, found, model, in_batch=in_batch)
            case (UseKind.DISCARDED, _):
                pass
            case _:
                raise _AllReadError


def _read_item(part: ast.Subscript, found: list[LogitsRead], model: SemanticModel, *, in_batch: bool) -> None:
    axes = list(part.slice.elts) if isinstance(part.slice, ast.Tuple) else [part.slice]
    if not in_batch:
        first = axes.pop(0)
        if isinstance(first, ast.Constant) and first.value is ... and len(axes) == 2:
            pass  # `[..., -1, :]`
        elif not axes:
            if not _is_number(first):
                raise _AllReadError
            _read_logits(part, found, model, in_batch=True)
            return
        elif isinstance(first, ast.Constant) and not isinstance(first.value, int):
            raise _AllReadError
    begins = isinstance(axes[0], ast.Slice) and axes[0].lower is None and axes[0].step is None
    if begins and all(map(_is_whole, axes[1:])):
        _read_logits(part, found, model, in_batch=in_batch)  # `logits[:, :-1, :]`
        return
    position = position_of(axes[0], model)
    if position is None:
        raise _AllReadError
    found.append(LogitsRead(part, position, over_words=in_batch or len(axes) > 1))


def _is_whole(axis: ast.expr) -> bool:
    return isinstance(axis, ast.Slice) and axis.lower is axis.upper is axis.step is None


def _is_number(index: ast.expr) -> bool:
    match index:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int())) | ast.Constant(value=int()):
            return True
    return False


def position_of(axis: ast.expr, model: SemanticModel) -> KeptPositions | None:
    """Return which positions an index keeps; None if it may keep nearly all of them."""
    if is_last(axis):
        return KeptPositions.LAST
    match axis:
        case ast.Slice(lower=ast.expr() as first, step=None):
            number = numbers.number_of(first, model)
            return None if number is not None and number.value in (0, 1) else KeptPositions.SOME
        case ast.UnaryOp(op=ast.USub()):
            return KeptPositions.SOME
        case ast.Name() | ast.BinOp() if model.types.type_of(axis).tag is TypeTag.INT:
            return KeptPositions.ONE
    return None
