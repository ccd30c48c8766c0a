from __future__ import annotations

import errno
import os
import random
import stat
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from patience import PATIENCE
from reports import at
from rlint.findings import Applicability, Edit, Finding, Fix, Problem
from rlint.fixing.apply_fixes import Pass, apply, check_parses, sound_passes, write
from rlint.source.files import Source, read_source

TEXT = "0123456789"


def fixed_by(*edits: Edit, code: str = "RL101", safety: Applicability = Applicability.SAFE) -> Finding:
    """A finding with a fix of these edits."""
    return Finding(code, "some-rule", "m", "a.py", at(1), at(1), 1, 1, fix=Fix("Repair it", safety, edits))


def result(*findings: Finding, unsafe: bool = False) -> tuple[str, int]:
    """The text after one pass, and how many fixes are in it."""
    text, applied = apply(TEXT, findings, unsafe=unsafe)
    return text, len(applied)


def test_fixes_apart_from_each_other_are_applied_together() -> None:
    """One pass applies all fixes that do not conflict."""
    one = fixed_by(Edit(1, 3, "ab"), Edit(8, 8, "+"))
    other = fixed_by(Edit(4, 6, ""))
    assert result(one, other) == ("0ab367+89", 2)


def test_unsafe_fix_waits_for_permission() -> None:
    """Only safe fixes are applied by default."""
    one = fixed_by(Edit(1, 2, "a"), safety=Applicability.UNSAFE)
    assert result(one) == (TEXT, 0)
    assert result(one, unsafe=True) == ("0a23456789", 1)


def test_first_of_two_overlapping_fixes_wins() -> None:
    """The other fix waits as a whole for the next pass."""
    one = fixed_by(Edit(1, 4, "a"))
    other = fixed_by(Edit(3, 5, "b"), Edit(8, 9, "c"))
    assert result(other, one) == ("0a456789", 1)


def test_smaller_of_two_fixes_at_one_place_wins() -> None:
    """The inner fix comes first, and the outer one is applied to its result."""
    assert result(fixed_by(Edit(1, 8, "big")), fixed_by(Edit(1, 3, "s"))) == ("0s3456789", 1)


def test_lower_code_wins_where_the_place_is_the_same() -> None:
    """The result does not depend on the order in which rules ran."""
    assert result(fixed_by(Edit(1, 2, "b"), code="RL2"), fixed_by(Edit(1, 2, "a"), code="RL1"))[0][1] == "a"


def test_insertion_at_the_edge_of_a_replacement_is_no_overlap() -> None:
    """Both are inserted, in order."""
    assert result(fixed_by(Edit(2, 4, "x")), fixed_by(Edit(2, 2, "<")), fixed_by(Edit(4, 4, ">"))) == (
        "01<x>456789",
        3,
    )


def test_insertion_inside_a_replacement_waits() -> None:
    """It would be lost or split the other edit."""
    assert result(fixed_by(Edit(2, 6, "x")), fixed_by(Edit(4, 4, "!"))) == ("01x6789", 1)
    assert result(fixed_by(Edit(4, 4, "!"), Edit(1, 1, "?")), fixed_by(Edit(2, 6, "x"))) == (
        "0?123!456789",
        1,
    )


def test_two_insertions_at_one_place_wait_for_each_other() -> None:
    """Two insertions at one place have no defined order."""
    assert result(fixed_by(Edit(2, 2, "a"), code="RL1"), fixed_by(Edit(2, 2, "b"), code="RL2"))[1] == 1
    assert result(fixed_by(Edit(2, 2, "a"), code="RL1"), fixed_by(Edit(2, 2, "a"), Edit(3, 4, "")))[1] == 1


def test_insertions_of_one_fix_at_one_place_keep_their_order() -> None:
    """An import and a constant at the top of the file."""
    assert result(fixed_by(Edit(0, 0, "a"), Edit(0, 0, "b"), Edit(0, 1, "c"))) == ("abc123456789", 1)


def test_shared_insertion_is_made_once() -> None:
    """Ten fixes that need one import insert it once."""
    needed = Edit(0, 0, "import re\n", shared=True)
    findings = [fixed_by(needed, Edit(place, place + 1, "x")) for place in range(1, 6)]
    assert result(*findings) == ("import re\n0xxxxx6789", 5)


