"""The program of each measuring process: takes one job, reports, ends."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from typing import IO, Any

from rlint.harness.processes.job import (
    BEHAVIOUR,
    DEVICES,
    MEMORY,
    SYNCHRONISATIONS,
    TIMING,
    BenchJob,
    Declared,
    Job,
    Message,
)
from rlint.harness.program import BEFORE, MissingPackageError, Subject, WorkloadError, load
from rlint.harness.workload import Workload


def main() -> None:
    """Read a job from standard input, and write messages to standard output until it is done."""
    given, channel = _take_streams()
    job: Job = pickle.load(given)  # noqa: S301 - from the process that started this one
    _end_with_parent(given)
    sys.dont_write_bytecode = True  # the folders of the program are not changed

    def send(message: Message | None) -> None:
        pickle.dump(message, channel)
        channel.flush()

    if isinstance(job, BenchJob):
        _work(job, send)
    else:
        job.work(send)
    send(None)
    # Threads and exit handlers that the program has left behind are not waited for.
    os._exit(0)


def _take_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Keep both channels, and give the program under test an empty input and a discarded output."""
    given = os.fdopen(os.dup(0), "rb")
    channel = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)
    return given, channel


def _end_with_parent(given: IO[bytes]) -> None:
    """Exit at once when the waiting process has ended, for whatever reason."""

    def watch() -> None:
        given.read()
        if hasattr(os, "killpg"):
            os.killpg(0, signal.SIGKILL)  # this process leads a process group of its own
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _work(job: BenchJob, send: Callable[[Message | None], None]) -> None:
    if job.phase == DEVICES:
        from rlint.harness.machine_devices import available, describe

        found = available()
        send(
            Message("result", "", {kind: (why, "" if why else describe(kind)) for kind, why in found.items()})
        )
        return
    subject = job.subject
    assert subject is not None
    try:
        workloads = load(subject, BEFORE).workloads
    except WorkloadError as error:
        send(_failed("", error))
        return
    send(Message("declared", "", tuple(Declared.of(workload) for workload in workloads.values())))
    wanted = workloads if job.workloads is None else job.workloads
    names = [name for name in wanted if job.device in workloads[name].devices]
    for name in names:
        send(Message("begun", name))
        try:
            send(Message("result", name, _phase(job, subject, workloads[name], send)))
        except WorkloadError as error:
            send(_failed(name, error))
        except MemoryError:
            send(Message("failed", name, "ran out of memory"))
        except Exception as error:  # noqa: BLE001 - one workload's failure is not the others'
            send(Message("failed", name, _explained(error, subject)))


def _failed(workload: str, error: WorkloadError) -> Message:
    if isinstance(error, MissingPackageError):
        return Message("lacking", workload, (str(error), error.module))
    return Message("failed", workload, str(error))


def _phase(job: BenchJob, subject: Subject, workload: Workload, send: Callable[[Message], None]) -> Any:
    sizes = [workload.typical_size] if job.quick else list(workload.sizes)
    if job.phase == BEHAVIOUR:
        from rlint.harness.compare import behaviour

        return behaviour.compare(
            subject,
            workload.name,
            job.device,
            seeds=job.seeds,
            budget=job.budget,
            quick=job.quick,
            progress=lambda done, total: send(Message("progress", workload.name, (done, total))),
        )
    if job.phase == TIMING:
        from rlint.harness.measure import timing

        rounds = []
        for one in timing.measure(
            subject,
            workload.name,
            job.device,
            sizes=sizes,
            budget=job.budget,
            seed=job.round,
            round=job.round,
        ):
            rounds.append(one)
            send(Message("progress", workload.name, (len(rounds), 0)))
        return rounds
    if job.phase == MEMORY:
        from rlint.harness.measure import memory

        return memory.measure(subject, workload.name, job.device, sizes=sizes, runs=1 if job.quick else 3)
    assert job.phase == SYNCHRONISATIONS
    from rlint.harness.measure import synchronisations

    return synchronisations.measure(subject, workload.name, job.device, sizes=sizes)


def _explained(error: BaseException, subject: Subject) -> str:
    """Return the error, and the last line of the workload or the program in its traceback."""
    own = {subject.workload, subject.main}
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in own]
    place = f"{frames[-1].filename}:{frames[-1].lineno}: " if frames else ""
    text = traceback.format_exception_only(type(error), error)[-1].strip()
    if not place:
        text += "\n" + "".join(traceback.format_tb(error.__traceback__)[-3:]).rstrip()
    return place + text
