"""A line on the terminal with the time of a check or fix, once it takes a while."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rlint.cli.terminals import is_plain

_AFTER = 1.0  # seconds
_EVERY = 0.5
_ERASE = "\r\x1b[K"


@contextmanager
def working(what: str, *, quiet: bool) -> Iterator[None]:
    """Show on standard error what is being done within the context, if that is a terminal.

    The line is written by a signal handler: a thread would interfere with forked processes. Systems without
    timers show nothing.
    """
    timed = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if quiet or not timed or is_plain(sys.stderr):
        yield
        return
    started, descriptor, shown = time.monotonic(), sys.stderr.fileno(), False

    def tell(*_: object) -> None:
        nonlocal shown
        shown = True
        # written past the stream's buffer, which the program itself may be writing to
        os.write(descriptor, f"\r{what}: {time.monotonic() - started:.0f} s\x1b[K".encode())

    before = signal.signal(signal.SIGALRM, tell)
    signal.setitimer(signal.ITIMER_REAL, _AFTER, _EVERY)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if shown:
            os.write(descriptor, _ERASE.encode())
