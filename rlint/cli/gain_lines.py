"""What the fixes of rules were measured to gain, one line for each, kept from one run to the next.

Reading all that was measured takes longer than a check of files that have not changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from rlint.engine.cache.store import Cache
    from rlint.registry.catalogue import RuleEntry
    from rlint.source.files import FileStamp

_NAME = "measured"


def measured_lines(codes: Collection[str], cache: Cache | None) -> dict[str, str]:
    """The lines of the rules with these codes; those that have none are left out."""
    if not codes:
        return {}
    from rlint.registry.catalogue import catalogue

    entries = [entry for entry in catalogue() if entry.code in codes]
    if cache is None or not cache.is_usable:
        said = {entry.code: _line(entry) for entry in entries}
        return {code: line for code, line in said.items() if line}
    from rlint.engine.cache.keys import own_digest

    kept = cache.load(_NAME)
    of = own_digest().hex()
    if not isinstance(kept, dict) or kept.get("of") != of:
        kept = {"of": of, "lines": {}}
    lines, is_new = kept["lines"], False
    for entry in entries:
        stamps = _stamps(entry)
        if entry.code not in lines or lines[entry.code][0] != stamps:
            lines[entry.code] = [stamps, _line(entry)]
            is_new = True
    if is_new:
        cache.store(_NAME, kept)
    return {entry.code: lines[entry.code][1] for entry in entries if lines[entry.code][1]}


def _line(entry: RuleEntry) -> str | None:
    from rlint.evidence import recorded
    from rlint.output import evidence_lines

    return evidence_lines.line(recorded.of(entry))


def _stamps(entry: RuleEntry) -> list[list[str] | FileStamp | None]:
    """The state of the files that the line is told from."""
    from rlint.registry.recorded_gain import DEVICES, evidence_file
    from rlint.source.files import stamp_of

    place = entry.fixtures
    if place is None:
        return []
    files = (evidence_file(place, entry.name, device) for device in DEVICES)
    return [[str(place)], *map(stamp_of, (str(entry.path), *map(str, files)))]
