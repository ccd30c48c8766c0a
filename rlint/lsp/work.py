"""What is done in the thread beside the event loop: checking a text, and fixing it."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from rlint import fixes, registry
from rlint.engine import MAX_PASSES
from rlint.files import Source
from rlint.lsp.live import Checked, Live
from rlint.runs import Target

_STACK = 64 * 2**20  # bytes: programs are nested deeper than the small stacks of some systems' threads allow
_GARBAGE_THRESHOLD = 200_000  # as in rlint's other processes


@dataclass(frozen=True, slots=True)
class Task:
    """A text to work on, with those of all open documents. `stopped` says when nobody waits any more."""

    name: str
    path: Path
    text: str
    codes: frozenset[str]
    unsafe: bool
    texts: Mapping[Path, str]
    stopped: Callable[[], bool]


def check(live: Live, task: Task) -> Checked | None:
    """Check the text; None if it was stopped."""
    if task.stopped():
        return None
    source = Source(task.path, task.name, task.text, "utf-8", bom=False, raw=b"")
    target = Target(source, task.path, task.name, task.codes)
    return live.check(target, task.texts, stopped=task.stopped)


def fix(live: Live, task: Task) -> str | None:
    """The text with everything fixed that `rlint fix` would fix in it; None if it was stopped."""
    text = task.text
    for _ in range(MAX_PASSES):
        found = check(live, replace(task, text=text))
        if found is None:
            return None
        done = fixes.one_pass(text, found.findings, unsafe=task.unsafe)
        if done.text == text or fixes.check_parses(done.text, task.name, done.findings) is not None:
            break
        text = done.text
    return text


def one_thread() -> ThreadPoolExecutor:
    """A thread that works on one thing after the other, and has loaded the rules before the first."""
    before = threading.stack_size(_STACK)
    try:
        pool = ThreadPoolExecutor(1, "rlint", gc.set_threshold, (_GARBAGE_THRESHOLD, 50, 50))
        pool.submit(_load_rules)  # the thread is made now, with its stack
    finally:
        threading.stack_size(before)
    return pool


def _load_rules() -> None:
    registry.load({entry.code for entry in registry.catalogue() if not entry.opt_in})
