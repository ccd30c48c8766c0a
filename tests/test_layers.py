"""Who may import whom. The table below is the architecture; breaking it fails the build, not a review."""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from fixture_folders import ROOT

PLAIN = (
    "rlint", "rlint.findings", "rlint.errors", "rlint.enums", "rlint.frozen", "rlint.regex",
    "rlint.engine_codes", "rlint.patterns", "rlint.atomic", "rlint.links", "rlint.evidence",
    "rlint.evidence.gain", "rlint.rule_index",
)  # fmt: skip
REGISTRY = ("rlint.registry", "rlint.rule_files", "rlint.plugins", "rlint.installed")
SETTINGS = ("rlint.config", "rlint.versions", "rlint.selection", "rlint.settings")
FILES = ("rlint.files", "rlint.gitignore", "rlint.discovery")
NOTEBOOKS = ("rlint.notebook", "rlint.notebook.*")
SUPPRESSIONS = ("rlint.comments", "rlint.directives", "rlint.suppression_report", "rlint.suppress")
SYNTAX = ("rlint.syntax", "rlint.syntax.*")
PROJECT = ("rlint.project", "rlint.project.*")
OUTPUT = ("rlint.output", "rlint.output.*")
TRIAL = ("rlint.trial", "rlint.trial.*")
HARNESS = ("rlint.harness", "rlint.harness.*")
PROFILES = ("rlint.profiles", "rlint.profiles.*")
EDITOR = ("rlint.lsp", "rlint.lsp.*")
COMMANDS = ("rlint.cli", "rlint.cli.*", "rlint.__main__")
RUNNING = (
    "rlint.asked", "rlint.doubts", "rlint.engine", "rlint.fixed_texts", "rlint.forked", "rlint.found",
    "rlint.garbage", "rlint.group_checks", "rlint.held", "rlint.kept_questions", "rlint.kept_summaries",
    "rlint.orders", "rlint.origins", "rlint.permits", "rlint.plan", "rlint.recheck", "rlint.seen_files",
    "rlint.sharing", "rlint.spawned", "rlint.visits", "rlint.worker", "rlint.worker_process", "rlint.workers",
)  # fmt: skip
KEPT = ("rlint.cache", "rlint.cache_keys", "rlint.kept_results", "rlint.plain_results")
ENGINE = (*RUNNING, *KEPT, "rlint.fixes", "rlint.runs", "rlint.suppress", "rlint.registry")


@dataclass(frozen=True)
class Layer:
    """What the modules of one layer may import, besides the standard library."""

    modules: tuple[str, ...]
    may: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    """Those of the standard library that 3.10 lacks count as packages, too."""
    for_types: tuple[str, ...] = ()
    """Further modules that only annotations may name."""


