"""Findings about suppression comments themselves: unused ones, and those that name no rule."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rlint.errors import did_you_mean
from rlint.findings import Applicability, Edit, Finding, Fix
from rlint.regex import regex
from rlint.registry.engine_rules import ENGINE_CODES, UNKNOWN_SUPPRESSION_CODE, UNUSED_SUPPRESSION
from rlint.suppression.directives import Mistake

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rlint.parsing.positions import Positions
    from rlint.registry.engine_rules import EngineCode
    from rlint.suppression.comments import Comment
    from rlint.suppression.directives import Directive, DirectiveItem, Directives

_CODE = regex(r"([A-Z]+)[0-9]*", re.IGNORECASE)
_OWN_CODES = {own.code: own.name for own in ENGINE_CODES}


def report_suppressions(
    path: str,
    positions: Positions,
    directives: Directives,
    known_codes: Mapping[str, str],
    active_codes: frozenset[str],
) -> list[Finding]:
    """Return the findings about the comments of one file, those of `active_codes`, by place."""
    reporter = _Reporter(path, positions, {**_OWN_CODES, **known_codes}, active_codes)
    found = [finding for request in directives.requests for finding in reporter.check(request)]
    found += [reporter.unknown(mistake) for mistake in directives.mistakes]
    return sorted((finding for finding in found if finding.code in active_codes), key=lambda f: f.sort_key)


class _Reporter:
    def __init__(
        self, path: str, positions: Positions, known: Mapping[str, str], active: frozenset[str]
    ) -> None:
        self._path = path
        self._positions = positions
        self._known = known
        self._prefixes = {code.rstrip("0123456789") for code in known}
        self._active = active

    def check(self, directive: Directive) -> Iterator[Finding]:
        if directive.items is None:
            # Other tools may need a bare `noqa`; a bare `ignore` may be meant for a rule that is off.
            ours = directive.kind.is_ours
            if ours and not directive.used and self._active >= self._known.keys():
                yield self._unused(directive, f"`{directive.kind.value}` suppresses no finding", [])
            return
        unused: list[DirectiveItem] = []
        for item in directive.items:
            code = _CODE.fullmatch(item.text)
            ours = directive.kind.is_ours or bool(code and code[1].upper() in self._prefixes)
            meant = {code for code, name in self._known.items() if item.means(code, name)}
            if ours and not meant:
                rules = {code: name for code, name in self._known.items() if code not in _OWN_CODES}
                names = [*rules, *rules.values()]
                message = f"unknown rule `{item.text}`{did_you_mean(item.text, names)}"
                yield self.unknown(Mistake(directive.comment, directive.start, directive.end, message))
            elif ours and not item.used and meant <= self._active and not meant & _OWN_CODES.keys():
                unused.append(item)
        allowed = any(
            item.means(UNUSED_SUPPRESSION.code, UNUSED_SUPPRESSION.name) for item in directive.items
        )
        if (unused or not directive.items) and not allowed:
            listed = ", ".join(f"`{item.text}`" for item in unused)
            what = f"`{directive.kind.value}`"
            message = f"{what} suppresses no finding of {listed}" if listed else f"{what} names no rule"
            keep = [item.text for item in directive.items if item not in unused]
            yield self._unused(directive, message, keep)

    def unknown(self, mistake: Mistake) -> Finding:
        comment = mistake.comment
        return self._finding(UNKNOWN_SUPPRESSION_CODE, comment, mistake.start, mistake.end, mistake.message)

    def _unused(self, directive: Directive, message: str, keep: list[str]) -> Finding:
        both = [directive, *([directive.closing] if directive.closing is not None else [])]
        if keep:
            title = "Remove the unused codes from the comment"
            edits = [Edit(each.items_start, each.items_end, ", ".join(keep)) for each in both]
        else:
            title = "Remove the comment" if len(both) == 1 else "Remove both comments"
            edits = [self._removal(each) for each in both]
        fix = Fix(title, Applicability.SAFE, tuple(edits))
        return self._finding(
            UNUSED_SUPPRESSION, directive.comment, directive.start, directive.end, message, fix
        )

    def _removal(self, directive: Directive) -> Edit:
        comment, positions = directive.comment, self._positions
        before = positions.text[comment.start : directive.start].rstrip()
        after = positions.text[directive.end : comment.end]
        # The text after it is another comment, or the author's reason; either is kept, as a comment.
        rest = after.lstrip(" \t:,;.-\u2013\u2014")
        if rest:
            return Edit(directive.start, comment.end - len(rest), "" if rest.startswith("#") else "# ")
        if before:
            return Edit(comment.start + len(before), comment.end, "")
        line_start = positions.line_start(comment.line)
        if comment.own_line:
            return Edit(line_start, positions.line_start(comment.line + 1), "")
        code = positions.text[line_start : comment.start].rstrip()
        return Edit(line_start + len(code), positions.line_end(comment.line), "")

    def _finding(
        self,
        about: EngineCode,
        comment: Comment,
        start: int,
        end: int,
        message: str,
        fix: Fix | None = None,
    ) -> Finding:
        return Finding(
            code=about.code,
            name=about.name,
            message=message,
            path=self._path,
            start=self._positions.position(start),
            end=self._positions.position(end),
            first_line=comment.line,
            last_line=comment.line,
            fix=fix,
        )
