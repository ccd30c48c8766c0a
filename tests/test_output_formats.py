from __future__ import annotations

import difflib
import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from patience import PATIENCE
from reports import changed, finding, replacing, report, source
from rlint.findings import Applicability, Edit, Finding, Fix, Heat, Problem
from rlint.output import FORMATS, ReportOptions, diff, reporter, statistics

TEXT = "x = cat(x)\ny = \u65e5(y)\n"
SAFE = finding(
    TEXT, "cat(x)", fix=replacing(TEXT, "cat(x)", "z", title="Use a list"), advice="Use a list instead"
)
UNSAFE = finding(
    TEXT,
    "\u65e5(y)",
    "RL201",
    "blocking-transfer",
    message="waits",
    chain=("a.py:1 while True", "f"),
    fix=replacing(TEXT, "(y)", "", Applicability.UNSAFE, "it moves", title="Move it"),
)
PLAIN = finding(TEXT, "y", "RL401", "busy-wait-sleep", message="spins")
BROKEN = Problem("b.py", "SyntaxError: invalid syntax", 3, 4, "is it Python 2?")


def shown(
    format_: str, *findings: Finding, problems: tuple[Problem, ...] = (), options: ReportOptions | None = None
) -> str:
    """What a format prints about these findings and problems."""
    found = report(*findings, problems=problems, sources=(source(TEXT),))
    return reporter(format_)(found, options or ReportOptions())


def test_concise_gives_a_line_each() -> None:
    """The concise format has one line per finding."""
    assert shown("concise", SAFE, UNSAFE, PLAIN, problems=(BROKEN,)).splitlines() == [
        "agent.py:1:5: RL101 [*] `states` is copied whole",
        "agent.py:2:5: RL201 waits",
        "agent.py:2:1: RL401 spins",
        "b.py:3:4: error: SyntaxError: invalid syntax (is it Python 2?)",
        "Found 3 findings.",
        "Found 1 error.",
        "[*] 1 safe fix: `rlint fix`; 1 unsafe fix: `rlint fix --unsafe-fixes`.",
    ]


@pytest.mark.parametrize(
    ("findings", "options", "checked", "expected"),
    [
        ((), ReportOptions(), 3, ["All checks passed!"]),
        ((), ReportOptions(), 0, ["No Python files to check."]),
        ((), ReportOptions(summary=False), 3, []),
        ((), ReportOptions(fixed=2), 3, ["Found 2 findings (2 fixed, 0 remaining)."]),
        ((PLAIN,), ReportOptions(fixed=2), 3, ["Found 3 findings (2 fixed, 1 remaining)."]),
        (
            (PLAIN,),
            ReportOptions(fixed=3, removed=1, new_fixed=2, new_left=1),
            3,
            [
                "Found 2 findings (1 fixed, 1 gone with them, 0 remaining).",
                "The fixes exposed 3 new findings (2 fixed, 1 remaining).",
            ],
        ),
        ((PLAIN,), ReportOptions(), 1, ["Found 1 finding."]),
        ((UNSAFE,), ReportOptions(), 1, ["Found 1 finding.", "1 unsafe fix: `rlint fix --unsafe-fixes`."]),
        (
            (UNSAFE, SAFE),
            ReportOptions(unsafe_fixes=True),
            1,
            ["Found 2 findings.", "[*] 1 safe fix: `rlint fix`; 1 unsafe fix: `rlint fix --unsafe-fixes`."],
        ),
    ],
)
@pytest.mark.parametrize("format_", ["full", "concise"])
def test_summary_shows_what_is_left_to_do(
    format_: str, findings: tuple[Finding, ...], options: ReportOptions, checked: int, expected: list[str]
) -> None:
    """The last lines count findings, fixed ones, and fixable ones."""
    lines = reporter(format_)(report(*findings, checked=checked), options).splitlines()
    assert lines[len(lines) - len(expected) :] == expected
    assert options.summary or lines == []


