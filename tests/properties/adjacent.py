"""Positions of distractors, and the variables that they use."""

from __future__ import annotations

from properties.draft import Draft, Place, statements
from properties.names import bound_in, read_in


def variable_of(draft: Draft, place: Place, *, bound: bool | None = None) -> str | None:
    """A variable that the statement uses."""
    held = bound_in(place.statement) if bound is not False else []
    if bound is not True:
        held += [name for name in read_in(place.statement) if name not in held]
    known = variables_of(place)
    held = [name for name in held if name in known]
    return draft.rng.choice(held) if held else None


def variables_of(place: Place) -> set[str]:
    """The variables of the scope: parameters and other bound names."""
    found = {name for statement in place.scope for name in bound_in(statement)}
    if place.function is not None:
        given = place.function.args
        found |= {one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
    return found


def put_next_to(draft: Draft, source: str, *, name: str | None = None) -> bool:
    """Insert statements before or after a marked one; `{name}` in them is a variable that it uses."""
    place = draft.place()
    if place is None:
        return False
    name = name or variable_of(draft, place)
    if name is None:
        return False
    after = draft.rng.random() < 0.6
    added = statements(source.format(name=name))
    place.block[place.index + after : place.index + after] = added
    return True
