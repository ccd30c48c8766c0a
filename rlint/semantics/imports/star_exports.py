"""Names that the file of a module gives to files that import `*` from it, read from its top-level lines
without parsing them and without the models of libraries: caches need them before anything is analysed.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from rlint.regex import regex
from rlint.semantics.imports.import_graph import import_statements
from rlint.source.files import most_bytes, read_regular
from rlint.syntax.import_statements import absolute_module

_DEFINED = regex(rb"(?m)^(?:(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)|(\w+)[ \t]*(?::[^=\n]*)?=(?!=))")
_ALIAS = regex(rb"(?m)^(\w+)[ \t]*=[ \t]*(\w+)((?:\.\w+)+)[ \t]*(?:#.*)?\r?$")
_FOLDERS = 6
"""Maximum number of parent folders searched for the module of a dotted name."""
_DEEPEST = 8
"""Maximum length of a chain of such imports."""


class _TopLevel(NamedTuple):
    """The names bound by unindented lines of a file. `stars` are modules, by their dots."""

    imported: tuple[tuple[str, str, str], ...]
    """Name, source with its dots, and member ("" for the module itself)."""
    defined: frozenset[str]
    aliases: tuple[tuple[str, str, str], ...]
    """Name, module, and the dotted name in it: for `tensor = torch.tensor`."""
    stars: tuple[str, ...]
    chooses: bool
    """Whether it has an `__all__`."""


def starred_names(sources: Sequence[str], package: str, path: Path) -> str:
    """Return a digest of the names that the files of the modules `sources` (with their dots) give to a file
    that imports `*` from them: what the file means depends on them. "" if there are no such modules.
    """
    if not sources:
        return ""
    found = [sorted(exported(_absolute(source, package), path, ()).items()) for source in sources]
    return hashlib.sha256(repr(found).encode("utf-8", "backslashreplace")).hexdigest()


def exported(dotted: str, importer: Path, above: tuple[Path, ...]) -> dict[str, str | None]:
    """Return the names that `import *` takes from a module; None if a name cannot be resolved."""
    file = _file_of(dotted, importer)
    if file is None or file in above or len(above) > _DEEPEST:
        return {}
    known = _top_level(file)
    if known is None or known.chooses:
        return {}
    package = dotted if file.stem == "__init__" else dotted.rpartition(".")[0]
    found: dict[str, str | None] = {}
    for source in known.stars:
        found.update(exported(_absolute(source, package), file, (*above, file)))
    for name, source, member in known.imported:
        module = _absolute(source, package)
        target = f"{module}.{member}" if member else module
        found[name] = target if found.get(name, target) == target else None
    aliases = {name: (found.get(module), rest) for name, module, rest in known.aliases}
    for name in known.defined:
        module_of, rest = aliases.get(name, (None, ""))
        own = f"{module_of}{rest}" if module_of is not None else f"{dotted}.{name}"
        found[name] = own if name not in found else None
    return {name: target for name, target in found.items() if not name.startswith("_")}


def _absolute(source: str, package: str) -> str:
    module = source.lstrip(".")
    return absolute_module(module, len(source) - len(module), package)


def _file_of(dotted: str, importer: Path) -> Path | None:
    """Return the project file of a module, searched from the folders above an importer."""
    if not dotted:
        return None
    tail = Path(*dotted.split("."))
    for folder in importer.parents[:_FOLDERS]:
        for file in (folder / tail.with_suffix(".py"), folder / tail / "__init__.py"):
            if file.is_file():
                return file
    return None


def _top_level(file: Path) -> _TopLevel | None:
    try:
        state = file.stat()
    except OSError:
        return None
    return _read(file, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=512)
def _read(file: Path, _changed: int, _size: int) -> _TopLevel | None:
    content = read_regular(file, most_bytes(file))
    if content is None:
        return None
    imported: list[tuple[str, str, str]] = []
    stars: list[str] = []
    for match in import_statements(content):
        start = content.rfind(b"\n", 0, match.start() + 1) + 1
        if (
            content[start : start + 6] not in (b"import", b"from .")
            and content[start : start + 5] != b"from "
        ):
            continue  # under a condition, or in a function
        source, members, modules = match.groups()
        if modules is not None:
            imported += ((name, target, "") for target, name in _aliases(modules, whole=True))
        elif b"*" in (members or b""):
            stars.append(source.decode("utf-8", "replace"))
        else:
            named = source.decode("utf-8", "replace")
            imported += ((name, named, member) for member, name in _aliases(members, whole=False))
    bound = [(m.group(1) or m.group(2)).decode("utf-8", "replace") for m in _DEFINED.finditer(content)]
    aliases = (
        tuple(part.decode("utf-8", "replace") for part in match.groups())
        for match in _ALIAS.finditer(content)
    )
    times = Counter(bound)
    once = tuple((name, module, rest) for name, module, rest in aliases if times[name] == 1)
    return _TopLevel(tuple(imported), frozenset(bound), once, tuple(stars), b"__all__" in content)


def _aliases(text: bytes, *, whole: bool) -> Iterator[tuple[str, str]]:
    """Yield the imported names, with the name that each is bound to: for `import a.b`, `a`."""
    for part in text.decode("utf-8", "replace").strip("() \t\r\n").split(","):
        words = [word for word in part.replace("\\", " ").split() if word != "#"]
        match words:
            case [target, "as", name]:
                yield target, name
            case [target]:
                yield (target.partition(".")[0],) * 2 if whole else (target, target)
