"""Networks into which files of the program put modules or tensors after their construction."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from rlint.enums import Enum
from rlint.models.value_type import UNKNOWN, Type, TypeTag
from rlint.semantics.effects.stored_parts import NAMES_OF_LAYERS, StoredPart, StoreKind

if TYPE_CHECKING:
    from rlint.semantics.interprocedural.call_graph import CallGraph
    from rlint.semantics.interprocedural.summary import ClassSummary, FunctionSummary, ModuleSummary

ANY_NETWORK = "*"
"""A network of unknown class, or of a class of torch."""
_PARTS = frozenset({TypeTag.MODULE, TypeTag.PARAMETERS})
_TENSORS = frozenset({TypeTag.PARAMETERS, TypeTag.TENSOR})
_CODE = frozenset({TypeTag.CLASS, TypeTag.FUNCTION})
_MAKERS = frozenset({"__init__", "__new__", "__post_init__"})
_DEPTH = 5


class NetworkChange(Enum):
    """A way in which code changes networks."""

    MODULES = "modules"
    """It puts modules into networks, or replaces methods, after the construction."""
    ANY = "any"
    """It does so, or replaces tensors, or lets them share memory."""
    INTEGERS = "integers"
    """It creates parameters without gradient, the only ones that may hold integers, or casts networks."""
    TAKEN = "taken"
    """Its constructor may store existing layers, or let parameters share the memory of existing tensors."""


class NetworkChanges:
    """Which networks the files of a project change from outside, or by methods other than constructors."""

    def __init__(self, graph: CallGraph) -> None:
        self._graph = graph
        self._index = graph.index

    def by_other_files(self, module: str, change: NetworkChange) -> frozenset[str]:
        """Return the classes of the networks that other files than a module change in a way; `*` for any."""
        found = self._of_files[change].items()
        return frozenset[str]().union(*(classes for name, classes in found if name != module))

    @cached_property
    def _of_files(self) -> dict[NetworkChange, dict[str, frozenset[str]]]:
        return {
            NetworkChange.MODULES: {name: modules for name, (modules, _) in self._changed.items()},
            NetworkChange.ANY: {name: every for name, (_, every) in self._changed.items()},
            NetworkChange.INTEGERS: self._classes_with(StoreKind.INTEGERS),
            NetworkChange.TAKEN: self._classes_with(StoreKind.TAKEN),
        }

    def _classes_with(self, kind: StoreKind) -> dict[str, frozenset[str]]:
        """Return, for each file, the networks that it concerns by stores of a kind."""
        found: dict[str, frozenset[str]] = {}
        for module in self._index.modules.values():
            stores = [store for store in module.stored_parts if store.kind is kind]
            for store in () if module.is_test else stores:
                owner = self._owner(store.owner, module.module)
                cls = self._index.class_of(owner)
                if owner.tag is TypeTag.MODULE or not owner:
                    classes = frozenset(self._family(cls)) if cls is not None else {ANY_NETWORK}
                    found[module.module] = found.get(module.module, frozenset()) | classes
        return found

    @cached_property
    def _changed(self) -> dict[str, tuple[frozenset[str], frozenset[str]]]:
        """Return, for each file, the networks of which it may replace modules, and modules or tensors."""
        found = {}
        for module in self._index.modules.values():
            if module.is_test or not module.stored_parts:
                continue
            modules: set[str] = set()
            both: set[str] = set()
            for store in module.stored_parts:
                if store.kind in (StoreKind.INTEGERS, StoreKind.TAKEN):
                    continue
                value = self._resolved(store.value, module.module)
                classes = frozenset(self._changed_by(store, value, module))
                both |= classes
                if value.tag not in _TENSORS:
                    modules |= classes
            if both:
                found[module.module] = frozenset(modules), frozenset(both)
        return found

    def _resolved(self, value: Type, module: str) -> Type:
        return self._index.resolve(value.of, module) if not value and value.of else value

    def _changed_by(self, store: StoredPart, value: Type, module: ModuleSummary) -> Iterator[str]:
        owner = self._owner(store.owner, module.module)
        cls = self._index.class_of(owner)
        if store.kind is StoreKind.OWN:
            if cls is None or owner.tag is not TypeTag.MODULE or value.tag not in _PARTS:
                return
            function = module.functions.get(store.function)
            if function is None or not self._only_constructs(function, _DEPTH):
                yield from self._family(cls)
            return
        if owner.tag is TypeTag.UNKNOWN:
            if self._may_be_meant(store, value):
                yield ANY_NETWORK
        elif owner.tag is TypeTag.MODULE and self._may_change(store, value, cls):
            if cls is None:
                cls = self._holder(store.owner, module.module)
            yield from self._family(cls) if cls is not None else (ANY_NETWORK,)

    def _owner(self, path: str, module: str) -> Type:
        if path.startswith("="):
            return Type(TypeTag(path[1:]))
        kind = self._index.resolve(path, module) if path else UNKNOWN
        cls = self._index.class_of(kind)
        return self._index.class_kind(cls) if cls is not None else kind

    def _may_be_meant(self, store: StoredPart, value: Type) -> bool:
        """Whether a store in an object of unknown class surely stores what only networks hold."""
        match store.kind:
            case StoreKind.PART:
                return True
            case StoreKind.ANY_ATTRIBUTE:
                return value.tag in _PARTS or value.tag is TypeTag.FUNCTION or (store.swaps and not value)
            case StoreKind.ATTRIBUTE:
                if store.name == "__class__":
                    return self._is_network_class(value)
                if store.name in NAMES_OF_LAYERS:
                    return value.tag in _PARTS | _TENSORS
                return value.tag in _PARTS | _TENSORS and store.name in self._names_of_parts
        return False

    def _may_change(self, store: StoredPart, value: Type, cls: ClassSummary | None) -> bool:
        """Whether a store in a network may replace a part of it."""
        if store.name == "__class__":
            return self._is_network_class(value)
        if value and value.tag not in _PARTS | _TENSORS | _CODE:
            return False
        if store.kind is not StoreKind.ATTRIBUTE or store.name in NAMES_OF_LAYERS:
            return True
        if value.tag in _PARTS:
            return cls is None or store.name in self._names_of_parts
        # a value of unknown type only replaces a part if the class has one of this name
        kind = self._index.attribute(cls, store.name) if cls is not None else UNKNOWN
        return kind.tag in _PARTS or (not kind and store.name in self._names_of_parts)

    def _is_network_class(self, value: Type) -> bool:
        """Whether the class that an object gets may be one of networks."""
        cls = self._index.class_of(value)
        return cls is None or self._index.class_kind(cls).tag is TypeTag.MODULE

    @cached_property
    def _names_of_parts(self) -> frozenset[str]:
        """Return the names of the attributes of networks that may hold modules or parameters."""
        return frozenset(
            name
            for module in self._index.modules.values()
            for cls in module.classes.values()
            if self._index.class_kind(cls).tag is TypeTag.MODULE
            for name, kind in cls.attributes.items()
            if kind.tag in _PARTS or not kind
        )

    def _holder(self, path: str, module: str) -> ClassSummary | None:
        """Return the network of the project that the layers at an access path belong to."""
        while path:
            path = path.removesuffix("()")
            cut = max(path.rfind("."), path.rfind("["))
            if cut <= 0:
                return None
            path = path[:cut]
            kind = self._owner(path, module)
            cls = self._index.class_of(kind)
            if cls is not None and kind.tag is TypeTag.MODULE:
                return cls
        return None

    def _family(self, cls: ClassSummary) -> Iterator[str]:
        """Yield the classes that an object of a class may have."""
        yield cls.path
        for below in self._index.subclasses(cls):
            yield below.path

    def _only_constructs(self, function: FunctionSummary, depth: int) -> bool:
        """Whether a function only ever runs as part of a constructor."""
        if function.name in _MAKERS:
            return True
        callers = self._graph.callers(function.path)
        return (
            depth > 0
            and bool(callers)
            and all(
                edge.caller.path == function.path or self._only_constructs(edge.caller, depth - 1)
                for edge in callers
            )
        )
