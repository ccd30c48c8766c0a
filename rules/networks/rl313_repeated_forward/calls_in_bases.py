"""Methods of a base class in another file that call two methods of `self` one after the other: the losses of
one batch.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rlint.rule import CallSite, FunctionSummary, SemanticModel, regex

_TRAINS = regex(r"step|backward|updat|train|learn|optimi|load|sync|copy")


def calls_in_bases(
    cls: ast.ClassDef, model: SemanticModel
) -> Iterator[tuple[FunctionSummary, CallSite, CallSite]]:
    """Yield the methods that a class inherits from a base in another file, each with two calls of methods of
    `self` between which nothing trains.
    """
    owner = model.module.classes.get(model.syntax.qualname(cls))
    for base in model.index.ancestry(owner) if owner is not None else ():
        if isinstance(base, str) or base.module == model.module.module:
            continue
        for name in base.methods:
            caller = model.index.method(base, name)
            if caller is not None and caller.is_method:
                yield from ((caller, *pair) for pair in _pairs(caller, model))


def _pairs(caller: FunctionSummary, model: SemanticModel) -> Iterator[tuple[CallSite, CallSite]]:
    """Yield the pairs of unconditional calls of methods of `self`, without training in between."""
    sites = sorted(caller.calls, key=lambda site: site.line)
    for place, first in enumerate(sites):
        if not _is_plain(first):
            continue
        for second in sites[place + 1 :]:
            if _is_plain(second) and second.method != first.method:
                yield first, second
            if _TRAINS.search(second.method or second.path) or any(
                each.updates or model.nn.learns(each)
                for each in model.index.callables(second.path, caller.module)
            ):
                break


def _is_plain(site: CallSite) -> bool:
    return site.receiver == "self" and bool(site.names) and not site.guards and site.loop == -1
