"""Mutations that keep most of the structure of inputs: far more of these reach deep code of rlint than random
bytes.
"""

from __future__ import annotations

import ast
import io
import json
import keyword
import random
import tokenize
import warnings
from collections.abc import Sequence
from typing import Any

from oddities import COMMENTS, LITERALS, NUMBERS, ODD, STATEMENTS, VALUES, WRAPPERS


class PythonMutator:
    """Changes programs. `donors` are programs whose parts may come in."""

    def __init__(self, donors: Sequence[str]) -> None:
        self._donors = donors

    def changed(self, text: str, rng: random.Random) -> str:
        """One to five changes, most of which keep the text a valid program."""
        for _ in range(rng.choice((1, 1, 1, 2, 3, 5))):
            way = rng.choices(
                (self._expression, self._statement, self._token, self._line, self._wrapped, self._odd),
                (6, 6, 4, 4, 3, 1),
            )[0]
            text = way(text, rng)
        return text

    def _expression(self, text: str, rng: random.Random) -> str:
        """An expression replaced by one of the same program, of another one, or of a list of unusual ones."""
        places = _nodes(text, ast.expr)
        if not places:
            return self._token(text, rng)
        start, end = rng.choice(places)
        source = rng.random()
        if source < 0.4:
            new = text[slice(*rng.choice(places))]
        elif source < 0.7:
            donor = rng.choice(self._donors)
            others = _nodes(donor, ast.expr)
            new = donor[slice(*rng.choice(others))] if others else "x"
        else:
            new = rng.choice(LITERALS)
        if rng.random() < 0.15:
            new = rng.choice(
                ("({})", "[{}]", "({},)", "-{}", "{}.x", "{}[0]", "{}()", "await {}", "*{}", "not {}")
            )
            new = new.replace("{}", text[start:end])
        return text[:start] + new + text[end:]

    def _statement(self, text: str, rng: random.Random) -> str:
        """A statement removed, doubled, moved, or inserted from another program or a list of forms."""
        places = _nodes(text, ast.stmt)
        if not places:
            return self._line(text, rng)
        start, end = rng.choice(places)
        own = text[start:end]
        way = rng.randrange(5)
        if way == 0:
            return text[:start] + "pass" + text[end:]
        indent = _indent_of(text, start)
        if way == 1:
            new = own
        elif way == 2:
            donor = rng.choice(self._donors)
            others = _nodes(donor, ast.stmt)
            first, last = rng.choice(others) if others else (0, 0)
            new = _reindented(donor[first:last], _indent_of(donor, first), indent)
        elif way == 3:
            first, last = rng.choice(places)
            new = _reindented(text[first:last], _indent_of(text, first), indent)
        else:
            new = self._form(rng.choice(STATEMENTS), text, rng)
        if rng.random() < 0.3:
            return text[:start] + new + text[end:]
        return text[:start] + new + "\n" + indent + text[start:]

    def _form(self, form: str, text: str, rng: random.Random) -> str:
        names = _names(text) or ["x"]
        expressions = _nodes(text, ast.expr)
        found = text[slice(*rng.choice(expressions))] if expressions else "x"
        return form.format(n=rng.choice(names), m=rng.choice(names), e=found)

    def _token(self, text: str, rng: random.Random) -> str:
        """A token removed, doubled or replaced by another; a name replaced by another one."""
        tokens = _tokens(text)
        if not tokens:
            return self._odd(text, rng)
        start, end = rng.choice(tokens)
        names = _names(text)
        new = rng.choice(
            (
                "",
                text[start:end] * 2,
                text[slice(*rng.choice(tokens))],
                rng.choice(names or ["x"]),
                rng.choice(names or ["x"]),
                rng.choice([*keyword.kwlist, *keyword.softkwlist]),
                rng.choice(LITERALS),
                rng.choice(COMMENTS) + "\n",
            )
        )
        return text[:start] + new + text[end:]

    def _line(self, text: str, rng: random.Random) -> str:
        """Lines removed, doubled, moved, re-indented, commented, or inserted from another program."""
        lines = text.splitlines(keepends=True) or [""]
        at = rng.randrange(len(lines))
        count = rng.choice((1, 1, 2, 5, 20))
        some = lines[at : at + count]
        match rng.randrange(7):
            case 0:
                lines[at : at + count] = []
            case 1:
                lines[at:at] = some * rng.choice((1, 1, 2, 50))
            case 2:
                lines[at : at + count] = []
                where = rng.randrange(len(lines) + 1)
                lines[where:where] = some
            case 3:
                lines[at : at + count] = [rng.choice((" ", "    ", "\t")) + line for line in some]
            case 4:
                lines[at] = lines[at].rstrip("\r\n") + "  " + rng.choice(COMMENTS) + "\n"
            case 5:
                lines.insert(at, rng.choice(COMMENTS) + "\n")
            case _:
                others = rng.choice(self._donors).splitlines(keepends=True) or [""]
                first = rng.randrange(len(others))
                lines[at:at] = others[first : first + 4 * count]
        return "".join(lines)

    def _wrapped(self, text: str, rng: random.Random) -> str:
        """Some lines moved below a new header."""
        places = _nodes(text, ast.stmt)
        if not places:
            return self._line(text, rng)
        start, end = rng.choice(places)
        indent = _indent_of(text, start)
        head = self._form(rng.choice(WRAPPERS), text, rng)
        levels = head.count("\n") + 1 if "case" in head else 1
        inner = indent + "    " * levels
        head = head.replace("\n", "\n" + indent)
        tail = f"\n{indent}finally:\n{inner}pass" if head == "try:" else ""
        return (
            text[:start]
            + head
            + "\n"
            + inner
            + _reindented(text[start:end], indent, inner)
            + tail
            + text[end:]
        )

    def _odd(self, text: str, rng: random.Random) -> str:
        """Unusual characters and line ends; a truncated program."""
        at = rng.randrange(len(text) + 1)
        match rng.randrange(6):
            case 0:
                return text[:at]
            case 1:
                return text.replace("\n", rng.choice(("\r\n", "\r", "\n\n")))
            case 2:
                return text.replace("    ", "\t")
            case 3:
                return rng.choice(COMMENTS) + "\n" + text
            case 4:
                return text[:at] + rng.choice(ODD) * rng.choice((1, 1, 2, 30)) + text[at:]
            case _:
                end = min(len(text), at + rng.choice((1, 5, 50)))
                return text[:at] + text[end:]


