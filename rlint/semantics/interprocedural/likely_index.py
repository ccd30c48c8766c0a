"""Likely answers about access paths across files: the project index with likely types."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rlint.models.effect import PURE, Effect
from rlint.models.value_type import UNKNOWN, Type
from rlint.semantics.effects.outside_reads import OutsideReads
from rlint.semantics.interprocedural.access_paths.function_effects import FunctionEffects
from rlint.semantics.interprocedural.access_paths.path_resolver import PathResolver
from rlint.semantics.interprocedural.project_index import ProjectIndex
from rlint.semantics.interprocedural.summary import FunctionSummary
from rlint.semantics.types.likely.choices import assumption, likeliest, promoted, without_choices


class LikelyIndex(ProjectIndex):
    """The index of the same project, in which types are likely. It shares the parts of the sure index that
    need no likely types.
    """

    def __init__(self, sure: ProjectIndex) -> None:
        vars(self).update(vars(sure))
        self._paths = _LikelyPaths(self._paths)
        self._effects = _LikelyEffects(self._effects, self._paths)
        self._outside_reads = OutsideReads(self)


class _LikelyPaths(PathResolver):
    """Resolves access paths to likely types. What code does to attributes remains sure."""

    def __init__(self, sure: PathResolver) -> None:
        super().__init__(sure.symbols, sure.arguments, sure.replaced)
        self.writes, self.restored = sure.writes, sure.restored
        self.presence, self.weights = sure.presence, sure.weights

    def judged(self, kind: Type, subject: Callable[[], str]) -> Type:
        """Return the likeliest part of what was inferred about a value."""
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


class _LikelyEffects(FunctionEffects):
    """Effects of functions remain sure: only the choice of the called function is likely."""

    def __init__(self, sure: FunctionEffects, paths: PathResolver) -> None:
        super().__init__(paths.symbols, paths, paths.replaced)
        self._sure = sure

    def of_function(self, function: FunctionSummary) -> Effect:
        """Return the sure effect of calling a function of the project."""
        return self._sure.of_function(function)

    def at_path(self, path: str, module: str) -> Effect | None:
        """Return the effect of calling the likely target of an access path; None if there is none."""
        known = self._sure.at_path(path, module)
        if known is not None:
            return known
        targets = self._paths.callables(path, module)
        if not targets:
            return super().at_path(path, module)
        effect = PURE
        for target in targets:
            effect = effect.joined(self._sure.of_function(target))
        return effect.through(path.rpartition(".")[2])
