"""Job that proves one fix in a separate process of the harness."""

from __future__ import annotations

import gc
import statistics
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rlint.harness.compare.allowed_differences import AllowedDifferences, matches
from rlint.harness.compare.differences import FoundDifference, Snapshot
from rlint.harness.compare.listening import Listener
from rlint.harness.compare.module_state import is_too_much, module_state
from rlint.harness.compare.observation import Observation, Scene, Trial, differences, observe_calls
from rlint.harness.compare.process_settings import ProcessSettings
from rlint.harness.compare.snapshot import Node, Root, TooManyObjectsError
from rlint.harness.compare.uninitialised import filled
from rlint.harness.measure.memory import MemoryUse, observe
from rlint.harness.measure.synchronisations import traced
from rlint.harness.measure.timed_batches import ArmAtSize, settle_memory
from rlint.harness.measure.timing import CONTROL, Round, measure_arms
from rlint.harness.processes.job import Message
from rlint.harness.program import AFTER, BEFORE, Subject, WorkloadError
from rlint.harness.workload import AGAIN, Case
from rlint.prove.plan.made_objects import MadeObjects
from rlint.prove.plan.regions import Region
from rlint.prove.replay.recorded_arm import RecordedArm
from rlint.prove.replay.recorded_workload import CALL, RecordedWorkload, reproduced, walked
from rlint.prove.replay.records import CallRecord, read
from rlint.prove.replay.region_code import RegionCode
from rlint.prove.replay.replayed_objects import ReplayedObjects

_LEAST_LIMIT, _MUCH_LONGER = 20.0, 30
_LEAST_RECORDS, _PATIENCE = 2, 15.0
"""Minimum number of records to compare, and seconds after which no further ones are."""
_ROUNDS_IN_BUDGET = 0.5
_MOST_WEIGHED, _LONG = 2, 0.5
"""Records whose memory is observed, and seconds of a call beyond which it is not."""
_VALUES = frozenset({"value", "type", "dtype", "shape", "length", "attribute"})


@dataclass(frozen=True)
class Found:
    """A difference, with its call."""

    kind: str
    path: str
    before: str
    after: str
    record: int
    when: str = ""


@dataclass
class Replayed:
    """The result of replaying a fix."""

    cases: int = 0
    sequences: int = 0
    differences: list[Found] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    """Why records were not compared."""
    good: tuple[int, ...] = ()
    """The compared records."""
    memory: list[MemoryUse] = field(default_factory=list)
    waits: dict[str, list[int]] = field(default_factory=dict)
    """Synchronisations with the device in each arm, if there is one."""
    rounds: list[Round] = field(default_factory=list)
    """Timings of all compared records, whose number is the `size`."""


@dataclass(frozen=True)
class ReplayJob:
    """Records of one region, and the texts of the program before and after a fix."""

    region: Region
    path: str
    roots: tuple[str, ...]
    before: Mapping[str, str]
    after: Mapping[str, str]
    records: tuple[str, ...]
    key: bytes
    budget: float = 6.0
    """Seconds for timing."""
    decorators: bool = False
    timed: bool = True
    round: int = 0
    only: tuple[int, ...] | None = None
    """Time these records, which an earlier job has compared."""
    made: tuple[MadeObjects, ...] = ()
    """Classes whose constructors the fix changes together with other methods."""

    def work(self, send: Callable[[Message], None]) -> None:
        """Do the job, and report its result."""
        try:
            send(Message("result", self.path, _Replay(self, send).run()))
        except WorkloadError as error:
            send(Message("failed", self.path, str(error)))
        except Exception as error:  # noqa: BLE001 - told to the process that waits
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{place.filename}:{place.lineno}"
            send(
                Message("failed", self.path, f"replaying it raised {type(error).__name__}: {error} ({where})")
            )


