"""Patterns that are compiled on first use equal those of `re.compile`."""

from __future__ import annotations

import gc
import re

import pytest

from rlint.notebook import logical, magic_words
from rlint.regex import regex
from rlint.registry import catalogue


def test_they_are_used_as_compiled_patterns_are() -> None:
    """With flags, for texts and for bytes."""
    pattern = regex(r"(a+)b", re.IGNORECASE)
    found = pattern.search("xAAb")
    assert found is not None
    assert found.span(1) == (1, 3)
    assert [found.group(1) for found in pattern.finditer("ab aab")] == ["a", "aa"]
    assert pattern.sub("-", "abAB") == "--"
    assert (pattern.pattern, pattern.groups) == (r"(a+)b", 1)
    assert pattern.flags & re.IGNORECASE
    assert regex(b"a").fullmatch(b"a")


def test_a_mistake_shows_at_the_first_use() -> None:
    """And not before."""
    pattern = regex("(")
    with pytest.raises(re.error):
        pattern.search("")


def test_all_patterns_of_rlint_can_be_compiled() -> None:
    """The patterns of all rules, and of the modules that they import."""
    catalogue.load([entry.code for entry in catalogue.catalogue()])
    sort = type(regex(""))
    waiting = [each for each in gc.get_objects() if type(each) is sort]
    assert len(waiting) > 50
    for pattern in waiting:
        assert isinstance(pattern.pattern, (str, bytes))


def test_long_gaps_in_cells_are_read_once() -> None:
    """A name followed by blanks may or may not begin an assignment. Read once for each blank,
    these would take hours.
    """
    for line in ("a" + " " * 2_000_000, "a" + " " * 2_000_000 + ":" + "b" * 2_000_000):
        assert magic_words.bound(f"{line}!") == []
        assert logical.assigned(f"{line}!") is None
    assert magic_words.bound(f"a, b.c, *d{' ' * 50_000}: int @= 3") == ["a", "d"]
    found = logical.assigned(f"a{' ' * 50_000}= %time f()")
    assert found is not None
    assert found["target"].strip() == "a"
