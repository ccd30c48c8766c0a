"""Plain data that travels from the rules to the reporters and the fixer. Knows no syntax tree."""

from __future__ import annotations

import hashlib
from dataclasses import field
from typing import NamedTuple

from rlint.enums import Enum, IntEnum
from rlint.frozen import frozen, ordered
from rlint.regex import regex


class Applicability(Enum):
    """How far a fix may be trusted."""

    SAFE = "safe"
    """The program computes the same values with the same side effects, whatever its input."""
    UNSAFE = "unsafe"
    """Right in the usual case, but a reader must agree; applied with `--unsafe-fixes` only."""


class Confidence(IntEnum):
    """How sure rlint is that a finding is true. Ordered, so that `>=` reads as "at least as sure"."""

    POSSIBLE = 0
    """It rests on weaker signs, such as names alone, or on several assumptions; not shown by default."""
    LIKELY = 1
    """It rests on one assumption, which the finding names."""
    CERTAIN = 2
    """All that the finding rests on was read from the code."""

    def __str__(self) -> str:
        return self.name.lower()


class ImpactLevel(IntEnum):
    """How much of a step's usual cost a finding wastes. Ordered, so that `>=` reads as "at least"."""

    UNKNOWN = 0
    """No measurement says."""
    LOW = 1
    MEDIUM = 2
    HIGH = 3

    def __str__(self) -> str:
        return self.name.lower()


class Heat(IntEnum):
    """How often a line runs. Ordered, so that `>=` reads as "at least as often"."""

    COLD = 0
    """Once per process, or not known to run more often."""
    WARM = 1
    """Per episode, epoch or batch of rollouts."""
    HOT = 2
    """Per environment step, gradient step, sample, token or message."""

    def __str__(self) -> str:
        return self.name.lower()


class TrainingStep(Enum):
    """What a training loop is made of: the unit that the cost of a line is compared with."""

    ENVIRONMENT = "environment step"
    GRADIENT = "gradient step"
    TOKEN = "generated token"  # noqa: S105 - no password
    MESSAGE = "message"


@ordered
class Position:
    """A place in a source: line and column, both counted from 1, the column in characters."""

    line: int
    column: int


@frozen
class Edit:
    """Replace the characters `start:end` of the decoded source by `text`.

    Offsets count characters of `Source.text` (line ends as in the file, no byte-order mark).
    `shared` edits are insertions that several fixes of one file may need (an import, a module
    constant): where two fixes carry an equal shared edit, it is applied once. `owns` are the comments that
    go with what is deleted; a fix that would lose any other comment is left out.
    """

    start: int
    end: int
    text: str
    shared: bool = False
    owns: tuple[str, ...] = field(default=(), compare=False, repr=False)

    def as_shared(self) -> Edit:
        """Return the same edit as one that several fixes may need."""
        return Edit(self.start, self.end, self.text, shared=True, owns=self.owns)


@frozen
class Cell:
    """The cell of a notebook that something stands in, counted from 1 among cells of all kinds.

    `before` are the lines of the notebook's text above the cell's first line; `file_line` is the line of the
    file itself in which the thing begins.
    """

    index: int
    id: str | None
    before: int
    file_line: int

    def local(self, position: Position) -> Position:
        """A position in the notebook's text as one in the cell."""
        return Position(position.line - self.before, position.column)


@frozen
class Elsewhere:
    """What a fix does in another file than that of its finding, told by the file's name as shown.

    `digest` is that of the text which the offsets refer to, by `rlint.findings.digest_of`.
    """

    path: str
    edits: tuple[Edit, ...]
    digest: str


@frozen
class Fix:
    """What `rlint fix` would do about a finding.

    `title` is an imperative without a full stop ("Create it on the device"). All edits are
    applied, or none, those in other files included. `reason` says, for an unsafe fix, what a reader has
    to agree to. `takes_away` is a name that no file of the run may hold but where the edits replace it:
    where one does, there is no fix.
    """

    title: str
    safety: Applicability
    edits: tuple[Edit, ...]
    reason: str | None = None
    elsewhere: tuple[Elsewhere, ...] = ()
    takes_away: str | None = None

    @property
    def files(self) -> tuple[str, ...]:
        """The other files that it changes."""
        return tuple(other.path for other in self.elsewhere)

    @property
    def needs_permission(self) -> bool:
        """Whether it depends on other files than its finding's; `rlint.fixing.cross_file` looks at those."""
        return bool(self.elsewhere) or self.takes_away is not None


