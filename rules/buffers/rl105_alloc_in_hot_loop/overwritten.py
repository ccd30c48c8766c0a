"""Whether a new tensor or array is overwritten as a whole before it is read."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import SemanticModel, Trait, TypeTag, descendants, models, names_bound

_FILLS = models.having(Trait.OVERWRITES, TypeTag.TENSOR) | {"fill"}
_LEAVES = (ast.Break, ast.Continue, ast.Return, ast.Raise, ast.Try)
_MOST = 16
"""Maximum number of items that are assigned one by one."""


def overwritten_first(statement: ast.stmt, name: ast.Name, model: SemanticModel) -> bool:
    """Whether the next statements that mention the variable assign all of its elements."""
    block, index = model.syntax.block(statement)
    mentioning = (later for later in block[index + 1 :] if _mentions(later, name.id))
    shape = _shape_of(statement)
    first = next(mentioning, None)
    if first is None:
        return False
    if _is_whole(first, name.id, model) or _is_item_by_item(first, name.id, shape, model):
        return True
    return _are_all_items(first, mentioning, name.id, shape)


def _mentions(node: ast.AST, name: str) -> bool:
    return any(isinstance(child, ast.Name) and child.id == name for child in descendants(node))


def _shape_of(statement: ast.stmt) -> list[ast.expr]:
    """Return the parts of the size of an allocation; empty if it is not given in parts."""
    match statement:
        case ast.Assign(value=ast.Call() as call) | ast.AnnAssign(value=ast.Call() as call):
            pass
        case _:
            return []
    if isinstance(call.func, ast.Attribute) and call.func.attr.endswith("_like"):
        return []
    match call.args:
        case [ast.Tuple(elts=parts) | ast.List(elts=parts), *_]:
            return list(parts)
        case []:
            return []
    return list(call.args[:1])


# -- at once -----------------------------------------------------------------------------------


def _is_whole(statement: ast.stmt, name: str, model: SemanticModel) -> bool:
    match statement:
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=target), slice=index)], value=value):
            return target == name and _is_everything(index) and not _mentions(value, name)
        case ast.Expr(value=ast.Call() as call):
            pass
        case _:
            return False
    match call.func:
        case ast.Attribute(value=ast.Name(id=target), attr=method) if target == name:
            described = [*call.args, *(keyword.value for keyword in call.keywords)]
            return method in _FILLS and not any(_mentions(part, name) for part in described)
    qualified = model.names.qualified(call.func) or ""
    if not qualified.startswith(("numpy.", "torch.")) or any(k.arg == "where" for k in call.keywords):
        return False
    match call:
        case ast.Call(args=[ast.Name(id=target), *others]) if qualified == "numpy.copyto":
            return target == name and not any(_mentions(other, name) for other in others)
    outs = [keyword.value for keyword in call.keywords if keyword.arg == "out"]
    others = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg != "out")]
    return (
        len(outs) == 1
        and isinstance(outs[0], ast.Name)
        and outs[0].id == name
        and not any(_mentions(other, name) for other in others)
    )


def _is_everything(index: ast.expr) -> bool:
    """Whether an index is `[:]`, `[...]`, `[:, :]`."""
    if isinstance(index, ast.Tuple):
        return bool(index.elts) and all(map(_is_everything, index.elts))
    match index:
        case ast.Constant(value=value):
            return value is ...
        case ast.Slice(lower=None, upper=None, step=None):
            return True
    return False


# -- item by item ------------------------------------------------------------------------------


def _is_item_by_item(statement: ast.stmt, name: str, shape: list[ast.expr], model: SemanticModel) -> bool:
    """Whether a loop assigns all rows: `for i in range(n): x[i] = …` for an `x` of `n` rows, `for i, item in
    enumerate(items): x[i] = …` for one of `len(items)` rows.
    """
    if not isinstance(statement, ast.For) or statement.orelse or not shape:
        return False
    if any(isinstance(node, _LEAVES) for node in descendants(statement)):
        return False
    match statement:
        case ast.For(target=ast.Name(id=index), iter=ast.Call(args=[end], keywords=[]) as counted):
            fits = model.names.qualified(counted.func) == "builtins.range" and ast.dump(end) == ast.dump(
                shape[0]
            )
        case ast.For(
            target=ast.Tuple(elts=[ast.Name(id=index), _]),
            iter=ast.Call(args=[items], keywords=[]) as counted,
        ):
            fits = model.names.qualified(counted.func) == "builtins.enumerate" and _is_length(
                shape[0], items, model
            )
        case _:
            return False
    if not fits or index in _rebound(statement.body):
        return False
    mentioning = [child for child in statement.body if _mentions(child, name)]
    match mentioning:
        case [
            ast.Assign(
                targets=[ast.Subscript(value=ast.Name(id=target), slice=ast.Name(id=used))], value=value
            )
        ]:
            return target == name and used == index and not _mentions(value, name)
    return False


def _rebound(body: list[ast.stmt]) -> set[str]:
    return {name for statement in body for node in descendants(statement) for name in names_bound(node)}


def _is_length(length: ast.expr, items: ast.expr, model: SemanticModel) -> bool:
    match length:
        case ast.Call(func=func, args=[counted], keywords=[]):
            return model.names.qualified(func) == "builtins.len" and ast.dump(counted) == ast.dump(items)
    return False


def _are_all_items(first: ast.stmt, others: Iterator[ast.stmt], name: str, shape: list[ast.expr]) -> bool:
    """Whether statements assign all items: `x[0] = …`, `x[1] = …` for an `x` of two rows."""
    match shape:
        case [ast.Constant(value=int(rows)), *_] if 0 < rows <= _MOST:
            missing = set(range(rows))
        case _:
            return False
    for statement in (first, *others):
        match statement:
            case ast.Assign(
                targets=[ast.Subscript(value=ast.Name(id=target), slice=ast.Constant(value=int(row)))],
                value=value,
            ) if target == name and not _mentions(value, name):
                missing.discard(row)
            case _:
                return False
        if not missing:
            return True
    return False
