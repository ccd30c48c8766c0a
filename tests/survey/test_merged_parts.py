"""Findings of parts, merged in the order of one run."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rlint.survey.merged_parts import merged


def entry(file: str, row: int, code: str | None = "RL101", message: str = "m") -> dict[str, Any]:
    """An entry, as far as it matters here."""
    return {"code": code, "filename": file, "cell": None, "location": {"row": row}, "message": message}


WHOLE = [entry(f"{name}.py", row) for name in "abcd" for row in (1, 1, 7)]
SHARED = [entry("link.py", 1, None, "is a broken symbolic link"), entry("a.py", 1, None, "first")]
PROBLEMS = [entry(f"{name}.py", row, None) for name in "bd" for row in (2, 3)]


@given(st.lists(st.integers(0, 3), min_size=4, max_size=4), st.booleans())
def test_it_is_the_order_of_one_run(parts: list[int], shared: bool) -> None:
    """However files are divided into parts, the merged result is the whole."""
    part_of = dict(zip([f"{name}.py" for name in "abcd"], parts, strict=True))
    first = SHARED if shared else []
    shares = [
        [
            *[each for each in WHOLE if part_of[each["filename"]] == number],
            *first,
            *[each for each in PROBLEMS if part_of[each["filename"]] == number],
        ]
        for number in range(4)
    ]
    assert merged(shares) == [*WHOLE, *first, *PROBLEMS]


def test_one_part_stays_as_it_is() -> None:
    """A single part is not sorted again."""
    assert merged([[*PROBLEMS[::-1]]]) == PROBLEMS[::-1]
