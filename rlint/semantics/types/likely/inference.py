"""Likely types in one file: those of `TypeInference`, with choices decided."""

from __future__ import annotations

import ast

from rlint.models.value_type import UNKNOWN, Caveat, Type
from rlint.semantics.types.infer import TypeInference
from rlint.semantics.types.infer_base import TypeResolver
from rlint.semantics.types.likely.choices import assumption, is_settled, likeliest, promoted, without_choices
from rlint.syntax.scopes import Binding

_LONGEST = 40
"""Maximum number of characters of an expression in a message."""


class LikelyInference(TypeInference):
    """The likely types in the file of another inference. Each type that is not sure states its assumption. If
    `only` is given, only these assumptions are made.
    """

    def __init__(
        self, sure: TypeInference, project: TypeResolver | None, only: frozenset[str] | None = None
    ) -> None:
        super().__init__(sure.syntax, sure.names, sure.definitions, project, sure.by_use, sure.evidence)
        self._sure = sure
        self._only = only
        self.open_device = sure.open_device

    def type_of(self, expression: ast.expr) -> Type:
        """Return the likely type of an expression: the sure type, if it is known without doubt."""
        if expression not in self._cache:
            sure = self._sure.found_before(expression)
            if sure is not None and is_settled(sure):
                self._cache[expression] = sure
                return sure
        return super().type_of(expression)

    def judged(self, kind: Type, place: ast.expr | Binding) -> Type:
        """Return what is likely of a value."""
        if self.project is None and kind.of and not kind:
            return kind  # others will know
        found = likeliest(kind, self._decided)
        if found is None:
            return self._as_sure(kind, place) or without_choices(kind)
        likely, choice = found
        assumed = choice.kind.assumes or likely.assumes
        if not assumed:
            where = choice.place or self._place(likely, place)
            assumed = (assumption(f"`{_shown(place)}`", kind, likely, where),)
        if not self._allows(assumed):
            return without_choices(kind)
        return promoted(kind, likely, assumed)

    def _as_sure(self, kind: Type, place: ast.expr | Binding) -> Type | None:
        """Return the sure type if it is the same: it depends on no assumption, even if its parts do."""
        if not kind or isinstance(place, Binding):
            return None
        around = self._sure.notes.state
        sure = self._sure.type_of(place)
        self._sure.notes.state = around
        if sure._replace(caveat=None) != kind._replace(caveat=None):
            return None
        self.notes.state = self.notes.state._replace(assumed=())
        return without_choices(sure)

    def found_at(self, path: str) -> Type:
        """Return the likely type of an access path."""
        around = self.notes.state
        found = super().found_at(path)
        if found.assumes and not self._allows(found.assumes):
            self.notes.state = around
            return self._sure.found_at(path)
        return found

    def supposes(self, assumption: str) -> bool:
        """Whether a fact may be assumed, which is then recorded."""
        if self.project is None or not self._allows((assumption,)):
            return False
        self.notes.add(Caveat(assumes=(assumption,)))
        return True

    def _allows(self, assumed: tuple[str, ...]) -> bool:
        return self._only is None or self._only.issuperset(assumed)

    def _decided(self, kind: Type) -> Type | None:
        if self.project is None:
            return None
        found = self.found_at(kind.of)
        return found or UNKNOWN

    def _place(self, likely: Type, place: ast.expr | Binding) -> str:
        """Return the line of the assignment that shows the type of a variable, if others do not."""
        if not isinstance(place, ast.Name):
            return ""
        scope, bindings = self.names.bindings(place)
        if scope is None or len(bindings) < 2:
            return ""
        for binding in self.definitions.reaching(place):
            line = getattr(binding.node, "lineno", None)
            if line is not None and self.binding_kind(binding).tag is likely.tag:
                return f"line {line}"
        return ""


def _shown(place: ast.expr | Binding) -> str:
    """Return how a message names a value."""
    text = place.name if isinstance(place, Binding) else ast.unparse(place)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
