"""What a file puts into objects that may be networks: modules, tensors and methods, as plain data for the
summaries.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlint import models
from rlint.enums import Enum
from rlint.frozen import frozen
from rlint.models import element_types
from rlint.models.trait import Trait
from rlint.models.value_type import Type, TypeTag
from rlint.semantics.effects.namespace_writes import ANY_NAME
from rlint.syntax.last_names import last_name
from rlint.syntax.queries import is_property
from rlint.syntax.scopes import BindingKind

if TYPE_CHECKING:
    from rlint.semantics.file_analysis import FileAnalysis

REGISTRIES = ("_modules", "_parameters", "_buffers", "_forward_hooks", "_forward_pre_hooks")
"""The dicts of `torch.nn.Module` that hold its parts and hooks."""
_OF_TENSORS = frozenset({"_parameters", "_buffers"})
NAMES_OF_LAYERS = frozenset({"weight", "bias", "__class__"})
"""Attributes of any layer by which other code replaces its tensors or its code."""
_STATES = frozenset({"grad", "requires_grad", "training", "data"})
"""Attributes of parameters and modules whose assignment does not change the parts of a network, or that the
index knows (`data`).
"""
_ADDS_MODULES = (
    models.having(Trait.INSERTS, TypeTag.MODULE) & models.having(Trait.ADDS_PART, TypeTag.MODULE)
) | {"register_parametrization", "set_submodule"}
_ADDS_TENSORS = models.having(Trait.ADDS_PART, TypeTag.MODULE) - _ADDS_MODULES
_SHARES_MEMORY = ("set_", "swap_tensors", "vector_to_parameters")
_APPENDS = models.having(Trait.INSERTS | Trait.INSERTS_ALL, TypeTag.LIST)
_LISTS_PARTS = models.having(Trait.RUNS_NO_LAYER, TypeTag.MODULE) & {
    "children",
    "modules",
    "named_children",
    "named_modules",
}
_DEPTH = 4
_TENSORS_OR_UNKNOWN = (TypeTag.UNKNOWN, TypeTag.TENSOR)
_MAY_BE_HELD = frozenset(
    {TypeTag.UNKNOWN, TypeTag.MODULE, TypeTag.PARAMETERS, TypeTag.TENSOR, TypeTag.INSTANCE}
    | {TypeTag.LIST, TypeTag.TUPLE, TypeTag.DICT, TypeTag.ITERATOR}
)
_PARAMETER = ("torch.nn.Parameter", "torch.nn.parameter.Parameter")
_TESTS = models.having(Trait.TESTS_CLASS, "builtins")
_CREATES_PARAMETERS = ("Parameter", "from_pretrained")
_SETS = ("setattr", "__setattr__")
_LOOKS = models.having(Trait.COPIES, TypeTag.DICT) | {"get", "items", "keys", "values"}
_READS_ALL = models.having(Trait.ITERATES | Trait.ONLY_LOOKS | Trait.SAME_ITEMS, "builtins")
_PARTS = frozenset({TypeTag.MODULE, TypeTag.PARAMETERS})
_MAY_BE_STORED = _PARTS | {TypeTag.UNKNOWN, TypeTag.TENSOR, TypeTag.CLASS, TypeTag.FUNCTION, TypeTag.INSTANCE}
_MAY_HOLD_PARTS = frozenset({TypeTag.UNKNOWN, TypeTag.MODULE, TypeTag.CLASS, TypeTag.INSTANCE})


class StoreKind(Enum):
    """How a file stores a value in an object."""

    ATTRIBUTE = "attribute"
    """In an attribute from outside: `agent.net.head = nn.Linear(8, 2)`."""
    OWN = "own"
    """In an attribute by a method other than the constructor: `self.head = nn.Linear(8, 2)`."""
    ITEM = "item"
    """As an item, or at the end of a container: `net.layers[0] = layer`."""
    ANY_ATTRIBUTE = "any attribute"
    """In an attribute whose name is known only at run time: `setattr(net, name, layer)`."""
    PART = "part"
    """As a part, whatever the name: `net.add_module(name, layer)`."""
    TAKEN = "taken"
    """By a method of a network that takes it from a variable of the module (`self.first = LAYERS[name]`), or
    from an argument as the memory of a parameter.
    """
    INTEGERS = "integers"
    """As a parameter without gradient, which may hold integers; or the network is cast to integers."""


@frozen
class StoredPart:
    """A value that a file stores in the object at the access path `owner` ("" if unknown).

    `name` is the attribute, `value` the type of the value, `function` the method that stores it (for an
    attribute of its own object). `swaps`: the function around it goes through the parts of modules.
    """

    kind: StoreKind
    owner: str
    name: str
    value: Type
    function: str = ""
    swaps: bool = False


def stored_parts(analysis: FileAnalysis) -> tuple[StoredPart, ...]:
    """Return the stores of a file that may replace parts of finished networks, or let them share memory."""
    return tuple(dict.fromkeys(_StoredParts(analysis).all()))


class _StoredParts:
    def __init__(self, analysis: FileAnalysis) -> None:
        self._analysis = analysis
        self._syntax = analysis.syntax
        self._names = analysis.names

    def all(self) -> Iterator[StoredPart]:
        yield from self._attributes()
        yield from self._items()
        yield from self._calls()
        for cls in self._syntax.of_type(ast.ClassDef):
            if any(each.arg == "metaclass" and last_name(each.value) != "ABCMeta" for each in cls.keywords):
                path = f"{self._analysis.name}.{self._syntax.qualname(cls)}()"
                yield StoredPart(StoreKind.PART, path, "", Type(TypeTag.MODULE))
        yield from self._integers()
        yield from self._taken()
        for owner, name in self._names.writes:
            if owner is not None and name != ANY_NAME:
                part = self._store(StoreKind.ATTRIBUTE, owner, name, None)
                if part is not None:
                    yield part

    def _attributes(self) -> Iterator[StoredPart]:
        for store in self._syntax.written.attribute_stores:
            if store.attr in _STATES or isinstance(store.ctx, ast.Del):
                continue
            value = getattr(self._syntax.parents.get(store), "value", None)
            value = value if isinstance(value, ast.expr) else None
            own = self._names.is_self(store.value)
            part = self._store(StoreKind.OWN if own else StoreKind.ATTRIBUTE, store.value, store.attr, value)
            if part is not None:
                yield part

    def _items(self) -> Iterator[StoredPart]:
        for item in self._syntax.written.item_stores:
            value = getattr(self._syntax.parents.get(item), "value", None)
            value = value if isinstance(value, ast.expr) and isinstance(item.ctx, ast.Store) else None
            if isinstance(item.value, ast.Attribute) and item.value.attr in REGISTRIES:
                continue  # see `_registries`
            if self._type_of(item.value).tag in (TypeTag.MODULE, TypeTag.UNKNOWN) and value is not None:
                part = self._store(StoreKind.ITEM, item.value, "", value)
                if part is not None:
                    yield part
        yield from self._registries()

    def _registries(self) -> Iterator[StoredPart]:
        """Yield uses of the dicts that hold the parts of a module, besides reading them."""
        if not any(name in self._syntax.text for name in REGISTRIES):
            return
        for name in REGISTRIES:
            tag = TypeTag.TENSOR if name in _OF_TENSORS else TypeTag.MODULE
            for use in self._syntax.written.attributes.get(name, ()):
                if self._is_in_constructor(use) or self._is_only_read(use):
                    continue
                yield StoredPart(StoreKind.PART, self._path_of(use.value), "", Type(tag))

    def _is_only_read(self, registry: ast.Attribute) -> bool:
        match self._syntax.parents.get(registry):
            case ast.Attribute(attr=method) as attribute if method in _LOOKS:
                return isinstance(self._syntax.parents.get(attribute), ast.Call)
            case ast.Subscript(ctx=ast.Load()) | ast.Compare() | ast.For() | ast.comprehension():
                return True
            case ast.Call(func=called):
                return self._names.qualified(called) in _READS_ALL
        return False

    def _integers(self) -> Iterator[StoredPart]:
        """Yield parameters without gradient, the only ones that may hold integers, and casts of networks."""
        written = self._syntax.written
        if any(word in self._syntax.text for word in _CREATES_PARAMETERS):
            for call in self._syntax.of_type(ast.Call):
                assert isinstance(call, ast.Call)
                path = self._names.qualified(call.func) or ""
                if path.startswith("torch.nn.") and path.endswith(_CREATES_PARAMETERS):
                    is_frozen = path.endswith(".from_pretrained") or not _needs_gradient(call)
                    if is_frozen and not self._holds_floats(call):
                        yield StoredPart(StoreKind.INTEGERS, self._class_around(call), "", Type())
                elif path not in _TESTS and any(
                    self._names.qualified(each) in _PARAMETER for each in call.args
                ):
                    yield StoredPart(StoreKind.INTEGERS, self._class_around(call), "", Type())
        for call in written.calls_of(("type", "to")):
            if not isinstance(call.func, ast.Attribute) or not any(map(self._is_exact, call.args)):
                continue
            owner = self._type_of(call.func.value).tag
            in_place = owner is TypeTag.UNKNOWN and isinstance(self._syntax.parents[call], ast.Expr)
            if owner is TypeTag.MODULE or in_place:
                yield StoredPart(StoreKind.INTEGERS, self._path_of(call.func.value), "", Type())

    def _taken(self) -> Iterator[StoredPart]:
        """Yield the network classes that may store existing layers or tensors."""
        stores = (each for each in self._syntax.written.attribute_stores if self._names.is_self(each.value))
        values: list[tuple[ast.AST, ast.AST | None]] = [
            (store, getattr(self._syntax.parents.get(store), "value", None)) for store in stores
        ]
        for call in self._syntax.written.calls_of(_APPENDS | _ADDS_MODULES | _ADDS_TENSORS | {"setattr"}):
            values += [(call, each) for each in call.args[-1:]]
        for call in self._syntax.written.calls_of(("Parameter", "Buffer")):
            values += [(call, each) for each in call.args[:1] if isinstance(each, ast.Name)]
        for place, value in values:
            cls = self._syntax.class_of(place)
            if cls is None or not cls.bases or not isinstance(value, ast.expr):
                continue
            if self._type_of(value).tag is TypeTag.INSTANCE:
                continue  # settings
            is_memory = isinstance(place, ast.Call) and last_name(place.func) in ("Parameter", "Buffer")
            if self._may_exist(value, _DEPTH) or (is_memory and self._is_handed(value)):
                yield StoredPart(StoreKind.TAKEN, self._class_around(place), "", Type())

    def _is_handed(self, value: ast.expr) -> bool:
        """Whether a variable is a parameter that may hold a tensor."""
        return isinstance(value, ast.Name) and any(
            binding.kind is BindingKind.PARAMETER and self._type_of(value).tag in _TENSORS_OR_UNKNOWN
            for binding in self._names.bindings(value)[1]
        )

    def _may_exist(self, value: ast.expr, depth: int) -> bool:
        """Whether a value may be, or contain, an object that a variable of the module holds."""
        kind = self._type_of(value)
        if depth <= 0 or kind.tag not in _MAY_BE_HELD or (kind.tag is TypeTag.TENSOR and kind.fresh):
            return False
        match value:
            case ast.Name():
                scope, bindings = self._names.bindings(value)
                if scope is not None and scope.parent is None:
                    return self._names.qualified(value) is None and any(
                        binding.kind is BindingKind.ASSIGN for binding in bindings
                    )
                return any(
                    binding.value is not None and self._may_exist(binding.value, depth - 1)
                    for binding in self._analysis.definitions.reaching(value)
                )
            case ast.Subscript(value=owner) | ast.Attribute(value=owner) | ast.Starred(value=owner):
                return self._names.qualified(value) is None and self._may_exist(owner, depth - 1)
            case ast.Call(func=func, args=args):
                is_method = isinstance(func, ast.Attribute) and self._names.qualified(func) is None
                if is_method and self._may_exist(func.value, depth - 1):  # type: ignore[attr-defined]
                    return True
                return any(self._may_exist(each, depth - 1) for each in args)
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return any(self._may_exist(each, depth - 1) for each in parts)
        return False

    def _holds_floats(self, call: ast.Call) -> bool:
        values = [*call.args[:1], *(each.value for each in call.keywords if each.arg == "data")]
        return bool(values) and all(
            self._type_of(value).dtype.startswith(("float", "bfloat")) for value in values
        )

    def _is_exact(self, dtype: ast.expr) -> bool:
        """Whether a dtype is one of integers or complex numbers."""
        name = (self._names.qualified(dtype) or "").removeprefix("torch.")
        return element_types.is_exact(element_types.TORCH.get(name, name))

    def _class_around(self, node: ast.AST) -> str:
        cls = self._syntax.class_of(node)
        return f"{self._analysis.name}.{self._syntax.qualname(cls)}()" if cls is not None else ""

    def _calls(self) -> Iterator[StoredPart]:
        written = self._syntax.written
        for call in written.calls_of(_SETS):
            owner, name, value = _set_by(call)
            if owner is None or name is None:
                continue
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                kind = StoreKind.OWN if self._names.is_self(owner) else StoreKind.ATTRIBUTE
                part = self._store(kind, owner, name.value, value)
            elif self._names.is_self(owner) and self._is_in_constructor(call):
                continue
            else:
                part = self._store(StoreKind.ANY_ATTRIBUTE, owner, "", value)
            if part is not None:
                yield part
        for call in written.calls_of(_APPENDS):
            if isinstance(call.func, ast.Attribute) and call.args:
                value = call.args[-1]
                stored = self._type_of(value)
                is_part = stored.tag is TypeTag.MODULE or (not stored and stored.of.endswith("()"))
                if is_part and not self._is_in_constructor(call):
                    part = self._store(StoreKind.ITEM, call.func.value, "", value)
                    if part is not None:
                        yield part
        for call in written.calls_of(_ADDS_MODULES | _ADDS_TENSORS):
            method = last_name(call.func)
            tag = TypeTag.MODULE if method in _ADDS_MODULES else TypeTag.TENSOR
            changed = call.func.value if isinstance(call.func, ast.Attribute) else None
            if method == "register_parametrization":
                changed = call.args[0] if call.args else None
            if changed is None or not self._names.is_self(changed):
                path = self._path_of(changed) if changed is not None else ""
                yield StoredPart(StoreKind.PART, path, "", Type(tag))
        if written.calls_of(_SHARES_MEMORY):
            yield StoredPart(StoreKind.PART, "", "", Type(TypeTag.TENSOR))
        for call in written.calls_of(("load_state_dict",)):
            for keyword in call.keywords:
                is_off = isinstance(keyword.value, ast.Constant) and not keyword.value.value
                if keyword.arg == "assign" and not is_off and isinstance(call.func, ast.Attribute):
                    path = self._path_of(call.func.value)
                    yield StoredPart(StoreKind.PART, path, "", Type(TypeTag.TENSOR))

    def _store(
        self, kind: StoreKind, owner: ast.expr, name: str, value: ast.expr | None
    ) -> StoredPart | None:
        stored = self._type_of(value) if value is not None else Type()
        if isinstance(value, ast.Constant) or stored.tag not in _MAY_BE_STORED:
            return None
        if self._type_of(owner).tag not in _MAY_HOLD_PARTS:
            return None
        path, swaps = self._path_of(owner), self._swaps_parts(owner, kind)
        is_unknown = not path and not stored and not stored.of
        if is_unknown and name not in NAMES_OF_LAYERS and not swaps:
            return None
        function = ""
        if kind is StoreKind.OWN:
            method = self._syntax.function(owner)
            cls = self._syntax.class_of(owner)
            if method is None or method.name == "__init__" or is_property(method):
                return None
            if cls is None or not cls.bases or (stored.tag not in _PARTS and not stored.of):
                return None
            function = self._syntax.qualname(method)
        plain = Type(stored.tag, of=stored.of)
        return StoredPart(kind, path, name, plain, function, swaps)

    def _swaps_parts(self, owner: ast.expr, kind: StoreKind) -> bool:
        if kind is not StoreKind.ANY_ATTRIBUTE:
            return False
        function = self._syntax.function(owner)
        return any(
            self._syntax.function(call) is function for call in self._syntax.written.calls_of(_LISTS_PARTS)
        )

    def _is_in_constructor(self, node: ast.AST) -> bool:
        method = self._syntax.function(node)
        return method is not None and method.name == "__init__"

    def _type_of(self, node: ast.expr) -> Type:
        return self._analysis.types.type_of(node)

    def _path_of(self, owner: ast.expr) -> str:
        """Return the access path of an object, `=` with its type if that is known but no class of the
        project, and "" if it is unknown.
        """
        if isinstance(owner, ast.Name):
            cls = self._names.class_of_self(owner)
            if cls is not None:
                return f"{self._analysis.name}.{self._syntax.qualname(cls)}()"
        kind = self._type_of(owner)
        if kind.tag is TypeTag.CLASS and kind.of:
            return f"{kind.of}()"
        if kind.of:
            return f"{kind.of}()" if kind else kind.of
        return f"={kind.tag.value}" if kind else ""


def _needs_gradient(call: ast.Call) -> bool:
    """Whether `nn.Parameter(...)` surely creates a parameter with gradient, which holds no integers."""
    if any(each.arg is None for each in call.keywords) or len(call.args) > 2:
        return False
    wanted = [*call.args[1:], *(each.value for each in call.keywords if each.arg == "requires_grad")]
    return all(isinstance(value, ast.Constant) and bool(value.value) for value in wanted)


def _set_by(call: ast.Call) -> tuple[ast.expr | None, ast.expr | None, ast.expr | None]:
    """Return the object, name and value of `setattr(net, name, layer)` or `net.__setattr__(name, layer)`."""
    match call:
        case ast.Call(func=ast.Name(), args=[owner, name, value]):
            return owner, name, value
        case ast.Call(func=ast.Attribute(value=owner), args=[name, value]):
            return owner, name, value
        case ast.Call(func=ast.Attribute(), args=[owner, name, value]):  # `object.__setattr__(net, …)`
            return owner, name, value
    return None, None, None
