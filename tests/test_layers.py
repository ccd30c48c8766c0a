"""Which modules may import which. The table below is the architecture; violations fail the build instead of
being found in review.
"""

from __future__ import annotations

import ast
import functools
import graphlib
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from fixture_folders import ROOT
from own_code import ON_ONE_WORKER, tree_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

pytestmark = ON_ONE_WORKER

PLAIN = (
    "rlint",
    "rlint.errors",
    "rlint.enums",
    "rlint.findings",
    "rlint.frozen",
    "rlint.file_paths",
    "rlint.plain_data",
    "rlint.regex",
)
"""Modules of plain data and small tools, which may import one another."""

LAYERS: tuple[tuple[str, ...], ...] = (
    PLAIN,
    ("rlint.base_rule", "rlint.models", "rlint.parsing"),
    ("rlint.notebook", "rlint.registry", "rlint.syntax"),
    ("rlint.config", "rlint.edit", "rlint.evidence", "rlint.source"),
    ("rlint.profiles", "rlint.run_data", "rlint.semantics", "rlint.suppression"),
    ("rlint.fixing", "rlint.rule"),
    ("rlint.engine", "rlint.fixtures", "rlint.output", "rlint.rules"),
    ("rlint.harness", "rlint.lsp", "rlint.trial"),
    ("rlint.prove",),
    ("rlint.__main__", "rlint.cli", "rlint.survey"),
)
"""Lowest first. A unit (a module or package below `rlint`) imports itself and units in lower layers."""

ONLY_FOR_TYPES = {
    ("rlint.base_rule", "rlint.semantics"),  # types that a rule receives
    ("rlint.output", "rlint.trial"),
    ("rlint.fixing", "rlint.trial"),
    ("rlint.source", "rlint.config"),
    ("rlint.source", "rlint.run_data"),
    ("rlint.suppression", "rlint.run_data"),
}
"""Imports of the same or higher layers that are allowed only for annotations."""

PACKAGES = {
    "rlint.frozen": ("typing_extensions",),  # for type checkers only
    "rlint.config": ("packaging", "tomllib", "tomli"),
    "rlint.source": ("pathspec", "yaml"),
    "rlint.parsing": ("libcst",),
    "rlint.edit": ("libcst",),
    "rlint.output": ("jinja2", "markupsafe", "markdown_it"),  # the last one is a dependency of rich
    "rlint.harness": ("numpy", "torch", "psutil"),
    "rlint.prove": ("numpy", "psutil", "torch", "rich"),
    "rlint.lsp": ("pygls", "lsprotocol", "attrs"),
    "rlint.cli": ("click", "rich", "psutil"),
    "rlint.survey": ("click", "psutil"),  # and the extra `ray`, by rlint.survey.extra
}
"""Third-party packages that each unit imports, including backports of the standard library."""

MOST_SIBLINGS = 25
"""Modules in one folder, `__init__` not counted. Families of rules may have more."""
MOST_ROOT_MODULES = 12
MOST_LAYERS = 10
MOST_QUESTIONS = 16
"""Public methods of a part of the semantic model."""

UNKNOWN_TO = {
    "types": ("effects", "nn", "threads", "imports"),
    "dataflow": ("effects", "threads", "imports"),
    "effects": ("nn", "threads", "imports"),
    "frequency": ("effects", "threads", "imports"),
    "nn": ("threads", "imports"),
    "threads": ("types", "dataflow", "effects", "frequency", "nn", "imports"),
    "imports": ("types", "dataflow", "effects", "frequency", "nn", "threads", "interprocedural"),
}
"""Packages that each package of the semantic model must not import, as its docstring says."""

RULE_STDLIB = {
    "__future__", "ast", "collections", "dataclasses", "enum", "functools", "itertools", "typing",
    "re", "warnings",  # RL502 must know whether a pattern compiles, and without a warning
}  # fmt: skip
"""The modules of the standard library that rules may import: a rule queries the model and parses no text."""

FOR_RULES = ("rlint.rule",)
"""Modules that a rule may import besides its own package and its family's `_shared`."""

HEAVY = {
    "rlint.config", "rlint.edit", "rlint.engine", "rlint.fixing", "rlint.output", "rlint.semantics",
    "rlint.source", "rlint.suppression", "rlint.syntax",
}  # fmt: skip
"""Modules that the commands for help and version do not import."""


