"""Switches of networks between training and evaluation mode, over the functions that call each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rlint.semantics.interprocedural.call_graph import CallEdge, CallGraph
from rlint.semantics.interprocedural.summary import CallSite, FunctionSummary

_UP = 5
_DOWN = 2


def sets_mode_around(
    function: FunctionSummary, graph: CallGraph, concerns: Callable[[str], bool], *, callers: bool = True
) -> bool:
    """Whether a function may run in another mode than training: it, its callees, its callers or their callees
    call `eval()` or `train(mode)` on an object whose last name `concerns` it. Without `callers`, only it and
    its callees count.
    """
    up = _UP if callers else 0
    above = _reached([function], lambda path: (edge.caller for edge in graph.callers(path)), up)
    return any(concerns(call.receiver) for call in _switches(above, graph))


def trained_before(function: FunctionSummary, holder: str, graph: CallGraph) -> FunctionSummary | None:
    """Return a caller of a function that last switches a network to training mode before it calls the
    function, which knows the network as `holder`: a parameter, or `self`.
    """
    if _switches([function], graph):
        return None
    for edge in graph.callers(function.path):
        if _trains_before(edge, _passed_as(holder, edge), graph):
            return edge.caller
    return None


def _passed_as(holder: str, edge: CallEdge) -> str:
    """Return the last name of what a call passes to a parameter, or calls the method of."""
    if edge.target.has_receiver and edge.target.parameters[:1] == (holder,):
        return edge.site.receiver
    names = (name for place, name in edge.site.names if edge.target.parameter_at(place) == holder)
    return next(names, "")


def _trains_before(edge: CallEdge, network: str, graph: CallGraph) -> bool:
    """Whether `network.train()` surely ran before a call, and no code in between may switch the mode of any
    network.
    """
    caller, site = edge.caller, edge.site
    before = [each for each in caller.calls if each.line < site.line and (is_switch(each) or _trains(each))]
    last = max(before, key=lambda each: each.line, default=None)
    if last is None or not network or not _trains(last) or last.receiver != network:
        return False
    if any(each.site is last and not each.guessed for each in graph.calls(caller.path)):
        return False  # `agent.train()` trains an agent
    around = caller.loops_from(site.loop)
    if not set(last.guards) <= set(site.guards) or last.loop not in (*around, -1):
        return False
    # the next iteration of a loop that does not contain the switch begins in the mode that this one leaves
    again = set(around) - set(caller.loops_from(last.loop))
    if any(is_switch(each) and again & set(caller.loops_from(each.loop)) for each in caller.calls):
        return False
    between = [each.target for each in graph.calls(caller.path) if last.line < each.site.line < site.line]
    return not _switches(between, graph)


def is_switch(site: CallSite) -> bool:
    """Whether a call may switch a network to evaluation mode: `net.eval()`, `net.train(mode)`."""
    name = site.method or site.path.rpartition(".")[2]
    return name == "eval" or (name == "train" and len(site.arguments) == 1)


def _trains(site: CallSite) -> bool:
    return site.method == "train" and not site.arguments and not site.passes


def _switches(functions: Iterable[FunctionSummary], graph: CallGraph) -> list[CallSite]:
    """Return the calls in functions and their callees that may switch the mode of a network."""
    every = _reached(functions, lambda path: (edge.target for edge in graph.calls(path)), _DOWN)
    return [call for one in every for call in one.calls if is_switch(call)]


def _reached(
    start: Iterable[FunctionSummary], step: Callable[[str], Iterable[FunctionSummary]], depth: int
) -> list[FunctionSummary]:
    found = {function.path: function for function in start}
    newest = list(found.values())
    for _ in range(depth):
        newest = [other for function in newest for other in step(function.path) if other.path not in found]
        found.update({function.path: function for function in newest})
    return list(found.values())
