"""Processes that tests start: they receive interrupts, and have to end."""

from __future__ import annotations

import sys
from collections.abc import Collection

import psutil

from patience import PATIENCE

_ATTENTIVE = "import os, signal as s, sys; s.signal(s.SIGINT, s.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"


def attentive(*arguments: str) -> list[str]:
    """Return a command that runs Python with these arguments so that an interrupt reaches it: the background
    jobs of a shell ignore SIGINT, and so does what they start.
    """
    return [sys.executable, "-c", _ATTENTIVE, sys.executable, *arguments]


def have_ended(processes: Collection[psutil.Process]) -> bool:
    """Whether all of them end within the time limit."""
    _, alive = psutil.wait_procs(processes, timeout=PATIENCE)
    return not [one for one in alive if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]
