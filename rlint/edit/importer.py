"""Edits at module level: new names, constants and imports that fixes need."""

from __future__ import annotations

import ast
import builtins
import itertools
import keyword
import sys
from collections.abc import Callable, Collection, Sequence
from functools import cached_property

from rlint.edit.edits import Edits
from rlint.findings import Edit
from rlint.regex import regex
from rlint.syntax.syntax_index import DEFINITIONS

_WORD = regex(r"[A-Za-z_]\w*")
_NOT_FREE = frozenset(dir(builtins)) | frozenset(keyword.kwlist)
_IMPORTS = (ast.Import, ast.ImportFrom)
_LOADED_BY = {"numpy": ("torch", "gymnasium", "gym", "pandas", "scipy")}
"""Packages whose import loads another one."""
Insert = Callable[[ast.stmt, str], Edit | None]
"""Builds the edit that inserts a line before or after a statement."""


class Importer:
    """Builds edits that insert code at module level for code further below."""

    def __init__(self, edits: Edits) -> None:
        self._edits = edits
        self._source = edits.source
        self._syntax = edits.syntax
        self._reserved: dict[str, str] = {}
        self._given: set[str] = set()
        self._words_in: dict[ast.AST, frozenset[str]] = {}
        self._locals: dict[ast.AST, dict[str, str]] = {}
        self._defined: dict[str, tuple[str, tuple[Edit, ...]]] = {}

    def fresh_name(self, wanted: str, key: str = "") -> str:
        """Return a name like `wanted` that is not used in the file. The same `key` gets the same name again,
        whatever is wanted.
        """
        key = key or wanted
        known = self._reserved.get(key)
        if known is not None:
            return known
        name, number = wanted, 2
        while name in self._words or name in self._given:
            name, number = f"{wanted}_{number}", number + 1
        self._reserved[key] = name
        self._given.add(name)
        return name

    def fresh_local(self, wanted: Sequence[str], node: ast.AST, key: str) -> str:
        """Return the first name of `wanted` that a new variable may have in the function around `node`, else
        the first one with a number. A name used only by other functions is free; a builtin is not.
        """
        scope = self._syntax.scope(node).function
        if scope.parent is None:
            taken = (self._words, self._given, _NOT_FREE)
            free = [name for name in wanted if not any(name in names for names in taken)]
            return self.fresh_name((free or wanted)[0], key)
        reserved = self._locals.setdefault(scope.node, {})
        if key not in reserved:
            if scope.node not in self._words_in:
                own = _WORD.findall(self._syntax.text[slice(*self._source.span(scope.node))])
                self._words_in[scope.node] = _NOT_FREE.union(own)
            names_taken = (self._words_in[scope.node], reserved.values())
            numbered = (f"{wanted[0]}_{number}" for number in itertools.count(2))
            reserved[key] = next(
                name
                for name in itertools.chain(wanted, numbered)
                if not any(name in names for names in names_taken)
                and scope.lookup(name) is None
                and name.isidentifier()
            )
        return reserved[key]

    @cached_property
    def _words(self) -> set[str]:
        return set(_WORD.findall(self._syntax.text))

    def runs_before(self, statement: ast.stmt, user: ast.AST) -> bool:
        """Whether a statement of the module has always run when the code around `user` runs. It is in a block
        at module level that also contains `user`, further down.
        """
        for block, index in self._blocks_around(user):
            if any(candidate is statement for candidate in block[:index]):
                return True
        return False

    def module_constant(
        self,
        name: str,
        value: str,
        *,
        user: ast.AST,
        needs: Collection[ast.stmt] = (),
        comment: Sequence[str] = (),
        indentation: str = "",
    ) -> tuple[Edit, ...] | None:
        """Define a constant at module level for the code around `user`: after the imports at the top and the
        constants below them, and after the statements that it `needs`, with a `comment` above.

        None if the needed statements do not surely run first, if another fix defines the name differently, or
        if a star import further down may bind it.
        `value` may have several lines; those after the first are indented as at `indentation`.
        """
        for block, index in self._blocks_around(user):
            waiting = [statement for statement in needs if statement not in block[:index]]
            if all(self.runs_before(statement, block[0]) for statement in waiting):
                anchor = self._anchor(block[:index], needs)
                if anchor is not None and not self._is_starred_after(anchor):
                    code = (*comment, f"{name} = {value}")
                    return self._only(name, value, self._constant_after(anchor, code, indentation), comment)
        return None

    def _is_starred_after(self, anchor: ast.stmt) -> bool:
        """Whether a star import follows a statement: the names that it binds are not in the file."""
        line = anchor.end_lineno or anchor.lineno
        return any(
            node.lineno > line and any(alias.name == "*" for alias in node.names)
            for node in self._syntax.of_type(ast.ImportFrom)
        )

    def _only(
        self, name: str, value: str, made: tuple[Edit, ...] | None, comment: Sequence[str]
    ) -> tuple[Edit, ...] | None:
        """Return the one definition of a constant that several fixes share: the first, with its comments.
        None for another one, which would define the name twice.
        """
        if made is None:
            return None
        first, edits = self._defined.setdefault(name, (value, made))
        same = first.startswith(value) and first[len(value) :].lstrip()[:1] in ("", "#")
        placed = [edit.start for edit in edits] == [edit.start for edit in made]
        return edits if edits == made or (same and placed and not comment) else None

    def module_import(self, module: str, *, user: ast.AST) -> tuple[ast.stmt, Edit] | None:
        """Import a module by its plain name for the code around `user`: return the neighbouring import, and
        the edit. None if there are no other imports, or the name is taken. If a parameter or variable shadows
        it, the engine leaves the fix out (see rlint/fixing/fix_validation.py).

        A third-party module is imported beside an import that loads it anyway, else after all others: some
        modules must be imported first, or set what the others read when they are imported.
        """
        if module in self._syntax.scopes[self._syntax.module].bindings or self._is_read_unbound(module):
            return None
        for block, index in self._blocks_around(user):
            imports = [statement for statement in _head(block[:index]) if isinstance(statement, _IMPORTS)]
            imports = [s for s in imports if not (isinstance(s, ast.ImportFrom) and s.module == "__future__")]
            if imports:
                place, insert = self._next_import(imports, module)
                edit = insert(place, f"import {module}")
                return (place, edit.as_shared()) if edit is not None else None
        return None

    def _next_import(self, imports: Sequence[ast.stmt], module: str) -> tuple[ast.stmt, Insert]:
        """Return the import next to which a module is imported, and the edit that inserts before or after."""
        before, after = self._edits.insert_before, self._edits.insert_after
        if not _is_of_python(module):
            loading = {module, *_LOADED_BY.get(module, ())}
            found = [each for each in imports if _source(each).partition(".")[0] in loading]
            place = next((each for each in found if _source(each) >= module), next(iter(found), None))
            return (place, before) if place is not None else (imports[-1], after)
        adjacent = [each for each in imports if _is_of_python(_source(each))] or imports
        smaller = [each for each in adjacent if isinstance(each, ast.Import) and each.names[0].name < module]
        if smaller:
            return max(smaller, key=lambda each: each.names[0].name), after
        return adjacent[0], before

    def _is_read_unbound(self, name: str) -> bool:
        """Whether a name is read that only a star import binds, or that is unbound."""
        reads = (node for node in self._syntax.of_type(ast.Name) if node.id == name)
        return any(self._syntax.scope(read).lookup(name) is None for read in reads)

    def _blocks_around(self, user: ast.AST) -> list[tuple[list[ast.stmt], int]]:
        """Return the blocks at module level that contain `user`, outermost first, each with the position in
        it.
        """
        chain = [user, *self._syntax.ancestors(user)]
        found: list[tuple[list[ast.stmt], int]] = []
        for child in reversed(chain[:-1]):
            if not isinstance(child, ast.stmt):
                break
            found.append(self._syntax.block(child))
            if isinstance(child, DEFINITIONS):
                break
        return found

    def _anchor(self, before: list[ast.stmt], needs: Collection[ast.stmt]) -> ast.stmt | None:
        """Return the statement after which a constant is inserted."""
        head = _head(before)
        last = max(
            (index for index, statement in enumerate(before)
             if statement in needs or (index < len(head) and isinstance(statement, _IMPORTS))),
            default=-1,
        )  # fmt: skip
        if last < 0:
            return None
        while last + 1 < len(before) and _is_constant(before[last + 1]):
            last += 1
        return before[last]

    def _constant_after(
        self, anchor: ast.stmt, lines: Sequence[str], indentation: str
    ) -> tuple[Edit, ...] | None:
        if not self._source.stands_alone(anchor):
            return None
        edit = self._edits.insert_after(anchor, *lines, indentation=indentation)
        if edit is None:
            return None
        constant = edit.as_shared()
        if _is_constant(anchor):
            return (constant,)
        # one blank line for all constants inserted here
        return Edit(edit.start, edit.end, self._syntax.positions.newline, shared=True), constant


def _source(statement: ast.stmt) -> str:
    """Return the module that an import is from; "" for one of the same package."""
    if isinstance(statement, ast.Import):
        return statement.names[0].name
    return (statement.module or "") if isinstance(statement, ast.ImportFrom) and not statement.level else ""


def _is_of_python(module: str) -> bool:
    """Whether a module is part of the standard library, so that its import belongs to the first group."""
    return module.partition(".")[0] in sys.stdlib_module_names


def _head(block: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements before the first definition of a function or class."""
    for index, statement in enumerate(block):
        if isinstance(statement, DEFINITIONS):
            return block[:index]
    return block


def _is_constant(statement: ast.stmt) -> bool:
    """Whether an expression is `PATTERN = ...`."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name.isupper()
    return False
