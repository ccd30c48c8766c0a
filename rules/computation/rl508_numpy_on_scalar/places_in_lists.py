"""The place of the largest or smallest number in a list that is built for the call."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, TypeTag, last_names, numbers
from rlint.rules.computation.rl508_numpy_on_scalar.scalar_calls import Scalar

_PLACES = {"numpy.argmax": "max", "numpy.argmin": "min"}
"""Functions that return the place of an item, and those that return the item in Python."""
PLACES = last_names(*_PLACES)
_MOST = 8
_TABLES = (TypeTag.UNKNOWN, TypeTag.DICT)
_OPEN = (TypeTag.UNKNOWN, TypeTag.NUMPY_SCALAR)


def place_in_list(call: ast.Call, model: SemanticModel) -> Scalar | None:
    """Handle `np.argmax([q[state, 0], q[state, 1]])` and `np.argmax([q[state, a] for a in range(n)])`."""
    name = _PLACES.get(model.names.qualified(call.func) or "")
    match call:
        case ast.Call(args=[ast.List(elts=elements) | ast.Tuple(elts=elements) as made], keywords=[]) if (
            1 < len(elements) <= _MOST
        ):
            pass
        case ast.Call(args=[ast.ListComp(elt=element) as made], keywords=[]):
            elements = [element]
        case _:
            return None
    if name is None:
        return None
    known = all(numbers.is_number(element, model) for element in elements)
    if not known and not all(_is_looked_up(element, model) for element in elements):
        return None
    what = f"{len(elements)} numbers in a list" if len(elements) > 1 else "a list of numbers"
    assumes = None if known else "the items of the list are numbers"
    return Scalar(call, (made,), f"values.index({name}(values))", None, what=what, assumes=assumes)


def _is_looked_up(element: ast.expr, model: SemanticModel) -> bool:
    """Whether an item of a list is looked up in a table, such as one of action values: `q[state, 0]`."""
    match element:
        case ast.Subscript(value=table, slice=index) if not isinstance(index, ast.Slice):
            is_table = model.types.type_of(table).tag in _TABLES
            return is_table and model.types.type_of(element).tag in _OPEN
    return False