def test_different_shared_insertions_at_one_place_stand_together() -> None:
    """Many constants are defined in one pass, without blank lines between them."""
    one = fixed_by(Edit(0, 0, "\nA = 1\n", shared=True), Edit(1, 2, "x"))
    other = fixed_by(Edit(0, 0, "\nB = 2\n", shared=True), Edit(3, 4, "y"))
    assert result(other, one) == ("\nA = 1\nB = 2\n0x2y456789", 2)


def test_shared_insertion_does_not_decide_the_order() -> None:
    """A fix further down does not take precedence because its import is at the top."""
    late = fixed_by(Edit(0, 0, "import a\n", shared=True), Edit(4, 8, "late"))
    early = fixed_by(Edit(2, 6, "early"))
    assert result(late, early) == ("01early6789", 1)


def test_one_fix_for_several_findings_mends_them_all() -> None:
    """The same edit of two findings is made once and counted for both."""
    edits = (Edit(1, 2, "a"), Edit(5, 5, "b"))
    assert result(fixed_by(*edits), fixed_by(*edits, code="RL102")) == ("0a234b56789", 2)


@pytest.mark.parametrize(
    "edits",
    [
        (),
        (Edit(2, 3, "2"), Edit(5, 5, "")),
        (Edit(1, 4, "a"), Edit(3, 5, "b")),
        (Edit(9, 12, "a"),),
        (Edit(4, 3, "a"),),
        (Edit(-1, 3, "a"),),
    ],
)
def test_fix_that_makes_no_sense_or_changes_nothing_is_not_applied(edits: tuple[Edit, ...]) -> None:
    """An invalid edit is refused: it would recur forever, or damage the file."""
    assert result(fixed_by(*edits)) == (TEXT, 0)


def test_finding_without_fix_changes_nothing() -> None:
    """Advice is not applied."""
    assert result(replace(fixed_by(), fix=None)) == (TEXT, 0)


@st.composite
def programs_with_findings(draw: st.DrawFn) -> tuple[str, list[Finding]]:
    """A text and findings with adjacent, shared and overlapping fixes."""
    text = draw(st.text("ab\n\r\u00e9\u65e5", max_size=30))
    place = st.integers(0, len(text))

    def edit() -> Edit:
        start, end = sorted((draw(place), draw(place)))
        if draw(st.booleans()):
            return Edit(start, start, draw(st.sampled_from(["X", "YY"])), shared=draw(st.booleans()))
        return Edit(start, end, draw(st.sampled_from(["", "X", "YY"])))

    findings = []
    for number in range(draw(st.integers(0, 6))):
        edits = tuple(edit() for _ in range(draw(st.integers(0, 3))))
        safety = draw(st.sampled_from(list(Applicability)))
        findings.append(fixed_by(*edits, code=f"RL{number}", safety=safety))
    return text, findings


def collide(one: Edit, other: Edit) -> bool:
    """The documented definition: insertions conflict at one place, other edits if they overlap."""
    if one.start == one.end and other.start == other.end:
        return one.start == other.start and not (one.shared and other.shared)
    return one.start < other.end and other.start < one.end


def reference(text: str, findings: list[Finding], unsafe: bool) -> tuple[str, list[Finding]]:
    """A slow reference implementation of one pass: compare every edit with every other."""

    def edits_of(finding: Finding) -> list[Edit]:
        assert finding.fix
        return sorted(finding.fix.edits, key=lambda edit: (edit.start, edit.end))

    def key(finding: Finding) -> tuple[int, int, str]:
        own = [edit for edit in edits_of(finding) if not edit.shared] or edits_of(finding)
        return own[0].start, max(edit.end for edit in own) - own[0].start, finding.code

    usable = []
    for finding in findings:
        assert finding.fix
        edits = edits_of(finding)
        if (
            (unsafe or finding.fix.safety is Applicability.SAFE)
            and any(text[edit.start : edit.end] != edit.text for edit in edits)
            and all(a.end <= b.start for a, b in pairwise(edits))
        ):
            usable.append(finding)
    chosen: list[Edit] = []
    whole: list[set[Edit]] = []
    applied = []
    for finding in sorted(usable, key=key):
        edits = edits_of(finding)
        if set(edits) in whole:
            applied.append(finding)
            continue
        missing = [edit for edit in edits if not (edit.shared and edit.start == edit.end and edit in chosen)]
        if any(collide(edit, taken) for edit in missing for taken in chosen):
            continue
        applied.append(finding)
        whole.append(set(edits))
        chosen += missing
    pieces: list[str] = []
    for place in range(len(text) + 1):
        starting = [edit for edit in chosen if edit.start == place]
        pieces += [edit.text for edit in starting if edit.end == place]
        pieces += [edit.text for edit in starting if edit.end > place]
        if place < len(text) and not any(edit.start <= place < edit.end for edit in chosen):
            pieces.append(text[place])
    return "".join(pieces), applied