class _Replay:
    def __init__(self, job: ReplayJob, send: Callable[[Message], None]) -> None:
        self._job, self._send = job, send
        self._records = [read(Path(path), job.key) for path in job.records]
        header = self._records[0].header
        _set_up(header)
        texts = {BEFORE: dict(job.before), AFTER: dict(job.after)}
        main = header["main"] or job.path
        self._subject = Subject(main, "__main__", job.roots, job.path, texts)
        self._codes = {
            name: RegionCode(texts[name][job.path], job.path, job.region, after=name == AFTER)
            for name in (BEFORE, AFTER)
        }
        self._scene = Scene(Listener())
        self._initial_settings = ProcessSettings()
        self._passed_over: dict[str, frozenset[str]] = {}
        self._found = Replayed()
        self._device = "cuda" if header["settings"].get("cuda") else "cpu"
        self._last: tuple[CallRecord, Any] | None = None
        self._object_calls = {
            name: ReplayedObjects(job.made, texts[name], job.key, after=name == AFTER) for name in texts
        }

    # --- arms ---

    def _arm(self, name: str) -> tuple[RecordedArm, RecordedWorkload]:
        code = self._codes[name]
        wanted = self._codes[BEFORE].reads | self._codes[AFTER].reads
        header = self._records[0].header
        arm = RecordedArm(self._subject, name, header, wanted - frozenset(header["given"]))
        with self._scene.listener.listening():
            arm.load()
        workload = RecordedWorkload(arm, code, self._records, self._job.region.live)
        workload.decorators = self._job.decorators
        workload.object_calls = self._object_calls[name]
        arm.take(CALL, workload)
        return arm, workload

    def run(self) -> Replayed:
        """Compare all records, then time those that could be compared."""
        if self._job.only is not None:
            self._found.rounds = self._time(self._job.only)
            return self._found
        started = time.perf_counter()
        self._arm(BEFORE)
        took = time.perf_counter() - started
        self._passed_over = self._import_differences()
        gc.freeze()
        good: list[int] = []
        begun = time.perf_counter()
        for number in range(len(self._records)):
            if number >= _LEAST_RECORDS and time.perf_counter() - begun > _PATIENCE:
                self._found.notes[f"only {number} of {len(self._records)} recorded calls were compared"] = (
                    None
                )
                break
            self._send(Message("progress", self._job.path, (number, len(self._records))))
            if self._compare(number) and not self._records[number].header["raised"]:
                good.append(number)
        if good and not self._found.differences:
            quick = took < 1 and time.perf_counter() - begun < _PATIENCE
            for number in good[: 2 if quick else 1]:
                self._sequence(number)
        self._found.good = tuple(good)
        if good and not self._found.differences and self._job.timed:
            self._found.rounds = self._time(good)  # frozen objects stay frozen: freezing again is slow
        else:
            gc.unfreeze()
        return self._found

    def _import_differences(self) -> dict[str, frozenset[str]]:
        """Return the names of modules that the fix changes on import, those with too much content, and names
        that a region binds but nothing reads.
        """
        states = {name: module_state(self._arm(name)[0]) for name in (BEFORE, AFTER)}
        found = {}
        for name in (BEFORE, AFTER):
            ours, counterpart = states[BEFORE], states[name]
            differing, _ = differences(
                Observation(Snapshot(ours)), Observation(Snapshot(counterpart)), AllowedDifferences()
            )
            much = {path for path, root in (*ours.items(), *counterpart.items()) if is_too_much(root)}
            tops = {path for path in ours for one in differing if matches(path, one.path)}
            found[name] = frozenset({*(ours.keys() ^ counterpart.keys()), *much, *tops, *self._dead()})
        return found

    def _dead(self) -> set[str]:
        if self._job.region.scope:
            return set()
        live = set(self._job.region.live)
        return {f"__main__.{name}" for name in self._job.region.names if name not in live}

    # --- behaviour ---

    def _observe(self, name: str, trial: Trial, limit: float) -> list[Observation]:
        self._initial_settings.restore()
        try:
            with filled():
                arm, workload = self._arm(name)
                found = observe_calls(arm, CALL, trial, self._scene, limit=limit)
                self._last = workload.first
                return found
        finally:
            self._initial_settings.restore()

    def _compare(self, number: int) -> bool:
        """Compare a record; return False if that is not possible, with the reason recorded."""
        record = self._records[number]
        trial = Trial(Case(number, 1, self._device))
        limit = max(_LEAST_LIMIT, _MUCH_LONGER * record.seconds)
        try:
            before = self._observe(BEFORE, trial, limit)
            problem = self._unfaithful(record, before)
            if problem:
                return self._leave_out(problem)
            twin = self._observe(BEFORE, trial, limit)
            varying, _ = differences(before[0], twin[0], AllowedDifferences(), self._passed_over[BEFORE])
            after = self._observe(AFTER, trial, 3 * limit)
        except TooManyObjectsError as error:
            return self._leave_out(str(error).partition(";")[0])
        if any(one.kind in _VALUES and one.place.startswith("result") for one in varying):
            first = varying[0]
            return self._leave_out(f"without the fix, two replays differ in {first.kind} of `{first.path}`")
        allowed = {one.place for one in varying}
        allowances = self._object_calls[AFTER].allowances()
        found, notes = differences(before[0], after[0], allowances, self._passed_over[AFTER])
        missing = _lacks_attribute(after[0], before[0])
        if missing:
            return self._leave_out(missing)
        self._found.notes |= notes
        self._found.cases += 1
        if _warnings(after[0]) < _warnings(before[0]):
            self._found.notes["the fix silences a warning"] = None
            found = [one for one in found if one.kind != "warned"]
        self._note(found, allowed, number, "")
        return True

    def _sequence(self, number: int) -> None:
        trial = Trial(Case(number, 1, self._device), AGAIN)
        limit = max(_LEAST_LIMIT, _MUCH_LONGER * self._records[number].seconds)
        try:
            before = self._observe(BEFORE, trial, limit)
            twin = self._observe(BEFORE, trial, limit)
            after = self._observe(AFTER, trial, 3 * limit)
        except TooManyObjectsError:
            return
        for one, two, other in zip(before, twin, after, strict=False):
            if one.raised is not None and "StandInError" in one.raised.text:
                break
            varying, _ = differences(one, two, AllowedDifferences(), self._passed_over[BEFORE])
            found, _ = differences(
                one, other, self._object_calls[AFTER].allowances(), self._passed_over[AFTER]
            )
            if _warnings(other) < _warnings(one):
                found = [each for each in found if each.kind != "warned"]
            self._note(found, {each.place for each in varying}, number, one.call)
            if found:
                break
        self._found.sequences += 1

    def _note(self, found: Sequence[FoundDifference], allowed: set[str], number: int, when: str) -> None:
        for one in found:
            if one.place in allowed:
                self._found.notes[f"`{one.path}` varies from run to run, and is not compared"] = None
            elif len(self._found.differences) < 20:
                self._found.differences.append(Found(one.kind, one.path, one.before, one.after, number, when))

    def _unfaithful(self, record: CallRecord, before: list[Observation]) -> str:
        """Return how the replay differs from the run; "" if it does not."""
        if not before:
            return "it could not be called again"
        raised = before[0].raised
        if raised is not None and raised.stage == "prepare":
            return f"its inputs cannot be recreated: {raised.text}"[:300]
        if raised is not None and "StandInError" in raised.text:
            return raised.text.partition(": ")[2]
        if raised is not None and not record.header["raised"]:
            return f"called again, it raises {raised.text}, which it did not in the run"[:300]
        if self._last is None:
            return ""
        pair = reproduced(*self._last, self._job.region.live)
        if pair is None:
            return ""
        ours, counterpart = ({"result": Root(walked(one))} for one in pair)
        found, _ = differences(
            Observation(Snapshot(ours)), Observation(Snapshot(counterpart)), AllowedDifferences()
        )
        first = next((one for one in found if one.kind in _VALUES), None)
        if first is None:
            return ""
        return (
            f"called again, it gives another {first.kind} of `{first.path}` than it did in the run"
            f" ({first.before}, then {first.after})"
        )[:300]

    def _leave_out(self, why: str) -> bool:
        self._found.left_out[why] = self._found.left_out.get(why, 0) + 1
        return False

    # --- time ---

    def _time(self, good: Sequence[int]) -> list[Round]:
        long = statistics.fmean(self._records[number].seconds for number in good)
        most = max(1, int(_ROUNDS_IN_BUDGET * self._job.budget / max(long, 1e-6)))
        good = good[:: -(-len(good) // most)]
        arms = {}
        for name in (BEFORE, CONTROL, AFTER):
            arm, workload = self._arm(BEFORE if name == CONTROL else name)
            workload.faithful = False
            arms[name] = arm
        points = {
            number: {name: ArmAtSize(arm, CALL, Case(number, 1, self._device)) for name, arm in arms.items()}
            for number in good
        }
        settle_memory()
        try:
            rounds = list(measure_arms(points, self._job.budget, self._job.round))
            if self._job.only is None:
                self._weigh(points)
        finally:
            gc.unfreeze()
        return rounds

    def _weigh(self, points: Mapping[int, Mapping[str, ArmAtSize]]) -> None:
        """Observe the memory of some calls, and on a device their synchronisations."""
        for number in list(points)[:_MOST_WEIGHED]:
            for name in (BEFORE, AFTER):
                point = points[number][name]
                if point.turn < _LONG:
                    self._found.memory.append(observe(point, number, name, 0))
                    if self._device == "cuda":
                        waits = traced(point, self._device).waits
                        self._found.waits.setdefault(name, []).append(waits)


def _warnings(seen: Observation) -> set[object]:
    root = seen.snapshot.roots.get("warned")
    return set() if root is None or not isinstance(root.child, Node) else set(root.child.parts.values())


def _lacks_attribute(after: Observation, before: Observation) -> str:
    """Return the reason if the fixed code reads attributes that only its constructor would have set."""
    if before.raised is not None or after.raised is None:
        return ""
    if after.raised.type.endswith("AttributeError") and "has no attribute" in after.raised.text:
        return f"the fixed code reads attributes that older objects lack: {after.raised.text}"[:300]
    return ""


def _set_up(header: Mapping[str, Any]) -> None:
    """Apply the process settings of the run."""
    import contextlib
    import os

    with contextlib.suppress(OSError):
        os.chdir(header["cwd"])
    settings = header["settings"]
    if not settings:
        return
    import torch

    torch.set_default_dtype(getattr(torch, settings["dtype"]))
    torch.set_num_threads(settings["threads"])
    if settings["device"] not in ("cpu", "None"):
        torch.set_default_device(settings["device"])
    if settings["deterministic"]:
        torch.set_deterministic_debug_mode(settings["deterministic"])
