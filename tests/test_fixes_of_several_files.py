"""Which fixes of several files are applied in one pass."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlint.findings import Applicability, Edit, Finding, Fix, OtherFileEdits, Position, digest_of
from rlint.fixing.apply_fixes import passes
from rlint.fixing.fix_session import FixedTexts
from rlint.source.files import Source

TEXTS = {"a.py": "one = 1\n", "b.py": "two = 1\n", "c.py": "three = 1\n"}


def finding(edits: dict[str, list[Edit]], *, at: str = "a.py", texts: dict[str, str] = TEXTS) -> Finding:
    """A finding in one file, with edits in several."""
    others = [(path, own) for path, own in edits.items() if path != at]
    other_edits = tuple(OtherFileEdits(path, tuple(own), digest_of(texts[path])) for path, own in others)
    fix = Fix("Change it", Applicability.SAFE, tuple(edits.get(at, ())), other_edits=other_edits)
    start = Position(1, 1 + min((edit.start for edit in edits.get(at, ())), default=0))
    return Finding("RL801", "name", "a fact", at, start, start, 1, 1, fix=fix)


def after(*findings: Finding, texts: dict[str, str | None] | None = None) -> dict[str, str]:
    """The texts that a pass changes."""
    now = {**TEXTS, **(texts or {})}
    return {name: made.text for name, made in passes(now.get, findings, unsafe=False).items()}


ONE, TWO, THREE = Edit(0, 3, "uno"), Edit(0, 3, "due"), Edit(0, 5, "tre")


def test_all_files_change_at_once() -> None:
    """A fix with a part in each of three files."""
    edits = {"a.py": [ONE], "b.py": [TWO], "c.py": [THREE]}
    assert after(finding(edits)) == {"a.py": "uno = 1\n", "b.py": "due = 1\n", "c.py": "tre = 1\n"}


def test_one_fix_found_in_two_files_is_applied_once() -> None:
    """The finding of a method and that of one that overrides it have the same fix; both are fixed."""
    edits = {"a.py": [ONE], "b.py": [TWO]}
    done = passes(TEXTS.get, [finding(edits), finding(edits, at="b.py")], unsafe=False)
    assert {name: made.text for name, made in done.items()} == {"a.py": "uno = 1\n", "b.py": "due = 1\n"}
    assert [each.path for each in done["a.py"].findings] == ["a.py", "b.py"]


@pytest.mark.parametrize(
    "texts",
    [{"b.py": None}, {"b.py": "two = 1 \n"}, {"b.py": "# more\ntwo = 1\n"}],
    ids=["must stay", "changed behind it", "changed before it"],
)
def test_a_file_that_is_not_as_it_was(texts: dict[str, str | None]) -> None:
    """No file is changed by it, and other fixes are applied."""
    several = finding({"a.py": [ONE], "b.py": [TWO]})
    other = finding({"c.py": [THREE]}, at="c.py")
    assert after(several, other, texts=texts) == {"c.py": "tre = 1\n"}


def test_fixes_in_each_others_way() -> None:
    """Of two that conflict in one file, the second is left out in all files; a fix of one file waits for
    both.
    """
    first = finding({"a.py": [ONE], "b.py": [TWO]})
    second = finding({"b.py": [Edit(2, 5, "x")], "c.py": [THREE]}, at="b.py")
    small = finding({"b.py": [Edit(1, 2, "")]}, at="b.py")
    expected = {"a.py": "uno = 1\n", "b.py": "due = 1\n"}
    assert after(first, second, small) == after(small, second, first) == expected


def source(name: str) -> Source:
    """A file as it was read."""
    text = TEXTS[name]
    return Source(Path(name), name, text, "utf-8", False, text.encode())


def test_a_fix_that_breaks_one_file_is_taken_back_in_all() -> None:
    """The file with the error is named, and files that share the fix are unchanged."""
    texts = FixedTexts(source)
    broken = finding({"a.py": [ONE], "b.py": [Edit(0, 3, "(")]})
    whole = finding({"a.py": [Edit(6, 7, "2")], "c.py": [THREE]})
    for name in TEXTS:
        texts.names(name, [each for each in (broken, whole) if each.path == name])
    assert texts.apply([broken, whole], unsafe=False) == {"a.py", "c.py"}
    assert texts.now == {"a.py": "one = 2\n", "c.py": "tre = 1\n"}
    assert [problem.path for problem in texts.refused.values()] == ["b.py"]
    assert {each.source.name: set(each.shares) for each in texts.changed()} == {
        "a.py": {"c.py"},
        "c.py": {"a.py"},
    }


places = st.tuples(st.integers(0, 6), st.integers(0, 3), st.sampled_from(["", "x", "yy"]))
parts = st.dictionaries(st.sampled_from(sorted(TEXTS)), places, min_size=1)


@given(st.lists(parts, max_size=6), st.randoms())
def test_each_fix_is_whole_or_absent(fixes: list[dict[str, tuple[int, int, str]]], random: object) -> None:
    """With any conflicts, each fix is in all of its files or in none, in any order of the findings."""
    found = []
    for fix in fixes:
        edits = {name: [Edit(start, start + size, text)] for name, (start, size, text) in fix.items()}
        found.append(finding(edits, at=min(edits)))
    done = passes(TEXTS.get, found, unsafe=False)
    for each in found:
        assert each.fix is not None
        having = {name for name, made in done.items() if any(one is each for one in made.findings)}
        assert having in (set(), {each.path, *each.fix.files})
    shuffled = list(found)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    again = passes(TEXTS.get, shuffled, unsafe=False)
    assert {name: made.text for name, made in again.items()} == {
        name: made.text for name, made in done.items()
    }
