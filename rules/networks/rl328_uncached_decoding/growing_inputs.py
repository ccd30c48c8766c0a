"""Sequences that a loop extends by one item per iteration, and the arguments that contain all of one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import (
    LOOPS,
    AnyLoop,
    BindingKind,
    SemanticModel,
    Trait,
    TypeTag,
    array_growth,
    descendants,
    frozen,
    is_in,
    last_name,
    models,
    regex,
)
from rlint.rules.networks._shared.last_positions import is_last

_INSERTS = models.having(Trait.INSERTS, TypeTag.LIST) | models.having(Trait.INSERTS_ALL, TypeTag.LIST)
_KEEPS = models.having(Trait.KEEPS_VALUES | Trait.KEEPS_ORDER, TypeTag.TENSOR)
_MAKES = models.having(Trait.FROM_DATA | Trait.JOINS | Trait.LEGACY, "torch", "numpy")
_TOKENIZES = regex(r"token|encode|(^|_)pad")
_EXTENDS = (ast.Expr, ast.AugAssign, ast.Assign, ast.AnnAssign, ast.NamedExpr)
_DEPTH = 6


@frozen
class Growth:
    """The values that a loop adds to a sequence; `by_place` if it writes them into allocated places."""

    added: tuple[ast.expr, ...]
    by_place: bool = False


def growths_in(loop: AnyLoop, model: SemanticModel) -> dict[str, Growth]:
    """Return what a loop adds to each sequence, by the code of the variable, attribute or item that holds it;
    without those that an iteration replaces by another one.
    """
    found: dict[str, Growth] = {}
    replaced: set[str] = set()
    others: list[ast.Assign] = []
    for node in descendants(loop):
        growths = list(_growth_by(node, model)) if isinstance(node, _EXTENDS) else []
        if isinstance(node, ast.Assign) and not growths:
            others.append(node)
        for key, growth in growths:
            if growth is None:
                replaced.add(key)
            else:
                known = found.get(key)
                added = (*known.added, *growth.added) if known is not None else growth.added
                found[key] = Growth(added, by_place=growth.by_place)
    if not found:
        return {}
    replaced.update(*map(_replaced_by, others))
    return {key: growth for key, growth in found.items() if key not in replaced}


def _growth_by(node: ast.AST, model: SemanticModel) -> Iterator[tuple[str, Growth | None]]:
    """Yield the sequences that a statement extends, with what it adds; None if it replaces one."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=grown, attr=method), args=[*given])):
            if method in _INSERTS and given:
                yield ast.unparse(grown), Growth((given[-1],))
            return
        case ast.AugAssign(target=ast.Name() | ast.Attribute() as grown, op=ast.Add(), value=value):
            yield ast.unparse(grown), Growth((value,))
            return
        case ast.Assign() | ast.AnnAssign() | ast.NamedExpr():
            growth = array_growth.growth_of(node, model)
            if growth is not None:
                key = ast.unparse(growth.target)
                yield key, None if any(map(_drops_first, growth.bounds)) else Growth(growth.new)
                return
    match node:
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name), slice=ast.Tuple())], value=value):
            yield name, Growth((value,), by_place=True)
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.BinOp(left=ast.Name(id=same), op=ast.Add(), right=ast.List() as more),
        ) if same == name:
            yield name, Growth((more,))
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if _joins_rows_of(
            name, call, model
        ):
            yield name, Growth(tuple(_parts(call, model)[1:]))


def _replaced_by(statement: ast.Assign) -> set[str]:
    """Return the variables to which a statement assigns a value that does not contain their own."""
    names = {
        part.id
        for target in statement.targets
        for part in descendants(target)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }
    return names - {part.id for part in descendants(statement.value) if isinstance(part, ast.Name)}


def _drops_first(bounds: ast.Slice) -> bool:
    """Whether a slice drops a fixed number of the first items, so that the sequence does not grow."""
    return isinstance(bounds.lower, ast.Constant) and bounds.lower.value not in (0, None)


def _parts(call: ast.Call, model: SemanticModel) -> tuple[ast.expr, ...]:
    join = array_growth.join_of(call, model)
    return join.parts if join is not None else ()


