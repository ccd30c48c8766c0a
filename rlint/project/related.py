"""Which files of a project tell something about a few of them: those that they import and that import
them, told from import lines without parsing.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from rlint.files import NOTEBOOK, most_bytes, read_regular
from rlint.notebook.sources import source_of

_IMPORT = re.compile(
    rb"""(?:^|[;:])[ \t]*(?:
        from[ \t]+([\w.]+)[ \t]+import\b[ \t]*(\((?:[^)#]|\#[^\r\n]*)*\) | (?:[^\r\n#\\;]|\\\r?\n)*)
        | import[ \t]+((?:[\w., \t]|\\\r?\n)+)
    )""",
    re.MULTILINE | re.VERBOSE,
)
"""An import statement: the module and the names of `from … import …`, or the modules of `import …`."""
_LONGEST = 20_000
"""Characters of names in one import statement. What lies beyond is not found."""
_WORD = re.compile(rb"\w+")


def closest(
    targets: Sequence[Path], others: Iterable[Path], budget: int, texts: Mapping[Path, str] | None = None
) -> list[Path]:
    """Choose from `others` the files nearest to `targets` by imports, in either direction, up to `budget`
    bytes of source. Modules are told by the last part of their name, so that too many count rather than
    too few; files that cannot be read count for nothing. `texts` stand for the contents of files.
    """
    contents = {path: _content(path, texts or {}) for path in (*targets, *others)}
    named: dict[bytes, list[Path]] = defaultdict(list)
    for path in contents:
        named[_module_name(path)].append(path)
    neighbours: dict[Path, dict[Path, None]] = defaultdict(dict)
    for path, content in contents.items():
        for word in _imported_words(content):
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
            if len(contents[path]) <= budget:
                budget -= len(contents[path])
                found.append(path)
                pending.append(path)
    return found


def import_statements(content: bytes) -> Iterator[re.Match[bytes]]:
    """The import statements: looked for around the word alone, as most of a file is something else."""
    position = 0
    while (word := content.find(b"import", position)) >= 0:
        start = content.rfind(b"\n", position, word) + 1 or position
        end = content.find(b"\n", word)
        end = len(content) if end < 0 else end
        limit = min(end + _LONGEST, len(content))
        if b"(" in content[word:end]:
            goes_on = content.find(b")", word, limit) >= 0
        else:
            goes_on = content[end - 2 : end].strip() == b"\\"
        limit = limit if goes_on else end
        position = end
        for match in _IMPORT.finditer(content, start, limit):
            if match.start() > end:
                break
            position = max(position, match.end())
            yield match


def _content(path: Path, texts: Mapping[Path, str]) -> bytes:
    text = texts.get(path)
    if text is not None:
        return text.encode("utf-8", "surrogatepass")
    return source_of(path, read_regular(path, most_bytes(path)) or b"")


def _module_name(path: Path) -> bytes:
    if path.suffix == NOTEBOOK:
        return b""  # nobody imports a notebook
    return (path.parent.name if path.stem == "__init__" else path.stem).encode("utf-8", "surrogateescape")


def _imported_words(content: bytes) -> dict[bytes, None]:
    """The names in import lines, in their order: which files fit into the budget must not hang on hashes."""
    return {
        word: None
        for match in import_statements(content)
        for part in match.groups()
        if part
        for word in _WORD.findall(part)
    }
