"""What `rlint fix` of this checkout does to a copy of a project."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rlint.errors import RlintError

CHECKOUT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Fix:
    """One fix that was applied."""

    code: str
    safety: str
    path: Path
    """Relative to the copy."""
    line: int | None
    """Before fixing; None in a notebook, whose cells no test runs."""

    def __str__(self) -> str:
        """Its place and its code."""
        place = self.path.as_posix() if self.line is None else f"{self.path.as_posix()}:{self.line}"
        return f"{place} {self.code}"


@dataclass(frozen=True, slots=True)
class Fixes:
    """All fixes of a project, and the texts of fixed files before and after."""

    applied: tuple[Fix, ...]
    before: dict[Path, bytes]
    after: dict[Path, bytes]

    def by_code(self) -> dict[str, int]:
        """How many fixes each rule has."""
        return dict(sorted(Counter(fix.code for fix in self.applied).items()))


def fix(copy: Path, paths: Sequence[str], options: Sequence[str]) -> Fixes:
    """Fix the paths, relative to `copy`, in place. Raises RlintError if rlint could not do it."""
    before = {
        path.relative_to(copy): path.read_bytes()
        for suffix in ("py", "ipynb")
        for path in copy.rglob(f"*.{suffix}")
        if path.is_file() and not path.is_symlink()
    }
    command = [sys.executable, "-m", "rlint", "fix", "--no-cache", "--exit-zero", "--allow-dirty"]
    command += ["--output-format", "json", *options, *(str(copy / path) for path in paths)]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    done = subprocess.run(
        command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, encoding="utf-8", check=False
    )
    if done.returncode != 0:
        raise RlintError(f"`rlint fix` ended with exit code {done.returncode}:\n{done.stderr.rstrip()}")
    said = json.loads(done.stdout)
    refused = [file for file in said["files"] if not file["written"]]
    if refused:
        raise RlintError(f"{refused[0]['filename']} was not fixed: {refused[0]['problem']}")
    real = copy.resolve()
    changed = [Path(file["filename"]).resolve().relative_to(real) for file in said["files"]]
    return Fixes(
        tuple(_fix(entry, real) for entry in said["fixed"]),
        {path: before[path] for path in changed},
        {path: (copy / path).read_bytes() for path in changed},
    )


def _fix(entry: dict[str, object], root: Path) -> Fix:
    location, about = entry["location"], entry["fix"]
    assert isinstance(location, dict)
    assert isinstance(about, dict)
    return Fix(
        str(entry["code"]),
        str(about["applicability"]),
        Path(str(entry["filename"])).resolve().relative_to(root),
        None if "cell" in entry else int(location["row"]),
    )
