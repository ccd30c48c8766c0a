"""The pages of rules as shown in an editor, with their measurements."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from rlint.findings import Applicability
from rlint.output import measured_page

if TYPE_CHECKING:
    from rlint.findings import Finding
    from rlint.registry.catalogue import RuleEntry


@lru_cache(maxsize=256)
def page(entry: RuleEntry, link: str | None = None) -> str:
    """Return a rule's page as Markdown; `link` is its URL."""
    text = entry.page
    if entry.plugin is not None:
        text = f"{text.rstrip()}\n\n(Provided by the plugin {entry.origin}.)\n"
    text = measured_page.with_evidence(text, entry)
    opened = f"[Open the page of {entry.code}]({link})\n\n" if link else ""
    return f"# {entry.name} ({entry.code})\n\n{opened}{text.rstrip()}\n"


def about(finding: Finding) -> str:
    """Return the description of one finding as Markdown."""
    lines = [f"**{finding.code}** {finding.name}: {finding.statement}"]
    if finding.chain:
        lines.append(f"Why hot: {' → '.join(f'`{link}`' for link in finding.chain)}")
    if finding.advice:
        lines.append(f"Help: {finding.advice}")
    if finding.fix is not None:
        safe = finding.fix.safety is Applicability.SAFE
        reason = f": {finding.fix.reason}" if finding.fix.reason else ""
        lines.append(f"Fix: {finding.fix.title} ({'safe' if safe else f'unsafe{reason}'})")
    else:
        lines.append("There is no automatic fix.")
    return "\n\n".join(lines) + "\n"