def digest_of(text: str) -> str:
    """Return the digest of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@frozen
class Related:
    """A further place that a finding speaks of: another occurrence, or a link of its heat chain."""

    path: str
    start: Position
    end: Position
    message: str
    cell: Cell | None = None

    @property
    def shown_start(self) -> Position:
        """Return the start as shown to users: in the cell of a notebook, or in the file."""
        return self.cell.local(self.start) if self.cell else self.start

    @property
    def shown_end(self) -> Position:
        """Return the end as shown to users."""
        return self.cell.local(self.end) if self.cell else self.end

    @property
    def place(self) -> str:
        """`agent.py:2:5`, or in a notebook `agent.ipynb:cell 3:2:5`."""
        within = f"cell {self.cell.index}:" if self.cell else ""
        return f"{self.path}:{within}{self.shown_start.line}:{self.shown_start.column}"


@frozen
class Impact:
    """What the fix of a finding would save, as a share of the step around it, and the basis of that."""

    level: ImpactLevel
    basis: str = ""


class ChainLoop(NamedTuple):
    """A link of a heat chain that names a loop: where its header stands, and what that says."""

    path: str
    line: int
    header: str


_LOOP_LINK = regex(r"(?P<path>(?:[A-Za-z]:)?[^\s:][^:]*):(?P<line>\d+) (?P<header>.+)")


def loop_of(link: str) -> ChainLoop | None:
    """Return the loop that a link of a heat chain names, `train.py:3 for step in range(n)`; None for a link
    that names a function, or a cell of a notebook.
    """
    found = _LOOP_LINK.fullmatch(link)
    return ChainLoop(found["path"], int(found["line"]), found["header"]) if found is not None else None


@frozen
class Finding:
    """One place where a rule saw its pattern.

    `message` states the fact with names in backticks, without a full stop. `advice` says what to
    write instead. `chain` says why the place is hot, outermost link first. `noqa_line` is the
    line a suppression comment belongs on (the last line of the statement's first logical part);
    `first_line`..`last_line` are the lines of the whole simple statement, or of the header of a
    compound one: a suppression comment on any of them counts.
    """

    code: str
    name: str
    message: str
    path: str
    start: Position
    end: Position
    first_line: int
    last_line: int
    heat: Heat = Heat.COLD
    chain: tuple[str, ...] = ()
    advice: str | None = None
    fix: Fix | None = None
    no_fix: str | None = None
    """Why the fix that the rule has for its pattern is left out here."""
    cell: Cell | None = None
    """Where the file is a notebook; lines and offsets are those of its text (`Source.text`)."""
    confidence: Confidence = Confidence.CERTAIN
    assumption: str | None = None
    """What a likely finding rests on, as a clause after "if": "`device` is an accelerator"."""
    related: tuple[Related, ...] = ()
    steps: tuple[TrainingStep, ...] = ()
    """What each iteration of the training loop around the place does; empty where no such loop is known."""
    only_on: tuple[str, ...] = ()
    """The kinds of devices on which alone it costs anything, where the rule was measured on another one."""
    impact: Impact | None = field(default=None, compare=False)
    """Estimated when findings are reported, not when they are found."""

    @property
    def statement(self) -> str:
        """The message as it is read, with the assumption that it rests on."""
        return f"{self.message}, if {self.assumption}" if self.assumption else self.message

    @property
    def shown_start(self) -> Position:
        """Return the start as shown to users: in the cell of a notebook, or in the file."""
        return self.cell.local(self.start) if self.cell else self.start

    @property
    def shown_end(self) -> Position:
        """Return the end as shown to users."""
        return self.cell.local(self.end) if self.cell else self.end

    @property
    def file_lines(self) -> tuple[int, int]:
        """The first and last line in the file itself, whose lines are not those of the code in a notebook."""
        if self.cell is not None:
            return self.cell.file_line, self.cell.file_line
        return self.start.line, self.end.line

    @property
    def place(self) -> str:
        """`2:5`, or in a notebook `cell 3:2:5`."""
        within = f"cell {self.cell.index}:" if self.cell else ""
        return f"{within}{self.shown_start.line}:{self.shown_start.column}"

    @property
    def noqa_line(self) -> int:
        """The line on which `rlint check --add-noqa` puts its comment."""
        return self.last_line

    @property
    def sort_key(self) -> tuple[str, int, int, str]:
        """By file, then place, then code."""
        return (self.path, self.start.line, self.start.column, self.code)


@frozen
class Problem:
    """Something that kept rlint from its work on one file: unreadable, undecodable, no Python."""

    path: str
    message: str
    line: int | None = None
    column: int | None = None
    hint: str | None = None
    is_bug: bool = False
    """Of rlint, and not of the file."""
    cell: Cell | None = None
    """Where the file is a notebook; `line` is then counted in the cell."""

    @property
    def file_line(self) -> int | None:
        """The line in the file itself, which in a notebook is none of the cell's."""
        return self.cell.file_line if self.cell is not None else self.line

    @property
    def place(self) -> str:
        """The path with what is known of cell, line and column."""
        place = self.path
        if self.cell is not None:
            place += f":cell {self.cell.index}"
        if self.line is not None:
            place += f":{self.line}"
            if self.column is not None:
                place += f":{self.column}"
        return place

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" + (f" ({self.hint})" if self.hint else "")
