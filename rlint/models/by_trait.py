"""The names of all functions and methods that have a trait."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache

from rlint.models import builtins, methods, numpy, objects, rl, stdlib, torch
from rlint.models.canonical_names import SAME
from rlint.models.effect import EffectKind
from rlint.models.fact import Fact, Table, table
from rlint.models.trait import Trait
from rlint.models.value_type import TypeTag

CALLABLES: Table = table(builtins.FACTS, stdlib.FACTS, numpy.FACTS, torch.FACTS, rl.FACTS)
"""Functions and classes, by their canonical names."""
METHODS: dict[TypeTag, Table] = methods.METHODS | objects.METHODS
"""Methods, by the type of their receiver."""

_Owner = str | TypeTag


@lru_cache(maxsize=1024)
def having(traits: Trait, *owners: _Owner) -> frozenset[str]:
    """Return the names that have one of the traits: qualified names of functions and classes in the modules
    among the owners, plain names of methods of the types among them.

    >>> having(Trait.JOINS, "numpy")  # {"numpy.stack", "numpy.concatenate" …}
    >>> having(Trait.KEEPS_ORDER, TypeTag.TENSOR)  # {"view", "reshape" …}
    """
    found: set[str] = set()
    for owner in owners:
        for trait, names in _rows(owner):
            if trait & traits:
                found |= names
    return frozenset(found)


@lru_cache(maxsize=1024)
def names_having(traits: Trait, *owners: _Owner) -> frozenset[str]:
    """Return the same as `having`, without the modules, and with the aliases of functions."""
    full = having(traits, *owners)
    others = {other.rpartition(".")[2] for other, name in SAME.items() if name in full}
    return frozenset(name.rpartition(".")[2] for name in full) | others


@lru_cache(maxsize=256)
def mutators(*tags: TypeTag) -> frozenset[str]:
    """Return the methods that modify their receiver, which has one of these types."""
    return doing(EffectKind.MUTATES, *tags)


@lru_cache(maxsize=256)
def doing(kinds: EffectKind, *owners: _Owner) -> frozenset[str]:
    """Return the names, as `having` does, of functions and methods with one of these effects."""
    rows = (row for owner in owners for row in _all_rows(owner))
    return frozenset(name for name, fact in rows if fact.effect.kind & kinds)


@lru_cache(maxsize=256)
def giving(tag: TypeTag, *owners: _Owner) -> frozenset[str]:
    """Return the names, as `having` does, of functions and methods that return a value of this type."""
    rows = (row for owner in owners for row in _all_rows(owner))
    return frozenset(name for name, fact in rows if fact.result.tag is tag)


def methods_of(*tags: TypeTag) -> frozenset[str]:
    """Return all methods that values of these types are known to have."""
    return frozenset(name for tag in tags for name in METHODS[tag])


def _all_rows(owner: _Owner) -> Iterable[tuple[str, Fact]]:
    return METHODS[owner].items() if isinstance(owner, TypeTag) else _by_module().get(owner, ())


@cache
def _rows(owner: _Owner) -> tuple[tuple[Trait, frozenset[str]], ...]:
    """Return the names of an owner's rows, by all of their traits."""
    found: dict[Trait, set[str]] = {}
    for name, fact in _all_rows(owner):
        if fact.traits:
            found.setdefault(fact.traits, set()).add(name)
    return tuple((traits, frozenset(names)) for traits, names in found.items())


@cache
def _by_module() -> dict[str, list[tuple[str, Fact]]]:
    found: dict[str, list[tuple[str, Fact]]] = {}
    for name, fact in CALLABLES.items():
        found.setdefault(name.rpartition(".")[0], []).append((name, fact))
    return found
