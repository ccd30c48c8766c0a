"""Kill `rlint fix` at random moments, and check that each file is the old one or the new one.

    python trust/kill.py [FOLDER] [--times 300] [--seed 0]

Copies FOLDER (by default, all programs of the fixtures) to a scratch folder, fixes it once to learn what
the files become and how long that takes, and then, again and again from the old files, kills `rlint fix`
and its worker processes (SIGKILL) after a random time. Each file must be the old or the new one, byte for
byte, with its mode, and leftover files are listed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FIX = (
    sys.executable,
    "-m",
    "rlint",
    "fix",
    "--unsafe-fixes",
    "--select",
    "ALL",
    "--jobs",
    "2",
    "--isolated",
    "-q",
    ".",
)


def main() -> int:
    """Kill many times; 1 if any file was torn."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "fixtures")
    parser.add_argument("--times", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as scratch:
        old, tree = Path(scratch, "old"), Path(scratch, "tree")
        ignored = shutil.ignore_patterns("__pycache__", ".git", ".rlint_cache", "evidence")
        shutil.copytree(options.folder, old, ignore=ignored)
        shutil.copytree(old, tree)
        started = time.monotonic()
        subprocess.run(FIX, cwd=tree, env=_environment(), check=False, capture_output=True)
        whole = time.monotonic() - started
        before, after = _contents(old), _contents(tree)
        changed = [name for name in before if before[name] != after.get(name)]
        print(
            f"{len(before)} files, {len(changed)} of them changed by fixing, which takes {whole:.1f} s",
            flush=True,
        )
        torn, seen, left = 0, Counter[str](), Counter[str]()
        for number in range(options.times):
            if number and not number % 20:
                print(f"{number} times: {dict(seen)}, torn: {torn}", flush=True)
            _restore(old, tree, changed)
            _killed(tree, rng.uniform(0.0, 1.1 * whole) if rng.random() < 0.3 else None, changed, before, rng)
            now = _contents(tree)
            new = sum(now.get(name) == after[name] for name in changed)
            seen["none new" if not new else "all new" if new == len(changed) else "some new"] += 1
            for name, content in before.items():
                if now.get(name) not in (content, after[name]):
                    torn += 1
                    print(f"TORN {name}", flush=True)
            extra = [name for name in now if name not in before]
            left.update(Path(name).suffix or name for name in extra)
            for name in extra:
                (tree / name).unlink()
        shown = ", ".join(f"{how}: {count}" for how, count in sorted(seen.items()))
        print(f"killed {options.times} times ({shown}); torn: {torn}; left over: {dict(left) or 'nothing'}")
        return 1 if torn else 0


def _killed(
    tree: Path,
    seconds: float | None,
    changed: list[str],
    before: dict[str, tuple[bytes, int]],
    rng: random.Random,
) -> None:
    """Start a fix and kill it after some time; without a time, shortly after it begins to write."""
    process = subprocess.Popen(
        FIX,
        cwd=tree,
        env=_environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    if seconds is None:
        first = tree / changed[0]
        while process.poll() is None and first.stat().st_size == len(before[changed[0]][0]):
            time.sleep(0.0005)
        seconds = rng.uniform(0.0, 0.15)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    paths = (path for path in folder.rglob("*") if path.is_file() and ".rlint_cache" not in path.parts)
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mode) for path in paths}


def _restore(old: Path, tree: Path, changed: list[str]) -> None:
    for name in changed:
        shutil.copy2(old / name, tree / name)


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}


if __name__ == "__main__":
    sys.exit(main())
