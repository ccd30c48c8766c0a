"""Places that may call a method, judging by its name and by the types of receivers."""

from __future__ import annotations

from collections.abc import Iterator

from rlint.models.value_type import INSTANCES, Type
from rlint.semantics.interprocedural.call_graph import CallGraph
from rlint.semantics.interprocedural.mentions.definition_uses import ANY_MODULE
from rlint.semantics.interprocedural.mentions.reached_definitions import ReachedDefinitions
from rlint.semantics.interprocedural.summary import CallSite, ClassSummary, FunctionSummary, ModuleSummary


class MethodMentions:
    """The calls that may run the methods of a project, and the other places that read attributes of their
    names, without tests.
    """

    def __init__(self, graph: CallGraph, reached: ReachedDefinitions) -> None:
        self._graph, self._index, self._reached = graph, graph.index, reached
        self._files = [file for file in graph.index.every_module() if not file.is_test]
        self._separates_programs = not any(
            ANY_MODULE in uses for file in self._files for uses in file.definition_uses.values()
        )

    def callers(self, method: FunctionSummary, cls: ClassSummary) -> Iterator[FunctionSummary] | None:
        """Return the functions that may call a method of a class themselves: whose calls of its name are not
        surely those of other objects. None if a file may also pass it on as a value, or look it up by name.
        """
        files = [file for file in self._files if method.name in file.attributes_read]
        files = [file for file in files if self._may_hold(file, cls)]
        if any(method.name not in file.attributes_only_called for file in files):
            return None
        return self._callers(method, cls, files)

    def _callers(
        self, method: FunctionSummary, cls: ClassSummary, files: list[ModuleSummary]
    ) -> Iterator[FunctionSummary]:
        name, ending = method.name, f".{method.name}"
        known = {id(edge.site) for edge in self._graph.callers(method.path)}
        for file in files:
            for function in file.functions.values():
                if function is not method and any(
                    id(site) in known or self._may_run(site, method, cls, file)
                    for site in function.calls
                    if site.method == name or site.path.endswith(ending)
                ):
                    yield function

    def _may_hold(self, file: ModuleSummary, cls: ClassSummary) -> bool:
        """Whether code of a file may have objects of a class. Not if it is part of another program: one that
        scripts run, and that shares no import with the program of the class.
        """
        is_same = self._graph.program(file.module) == self._graph.program(cls.module)
        if is_same or not self._separates_programs or not self._reached.loads(file.module):
            return True
        parts = frozenset(cls.module.split("."))
        targets = (*file.imports.values(), *file.star_imports)
        return any(
            not parts.isdisjoint(target.split(".")) and not self._graph.imported(target, file.module)
            for target in targets
        )

    def _may_run(
        self, site: CallSite, method: FunctionSummary, cls: ClassSummary, file: ModuleSummary
    ) -> bool:
        """Whether a call of the name of a method may run it."""
        if site.method and not _fits(site, method):
            return False
        if not site.path:
            return True
        targets = self._index.callables(site.path, file.module)
        if targets:
            return method in targets
        owner = site.path.rpartition(".")[0]
        kind = self._index.resolve(owner, file.module)
        if kind:
            return self._may_be(kind, cls)
        is_of_library = not site.method and not self._graph.imported(owner, file.module)
        return not is_of_library or not frozenset(cls.module.split(".")).isdisjoint(owner.split("."))

    def _may_be(self, kind: Type, cls: ClassSummary) -> bool:
        """Whether a value of a known type may be an object of a class, or the class."""
        if kind.doubtful or kind.short or "{" in kind.of:
            return True
        own = self._index.class_of(kind)
        if own is not None:
            return own.path in self._index.classes.family(cls)
        if kind.tag not in INSTANCES:
            return bool(kind.of) and self._index.symbol(kind.of, "") is cls
        return not kind.of or kind.of in self._index.ancestry(cls)


def _fits(site: CallSite, method: FunctionSummary) -> bool:
    """Whether a call passes enough arguments for a method, and no keyword that it does not have. It may pass
    the object, too.
    """
    if any(place == "*" for place, _ in site.passes):
        return True
    if len(site.arguments) < method.needs:
        return False
    return method.takes_more or all(
        place.isdigit() or place in method.parameters for place, _ in site.arguments
    )
