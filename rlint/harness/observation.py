"""One run of a workload, watched: what came of it, as data."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rlint.harness.devices import loaded_torch, synchronise
from rlint.harness.differences import Comparison, Found, Snapshot
from rlint.harness.program import Arm, WorkloadError
from rlint.harness.snapshot import Root, Walker
from rlint.harness.streams import global_streams, seed_streams
from rlint.harness.surroundings import settings
from rlint.harness.texts import name_of, settled
from rlint.harness.workload import Workload

if TYPE_CHECKING:
    from rlint.harness.excuses import Excuses
    from rlint.harness.listening import Heard, Listener
    from rlint.harness.program import Subject
    from rlint.harness.workload import Case

IMPORT, PREPARE, RUN, OUTCOME = "import", "prepare", "run", "outcome"
"""The stages of a run."""


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception, where it came from (`file:line`), and at which stage."""

    stage: str
    text: str
    where: str
    missing: str = ""
    """The module that is not installed, if that is what it says."""


@dataclass(slots=True)
class Observation:
    """What one run did."""

    snapshot: Snapshot
    raised: Raised | None = None


def observe(arm: Arm, workload: str, case: Case, listener: Listener) -> Observation:
    """Prepare a case with an arm's own copy of the workload, run it, and look at everything."""
    driver = arm.workloads[workload]
    raised: Raised | None = None
    inputs = result = None
    stage = PREPARE
    with arm.active():
        with listener.listening() as heard:
            try:
                seed_streams(case)
                inputs = driver.prepare(arm.program, case)
                seed_streams(case)
                stage = RUN
                result = driver.run(arm.program, inputs)
                synchronise(case.device)
            except BaseException as error:  # noqa: BLE001 - it is part of the behaviour
                raised = _raised(stage, error, arm.subject)
            roots = _global_roots()
        with listener.listening():  # to what is no part of the run
            values: Mapping[str, Any] = {}
            if stage == RUN:
                try:
                    values = _outcome(driver, arm, inputs, result, failed=raised is not None)
                except BaseException as error:  # noqa: BLE001 - what it cannot deal with may be the fix's doing
                    raised = _raised(OUTCOME, error, arm.subject)
            return Observation(_snapshot(values, roots | _heard_roots(heard)), raised)


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
        raise WorkloadError(
            f"`outcome` returns `{taken[0]}`, which is compared in any case: name it otherwise"
        )
    torch = loaded_torch()
    if torch is None or not walker.objects:
        return Snapshot({**roots, **others})
    from rlint.harness.gradients import probe

    return Snapshot({**roots, **others}, probe(walker))


def _global_roots() -> dict[str, Root]:
    from rlint.harness.snapshot import Node

    found = {
        path: Root(Node("stream", data=stream), "random stream") for path, stream in global_streams().items()
    }
    return found | {path: Root(value, "setting") for path, value in settings().items()}


def _heard_roots(heard: Heard) -> dict[str, Root]:
    return {
        "printed": Root(heard.printed, "printed"),
        "printed.stderr": Root(heard.printed_as_error, "printed"),
        "warned": Root(Walker().walk(dict(enumerate(heard.warned))), "warned"),
        "logged": Root(Walker().walk(dict(enumerate(heard.logged))), "logged"),
    }


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
    """The observation of an arm that cannot even be imported."""
    return Observation(Snapshot({}), Raised(IMPORT, str(error), ""))


def differences(
    before: Observation, after: Observation, excuses: Excuses
) -> tuple[list[Found], dict[str, None]]:
    """How two runs of one case differ, and what else is to be known of that."""
    comparison = Comparison(excuses)
    one, other = before.raised, after.raised
    if (one and (one.stage, one.text)) == (other and (other.stage, other.text)):
        return comparison.run(before.snapshot, after.snapshot), comparison.notes
    stage = (one or other).stage  # type: ignore[union-attr]
    texts = [raised.text if raised else "no exception" for raised in (one, other)]
    found = [] if excuses.allows(stage) else [Found("exception", stage, texts[0], texts[1], stage)]
    if {raised.stage for raised in (one, other) if raised} == {RUN}:
        # What both have got can still be told apart: inputs changed half-way, streams, what was printed.
        common = before.snapshot.roots.keys() & after.snapshot.roots.keys()
        pair = [
            Snapshot({name: root for name, root in snapshot.roots.items() if name in common})
            for snapshot in (before.snapshot, after.snapshot)
        ]
        found += comparison.run(*pair)
    return found, comparison.notes
