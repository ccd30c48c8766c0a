"""What goes into a run and what comes out of it: plain data, light to import."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from pathlib import Path

from rlint.config.declared_knowledge import NOTHING_DECLARED, DeclaredKnowledge
from rlint.config.fixability import AS_FOUND, Fixability
from rlint.enums import Enum
from rlint.findings import Cell, Confidence, Finding, Heat, Problem
from rlint.frozen import frozen, ordered
from rlint.source.files import Source, read_source

Wanted = Callable[[str, str, Sequence[Finding]], Sequence[Finding]]
"""Of a file's name, its text and what was found in that, the findings that fixing is about."""

Measured = tuple[tuple[str, Heat, str], ...]
"""Functions of a file that a profile saw to run often: their qualified names, how often, and what it saw."""


@frozen
class Target:
    """A file to check, and the codes to check it for. `source` is given for standard input only."""

    source: Source | None
    path: Path
    name: str
    codes: frozenset[str] | None
    """None for a file that is read for what it tells of the others."""
    measured: Measured = ()
    declared: DeclaredKnowledge = NOTHING_DECLARED
    fixability: Fixability = AS_FOUND


@frozen
class FileTask:
    """A file to read. `codes` is None for a file that is read for knowledge only; `text` replaces the
    file's content. `size` is about how much there is to read; 0 for a file that cannot be read. `judged` is
    False in a program that no rule looks at: one that is no learning code, or tests alone (see plan.py).
    """

    path: Path
    name: str
    module: str
    package: str
    codes: frozenset[str] | None
    text: str | None
    size: int
    measured: Measured = ()
    judged: bool = True
    calls: int = 0
    """About how many there are in it."""
    digest: str = ""
    """Of the content, as it was when the run began; "" where that is not known."""
    content: bytes | None = field(default=None, repr=False)
    """As it was when the run began, so that the file is not read again; None where it is too much to hold."""
    declared: DeclaredKnowledge = NOTHING_DECLARED
    """What the configuration declares: of a target its own; of the files around, that of the first target."""


@frozen
class CheckOptions:
    """What applies to all files of a run."""

    ignore_suppressions: bool = False
    give_summaries: bool = False
    """Summaries are large: they are given only where they are needed."""
    cache: Path | None = None
    """The folder in which summaries are kept from one run to the next, and what files ask."""
    edits: bool = True
    """Whether the edits of fixes are wanted. Without them, those that LibCST writes are left out."""


@frozen
class FileResult:
    """What was found in one file."""

    name: str
    findings: tuple[Finding, ...] = ()
    problems: tuple[Problem, ...] = ()
    checked: bool = True
    hidden: tuple[Finding, ...] = ()
    """What comments hide; not kept from one run to the next."""

    def at_least(self, confidence: Confidence) -> FileResult:
        """Return the result without the findings that are less sure."""
        if all(finding.confidence >= confidence for finding in (*self.findings, *self.hidden)):
            return self
        findings, hidden = (
            tuple(finding for finding in each if finding.confidence >= confidence)
            for each in (self.findings, self.hidden)
        )
        return replace(self, findings=findings, hidden=hidden)

    def allowed(self, fixability: Fixability) -> FileResult:
        """Return the result with those fixes alone that the settings allow."""
        if fixability == AS_FOUND:
            return self
        findings, hidden = fixability.applied(self.findings), fixability.applied(self.hidden)
        return replace(self, findings=findings, hidden=hidden)

    @property
    def has_edits(self) -> bool:
        """Whether all fixes have their edits, which are left out where nothing shows them."""
        return all(each.fix is None or each.fix.edits for each in self.findings)


@frozen
class HiddenFindings:
    """A finding that somebody decided not to see."""

    finding: Finding
    in_source: bool
    """By a comment, and not by a file beside the code."""
    reason: str


