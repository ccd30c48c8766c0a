"""Distractors: the pattern itself in another form, or in another order."""

from __future__ import annotations

import ast
import copy

from properties.adjacent import variables_of
from properties.draft import Draft


def repeat(draft: Draft) -> bool:
    """The statement is repeated."""
    place = draft.place()
    if place is None:
        return False
    place.block.insert(place.index + 1, copy.deepcopy(place.statement))
    return True


def reorder(draft: Draft) -> bool:
    """Two consecutive statements are exchanged."""
    place = draft.place()
    if place is None or len(place.block) < 2:
        return False
    other = place.index + 1 if place.index + 1 < len(place.block) else place.index - 1
    place.block[place.index], place.block[other] = place.block[other], place.block[place.index]
    return True


def drop(draft: Draft) -> bool:
    """A statement near the pattern is missing."""
    place = draft.place()
    if place is None or len(place.block) < 2:
        return False
    others = [index for index in range(len(place.block)) if index != place.index]
    del place.block[draft.rng.choice(others)]
    return True


def vary_constant(draft: Draft) -> bool:
    """A number, string, dtype or keyword is changed."""
    place = draft.place()
    if place is None:
        return False
    root: ast.AST = place.statement if draft.rng.random() < 0.5 else place.function or place.statement
    found = [
        node
        for node in ast.walk(root)
        if isinstance(node, ast.Constant)
        or (isinstance(node, ast.Attribute) and node.attr in _TYPES)
        or (isinstance(node, ast.Call) and node.keywords)
    ]
    if not found:
        return False
    node = draft.rng.choice(found)
    match node:
        case ast.Constant(value=bool() as value):
            node.value = not value
        case ast.Constant(value=int() as value):
            node.value = draft.rng.choice((0, 1, 2, 3, value + 1, -1, 7))
        case ast.Constant(value=float() as value):
            node.value = draft.rng.choice((0.0, 1.0, -value, 2, value / 3))
        case ast.Constant(value=str() as value):
            node.value = draft.rng.choice((value + " ", value[:-1], value.upper()))
        case ast.Attribute():
            node.attr = draft.rng.choice(_TYPES)
        case ast.Call():
            del node.keywords[draft.rng.randrange(len(node.keywords))]
    return True


_TYPES = ("float32", "float64", "float16", "int64", "int32", "uint8", "bool", "long", "float")


def vary_expression(draft: Draft) -> bool:
    """A value is obtained in another way."""
    place = draft.place()
    if place is None:
        return False
    names = [n for n in ast.walk(place.statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
    names = [n for n in names if n.id in variables_of(place)]
    if not names:
        return False
    node = draft.rng.choice(names)
    forms = (
        "passed_on({0})", "({0} if {0} is not None else None)", "copy.copy({0})", "(lambda: {0})()",
        "[{0}][0]", "(held := {0})", "({0}, )[0]", "{0}[:]", "next(one for one in [{0}])",
    )  # fmt: skip
    form = draft.rng.choice(forms)
    draft.use(*(name for name in ("passed_on", "copy") if form.startswith(name)))
    new = ast.parse(form.format(node.id), mode="eval").body
    _Replaced(node, new).visit(place.statement)
    return True


class _Replaced(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self._new if node is self._old else super().generic_visit(node)


def vary_assignment(draft: Draft) -> bool:
    """A value is bound in another way: twice, annotated, in a tuple, by a walrus, by `+=`."""
    place = draft.place()
    if place is None:
        return False
    assigns = [s for s in place.block if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)]
    if isinstance(place.statement, ast.Assign) and place.statement in assigns and draft.rng.random() < 0.6:
        assigns = [place.statement]
    if not assigns:
        return False
    node = draft.rng.choice(assigns)
    index = place.block.index(node)
    target = node.targets[0]
    assert isinstance(target, ast.Name)
    match draft.rng.randrange(5):
        case 0:
            node.targets.append(ast.Name("also", ast.Store()))
            return True
        case 1:
            new: ast.stmt = ast.AnnAssign(target, ast.Name("object", ast.Load()), node.value, 1)
        case 2:
            names = ast.Tuple([target, ast.Name("also", ast.Store())], ast.Store())
            new = ast.Assign([names], ast.Tuple([node.value, ast.Constant(1)], ast.Load()), lineno=1)
        case 3:
            new = ast.Expr(ast.NamedExpr(target, node.value))
        case _:
            draft.use("SEEN")
            new = ast.If(ast.parse("len(SEEN) < 99", mode="eval").body, [node], [])
            place.block[index] = new
            return True
    new.marked = getattr(node, "marked", False)  # type: ignore[attr-defined]
    place.block[index] = new
    return True
