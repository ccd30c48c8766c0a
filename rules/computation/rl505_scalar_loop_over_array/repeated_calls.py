"""Comprehensions that call a NumPy function for each item of a batch, which takes the whole batch."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, Trait, TypeTag, descendants, models, regex
from rlint.rules.computation.rl505_scalar_loop_over_array.by_item import ItemLoop

_DISTRIBUTIONS = frozenset(
    "beta binomial dirichlet exponential gamma geometric gumbel integers laplace logistic lognormal "
    "multinomial multivariate_normal normal poisson rand randint randn random random_sample standard_normal "
    "triangular uniform".split()
)
_PLACES = frozenset({"numpy.nonzero", "numpy.flatnonzero", "numpy.where", "numpy.argwhere"})
_FROM_DATA = models.having(Trait.FROM_DATA, "numpy") | {"builtins.list"}
_CONVERSIONS = frozenset({"astype", "copy", "flatten", "ravel", "squeeze", "tolist"})
_OF_MANY = regex(
    r"batch|sample|size|transition|candidate|particle|popul|game|episode|trajector|rollout|path|root"
)
"""Names of numbers that usually are large."""
_HELD = frozenset({TypeTag.NDARRAY, TypeTag.LIST, TypeTag.UNKNOWN})


def equal_draws(made: ast.ListComp, model: SemanticModel) -> ItemLoop | None:
    """Handle `[np.random.dirichlet(alpha).astype(np.float32).tolist() for _ in range(batch_size)]`: draws
    from one distribution.
    """
    clause = _only_clause(made, model)
    if clause is None:
        return None
    draw = _unconverted(made.elt, model)
    if not isinstance(draw, ast.Call) or not isinstance(draw.func, ast.Attribute):
        return None
    if draw.func.attr not in _DISTRIBUTIONS or not (
        (model.names.qualified(draw.func) or "").startswith("numpy.random.")
        or model.types.type_of(draw.func.value).tag is TypeTag.RANDOM_GENERATOR
    ):
        return None
    if _names(made.elt) & _names(clause.target) or not _is_invariant(draw):
        return None
    text = model.source.text(draw.func)
    shape = "(n, …)" if draw.func.attr in ("rand", "randn") else "(…, size=(n, …))"
    return ItemLoop(
        draw,
        f"draws from one distribution with a call of `{text}` for each item",
        f"Draw all items in one call: `{text}{shape}`",
    )


def places_by_row(made: ast.ListComp, model: SemanticModel) -> ItemLoop | None:
    """Handle `[np.nonzero(mask[j])[0].tolist() for j in range(batch_size)]`."""
    clause = _only_clause(made, model)
    if clause is None or not isinstance(clause.target, ast.Name):
        return None
    match _unconverted(made.elt, model):
        case ast.Call(
            func=func,
            args=[ast.Subscript(value=ast.Name() | ast.Attribute() as held, slice=ast.Name(id=name))],
        ) if name == clause.target.id:
            pass
        case _:
            return None
    if model.names.qualified(func) not in _PLACES or model.types.type_of(held).tag not in _HELD:
        return None
    text, function = model.source.text(held), model.source.text(func)
    return ItemLoop(
        held,
        f"searches `{text}` row by row",
        f"Search all rows at once, where the places are needed: `rows, columns = {function}({text})`, and "
        "`np.split(columns, np.cumsum(np.bincount(rows, minlength=n))[:-1])`",
    )


def _only_clause(made: ast.ListComp, model: SemanticModel) -> ast.comprehension | None:
    """Return the clause of a comprehension with one item for each number up to one that likely is large."""
    match made.generators:
        case [
            ast.comprehension(
                iter=ast.Call(func=func, args=[count], keywords=[]), ifs=[], is_async=0
            ) as clause
        ] if model.names.qualified(func) == "builtins.range":
            is_large = isinstance(count, ast.Constant) or _OF_MANY.search(model.source.text(count).lower())
            return clause if is_large and not isinstance(count, ast.BinOp) else None
    return None


def _unconverted(value: ast.expr, model: SemanticModel) -> ast.expr:
    """Return what an expression converts: `np.nonzero(x)` for `np.nonzero(x)[0].tolist()`."""
    while True:
        match value:
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if (
                method in _CONVERSIONS and isinstance(inner, (ast.Call, ast.Subscript))
            ):
                value = inner
            case ast.Call(func=func, args=[inner, *_]) if model.names.qualified(func) in _FROM_DATA:
                value = inner
            case ast.Subscript(value=ast.Call() as inner, slice=ast.Constant(value=0)):
                value = inner
            case _:
                return value


def _is_invariant(draw: ast.Call) -> bool:
    """Whether the arguments of a draw call nothing that could return another value each time."""
    arguments = (*draw.args, *(keyword.value for keyword in draw.keywords))
    inside = (node for argument in arguments for node in descendants(argument))
    return not any(
        isinstance(node, ast.NamedExpr) or (isinstance(node, ast.Call) and not _makes_constant(node))
        for node in inside
    )


def _makes_constant(call: ast.Call) -> bool:
    """Whether a call returns equal values each time: `np.ones(n)`, `len(x)`."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name in {"ones", "zeros", "full", "array", "len", "ones_like", "zeros_like", "eye"}


def _names(value: ast.AST) -> set[str]:
    return {node.id for node in descendants(value) if isinstance(node, ast.Name)}
