"""When the collector of cycles runs: not while files are checked, and rarely in between."""

from __future__ import annotations

import atexit
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_COLLECTED_BYTES = 3_000_000
"""Trees are full of cycles, but all of them are in use until their group is done. So garbage is collected
once after so much source, and not while a group is being checked.
"""

FEWEST_BLOCKS = 1_500_000
"""Blocks of memory, of some hundred bytes each, up to which a process is not worth looking through."""
_blocks_before_collection = FEWEST_BLOCKS


class GcControl:
    """What the work on groups of files leaves behind, told by how much source they have. A file that is done
    with is taken apart, and leaves next to nothing.
    """

    def __init__(self) -> None:
        self._left = 0

    def add(self, size: int) -> None:
        """Count so many bytes of source more that are done with."""
        self._left += size

    def collect(self) -> None:
        """Free what is left, if it is much."""
        if self._left > _COLLECTED_BYTES:
            gc.collect()
            self._left = 0


@contextmanager
def collector_off() -> Iterator[None]:
    """Without the collector of cycles, which would look again and again at all that is kept.

    What a run leaves behind counts as old afterwards, and old garbage is hardly ever collected by itself.
    So a process that runs again and again, as an editor's server does, collects it here now and then.
    """
    global _blocks_before_collection  # noqa: PLW0603 - the collector, too, is one for the whole process
    if sys.getallocatedblocks() > _blocks_before_collection:
        gc.collect()
        _blocks_before_collection = max(FEWEST_BLOCKS, 2 * sys.getallocatedblocks())
    gc.disable()
    try:
        yield
    finally:
        atexit.unregister(gc.freeze)
        atexit.register(gc.freeze)  # what is there at the end goes with the process, without a last look
        gc.freeze()  # what is there now counts as old: turned on, the collector would look at all of it
        gc.unfreeze()
        gc.enable()
