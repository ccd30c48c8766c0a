"""Loops for RL304 that blend the tensors of one network into those of another."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import Enum, SemanticModel, Trait, TypeTag, descendants, dump_as_read, frozen, models

SAME_TENSOR = frozenset({"detach", "clone", "contiguous"})
"""Methods that return the same numbers."""
MOVED = models.having(Trait.CASTS | Trait.RELOCATES, TypeTag.TENSOR) - models.having(
    Trait.GIVES_NUMBER, TypeTag.TENSOR
)
"""Methods that return them on another device or in another precision."""

_Loop = ast.For | ast.ListComp | ast.DictComp


@frozen
class Mix:
    """`share + kept`, in either order: `share` is the term `weight * new`, `kept` the term `keep * old`."""

    share: ast.expr
    weight: ast.expr
    new: ast.expr
    keep: ast.expr
    old: ast.expr


@frozen
class BlendStep:
    """`old + weight * (new - old)`, whose second term is `move`; with `sign` "sub", one that subtracts
    `weight * (old - new)`.
    """

    move: ast.expr
    sign: str
    weight: ast.expr
    new: ast.expr
    old: ast.expr


@frozen
class Lerp:
    """`torch.lerp(old, new, weight)`."""

    weight: ast.expr
    new: ast.expr
    old: ast.expr


Mixture = Mix | BlendStep | Lerp


class BlendResult(Enum):
    """Destination of a blend."""

    COPY = "copy"
    """It is copied into the written tensor, with `copy_` or by `[...] =`."""
    DATA = "data"
    """It is assigned to a `.data`."""
    ITEM = "item"
    """It is stored in the dict that contained the old tensor."""
    MADE = "made"
    """It is stored in another dict."""
    SCALED = "scaled"
    """The new tensor's share is added in place to the scaled old one: `old.mul_(keep).add_(weight * new)`."""


@frozen
class Blend:
    """A place in a loop that blends two tensors.

    `named` is the preceding statement that binds the blend to a name, or that scales the old tensor.
    """

    node: ast.expr | ast.stmt
    result: BlendResult
    written: ast.expr
    mixture: Mixture
    named: ast.stmt | None = None


def blends_in(loop: _Loop, model: SemanticModel) -> list[Blend]:
    """Return the blends in the body of a loop, without those of nested loops."""
    match loop:
        case ast.ListComp(elt=element):
            found = [_blend_of(element, loop, model)]
        case ast.DictComp(value=value):
            mixture = _mixture_of_two(value, loop, model)
            found = [Blend(value, BlendResult.MADE, value, mixture)] if mixture is not None else []
        case ast.For(body=body):
            found = [_blend_of(statement, loop, model) for statement in _statements(body)]
    return [blend for blend in found if blend is not None]


