"""Switches of networks between training and evaluation mode, over the functions that call each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rlint.semantics.interprocedural.call_graph import CallGraph
from rlint.semantics.interprocedural.summary import CallSite, FunctionSummary

_UP = 5
_DOWN = 2


def sets_mode_around(function: FunctionSummary, graph: CallGraph, *, callers: bool = True) -> bool:
    """Whether a function may run in another mode than training: it, its callees, its callers or their callees
    call `eval()` or `train(mode)` on any object. Without `callers`, only it and its callees count.
    """
    up = _UP if callers else 0
    above = _reached([function], lambda path: (edge.caller for edge in graph.callers(path)), up)
    every = _reached(above, lambda path: (edge.target for edge in graph.calls(path)), _DOWN)
    return any(map(_is_switch, (call for one in every for call in one.calls)))


def _reached(
    start: Iterable[FunctionSummary], step: Callable[[str], Iterable[FunctionSummary]], depth: int
) -> list[FunctionSummary]:
    found = {function.path: function for function in start}
    newest = list(found.values())
    for _ in range(depth):
        newest = [other for function in newest for other in step(function.path) if other.path not in found]
        found.update({function.path: function for function in newest})
    return list(found.values())


def _is_switch(site: CallSite) -> bool:
    name = site.method or site.path.rpartition(".")[2]
    return name == "eval" or (name == "train" and len(site.arguments) == 1)
