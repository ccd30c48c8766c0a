"""Facts about libraries are only in `rlint/models`: no other module has a list of their functions."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator

from fixture_folders import ROOT
from own_code import ON_ONE_WORKER, tree_of
from rlint import models
from rlint.models import by_trait

pytestmark = ON_ONE_WORKER

MOST = 4
"""Maximum number of names of library functions in a literal: few may be distinguished without a trait."""

EXCEPTIONS = {
    "rlint/harness/compare/files_written.py": "names of audit events of the interpreter",
    "rlint/regex.py": "methods that an object of rlint has of its own",
}
"""Modules whose lists contain no facts about library functions."""

NAME = re.compile(r"[A-Za-z_][\w.]*")


@functools.cache
def known_names() -> frozenset[str]:
    """Names of library functions and methods: those of rows, and of containers and strings."""
    methods = {name for table in by_trait.METHODS.values() for name in table}
    functions = {name.rpartition(".")[2] for name in by_trait.CALLABLES}
    built_in = {
        name for cls in (str, bytes, list, dict, set, tuple) for name in dir(cls) if not name.startswith("_")
    }
    return frozenset(methods | functions | built_in)


def literals(tree: ast.AST) -> Iterator[tuple[int, list[str]]]:
    """Each literal collection of strings, including a string that is split."""
    for node in ast.walk(tree):
        match node:
            case ast.Set(elts=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts):
                given = parts
            case ast.Dict(keys=keys):
                given = [key for key in keys if key is not None]
            case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="split"), args=[]):
                yield node.lineno, text.split()
                continue
            case ast.Call(func=ast.Name(id="words"), args=[ast.Constant(value=str(text))]):
                yield node.lineno, text.split()
                continue
            case _:
                continue
        texts = [
            part.value for part in given if isinstance(part, ast.Constant) and isinstance(part.value, str)
        ]
        if 2 * len(texts) > len(given):
            yield node.lineno, texts


def lists_of(path: str) -> list[str]:
    """The literals of a module that mostly name library functions."""
    found = []
    for line, texts in literals(tree_of(ROOT / path)):
        known = [text for text in texts if text.rpartition(".")[2] in known_names()]
        if len(set(known)) > MOST and 2 * len(known) > len(texts) and all(map(NAME.fullmatch, texts)):
            found.append(f"{path}:{line}: {' '.join(texts)}")
    return found


MODULES = sorted(
    str(path.relative_to(ROOT))
    for folder in ("rlint", "rules")
    for path in (ROOT / folder).rglob("*.py")
    if not path.is_relative_to(ROOT / "rlint" / "models")
)


def test_lists_of_library_functions_are_in_the_models() -> None:
    """No fact is stated twice, which would be wrong in one place sooner or later. Use `models.having`, and
    add the missing trait to the rows.
    """
    found = {path: lists for path in MODULES if (lists := lists_of(path))}
    assert {path: lists for path, lists in found.items() if path not in EXCEPTIONS} == {}
    assert [path for path in EXCEPTIONS if path not in found] == [], "take these off the list"


def test_a_list_of_library_functions_is_recognised() -> None:
    """In all forms in which lists are written."""
    for written in (
        '{"reshape", "view", "flatten", "ravel", "squeeze"}',
        'frozenset("reshape view flatten ravel squeeze".split())',
        '("torch.zeros", "torch.ones", "torch.empty", "torch.full", "numpy.zeros")',
        '{"append": 0, "extend": 0, "insert": 1, "pop": 2, "clear": 3}',
    ):
        ((_, texts),) = literals(ast.parse(written))
        assert all(text.rpartition(".")[2] in known_names() for text in texts)
    assert models.having(models.Trait.JOINS, "numpy") >= {"numpy.stack", "numpy.concatenate"}
