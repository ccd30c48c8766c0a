"""Which rules there are, told from the names of their files; the selected ones are imported.

A package of rules has a folder per family, and in it one file per rule, named after the rule's code
and name: `buffers/rl101_concat_grown_buffer.py`. Listing the rules imports none of them.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import importlib.util
import itertools
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rlint.engine_codes import ENGINE_CODES, FAMILY
from rlint.errors import RlintError, did_you_mean
from rlint.evidence.gain import Gain, recorded_gain
from rlint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Collection

BUILTIN = "rlint.rules"
"""The package of the rules that come with rlint."""

_FILE_NAME = re.compile(r"([a-z]+\d{3})_([a-z0-9_]+)\.py")


@dataclass(frozen=True, slots=True)
class RuleEntry:
    """A rule as far as it can be known without importing it."""

    code: str
    name: str
    family: str
    module: str
    """The module to import, or "" for a code of the engine, which has no rule file."""
    path: Path | None

    @property
    def opt_in(self) -> bool:
        """Off unless selected by code, name or ALL: because it says so, or because it was measured to gain
        nothing.
        """
        if self.declares_opt_in:
            return True
        return self.is_builtin and recorded_gain(self.name) is Gain.NONE

    @property
    def declares_opt_in(self) -> bool:
        """Whether the rule itself says that it is off unless selected."""
        return self.path is None or _declared(self.path, "opt_in") is True

    @property
    def is_builtin(self) -> bool:
        """Whether the rule has a file and comes with rlint, which has a fixture for it then."""
        return self.module.startswith(f"{BUILTIN}.")

    @property
    def claims(self) -> tuple[str, ...]:
        """What the rule says that its fix improves: "time", "sync:cuda"."""
        found = None if self.path is None else _declared(self.path, "claims")
        return found if isinstance(found, tuple) else ()

    @property
    def sources(self) -> tuple[Path, ...]:
        """The rule's file and the private modules beside it that it is made of."""
        return () if self.path is None else tuple(_with_helpers(self.path))

    @property
    def page(self) -> str:
        """The rule's documentation: the docstring of its file."""
        return _page(self)

    @property
    def summary(self) -> str:
        """The first line of the page."""
        return self.page.partition("\n")[0]

    @property
    def fixes(self) -> str:
        """How safe the fixes of the rule can be: "safe", "unsafe", "safe, unsafe" or "none"."""
        return _fixes(self)


@functools.lru_cache
def catalogue(package: str = BUILTIN) -> tuple[RuleEntry, ...]:
    """All rules of `package` and the engine's own codes, by code."""
    entries = [RuleEntry(own.code, own.name, FAMILY, "", None) for own in ENGINE_CODES]
    for folder in folders(package):
        with os.scandir(folder) as families:
            names = sorted(found.name for found in families if found.is_dir() and found.name.isidentifier())
        for family in names:
            entries += _entries(package, family, folder / family)
    entries.sort(key=lambda entry: (entry.code, entry.name))
    for one, other in itertools.pairwise(entries):
        if one.code == other.code:
            raise RlintError(f"two rules have the code {one.code}: {one.path or one.name} and {other.path}")
    return tuple(entries)


def load(codes: Collection[str], package: str = BUILTIN) -> list[Rule]:
    """Import the rules with these codes and make one of each, by code. Codes of the engine have none."""
    return [_make(entry) for entry in catalogue(package) if entry.code in codes and entry.module]


def resolve(selector: str, package: str = BUILTIN) -> tuple[RuleEntry, ...]:
    """Return the rules that `selector` means: a code, a name, the first characters of codes, or ALL."""
    entries = catalogue(package)
    wanted = selector.strip()
    code, name = wanted.upper(), wanted.lower()
    if code == "ALL":
        return entries
    found = tuple(entry for entry in entries if code == entry.code or name == entry.name)
    if not found and len(code) >= 2:
        found = tuple(entry for entry in entries if entry.code.startswith(code))
    if not found:
        known = [text for entry in entries for text in (entry.code, entry.name)]
        hint = did_you_mean(wanted, known) or "; `rlint rules` lists them"
        raise RlintError(f"unknown rule `{wanted}`{hint}")
    return found


