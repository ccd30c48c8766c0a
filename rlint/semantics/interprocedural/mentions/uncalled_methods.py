"""Methods that nothing in a project calls."""

from __future__ import annotations

from rlint import models
from rlint.models import vocabulary
from rlint.models.value_type import TypeTag
from rlint.semantics.interprocedural.mentions.reached_definitions import ReachedDefinitions
from rlint.semantics.interprocedural.mentions.unused_classes import UnusedClasses
from rlint.semantics.interprocedural.project_index import ProjectIndex
from rlint.semantics.interprocedural.summary import FunctionSummary

_NETWORK = "torch.nn."
_OF_NETWORKS = models.methods_of(TypeTag.MODULE) | {"forward"}
"""Methods that PyTorch calls, or that replace one of its own."""


class UncalledMethods:
    """The methods that are left over in a program: `old_train` beside `train`."""

    def __init__(self, index: ProjectIndex, unused: UnusedClasses, reached: ReachedDefinitions) -> None:
        self._index, self._unused, self._reached = index, unused, reached

    def include(self, method: FunctionSummary) -> bool:
        """Whether no file mentions the name of a method, while scripts use its class or train without it.
        False if a library may call it, if other programs may import the class, or if code looks up names
        known only at run time.
        """
        name = method.name
        if not method.is_method or method.is_property or name.startswith("__"):
            return False
        if self._unused.is_attribute(name) or self._unused.reads_configurations:
            return False
        cls = self._index.owner_of(method)
        if cls is None or self._unused.may_be_used_unseen(cls):
            return False
        if any(isinstance(base, str) and _may_call(base, name) for base in self._index.ancestry(cls)):
            return False
        is_used = self._reached.includes(cls.module, cls.qualname.partition(".")[0])
        return is_used or self._reached.has_programs


def _may_call(base: str, method: str) -> bool:
    """Whether a library may call a method of a class derived from one of its own."""
    if base.startswith(_NETWORK):
        return method in _OF_NETWORKS
    return base not in vocabulary.NEUTRAL_BASES
