"""Jobs of `rlint verify` and `rlint prove` on nodes of a cluster with the requested device.

A GPU is a Ray resource, of which each job has one. Jobs that time on the CPU have a node each, since another
job would disturb the measurement.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rlint.errors import RlintError
from rlint.evidence.results import Machine
from rlint.harness.processes.job import TIMING, BenchJob
from rlint.harness.processes.process import EndedError, ProcessLimits, StoppedError
from rlint.prove.replay.replay_job import ReplayJob
from rlint.source.atomic_write import create_file

_WAIT = 0.2
_MOST_BYTES = 200_000_000
_SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages", "dist-packages", "venv"})


class JobsOnRay:
    """Runs jobs as `rlint.harness.processes.process.run` does, on other machines."""

    def __init__(self, ray: Any, device: str = "cpu") -> None:
        self._ray = ray
        self._device = device
        """The kind of device for jobs that do not name it themselves."""
        have = ray.cluster_resources()
        self.slots: Mapping[str, int] = {
            "cpu": max(1, int(have.get("CPU", 1))),
            "cuda": int(have.get("GPU", 0)),
            "nodes": max(1, sum(1 for node in ray.nodes() if node["Alive"])),
        }
        self._kind_of_gpu = _most_frequent_gpu(ray.nodes())
        if device == "cuda" and not self.slots["cuda"]:
            raise RlintError("the Ray cluster has no GPU")

    def run(
        self,
        job: Any,
        limits: ProcessLimits,
        on_message: Callable[[Any], None],
        *,
        threads: int,
        hash_seed: int = 0,
        stop: threading.Event | None = None,
        start: object = None,  # noqa: ARG002 - how processes are started on this machine
    ) -> None:
        """Run a job on a node with its device, and pass on its messages once it has ended.

        Raises EndedError and StoppedError as on this machine.
        """
        device = job.device if isinstance(job, BenchJob) else self._device
        if isinstance(job, BenchJob) and job.subject is None:  # detection of devices
            device = "cuda" if self.slots["cuda"] else "cpu"
        remote = self._ray.remote(_on_node).options(max_retries=2, **self._resources(device))
        alone = device == "cuda" or isinstance(job, ReplayJob) or job.phase == TIMING
        ticket = remote.remote(job, limits, threads, hash_seed, files_of(job), device if alone else "")
        while not self._ray.wait([ticket], timeout=_WAIT)[0]:
            if stop is not None and stop.is_set():
                self._ray.cancel(ticket, force=True)
                raise StoppedError
        try:
            messages, failure = self._ray.get(ticket)
        except self._ray.exceptions.RayError as error:
            reason = str(error).strip().splitlines()
            raise EndedError(f"was lost with its node: {reason[-1] if reason else error!r}") from None
        for message in messages:
            on_message(message)
        if failure is not None:
            raise EndedError(failure)

    def describe(self, accelerator: str) -> Machine:
        """Return a description of a node with the device, from the node."""
        device = "cuda" if accelerator and self.slots["cuda"] else "cpu"
        remote = self._ray.remote(_described).options(**self._resources(device))
        machine: Machine = self._ray.get(remote.remote(accelerator))
        return machine

    def _resources(self, device: str) -> dict[str, Any]:
        if device != "cuda":
            return {"num_cpus": 1, "scheduling_strategy": "SPREAD"}
        kind = {"resources": {self._kind_of_gpu: 0.001}} if self._kind_of_gpu else {}
        return {"num_cpus": 1, "num_gpus": 1, **kind}


def _described(accelerator: str) -> Machine:
    from rlint.harness.machine import describe_machine

    return describe_machine(accelerator)


def _most_frequent_gpu(nodes: Sequence[Mapping[str, Any]]) -> str:
    """Return the resource of the most frequent kind of GPU: one run measures on one kind."""
    found: Counter[str] = Counter()
    for node in nodes:
        if node["Alive"]:
            names = [name for name in node["Resources"] if name.startswith("accelerator_type:")]
            found.update({name: int(node["Resources"].get("GPU", 0)) for name in names})
    return max(found, key=lambda name: (found[name], name), default="")


def files_of(job: Any) -> dict[str, bytes]:
    """Return the files that a job reads, by their absolute paths: a node may not have them."""
    if isinstance(job, ReplayJob):
        paths, roots = [*job.records, job.path, *job.before], job.roots
    elif isinstance(job, BenchJob) and job.subject is not None:
        paths, roots = [job.subject.workload, job.subject.main], job.subject.roots
    else:
        return {}
    found: dict[str, bytes] = {}
    size = 0
    for path in [*paths, *(each for root in roots for each in _sources(root))]:
        if path not in found and os.path.isfile(path):
            found[path] = Path(path).read_bytes()
            size += len(found[path])
            if size > _MOST_BYTES:
                raise RlintError("the program has more files than can be sent to nodes")
    return found


def _sources(root: str) -> Iterator[str]:
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in _SKIPPED and not name.startswith(".")]
        yield from (os.path.join(folder, name) for name in names if name.endswith(".py"))


def _on_node(
    job: Any, limits: ProcessLimits, threads: int, hash_seed: int, files: Mapping[str, bytes], alone: str
) -> tuple[list[Any], str | None]:
    """Run a job in a separate process on this node; return its messages, and how it failed."""
    from rlint.harness.processes import process

    messages: list[Any] = []
    with _turn(alone), _present(files):
        try:
            process.run(job, limits, messages.append, threads=threads, hash_seed=hash_seed)
        except EndedError as error:
            return messages, str(error)
    return messages, None


@contextlib.contextmanager
def _turn(device: str) -> Iterator[None]:
    """Wait until no other job uses a device of this node on which measurements must run alone."""
    if not device:
        yield
        return
    number = os.environ.get("CUDA_VISIBLE_DEVICES", "") if device == "cuda" else ""
    name = "".join(each if each.isalnum() else "-" for each in f"{device}-{number}")
    with _lock(name) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def _present(files: Mapping[str, bytes]) -> Iterator[None]:
    """Provide files at their paths: files that this node lacks are written, and removed at the end.

    Raises EndedError if another file has one of the paths.
    """
    name = hashlib.sha256("\0".join(sorted(files)).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    with _lock(f"files-{name}") as lock:
        # Jobs of one program share its files: the last of them removes those that any of them has written.
        fcntl.flock(lock, fcntl.LOCK_SH)
        try:
            for place, content in files.items():
                path = Path(place)
                try:
                    if path.read_bytes() != content:
                        raise EndedError(f"needs {path}, but a node has another file at this path")
                except FileNotFoundError:
                    made = [each for each in (path.parent, *path.parent.parents) if not each.exists()]
                    path.parent.mkdir(parents=True, exist_ok=True)
                    with contextlib.suppress(FileExistsError):  # another job has just written it
                        create_file(path, content)
                        os.write(lock, "".join(f"{each}\0" for each in (path, *made)).encode())
            yield
        finally:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.lseek(lock, 0, os.SEEK_SET)
                _remove(os.read(lock, 50_000_000).decode().split("\0")[:-1])
                os.ftruncate(lock, 0)


def _remove(names: Sequence[str]) -> None:
    for path in sorted(map(Path, set(names)), key=lambda each: -len(each.parts)):
        with contextlib.suppress(OSError):
            if path.is_dir():
                path.rmdir()
            else:
                path.unlink()


@contextlib.contextmanager
def _lock(name: str) -> Iterator[int]:
    """Open a file for locks of this user on this node."""
    path = Path(tempfile.gettempdir(), f"rlint-{os.getuid()}-{name}.lock")
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_APPEND, 0o600)
    try:
        yield handle
    finally:
        os.close(handle)
