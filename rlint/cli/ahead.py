"""A process that gets ready to check while it is still looked for what there is to check."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlint.cli.work import Work
    from rlint.workers import Workers

_CHECKING = "rlint.group_checks"
"""What takes as long to import as all else takes until there is something to check."""


@contextmanager
def workers_ahead(work: Work) -> Iterator[Workers | None]:
    """Processes for a run whose files are not known yet; None where they would come to nothing."""
    most = work.settings.jobs or os.cpu_count() or 1
    if most == 1 or not _is_plain_check(work) or _has_results(work) or _CHECKING in sys.modules:
        yield None
        return
    from rlint.workers import FORKS, Workers

    if not FORKS:
        yield None
        return
    with closing(Workers(most, work.settings.codes)) as workers:
        yield workers


def _is_plain_check(work: Work) -> bool:
    request = work.request
    shows = request.show_settings or request.show_files
    writes = work.settings.fix or request.diff or request.add_noqa
    return not (shows or writes or request.reads_stdin)


def _has_results(work: Work) -> bool:
    """Whether an earlier run has left results: then little is left to do, as a rule."""
    cache = work.cache()
    return cache is not None and cache.holds_anything
