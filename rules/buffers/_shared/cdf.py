"""Draws with the same probabilities each time: where these come from, and cumulative sums that can be
kept.
"""

from __future__ import annotations

import ast

from rlint.rule import (
    LOOPS,
    AnyLoop,
    Applicability,
    BindingKind,
    EscapeLevel,
    Fix,
    SemanticModel,
    TypeTag,
    descendants,
)
from rlint.rules.buffers._shared.choice import Draw, can_be_edited

REASON = "`{p}` is no longer validated: it must have one non-negative probability per item"


def stays_the_same(p: ast.expr, draw: Draw, model: SemanticModel) -> bool:
    """Whether these surely are the probabilities of the last draw, too."""
    if model.types.type_of(p).tag in (TypeTag.TENSOR, TypeTag.INT, TypeTag.FLOAT):
        return False
    match p:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return all(isinstance(element, ast.Constant) for element in elements)
        case ast.Name():
            return loop_around(p, draw, model) is not None or is_set_outside(p, draw, model)
        case ast.Attribute(value=ast.Name(id="self")):
            return store_of(p, draw, model) is not None
    return False


def store_of(p: ast.Attribute, draw: Draw, model: SemanticModel) -> ast.stmt | None:
    """Return the one statement of `__init__` that sets the attribute, if no other code changes it."""
    cls = model.class_of(draw.call)
    made = model.method(cls, "__init__") if cls is not None else None
    if made is None or made is model.function(draw.call):
        return None
    found: list[ast.stmt] = []
    for use in model.names.attribute_uses(p.attr):
        if isinstance(use.ctx, ast.Load):
            if model.dataflow.use_of(use).escape_level > EscapeLevel.HANDED:
                return None
        else:
            found.append(model.syntax.statement(use))
    if len(found) != 1 or model.parent(found[0]) is not made:
        return None
    return found[0] if isinstance(found[0], (ast.Assign, ast.AnnAssign)) else None


def is_set_outside(p: ast.Name, draw: Draw, model: SemanticModel) -> bool:
    """Whether the function that draws reads a variable of the code around it, which binds it once, outside
    loops, and never changes it.
    """
    scope = model.names.scope(p).lookup(p.id)
    if scope is None or scope.runner is model.function(draw.call):
        return False
    bound = []
    for use in model.names.uses(p.id, scope):
        if not isinstance(use.ctx, ast.Load):
            bound.append(use)
        elif model.dataflow.use_of(use).escape_level > EscapeLevel.HANDED:
            return False
    match bound:
        case [use]:
            statement = model.syntax.statement(use)
            return isinstance(statement, ast.Assign) and not model.frequency.loops(statement)
    return False


def loop_around(p: ast.Name, draw: Draw, model: SemanticModel) -> AnyLoop | None:
    """Return the outermost loop around the draw in which the probabilities do not change."""
    definitions = model.dataflow.definitions(p)
    if len(definitions) != 1 or model.names.is_captured(p.id, model.names.scope(draw.call).function):
        return None
    (binding,) = definitions
    if (
        binding.kind not in (BindingKind.ASSIGN, BindingKind.PARAMETER)
        or model.function(binding.node) is None
    ):
        return None
    found = None
    for loop in model.frequency.loops(draw.call):
        if binding.statement in descendants(loop):
            break
        found = loop
    if found is None or not isinstance(found, LOOPS):
        return None
    scope = model.names.scope(p).lookup(p.id)
    inside = set(descendants(found))
    for use in model.names.uses(p.id, scope) if scope is not None else ():
        if use in inside and (
            not isinstance(use.ctx, ast.Load) or model.dataflow.use_of(use).escape_level > EscapeLevel.HANDED
        ):
            return None
    return found


def keep_sums(draw: Draw, model: SemanticModel) -> Fix | None:
    """Compute the cumulative sums once, and look numbers up in them."""
    p, call = draw.given["p"], draw.call
    cumsum, float64 = model.names.spelled("numpy.cumsum", call), model.names.spelled("numpy.float64", call)
    if cumsum is None or not isinstance(call.func, ast.Attribute) or not can_be_edited(call, model):
        return None
    where: ast.stmt | None
    if isinstance(p, ast.Attribute):
        where = store_of(p, draw, model)
        kept = f"self.{model.importer.fresh_name(f'{p.attr}_cdf')}"
        insert = model.edit.insert_after
    elif isinstance(p, ast.Name):
        loop = loop_around(p, draw, model)
        where = loop if isinstance(loop, ast.stmt) else None
        kept = model.importer.fresh_local([f"{p.id}_cdf"], call, f"cdf of {p.id}")
        insert = model.edit.insert_before
    else:
        return None
    if where is None:
        return None
    sums = insert(
        where, f"{kept} = {cumsum}({model.source.text(p)}, dtype={float64})", f"{kept} /= {kept}[-1]"
    )
    if sums is None:
        return None
    uniform = "random" if draw.generator else "random_sample"
    count = model.source.text(draw.size) if draw.size is not None else ""
    found = f'{kept}.searchsorted({model.source.text(call.func.value)}.{uniform}({count}), side="right")'
    found = f"int({found})" if draw.size is None else found
    edits = (sums.as_shared(), model.edit.replace(call, found))
    title = f"Sum `{model.source.text(p)}` once with `np.cumsum`, and use `searchsorted`"
    return Fix(title, Applicability.UNSAFE, edits, REASON.format(p=model.source.text(p)))
