"""Options as written: in a file, after `--config` or as command-line options. Checked, not joined.

A layer contains the options of one place. `rlint.config.settings` joins layers into the settings of a file.
"""

from __future__ import annotations

import enum
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlint.config.patterns import check_pattern
from rlint.errors import RlintError, did_you_mean
from rlint.file_paths import absolute
from rlint.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE_NAMES = (".rlint.toml", "rlint.toml", "pyproject.toml")
"""In order of precedence, if a folder has several."""

OUTPUT_FORMATS = (
    *("full", "concise", "grouped", "json", "json-lines", "sarif", "github", "gitlab", "azure", "junit"),
    *("pylint", "rdjson", "html"),
)

_SELECTORS, _PATTERNS, _PLUGINS, _TABLE = (
    "a list of rules",
    "a list of patterns",
    "a list of installed packages",
    "a table from patterns to lists of rules",
)
_FLAG, _TEXT, _COUNT = "true or false", "a string", "a positive integer"
_VERSION = 'a version such as "3.10" or "2.1.0"'
_IS_VERSION = re.compile(r"(?:py)?\d+(?:\.\d+)*")
_FUNCTIONS, _ENTRIES = "a list of functions (`package.module.Class.method`)", "a list of files and functions"
_ACCELERATOR = 'true, false or "auto"'
CONFIDENCES = ("certain", "likely", "possible")
IMPACTS = ("low", "medium", "high")


def _one_of(names: tuple[str, ...]) -> str:
    return "one of " + ", ".join(f'"{name}"' for name in names)


_CHOICES = {_one_of(names): names for names in (OUTPUT_FORMATS, CONFIDENCES, IMPACTS)}
_FORMAT, _CONFIDENCE, _IMPACT = _CHOICES

KEYS: Mapping[str, str] = {
    "select": _SELECTORS,
    "ignore": _SELECTORS,
    "extend-select": _SELECTORS,
    "extend-ignore": _SELECTORS,
    "fixable": _SELECTORS,
    "unfixable": _SELECTORS,
    "extend-fixable": _SELECTORS,
    "extend-safe-fixes": _SELECTORS,
    "extend-unsafe-fixes": _SELECTORS,
    "per-file-ignores": _TABLE,
    "extend-per-file-ignores": _TABLE,
    "plugins": _PLUGINS,
    "exclude": _PATTERNS,
    "extend-exclude": _PATTERNS,
    "hot": _FUNCTIONS,
    "cold": _FUNCTIONS,
    "entry-points": _ENTRIES,
    "accelerator": _ACCELERATOR,
    "notebooks": _FLAG,
    "respect-gitignore": _FLAG,
    "force-exclude": _FLAG,
    "fix": _FLAG,
    "unsafe-fixes": _FLAG,
    "output-format": _FORMAT,
    "confidence": _CONFIDENCE,
    "min-impact": _IMPACT,
    "jobs": _COUNT,
    "baseline": _TEXT,
    "cache-dir": _TEXT,
    "rule-url": _TEXT,
    "required-version": _TEXT,
    "target-version": _VERSION,
    "torch-version": _VERSION,
    "numpy-version": _VERSION,
    "extend": _TEXT,
}
"""Every key of a configuration, and its expected type."""


_MOST_BYTES = 1_000_000


class GivenBy(enum.Enum):
    """The kind of place that sets an option."""

    DEFAULT = enum.auto()
    FILE = enum.auto()
    CONFIG_OPTION = enum.auto()
    """`--config "key = value"`."""
    OPTION = enum.auto()
    """An option of the command line, or its environment variable."""
    EDITOR = enum.auto()


@frozen
class Layer:
    """The options of one place. Patterns in it are relative to `root`."""

    origin: str
    """The displayed name of the place."""
    given_by: GivenBy
    root: Path
    values: Mapping[str, Any]
    path: Path | None = None

    def name_of(self, key: str) -> str:
        """Return the name of a key as written: an option on the command line, a key elsewhere."""
        return f"`--{key}`" if self.given_by is GivenBy.OPTION else f"`{key}` ({self.origin})"


def find_config(folder: Path) -> Path | None:
    """Return the configuration file in `folder` itself; a pyproject.toml counts if it has a section for
    rlint.
    """
    for name in FILE_NAMES:
        path = folder / name
        # os.path.isfile: no error if the folder may be listed but not entered.
        if os.path.isfile(path) and (name != "pyproject.toml" or _section(path, required=False) is not None):
            return path
    return None


def read_config(path: Path, root: Path | None = None) -> list[Layer]:
    """Return the layers of a configuration file: the extended ones first, itself last."""
    layers: list[Layer] = []
    seen: list[Path] = []
    current: Path | None = absolute(path)
    while current is not None:
        if current in seen:
            chain = " → ".join(_shown(each) for each in [*seen, current])
            raise RlintError(f"circular `extend` in configuration files: {chain}")
        seen.append(current)
        values = _section(current, required=True) or {}
        _check(values, _shown(current), _text(current))
        layers.insert(0, Layer(_shown(current), GivenBy.FILE, root or current.parent, values, current))
        extended = values.get("extend")
        root = None
        current = _extended(current, extended) if extended is not None else None
    return layers


