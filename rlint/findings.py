"""Plain data that rules pass to the reporters and the fixer, independent of syntax trees."""

from __future__ import annotations

import hashlib
from dataclasses import field
from typing import NamedTuple

from rlint.enums import Enum, IntEnum
from rlint.frozen import frozen, ordered
from rlint.regex import regex


class Applicability(Enum):
    """Whether a fix is safe or needs review."""

    SAFE = "safe"
    """The program has the same values and side effects for every input."""
    UNSAFE = "unsafe"
    """Correct in the usual case, but needs review; applied only with `--unsafe-fixes`."""


class Confidence(IntEnum):
    """The certainty of a finding. Ordered, so that `>=` means "at least as certain"."""

    POSSIBLE = 0
    """It rests on weaker evidence, such as only names, or on several assumptions; hidden by default."""
    LIKELY = 1
    """It rests on one assumption, which the finding names."""
    CERTAIN = 2
    """All facts that the finding rests on were derived from the code."""

    def __str__(self) -> str:
        return self.name.lower()


class ImpactLevel(IntEnum):
    """The share of a typical step that a finding wastes. Ordered, so that `>=` means "at least"."""

    UNKNOWN = 0
    """Not measured."""
    LOW = 1
    MEDIUM = 2
    HIGH = 3

    def __str__(self) -> str:
        return self.name.lower()


class Heat(IntEnum):
    """How often a line runs. Ordered, so that `>=` means "at least as often"."""

    COLD = 0
    """Once per process, or not known to run more often."""
    WARM = 1
    """Per episode, epoch or batch of rollouts."""
    HOT = 2
    """Per environment step, gradient step, sample, token or message."""

    def __str__(self) -> str:
        return self.name.lower()


class CodeExtent(Enum):
    """The code that a change affects."""

    FUNCTION = "function"
    FILE = "file"
    PROJECT = "project"


class TrainingStep(Enum):
    """The units of a training loop, with which the cost of a line is compared."""

    ENVIRONMENT = "environment step"
    GRADIENT = "gradient step"
    TOKEN = "generated token"  # noqa: S105 - no password
    MESSAGE = "message"


class ProgramScale(Enum):
    """How long the training steps of a program take, by the networks and environments that it uses."""

    SMALL = "small"
    """Fully connected networks, and environments of a few numbers."""
    SIMULATED = "simulated"
    """Fully connected networks, and environments that render or simulate."""
    SLOW = "slow"
    """Networks of TensorFlow or Keras, of which each call takes long, whatever their layers."""
    MIXED = "mixed"
    """Small and large networks, as in a library of algorithms."""
    LARGE = "large"
    """Networks for images or sequences."""


@ordered
class Position:
    """A place in a source: line and column, both counted from 1, the column in characters."""

    line: int
    column: int


@frozen
class Edit:
    """Replace the characters `start:end` of the decoded source by `text`.

    Offsets are in characters of `Source.text` (line ends as in the file, no byte-order mark).
    `shared` edits are insertions that several fixes of one file may need (an import, a module
    constant): if two fixes have an equal shared edit, it is applied once. `owns` are the comments that are
    deleted with the code; a fix that would lose any other comment is rejected.
    """

    start: int
    end: int
    text: str
    shared: bool = False
    owns: tuple[str, ...] = field(default=(), compare=False, repr=False)

    def as_shared(self) -> Edit:
        """Return a copy of the edit that several fixes may share."""
        return Edit(self.start, self.end, self.text, shared=True, owns=self.owns)


@frozen
class Cell:
    """The notebook cell of a place, counted from 1 among cells of all types.

    `before` are the lines of the notebook's text above the cell's first line; `file_line` is the line of the
    file itself in which the place begins.
    """

    index: int
    id: str | None
    before: int
    file_line: int

    def local(self, position: Position) -> Position:
        """Return a position in the notebook's text as a position in the cell."""
        return Position(position.line - self.before, position.column)


@frozen
class OtherFileEdits:
    """The edits of a fix in another file than that of its finding, given by the file's name as shown.

    `digest` is that of the text which the offsets refer to, by `rlint.findings.digest_of`.
    """

    path: str
    edits: tuple[Edit, ...]
    digest: str


@frozen
class Requirement:
    """A library version that code needs, and the part of the code that needs it."""

    library: str
    """`python`, `torch` or `numpy`."""
    version: str
    what: str
    """The name as code spells it: `torch.compile`, `.amax`, `fused=`, `:=`."""


@frozen
class Fix:
    """The edits that `rlint fix` would make for a finding.

    `title` is an imperative without a full stop ("Create it on the device"). All edits are
    applied, or none, including those in other files. `reason` states, for an unsafe fix, the condition under
    which it is correct. `takes_away` is a name that no file of the run may contain except where the edits
    replace it; otherwise there is no fix.
    """

    title: str
    safety: Applicability
    edits: tuple[Edit, ...]
    reason: str | None = None
    other_edits: tuple[OtherFileEdits, ...] = ()
    takes_away: str | None = None
    needs: tuple[Requirement, ...] = ()
    """The library versions that its new code needs."""

    @property
    def files(self) -> tuple[str, ...]:
        """Return the other files that it changes."""
        return tuple(other.path for other in self.other_edits)

    @property
    def needs_permission(self) -> bool:
        """Whether it depends on other files than its finding's; `rlint.fixing.cross_file` looks at those."""
        return bool(self.other_edits) or self.takes_away is not None


