"""Observed runs of a workload: the result of each, as data."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rlint.harness.compare.derived_inputs import derive, reverse
from rlint.harness.compare.descriptors import overheard
from rlint.harness.compare.differences import Comparison, FoundDifference, Snapshot
from rlint.harness.compare.files_written import FileWatch
from rlint.harness.compare.leftovers import Leftovers
from rlint.harness.compare.listening import CapturedOutput, Listener
from rlint.harness.compare.module_state import module_state
from rlint.harness.compare.process_settings import settings
from rlint.harness.compare.random_streams import global_streams, seed_streams
from rlint.harness.compare.snapshot import Root, Walker
from rlint.harness.compare.texts import name_of, settled
from rlint.harness.machine_devices import loaded_torch, synchronise
from rlint.harness.processes.deadline import OutOfTimeError, deadline
from rlint.harness.program import Arm, WorkloadError
from rlint.harness.workload import AGAIN, CHANGED, Workload

if TYPE_CHECKING:
    from rlint.harness.compare.allowed_differences import AllowedDifferences
    from rlint.harness.program import Subject
    from rlint.harness.workload import Case

IMPORT, PREPARE, RUN, OUTCOME = "import", "prepare", "run", "outcome"
"""The stages of a run."""
_OTHER_SEED = 1_000_000  # added to a seed for other inputs of the same program


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception, its origin (`file:line`), and the stage."""

    stage: str
    text: str
    where: str
    missing: str = ""
    """The module that is not installed, if the error says so."""
    late: bool = False
    """It was raised because the time limit was reached."""

    @property
    def type(self) -> str:
        """Return the name of the exception."""
        return self.text.partition(":")[0]


@dataclass(slots=True)
class Observation:
    """The observed behaviour of one run."""

    snapshot: Snapshot
    raised: Raised | None = None
    call: str = ""
    """Description of the call in a sequence; "" for the first."""
    derived: tuple[str, ...] = ()
    """The paths where its inputs are not those of the workload."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A case, and how it is run: as one call, unless `variant` is one of VARIANTS."""

    case: Case
    variant: str = ""
    other_size: int | None = None
    """Another size, for sequences of calls."""

    @property
    def derives(self) -> bool:
        """Whether the inputs are not those of the workload, so that the program may refuse them."""
        return self.variant not in ("", AGAIN, CHANGED)


@dataclass(slots=True)
class Scene:
    """Observers of runs."""

    listener: Listener
    leftovers: Leftovers = field(default_factory=Leftovers)
    files: FileWatch = field(default_factory=FileWatch)


def observe(arm: Arm, workload: str, case: Case, listener: Listener) -> Observation:
    """Prepare a case with an arm's own copy of the workload, run it, and observe the result.

    The state of the program's modules is not observed.
    """
    [found] = observe_calls(arm, workload, Trial(case), Scene(listener), modules=False)
    return found


def observe_calls(
    arm: Arm, workload: str, trial: Trial, scene: Scene, *, limit: float | None = None, modules: bool = True
) -> list[Observation]:
    """Run a trial with an arm's own copy of the workload, and observe everything after each call.

    There is no call if the inputs allow no derived ones. `limit` are the seconds for a call.
    """
    with arm.active():
        calls = _Calls(arm, arm.workloads[workload], trial.case, scene, limit, modules=modules)
        try:
            calls.make(trial)
        finally:
            scene.files.put_back()
        return calls.found


