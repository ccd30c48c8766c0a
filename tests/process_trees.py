"""Whether processes that a program has started are gone."""

from __future__ import annotations

from collections.abc import Collection

import psutil

from patience import PATIENCE


def are_gone(processes: Collection[psutil.Process]) -> bool:
    """Do all of them end within a while?"""
    _, alive = psutil.wait_procs(processes, timeout=PATIENCE)
    return not [one for one in alive if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]
