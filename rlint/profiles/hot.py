"""Functions that take much of a run without a finding that explains it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from rlint.profiles import symptoms
from rlint.profiles.heated import HotFunction
from rlint.profiles.located import Located
from rlint.profiles.profile_model import Claim, Profile
from rlint.profiles.source_places import MODULE

LEAST = 0.05
"""The fraction of the run that a function must take to be reported."""
MOST = 10
"""Maximum number of functions reported."""
_NOTHING = Claim()
_EXPLAINED = 0.5  # fraction of a function's time that is covered by findings


def imports(profile: Profile) -> Claim:
    """Return the frames in which Python imports modules."""
    return Claim(
        whole=frozenset(
            number
            for number, frame in enumerate(profile.frames)
            if frame.last_name == "_find_and_load" and frame.file.startswith("<frozen importlib")
        )
    )


def unexplained(
    located: Located, names: Mapping[Path, str], claims: Sequence[Claim]
) -> tuple[HotFunction, ...]:
    """Return the hot functions that the places of findings do not cover, hottest first.

    Functions of the project are reported if their names are a symptom, or if they spend time themselves;
    functions of libraries if they are a symptom, the outermost one of each class. `names` are the displayed
    source files.
    """
    profile = located.profile
    found: list[HotFunction] = []
    explained = _Part(profile, claims)
    importing = _Part(profile, [imports(profile)])
    for function, frames in [*_own(located, names), *_library(located)]:
        if function.inclusive < LEAST or (function.symptom is None and function.own < LEAST):
            continue
        if explained.holds(frames) or (not function.in_project and importing.holds(frames)):
            continue
        found.append(function)
    found.sort(key=lambda function: (-function.inclusive, function.name))
    return tuple(_outermost(found))[:MOST]


def _own(located: Located, names: Mapping[Path, str]) -> Iterator[tuple[HotFunction, set[int]]]:
    for path, file in located.files.items():
        for definition, frames in file.frames.items():
            symptom = symptoms.of_function(definition.qualname, names[path])
            yield (
                _measured(
                    located,
                    frames,
                    definition.qualname,
                    f"{names[path]}:{definition.line}",
                    symptom if definition.qualname != MODULE else None,
                    in_project=True,
                ),
                frames,
            )


def _library(located: Located) -> Iterator[tuple[HotFunction, set[int]]]:
    profile = located.profile
    own = {frame for file in located.files.values() for frames in file.frames.values() for frame in frames}
    groups: dict[tuple[str, str], set[int]] = defaultdict(set)
    for number, frame in enumerate(profile.frames):
        if number not in own:
            groups[frame.file, frame.name].add(number)
    for frames in groups.values():
        frame = profile.frames[min(frames)]
        symptom = symptoms.of_frame(frame)
        if symptom is not None:
            line = f":{frame.line}" if frame.line else ""
            place = f"{frame.file}{line}" if frame.file else ""
            yield _measured(located, frames, frame.name, place, symptom, in_project=False), frames


def _measured(
    located: Located,
    frames: set[int],
    name: str,
    place: str,
    symptom: symptoms.Symptom | None,
    *,
    in_project: bool,
) -> HotFunction:
    profile = located.profile
    return HotFunction(
        name,
        place,
        min(profile.inclusive(frames) / profile.total, 1.0),
        sum(map(profile.own, frames)) / profile.total,
        profile.calls(frames),
        in_project,
        symptom.name if symptom else None,
        symptom.advice if symptom else None,
        symptom.seed if symptom else None,
    )


class _Part:
    """A part of the run."""

    def __init__(self, profile: Profile, claims: Sequence[Claim]) -> None:
        self._profile = profile
        self._claims = [*claims, _NOTHING]  # so that all times below are estimated in the same way
        self._all = profile.covered(self._claims, upper=True)

    def holds(self, frames: Iterable[int]) -> bool:
        """Whether much of a function's time is in this part."""
        if self._all <= 0:
            return False
        function = Claim(whole=frozenset(frames))
        alone = self._profile.covered([function, _NOTHING], upper=True)
        shared = alone + self._all - self._profile.covered([function, *self._claims], upper=True)
        return shared >= _EXPLAINED * alone


def _outermost(found: Sequence[HotFunction]) -> Iterator[HotFunction]:
    """Leave out library functions below reported ones: one function for each class."""
    classes: set[str | None] = set()
    for function in found:
        if function.in_project:
            yield function
        elif function.symptom not in classes:
            classes.add(function.symptom)
            yield function
