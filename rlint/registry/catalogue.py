"""List the existing rules, and import the selected ones.

A package of rules has a folder per family, which contains one module per rule, named after the rule's code
and name: `buffers/rl109_float64_buffer.py`, or a package if a rule has several modules:
`buffers/rl101_concat_grown_buffer/`. Listing the rules imports none of them; rlint's own are listed from a
generated index (`rlint.registry.rule_index`), without opening their files.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import itertools
import os
import sys
import threading
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from rlint.base_rule import Rule
from rlint.errors import RlintError, did_you_mean
from rlint.frozen import frozen
from rlint.regex import regex
from rlint.registry import rule_index, rule_source
from rlint.registry.engine_rules import ENGINE_CODES, FAMILY
from rlint.registry.recorded_gain import Gain, fixtures_folder, recorded_gain

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from rlint.registry.engine_rules import EngineCode

BUILTIN = "rlint.rules"
"""The package of rlint's own rules."""

_RULE_MODULE = regex(r"([a-z]{2,}\d{3})_([a-z0-9_]+)")


@frozen
class Plugin:
    """An installed package of rules other than rlint's own."""

    name: str
    """Name of the distribution, as for `pip`."""
    version: str
    package: str
    """The package of the rules, by its dotted name."""
    folder: Path
    fixtures: Path | None
    """The folder of its rules' fixtures; None if there is none."""
    path: tuple[str, ...]
    """The `sys.path` while its modules are imported."""


@frozen
class IndexedFacts:
    """The content of the generated index for a rule besides its names, which saves reading its files."""

    declares_opt_in: bool
    claims: tuple[str, ...]
    fixes: str
    gain: Gain


@frozen
class RuleEntry:
    """A rule, as far as it is known without importing it."""

    code: str
    name: str
    family: str
    module: str
    """The module to import, or "" for a code of the engine, which has no rule file."""
    path: Path | None
    plugin: Plugin | None = None
    indexed: IndexedFacts | None = field(default=None, compare=False)
    """For rlint's own rules; None if the rule's files have to be read."""

    @property
    def opt_in(self) -> bool:
        """Off unless selected by code, name or ALL: because it declares so, or because it was measured to
        gain nothing.
        """
        return self.declares_opt_in or self.gain is Gain.NONE

    @property
    def gain(self) -> Gain:
        """Return the overall gain of the rule's fix in its recorded evidence."""
        if self.indexed is not None:
            return self.indexed.gain
        return recorded_gain(self.name, self.fixtures) if self.fixtures is not None else Gain.UNKNOWN

    @property
    def declares_opt_in(self) -> bool:
        """Whether the rule itself declares that it is off unless selected."""
        if self.indexed is not None:
            return self.indexed.declares_opt_in
        return self.path is None or rule_source.declared(self.path, "opt_in") is True

    @property
    def is_builtin(self) -> bool:
        """Whether the rule has a file and is one of rlint's own."""
        return self.module.startswith(f"{BUILTIN}.")

    @property
    def fixtures(self) -> Path | None:
        """Return the folder of all fixtures that contains this rule's; None if rules come without."""
        if self.plugin is not None:
            return self.plugin.fixtures
        return fixtures_folder() if self.is_builtin else None

    @property
    def origin(self) -> str:
        """Return the distribution that provides the rule: "rlint", or a plugin with its version."""
        return f"{self.plugin.name} {self.plugin.version}" if self.plugin is not None else "rlint"

    @property
    def claims(self) -> tuple[str, ...]:
        """Return what the rule's fix claims to improve: "time", "sync:cuda"."""
        if self.indexed is not None:
            return self.indexed.claims
        found = None if self.path is None else rule_source.declared(self.path, "claims")
        return found if isinstance(found, tuple) else ()

    @property
    def page(self) -> str:
        """Return the rule's documentation: the docstring of its file."""
        return self._own().page if self.path is None else rule_source.page(self.path)

    @property
    def summary(self) -> str:
        """Return the first line of the page."""
        return self.page.partition("\n")[0]

    @property
    def fixes(self) -> str:
        """Return how safe the fixes of the rule can be: "safe", "unsafe", "safe, unsafe" or "none"."""
        if self.indexed is not None:
            return self.indexed.fixes
        return self._own().fixes if self.path is None else rule_source.fixes(self.path)

    def _own(self) -> EngineCode:
        return next(own for own in ENGINE_CODES if own.code == self.code)


_added: dict[str, tuple[RuleEntry, ...]] = {}
"""The rules of plugins that are in use in this process, by the name of the plugin."""


def add(name: str, entries: Iterable[RuleEntry]) -> None:
    """Add the rules of a plugin. `rlint.registry.plugins` ensures that no code or name occurs twice."""
    _added[name] = tuple(entries)
    catalogue.cache_clear()


def added() -> dict[str, tuple[RuleEntry, ...]]:
    """Return the rules of all plugins in use, by the name of the plugin."""
    return dict(_added)