@given(programs_with_findings(), st.booleans())
@settings(max_examples=300)
def test_one_pass_is_what_the_plain_way_gives(case: tuple[str, list[Finding]], unsafe: bool) -> None:
    """The fast implementation agrees with the reference."""
    text, findings = case
    new, applied = apply(text, findings, unsafe=unsafe)
    assert (new, list(applied)) == reference(text, findings, unsafe)


@given(programs_with_findings(), st.randoms(use_true_random=False))
@settings(max_examples=100)
def test_order_of_findings_does_not_matter(case: tuple[str, list[Finding]], shuffler: random.Random) -> None:
    """Rules may report in any order, from any number of processes."""
    text, findings = case
    shuffled = list(findings)
    shuffler.shuffle(shuffled)
    assert apply(text, findings, unsafe=True) == apply(text, shuffled, unsafe=True)


@given(programs_with_findings())
@settings(max_examples=100)
def test_text_outside_the_edits_stays(case: tuple[str, list[Finding]]) -> None:
    """Character for character, line ends included."""
    text, findings = case
    new, applied = apply(text, findings, unsafe=True)
    edits = {edit for one in applied if one.fix for edit in one.fix.edits}
    kept = [text[i] for i in range(len(text)) if not any(edit.start <= i < edit.end for edit in edits)]
    rest = iter(new)
    assert all(character in rest for character in kept)


def test_many_fixes_are_quick() -> None:
    """A file with thousands of findings is no reason to wait."""
    count = 20_000
    findings = [
        fixed_by(Edit(place * 2, place * 2 + 1, "x"), Edit(0, 0, "i\n", shared=True))
        for place in range(count)
    ]
    text, applied = apply("ab" * count, findings, unsafe=False)
    assert len(applied) == count
    assert text == "i\n" + "xb" * count


def test_text_that_parses_is_no_problem() -> None:
    """Warnings about odd code are the user's business, not ours."""
    assert check_parses("x = '\\d'\r\nassert (1, 2)\r\n", "a.py") is None


@pytest.mark.parametrize("text", ["x = (", "x = 1\n  y = 2\n", "\x00", "(" * 5000 + ")" * 5000])
def test_broken_outcome_is_called_a_bug_of_rlint(text: str) -> None:
    """The user learns which fixes are to blame."""
    problem = check_parses(text, "a.py", [fixed_by(code="RL201"), fixed_by(code="RL101")])
    assert problem is not None
    assert problem.path == "a.py"
    assert "RL101, RL201" in problem.message
    assert "bug in rlint" in str(problem)


def names(folder: Path) -> list[str]:
    """The content of a folder."""
    return sorted(entry.name for entry in folder.iterdir())


def read(path: Path) -> Source:
    """The file as the engine reads it."""
    source = read_source(path, path.name)
    assert isinstance(source, Source)
    return source


@pytest.mark.parametrize(
    "raw",
    [
        b"x = 1\r\ny = 2\r\n",
        b"\xef\xbb\xbfx = '\xc3\xa9'\n",
        b"# coding: latin-1\nx = '\xe9'\n",
        b"x = 1\ry = 2\n\n\x0c",
    ],
)
def test_line_ends_encoding_and_byte_order_mark_are_kept(tmp_path: Path, raw: bytes) -> None:
    """Writing changes only the bytes that the fix changed."""
    path = tmp_path / "a.py"
    path.write_bytes(raw)
    source = read(path)
    assert write(source, source.text.replace("x = ", "xx = ")) is None
    assert path.read_bytes() == raw.replace(b"x = ", b"xx = ")
    assert names(tmp_path) == ["a.py"]


@pytest.mark.parametrize("mode", [0o644, 0o755, 0o600])
def test_mode_is_kept(tmp_path: Path, mode: int) -> None:
    """A script stays executable, a private file private."""
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    path.chmod(mode)
    assert write(read(path), "x = 2\n") is None
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only the superuser gives files away"
)
def test_owner_is_kept_where_that_is_permitted(tmp_path: Path) -> None:
    """Run by the superuser, rlint does not change the owner of files."""
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    os.chown(path, 1234, 1235)
    assert write(read(path), "x = 2\n") is None
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 1235)


