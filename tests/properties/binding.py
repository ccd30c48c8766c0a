"""Distractors: names are rebound, or values get other names."""

from __future__ import annotations

import ast

from properties.adjacent import put_next_to, variable_of, variables_of
from properties.draft import Draft, Place, blocks_of, statements
from properties.names import bound_in


def rebind(draft: Draft) -> bool:
    """A variable is rebound."""
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
    return put_next_to(draft, form)


def delete(draft: Draft) -> bool:
    """A variable is deleted after the pattern."""
    return put_next_to(draft, "del {name}")


def swap(draft: Draft) -> bool:
    """The variable is temporarily bound to another object."""
    return put_next_to(draft, "{name}, kept = [{name}, {name}]\n{name} = kept")


def declare_global(draft: Draft) -> bool:
    """A variable of a function becomes one of the module."""
    place = draft.place()
    if place is None or place.function is None or (name := variable_of(draft, place, bound=True)) is None:
        return False
    given = place.function.args
    if name in {one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)}:
        return False
    place.function.body[0:0] = statements(f"global {name}")
    return True


def shadow(draft: Draft) -> bool:
    """A builtin or a module is shadowed."""
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
    """Names that a fix would use are taken. The engine reports which names these are."""
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
    return put_next_to(draft, "SEEN.append([{name} for {name} in range(3)])")


def walrus(draft: Draft) -> bool:
    """A condition binds the variable."""
    return put_next_to(
        draft,
        draft.rng.choice(
            ("if (other := {name}) is None:\n    pass", "if ({name} := {name}) is None:\n    pass")
        ),
    )


def match_it(draft: Draft) -> bool:
    """A pattern binds a variable."""
    draft.use("SEEN")
    return put_next_to(
        draft,
        draft.rng.choice(
            (
                "match {name}:\n    case [*{name}]:\n        pass",
                "match {name}:\n    case other:\n        SEEN.append(other)",
            )
        ),
    )


_BINDING = (
    "match [{other}]:\n    case [{name}]:\n        pass",
    "match {{'x': {other}}}:\n    case {{'x': {name}, **kept}}:\n        pass",
    "match [{other}]:\n    case [{name}] if {name} is None:\n        pass\n    case _:\n        pass",
    "match {name}:\n    case {name} if ({name} := {other}) is not None:\n        pass",
    "for {name} in [{other}]:\n    pass",
    "for {name} in [{other}]:\n    len(SEEN)\nelse:\n    pass",
    "while ({name} := {other}) is not None:\n    pass\n    break",
    "if ({name} := {other}) is not None:\n    pass",
    "if any(({name} := {other}) is None for _ in range(2)):\n    len(SEEN)\nelse:\n    pass",
    "with contextlib.nullcontext({other}) as {name}:\n    pass",
    "with contextlib.nullcontext(({other}, 1)) as ({name}, kept):\n    pass",
    "try:\n    now_and_then(1)\nexcept Failing:\n    {name} = {other}\nfinally:\n    pass",
    "try:\n    now_and_then(2)\nexcept Failing:\n    pass\nelse:\n    {name} = {other}\nfinally:\n    pass",
    "try:\n    {name} = {other}\n    now_and_then(1)\nexcept Failing as error:\n    pass",
)
"""Statements that bind a variable and contain its uses in place of the last `pass`."""


def bind_around(draft: Draft) -> bool:
    """The rest of the block is in a statement that binds a variable to another's value."""
    place = draft.place()
    read = draft.rng.random() < 0.8
    if place is None or (name := variable_of(draft, place, bound=False if read else None)) is None:
        return False
    form = draft.rng.choice(_BINDING)
    draft.use("SEEN", "now_and_then", "contextlib")
    [outer] = statements(form.format(name=name, other=_another(draft, place, name)))
    inner, index = _last_pass(outer)
    start = place.index + (draft.rng.random() < 0.2)
    rest = place.block[start:]
    if not rest or isinstance(rest[0], (ast.Global, ast.Nonlocal)):
        return False
    inner[index : index + 1] = rest
    place.block[start:] = [outer]
    return True


def put_off(draft: Draft) -> bool:
    """A computation is deferred until a variable has another value."""
    place = draft.place()
    if place is None or (name := variable_of(draft, place, bound=False)) is None:
        return False
    statement = place.statement
    if not isinstance(statement, ast.Assign) or any(
        isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await)) for node in ast.walk(statement)
    ):
        return False
    made, used = draft.rng.choice(
        (
            ("later = ({} for _ in range(1))", "next(later)"),
            ("later = enumerate({} for _ in range(1))", "next(later)[1]"),
            ("later = (1 for _ in range(1) if [kept := {}])", "[next(later), kept][1]"),
            ("later = lambda: {}", "later()"),
        )
    )
    before = statements(made.format(f"({ast.unparse(statement.value)})"))
    if draft.rng.random() < 0.8:
        before += statements(f"{name} = {_another(draft, place, name)}")
    statement.value = ast.parse(used, mode="eval").body
    place.block[place.index : place.index] = before
    return True


def _another(draft: Draft, place: Place, name: str) -> str:
    """The name of another variable, or the same value returned by a function."""
    later = {bound for statement in place.block[place.index :] for bound in bound_in(statement)}
    others = sorted(variables_of(place) - later - {name})
    if others and draft.rng.random() < 0.8:
        return draft.rng.choice(others)
    draft.use("passed_on")
    return f"passed_on({name})"


def _last_pass(outer: ast.stmt) -> tuple[list[ast.stmt], int]:
    """The block that contains the last `pass` of a statement, and its index."""
    found = [
        (block, index)
        for node in ast.walk(outer)
        for block in blocks_of(node)
        for index, statement in enumerate(block)
        if isinstance(statement, ast.Pass)
    ]
    return found[-1]
