"""Measure the reference steps and store the results in rlint: `python -m
rlint.harness.steps.measure_steps`.
"""

from __future__ import annotations

import json
import math
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

from rlint.evidence.step_costs import STEP_COSTS
from rlint.harness.steps.programs import PROGRAMS, StepProgram
from rlint.registry.recorded_gain import evidence_file
from rlint.source.atomic_write import replace_file

_BATCHES, _BATCH_SECONDS = 15, 0.1
_DIGITS = 3
_COMPARED = ("RL301", "RL304", "RL321", "RL501")
"""Rules whose fixtures compute with tensors and with Python: their times tell machines apart."""


def measure_steps() -> dict[str, list[float]]:
    """Return the CPU seconds of a small, a medium and a large step of each kind, with one thread, as on the
    machine that recorded the evidence.
    """
    import torch

    torch.set_num_threads(1)
    slower = times_slower()
    return {
        step.name: [float(f"{_seconds(program) / slower:.{_DIGITS}g}") for program in sizes]
        for step, sizes in PROGRAMS.items()
    }


def times_slower() -> float:
    """Return how many times longer than on the machine that recorded the evidence the same code takes here:
    savings and steps are only comparable in the time of one machine.
    """
    command = [sys.executable, "-m", "rlint", "verify", *_COMPARED, "--quick", "--quiet", "--device", "cpu"]
    ran = subprocess.run(  # noqa: S603 - rlint itself
        [*command, "--output-format", "json"], capture_output=True, text=True, check=False
    )
    if ran.returncode > 1:
        raise RuntimeError(f"`{' '.join(command[1:])}` failed: {ran.stderr.strip()}")
    here = dict(_times(json.loads(ran.stdout)["outcomes"]))
    recorded = dict(_recorded())
    ratios = [here[key] / recorded[key] for key in here.keys() & recorded.keys()]
    return math.exp(statistics.fmean(map(math.log, ratios)))


def _recorded() -> Iterator[tuple[tuple[str, str, int], float]]:
    """Yield the recorded times of the compared rules."""
    from rlint.registry import catalogue

    for entry in catalogue.catalogue():
        if entry.code in _COMPARED and entry.fixtures is not None:
            recording = json.loads(evidence_file(entry.fixtures, entry.name, "cpu").read_text())
            yield from _times(recording["outcomes"])


def _times(outcomes: list[dict[str, object]]) -> Iterator[tuple[tuple[str, str, int], float]]:
    """Yield the seconds before the fix, by rule, workload and size."""
    for outcome in outcomes:
        measurements = outcome["measurements"]
        assert isinstance(measurements, list)
        for measured in measurements:
            if measured["claim"] == "time":
                yield (
                    (str(outcome["subject"]), str(outcome["workload"]), measured["size"]),
                    measured["before"],
                )


def _seconds(program: StepProgram) -> float:
    run = program()
    run()  # the set-up in the first step does not count
    number = max(1, int(_BATCH_SECONDS / _timed(run, 1)))
    return statistics.median(_timed(run, number) for _ in range(_BATCHES))


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
