"""The content of a rule's file, read as text: nothing is imported."""

from __future__ import annotations

import ast
import contextlib
import functools
import re
from typing import TYPE_CHECKING, NamedTuple

from rlint.errors import RlintError
from rlint.regex import regex

if TYPE_CHECKING:
    from pathlib import Path


_DECLARED = regex(r"    (\w+)(?::[^=]+)? = (True|False|\((?:\"[\w:]+\",? ?)+\))")
_OUTERMOST = regex(r"^\S.*", re.MULTILINE)


def source(path: Path) -> str:
    """Read a rule's file. Raises RlintError."""
    try:
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise RlintError(f"{path}: cannot be read: {error}") from error


def tree(path: Path) -> ast.Module:
    """Parse a rule's file. Raises RlintError for one that is unreadable or not Python."""
    return _parsed(path, source(path))


def _parsed(path: Path, text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError) as error:
        raise RlintError(f"{path}: is not valid Python: {error}") from error


@functools.cache
def declared(path: Path, name: str) -> object:
    """Return the literal that a class in the file binds to `name`, or None. Raises RlintError."""
    text = source(path)
    if name not in text:  # usual for `opt_in`: parsing is much slower than reading
        return None
    if (plain := _plainly_declared(text, name)) is not None:
        return plain
    for statement in (
        inner for node in tree(path).body if isinstance(node, ast.ClassDef) for inner in node.body
    ):
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id=bound)], value=ast.expr() as value)
                | ast.AnnAssign(target=ast.Name(id=bound), value=ast.expr() as value)
            ) if bound == name:
                with contextlib.suppress(ValueError):
                    return ast.literal_eval(value)
    return None


def _plainly_declared(text: str, name: str) -> object:
    """Return the boolean or the strings that a line in a class assigns to `name`, without parsing the file,
    if possible.
    """
    lines = [line for line in text.splitlines() if name in line]
    found = [match for line in lines if (match := _DECLARED.fullmatch(line)) and match[1] == name]
    if len(found) != 1:
        return None
    before = text[: text.index(found[0][0])]
    outermost = _OUTERMOST.findall(before)
    is_text = before.count('"""') % 2 or "'''" in before
    if is_text or not outermost or not outermost[-1].startswith("class "):
        return None
    return ast.literal_eval(found[0][2])


def page(path: Path) -> str:
    """Return the docstring of the file, or ""."""
    return ast.get_docstring(tree(path)) or ""


@functools.cache
def fixes(path: Path) -> str:
    """Return the fix safeties that the rule names: "safe", "unsafe", "safe, unsafe", or "none"."""
    named = {safety for part in with_helpers(path) for safety in _named(part, source(part)).safeties}
    return ", ".join(sorted(named)) or "none"


def with_helpers(path: Path) -> list[Path]:
    """Return the file of a rule and the helpers that it imports, directly or indirectly: modules of its own
    package, private modules beside it, and those in private packages of its family (`_shared`).
    """
    package = path.parent if path.stem == "__init__" else path.with_suffix("")
    family = package.parent
    found = [path]
    for known in found:
        for name in _named(known, source(known)).modules:
            _, within, rest = f".{name}.".rpartition(f".{family.name}.")
            parts = rest.strip(".").split(".")
            if within and (parts[0] == package.name or parts[0].startswith("_")):
                helper = family.joinpath(*parts).with_suffix(".py")
                if helper not in found and helper.is_file():
                    found.append(helper)
    return found


class _Named(NamedTuple):
    """The names in a file of rules."""

    safeties: frozenset[str]
    modules: tuple[str, ...]
    """The dotted names of all modules that it imports from, and of the imported names."""


@functools.cache  # a helper is shared by many rules
def _named(path: Path, text: str) -> _Named:
    safeties: set[str] = set()
    modules: dict[str, None] = {}
    for node in ast.walk(_parsed(path, text)):
        match node:
            case ast.Attribute(value=ast.Name(id="Applicability"), attr="SAFE" | "UNSAFE" as safety):
                safeties.add(safety.lower())
            case ast.ImportFrom(module=str(module), names=names):
                modules[module] = None
                modules.update((f"{module}.{alias.name}", None) for alias in names)
    return _Named(frozenset(safeties), tuple(modules))
