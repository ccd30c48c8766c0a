"""Ids of registered environments in texts: what the environments observe."""

from __future__ import annotations

from rlint.models.rl import ENVIRONMENTS_OF_FRAMES, ENVIRONMENTS_OF_VECTORS
from rlint.regex import regex

_ID = regex(r"^([\w.-]+[:/])?([A-Za-z][\w-]*?)-v\d+$")
_SKIPS = regex(r"(NoFrameskip|Deterministic)$")


def observes_frames(text: str) -> bool | None:
    """Whether the environment of an id observes frames of numbers in bytes (`ALE/Pong-v5`), or else vectors
    (`Hopper-v4`); None if that is not known, or the text is no id.
    """
    found = _ID.search(text)
    if found is None:
        return None
    if found[2] in ENVIRONMENTS_OF_VECTORS:
        return False
    return _SKIPS.sub("", found[2]) in ENVIRONMENTS_OF_FRAMES or None


def is_id(text: str) -> bool:
    """Whether a text has the form of the id of an environment."""
    return _ID.search(text) is not None
