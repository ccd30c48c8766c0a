"""Plugins: installed packages of rules, which are checked and loaded.

A configuration names a plugin as `pip` does, and everything else is taken from the installed distribution of
that name. Nothing is taken from the working folder, or from the folders around a configuration: checking out
a repository never leads to running its code.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from typing import TYPE_CHECKING

from rlint.errors import RlintError, did_you_mean
from rlint.frozen import frozen
from rlint.registry import catalogue, rule_source
from rlint.registry.catalogue import Plugin, RuleEntry
from rlint.registry.distributions import Installed, normalised

if TYPE_CHECKING:
    from collections.abc import Iterable
    from importlib.metadata import Distribution
    from pathlib import Path

GROUP = "rlint.rules"
"""The group of entry points under which a distribution names its packages of rules."""
_FIXTURES = "fixtures"


@frozen
class Enabled:
    """The state of the plugins that one configuration names."""

    names: frozenset[str] = frozenset()
    """Plugins in use, by their names in the registry."""
    broken: tuple[str, ...] = ()
    """Why others are not: each a sentence that names the plugin and says what to do."""


def enable(names: Iterable[str], near: Iterable[Path]) -> Enabled:
    """Load plugins. `near` are folders from which nothing is taken: those of the configuration, and ours."""
    installed: Installed | None = None
    found, broken = [], []
    for name in dict.fromkeys(map(str.strip, names)):
        installed = installed or Installed(near)
        try:
            found.append(_enable(name, installed))
        except RlintError as error:
            broken.append(f"plugin `{name}` cannot be used, its rules are skipped: {error}")
    return Enabled(frozenset(found), tuple(broken))


def _enable(name: str, installed: Installed) -> str:
    distribution = installed.find(name)
    if distribution is None:
        raise RlintError(_missing(name, installed))
    own, entries = _read(name, distribution, installed)
    if catalogue.added().get(own) != tuple(entries):
        _check(own, entries)
        catalogue.add(own, entries)
    return own


def _missing(name: str, installed: Installed) -> str:
    where = installed.excluded_folder(name)
    if where is not None:
        return (
            f"it is in {where}, next to the checked code, and rlint loads nothing from there; install it: "
            f"`pip install {where}`, or into another folder"
        )
    known = [each.metadata["Name"] for each in installed.with_group(GROUP)]
    hint = did_you_mean(name, known)
    return f"it is not installed{hint}" if hint else f"it is not installed; run `pip install {name}`"


def _read(name: str, distribution: Distribution, installed: Installed) -> tuple[str, list[RuleEntry]]:
    """Return the name of a distribution in its metadata, and its rules."""
    try:
        own, version = distribution.metadata["Name"] or name, distribution.version
        points = [point for point in distribution.entry_points if point.group == GROUP]
    except Exception as error:
        raise RlintError(
            f"its metadata cannot be read ({type(error).__name__}: {error}); reinstall it"
        ) from error
    if not points:
        raise RlintError(
            f'it has no entry point in the group "{GROUP}", so it provides no rules; remove it from `plugins`'
        )
    entries: list[RuleEntry] = []
    for package in dict.fromkeys(point.value.strip() for point in points):
        if not re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*", package):
            raise RlintError(
                f'its entry point in the group "{GROUP}" must name a package of rules, not `{package}`'
            )
        folder = installed.folder_of(package, distribution)
        if folder is None:
            raise RlintError(f"its package `{package}` is not where it was installed; reinstall it")
        path = tuple(installed.path_for(distribution))
        plugin = Plugin(own, version or "?", package, folder, _fixtures_of(folder, package), path)
        try:
            entries += catalogue.entries_in(package, folder, plugin)
        except OSError as error:
            raise RlintError(f"{folder}: cannot be read: {error.strerror or error}") from error
    return own, entries


def _fixtures_of(folder: Path, package: str) -> Path | None:
    """Return the folder of fixtures, in the package of the rules or beside it in their common parent."""
    places = [folder / _FIXTURES, *([folder.parent / _FIXTURES] if "." in package else [])]
    return next((place for place in places if place.is_dir()), None)


def _check(name: str, entries: list[RuleEntry]) -> None:
    """Raise an RlintError if the rules of a plugin conflict with each other, or with those in use."""
    if not entries:
        raise RlintError(
            "it has no rules: their files are `FAMILY/abc101_name_of_the_rule.py` in the package that its "
            "entry point names"
        )
    for entry in entries:
        assert entry.path is not None
        rule_source.tree(entry.path)
    for what in ("code", "name"):
        said, times = Counter(getattr(entry, what) for entry in entries).most_common(1)[0]
        if times > 1:
            one, other = [entry.path for entry in entries if getattr(entry, what) == said][:2]
            raise RlintError(f"two of its rules have the {what} {said}: {one} and {other}; rename one")
    prefixes = sorted({_prefix(entry) for entry in entries})
    if len(prefixes) > 1:
        raise RlintError(f"its codes begin with {' and '.join(prefixes)}; they must share one prefix")
    _check_against_others(name, prefixes[0], entries)


def _check_against_others(name: str, prefix: str, entries: list[RuleEntry]) -> None:
    others = [entry for entry in catalogue.catalogue() if entry.plugin is None or entry.plugin.name != name]
    taken = {_prefix(entry): entry.origin for entry in others} | {"ALL": "the selector of all rules"}
    for other, owner in taken.items():
        if other.startswith(prefix) or prefix.startswith(other):
            same = (
                f"with {prefix}" if prefix == other else f"with {prefix}, which {other} cannot be told from"
            )
            raise RlintError(f"its codes begin {same}, a prefix that {owner} already uses; it needs another")
    names = {entry.name: entry for entry in others}
    for entry in entries:
        if entry.name in names:
            raise RlintError(
                f"its rule {entry.code} is called {entry.name}, as is {names[entry.name].code} of "
                f"{names[entry.name].origin}; it needs another name"
            )


def _prefix(entry: RuleEntry) -> str:
    return entry.code.rstrip("0123456789")


def digest() -> bytes:
    """Return a digest of all plugins in use: names, versions, and contents of their files."""
    import hashlib

    total = hashlib.sha256()
    plugins = {entry.plugin for entries in catalogue.added().values() for entry in entries}
    for plugin in sorted((one for one in plugins if one), key=lambda one: (one.name, one.package)):
        total.update(f"{normalised(plugin.name)} {plugin.version} {plugin.package}\n".encode())
        for path in _files(plugin.folder):
            content = path.read_bytes() if os.access(path, os.R_OK) else b""
            total.update(
                f"{path.relative_to(plugin.folder)} {hashlib.sha256(content).hexdigest()}\n".encode()
            )
    return total.digest()


def _files(folder: Path) -> list[Path]:
    skipped = {"__pycache__", _FIXTURES}
    found = (path for path in folder.rglob("*") if not skipped & set(path.relative_to(folder).parts))
    return sorted(path for path in found if path.is_file())
