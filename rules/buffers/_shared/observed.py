"""What the environments of a program observe, by their ids and its networks."""

from __future__ import annotations

from rlint.rule import SemanticModel, torch_settings


def are_frames(model: SemanticModel) -> bool:
    """Whether the program names an environment that observes frames, or has a network for them."""
    return bool(model.program.sets(torch_settings.FRAMES) or model.nn.takes_frames())


def are_vectors(model: SemanticModel) -> bool:
    """Whether all environments that the program names observe a few numbers."""
    return torch_settings.observes_vectors(model.program.sets)
