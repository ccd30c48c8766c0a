"""A program that is being changed: its tree, with the statements of interest marked."""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from random import Random

from properties.names import FUNCTIONS

Function = ast.FunctionDef | ast.AsyncFunctionDef
_HELPERS = {
    "SEEN": "SEEN = []",
    "seen": "def seen(value):\n    SEEN.append(value)\n    return value",
    "told": "def told(value):\n    SEEN.append(repr(value))\n    return value",
    "changed": """
def changed(value):
    if isinstance(value, list):
        value.append(value[0] if value else 0)
    elif isinstance(value, dict):
        value['extra'] = 0
    elif hasattr(value, 'requires_grad'):
        with torch.no_grad():
            value.mul_(2)
    elif hasattr(value, 'dtype') and value.shape:
        value *= 2
    elif hasattr(value, 'parameters'):
        with torch.no_grad():
            for parameter in value.parameters():
                parameter.mul_(2)
    return value
""",
    "Failing": "class Failing(Exception):\n    pass",
    "now_and_then": """
def now_and_then(every, count=[0]):
    count[0] += 1
    if count[0] % every == 0:
        raise Failing(count[0])
""",
    "passed_on": "def passed_on(value):\n    return value",
    "wrapped": """
def wrapped(function):
    @functools.wraps(function)
    def call(*given, **named):
        SEEN.append(len(given))
        return function(*given, **named)
    return call
""",
}
_NEEDS = {
    "seen": ("SEEN",),
    "told": ("SEEN",),
    "now_and_then": ("Failing",),
    "wrapped": ("SEEN", "functools"),
    "changed": ("torch",),
}


@dataclass
class Place:
    """A marked statement: the list that contains it, its index, and the functions and classes around it."""

    block: list[ast.stmt]
    index: int
    around: tuple[ast.AST, ...]

    @property
    def statement(self) -> ast.stmt:
        """The statement itself."""
        return self.block[self.index]

    @property
    def function(self) -> Function | None:
        """The innermost function around it."""
        return next((one for one in reversed(self.around) if isinstance(one, FUNCTIONS)), None)

    @property
    def scope(self) -> list[ast.stmt]:
        """The body of the function, or of the module."""
        owner = self.function or self.around[0]
        assert isinstance(owner, (ast.Module, *FUNCTIONS))
        return owner.body


@dataclass
class Draft:
    """A program to be changed in place."""

    tree: ast.Module
    rng: Random
    helpers: dict[str, None] = field(default_factory=dict)
    done: list[str] = field(default_factory=list)
    """What was changed, in order."""

    def copied(self) -> Draft:
        """The same program, to be changed further."""
        return Draft(copy.deepcopy(self.tree), self.rng, dict(self.helpers), list(self.done))

    def places(self) -> list[Place]:
        """The marked statements."""
        return list(_places(self.tree, self.tree.body, (self.tree,)))

    def place(self) -> Place | None:
        """A random one of them, if any is left."""
        found = self.places()
        return self.rng.choice(found) if found else None

    def use(self, *names: str) -> None:
        """Have helper functions defined in the program."""
        for name in names:
            self.use(*_NEEDS.get(name, ()))
            self.helpers.setdefault(name)

    def text(self) -> str:
        """The program's text."""
        first = 0
        for node in self.tree.body:
            docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
            if not (docstring or future):
                break
            first += 1
        added: list[ast.stmt] = []
        for name in self.helpers:
            added += ast.parse(_HELPERS.get(name, f"import {name}")).body
        body = [*self.tree.body[:first], *added, *self.tree.body[first:]]
        whole = ast.Module(body, [])
        return ast.unparse(ast.fix_missing_locations(whole)) + "\n"


def draft_of(text: str, lines: Collection[int], rng: Random) -> Draft:
    """A draft in which the innermost statements are marked that begin on, or contain, one of the lines."""
    tree = ast.parse(text)
    for line in set(lines):
        holding = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0)
        ]
        if holding:
            min(holding, key=lambda node: (node.end_lineno or 0) - node.lineno).marked = True  # type: ignore[attr-defined]
    return Draft(tree, rng)


def statements(source: str) -> list[ast.stmt]:
    """The statements of a text, without places."""
    return ast.parse(source).body


def statements_in_function(source: str) -> list[ast.stmt]:
    """Statements that may hold `return`, `yield`, `break`."""
    indented = "\n".join(f"        {line}" for line in source.splitlines())
    [function] = ast.parse(f"async def f():\n    while True:\n{indented}").body
    return function.body[0].body  # type: ignore[attr-defined, no-any-return]


def blocks_of(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements that a statement holds."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
            yield block
    for name in ("handlers", "cases"):
        for part in getattr(node, name, ()):
            yield part.body


def _places(node: ast.AST, block: list[ast.stmt], around: tuple[ast.AST, ...]) -> Iterator[Place]:
    for index, statement in enumerate(block):
        if getattr(statement, "marked", False):
            yield Place(block, index, around)
        inside = (*around, statement) if isinstance(statement, (*FUNCTIONS, ast.ClassDef)) else around
        for inner in blocks_of(statement):
            yield from _places(statement, inner, inside)
