"""Start worker processes while file discovery is still running."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlint.cli.targets import CheckWork
    from rlint.engine.pool.workers import Workers

_CHECKING = "rlint.engine.group_checks"
"""Modules whose import takes as long as all other work before the check."""
_MOST = 100
"""Maximum number of processes: each keeps two files open until the final number is known."""


@contextmanager
def workers_ahead(work: CheckWork) -> Iterator[Workers | None]:
    """Start processes for a run whose files are not known yet; return None if they would not be used."""
    most = min(work.settings.jobs or os.cpu_count() or 1, _MOST)
    if most == 1 or not _is_plain_check(work) or _has_results(work) or _CHECKING in sys.modules:
        yield None
        return
    from rlint.engine.pool.workers import FORKS, NoWorkersError, Workers

    try:
        workers = Workers(most, work.settings.codes) if FORKS else None
    except NoWorkersError:  # once the files are known, fewer may suffice, or `--jobs` may limit them
        workers = None
    with closing(workers) if workers is not None else nullcontext():
        yield workers


def _is_plain_check(work: CheckWork) -> bool:
    request = work.request
    shows = request.show_settings or request.show_files
    writes = work.settings.fix or request.diff or request.add_noqa
    return not (shows or writes or request.reads_stdin)


def _has_results(work: CheckWork) -> bool:
    """Whether an earlier run has left results: then usually little work remains."""
    cache = work.cache()
    return cache is not None and cache.holds_anything
