"""The edits between an old and a new text turn one into the other, for any texts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rlint.edit import parsed_code
from rlint.edit.parsed_code import smallest_edits
from rlint.findings import Edit

LINES = st.lists(
    st.sampled_from(["a = b\n", "    a = b\n", "\tf(x)\n", "\n", '"""\n', "  text\n"]), max_size=30
)


def applied(old: str, edits: tuple[Edit, ...], start: int) -> str:
    """The text after the edits, which do not overlap."""
    made, place = "", start
    for edit in edits:
        assert edit.start >= place
        made += old[place - start : edit.start - start] + edit.text
        place = edit.end
    return made + old[place - start :]


@given(LINES, LINES, st.integers(0, 5), st.sampled_from([3, 10, 1_000]))
def test_they_make_the_new_text(old: list[str], new: list[str], start: int, most: int) -> None:
    """In short texts word by word, in long ones line by line."""
    before, after = "".join(old), "".join(new)
    kept, parsed_code._MOST_WORDS = parsed_code._MOST_WORDS, most
    try:
        edits = smallest_edits(start, before, after)
    finally:
        parsed_code._MOST_WORDS = kept
    assert applied(before, edits, start) == after


def test_a_long_block_that_is_wrapped_is_only_indented() -> None:
    """The lines themselves stay out of the edits."""
    lines = [f"print({number}, x.item())\n" for number in range(1_000)]
    old, new = "".join(lines), "if step % 100 == 0:\n" + "".join(f"    {line}" for line in lines)
    edits = smallest_edits(0, old, new)
    assert applied(old, edits, 0) == new
    assert {edit.text for edit in edits} == {"if step % 100 == 0:\n    ", "    "}
