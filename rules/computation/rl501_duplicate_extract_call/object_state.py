"""Which attributes of `self` the methods of a class read and set."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from rlint.rule import FUNCTIONS, Function, SemanticModel, descendants, last_name
from rlint.rules.computation.rl501_duplicate_extract_call.likely_pure import announces_change

_ALL = "*"
"""Stands for every attribute: unknown code has received the object."""


def method_called(call: ast.Call, model: SemanticModel) -> str | None:
    """Return the name of a method that a call runs on `self`."""
    match call.func:
        case ast.Attribute(value=ast.Name() as owner, attr=name) if model.names.is_self(owner):
            return name
    return None


def names_stored(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the variables that some nodes bind."""
    return {
        part.id
        for part in _all_in(nodes)
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)
    }


def state_of(cls: ast.ClassDef, model: SemanticModel) -> ObjectState:
    """Return the methods of a class."""
    return ObjectState({part.name: part for part in cls.body if isinstance(part, FUNCTIONS)}, model)


class ObjectState:
    """The methods of a class with the attributes that they read and set, themselves and in other methods."""

    def __init__(self, methods: dict[str, Function], model: SemanticModel) -> None:
        self.methods = methods
        self._model = model
        self._reads: dict[str, set[str]] = {}
        self._writes: dict[str, set[str]] = {}

    def changes(self, name: str, nodes: Iterable[ast.AST]) -> bool:
        """Whether some nodes set an attribute that a method reads."""
        written = set(self._written_by(nodes))
        return _ALL in written or bool(written & self._collected(name, self._reads, self._read_by))

    def changes_itself(self, name: str) -> bool:
        """Whether a method sets an attribute that it reads."""
        written = self._collected(name, self._writes, self._written_by)
        return _ALL in written or bool(written & self._collected(name, self._reads, self._read_by))

    def _collected(
        self,
        name: str,
        known: dict[str, set[str]],
        own: Callable[[Iterable[ast.AST]], Iterator[str]],
    ) -> set[str]:
        if name not in known:
            known[name] = set()  # a recursive call adds nothing
            known[name] = set(own(self.methods[name].body))
        return known[name]

    def _read_by(self, nodes: Iterable[ast.AST]) -> Iterator[str]:
        for part in _all_in(nodes):
            if isinstance(part, ast.Attribute) and self._model.names.is_self(part.value):
                if part.attr in self.methods:  # a method, or a property
                    yield from self._collected(part.attr, self._reads, self._read_by)
                elif isinstance(part.ctx, ast.Load):
                    yield part.attr

    def _written_by(self, nodes: Iterable[ast.AST]) -> Iterator[str]:
        for part in _all_in(nodes):
            match part:
                case ast.Attribute(attr=attribute, ctx=ast.Load()) if self._model.names.is_self(part.value):
                    if attribute in self.methods:
                        yield from self._collected(attribute, self._writes, self._written_by)
                case ast.Attribute() | ast.Subscript() if not isinstance(part.ctx, ast.Load):
                    yield from self._attribute_of(part)
                case ast.Call():
                    yield from self._modified_by(part)

    def _modified_by(self, call: ast.Call) -> Iterator[str]:
        """Yield the attributes that a call may modify: `self.rows.append(row)`, `fill(self.rows)`."""
        name = method_called(call, self._model)
        effect = self._model.effects.call_effect(call)
        if name in self.methods or effect.quiet:
            return
        if name is None and not effect.acts and not announces_change(last_name(call.func) or ""):
            return  # of unknown effect, likely none
        if name is not None:
            yield _ALL  # a method of a base class, or a callable that the object holds
        elif isinstance(call.func, ast.Attribute):
            yield from self._attribute_of(call.func.value)
        for given in (*call.args, *(keyword.value for keyword in call.keywords)):
            if self._model.names.is_self(given):
                yield _ALL
            yield from self._attribute_of(given)

    def _attribute_of(self, place: ast.AST) -> Iterator[str]:
        """Yield `rows` for `self.rows[0].values`."""
        while isinstance(place, (ast.Attribute, ast.Subscript)):
            if isinstance(place, ast.Attribute) and self._model.names.is_self(place.value):
                yield place.attr
            place = place.value


def _all_in(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    for node in nodes:
        yield node
        yield from descendants(node)
