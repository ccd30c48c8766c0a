"""What names suggest about waiting."""

from __future__ import annotations

import ast
from functools import lru_cache

from rlint.rule import descendants, waiting_words


@lru_cache(maxsize=4096)
def words_of(identifier: str) -> frozenset[str]:
    """Return the words of an identifier, in lower case: `maxFPS`, `max_fps` and `MAX_FPS` hold "max" and
    "fps".
    """
    spaced = ""
    for index, letter in enumerate(identifier):
        if letter.isupper() and index and identifier[index - 1].islower():
            spaced += "_"
        spaced += letter
    return frozenset(spaced.lower().replace("_", " ").split())


def names_in(expression: ast.AST) -> set[str]:
    """Return the words of all names in an expression, including strings."""
    found: set[str] = set()
    for node in descendants(expression):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str(name)):
                found |= words_of(name)
    return found


def calls_off(subject: ast.expr) -> bool:
    """Whether the name is that of a flag that cancels a wait (`stop`, `self.running`)."""
    return bool(waiting_words.STOPS & names_in(subject))