LAYERS = (
    Layer(("rlint.frozen",), packages=("typing_extensions",)),  # for type checkers alone
    Layer(PLAIN, may=PLAIN),
    Layer(("rlint.registry", "rlint.rule_files"), may=(*PLAIN, "rlint.rule", "rlint.rule_files")),
    Layer(("rlint.make_rule_index",), may=("rlint.registry", "rlint.rule_index")),
    Layer(("rlint.plugins", "rlint.installed"), may=(*PLAIN, *REGISTRY)),
    Layer(
        ("rlint.evidence.*",),
        may=(
            *PLAIN,
            "rlint.evidence.*",
            "rlint.registry",
            "rlint.harness.results",
            "rlint.harness.results_json",
        ),
    ),
    Layer(
        SETTINGS, may=(*PLAIN, *SETTINGS, "rlint.registry", "rlint.plugins"), packages=("tomllib", "tomli")
    ),
    Layer(("rlint.files",), may=(*PLAIN, *NOTEBOOKS)),
    Layer(("rlint.notebook.places",), may=(*PLAIN, *NOTEBOOKS, *SYNTAX, "rlint.files", "rlint.runs")),
    Layer(NOTEBOOKS, may=(*PLAIN, *NOTEBOOKS, "rlint.syntax.parse", "rlint.syntax.positions")),
    Layer(("rlint.runs",), may=(*PLAIN, "rlint.files")),
    Layer(KEPT, may=(*PLAIN, *KEPT, "rlint.files", "rlint.runs", "rlint.registry", "rlint.plugins")),
    Layer(
        ("rlint.gitignore", "rlint.discovery"), may=(*PLAIN, *FILES, "rlint.settings"), packages=("pathspec",)
    ),
    Layer(SUPPRESSIONS, may=(*PLAIN, *SUPPRESSIONS, "rlint.syntax.positions")),
    Layer(
        ("rlint.fingerprints",),
        may=(*PLAIN, "rlint.comments", "rlint.syntax.positions"),
        for_types=("rlint.runs",),
    ),
    Layer(("rlint.baseline",), may=(*PLAIN, "rlint.files", "rlint.fingerprints")),
    Layer(("rlint.git",), may=PLAIN),
    Layer(
        ("rlint.changed_lines",),
        may=(*PLAIN, "rlint.files", "rlint.git", "rlint.output.line_diff", "rlint.syntax.positions"),
        for_types=("rlint.runs",),
    ),
    Layer(("rlint.fixes",), may=PLAIN, for_types=("rlint.files",)),
    Layer(("rlint.together",), may=(*PLAIN, "rlint.fixes"), for_types=("rlint.runs",)),
    Layer(SYNTAX, may=(*PLAIN, *SYNTAX), packages=("libcst",)),
    Layer(
        PROJECT,
        may=(*PLAIN, *SYNTAX, *PROJECT, "rlint.files", "rlint.notebook.layout", "rlint.notebook.sources"),
    ),
    Layer(("rlint.rule",), may=("rlint.findings", "rlint.frozen"), for_types=("rlint.project.site",)),
    Layer(
        ("rlint.rules.*",),
        may=("rlint.rule", "rlint.frozen", "rlint.regex", "rlint.rules.*._*", *SYNTAX, *PROJECT),
    ),
    Layer(
        RUNNING,
        may=(*PLAIN, "rlint.files", *NOTEBOOKS, *SYNTAX, *PROJECT, "rlint.rule", *ENGINE),
    ),
    Layer(("rlint.profiles", "rlint.profiles.heated"), may=PLAIN),
    Layer(
        PROFILES,
        may=(*PLAIN, *PROFILES, "rlint.files", "rlint.harness.results"),
        for_types=("rlint.evidence.recorded",),
    ),
    Layer(
        ("rlint.output.site", "rlint.output.site.*"),
        may=(*PLAIN, *OUTPUT),
        packages=("markdown_it",),  # which comes with rich
        for_types=("rlint.evidence.recorded", "rlint.harness.results"),
    ),
    Layer(
        OUTPUT,
        may=(
            *PLAIN,
            *OUTPUT,
            "rlint.outcome",
            "rlint.profiles.heated",
            "rlint.syntax.positions",
            "rlint.fingerprints",
            "rlint.harness.results",
            "rlint.harness.results_json",
        ),
        packages=("markdown_it",),
        for_types=(
            "rlint.files",
            "rlint.trial.*",
            "rlint.runs",
            "rlint.notebook.view",
            "rlint.evidence.recorded",
        ),
    ),
    Layer(("rlint.uncommitted",), may=(*PLAIN, "rlint.git")),
    Layer(("rlint.outcome",), may=(*PLAIN, "rlint.runs"), for_types=("rlint.trial.trial",)),
    Layer(TRIAL, may=(*PLAIN, *TRIAL, "rlint.engine", "rlint.files", "rlint.runs")),
    Layer(
        HARNESS,
        may=(
            *PLAIN,
            "rlint.files",
            "rlint.registry",
            "rlint.engine",
            "rlint.runs",
            "rlint.evidence.*",
            *HARNESS,
        ),
        packages=("numpy", "torch", "psutil"),
    ),
    Layer(
        EDITOR,
        may=(
            *PLAIN,
            *SETTINGS,
            *SUPPRESSIONS,
            *RUNNING,
            *OUTPUT,
            *EDITOR,
            "rlint.baseline",
            "rlint.files",
            "rlint.fixes",
            "rlint.runs",
            "rlint.registry",
            "rlint.project.*",
            "rlint.evidence.*",
            "rlint.syntax.positions",
        ),
        packages=("pygls", "lsprotocol", "attrs"),
    ),
    Layer(COMMANDS, may=("rlint", "rlint.*"), packages=("click", "rich", "psutil")),
    Layer(("rlint.rules", "rlint.fixtures")),
)

RULE_STDLIB = {
    "__future__", "ast", "collections", "dataclasses", "enum", "functools", "itertools", "typing",
    "re", "warnings",  # RL502 must know whether a pattern compiles, and without a warning
}  # fmt: skip
"""All of the standard library that a rule needs: it asks the project, it reads no text."""


@dataclass(frozen=True)
class Import:
    """One imported module; `lazy` inside a function, `for_types` under TYPE_CHECKING."""

    module: str
    line: int
    lazy: bool
    for_types: bool


def sources() -> dict[str, Path]:
    """Every module of rlint and where it lies."""
    found = {}
    for folder, package in (("rlint", "rlint"), ("rules", "rlint.rules"), ("fixtures", "rlint.fixtures")):
        paths = (ROOT / folder).rglob("*.py") if folder != "fixtures" else [ROOT / folder / "__init__.py"]
        for path in paths:
            parts = [package, *path.relative_to(ROOT / folder).with_suffix("").parts]
            if parts[-1] == "__init__":
                parts.pop()
            found[".".join(parts)] = path
    return found


SOURCES = sources()
every_module = pytest.mark.parametrize("module", sorted(SOURCES))


@functools.cache
def imports_of(module: str) -> tuple[Import, ...]:
    """Everything that `module` imports, wherever it does so."""
    tree = ast.parse(SOURCES[module].read_bytes())
    return tuple(_imports(tree, module, lazy=False, for_types=False))


