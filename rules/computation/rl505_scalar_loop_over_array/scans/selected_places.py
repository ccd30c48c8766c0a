"""Loops over the places that `np.where` found, which read elements of arrays there one by one."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, TypeTag, descendants, variable_names
from rlint.rules.computation.rl505_scalar_loop_over_array.by_item import ItemLoop

_ARRAYS = frozenset({TypeTag.NDARRAY, TypeTag.TENSOR})
_PLACES = frozenset({"numpy.nonzero", "numpy.where", "numpy.argwhere", "torch.nonzero"})
_PAIRS = frozenset({"builtins.zip", "numpy.transpose", "numpy.column_stack", "numpy.stack"})
_FEWEST_TESTS = 2


def selected_places(loop: ast.For, model: SemanticModel) -> ItemLoop | None:
    """Return the reads of `for y, x in zip(*np.where(edges)): if free[y, x]: …`, if each iteration only
    decides by elements at its place where to put it.
    """
    if loop.orelse or not _over_places(loop.iter, model):
        return None
    own = variable_names(loop.target)
    read = [
        node.value
        for statement in loop.body
        for node in descendants(statement)
        if isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Load)
        and variable_names(node.slice) & own
        and model.types.type_of(node.value).tag in _ARRAYS
    ]
    if len(read) < _FEWEST_TESTS or not _only_sorts(loop.body, model):
        return None
    text = model.source.text(read[0])
    return ItemLoop(
        read[0],
        f"reads elements of `{text}` place by place",
        f"Read all of them at once with the index arrays (`{text}[rows, columns]`), and select with masks",
        sized=True,
    )


def _over_places(iterable: ast.expr, model: SemanticModel) -> bool:
    """Whether an iterable yields the places at which a condition holds in an array."""
    match iterable:
        case ast.Call(func=func, args=[numbered], keywords=[]) if (
            model.names.qualified(func) == "builtins.enumerate"
        ):
            return _over_places(numbered, model)
        case ast.Call(func=func, args=args) if model.names.qualified(func) in _PAIRS:
            parts = [part.value if isinstance(part, ast.Starred) else part for part in args]
            return bool(parts) and all(_are_places(part, model) for part in parts)
        case ast.Call(func=func) if (name := model.names.qualified(func)) in _PLACES:
            return name not in ("numpy.where", "numpy.nonzero")
        case ast.Attribute(value=whole, attr="T"):
            return _are_places(whole, model)
    return isinstance(iterable, ast.Name) and _are_places(iterable, model)


def _are_places(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is, or is an item of, what `np.where(condition)` returns."""
    match value:
        case ast.Subscript(value=found, slice=ast.Constant()):
            return _are_places(found, model)
        case ast.Call(func=func, args=[_], keywords=[]):
            return model.names.qualified(func) in _PLACES
        case ast.Name():
            made = model.dataflow.definitions(value)
            return bool(made) and all(
                each.value is not None
                and not isinstance(each.value, ast.Name)
                and _are_places(each.value, model)
                for each in made
            )
    return False


def _only_sorts(statements: list[ast.stmt], model: SemanticModel) -> bool:
    """Whether statements only test values, and put the item into lists or count it."""
    for statement in statements:
        match statement:
            case ast.If(test=test, body=body, orelse=orelse):
                if not model.effects.effect_of(test).quiet:
                    return False
                if not _only_sorts(body, model) or not _only_sorts(orelse, model):
                    return False
            case (
                ast.Expr(value=ast.Call(func=ast.Attribute(attr="append" | "add"), args=[value]))
                | ast.Assign(targets=[ast.Name()], value=value)
                | ast.AugAssign(target=ast.Name(), value=value)
            ):
                if not model.effects.effect_of(value).quiet:
                    return False
            case ast.Continue() | ast.Pass():
                pass
            case _:
                return False
    return True
