"""The repositories of a survey: folders, or git URLs with revisions."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import field
from pathlib import Path

from rlint.errors import RlintError
from rlint.file_paths import absolute
from rlint.frozen import frozen
from rlint.survey.credentials import without_credentials

_SCP_LIKE = re.compile(r"[\w.-]+@[\w.-]+:(?!//).+")
_SCHEMES = ("file", "git", "http", "https", "ssh")
_PLAIN = re.compile(r"[^\x00-\x20\x7f]+")


@frozen
class SurveyedRepository:
    """One repository. `location` may contain credentials; `name` is shown and stored."""

    name: str
    location: str = field(repr=False)
    revision: str = ""
    """A branch, tag or commit; "" for the default branch, and for folders."""
    is_remote: bool = False

    @property
    def identity(self) -> str:
        """Return the identity by which results of earlier runs are found."""
        said = "\0".join((self.name, self.revision, str(self.is_remote)))
        return hashlib.sha256(said.encode("utf-8", "surrogateescape")).hexdigest()

    @property
    def shown(self) -> str:
        """Return its name with the requested revision."""
        return f"{self.name}#{self.revision}" if self.revision else self.name


def repository_of(text: str, adjacent: Path) -> SurveyedRepository:
    """Return the repository of a line or argument: a folder, or `URL#REVISION`."""
    text = text.strip()
    scheme = text.partition("://")[0].lower() if "://" in text else ""
    if not scheme and not _SCP_LIKE.fullmatch(text):
        path = str(absolute(adjacent / text))
        return SurveyedRepository(path, path)
    location, _, revision = text.partition("#")
    name = without_credentials(location)
    if scheme and scheme not in _SCHEMES:
        raise RlintError(f"{name}: `{scheme}` is not supported; use {', '.join(_SCHEMES)} or a folder")
    if not _PLAIN.fullmatch(text) or location.startswith("-") or revision.startswith("-"):
        raise RlintError(f"{name!r} is not the URL of a git repository; write `URL` or `URL#REVISION`")
    return SurveyedRepository(name, location, revision, is_remote=True)


def listed(arguments: Iterable[str], files: Iterable[Path]) -> list[SurveyedRepository]:
    """Return the repositories of arguments and of files with one per line, without duplicates.

    Empty lines and lines that begin with `#` are skipped; folders are relative to the file's own.
    """
    found = [repository_of(text, Path.cwd()) for text in arguments]
    for file in files:
        try:
            lines = file.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise RlintError(
                f"{file}: cannot be read: {getattr(error, 'strerror', None) or error}"
            ) from error
        adjacent = absolute(file).parent
        found += [
            repository_of(line, adjacent)
            for line in lines
            if line.strip() and not line.lstrip().startswith("#")
        ]
    return list({each.identity: each for each in found}.values())
