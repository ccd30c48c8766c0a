"""A random generator that an object keeps for its draws."""

from __future__ import annotations

import ast

from rlint.rule import (
    FUNCTIONS,
    Applicability,
    Fix,
    Function,
    SemanticModel,
    children,
    is_classmethod,
    is_staticmethod,
)
from rlint.rules.buffers._shared.choice import can_be_edited

_NAME = "index_rng"
_REASON = "a seeded run draws other indices, since the generator has its own stream"


def draw_by_own_generator(
    node: ast.expr, count: ast.expr, size: ast.expr, model: SemanticModel, *, cut: bool
) -> Fix | None:
    """Replace an expression by a draw of `size` out of `count`, by a generator that `__init__` creates. `cut`
    says that the draw was the head of a permutation.

    None if there is no `__init__` for it, or a comment would be lost.
    """
    cls, method = model.class_of(node), model.function(node)
    made = model.method(cls, "__init__") if cls is not None else None
    if made is None or method is None or method is made or model.parent(method) is not cls:
        return None
    if is_staticmethod(method) or is_classmethod(method) or _leaves_early(made):
        return None
    receiver, own = _first(method), _first(made)
    if receiver is None or own is None or not can_be_edited(node, model):
        return None
    name = model.importer.fresh_name(_NAME)
    generator = model.names.spelled("numpy.random.default_rng", made.body[-1])
    seed = model.names.spelled("numpy.random.randint", made.body[-1])
    insert = model.edit.insert_after(made.body[-1], f"{own}.{name} = {generator}({seed}(2**31))")
    if insert is None or generator is None or seed is None:
        return None
    wanted = _no_more(size, count, model) if cut else _argument(size, model)
    if wanted is None:
        return None
    draw = f"{receiver}.{name}.choice({_argument(count, model)}, size={wanted}, replace=False)"
    edits = (insert.as_shared(), model.edit.replace(node, draw))
    return Fix("Draw with a `numpy.random.Generator`", Applicability.UNSAFE, edits, _REASON)


def _no_more(size: ast.expr, count: ast.expr, model: SemanticModel) -> str | None:
    """Return the size of a draw, limited to the count: a slice of a permutation is shorter where `choice`
    raises.
    """
    is_builtin = model.names.scope(size).lookup("min") is None
    if not (is_builtin and model.effects.effect_of(size).quiet and model.effects.effect_of(count).quiet):
        return None
    return f"min({_argument(size, model)}, {_argument(count, model)})"


def _first(function: Function) -> str | None:
    parameters = [*function.args.posonlyargs, *function.args.args]
    return parameters[0].arg if parameters else None


def _leaves_early(function: Function) -> bool:
    """Whether a block contains a `return` of the function itself."""
    stack: list[ast.AST] = list(function.body)
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
            stack.extend(children(node))
    return False


def _argument(expression: ast.expr, model: SemanticModel) -> str:
    text = model.edit.parenthesized(expression)
    plain = model.source.text(expression)
    # parentheses are needed around text that cannot stand between commas, or has line breaks
    return text if isinstance(expression, (ast.NamedExpr, ast.Tuple)) or "\n" in plain else plain
