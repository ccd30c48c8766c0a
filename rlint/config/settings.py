"""The settings of every file: the nearest configuration, `--config` and the command line, joined."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from rlint import __version__
from rlint.config.declared_knowledge import NOTHING_DECLARED, DeclaredKnowledge
from rlint.config.fixability import AS_FOUND, Fixability
from rlint.config.options import KEYS, GivenBy, Layer, find_config, read_config
from rlint.config.patterns import PathPatterns
from rlint.config.required_version import satisfies
from rlint.config.selection import Rules, codes_of, fixability, selected_codes
from rlint.config.stated_versions import OPTIONS, StatedVersion, configured, stated_versions
from rlint.errors import RlintError
from rlint.findings import Confidence, ImpactLevel, Problem
from rlint.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

DEFAULT_EXCLUDES = (
    *(".bzr", ".direnv", ".eggs", ".git", ".git-rewrite", ".hg", ".ipynb_checkpoints", ".mypy_cache"),
    *(".nox", ".pants.d", ".pyenv", ".pytest_cache", ".pytype", ".rlint_cache", ".ruff_cache", ".svn"),
    *(".tox", ".venv", ".vscode", "__pycache__", "__pypackages__", "_build", "buck-out", "build", "dist"),
    *("node_modules", "site-packages", "venv"),
)

DEFAULTS: Mapping[str, Any] = {
    "notebooks": True,
    "respect-gitignore": True,
    "force-exclude": False,
    "fix": False,
    "unsafe-fixes": False,
    "output-format": "full",
    "confidence": "likely",
}


_SELECTION = ("select", "extend-select", "ignore", "extend-ignore")
_EXCLUSION = ("exclude", "extend-exclude")
_FILE_IGNORES = ("per-file-ignores", "extend-per-file-ignores")
_FIXES = ("fixable", "unfixable", "extend-fixable", "extend-safe-fixes", "extend-unsafe-fixes")
_PLAIN = KEYS.keys() - {*_SELECTION, *_EXCLUSION, *_FILE_IGNORES, *_FIXES, "extend", "plugins"}
"""Keys for which the value of a stronger layer replaces that of a weaker one."""


@frozen
class FileIgnore:
    """One line of `per-file-ignores`."""

    patterns: PathPatterns
    negated: bool
    codes: frozenset[str]

    @property
    def pattern(self) -> str:
        """Return the pattern as it was written."""
        return "!" * self.negated + self.patterns.patterns[0]

    def match(self, path: str) -> bool:
        """Whether the codes are ignored in the file `path`."""
        return self.patterns.match(path) != self.negated


@frozen
class Settings:
    """The settings of the files in one folder."""

    config: Path | None
    """The nearest configuration file, or the one that `--config` names."""
    codes: frozenset[str]
    per_file_ignores: tuple[FileIgnore, ...]
    excludes: tuple[PathPatterns, ...]
    notebooks: bool
    """Whether a walk includes notebooks."""
    respect_gitignore: bool
    force_exclude: bool
    fix: bool
    unsafe_fixes: bool
    output_format: str
    confidence: Confidence
    """The lowest confidence of reported findings."""
    min_impact: ImpactLevel | None
    """Findings of less impact are left out; None if the formats for users decide."""
    jobs: int | None
    cache_dir: str | None
    baseline: str | None
    origins: Mapping[str, tuple[Any, str]] = field(compare=False)
    """For each key with a value: the value, and its origin."""
    given_by: Mapping[str, GivenBy] = field(default_factory=dict, compare=False)
    """For each plain key that is set: the kind of place that sets it."""
    problems: tuple[Problem, ...] = ()
    """Problems with named plugins, whose rules are left out."""
    declared: DeclaredKnowledge = NOTHING_DECLARED
    """Declarations about the code itself."""
    rule_url: str | None = None
    """The URL below which the pages of rules are published: `RL101.html` and so on."""
    fixability: Fixability = AS_FOUND
    """The allowed fixes, and their configured safety."""

    def for_project(self, stated: Mapping[str, StatedVersion]) -> Settings:
        """Return the settings with the versions in a project's own files, which options override."""
        versions = {**stated, **{each.library: each for each in self.fixability.versions}}
        added = {
            OPTIONS[library]: (each.version, each.origin)
            for library, each in stated.items()
            if each is versions[library]
        }
        if not added:
            return self
        fixability = replace(self.fixability, versions=tuple(versions.values()))
        return replace(self, fixability=fixability, origins={**self.origins, **added})

    def codes_for(self, path: Path) -> frozenset[str]:
        """Return the codes that the file `path` is checked for."""
        codes = self.codes
        for ignore in self.per_file_ignores:
            if ignore.match(str(path)):
                codes -= ignore.codes
        return codes

    def excludes_entry(self, path: str) -> bool:
        """Whether a file or folder met on a walk is excluded, itself."""
        return any(group.match(path) for group in self.excludes)

    def excludes_file(self, path: Path) -> bool:
        """Whether a file is excluded, itself or through a folder that contains it."""
        return any(group.match_any_part(str(path)) for group in self.excludes)


