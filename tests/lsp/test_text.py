"""Positions and changes, compared with a second implementation."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from editors import offset
from rlint.lsp.text import DocumentText
from rlint.lsp.text_edits import difference, differences

ENCODINGS = st.sampled_from(["utf-8", "utf-16", "utf-32"])
TEXTS = st.text(st.sampled_from("ab \t\n\r\x0c\x1c\x85\u2028é\N{PILE OF POO}"), max_size=40)


@given(TEXTS, ENCODINGS, st.data())
def test_places_and_offsets_are_each_others_reverse(text: str, encoding: str, data: st.DataObject) -> None:
    """Every position between two characters is converted back to itself, except within a line end."""
    where = data.draw(st.integers(0, len(text)))
    if text[where - 1 : where + 1] == "\r\n":
        return
    place = DocumentText(text, encoding).place(where)
    assert DocumentText(text, encoding).offset(place) == where
    assert offset(text, place, encoding) == where


@given(TEXTS, ENCODINGS, st.integers(0, 50), st.integers(0, 50))
def test_any_place_means_something(text: str, encoding: str, line: int, character: int) -> None:
    """A position after the end of a line or of the text, or within a character, becomes a valid one."""
    where = DocumentText(text, encoding).offset(types.Position(line, character))
    assert 0 <= where <= len(text)
    assert DocumentText(text, encoding).place(where).line <= line


@given(TEXTS, TEXTS, ENCODINGS, st.data())
def test_a_change_replaces_its_range(text: str, new: str, encoding: str, data: st.DataObject) -> None:
    """Typed text is at its position, and everything else is unchanged."""
    start, end = sorted(data.draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))))
    if "\r\n" in (text[start - 1 : start + 1], text[end - 1 : end + 1]):
        return
    shown = DocumentText(text, encoding)
    change = types.TextDocumentContentChangePartial(shown.range(start, end), new)
    assert shown.changed(change) == text[:start] + new + text[end:]


@given(TEXTS, TEXTS)
def test_differences_lead_from_one_text_to_the_other(before: str, after: str) -> None:
    """The edits, applied from the last to the first, turn the first text into the second."""
    for edits in (differences(before, after), [difference(before, after)]):
        text = before
        for edit in reversed(edits):
            text = text[: edit.start] + edit.text + text[edit.end :]
        assert text == after
