"""What a function without a visible caller likely does, and how often."""

from __future__ import annotations

from rlint.findings import Heat
from rlint.frozen import frozen


@frozen
class LikelyRole:
    """How often a function likely runs, what it does, and the assumption about its callers."""

    heat: Heat
    what: str
    called: str
