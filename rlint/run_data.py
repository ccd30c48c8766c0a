"""The inputs and outputs of a run as plain data, cheap to import."""

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
"""Selects the findings to fix, given a file's name, its text and its findings."""

Measured = tuple[tuple[str, Heat, str], ...]
"""Functions of a file that ran often in a profile: qualified name, how often, and the profile's evidence."""


@frozen
class Target:
    """A file to check, and the codes to check it for. `source` is given for standard input only."""

    source: Source | None
    path: Path
    name: str
    codes: frozenset[str] | None
    """None for a file that is only read for its summary."""
    measured: Measured = ()
    declared: DeclaredKnowledge = NOTHING_DECLARED
    fixability: Fixability = AS_FOUND


@frozen
class FileTask:
    """A file to read. `codes` is None for a file that is only analysed; `text` replaces the file's content.
    `size` is the approximate number of bytes; 0 for a file that cannot be read. `judged` is False in a
    program that no rule examines: one without machine learning, or with tests only (see plan.py).
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
    """Approximate number of calls in it."""
    digest: str = ""
    """Digest of the content at the start of the run; "" if that is not known."""
    starred: str = ""
    """Digest of the names that it imports by `from module import *`; "" if there are no such imports."""
    content: bytes | None = field(default=None, repr=False)
    """The content at the start of the run, so that the file is not read again; None if it is too large to
    keep.
    """
    declared: DeclaredKnowledge = NOTHING_DECLARED
    """The declarations of the configuration: a target's own; for other files, those of the first target."""
    is_loader: bool = False
    """Whether the file only counts for what it does to modules whose names are known only at run time."""
    is_next_to_programs: bool = False
    """Whether programs beside the file, which share no import with it, train (see program_groups.py)."""
    is_configuration: bool = False
    """Whether the file is no Python, but has settings of the program (see configurations.py)."""


@frozen
class CheckOptions:
    """Options that apply to all files of a run."""

    ignore_suppressions: bool = False
    give_summaries: bool = False
    """Passed only where needed, as summaries are large."""
    cache: Path | None = None
    """The folder in which summaries and the queries of files are cached."""
    edits: bool = True
    """Whether the edits of fixes are wanted. Without them, those that LibCST writes are left out."""


@frozen
class FileResult:
    """The results of one file."""

    name: str
    findings: tuple[Finding, ...] = ()
    problems: tuple[Problem, ...] = ()
    checked: bool = True
    hidden: tuple[Finding, ...] = ()
    """Findings suppressed by comments; not cached."""

    def at_least(self, confidence: Confidence) -> FileResult:
        """Return the result without the findings of lower confidence."""
        if all(finding.confidence >= confidence for finding in (*self.findings, *self.hidden)):
            return self
        findings, hidden = (
            tuple(finding for finding in each if finding.confidence >= confidence)
            for each in (self.findings, self.hidden)
        )
        return replace(self, findings=findings, hidden=hidden)

    def allowed(self, fixability: Fixability) -> FileResult:
        """Return the result with only those fixes that the settings allow."""
        if fixability == AS_FOUND:
            return self
        findings, hidden = fixability.applied(self.findings), fixability.applied(self.hidden)
        return replace(self, findings=findings, hidden=hidden)

    @property
    def has_edits(self) -> bool:
        """Whether all fixes have their edits, which are left out if no format shows them."""
        return all(each.fix is None or each.fix.edits for each in self.findings)


@frozen
class HiddenFindings:
    """A finding that is suppressed by a comment or a baseline."""

    finding: Finding
    in_source: bool
    """Whether a comment suppresses it, rather than a baseline file."""
    reason: str


