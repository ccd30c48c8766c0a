"""Loops that store one draw per iteration, and arrays made of one draw per row."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, Trait, TypeTag, descendants, frozen, models, trip_count
from rlint.rules.computation._shared.scalar_draws import draw_of

_FEW = 5
_ARRAYS = frozenset({TypeTag.NDARRAY, TypeTag.TENSOR})
_JOINS = models.having(Trait.JOINS | Trait.FROM_DATA, "numpy", "torch")
_ROWS = frozenset({"numpy.random.dirichlet", "numpy.random.multinomial"})
"""Functions of which each draw is an array."""
_DRAWS = (
    models.having(Trait.DRAWS_SHAPE | Trait.DRAWS_LIKE, "torch", "numpy.random")
    | models.having(Trait.WHOLE, "numpy.random")
    | {"torch.normal", "numpy.random.normal", "numpy.random.uniform"}
    | _ROWS
)
_CONVERTS = frozenset({"astype", "copy", "tolist"})


@frozen
class RepeatedDraw:
    """A call that draws the same kind of numbers in each iteration."""

    call: ast.Call
    rows: bool


def drawn_in_loop(loop: ast.For, model: SemanticModel) -> RepeatedDraw | None:
    """Return the draw of `for i in ids: positions[i] = torch.rand(12)` or `for _ in range(n):
    drawn.append(np.random.randint(k))`, if the loop does nothing else.
    """
    names = {node.id for node in descendants(loop.target) if isinstance(node, ast.Name)}
    if loop.orelse or len(loop.body) != 1:
        return None
    match loop.body[0]:
        case ast.Assign(targets=[ast.Subscript(value=held, slice=place)], value=ast.Call() as drawn):
            if not _reads(place, names) or model.types.type_of(held).tag not in _ARRAYS:
                return None
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(value=held, attr="append"),
                args=[(ast.Call() | ast.Subscript(value=ast.Call(), slice=ast.Constant(value=0))) as drawn],
            )
        ):
            if not model.effects.is_repeatable(held) or _reads(held, names):
                return None
        case _:
            return None
    if _is_short(loop, model) or _reads(drawn, names):
        return None
    return _draw(drawn, model) or _chosen(drawn, model)


def drawn_rows(made: ast.ListComp, model: SemanticModel) -> RepeatedDraw | None:
    """Return the draw of `np.array([np.random.normal(mean, std) for _ in range(n)])`, whose rows are
    arrays, or of `[np.random.dirichlet(alpha).tolist() for _ in range(n)]`, whose rows surely are.
    """
    match made:
        case ast.ListComp(
            elt=ast.Call() as row, generators=[ast.comprehension(target=ast.Name(id=item), ifs=[])]
        ):
            pass
        case _:
            return None
    if _reads(row, {item}) or _is_short(made, model):
        return None
    drawn = _converted(row)
    if model.names.qualified(drawn.func) in _ROWS:
        return RepeatedDraw(drawn, rows=True)
    call = model.parent(made)
    if not isinstance(call, ast.Call) or call.args[:1] != [made]:
        return None
    if model.names.qualified(call.func) not in _JOINS:
        return None
    found = _draw(drawn, model)
    return found if found is not None and found.rows else None


def _converted(row: ast.Call) -> ast.Call:
    """Return the call whose result another call only converts: `draw().astype(np.float32).tolist()`."""
    match row:
        case ast.Call(func=ast.Attribute(value=ast.Call() as inner, attr=name)) if name in _CONVERTS:
            return _converted(inner)
    return row


def _chosen(drawn: ast.expr, model: SemanticModel) -> RepeatedDraw | None:
    """Return the draw of one number below `n`: `np.random.choice(n)` or `np.random.choice(n, 1)[0]`."""
    match drawn:
        case ast.Call(args=[limit]) as call:
            pass
        case ast.Subscript(value=ast.Call(args=[limit, ast.Constant(value=1)]) as call):
            pass
        case _:
            return None
    if call.keywords or model.names.qualified(call.func) != "numpy.random.choice":
        return None
    return RepeatedDraw(call, rows=False) if model.types.type_of(limit).tag is TypeTag.INT else None


def _draw(call: ast.expr, model: SemanticModel) -> RepeatedDraw | None:
    if not isinstance(call, ast.Call):
        return None
    if model.names.qualified(call.func) in _DRAWS:
        return RepeatedDraw(call, rows=True)
    found = draw_of(call, model)
    return RepeatedDraw(call, rows=False) if found is not None and not found.listed else None


def _is_short(loop: ast.For | ast.ListComp, model: SemanticModel) -> bool:
    count = trip_count.passes(loop, model)
    if count is not None:
        return count < _FEW
    if isinstance(loop, ast.For):
        return trip_count.over_components(loop, model)
    return trip_count.collects_components(loop, model)


def _reads(value: ast.AST, names: set[str]) -> bool:
    return any(isinstance(node, ast.Name) and node.id in names for node in descendants(value))
