"""URLs of the pages of rules: below the configured URL, or else of a file that is written here."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from rlint import __version__
from rlint.engine.cache.store import own_folder
from rlint.lsp.pages import page
from rlint.registry.catalogue import catalogue
from rlint.source import atomic_write
from rlint.source.files import read_regular

if TYPE_CHECKING:
    from rlint.registry.catalogue import RuleEntry

HTML, MARKDOWN = "html", "markdown"
FORMATS = (HTML, MARKDOWN)
_SUFFIXES = {HTML: ".html", MARKDOWN: ".md"}
_FOLDER = "rule-pages"


class RuleLinks:
    """Returns the URLs of rules' pages. A page is written to the user's cache folder when it is first linked
    to; `later` runs that in the background.
    """

    def __init__(self, later: Callable[[Callable[[], None]], object]) -> None:
        self._later = later
        self._urls: dict[tuple[str, str], str | None] = {}

    def url(self, code: str, base: str | None, kind: str) -> str | None:
        """Return the URL of a rule's page: below `base`, where its pages are published, or of a file of this
        kind. None if there is no such rule, or no folder to write to.
        """
        if base is not None:
            return f"{base.rstrip('/')}/{code}.html"
        if (code, kind) not in self._urls:
            self._urls[code, kind] = self._written(code, kind)
        return self._urls[code, kind]

    def _written(self, code: str, kind: str) -> str | None:
        entry = next((entry for entry in catalogue() if entry.code == code), None)
        folder = own_folder()
        if entry is None or folder is None:
            return None
        folder = folder / _FOLDER / __version__
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            return None
        path = folder / f"{code}{_SUFFIXES[kind]}"
        self._later(lambda: _write(path, entry, kind))
        return path.as_uri()


def _write(path: Path, entry: RuleEntry, kind: str) -> None:
    """Write the page of a rule, unless the file is up to date."""
    content = (page(entry) if kind == MARKDOWN else _html(entry)).encode()
    if read_regular(path, linked=False) != content:
        with contextlib.suppress(OSError):
            atomic_write.replace_file(path, content)


def _html(entry: RuleEntry) -> str:
    from rlint.evidence import recorded
    from rlint.output.site import rule_page

    return rule_page.render(recorded.of(entry), ())
