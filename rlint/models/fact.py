"""The format of one row, and how the tables define many of them at once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from rlint.frozen import frozen
from rlint.models.effect import Effect, EffectKind
from rlint.models.trait import NO_TRAITS, Trait
from rlint.models.value_type import Type, TypeTag


@frozen
class Fact:
    """The effect of a call, its result, and its other properties."""

    effect: Effect
    result: Type
    traits: Trait = NO_TRAITS
    parameters: tuple[str, ...] = ()
    """Names of the positional arguments, as far as one of them matters. A name with a star is that of all
    further arguments.
    """
    called: tuple[int, ...] = ()
    """Positions of those parameters that are called."""
    by_count: tuple[tuple[int, Fact], ...] = ()
    """Differences for calls with this many arguments, keywords included."""
    plain_arguments: int | None = None
    """With more arguments than these, the call may write to one of them, or to the receiver."""
    since: str = ""
    """The version of the library that introduced it, and those that introduced keywords: "1.9 out=2.0". Empty
    for anything older than any version in use.
    """


Table = dict[str, Fact]
"""Rows by name: qualified names of callables, or plain names of methods."""

DRAWS = Effect(EffectKind.DRAWS, "draws random numbers")
DRAWS_INTO = Effect(EffectKind.DRAWS | EffectKind.MUTATES, "changes a value at random")
SEEDS = Effect(EffectKind.OTHER, "seeds the random stream")
PRINTS = Effect(EffectKind.PRINTS, "prints")
CLOCK = Effect(EffectKind.READS_CLOCK, "reads the clock")
SLEEPS = Effect(EffectKind.SLEEPS, "sleeps")
FILE_IO = Effect(EffectKind.FILE_IO, "reads or writes a file")
MAY_DRAW = Effect(EffectKind.UNKNOWN, "may draw random numbers")

MAY_WRITE = Effect(EffectKind.UNKNOWN, "may write to one of its arguments")

ANYTHING = Type()
NEW = Type(fresh=True)
NOTHING = Type(TypeTag.NONE)
BOOL = Type(TypeTag.BOOL)
INT = Type(TypeTag.INT)
FLOAT = Type(TypeTag.FLOAT)
STR = Type(TypeTag.STR)
BYTES = Type(TypeTag.BYTES)
LIST = Type(TypeTag.LIST, fresh=True)
TUPLE = Type(TypeTag.TUPLE, fresh=True)
DICT = Type(TypeTag.DICT, fresh=True)
SET = Type(TypeTag.SET, fresh=True)
STRINGS = Type(TypeTag.LIST, item=STR, fresh=True)
ITERATOR = Type(TypeTag.ITERATOR, fresh=True)
SHAPE = Type(TypeTag.TUPLE, item=INT)
ARRAY = Type(TypeTag.NDARRAY)
NEW_ARRAY = Type(TypeTag.NDARRAY, fresh=True)
SCALAR = Type(TypeTag.NUMPY_SCALAR)
TENSOR = Type(TypeTag.TENSOR)
NEW_TENSOR = Type(TypeTag.TENSOR, fresh=True)
TENSORS = Type(TypeTag.TUPLE, item=TENSOR, fresh=True)
NEW_TENSORS = Type(TypeTag.TUPLE, item=NEW_TENSOR, fresh=True)
FUNCTION = Type(TypeTag.FUNCTION)
PATTERN = Type(TypeTag.PATTERN)


def words(text: str) -> tuple[str, ...]:
    """Return the names in a text, separated by blanks."""
    return tuple(text.split())


Counts = Mapping[int, Type | tuple[Effect, Type]]
"""Results by the number of arguments, with the effect if that differs, too."""


def facts(  # noqa: PLR0913 - the fields of a row
    prefix: str,
    effect: Effect,
    result: Type,
    names: str,
    traits: Trait = NO_TRAITS,
    *,
    takes: str = "",
    by_count: Counts | None = None,
    plain: int | None = None,
    since: str = "",
) -> Table:
    """Return the same row for each of the whitespace-separated `names`, after `prefix`.

    `takes` names the positional parameters, with `()` after those that are called: `"function() iterable"`.
    """
    parameters, called = _signature(takes)
    counted = tuple((count, _counted(given, effect)) for count, given in (by_count or {}).items())
    fact = Fact(effect, result, traits, parameters, called, counted, plain, since)
    return dict.fromkeys([f"{prefix}.{name}" if prefix else name for name in words(names)], fact)


def _signature(takes: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    written = words(takes)
    called = tuple(place for place, name in enumerate(written) if name.endswith("()"))
    return tuple(name.removesuffix("()") for name in written), called


def _counted(given: Type | tuple[Effect, Type], effect: Effect) -> Fact:
    return Fact(effect, given) if isinstance(given, Type) else Fact(*given)


methods = partial(facts, "")
"""Return the same row for each method of the whitespace-separated `names`."""


def makers(
    prefix: str,
    effect: Effect,
    tag: TypeTag,
    names: str,
    traits: Trait = NO_TRAITS,
    *,
    item: Type | None = None,
    takes: str = "",
    since: str = "",
) -> Table:
    """Return rows of classes and factories: the type of the result carries the qualified name of its
    constructor.
    """
    qualified = [f"{prefix}.{name}" for name in words(names)]
    return {
        name: Fact(effect, Type(tag, of=name, item=item, fresh=True), traits, *_signature(takes), since=since)
        for name in qualified
    }


def table(*parts: Table) -> Table:
    """Join parts into one table; a name in two of them is an error in the tables."""
    joined: Table = {}
    for part in parts:
        expected = len(joined) + len(part)
        joined.update(part)
        if len(joined) < expected:
            raise ValueError(f"named twice: {', '.join(sorted(_named_twice(parts)))}")
    return joined


def _named_twice(parts: tuple[Table, ...]) -> set[str]:
    names = [name for part in parts for name in part]
    return {name for name in names if names.count(name) > 1}
