"""Classes of plain values, cheap to define: a run defines a hundred of them before it reads a file."""

from __future__ import annotations

import dataclasses
from operator import attrgetter
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
    """Make a class a dataclass whose values are told apart by their fields and are not to be changed.

    As `dataclass(frozen=True, slots=True)`, at an eighth of the cost: comparing and showing is written once
    for all, what makes values is written with the first of them, and that nothing is changed is for the type
    checker to see, not looked at with each new value.
    """
    made: Any = dataclasses.dataclass(slots=True, eq=False, repr=False, init=False)(cls)
    made.__init__ = _written_on_first_use(made)
    names = [each.name for each in dataclasses.fields(made) if each.compare]
    parts: Callable[[Any], Any] = attrgetter(*names) if names else lambda _: ()

    def is_equal(self: object, other: object) -> Any:
        return parts(self) == parts(other) if other.__class__ is self.__class__ else NotImplemented

    for name, method in (
        ("__eq__", is_equal),
        ("__hash__", lambda self: hash(parts(self))),
        ("__repr__", _shown),
    ):
        if name not in cls.__dict__ or (name == "__hash__" and cls.__dict__[name] is None):
            setattr(made, name, method)
    result: Class = made
    return result


def _written_on_first_use(cls: Any) -> Callable[..., None]:
    def __init__(self: Any, *arguments: Any, **named: Any) -> None:  # noqa: N807
        cls.__init__ = _init_of(cls)
        cls.__init__(self, *arguments, **named)

    return __init__


def _init_of(cls: Any) -> Any:
    """What `dataclass` would have written."""
    known: dict[str, Any] = {"missing": dataclasses.MISSING}
    parameters, lines = ["self"], []
    for each in dataclasses.fields(cls):
        name = value = each.name
        otherwise = ""
        if each.default_factory is not dataclasses.MISSING:
            known[f"make_{name}"] = each.default_factory
            otherwise, value = "missing", f"make_{name}() if {name} is missing else {name}"
        elif each.default is not dataclasses.MISSING:
            known[f"default_{name}"] = each.default
            otherwise = f"default_{name}"
        if each.init:
            parameters.append(f"{name}={otherwise}" if otherwise else name)
            lines.append(f" self.{name} = {value}")
        elif otherwise:
            lines += [f" {name} = {otherwise}", f" self.{name} = {value}"]
    if hasattr(cls, "__post_init__"):
        lines.append(" self.__post_init__()")
    # of the names in the source of a class, and of nothing else
    exec("\n".join([f"def __init__({', '.join(parameters)}):", *lines, " pass"]), known)  # noqa: S102
    return known["__init__"]


def _shown(self: Any) -> str:
    parts = (f"{each.name}={getattr(self, each.name)!r}" for each in dataclasses.fields(self) if each.repr)
    return f"{type(self).__qualname__}({', '.join(parts)})"