def inline_layer(texts: tuple[str, ...], root: Path) -> Layer:
    """Return the layer of `--config "key = value"` options."""
    values: dict[str, Any] = {}
    for text in texts:
        pairs = _parse(text, f"--config {text!r}")
        _check(pairs, f"--config {text!r}", text)
        if "extend" in pairs:
            raise RlintError("`extend` belongs in a configuration file; pass the file itself to `--config`")
        values.update(pairs)
    return Layer("--config", GivenBy.CONFIG_OPTION, root, values)


def option_layer(values: Mapping[str, Any], root: Path, *, editor: str | None = None) -> Layer:
    """Return the layer of the command line's own options; keys without a value (None) are not in it.

    `editor` names the origin of an editor's settings, if they come from one.
    """
    given = {key: value for key, value in values.items() if value is not None}
    origin, given_by = ("command line", GivenBy.OPTION) if editor is None else (editor, GivenBy.EDITOR)
    _check(given, origin, "")
    return Layer(origin, given_by, root, given)


def _section(path: Path, *, required: bool) -> dict[str, Any] | None:
    raw = _read(path)
    if path.name == "pyproject.toml" and b"rlint" not in raw and not required:
        return None  # not ours, and perhaps not even valid TOML
    text = _text(path)
    if path.name != "pyproject.toml":
        return _parse(text, _shown(path))
    tool = _parse(text, _shown(path)).get("tool", {})
    section = tool.get("rlint") if isinstance(tool, dict) else None
    if section is not None and not isinstance(section, dict):
        raise RlintError(f"{_shown(path)}: `tool.rlint` must be a table")
    return section


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise RlintError(f"{_shown(path)}: cannot read the configuration: it is larger than 1 MB")
        return path.read_bytes()
    except OSError as error:
        raise RlintError(f"{_shown(path)}: cannot read the configuration: {error.strerror}") from error


def _text(path: Path) -> str:
    try:
        return _read(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RlintError(f"{_shown(path)}: cannot read the configuration: it is not UTF-8") from error


def parse_toml(text: str) -> dict[str, Any]:
    """Return the content of a file that is not rlint's own; empty if it is not valid."""
    try:
        return _parse(text, "")
    except RlintError:
        return {}


def _parse(text: str, shown: str) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        values: dict[str, Any] = tomllib.loads(text)
    except RecursionError as error:
        raise RlintError(f"{shown}: invalid TOML: nested too deeply") from error
    except tomllib.TOMLDecodeError as error:
        raise RlintError(f"{shown}: invalid TOML: {error}") from error
    return values


def _extended(path: Path, value: Any) -> Path:
    extended = Path(os.path.expandvars(value)).expanduser()
    found = absolute(path.parent / extended)
    if not found.is_file():
        raise RlintError(f"{_shown(path)}: `extend` names {value!r}, which is not a file")
    return found


def _check(values: Mapping[str, Any], shown: str, text: str) -> None:
    for key, value in values.items():
        place = _place(shown, key, text)
        if key not in KEYS:
            nested = isinstance(value, dict) and any(inner in KEYS for inner in value)
            hint = f"; rlint has no table `{key}`: write its keys one level up" if nested else ""
            raise RlintError(f"{place}: unknown key `{key}`{hint or did_you_mean(key, KEYS)}")
        if not _fits(value, KEYS[key]):
            raise RlintError(f"{place}: `{key}` must be {KEYS[key]}, not {_described(value)}")
        for pattern in _patterns(key, value):
            if complaint := check_pattern(pattern):
                raise RlintError(f"{place}: `{pattern}` in `{key}` is not a valid pattern: {complaint}")


def _fits(value: Any, expected: str) -> bool:
    if expected in (_SELECTORS, _PATTERNS, _PLUGINS, _FUNCTIONS, _ENTRIES):
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    if expected == _TABLE:
        return isinstance(value, dict) and all(_fits(each, _SELECTORS) for each in value.values())
    if expected == _FLAG:
        return isinstance(value, bool)
    if expected == _ACCELERATOR:
        return isinstance(value, bool) or value == "auto"
    if expected == _COUNT:
        return isinstance(value, int) and not isinstance(value, bool) and value > 0
    if expected == _VERSION:
        return isinstance(value, str) and _IS_VERSION.fullmatch(value) is not None
    return isinstance(value, str) and (expected == _TEXT or value in _CHOICES.get(expected, ()))


def _patterns(key: str, value: Any) -> list[str]:
    if KEYS[key] == _TABLE:
        return [pattern.removeprefix("!") for pattern in value]
    return value if KEYS[key] == _PATTERNS else []


def _place(shown: str, key: str, text: str) -> str:
    """Return the file, with the line of the key if it is easily found."""
    found = re.search(rf"^[ \t]*(?:\[.*\.)?[\"']?{re.escape(key)}[\"']?[ \t]*[=\]]", text, re.MULTILINE)
    if found is None or "\n" not in text.rstrip("\n"):
        return shown
    return f"{shown}:{text.count(chr(10), 0, found.start()) + 1}"


def _described(value: Any) -> str:
    names = {
        bool: "a truth value",
        int: "a number",
        float: "a number",
        str: "a string",
        list: "a list",
        dict: "a table",
    }
    if isinstance(value, str | int | float):
        shown = str(value).lower() if isinstance(value, bool) else repr(value)
        return f"{names[type(value)]} ({shown})"
    if isinstance(value, list) and not all(isinstance(each, str) for each in value):
        return "a list with items that are not strings"
    return names.get(type(value), type(value).__name__)


def _shown(path: Path) -> str:
    try:
        return path.relative_to(Path.cwd()).as_posix()
    except ValueError:
        return str(path)
