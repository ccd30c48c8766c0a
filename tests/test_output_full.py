from __future__ import annotations

import unicodedata
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reports import finding, replacing, report, source
from rlint.findings import Applicability, Edit, Finding, Fix, Problem
from rlint.output import ReportOptions, reporter

PLAIN = ReportOptions(summary=False)


def full(text: str, *findings: Finding, options: ReportOptions = PLAIN) -> str:
    """The default report about a file that holds `text`."""
    return reporter("full")(report(*findings, sources=(source(text),)), options)


def test_report_shows_the_place_the_reason_and_the_remedy() -> None:
    """One block has all information about a finding."""
    text = "import numpy as np\n\nstates = np.append(states, x)\n"
    one = finding(
        text,
        "np.append(states, x)",
        chain=("train.py:142 while step < total", "Agent.learn", "Buffer.add"),
        advice="Collect the parts in a list",
        fix=replacing(text, "states = np.append(states, x)", "states.append(x)", title="Append to a list"),
    )
    assert full(text, one) == dedent("""\
        RL101 [*] concat-grown-buffer: `states` is copied whole
         --> agent.py:3:10
          |
        3 | states = np.append(states, x)
          |          ^^^^^^^^^^^^^^^^^^^^
        why hot: train.py:142 while step < total → Agent.learn → Buffer.add
        help: Collect the parts in a list
        fix: Append to a list (safe: `rlint fix` applies it)
          - states = np.append(states, x)
        3 + states.append(x)

        """)


def test_unsafe_fix_says_what_to_agree_to() -> None:
    """It is marked as fixable only if unsafe fixes are requested."""
    text = "x = cat(x)\n"
    one = finding(
        text, "cat(x)", fix=replacing(text, "cat(x)", "y", Applicability.UNSAFE, "the length must be known")
    )
    assert "RL101 concat" in full(text, one)
    assert "(unsafe: the length must be known; `rlint fix --unsafe-fixes` applies it)" in full(text, one)
    assert "RL101 [*] concat" in full(text, one, options=ReportOptions(unsafe_fixes=True))


def test_finding_without_fix_says_so() -> None:
    """The hint to run `rlint fix` is shown only if there are fixes."""
    text = "x = cat(x)\n"
    assert "note: no automatic fix\n" in full(text, finding(text, "cat(x)"))


def test_span_over_some_lines_is_underlined_on_each() -> None:
    """A finding of several lines is marked from start to end, without the indentation."""
    text = "x = cat(\n    (x,\n\n     y),\n)  # grows\n"
    assert full(text, finding(text, "cat(\n    (x,\n\n     y),\n)")).splitlines()[2:-2] == [
        "  |",
        "1 | x = cat(",
        "  |     ^^^^",
        "2 |     (x,",
        "  |     ^^^",
        "3 |",
        "4 |      y),",
        "  |      ^^^",
        "5 | )  # grows",
        "  | ^",
    ]


def test_middle_of_a_long_span_is_left_out() -> None:
    """A call over a hundred lines does not fill the screen."""
    text = "x = cat(\n" + "    x,\n" * 100 + ")\n"
    shown = full(text, finding(text, text[4:-1])).splitlines()
    assert len(shown) < 16
    assert [line.split()[0] for line in shown if line[:3].strip().isdigit()] == ["1", "2", "3", "102"]
    assert "..." in shown


def columns(text: str) -> int:
    """How many columns a terminal needs."""
    return sum(
        0 if unicodedata.combining(one) else 2 if unicodedata.east_asian_width(one) in "WF" else 1
        for one in text
    )


@pytest.mark.parametrize(
    "before", ["\t", "\t \t", '"\u65e5\u672c", ', '"e\u0301\u0308", ', '"\x07\u202e", ', "\x0c"]
)
def test_underline_stands_below_the_place(before: str) -> None:
    """Tabs, wide, combining and escaped characters before it do not shift it."""
    text = f"{before}cat(x)\n"
    code, marks = full(text, finding(text, "cat(x)")).splitlines()[3:5]
    assert columns(code[: code.index("cat(x)")]) == marks.index("^")
    assert marks.count("^") == 6


