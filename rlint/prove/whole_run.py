"""The command itself, before and after the proven fixes, in alternation: in copies of the tree."""

from __future__ import annotations

import hashlib
import os
import random
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rlint.errors import RlintError
from rlint.harness.measure.estimates import choose_processes, resample
from rlint.prove.proof import WholeRun
from rlint.trial.place import TrialPlace
from rlint.trial.scratch import Scratch
from rlint.trial.user_command import run_command

_NOT_SAVED = (".git", "__pycache__", ".rlint_cache")
_MOST_BYTES = 50_000_000


def alternate(
    command: Sequence[str],
    texts: Mapping[Path, bytes],
    pairs: int,
    tell: Callable[[str], None],
    *,
    busy: bool = False,
) -> WholeRun:
    """Run a command in pairs, with the unchanged files and with their fixed texts.

    On a busy machine, processor time is measured, including processes that the command waits for.

    Raises RlintError if it fails.
    """
    place = TrialPlace.around(Path.cwd())
    contents = {place.inside(path): content for path, content in texts.items()}
    times: list[tuple[float, float]] = []
    results: dict[bool, list[str]] = {False: [], True: []}
    with Scratch(place.root, set(contents)) as scratch:
        environment = place.environment(scratch.folder, list(texts))
        for number in range(pairs):
            tell(f"running the command before and after, pair {number + 1} of {pairs}")
            took = {}
            for fixed in (False, True) if number % 2 == 0 else (True, False):
                scratch.renew(contents if fixed else {})
                began, processor = time.time(), _processor_seconds()
                ran = run_command(
                    shlex.join(command),
                    scratch.folder / place.working,
                    environment,
                    timeout=None,
                    started=scratch.note,
                )
                scratch.note(0)
                if not ran.passed:
                    when = "with the proven fixes" if fixed else "before any fix, in a copy of the tree"
                    raise RlintError(f"the command fails {when} ({ran.ending})")
                used = _processor_seconds() - processor
                took[fixed] = used if busy and used else ran.seconds
                results[fixed].append(ran.output + _saved(scratch.folder, began))
            times.append((took[False], took[True]))
    rng = random.Random(0)  # noqa: S311 - statistics
    found = resample([times], choices=choose_processes(1, rng), rng=rng)
    same = None
    if pairs > 1 and len(set(results[False])) == 1:
        same = set(results[True]) == set(results[False])
    return WholeRun(pairs, found.median(0), found.median(1), found.ratio(0, 1), same)


def _processor_seconds() -> float:
    """Return the processor time of ended child processes in seconds."""
    used = os.times()
    return used.children_user + used.children_system


def _saved(folder: Path, began: float) -> str:
    """Return a digest of the files that a run wrote into its folder."""
    described = []
    for path, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in _NOT_SAVED]
        for name in sorted(files):
            file = Path(path, name)
            status = file.lstat()
            if status.st_mtime >= began and file.is_file() and not file.is_symlink():
                content = file.read_bytes() if status.st_size <= _MOST_BYTES else b"large"
                described.append(f"{file.relative_to(folder)} {hashlib.sha256(content).hexdigest()}")
    return "\n".join(sorted(described))
