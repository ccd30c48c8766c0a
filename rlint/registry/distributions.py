"""Installed distributions of the Python that runs rlint, and the locations of their packages.

Packages beside the checked code are left out, even if `sys.path` contains that folder: `python -m rlint` puts
the working folder first, and `PYTHONPATH` may name a checkout.
"""

from __future__ import annotations

import json
import os
import re
import site
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from importlib import metadata
from importlib.machinery import PathFinder
from pathlib import Path
from urllib.parse import unquote, urlsplit


def normalised(name: str) -> str:
    """Return a distribution's name in the normal form of package indexes: "Acme_RLint" is "acme-rlint"."""
    return re.sub(r"[-_.]+", "-", name).lower()


class Installed:
    """The distributions outside of some folders. Those in this Python's own environment always count,
    wherever that is.
    """

    def __init__(self, near: Iterable[Path]) -> None:
        self._own = _own_folders()
        self._near = {_checkout_of(os.path.realpath(folder)) for folder in near}
        self._path: list[str] = []
        self._left_out: list[str] = []
        for entry in dict.fromkeys(sys.path):
            (self._path if self._is_apart(entry or ".") else self._left_out).append(entry)

    def find(self, name: str) -> metadata.Distribution | None:
        """Return the distribution with the name `name`; None if there is none."""
        return next(_called(name, self._path), None)

    def excluded_folder(self, name: str) -> str | None:
        """Return the folder of `sys.path` that would contain it if it were not left out."""
        found = ((entry, next(_called(name, [entry]), None)) for entry in self._left_out)
        return next((os.path.realpath(entry or ".") for entry, one in found if one is not None), None)

    def with_group(self, group: str) -> list[metadata.Distribution]:
        """Return the distributions that have entry points in a group."""
        found = metadata.distributions(path=self._path)
        return [one for one in found if _has_group(one, group)]

    def path_for(self, distribution: metadata.Distribution) -> list[str]:
        """Return the `sys.path` for importing modules of a distribution."""
        source = _editable_source(distribution)
        if source is None:
            return self._path
        inside = [entry for entry in self._left_out if _is_in(os.path.realpath(entry or "."), source)]
        return [*self._path, *(entry for entry in inside if entry)]

    def folder_of(self, package: str, distribution: metadata.Distribution) -> Path | None:
        """Return the folder of a package, without importing it."""
        top, *inner = package.split(".")
        path = self.path_for(distribution)
        source = _editable_source(distribution)
        for finder in sys.meta_path:
            if not hasattr(finder, "find_spec"):
                continue
            # an editable installation may have a finder of its own
            spec = finder.find_spec(top, path if finder is PathFinder else None)
            for place in (spec.submodule_search_locations or ()) if spec is not None else ():
                folder = Path(place, *inner)
                own_part = source is not None and _is_in(os.path.realpath(folder), source)
                if folder.is_dir() and (own_part or self._is_apart(str(folder))):
                    return folder
        return None

    def _is_apart(self, folder: str) -> bool:
        """Whether a folder belongs to this Python, or is unrelated to the checked code."""
        real = os.path.realpath(folder)
        if any(_is_in(real, own) for own in self._own):
            return True
        return not any(_is_in(real, near) or _is_in(near, real) for near in self._near)


def _called(name: str, path: list[str]) -> Iterator[metadata.Distribution]:
    if re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?", name):
        yield from metadata.distributions(name=normalised(name), path=path)


def _has_group(distribution: metadata.Distribution, group: str) -> bool:
    try:
        return any(point.group == group for point in distribution.entry_points)
    except Exception:  # noqa: BLE001 - what others have installed may be broken in any way
        return False


def _own_folders() -> set[str]:
    """Return the folders into which installers put packages for this Python, and its standard library."""
    paths = sysconfig.get_paths()
    folders = [paths[name] for name in ("purelib", "platlib", "stdlib", "platstdlib")]
    folders += site.getsitepackages()
    if site.ENABLE_USER_SITE:
        folders.append(site.getusersitepackages())
    return {os.path.realpath(folder) for folder in folders}


def _editable_source(distribution: metadata.Distribution) -> str | None:
    """Return the source folder of an editable distribution."""
    try:
        data = json.loads(distribution.read_text("direct_url.json") or "{}")
        if not data["dir_info"]["editable"]:
            return None
        return os.path.realpath(unquote(urlsplit(data["url"]).path))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _checkout_of(folder: str) -> str:
    """Return the root of the repository that contains a folder, or the folder itself."""
    above = folder
    while not os.path.exists(os.path.join(above, ".git")):
        parent = os.path.dirname(above)
        if parent == above:
            return folder
        above = parent
    return above


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
