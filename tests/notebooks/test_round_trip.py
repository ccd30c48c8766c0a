"""Fixing a notebook changes only lines of code."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from notebook_files import Cell, File, notebook
from rlint.engine import api
from rlint.run_data import FixReport, Target
from rlint.source.files import Source, read_source

CODES = frozenset({"RL900", "RL101"})
USELESS = "  # rlint: ignore[RL101]"

_PLAIN = st.sampled_from(
    [
        "x = 1",
        "import os",
        "print('é \U0001f600 <b>')",
        "s = 'a\\tb\\\\n'",
        "await step()",
        "# a note",
        "",
        "if x:\n    y = 2",
        '"""\n%time is text here\n!so is this\n"""',
        "z = (1\n     % 2)",
    ]
)
_FIXABLE = st.sampled_from([f"y = 2{USELESS}", f"if x:\n    z = 'é / <'{USELESS}", f"t = '\\u00e9'{USELESS}"])
_MAGIC = st.sampled_from(
    [
        "%matplotlib inline",
        "!pip install -q gym==0.21",
        '!echo "it\'s" {x} \\\n  $y',
        "files = !ls {x}",
        "x?",
        "??os.path",
        "%time q = x + 1",
        "/print x",
        ",print a b",
        "if x:\n    !nvidia-smi\n    %cd /tmp",
        "took = %timeit -o x",
        "%run other.py --fast",
        "pip install torch",
    ]
)
_LINES = st.lists(st.one_of(_PLAIN, _FIXABLE, _MAGIC), max_size=5).map("\n".join)
_HEADED = st.tuples(st.sampled_from(["%%time", "%%capture out", "# note\n%%time"]), _LINES).map("\n".join)
_OTHER = st.tuples(
    st.sampled_from(["%%bash", "%%html", "%%writefile a.py", "%%timeit", "%%unknown x", "%sql"]), _LINES
).map("\n".join)
_BROKEN = st.sampled_from([f"x = # TODO{USELESS}", "def f(:\n    pass", "print 'old'", "y = [1,\n%time z"])
_SOURCES = st.one_of(_LINES, _LINES, _HEADED, _OTHER, _BROKEN)


@st.composite
def cells(draw: st.DrawFn) -> Cell:
    """Draw a cell of any kind."""
    source = draw(_SOURCES) + draw(st.sampled_from(["", "", "\n", "\n\n"]))
    if draw(st.booleans()):
        source = source.replace("\n", "\r\n")
    return Cell(
        source,
        kind=draw(st.sampled_from(["code", "code", "code", "markdown", "raw"])),
        id=draw(st.sampled_from([None, "a-1", "b_2"])),
        as_list=draw(st.booleans()),
        ascii_only=draw(st.booleans()),
        metadata=draw(st.sampled_from([{}, {"é": [1.0, {"source": ["x = 1"]}]}, {"tags": []}])),
        outputs=draw(st.sampled_from([(), ({"data": {"text/plain": [f"y = 2{USELESS}"]}},)])),
    )


@st.composite
def files(draw: st.DrawFn) -> tuple[list[Cell], File]:
    """Draw a notebook in one of the styles in which programs write them."""
    drawn = draw(st.lists(cells(), max_size=5))
    return drawn, notebook(
        *drawn,
        language=draw(st.sampled_from(["python", None])),
        version=draw(st.sampled_from([3, 4, 4])),
        indent=draw(st.sampled_from([None, 0, 1, 2, 4])),
        newline=draw(st.sampled_from(["\n", "\r\n"])),
        mark=draw(st.booleans()),
        end=draw(st.sampled_from(["", "\n"])),
    )


def fix(path: Path, codes: frozenset[str]) -> FixReport:
    """Fix a file in memory."""
    target = Target(source=None, path=path, name=path.name, codes=codes)
    return api.fix([target], unsafe=True, jobs=1)


def is_python(cell: Cell) -> bool:
    """Whether rlint reads a cell; broken ones are tested elsewhere."""
    lines = [line for line in cell.source.splitlines() if line.strip() and not line.startswith("#")]
    first = lines[0] if lines else ""
    return cell.kind == "code" and not (
        first.startswith(("%sql", "x = #", "def f(:", "print 'old'", "y = [1,"))
        or (first.startswith("%%") and first not in ("%%time", "%%capture out"))
    )


@settings(max_examples=120)
@given(files())
def test_only_lines_of_code_that_are_fixed_change(drawn: tuple[list[Cell], File]) -> None:
    """Outputs, metadata, key order, indentation, escapes and line ends stay as they are, byte for byte, and
    so do cells without a fix. Fixing again changes nothing.
    """
    typed, file = drawn
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "book.ipynb")
        path.write_bytes(file.content)
        source = read_source(path, path.name)
        assert isinstance(source, Source)
        assert source.encode(source.text) == file.content
        report = fix(path, CODES)
        assert not any(problem.is_bug for problem in report.report.problems)
        after = file.content
        for change in report.changed:
            after = change.source.encode(change.text)
        found = file.sources_in(after)
        for cell, before, value in zip(typed, file.sources, found, strict=True):
            text = value if isinstance(value, str) else "".join(value)
            expected = cell.source.replace(USELESS, "") if is_python(cell) else cell.source
            assert text == expected
            if text == cell.source:
                assert before in after
            assert isinstance(value, list) == cell.as_list
            if isinstance(value, list):
                assert value == text.splitlines(keepends=True)
        path.write_bytes(after)
        assert fix(path, CODES).changed == ()


def test_a_changed_line_is_written_in_the_notebooks_own_manner(tmp_path: Path) -> None:
    """Colab escapes `<`, other programs all non-ASCII characters; a changed line follows this style, and its
    neighbours keep their escapes.
    """
    content = (
        '{"cells": [{"cell_type": "code", "source": ["x = \'\\u003cb\\u003e\'  # rlint: ignore[RL101]\\n", '
        '"y = \'\\u00e9\\u003c\'\\n", "z = \'\\u00e9\'  # rlint: ignore[RL101]"]}], "nbformat": 4}'
    )
    path = tmp_path / "book.ipynb"
    path.write_text(content, encoding="utf-8")
    (change,) = fix(path, CODES).changed
    assert change.source.encode(change.text).decode() == content.replace("  # rlint: ignore[RL101]", "")


def test_lines_that_share_a_string_are_joined_again(tmp_path: Path) -> None:
    """A list whose strings are not lines is read correctly; after a fix, it is a list of lines."""
    data = {
        "cells": [
            {"cell_type": "code", "source": ["x = 1\ny", " = 2  # rlint: ignore[RL101]\nz", " = 3\n", ""]}
        ],
        "nbformat": 4,
    }
    path = tmp_path / "book.ipynb"
    path.write_text(json.dumps(data), encoding="utf-8")
    (change,) = fix(path, CODES).changed
    after = json.loads(change.source.encode(change.text))
    assert after["cells"][0]["source"] == ["x = 1\n", "y = 2\n", "z = 3\n"]
