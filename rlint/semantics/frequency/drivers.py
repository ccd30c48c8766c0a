"""Drivers of training loops: steps of environments and optimizers, batches, messages."""

from __future__ import annotations

from rlint.enums import Enum
from rlint.findings import TrainingStep


class Driver(Enum):
    """The purpose of one iteration of a training loop."""

    ENVIRONMENT_STEP = "environment step"
    GRADIENT_STEP = "gradient step"
    GENERATION = "generation"
    MESSAGE = "message"
    BATCH = "batch"

    @property
    def step(self) -> TrainingStep:
        """Return the step itself, or the step that it serves: batches of a loader serve gradient steps."""
        return _STEPS[self]

    def __str__(self) -> str:
        return str(self.value)


_STEPS = {
    Driver.ENVIRONMENT_STEP: TrainingStep.ENVIRONMENT,
    Driver.GRADIENT_STEP: TrainingStep.GRADIENT,
    Driver.GENERATION: TrainingStep.TOKEN,
    Driver.MESSAGE: TrainingStep.MESSAGE,
    Driver.BATCH: TrainingStep.GRADIENT,
}
