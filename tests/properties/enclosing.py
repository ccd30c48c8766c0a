"""Distractors: blocks, functions and classes around the pattern, and ways out of them."""

from __future__ import annotations

import ast

from properties.adjacent import variable_of
from properties.draft import Draft, blocks_of, statements, statements_in_function
from properties.names import bound_in


def enclose(draft: Draft) -> bool:
    """The pattern is in a block of its own."""
    place = draft.place()
    if place is None:
        return False
    statement = place.statement
    form = draft.rng.choice(
        (
            "if True:\n    pass",
            "with contextlib.nullcontext():\n    pass",
            "try:\n    pass\nfinally:\n    SEEN.append('finally')",
            "try:\n    pass\nexcept Exception as error:\n    SEEN.append(type(error).__name__)",
            "for _unused in range(2):\n    pass",
            "while True:\n    pass\n    break",
            "match 1:\n    case 1:\n        pass",
            "with torch.no_grad():\n    pass",
            "with torch.enable_grad():\n    pass",
            "with contextlib.suppress(Failing):\n    pass\n    now_and_then(2)",
        )
    )  # fmt: skip
    draft.use(*(name for name in ("contextlib", "torch", "SEEN", "Failing", "now_and_then") if name in form))
    [outer] = statements(form)
    inner = outer.cases[0].body if isinstance(outer, ast.Match) else outer.body  # type: ignore[attr-defined]
    whole = draft.rng.random() < 0.4 and place.block is not draft.tree.body
    if whole:
        first = 1 if isinstance(place.block[0], (ast.Global, ast.Nonlocal)) else 0
        inner[0:1] = place.block[first:]
        place.block[first:] = [outer]
    else:
        inner[0:1] = [statement]
        place.block[place.index] = outer
    return True


def fail(draft: Draft) -> bool:
    """An exception is raised after the pattern, and handled in an outer block."""
    place = draft.place()
    if place is None or place.function is None:
        return False
    draft.use("SEEN", "now_and_then")
    after = draft.rng.random() < 0.5
    call = statements(f"now_and_then({draft.rng.choice((1, 2, 3))})")
    place.block[place.index + after : place.index + after] = call
    body = place.function.body
    first = 1 if isinstance(body[0], (ast.Global, ast.Nonlocal)) else 0
    start = draft.rng.randrange(first, len(body))
    name = variable_of(draft, place) or "None"
    [outer] = statements(
        draft.rng.choice(
            (
                f"try:\n    pass\nexcept Failing:\n    SEEN.append({name})",
                f"try:\n    pass\nfinally:\n    SEEN.append(repr({name}))",
            )
        )
    )
    assert isinstance(outer, ast.Try)
    outer.body = body[start:]
    body[start:] = [outer]
    return True


def leave_early(draft: Draft) -> bool:
    """A loop or function is left, or continued, next to the pattern."""
    place = draft.place()
    if place is None or place.function is None or (name := variable_of(draft, place)) is None:
        return False
    draft.use("SEEN")
    loops = [
        n
        for n in ast.walk(place.function)
        if isinstance(n, (ast.For, ast.While)) and place.statement in list(ast.walk(n))
    ]
    forms = [f"if len(SEEN) > 2: return {name}", f"SEEN.append(0)\nif len(SEEN) % 3 == 2: return {name}"]
    if loops and not isinstance(place.function, ast.AsyncFunctionDef):
        forms += [
            "SEEN.append(0)\nif len(SEEN) % 3 == 1: continue",
            "SEEN.append(0)\nif len(SEEN) % 4 == 3: break",
        ]
    after = draft.rng.random() < 0.5
    place.block[place.index + after : place.index + after] = statements_in_function(draft.rng.choice(forms))
    return True


def make_generator(draft: Draft) -> bool:
    """The function is a generator that yields a value next to the pattern."""
    place = draft.place()
    if place is None or place.function is None or (name := variable_of(draft, place)) is None:
        return False
    if place.function.name.startswith("__"):
        return False
    after = draft.rng.random() < 0.5
    given = draft.rng.choice((f"yield {name}", "yield", f"yield repr({name})"))
    place.block[place.index + after : place.index + after] = statements_in_function(given)
    return True


def make_coroutine(draft: Draft) -> bool:
    """The function is a coroutine, which may wait next to the pattern."""
    place = draft.place()
    if (
        place is None
        or not isinstance(place.function, ast.FunctionDef)
        or place.function.name.startswith("__")
    ):
        return False
    function = place.function
    if function.decorator_list or any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in ast.walk(function)):
        return False
    draft.use("asyncio")
    after = draft.rng.random() < 0.5
    place.block[place.index + after : place.index + after] = statements_in_function("await asyncio.sleep(0)")
    fields = {name: getattr(function, name) for name in function._fields}
    for node in ast.walk(draft.tree):
        for block in blocks_of(node):
            if function in block:
                block[block.index(function)] = ast.AsyncFunctionDef(**fields)
                return True
    return False


def nest(draft: Draft) -> bool:
    """The function's body is moved to a nested function."""
    place = draft.place()
    if place is None or not isinstance(place.function, ast.FunctionDef):
        return False
    body = place.function.body
    if any(isinstance(n, (ast.Global, ast.Nonlocal)) for s in body for n in ast.walk(s)):
        return False
    [inner] = statements("def inner():\n    pass")
    assert isinstance(inner, ast.FunctionDef)
    given = [one.arg for one in place.function.args.args]
    rebound = [n for n in dict.fromkeys(name for s in body for name in bound_in(s)) if n in given]
    inner.body = [*(statements_in_function(f"nonlocal {', '.join(rebound)}") if rebound else []), *body]
    place.function.body = [inner, *statements_in_function("return inner()")]
    return True


def decorate(draft: Draft) -> bool:
    """The function has a decorator."""
    place = draft.place()
    if place is None or not isinstance(place.function, ast.FunctionDef):
        return False
    forms = ("wrapped", "torch.no_grad()", "torch.enable_grad()", "functools.lru_cache(maxsize=None)")
    decorator = draft.rng.choice(forms)
    draft.use(*(name for name in ("wrapped", "torch", "functools") if decorator.startswith(name)))
    place.function.decorator_list.append(ast.parse(decorator, mode="eval").body)
    return True


def in_class_body(draft: Draft) -> bool:
    """A module-level statement is moved to a class body."""
    place = draft.place()
    if place is None or place.function is not None or isinstance(place.around[-1], ast.ClassDef):
        return False
    [outer] = statements("class Holder:\n    pass")
    assert isinstance(outer, ast.ClassDef)
    outer.body = [place.statement]
    place.block[place.index] = outer
    return True
