"""When the collector of cycles runs: not while a file is checked, and rarely in between."""

from __future__ import annotations

import atexit
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_COLLECTED_BYTES = 3_000_000
"""Syntax trees are full of cycles, but all of them are in use until their group is checked. So garbage is
collected once after this many bytes of source, and not while a group is being checked.
"""

_SWEPT_BYTES = 1_500_000
"""Bytes of source after which the garbage of checked files is collected within a group: what rules and models
leave takes some twenty times as many bytes.
"""

FEWEST_BLOCKS = 1_500_000
"""Maximum number of memory blocks, of some hundred bytes each, below which collecting garbage is not worth
its time.
"""
_blocks_before_collection = FEWEST_BLOCKS


class GcControl:
    """Controls garbage collection between groups of files, by the size of their source. A file that is
    finished breaks its cycles, and leaves next to nothing.
    """

    def __init__(self) -> None:
        self._left = 0

    def add(self, size: int) -> None:
        """Count the bytes of source of finished files."""
        self._left += size

    def collect(self) -> None:
        """Collect garbage, if there is much."""
        if self._left > _COLLECTED_BYTES:
            gc.unfreeze()  # what a sweep kept may be garbage now
            gc.collect()
            self._left = 0


class GarbageSweep:
    """Collects the garbage that checked files of a large group leave, if the collector is off."""

    def __init__(self) -> None:
        self._left = 0

    def add(self, size: int) -> None:
        """Count the bytes of source of a file that is finished; collect, if there are many."""
        self._left += size
        if self._left > _SWEPT_BYTES and not gc.isenabled():
            gc.collect()
            gc.freeze()  # what the group still uses is not scanned again
            self._left = 0


@contextmanager
def collector_off() -> Iterator[None]:
    """Disable the cycle collector, which would scan all live objects repeatedly.

    The objects left by a run count as old afterwards, and old garbage is hardly ever collected automatically.
    So a process that checks repeatedly, such as a language server, collects it here at intervals.
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
        atexit.register(gc.freeze)  # freed with the process, without a last collection
        gc.freeze()  # existing objects count as old: once enabled, the collector would scan all of them
        gc.unfreeze()
        gc.enable()
