"""Code under another indentation: all lines move but those that begin within a string."""

from __future__ import annotations

import ast
import tokenize
import warnings

from rlint.cst.grammar import RUNNING, Grammar
from rlint.regex import regex

_LINE_END = regex(r"\r\n|\r|\n")
_WITHOUT_STRINGS = regex(r"[^'\"\\]*")
_OPENING, _CLOSING = ("FSTRING_START", "TSTRING_START"), ("FSTRING_END", "TSTRING_END")


def reindented(code: str, old: str, new: str, grammar: Grammar = RUNNING) -> str | None:
    """Move the lines of whole statements, or of an expression, from one indentation to another; return the
    text, of which the first line begins with the code itself, as that of `code` does. What is within strings
    stays as it is. None where the program would not be the same.
    """
    lines = _LINE_END.split(code)
    if len(lines) == 1 or old == new:
        return code
    ends = _LINE_END.findall(code)
    fixed = set[int]() if _WITHOUT_STRINGS.fullmatch(code) else _within_strings(code, old, grammar)
    if fixed is None:
        return None
    found = [lines[0]]
    for number, line in enumerate(lines[1:], 1):
        is_fixed = number in fixed or not line.strip()
        found.append(line if is_fixed or not line.startswith(old) else new + line[len(old) :])
    moved = found[0] + "".join(end + line for end, line in zip(ends, found[1:], strict=True))
    meaning = _meaning(code, old, grammar)
    return moved if meaning is not None and _meaning(moved, new, grammar) == meaning else None


def _within_strings(code: str, indentation: str, grammar: Grammar) -> set[int] | None:
    """The lines that begin within a string, counted from 0; None where nobody can say."""
    for text in (indentation + code, f"({code}\n)"):  # an expression may be broken over lines
        found: set[int] = set()
        opened: list[int] = []
        try:
            for token in grammar.tokens(text):
                kind = tokenize.tok_name[token.type]
                if token.type == tokenize.STRING:
                    found.update(range(token.start[0], token.end[0]))
                elif kind in _OPENING:
                    opened.append(token.start[0])
                elif kind in _CLOSING:
                    found.update(range(opened.pop(), token.end[0]))
        except (tokenize.TokenError, SyntaxError, IndexError):
            continue
        return found
    return None


def _meaning(code: str, indentation: str, grammar: Grammar) -> str | None:
    """What code means where its lines are indented by so much; None for a part of a statement."""
    header = f"if 1:\n{indentation}" if indentation else ""
    for text in (header + code, f"({code}\n)"):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                body = grammar.parse(text).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        block = body[0] if header and text.startswith(header) and body else None
        return "".join(map(ast.dump, block.body if isinstance(block, ast.If) else body))
    return None
