"""A Ray cluster: the one at an address, or one on this machine."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import shutil
import socket
import tempfile
from collections.abc import Iterator
from typing import Any

from rlint.errors import RlintError
from rlint.survey.executors import LostWorkError, Work
from rlint.survey.extra import needed

_WAIT = 0.5
_PATIENCE = 10.0
_WAY = "rlint"


@contextlib.contextmanager
def cluster(address: str | None, processors: int | None = None) -> Iterator[Any]:
    """Connect to a cluster, or start one on this machine, which ends with the context. Gives `ray`."""
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no usage report is sent
    ray = needed("ray")
    if ray.is_initialized():  # the program that calls rlint has its own
        yield ray
        return
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR, "namespace": _WAY}
    folder = None
    if address is None:
        folder = _short_folder()
        options |= {"address": "local", "num_cpus": processors, "include_dashboard": False}
        options["_temp_dir"] = folder
    else:
        _check_address(address)
        options["address"] = address
    try:
        ray.init(**options)
    except Exception as error:
        what = f"the Ray cluster at {address}" if address else "a local Ray"
        raise RlintError(
            f"{what} cannot be used: {str(error).splitlines()[0] if str(error) else error!r}"
        ) from error
    try:
        yield ray
    finally:
        ray.shutdown()
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def _check_address(address: str) -> None:
    """Raise RlintError if nothing answers at `HOST:PORT`, for which Ray would wait for minutes."""
    found = re.fullmatch(r"(?:ray://)?(?P<host>[\w.-]+):(?P<port>\d+)", address)
    if found is None:
        return
    try:
        socket.create_connection((found["host"], int(found["port"])), timeout=_PATIENCE).close()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise RlintError(f"the Ray cluster at {address} cannot be reached: {reason}") from error


def _short_folder() -> str:
    """Return a folder for the files of a local Ray, whose sockets need a short path."""
    return tempfile.mkdtemp(prefix="rlint-ray-", dir="/tmp" if os.path.isdir("/tmp") else None)  # noqa: S108


class RayExecutor:
    """Runs tasks on a cluster, each on one CPU core unless `resources` say otherwise."""

    def __init__(self, ray: Any, **resources: Any) -> None:
        self._ray = ray
        self._resources = {"num_cpus": 1, "scheduling_strategy": "SPREAD", **resources}
        self._remote: dict[Work, Any] = {}
        self._running: dict[Any, None] = {}
        errors = ray.exceptions
        self._lost = (
            errors.WorkerCrashedError,
            errors.NodeDiedError,
            errors.OutOfMemoryError,
            errors.LocalRayletDiedError,
            errors.ObjectLostError,
            errors.RaySystemError,
            errors.TaskUnschedulableError,
            errors.RuntimeEnvSetupError,
        )

    @property
    def slots(self) -> int:
        """Return the current number of CPU cores of the cluster."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def submit(self, work: Work, *arguments: object) -> object:
        """Start a task. Ray does not retry it: the caller decides that."""
        remote = self._remote.get(work)
        if remote is None:
            remote = self._ray.remote(work).options(max_retries=0, retry_exceptions=False, **self._resources)
            self._remote[work] = remote
        ticket = remote.remote(*arguments)
        self._running[ticket] = None
        return ticket

    def finished(self) -> list[tuple[object, Any]]:
        """Wait for tasks, briefly, so that Ctrl-C is noticed."""
        if not self._running:
            return []
        running = list(self._running)
        ready, _ = self._ray.wait(running, num_returns=1, timeout=_WAIT)
        if ready:  # other tasks that have finished meanwhile
            ready, _ = self._ray.wait(running, num_returns=len(running), timeout=0)
        found = []
        for ticket in ready:
            del self._running[ticket]
            found.append((ticket, self._result(ticket)))
        return found

    def _result(self, ticket: Any) -> Any:
        try:
            return self._ray.get(ticket)
        except self._lost as error:
            return LostWorkError(_reason(error))
        except self._ray.exceptions.RayTaskError as error:
            return LostWorkError(f"the task failed: {str(error).strip().splitlines()[-1]}")

    def stop(self) -> None:
        """Cancel all tasks, in any state."""
        for ticket in self._running:
            with contextlib.suppress(Exception):
                self._ray.cancel(ticket, force=True)
        self._running.clear()


def _reason(error: Exception) -> str:
    kind = type(error).__name__
    said = {
        "WorkerCrashedError": "the worker process died",
        "NodeDiedError": "the node died",
        "OutOfMemoryError": "the node ran out of memory",
        "LocalRayletDiedError": "the node died",
    }
    return said.get(kind, kind)
