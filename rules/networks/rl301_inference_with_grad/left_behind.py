"""What a network keeps of a run, for those who ask it afterwards."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from rlint.models.kind import Tag
from rlint.semantics.model import Site
from rlint.semantics.nn.module_graph import OF_EVERY_MODULE


def leaves_something(call: ast.Call, site: Site) -> bool:
    """Does the network keep something of the run, which this file takes from it afterwards?"""
    if site.kind_of(call.func).tag is not Tag.MODULE:
        return is_asked_for_more(call, site)
    anatomy = site.network(call.func)
    if (anatomy.keeps or not anatomy.complete) and is_asked_for_more(call, site):
        return True
    return any(
        isinstance(use.ctx, ast.Load) and not (isinstance(use.value, ast.Name) and use.value.id == "self")
        for attribute in anatomy.keeps
        for use in site.attribute_uses(attribute)
    )


def is_asked_for_more(call: ast.Call, site: Site) -> bool:
    """Is the network asked for something of its own afterwards, which may be what it kept of the run:
    `actor(observation)`, and then `actor.log_prob(action)`?
    """
    match call.func:
        case ast.Name(id=name):
            scope = site.scope(call).lookup(name)
            uses: Sequence[ast.expr] = site.reads(name, scope) if scope is not None else ()
        case ast.Attribute(attr=name):
            uses = site.attribute_uses(name)
        case _:
            return False
    network, function, behind = ast.dump(call.func), site.function(call), site.span(call)[1]
    for use in uses:
        method = site.parent(use)
        if not isinstance(method, ast.Attribute) or method.attr in OF_EVERY_MODULE:
            continue
        asks = isinstance(site.parent(method), ast.Call) and site.span(method)[0] > behind
        if asks and site.function(use) is function and ast.dump(use) == network:
            return True
    return False
