"""Forked workers: the first process imports everything, and forks as many as are needed."""

from __future__ import annotations

import os
import signal
import socket
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterable
    from multiprocessing.connection import Connection


class ForkedWorkers:
    """Started at once: both sides import what communication needs at the same time."""

    def __init__(self, most: int, codes: frozenset[str]) -> None:
        pairs = [socket.socketpair() for _ in range(most)]
        self._own_ends = [ours for ours, _ in pairs]
        counterpart = [end for _, end in pairs]
        self._first = os.fork()
        if self._first == 0:
            _close(self._own_ends)
            _serve(counterpart, codes)
        _close(counterpart)

    def connections(self) -> list[Connection]:
        """Return the connections to the first process and to all that it may fork."""
        return _connected(self._own_ends)

    def end(self) -> None:
        """End the first process, which ends the others."""
        _close(self._own_ends)
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(self._first, signal.SIGTERM)
            os.waitpid(self._first, 0)


def _serve(ends: list[socket.socket], codes: frozenset[str]) -> NoReturn:
    """Run a worker, and exit without the exit handlers of the parent."""
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle; it ends us
        from rlint.engine.pool.worker_process import serve

        serve(_connected(ends), codes)
        status = 0
    except Exception:  # noqa: BLE001 - nobody else would show it
        sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
    finally:
        os._exit(status)


def _connected(ends: Iterable[socket.socket]) -> list[Connection]:
    from multiprocessing.connection import Connection

    return [Connection(end.detach()) for end in ends]


def _close(ends: Iterable[socket.socket]) -> None:
    for end in ends:
        end.close()
