"""The words and conditions by which rules skip whole files: they save time and lose no finding."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from fixture_folders import FIXTURES, RULES, cases_of
from rlint.base_rule import Rule
from rlint.engine import worker
from rlint.findings import Finding
from rlint.registry import catalogue
from rlint.registry.catalogue import RuleEntry
from workspaces import Workspace

OF_PROGRAMS = {"RL202", "RL309"}
"""Rules whose `concerns` is a condition on the program, not on a file: it may use accelerators, and compiles
no network.
"""


def class_of(entry: RuleEntry) -> type[Rule]:
    """The class of a rule."""
    [rule], broken = catalogue.load_usable({entry.code})
    assert not broken
    return type(rule)


def programs_of(entry: RuleEntry) -> list[dict[str, bytes]]:
    """All programs of a rule's folder."""
    folder = FIXTURES / entry.name
    single = [{path.name: path.read_bytes()} for path in sorted(folder.glob("*.py"))]
    return single + [case.given for case in cases_of(folder)]


FILTERING = [
    entry for entry in RULES if class_of(entry).triggers or class_of(entry).concerns is not Rule.concerns
]


def test_some_rules_skip_files() -> None:
    """Otherwise the test below tests nothing."""
    assert len(FILTERING) > 10


@pytest.mark.parametrize("entry", FILTERING, ids=lambda entry: entry.name)
def test_no_finding_is_lost(
    entry: RuleEntry, workspace: Callable[[Mapping[str, bytes]], Workspace], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rule finds the same in its fixtures if it looks at every file."""
    rule = class_of(entry)

    def findings() -> list[tuple[Finding, ...]]:
        return [workspace(program).findings({entry.code}) for program in programs_of(entry)]

    filtered = findings()
    monkeypatch.setattr(worker, "_triggered", lambda _rule, _words: True)
    if entry.code not in OF_PROGRAMS:
        monkeypatch.setattr(rule, "concerns", Rule.concerns)
    assert findings() == filtered
