"""Calls that read all items of a list or array to compute one result."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, Trait, TypeTag, array_growth, models

STATISTICS = {
    name: name.rpartition(".")[2]
    for name in (
        models.having(Trait.REDUCES, "numpy")
        - models.having(Trait.GIVES_INDEX | Trait.COMPARES, "numpy")
        - {"numpy.all", "numpy.any"}
        - {"numpy.nanprod", "numpy.prod", "numpy.ptp"}
        | {"numpy.percentile", "numpy.quantile", "numpy.sort", "numpy.unique"}
        | models.having(Trait.SUMMARISES, "torch") - {"torch.norm"}
        | {"torch.max", "torch.median", "torch.min", "torch.quantile"}
        | {"builtins.max", "builtins.min", "builtins.sum"}
        | {"builtins.sorted", "builtins.set"}
        | models.having(Trait.REDUCES, "statistics")
    )
} | {"math.fsum": "sum", "functools.reduce": "reduce", "heapq.nlargest": "max", "heapq.nsmallest": "min"}
"""Functions that read all of their first or second argument, with a description of the result."""
CONVERTS = frozenset(
    f"{module}.{name}"
    for module, names in (
        ("numpy", "array asarray stack concatenate"),
        ("torch", "tensor as_tensor stack cat FloatTensor Tensor"),
        ("pandas", "Series"),
    )
    for name in names.split()
)
METHODS = models.having(Trait.SUMMARISES, TypeTag.TENSOR) - {"norm"} | {"max", "median", "min", "quantile"}
_ELEMENTWISE = models.having(Trait.ELEMENTWISE, "numpy", "torch")
_SECOND = frozenset({"functools.reduce", "heapq.nlargest", "heapq.nsmallest"})
_WITHIN = {"sorted": ast.Subscript, "sort": ast.Subscript, "set": ast.Call}
"""Results that are read as a whole for one number only inside of such an expression: `sorted(x)[-1]`."""


def statistic(call: ast.Call, model: SemanticModel) -> tuple[str, str, ast.expr] | None:
    """Return what a call computes, its text, and the variable or attribute whose items it reads."""
    if isinstance(call.func, ast.Attribute) and model.names.qualified(call.func) is None:
        return _by_method(call, call.func, model)
    qualified = model.names.qualified(call.func) or ""
    what = STATISTICS.get(qualified)
    place = int(qualified in _SECOND)
    if what is None or len(call.args) <= place or not _is_single(call, what, model):
        return None
    if qualified in ("builtins.max", "builtins.min") and len(call.args) > 1:
        return None
    items = _elements(call.args[place], model)
    match items:
        case ast.Call(func=convert, args=[inner, *_]) if model.names.qualified(convert) in CONVERTS:
            items = inner
    looked_at = whole(items, model)
    return (what, model.source.text(call.func), looked_at) if looked_at is not None else None


def _by_method(call: ast.Call, func: ast.Attribute, model: SemanticModel) -> tuple[str, str, ast.expr] | None:
    """Return the statistic of `rows.mean()`, `np.array(scores).mean()` and `wins.count(True)`."""
    method, rows = func.attr, func.value
    if method == "count":
        looked_at = whole(rows, model) if len(call.args) == 1 else None
        is_list = looked_at is not None and model.types.type_of(looked_at).tag is TypeTag.LIST
        return ("count", "count", looked_at) if looked_at is not None and is_list else None
    if method not in METHODS:
        return None
    items: ast.expr | None = None
    match rows:
        case ast.Name():
            items = _converted_to(rows, model)
        case ast.Call(func=convert, args=[inner, *_]) if model.names.qualified(convert) in CONVERTS:
            items = whole(inner, model)
            return (method, f"{method}()", items) if items is not None else None
    if items is None and not isinstance(rows, ast.Call) and model.once(_joins_arrays, model.syntax.module):
        items = whole(rows, model)  # of an array that grows by concatenation
    return (method, f"{model.source.text(rows)}.{method}()", items) if items is not None else None


def _joins_arrays(_: ast.Module, model: SemanticModel) -> bool:
    return array_growth.joins_arrays(model)


def _is_single(call: ast.Call, what: str, model: SemanticModel) -> bool:
    """Whether one number is used of the result: always, except for sorted items and for sets."""
    if what not in _WITHIN:
        return True
    parent = model.parent(call)
    if not isinstance(parent, _WITHIN[what]):
        return False
    if isinstance(parent, ast.Call):
        return model.names.qualified(parent.func) == "builtins.len"
    return isinstance(parent, ast.Subscript) and parent.value is call


def _converted_to(rows: ast.Name, model: SemanticModel) -> ast.expr | None:
    """Return the list whose items a variable holds as an array (`rows = np.array(self.visited)`), if this is
    the first statistic of them.
    """
    definitions = model.dataflow.definitions(rows)
    if len(definitions) != 1 or definitions[0].path:
        return None
    for other in model.names.reads(rows.id, model.names.scope(rows)):
        user = model.parent(other)
        same = isinstance(user, ast.Attribute) and user.attr in METHODS
        earlier = (other.lineno, other.col_offset) < (rows.lineno, rows.col_offset)
        if same and earlier and model.dataflow.definitions(other) == definitions:
            return None
    match definitions[0].value:
        case ast.Call(func=convert, args=[(ast.Attribute() | ast.Name()) as items, *_]) if (
            model.names.qualified(convert) in CONVERTS
        ):
            return whole(items, model)
    return None


def _elements(items: ast.expr, model: SemanticModel) -> ast.expr:
    """Return what a function is applied to element by element: `errors` of `np.abs(errors)`."""
    match items:
        case ast.Call(func=func, args=[inner]) if model.names.qualified(func) in _ELEMENTWISE:
            return inner
    return items


def whole(items: ast.expr, model: SemanticModel) -> ast.expr | None:
    """Return the variable or attribute that is read as a whole: itself, or by a comprehension."""
    match items:
        case ast.Name() | ast.Attribute(value=ast.Name()):
            return items if model.names.qualified(items) is None else None
        case ast.ListComp(generators=[generator]) | ast.GeneratorExp(generators=[generator]):
            return whole(generator.iter, model)
        case ast.Subscript(value=value, slice=ast.Slice(lower=None, upper=None)):
            return whole(value, model)
        case ast.Subscript(
            value=ast.Name() | ast.Attribute(value=ast.Name()), slice=ast.Constant(value=str())
        ):
            return items  # of a dict of lists
        case ast.Call(func=ast.Name(id="list" | "tuple" | "map" | "filter" | "iter"), args=[*_, inner]):
            return whole(inner, model)
    return None
