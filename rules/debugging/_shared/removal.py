"""Edits that remove parts of log messages from a program."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from rlint.rule import Edit, SemanticModel, regex

_SEPARATOR = regex(r"((?:(?<!\s)\s+)?[,;|]\s+| - )")


def trimmed(parts: Mapping[ast.expr, ast.Call], model: SemanticModel) -> list[Edit] | None:
    """Remove parts of log messages: items of a dict, or clauses of an f-string; None if they cannot be
    separated from the rest.
    """
    edits: list[Edit] = []
    places: dict[ast.Dict | ast.JoinedStr, list[ast.expr]] = {}
    for part in parts:
        place = model.parent(part)
        while isinstance(place, ast.FormattedValue):
            place = model.parent(place)
        if not isinstance(place, (ast.Dict, ast.JoinedStr)):
            return None
        places.setdefault(place, []).append(part)
    for place, going in places.items():
        if isinstance(place, ast.Dict):
            if len(going) == len(place.values):
                return None
            edits.append(model.edit.without_items(place, going))
            continue
        more = _shortened(place, going, model)
        if more is None:
            return None
        edits += more
    return edits


def _shortened(place: ast.JoinedStr, going: list[ast.expr], model: SemanticModel) -> list[Edit] | None:
    """Remove the clauses of an f-string that only show removed values: `f"loss {a}, change {b}"`."""
    text = model.source.text(place)
    head = re.match(r"[fF][rR]?(\"|')(?!\1)", text)
    fields = [value for value in place.values if isinstance(value, ast.FormattedValue)]
    if head is None or "\n" in text or not text.endswith(head.group(1)):
        return None
    tokens = _split(text[head.end() : -1])
    if tokens is None or sum(token.startswith("{") for token in tokens) != len(fields):
        return None
    clauses: list[list[str]] = [[]]
    states: list[list[bool]] = [[]]
    number = 0
    for token in tokens:
        if token.startswith("{"):
            states[-1].append(fields[number].value in going)
            clauses[-1].append(token)
            number += 1
            continue
        for piece in _SEPARATOR.split(token):
            if _SEPARATOR.fullmatch(piece):
                clauses += [[piece], []]
                states += [[], []]
            else:
                clauses[-1].append(piece)
    kept: list[str] = []
    for index in range(0, len(clauses), 2):
        if any(states[index]) and not all(states[index]):
            return None
        if not any(states[index]):
            kept += clauses[index - 1] * bool(kept) + clauses[index]
    if not any(any(state) for state in states) or "".join(kept).count(head.group(1)):
        return None
    return [model.edit.replace(place, f"{head.group()}{''.join(kept)}{head.group(1)}")]


def _split(inside: str) -> list[str] | None:
    """Return the content of an f-string as fields and the text between them."""
    found, start, depth = [""], 0, 0
    while start < len(inside):
        pair, character = inside[start : start + 2], inside[start]
        if depth == 0 and pair in ("{{", "}}"):
            found[-1] += pair
            start += 2
            continue
        if character == "{":
            depth += 1
            if depth == 1:
                found.append("")
        elif character == "}":
            depth -= 1
            if depth < 0:
                return None
        found[-1] += character
        if character == "}" and depth == 0:
            found.append("")
        start += 1
    # text that begins with an escaped brace is not a field
    return None if depth or any(token.startswith("{{") for token in found) else found