def _imports(node: ast.AST, module: str, *, lazy: bool, for_types: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(alias.name, child.lineno, lazy, for_types)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, f"{module}:{child.lineno}: imports are absolute"
            for alias in child.names:
                submodule = f"{child.module}.{alias.name}"
                name = submodule if submodule in SOURCES else child.module or ""
                yield Import(name, child.lineno, lazy, for_types)
        elif isinstance(child, ast.If) and ast.unparse(child.test) in (
            "TYPE_CHECKING",
            "typing.TYPE_CHECKING",
        ):
            yield from _imports(child, module, lazy=lazy, for_types=True)
        else:
            inside = lazy or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            yield from _imports(child, module, lazy=inside, for_types=for_types)


def matches(module: str, patterns: tuple[str, ...]) -> bool:
    """Whether one of the patterns means the module."""
    return any(fnmatchcase(module, pattern) for pattern in patterns)


def layer_of(module: str) -> Layer:
    """The first layer that names the module itself, or else one whose pattern fits."""
    fitting = [layer for layer in LAYERS if module in layer.modules]
    fitting += [layer for layer in LAYERS if matches(module, layer.modules)]
    assert fitting, f"{module} has no layer: give it one in the table of this file"
    return fitting[0]


@every_module
def test_imports_obey_the_table(module: str) -> None:
    """A module imports its own layer and those below, and the packages that the layer is made of."""
    layer = layer_of(module)
    wrong = []
    for found in imports_of(module):
        root = found.module.partition(".")[0]
        if root == "rlint":
            allowed = (*layer.may, *(layer.for_types if found.for_types else ()))
            fine = matches(found.module, allowed)
        else:
            fine = root in sys.stdlib_module_names or root in layer.packages
        if not fine:
            wrong.append(f"{SOURCES[module].relative_to(ROOT)}:{found.line}: imports {found.module}")
    assert wrong == []


@every_module
def test_nobody_imports_the_command_line(module: str) -> None:
    """The command line stands on top of everything and below nothing."""
    if matches(module, COMMANDS):
        return
    assert [found for found in imports_of(module) if matches(found.module, COMMANDS)] == []


@every_module
def test_only_the_registry_reaches_the_rules(module: str) -> None:
    """The engine knows no rule by name, and no rule knows another; a rule may have helpers in its folder."""
    family = module.rpartition(".")[0]
    reached = [
        found.module
        for found in imports_of(module)
        if matches(found.module, ("rlint.rules", "rlint.rules.*"))
        and not (matches(module, ("rlint.rules.*.*",)) and found.module.startswith(f"{family}._"))
    ]
    assert reached == []


@pytest.mark.parametrize("module", sorted(name for name in SOURCES if name.startswith("rlint.rules.")))
def test_rules_ask_and_do_not_dig(module: str) -> None:
    """A rule needs the syntax tree and containers from the standard library, no text tools, no files."""
    outside = {found.module for found in imports_of(module) if not found.module.startswith("rlint")}
    assert {name for name in outside if name.partition(".")[0] not in RULE_STDLIB} == set()


@pytest.mark.parametrize("module", sorted(name for name in SOURCES if name.startswith("rlint.cli")))
def test_commands_import_what_they_need_when_they_run(module: str) -> None:
    """Asking for the version, for help or for a page does not wait for the engine."""
    light = (*PLAIN, "rlint.cli", "rlint.cli.*", "rlint.config", "click")
    heavy = [
        found.module
        for found in imports_of(module)
        if not (found.lazy or found.for_types or matches(found.module, light))
        and found.module.partition(".")[0] not in sys.stdlib_module_names
    ]
    assert heavy == []


def test_the_command_line_loads_nothing_heavy() -> None:
    """`import rlint.cli` loads neither torch, numpy nor LibCST, nor rlint's own engine."""
    program = "import sys, rlint.cli; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    loaded = done.stdout.split()
    packages = {"torch", "numpy", "libcst", "rich", "pathspec", "multiprocessing", "concurrent"}
    assert packages & {name.partition(".")[0] for name in loaded} == set()
    assert [name for name in loaded if matches(name, (*ENGINE, *FILES, *SETTINGS, *PROJECT, *OUTPUT))] == []


def test_checking_loads_neither_torch_nor_numpy(tmp_path: Path) -> None:
    """Linting a file that imports torch and numpy imports neither."""
    program = tmp_path / "program.py"
    program.write_text("import numpy\nimport torch\n\nx = torch.from_numpy(numpy.zeros(3))\n")
    script = (
        "import sys\n"
        "from rlint.cli import main\n"
        "try:\n"
        f"    main(['check', '--isolated', '--select', 'ALL', '-j', '1', {str(program)!r}])\n"
        "except SystemExit as end:\n"
        "    assert not end.code, end.code\n"
        "loaded = {name.partition('.')[0] for name in sys.modules}\n"
        "assert not {'torch', 'numpy'} & loaded\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert (done.returncode, done.stderr) == (0, "")
