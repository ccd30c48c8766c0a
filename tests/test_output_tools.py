"""Reports for other tools: reviewdog, pylint's readers, programs that read line by line; and by rule."""

from __future__ import annotations

import json
from dataclasses import replace

from reports import finding, replacing, report, source
from rlint.findings import Applicability, Finding, Impact, ImpactLevel, Problem
from rlint.output import ReportOptions, reporter

TEXT = "x = cat(x)\ny = \u65e5\U0001f600(y)\n"
SAFE = finding(TEXT, "cat(x)", fix=replacing(TEXT, "cat(x)", "z"), advice="Use a list")
UNSAFE = finding(TEXT, "(y)", "RL201", fix=replacing(TEXT, "(y)", "", Applicability.UNSAFE, "it moves"))
BROKEN = Problem("b.py", "SyntaxError: invalid syntax", 3, 4, "is it Python 2?")
PUBLISHED = ReportOptions(summary=False, rule_url="https://example.org/rules/")


def shown(format_: str, *findings: Finding, options: ReportOptions = PUBLISHED) -> str:
    """The output of a format for findings and one problem."""
    return reporter(format_)(report(*findings, problems=(BROKEN,), sources=(source(TEXT),)), options)


def test_pylint_lines_name_the_rule_by_code_and_name() -> None:
    """The problem matchers of editors and CI servers read them."""
    assert shown("pylint", SAFE, UNSAFE).splitlines() == [
        "agent.py:1: [RL101(concat-grown-buffer)] `states` is copied whole",
        "agent.py:2: [RL201(concat-grown-buffer)] `states` is copied whole",
        "b.py:3: [invalid-file] SyntaxError: invalid syntax (is it Python 2?)",
    ]


def test_json_lines_are_the_entries_of_json() -> None:
    """One object per line, in the same order."""
    lines = [json.loads(line) for line in shown("json-lines", SAFE, UNSAFE).splitlines()]
    assert lines == json.loads(shown("json", SAFE, UNSAFE))
    assert [line["url"] for line in lines] == [
        "https://example.org/rules/RL101.html",
        "https://example.org/rules/RL201.html",
        None,
    ]


def test_without_published_pages_there_is_no_url() -> None:
    """There is no link to a page that may not exist."""
    entries = json.loads(shown("json", SAFE, options=ReportOptions()))
    assert [entry["url"] for entry in entries] == [None, None]


def test_reviewdog_gets_ranges_in_bytes_and_one_suggestion_per_fix() -> None:
    """Its columns count bytes of UTF-8 from 1; a suggestion is applied by itself."""
    found = json.loads(shown("rdjson", SAFE, UNSAFE))
    first, second, problem = found["diagnostics"]
    assert found["source"] == {"name": "rlint"}
    assert first["location"]["range"] == {"start": {"line": 1, "column": 5}, "end": {"line": 1, "column": 11}}
    assert first["suggestions"] == [{"range": first["location"]["range"], "text": "z"}]
    assert first["code"] == {"value": "RL101", "url": "https://example.org/rules/RL101.html"}
    start = len("y = \u65e5\U0001f600".encode()) + 1
    assert second["location"]["range"]["start"] == {"line": 2, "column": start}
    assert second["location"]["range"]["end"] == {"line": 2, "column": start + 3}
    assert problem["severity"] == "ERROR"
    assert problem["location"] == {"path": "b.py", "range": {"start": {"line": 3}}}


def test_several_edits_are_one_suggestion() -> None:
    """The text between the edits of a fix is repeated."""
    text = "a = f(x)\nb = 1\nc = f(x)\n"
    one, other = replacing(text, "a = f(x)", "a = g"), replacing(text, "c = f(x)", "c = g")
    both = finding(text, "f(x)", fix=type(one)(one.title, one.safety, (*one.edits, *other.edits)))
    shown_ = reporter("rdjson")(report(both, sources=(source(text),)), ReportOptions())
    (suggestion,) = json.loads(shown_)["diagnostics"][0]["suggestions"]
    assert suggestion["text"] == "a = g\nb = 1\nc = g"
    assert suggestion["range"] == {"start": {"line": 1, "column": 1}, "end": {"line": 3, "column": 9}}


def test_grouped_lists_findings_by_rule_and_file() -> None:
    """Rules in the order of the report; in each, the files and their lines."""
    high = replace(finding(TEXT, "y", "RL201", path="z.py"), impact=Impact(ImpactLevel.HIGH, "measured"))
    text = shown("grouped", high, SAFE, UNSAFE)
    assert text.splitlines() == [
        "RL201 concat-grown-buffer: 2 findings",
        "  agent.py",
        "    2:7 `states` is copied whole",
        "  z.py",
        "    2:1 `states` is copied whole (high impact)",
        "",
        "RL101 concat-grown-buffer: 1 finding, 1 [*] fixable",
        "  agent.py",
        "    1:5 [*] `states` is copied whole",
        "",
        "b.py:3:4: SyntaxError: invalid syntax (is it Python 2?)",
    ]
