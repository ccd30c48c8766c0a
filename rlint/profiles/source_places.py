"""Source places of findings: the enclosing function, the lines, and the callees of these lines."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from rlint.parsing.grammar import NEWEST

if TYPE_CHECKING:
    from rlint.findings import Finding

_DEFS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = (*_DEFS, ast.ClassDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_OPERATORS: tuple[tuple[tuple[type[ast.AST], ...], frozenset[str]], ...] = (
    ((ast.Subscript,), frozenset({"__getitem__", "__setitem__"})),
    ((ast.With, ast.AsyncWith), frozenset({"__enter__", "__exit__"})),
    ((ast.For,), frozenset({"__iter__", "__next__"})),
)
MODULE = "<module>"
NETWORK_CALLS = frozenset({"_wrapped_call_impl", "_call_impl", "__call__", "forward"})
"""Names in profiles for the call of an object: `policy(observation)`."""
CONSTRUCTORS = frozenset({"__init__", "__new__"})


@dataclass(frozen=True, slots=True)
class ProfiledDefinition:
    """A function, or the code of the module itself."""

    qualname: str
    first_line: int
    """The line of its first decorator, as in code objects."""
    line: int
    """The line of its `def`."""
    end: int

    @property
    def name(self) -> str:
        """Return the last part of the qualified name."""
        return self.qualname.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """The place where the time of a finding is spent."""

    definition: ProfiledDefinition
    lines: range
    whole: tuple[ProfiledDefinition, ...] = ()
    """Functions that the finding is about as a whole."""
    calls: frozenset[str] = frozenset()
    """The last names of the lines' callees."""
    only_here: frozenset[str] = frozenset()
    """Those of them that no other line of the function calls."""


class ProfiledSource:
    """The functions of a file. Raises ValueError for text that is not Python."""

    def __init__(self, text: str) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self._tree = NEWEST.parse(text)
            except (RecursionError, MemoryError) as error:
                raise ValueError(str(error)) from error
        self._module = ProfiledDefinition(MODULE, 1, 1, text.count("\n") + 1)

    @cached_property
    def _nodes(self) -> list[tuple[ProfiledDefinition, ast.AST]]:
        """Return the functions with their nodes, outer ones first; the module before all."""
        found: list[tuple[ProfiledDefinition, ast.AST]] = [(self._module, self._tree)]
        pending: list[tuple[ast.AST, str]] = [(self._tree, "")]
        while pending:
            node, prefix = pending.pop()
            for child in ast.iter_child_nodes(node):
                inner = prefix
                if isinstance(child, _SCOPES):
                    inner = f"{prefix}{child.name}"
                    if isinstance(child, _DEFS):
                        first = min([child.lineno, *(each.lineno for each in child.decorator_list)])
                        found.append(
                            (ProfiledDefinition(inner, first, child.lineno, child.end_lineno or 0), child)
                        )
                    inner += "."
                pending.append((child, inner))
        return found

    @cached_property
    def definitions(self) -> tuple[ProfiledDefinition, ...]:
        """Return all functions, and the module's own code."""
        return tuple(definition for definition, _ in self._nodes)

    def holders(self, line: int) -> list[ProfiledDefinition]:
        """Return the functions that contain a line, the innermost first, the module last."""
        found = [each for each in self.definitions if each.first_line <= line <= each.end]
        return sorted(found, key=lambda each: (each.qualname != MODULE, each.first_line), reverse=True)

    def around(self, line: int) -> ProfiledDefinition:
        """Return the innermost function that contains a line."""
        return next(iter(self.holders(line)), self._module)

    def place_of(self, finding: Finding) -> SourcePlace:
        """Return the lines that a finding covers: the expression, the loop whose header it names, or the
        whole function or class whose header it names.
        """
        first, last = finding.start.line, max(finding.start.line, finding.end.line)
        statement = self._statement_at(first, finding.start.column)
        if isinstance(statement, _SCOPES) and first < statement.body[0].lineno:
            return self._whole(statement)
        definition = self.around(first)
        if isinstance(statement, _LOOPS) and first < statement.body[0].lineno:
            last = max(last, statement.end_lineno or last)
        lines = range(first, last + 1)
        calls = self._calls(definition)
        here = {name for name, span in calls if span.start in lines}
        if not here:  # the place is an argument of a call that begins in an earlier line
            here = {name for name, span in calls if span.start < last + 1 and first < span.stop}
        other_edits = {name for name, span in calls if span.start not in lines}
        return SourcePlace(definition, lines, (), frozenset(here), frozenset(here - other_edits))

    def _whole(self, statement: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> SourcePlace:
        lines = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
        inside = tuple(each for each in self.definitions if each.qualname != MODULE and each.line in lines)
        return SourcePlace(self.around(statement.lineno), lines, inside)

    def _statement_at(self, line: int, column: int) -> ast.stmt | None:
        """Return the innermost statement that contains a place."""
        found: ast.stmt | None = None
        body: list[ast.AST] = [self._tree]
        while body:
            node = body.pop()
            for child in ast.iter_child_nodes(node):
                end = getattr(child, "end_lineno", None)
                if isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)):
                    decorators = getattr(child, "decorator_list", [])
                    start = min([getattr(child, "lineno", 0), *(each.lineno for each in decorators)])
                    if end is not None and not start <= line <= end:
                        continue
                    if isinstance(child, ast.stmt) and (line, column - 1) >= (start, 0):
                        found = child
                    body.append(child)
        return found

    def _calls(self, definition: ProfiledDefinition) -> list[tuple[str, range]]:
        """Return the last names of a function's calls, inner functions excluded, each with its lines."""
        root = next(node for each, node in self._nodes if each == definition)
        return [
            (name, range(line, (getattr(node, "end_lineno", None) or line) + 1))
            for node in _own_nodes(root)
            for line in [getattr(node, "lineno", 0)]
            for name in _called_names(node)
        ]


def _own_nodes(root: ast.AST) -> Iterator[ast.AST]:
    pending = list(ast.iter_child_nodes(root))
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, _SCOPES):
            pending += ast.iter_child_nodes(node)


def _called_names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name):
            yield node.func.id
        elif isinstance(node.func, ast.Attribute):
            yield node.func.attr
        else:
            yield "__call__"
    for kinds, names in _OPERATORS:
        if isinstance(node, kinds):
            yield from names
