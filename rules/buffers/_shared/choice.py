"""Draws of indices by numpy: the calls of `choice`, with their arguments."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, TypeTag, frozen, integers, is_constant

LEGACY = ("numpy.random.choice", "numpy.random.RandomState.choice")
GENERATORS = ("numpy.random.Generator", "numpy.random.default_rng")
PARAMETERS = ("a", "size", "replace", "p")


@frozen
class Draw:
    """A call of `choice`. `generator` says that a `numpy.random.Generator` draws, `given` contains its
    arguments by their names.
    """

    call: ast.Call
    generator: bool
    given: dict[str, ast.expr]

    @property
    def size(self) -> ast.expr | None:
        """Number of draws; None for a single one, which is returned as a number."""
        size = self.given.get("size")
        return None if is_constant(size, None) else size


@frozen
class Population:
    """The range that indices are drawn from: the integers from `low` to `high`, exclusive. `made` is the
    function that creates the range (`builtins.range`), "" if only its length is given. `sure` is False if
    only names suggest it.
    """

    low: ast.expr | None
    high: ast.expr
    made: str
    sure: bool


def draw_of(call: ast.Call, model: SemanticModel) -> Draw | None:
    """Return the draw of a call; None if it is not a `choice` of numpy, or its arguments are hidden."""
    match call.func:
        case ast.Attribute(attr="choice"):
            pass
        case ast.Name() if model.names.qualified(call.func):
            pass
        case _:
            return None
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    given = dict(zip(PARAMETERS, call.args, strict=False))
    given.update({keyword.arg or "**": keyword.value for keyword in call.keywords})
    if len(given) != len(call.args) + len(call.keywords) or "a" not in given or given.keys() - {*PARAMETERS}:
        return None
    generator = drawn_by_generator(call.func, model)
    return Draw(call, generator, given) if generator is not None else None


def drawn_by_generator(func: ast.expr, model: SemanticModel) -> bool | None:
    """Whether a `choice` is that of a `numpy.random.Generator`. None if it is not one of numpy's."""
    if model.names.qualified(func) in LEGACY:
        return False
    if not isinstance(func, ast.Attribute):
        return None
    owner = model.types.type_of(func.value)
    if owner.tag is not TypeTag.RANDOM_GENERATOR:
        return None
    if owner.of in GENERATORS:
        return True
    return False if owner.of == "numpy.random.RandomState" else None


def population_of(draw: Draw, model: SemanticModel) -> Population | None:
    """Return the population of a draw; None if it may be anything but consecutive integers."""
    first = draw.given["a"]
    made = ""
    if isinstance(first, ast.Call) and not first.keywords:
        outer = model.names.qualified(first.func)
        inner = first.args[0] if outer == "builtins.list" and len(first.args) == 1 else first
        if isinstance(inner, ast.Call) and not inner.keywords:
            made = model.names.qualified(inner.func) or ""
        if made in ("builtins.range", "numpy.arange") and isinstance(inner, ast.Call):
            return _between(inner.args, made, model)
    sure = integers.is_integer(first, model)
    return Population(None, first, "", sure) if sure is not None else None


def _between(ends: list[ast.expr], made: str, model: SemanticModel) -> Population | None:
    """Return the bounds of `range(n)` and `range(a, b)`."""
    if len(ends) not in (1, 2) or any(isinstance(end, ast.Starred) for end in ends):
        return None
    # `range` accepts nothing else, and `np.arange` hardly ever gets anything else
    certain = [made == "builtins.range" or integers.is_integer(end, model) for end in ends]
    if any(sure is None and model.types.type_of(end) for sure, end in zip(certain, ends, strict=True)):
        return None
    return Population(ends[0] if len(ends) > 1 else None, ends[-1], made, all(certain))


def renamed(draw: Draw, name: str, model: SemanticModel) -> str | None:
    """Return the source of `name` of the same owner in place of `choice`; None if it has no name here."""
    func = draw.call.func
    if isinstance(func, ast.Attribute):
        return model.source.text(func).removesuffix(func.attr) + name
    return model.names.spelled(f"numpy.random.{name}", draw.call)


def can_be_edited(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the positions of a call's parts are known. In an f-string they may not be."""
    in_text = any(isinstance(around, ast.JoinedStr) for around in model.ancestors(call))
    return not in_text or model.edit.is_relocatable(call)


def shown(expression: ast.expr, model: SemanticModel) -> str:
    """Return the source of an expression on one line."""
    return " ".join(model.source.text(expression).split())
