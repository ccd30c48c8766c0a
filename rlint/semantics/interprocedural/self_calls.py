"""The overrides that a call on `self` may run, given that a class may also override the calling method."""

from __future__ import annotations

from rlint.semantics.interprocedural.project_index import ProjectIndex
from rlint.semantics.interprocedural.summary import CallSite, ClassSummary, FunctionSummary


class SelfCalls:
    """Rules out overrides that never run in the calling method. If a class overrides `update` as well as
    `update_actor`, the `self.update_actor()` in the inherited `update` does not run its `update_actor`,
    unless the class calls `super().update()`.
    """

    def __init__(self, index: ProjectIndex) -> None:
        self._index = index
        self._calling_next: dict[tuple[str, str], bool] = {}

    def possible(
        self, caller: FunctionSummary, site: CallSite, targets: list[FunctionSummary]
    ) -> list[FunctionSummary]:
        """Return the methods that a call of `caller` may run."""
        if site.receiver != "self" or len(targets) < 2:
            return targets
        owner = self._index.owner_of(caller)
        if owner is None:
            return targets
        return [target for target in targets if self._may_run(owner, caller.name, target)]

    def _may_run(self, owner: ClassSummary, caller: str, target: FunctionSummary) -> bool:
        """Whether an object that has this target runs the method `caller` of the class `owner`."""
        cls = self._index.owner_of(target)
        if cls is None or cls is owner:
            return True
        having = [
            each
            for each in (cls, *self._index.subclasses(cls))
            if owner in self._index.ancestry(each) and self._index.method(each, target.name) is target
        ]
        return not having or any(self._reaches(each, owner, caller) for each in having)

    def _reaches(self, cls: ClassSummary, owner: ClassSummary, name: str) -> bool:
        """Whether an object of a class may run the method of this name that `owner` defines."""
        for base in self._index.ancestry(cls):
            if base is owner:
                return True
            if isinstance(base, ClassSummary) and name in base.methods and not self._calls_next(base, name):
                return False
        return True

    def _calls_next(self, cls: ClassSummary, name: str) -> bool:
        """Whether a class calls the inherited method of this name: `super().name()`, `Base.name(self)`."""
        key = cls.path, name
        known = self._calling_next.get(key)
        if known is None:
            known = self._calling_next[key] = any(
                site.receiver != "self" and name in (site.method, site.path.rpartition(".")[2])
                for function in self._index.modules[cls.module].functions.values()
                if function.qualname.startswith(f"{cls.qualname}.")
                for site in function.calls
            )
        return known
