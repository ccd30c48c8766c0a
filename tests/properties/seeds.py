"""Programs with a pattern whose fix is safe, from the rules' fixture folders."""

from __future__ import annotations

import ast
import functools
import tempfile
from dataclasses import dataclass
from pathlib import Path

from fixture_folders import FIXTURES, RULES, cases_of
from rlint.engine import api
from rlint.findings import Finding
from rlint.registry.catalogue import RuleEntry
from rlint.run_data import Target

SAFE_RULES = tuple(entry for entry in RULES if "safe" in entry.fixes.split(", "))
"""The rules that offer a safe fix."""
CODES = frozenset(entry.code for entry in RULES)


@dataclass(frozen=True)
class Fixed:
    """The program after all safe fixes, with all rules enabled."""

    before: str
    after: str
    offered: tuple[tuple[str, int], ...]
    """Code and line of each fix; lines are those before the pass of the fix."""


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="rlint-properties-")


def _target(text: str, codes: frozenset[str]) -> Target:
    folder = Path(_folder().name)
    (folder / "rlint.toml").touch()
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8", newline="")
    return Target(None, path, "program.py", codes)


def safe_findings(text: str, codes: frozenset[str] = CODES) -> list[Finding]:
    """The findings in a program whose fix is safe."""
    report = api.check([_target(text, codes)], jobs=1)
    return [f for f in report.findings if f.fix is not None and f.fix.safety.value == "safe"]


def fixed(text: str, codes: frozenset[str] = CODES) -> Fixed:
    """Apply the safe fixes to a program."""
    outcome = api.fix([_target(text, codes)], unsafe=False, jobs=1)
    assert not outcome.report.problems, outcome.report.problems
    after = outcome.changed[0].text if outcome.changed else text
    return Fixed(text, after, tuple((f.code, f.start.line) for f in outcome.applied))


@functools.cache
def programs_of(rule: RuleEntry) -> tuple[str, ...]:
    """The programs in the rule's folder that have a fix, without comments."""
    folder = FIXTURES / rule.name
    texts = [(folder / "before.py").read_bytes()]
    texts += [
        next(iter(case.given.values())) for case in cases_of(folder) if case.after and len(case.given) == 1
    ]
    return tuple(text for text in map(_unparsed, texts) if text)


@functools.cache
def lines_of(rule: RuleEntry, text: str) -> tuple[int, ...]:
    """The lines in which the rule offers a safe fix."""
    return tuple(f.start.line for f in safe_findings(text, frozenset({rule.code})) if f.code == rule.code)


def _unparsed(text: bytes) -> str:
    try:
        return ast.unparse(ast.parse(text))
    except (SyntaxError, ValueError):
        return ""