def find(code_or_name: str, package: str = BUILTIN) -> RuleEntry:
    """Return the one rule with this code or name."""
    found = resolve(code_or_name, package)
    wanted = code_or_name.strip()
    if len(found) == 1 and (wanted.upper() == found[0].code or wanted.lower() == found[0].name):
        return found[0]
    listed = ", ".join(f"{entry.code} ({entry.name})" for entry in found[:3])
    more = f" and {len(found) - 3} more" if len(found) > 3 else ""
    raise RlintError(f"`{wanted}` is the beginning of {listed}{more}; name one of them")


def folders(package: str = BUILTIN) -> list[Path]:
    """Where the files of a package of rules lie."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.submodule_search_locations is None:
        raise RlintError(f"the package {package} is missing: rlint is not installed completely")
    return [Path(location) for location in spec.submodule_search_locations]


def _entries(package: str, family: str, folder: Path) -> list[RuleEntry]:
    entries = []
    for path in sorted(folder.iterdir()):
        if match := _FILE_NAME.fullmatch(path.name):
            code, name = match[1].upper(), match[2].replace("_", "-")
            entries.append(RuleEntry(code, name, family, f"{package}.{family}.{path.stem}", path))
    return entries


def _make(entry: RuleEntry) -> Rule:
    try:
        module = importlib.import_module(entry.module)
    except Exception as error:
        raise RlintError(f"{entry.path}: cannot be imported: {type(error).__name__}: {error}") from error
    rules = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Rule) and value.__module__ == entry.module
    ]
    if len(rules) != 1:
        raise RlintError(f"{entry.path}: must define one subclass of Rule, not {len(rules)}")
    rule = rules[0]
    declared = (getattr(rule, "code", None), getattr(rule, "name", None))
    if declared != (entry.code, entry.name):
        raise RlintError(
            f"{entry.path}: {rule.__name__} says it is {declared[0]} {declared[1]}, "
            f"but its file's name says {entry.code} {entry.name}"
        )
    return rule()


def _source(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RlintError(f"{path}: cannot be read: {error}") from error


def _tree(path: Path) -> ast.Module:
    try:
        return ast.parse(_source(path))
    except (SyntaxError, ValueError) as error:
        raise RlintError(f"{path}: is not valid Python: {error}") from error


@functools.cache
def _declared(path: Path, name: str) -> object:
    """The literal that a class in the file binds to `name`, or None."""
    if name not in _source(path):  # usual for `opt_in`: parsing is much slower than reading
        return None
    for statement in (
        inner for node in _tree(path).body if isinstance(node, ast.ClassDef) for inner in node.body
    ):
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id=bound)], value=ast.expr() as value)
                | ast.AnnAssign(target=ast.Name(id=bound), value=ast.expr() as value)
            ) if bound == name:
                with contextlib.suppress(ValueError):
                    return ast.literal_eval(value)
    return None


def _page(entry: RuleEntry) -> str:
    if entry.path is None:
        return next(own.page for own in ENGINE_CODES if own.code == entry.code)
    return ast.get_docstring(_tree(entry.path)) or ""


def _fixes(entry: RuleEntry) -> str:
    if entry.path is None:
        return next(own.fixes for own in ENGINE_CODES if own.code == entry.code)
    named = {
        node.attr.lower()
        for path in _with_helpers(entry.path)
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Safety"
    }
    return ", ".join(sorted(named & {"safe", "unsafe"})) or "none"


def _with_helpers(path: Path) -> list[Path]:
    """The file of a rule and the private modules beside it that it imports, however indirectly."""
    found = [path]
    for known in found:
        for node in ast.walk(_tree(known)):
            if not isinstance(node, ast.ImportFrom) or not node.module:
                continue
            for name in (node.module.rpartition(".")[2], *(alias.name for alias in node.names)):
                helper = path.with_name(f"{name}.py")
                if name.startswith("_") and helper not in found and helper.is_file():
                    found.append(helper)
    return found
