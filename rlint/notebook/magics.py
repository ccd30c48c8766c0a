"""IPython's extensions of Python, replaced line by line: a cell as a part of a module.

Each line remains a line, and its remaining code keeps its columns. A stand-in reads the names that the magic
reads, as arguments of an unknown call, and sets those that it sets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from rlint.findings import Problem
from rlint.notebook import magic_words
from rlint.notebook.logical import Logical, assigned, logical_lines
from rlint.notebook.masks import Masks
from rlint.parsing.parse import parse
from rlint.regex import regex

_CELL = regex(r"%%(?P<name>\S+)(?P<rest>(?:\s.*)?)")
_LANGUAGE = regex(r"%(?:sql|md|sh|scala|r|fs|html|mermaid)(?:\s|$)")
_LINE = regex(r"[ \t]*%{1,2}(?P<name>\w*)(?P<rest>.*)")
_TIMED = regex(r"[ \t]*(?P<magic>%time[ \t]+)(?P<code>[^-\s].*)")
_IMPORT = regex(r"[ \t]*(?:import|from)[ \t]")
_SCRIPT = regex(r"(?<!\w)(?<!\w/)(?:\./)?((?:[^\W\d]\w*/)*[^\W\d]\w*)\.py\b")
_GIVES = regex(r"(?:--(?:out|err|proc)[ =]+|(?<!\S)-o[ ]+)([^\W\d]\w*)")
_TAKES = regex(r"(?<!\S)-i[ ]+([^\W\d]\w*)")
_FOREIGN = frozenset(
    """bash bigquery cmd cython file fs html HTML javascript js julia latex markdown md perl pypy python
    python2 python3 R ruby rust scala script sh shell sql svg system writefile ! sx""".split()
)
"""Cell magics whose body does not use the program's names."""


@dataclass(slots=True)
class MagicCell:
    """A cell as Python. `pinned` lines at its beginning must stay first; `problem` is why the rest could not
    be read.
    """

    lines: list[str]
    pinned: int = 0
    problem: Problem | None = None


def present(source: str, masks: Masks, name: str) -> MagicCell:
    """Replace everything that is not Python in a cell, whose lines end with a plain line feed."""
    lines = source.split("\n")
    cell = MagicCell(list(lines))
    body = _cell_magics(cell, masks)
    for logical in logical_lines(lines[body:]):
        if logical.kind:
            _replace(cell, Logical(logical.first + body, logical.last + body, logical.kind), masks)
    problem = _problem(cell, name)
    if problem is not None:
        for logical in logical_lines(lines[body:]):
            line = lines[body + logical.first]
            if not logical.kind and _is_automagic(line, name):
                _hide(cell, range(body + logical.first, body + logical.last + 1), masks)
        problem = _problem(cell, name)
    if problem is not None:
        _hide_broken(cell, lines, body, masks, name)
        cell.problem = None if _is_indented(lines, name) else problem
    return cell


def _problem(cell: MagicCell, name: str) -> Problem | None:
    parsed = parse("\n".join(cell.lines), name)
    return parsed if isinstance(parsed, Problem) else None


# -- cell magics ---------------------------------------------------------------------------------


def _cell_magics(cell: MagicCell, masks: Masks) -> int:
    """Replace the magics at the beginning; return the start of the remaining Python."""
    number = 0
    for number, line in enumerate(cell.lines):
        stripped = line.strip()
        magic = _CELL.match(line)
        if magic is not None and magic["name"] in magic_words.CELL_WITH_PYTHON:
            targets = _options(magic["rest"]) if magic["name"] == "capture" else []
            cell.lines[number] = _stand_in(line, masks, targets=targets[:1])
            cell.pinned = number + 1
        elif magic is not None:
            _hide_cell(cell, number, masks, foreign=magic["name"] in _FOREIGN)
            return len(cell.lines)
        elif _LANGUAGE.match(line) and cell.pinned == 0:
            _hide_cell(cell, number, masks, foreign=True)
            return len(cell.lines)
        elif stripped and not stripped.startswith("#"):
            break
    return cell.pinned


def _options(text: str) -> list[str]:
    return [word for word in text.split() if word.isidentifier()]


