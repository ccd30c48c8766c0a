"""The hierarchy of the classes of a project: bases, subclasses, and the methods that they inherit."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from rlint import models
from rlint.models.value_type import Type, TypeTag
from rlint.semantics.interprocedural.summary import ClassSummary, FunctionSummary
from rlint.semantics.nn.overriding import Overriding

if TYPE_CHECKING:
    from rlint.semantics.interprocedural.symbols import SymbolTable

MOST_ANCESTORS = 100
"""Maximum number of ancestors of a class that are examined. Examining all of them for each class would take
quadratic time.
"""
_TAGS_OF_BASES = frozenset(
    TypeTag[name]
    for name in "MODULE ENVIRONMENT OPTIMIZER DATASET THREAD PROCESS LOADER REPLAY_BUFFER".split()
)


def is_unknown(base: str) -> bool:
    """Whether a base outside of the project is unknown: a module of a library without tables."""
    return base.partition(".")[0] not in ("abc", "builtins", "enum", "typing") and not models.callable_fact(
        base
    )


class ClassHierarchy:
    """The classes of a project, with their ancestors, descendants and methods."""

    def __init__(self, symbols: SymbolTable) -> None:
        self._symbols = symbols
        self._class_kinds: dict[str, Type] = {}
        self._ancestry: dict[str, tuple[ClassSummary | str, ...]] = {}
        self._methods: defaultdict[str, dict[str, FunctionSummary | None]] = defaultdict(dict)
        self._subclasses: dict[str, list[ClassSummary]] | None = None
        self._implementations: dict[tuple[str, str], list[FunctionSummary]] = {}
        self._overriding = Overriding(symbols)

    def ancestry(self, cls: ClassSummary) -> tuple[ClassSummary | str, ...]:
        """Return the class and its bases, depth first; bases outside the project, and those of too many,
        as dotted names.
        """
        known = self._ancestry.get(cls.path)
        if known is None:
            known = self._ancestry[cls.path] = tuple(self._ancestors(cls))
        return known

    def _ancestors(self, cls: ClassSummary) -> list[ClassSummary | str]:
        found: list[ClassSummary | str] = []
        stack: list[ClassSummary | str] = [cls]
        seen: set[str] = set()
        while stack and len(found) <= MOST_ANCESTORS:
            current = stack.pop()
            name = current if isinstance(current, str) else current.path
            if name in seen:
                continue
            seen.add(name)
            found.append(current)
            if isinstance(current, ClassSummary):
                for base in reversed(current.bases):
                    symbol = self._symbols.symbol(base, current.module)
                    stack.append(symbol if isinstance(symbol, ClassSummary) else models.canonical(base))
        # if there are too many, the remaining ones are treated as outside of the project
        return found + [each if isinstance(each, str) else each.path for each in reversed(stack)]

    def subclasses(self, cls: ClassSummary) -> list[ClassSummary]:
        """Return all direct and indirect subclasses of `cls` in the project."""
        if self._subclasses is None:
            self._subclasses = {}
            for module in self._symbols.modules.values():
                for candidate in module.classes.values():
                    for base in self.ancestry(candidate)[1:]:
                        if isinstance(base, ClassSummary):
                            self._subclasses.setdefault(base.path, []).append(candidate)
        return self._subclasses.get(cls.path, [])

    def related(self, cls: ClassSummary) -> list[ClassSummary]:
        """Return a class, its ancestors and its descendants, as far as the project defines them."""
        every = (*self.ancestry(cls), *self.subclasses(cls))
        return [each for each in every if isinstance(each, ClassSummary)]

    def family(self, cls: ClassSummary) -> frozenset[str]:
        """Return the dotted names of a class, its ancestors and its descendants."""
        return frozenset(each.path for each in self.related(cls))

    def class_kind(self, cls: ClassSummary) -> Type:
        """Return the type of an instance of a class of the project."""
        known = self._class_kinds.get(cls.path)
        if known is None:
            tag = TypeTag.INSTANCE
            for base in self.ancestry(cls):
                if isinstance(base, str):
                    made = models.callable_fact(base)
                    found = made.result.tag if made else None
                    if found in _TAGS_OF_BASES:
                        tag = found
                        break
            if tag is TypeTag.INSTANCE and self._runs_layers(cls):
                tag = TypeTag.MODULE
            known = self._class_kinds[cls.path] = Type(tag, of=cls.path)
        return known

    def _runs_layers(self, cls: ClassSummary) -> bool:
        """Whether a class with an unknown base has torch layers and a `forward` that may run them."""
        ancestry = self.ancestry(cls)
        own = [each for each in ancestry if isinstance(each, ClassSummary)]
        return (
            any("forward" in each.methods for each in own)
            and any(isinstance(each, str) and is_unknown(each) for each in ancestry)
            and any(
                kind.tag is TypeTag.MODULE and kind.of.startswith("torch.nn.")
                for each in own
                for kind in each.attributes.values()
            )
        )

    def class_of(self, kind: Type) -> ClassSummary | None:
        """Return the class of the project for a type."""
        symbol = self._symbols.symbol(kind.of, "") if kind.of and kind.tag is not TypeTag.UNKNOWN else None
        return symbol if isinstance(symbol, ClassSummary) else None

    def method(self, cls: ClassSummary, name: str) -> FunctionSummary | None:
        """Return the method that `cls` has or inherits."""
        known = self._methods[cls.path]
        if name not in known:
            known[name] = next(
                (
                    self._symbols.modules[owner.module].functions.get(f"{owner.qualname}.{name}")
                    for owner in self.ancestry(cls)
                    if isinstance(owner, ClassSummary) and name in owner.methods
                ),
                None,
            )
        return known[name]

    def owner_of(self, method: FunctionSummary) -> ClassSummary | None:
        """Return the class that defines a method; None for other functions."""
        return self._symbols.modules[method.module].classes.get(method.qualname.rpartition(".")[0])

    def implementations(self, cls: ClassSummary, name: str) -> list[FunctionSummary]:
        """Return the method and all overrides in subclasses, or in a class that precedes this one in a
        subclass's bases.
        """
        key = (cls.path, name)
        known = self._implementations.get(key)
        if known is not None:
            return known
        own = self.method(cls, name)
        by_path = {own.path: own} if own is not None else {}
        for subclass in self.subclasses(cls):
            if name in subclass.methods or len(subclass.bases) > 1:
                overriding = self.method(subclass, name)
                if overriding is not None:
                    by_path.setdefault(overriding.path, overriding)
        found = self._implementations[key] = list(by_path.values())
        return found

    def may_override(self, kind: Type, methods: tuple[str, ...]) -> bool:
        """Whether an object of this type may be of a project class that defines one of these methods itself,
        or has an unknown base.
        """
        return self._overriding.may_override(kind, methods)
