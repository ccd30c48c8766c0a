"""Count the training steps that a workload runs at the places of a rule's findings in its fixture, so that
gains can be given per step.

A workload of 2,048 steps runs a line 2,048 times, or once with 2,048 rows: only running it shows which. Steps
are iterations of the training loop around the place or, if the function has none, calls of the function. The
counts do not depend on the machine; each rule is counted in a process of its own.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from rlint.engine import api
from rlint.evidence.hashes import hash_of_fixture
from rlint.evidence.occurrences import OCCURRENCES, Occurrences
from rlint.findings import Finding, loop_of
from rlint.harness.program import BEFORE, Subject, load
from rlint.harness.subjects import fixture_folder, fixtures_of
from rlint.harness.workload import Case, Workload
from rlint.registry import catalogue
from rlint.run_data import Target
from rlint.source.atomic_write import replace_file

_TIMEOUT = 300  # seconds for one rule: a fixture that waits runs slowly while it is traced
_COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def record_occurrences(codes: Sequence[str]) -> list[Path]:
    """Count for each rule, and write `<rule>/evidence/occurrences.json`. Return the files that were written;
    none for a rule whose fixture cannot be run here.
    """
    written = []
    for code in codes:
        folder = fixture_folder(catalogue.find(code))
        command = [sys.executable, "-m", "rlint.harness.measure.count_steps", code]
        try:
            done = subprocess.run(  # noqa: S603 - rlint itself
                command, capture_output=True, text=True, timeout=_TIMEOUT, check=False
            )
        except subprocess.TimeoutExpired:
            continue
        if done.returncode == 0 and done.stdout:
            path = folder / "evidence" / OCCURRENCES
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, done.stdout.splitlines()[-1].encode() + b"\n")
            written.append(path)
    return written


def count_occurrences(code: str) -> Occurrences:
    """Return how often the places of a rule's findings in its fixture run, for each of its workloads at its
    typical size. Raises RlintError or WorkloadError if the fixture cannot be run.
    """
    entry = catalogue.find(code)
    with fixtures_of([entry]) as (experiment,):
        subject = experiment.subject
        target = Target(None, Path(subject.main), Path(subject.main).name, frozenset({code}))
        findings = api.check([target], jobs=1).findings
        workloads = load(subject, BEFORE).workloads
        counts = {
            name: number
            for name, workload in workloads.items()
            if workload.claims
            if (number := _counted(subject, workload, findings))
        }
    return Occurrences(hash_of_fixture(fixture_folder(entry)), counts)


def _counted(subject: Subject, workload: Workload, findings: Sequence[Finding]) -> int:
    arm = load(subject, BEFORE)
    own = arm.workloads[workload.name]
    case = Case(0, own.typical or own.sizes[-1])
    places = _places(Path(subject.main).read_text(encoding="utf-8"), findings)
    with arm.active():
        inputs = own.prepare(arm.program, case)
        counter = _LineCounter(subject.main, places)
        with counter:
            own.run(arm.program, inputs)
    return sum(counter.counts[place.start] for place in places)


def _places(text: str, findings: Sequence[Finding]) -> list[range]:
    """Return the lines of the statement that runs once per step, for each finding: the enclosing statement
    directly in its training loop or, without one in its function, directly in the function.
    """
    tree = ast.parse(text)
    return [place for one in findings if (place := _place(tree, one)) is not None]


def _place(tree: ast.Module, finding: Finding) -> range | None:
    chosen: ast.stmt | None = None
    loop = _driving_line(finding)
    body: Sequence[ast.stmt] = tree.body
    while body:
        statement = next((each for each in body if finding.start.line in _lines_of(each)), None)
        if statement is None:
            break
        # below a definition or the training loop, the next statement inwards counts
        chosen = chosen or statement
        if isinstance(statement, _SCOPES) or (isinstance(statement, _LOOPS) and statement.lineno == loop):
            chosen = None
        body = [child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.stmt)]
    return _lines_of(chosen) if chosen is not None else None


def _driving_line(finding: Finding) -> int | None:
    """Return the line of the last loop in the chain that makes a finding hot."""
    loops = [loop for link in finding.chain if (loop := loop_of(link)) is not None]
    return loops[-1].line if loops else None


def _lines_of(statement: ast.stmt) -> range:
    return range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)


class _LineCounter:
    """Counts, in all threads, how often statements of one file start, by their first lines. Continuing a
    statement, such as a loop, does not start it.
    """

    def __init__(self, path: str, places: Iterable[range]) -> None:
        self.counts: Counter[int] = Counter()
        self._path = path
        self._places = {place.start: place for place in places}
        self._concerned: dict[CodeType, bool] = {}

    def __enter__(self) -> None:
        threading.settrace(self._called)
        sys.settrace(self._called)

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)
        threading.settrace(None)

    def _called(self, frame: FrameType, event: str, _: Any) -> Callable[..., Any] | None:
        code = frame.f_code
        concerned = self._concerned.get(code)
        if concerned is None:
            concerned = self._concerned[code] = (
                code.co_filename == self._path
                and code.co_name not in _COMPREHENSIONS
                and any(line in self._places for line in _lines(code))
            )
        return self._in_frame() if concerned and event == "call" else None

    def _in_frame(self) -> Callable[..., Any]:
        before = 0

        def trace(frame: FrameType, event: str, _: Any) -> Callable[..., Any]:
            nonlocal before
            if event == "line":
                line = frame.f_lineno
                statement = self._places.get(line)
                if statement is not None and (before not in statement or len(statement) == 1):
                    self.counts[line] += 1
                before = line
            return trace

        return trace


def _lines(code: CodeType) -> Iterator[int]:
    return (line for _, _, line in code.co_lines() if line is not None)


def main() -> None:
    """Print the counts of one rule as JSON."""
    found = count_occurrences(sys.argv[1])
    print(json.dumps(found.as_json()))  # noqa: T201 - what the calling process reads


if __name__ == "__main__":
    main()
