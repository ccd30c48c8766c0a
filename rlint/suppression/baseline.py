"""Baseline: a file of findings that a project accepts for now, which are hidden until their code changes.

Entries contain no line numbers (see `rlint.suppression.fingerprints`). The file is sorted, with an entry on
each line, so that a change to one finding is a change to one line.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import TYPE_CHECKING, Any

from rlint.errors import RlintError
from rlint.frozen import frozen
from rlint.regex import regex
from rlint.source.atomic_write import replace_file
from rlint.source.files import display_name, read_regular
from rlint.source.links import is_link
from rlint.suppression.fingerprints import FindingKey, finding_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from rlint.findings import Finding

DEFAULT_NAME = "rlint-baseline.json"
"""The default name of the file for `--write-baseline`."""
_VERSION = 1
_FIELDS = ("path", "code", "function", "line")
_CURRENT = "restore it, or recreate it with `--write-baseline`"
_BEGINNING = regex(r'\s*\{\s*"version"\s*:')
_MOST_BYTES = 200_000_000


@frozen
class BaselineCheck:
    """The extent of a run: absolute paths by the files' names, and the codes they were checked for."""

    paths: Mapping[str, Path]
    codes: Mapping[Path, frozenset[str]]
    """By absolute path, without files that could not be checked."""


class Baseline:
    """The entries of a file, each with its number of occurrences."""

    def __init__(self, path: Path, entries: Mapping[FindingKey, int]) -> None:
        self.path = path
        self.entries = entries

    @property
    def name(self) -> str:
        """Return the file name as shown to users."""
        return display_name(self.path)

    def split(
        self, findings: Sequence[Finding], text_of: Callable[[str], str], checked: BaselineCheck
    ) -> tuple[list[Finding], list[Finding]]:
        """Return the new findings, and those that the baseline hides.

        If there are more of a kind than the baseline contains, the last ones are new.
        """
        left = Counter(self.entries)
        new: list[Finding] = []
        hidden: list[Finding] = []
        for finding, key in zip(findings, self._keys(findings, text_of, checked), strict=True):
            known = left[key] > 0
            left[key] -= known
            (hidden if known else new).append(finding)
        return new, hidden

    def unneeded(
        self, hidden: Sequence[Finding], text_of: Callable[[str], str], checked: BaselineCheck
    ) -> dict[FindingKey, int]:
        """Return the entries that match no finding any more, with their numbers.

        Only for files and rules that were checked now, or are gone: of others nothing is known.
        """
        left = Counter(self.entries)
        left.subtract(self._keys(hidden, text_of, checked))
        return {
            key: number for key, number in sorted(left.items()) if number > 0 and self._is_known(key, checked)
        }

    def updated(
        self, findings: Sequence[Finding], text_of: Callable[[str], str], checked: BaselineCheck
    ) -> Baseline:
        """Return the baseline for what was found now. Entries for files and rules that were not checked are
        kept.
        """
        kept = {key: count for key, count in self.entries.items() if not self._is_known(key, checked)}
        found = Counter(self._keys(findings, text_of, checked))
        return Baseline(self.path, {**kept, **found})

    def write(self) -> None:
        """Write the file in one step. Raises RlintError if that fails."""
        entries = [
            {**{field: getattr(key, field) for field in _FIELDS}, "count": count}
            for key, count in sorted(self.entries.items())
        ]
        rows = ",\n".join("    " + json.dumps(entry, ensure_ascii=False) for entry in entries)
        text = f'{{\n  "version": {_VERSION},\n  "findings": [' + (f"\n{rows}\n  " if rows else "") + "]\n}\n"
        # Half of a surrogate pair is escaped like this in JSON, too.
        data = text.encode("utf-8", "backslashreplace")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            target = self.path.resolve()
            replace_file(target, data, like=target.stat() if target.exists() else None)
        except (OSError, RuntimeError) as error:
            reason = getattr(error, "strerror", None) or error
            raise RlintError(f"{self.name}: cannot write the baseline: {reason}") from error

    def _keys(
        self, findings: Iterable[Finding], text_of: Callable[[str], str], checked: BaselineCheck
    ) -> list[FindingKey]:
        return finding_keys(findings, text_of, lambda name: self._relative(checked.paths.get(name), name))

    def _relative(self, path: Path | None, name: str) -> str:
        """Return a file's path relative to the baseline, which is the same wherever rlint is started."""
        if path is None:
            return name
        try:
            shown = os.path.relpath(path, self.path.parent).replace(os.sep, "/")
        except ValueError:  # on another drive
            return path.as_posix()
        return shown.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")

    def _is_known(self, key: FindingKey, checked: BaselineCheck) -> bool:
        path = self.path.parent / key.path
        codes = checked.codes.get(type(path)(os.path.normpath(path)))
        return key.code in codes if codes is not None else not path.exists()


