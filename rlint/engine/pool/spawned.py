"""Spawned workers, for systems that cannot fork: each process is a Python of its own."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection


class SpawnedWorkers:
    """Starts the maximum number of processes that may be needed."""

    def __init__(self, most: int, codes: frozenset[str]) -> None:
        context = multiprocessing.get_context("spawn")
        pairs = [context.Pipe() for _ in range(most)]
        self._own_ends = [ours for ours, _ in pairs]
        self._processes = [
            context.Process(target=_serve, args=(counterpart, codes), daemon=True) for _, counterpart in pairs
        ]
        with _away():
            for process in self._processes:
                process.start()
        for _, counterpart in pairs:
            counterpart.close()

    def connections(self) -> list[Connection]:
        """Return the connections to each of them."""
        return self._own_ends

    def end(self) -> None:
        """End all of them."""
        for process in self._processes:
            process.terminate()
            process.join()


def _serve(end: Connection, codes: frozenset[str]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle; it ends us
    from rlint.engine.pool.worker_process import serve

    serve([end], codes)


@contextmanager
def _away() -> Iterator[None]:
    """Leave the working folder: a new Python would import modules from there in place of its own."""
    folder = os.getcwd()
    os.chdir(os.path.dirname(os.__file__))
    try:
        yield
    finally:
        os.chdir(folder)