def test_symbolic_link_stays_a_link(tmp_path: Path) -> None:
    """The target of the link is changed."""
    (tmp_path / "real").mkdir()
    real = tmp_path / "real" / "a.py"
    real.write_text("x = 1\n")
    link = tmp_path / "link.py"
    link.symlink_to("real/a.py")
    assert write(read(link), "x = 2\n") is None
    assert link.is_symlink()
    assert real.read_text() == "x = 2\n"
    assert names(tmp_path) == ["link.py", "real"]


def test_file_that_changed_meanwhile_is_not_written(tmp_path: Path) -> None:
    """Changes that an editor saved meanwhile are not lost."""
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    source = read(path)
    path.write_text("x = 1  # saved\n")
    problem = write(source, "x = 2\n")
    assert problem is not None
    assert "changed on disk" in problem.message
    assert path.read_text() == "x = 1  # saved\n"
    assert names(tmp_path) == ["a.py"]


def test_deleted_file_does_not_come_back(tmp_path: Path) -> None:
    """It is reported instead."""
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    source = read(path)
    path.unlink()
    problem = write(source, "x = 2\n")
    assert problem is not None
    assert problem.message == f"not written: {os.strerror(errno.ENOENT)}"
    assert names(tmp_path) == []


def test_read_only_file_is_not_written(tmp_path: Path) -> None:
    """Read-only files are not written, not even by the superuser."""
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    path.chmod(0o444)
    problem = write(read(path), "x = 2\n")
    assert problem is not None
    assert "read-only" in problem.message
    assert path.read_text() == "x = 1\n"


def test_character_that_the_encoding_lacks_is_reported(tmp_path: Path) -> None:
    """The file is left as it was."""
    path = tmp_path / "a.py"
    path.write_bytes(b"# coding: latin-1\nx = '\xe9'\n")
    source = read(path)
    problem = write(source, source.text + "# \u65e5\n")
    assert problem is not None
    assert "latin-1" in problem.message or "iso" in problem.message
    assert path.read_bytes() == source.raw


FULL_DISK = """
import resource, sys
from pathlib import Path
from rlint.source.files import read_source
from rlint.fixing.apply_fixes import write
path = Path(sys.argv[1])
source = read_source(path, "a.py")
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
print(write(source, "x = 2\\n" * 1000))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no such limits there")
def test_full_disk_loses_nothing(tmp_path: Path) -> None:
    """The old file is intact and no partial file is left."""
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    assert "not written: " in done.stdout
    assert path.read_text() == "x = 1\n"
    assert names(tmp_path) == ["a.py"]


def test_interrupt_leaves_the_old_file_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the middle: the old text, and no temporary file."""
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    source = read(path)

    def interrupt(handle: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write(source, "x = 2\n")
    assert path.read_text() == "x = 1\n"
    assert names(tmp_path) == ["a.py"]


def test_a_fix_that_breaks_a_file_is_left_out_alone() -> None:
    """All other fixes are applied, whatever its position; it is reported with its line."""
    good = [fixed_by(Edit(place, place + 1, "x")) for place in (0, 2, 4, 6, 8)]
    bad = [fixed_by(Edit(place, place + 1, "("), code="RL102") for place in (3, 7)]
    done, refused = sound_passes({"a.py": "a,b,c,d,e"}.get, [*bad, *good], _unreadable, unsafe=False)
    assert done["a.py"].text == "x,x,x,x,x"
    assert {(finding.code, problem.message.partition(" would")[0]) for finding, problem in refused} == {
        ("RL102", "the fix of RL102 in line 1")
    }
    assert len(refused) == len(bad)


def test_fixes_that_break_a_file_together_wait_for_one_another() -> None:
    """The first is applied, and the second is not reported as wrong."""
    text = "if x:\n    a\n    b\n"
    both = [fixed_by(Edit(6, 12, "")), fixed_by(Edit(12, 18, ""))]
    done, refused = sound_passes({"a.py": text}.get, both, _unreadable, unsafe=False)
    assert (done["a.py"].text, refused) == ("if x:\n    b\n", [])


def _unreadable(made: Pass, name: str) -> Problem | None:
    return check_parses(made.text, name, made.findings)
