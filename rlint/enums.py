"""Enumerations that are quick to ask: of those of Python's own `enum`, up to Python 3.11, to read a member as
in `Tag.TENSOR` takes as long as to call two functions. A run reads more than a million.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["Enum", "IntEnum"]

if TYPE_CHECKING:
    from enum import Enum, IntEnum
else:

    class _Members(type):
        """The class of enumerations. Their members are the plain values in their bodies, no two alike."""

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            values = {
                key: value
                for key, value in body.items()
                if not key.startswith("_") and not hasattr(value, "__get__")
            }
            made = super().__new__(cls, name, bases, body)
            members = {key: _member(made, key, value) for key, value in values.items()}
            for key, member in members.items():
                setattr(made, key, member)
            made.__members__ = members
            made._by_value = {member.value: member for member in members.values()}
            return made

        def __call__(cls, value: object) -> Any:
            """The member of a value."""
            try:
                return cls._by_value[value]
            except KeyError:
                raise ValueError(f"{value!r} is not a valid {cls.__qualname__}") from None

        def __getitem__(cls, name: str) -> Any:
            return cls.__members__[name]

        def __iter__(cls) -> Any:
            return iter(cls.__members__.values())

        def __len__(cls) -> int:
            return len(cls.__members__)

    def _member(cls: type, name: str, value: Any) -> Any:
        member = int.__new__(cls, value) if issubclass(cls, int) else object.__new__(cls)
        member.name, member.value = name, value
        return member

    class Enum(metaclass=_Members):
        """As `enum.Enum`, without aliases, flags and values that are made up."""

        def __repr__(self) -> str:
            return f"<{type(self).__name__}.{self.name}: {self.value!r}>"

        def __str__(self) -> str:
            return f"{type(self).__name__}.{self.name}"

        def __reduce_ex__(self, _: object) -> tuple[type, tuple[object]]:
            return type(self), (self.value,)  # there is one of each, in each process

    class IntEnum(int, Enum):
        """As `enum.IntEnum`: members that are numbers, and so have an order."""

        __str__ = int.__repr__
        __repr__ = Enum.__repr__
        __reduce_ex__ = Enum.__reduce_ex__
