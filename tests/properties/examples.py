"""Examples: a program with a pattern among distractors, fixed, and run before and after."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from properties.distractors import DISTRACTORS
from properties.draft import draft_of
from properties.jobs import Job, Outcome
from properties.names import global_names
from properties.plans import plan_of
from properties.seeds import Fixed, fixed, lines_of, programs_of
from properties.server import Comparer
from properties.templates import TEMPLATES
from rlint.registry.catalogue import RuleEntry

MOST_DISTRACTORS = 4
_TRIES = 4
"""The number of attempts to find a program that has the pattern in a form with a safe fix."""


@dataclass(frozen=True)
class Example:
    """A generated program."""

    code: str
    """The rule whose pattern it should contain."""
    text: str
    distractors: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """The result of an example."""

    example: Example
    fixed: Fixed
    outcome: Outcome | None
    """None if no fix was offered."""

    def report(self) -> str:
        """The information needed to repair the fix."""
        differences = "\n".join(self.outcome.differences) if self.outcome else ""
        offered = ", ".join(f"{code} in line {line}" for code, line in self.fixed.offered)
        return (
            f"{self.example.code} with {', '.join(self.example.distractors) or 'no distractor'}: "
            f"{offered}\n{differences}\n--- before\n{self.fixed.before}\n--- after\n{self.fixed.after}"
        )


def example(rule: RuleEntry, rng: Random) -> Example:
    """Make a program with the rule's pattern. A program with only another rule's pattern is accepted, too."""
    text, lines = _start(rule, rng)
    draft = draft_of(text, lines, rng)
    for _ in range(rng.randrange(MOST_DISTRACTORS + 1)):
        distractor = rng.choice(DISTRACTORS)
        changed = draft.copied()
        if distractor(changed) and _compiles(changed.text()):
            draft = changed
            draft.done.append(distractor.__name__)
    return Example(rule.code, draft.text(), tuple(draft.done))


def _start(rule: RuleEntry, rng: Random) -> tuple[str, tuple[int, ...]]:
    """A program from the rule's folder or a template, and the lines of the pattern."""
    templates, programs = TEMPLATES.get(rule.code, ()), programs_of(rule)
    text, lines = programs[0], ()
    for _ in range(_TRIES):
        text = rng.choice(templates)(rng) if templates and rng.random() < 0.5 else rng.choice(programs)
        lines = lines_of(rule, text)
        if lines:
            break
    return text, lines


def judged(made: Example, comparer: Comparer, seeds: Sequence[int] = (0, 1, 2)) -> Verdict:
    """Fix an example, and run it before and after."""
    found = fixed(made.text)
    if found.before == found.after:
        return Verdict(made, found, None)
    lines = tuple(line for _, line in found.offered)
    added = global_names(found.after) - global_names(found.before)
    plan = plan_of(ast.parse(found.before), lines)
    return Verdict(
        made, found, comparer.compare(Job(found.before, found.after, plan, tuple(seeds), lines, added))
    )


def _compiles(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "program.py", "exec")
    except (SyntaxError, ValueError):
        return False
    return True
