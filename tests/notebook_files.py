"""Notebooks for the tests, written part by part, so that the origin of each byte is known."""

from __future__ import annotations

import codecs
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Cell:
    """A cell as a user typed it. `as_list` and `ascii_only` are how its source is written."""

    source: str
    kind: str = "code"
    id: str | None = None
    as_list: bool = True
    ascii_only: bool = False
    metadata: dict[str, Any] = field(default_factory=dict)
    outputs: tuple[Any, ...] = ()

    def written(self, indent: int | None) -> str:
        """The source as JSON."""
        value: Any = self.source.splitlines(keepends=True) if self.as_list else self.source
        return json.dumps(value, indent=indent, ensure_ascii=self.ascii_only)


@dataclass(frozen=True)
class File:
    """A notebook's bytes, split into the sources of its cells and the text between them."""

    between: tuple[bytes, ...]
    sources: tuple[bytes, ...]

    @property
    def content(self) -> bytes:
        """The whole file."""
        parts = [self.between[0]]
        for source, after in zip(self.sources, self.between[1:], strict=True):
            parts += [source, after]
        return b"".join(parts)

    def sources_in(self, content: bytes) -> list[str | list[str]]:
        """The sources in a changed file; fails if anything else has changed."""
        found = []
        text = content.decode("utf-8")
        at = 0
        for number, piece in enumerate(self.between):
            expected = piece.decode("utf-8")
            assert text[at : at + len(expected)] == expected
            at += len(expected)
            if number + 1 < len(self.between):
                value, at = json.JSONDecoder().raw_decode(text, at)
                found.append(value)
        assert at == len(text)
        return found


def notebook(
    *cells: Cell | str,
    language: str | None = "python",
    version: int = 4,
    indent: int | None = 1,
    newline: str = "\n",
    mark: bool = False,
    end: str = "\n",
) -> File:
    """Write a notebook. A string among the cells is a code cell."""
    typed = [Cell(cell) if isinstance(cell, str) else cell for cell in cells]
    metadata: dict[str, Any] = {"kernelspec": {"name": "k", "display_name": "K"}} if language else {}
    if language:
        metadata["language_info"] = {"name": language}
    parts = [_cell(cell, number, version) for number, cell in enumerate(typed)]
    data: dict[str, Any] = {"cells": parts, "metadata": metadata, "nbformat": version, "nbformat_minor": 5}
    if version == 3:
        data = {"metadata": metadata, "worksheets": [{"cells": parts}], "nbformat": 3, "nbformat_minor": 0}
    skeleton = json.dumps(data, indent=indent, ensure_ascii=False) + end
    between, sources = [], []
    for number, cell in enumerate(typed):
        before, skeleton = skeleton.split(f'"source-of-{number}"')
        between.append(before)
        sources.append(cell.written(indent))
    between.append(skeleton)
    if mark:
        between[0] = codecs.BOM_UTF8.decode("utf-8") + between[0]
    return File(_bytes(between, newline), _bytes(sources, newline))


def _bytes(texts: Sequence[str], newline: str) -> tuple[bytes, ...]:
    return tuple(text.replace("\n", newline).encode("utf-8") for text in texts)


def _cell(cell: Cell, number: int, version: int) -> dict[str, Any]:
    found: dict[str, Any] = {"metadata": cell.metadata, "cell_type": cell.kind}
    if cell.id is not None:
        found["id"] = cell.id
    name = "input" if version == 3 and cell.kind == "code" else "source"
    found[name] = f"source-of-{number}"
    if cell.kind == "code":
        found["execution_count" if version == 4 else "prompt_number"] = 1
        found["outputs"] = list(cell.outputs)
        if version == 3:
            found["language"] = "python"
    return found
