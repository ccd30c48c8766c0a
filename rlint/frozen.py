"""Classes of plain values, cheap to define: a run defines a hundred of them before it reads a file.

Not by a library, because a hundred classes take 12 ms here, 17 ms as `msgspec.Struct`, 44 ms as dataclasses
with slots and 48 ms with attrs (Python 3.11, imports included, medians of 20 alternating runs).
"""

from __future__ import annotations

import dataclasses
import operator
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: object) -> Callable[[Any], Any]:
        """Tell type checkers that a decorator makes dataclasses."""
        return lambda decorator: decorator


Class = TypeVar("Class", bound=type)


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def frozen(cls: Class) -> Class:
    """Make a class an immutable dataclass whose values are compared by their fields.

    Like `dataclass(frozen=True, slots=True)`, at a tenth of the cost: comparison and representation are
    shared by all classes, `__init__` is generated for the first value, and immutability is checked by the
    type checker, not at run time.
    """
    parts = _compared(cls)
    return _made(cls, {"__eq__": _equality(parts), "__hash__": lambda self: hash(parts(self))})


@dataclass_transform(frozen_default=True, order_default=True, field_specifiers=(dataclasses.field,))
def ordered(cls: Class) -> Class:
    """Make a class as `frozen` does, with an order: that of its fields."""
    parts = _compared(cls)
    order = {f"__{name}__": _comparison(getattr(operator, name), parts) for name in ("lt", "le", "gt", "ge")}
    return _made(cls, {"__eq__": _equality(parts), "__hash__": lambda self: hash(parts(self)), **order})


@dataclass_transform(field_specifiers=(dataclasses.field,))
def mutable(cls: Class) -> Class:
    """Make a class a mutable dataclass, as `dataclass(slots=True)`."""
    return _made(cls, {"__eq__": _equality(_compared(cls)), "__hash__": None})


@dataclass_transform(eq_default=False, field_specifiers=(dataclasses.field,))
def single(cls: Class) -> Class:
    """Make a class a dataclass whose values are compared by identity."""
    return _made(cls, {})


def _compared(cls: type) -> Callable[[Any], Any]:
    """Return a getter of the fields that determine equality."""
    names = [name for name in cls.__annotations__ if getattr(cls.__dict__.get(name), "compare", True)]
    return attrgetter(*names) if names else lambda _: ()


def _equality(parts: Callable[[Any], Any]) -> Callable[[Any, object], Any]:
    def is_equal(self: object, other: object) -> Any:
        return parts(self) == parts(other) if other.__class__ is self.__class__ else NotImplemented

    return is_equal


def _comparison(
    compare: Callable[[Any, Any], bool], parts: Callable[[Any], Any]
) -> Callable[[Any, object], Any]:
    def is_so(self: object, other: object) -> Any:
        return compare(parts(self), parts(other)) if other.__class__ is self.__class__ else NotImplemented

    return is_so


def _made(cls: Class, methods: dict[str, Any]) -> Class:
    """Return a new class with a slot for each field and the generated methods that it does not define."""
    body = {name: value for name, value in cls.__dict__.items() if name not in ("__dict__", "__weakref__")}
    names = tuple(cls.__annotations__)
    given = {name: body.pop(name, dataclasses.MISSING) for name in names}
    own = {name for name, value in body.items() if value is not None}
    body.update((name, method) for name, method in methods.items() if name not in own)
    body.setdefault("__repr__", _shown)
    body.update(
        __init__=_written_on_first_use(given),
        __qualname__=cls.__qualname__,
        __slots__=names,
        __match_args__=tuple(name for name in names if getattr(given[name], "init", True)),
        __dataclass_fields__=_Fields(cls),
    )
    made: Class = type(cls)(cls.__name__, cls.__bases__, body)
    return made


class _Fields:
    """The fields of a class, in the form of `dataclasses`. They are created on first use: most classes are
    never used in a run, and creating them takes longer than everything else.
    """

    def __init__(self, written: type) -> None:
        self._written = written

    def __get__(self, _: object, cls: type) -> Any:
        described: Any = dataclasses.dataclass(eq=False, repr=False, init=False)(self._written)
        fields = cls.__dataclass_fields__ = described.__dataclass_fields__  # type: ignore[attr-defined]
        return fields


def _written_on_first_use(given: dict[str, Any]) -> Callable[..., None]:
    def __init__(self: Any, *arguments: Any, **named: Any) -> None:  # noqa: N807
        written = _init_of(type(self), given)
        for cls in type(self).__mro__:  # a derived class may have one of its own
            if cls.__dict__.get("__init__") is __init__:
                setattr(cls, "__init__", written)  # noqa: B010
        written(self, *arguments, **named)

    return __init__


def _init_of(cls: Any, given: dict[str, Any]) -> Any:
    """Return the `__init__` that `dataclass` would generate from the fields and class-level defaults."""
    known: dict[str, Any] = {"missing": dataclasses.MISSING}
    parameters, lines = ["self"], []
    for name, default in given.items():
        value, otherwise, is_parameter = name, "", True
        if isinstance(default, dataclasses.Field):
            is_parameter, factory, default = default.init, default.default_factory, default.default  # noqa: PLW2901
            if factory is not dataclasses.MISSING:
                known[f"make_{name}"] = factory
                otherwise, value = "missing", f"make_{name}() if {name} is missing else {name}"
        if default is not dataclasses.MISSING:
            known[f"default_{name}"] = default
            otherwise = f"default_{name}"
        if is_parameter:
            parameters.append(f"{name}={otherwise}" if otherwise else name)
            lines.append(f" self.{name} = {value}")
        elif otherwise:
            lines += [f" {name} = {otherwise}", f" self.{name} = {value}"]
    if hasattr(cls, "__post_init__"):
        lines.append(" self.__post_init__()")
    # from the names in the source of a class only
    exec("\n".join([f"def __init__({', '.join(parameters)}):", *lines, " pass"]), known)  # noqa: S102
    return known["__init__"]


@recursive_repr()
def _shown(self: Any) -> str:
    parts = (f"{each.name}={getattr(self, each.name)!r}" for each in dataclasses.fields(self) if each.repr)
    return f"{type(self).__qualname__}({', '.join(parts)})"
