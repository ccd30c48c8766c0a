"""Initial findings after fixing: fixed, remaining or resolved."""

from __future__ import annotations

from reports import at
from rlint.findings import Finding
from rlint.fixing.source_map import taken_along
from rlint.run_data import FixId


def name(line: int, code: str = "RL101") -> FixId:
    """A finding's place at first."""
    return FixId("a.py", line, 1, code)


def finding(line: int) -> Finding:
    """A finding at a place."""
    return Finding("RL101", "n", "m", "a.py", at(line), at(line), line, line)


FIRST = {name(line): finding(line) for line in (1, 2, 3)}


def test_a_finding_that_another_fix_resolves_is_removed() -> None:
    """Such a finding is neither fixed itself nor remaining."""
    assert taken_along(FIRST, [name(1)], [name(3)]) == ([FIRST[name(2)]], set())


def test_a_finding_that_fixes_bring_to_light_is_new() -> None:
    """Whether it is fixed later or remains."""
    fixed, left = [name(1), name(2), name(4)], [name(3), name(5, "RL102")]
    assert taken_along(FIRST, fixed, left) == ([], {name(4), name(5, "RL102")})


def test_a_finding_that_a_fix_has_moved_is_the_same() -> None:
    """Of one rule in one file, as many findings as possible are matched."""
    assert taken_along(FIRST, [name(1)], [name(2), name(4)]) == ([], set())
    assert taken_along(FIRST, [name(1)], [name(2), name(4, "RL102")]) == (
        [FIRST[name(3)]],
        {name(4, "RL102")},
    )
