"""What was measured, as hashes: evidence whose hashes are no longer those of the rule is stale.

The hash of a rule does not count comments, docstrings and layout, and is the same under every version of
Python: rewording a page makes no evidence stale.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rlint.errors import RlintError
from rlint.frozen import frozen

if TYPE_CHECKING:
    from rlint.registry import RuleEntry

_DIGITS = 16  # hexadecimal
_UNCOUNTED = {"ctx", "kind", "type_comment", "type_ignores"}
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
FIXTURE_FILES = ("before.py", "workload.py")
"""The files of a fixture that are run."""


@frozen
class Hashes:
    """The three things that a measurement depends on."""

    rule: str
    """The code of the rule's file and of the private modules beside it that it is made of."""
    fixture: str
    """The bytes of `before.py` and `workload.py`."""
    fix: str
    """The texts that the fixer makes of `before.py`, with safe fixes alone and with all."""

    def changes(self, *, rule: str, fixture: str, fix: str | None = None) -> list[str]:
        """Say what is no longer as it was, each as a clause. A fix that is not given counts as unchanged."""
        said = []
        if rule != self.rule:
            said.append("the rule has changed since")
        if fixture != self.fixture:
            said.append("its fixture has changed since")
        if fix not in (None, self.fix):
            said.append("its fix now gives another text")
        return said


def hash_of_rule(entry: RuleEntry) -> str:
    """Hash the code of a rule. Raises RlintError for a file that is unreadable or no Python."""
    parts = []
    for path in sorted(entry.sources):
        try:
            tree = ast.parse(path.read_bytes())
        except (OSError, SyntaxError, ValueError) as error:
            raise RlintError(f"{path}: cannot be read: {error}") from error
        parts += [path.name, hash_of_code(tree)]
    return _digest(parts)


def hash_of_fixture(folder: Path) -> str:
    """Hash the files of a fixture that are run; one that is missing counts as empty."""
    files = [folder / name for name in FIXTURE_FILES]
    return _digest([_bytes(path).replace(b"\r\n", b"\n") for path in files])


def hash_of_texts(safe: str, unsafe: str) -> str:
    """Hash what the fixer makes of a program."""
    return _digest([safe, unsafe])


def hash_of_code(tree: ast.Module) -> str:
    """Hash a syntax tree without its docstrings."""
    return _digest(_tokens(tree))


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise RlintError(f"{path}: cannot be read: {error.strerror or error}") from error


def _tokens(node: ast.AST) -> Iterator[str]:
    """Yield what tells one tree from another: `ast.dump` is written otherwise by each Python."""
    yield type(node).__name__
    for name, value in ast.iter_fields(node):
        if name in _UNCOUNTED or value is None or value == []:
            continue  # empty fields are new in one version and gone in another
        yield name
        if isinstance(value, list):
            for item in _counted(node, name, value):
                yield from _tokens(item) if isinstance(item, ast.AST) else (ascii(item),)
            yield "]"
        elif isinstance(value, ast.AST):
            yield from _tokens(value)
        else:
            yield f"{type(value).__name__} {value!a}"
    if isinstance(node, ast.Constant) and node.value is None:
        yield "None"
    yield ")"


def _counted(node: ast.AST, name: str, items: list[object]) -> list[object]:
    if name == "body" and _has_docstring(node):
        return items[1:]
    if isinstance(node, ast.JoinedStr):  # Python 3.12 has empty texts between the parts of some f-strings
        return [item for item in items if not (isinstance(item, ast.Constant) and item.value == "")]
    return items


def _has_docstring(node: ast.AST) -> bool:
    return isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None


def _digest(parts: Iterable[str | bytes]) -> str:
    import hashlib  # not loaded by those who only read evidence

    total = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        total.update(b"%d:" % len(data))  # so that the parts cannot run into one another
        total.update(data)
    return total.hexdigest()[:_DIGITS]
