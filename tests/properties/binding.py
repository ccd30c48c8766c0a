"""Distractors: names mean something else, or something else gets a name."""

from __future__ import annotations

from properties.beside import put_beside, variable_of
from properties.draft import Draft, statements


def rebind(draft: Draft) -> bool:
    """A variable is bound anew."""
    draft.use("passed_on")
    forms = (
        "{name} = {name}",
        "{name} = passed_on({name})",
        "{name} = copy.copy({name})",
        "other = {name}; {name} = other",
    )
    form = draft.rng.choice(forms)
    if "copy" in form:
        draft.use("copy")
    return put_beside(draft, form)


def delete(draft: Draft) -> bool:
    """A variable is deleted behind the pattern."""
    return put_beside(draft, "del {name}")


def swap(draft: Draft) -> bool:
    """Another object takes the variable's place for a moment."""
    return put_beside(draft, "{name}, kept = [{name}, {name}]\n{name} = kept")


def declare_global(draft: Draft) -> bool:
    """A variable of a function is one of the module."""
    place = draft.place()
    if place is None or place.function is None or (name := variable_of(draft, place, bound=True)) is None:
        return False
    given = place.function.args
    if name in {one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)}:
        return False
    place.function.body[0:0] = statements(f"global {name}")
    return True


def shadow(draft: Draft) -> bool:
    """A builtin or a module means something else here."""
    place = draft.place()
    if place is None:
        return False
    builtins = (
        "len",
        "range",
        "list",
        "sum",
        "zip",
        "reversed",
        "float",
        "int",
        "enumerate",
        "max",
        "str",
        "sorted",
    )
    name = draft.rng.choice(builtins)
    draft.use("SEEN")
    source = f"def {name}(*given, inner={name}):\n    SEEN.append('{name}')\n    return inner(*given)"
    (place.scope if draft.rng.random() < 0.5 else draft.tree.body)[0:0] = statements(source)
    return True


def take_names(draft: Draft) -> bool:
    """Names that a fix would like to give are taken. What these are, the engine says."""
    from properties.names import names_in
    from properties.seeds import fixed

    text = draft.text()
    wanted = sorted(names_in(fixed(text).after) - names_in(text))
    place = draft.place()
    if not wanted or place is None:
        return False
    name = draft.rng.choice(wanted)
    draft.use("SEEN")
    if draft.rng.random() < 0.5:
        draft.tree.body[0:0] = statements(f"{name} = 'taken'")
    else:
        place.scope[0:0] = statements(f"{name} = 'taken'")
    place.block[place.index + 1 : place.index + 1] = (
        statements(f"SEEN.append({name})") if place.block is not place.scope else []
    )
    return True


def comprehend(draft: Draft) -> bool:
    """A comprehension has a variable of the same name."""
    draft.use("SEEN")
    return put_beside(draft, "SEEN.append([{name} for {name} in range(3)])")


def walrus(draft: Draft) -> bool:
    """A condition binds the variable."""
    return put_beside(
        draft,
        draft.rng.choice(
            ("if (other := {name}) is None:\n    pass", "if ({name} := {name}) is None:\n    pass")
        ),
    )


def match_it(draft: Draft) -> bool:
    """A pattern binds a variable."""
    draft.use("SEEN")
    return put_beside(
        draft,
        draft.rng.choice(
            (
                "match {name}:\n    case [*{name}]:\n        pass",
                "match {name}:\n    case other:\n        SEEN.append(other)",
            )
        ),
    )