@dataclass(frozen=True)
class Import:
    """One imported module; `lazy` inside a function, `for_types` under TYPE_CHECKING."""

    module: str
    line: int
    lazy: bool
    for_types: bool


def sources() -> dict[str, Path]:
    """Every module of rlint and its file."""
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


@functools.cache
def imports_of(module: str) -> tuple[Import, ...]:
    """Everything that `module` imports, wherever it does so."""
    tree = tree_of(SOURCES[module])
    return tuple(_imports(tree, module, lazy=False, for_types=False))


def _is_type_checking(test: ast.expr) -> bool:
    match test:
        case ast.Name(id="TYPE_CHECKING") | ast.Attribute(ast.Name("typing"), "TYPE_CHECKING"):
            return True
    return False


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
        elif isinstance(child, ast.If) and _is_type_checking(child.test):
            yield from _imports(child, module, lazy=lazy, for_types=True)
        elif not isinstance(child, ast.expr):
            inside = lazy or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))
            yield from _imports(child, module, lazy=inside, for_types=for_types)


def matches(module: str, patterns: tuple[str, ...]) -> bool:
    """Whether one of the patterns matches the module."""
    return any(fnmatchcase(module, pattern) for pattern in patterns)


def unit_of(module: str) -> str:
    """The unit of the table that a module belongs to: itself, or its package below `rlint`."""
    return ".".join(module.split(".")[:2])


def level_of(unit: str) -> int:
    """The number of a unit's layer, from the lowest."""
    levels = [level for level, layer in enumerate(LAYERS) if unit in layer]
    assert levels, f"{unit} has no layer: give it one in the table of this file"
    return levels[0]


def may_import(unit: str, other: str, found: Import) -> bool:
    """Whether the table allows one unit to import another."""
    if unit == other or {unit, other} <= {*PLAIN} or {unit, other} <= {*LAYERS[-1]}:
        return True
    return level_of(other) < level_of(unit) or (found.for_types and (unit, other) in ONLY_FOR_TYPES)


def said(module: str, found: Import) -> str:
    """Forbidden imports of a module, with their lines."""
    return f"{SOURCES[module].relative_to(ROOT)}:{found.line}: imports {found.module}"


def test_imports_obey_the_table() -> None:
    """A module imports its own unit, units in lower layers, and the unit's third-party packages."""
    wrong = []
    for module in SOURCES:
        unit = unit_of(module)
        for found in imports_of(module):
            root = found.module.partition(".")[0]
            if root == "rlint":
                fine = may_import(unit, unit_of(found.module), found)
            else:
                fine = root in sys.stdlib_module_names or root in PACKAGES.get(unit, ())
            if not fine:
                wrong.append(said(module, found))
    assert wrong == []


def test_there_is_no_import_circle() -> None:
    """There are no import cycles at load time."""
    needed = {
        module: {
            found.module
            for found in imports_of(module)
            if found.module in SOURCES and found.module != module and not (found.lazy or found.for_types)
        }
        for module in SOURCES
    }
    assert list(graphlib.TopologicalSorter(needed).static_order())


def test_every_folder_with_code_is_listed() -> None:
    """A folder that pyproject.toml does not list is left out of the wheel without a warning."""
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    folders = ["rlint.fixtures"]
    for top, package in (("rlint", "rlint"), ("rules", "rlint.rules")):
        for path in (ROOT / top).rglob("__init__.py"):
            parts = path.parent.relative_to(ROOT / top).parts
            folders.append(".".join([package, *parts]))
    assert sorted(listed) == sorted(folders)

    with_code = {path.parent for top in ("rlint", "rules") for path in (ROOT / top).rglob("*.py")}
    assert {path for path in with_code if not (path / "__init__.py").exists()} == set()


def test_folders_can_be_held_in_the_head() -> None:
    """No folder has too many siblings, except families of rules, and few modules are at the root."""
    siblings = Counter(path.parent for path in SOURCES.values() if path.name != "__init__.py")
    families = {path.parent for path in (ROOT / "rules").glob("*/__init__.py")}
    crowded = {
        str(folder.relative_to(ROOT)): count
        for folder, count in siblings.items()
        if count > MOST_SIBLINGS and folder not in families
    }
    assert crowded == {}
    assert siblings[ROOT / "rlint"] <= MOST_ROOT_MODULES
    assert len(LAYERS) <= MOST_LAYERS


