"""Small programs, before and after a change, as subjects of the harness."""

from __future__ import annotations

import textwrap
from pathlib import Path

from rlint.evidence.results import Behaviour, Difference
from rlint.harness.compare import behaviour
from rlint.harness.program import Subject

WORKLOAD = """
from rlint.harness import Workload

class Example(Workload):
    sizes = (3,)
    small_sizes = (1, 2)

    def prepare(self, program, case):
        return program.inputs(case)

    def run(self, program, inputs):
        return program.run(inputs)
"""
"""Calls `inputs(case)` and `run(inputs)` of the program."""


def subject(
    folder: Path, before: str, after: str, *, safe: str | None = None, workload: str = WORKLOAD
) -> Subject:
    """Write a program and its workload, and return them with the texts after unsafe and after safe fixes.

    Without `safe`, all of the change is unsafe.
    """
    main, driver = folder / "program.py", folder / "workload.py"
    before, after, safe = (
        textwrap.dedent(text) for text in (before, after, before if safe is None else safe)
    )
    main.write_text(before, encoding="utf-8")
    driver.write_text(textwrap.dedent(workload), encoding="utf-8")
    texts = {"before": {}, "safe": {} if safe == before else {str(main): safe}, "after": {str(main): after}}
    return Subject(str(main), "program", (str(folder),), str(driver), texts)


def compare(
    folder: Path,
    before: str,
    after: str,
    *,
    safe: str | None = None,
    workload: str = WORKLOAD,
    name: str = "example",
    budget: float = 30.0,
) -> Behaviour:
    """Compare a program before and after a change."""
    made = subject(folder, before, after, safe=safe, workload=workload)
    return behaviour.compare(made, name, "cpu", budget=budget)


def differences(folder: Path, before: str, after: str, workload: str = WORKLOAD) -> dict[str, Difference]:
    """What differs between two programs, by path."""
    return {one.path: one for one in compare(folder, before, after, workload=workload).differences}


def only(folder: Path, before: str, after: str, workload: str = WORKLOAD) -> Difference:
    """The one difference between two programs."""
    found = compare(folder, before, after, workload=workload).differences
    assert len(found) == 1, "\n".join(map(str, found))
    return found[0]
