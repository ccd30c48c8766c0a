"""Accessor names, and the places that contain them, as plain data."""

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
"""Synonyms, the one that is spelled out first."""
ENDS = tuple(f"_{word}" for group in ACCESSOR_WORDS for word in group)
ACCESSOR = regex(rf"(_*)({_VERBS})_((?:[a-z0-9]+_)*)({'|'.join(end[1:] for end in ENDS)})")
"""`get_observation_cfg`: its second group is the verb, the fourth the word for the object."""


class ReferenceKind(Enum):
    """How a name is mentioned."""

    DEFINITION = "definition"
    IMPORT = "import"
    USE = "use"
    OTHER = "other"
    """A mention that cannot be renamed: text, an assignment, a definition that other code may look up by
    name.
    """


@frozen
class Reference:
    """One place that contains a name, by its offset in the text. `path` is the qualified name of a definition
    in its file, or the access path of an import or a use ("" if unknown).
    """

    name: str
    start: int
    sort: ReferenceKind
    path: str = ""
