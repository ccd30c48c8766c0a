"""Files of a project that are relevant to a few of its files: those that they import and that import them,
found from import lines without parsing.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rlint.regex import regex
from rlint.source.files import NOTEBOOK

if TYPE_CHECKING:
    from collections.abc import Callable

    from rlint.semantics.imports.import_scan import ImportScan

_IMPORT = regex(
    rb"""(?:^|[;:])[ \t]*(?:
        from[ \t]+([\w.]+)[ \t]+import\b[ \t]*(
            \([^)#]*(?:\#[^\r\n]*[\r\n][^)#]*)*\) | [^\r\n#\\;]*(?:\\\r?\n[^\r\n#\\;]*)*
        )
        | import[ \t]+((?:[\w., \t]+|\\\r?\n)+)
    )""",
    re.MULTILINE | re.VERBOSE,
)
"""An import statement: the module and the names of `from … import …`, or the modules of `import …`."""
_BEGUN = regex(rb"(?:^|[;:])[ \t]*(?:from|import)\b", re.MULTILINE)
"""Where an import statement may begin. Most lines with the word are something else, and end the search at
once.
"""
_ALONE = regex(rb"[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+([\w., \t]+)|import[ \t]+([\w., \t]+))\r?")
"""A line that is exactly one import statement, as nearly all are: matched at a quarter of the cost."""
_BY_NAME = regex(rb"""\b(?:(?:import_module|__import__)\(|sys\.modules(?:\[|\.get\())\s*['"]([\w.]+)['"]""")
_ENTRY = regex(rb"""['"]([A-Za-z_]\w*(?:\.\w+)+):[A-Za-z_]\w*['"]""")
"""A text that names an object of a module: `"games.chess:Chess"`."""
_BY_COMPUTED_NAME = regex(
    rb"""\b(?:import_module|__import__)\(\s*(?!(?:['"][\w.]*['"]|__name__)\s*[,)])
    | \b(?:module_from_spec|load_module|run_path|run_module)\(
    | \bsys\.modules\b\s*(?:\[(?!\s*(?:['"]|__name__))|\.(?:get|values|items|copy)\()""",
    re.VERBOSE,
)
"""Code that gets a module whose name is known only at run time."""
_HINTS = (b"_module(", b"__import__(", b"module_from_spec(", b"run_path(", b"sys.modules")
_LONGEST = 20_000
"""Maximum number of characters of names in one import statement. Names beyond that are not found."""


def closest(
    targets: Sequence[Path], others: Iterable[Path], budget: int, look: Callable[[Path], ImportScan]
) -> list[Path]:
    """Choose from `others` the files nearest to `targets` by imports, in either direction, up to `budget`
    bytes of source. Modules are determined by the last part of their name, so that too many count rather than
    too few; unreadable files are ignored. `look` returns the import scan of a file.
    """
    scans = {path: look(path) for path in (*targets, *others)}
    named: dict[str, list[Path]] = defaultdict(list)
    for path in scans:
        named[_module_name(path)].append(path)
    neighbours: dict[Path, dict[Path, None]] = defaultdict(dict)
    for path, glance in scans.items():
        for word in glance.words.split():
            for imported in named.get(word, ()):
                neighbours[path][imported] = None
                neighbours[imported][path] = None
    seen = dict.fromkeys(targets)
    pending = deque(targets)
    found: list[Path] = []
    while pending:
        for path in neighbours[pending.popleft()]:
            if path in seen:
                continue
            seen[path] = None
            if scans[path].size <= budget:
                budget -= scans[path].size
                found.append(path)
                pending.append(path)
    return found


def imported_by_name(content: bytes) -> Iterator[str]:
    """Yield the modules that a file gets by a string: `importlib.import_module("conf")`, or from a table such
    as `{"chess": "games.chess:Chess"}`.
    """
    if any(word in content for word in (b"import_module", b"__import__", b"sys.modules")):
        for match in _BY_NAME.finditer(content):
            yield match[1].decode("utf-8", "replace")
        if loads_by_computed_name(content):
            for match in _ENTRY.finditer(content):
                yield match[1].decode("utf-8", "replace")


def loads_by_computed_name(content: bytes) -> bool:
    """Whether a file may get modules whose names are known only at run time: `import_module(args.reward)`."""
    return any(word in content for word in _HINTS) and bool(_BY_COMPUTED_NAME.search(content))


def import_statements(content: bytes) -> Iterator[re.Match[bytes]]:
    """Yield the import statements: only the text around the word is examined, as most of a file is something
    else.
    """
    position = 0
    while (word := content.find(b"import", position)) >= 0:
        start = content.rfind(b"\n", position, word) + 1 or position
        end = content.find(b"\n", word)
        end = len(content) if end < 0 else end
        alone = _ALONE.fullmatch(content, start, end)
        if alone is not None:
            position = end
            yield alone
            continue
        if not _BEGUN.search(content, start, end):
            position = end
            continue
        limit = min(end + _LONGEST, len(content))
        if b"(" in content[word:end]:
            continues = content.find(b")", word, limit) >= 0
        else:
            continues = content[end - 2 : end].strip() == b"\\"
        limit = limit if continues else end
        position = end
        for match in _IMPORT.finditer(content, start, limit):
            if match.start() > end:
                break
            position = max(position, match.end())
            yield match
            if position > end:
                break  # the text after the statement on its line is not searched for another one


def _module_name(path: Path) -> str:
    if path.suffix == NOTEBOOK:
        return ""  # notebooks are not imported
    return path.parent.name if path.stem == "__init__" else path.stem
