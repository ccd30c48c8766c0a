"""Distractors: other code reads the objects of the pattern, or changes them."""

from __future__ import annotations

import ast

from properties.adjacent import put_next_to, variable_of
from properties.draft import Draft, statements


def keep_alias(draft: Draft) -> bool:
    """Another variable refers to the same object, and is read at the end."""
    draft.use("SEEN")
    return put_next_to(draft, "SEEN.append({name})")


def tell(draft: Draft) -> bool:
    """The value of a variable at this point is recorded."""
    draft.use("SEEN")
    return put_next_to(draft, draft.rng.choice(("SEEN.append(repr({name}))", "print({name})")))


def look_after(draft: Draft) -> bool:
    """A variable is read after the outermost statement that contains the pattern."""
    place = draft.place()
    if place is None or (name := variable_of(draft, place)) is None:
        return False
    draft.use("SEEN")
    scope = place.scope
    outer = next(i for i, s in enumerate(scope) if any(one is place.statement for one in ast.walk(s)))
    scope[outer + 1 : outer + 1] = statements(f"SEEN.append({name})")
    return True


def look_in_between(draft: Draft) -> bool:
    """A nested function reads a variable in each call."""
    place = draft.place()
    if place is None or (name := variable_of(draft, place)) is None:
        return False
    draft.use("SEEN")
    place.block[place.index + 1 : place.index + 1] = statements("peek()")
    place.scope[0:0] = statements(f"def peek():\n    SEEN.append(repr({name}))")
    return True


def pass_on(draft: Draft) -> bool:
    """The variable is passed to known or unknown code."""
    draft.use("told")
    return put_next_to(draft, "told({name})")


def change(draft: Draft) -> bool:
    """A function changes the object of a variable in place."""
    draft.use("changed")
    return put_next_to(draft, "changed({name})")


def look_by_name(draft: Draft) -> bool:
    """Code in a text, or `locals()`, looks at a variable."""
    draft.use("SEEN")
    forms = (
        "exec('SEEN.append(repr({name}))')",
        "SEEN.append(repr(eval('{name}')))",
        "SEEN.append(repr(locals().get('{name}')))",
        "SEEN.append(repr(vars().get('{name}')))",
        "SEEN.append(repr(globals().get('{name}')))",
    )
    return put_next_to(draft, draft.rng.choice(forms))