def changed_bytes(data: bytes, rng: random.Random) -> bytes:
    """Bytes changed, removed, doubled, or inserted from another place of the input or a list of unusual
    ones.
    """
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(data) + 1)
        count = rng.choice((1, 1, 2, 4, 16, 64))
        other = rng.randrange(len(data) + 1)
        match rng.randrange(6):
            case 0:
                data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
            case 1:
                data = data[:at] + data[at + count :]
            case 2:
                data = data[:at] + data[other : other + count] + data[at:]
            case 3:
                data = data[:at] + data[at : at + count] * rng.choice((2, 3, 50)) + data[at + count :]
            case 4:
                data = data[:at] + rng.choice(ODD).encode() + data[at:]
            case _:
                data = data[:at] + rng.choice(NUMBERS) + data[at:]
    return data


def changed_json(text: str, rng: random.Random) -> str:
    """JSON with one value replaced, removed or doubled; other text with unusual characters."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        at = rng.randrange(len(text) + 1)
        return text[:at] + rng.choice((*ODD, "[", "{", '"', ",", ":")) + text[at + rng.randrange(3) :]
    for _ in range(rng.choice((1, 1, 2, 4))):
        # a value inserted into itself would be infinite: each change works on copies
        data = _changed_value(json.loads(json.dumps(data)), rng)
    return json.dumps(data, indent=rng.choice((None, 1)), ensure_ascii=rng.random() < 0.5)


def _changed_value(data: Any, rng: random.Random) -> Any:
    holders: list[Any] = []
    stack = [data]
    while stack and len(holders) < 5_000:
        one = stack.pop()
        if isinstance(one, (dict, list)) and one:
            holders.append(one)
            stack += one.values() if isinstance(one, dict) else one
    if not holders:
        return rng.choice(VALUES)
    holder = rng.choice(holders)
    key = rng.choice(list(holder)) if isinstance(holder, dict) else rng.randrange(len(holder))
    match rng.randrange(4):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, list):
            holder.insert(key, holder[key])
        case 2:
            other = rng.choice(holders)
            holder[key] = json.loads(json.dumps(other if len(json.dumps(other)) < 3_000 else None))
        case _:
            holder[key] = rng.choice(VALUES)
    return data


def _nodes(text: str, kind: type[ast.expr | ast.stmt]) -> list[tuple[int, int]]:
    """The spans of the nodes of a kind."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    if "\r" in text or not text.isascii():
        return []  # places in characters are not worth the trouble here
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return [
        (
            starts[node.lineno - 1] + node.col_offset,
            starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0),
        )
        for node in ast.walk(tree)
        if isinstance(node, kind)
    ]


def _tokens(text: str) -> list[tuple[int, int]]:
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.string.strip():
                begin = starts[token.start[0] - 1] + token.start[1]
                found.append((begin, begin + len(token.string)))
    except (tokenize.TokenError, SyntaxError, IndexError):
        pass
    return found


def _names(text: str) -> list[str]:
    return [text[start:end] for start, end in _tokens(text) if text[start:end].isidentifier()]


def _indent_of(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _reindented(text: str, old: str, new: str) -> str:
    head, *rest = text.split("\n")
    return "\n".join([head, *(new + line.removeprefix(old) if line.strip() else line for line in rest)])