def digest_of(text: str) -> str:
    """Return the digest of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@frozen
class Related:
    """A further place of a finding: another occurrence, or a link of its heat chain."""

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
        """Return the place as text: `agent.py:2:5`, or in a notebook `agent.ipynb:cell 3:2:5`."""
        within = f"cell {self.cell.index}:" if self.cell else ""
        return f"{self.path}:{within}{self.shown_start.line}:{self.shown_start.column}"


@frozen
class Impact:
    """The saving of a fix as a share of the step around it, and the basis of that estimate."""

    level: ImpactLevel
    basis: str = ""


class ChainLoop(NamedTuple):
    """A link of a heat chain that names a loop: the place and text of its header."""

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
    """One occurrence of a rule's pattern.

    `message` states the problem with names in backticks, without a full stop. `advice` says what to
    write instead. `chain` explains why the place is hot, outermost link first. `noqa_line` is the
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
    """Why the rule's fix was rejected here."""
    cell: Cell | None = None
    """Set if the file is a notebook; lines and offsets refer to its text (`Source.text`)."""
    confidence: Confidence = Confidence.CERTAIN
    assumption: str | None = None
    """The assumption of a likely finding, as a clause after "if": "`device` is an accelerator"."""
    related: tuple[Related, ...] = ()
    steps: tuple[TrainingStep, ...] = ()
    """The steps in each iteration of the training loop around the place; empty if none is known."""
    nested_steps: tuple[TrainingStep, ...] = ()
    """The steps that each iteration of that loop performs many times, in loops of its own."""
    collects: bool = False
    """Whether its gradient steps learn from environments that the same loops step."""
    scale: ProgramScale = ProgramScale.MIXED
    """How long such steps take in the program of the place."""
    environment_steps: int = 0
    """How many environment steps come with each of its gradient steps; 0 if that is not known."""
    updates: int = 0
    """How many networks its gradient steps update; 0 if that is not known."""
    replayed_updates: int = 0
    """How many networks its program updates from a replay memory after each environment step; 0 if it has no
    such memory, or that is not known.
    """
    runs: int = 1
    """How often calls run the place in each iteration of the training loop; 0 if loops repeat it, too."""
    waits_for_simulator: float = 0.0
    """The seconds of its environment steps, at least, if they are those of a slow simulator."""
    only_on: tuple[str, ...] = ()
    """The only device types on which it has a cost, if the rule was measured on another one."""
    minor: str | None = None
    """Why this finding costs little, whatever the fixes of its rule were measured to gain."""
    stated: Impact | None = None
    """The impact of a finding of another kind than the fixes of its rule were measured for."""
    workload: str | None = None
    """The workload of the rule's fixture that does the same: its gain was measured. None if any may."""
    size: int | None = None
    """How many items the place likely processes in one run, in the unit of the rule's workloads."""
    is_size_assumed: bool = False
    """Whether that number is only assumed: nothing is known of it."""
    transfers: int | None = None
    """How many transfers or synchronisations it causes in one run, if they are its cost."""
    throughout: bool = False
    """Whether its line runs once, but its cost arises in each of the steps from then on."""
    one_change_mends: CodeExtent | None = None
    """The code in which one change usually mends all findings of the rule."""
    mended_with: tuple[str, ...] = ()
    """The codes of rules: the change for a finding of theirs in the same file mends this one."""
    advice_needs: tuple[Requirement, ...] = ()
    """The library versions that the code in `advice` needs."""
    slow_since: Requirement | None = None
    """The library version since which it has a cost, if that is not all of them."""
    impact: Impact | None = field(default=None, compare=False)
    """Estimated when findings are reported, not when they are created."""

    @property
    def statement(self) -> str:
        """Return the message with its assumption."""
        return f"{self.message} (if {self.assumption})" if self.assumption else self.message

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
        """Return the first and last line in the file, which differ from the code's lines in a notebook."""
        if self.cell is not None:
            return self.cell.file_line, self.cell.file_line
        return self.start.line, self.end.line

    @property
    def place(self) -> str:
        """Return the place within the file: `2:5`, or in a notebook `cell 3:2:5`."""
        within = f"cell {self.cell.index}:" if self.cell else ""
        return f"{within}{self.shown_start.line}:{self.shown_start.column}"

    @property
    def noqa_line(self) -> int:
        """Return the line to which `rlint check --add-noqa` adds its comment."""
        return self.last_line

    @property
    def sort_key(self) -> tuple[str, int, int, str]:
        """Return a key that sorts by file, then place, then code."""
        return (self.path, self.start.line, self.start.column, self.code)


@frozen
class Problem:
    """A reason why one file could not be processed: unreadable, undecodable, not Python."""

    path: str
    message: str
    line: int | None = None
    column: int | None = None
    hint: str | None = None
    is_bug: bool = False
    """Whether this is a bug in rlint rather than a problem of the file."""
    cell: Cell | None = None
    """Set if the file is a notebook; `line` then refers to the cell."""

    @property
    def file_line(self) -> int | None:
        """Return the line in the file itself, which in a notebook differs from the cell's."""
        return self.cell.file_line if self.cell is not None else self.line

    @property
    def place(self) -> str:
        """Return the path with cell, line and column, as far as known."""
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