class SettingsResolver:
    """Finds and caches the settings of folders.

    `config` (a file named by the user) or `isolated` disable the search for configuration files; `overrides`
    are the stronger layers, weakest first. Without `plugins`, no named plugin is loaded.
    """

    def __init__(
        self,
        root: Path,
        *,
        config: Path | None = None,
        isolated: bool = False,
        overrides: Sequence[Layer] = (),
        plugins: bool = True,
    ) -> None:
        self.root = root
        self._plugins = plugins
        self._overrides = tuple(overrides)
        self._searches = config is None and not isolated
        self._fixed: Settings | None = None
        if config is not None:
            self._fixed = self._joined(read_config(config, root))
        self._by_folder: dict[str, Settings] = {}
        self._by_config: dict[Path, Settings] = {}
        self._reads_project = not isolated
        self._projects: dict[str, dict[str, StatedVersion]] = {}
        self._of_projects: dict[tuple[Path | None, tuple[StatedVersion, ...]], Settings] = {}
        self.main = self.for_folder(root)
        """The settings of the folder that rlint was started in; settings of the whole run come from it."""

    def for_folder(self, folder: Path) -> Settings:
        """Return the settings of the files directly in `folder`."""
        key = str(folder)
        found = self._by_folder.get(key)
        if found is None:
            found = self._configured(folder)
            if stated := self._project(folder):
                known = (found.config, tuple(stated.values()))
                if known not in self._of_projects:
                    self._of_projects[known] = found.for_project(stated)
                found = self._of_projects[known]
            self._by_folder[key] = found
        return found

    def _configured(self, folder: Path) -> Settings:
        """Return the settings of a folder from its configuration, before the project's own files."""
        if not self._searches:
            return self._without_search()
        config = find_config(folder)
        if config is None:
            return self._without_search() if folder.parent == folder else self._configured(folder.parent)
        if config not in self._by_config:
            self._by_config[config] = self._joined(read_config(config))
        return self._by_config[config]

    def _project(self, folder: Path) -> Mapping[str, StatedVersion]:
        """Return the versions in the files of the nearest project, at `folder` or above."""
        if not self._reads_project:
            return {}
        key = str(folder)
        found = self._projects.get(key)
        if found is None:
            own = stated_versions(folder)
            above = {} if own is not None or folder.parent == folder else self._project(folder.parent)
            found = self._projects[key] = own if own is not None else dict(above)
        return found

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Return problems with plugins in all settings requested so far."""
        seen = [*([self._fixed] if self._fixed else []), *self._by_config.values()]
        return tuple(dict.fromkeys(problem for settings in seen for problem in settings.problems))

    def for_file(self, path: Path) -> Settings:
        """Return the settings of the file `path`."""
        return self.for_folder(path.parent)

    def _without_search(self) -> Settings:
        """Return the settings if no configuration file is found; computed late, since options may name plugin
        rules.
        """
        if self._fixed is None:
            self._fixed = self._joined([])
        return self._fixed

    def _joined(self, file_layers: list[Layer]) -> Settings:
        layers = [*file_layers, *self._overrides]
        _check_version(file_layers)
        rules, broken = _rules(layers, self.root, allowed=self._plugins)
        codes = selected_codes(layers, rules)
        ignores, excludes = _file_ignores(layers, rules), _excludes(layers, self.root)
        values: dict[str, tuple[Any, str]] = {key: (value, "default") for key, value in DEFAULTS.items()}
        given_by = dict.fromkeys(values, GivenBy.DEFAULT)
        for layer in layers:
            plain = {key: (value, layer.origin) for key, value in layer.values.items() if key in _PLAIN}
            values.update(plain)
            given_by.update(dict.fromkeys(plain, layer.given_by))
        values["select"] = (sorted(codes), _origins(layers, _SELECTION))
        values["exclude"] = (
            [each for group in excludes for each in group.patterns],
            _origins(layers, _EXCLUSION),
        )
        if plugins := list(dict.fromkeys(n for layer in layers for n in layer.values.get("plugins", ()))):
            values["plugins"] = (plugins, _origins(layers, ("plugins",)))
        allowed = replace(fixability(layers, rules), versions=configured(values))
        for key, chosen in (
            ("unfixable", allowed.unfixable),
            ("extend-safe-fixes", allowed.safe),
            ("extend-unsafe-fixes", allowed.unsafe),
        ):
            if chosen:
                values[key] = (sorted(chosen), _origins(layers, _FIXES))
        if ignores:
            table = {ignore.pattern: sorted(ignore.codes) for ignore in ignores}
            values["per-file-ignores"] = (table, _origins(layers, _FILE_IGNORES))
        get = {key: value for key, (value, _) in values.items()}
        return Settings(
            config=file_layers[-1].path if file_layers else None,
            codes=codes,
            per_file_ignores=ignores,
            excludes=excludes,
            notebooks=get["notebooks"],
            respect_gitignore=get["respect-gitignore"],
            force_exclude=get["force-exclude"],
            fix=get["fix"],
            unsafe_fixes=get["unsafe-fixes"],
            output_format=get["output-format"],
            confidence=Confidence[get["confidence"].upper()],
            min_impact=ImpactLevel[get["min-impact"].upper()] if "min-impact" in get else None,
            jobs=get.get("jobs"),
            cache_dir=get.get("cache-dir"),
            baseline=get.get("baseline"),
            origins=values,
            given_by=given_by,
            problems=_with_left_out(broken, rules),
            declared=_declared(layers, values),
            rule_url=get.get("rule-url"),
            fixability=allowed,
        )


def _declared(layers: Sequence[Layer], values: Mapping[str, tuple[Any, str]]) -> DeclaredKnowledge:
    """Return the declarations of the layers about the code; files in them are below their layer's root."""
    if not values.keys() & {"hot", "cold", "accelerator", "entry-points"}:
        return NOTHING_DECLARED
    hot, cold = values.get("hot", ([], "")), values.get("cold", ([], ""))
    accelerator = values.get("accelerator", ("auto", ""))[0]
    entries = None
    for layer in layers:
        if "entry-points" in layer.values:
            root = layer.root.as_posix().rstrip("/")
            entries = tuple(
                f"{root}/{entry.removeprefix('./')}"
                if entry.endswith((".py", ".ipynb")) and not entry.startswith("/")
                else entry
                for entry in layer.values["entry-points"]
            )
    return DeclaredKnowledge(
        tuple(hot[0]),
        tuple(cold[0]),
        None if accelerator == "auto" else accelerator,
        entries,
        hot[1],
        cold[1],
        str(layers[0].root),
    )


