"""Measure the reference steps and store the results in rlint: `python -m
rlint.harness.steps.measure_steps`.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable

from rlint.evidence.step_costs import STEP_COSTS
from rlint.harness.steps.programs import PROGRAMS, StepProgram
from rlint.source.atomic_write import replace_file

_BATCHES, _BATCH_SECONDS = 15, 0.1
_DIGITS = 3


def measure_steps() -> dict[str, list[float]]:
    """Return the CPU seconds of a small and a large step of each kind, with one thread."""
    import torch

    torch.set_num_threads(1)
    return {step.name: [_seconds(program) for program in pair] for step, pair in PROGRAMS.items()}


def _seconds(program: StepProgram) -> float:
    run = program()
    run()  # the set-up in the first step does not count
    number = max(1, int(_BATCH_SECONDS / _timed(run, 1)))
    return float(f"{statistics.median(_timed(run, number) for _ in range(_BATCHES)):.{_DIGITS}g}")


def _timed(run: Callable[[], object], number: int) -> float:
    start = time.process_time()
    for _ in range(number):
        run()
    return (time.process_time() - start) / number


def main() -> None:
    """Measure on this machine's processor, and write the figures to rlint's data file."""
    measured = {"cpu": measure_steps()}
    replace_file(STEP_COSTS, (json.dumps(measured, indent=2) + "\n").encode())


if __name__ == "__main__":
    main()
