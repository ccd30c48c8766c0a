"""Names of accessors, and the places that hold them, as plain data."""

from __future__ import annotations

from rlint.enums import Enum
from rlint.frozen import frozen
from rlint.regex import regex

_VERBS = "build|create|fetch|get|load|make|parse|read|save|set|update"
ACCESSOR_WORDS = (
    ("config", "configuration", "cfg", "conf"),
    ("environment", "env"),
    ("observation", "obs"),
    ("statistics", "stats"),
)
"""Words that say the same, the one that is spelled out first."""
ENDS = tuple(f"_{word}" for group in ACCESSOR_WORDS for word in group)
ACCESSOR = regex(rf"(_*)({_VERBS})_((?:[a-z0-9]+_)*)({'|'.join(end[1:] for end in ENDS)})")
"""`get_observation_cfg`: its second group is the verb, the fourth the word for what it gets."""


class ReferenceKind(Enum):
    """How a name is mentioned."""

    DEFINITION = "definition"
    IMPORT = "import"
    USE = "use"
    OTHER = "other"
    """What cannot be renamed: text, an assignment, a definition that somebody else may ask for by name."""


@frozen
class Reference:
    """One place that holds a name, by its offset in the text. `path` is the qualified name of a definition
    in its file, and the access path of what is imported or used ("" if unknown).
    """

    name: str
    start: int
    sort: ReferenceKind
    path: str = ""
