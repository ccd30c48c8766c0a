"""Small programs with a workload each, written to disk, to be measured before and after an artificial fix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rlint.harness.program import Subject

LOG: list[Any] = []
"""The notes of measured programs, which run in the process of the test."""

WORKLOAD = """
from rlint.harness import Workload
from measured_programs import LOG

class Measured(Workload):
    '''Measured.'''

    {declarations}

    def prepare(self, program, case):
        return program.inputs(case) if hasattr(program, "inputs") else case.size

    def run(self, program, inputs):
        return program.run(inputs)
"""
NAME = "measured"


def write(folder: Path, before: str, after: str | None = None, declarations: str = "sizes = (1,)") -> Subject:
    """Write a program with `run(inputs)`, and `inputs(case)` if inputs are more than the size."""
    program = folder / "measured_program.py"
    workload = folder / "measured_workload.py"
    program.write_text(before, encoding="utf-8")
    workload.write_text(WORKLOAD.format(declarations=declarations), encoding="utf-8")
    fixed = {str(program): before if after is None else after}
    return Subject(
        str(program),
        program.stem,
        (str(folder),),
        str(workload),
        {"before": {}, "safe": fixed, "after": fixed},
    )
