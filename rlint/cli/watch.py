"""`rlint check --watch`: the same check after each change of files."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rlint.cli.terminals import is_plain
from rlint.config.options import FILE_NAMES
from rlint.errors import RlintError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rlint.cli.request import Request
    from rlint.source.files import FileStamp

_EVERY = 0.2  # seconds between checks
_SETTLED = 0.05  # an editor may write several files, or one in several steps
_MOST_LOOKS = 20
_CLEAR = "\x1b[2J\x1b[3J\x1b[H"
_REFUSED = ("diff", "add_noqa", "write_baseline", "show_files", "show_settings", "verify_with", "output_file")


def watch(request: Request) -> int:
    """Check, and check again after each change, until the user interrupts."""
    _refuse_what_makes_no_sense(request)
    request = replace(request, overrides={**request.overrides, "fix": False})
    while True:
        files = _watched(request)
        before = _stamps(files)
        if not is_plain(sys.stdout):
            sys.stdout.write(_CLEAR)
        _check(request)
        _wait_for_change(request, files, before)


def _refuse_what_makes_no_sense(request: Request) -> None:
    if request.reads_stdin:
        raise RlintError("`--watch` watches files; it cannot be used with standard input")
    if request.overrides.get("fix"):
        raise RlintError("`--watch` cannot apply fixes; run `rlint fix` separately")
    for name in _REFUSED:
        if getattr(request, name, None):
            raise RlintError(f"`--watch` and `--{name.replace('_', '-')}` exclude each other")


def _check(request: Request) -> None:
    from rlint.cli.run import run

    try:
        run(request)
    except RlintError as error:  # an error in the configuration, which its next change may correct
        click.echo(f"rlint: error: {error}", err=True)
    sys.stdout.flush()
    if not (request.quiet or request.silent):
        now = datetime.now().astimezone()
        click.echo(f"[{now:%H:%M:%S}] Watching for changes; press Ctrl-C to stop.", err=True)


def _wait_for_change(request: Request, files: frozenset[Path], before: dict[Path, FileStamp | None]) -> None:
    """Wait until a file was changed, added or removed, and no more changes follow.

    New files are searched for when a folder has changed, which an editor's swap files cause, too, and at the
    first check: one may have appeared during the previous run.
    """
    folders = _folders(request, files)
    known: dict[Path, FileStamp | None] | None = None
    while True:
        time.sleep(_EVERY)
        now = _stamps(folders)
        if _stamps(files) != before or (now != known and _watched(request) != files):
            break
        known = now
    last: dict[Path, FileStamp | None] | None = None
    for _ in range(_MOST_LOOKS):
        now = _stamps(files)
        if now == last:
            return
        last = now
        time.sleep(_SETTLED)


def _watched(request: Request) -> frozenset[Path]:
    """Return the files that a check would read, and all possible locations of its settings."""
    from rlint.cli.targets import find_work
    from rlint.config.stated_versions import STATING_FILES

    try:
        found = set(find_work(request).paths)
    except RlintError:
        found = set()
    named = [Path.cwd() / path for path in request.paths]
    configs = [Path(each) for each in request.config if Path(each).is_file()]
    homes = {each.parent for each in (*found, *configs)} | set(named) | {Path.cwd()}
    homes |= {above for home in homes for above in home.parents}
    settings = {home / name for home in homes for name in (*FILE_NAMES, *STATING_FILES, ".gitignore")}
    return frozenset({*found, *configs, *settings, *(path for path in named if path.suffix)})


def _folders(request: Request, files: Iterable[Path]) -> set[Path]:
    """Return the folders in which files may appear or disappear."""
    roots = [Path.cwd() / path for path in request.paths]
    roots = [root for root in roots if root.is_dir()]
    found = set(roots)
    for file in files:
        if file.suffix == ".toml" or file.name == ".gitignore":
            continue
        found |= {above for above in file.parents if any(above.is_relative_to(root) for root in roots)}
    # a folder without a file to check may get its first one
    for folder in list(found):
        found |= {Path(entry.path) for entry in _entries(folder)}
    return found


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return [each for each in entries if not each.name.startswith(".") and each.is_dir()]
    except OSError:
        return []


def _stamps(paths: Iterable[Path]) -> dict[Path, FileStamp | None]:
    from rlint.source.files import stamp_of

    return {path: stamp_of(path) for path in paths}