def test_json_has_the_shape_that_tools_read() -> None:
    """Places are counted from 1, in characters; the file's name is absolute."""
    entry = json.loads(shown("json", UNSAFE))[0]
    assert len(entry.pop("fingerprint")) == 32
    assert entry == {
        "cell": None,
        "code": "RL201",
        "name": "blocking-transfer",
        "confidence": "certain",
        "assumption": None,
        "impact": None,
        "related": [],
        "message": "waits",
        "advice": None,
        "filename": str(Path.cwd() / "agent.py"),
        "location": {"row": 2, "column": 5},
        "end_location": {"row": 2, "column": 9},
        "fix": {
            "applicability": "unsafe",
            "message": "Move it",
            "reason": "it moves",
            "edits": [
                {
                    "content": "",
                    "location": {"row": 2, "column": 6},
                    "end_location": {"row": 2, "column": 9},
                }
            ],
        },
        "heat": "hot",
        "heat_chain": ["a.py:1 while True", "f"],
        "measured": None,
        "noqa_row": 2,
        "severity": "warning",
        "url": None,
    }


def test_json_of_nothing_and_of_problems() -> None:
    """An empty array, and entries without a code."""
    assert shown("json") == "[]\n"
    plain, broken = json.loads(shown("json", PLAIN, problems=(BROKEN,)))
    assert plain["fix"] is None
    assert (broken["code"], broken["message"], broken["location"]) == (
        None,
        "SyntaxError: invalid syntax",
        {"row": 3, "column": 4},
    )
    assert set(plain) == set(broken)


def test_json_edit_at_the_end_of_the_file() -> None:
    """After the last line end is the first column of the next line."""
    one = finding(TEXT, "cat(x)", fix=Fix("Add", Applicability.SAFE, (Edit(len(TEXT), len(TEXT), "z\n"),)))
    (edit,) = json.loads(shown("json", one))[0]["fix"]["edits"]
    assert edit["location"] == edit["end_location"] == {"row": 3, "column": 1}


def test_github_gets_annotations() -> None:
    """A warning at the place, with the advice; an error for a broken file."""
    here = str(Path.cwd())
    warning, error = shown("github", SAFE, problems=(BROKEN,)).splitlines()
    assert warning == (
        f"::warning title=rlint (RL101),file={here}/agent.py,line=1,endLine=1,col=5,endColumn=11"
        "::agent.py:1:5: RL101 `states` is copied whole%0A  help: Use a list instead"
    )
    assert error == (
        f"::error title=rlint,file={here}/b.py,line=3,col=4"
        "::b.py:3:4: SyntaxError: invalid syntax%0A  help: is it Python 2?"
    )


def test_github_gets_what_runs_most_often_first_and_whole_lines() -> None:
    """GitHub shows ten warnings of a step, and refuses columns for a place of several lines."""
    text = "for x in y:\n    z(x)\n"
    cold, hot = finding(text, text[:-1], heat=Heat.COLD), finding(text, "z(x)", heat=Heat.HOT)
    first, second = shown("github", cold, hot).splitlines()
    assert "line=2,endLine=2,col=5,endColumn=9::" in first
    assert "line=1,endLine=2::" in second


def test_github_commands_cannot_be_forged() -> None:
    """Special characters of workflow commands are encoded."""
    one = finding("x\n", "x", path="a,b:c%.py", message="100%\r\n::error::forged")
    (line,) = shown("github", one).splitlines()
    assert "file=" + str(Path.cwd()) + "/a%2Cb%3Ac%25.py,line=1" in line
    assert line.endswith("::a,b:c%25.py:1:1: RL101 100%25%0D%0A::error::forged")


@pytest.mark.parametrize("format_", FORMATS)
def test_standard_input_keeps_its_name(format_: str) -> None:
    """`-` is not a file."""
    assert str(Path.cwd() / "-") not in shown(format_, finding("x\n", "x", path="-"))


def test_statistics_count_by_rule() -> None:
    """Most frequent first; the mark tells whether all, some or none can be fixed."""
    found = report(
        SAFE, PLAIN, PLAIN, SAFE, finding(TEXT, "x"), UNSAFE, problems=(BROKEN,), sources=(source(TEXT),)
    )
    text = statistics(found, "full", ReportOptions(summary=False))
    assert text.splitlines() == [
        "3\tRL101\t[-] concat-grown-buffer",
        "2\tRL401\t[ ] busy-wait-sleep",
        "1\t     \t[ ] invalid-file",
        "1\tRL201\t[ ] blocking-transfer",
    ]
    entries = json.loads(statistics(found, "json", ReportOptions(unsafe_fixes=True)))
    assert entries[-1] == {
        "code": "RL201",
        "name": "blocking-transfer",
        "count": 1,
        "fixable": True,
        "fixable_count": 1,
    }


