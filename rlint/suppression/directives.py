"""Directives in comments: `# noqa: RL101`, `# rlint: ignore[RL101]`, `# rlint: disable[RL101]` up to `#
rlint: enable[RL101]`, `# rlint: skip-file`.
"""

from __future__ import annotations

import enum
import re
from dataclasses import field
from typing import TYPE_CHECKING

from rlint.errors import did_you_mean
from rlint.frozen import frozen, mutable
from rlint.regex import regex
from rlint.suppression.heat_comments import LEVELS

if TYPE_CHECKING:
    from collections.abc import Collection

    from rlint.findings import Finding
    from rlint.suppression.comments import Comment, Layout, Span

# A directive in quotes or backticks is a quotation, not a directive.
_NOQA = regex(
    r"(?<![`'\"])#\s*noqa(?![\w-])(?P<colon>\s*:\s*(?P<items>(?:RL|[A-Z]+[0-9]+)\b(?:[\s,]+[A-Z]+[0-9]+\b)*)?)?",
    re.IGNORECASE,
)
_RLINT = regex(
    r"(?<![`'\"])#\s*rlint\s*:\s*(?P<verb>[\w-]+)(?P<bracket>\s*\[(?P<items>[^\]#]*)(?P<closed>\])?)?",
    re.IGNORECASE,
)
_ITEM = regex(r"[^\s,]+")
_ANY = regex(
    r"#\s*(?:(?P<own>rlint)\s*:|noqa(?![\w-])(?P<colon>\s*:\s*(?P<items>(?:[A-Z]+[0-9]*\b[\s,]*)+)?)?)",
    re.IGNORECASE,
)


_VERBS = ("ignore", "disable", "enable")


class DirectiveKind(enum.Enum):
    """The kinds of directives; the value is the syntax."""

    NOQA = "noqa"
    IGNORE = "rlint: ignore"
    DISABLE = "rlint: disable"

    @property
    def is_ours(self) -> bool:
        """Whether no other linter reads it."""
        return self is not DirectiveKind.NOQA


@mutable
class DirectiveItem:
    """One code, prefix of codes, or name, in the list of a directive."""

    text: str
    used: bool = False

    def means(self, code: str, name: str) -> bool:
        """Whether it means the rule with this code and name."""
        wanted = self.text.upper()
        return wanted in (name.upper(), "ALL") or (
            _letters(wanted) == _letters(code) and code.startswith(wanted)
        )


def _letters(code: str) -> str:
    """Return the letters before the number: an item "R" does not match codes that begin with RL."""
    return code.rstrip("0123456789")


@mutable
class Directive:
    """One directive that suppresses findings. Without items it applies to all rules."""

    kind: DirectiveKind
    comment: Comment
    start: int
    end: int
    reach: Span | None
    """The lines whose findings it suppresses."""
    items: list[DirectiveItem] | None = None
    items_start: int = 0
    items_end: int = 0
    used: bool = False
    closing: Directive | None = None
    """The comment that ends a block."""

    def hides(self, finding: Finding) -> bool:
        """Whether it suppresses `finding`; if so, record that it was used."""
        if self.reach is None or finding.last_line < self.reach.first or self.reach.last < finding.first_line:
            return False
        if self.items is None:
            self.used = True
            return True
        meant = [item for item in self.items if item.means(finding.code, finding.name)]
        for item in meant:
            item.used = True
        return bool(meant)


@frozen
class Mistake:
    """An rlint directive that cannot be parsed."""

    comment: Comment
    start: int
    end: int
    message: str


@mutable
class Directives:
    """All directives in the comments of one file."""

    skip_file: bool = False
    requests: list[Directive] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)


def may_concern(text: str, families: Collection[str], *, has_findings: bool = True) -> bool:
    """Whether a text may contain a directive about rules whose codes begin with one of `families` ("RL"). The
    scan does not distinguish comments from strings, and skips most directives for other linters, as well as
    those without codes if there is nothing to suppress.
    """
    for match in _ANY.finditer(text):
        codes = _ITEM.findall((match["items"] or "").upper())
        bare = not match["colon"]
        if match["own"] or (bare and has_findings) or any(_letters(code) in families for code in codes):
            return True
    return False


def read_directives(layout: Layout) -> Directives:
    """Read the directives out of the comments of a file."""
    found = Directives()
    marks: list[tuple[bool, Directive]] = []
    for comment in layout.comments:
        for match in _NOQA.finditer(comment.text):
            _read_noqa(comment, match, found)
        for match in _RLINT.finditer(comment.text):
            _read_rlint(comment, match, found, marks)
    if marks:
        from rlint.suppression.blocks import close_blocks

        def mistaken(mark: Directive, message: str) -> None:
            found.mistakes.append(Mistake(mark.comment, mark.start, mark.end, message))

        found.requests += close_blocks(layout, marks, mistaken)
    return found


def _read_noqa(comment: Comment, match: re.Match[str], found: Directives) -> None:
    if match["colon"] and not match["items"]:
        return  # a reason in place of the codes suppresses nothing
    found.requests.append(_request(DirectiveKind.NOQA, comment, match, comment.inside))


def _read_rlint(
    comment: Comment, match: re.Match[str], found: Directives, marks: list[tuple[bool, Directive]]
) -> None:
    verb = match["verb"].lower()
    leads = match.start() == 0  # else the comment has another purpose, such as commented-out code
    if verb == "skip-file":
        if leads and comment.own_line and comment.inside is None and comment.column == 1:
            found.skip_file = True
            return
        message = "`rlint: skip-file` counts only on an unindented line of its own"
    elif verb in LEVELS:
        return  # how often the code runs: see heat_comments.py
    elif verb not in _VERBS:
        hint = did_you_mean(verb, (*_VERBS, "skip-file", *LEVELS))
        message = f"unknown comment `rlint: {verb}`{hint}"
    elif match["bracket"] and not match["closed"]:
        message = f"`rlint: {verb}[` has no closing bracket and suppresses nothing"
    elif verb != "ignore":
        if leads and comment.own_line and comment.inside is None:
            marks.append((verb == "disable", _request(DirectiveKind.DISABLE, comment, match, None)))
            return
        message = f"`rlint: {verb}` counts only on a line of its own"
    else:
        reach = comment.inside or (comment.above if leads else None)
        found.requests.append(_request(DirectiveKind.IGNORE, comment, match, reach))
        return
    found.mistakes.append(
        Mistake(comment, comment.start + match.start(), comment.start + match.end(), message)
    )


def _request(kind: DirectiveKind, comment: Comment, match: re.Match[str], reach: Span | None) -> Directive:
    directive = Directive(kind, comment, comment.start + match.start(), comment.start + match.end(), reach)
    if match["items"] is not None:
        first, last = match.span("items")
        directive.items = [DirectiveItem(text) for text in _ITEM.findall(match["items"])]
        directive.items_start, directive.items_end = comment.start + first, comment.start + last
    return directive