def _statements(block: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in block:
        if isinstance(statement, (ast.Expr, ast.Assign, ast.AugAssign)):
            yield statement  # no other blends
        elif isinstance(statement, (ast.If, ast.Try)):
            yield from _statements([*statement.body, *statement.orelse])
        elif isinstance(statement, ast.With):
            yield from _statements(statement.body)


def _blend_of(node: ast.stmt | ast.expr, loop: _Loop, model: SemanticModel) -> Blend | None:
    match node:
        case ast.Expr(value=ast.Call() as call) | (ast.Call() as call):
            match call:
                case ast.Call(func=ast.Attribute(value=tensor, attr="copy_"), args=[value, *_]):
                    return _read(node, BlendResult.COPY, tensor, value, loop, model)
                case ast.Call(func=ast.Attribute(value=tensor, attr="add_"), args=[value], keywords=[]):
                    return _added_in_place(node, tensor, value, loop, model)
        case ast.AugAssign(target=target, op=ast.Add(), value=value):
            return _added_in_place(node, target, value, loop, model)
        case ast.Assign(targets=[ast.Attribute(attr="data") as written], value=value):
            return _read(node, BlendResult.DATA, written, value, loop, model)
        case ast.Assign(targets=[ast.Subscript(value=owner, slice=index) as written], value=value):
            result = BlendResult.COPY if _is_everything(index) else BlendResult.ITEM
            return _read(node, result, owner if result == BlendResult.COPY else written, value, loop, model)
    return None


def _added_in_place(
    node: ast.stmt | ast.expr, written: ast.expr, share: ast.expr, loop: _Loop, model: SemanticModel
) -> Blend | None:
    """Return the blend of `written.mul_(keep).add_(share)`, in one statement or in two."""
    product = _product(share, loop, model)
    if product is None or not isinstance(node, ast.stmt):
        return None
    weight, new = product
    scaling: ast.stmt | None = None
    scaled = _scaled(written)
    if scaled is None:
        block, index = model.syntax.block(node)
        scaling = block[index - 1] if index else None
        scaled = _scaled(scaling.value if isinstance(scaling, ast.Expr) else scaling)
        if scaled is None or root_of(scaled[0]) != root_of(written):
            return None
    old, keep = scaled
    if not is_factor(keep, loop, model) or not follows(old, loop, model):
        return None
    if not root_of(old) or not _is_other(new, root_of(old), loop, model):
        return None
    return Blend(node, BlendResult.SCALED, old, Mix(share, weight, new, keep, old), scaling)


def _scaled(node: ast.AST | None) -> tuple[ast.expr, ast.expr] | None:
    """Return the tensor that is scaled in place, and the factor."""
    match node:
        case ast.Call(func=ast.Attribute(value=tensor, attr="mul_"), args=[factor], keywords=[]):
            return tensor, factor
        case ast.AugAssign(target=tensor, op=ast.Mult(), value=factor):
            return tensor, factor
    return None


def _read(
    node: ast.stmt | ast.expr,
    result: BlendResult,
    written: ast.expr,
    value: ast.expr,
    loop: _Loop,
    model: SemanticModel,
) -> Blend | None:
    named = _named_before(value, model) if isinstance(value, ast.Name) else None
    if named is not None:
        value = named.value
    value = _without_copies(value)
    old = root_of(written) if _may_mix(value) else ""
    if not old or not follows(written, loop, model):
        return None
    mixture = mixture_of(value, old, loop, model)
    if mixture is None and result == BlendResult.ITEM:
        result, mixture = BlendResult.MADE, _mixture_of_two(value, loop, model)
    return Blend(node, result, written, mixture, named) if mixture is not None else None


def _without_copies(value: ast.expr) -> ast.expr:
    """Return a value without calls that copy it: `(tau * new + (1 - tau) * old).clone()`."""
    while (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr in SAME_TENSOR
        and not (value.args or value.keywords)
    ):
        value = value.func.value
    return value


def _may_mix(value: ast.expr) -> bool:
    """Whether a value can be a blend, judging by its outermost part."""
    match value:
        case ast.BinOp(op=op):
            return isinstance(op, (ast.Add, ast.Sub))
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in ("lerp", "add")
    return isinstance(value, ast.Call)


def _mixture_of_two(value: ast.expr, loop: _Loop, model: SemanticModel) -> Mixture | None:
    """Return a mixture of any two tensors of the loop."""
    match value:
        case ast.BinOp(left=left, op=ast.Add()):
            product = _product(left, loop, model)
            return mixture_of(value, root_of(product[1] if product else left), loop, model)
    return None


def _named_before(name: ast.Name, model: SemanticModel) -> ast.Assign | None:
    """Return the directly preceding statement that binds a value to a name which is read only here."""
    block, index = model.syntax.block(model.syntax.statement(name))
    scope = model.names.scope(name).lookup(name.id)
    match block[index - 1] if index else None:
        case ast.Assign(targets=[ast.Name(id=bound)]) as statement if bound == name.id and scope is not None:
            reads = [
                read
                for read in model.names.reads(name.id, scope)
                if any(binding.statement is statement for binding in model.dataflow.definitions(read))
            ]
            return statement if reads == [name] and not model.names.is_captured(name.id, scope) else None
    return None


def mixture_of(value: ast.expr, old: str, loop: _Loop, model: SemanticModel) -> Mixture | None:
    """Return a value as a blend of the tensor `old` (given by its root) and another one of the same loop."""
    match value:
        case ast.Call(func=func, args=[first, second, weight], keywords=[]) if (
            model.names.qualified(func) == "torch.lerp"
        ):
            mixed = root_of(first) == old and _is_other(second, old, loop, model)
            return Lerp(weight, second, first) if mixed and is_factor(weight, loop, model) else None
        case ast.Call(func=ast.Attribute(value=first, attr="lerp"), args=[second, weight], keywords=[]):
            mixed = root_of(first) == old and _is_other(second, old, loop, model)
            return Lerp(weight, second, first) if mixed and is_factor(weight, loop, model) else None
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _added(left, right, old, loop, model) or _added(right, left, old, loop, model)
        case ast.Call(func=ast.Attribute(value=left, attr="add"), args=[right], keywords=[]) if (
            model.names.qualified(value.func) is None
        ):
            return _added(left, right, old, loop, model) or _added(right, left, old, loop, model)
        case ast.BinOp(left=left, op=ast.Sub(), right=right) if root_of(left) == old:
            return _stepped(left, right, "sub", loop, model)
    return None


def _added(
    kept: ast.expr, other: ast.expr, old: str, loop: _Loop, model: SemanticModel
) -> Mix | BlendStep | None:
    if root_of(kept) == old:
        return _stepped(kept, other, "add", loop, model)
    product, share = _product(kept, loop, model), _product(other, loop, model)
    if product is None or share is None:
        return None
    (keep, first), (weight, second) = product, share
    if not old or root_of(first) != old or not _is_other(second, old, loop, model):
        return None
    return Mix(other, weight, second, keep, first)


def _stepped(
    kept: ast.expr, move: ast.expr, sign: str, loop: _Loop, model: SemanticModel
) -> BlendStep | None:
    old = root_of(kept)
    match _product(move, loop, model):
        case (weight, ast.BinOp(left=left, op=ast.Sub(), right=right)):
            new, same = (left, right) if sign == "add" else (right, left)
            if root_of(same) == old and _is_other(new, old, loop, model):
                return BlendStep(move, sign, weight, new, kept)
    return None


def _product(value: ast.expr, loop: _Loop, model: SemanticModel) -> tuple[ast.expr, ast.expr] | None:
    """Return the factor and the tensor of a product."""
    match value:
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            pass
        case ast.Call(func=ast.Attribute(value=left, attr="mul"), args=[right], keywords=[]) if (
            model.names.qualified(value.func) is None
        ):
            pass
        case _:
            return None
    if is_factor(left, loop, model):
        return left, right
    return (right, left) if is_factor(right, loop, model) else None


def is_factor(expression: ast.expr, loop: _Loop, model: SemanticModel) -> bool:
    """Whether an expression may be a number that is the same in all iterations of the loop."""
    match expression:
        case ast.Constant(value=value):
            return isinstance(value, (int, float))
        case ast.UnaryOp(operand=operand):
            return is_factor(operand, loop, model)
        case ast.BinOp(left=left, right=right):
            return is_factor(left, loop, model) and is_factor(right, loop, model)
        case ast.Name() | ast.Attribute() | ast.Subscript(slice=ast.Constant()):
            return bool(root_of(expression)) and not follows(expression, loop, model)
    return False


def _is_other(tensor: ast.expr, old: str, loop: _Loop, model: SemanticModel) -> bool:
    """Whether the tensor is another one than `old` in each iteration."""
    while isinstance(tensor, ast.Call) and isinstance(tensor.func, ast.Attribute):
        if tensor.func.attr not in MOVED:
            break
        tensor = tensor.func.value
    return root_of(tensor) not in ("", old) and follows(tensor, loop, model)


def follows(expression: ast.expr, loop: _Loop, model: SemanticModel) -> bool:
    """Whether an expression consists of names that each iteration of the loop binds."""
    return any(
        binding.statement is loop or loop in model.ancestors(binding.statement)
        for name in descendants(expression)
        if isinstance(name, ast.Name)
        for binding in model.dataflow.definitions(name)
    )


def bare(tensor: ast.expr) -> ast.expr | None:
    """Return the access to a tensor, without calls that return the same numbers; None for other
    expressions.
    """
    while True:
        match tensor:
            case ast.Attribute(value=owner, attr="data"):
                tensor = owner
            case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in SAME_TENSOR:
                tensor = owner
            case ast.Subscript(value=owner, slice=index) if _is_everything(index):
                tensor = owner
            case _:
                return tensor if _is_access(tensor) else None


def root_of(tensor: ast.expr) -> str:
    """Return the identity of the tensor that an access refers to; "" for other expressions. Equal for two
    accesses to the same tensor.
    """
    access = bare(tensor)
    return dump_as_read(access) if access is not None else ""


def _is_everything(index: ast.expr) -> bool:
    """Whether an index is `[:]` or `[...]`."""
    match index:
        case ast.Slice(lower=None, upper=None, step=None):
            return True
    return isinstance(index, ast.Constant) and index.value is ...


def _is_access(expression: ast.expr) -> bool:
    match expression:
        case ast.Name():
            return True
        case ast.Attribute(value=owner):
            return _is_access(owner)
        case ast.Subscript(value=owner, slice=index):
            return (_is_access(owner) or _is_state(owner)) and (
                isinstance(index, ast.Constant) or _is_access(index)
            )
        case ast.Call(func=ast.Attribute(value=owner, attr="get_parameter"), args=[name], keywords=[]):
            return _is_access(owner) and _is_access(name)
    return False


def _is_state(expression: ast.expr) -> bool:
    """Whether a call is `net.state_dict()`."""
    match expression:
        case ast.Call(func=ast.Attribute(value=network, attr="state_dict"), args=[], keywords=[]):
            return _is_access(network)
    return False
