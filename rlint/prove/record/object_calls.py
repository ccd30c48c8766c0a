"""The calls of an object from its constructor on, so that it can be recreated as a fix would create it."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable
from typing import Any

from rlint.prove.record.capture import simple_attributes

STATE = "the state"
"""Key under which a call stores the attributes of its object that are cheap to serialise."""
_MOST_OBJECTS = 3
_MOST_CALLS = 2000
_MOST_BYTES = 4 * 2**20


class LifeCall:
    """One call, and its arguments besides the object."""

    __slots__ = ("given", "life", "record", "region")

    def __init__(self, life: Life, region: int, given: bytes) -> None:
        self.life, self.region, self.given = life, region, given
        self.record = ""
        """The file with the record of the whole call."""

    def end(self) -> None:
        """Record that the call has ended."""
        self.life.running = False


class Life:
    """The calls of one object, in order."""

    def __init__(self, target: Any) -> None:
        self.target = weakref.ref(target)
        self.calls: list[LifeCall] = []
        self.size = 0
        self.running = False
        """Within a call, whose inner calls are repeated when it is replayed."""

    def as_plain_data(self) -> list[tuple[int, bytes, str]]:
        """Return the calls as plain data."""
        return [(one.region, one.given, one.record) for one in self.calls]


class ObjectCalls:
    """The objects of one constructor; the first ones are followed."""

    def __init__(self, constructor: int) -> None:
        self._constructor = constructor
        self._object_calls: dict[int, Life] = {}
        self._begun = 0

    def open_to(self, region: int) -> bool:
        """Whether a call of a region may belong to a life."""
        return bool(self._object_calls) or (region == self._constructor and self._begun < _MOST_OBJECTS)

    def of(self, names: dict[str, Any]) -> dict[str, list[tuple[int, bytes, str]]]:
        """Return the calls so far of objects that are bound to names."""
        return {
            name: self._object_calls[id(value)].as_plain_data()
            for name, value in names.items()
            if id(value) in self._object_calls
            and self._object_calls[id(value)].target() is value
            and not self._object_calls[id(value)].running
        }

    def add(
        self,
        region: int,
        instance: str,
        given: dict[str, Any],
        captured: Callable[[dict[str, Any]], bytes] | None,
    ) -> LifeCall | None:
        """Add a call to those of its object; no further calls are added once one cannot be serialised."""
        target = given.pop(instance, None)
        if region == self._constructor and self._begun < _MOST_OBJECTS:
            self._begun += 1
            with contextlib.suppress(TypeError):  # of a class without weak references
                self._object_calls[id(target)] = Life(target)
        life = self._object_calls.get(id(target))
        if life is None or life.running or life.target() is not target:
            return None
        try:
            if captured is None:
                raise OverflowError  # noqa: TRY301 - ends the life as other reasons do
            call = LifeCall(life, region, captured({**given, STATE: simple_attributes(target)}))
        except Exception:  # noqa: BLE001 - the program must not notice
            del self._object_calls[id(target)]
            return None
        life.calls.append(call)
        life.running = True
        life.size += len(call.given)
        if len(life.calls) > _MOST_CALLS or life.size > _MOST_BYTES:
            del self._object_calls[id(target)]
        return call