def test_statistics_of_nothing() -> None:
    """Only the summary."""
    assert statistics(report(), "full", ReportOptions()) == "All checks passed!\n"
    assert statistics(report(), "json", ReportOptions()) == "[]\n"


@pytest.mark.skipif(shutil.which("patch") is None, reason="needs the `patch` program")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a = 1\nb = 2\n", "a = 1\nb = 3\n"),
        ("a = 1\nb = 2", "a = 1\nb = 3"),
        ("a = 1\nb = 2", "a = 1\nb = 2\nc = 3\n"),
        ("a = 1\r\nb = 2\r\n", "a = 1\r\nb = 3\r\n"),
        ("a = 1\n\x0cb = 2\n", "a = 1\n\x0cb = 3\n"),
        ("x\n" * 30 + "y\n" + "x\n" * 30, "import z\n" + "x\n" * 60),
    ],
)
def test_diff_can_be_applied(tmp_path: Path, old: str, new: str) -> None:
    """`rlint check --diff > x.patch` is a patch, whatever the line ends."""
    path = tmp_path / "agent.py"
    path.write_bytes(old.encode())
    patch = diff([changed(old, new)])
    subprocess.run(
        ["patch", "-p0", "--binary"],
        cwd=tmp_path,
        input=patch.encode(),
        check=True,
        capture_output=True,
        timeout=PATIENCE,
    )
    assert path.read_bytes() == new.encode()


def test_diff_of_several_files() -> None:
    """One after the other; unchanged files do not appear."""
    changes = [changed("a\n", text, name) for name, text in (("a.py", "b\n"), ("b.py", "a\n"), ("c.py", ""))]
    assert diff(changes).splitlines() == [
        "--- a.py",
        "+++ a.py",
        "@@ -1 +1 @@",
        "-a",
        "+b",
        "--- c.py",
        "+++ c.py",
        "@@ -1 +0,0 @@",
        "-a",
    ]


def test_coloured_diff_is_safe_to_look_at() -> None:
    """Added and removed lines have their colours, control characters have none."""
    shown_diff = diff([changed("a = '\x1b[2J'\r\n", "\tb\r\n")], color=True)
    assert "\x1b[2J" not in shown_diff
    assert "\\x1b[2J" in shown_diff
    assert "\x1b[32m+\tb\x1b[0m\n" in shown_diff


def test_diff_of_a_huge_file_is_quick() -> None:
    """Fifty thousand lines, a change at either end."""
    text = "    x = x + 1\n    y = 2\n\n" * 17_000
    assert diff([changed(text, "import a\n" + text + "b\n")]).count("\n") < 20


LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "\n"]), max_size=25)


@given(LINES, LINES)
@settings(max_examples=300)
def test_diff_says_what_changed_and_no_more(old: list[str], new: list[str]) -> None:
    """The diff has the new and the old lines, and never more changes than that of the standard library."""
    rows = diff([changed("".join(old), "".join(new))]).split("\n")[2:-1]
    removed = Counter(row[1:] for row in rows if row[0] == "-")
    added = Counter(row[1:] for row in rows if row[0] == "+")
    kept = Counter(line[:-1] for line in old)
    kept.subtract(removed)
    assert min(kept.values(), default=0) >= 0
    assert kept + added == Counter(line[:-1] for line in new)
    library = [row for row in list(difflib.unified_diff(old, new))[2:] if row[0] in "+-"]
    assert removed.total() + added.total() <= len(library)


def test_diff_of_a_file_changed_throughout() -> None:
    """Thousands of changes take no more memory or time than a few."""
    old = "".join(f"x = {number}\ny = 1\n" for number in range(3000))
    new = old.replace("x = ", "z = ")
    assert diff([changed(old, new)]).count("\n+z = ") == 3000


def test_formats_are_loaded_on_request() -> None:
    """Only the module of the requested format is imported."""
    code = (
        "import sys, rlint.output; print([m for m in sorted(sys.modules) if m.startswith(('rlint', 'json'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    assert done.stdout == "['rlint', 'rlint.frozen', 'rlint.output']\n"
