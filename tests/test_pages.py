"""The rules' pages: the docstrings that `rlint rule` prints and the examples in them."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pytest

from fixture_folders import ROOT, RULES, render_findings
from rlint.registry.catalogue import RuleEntry
from workspaces import Workspace

HEADINGS = ["What it does", "Why is it slow", "Example", "Fix safety", "References"]
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FIGURE = re.compile(
    r"\d\s*%|\bper ?cent\b"
    r"|\b\d+(\.\d+)?\s*[x×](?![\w\]])|[x×]\s*\d"
    r"|\b\d+(\.\d+)?\s*times\s+(as|faster|slower|more|less)\b"
    r"|\b\d+(\.\d+)?\s*(ns|us|µs|ms|seconds?|KB|MB|GB|KiB|MiB|GiB)\b"
)

every_page = pytest.mark.parametrize("rule", RULES, ids=lambda entry: entry.name)


@dataclass(frozen=True)
class Example:
    """The two fences of a page. `by_hand`: rlint only gives advice, and the second program is written by
    hand.
    """

    before: str
    after: str
    by_hand: bool


@functools.cache
def page_of(rule: RuleEntry) -> str:
    """The docstring of the rule's file."""
    page = ast.get_docstring(ast.parse(rule.path.read_bytes()))
    assert page, f"{rule.path.relative_to(ROOT)} has no docstring"
    return page


def sections_of(rule: RuleEntry) -> dict[str, str]:
    """The text under each heading; a fence may contain lines that look like headings."""
    page = page_of(rule)
    fences = [match.span() for match in FENCE.finditer(page)]
    heads = [
        match
        for match in re.finditer(r"^## (.+)\n", page, re.MULTILINE)
        if not any(start < match.start() < end for start, end in fences)
    ]
    ends = [*(head.start() for head in heads[1:]), len(page)]
    return {head.group(1): page[head.end() : end] for head, end in zip(heads, ends, strict=True)}


def example_of(rule: RuleEntry) -> Example:
    """Two Python fences with `Use instead:` between them."""
    section = sections_of(rule)["Example"]
    fences = list(FENCE.finditer(section))
    assert [fence.group(1) for fence in fences] == ["python", "python"], "the example is two python fences"
    before, after = fences
    between = section[before.end() : after.start()].strip()
    assert between in ("Use instead:", "Use instead (by hand):")
    return Example(before.group(2), after.group(2), by_hand="by hand" in between)


@every_page
def test_a_page_is_complete(rule: RuleEntry) -> None:
    """Every page has the same sections in the same order, and none is empty. The first line is
    self-contained, because `rlint rules` shows it alone, and there are references.
    """
    sections = sections_of(rule)
    assert list(sections) == HEADINGS
    assert all(text.strip() for text in sections.values())

    first, blank, *_ = page_of(rule).splitlines()
    assert blank == ""
    assert first.endswith(".")
    assert len(first) <= 100
    assert rule.summary == first

    lines = sections["References"].split("\n")
    entries = [line for line in lines if line.startswith("- ")]
    assert entries
    assert all(re.match(r"- (https://\S+|[^\s].*https://\S+)", entry) for entry in entries)


def test_pages_have_no_figures_typed_by_hand() -> None:
    """Pages contain no speedups or sizes that were not measured."""
    prose = {rule.code: re.sub(r"`[^`]*`", "", FENCE.sub("", page_of(rule))) for rule in RULES}
    assert {code: found for code, text in prose.items() if (found := FIGURE.search(text))} == {}


@every_page
def test_the_example_is_true(rule: RuleEntry, workspace: Callable[[Mapping[str, bytes]], Workspace]) -> None:
    """rlint reports the first program of the example and fixes it to the second."""
    example = example_of(rule)
    compile(example.before, "before.py", "exec")
    compile(example.after, "after.py", "exec")
    program = workspace({"example.py": example.before.encode()})
    found = program.findings({rule.code})
    assert found, "the rule does not find its own example; `rlint explain FILE:LINE --all` says why"
    if example.by_hand:
        assert all(finding.fix is None for finding in found)
    else:
        program.fix({rule.code})
        assert program.content()["example.py"].decode() == example.after
    rest = workspace({"example.py": example.after.encode()}).findings({rule.code})
    assert render_findings(rest).decode() == ""
