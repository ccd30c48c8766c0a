"""Resident memory of a process and its descendants."""

from __future__ import annotations

import contextlib

import psutil


def resident_bytes(process: psutil.Process) -> int:
    """Return the resident bytes of a process and its descendants; shared pages count once for each."""
    total = 0
    with contextlib.suppress(psutil.Error):
        for one in (process, *process.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                total += one.memory_info().rss
    return total