def _rules(layers: Sequence[Layer], root: Path, *, allowed: bool) -> tuple[Rules, tuple[Problem, ...]]:
    """Load the plugins of all layers: an extended file adds its own. Report broken ones."""
    named = [(layer, name) for layer in layers for name in layer.values.get("plugins", ())]
    if not named:
        return Rules(), ()
    if not allowed:
        refused = {name: layer.origin for layer, name in named}
        message = "plugin `{}` is not loaded here, its rules are skipped"
        said = tuple(Problem(origin, message.format(name)) for name, origin in refused.items())
        return Rules(complete=False), said
    from rlint.registry.plugins import enable

    enabled = enable([name for _, name in named], [root, *(layer.root for layer in layers)])
    origin = named[-1][0].origin
    problems = tuple(Problem(origin, message) for message in enabled.broken)
    return Rules(enabled.names, complete=not problems), problems


def _with_left_out(problems: tuple[Problem, ...], rules: Rules) -> tuple[Problem, ...]:
    if not (problems and rules.left_out):
        return problems
    listed = ", ".join(f"`{selector}`" for selector in dict.fromkeys(rules.left_out))
    return (*problems, Problem(problems[0].path, f"no enabled rule matches {listed}, which is ignored"))


def _origins(layers: Sequence[Layer], keys: tuple[str, ...]) -> str:
    """Return the places that set one of `keys`; a value that replaces the default has none."""
    named = [layer.origin for layer in layers if any(key in layer.values for key in keys)]
    replaced = any(keys[0] in layer.values for layer in layers)
    return ", ".join(dict.fromkeys(named if replaced else ["default", *named]))


def _file_ignores(layers: Sequence[Layer], rules: Rules) -> tuple[FileIgnore, ...]:
    found: list[FileIgnore] = []
    for layer in layers:
        if "per-file-ignores" in layer.values:
            found.clear()
        for key in ("per-file-ignores", "extend-per-file-ignores"):
            for pattern, selectors in layer.values.get(key, {}).items():
                patterns = PathPatterns((pattern.removeprefix("!"),), str(layer.root))
                found.append(
                    FileIgnore(patterns, pattern.startswith("!"), codes_of(selectors, layer, key, rules))
                )
    return tuple(found)


def _excludes(layers: Sequence[Layer], root: Path) -> tuple[PathPatterns, ...]:
    base = PathPatterns(DEFAULT_EXCLUDES, str(root))
    extended: list[PathPatterns] = []
    for layer in layers:
        if "exclude" in layer.values:
            base = PathPatterns(tuple(layer.values["exclude"]), str(layer.root))
        if "extend-exclude" in layer.values:
            extended.append(PathPatterns(tuple(layer.values["extend-exclude"]), str(layer.root)))
    return (base, *extended)


def _check_version(layers: Sequence[Layer]) -> None:
    for layer in layers:
        required = layer.values.get("required-version")
        if required is not None and not satisfies(__version__, required):
            raise RlintError(
                f"{layer.origin}: `required-version` is {required!r}, but this is rlint {__version__}"
            )
