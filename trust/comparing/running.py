"""Commands in a copy of a project, before or after fixing, and their results to compare."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from comparing import fixing
from rlint.errors import RlintError
from rlint.trial.place import TrialPlace
from rlint.trial.scratch import Scratch
from rlint.trial.user_command import Ran, run_command

_INSIDE = Path(__file__).resolve().parent / "inside"
_COVERAGE = """\
[run]
data_file = {folder}/lines
parallel = true
concurrency = multiprocessing,thread
disable_warnings =
    no-data-collected
    module-not-measured
    trace-changed
include =
{include}
"""


_WORTHLESS = ", not the copy's own: a comparison would say nothing about the fixes"


@dataclass(frozen=True, slots=True)
class Run:
    """How a command ended, and the files that it left."""

    fixed: bool
    ran: Ran
    files: Path
    """The folder that it was given to write to (`TRUST_OUT`), with what it printed as `stdout`."""
    junit: Path
    lines: dict[Path, frozenset[int]]
    """The lines of fixed files that ran, by file relative to the copy; empty if they were not measured."""
    measured: bool


class Copy:
    """A copy of a project in which one folder contains it before and, later, after fixing. A context manager.

    `python` is the interpreter whose folder comes first on the PATH of all commands. Raises RlintError if the
    project cannot be copied or fixed, or if that interpreter would import it from another folder.
    """

    def __init__(self, project: Path, python: Path, timeout: float, *, measure: bool) -> None:
        self._root = project.resolve()
        self._python = python
        self._timeout = timeout
        self._measure = measure
        self._scratch = Scratch(self._root, ())
        self._traces = self._scratch.folder.parents[1] / "traces"  # where it is deleted after a kill, too
        self._traces.mkdir()
        self.fixes = fixing.Fixes((), {}, {})

    def __enter__(self) -> Copy:  # noqa: PYI034 - Python 3.10 has no Self
        """Begin to use the copy."""
        return self

    def __exit__(self, *_: object) -> None:
        """Delete it."""
        self._scratch.close()

    @property
    def linked(self) -> list[str]:
        """What the copy shares with the project, or lacks."""
        return [left.path for left in self._scratch.left]

    def fix(self, paths: Sequence[str], options: Sequence[str]) -> None:
        """Find out what `rlint fix` does to these paths, relative to the project."""
        self.fixes = fixing.fix(self._scratch.folder, paths, options)
        self._scratch.renew({})
        self._check_imports()

    def run(self, command: str, *, fixed: bool) -> Run:
        """Run a command of the shell in the copy, renewed, with the fixes or without them."""
        self._scratch.renew(self.fixes.after if fixed else self.fixes.before)
        trace = Path(tempfile.mkdtemp(dir=self._traces))
        files, junit = trace / "out", trace / "junit.xml"
        files.mkdir()
        try:
            ran = run_command(
                f"{{\n{command}\n}} >{shlex.quote(str(files / 'stdout'))}",
                self._scratch.folder,
                self._environment(trace, files, junit),
                timeout=self._timeout,
                started=self._scratch.note,
            )
        finally:
            self._scratch.note(0)
        if ran.timed_out:
            raise RlintError(f"`{command}` did not end within {self._timeout:g} s (`--timeout` allows more)")
        measured = self._origins(trace, command)
        return Run(fixed, ran, files, junit, self._lines(trace) if measured else {}, measured)

    def ask(self, script: Path, *arguments: str) -> str:
        """The output of a script that the project's interpreter runs, outside of the copy."""
        done = subprocess.run(
            [self._python, script, *arguments],
            cwd=self._traces,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        if done.returncode != 0:
            raise RlintError(f"{script.name} failed with {self._python}:\n{done.stderr.rstrip()}")
        return done.stdout

    def _packages(self) -> dict[str, set[Path]]:
        """The packages that contain fixed files, by name, and the folder of each, relative to the copy."""
        found: dict[str, set[Path]] = {}
        for path in self.fixes.after:
            top = None
            for folder in path.parents:
                if not (self._root / folder / "__init__.py").exists():
                    break
                top = folder
            if top is not None and top.name:
                found.setdefault(top.name, set()).add(top)
        return found

    def _environment(self, trace: Path, files: Path, junit: Path) -> dict[str, str]:
        inits = {init for pattern in ("*", "src/*") for init in self._root.glob(f"{pattern}/__init__.py")}
        modules = [*inits, *(self._root / path for path in self.fixes.after)]
        found = TrialPlace(self._root, Path()).environment(self._scratch.folder, modules)
        paths = [str(_INSIDE), *filter(None, found.get("PYTHONPATH", "").split(os.pathsep))]
        options = [found.get("PYTEST_ADDOPTS", ""), f"--junitxml={shlex.quote(str(junit))}"]
        found.update(
            PATH=os.pathsep.join([str(self._python.parent), found.get("PATH", os.defpath)]),
            PYTHONPATH=os.pathsep.join(paths),
            PYTHONHASHSEED=found.get("PYTHONHASHSEED", "0"),
            PYTEST_ADDOPTS=" ".join([*options, "-o junit_family=xunit2"]).strip(),
            TRUST=str(_INSIDE.parents[1]),
            TRUST_OUT=str(files),
            TRUST_TRACE=str(trace),
            TRUST_PACKAGES=os.pathsep.join(
                {*self._packages(), *(path.parts[0] for path in self.fixes.after)}
            ),
        )
        if self._measure and self.fixes.after:
            settings = trace / "coverage.ini"
            fixed = "\n".join(f"    {self._scratch.folder / path}" for path in self.fixes.after)
            settings.write_text(_COVERAGE.format(folder=trace, include=fixed), encoding="utf-8")
            found["COVERAGE_PROCESS_START"] = str(settings)
        return found

    def _check_imports(self) -> None:
        """Raise RlintError if a package with fixes would be imported from another folder."""
        trace = Path(tempfile.mkdtemp(dir=self._traces))
        environment = self._environment(trace, trace, trace / "junit.xml")
        script = "import importlib.util, sys; print(importlib.util.find_spec(sys.argv[1]).origin)"
        for name, places in self._packages().items():
            done = subprocess.run(
                [self._python, "-c", script, name],
                cwd=self._scratch.folder,
                env=environment,
                capture_output=True,
                text=True,
                encoding="utf-8",
                check=False,
            )
            if done.returncode != 0:
                continue  # the name cannot be imported, so it cannot refer to another package
            found = Path(done.stdout.strip()).resolve()
            if found not in {self._scratch.folder / place / "__init__.py" for place in places}:
                raise RlintError(
                    f"`import {name}` in the copy, with {self._python}, finds {found}{_WORTHLESS}"
                )

    def _origins(self, trace: Path, command: str) -> bool:
        """Whether lines were recorded. Raises RlintError if other code than the copy's has run."""
        measured, packages = False, self._packages()
        for record in trace.glob("origins-*.json"):
            said = json.loads(record.read_text("utf-8"))
            measured = measured or said["measured"]
            for name, file in said["files"].items():
                if Path(file).is_relative_to(self._scratch.folder):
                    continue
                module = Path(*name.split(".")).with_suffix(".py")
                if name.partition(".")[0] in packages or module in self.fixes.after:
                    raise RlintError(f"`{command}` imported {name} from {file}{_WORTHLESS}")
        return measured

    def _lines(self, trace: Path) -> dict[Path, frozenset[int]]:
        said = json.loads(self.ask(_INSIDE / "executed_lines.py", str(trace)))
        return {
            Path(file).relative_to(self._scratch.folder): frozenset(lines)
            for file, lines in said.items()
            if Path(file).is_relative_to(self._scratch.folder)
        }
