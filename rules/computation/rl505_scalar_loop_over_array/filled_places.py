"""Loops that set single elements of a tensor which one indexed assignment would set."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, Trait, TypeTag, descendants, models, trip_count, variable_names
from rlint.rules.computation.rl505_scalar_loop_over_array.by_item import ItemLoop

_CREATES = models.having(Trait.ALLOCATES | Trait.FILLS | Trait.LIKE, "torch")
_FEW = 3


def filled_places(loop: ast.For, model: SemanticModel) -> ItemLoop | None:
    """Return the writes of `for action in legal: mask[action] = True`, also with conditions and code that
    looks the index up, if nothing but the loop's item determines the place. Elements of NumPy arrays are
    written as fast as a list of indices is converted.
    """
    if loop.orelse or not isinstance(loop.target, (ast.Name, ast.Tuple)):
        return None
    own = {node.id for node in descendants(loop.target) if isinstance(node, ast.Name)}
    stored: list[ast.Subscript] = []
    if not _only_fills(loop.body, own, stored, model) or len(stored) != 1:
        return None
    (target,) = stored
    held = target.value
    if not isinstance(held, ast.Name) or not _is_new(held, model):
        return None
    passes = trip_count.passes(loop, model)
    if passes is not None and passes <= _FEW:
        return None
    text = model.source.text(held)
    return ItemLoop(
        held,
        f"sets single elements of `{text}`, one operation each,",
        f"Collect the indices in a list, and set all elements at once: `{text}[indices] = "
        f"{_value_text(target, model)}`",
        sized=True,
    )


def _only_fills(
    statements: list[ast.stmt], own: set[str], stored: list[ast.Subscript], model: SemanticModel
) -> bool:
    """Whether statements only compute the place of an element from the item, and set it to a constant."""
    for statement in statements:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if not isinstance(value, ast.Constant):
                if not variable_names(value) & own:
                    return False
                own.add(name)
            case ast.Assign(
                targets=[ast.Subscript(value=ast.Name(), slice=place) as target], value=ast.Constant()
            ):
                if isinstance(place, (ast.Slice, ast.Tuple)) or not variable_names(place) & own:
                    return False
                stored.append(target)
            case ast.If(test=test, body=body, orelse=[]):
                if not variable_names(test) & own or not _only_fills(body, own, stored, model):
                    return False
            case ast.Continue() | ast.Pass():
                pass
            case _:
                return False
    return True


def _is_new(held: ast.Name, model: SemanticModel) -> bool:
    """Whether a variable holds a tensor that the same function allocates."""
    if model.types.type_of(held).tag is not TypeTag.TENSOR:
        return False
    made = model.dataflow.definitions(held)
    return bool(made) and all(
        isinstance(each.value, ast.Call) and model.names.qualified(each.value.func) in _CREATES
        for each in made
    )


def _value_text(target: ast.Subscript, model: SemanticModel) -> str:
    statement = model.syntax.statement(target)
    return model.source.text(statement.value) if isinstance(statement, ast.Assign) else "value"