class _Calls:
    """Calls with one loaded program, one after the other."""

    def __init__(
        self,
        arm: Arm,
        driver: Workload,
        case: Case,
        scene: Scene,
        limit: float | None,
        *,
        modules: bool,
    ) -> None:
        self._arm, self._driver, self._case, self._scene = arm, driver, case, scene
        self._limit, self._modules = limit, modules
        self._inputs: Any = None
        self._result: Any = None
        self._derived: tuple[str, ...] = ()
        self._earlier_output = CapturedOutput()
        self.found: list[Observation] = []

    def make(self, trial: Trial) -> None:
        """Run all calls of a trial; none after one that exceeds its time."""
        if not self._prepare(trial.case):
            return
        if trial.derives:
            own = frozenset(self._arm.own_modules) | {type(self._driver).__module__}
            self._inputs, self._derived = derive(trial.variant, self._inputs, trial.case.seed, own)
            if not self._derived:
                return
        self._run("")
        if trial.variant == AGAIN:
            self._again(trial)
        elif trial.variant == CHANGED:
            for number in (2, 3):
                self._derived = (*reverse(self._inputs, "inputs"), *reverse(self._result, "result"))
                if self._derived and not self._late:
                    self._run(f"in call {number}, after inputs and results had been modified")

    def _again(self, trial: Trial) -> None:
        first = self._inputs
        for number in (2, 3):
            self._run(f"in call {number} on the same inputs")
        case = trial.case
        if self._prepare(replace(case, seed=case.seed + _OTHER_SEED)):
            self._run("in call 4, on other inputs")
        if trial.other_size is not None and self._prepare(replace(case, size=trial.other_size)):
            self._run(f"in call 5, on inputs of size {trial.other_size:,}")
        self._inputs = first
        self._run("in call 6, on the first inputs again")

    @property
    def _late(self) -> bool:
        return bool(self.found) and self.found[-1].raised is not None and self.found[-1].raised.late

    def _prepare(self, case: Case) -> bool:
        """Create inputs, and return whether there are any. An exception in the first preparation is
        observed.
        """
        if self._late:
            return False
        with self._scene.listener.listening() as captured:
            try:
                seed_streams(case)
                self._inputs = self._driver.prepare(self._arm.program, case)
            except BaseException as error:  # noqa: BLE001 - it is part of the behaviour
                raised = _raised(PREPARE, error, self._arm.subject)
                roots = _global_roots()
            else:
                self._earlier_output = captured
                seed_streams(case)
                return True
        if not self.found:
            self.found.append(Observation(Snapshot(roots | _output_roots([captured])), raised))
        return False

    def _run(self, call: str) -> None:
        if self._late:
            return
        arm, driver, scene = self._arm, self._driver, self._scene
        raised: Raised | None = None
        self._result = None
        running = scene.leftovers.running()
        with scene.listener.listening() as captured:
            with overheard() as written, scene.files.active():
                try:
                    with deadline(self._limit):
                        self._result = driver.run(arm.program, self._inputs)
                        synchronise(self._case.device)
                except OutOfTimeError:
                    what = f"did not end within {self._limit:.0f} s"
                    raised = Raised(RUN, what, arm.subject.workload, late=True)
                except BaseException as error:  # noqa: BLE001 - it is part of the behaviour
                    raised = _raised(RUN, error, arm.subject)
                left = scene.leftovers.since(running)
            roots = _global_roots() | _left_roots(left, scene.files.changed())
            if self._modules:
                roots |= module_state(arm)
        outputs, self._earlier_output = [self._earlier_output, captured], CapturedOutput()
        roots |= _output_roots(outputs) | {
            f"printed.descriptor_{number}": Root(text, "printed") for number, text in written.items()
        }
        with scene.listener.listening():  # to anything that is not part of the run
            values: Mapping[str, Any] = {}
            try:
                values = _outcome(driver, arm, self._inputs, self._result, failed=raised is not None)
            except BaseException as error:  # noqa: BLE001 - what it cannot deal with may be the fix's doing
                raised = _raised(OUTCOME, error, arm.subject)
            self.found.append(Observation(_snapshot(values, roots), raised, call, self._derived))


def _outcome(driver: Workload, arm: Arm, inputs: Any, result: Any, *, failed: bool) -> Mapping[str, Any]:
    if not failed:
        return driver.outcome(arm.program, inputs, result)
    if type(driver).outcome is Workload.outcome:
        return {"inputs": inputs}
    try:
        return driver.outcome(arm.program, inputs, None)
    except Exception:  # noqa: BLE001 - it may count on a result
        return {"inputs": inputs}


