"""Usual costs of training steps, as `rlint.harness.steps` measured them."""

from __future__ import annotations

import functools
import json
from pathlib import Path

from rlint.findings import TrainingStep

STEP_COSTS = Path(__file__).with_name("step_costs.json")
"""Seconds by kind of device and kind of step: of a small, a medium and a large one."""


@functools.cache
def step_costs(device: str) -> dict[TrainingStep, tuple[float, float, float]]:
    """Return the seconds of a small, a medium and a large step of each kind on a kind of device; empty if
    they were not measured there.
    """
    try:
        data = json.loads(STEP_COSTS.read_bytes()).get(device, {})
        return {
            TrainingStep.__members__[name]: (float(small), float(medium), float(large))
            for name, (small, medium, large) in data.items()
        }
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return {}
