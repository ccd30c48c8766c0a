"""The settings of a document: of its folder in the workspace, and of the files beside it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from rlint.config.options import FILE_NAMES, read_config
from rlint.config.settings import Settings, SettingsResolver
from rlint.errors import RlintError
from rlint.lsp.editor_settings import EditorSettings
from rlint.semantics.imports.project_files import project_root
from rlint.source.discovery import discover
from rlint.source.files import NOTEBOOK, FileStamp, stamp_of

_INSTALLED = "site-packages"

_Stamps = dict[Path, FileStamp | None]


@dataclass(frozen=True, slots=True)
class Applied:
    """The settings of one file. `root` is the folder that its displayed name is relative to."""

    root: Path
    options: EditorSettings
    settings: Settings
    included: bool
    """False for a file that the settings exclude."""


@dataclass(frozen=True, slots=True)
class _Read:
    stamps: _Stamps
    applied: Settings


class Folders:
    """The folders of the workspace, each with the editor's options for it. `report` is called with errors in
    the settings; the last valid settings then apply, or else the defaults.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._options: dict[Path, EditorSettings] = {}
        self._default = EditorSettings()
        self._read: dict[tuple[Path, Path], _Read] = {}

    @property
    def roots(self) -> list[Path]:
        """Return the folders of the workspace."""
        return list(self._options)

    def set(self, roots: Iterable[Path], options: Callable[[Path | None], EditorSettings]) -> None:
        """Replace folders and options; `options` is called for each folder, and for files outside of all."""
        self._options = {root: options(root) for root in roots}
        self._default = options(None)
        self._read.clear()

    def applied(self, path: Path) -> Applied:
        """Return the current settings of a file; changed configuration files are reread."""
        inside = [root for root in self._options if root == path.parent or root in path.parents]
        root = max(inside, key=lambda root: len(root.parts), default=None)
        options = self._default if root is None else self._options[root]
        root = root or project_root(path) or path.parent
        settings = self._settings(root, path.parent, options)
        foreign = not inside and _INSTALLED in path.parts  # a file of a library
        included = options.enable and not foreign and not _excluded(settings, path, root)
        included = included and (settings.notebooks or path.suffix != NOTEBOOK)
        return Applied(root, options, settings, included)

    def files_to_report(self) -> list[Path]:
        """Return the files of the folders whose options request diagnostics of files that are not open.

        Notebooks are left out: the URIs of the cells of an unopened one are not known.
        """
        found: dict[Path, None] = {}
        for root, options in list(self._options.items()):
            if not (options.workspace_diagnostics and options.enable):
                continue
            with contextlib.suppress(RlintError):  # reported when a file is opened
                named = options.configuration_file(root)
                resolver = SettingsResolver(root, config=named, overrides=[options.layer(root)])
                found.update(dict.fromkeys(discover([str(root)], resolver).files))
        return [path for path in found if path.suffix != NOTEBOOK]

    @property
    def reports_workspace(self) -> bool:
        """Whether the options of any folder request diagnostics of files that are not open."""
        return any(options.workspace_diagnostics for options in (self._default, *self._options.values()))

    def _settings(self, root: Path, folder: Path, options: EditorSettings) -> Settings:
        named = options.configuration_file(root)
        files = (
            [named] if named else [above / name for above in (folder, *folder.parents) for name in FILE_NAMES]
        )
        known = self._read.get((root, folder))
        if known is not None and known.stamps == _stamps(known.stamps):
            return known.applied
        try:
            resolver = SettingsResolver(root, config=named, overrides=[options.layer(root)])
            settings = resolver.for_folder(folder)
            for problem in settings.problems:
                self._report(str(problem))
            extended = read_config(settings.config, root) if settings.config else []
            files += [layer.path for layer in extended if layer.path is not None]
        except RlintError as error:
            self._report(str(error))
            settings = known.applied if known else _without_files(root, options)
        self._read[root, folder] = _Read(_stamps(files), settings)
        return settings


def _without_files(root: Path, options: EditorSettings) -> Settings:
    """Return the settings without invalid configuration files; without the editor's, if those are invalid."""
    try:
        return SettingsResolver(root, isolated=True, overrides=[options.layer(root)]).main
    except RlintError:
        return SettingsResolver(root, isolated=True).main


def _excluded(settings: Settings, path: Path, root: Path) -> bool:
    """Whether the settings exclude a file, itself or through a folder below the root."""
    between = [each for each in (path, *path.parents) if root in each.parents]
    return any(settings.excludes_entry(str(each)) for each in between)


def _stamps(files: Iterable[Path]) -> _Stamps:
    """Return the state of files, including those that do not exist yet."""
    return {path: stamp_of(path) for path in files}