def read_baseline(path: Path) -> Baseline:
    """Read a baseline. Raises RlintError if there is none, or it is damaged."""
    shown = display_name(path)
    if path.exists() and not path.is_file():  # a pipe might block forever
        raise RlintError(f"{shown}: cannot read the baseline: it is not a regular file")
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise RlintError(
                f"{shown}: cannot read the baseline: it is larger than {_MOST_BYTES / 1e6:.0f} MB"
            )
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        raise RlintError(
            f"{shown}: no such baseline; `rlint check --write-baseline={shown}` creates it"
        ) from error
    except OSError as error:
        raise RlintError(f"{shown}: cannot read the baseline: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise RlintError(f"{shown}: the baseline is damaged: it is not UTF-8; {_CURRENT}") from error
    return Baseline(path, _entries(text, shown))


def baseline_to_write(path: Path) -> Baseline:
    """Return the baseline that will be replaced, or an empty one. Refuses to overwrite any other file."""
    shown = display_name(path)
    if path.is_dir():
        raise RlintError(f"{shown}: is a folder; name a file, as in `--write-baseline={DEFAULT_NAME}`")
    if not is_link(path) and (not path.exists() or not path.stat().st_size):
        return Baseline(path, {})
    try:
        return read_baseline(path)
    except RlintError as error:
        if is_link(path):
            instead = "links are followed to baselines only; name the file that it leads to."
        elif _is_own(path):
            instead = "delete it first if it can be overwritten."
        else:
            instead = "name another file for the baseline."
        raise RlintError(f"{error}\nThe file was not changed; {instead}") from error


def _is_own(path: Path) -> bool:
    """Whether a damaged file looks like one that rlint has written."""
    return (
        _BEGINNING.match((read_regular(path, _MOST_BYTES) or b"").decode("utf-8-sig", "replace")) is not None
    )


def _entries(text: str, shown: str) -> dict[FindingKey, int]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        if text.strip() and not text.lstrip().startswith("{"):
            raise RlintError(f"{shown}: is not an rlint baseline: it is not JSON") from error
        line = f":{error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        conflict = "it holds marks of a merge conflict" if "\n<<<<<<< " in f"\n{text}" else "it is not JSON"
        raise RlintError(f"{shown}{line}: the baseline is damaged: {conflict}; {_CURRENT}") from error
    if not isinstance(data, dict) or not isinstance(data.get("findings"), list) or "version" not in data:
        raise RlintError(f"{shown}: is not an rlint baseline: `version` or the list `findings` is missing")
    if data["version"] != _VERSION:
        raise RlintError(
            f"{shown}: the baseline has version {data['version']!r}, but this rlint reads version "
            f"{_VERSION}; update rlint, or recreate it with `--write-baseline`"
        )
    entries: dict[FindingKey, int] = {}
    for number, entry in enumerate(data["findings"], start=1):
        key, count = _entry(entry, f"{shown}: the baseline is damaged: finding {number}")
        # A merge may leave an entry twice.
        entries[key] = max(count, entries.get(key, 0))
    return entries


def _entry(entry: Any, place: str) -> tuple[FindingKey, int]:
    if not isinstance(entry, dict):
        raise RlintError(f"{place} is not an object; {_CURRENT}")
    values = [entry.get(field) for field in _FIELDS]
    count = entry.get("count", 1)
    for field, value in zip(_FIELDS, values, strict=True):
        if not isinstance(value, str):
            raise RlintError(f"{place} has a `{field}` that is not a string; {_CURRENT}")
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise RlintError(f"{place} has a `count` that is not a positive integer; {_CURRENT}")
    return FindingKey(*map(str, values)), count
