"""Numbers that the program passes to parameters and attributes that determine how often code runs."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from rlint import models
from rlint.models.trait import Trait
from rlint.semantics.frequency.program_settings import ProgramSettings
from rlint.syntax.assignments import value_assigned
from rlint.syntax.last_names import last_name
from rlint.syntax.syntax_index import Function, SyntaxIndex

if TYPE_CHECKING:
    from rlint.semantics.frequency.callers import ProgramCalls
    from rlint.semantics.interprocedural.call_graph import CallEdge, CallGraph
    from rlint.semantics.interprocedural.summary import ClassSummary, FunctionSummary

_MOST_CALLS = 20
"""Maximum number of calls through which a parameter is followed."""
_MOST_CALLERS = 50
_NUMBERS = models.having(Trait.OF_NUMBERS, "builtins")


class HandedLengths:
    """The numbers that calls pass to parameters, and constructors to the attributes of their objects."""

    def __init__(self, graph: CallGraph, settings: ProgramSettings, calls: ProgramCalls) -> None:
        self._graph = graph
        self._settings = settings
        self._calls = calls
        self._known: dict[tuple[str, str], frozenset[int | None]] = {}

    def of_parameter(self, name: str, function: FunctionSummary) -> int | None:
        """Return the smallest number that calls pass; None if a call passes an unknown value."""
        return _least(self._of_parameter(name, function, frozenset()))

    def of_attribute(self, name: str, function: FunctionSummary) -> int | None:
        """Return the smallest number that constructors assign to an attribute of `self`, for a method of the
        class.
        """
        found: set[int | None] = set()
        for maker, value in self.stored(name, function):
            if isinstance(value, int):
                found.add(value)
            elif value in maker.parameters:
                found |= self._of_parameter(value, maker, frozenset())
            else:
                found.add(self._settings.length(value, maker.module))
        return _least(found)

    def stored(self, name: str, function: FunctionSummary) -> list[tuple[FunctionSummary, str | int]]:
        """Return what the constructors of an object store in an attribute: a number, or the last name of a
        value. Empty if other code also stores a value there.
        """
        if name in self._set_later:
            return []
        return [
            (maker, value)
            for cls in self._family(function)
            if (maker := self._graph.index.modules[cls.module].functions.get(f"{cls.qualname}.__init__"))
            for attribute, value in maker.stores
            if attribute == name
        ]

    def _family(self, function: FunctionSummary) -> Iterator[ClassSummary]:
        """Yield the class of a method, and its bases in the project."""
        owner = function.qualname.rpartition(".")[0]
        cls = self._graph.index.modules[function.module].classes.get(owner)
        for each in self._graph.index.ancestry(cls) if cls is not None else ():
            if not isinstance(each, str):
                yield each

    @cached_property
    def _set_later(self) -> frozenset[str]:
        """Return the attributes that are assigned after the object was constructed."""
        return frozenset(
            attribute
            for module in self._graph.index.modules.values()
            if not module.is_test
            for function in module.functions.values()
            for _, attribute in function.sets
        )

    def _of_parameter(
        self, name: str, function: FunctionSummary, seen: frozenset[tuple[str, str]]
    ) -> frozenset[int | None]:
        key = function.path, name
        known = self._known.get(key)
        if known is not None:
            return known
        if key in seen:
            return frozenset()  # a recursive call passes on the same value
        if len(seen) >= _MOST_CALLS:
            return frozenset({None})
        edges = self._calls.of(function)
        found: set[int | None] = set()
        for edge in edges[:_MOST_CALLERS]:
            found |= self._at_call(edge, name, seen | {key})
            if None in found:
                break
        if not edges:
            found.add(dict(function.numbers).get(name))
        elif len(edges) > _MOST_CALLERS:
            found.add(None)
        if not seen:
            self._known[key] = frozenset(found)
        return frozenset(found)

    def _at_call(self, edge: CallEdge, name: str, seen: frozenset[tuple[str, str]]) -> frozenset[int | None]:
        site, caller = edge.site, edge.caller
        for place in (name, str(edge.target.place_of(name))):
            number = dict(site.numbers).get(place)
            if number is not None:
                return frozenset({number})
            if any(given == place for given, _ in site.arguments):
                handed = dict(site.names).get(place, "")
                if handed in caller.parameters:
                    return self._of_parameter(handed, caller, seen)
                return frozenset({self._settings.length(handed, caller.module) if handed else None})
        if any(place == "*" for place, _ in site.passes):
            return frozenset({None})
        return frozenset({dict(edge.target.numbers).get(name)})


def _least(found: Collection[int | None]) -> int | None:
    numbers = [number for number in found if number is not None and number > 0]
    return min(numbers) if numbers and None not in found else None


def whole(value: ast.expr | None) -> int | None:
    """Return the integer of a literal; None for other expressions."""
    if (
        isinstance(value, ast.Constant)
        and isinstance(value.value, (int, float))
        and not isinstance(value.value, bool)
        and abs(value.value) < 1e15
    ):
        return int(value.value)
    return None


def stores_of(syntax: SyntaxIndex) -> dict[Function, tuple[tuple[str, str | int], ...]]:
    """Return the attributes in which constructors store numbers, parameters and settings, each with the
    number or the last name of the stored value.
    """
    found: dict[Function, list[tuple[str, str | int]]] = {}
    for store in syntax.written.attribute_stores:
        function = syntax.function(store)
        if (
            function is None
            or function.name != "__init__"
            or not isinstance(store.value, ast.Name)
            or not function.args.args
            or store.value.id != function.args.args[0].arg
        ):
            continue
        value = value_assigned(store, syntax.parents)
        number = whole(value)
        found.setdefault(function, []).append((store.attr, number if number is not None else _name(value)))
    return {function: tuple(stores) for function, stores in found.items()}


def _name(value: ast.expr | None) -> str:
    """Return the last name of a parameter or setting, through `int()` and similar."""
    match value:
        case ast.Call(func=ast.Name(id=name), args=arguments) if f"builtins.{name}" in _NUMBERS:
            names = [name for argument in arguments if (name := _name(argument))]
            return names[0] if len(names) == 1 else ""
        case ast.Name() | ast.Attribute():
            return last_name(value) or ""
    return ""
