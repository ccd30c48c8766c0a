"""Variants of real programs. Most variants are equivalent, and rlint must report the same for them."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from renaming import aliased, renamed
from rewriting import Edit, edited, end_of, line_starts, offsets

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Variant:
    """A way to write programs. `same` says whether the findings must be the same."""

    name: str
    write: Callable[[str], str]
    same: bool = True


def commented(text: str) -> str:
    """A comment above each statement, and one after each line that ends one."""
    return _with_lines(text, lambda indent: f"{indent}# a note: x = y.item()\n")


def spaced(text: str) -> str:
    """A blank line above each statement."""
    return _with_lines(text, lambda _: "\n")


def windows(text: str) -> str:
    """The line ends of Windows."""
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def tabbed(text: str) -> str:
    """Indented by tabs; only lines outside of strings and brackets."""
    starts = {node.lineno for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)}
    lines = text.splitlines(keepends=True)
    indents = {len(line) - len(line.lstrip(" ")) for number, line in enumerate(lines, 1) if number in starts}
    if any(indent % 4 for indent in indents) or "\t" in text or _has_other_headers(text, starts):
        return text
    return "".join(
        re.sub(r"^(?: {4})+", lambda match: "\t" * (len(match[0]) // 4), line) if number in starts else line
        for number, line in enumerate(lines, 1)
    )


def quoted(text: str) -> str:
    """Other quotes around plain strings."""
    edits: list[Edit] = []
    starts = line_starts(text)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        string = token.string
        plain = len(string) > 2 and string[0] in "'\"" and string[:3] not in ("'''", '"""')
        if token.type == tokenize.STRING and plain and not re.search(r"['\"\\]", string[1:-1]):
            other = '"' if string[0] == "'" else "'"
            begin = starts[token.start[0] - 1] + token.start[1]
            edits.append((begin, begin + len(string), other + string[1:-1] + other))
    return edited(text, edits)


def unparsed(text: str) -> str:
    """As `ast.unparse` writes it: other line breaks, brackets and quotes, and no comments."""
    return ast.unparse(ast.parse(text)) + "\n"


def below_if(text: str) -> str:
    """Everything except imports, docstrings and the main block inside `if True:`."""
    tree = ast.parse(text)
    lines = text.splitlines(keepends=True)
    kept = (ast.Import, ast.ImportFrom, ast.Expr)
    first = next((node for node in tree.body if not isinstance(node, kept)), None)
    if first is None or _spans_lines(text) or any("\\\n" in line for line in lines):
        return text
    at = min([first.lineno, *(each.lineno for each in getattr(first, "decorator_list", ()))]) - 1
    body = ["    " + line if line.strip() else line for line in lines[at:]]
    return "".join([*lines[:at], "if True:\n", *body])


def in_a_function(text: str) -> str:
    """The whole program in a function. Has another meaning for rlint."""
    tree = ast.parse(text)
    if (
        _spans_lines(text)
        or any(isinstance(node, ast.ImportFrom) for node in tree.body[:3])
        or "import *" in text
    ):
        return text
    return "def main():\n" + "".join(
        "    " + line if line.strip() else line for line in text.splitlines(keepends=True)
    )


def reordered(text: str) -> str:
    """The plain methods of each class, and consecutive plain functions, in reverse order."""
    lines = text.splitlines(keepends=True)
    tree = ast.parse(text)
    for block in [tree.body, *(node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef))]:
        for run in _runs(block):
            spans = [(node.lineno - 1, node.end_lineno or 0) for node in run]
            texts = ["".join(lines[start:end]) for start, end in spans]
            texts = [part if part.endswith("\n") else part + "\n" for part in texts]
            for (start, end), part in zip(spans, reversed(texts), strict=True):
                lines[start:end] = [part, *[""] * (end - start - 1)]
    return "".join(lines)


def extracted(text: str) -> str:
    """The first argument of calls that are the whole right-hand side, assigned to a variable before."""
    offset, edits = offsets(text), []
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Assign(
                value=ast.Call(func=ast.Attribute(value=ast.Name()), args=[ast.Call() as inner, *_])
            ):
                start, end = offset(inner), end_of(text, inner)
                line = text.rfind("\n", 0, offset(node)) + 1
                indent = text[line : offset(node)]
                if not indent.strip():
                    edits.append((start, end, "first_part"))
                    edits.append((line, line, f"{indent}first_part = {_one_line(text[start:end])}\n"))
    return edited(text, edits)


VARIANTS = (
    Variant("commented", commented),
    Variant("spaced", spaced),
    Variant("windows", windows),
    Variant("tabbed", tabbed),
    Variant("quoted", quoted),
    Variant("unparsed", unparsed),
    Variant("renamed", renamed),
    Variant("aliased", aliased),
    Variant("below if", below_if),
    Variant("reordered", reordered),
    Variant("in a function", in_a_function, same=False),
    Variant("extracted", extracted, same=False),
)


def is_plain(text: str) -> bool:
    """Whether the variants of a text can be created. They count in characters that are bytes."""
    return text.isascii() and "\r" not in text and "\x0c" not in text


def _with_lines(text: str, line_of: Callable[[str], str]) -> str:
    """A line above each statement that begins a line, unless it is the first of a body with a header on the
    same line.
    """
    lines = text.splitlines(keepends=True)
    above: dict[int, str] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt):
            number = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
            indent = lines[number - 1][: node.col_offset]
            continued = number > 1 and lines[number - 2].rstrip("\n").endswith("\\")
            if not indent.strip() and not continued:
                above[number] = line_of(indent)
    return "".join(above.get(number, "") + line for number, line in enumerate(lines, 1))


def _has_other_headers(text: str, starts: set[int]) -> bool:
    """Whether lines begin clauses (`else:`, `except:`, a decorator) that are no statements."""
    words = r"^\s+(else|elif|except|finally|case|@)\b|^\s+@"
    return any(
        re.match(words, line) for number, line in enumerate(text.splitlines(), 1) if number not in starts
    )


def _spans_lines(text: str) -> bool:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return any(token.type == tokenize.STRING and token.start[0] != token.end[0] for token in tokens)


def _runs(block: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """Consecutive functions without decorators, with distinct names."""
    run: list[ast.stmt] = []
    for node in [*block, ast.Pass()]:
        if isinstance(node, _FUNCTIONS) and not node.decorator_list:
            run.append(node)
            continue
        names = [each.name for each in run if isinstance(each, _FUNCTIONS)]
        if len(run) > 1 and len(set(names)) == len(names):
            yield run
        run = []


def _one_line(text: str) -> str:
    return f"({text})" if "\n" in text else text
