"""A profile mapped to source files: the functions of its frames, and the place of a finding as frames."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rlint.profiles.paths import match_files
from rlint.profiles.profile_model import Claim, Profile
from rlint.profiles.source_places import (
    CONSTRUCTORS,
    MODULE,
    NETWORK_CALLS,
    ProfiledDefinition,
    ProfiledSource,
    SourcePlace,
)
from rlint.source.files import Source, read_source

_ENOUGH = 0.5  # fraction of the functions that a profile saw in a file that must be in the source
_FARTHEST = 200  # lines that a function may have moved to be recognised among others of its name


@dataclass(slots=True)
class LocatedFile:
    """Profile data of one source file."""

    source: ProfiledSource
    frames: dict[ProfiledDefinition, set[int]] = field(default_factory=dict)
    """The frames of each function."""
    shifts: dict[ProfiledDefinition, int] = field(default_factory=dict)
    """By how many lines functions have moved since the profile was written."""
    has_lines: bool = False
    """Frames name the lines that ran, and the lines are those of the source."""
    anonymous: list[tuple[str, int, int]] = field(default_factory=list)
    """Profiled comprehensions and lambdas: name, line, frame."""

    @property
    def moved(self) -> bool:
        """Whether the file has changed since it was profiled."""
        return any(self.shifts.values())


class Located:
    """A profile mapped to some source files."""

    def __init__(self, profile: Profile, paths: Sequence[Path]) -> None:
        self.profile = profile
        self._sources: dict[Path, ProfiledSource | None] = {}
        by_file: dict[str, list[int]] = defaultdict(list)
        for number, frame in enumerate(profile.frames):
            by_file[frame.file].append(number)
        self._by_file = by_file
        matched, self.ambiguous = match_files(by_file, paths, self._fits)
        self.files: dict[Path, LocatedFile] = {}
        """The source files that ran."""
        together: dict[Path, list[int]] = defaultdict(list)
        for file, path in matched.items():
            together[path] += by_file[file]
        for path, frames in together.items():
            source = self._source(path)
            if source is not None:
                self.files[path] = _laid_over(profile, source, frames)

    def source(self, path: Path) -> ProfiledSource | None:
        """Return the functions of a source file; None if it cannot be read."""
        return self._source(path)

    def claim(self, path: Path, place: SourcePlace) -> Claim | None:
        """Return a place as frames of the profile; None if none of it ran."""
        located = self.files.get(path)
        if located is None:
            return None
        if place.whole:
            frames = {frame for each in place.whole for frame in located.frames.get(each, ())}
            return Claim(whole=frozenset(frames)) if frames else None
        own = located.frames.get(place.definition, set())
        lines = {frame for name, line, frame in located.anonymous if line in place.lines}
        if located.has_lines:
            profile = self.profile
            lines |= {frame for frame in own if profile.frames[frame].line in place.lines}
            return Claim(whole=frozenset(lines)) if lines else None
        if not own and not lines:
            return None
        called = self.profile.callees(own)
        perhaps, surely = set(place.calls), set(place.only_here)
        if any(name[:1].isupper() for name in place.calls):
            perhaps |= CONSTRUCTORS
        if place.calls - called:  # callees under another name: objects, aliases
            perhaps |= NETWORK_CALLS
        return Claim(frozenset(lines), frozenset(own), frozenset(surely), frozenset(perhaps))

    def calls(self, path: Path, definition: ProfiledDefinition) -> int | None:
        """Return how often a function was called; None if the profile does not count calls."""
        located = self.files.get(path)
        frames = located.frames.get(definition, ()) if located is not None else ()
        return self.profile.calls(frames)

    def _source(self, path: Path) -> ProfiledSource | None:
        if path not in self._sources:
            self._sources[path] = _read(path)
        return self._sources[path]

    def _fits(self, file: str, path: Path) -> bool:
        source = self._source(path)
        if source is None:
            return False
        seen = {self.profile.frames[number].last_name for number in self._by_file[file]}
        names = {name for name in seen if not name.startswith("<")}
        known = {definition.name for definition in source.definitions}
        return len(names & known) >= _ENOUGH * len(names)


def _read(path: Path) -> ProfiledSource | None:
    if path.suffix == ".ipynb":  # profilers choose the file names of cells
        return None
    source = read_source(path, str(path))
    if not isinstance(source, Source):
        return None
    try:
        return ProfiledSource(source.text)
    except (SyntaxError, ValueError):
        return None


def _laid_over(profile: Profile, source: ProfiledSource, numbers: Sequence[int]) -> LocatedFile:
    located = LocatedFile(source)
    functions = [number for number in numbers if not _is_anonymous(profile.frames[number].name)]
    current = profile.may_have_lines and _name_current_lines(profile, source, functions)
    if current:
        known_names = {each.name for each in source.definitions}
        named = [number for number in functions if profile.frames[number].last_name in known_names]
        located.has_lines = all(_holding(profile, source, number) for number in named)
    by_name: dict[str, list[int]] = defaultdict(list)
    for number in functions:
        by_name[profile.frames[number].last_name].append(number)
    for name, frames in by_name.items():
        known = sorted((each for each in source.definitions if each.name == name), key=lambda each: each.line)
        for number in frames if known else ():
            frame = profile.frames[number]
            holder = _holding(profile, source, number) if current else None
            if holder is None:
                others = sorted({profile.frames[each].line for each in frames})
                holder = _nearest(frame.name, frame.line, others, known, paired=not current)
            if holder is not None:
                located.frames.setdefault(holder, set()).add(number)
                if not current and frame.line and holder.qualname != MODULE:
                    located.shifts[holder] = frame.line - holder.first_line
    if current and not located.has_lines:
        located.shifts = dict.fromkeys(located.frames, 1)
    for number in numbers:
        frame = profile.frames[number]
        if _is_anonymous(frame.name) and frame.line and not (current and not located.has_lines):
            line = frame.line if current else frame.line - _shift_at(located, frame.line)
            located.anonymous.append((frame.name, line, number))
    return located


def _is_anonymous(name: str) -> bool:
    return name.endswith(">") and not name.endswith(MODULE)


def _name_current_lines(profile: Profile, source: ProfiledSource, numbers: Iterable[int]) -> bool:
    """Whether lines in a profile are those that ran, rather than the first ones of functions."""
    firsts = {(each.name, line) for each in source.definitions for line in (each.first_line, each.line, 0)}
    lines = [(profile.frames[number].last_name, profile.frames[number].line) for number in numbers]
    named = [each for each in lines if each[0] != MODULE] or lines
    return sum(1 for each in named if each not in firsts) * 2 > len(named)


def _holding(profile: Profile, source: ProfiledSource, number: int) -> ProfiledDefinition | None:
    """Return the function of a frame's name around the line that ran; its header runs in the enclosing
    function.
    """
    frame = profile.frames[number]
    for each in source.holders(frame.line):
        if each.name == frame.last_name:
            return each
        if frame.line > each.line:
            return None
    return None


def _nearest(
    name: str, line: int, lines: Sequence[int], known: Sequence[ProfiledDefinition], *, paired: bool
) -> ProfiledDefinition | None:
    """Return the function of this name that fits best: the only one, the one with this qualified name, the
    one at the same position among equally many, or the nearest.
    """
    if "." in name:
        known = [each for each in known if each.qualname.endswith(name.replace(".<locals>", ""))] or known
    if len(known) == 1:
        return known[0]
    if paired and len(lines) == len(known):
        return known[list(lines).index(line)]
    nearest = min(known, key=lambda each: abs(each.first_line - line))
    return nearest if abs(nearest.first_line - line) <= _FARTHEST else None


def _shift_at(located: LocatedFile, line: int) -> int:
    """Return by how much the function above a line has moved."""
    above = [
        (each.first_line + shift, shift)
        for each, shift in located.shifts.items()
        if each.first_line + shift <= line
    ]
    return max(above, default=(0, 0))[1]
