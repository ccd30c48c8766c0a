"""The project index: resolves access paths across files, and the effects of calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache, partial, reduce

from rlint import models
from rlint.frozen import frozen
from rlint.models.effect import PURE, USES_UP, Effect, EffectKind
from rlint.models.parameters import CALLED_AT
from rlint.models.special_methods import IMPLICIT, STORES
from rlint.models.trait import Trait
from rlint.models.value_type import (
    UNKNOWN,
    Caveat,
    Choice,
    Type,
    TypeTag,
    access_path,
    alternatives,
    with_choice,
)
from rlint.regex import regex
from rlint.semantics.effects import indirect_runs
from rlint.semantics.effects.namespace_writes import ANY_MODULE, ANY_NAME, may_be_module
from rlint.semantics.effects.outside_reads import OutsideReads
from rlint.semantics.interprocedural.overwritten_names import OverwrittenNames
from rlint.semantics.interprocedural.summary import ANY_CLASS, ClassSummary, FunctionSummary, ModuleSummary
from rlint.semantics.interprocedural.symbols import (
    DEPTH,
    GETTER,
    LibraryMethod,
    Symbol,
    SymbolTable,
    is_unknown,
)
from rlint.semantics.interprocedural.trampoline import Step, run
from rlint.semantics.types import batches
from rlint.semantics.types.algebra import (
    completed,
    indexed,
    is_immutable,
    known_item,
    parsed_options,
    refines,
)
from rlint.semantics.types.likely.choices import marked
from rlint.semantics.types.likely.notes import NOTHING, Notes
from rlint.semantics.types.results import named_tuples, networks

_STEP = regex(r"\(\)|\[(?:[:?]|-?\d+|'\w+')?\]|@\*?\w+|\.\w+")
_NO_ATTRIBUTE = regex(r"\(\)|\[(?:[:?]|-?\d+|'\w+')?\]|@\*?\w+")
_SET_BY_NAME = frozenset(
    {"_modules", "_parameters", "add_module", "register_module", "register_parameter", "set_submodule"}
    | {"__delattr__", "__setattr__"}
)
"""Attributes and methods by which code replaces parts of a network."""


@frozen
class _OneOf:
    """The results of one of several access paths."""

    paths: tuple[str, ...]


_NAMED_TUPLE = "typing.NamedTuple"
_RETURN_ITSELF = models.having(Trait.RETURNS_SELF, TypeTag.MODULE)
_REPLACED = Effect(EffectKind.UNKNOWN, "is replaced while the program runs")
_MOST_ACCESSORS = 5
"""A property has a getter, a setter and a deleter."""
_MOST_OVERRIDES = 12
_DEEPEST = 3
"""Maximum depth at which items of items of a value are resolved."""
_TENSOR = Choice(Type(TypeTag.TENSOR))
_PLAIN_DATA = frozenset(
    {TypeTag.INT, TypeTag.FLOAT, TypeTag.STR, TypeTag.BYTES, TypeTag.LIST, TypeTag.TUPLE, TypeTag.DICT,
     TypeTag.SET, TypeTag.DEQUE, TypeTag.SLICE, TypeTag.NDARRAY, TypeTag.TENSOR, TypeTag.DTYPE,
     TypeTag.INSTANCE}
)  # fmt: skip
"""Types of values that contradict an annotation with another type."""
_TAKEN_FOR = {
    TypeTag.FLOAT: (TypeTag.INT,),
    TypeTag.NUMPY_SCALAR: (TypeTag.INT, TypeTag.FLOAT),
    TypeTag.DEVICE: (TypeTag.STR, TypeTag.INT),
    TypeTag.PATH: (TypeTag.STR,),
}
"""Types of arguments that do not contradict an annotation."""
_OF_CLASSES = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})
"""Methods that get a class without a decorator."""
_CALLED_BY = {TypeTag.MODULE: "forward", TypeTag.INSTANCE: "__call__"}
"""The methods that run when instances are called."""


class ProjectIndex(SymbolTable):
    """Definitions, types and effects across the files of a project."""

    def __init__(self, modules: Iterable[ModuleSummary]) -> None:
        super().__init__(modules)
        self._overwritten = OverwrittenNames(self)
        self._paths: dict[tuple[str, str], Type] = {}
        self._fresh_kinds: dict[str, Type] = {}
        self._effects: dict[str, Effect] = {}
        self._mixins: dict[str, tuple[ClassSummary, ...]] = {}
        self._implicit: dict[tuple[str, str], Effect] = {}
        self._arguments: dict[str, Type] = {}  # "module.function@parameter" → types that callers pass
        self._passed: dict[str, set[Type]] = {}  # "module.function@parameter" → types that single calls pass
        self._guessed: dict[str, Type] = {}  # the same, from calls whose target is guessed by name
        self._depth = 0
        # Most resolutions of paths depend on no argument, and hold as long as the index does.
        self._settled: dict[tuple[str, str], Type] = {}
        self._settled_callables: dict[tuple[str, str], list[FunctionSummary]] = {}
        self._unsettled = False  # did the current resolution read an argument, or run into a cycle?
        self._passing_weights: dict[tuple[str, str], bool] = {}
        self._finds_weight_readers = False  # does the current resolution look for readers of weights?
        self._restored: dict[str, bool] = {}
        self._set_from_outside: dict[tuple[str, str], bool] = {}
        self._holding: dict[tuple[str, bool], bool] = {}
        self._holding_known: dict[str, bool] = {}
        self._lacking: dict[str, bool] = {}  # "module.class.attribute" → does no object of the class have it?
        self._notes = Notes()  # resolutions on the way

    def attribute(self, cls: ClassSummary, name: str) -> Type:
        """Return the type of an attribute, joined over the class and its bases, else over its subclasses."""
        for group in (self.ancestry(cls), self.subclasses(cls)):
            found: Type | None = None
            for owner in group:
                if isinstance(owner, ClassSummary) and name in owner.attributes:
                    kind = self._known(owner.attributes[name], owner.module)
                    found = kind if found is None else found.joined(kind)
            if found is not None:
                found = found or self._type_without_values(cls, name) or found
                if not found or found.tag is TypeTag.NONE:
                    found = self._with_given(found, cls, name)
                if found.tag is TypeTag.NONE:
                    found = self._with_derived(found, cls, name)
                if (
                    self.is_restored(cls)
                    or self._is_set_from_outside(cls, name)
                    or self._is_set_otherwise_below(cls, name, found)
                    or self._is_set_by_mixins(cls, name)
                ):
                    found = self._in_doubt(found)
                return self._judged(found, lambda: f"{cls.qualname}.{name}")
        found = self._with_given(UNKNOWN, cls, name)
        if found.caveat is not None:
            return self._judged(found, lambda: f"{cls.qualname}.{name}")
        return self._inherited(cls, name)

    def _inherited(self, cls: ClassSummary, name: str) -> Type:
        """Return the type of an attribute that a library's class gives to those derived from it: the
        `np_random` of environments.
        """
        if not any(isinstance(base, str) for base in self.ancestry(cls)):
            return UNKNOWN
        return models.attribute_kind(self.class_kind(cls).tag, name)

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
            mixing = [derived for derived in self.subclasses(cls) if len(derived.bases) > 1]
            own = self._family(cls) if mixing else frozenset()
            known = self._mixins[cls.path] = tuple(
                {
                    base.path: base
                    for derived in mixing
                    for base in self.ancestry(derived)
                    if isinstance(base, ClassSummary) and base.path not in own
                }.values()
            )
        return known

    def holds_networks(self, name: str, *, in_networks: bool) -> bool:
        """Whether objects of the project, or only its networks, always hold networks in attributes of this
        name.
        """
        known = self._holding.get((name, in_networks))
        if known is None:
            kinds = [
                self.attribute(cls, name)
                for module in self.modules.values()
                for cls in (() if module.is_test else module.classes.values())
                if name in cls.attributes and (not in_networks or self.class_kind(cls).tag is TypeTag.MODULE)
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
                for module in self.modules.values()
                for cls in (() if module.is_test else module.classes.values())
                if name in cls.attributes and (kind := self.attribute(cls, name))
            ]
            known = bool(kinds) and all(kind.tag in (TypeTag.MODULE, TypeTag.NONE) for kind in kinds)
            known = known and any(kind.tag is TypeTag.MODULE for kind in kinds)
            self._holding_known[name] = known
        return known

    def _with_derived(self, none: Type, cls: ClassSummary, name: str) -> Type:
        """Return the type of an attribute that its class only sets to None, as a placeholder for what the
        constructors of derived classes store there. An object of the class itself may keep None.
        """
        stored: Type | None = None
        for derived in self.subclasses(cls):
            if name in derived.attributes:
                kind = self._known(derived.attributes[name], derived.module)
                if kind.tag is not TypeTag.NONE:
                    stored = kind if stored is None else stored.joined(kind)
        return self._in_doubt(none.joined(stored)) if stored else none

    def _with_given(self, found: Type, cls: ClassSummary, name: str) -> Type:
        """Return the type of an attribute that its class does not assign, or only assigns None: the type that
        code outside of the class stores there. Other code may store other values, so the type is doubtful.
        """
        given: Type | None = None
        for path, kind, module in self.given(name):
            owner = self.class_of(self.resolve(path, module))
            if owner is not None and (
                owner is cls or cls in self.ancestry(owner) or owner in self.ancestry(cls)
            ):
                held = self._known(kind, module)
                given = held if given is None else given.joined(held)
        if given is None:
            return found
        if found.tag is TypeTag.NONE:
            return self._in_doubt(found.joined(given))
        if (
            found.of
            or found.caveat is not None
            or any(isinstance(each, ClassSummary) and name in each.attributes for each in self.ancestry(cls))
        ):
            return with_choice(found, Choice(given)) if given else found
        return self._in_doubt(given)

    def _in_doubt(self, kind: Type) -> Type:
        """Return a doubtful type, and record that it was used."""
        self._notes.doubt()
        return kind._replace(caveat=(kind.caveat or Caveat())._replace(doubtful=True))

    def _is_set_otherwise_below(self, cls: ClassSummary, name: str, found: Type) -> bool:
        """Whether a derived class stores another type in the attribute."""
        return any(
            name in below.attributes and not _covers(found, self._known(below.attributes[name], below.module))
            for below in self.subclasses(cls)
            if below.module != cls.module  # assignments in the same file are joined with the class's type
        )

    def _returned_by_any(self, function: FunctionSummary, owner: ClassSummary | None) -> Type:
        """Return the return type of a function called as a method of a class; doubtful if a derived class has
        a method of this name that returns another type.
        """
        kind = self.returned(function)
        if not kind and owner is not None and not function.returns:
            return self._itself(function, owner) or self._returned_below(function, owner)
        if not kind:
            converts = function.makes_tensor_of and not kind.of
            return with_choice(kind, _TENSOR) if converts else kind
        if function.path in self._replaced:
            return self._in_doubt(kind)
        if owner is None:
            return kind
        if self.is_restored(owner) or any(
            function.name in below.attributes for below in self.subclasses(owner)
        ):
            return self._in_doubt(kind)
        for other in self.implementations(owner, function.name):
            if other is not function and other.returns and not _covers(kind, self.returned(other)):
                return self._in_doubt(kind)
        return kind

    def _itself(self, function: FunctionSummary, owner: ClassSummary) -> Type:
        """Return the type of a network if a function overrides a method that returns the network itself, and
        returns a value of unknown type: that of `super().to(device)`.
        """
        if not function.returns_values or function.name not in _RETURN_ITSELF:
            return UNKNOWN
        kind = self.class_kind(owner)
        return kind.aged() if kind.tag is TypeTag.MODULE else UNKNOWN

    def _returned_below(self, function: FunctionSummary, owner: ClassSummary) -> Type:
        """Return the likely return type of a method that only its overrides implement."""
        overriding = [each for each in self.implementations(owner, function.name) if each.returns]
        if not overriding or len(overriding) > _MOST_OVERRIDES or function in overriding:
            return UNKNOWN
        joined = reduce(Type.joined, map(self.returned, overriding)).aged()
        return with_choice(UNKNOWN, Choice(joined)) if joined else UNKNOWN

    def _type_without_values(self, cls: ClassSummary, name: str) -> Type:
        """Return an attribute's type from its annotation or parameters, if the stored values do not determine
        it.
        """
        family = [each for each in self.ancestry(cls) if isinstance(each, ClassSummary)]
        for owner in family:
            declared = self._known(owner.declared.get(name, UNKNOWN), owner.module)
            if declared:
                return declared
        is_trained = any(name in owner.trained or self._passes_weights(owner, name) for owner in family)
        # results of an unknown library may have parameters, too: no safe fix may depend on this
        inferred = Type(TypeTag.MODULE, caveat=Caveat(doubtful=True))
        return inferred if is_trained and self._only_networks_have_parameters else UNKNOWN

    def _passes_weights(self, cls: ClassSummary, name: str) -> bool:
        """Whether a class passes an attribute to functions of the project that read its weights:
        `self.soft_update(self.critic, self.critic_target)`. To find these functions, attributes are resolved
        without this evidence: it would lead from each attribute of a class to all others, along all paths.
        """
        key = (cls.path, name)
        if key not in self._passing_weights:
            if self._finds_weight_readers:
                self._unsettled = True
                return False
            unsettled, self._finds_weight_readers = self._unsettled, True
            try:
                self._passing_weights[key] = self._is_passed_to_weight_readers(cls, name)
            finally:  # rules go on after an error, such as one of recursion
                self._unsettled, self._finds_weight_readers = unsettled, False
        return self._passing_weights[key]

    def _is_passed_to_weight_readers(self, cls: ClassSummary, name: str) -> bool:
        module = self.modules[cls.module]
        for method in cls.methods:
            function = module.functions.get(f"{cls.qualname}.{method}")
            for site in function.calls if function is not None else ():
                place = next((place for place, passed in site.names if passed == name), None)
                called = self.callables(site.path, cls.module) if place is not None and site.path else []
                if called and all(each.parameter_at(place or "") in each.weights_read for each in called):
                    return True
        return False

    @cached_property
    def _only_networks_have_parameters(self) -> bool:
        """Whether every class of the project that has a method `parameters` is a network."""
        return all(
            self.class_kind(cls).tag is TypeTag.MODULE
            for module in self.modules.values()
            for cls in module.classes.values()
            if "parameters" in cls.methods
        )

    def is_restored(self, cls: ClassSummary) -> bool:
        """Whether a class, its ancestors or descendants set attributes by names known only at run time after
        construction, or the others of them during construction; or whether a file that uses the class does so
        on objects of unknown classes, or runs its methods with them.
        """
        known = self._restored.get(cls.path)
        if known is None:
            self._restored[cls.path] = False  # an object found by its own attributes adds nothing
            family = [e for e in (*self.ancestry(cls), *self.subclasses(cls)) if isinstance(e, ClassSummary)]
            is_set = any(each.restored or (each.constructs_by_name and each is not cls) for each in family)
            known = self._restored[cls.path] = (
                is_set
                or cls.path in self._lending
                or self._is_set_by_name(cls, ANY_NAME)
                or any(not self._meant_where_restored.isdisjoint((each.module, each.path)) for each in family)
            )
        return known

    @cached_property
    def _meant_where_restored(self) -> frozenset[str]:
        """Return the dotted names of the modules and classes that files refer to which set attributes of
        unknown objects by names known only at run time, or which import such a file and may pass it objects.
        """
        files = {name: file for name, file in self.modules.items() if not file.is_test}
        restoring = {name for name, file in files.items() if file.restores}
        found: set[str] = set()
        for name, file in files.items() if restoring else ():
            targets = set(file.imports.values())
            imported = (self.module(each, name) for each in targets | {t.rpartition(".")[0] for t in targets})
            if name in restoring or any(each and each.module in restoring for each in imported):
                meant = (self.symbol(target, name) for target in targets)
                found.update((name, *file.star_imports, *targets))
                found.update(each.path for each in meant if isinstance(each, ClassSummary))
        return frozenset(found)

    @cached_property
    def _lending(self) -> frozenset[str]:
        """Return the dotted names of the classes with a method that may run with an object of another class,
        because a file, without tests, or a method of such a class, reads it from its class.
        """
        found: set[str] = set()
        passed_on: list[tuple[ClassSummary, str]] = []
        for module in self.modules.values():
            for path, by in () if module.is_test else module.borrowed:
                borrower = self.symbol(by, module.module) if by else None
                for owner in self._owners(path, module.module):
                    if isinstance(borrower, ClassSummary) and owner in self.ancestry(borrower):
                        passed_on.append((owner, borrower.path))
                    else:
                        found.add(owner.path)
        before = -1
        while len(found) > before:
            before = len(found)
            found.update(owner.path for owner, borrower in passed_on if borrower in found)
        return frozenset(found)

    def _owners(self, path: str, module: str) -> Iterator[ClassSummary]:
        """Yield the classes that define the methods which a name read from a class may mean."""
        owner, _, name = path.rpartition(".")
        cls = self.symbol(owner, module) if name == ANY_NAME else None
        if isinstance(cls, ClassSummary):
            yield cls
        method = self.symbol(path, module) if cls is None else None
        for each in self.methods_named(name) if owner == ANY_CLASS else [method]:
            if isinstance(each, FunctionSummary) and each.has_receiver and each.name not in _OF_CLASSES:
                defining = self.owner_of(each) if not each.is_of_class else None
                if defining is not None and (owner != ANY_CLASS or self._refers_to(module, defining)):
                    yield defining

    def _is_set_from_outside(self, cls: ClassSummary, name: str) -> bool:
        """Whether code outside of a class, its ancestors and descendants may assign values of a type unknown
        to the class to an attribute of its objects.
        """
        key = (cls.path, name)
        known = self._set_from_outside.get(key)
        if known is None:
            self._set_from_outside[key] = False  # a value computed from itself adds nothing
            family = self._family(cls)
            known = self._set_from_outside[key] = (
                self._is_overridden(cls, name)
                or self._is_set_by_name(cls, name)
                or any(self._may_set(path, function, cls, family) for path, function in self.setters(name))
            )
        return known

    def _family(self, cls: ClassSummary) -> frozenset[str]:
        """Return the dotted names of a class, its ancestors and descendants, as far as the project defines
        them.
        """
        every = (*self.ancestry(cls), *self.subclasses(cls))
        return frozenset(each.path for each in every if isinstance(each, ClassSummary))

    def _is_set_by_name(self, cls: ClassSummary, name: str) -> bool:
        """Whether a file, without tests, sets an attribute of objects of a class by its name (`*`: by names
        known only at run time), other than a method in its own object.
        """
        setting = self._setting_by_name.get(name, ())
        family = self._family(cls) if setting else frozenset()
        return any(self._may_be(path, module, cls, family, in_own_file=True) for path, module in setting)

    @cached_property
    def _setting_by_name(self) -> dict[str, list[tuple[str, str]]]:
        found: dict[str, list[tuple[str, str]]] = {}
        for module in self.modules.values():
            for path, name in () if module.is_test else module.set_by_name:
                found.setdefault(name, []).append((path, module.module))
        return found

    def _is_overridden(self, cls: ClassSummary, name: str) -> bool:
        """Whether a subclass replaces an attribute by a method or property, or sets its attributes itself."""
        return any(name in each.methods or "__setattr__" in each.methods for each in self.subclasses(cls))

    def _may_set(
        self, path: str, function: FunctionSummary, cls: ClassSummary, family: frozenset[str]
    ) -> bool:
        if function.path.rpartition(".")[0] in family:
            return False  # a method, whose assignments the class includes
        # assignments in the same file to an object of a known class are joined with the type from the class
        return self._may_be(path, function.module, cls, family, in_own_file=False)

    def _may_be(
        self, path: str, module: str, cls: ClassSummary, family: frozenset[str], *, in_own_file: bool
    ) -> bool:
        """Whether an access path of a file may lead to an object of a class or its family; with
        `in_own_file`, also to one that surely is, in the file of the class.
        """
        if path.startswith("="):
            return False  # a tensor, a module of a library
        paths = alternatives(path)
        if len(paths) == 1:
            kind = self.resolve(path, module) if path else UNKNOWN
            owner = self.class_of(kind)
            if owner is not None:
                return owner.path in family and (in_own_file or module != cls.module)
            if "{" not in kind.of:
                return not kind and self._refers_to(module, cls)
            paths = alternatives(access_path(kind))
        return any(self._may_be(each, module, cls, family, in_own_file=in_own_file) for each in paths)

    def _refers_to(self, module: str, cls: ClassSummary) -> bool:
        """Whether a file refers to a class: it defines it, or imports it or its file."""
        if module == cls.module:
            return True
        found = self.modules.get(module)
        return found is not None and (
            cls.module in found.star_imports
            or any(target in (cls.module, cls.path) for target in found.imports.values())
            or any(self.symbol(target, module) is cls for target in found.imports.values())
        )

    def resolve(self, path: str, module: str) -> Type:
        """Return the type at the end of an access path (`buffers.Replay().storage`), or UNKNOWN."""
        if "{" in path:
            return self._resolve_each(alternatives(path), module)
        key = (path, module)
        known = self._settled.get(key)
        if known is not None:
            if known.caveat is not None:
                self._notes.add(known.caveat)
            return known
        known = self._paths.get(key)
        if known is not None or self._depth > DEPTH:
            self._unsettled = True
            known = known if known is not None else UNKNOWN
            if known.caveat is not None:
                self._notes.add(known.caveat)
            return known
        self._paths[key] = UNKNOWN
        around, self._unsettled = self._unsettled, False
        noted, self._notes.state = self._notes.state, NOTHING
        self._depth += 1
        try:
            value, _ = self._follow(path, module)
            kind = (
                self._resolve_each(value.paths, module) if isinstance(value, _OneOf) else self._as_kind(value)
            )
            if value is None and _is_library_function(path):
                kind = Type(TypeTag.FUNCTION, of=path)
        finally:
            self._depth -= 1
        if kind.caveat is not None or self._notes.state is not NOTHING:
            kind = marked(kind, self._notes.state)
        self._paths[key] = kind
        if not self._unsettled:
            self._settled[key] = kind
        self._unsettled |= around
        self._notes.state = noted
        if kind.caveat is not None:
            self._notes.add(kind.caveat)
        return kind

    def _judged(self, kind: Type, subject: Callable[[], str]) -> Type:  # noqa: ARG002 - for what is likely
        """Return the accepted part of what was inferred about a value, which a message would call
        `subject`.
        """
        return kind

    def _resolve_each(self, paths: Sequence[str], module: str) -> Type:
        """Return the type that one of several paths resolves to."""
        found: Type | None = None
        for path in self._able(paths, module):
            kind = self.resolve(path, module)
            found = kind if found is None else found.joined(kind)
        if found is None or not found:
            return UNKNOWN if found is None or found.caveat is None else Type(caveat=found.caveat)
        return self._judged(found, lambda: paths[0])

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
                for held in self._led_to(each, module):
                    found.update((target.path, target) for target in self.callables(held, module))
            found.update((target.path, target) for target in targets)
        return list(found.values())

    def _able(self, paths: Sequence[str], module: str) -> Sequence[str]:
        """Return the paths whose receivers have the requested attribute; no others can be meant. All of them,
        if none is left.
        """
        return [path for path in paths if not self._lacks(path, module)] or paths

    def _lacks(self, path: str, module: str) -> bool:
        """Whether a path requests an attribute of an object that no class above or below its class has, and
        that no code sets.
        """
        root, steps = _parts(path)
        if len(steps) < 2 or steps[0] != "()" or steps[1][0] != ".":
            return False
        cls, name = self.symbol(root, module), steps[1][1:]
        if not isinstance(cls, ClassSummary):
            return False
        key = f"{cls.path}.{name}"
        known = self._lacking.get(key)
        if known is None:
            known = self._lacking[key] = not self._may_have(cls, name)
        return known

    def _may_have(self, cls: ClassSummary, name: str) -> bool:
        tag = self.class_kind(cls).tag
        if models.method_fact(tag, name) or models.attribute_kind(tag, name) or self.setters(name):
            return True
        if name.startswith("__") or self.is_restored(cls):
            return True
        for each in (*self.ancestry(cls), *self.subclasses(cls)):
            if not isinstance(each, ClassSummary):
                if is_unknown(each):
                    return True
            elif (
                name in each.methods
                or name in each.attributes
                or "__getattr__" in each.methods
                or "__getattribute__" in each.methods
            ):
                return True
        return False

    def _led_to(self, path: str, module: str) -> Sequence[str]:
        """Return the paths among which a path chooses; empty if it has one meaning."""
        if self._depth > DEPTH:
            return ()
        noted = self._notes.state
        self._depth += 1
        try:
            value, _ = self._follow(path, module)
        finally:
            self._depth -= 1
            self._notes.state = noted
        if isinstance(value, _OneOf):
            return value.paths
        if not isinstance(value, Type) or value.optional:
            return ()
        is_function = value.tag is TypeTag.FUNCTION and bool(value.of)
        return alternatives(access_path(value)) if "{" in value.of or is_function else ()

    def _callables_of_each(self, paths: Sequence[str], module: str) -> list[FunctionSummary]:
        """Return the functions at several paths; empty if those of one path are not known."""
        found: dict[str, FunctionSummary] = {}
        for path in self._able(paths, module):
            targets = self.callables(path, module)
            if not targets:
                return []
            found.update((target.path, target) for target in targets)
        return list(found.values())

    def callables(self, path: str, module: str) -> list[FunctionSummary]:
        """Return the functions that calling an access path may run; empty if not all are known."""
        if "{" in path:
            return self._callables_of_each(alternatives(path), module)
        key = (path, module)
        known = self._settled_callables.get(key)
        if known is not None:
            return known
        if self._depth > DEPTH:
            self._unsettled = True
            return []
        around, self._unsettled = self._unsettled, False
        noted = self._notes.state
        self._depth += 1
        try:
            value, owner = self._follow(path, module)
            found = (
                self._callables_of_each(value.paths, module)
                if isinstance(value, _OneOf)
                else self._called_by(value, owner, module)
            )
        finally:
            self._depth -= 1
            self._notes.state = noted
        if not self._unsettled:
            self._settled_callables[key] = found
        self._unsettled |= around
        return found

    def _called_by(
        self, value: Symbol | None, owner: ClassSummary | None, module: str
    ) -> list[FunctionSummary]:
        if isinstance(value, Type):
            if value.of and value.tag is TypeTag.UNKNOWN:
                return self._callables_of_each(alternatives(value.of), module)
            if "{" in value.of:
                return self._callables_of_each(alternatives(access_path(value)), module)
            if value.tag in _CALLED_BY:
                cls = self.class_of(value)
                return self.implementations(cls, self._method_called(value, cls)) if cls else []
            if value.tag in (TypeTag.CLASS, TypeTag.FUNCTION) and value.of:
                value = self.symbol(value.of, module)
                if isinstance(value, FunctionSummary) and value.is_method:  # bound to an object: `self.step`
                    owner = self.owner_of(value)
        if isinstance(value, ClassSummary):
            made = self.method(value, "__init__")
            return [made] if made is not None else []
        if isinstance(value, FunctionSummary):
            if owner is not None:
                return self.implementations(owner, value.name) or [value]
            return [value]
        return []

    def _method_called(self, value: Type, cls: ClassSummary) -> str:
        """Return the name of the method that runs where an instance is called: of a network, its `forward`
        unless its class has a `__call__` of its own.
        """
        return "__call__" if self.method(cls, "__call__") is not None else _CALLED_BY[value.tag]

    def parameter_kind(self, path: str, module: str, argument: str) -> Type:
        """Return the type that the functions at an access path declare, or show by its uses, for the
        parameter that receives an argument (its position or its name).
        """
        found: Type | None = None
        for target in self.callables(path, module):
            kind = target.parameter_kinds.get(target.parameter_at(argument), UNKNOWN)
            found = kind if found is None else found.joined(kind)
        return found or UNKNOWN

    def _follow(self, path: str, module: str) -> tuple[Symbol | _OneOf | None, ClassSummary | None]:
        """Return what a path resolves to, and for a method the class it was looked up on."""
        root, steps = _parts(path)
        value = self.symbol(root, module)
        owner: ClassSummary | None = None
        if value is None:
            made = models.callable_fact(root)
            if made is not None and steps[:1] == ("()",):
                value, steps = made.result, steps[1:]
            else:
                value, steps = self._constant(root, steps, module)
        for position, step in enumerate(steps):
            if value is None:
                return None, None
            if isinstance(value, Type):
                if value.of and value.tag is TypeTag.UNKNOWN:
                    value = self.resolve(value.of, module)
                elif value.caveat is not None and value.caveat.short:
                    self._notes.fall_short()
            if isinstance(value, Type) and "{" in value.of:
                rest = "".join(steps[position:])
                return _OneOf(tuple(f"{each}{rest}" for each in alternatives(access_path(value)))), None
            if step == "()":
                value, owner = self._called(value, owner), None
            elif step[0] == "[":
                value = indexed(self._as_kind(value), step)
                if value.caveat is not None:
                    value = self._judged(value, partial(_part, path))
            elif step[0] == "@":
                if not isinstance(value, FunctionSummary):
                    return None, None
                self._unsettled = True
                promised = value.parameter_kinds.get(step[1:], UNKNOWN)
                passed = self._arguments.get(f"{value.path}{step}", UNKNOWN)
                taken = passed if not promised or refines(passed, promised) else promised
                if not taken:
                    taken = self._with_guesses(taken, value, step[1:])
                value = self._judged(taken, partial(_parameter, step[1:], value))
            elif steps[position + 1 : position + 2] == (GETTER,):
                return self._getter(value, step[1:])
            else:
                called = position + 1 < len(steps) and steps[position + 1] == "()"
                value, owner = self._get(value, step[1:], called=called)
        return value, owner

    def _getter(self, value: Symbol, name: str) -> tuple[FunctionSummary | None, ClassSummary | None]:
        """Return the function that runs whenever a property of an object is read, with the object's class."""
        cls = self.class_of(value) if isinstance(value, Type) else None
        method = self.method(cls, name) if cls is not None else None
        runs = method is not None and method.is_property and not method.remembers
        return (method, cls) if runs else (None, None)

    def _with_guesses(self, taken: Type, function: FunctionSummary, parameter: str) -> Type:
        """Return the likely type of a parameter of unknown type: from what likely callers pass, or from
        overridden or overriding methods.
        """
        guessed = self._guessed.get(f"{function.path}@{parameter}")
        if guessed is not None and guessed:
            return with_choice(taken, Choice(guessed))
        owner = self.owner_of(function)
        if owner is None or function.name.startswith("__"):
            return taken
        for cls in (*self.ancestry(owner)[1:], *self.subclasses(owner)):
            if isinstance(cls, ClassSummary) and function.name in cls.methods:
                other = self.modules[cls.module].functions.get(f"{cls.qualname}.{function.name}")
                if other is None or parameter not in other.parameters:
                    continue
                kind = self._arguments.get(f"{other.path}@{parameter}") or other.parameter_kinds.get(
                    parameter
                )
                if kind:
                    return with_choice(taken, Choice(kind))
        return taken

    def _constant(
        self, root: str, steps: tuple[str, ...], module: str
    ) -> tuple[Symbol | None, tuple[str, ...]]:
        """Return the constant of a module whose attributes a dotted name reads (`settings.args.device`), with
        the remaining steps.
        """
        owner, _, attribute = root.rpartition(".")
        while "." in owner:
            steps = (f".{attribute}", *steps)
            found = self.symbol(owner, module)
            if found is not None:
                return (found, steps) if isinstance(found, Type) else (None, steps)
            owner, _, attribute = owner.rpartition(".")
        return None, steps

    def _called(self, value: Symbol, owner: ClassSummary | None) -> Symbol | None:
        if isinstance(value, ClassSummary):
            made = self._fresh_kinds.get(value.path)
            if made is None:
                made = self._made_otherwise(value) or self.class_kind(value)
                made = self._fresh_kinds[value.path] = made._replace(fresh=True)
            return made
        if isinstance(value, FunctionSummary):
            return self._returned_by_any(value, owner)
        if isinstance(value, Type):
            if named_tuples.is_class(value):
                return named_tuples.instance(value)
            if value.tag in (TypeTag.CLASS, TypeTag.FUNCTION) and value.of:
                symbol = self.symbol(value.of, "")
                if symbol is not None and not isinstance(symbol, Type):
                    return self._called(symbol, owner)
                known = models.callable_fact(value.of)
                return known.result if known else None
            if value.tag is TypeTag.FUNCTION and value.item is not None:
                return value.item  # a lambda
            if value.tag is TypeTag.MODULE:
                inner = networks.wrapped(value)
                if inner is not None:
                    return self._called(self._as_kind(inner), owner)
                cls = self.class_of(value)
                forward = self.method(cls, self._method_called(value, cls)) if cls else None
                if forward is None and networks.is_of_library(value):
                    return networks.result_of_library(value)
                return self.returned(forward) if forward is not None else None
        if isinstance(value, LibraryMethod):
            if value.owner.of == "argparse.ArgumentParser":
                return parsed_options(value.owner, value.name)
            if value.name == "__iter__" and value.owner.tag is TypeTag.INSTANCE:
                return self._fields_of(value.owner)
            fact = models.method_fact(value.owner.tag, value.name)
            if value.owner.tag is TypeTag.UNKNOWN:
                fact = models.method_on_unknown(value.name, 0) or models.method_on_unknown(value.name, 1)
            if fact is not None and fact.result.tag is value.owner.tag is TypeTag.MODULE:
                return value.owner.aged()  # `Network(…).to(device)` is a `Network`
            return (
                batches.result_of_method(value.owner, value.name, fact.result) if fact is not None else None
            )
        return None

    def _fields_of(self, value: Type) -> Type | None:
        """Return the type of an iterator over the fields of a named tuple, of a class that declares them."""
        cls = self.class_of(value)
        if cls is None or _NAMED_TUPLE not in cls.bases or not cls.declared:
            return None
        parts = tuple([self._known(kind, cls.module) for kind in cls.declared.values()])
        return Type(TypeTag.ITERATOR, item=known_item(reduce(Type.joined, parts)), parts=parts)

    def _made_otherwise(self, cls: ClassSummary) -> Type | None:
        """Return the type that `__new__` of a class returns, if it makes objects of other classes."""
        if "__new__" not in cls.methods:
            return None
        made = self.returned(self.modules[cls.module].functions[f"{cls.qualname}.__new__"])
        return made if made.tag in _CALLED_BY and made.of and cls.path not in alternatives(made.of) else None

    def _get(self, value: Symbol, name: str, *, called: bool) -> tuple[Symbol | None, ClassSummary | None]:
        if not isinstance(value, Type):
            if isinstance(value, ClassSummary):
                return self.method(value, name) or value.attributes.get(name), value
            if isinstance(value, ModuleSummary):
                return self._member(value, [name], set(), 0), None
            return None, None
        if value.tag is TypeTag.MODULE and name == "module":
            inner = networks.wrapped(value)
            if inner is not None:
                return inner, None
        if value.of == networks.MODEL_OUTPUT:
            return networks.part_of_output(name), None
        if value.tag is TypeTag.TUPLE and value.keys:
            return named_tuples.field_of(value, name), None
        cls = self.class_of(value)
        if cls is not None:
            method = self.method(cls, name)
            if method is None and not any(
                name in o.attributes for o in self.ancestry(cls) if isinstance(o, ClassSummary)
            ):
                overriding = self.implementations(cls, name)
                method = overriding[0] if len(overriding) == 1 else None
            if method is not None:
                return (self._returned_by_any(method, cls), None) if method.is_property else (method, cls)
            attribute = self.attribute(cls, name)
            if attribute.of or attribute.tag is not TypeTag.UNKNOWN:
                return attribute, None
            if attribute.caveat is not None and not models.attribute_kind(value.tag, name):
                return attribute, None  # a likelier type exists
        if value.tag is TypeTag.PYTHON_MODULE:  # a context or manager offers the same functions as its module
            return (Type(TypeTag.FUNCTION, of=f"{value.of}.{name}") if value.of else None), None
        if called:
            return LibraryMethod(value, name), None
        return batches.on_device_of(value, models.attribute_kind(value.tag, name)), None

    def _as_kind(self, value: Symbol | None) -> Type:
        if isinstance(value, Type):
            if value.of and value.tag is TypeTag.UNKNOWN:
                if self._depth < DEPTH:
                    found = self.resolve(value.of, "")
                    return found if found or value.caveat is None else found._replace(caveat=value.caveat)
                self._unsettled = True
            return value
        if isinstance(value, ClassSummary):
            return Type(TypeTag.CLASS, of=value.path)
        if isinstance(value, FunctionSummary):
            return Type(TypeTag.FUNCTION, of=value.path)
        if isinstance(value, ModuleSummary):
            return Type(TypeTag.PYTHON_MODULE, of=value.module)
        return UNKNOWN

    def returned(self, function: FunctionSummary) -> Type:
        """Return the return type of a function of the project."""
        kind: Type | None = None
        for value in function.returns:
            returned = self._known(value, function.module)
            kind = returned if kind is None else kind.joined(returned)
        if kind is None:
            return UNKNOWN
        if function.promised:
            kind = completed(kind, function.promised)
            kind = kind if refines(kind, function.promised) else function.promised
        if not kind:
            kind = UNKNOWN if kind.caveat is None else Type(caveat=kind.caveat)
        kind = self._judged(kind, lambda: f"{function.shown}()")
        return kind.aged() if function.remembers else kind  # the next call may return it, too

    def _known(self, kind: Type, module: str, depth: int = _DEEPEST) -> Type:
        """Return the type itself, or the type that its access path resolves to, also for the types of its
        items.
        """
        if not kind and kind.of:
            return self.resolve(kind.of, module) or kind
        if (kind.item is None and not kind.parts) or depth <= 0:
            return kind
        item = self._known(kind.item, module, depth - 1) if kind.item is not None else None
        parts = tuple([self._known(part, module, depth - 1) for part in kind.parts])
        if item == kind.item and parts == kind.parts:
            return kind
        return kind._replace(item=known_item(item) if item is not None else None, parts=parts)

    def returns_immutable(self, function: FunctionSummary) -> bool:
        """Whether every value that a function of the project may return is immutable."""
        types = [
            self.resolve(kind.of, function.module) if not kind and kind.of else kind
            for kind in function.returns
        ]
        return bool(types) and all(map(is_immutable, types))

    @cached_property
    def copied_into(self) -> frozenset[str]:
        """Return the attributes into whose networks code of any file copies the state dict of another one:
        `agent.old.load_state_dict(agent.net.state_dict())`.
        """
        return frozenset(
            site.receiver
            for module in self.modules.values()
            for function in (() if module.is_test else module.functions.values())
            for site in function.calls
            if site.method == "load_state_dict" and site.receiver and ("0", "state_dict") in site.names
        )

    def effect_at(self, path: str, module: str) -> Effect | None:
        """Return the effect of calling an access path; None if the project does not define it."""
        return run(self._effect_at(path, module))

    def reads_variables(self, path: str, module: str) -> bool:
        """Whether a function that calling an access path may run, or one that it calls, reads variables of
        modules or other functions that may change.
        """
        return self._outside.by_call(path, module)

    def is_changing_variable(self, path: str, module: str) -> bool:
        """Whether a dotted name means a variable of the project that may change."""
        return self._outside.may_change(path, module)

    @cached_property
    def run_by_output(self) -> EffectKind:
        """Return the kinds of output that may run code of the project: handlers of logs, its own streams."""
        return indirect_runs.run_by_output(self)

    @cached_property
    def generators_act(self) -> bool:
        """Whether iterating over a generator of the project may change a value that other code holds."""
        return indirect_runs.generators_act(self)

    @cached_property
    def _outside(self) -> OutsideReads:
        return OutsideReads(self)

    def effect_of(self, function: FunctionSummary) -> Effect:
        """Return the effect of calling a function of the project, including all that it calls."""
        return run(self._effect_of(function))

    def implicit_effect(self, cls: str, name: str) -> Effect:
        """Return the effect of reading a property of an object of a class (`name=`: of setting it), or of the
        special method that an operator runs on it; without effect if there is none.
        """
        key = (cls, name)
        known = self._implicit.get(key)
        if known is None:
            symbol = self.symbol(cls, "")
            effect = PURE
            if isinstance(symbol, ClassSummary) and name in self.implicit_names:
                for function in self._run_implicitly(symbol, name):
                    effect = effect.joined(self.effect_of(function))
            known = self._implicit[key] = effect
        return known

    def _run_implicitly(self, cls: ClassSummary, name: str) -> Iterator[FunctionSummary]:
        if name.endswith(STORES):
            for owner in (*self.ancestry(cls), *self.subclasses(cls)):
                if isinstance(owner, ClassSummary):
                    yield from self._setters_in(owner, name.removesuffix(STORES))
            return
        for function in self.implementations(cls, name):
            if function.is_property or name.startswith("__"):
                yield function

    def _setters_in(self, cls: ClassSummary, name: str) -> Iterator[FunctionSummary]:
        """Yield the setters and deleters of a property: its other definitions."""
        functions = self.modules[cls.module].functions
        getter = functions.get(f"{cls.qualname}.{name}")
        for number in range(1, _MOST_ACCESSORS) if getter is not None and getter.is_property else ():
            accessor = functions.get(f"{cls.qualname}.{name}#{number}")
            if accessor is not None and not accessor.is_property:
                yield accessor

    @cached_property
    def implicit_names(self) -> frozenset[str]:
        """Return the names of properties (with `=` for setters) and special methods of the project's classes
        that do more than return a value.
        """
        found: set[str] = set()
        for module in self.modules.values():
            for cls in () if module.is_test else module.classes.values():
                for name in cls.methods:
                    function = module.functions.get(f"{cls.qualname}.{name}")
                    if function is None:
                        continue
                    is_implicit = name in IMPLICIT or function.is_property
                    if is_implicit and not self.effect_of(function).quiet:
                        found.add(name)
                    if function.is_property and any(True for _ in self._setters_in(cls, name)):
                        found.add(f"{name}{STORES}")
        return frozenset(found)

    def _effect_at(self, path: str, module: str) -> Step[Effect | None]:
        if "{" in path:
            joined = PURE
            for each in self._able(alternatives(path), module):
                effect_there = yield self._effect_at(each, module)
                if effect_there is None:
                    return None
                joined = joined.joined(effect_there)
            return joined if joined is not PURE or alternatives(path) else None
        targets = self.callables(path, module)
        if not targets:
            owner, _, method = path.rpartition(".")
            kind = self.resolve(owner, module) if owner else UNKNOWN
            known = models.method_fact(kind.tag, method) if kind else None
            if known is not None:
                return known.effect
            held: Effect | None = yield self._effect_of_held(path, module)
            return held
        effect = PURE
        for target in targets:
            effect = effect.joined((yield self._effect_of(target)))
        return effect.through(path.rpartition(".")[2])

    def _effect_of_held(self, path: str, module: str) -> Step[Effect | None]:
        """Return the effect of calling a function that an attribute holds, such as the `operator.add` that
        the constructor of a sum tree is given; None if it is not known.
        """
        joined: Effect | None = None
        for held in self._led_to(path, module):
            known = models.callable_fact(held)
            effect = known.effect if known is not None else None
            if effect is None and self.callables(held, module):
                effect = yield self._effect_at(held, module)
            if effect is None or CALLED_AT.get(held, (0,) if models.calls_back(held) else ()):
                return None
            joined = effect if joined is None else joined.joined(effect)
        return joined

    def _effect_of(self, function: FunctionSummary) -> Step[Effect]:
        known = self._effects.get(function.path)
        if known is not None:
            return known
        self._effects[function.path] = PURE  # a recursive call has the effect of the rest of the body
        effect = _REPLACED if function.path in self._replaced else function.effect
        for path, fallback in function.effect_paths:
            called: Effect | None = yield self._effect_at(path, function.module)
            effect = effect.joined(fallback if called is None else called)
        if any(self._is_iterator(path, function.module) for path in function.outside_reads):
            effect = effect.joined(USES_UP)
        self._effects[function.path] = effect
        return effect

    def _is_iterator(self, variable: str, module: str) -> bool:
        """Whether a variable of a module, given by its dotted name, is an iterator: reading advances it."""
        found = self.symbol(variable, module) if variable else None
        return isinstance(found, Type) and self._known(found, module).tag is TypeTag.ITERATOR

    @cached_property
    def _replaced(self) -> frozenset[str]:
        """Return the paths of the functions that a file of the project replaces; replacements by tests are
        ignored.
        """
        methods: dict[str, list[FunctionSummary]] = {}
        for module in self.modules.values():
            for function in module.functions.values():
                if function.is_method and not function.is_property:
                    methods.setdefault(function.name, []).append(function)
        found: set[str] = set()
        for module in self.modules.values():
            for path in () if module.is_test else module.replaced:
                owner, _, name = path.rpartition(".")
                symbol = self.symbol(path, module.module) if owner != ANY_CLASS else None
                if isinstance(symbol, FunctionSummary):
                    found.add(symbol.path)
                elif owner.startswith(ANY_MODULE):
                    found.update(
                        each.functions[name].path
                        for each in self.modules.values()
                        if name in each.functions and may_be_module(owner, each.module)
                    )
                elif name == ANY_NAME:
                    every = [method for named in methods.values() for method in named]
                    found.update(() if owner == ANY_CLASS else self._meant(owner, every, module))
                if name in methods:
                    found.update(self._meant(owner, methods[name], module))
        return frozenset(found)

    @cached_property
    def replaced_in_libraries(self) -> frozenset[str]:
        """Return the dotted names of library functions and methods that a file of the project, without tests,
        replaces in the library or overrides in a class derived from one of data; `torch.Tensor.*` if any may
        be meant, `torch.nn.Module.forward` for that of any network.
        """
        return frozenset(self._overwritten.in_libraries())

    def names_set_by_other_files(self, module: str) -> frozenset[str]:
        """Return the variables in a module whose value other files may set: through the module itself
        (`config.N = 0`), or through the one that it imports them from; `*` for any.
        """
        return self._overwritten.names_in(module)

    def sets_in_arrays(self, attribute: str) -> bool:
        """Whether code of the project may set or delete an attribute of a NumPy array, which can change its
        layout: `rows.shape = (4, 2)`.
        """
        return any(self._may_be_array(path, function) for path, function in self.setters(attribute))

    def _may_be_array(self, path: str, function: FunctionSummary) -> bool:
        if path.startswith("="):
            return path == f"={TypeTag.NDARRAY.value}"
        kind = self.resolve(path, function.module) if path else UNKNOWN
        return not kind or kind.tag is TypeTag.NDARRAY

    @cached_property
    def set_in_arguments(self) -> frozenset[str]:
        """Return the names of the attributes that files, without tests, set in objects that functions get as
        arguments; `*` for names known only at run time.
        """
        return frozenset(self._overwritten.in_arguments())

    @cached_property
    def sets_by_name(self) -> bool:
        """Whether files, without tests, set attributes, layers or parameters by names known only at run
        time.
        """
        return any(
            not module.is_test and (module.restores or not module.attributes_read.isdisjoint(_SET_BY_NAME))
            for module in self.modules.values()
        )

    @cached_property
    def _observed(self) -> frozenset[str]:
        found: set[str] = set()
        for module in self.modules.values():
            for path in () if module.is_test else module.observed:
                found.update(each for each in self.modules if may_be_module(path, each))
                found.update(self._overwritten.passed_as(path))
                symbol = self.symbol(path, module.module)
                if isinstance(symbol, ModuleSummary):
                    found.add(symbol.module)
                elif isinstance(symbol, (ClassSummary, FunctionSummary)):
                    found.add(symbol.path)
                else:
                    found.add(path)
        return frozenset(found)

    def is_observed(self, *paths: str) -> bool:
        """Whether a file, without tests, iterates over the variables of one of some modules, or reads the
        code object of one of some functions or classes.
        """
        return not self._observed.isdisjoint(paths)

    def is_passed_otherwise(self, path: str, parameter: str, promised: Type) -> bool:
        """Whether a call passes a value for a parameter of the function at a path that its annotation
        excludes.
        """
        return any(self._is_another(kind, promised) for kind in self._passed.get(f"{path}@{parameter}", ()))

    def is_passed_only(self, path: str, parameter: str, promised: Type) -> bool:
        """Whether every call of the function at a path is known to pass a value of a type, or no call is
        known.
        """
        passed = self._arguments.get(f"{path}@{parameter}")
        return passed is None or (passed.tag is promised.tag and passed.caveat is None)

    def _is_another(self, kind: Type, promised: Type) -> bool:
        if kind.tag is not promised.tag:
            return kind.tag in _PLAIN_DATA and kind.tag not in _TAKEN_FOR.get(promised.tag, ())
        if kind.tag is not TypeTag.INSTANCE or kind.of == promised.of:
            return False
        cls, wanted = self.class_of(kind), self.class_of(promised)
        return cls is not None and wanted is not None and wanted not in self.ancestry(cls)

    def _meant(self, owner: str, methods: list[FunctionSummary], module: ModuleSummary) -> Iterator[str]:
        """Yield the methods, of several, that an object of a class has. Attributes that a class sets on
        itself or on its objects also replace methods of its subclasses.
        """
        cls = self.symbol(owner, module.module) if owner != ANY_CLASS else None
        if owner != ANY_CLASS and not isinstance(cls, ClassSummary):
            return
        family = (*self.ancestry(cls), *self.subclasses(cls)) if isinstance(cls, ClassSummary) else ()
        related = {each.path for each in family if isinstance(each, ClassSummary)}
        for method in methods:
            if owner == ANY_CLASS or method.path.rpartition(".")[0] in related:
                yield method.path

    def forget_arguments(self) -> None:
        """Drop the recorded arguments and all results derived from them, before better ones are recorded."""
        self._arguments.clear()
        self._passed.clear()
        self._guessed.clear()
        self._paths.clear()
        self._effects.clear()
        self._implicit.clear()
        vars(self).pop("implicit_names", None)

    def note_guess(self, function: FunctionSummary, parameter: str, kind: Type) -> None:
        """Record the type of an argument in a call that likely calls a function."""
        key = f"{function.path}@{parameter}"
        known = self._guessed.get(key)
        self._guessed[key] = kind if known is None else batches.joined(known, kind)

    def note_argument(self, function: FunctionSummary, parameter: str, kind: Type) -> None:
        """Record the type that a caller passes for a parameter."""
        key = f"{function.path}@{parameter}"
        if kind and kind.caveat is None:
            self._passed.setdefault(key, set()).add(kind)
        known = self._arguments.get(key)
        self._arguments[key] = kind if known is None else batches.joined(known, kind)


def _part(path: str) -> str:
    """Return an access path in the form of a Python expression."""
    return path.replace("[?]", "[…]").rpartition("().")[2].rpartition(".")[0] or path


def _is_library_function(path: str) -> bool:
    """Whether a path names a function of a library, not a class."""
    return path.rpartition(".")[2][:1].islower() and models.callable_fact(path) is not None


def _parameter(name: str, function: FunctionSummary) -> str:
    return f"{name}` of `{function.shown}()"


@lru_cache(maxsize=50_000)
def _parts(path: str) -> tuple[str, tuple[str, ...]]:
    """Return the dotted name at the beginning of an access path, and the remaining steps."""
    first = _NO_ATTRIBUTE.search(path)
    return (path[: first.start()], tuple(_STEP.findall(path, first.start()))) if first else (path, ())


def _covers(kind: Type, other: Type) -> bool:
    """Whether facts about values of one type hold for those of another type as well."""
    plain = kind._replace(caveat=None)
    return plain.joined(other._replace(caveat=None))._replace(caveat=None) == plain
