"""Start processes for jobs: as fresh interpreters, or forked from one that has imported torch."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rlint.harness.program import Subject

_START = "import sys; sys.path[:] = {path!r}; from rlint.harness.processes.{program} import main; main()"
"""Imports as this process does. With `-m`, the modules of the working folder would go before Python's own."""
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_HEAVY = {"torch": ("numpy", "torch", "torch._dynamo"), "numpy": ("numpy",)}
"""Modules imported beforehand for a program that imports a package. The first optimizer that a process
creates imports torch's compiler, which takes as long as torch itself.
"""
_OWN = (
    "rlint.harness.processes.child",
    "rlint.harness.compare.behaviour",
    "rlint.harness.measure.timing",
    "rlint.harness.measure.memory",
)
_KEPT = 4  # servers; those for other hash seeds are not needed again soon


class Started(Protocol):
    """A process that runs a job. The parts of `subprocess.Popen` that are needed to control it."""

    pid: int
    stdin: IO[bytes] | None
    stdout: IO[bytes] | None

    @property
    def returncode(self) -> int | None:
        """Its exit status, negative for a signal; None while it runs."""

    def poll(self) -> int | None:
        """Check whether it has ended."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end. Raises subprocess.TimeoutExpired."""

    def kill(self) -> None:
        """End it."""


class ForkStart(Protocol):
    """A way to start a process."""

    def __call__(self, errors: IO[bytes], *, threads: int, hash_seed: int) -> Started:
        """Start a process that reads a job from its input; errors are written to `errors`."""


def fresh(errors: IO[bytes], *, threads: int, hash_seed: int) -> Started:
    """Return start a fresh interpreter."""
    return subprocess.Popen(  # noqa: S603 - this interpreter, with a program of ours
        _command("child"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        env=_environment(threads, hash_seed),
        start_new_session=os.name == "posix",
    )


class ForkServers:
    """Fork servers by their imports and start options, created on demand."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._servers: OrderedDict[tuple[tuple[str, ...], int, int], _Server] = OrderedDict()

    def close(self) -> None:
        """Stop the servers. Processes that they have forked continue."""
        with self._lock:
            while self._servers:
                self._servers.popitem()[1].close()

    def start_for(self, subject: Subject | None, device: str) -> ForkStart:
        """Return the fastest way to start processes for a program.

        That is a fork if the system supports it, for programs on the CPU that use packages which are slow to
        import. A process on another device is a fresh one: drivers do not survive a fork.
        """
        heavy = _heavy_imports(subject) if subject is not None else ()
        if sys.platform != "linux" or device != "cpu" or not heavy:
            return fresh

        def forked(errors: IO[bytes], *, threads: int, hash_seed: int) -> Started:
            server = self._server(heavy, threads, hash_seed)
            return server.start(errors) or fresh(errors, threads=threads, hash_seed=hash_seed)

        return forked

    def _server(self, modules: tuple[str, ...], threads: int, hash_seed: int) -> _Server:
        key = (modules, threads, hash_seed)
        with self._lock:
            if key in self._servers and not self._servers[key].alive:
                self._servers.pop(key).close()
            if key not in self._servers:
                self._servers[key] = _Server((*modules, *_OWN), threads, hash_seed)
            self._servers.move_to_end(key)
            while len(self._servers) > _KEPT:
                self._servers.popitem(last=False)[1].close()
            return self._servers[key]


class _Server:
    """A running fork server. Forked processes outlive it."""

    def __init__(self, modules: Sequence[str], threads: int, hash_seed: int) -> None:
        self._requests, child_ends = socket.socketpair()
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter, with a program of ours
            [*_command("fork_server"), str(child_ends.fileno()), *modules],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=_environment(threads, hash_seed),
            pass_fds=[child_ends.fileno()],
            start_new_session=True,
        )
        child_ends.close()

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def start(self, errors: IO[bytes]) -> Started | None:
        """Fork a process; None if the server has ended, for instance for lack of memory."""
        their_input, our_input = os.pipe()
        our_output, their_output = os.pipe()
        status_reader, status_writer = os.pipe()
        child_ends = [their_input, their_output, errors.fileno(), status_writer]
        try:
            # If it has just ended, the request gets no answer.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                socket.send_fds(self._requests, [b"s"], child_ends)
        finally:
            for descriptor in (their_input, their_output, status_writer):
                os.close(descriptor)
        given, channel = os.fdopen(our_input, "wb"), os.fdopen(our_output, "rb")
        number = b""
        while not number.endswith(b"\n"):
            received = os.read(status_reader, 1)
            if not received:
                given.close()
                channel.close()
                os.close(status_reader)
                return None
            number += received
        return _Forked(int(number), given, channel, status_reader)

    def close(self) -> None:
        self._requests.close()
        try:
            self._process.wait(timeout=2)
        except subprocess.TimeoutExpired:  # it imports still
            self._process.kill()
            self._process.wait()


class _Forked:
    """A process that was forked by a server, which reports its state over a pipe."""

    def __init__(self, pid: int, given: IO[bytes], channel: IO[bytes], status_reader: int) -> None:
        self.pid = pid
        self.stdin: IO[bytes] | None = given
        self.stdout: IO[bytes] | None = channel
        self._status_reader = status_reader
        self._status = b""
        self._ended = False

    @property
    def returncode(self) -> int | None:
        if not self._ended:
            return None
        return int(
            self._status or 1
        )  # if the pipe closes without a message, the waiting server was ended, too

    def poll(self) -> int | None:
        self._listen(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        until = None if timeout is None else time.monotonic() + timeout
        while not self._ended:
            left = None if until is None else until - time.monotonic()
            if left is not None and left <= 0:
                raise subprocess.TimeoutExpired("a forked job", timeout or 0)
            self._listen(left)
        return self.returncode or 0

    def kill(self) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def _listen(self, timeout: float | None) -> None:
        """Read messages, waiting for at most this many seconds (None: until there is one)."""
        if self._ended or not select.select([self._status_reader], [], [], timeout)[0]:
            return
        received = os.read(self._status_reader, 64)
        self._status += received
        if not received:
            self._ended = True
            os.close(self._status_reader)


def _heavy_imports(subject: Subject) -> tuple[str, ...]:
    """Return the slow-to-import packages that a program and its workload import."""
    texts = [text for files in subject.texts.values() for text in files.values()]
    with contextlib.suppress(OSError, UnicodeDecodeError), open(subject.workload, encoding="utf-8") as file:
        texts.append(file.read())
    for name, modules in _HEAVY.items():
        if any(re.search(rf"^\s*(import|from)\s+{name}\b", text, re.MULTILINE) for text in texts):
            return modules
    return ()


def _command(program: str) -> list[str]:
    path = [entry for entry in sys.path if entry]
    return [sys.executable, "-X", "faulthandler", "-c", _START.format(path=path, program=program)]


def _environment(threads: int, hash_seed: int) -> dict[str, str]:
    return {
        **os.environ,
        **dict.fromkeys(_THREAD_VARIABLES, str(threads)),
        "PYTHONHASHSEED": str(hash_seed),
    }
