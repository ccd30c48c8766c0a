"""Draws by the same probabilities each time: where these come from, and the sums that can be kept of them."""

from __future__ import annotations

import ast

from rlint.models.kind import Tag
from rlint.rule import Edit, Fix, Safety
from rlint.rules.buffers._shared.choice import Draw, can_be_edited
from rlint.semantics.dataflow.escape import Fate
from rlint.semantics.frequency.loops import AnyLoop
from rlint.semantics.model import Site
from rlint.syntax.scopes import How
from rlint.syntax.syntax_index import LOOPS
from rlint.syntax.walk import below

REASON = (
    "`{p}` is no longer checked: the numbers in it must be as many as there are to choose from, and positive"
)


def stays_the_same(p: ast.expr, draw: Draw, site: Site) -> bool:
    """Are these surely the probabilities of the last draw, too?"""
    if site.kind_of(p).tag in (Tag.TENSOR, Tag.INT, Tag.FLOAT):
        return False
    match p:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return all(isinstance(element, ast.Constant) for element in elements)
        case ast.Name():
            return loop_around(p, draw, site) is not None
        case ast.Attribute(value=ast.Name(id="self")):
            return store_of(p, draw, site) is not None
    return False


def store_of(p: ast.Attribute, draw: Draw, site: Site) -> ast.stmt | None:
    """The one statement of `__init__` that sets the attribute, where nothing else changes it."""
    cls = site.class_of(draw.call)
    made = site.method(cls, "__init__") if cls is not None else None
    if made is None or made is site.function(draw.call):
        return None
    found: list[ast.stmt] = []
    for use in site.attribute_uses(p.attr):
        if isinstance(use.ctx, ast.Load):
            if site.use_of(use).fate > Fate.HANDED:
                return None
        else:
            found.append(site.tree.statement(use))
    if len(found) != 1 or site.parent(found[0]) is not made:
        return None
    return found[0] if isinstance(found[0], (ast.Assign, ast.AnnAssign)) else None


def loop_around(p: ast.Name, draw: Draw, site: Site) -> AnyLoop | None:
    """The outermost loop around the draw that goes on with the same probabilities."""
    definitions = site.definitions(p)
    if len(definitions) != 1 or site.captured(p.id, site.scope(draw.call).function):
        return None
    (binding,) = definitions
    if binding.how not in (How.ASSIGN, How.PARAMETER) or site.function(binding.node) is None:
        return None
    found = None
    for loop in site.loops(draw.call):
        if binding.statement in below(loop):
            break
        found = loop
    if found is None or not isinstance(found, LOOPS):
        return None
    scope = site.scope(p).lookup(p.id)
    inside = set(below(found))
    for use in site.uses(p.id, scope) if scope is not None else ():
        if use in inside and (not isinstance(use.ctx, ast.Load) or site.use_of(use).fate > Fate.HANDED):
            return None
    return found


def keep_sums(draw: Draw, site: Site) -> Fix | None:
    """Sum the probabilities once, and look numbers up in the sums."""
    p, call = draw.given["p"], draw.call
    cumsum, float64 = site.spelled("numpy.cumsum", call), site.spelled("numpy.float64", call)
    if cumsum is None or not isinstance(call.func, ast.Attribute) or not can_be_edited(call, site):
        return None
    where: ast.stmt | None
    if isinstance(p, ast.Attribute):
        where = store_of(p, draw, site)
        kept = f"self.{site.free_name(f'{p.attr}_cdf')}"
        insert = site.insert_after
    elif isinstance(p, ast.Name):
        loop = loop_around(p, draw, site)
        where = loop if isinstance(loop, ast.stmt) else None
        kept = site.free_local([f"{p.id}_cdf"], call, f"cdf of {p.id}")
        insert = site.insert_before
    else:
        return None
    if where is None or site.has_comment(*site.span(call)):
        return None
    sums = insert(where, f"{kept} = {cumsum}({site.text(p)}, dtype={float64})", f"{kept} /= {kept}[-1]")
    if sums is None:
        return None
    uniform = "random" if draw.generator else "random_sample"
    count = site.text(draw.size) if draw.size is not None else ""
    found = f'{kept}.searchsorted({site.text(call.func.value)}.{uniform}({count}), side="right")'
    found = f"int({found})" if draw.size is None else found
    edits = (Edit(sums.start, sums.end, sums.text, shared=True), site.replace(call, found))
    title = f"Sum `{site.text(p)}` once, and search the sums"
    return Fix(title, Safety.UNSAFE, edits, REASON.format(p=site.text(p)))
