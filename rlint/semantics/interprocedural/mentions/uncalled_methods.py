"""Methods that nothing in a project calls."""

from __future__ import annotations

from rlint import models
from rlint.models import vocabulary
from rlint.models.value_type import TypeTag
from rlint.semantics.interprocedural.call_graph import CallGraph
from rlint.semantics.interprocedural.mentions.method_mentions import MethodMentions
from rlint.semantics.interprocedural.mentions.reached_definitions import ReachedDefinitions
from rlint.semantics.interprocedural.mentions.unused_classes import UnusedClasses
from rlint.semantics.interprocedural.summary import FunctionSummary

_NETWORK = "torch.nn."
_OF_NETWORKS = models.methods_of(TypeTag.MODULE) | {"forward"}
"""Methods that PyTorch calls, or that replace one of its own."""
_DEPTH = 4
"""Maximum number of methods that only call one another."""


class UncalledMethods:
    """The methods that are left over in a program: `old_train` beside `train`."""

    def __init__(self, graph: CallGraph, unused: UnusedClasses, reached: ReachedDefinitions) -> None:
        self._index, self._unused, self._reached = graph.index, unused, reached
        self._mentions = MethodMentions(graph, reached)
        self._known: dict[tuple[FunctionSummary, int], bool] = {}

    def include(self, method: FunctionSummary, depth: int = _DEPTH) -> bool:
        """Whether no code calls a method but tests and code that is left over itself, while scripts use its
        class or train without it. False if a library may call it, if other programs may import the class, or
        if code looks up names known only at run time.
        """
        key = method, depth
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._is_left_over(method, depth)
        return known

    def _is_left_over(self, method: FunctionSummary, depth: int) -> bool:
        name = method.name
        if not method.is_method or method.is_property or name.startswith("__"):
            return False
        cls = self._index.owner_of(method)
        if cls is None or self._unused.reads_configurations:
            return False
        if self._unused.may_be_used_unseen(cls, in_application=self._reached.has_programs):
            return False
        if any(isinstance(base, str) and _may_call(base, name) for base in self._index.ancestry(cls)):
            return False
        is_used = self._reached.includes(cls.module, cls.qualname.partition(".")[0])
        if not (is_used or self._reached.has_programs):
            return False
        callers = self._mentions.callers(method, cls)
        return callers is not None and all(self._never_runs(caller, depth - 1) for caller in callers)

    def _never_runs(self, caller: FunctionSummary, depth: int) -> bool:
        """Whether a function is left over in the program."""
        if depth <= 0:
            return False
        name = caller.qualname.partition(".")[0]
        if name and self._reached.misses(caller.module, name):
            return True
        cls = self._index.owner_of(caller)
        return cls is not None and (self._unused.includes(cls) or self.include(caller, depth))


def _may_call(base: str, method: str) -> bool:
    """Whether a library may call a method of a class derived from one of its own."""
    if base.startswith(_NETWORK):
        return method in _OF_NETWORKS
    return base not in vocabulary.NEUTRAL_BASES