@frozen
class Report:
    """What a run found, by file and line, and what kept it from checking some files."""

    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...]
    checked: int
    _sources: dict[str, Source] = field(default_factory=dict, compare=False, repr=False)
    _paths: dict[str, Path] = field(default_factory=dict, compare=False, repr=False)
    hidden: tuple[HiddenFindings, ...] = ()
    """What comments hide is listed only for formats that show it; what a baseline hides, always."""
    are_tests: bool = False
    """Are all of the files tests or documentation, at which no rule looks?"""

    def source_of(self, name: str) -> Source | None:
        """The source that the findings of a file refer to."""
        if name not in self._sources and name in self._paths:
            source = read_source(self._paths[name], name)
            if isinstance(source, Source):
                self._sources[name] = source
        return self._sources.get(name)

    def text_of(self, name: str) -> str:
        """The text that the findings of a file refer to; "" where it cannot be read."""
        source = self.source_of(name)
        return source.text if source is not None else ""


@frozen
class Changed:
    """A file whose text fixes have changed. Nothing is written yet.

    `applied` are the findings whose fixes have changed it, those in other files included. `shares` are the
    other files that these fixes have changed, too.
    """

    source: Source
    text: str
    applied: tuple[Finding, ...]
    shares: frozenset[str] = frozenset()


@ordered
class FixId:
    """What a fix is told by, whichever others are applied: its rule, and the place of its finding in the file
    as it was before all of them. Lines and columns count from 1.
    """

    path: str
    line: int
    column: int
    code: str
    ordinal: int = 0
    """Tells fixes of one rule apart that came to be at one place."""


@frozen
class FixReport:
    """What remains after fixing, what was fixed, and the new texts."""

    report: Report
    applied: tuple[Finding, ...]
    changed: tuple[Changed, ...]
    ids: tuple[FixId, ...] = ()
    """Of `applied`, in its order."""
    left: tuple[FixId | None, ...] = ()
    """Of the findings of `report`, in its order; None in files without fixes."""
    gone: tuple[Finding, ...] = ()
    """What was found at first and was neither fixed nor is left: the fixes of others took it along."""
    new: frozenset[FixId] = frozenset()
    """What was not found at first, of what was fixed and what is left: fixes brought it to light."""
    refused: frozenset[FixId] = frozenset()
    """The fixes that were left out because they would have broken a file."""


_NEAR = 2
"""Questions that a rule asks at most before it knows that a line is none of its business."""


class Explained(Enum):
    """What a rule says of a line."""

    REPORTED = "reported"
    HIDDEN = "hidden"
    """It is found, and something keeps it from being shown."""
    UNSELECTED = "not selected"
    """It would be reported, but the rule is not selected for the file."""
    SILENT = "silent"


@frozen
class RuleExplanation:
    """What one rule says of one place. `reasons` are what it learned last before it gave up, or what hides
    its finding; `changes` what would make it report, each tried out.
    """

    code: str
    name: str
    verdict: Explained
    subject: str
    """The code that it looked at, shortened to one line."""
    column: int
    message: str = ""
    """Of its finding, be it only one that a change would bring."""
    reasons: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    questions: int = 0
    """How many different things the rule asked: how near it came."""

    @property
    def is_near(self) -> bool:
        """Whether it is worth a look: it found something, nearly did, or asked more than what the code is."""
        return self.verdict is not Explained.SILENT or bool(self.message) or self.questions > _NEAR


@frozen
class LineExplanation:
    """A line, how often it runs, what its values are, and what the rules say of it."""

    path: str
    line: int
    """As the user counts it: in its cell, where the file is a notebook."""
    code: str
    cell: Cell | None = None
    notes: tuple[str, ...] = ()
    """What concerns the whole file: that it is not checked, and why."""
    heat: str = ""
    frequency: tuple[str, ...] = ()
    """How often the line runs, and why."""
    values: tuple[tuple[str, str], ...] = ()
    """The names on the line, and what is known of each."""
    rules: tuple[RuleExplanation, ...] = ()
    """The nearest to a finding first."""
    looked: int = 0
    """How many rules were asked whether they look at the line."""

    @property
    def place(self) -> str:
        """The line as people write it."""
        return f"{self.path}:cell {self.cell.index}:{self.line}" if self.cell else f"{self.path}:{self.line}"
