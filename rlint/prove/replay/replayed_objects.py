"""Recreate objects that a fix creates differently: by the constructor of an arm.

They repeat the calls that they had in the run, until they have their state at the start of a recorded call.
"""

from __future__ import annotations

import copy
import io
import os
import pickle
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rlint.harness.compare.allowed_differences import AllowedDifferences
from rlint.harness.compare.differences import Snapshot
from rlint.harness.compare.observation import Observation, differences
from rlint.harness.compare.snapshot import Root, Walker
from rlint.prove.plan.made_objects import MadeObjects
from rlint.prove.record import restored_objects as restored
from rlint.prove.record.object_calls import STATE
from rlint.prove.replay.recorded_arm import RecordedArm
from rlint.prove.replay.records import CallRecord, read
from rlint.prove.replay.region_code import RegionCode

_OWN = "only the changed constructor and the methods that change with it set this; their results are compared"
_LOST = "its constructor changes, too, and later calls of the object were not all recorded"


class LifeError(Exception):
    """An object cannot be recreated."""


class ReplayedObjects:
    """The objects of the classes that a fix changes, in one arm."""

    def __init__(
        self, made: Sequence[MadeObjects], texts: Mapping[str, str], key: bytes, *, after: bool
    ) -> None:
        self._made, self._texts, self._key, self._after = made, texts, key, after
        self._codes: dict[tuple[str, int], RegionCode] = {}
        self._known: dict[tuple[str, str], dict[str, Any]] = {}
        self._allowed: set[str] = set()
        self._arm: RecordedArm | None = None

    def allowances(self) -> AllowedDifferences:
        """Return the attributes that cannot be compared, because each arm has its own."""
        return AllowedDifferences(allowed=dict.fromkeys(sorted(self._allowed), _OWN))

    def migrate(self, record: CallRecord, held: dict[str, Any], arm: RecordedArm) -> None:
        """Set the objects of a recorded call to the state that this arm's constructor and methods created.

        Before the fix, that has to be their state in the run. Raises LifeError.
        """
        if not self._made:
            return
        if arm is not self._arm:  # whose classes differ
            self._arm = arm
            self._known.clear()
        object_calls = record.restore_object_calls()
        for made in self._made:
            if record.header["region"] == made.constructor:
                self._allow(made, made.instance)
                continue
            for name, target in held.items():
                if not _is_of(target, made):
                    continue
                if name not in object_calls:
                    if name == made.instance and record.header["region"] in made.regions:
                        raise LifeError(f"{_LOST} ({made.owner})")
                    continue
                key = record.path.name, name
                if key not in self._known:
                    state = self._state(made, object_calls[name], target, arm, record.path.parent)
                    if not self._after:
                        self._check(made, state, target)
                    self._known[key] = state
                if self._after:
                    self._take(target, made, self._known[key])
                    self._allow(made, name)

    def _allow(self, made: MadeObjects, name: str) -> None:
        self._allowed.update(f"inputs['{name}'].{attribute}" for attribute in made.rebuilt)

    def _take(self, target: Any, made: MadeObjects, state: dict[str, Any]) -> None:
        own = copy.deepcopy(state)
        held = vars(target)
        for name in made.own:
            held.pop(name, None)
        held.update(own)

    def _check(self, made: MadeObjects, state: dict[str, Any], target: Any) -> None:
        recorded = {name: value for name, value in vars(target).items() if name in made.own}
        ours, counterpart = (
            Observation(Snapshot({made.owner: Root(Walker().walk(one))})) for one in (recorded, state)
        )
        found, _ = differences(ours, counterpart, AllowedDifferences())
        if found:
            raise LifeError(
                f"its constructor changes, too, and code outside the changed methods sets `{found[0].path}`"
            )

    def _state(
        self,
        made: MadeObjects,
        calls: Sequence[tuple[int, bytes, str]],
        target: Any,
        arm: RecordedArm,
        folder: Path,
    ) -> dict[str, Any]:
        """Return an object's state in this arm, of the attributes that the fix changes."""
        one: Any = object.__new__(type(target))
        for number, given, file in calls:
            if number not in made.regions:
                continue
            held = pickle.Unpickler(io.BytesIO(given)).load()  # noqa: S301 - in a record that was verified
            state = held.pop(STATE)
            vars(one).update({name: value for name, value in state.items() if name not in made.own})
            held[made.instance] = one
            if file and number != made.constructor:
                self._fill(one, made, folder / file, held)
            code = self._code(made, number)
            try:
                code.bound_in(arm.module_of(made.path))(held)
            except Exception as error:
                what = f"an earlier call of a method of {made.owner} raises {type(error).__name__}: {error}"
                raise LifeError(what) from error
        return {name: value for name, value in vars(one).items() if name in made.own}

    def _fill(self, one: Any, made: MadeObjects, file: Path, held: dict[str, Any]) -> None:
        """Set an object, and the arguments of its call, to the record of a whole call."""
        record = read(file, self._key)
        kept = list(restored.CUT), dict(restored.STAND_INS)
        whole, _, answers, _ = record.restore()
        for number, given in answers.items():
            restored.set_answers(number, given)
        restored.CUT[:] = kept[0]
        restored.STAND_INS.clear()
        restored.STAND_INS.update(kept[1])
        source = whole.get(made.instance)
        if source is not None:
            own = {name: value for name, value in vars(one).items() if name in made.own}
            vars(one).clear()
            vars(one).update({n: v for n, v in vars(source).items() if n not in made.own}, **own)
        held.update({name: value for name, value in whole.items() if name != made.instance})
        restored.set_streams(record.restore_streams())

    def _code(self, made: MadeObjects, number: int) -> RegionCode:
        key = made.path, number
        if key not in self._codes:
            text = self._texts[made.path]
            self._codes[key] = RegionCode(text, made.path, made.regions[number], after=self._after)
        return self._codes[key]


def _is_of(target: Any, made: MadeObjects) -> bool:
    """Whether an object is of the class, or of a derived one."""
    return hasattr(target, "__dict__") and any(
        base.__qualname__ == made.owner
        and os.path.realpath(getattr(sys.modules.get(base.__module__), "__file__", "") or "")
        == os.path.realpath(made.path)
        for base in type(target).__mro__
    )
