"""Matching of the files of a profile, possibly from another machine, to source files."""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

Parts = tuple[str, ...]

_LIBRARY = re.compile(r"(site|dist)-packages")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


def match_files(
    seen: Iterable[str], sources: Sequence[Path], fits: Callable[[str, Path], bool]
) -> tuple[dict[str, Path], tuple[str, ...]]:
    """Return the source of each file of a profile, and the ambiguous files.

    A file is a source if it has the same path, or, for a profile of another machine or checkout, if their
    paths have the same end: as far as the source's packages reach, or the library folder that the file was
    installed into. Several such sources are distinguished by the number of equal folders, then by the sources
    of the other files of the profile. `fits` returns whether the functions that the profile saw in a file are
    those of a source.
    """
    by_name: dict[str, list[Path]] = defaultdict(list)
    for source in sources:
        by_name[source.name.casefold()].append(source)
    real = {os.path.realpath(source): source for source in sources}
    found: dict[str, Path] = {}
    several: dict[str, list[Path]] = {}
    for file in dict.fromkeys(seen):
        if not file or file.startswith("<"):
            continue
        same = real.get(os.path.realpath(file)) if _is_absolute(file) else None
        if same is not None:
            found[file] = same
            continue
        candidates = _candidates(file, by_name.get(parts_of(file)[-1].casefold(), ()), fits)
        if len(candidates) == 1:
            found[file] = candidates[0]
        elif candidates:
            several[file] = candidates
    roots = Counter(root for file, source in found.items() for root in [_roots(file, source)])
    for file in list(several):
        best = max(roots[_roots(file, source)] for source in several[file])
        chosen = [source for source in several[file] if roots[_roots(file, source)] == best]
        if best and len(chosen) == 1:
            found[file] = chosen[0]
            del several[file]
    return _one_each(found), tuple(several)


def parts_of(path: str) -> Parts:
    """Return the folders and the name of a path of any system."""
    return tuple(part for part in path.replace("\\", "/").split("/") if part not in ("", ".")) or ("",)


def agreement(file: Parts, source: Parts) -> int:
    """Return how many trailing names of two paths agree, ignoring case."""
    count = 0
    for one, other in zip(reversed(file), reversed(source), strict=False):
        if one.casefold() != other.casefold():
            break
        count += 1
    return count


def _candidates(file: str, sources: Sequence[Path], fits: Callable[[str, Path], bool]) -> list[Path]:
    parts = parts_of(file)
    counts = {source: agreement(parts, parts_of(str(source))) for source in sources}
    needed = _needed(file, parts)
    fitting = [source for source in sources if counts[source] >= max(needed, min(_depth(source), len(parts)))]
    fitting = [source for source in fitting if fits(file, source)]
    best = max((counts[source] for source in fitting), default=0)
    return [source for source in fitting if counts[source] == best]


def _needed(file: str, parts: Parts) -> int:
    """Return how many names must agree to distinguish library modules."""
    for place in range(len(parts) - 1, 0, -1):
        if _LIBRARY.fullmatch(parts[place - 1]):
            return len(parts) - place
        if re.fullmatch(r"python3\.\d+t?", parts[place - 1]):  # the standard library
            return len(parts) - place + 1
    return 1 if _is_absolute(file) else len(parts)


def _is_absolute(file: str) -> bool:
    return file.startswith(("/", "\\")) or bool(_DRIVE.match(file))


def _depth(source: Path) -> int:
    """Return the number of names in the import path of a source: its packages and itself."""
    depth, folder = 1, source.parent
    while (folder / "__init__.py").is_file() and folder != folder.parent:
        depth, folder = depth + 1, folder.parent
    return depth


def _roots(file: str, source: Path) -> tuple[Parts, Parts]:
    """Return where two paths with a common end begin to differ."""
    one, other = parts_of(file), parts_of(str(source))
    count = agreement(one, other)
    return one[: len(one) - count], other[: len(other) - count]


def _one_each(found: Mapping[str, Path]) -> dict[str, Path]:
    """Return, of several files of a profile for one source, those that agree with it most."""
    files: dict[Path, list[str]] = defaultdict(list)
    for file, source in found.items():
        files[source].append(file)
    kept = {}
    for source, names in files.items():
        counts = {name: agreement(parts_of(name), parts_of(str(source))) for name in names}
        most = max(counts.values())
        kept.update({name: source for name in names if counts[name] == most})
    return kept
