"""Simulated rounds of measuring processes, with known costs and noise."""

from __future__ import annotations

import random
from dataclasses import dataclass

from rlint.harness.measure.timing import Cost, Round


@dataclass(frozen=True)
class Noise:
    """Disturbances of a measurement."""

    each: float
    """Standard deviation of one batch, of its logarithm: 0.05 is about 5 %."""
    arm: float = 0.0
    """The same for effects that are constant per arm and process, such as memory addresses."""
    drift: float = 0.0
    """The slowdown of a machine in the course of a process."""
    outliers: float = 0.0
    """The share of batches that other load makes up to three times as long."""
    process: float = 0.1
    """Standard deviation between processes, of the effect common to all arms."""


def seeded(number: int) -> random.Random:
    """A random generator for simulated measurements."""
    return random.Random(number)  # noqa: S311 - noise, no secrets


def process_rounds(
    rng: random.Random,
    number: int,
    noise: Noise,
    *,
    rounds: int = 25,
    slower: float = 1.0,
    sizes: tuple[int, ...] = (100,),
    seconds: float = 1e-3,
    exponent: float = 0.0,
    fixed_exponent: float | None = None,
) -> list[Round]:
    """The rounds of one process: The cost is `seconds` at size 1, and grows with the exponent.

    The fixed program takes `slower` times as long, and may grow otherwise.
    """
    grown = (exponent, exponent, exponent if fixed_exponent is None else fixed_exponent)
    speed = rng.lognormvariate(0, noise.process)
    arms = {size: [rng.lognormvariate(0, noise.arm) for _ in range(3)] for size in sizes}
    found = []
    for at in range(rounds):
        pace = speed * (1 + noise.drift * at / rounds)
        for size in sizes:
            taken = []
            for power, arm, factor in zip(grown, arms[size], (1.0, 1.0, slower), strict=True):
                disturbed = rng.uniform(1.2, 3) if rng.random() < noise.outliers else 1.0
                true = seconds * size**power * factor * pace * arm
                taken.append(true * rng.lognormvariate(0, noise.each) * disturbed)
            found.append(Round(number, size, *(Cost(one, one) for one in taken)))
    return found
