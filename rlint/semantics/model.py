"""What a rule can ask about the code it looks at. Rules ask; none rebuilds the answers."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

from rlint.semantics.file_analysis import Knowledge
from rlint.semantics.interprocedural.whole_program import Linked
from rlint.semantics.model_threads import SiteSharing

_Key = TypeVar("_Key", bound=Hashable)
_Found = TypeVar("_Found")


class Site(SiteSharing):
    """One file of a project, as rules see it.

    `path` is the file's name as shown to the user; `tree` its syntax tree with parents and scopes. What can
    be asked is in the classes that it is made of: where things stand (`SiteBase`), what they are
    (`SiteValues`), what flows where (`SiteFlow`), what things do (`SiteEffects`), how often they run
    (`SitePace`), gradients (`SiteGradients`), threads and processes (`SiteSharing`). `TopLevel` builds the
    edits of fixes.
    """

    def __init__(self, path: str, knowledge: Knowledge, linked: Linked) -> None:
        super().__init__(path, knowledge, linked)
        self._found: dict[tuple[Callable[..., object], object], tuple[object, bool]] = {}

    def once(self, find: Callable[[_Key, Site], _Found], about: _Key) -> _Found:
        """What a function finds out about a part of this file, looked for once. Rules keep nothing: what one
        of them asks of a whole loop, class or lock for each node in it, it asks by this. Where the answer
        rests on a kind that is doubtful, that is noted each time.
        """
        key = find, about
        kinds = self.knowledge.kinds
        known = self._found.get(key)
        if known is None:
            around, kinds.doubted = kinds.doubted, False
            known = self._found[key] = find(about, self), kinds.doubted
            kinds.doubted = around
        kinds.doubted |= known[1]
        return known[0]  # type: ignore[return-value]

    def release(self) -> None:
        """Let go of the file once all rules have looked at it."""
        knowledge = self.knowledge
        vars(self).clear()
        knowledge.release()
