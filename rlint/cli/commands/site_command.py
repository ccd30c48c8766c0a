"""`rlint site`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rlint.cli.enabled_plugins import configuration, use_plugins
from rlint.errors import RlintError

if TYPE_CHECKING:
    from collections.abc import Iterable

_LIST = ".rlint-site"
"""Lists the other files; unlisted files are not modified."""


@click.command("site", short_help="Build a website of all rules.")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@configuration
def command(folder: Path, config: tuple[str, ...], isolated: bool) -> None:
    """Build a static website in FOLDER: an index of all rules, and a page with recorded evidence for each.

    FOLDER must be new, empty, or contain a site built by this command, which is then rebuilt. The page of a
    rule is always `rules/CODE.html`; `#measured` and the other headings of the page are anchors.
    """
    from rlint.evidence import recorded
    from rlint.output.site import pages
    from rlint.registry import catalogue

    use_plugins(config, isolated=isolated)
    evidences = [recorded.of(entry) for entry in catalogue.catalogue()]
    stale = {
        one.entry.code: [
            f"on {device}, {change}" for device, changes in recorded.stale(one).items() for change in changes
        ]
        for one in evidences
    }
    old = _own_files(folder)
    files = pages(evidences, stale)
    try:
        _write(folder, files, old)
    except OSError as error:
        raise RlintError(f"{error.filename or folder}: cannot be written: {error.strerror}") from error
    click.echo(f"{len(files)} pages in {folder}; open {folder / 'index.html'}")


def _own_files(folder: Path) -> list[str]:
    """Return the files that an earlier run wrote. Raises RlintError if the folder contains other files."""
    if (folder / _LIST).is_file():
        names = (folder / _LIST).read_text(encoding="utf-8").splitlines()
        return [name for name in names if name == "index.html" or _is_page(name)]
    if folder.is_dir() and any(folder.iterdir()):
        raise RlintError(f"{folder} holds other files; name an empty or new folder")
    return []


def _is_page(name: str) -> bool:
    return name.startswith("rules/") and name.count("/") == 1 and name.endswith(".html")


def _write(folder: Path, files: dict[str, str], old: Iterable[str]) -> None:
    from rlint.source.atomic_write import replace_file

    (folder / "rules").mkdir(parents=True, exist_ok=True)
    listed = sorted({*files, *old})
    replace_file(folder / _LIST, "".join(f"{name}\n" for name in listed).encode("utf-8"))
    for name, text in files.items():
        replace_file(folder / name, text.encode("utf-8"))
    for name in set(old) - files.keys():
        (folder / name).unlink(missing_ok=True)
    replace_file(folder / _LIST, "".join(f"{name}\n" for name in sorted(files)).encode("utf-8"))
