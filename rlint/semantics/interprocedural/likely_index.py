"""Likely answers about access paths across files: the project index with likely types."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rlint.models.effect import PURE, Effect
from rlint.models.value_type import UNKNOWN, Type
from rlint.semantics.interprocedural.project_index import ProjectIndex
from rlint.semantics.interprocedural.summary import FunctionSummary
from rlint.semantics.types.likely.choices import assumption, likeliest, promoted, without_choices
from rlint.semantics.types.likely.notes import Notes


class LikelyIndex(ProjectIndex):
    """The index of the same project, in which types are likely. Effects of functions remain sure: only the
    choice of the called function is likely.
    """

    def __init__(self, sure: ProjectIndex) -> None:
        vars(self).update(vars(sure))
        self._sure = sure
        self._paths = {}
        self._settled = {}
        self._settled_callables = {}
        self._effects = {}
        self._depth = 0
        self._unsettled = False
        self._notes = Notes()

    def _judged(self, kind: Type, subject: Callable[[], str]) -> Type:
        found = likeliest(kind, self._decided)
        if found is None:
            return without_choices(kind)
        likely, choice = found
        assumed = choice.kind.assumes or likely.assumes
        return promoted(kind, likely, assumed or (assumption(f"`{subject()}`", kind, likely, choice.place),))

    def _decided(self, kind: Type) -> Type:
        return self.resolve(kind.of, "") or UNKNOWN

    def _callables_of_each(self, paths: Sequence[str], module: str) -> list[FunctionSummary]:
        found: dict[str, FunctionSummary] = {}
        for path in paths:
            found.update((target.path, target) for target in self.callables(path, module))
        return list(found.values())

    def effect_of(self, function: FunctionSummary) -> Effect:
        """Return the sure effect of calling a function of the project."""
        return self._sure.effect_of(function)

    def effect_at(self, path: str, module: str) -> Effect | None:
        """Return the effect of calling the likely target of an access path; None if there is none."""
        known = self._sure.effect_at(path, module)
        if known is not None:
            return known
        targets = self.callables(path, module)
        if not targets:
            return super().effect_at(path, module)
        effect = PURE
        for target in targets:
            effect = effect.joined(self._sure.effect_of(target))
        return effect.through(path.rpartition(".")[2])