def _snapshot(values: Mapping[str, Any], others: Mapping[str, Root]) -> Snapshot:
    walker = Walker()
    roots = {str(name): Root(walker.walk(value)) for name, value in values.items()}
    taken = [name for name in roots if name in others]
    if taken:
        raise WorkloadError(f"`outcome` returns `{taken[0]}`, which is always compared: choose another name")
    torch = loaded_torch()
    if torch is None or not walker.objects:
        return Snapshot({**roots, **others})
    from rlint.harness.compare.gradients import probe

    return Snapshot({**roots, **others}, probe(walker))


def _global_roots() -> dict[str, Root]:
    from rlint.harness.compare.snapshot import Node

    found = {
        path: Root(Node("stream", data=stream), "random stream") for path, stream in global_streams().items()
    }
    return found | {path: Root(value, "setting") for path, value in settings().items()}


def _output_roots(captured: Sequence[CapturedOutput]) -> dict[str, Root]:
    return {
        "printed": Root("".join(one.printed for one in captured), "printed"),
        "printed.stderr": Root("".join(one.printed_as_error for one in captured), "printed"),
        "warned": _listed(dict.fromkeys(text for one in captured for text in one.warned), "warned"),
        "logged": _listed([text for one in captured for text in one.logged], "logged"),
    }


def _left_roots(running: Sequence[str], files: Mapping[str, str | None]) -> dict[str, Root]:
    found = {"running": _listed(running, "running")}
    return found | {f"files[{name!r}]": Root(content, "file") for name, content in files.items()}


def _listed(texts: Iterable[str], kind: str) -> Root:
    return Root(Walker().walk(dict(enumerate(texts))), kind)


def _raised(stage: str, error: BaseException, subject: Subject) -> Raised:
    if isinstance(error, KeyboardInterrupt):
        raise error
    own = (subject.workload, subject.main, *subject.roots)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(own)]
    where = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else subject.workload
    message = settled(str(error))
    missing = (error.name or "") if isinstance(error, ModuleNotFoundError) else ""
    return Raised(stage, f"{name_of(type(error))}{': ' if message else ''}{message}", where, missing)


def failed_to_load(error: WorkloadError) -> Observation:
    """Return the observation of an arm that cannot be imported."""
    return Observation(Snapshot({}), Raised(IMPORT, str(error), ""))


def differences(
    before: Observation,
    after: Observation,
    allowances: AllowedDifferences,
    passed_over: frozenset[str] = frozenset(),
) -> tuple[list[FoundDifference], dict[str, None]]:
    """Compare two runs of one case: return the differences, and notes.

    Objects at the top-level paths in `passed_over` are left out.
    """
    comparison = Comparison(allowances)
    one, other = before.raised, after.raised
    if (one and (one.stage, one.text)) == (other and (other.stage, other.text)):
        pair = [_without(one.snapshot, passed_over) for one in (before, after)]
        return comparison.run(*pair), comparison.notes
    stage = (one or other).stage  # type: ignore[union-attr]
    texts = [raised.text if raised else "no exception" for raised in (one, other)]
    found = (
        [] if allowances.allows(stage) else [FoundDifference("exception", stage, texts[0], texts[1], stage)]
    )
    if {raised.stage for raised in (one, other) if raised} == {RUN}:
        # What both arms have can still be compared: inputs modified half-way, streams, output.
        roots = [before.snapshot.roots, after.snapshot.roots]
        lone = passed_over | (roots[0].keys() ^ roots[1].keys())
        pair = [Snapshot(_without(one.snapshot, lone).roots) for one in (before, after)]
        found += comparison.run(*pair)
    return found, comparison.notes


def _without(snapshot: Snapshot, names: frozenset[str]) -> Snapshot:
    if not names & snapshot.roots.keys():
        return snapshot
    kept = {name: root for name, root in snapshot.roots.items() if name not in names}
    return Snapshot(kept, snapshot.probes)
