"""The state of resolutions of access paths, which call one another."""

from __future__ import annotations

from rlint.frozen import frozen
from rlint.models.value_type import Caveat, Type
from rlint.semantics.types.likely.notes import Notes


@frozen
class OneOfPaths:
    """The results of one of several access paths."""

    paths: tuple[str, ...]


class ResolutionState:
    """How deep resolutions are nested, and what the current one depends on."""

    __slots__ = ("depth", "notes", "unsettled")

    def __init__(self) -> None:
        self.depth = 0
        self.unsettled = False
        """Whether the current resolution read an argument or ran into a cycle: its result may change."""
        self.notes = Notes()
        """The caveats of the types that the current resolution used."""

    def in_doubt(self, kind: Type) -> Type:
        """Return a doubtful type, and record that it was used."""
        self.notes.doubt()
        return kind._replace(caveat=(kind.caveat or Caveat())._replace(doubtful=True))