@given(st.text(), st.text(), st.text())
@settings(max_examples=200)
def test_nothing_that_controls_a_terminal_is_printed(code: str, name: str, message: str) -> None:
    """For any hostile file, the report has no escape sequences, invisible characters or broken text."""
    text = f"x = 1  # {code}"
    place = "x = 1"
    one = finding(text, place, path=name, message=message, advice=code, chain=(code,))
    one_fixed = finding(text, place, path=name, fix=replacing(text, place, code, title=message, reason=name))
    problem = Problem(name, message, 1, 1, code)
    hostile = report(one, one_fixed, problems=(problem,), sources=(source(text, name),))
    for format_ in ("full", "concise", "github"):
        shown = reporter(format_)(hostile, ReportOptions(width=40))
        assert all(
            character == "\n" or unicodedata.category(character) not in ("Cc", "Cf", "Cs")
            for character in shown
        )
        shown.encode()


def test_long_line_is_cut_around_the_place() -> None:
    """On a narrow terminal, the place is still visible."""
    text = "x = [" + "1, " * 200 + "cat(x)," + "1, " * 200 + "]\n"
    shown = full(text, finding(text, "cat(x)"), options=ReportOptions(width=60, summary=False)).splitlines()
    assert all(columns(line) <= 60 for line in shown[2:5])
    assert shown[4].index("^") == shown[3].index("cat(x)")
    assert shown[3].count("…") == 2
    assert shown[4].count("^") == 6


def test_preview_shows_each_changed_place() -> None:
    """The preview has the line numbers of the fixed file."""
    text = "import os\n\ndef f(x):\n    a = 1\n    return x.cat(1)\n"
    edits = (
        Edit(0, 0, "import re\n", shared=True),
        Edit(text.index("    a"), text.index("    return"), ""),
        Edit(text.index("x.cat"), text.index("x.cat") + 5, "y"),
    )
    one = finding(text, "x.cat(1)", fix=Fix("Do it", Applicability.SAFE, edits))
    assert full(text, one).splitlines()[6:-1] == [
        "1 + import re",
        "...",
        "  -     a = 1",
        "  -     return x.cat(1)",
        "5 +     return y(1)",
    ]


def test_preview_of_a_large_fix_is_short() -> None:
    """Twelve lines at most; the rest is counted."""
    text = "x = 1\n" * 50
    one = finding(text, "x = 1", fix=Fix("Do it", Applicability.SAFE, (Edit(0, len(text), "y = 1\n" * 30),)))
    shown = full(text, one).splitlines()[6:-1]
    assert len(shown) == 12
    assert shown[-1] == "... 69 more lines"


def test_preview_of_a_file_without_final_newline_and_with_crlf() -> None:
    """Line ends are not shown, and not counted as changes."""
    text = "a = 1\r\nb = 2"
    one = finding(text, "b = 2", fix=replacing(text, "b = 2", "b = 3\r\nc = 4"))
    assert full(text, one).splitlines()[6:-1] == ["  - b = 2", "2 + b = 3", "3 + c = 4"]


def test_colours_are_there_only_on_request() -> None:
    """Nothing but colours differs."""
    text = "x = cat(x)\n"
    one = finding(text, "cat(x)", chain=("a",), advice="b", fix=replacing(text, "cat(x)", "y"))
    plain, colored = full(text, one), full(text, one, options=ReportOptions(color=True, summary=False))
    assert "\x1b" not in plain
    assert "\x1b[" in colored
    import re

    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == plain


def test_problem_shows_where_the_file_is_broken() -> None:
    """With the code, if it could be read, and the hint."""
    problem = Problem("agent.py", "SyntaxError: invalid syntax", 2, 7, "is it Python 2?")
    broken = report(problems=(problem,), sources=(source("x = 1\nprint 'x'\n"),))
    assert reporter("full")(broken, PLAIN) == dedent("""\
        error: SyntaxError: invalid syntax
         --> agent.py:2:7
          |
        2 | print 'x'
          |       ^
        help: is it Python 2?

        """)


def test_problem_without_place_or_source() -> None:
    """A file that could not even be opened has only a name."""
    broken = report(problems=(Problem("agent.py", "permission denied"),))
    assert reporter("full")(broken, PLAIN) == "error: permission denied\n --> agent.py\n\n"


def test_finding_in_a_file_that_is_not_at_hand() -> None:
    """It is shown without the code."""
    one = finding("x = cat(x)\n", "cat(x)", fix=replacing("x = cat(x)\n", "cat(x)", "y"))
    shown = reporter("full")(report(one), PLAIN)
    assert shown.splitlines()[:2] == [
        "RL101 [*] concat-grown-buffer: `states` is copied whole",
        " --> agent.py:1:5",
    ]
