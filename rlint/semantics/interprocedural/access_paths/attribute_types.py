"""The types of attributes of objects of the project's classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlint import models
from rlint.models.value_type import UNKNOWN, Caveat, Choice, Type, TypeTag, with_choice
from rlint.semantics.interprocedural.access_paths.resolution_state import ResolutionState
from rlint.semantics.interprocedural.summary import ClassSummary
from rlint.semantics.interprocedural.symbols import SymbolTable
from rlint.semantics.types.algebra import covers

if TYPE_CHECKING:
    from rlint.semantics.interprocedural.access_paths.path_resolver import PathResolver


class AttributeTypes:
    """What attributes hold, joined over the classes of a hierarchy and what other code stores in them."""

    def __init__(self, symbols: SymbolTable, paths: PathResolver, state: ResolutionState) -> None:
        self._symbols = symbols
        self._classes = symbols.classes
        self._paths = paths
        self._state = state
        self._given: dict[str, list[tuple[str, Type, str]]] | None = None
        self._mixins: dict[str, tuple[ClassSummary, ...]] = {}
        self._holding: dict[tuple[str, bool], bool] = {}
        self._holding_known: dict[str, bool] = {}

    def type_of(self, cls: ClassSummary, name: str) -> Type:
        """Return the type of an attribute, joined over the class and its bases, else over its subclasses."""
        for group in (self._classes.ancestry(cls), self._classes.subclasses(cls)):
            found: Type | None = None
            for owner in group:
                if isinstance(owner, ClassSummary) and name in owner.attributes:
                    kind = self._paths.resolved(owner.attributes[name], owner.module)
                    found = kind if found is None else found.joined(kind)
            if found is not None:
                found = found or self._type_without_values(cls, name) or found
                if not found or found.tag is TypeTag.NONE:
                    found = self._with_given(found, cls, name)
                if found.tag is TypeTag.NONE:
                    found = self._with_derived(found, cls, name)
                if (
                    self._paths.restored.is_restored(cls)
                    or self._paths.writes.is_set_from_outside(cls, name)
                    or self._is_set_otherwise_below(cls, name, found)
                    or self._is_set_by_mixins(cls, name)
                ):
                    found = self._state.in_doubt(found)
                return self._paths.judged(found, lambda: f"{cls.qualname}.{name}")
        found = self._with_given(UNKNOWN, cls, name)
        if found.caveat is not None:
            return self._paths.judged(found, lambda: f"{cls.qualname}.{name}")
        return self._inherited(cls, name)

    def _inherited(self, cls: ClassSummary, name: str) -> Type:
        """Return the type of an attribute that a library's class gives to those derived from it: the
        `np_random` of environments.
        """
        if not any(isinstance(base, str) for base in self._classes.ancestry(cls)):
            return UNKNOWN
        return models.attribute_kind(self._classes.class_kind(cls).tag, name)

    def _is_set_by_mixins(self, cls: ClassSummary, name: str) -> bool:
        """Whether an object of a derived class may get an attribute from another base: a mixin that sets it,
        or has a property of its name.
        """
        return any(name in base.attributes or name in base.methods for base in self._mixins_below(cls))

    def _mixins_below(self, cls: ClassSummary) -> tuple[ClassSummary, ...]:
        """Return the classes that classes derived from `cls` have among their bases beside it, its ancestors
        and descendants.
        """
        known = self._mixins.get(cls.path)
        if known is None:
            # a derived class with a single base inherits from nothing else than that base does
            mixing = [derived for derived in self._classes.subclasses(cls) if len(derived.bases) > 1]
            own = self._classes.family(cls) if mixing else frozenset()
            known = self._mixins[cls.path] = tuple(
                {
                    base.path: base
                    for derived in mixing
                    for base in self._classes.ancestry(derived)
                    if isinstance(base, ClassSummary) and base.path not in own
                }.values()
            )
        return known

    def _with_derived(self, none: Type, cls: ClassSummary, name: str) -> Type:
        """Return the type of an attribute that its class only sets to None, as a placeholder for what the
        constructors of derived classes store there. An object of the class itself may keep None.
        """
        stored: Type | None = None
        for derived in self._classes.subclasses(cls):
            if name in derived.attributes:
                kind = self._paths.resolved(derived.attributes[name], derived.module)
                if kind.tag is not TypeTag.NONE:
                    stored = kind if stored is None else stored.joined(kind)
        return self._state.in_doubt(none.joined(stored)) if stored else none

    def _with_given(self, found: Type, cls: ClassSummary, name: str) -> Type:
        """Return the type of an attribute that its class does not assign, or only assigns None: the type that
        code outside of the class stores there. Other code may store other values, so the type is doubtful.
        """
        given: Type | None = None
        for path, kind, module in self._values_given(name):
            owner = self._classes.class_of(self._paths.resolve(path, module))
            if owner is not None and (
                owner is cls or cls in self._classes.ancestry(owner) or owner in self._classes.ancestry(cls)
            ):
                held = self._paths.resolved(kind, module)
                given = held if given is None else given.joined(held)
        if given is None:
            return found
        if found.tag is TypeTag.NONE:
            return self._state.in_doubt(found.joined(given))
        if (
            found.of
            or found.caveat is not None
            or any(
                isinstance(each, ClassSummary) and name in each.attributes
                for each in self._classes.ancestry(cls)
            )
        ):
            return with_choice(found, Choice(given)) if given else found
        return self._state.in_doubt(given)

    def _values_given(self, attribute: str) -> list[tuple[str, Type, str]]:
        """Return what code outside of classes stores in attributes of this name: the access path of the
        object, the type of the value, and the module, without tests.
        """
        if self._given is None:
            self._given = {}
            for module in self._symbols.modules.values():
                for path, name, kind in () if module.is_test else module.given:
                    self._given.setdefault(name, []).append((path, kind, module.module))
        return self._given.get(attribute, [])

    def _is_set_otherwise_below(self, cls: ClassSummary, name: str, found: Type) -> bool:
        """Whether a derived class stores another type in the attribute."""
        return any(
            name in below.attributes
            and not covers(found, self._paths.resolved(below.attributes[name], below.module))
            for below in self._classes.subclasses(cls)
            if below.module != cls.module  # assignments in the same file are joined with the class's type
        )

    def _type_without_values(self, cls: ClassSummary, name: str) -> Type:
        """Return an attribute's type from its annotation or parameters, if the stored values do not determine
        it.
        """
        family = [each for each in self._classes.ancestry(cls) if isinstance(each, ClassSummary)]
        for owner in family:
            declared = self._paths.resolved(owner.declared.get(name, UNKNOWN), owner.module)
            if declared:
                return declared
        is_trained = any(
            name in owner.trained or self._paths.weights.is_passed(owner, name) for owner in family
        )
        # results of an unknown library may have parameters, too: no safe fix may depend on this
        inferred = Type(TypeTag.MODULE, caveat=Caveat(doubtful=True))
        return inferred if is_trained and self._paths.weights.only_networks_have_parameters else UNKNOWN

    def holds_networks(self, name: str, *, in_networks: bool) -> bool:
        """Whether objects of the project, or only its networks, always hold networks in attributes of this
        name.
        """
        known = self._holding.get((name, in_networks))
        if known is None:
            kinds = [
                self.type_of(cls, name)
                for module in self._symbols.modules.values()
                for cls in (() if module.is_test else module.classes.values())
                if name in cls.attributes
                and (not in_networks or self._classes.class_kind(cls).tag is TypeTag.MODULE)
            ]
            known = bool(kinds) and all(kind.tag is TypeTag.MODULE for kind in kinds)
            self._holding[name, in_networks] = known
        return known

    def holds_only_networks(self, name: str) -> bool:
        """Whether attributes of this name hold networks in all classes of the project where their type is
        known, and in at least one.
        """
        known = self._holding_known.get(name)
        if known is None:
            kinds = [
                kind
                for module in self._symbols.modules.values()
                for cls in (() if module.is_test else module.classes.values())
                if name in cls.attributes and (kind := self.type_of(cls, name))
            ]
            known = bool(kinds) and all(kind.tag in (TypeTag.MODULE, TypeTag.NONE) for kind in kinds)
            known = known and any(kind.tag is TypeTag.MODULE for kind in kinds)
            self._holding_known[name] = known
        return known