@functools.lru_cache
def catalogue(package: str = BUILTIN) -> tuple[RuleEntry, ...]:
    """Return all rules of `package` and the engine's own codes, by code; with rlint's own, those of
    plugins.
    """
    entries = [RuleEntry(own.code, own.name, FAMILY, "", None) for own in ENGINE_CODES]
    if package == BUILTIN:
        entries += _indexed()
        entries += [entry for plugin in _added.values() for entry in plugin]
    else:
        for folder in folders(package):
            entries += entries_in(package, folder)
    entries.sort(key=lambda entry: (entry.code, entry.name))
    for one, other in itertools.pairwise(entries):
        if one.code == other.code:
            raise RlintError(f"two rules have the code {one.code}: {one.path or one.name} and {other.path}")
    return tuple(entries)


def load(codes: Collection[str], package: str = BUILTIN) -> list[Rule]:
    """Import the rules with these codes and instantiate each, by code. Codes of the engine have no module.

    Raises RlintError for a rule that cannot be used.
    """
    return [_make(entry) for entry in catalogue(package) if entry.code in codes and entry.module]


def load_usable(codes: Collection[str]) -> tuple[list[Rule], list[tuple[RuleEntry, str]]]:
    """Return the same as `load`, without unusable rules of plugins; and which these are, and why."""
    rules = load([entry.code for entry in catalogue() if entry.code in codes and entry.plugin is None])
    broken = []
    for entry in catalogue():
        if entry.plugin is not None and entry.code in codes:
            try:
                rules.append(_make(entry))
            except RlintError as error:
                broken.append((entry, str(error)))
    return sorted(rules, key=lambda rule: rule.code), broken


def left_out(entry: RuleEntry, reason: str) -> str:
    """Return the message about an unusable rule of a plugin."""
    name = entry.plugin.name if entry.plugin is not None else "rlint"
    return f"{entry.code} of plugin `{name}` cannot be used and is skipped: {reason}"


def resolve(
    selector: str, package: str = BUILTIN, *, plugins: Collection[str] | None = None
) -> tuple[RuleEntry, ...]:
    """Return the rules that `selector` means: a code, a name, a prefix of codes, or ALL.

    `plugins` are those whose rules may be meant; all that are in use, if not given.
    """
    entries = catalogue(package)
    if plugins is not None:
        entries = tuple(entry for entry in entries if entry.plugin is None or entry.plugin.name in plugins)
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
    raise RlintError(f"`{wanted}` is a prefix of {listed}{more}; name one of them")


def folders(package: str = BUILTIN) -> list[Path]:
    """Return the folders of a package of rules."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.submodule_search_locations is None:
        raise RlintError(f"the package {package} is missing: rlint is not installed completely")
    return [Path(location) for location in spec.submodule_search_locations]


def _indexed() -> Iterator[RuleEntry]:
    """Yield rlint's own rules, from their index."""
    [folder] = folders()
    for code, name, file, declares_opt_in, claims, fixes, gain in rule_index.ROWS:
        facts = IndexedFacts(declares_opt_in, claims, fixes, Gain(gain))
        family, stem = file.removesuffix(".py").removesuffix("/__init__").split("/")
        yield RuleEntry(code, name, family, f"{BUILTIN}.{family}.{stem}", folder / file, indexed=facts)


def entries_in(package: str, folder: Path, plugin: Plugin | None = None) -> list[RuleEntry]:
    """Return the rules in the folder of a package: modules and packages in its folders named after a rule."""
    with os.scandir(folder) as families:
        names = sorted(found.name for found in families if found.is_dir() and found.name.isidentifier())
    entries = []
    for family in names:
        for path in sorted((folder / family).iterdir()):
            file = path if path.suffix == ".py" else path / "__init__.py"
            match = _RULE_MODULE.fullmatch(path.stem if file is path else path.name)
            if match and file.is_file():
                code, name = match[1].upper(), match[2].replace("_", "-")
                module = f"{package}.{family}.{match[0]}"
                entries.append(RuleEntry(code, name, family, module, file, plugin))
    return entries


_importing = threading.Lock()


@contextlib.contextmanager
def _path_of(plugin: Plugin | None) -> Iterator[None]:
    """Let imports find installed modules within the context, but none beside the checked code."""
    if plugin is None:
        yield
        return
    with _importing:
        before = list(sys.path)
        sys.path[:] = plugin.path
        try:
            yield
        finally:
            sys.path[:] = before


@functools.cache
def _make(entry: RuleEntry) -> Rule:
    try:
        with _path_of(entry.plugin):
            module = importlib.import_module(entry.module)
    except (Exception, SystemExit) as error:
        raise RlintError(f"{entry.path}: cannot be imported: {type(error).__name__}: {error}") from error
    file = getattr(module, "__file__", None)
    path = entry.path
    if file is None or path is None or not (file == str(path) or os.path.samefile(file, path)):
        raise RlintError(f"{entry.path}: cannot be imported: `{entry.module}` is {file}, another file")
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
        expected = f"`code = {entry.code!r}` and `name = {entry.name!r}`"
        found = f"not {declared[0]!r} and {declared[1]!r}"
        raise RlintError(
            f"{entry.path}: {rule.__name__} must declare {expected}, as the file name says, {found}"
        )
    if entry.plugin is not None:  # a test checks those of rlint in the same way
        from rlint.registry.rule_mistakes import mistake

        wrong = mistake(rule)
        if wrong is not None:
            raise RlintError(f"{entry.path}: {rule.__name__}: {wrong}")
    try:
        return rule()
    except Exception as error:
        raise RlintError(f"{entry.path}: {rule.__name__} cannot be instantiated: {error}") from error
