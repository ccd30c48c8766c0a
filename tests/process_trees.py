"""Whether processes that a program has started are gone."""

from __future__ import annotations

from collections.abc import Collection

import psutil


def are_gone(processes: Collection[psutil.Process], *, seconds: float = 10) -> bool:
    """Do all of them end within a while?"""
    _, alive = psutil.wait_procs(processes, timeout=seconds)
    return not [one for one in alive if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]
