"""Compaction of summaries: equal values are kept once, and empty sets take no memory.

The summaries of a large program fill most of the memory of a run: without this, half as much again.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, TypeVar

from rlint.semantics.interprocedural.summary import ClassSummary, FunctionSummary, ModuleSummary
from rlint.semantics.nn.forward.forward_summary import ForwardSummary

_MUTABLE = frozenset({ClassSummary, ForwardSummary, FunctionSummary, ModuleSummary})
"""The classes whose objects are changed after their creation: two equal ones remain two."""
_NOTHING: frozenset[Any] = frozenset()
_Value = TypeVar("_Value", bound=Hashable)


class Interner:
    """Returns the first of all equal values. For strings, types, and sets and tuples of them: numbers of
    different types may be equal, but must not be exchanged.
    """

    def __init__(self) -> None:
        self._known: dict[Hashable, Hashable] = {}

    def __call__(self, value: _Value) -> _Value:
        """Return the first value that was equal to this one."""
        return self._known.setdefault(value, value)  # type: ignore[return-value] # it is equal


class Compactor:
    """Replaces values in summaries by the first equal ones that it received.

    Tuples that contain `True`, `False` or floating-point numbers are left as they are: `1` equals `True`, but
    must not be exchanged with it. The fields of a class have one type each, so there it cannot happen.
    """

    def __init__(self) -> None:
        self._first_equal = Interner()
        self._fields: dict[type, tuple[str, ...]] = {}
        self._is_ambiguous = False  # whether a tuple in the value that is visited equals one of other types

    def compact(self, summary: ModuleSummary) -> None:
        """Replace the values in a summary. Sets become immutable."""
        self._compacted(summary)

    def _compacted(self, value: Any) -> Any:
        kind = type(value)
        if kind is str:
            return self._first_equal(value)
        if value is None or kind is int or kind is bool or kind is float:
            return value
        if kind is dict:
            return {self._compacted(key): self._compacted(part) for key, part in value.items()}
        if kind is set or kind is frozenset:
            return self._of_parts(frozenset, value) if value else _NOTHING
        if isinstance(value, tuple):
            return self._of_parts(kind, value) if value else value
        return self._with_fields(value, kind)

    def _of_parts(self, kind: type, value: Any) -> Any:
        before, self._is_ambiguous = self._is_ambiguous, False
        parts = [self._compacted(part) for part in value]
        if kind is tuple and any(type(part) is bool or type(part) is float for part in parts):
            self._is_ambiguous = True
        made = frozenset(parts) if kind is frozenset else tuple.__new__(kind, parts)
        if not self._is_ambiguous:
            made = self._first_equal(made)
        self._is_ambiguous |= before
        return made

    def _with_fields(self, value: Any, kind: type) -> Any:
        fields = self._fields.get(kind)
        if fields is None:
            names = getattr(kind, "__slots__", ())
            fields = self._fields[kind] = tuple(name for name in names if not name.startswith("_"))
        if not fields:  # such as members of enumerations
            return value
        before, self._is_ambiguous = self._is_ambiguous, False
        for name in fields:
            part = getattr(value, name)
            compacted = self._compacted(part)
            if compacted is not part:
                object.__setattr__(value, name, compacted)
        if not self._is_ambiguous and kind not in _MUTABLE:
            value = self._first_equal(value)
        self._is_ambiguous |= before
        return value
