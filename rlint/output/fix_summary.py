"""The result of fixing, for users."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rlint.fixing.fix_outcome import SAID, Why
from rlint.output.counts import count
from rlint.output.terminal import printable

if TYPE_CHECKING:
    from rlint.fixing.fix_outcome import FixOutcome
    from rlint.trial.trial import LeftOut, Tried

_FILES = 10
_LINES = 12  # lines of a command's output, for each group of fixes that was left out


def render(outcome: FixOutcome) -> str:
    """Return which files were fixed, which fixes the verification command excluded, and why findings
    remain.
    """
    lines = [*_files(outcome)]
    if outcome.tried is not None:
        lines += _trial(outcome.tried)
    for is_hidden, verb in ((False, "Left"), (True, "Skipped")):
        reasons = Counter(each.why for each in outcome.left if each.is_hidden is is_hidden)
        if reasons:
            parts = [f"{reasons[why]} {SAID[why]}" for why in Why if reasons[why]]
            lines.append(f"{verb} {count(reasons.total(), 'finding')}: {', '.join(parts)}.")
    return "".join(line + "\n" for line in lines)


def _files(outcome: FixOutcome) -> list[str]:
    written = [file for file in outcome.files if file.problem is None]
    if not written:
        return []
    named = [f"{printable(file.name)} ({file.fixes})" for file in written[:_FILES]]
    more = f" and {len(written) - _FILES} more" if len(written) > _FILES else ""
    return [f"Fixed {count(len(outcome.fixed), 'finding')} in {', '.join(named)}{more}."]


def _trial(tried: Tried) -> list[str]:
    lines = []
    for culprits in tried.left_out:
        lines += _left_out(culprits)
    if tried.speed is not None:
        lines.append(f"Speed of the command: {tried.speed}.")
    if not tried.noticed:
        lines.append(
            "warning: the command also passes when the fixed files are broken, so it does not test them"
        )
    return lines


def _left_out(culprits: LeftOut) -> list[str]:
    what = "is slower" if culprits.speed is not None else "fails"
    them = "it" if len(culprits.ids) == 1 else "them together"
    lines = [f"Not applied, because the command {what} with {them}:"]
    for name, finding in zip(culprits.ids, culprits.findings, strict=True):
        place = finding.place if finding.cell is not None else f"{name.line}:{name.column}"
        lines.append(
            f"  {printable(name.path)}:{place}: {name.code} {finding.name}: {printable(finding.statement)}"
        )
    if culprits.speed is not None:
        return [*lines, f"  {culprits.speed}"]
    shown = culprits.ran.tail(_LINES)
    return [*lines, f"  {culprits.ran.ending}", *(f"  | {printable(line)}" for line in shown)]