def test_a_name_means_one_thing() -> None:
    """No two modules have one name, and no two public classes (or types defined by assignment) either."""
    modules, classes = Counter[str](), Counter[str]()
    for module, path in SOURCES.items():
        if path.name != "__init__.py":
            modules[module.rpartition(".")[2]] += 1
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef):
                classes[node.name] += 1
            elif isinstance(node, ast.Assign):
                names = [target.id for target in node.targets if isinstance(target, ast.Name)]
                classes.update(name for name in names if name[0].isupper() and not name.isupper())
    assert [name for name, count in modules.items() if count > 1] == []
    assert [name for name, count in classes.items() if count > 1 and not name.startswith("_")] == []


def test_every_package_says_what_it_answers() -> None:
    """The docstring of each package says what it does and, in a separate paragraph, what it answers."""
    silent = []
    for path in (ROOT / "rlint").rglob("*/__init__.py"):
        first, _, rest = (ast.get_docstring(tree_of(path)) or "").partition("\n\n")
        if not (first and rest):
            silent.append(str(path.relative_to(ROOT)))
    assert silent == []


@pytest.mark.parametrize(("package", "others"), UNKNOWN_TO.items())
def test_packages_of_semantics_keep_apart(package: str, others: tuple[str, ...]) -> None:
    """A package of the semantic model does not import packages that it must not know."""
    known = [
        said(module, found)
        for module in SOURCES
        if f"{module}.".startswith(f"rlint.semantics.{package}.")
        for found in imports_of(module)
        if not found.for_types
        and any(f"{found.module}.".startswith(f"rlint.semantics.{each}.") for each in others)
    ]
    assert known == []


def test_a_part_of_the_model_can_be_held_in_the_head() -> None:
    """No part of the semantic model has many public methods, and each says what it answers."""
    for path in (ROOT / "rlint" / "semantics").glob("model*.py"):
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef):
                public = [
                    each
                    for each in node.body
                    if isinstance(each, ast.FunctionDef) and not each.name.startswith("_")
                ]
                assert len(public) <= MOST_QUESTIONS, f"{node.name} has {len(public)} public methods"
                assert [each.name for each in public if not ast.get_docstring(each)] == []


def test_only_the_registry_reaches_the_rules() -> None:
    """The engine knows no rule by name. A rule imports only its package and its family's `_shared`."""
    reached = []
    for module in SOURCES:
        parts = module.split(".")
        own = (
            (f"rlint.rules.{parts[2]}.{parts[3]}", f"rlint.rules.{parts[2]}._shared")
            if len(parts) > 3
            else ()
        )
        reached += [
            said(module, found)
            for found in imports_of(module)
            if matches(found.module, ("rlint.rules", "rlint.rules.*"))
            and not any(found.module == each or found.module.startswith(f"{each}.") for each in own)
        ]
    assert reached == []


def test_rules_query_and_do_not_walk_internals() -> None:
    """A rule needs the syntax tree and containers from the standard library, no text tools, no files."""
    modules = [name for name in SOURCES if name.startswith("rlint.rules.")]
    assert modules
    dug = []
    for module in modules:
        for found in imports_of(module):
            if found.module.startswith("rlint"):
                fine = matches(found.module, ("rlint.rules.*", *FOR_RULES))
            else:
                fine = found.module.partition(".")[0] in RULE_STDLIB
            if not fine:
                dug.append(said(module, found))
    assert dug == []


def test_commands_import_what_they_need_when_they_run() -> None:
    """Commands that show the version, help or a page do not import the engine."""
    light = (*PLAIN, "rlint.cli", "rlint.cli.*", "rlint.config.options", "rlint.config.patterns", "click")
    modules = [name for name in SOURCES if name.startswith("rlint.cli")]
    assert modules
    heavy = [
        said(module, found)
        for module in modules
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
    packages = {"torch", "numpy", "libcst", "packaging", "rich", "pathspec", "multiprocessing", "concurrent"}
    packages |= {"ray", "pyarrow", "fsspec"}
    assert packages & {name.partition(".")[0] for name in loaded} == set()
    assert [name for name in loaded if unit_of(name) in HEAVY] == []


def test_checking_loads_no_package_that_it_does_not_need(tmp_path: Path) -> None:
    """Linting a file that imports torch and numpy imports neither, nor modules for unused settings."""
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
        "assert not {'torch', 'numpy', 'packaging', 'jinja2', 'ray', 'pyarrow', 'fsspec'} & loaded, loaded\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert (done.returncode, done.stderr) == (0, "")
