"""What drives training loops: steps of environments and optimizers, batches, messages."""

from __future__ import annotations

from rlint.enums import Enum


class Driver(Enum):
    """What a pass of a training loop is made for."""

    ENVIRONMENT_STEP = "environment step"
    GRADIENT_STEP = "gradient step"
    GENERATION = "generation"
    MESSAGE = "message"
    BATCH = "batch"

    def __str__(self) -> str:
        return str(self.value)
