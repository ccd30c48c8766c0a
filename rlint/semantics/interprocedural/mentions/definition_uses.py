"""Names that each function and class at the top level of a file uses."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from rlint.models import vocabulary
from rlint.semantics.file_analysis import FileAnalysis
from rlint.syntax.class_names import class_in_text
from rlint.syntax.import_statements import absolute_module
from rlint.syntax.walk import descendants

MAIN = "__main__"
"""The block that only runs if the file is run by itself."""
_BUILTINS = frozenset(dir(builtins))
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
BY_NAME = "'"
"""Begins the names that strings contain."""
ANY = "*"
"""Stands for all definitions that a file imports, or at the end of a dotted name for those of a module."""
ANY_MODULE = "**"
"""Stands for modules that no statement imports: code imports files by names known only at run time."""
_RUNS_TEXT = frozenset({"eval", "exec"})
_BY_NAME = frozenset({"globals", "__import__", "import_module", "locate"})
"""Functions that find modules and definitions by name."""
_IMPORTS_FILES = frozenset(
    {"__import__", "import_module", "locate", "exec", "run_module", "run_path", "spec_from_file_location"}
    | {"SourceFileLoader", "walk_packages", "iter_modules", "import_packages", "load_source", "entry_points"}
)
"""Functions that import modules, or run files, which their arguments or folders name."""


def definition_uses(analysis: FileAnalysis, star_imports: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return the names that each definition at the top level uses, that the code of the module uses itself
    (`""`), and those of the block for scripts (`MAIN`): names of the same file, and dotted names of imports.
    """
    syntax = analysis.syntax
    module = syntax.module
    own = {node.name for node in module.body if isinstance(node, _DEFINITIONS)}
    imported: dict[str, list[str]] = {}  # branches may import different objects under one name
    for name, target in _imported(analysis):
        imported.setdefault(name, []).append(target)
    found: dict[str, set[str]] = {"": set()}
    known = None if star_imports else {*own, *imported}
    for statement in module.body:
        if isinstance(statement, _DEFINITIONS):
            where = found.setdefault(statement.name, set())
            if any(_may_register(decorator, analysis) for decorator in statement.decorator_list):
                found[""].add(statement.name)
        elif isinstance(statement, ast.If) and _is_main(statement.test):
            where = found.setdefault(MAIN, set())
        else:
            where = found[""]
        for node in descendants(statement):
            if not _may_use(node, known):
                continue
            where.update(_used(node, own, imported, starred=bool(star_imports)))
            if isinstance(node, ast.Name) and not isinstance(syntax.parents[node], ast.Attribute):
                # a module that is kept as a value
                where.update(f"{target}.{ANY}" for target in imported.get(node.id, ()))
    return {name: tuple(sorted(uses)) for name, uses in sorted(found.items())}


def _may_register(decorator: ast.expr, analysis: FileAnalysis) -> bool:
    """Whether a decorator may register what it decorates for other code; those of some libraries, such as
    `torch.no_grad()`, only change how it runs.
    """
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    library, _, name = (analysis.names.qualified(named) or "").partition(".")
    return library not in vocabulary.WRAPPERS or name.startswith("library.") or "register" in name


def _may_use(node: ast.AST, known: set[str] | None) -> bool:
    """Whether a node may use a definition: a cheap test for the many nodes that do not. `known` are the names
    of definitions and imports; None stands for all names.
    """
    if isinstance(node, ast.Name):
        return known is None or node.id in known
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    return isinstance(node, (ast.Attribute, ast.Call))


def _imported(analysis: FileAnalysis) -> Iterator[tuple[str, str]]:
    """Yield the names that import statements bind anywhere in a file, and what they mean."""
    syntax = analysis.syntax
    for statement in syntax.of_type(ast.ImportFrom):
        assert isinstance(statement, ast.ImportFrom)
        source = absolute_module(statement.module or "", statement.level, syntax.package)
        for alias in statement.names:
            yield alias.asname or alias.name, f"{source}.{alias.name}"
    for plain in syntax.of_type(ast.Import):
        assert isinstance(plain, ast.Import)
        for alias in plain.names:
            name = alias.name if alias.asname else alias.name.partition(".")[0]
            yield alias.asname or name, name


def _used(node: ast.AST, own: set[str], imported: dict[str, list[str]], *, starred: bool) -> Iterator[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            if name in own:
                yield name
            if name in imported:
                yield from imported[name]
            elif starred and name not in own and name not in _BUILTINS:
                yield name
        case ast.Call(func=ast.Name(id="getattr"), args=[owner, given, *_]):
            if not isinstance(given, ast.Constant):
                yield from (f"{target}.{ANY}" for target in _dotted(owner, imported))
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in _IMPORTS_FILES:
            yield ANY_MODULE
            if isinstance(node.func, ast.Name) or name == "import_module":
                yield ANY
        case ast.Call(func=ast.Name(id=name)) if name in _RUNS_TEXT | _BY_NAME:
            yield ANY
        case ast.Attribute(value=ast.Name(id="sys"), attr="modules"):
            yield ANY
        case ast.Attribute(value=owner, attr="__dict__"):
            yield from (f"{target}.{ANY}" for target in _dotted(owner, imported))
        case ast.Attribute():
            yield from _dotted(node, imported)
        case ast.Constant(value=str(text)):
            named = class_in_text(text)
            if named is not None:
                yield BY_NAME + named


def _dotted(value: ast.expr, imported: dict[str, list[str]]) -> Iterator[str]:
    """Yield the dotted names that a name or attribute of an import may mean."""
    parts = []
    while isinstance(value, ast.Attribute):
        parts.append(value.attr)
        value = value.value
    if isinstance(value, ast.Name):
        for target in imported.get(value.id, ()):
            yield ".".join([target, *reversed(parts)])


def _is_main(test: ast.expr) -> bool:
    match test:
        case ast.Compare(left=ast.Name(id="__name__"), ops=[ast.Eq()]):
            return True
    return False
