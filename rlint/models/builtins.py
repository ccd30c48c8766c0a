"""Rows for Python's builtins."""

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
    Table,
    facts,
    makers,
    table,
)
from rlint.models.trait import Trait
from rlint.models.value_type import Type, TypeTag

_EXCEPTIONS = " ".join(
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
)
_RUNS_TEXT = Effect(EffectKind.UNKNOWN, "runs text as code")
_SETS = Effect(EffectKind.MUTATES, "sets an attribute")

FACTS: Table = table(
    facts("builtins", PURE, BOOL, "callable issubclass", Trait.TESTS_CLASS | Trait.CHEAP),
    facts("builtins", PURE, BOOL, "isinstance", Trait.TESTS_CLASS | Trait.ONLY_LOOKS | Trait.CHEAP),
    facts("builtins", READS, BOOL, "all any", Trait.ITERATES),
    facts("builtins", READS, BOOL, "bool", Trait.ONLY_LOOKS | Trait.OF_NUMBERS | Trait.CHEAP),
    facts(
        "builtins",
        READS,
        BOOL,
        "hasattr",
        Trait.TESTS_CLASS | Trait.ONLY_LOOKS | Trait.CHEAP | Trait.REFLECTS,
    ),
    facts("builtins", PURE, INT, "id", Trait.ONLY_LOOKS | Trait.CHEAP),
    facts("builtins", PURE, INT, "int", Trait.ONLY_LOOKS | Trait.TO_NUMBER | Trait.OF_NUMBERS | Trait.CHEAP),
    facts("builtins", PURE, INT, "ord", Trait.CHEAP),
    facts("builtins", READS, INT, "hash", Trait.ONLY_LOOKS | Trait.CHEAP | Trait.HASHES),
    facts("builtins", READS, INT, "len", Trait.ONLY_LOOKS | Trait.OF_NUMBERS | Trait.CHEAP),
    facts(
        "builtins",
        PURE,
        Type(TypeTag.FLOAT),
        "float",
        Trait.ONLY_LOOKS | Trait.TO_NUMBER | Trait.OF_NUMBERS | Trait.CHEAP,
    ),
    facts("builtins", PURE, STR, "bin hex oct"),
    facts("builtins", PURE, STR, "chr", Trait.CHEAP),
    facts("builtins", READS, STR, "ascii"),
    facts("builtins", READS, STR, "format", Trait.ONLY_LOOKS | Trait.SHOWS),
    facts("builtins", READS, STR, "repr str", Trait.ONLY_LOOKS | Trait.SHOWS | Trait.CHEAP),
    facts("builtins", READS, BYTES, "bytes", Trait.ITERATES | Trait.CHEAP),
    facts("builtins", READS, NEW, "bytearray", Trait.ITERATES),
    facts("builtins", READS, ANYTHING, "memoryview", Trait.HOLDS),
    # For a tensor or an array these return another one, so that their result stays unknown.
    facts("builtins", PURE, ANYTHING, "abs pow", Trait.CARRIES | Trait.OF_NUMBERS | Trait.CHEAP),
    facts("builtins", PURE, ANYTHING, "complex", Trait.ONLY_LOOKS | Trait.TO_NUMBER | Trait.CHEAP),
    facts("builtins", PURE, ANYTHING, "divmod round", Trait.OF_NUMBERS | Trait.CHEAP),
    facts("builtins", PURE, Type(TypeTag.SLICE), "slice", Trait.CHEAP),
    facts("builtins", READS, ANYTHING, "getattr", Trait.CHEAP | Trait.REFLECTS),
    facts(
        "builtins",
        READS,
        ANYTHING,
        "max min",
        Trait.CARRIES | Trait.ITERATES | Trait.CALLS_BACK | Trait.OF_NUMBERS | Trait.CHEAP,
        takes="*items",
    ),
    facts("builtins", READS, ANYTHING, "sum", Trait.SUMS | Trait.CARRIES | Trait.ITERATES | Trait.OF_NUMBERS),
    facts("builtins", READS, ANYTHING, "super", Trait.CHEAP),
    facts(
        "builtins", READS, ANYTHING, "type", Trait.ONLY_LOOKS | Trait.CHEAP, by_count={1: Type(TypeTag.CLASS)}
    ),
    facts(
        "builtins",
        READS,
        LIST,
        "list",
        Trait.CARRIES | Trait.ITERATES | Trait.SAME_ITEMS | Trait.CHEAP,
        by_count={0: (PURE, LIST)},
    ),
    facts(
        "builtins",
        READS,
        LIST,
        "sorted",
        Trait.CARRIES | Trait.ITERATES | Trait.CALLS_BACK | Trait.SAME_ITEMS,
        takes="*items",
    ),
    facts(
        "builtins",
        READS,
        TUPLE,
        "tuple",
        Trait.CARRIES | Trait.ITERATES | Trait.SAME_ITEMS | Trait.CHEAP,
        by_count={0: (PURE, TUPLE)},
    ),
    facts(
        "builtins", READS, SET, "set", Trait.CARRIES | Trait.ITERATES | Trait.CHEAP, by_count={0: (PURE, SET)}
    ),
    facts("builtins", READS, SET, "frozenset", Trait.ITERATES),
    facts(
        "builtins",
        READS,
        DICT,
        "dict",
        Trait.CARRIES | Trait.ITERATES | Trait.CHEAP,
        by_count={0: (PURE, DICT)},
    ),
    facts("builtins", READS, Type(TypeTag.DICT), "globals locals", Trait.REFLECTS | Trait.READS_STATE),
    facts("builtins", READS, Type(TypeTag.DICT), "vars", Trait.CHEAP | Trait.REFLECTS | Trait.READS_STATE),
    facts("builtins", READS, STRINGS, "dir"),
    facts("builtins", PURE, DICT, "dict.fromkeys"),
    facts("builtins", PURE, Type(TypeTag.RANGE), "range", Trait.ONLY_LOOKS | Trait.OF_NUMBERS | Trait.CHEAP),
    facts(
        "builtins",
        PURE,
        ITERATOR,
        "enumerate zip",
        Trait.CARRIES | Trait.ITERATES | Trait.PAIRS_ITEMS | Trait.CHEAP,
    ),
    facts(
        "builtins",
        PURE,
        ITERATOR,
        "filter map",
        Trait.CARRIES | Trait.ITERATES | Trait.CALLS_BACK | Trait.CHEAP,
        takes="function() *iterables",
    ),
    facts(
        "builtins", PURE, ITERATOR, "iter", Trait.CARRIES | Trait.CALLS_BACK | Trait.SAME_ITEMS | Trait.CHEAP
    ),
    facts("builtins", PURE, ITERATOR, "reversed", Trait.CARRIES | Trait.SAME_ITEMS | Trait.CHEAP),
    facts("builtins", PURE, NEW, "object", Trait.CHEAP),
    facts("builtins", PURE, NEW, "classmethod staticmethod", Trait.MARKS),
    facts("builtins", PURE, NEW, "property", Trait.CHEAP | Trait.MARKS),
    facts("builtins", PURE, INT, "int.from_bytes"),
    facts("builtins", PURE, BYTES, "bytes.fromhex int.to_bytes"),
    facts("builtins", PURE, STR, "str.maketrans float.hex"),
    facts("builtins", PURE, Type(TypeTag.FLOAT), "float.fromhex"),
    facts("builtins", PRINTS, NOTHING, "print", Trait.ONLY_LOOKS | Trait.SHOWS),
    facts("builtins", _SETS, NOTHING, "setattr delattr", Trait.FIRST_CHANGES | Trait.REFLECTS),
    facts("builtins", _RUNS_TEXT, ANYTHING, "eval exec __import__", Trait.REFLECTS),
    facts("builtins", PURE, NEW, "compile"),
    facts(
        "builtins",
        Effect(EffectKind.CONSUMES, "advances the iterator"),
        ANYTHING,
        "next",
        Trait.CARRIES | Trait.FIRST_CHANGES | Trait.ITERATES,
    ),
    facts("builtins", Effect(EffectKind.OTHER, "reads a line from the terminal"), STR, "input"),
    facts("builtins", Effect(EffectKind.OTHER, "stops in the debugger"), NOTHING, "breakpoint"),
    facts("builtins", Effect(EffectKind.OTHER, "ends the program"), NOTHING, "exit quit"),
    facts(
        "builtins", Effect(EffectKind.FILE_IO, "opens a file"), Type(TypeTag.FILE, of="builtins.open"), "open"
    ),
    makers("builtins", PURE, TypeTag.INSTANCE, _EXCEPTIONS),
)
