"""Facts about Python's builtins."""

from __future__ import annotations

import builtins

from rlint.models.effect import PURE, READS, Effect, EffectKind
from rlint.models.fact import (
    ANYTHING,
    BOOL,
    BYTES,
    DICT,
    INT,
    ITERATOR,
    LIST,
    NEW,
    NOTHING,
    PRINTS,
    SET,
    STR,
    STRINGS,
    TUPLE,
    Fact,
    Table,
    facts,
    makers,
    table,
    words,
)
from rlint.models.value_type import Type, TypeTag

_EXCEPTIONS = " ".join(
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
)
_RUNS_TEXT = Effect(EffectKind.UNKNOWN, "runs text as code")
_SETS = Effect(EffectKind.MUTATES, "sets an attribute")

FACTS: Table = table(
    facts("builtins", PURE, BOOL, "callable isinstance issubclass"),
    facts("builtins", READS, BOOL, "all any bool hasattr"),
    facts("builtins", PURE, INT, "id int ord"),
    facts("builtins", READS, INT, "hash len"),
    facts("builtins", PURE, Type(TypeTag.FLOAT), "float"),
    facts("builtins", PURE, STR, "bin chr hex oct"),
    facts("builtins", READS, STR, "ascii format repr str"),
    facts("builtins", READS, BYTES, "bytes"),
    facts("builtins", READS, NEW, "bytearray memoryview"),
    # Of a tensor or an array these give another one, so that their result stays unknown.
    facts("builtins", PURE, ANYTHING, "abs complex divmod pow round slice"),
    facts("builtins", READS, ANYTHING, "getattr max min sum super type"),
    facts("builtins", READS, LIST, "list sorted"),
    facts("builtins", READS, TUPLE, "tuple"),
    facts("builtins", READS, SET, "set frozenset"),
    facts("builtins", READS, DICT, "dict"),
    facts("builtins", READS, Type(TypeTag.DICT), "globals locals vars"),
    facts("builtins", READS, STRINGS, "dir"),
    facts("builtins", PURE, DICT, "dict.fromkeys"),
    facts("builtins", PURE, Type(TypeTag.RANGE), "range"),
    facts("builtins", PURE, ITERATOR, "enumerate filter iter map reversed zip"),
    facts("builtins", PURE, NEW, "object classmethod staticmethod property"),
    facts("builtins", PURE, INT, "int.from_bytes"),
    facts("builtins", PURE, BYTES, "bytes.fromhex int.to_bytes"),
    facts("builtins", PURE, STR, "str.maketrans float.hex"),
    facts("builtins", PURE, Type(TypeTag.FLOAT), "float.fromhex"),
    facts("builtins", PRINTS, NOTHING, "print"),
    facts("builtins", _SETS, NOTHING, "setattr delattr"),
    facts("builtins", _RUNS_TEXT, ANYTHING, "eval exec __import__"),
    facts("builtins", PURE, NEW, "compile"),
    facts("builtins", Effect(EffectKind.CONSUMES, "advances the iterator"), ANYTHING, "next"),
    facts("builtins", Effect(EffectKind.OTHER, "reads a line from the terminal"), STR, "input"),
    facts("builtins", Effect(EffectKind.OTHER, "stops in the debugger"), NOTHING, "breakpoint"),
    facts("builtins", Effect(EffectKind.OTHER, "ends the program"), NOTHING, "exit quit"),
    facts(
        "builtins", Effect(EffectKind.FILE_IO, "opens a file"), Type(TypeTag.FILE, of="builtins.open"), "open"
    ),
    makers("builtins", PURE, TypeTag.INSTANCE, _EXCEPTIONS),
)

BY_COUNT: dict[tuple[str, int], Fact] = {
    ("builtins.type", 1): Fact(READS, Type(TypeTag.CLASS)),
    ("builtins.dict", 0): Fact(PURE, DICT),
    ("builtins.list", 0): Fact(PURE, LIST),
    ("builtins.set", 0): Fact(PURE, SET),
    ("builtins.tuple", 0): Fact(PURE, TUPLE),
}

CONSUMERS = frozenset(
    f"builtins.{name}"
    for name in words(
        """all any bytearray bytes dict enumerate filter frozenset list map max min next set sorted sum
        tuple zip"""
    )
)
"""Given an iterator, these use it up, at once or as their own result is used up."""

CALL_BACKS = frozenset(f"builtins.{name}" for name in words("filter iter map max min sorted"))
"""These call a function that they are given: they do what that function does."""
