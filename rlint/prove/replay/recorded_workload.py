"""Workload that runs a region with recorded calls, in the harness."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rlint.harness.compare.snapshot import Walker
from rlint.harness.workload import Case, Workload
from rlint.prove.record import restored_objects as restored
from rlint.prove.replay.recorded_arm import RecordedArm
from rlint.prove.replay.records import CallRecord, Suspensions
from rlint.prove.replay.region_code import RETURN, RegionCode
from rlint.prove.replay.replayed_objects import ReplayedObjects
from rlint.prove.replay.suspensions import YIELDED, begin
from rlint.prove.replay.transplant import transplant

CALL = "recorded call"
OTHER = 1_000_000
"""Offset that the harness adds to a seed for other inputs."""


@dataclass(slots=True)
class Inputs:
    """The inputs of one call."""

    record: CallRecord
    held: dict[str, Any]
    cut: list[Any]
    answers: dict[int, Any]
    suspensions: Suspensions | None
    log: list[Any] = field(default_factory=list)


class RecordedWorkload(Workload):
    """Recorded calls of a region."""

    claims = ("time",)
    sizes = (1,)

    def __init__(
        self, arm: RecordedArm, code: RegionCode, records: Sequence[CallRecord], live: Sequence[str]
    ) -> None:
        self._arm, self._code, self._records, self._live = arm, code, records, live
        self._call: Any = None
        self._last: Inputs | None = None
        self.first: tuple[CallRecord, Any] | None = None
        """The first call that was made, and its result."""
        self.faithful = True
        """Whether random streams are restored to their state in the run, which takes time."""
        self.decorators = False
        self.object_calls: ReplayedObjects | None = None
        """The objects that the fix creates differently."""

    def prepare(self, program: Any, case: Case) -> Inputs:  # noqa: ARG002 - as the harness calls it
        """Recreate the names and globals of a recorded call."""
        count = len(self._records)
        other = case.seed >= OTHER
        record = self._records[(case.seed - OTHER + 1) % count if other else case.seed]
        restored.CODES.clear()
        restored.CODES.update(self._arm.codes)
        held, spaces, answers, cut = record.restore()
        for name, space in spaces.items():
            module = sys.modules.get(name)
            if module is not None:
                vars(module).update(space)
        if self.object_calls is not None:
            self.object_calls.migrate(record, held, self._arm)
        made = Inputs(record, held, cut, answers, record.restore_suspensions())
        if other and self._last is not None:
            self._same_objects(self._last, made)
        self._last = made
        if self._call is None:
            module = self._arm.module_of(self._path)
            self._call = self._code.bound_in(module, self.decorators)
        return made

    @property
    def _path(self) -> str:
        return self._code._path

    def _same_objects(self, first: Inputs, later: Inputs) -> None:
        """Update the objects of an earlier call to their state in a later one, if they are the same objects
        in the run: data that a fix keeps in them, or by their identity, is then kept, too.
        """
        ours, counterpart = first.record.header, later.record.header
        if ours["pid"] != counterpart["pid"]:
            return
        for name, number in counterpart["identities"].items():
            if ours["identities"].get(name) == number and type(first.held.get(name)) is type(
                later.held[name]
            ):
                transplant(first.held[name], later.held[name])
                later.held[name] = first.held[name]

    def run(self, program: Any, inputs: Inputs) -> Any:  # noqa: ARG002 - as the harness calls it
        """Run the call."""
        for number, answers in inputs.answers.items():
            restored.set_answers(number, answers)
        restored.LOG.clear()
        held = inputs.held
        if self.faithful:
            held = dict(held)
            restored.set_streams(inputs.record.restore_streams())
        begin(inputs.suspensions, faithful=self.faithful)
        with _modes(inputs.record.header["settings"]):
            found = self._call(held)
        if self.faithful and restored.LOG:
            inputs.log = list(restored.LOG)
        if self.first is None:
            self.first = inputs.record, found
        return found

    def outcome(self, program: Any, inputs: Inputs, result: Any) -> Mapping[str, Any]:  # noqa: ARG002
        """Return the values to compare: what the call returns, binds and mutates, and its calls of
        stand-ins.
        """
        found: dict[str, Any] = {"inputs": inputs.held}
        if result is not None:
            how, value, names = result
            if YIELDED in names:
                found["yielded"] = names[YIELDED]
            found["left by"] = how
            if how == RETURN:
                found["result"] = value
            else:
                found |= {name: names[name] for name in self._live if name in names}
        if inputs.cut:
            found["earlier graph"] = inputs.cut
        if inputs.log:
            found["calls"] = inputs.log
        return found


def reproduced(record: CallRecord, result: Any, live: Sequence[str]) -> tuple[Any, Any] | None:
    """Return the results of the run and the replay, to be compared; None if the run's is not known."""
    described = record.restore_outcome()
    if described is None or result is None:
        return None
    returned, value, names = described
    how, now, bound = result
    suspensions = record.restore_suspensions()
    if suspensions is not None and YIELDED in bound:
        return suspensions.values, bound[YIELDED].values
    if returned != (how == RETURN):
        return (returned, value), (how == RETURN, now)
    if returned:
        return value[0], now
    return names, {name: bound[name] for name in live if name in bound and name in names}


@contextlib.contextmanager
def _modes(settings: Mapping[str, Any]) -> Any:
    """Set the autograd mode of the run within the context."""
    torch: Any = sys.modules.get("torch")
    if torch is None or not settings:
        yield
        return
    if settings["inference"]:
        with torch.inference_mode():
            yield
        return
    if torch.is_grad_enabled() == settings["grad"]:
        yield
        return
    with torch.set_grad_enabled(settings["grad"]):
        yield


def walked(value: Any) -> Any:
    """Return a copy of a value to compare."""
    return Walker().walk(value)