def _joins_rows_of(name: str, call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call extends some rows of a batch of sequences: `torch.cat([ids[rows], tokens], dim=1)`."""
    match _parts(call, model):
        case (ast.Subscript(value=ast.Name(id=grown), slice=ast.Name()), _, *_):
            return grown == name
    return False


def whole_sequences(value: ast.expr, loop: AnyLoop | None, model: SemanticModel) -> Iterator[ast.expr]:
    """Yield the variables, attributes and items of which an argument contains all items, also through
    variables of the loop, conversions, and cuts to the last ones that fit into a context.
    """
    yield from _whole(value, loop, model, _DEPTH)


def _whole(value: ast.expr, loop: AnyLoop | None, model: SemanticModel, depth: int) -> Iterator[ast.expr]:
    if depth == 0:
        return
    match value:
        case ast.Name():
            yield value
            for binding in model.dataflow.definitions(value):
                is_made = binding.kind in (BindingKind.ASSIGN, BindingKind.WALRUS)
                is_here = loop is None or is_in(binding.statement, loop)
                if is_made and is_here and binding.value is not None and not binding.path:
                    yield from _whole(binding.value, loop, model, depth - 1)
        case ast.Attribute():
            yield value
        case ast.Subscript(value=inner, slice=index):
            yield value
            axes = index.elts if isinstance(index, ast.Tuple) else [index]
            if all(_keeps_items(axis, loop, model) for axis in axes):
                yield from _whole(inner, loop, model, depth - 1)
        case ast.IfExp(body=first, orelse=second) | ast.BinOp(left=first, op=ast.Add(), right=second):
            yield from _whole(first, loop, model, depth - 1)
            yield from _whole(second, loop, model, depth - 1)
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Dict(values=parts):
            for part in parts:
                yield from _whole(part, loop, model, depth - 1)
        case ast.Starred(value=inner):
            yield from _whole(inner, loop, model, depth - 1)
        case ast.Call():
            for part in _converted(value, model):
                yield from _whole(part, loop, model, depth - 1)


def _keeps_items(axis: ast.expr, loop: AnyLoop | None, model: SemanticModel) -> bool:
    """Whether an index keeps all items, or a window of the last ones; not those that are new in an iteration:
    `ids[:, done:t]`, where the loop then sets `done = t`.
    """
    match axis:
        case ast.Slice(lower=ast.Name() as first):
            bindings = model.dataflow.definitions(first)
            return loop is not None and not any(is_in(binding.statement, loop) for binding in bindings)
        case ast.Slice(lower=first):
            is_window = first is None or isinstance(first, (ast.UnaryOp, ast.BinOp, ast.Call))
            return (is_window and not is_last(axis)) or (isinstance(first, ast.Constant) and not first.value)
    return isinstance(axis, ast.Constant) and axis.value in (None, ...)


def _converted(call: ast.Call, model: SemanticModel) -> list[ast.expr]:
    """Return the values of which a call returns all items in another form: as a tensor, on another device."""
    method = last_name(call.func) or ""
    if isinstance(call.func, ast.Attribute) and method in _KEEPS:
        return [call.func.value]
    path = model.names.qualified(call.func) or ""
    if (path in _MAKES or path == "builtins.list" or _TOKENIZES.search(method)) and call.args:
        return list(call.args[:1])
    return []


def inputs_of(call: ast.Call) -> list[tuple[ast.AST, ast.expr]]:
    """Return the arguments of a call, each with its value; also dicts that are unpacked."""
    return [
        *((value, value) for value in call.args),
        *((keyword, keyword.value) for keyword in call.keywords),
    ]


def grown_by(value: ast.expr, grown: dict[str, Growth]) -> Growth | None:
    """Return what a loop adds to a value, or to an item of it."""
    known = grown.get(ast.unparse(value))
    if known is not None or not isinstance(value, ast.Name):
        return known
    return next((growth for key, growth in grown.items() if key.startswith(f"{value.id}[")), None)


def loops_of(node: ast.AST, model: SemanticModel) -> list[AnyLoop]:
    """Return the statements that repeat a node, innermost first."""
    return [loop for loop in model.frequency.loops(node) if isinstance(loop, LOOPS)]
