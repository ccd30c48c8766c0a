"""Resolve access paths across files, to types and to the functions that a call may run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rlint import models
from rlint.models.value_type import UNKNOWN, Type, TypeTag, access_path, alternatives
from rlint.semantics.interprocedural.access_paths.attribute_presence import AttributePresence
from rlint.semantics.interprocedural.access_paths.attribute_types import AttributeTypes
from rlint.semantics.interprocedural.access_paths.passed_arguments import PassedArguments
from rlint.semantics.interprocedural.access_paths.path_steps import CALLED_BY, PathSteps
from rlint.semantics.interprocedural.access_paths.resolution_state import OneOfPaths, ResolutionState
from rlint.semantics.interprocedural.access_paths.return_types import ReturnTypes
from rlint.semantics.interprocedural.access_paths.weight_passing import WeightPassing
from rlint.semantics.interprocedural.external_changes.attribute_writes import AttributeWrites
from rlint.semantics.interprocedural.external_changes.replaced_methods import ReplacedMethods
from rlint.semantics.interprocedural.external_changes.restored_classes import RestoredClasses
from rlint.semantics.interprocedural.summary import ClassSummary, FunctionSummary, ModuleSummary
from rlint.semantics.interprocedural.symbols import DEPTH, Symbol, SymbolTable
from rlint.semantics.types.algebra import known_item
from rlint.semantics.types.likely.choices import marked
from rlint.semantics.types.likely.notes import NOTHING

_DEEPEST = 3
"""Maximum depth at which items of items of a value are resolved."""


class PathResolver:
    """Resolves access paths. Most resolutions depend on no argument, and hold as long as the index does."""

    def __init__(self, symbols: SymbolTable, arguments: PassedArguments, replaced: ReplacedMethods) -> None:
        self.symbols = symbols
        self.arguments = arguments
        self.replaced = replaced
        self._classes = symbols.classes
        self._state = ResolutionState()
        self.writes = AttributeWrites(symbols, self)
        self.restored = RestoredClasses(symbols, self.writes)
        self.presence = AttributePresence(symbols, self.restored)
        self.weights = WeightPassing(symbols, self, self._state)
        self.attributes = AttributeTypes(symbols, self, self._state)
        self.returns = ReturnTypes(symbols, self, self._state, replaced)
        self._steps = PathSteps(symbols, arguments, self, self._state)
        self._types: dict[tuple[str, str], Type] = {}
        self._settled: dict[tuple[str, str], Type] = {}
        self._settled_callables: dict[tuple[str, str], list[FunctionSummary]] = {}

    def forget_unsettled(self) -> None:
        """Drop the results that depend on arguments."""
        self._types.clear()

    def resolve(self, path: str, module: str) -> Type:
        """Return the type at the end of an access path (`buffers.Replay().storage`), or UNKNOWN."""
        if "{" in path:
            return self._resolve_each(alternatives(path), module)
        state = self._state
        key = (path, module)
        known = self._settled.get(key)
        if known is not None:
            if known.caveat is not None:
                state.notes.add(known.caveat)
            return known
        known = self._types.get(key)
        if known is not None or state.depth > DEPTH:
            state.unsettled = True
            known = known if known is not None else UNKNOWN
            if known.caveat is not None:
                state.notes.add(known.caveat)
            return known
        self._types[key] = UNKNOWN
        around, state.unsettled = state.unsettled, False
        noted, state.notes.state = state.notes.state, NOTHING
        state.depth += 1
        try:
            value, _ = self._steps.follow(path, module)
            kind = (
                self._resolve_each(value.paths, module)
                if isinstance(value, OneOfPaths)
                else self.as_type(value)
            )
            if value is None and _is_library_function(path):
                kind = Type(TypeTag.FUNCTION, of=path)
        finally:
            state.depth -= 1
        if kind.caveat is not None or state.notes.state is not NOTHING:
            kind = marked(kind, state.notes.state)
        self._types[key] = kind
        if not state.unsettled:
            self._settled[key] = kind
        state.unsettled |= around
        state.notes.state = noted
        if kind.caveat is not None:
            state.notes.add(kind.caveat)
        return kind

    def judged(self, kind: Type, subject: Callable[[], str]) -> Type:  # noqa: ARG002 - for what is likely
        """Return the accepted part of what was inferred about a value, which a message would call
        `subject`.
        """
        return kind

    def _resolve_each(self, paths: Sequence[str], module: str) -> Type:
        """Return the type that one of several paths resolves to."""
        found: Type | None = None
        for path in self.presence.able(paths, module):
            kind = self.resolve(path, module)
            found = kind if found is None else found.joined(kind)
        if found is None or not found:
            return UNKNOWN if found is None or found.caveat is None else Type(caveat=found.caveat)
        return self.judged(found, lambda: paths[0])

    def resolved(self, kind: Type, module: str, depth: int = _DEEPEST) -> Type:
        """Return the type itself, or the type that its access path resolves to, also for the types of its
        items.
        """
        if not kind and kind.of:
            return self.resolve(kind.of, module) or kind
        if (kind.item is None and not kind.parts) or depth <= 0:
            return kind
        item = self.resolved(kind.item, module, depth - 1) if kind.item is not None else None
        parts = tuple([self.resolved(part, module, depth - 1) for part in kind.parts])
        if item == kind.item and parts == kind.parts:
            return kind
        return kind._replace(item=known_item(item) if item is not None else None, parts=parts)

    def as_type(self, value: Symbol | None) -> Type:
        """Return the type of the value that a symbol stands for; of a definition, that of the definition
        itself.
        """
        if isinstance(value, Type):
            if value.of and value.tag is TypeTag.UNKNOWN:
                if self._state.depth < DEPTH:
                    found = self.resolve(value.of, "")
                    return found if found or value.caveat is None else found._replace(caveat=value.caveat)
                self._state.unsettled = True
            return value
        if isinstance(value, ClassSummary):
            return Type(TypeTag.CLASS, of=value.path)
        if isinstance(value, FunctionSummary):
            return Type(TypeTag.FUNCTION, of=value.path)
        if isinstance(value, ModuleSummary):
            return Type(TypeTag.PYTHON_MODULE, of=value.module)
        return UNKNOWN

    def parameter_kind(self, path: str, module: str, argument: str) -> Type:
        """Return the type that the functions at an access path declare, or show by its uses, for the
        parameter that receives an argument (its position or its name).
        """
        found: Type | None = None
        for target in self.callables(path, module):
            kind = target.parameter_kinds.get(target.parameter_at(argument), UNKNOWN)
            found = kind if found is None else found.joined(kind)
        return found or UNKNOWN

    def possible_callables(self, path: str, module: str) -> list[FunctionSummary]:
        """Return the functions that calling an access path may run, as far as they are known: for a value of
        one of several classes, those of the known classes.
        """
        if "{" not in path:
            targets = self.callables(path, module)
            if len(targets) == 1 or (not targets and "[" not in path):
                return targets
        found: dict[str, FunctionSummary] = {}
        for each in alternatives(path):
            targets = self.callables(each, module)
            if not targets and "[" in each:  # an item of a registry that also contains unknown values
                for held in self.led_to(each, module):
                    found.update((target.path, target) for target in self.callables(held, module))
            found.update((target.path, target) for target in targets)
        return list(found.values())

    def callables(self, path: str, module: str) -> list[FunctionSummary]:
        """Return the functions that calling an access path may run; empty if not all are known."""
        if "{" in path:
            return self._callables_of_each(alternatives(path), module)
        state = self._state
        key = (path, module)
        known = self._settled_callables.get(key)
        if known is not None:
            return known
        if state.depth > DEPTH:
            state.unsettled = True
            return []
        around, state.unsettled = state.unsettled, False
        noted = state.notes.state
        state.depth += 1
        try:
            value, owner = self._steps.follow(path, module)
            found = (
                self._callables_of_each(value.paths, module)
                if isinstance(value, OneOfPaths)
                else self._called_by(value, owner, module)
            )
        finally:
            state.depth -= 1
            state.notes.state = noted
        if not state.unsettled:
            self._settled_callables[key] = found
        state.unsettled |= around
        return found

    def _callables_of_each(self, paths: Sequence[str], module: str) -> list[FunctionSummary]:
        """Return the functions at several paths; empty if those of one path are not known."""
        found: dict[str, FunctionSummary] = {}
        for path in self.presence.able(paths, module):
            targets = self.callables(path, module)
            if not targets:
                return []
            found.update((target.path, target) for target in targets)
        return list(found.values())

    def _called_by(
        self, value: Symbol | None, owner: ClassSummary | None, module: str
    ) -> list[FunctionSummary]:
        """Return the functions that calling a value may run; `owner` is the class that has a method."""
        if isinstance(value, Type):
            if value.of and value.tag is TypeTag.UNKNOWN:
                return self._callables_of_each(alternatives(value.of), module)
            if "{" in value.of:
                return self._callables_of_each(alternatives(access_path(value)), module)
            if value.tag in CALLED_BY:
                cls = self._classes.class_of(value)
                return (
                    self._classes.implementations(cls, self._steps.method_called(value, cls)) if cls else []
                )
            if value.tag in (TypeTag.CLASS, TypeTag.FUNCTION) and value.of:
                value = self.symbols.symbol(value.of, module)
                if isinstance(value, FunctionSummary) and value.is_method:  # bound to an object: `self.step`
                    owner = self._classes.owner_of(value)
        if isinstance(value, ClassSummary):
            made = self._classes.method(value, "__init__")
            return [made] if made is not None else []
        if isinstance(value, FunctionSummary):
            if owner is not None:
                return self._classes.implementations(owner, value.name) or [value]
            return [value]
        return []

    def led_to(self, path: str, module: str) -> Sequence[str]:
        """Return the paths among which a path chooses; empty if it has one meaning."""
        state = self._state
        if state.depth > DEPTH:
            return ()
        noted = state.notes.state
        state.depth += 1
        try:
            value, _ = self._steps.follow(path, module)
        finally:
            state.depth -= 1
            state.notes.state = noted
        if isinstance(value, OneOfPaths):
            return value.paths
        if not isinstance(value, Type) or value.optional:
            return ()
        is_function = value.tag is TypeTag.FUNCTION and bool(value.of)
        return alternatives(access_path(value)) if "{" in value.of or is_function else ()


def _is_library_function(path: str) -> bool:
    """Whether a path names a function of a library, not a class."""
    return path.rpartition(".")[2][:1].islower() and models.callable_fact(path) is not None