@frozen
class Report:
    """The findings of a run, by file and line, and the problems that prevented checking some files."""

    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...]
    checked: int
    _sources: dict[str, Source] = field(default_factory=dict, compare=False, repr=False)
    _paths: dict[str, Path] = field(default_factory=dict, compare=False, repr=False)
    hidden: tuple[HiddenFindings, ...] = ()
    """Findings suppressed by comments only for formats that show them; those in a baseline, always."""
    are_tests: bool = False
    """Whether all files are tests or documentation, which are not checked."""

    def source_of(self, name: str) -> Source | None:
        """Return the source that the findings of a file refer to."""
        if name not in self._sources and name in self._paths:
            source = read_source(self._paths[name], name)
            if isinstance(source, Source):
                self._sources[name] = source
        return self._sources.get(name)

    def text_of(self, name: str) -> str:
        """Return the text that the findings of a file refer to; "" if it cannot be read."""
        source = self.source_of(name)
        return source.text if source is not None else ""


@frozen
class Changed:
    """A file whose text was changed by fixes, but is not written yet.

    `applied` are the findings whose fixes have changed it, including those in other files. `shares` are the
    other files that these fixes have changed, too.
    """

    source: Source
    text: str
    applied: tuple[Finding, ...]
    shares: frozenset[str] = frozenset()


@ordered
class FixId:
    """The identity of a fix, whichever others are applied: its rule, and the place of its finding in the
    original file. Lines and columns count from 1.
    """

    path: str
    line: int
    column: int
    code: str
    ordinal: int = 0
    """Distinguishes fixes of one rule at the same place."""


@frozen
class FixReport:
    """The remaining findings, the applied fixes, and the new texts."""

    report: Report
    applied: tuple[Finding, ...]
    changed: tuple[Changed, ...]
    ids: tuple[FixId, ...] = ()
    """Of `applied`, in its order."""
    left: tuple[FixId | None, ...] = ()
    """Of the findings of `report`, in its order; None in files without fixes."""
    removed: tuple[Finding, ...] = ()
    """Initial findings that were resolved by fixes of other findings."""
    new: frozenset[FixId] = frozenset()
    """Fixed or remaining findings that were not found initially: fixes exposed them."""
    refused: frozenset[FixId] = frozenset()
    """The fixes that were rejected because they would have broken a file."""


_NEAR = 2
"""The maximum number of queries of a rule that ruled a line out early."""


class Explained(Enum):
    """The result of a rule on a line."""

    REPORTED = "reported"
    HIDDEN = "hidden"
    """It is found, but hidden."""
    UNSELECTED = "not selected"
    """It would be reported, but the rule is not selected for the file."""
    SILENT = "silent"


@frozen
class RuleExplanation:
    """One rule at one place. `reasons` are the last answers it received before it returned, or why its
    finding is hidden; `changes` are changes with which it would report, each tested.
    """

    code: str
    name: str
    verdict: Explained
    subject: str
    """The code that it examined, shortened to one line."""
    column: int
    message: str = ""
    """The message of its finding, even if only a change would cause it."""
    reasons: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    questions: int = 0
    """The number of distinct queries of the rule, which shows how close it came."""
    impact: str = ""
    """The impact of its finding and its basis, where that is known: "low: 0.2 % of an environment step"."""

    @property
    def is_near(self) -> bool:
        """Whether it is relevant: it found something, nearly did, or queried more than what the code is."""
        return self.verdict is not Explained.SILENT or bool(self.message) or self.questions > _NEAR


@frozen
class LineExplanation:
    """A line, with how often it runs, its values, and the explanations of the rules."""

    path: str
    line: int
    """As displayed: in its cell, if the file is a notebook."""
    code: str
    cell: Cell | None = None
    notes: tuple[str, ...] = ()
    """Notes about the whole file: that it is not checked, and why."""
    heat: str = ""
    frequency: tuple[str, ...] = ()
    """How often the line runs, and why."""
    values: tuple[tuple[str, str], ...] = ()
    """The names on the line, with their types."""
    rules: tuple[RuleExplanation, ...] = ()
    """The rules that are closest to a finding come first."""
    looked: int = 0
    """The number of rules considered."""

    @property
    def place(self) -> str:
        """Return the line as written on the command line."""
        return f"{self.path}:cell {self.cell.index}:{self.line}" if self.cell else f"{self.path}:{self.line}"
