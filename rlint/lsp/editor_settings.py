"""Settings from the editor: at the start, or whenever they change."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rlint.config.options import Layer, option_layer
from rlint.errors import RlintError, did_you_mean
from rlint.file_paths import absolute

SECTION = "rlint"
"""The section under which editors store the settings."""

_SHARED = frozenset(
    """select ignore extend-select extend-ignore per-file-ignores extend-per-file-ignores exclude
    extend-exclude unsafe-fixes fixable unfixable extend-fixable
    extend-safe-fixes extend-unsafe-fixes target-version torch-version numpy-version confidence
    min-impact notebooks rule-url""".split()
)
"""Keys that a configuration file has, too."""
_KINDS: Mapping[str, tuple[type, str]] = {
    "enable": (bool, "true or false"),
    "configuration": (str, "the path of a file"),
    "run": (str, '"onType" or "onSave"'),
    "debounce": (int, "an integer number of milliseconds"),
    "syntax-errors": (bool, "true or false"),
    "rule-pages": (str, '"html" or "markdown"'),
    "explanations": (str, '"shown" or "returned"'),
    "workspace-diagnostics": (bool, "true or false"),
}
"""Keys for the editor only, with their types."""
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "run": ("onType", "onSave"),
    "rule-pages": ("html", "markdown"),
    "explanations": ("shown", "returned"),
}
_CAPITAL = re.compile(r"(?<=[a-z])([A-Z])")


@dataclass(frozen=True, slots=True)
class EditorSettings:
    """The settings of the editor for one folder. `values` are those that a configuration file could also
    contain.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    enable: bool = True
    configuration: str | None = None
    run: str = "onType"
    debounce: int = 150
    syntax_errors: bool = True
    rule_pages: str = "html"
    """Format of the pages of rules without a `rule-url`."""
    explanations: str = "shown"
    """Whether the explanation of a line is shown as a message, or only returned, for the client to show."""
    workspace_diagnostics: bool = False
    """Whether files that are not open are checked, too, for clients that pull diagnostics."""

    def layer(self, root: Path) -> Layer:
        """Return the editor's settings as a layer above the configuration files."""
        return option_layer(self.values, root, editor="editor")

    def configuration_file(self, root: Path) -> Path | None:
        """Return the file that replaces those found beside the code."""
        if self.configuration is None:
            return None
        return absolute(root / Path(self.configuration).expanduser())


def read_options(*given: object) -> tuple[EditorSettings, list[str]]:
    """Return settings from the editor, in camel case or as in configuration files; `null` means not set. Of
    several objects, later ones take precedence. Invalid values are left out and reported.
    """
    shared: dict[str, Any] = {}
    own: dict[str, Any] = {}
    mistakes = []
    for data in map(_unwrapped, given):
        if data is None:
            continue
        if not isinstance(data, Mapping):
            mistakes.append(f"rlint's settings must be an object, not {data!r}")
            continue
        for name, value in data.items():
            key = _CAPITAL.sub(r"-\1", str(name)).lower().replace("_", "-")
            mistake = _mistake(key, str(name), value)
            if mistake is not None:
                mistakes.append(mistake)
            elif value is not None and key in _SHARED:
                shared[key] = value
            elif value is not None:
                own[key.replace("-", "_")] = value
    return EditorSettings(shared, **own), mistakes


def _mistake(key: str, name: str, value: object) -> str | None:
    if key in _SHARED:
        try:
            option_layer({key: value}, Path(), editor="the editor's settings")
        except RlintError as error:
            return str(error)
        return None
    if key not in _KINDS:
        return f"rlint has no setting `{name}`{did_you_mean(key, [*_SHARED, *_KINDS])}"
    kind, expected = _KINDS[key]
    fits = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
    fits = fits and (key not in _CHOICES or value in _CHOICES[key])
    fits = fits and (not isinstance(value, int) or value >= 0)
    return None if fits or value is None else f"rlint's setting `{name}` must be {expected}, not {value!r}"


def _unwrapped(given: object) -> object:
    """Return the settings themselves, which some editors wrap once or twice."""
    for _ in range(2):
        for name in (SECTION, "settings"):
            if isinstance(given, Mapping) and isinstance(given.get(name), Mapping):
                given = given[name]
    return given