def _hide_cell(cell: MagicCell, first: int, masks: Masks, *, foreign: bool) -> None:
    head = cell.lines[first]
    names = (
        [*magic_words.interpolated(head), *_TAKES.findall(head)] if foreign else magic_words.read(head)[1:]
    )
    cell.lines[first] = _stand_in(head, masks, names, _GIVES.findall(head))
    for number in range(first + 1, len(cell.lines)):
        line = cell.lines[number]
        if line.strip():
            cell.lines[number] = _stand_in(line, masks, () if foreign else magic_words.read(line))
    cell.pinned = len(cell.lines)


# -- lines ---------------------------------------------------------------------------------------


def _replace(cell: MagicCell, logical: Logical, masks: Masks) -> None:
    line = cell.lines[logical.first]
    indent = line[: len(line) - len(line.lstrip())]
    more = range(logical.first + 1, logical.last + 1)
    if logical.kind == "assigned":
        match = assigned(line)
        assert match is not None
        rest = line[match.start("escape") + 1 :]
        names = magic_words.interpolated(rest) if match["escape"] == "!" else magic_words.read(rest)[1:]
        cell.lines[logical.first] = indent + _stand_in(
            line[len(indent) :], masks, names, [match["target"].strip()]
        )
        _hide(cell, more, masks, indent)
        return
    timed = _TIMED.match(line)
    if timed is not None and not more and _parses(timed["code"]):
        width = len(timed["magic"]) - 2
        if len(str(len(masks.found))) <= width:
            cell.lines[logical.first] = (
                indent + masks.add(timed["magic"], after=";", digits=width) + timed["code"]
            )
            return
    cell.lines[logical.first] = indent + _escape(line[len(indent) :], masks)
    _hide(cell, more, masks, indent)


def _escape(line: str, masks: Masks) -> str:
    if line.startswith("!"):
        return _stand_in(line, masks, magic_words.interpolated(line))
    if line.startswith(("/", ",", ";")):
        return _stand_in(line, masks, magic_words.read(line))
    magic = _LINE.match(line)
    if magic is None:  # help
        return _stand_in(line, masks)
    name, rest = magic["name"], magic["rest"]
    if name == "pylab":
        return _imported(line, "from pylab import *", masks)
    if name == "run":
        script = _SCRIPT.search(rest)
        if script is None:
            return masks.add(line, "if True: from ", " import *")  # reads names that are not known
        return _imported(line, f"from {script[1].replace('/', '.')} import *", masks)
    return _stand_in(
        line, masks, magic_words.interpolated(rest) if name in magic_words.PLAIN else magic_words.read(rest)
    )


def _imported(line: str, statement: str, masks: Masks) -> str:
    """Return a stand-in that imports; under a condition, so that no fix takes its line for the place of
    imports.
    """
    return masks.add(line, "if ", f": {statement}")


def _stand_in(line: str, masks: Masks, names: Iterable[str] = (), targets: Iterable[str] = ()) -> str:
    before = "".join(f"{target} = " for target in targets)
    listed = ", ".join(dict.fromkeys(names))
    return masks.add(line, before, f"({listed})" if listed else "")


def _hide(cell: MagicCell, numbers: Iterable[int], masks: Masks, indent: str = "") -> None:
    for number in numbers:
        cell.lines[number] = indent + _stand_in(cell.lines[number], masks)


def _is_automagic(line: str, name: str) -> bool:
    first = re.match(r"(\w+)(?=[ \t]+[^=\s]|\s*$)", line)
    return bool(first and first[1] in magic_words.AUTOMAGIC and isinstance(parse(line, name), Problem))


def _parses(code: str) -> bool:
    return not isinstance(parse(code, ""), Problem)


# -- cells that are no Python --------------------------------------------------------------------


def _is_indented(lines: list[str], name: str) -> bool:
    """Whether it is Python with a common indentation, which IPython accepts."""
    first = next(line for line in lines if line.strip())
    indent = first[: len(first) - len(first.lstrip())]
    text = "\n".join(line.removeprefix(indent) for line in lines)
    return bool(indent) and not isinstance(parse(text, name), Problem)


def _hide_broken(cell: MagicCell, lines: list[str], body: int, masks: Masks, name: str) -> None:
    """Replace all lines; names that they seem to read and bind count as read and bound to unknown values."""
    for number in range(body, len(lines)):
        line = lines[number]
        if not line.strip():
            cell.lines[number] = line
        elif _IMPORT.match(line) and not isinstance(parse(line.strip(), name), Problem):
            cell.lines[number] = _imported(line, line.partition("#")[0].strip(), masks)
        else:
            cell.lines[number] = _stand_in(line, masks, magic_words.read(line), magic_words.bound(line))
