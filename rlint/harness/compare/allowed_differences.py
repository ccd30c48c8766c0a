"""Excuses of a workload: tolerances and allowed differences, by path."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

from rlint.harness.workload import Tolerance


class AllowedDifferences:
    """Answers which differences are excused at a path, and records which excuses were needed."""

    def __init__(
        self, tolerances: Mapping[str, Tolerance] | None = None, allowed: Mapping[str, str] | None = None
    ) -> None:
        self._tolerances = dict(tolerances or {})
        self._allowed = dict(allowed or {})
        self.notes: dict[str, None] = {}
        """One sentence for each excuse that was needed, in order."""

    def allows(self, path: str) -> bool:
        """Whether the fix is meant to cause a difference at `path`; if so, it is recorded."""
        for pattern, why in self._allowed.items():
            if matches(pattern, path):
                self.notes[f"`{pattern}` may differ, and does: {why}"] = None
                return True
        return False

    def tolerance(self, path: str) -> Tolerance | None:
        """Return the tolerance for numbers at `path`, if any."""
        return next((found for pattern, found in self._tolerances.items() if matches(pattern, path)), None)

    def needed(self, tolerance: Tolerance) -> None:
        """Record that numbers agree within `tolerance`, and would not without it."""
        pattern = next(key for key, value in self._tolerances.items() if value is tolerance)
        bounds = [
            f"{name}={bound:g}"
            for name, bound in (("rtol", tolerance.rtol), ("atol", tolerance.atol))
            if bound
        ]
        self.notes[f"`{pattern}` agrees within {', '.join(bounds) or '0'}: {tolerance.reason}"] = None


def matches(pattern: str, path: str) -> bool:
    """Whether a pattern matches `path` or an object that contains it.

    `*` and `?` are as in file names, but also match dots; brackets are literal.
    """
    return _compiled(pattern).match(path) is not None


@functools.lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    parts = [{"*": ".*", "?": "."}.get(character, re.escape(character)) for character in pattern]
    return re.compile("".join(parts) + r"(?=[.\[]|$)", re.DOTALL)
