"""Where a constant tensor can be built once: before a loop, in the constructor, in the module."""

from __future__ import annotations

import ast

from rlint.frozen import frozen
from rlint.models.kind import Tag
from rlint.rule import Heat
from rlint.rules.networks.rl315_recomputed_constant.constant import Constant
from rlint.semantics.frequency.loops import AnyLoop
from rlint.semantics.frequency.trip_count import over_components, passes
from rlint.semantics.model import Site
from rlint.syntax.syntax_index import FUNCTIONS
from rlint.syntax.walk import below

_FEW_PASSES = 2


@frozen
class Home:
    """Where a constant is built: "loop" (before `loop`), "object" (in `__init__`), "network" (as a buffer)
    or "module".
    """

    where: str
    loop: AnyLoop | None = None


def home_of(found: Constant, site: Site) -> Home | None:
    """Where a constant can be built so that it is built less often; None where there is no such place."""
    loop = _outermost(found, site)
    if found.names:
        return Home("loop", loop) if loop is not None else None
    function = site.function(found.node)
    often = function is not None and site.heat_of(function.body[0]).level is Heat.HOT
    if not often:
        return Home("loop", loop) if loop is not None else None
    cls = site.class_of(found.node)
    if cls is not None and _is_made_per_step(cls, site):
        return None
    if cls is None or (not found.settings and not found.devices and _takes_no_self(found, site)):
        return Home("module")
    tensor = site.kind_of(found.node).tag is Tag.TENSOR
    summary = site.module.classes.get(site.tree.qualname(cls))
    network = summary is not None and site.index.class_kind(summary).tag is Tag.MODULE
    return Home("network" if network and tensor else "object")


def _takes_no_self(found: Constant, site: Site) -> bool:
    function = site.function(found.node)
    if function is None or not function.args.args:
        return True
    uses = site.reads(function.args.args[0].arg, site.tree.scopes[function])
    return not any(site.is_self(use) for use in uses)


def _is_made_per_step(cls: ast.ClassDef, site: Site) -> bool:
    """Distributions are."""
    summary = site.module.classes.get(site.tree.qualname(cls))
    bases = site.index.ancestry(summary) if summary is not None else []
    return any(isinstance(base, str) and base.startswith("torch.distributions.") for base in bases)


def _outermost(found: Constant, site: Site) -> AnyLoop | None:
    """The outermost loop of the function that can be left, where the expression runs in each pass."""
    outermost = None
    child: ast.AST = found.node
    for node in site.ancestors(found.node):
        if isinstance(node, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
            break
        if isinstance(node, (ast.If, ast.IfExp, ast.Try, ast.BoolOp, ast.Match)) and child is not getattr(
            node, "test", None
        ):
            break
        if isinstance(node, (ast.For, ast.While, ast.ListComp)) and node in site.loops(found.node):
            if not _stays(found, node, site):
                break
            outermost = node if _is_long(node, site) else outermost
        child = node
    return outermost


def _is_long(loop: AnyLoop, site: Site) -> bool:
    count = passes(loop, site)
    return not over_components(loop, site) and (count is None or count > _FEW_PASSES)


def _stays(found: Constant, loop: AnyLoop, site: Site) -> bool:
    """Is nothing that the expression reads bound or set in the loop?"""
    inside = set(below(loop))
    names = [*found.names, *(name for device in found.devices for name in _names_in(device))]
    if any(binding.node in inside for name in names for binding in site.definitions(name)):
        return False
    return not any(
        use in inside and not isinstance(use.ctx, ast.Load)
        for attribute in found.loose
        for use in site.attribute_uses(attribute.attr)
    )


def _names_in(expression: ast.expr) -> list[ast.Name]:
    return [node for node in below(expression) if isinstance(node, ast.Name)]
