from __future__ import annotations

import codecs
import os
from typing import TYPE_CHECKING

import pytest

from rlint.findings import Problem
from rlint.source.files import Source, display_name, read_source, source_from_text

if TYPE_CHECKING:
    from pathlib import Path


def read(path: Path, raw: bytes) -> Source | Problem:
    """Write a file and read it."""
    path.write_bytes(raw)
    return read_source(path, path.name)


def source(path: Path, raw: bytes) -> Source:
    """Write a valid file, and read it."""
    found = read(path, raw)
    assert isinstance(found, Source)
    return found


def problem(path: Path, raw: bytes) -> Problem:
    """Write an invalid file, and return the error."""
    found = read(path, raw)
    assert isinstance(found, Problem)
    return found


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"x = 1", id="no final newline"),
        pytest.param(b"x = 1\r\ny = 2\r\n", id="CRLF"),
        pytest.param(b"x = 1\ry = 2\r", id="CR"),
        pytest.param(b"x = 1\n\x0c\ny = 2\r\n", id="form feed and mixed line ends"),
        pytest.param(codecs.BOM_UTF8 + b"x = 1\n", id="byte-order mark"),
        pytest.param("# é ü 漢\n".encode(), id="UTF-8"),
        pytest.param(b"# -*- coding: latin-1 -*-\nname = '\xe9'\n", id="latin-1"),
        pytest.param(
            b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\nx = '\x80'\n", id="cp1252 in line 2"
        ),
        pytest.param(b"\n# coding: shift_jis\nx = '\x83\x65'\n", id="shift-jis below a blank line"),
        pytest.param(codecs.BOM_UTF8 + b"# coding: utf-8\nx = '\xc3\xa9'\n", id="mark and coding line agree"),
        pytest.param(b"# coding: utf-8-sig\nx = 1\n", id="utf-8-sig without a mark"),
    ],
)
def test_what_is_read_is_written_back_byte_for_byte(tmp_path: Path, raw: bytes) -> None:
    """Reading a file and writing its text changes nothing, whatever its encoding and line ends."""
    found = source(tmp_path / "x.py", raw)
    assert found.encode(found.text) == raw
    assert not found.text.startswith("\ufeff")


def test_the_coding_line_decides(tmp_path: Path) -> None:
    """A file with a coding line is decoded as it says."""
    found = source(tmp_path / "x.py", b"# -*- coding: latin-1 -*-\nname = '\xe9'\n")
    assert "é" in found.text
    assert found.encoding == "iso8859-1"


def test_a_coding_comment_below_code_is_no_coding_line(tmp_path: Path) -> None:
    """A coding comment counts only in the first two lines, in the second only after a comment or blank
    line.
    """
    assert source(tmp_path / "x.py", b"x = 1\n# coding: latin-1\n").encoding == "utf-8"
    assert source(tmp_path / "y.py", b"#\n#\n# coding: latin-1\n").encoding == "utf-8"


def test_bytes_that_are_not_utf8_are_located(tmp_path: Path) -> None:
    """A file in an undeclared encoding is reported with the place of the first bad byte and what to do."""
    found = problem(tmp_path / "x.py", b"a = 1\r\nname = '\xe9t\xe9'\n")
    assert (found.line, found.column) == (2, 9)
    assert "0xe9" in found.message
    assert found.hint is not None
    assert "coding" in found.hint


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"# coding: klingon\nx = 1\n", "unknown encoding `klingon`"),
        (b"# coding: rot13\nx = 1\n", "rot13"),
        (b"# coding: ascii\nx = '\xe9'\n", "0xe9"),
        (codecs.BOM_UTF8 + b"# coding: latin-1\n", "UTF-8 mark"),
        (b"x = 1\ny = '\0'\n", "null bytes"),
        ("x = 1\n".encode("utf-16"), "null bytes"),
    ],
)
def test_bytes_that_are_no_text_are_explained(tmp_path: Path, raw: bytes, says: str) -> None:
    """For any bytes, there is a message, not a crash."""
    assert says in problem(tmp_path / "x.py", raw).message


def test_what_cannot_be_read_is_explained(tmp_path: Path) -> None:
    """A missing file, a folder, a pipe: each is reported by name, and nothing blocks forever."""
    pipe = tmp_path / "pipe.py"
    os.mkfifo(pipe)
    for path, says in [(tmp_path / "gone.py", "No such file"), (tmp_path, "folder"), (pipe, "regular file")]:
        found = read_source(path, "shown.py")
        assert isinstance(found, Problem)
        assert found.path == "shown.py"
        assert says in found.message


def test_text_that_the_encoding_lacks_is_refused(tmp_path: Path) -> None:
    """A fix never writes characters that the file's encoding lacks."""
    found = source(tmp_path / "x.py", b"# coding: latin-1\n")
    with pytest.raises(UnicodeEncodeError):
        found.encode("# 漢\n")


def test_bytes_that_would_not_come_back_are_refused(tmp_path: Path) -> None:
    """A file is not written with a codec that decodes two byte sequences to one text."""
    found = source(tmp_path / "x.py", b"# coding: iso2022_jp\n# \x1b$B\x1b(B\n")
    with pytest.raises(UnicodeEncodeError):
        found.encode(found.text)


def test_standard_input_is_decoded_like_a_file() -> None:
    """A program on standard input may have a mark and a coding line, too."""
    found = source_from_text(codecs.BOM_UTF8 + b"x = 1\r\n", "x.py")
    assert isinstance(found, Source)
    assert (found.text, found.bom, found.name) == ("x = 1\r\n", True, "x.py")


def test_names_are_shown_relative_to_the_working_folder(tmp_path: Path) -> None:
    """Files below the working folder are shown as a user would type them, others absolute."""
    assert display_name(tmp_path / "a" / "b.py", tmp_path) == "a/b.py"
    assert display_name(tmp_path / "b.py", tmp_path / "a") == str(tmp_path / "b.py")


def test_names_that_are_no_text_can_be_printed(tmp_path: Path) -> None:
    """A file name with stray bytes does not break the output."""
    name = display_name(tmp_path / os.fsdecode(b"caf\xe9.py"), tmp_path)
    assert name == "caf\\xe9.py"
    name.encode("utf-8")


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        pytest.param(b"#\n#\n# coding: utf-16\nx = 1\n", "# coding: utf-16\nx = 1\n", id="comes to the top"),
        pytest.param(b"# coding: latin-1\nx = 1\n", "\n\n# coding: latin-1\nx = 1\n", id="leaves it"),
    ],
)
def test_a_coding_line_must_not_move(tmp_path: Path, raw: bytes, text: str) -> None:
    """A text that Python would decode differently is not written."""
    with pytest.raises(UnicodeEncodeError, match="declares an encoding"):
        source(tmp_path / "x.py", raw).encode(text)


def test_codecs_that_fail_in_their_own_way(tmp_path: Path) -> None:
    """Whatever keeps a codec from encoding a text is a UnicodeEncodeError."""
    label = "a" * 64  # longer than a part of a domain's name may be
    found = source(tmp_path / "x.py", b"# coding: idna\nx = 1\n")
    with pytest.raises(UnicodeEncodeError):
        found.encode(f"# coding: idna\n{label} = 1\n")
