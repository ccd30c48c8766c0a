"""What one fact is, and how the tables write down many of them at once."""

from __future__ import annotations

from rlint.frozen import frozen
from rlint.models.effect import Effect, EffectKind
from rlint.models.kind import Kind, Tag


@frozen
class Fact:
    """What calling something does, and what it returns."""

    effect: Effect
    result: Kind


Table = dict[str, Fact]
"""Facts by name: qualified names of callables, or bare names of methods."""

DRAWS = Effect(EffectKind.DRAWS, "draws random numbers")
DRAWS_INTO = Effect(EffectKind.DRAWS | EffectKind.MUTATES, "changes a value at random")
SEEDS = Effect(EffectKind.OTHER, "seeds the random stream")
PRINTS = Effect(EffectKind.PRINTS, "prints")
CLOCK = Effect(EffectKind.READS_CLOCK, "reads the clock")
SLEEPS = Effect(EffectKind.SLEEPS, "sleeps")
FILE_IO = Effect(EffectKind.FILE_IO, "reads or writes a file")
MAY_DRAW = Effect(EffectKind.UNKNOWN, "may draw random numbers")

MAY_WRITE = Effect(EffectKind.UNKNOWN, "may write to one of its arguments")

ANYTHING = Kind()
NEW = Kind(fresh=True)
NOTHING = Kind(Tag.NONE)
BOOL = Kind(Tag.BOOL)
INT = Kind(Tag.INT)
FLOAT = Kind(Tag.FLOAT)
STR = Kind(Tag.STR)
BYTES = Kind(Tag.BYTES)
LIST = Kind(Tag.LIST, fresh=True)
TUPLE = Kind(Tag.TUPLE, fresh=True)
DICT = Kind(Tag.DICT, fresh=True)
SET = Kind(Tag.SET, fresh=True)
STRINGS = Kind(Tag.LIST, item=STR, fresh=True)
ITERATOR = Kind(Tag.ITERATOR, fresh=True)
SHAPE = Kind(Tag.TUPLE, item=INT)
ARRAY = Kind(Tag.NDARRAY)
NEW_ARRAY = Kind(Tag.NDARRAY, fresh=True)
SCALAR = Kind(Tag.NUMPY_SCALAR)
TENSOR = Kind(Tag.TENSOR)
NEW_TENSOR = Kind(Tag.TENSOR, fresh=True)
TENSORS = Kind(Tag.TUPLE, item=TENSOR, fresh=True)
NEW_TENSORS = Kind(Tag.TUPLE, item=NEW_TENSOR, fresh=True)
FUNCTION = Kind(Tag.FUNCTION)
PATTERN = Kind(Tag.PATTERN)


def words(text: str) -> tuple[str, ...]:
    """Read a list of names that is written as text, with blanks between them."""
    return tuple(text.split())


def facts(prefix: str, effect: Effect, result: Kind, names: str) -> Table:
    """Give every name of the whitespace-separated `names`, put after `prefix`, the same fact."""
    fact = Fact(effect, result)
    return {f"{prefix}.{name}" if prefix else name: fact for name in words(names)}


def methods(effect: Effect, result: Kind, names: str) -> Table:
    """Give every method of the whitespace-separated `names` the same fact."""
    return facts("", effect, result, names)


def makers(prefix: str, effect: Effect, tag: Tag, names: str, *, item: Kind | None = None) -> Table:
    """Classes and factories: the result's kind carries the qualified name of what made it."""
    qualified = [f"{prefix}.{name}" for name in words(names)]
    return {name: Fact(effect, Kind(tag, of=name, item=item, fresh=True)) for name in qualified}


def table(*parts: Table) -> Table:
    """Join parts into one table; a name that stands in two of them is a mistake in the tables."""
    joined: Table = {}
    for part in parts:
        if twice := joined.keys() & part.keys():
            raise ValueError(f"named twice: {', '.join(sorted(twice))}")
        joined |= part
    return joined
