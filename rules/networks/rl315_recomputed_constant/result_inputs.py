"""What a result that is the same each time depends on, and the message about it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import field

from rlint.rule import SemanticModel, frozen, mutable


@mutable
class ResultInputs:
    """What a repeated result depends on."""

    data: list[ast.Attribute] = field(default_factory=list)
    """Attributes with arrays or containers that the constructor fills."""
    settings: list[ast.Attribute] = field(default_factory=list)
    """Attributes of unknown type, which are only read."""
    few: list[ast.expr] = field(default_factory=list)
    """Variables with a few different values."""
    functions: list[ast.Call] = field(default_factory=list)
    """Calls of functions of the project."""
    shapes: list[ast.Name] = field(default_factory=list)
    """Gradients of weights, of which only the shape counts."""


@frozen
class RepeatedResult:
    """An expression that has the same value each time, with what it depends on."""

    node: ast.expr
    call: ast.Call
    inputs: ResultInputs

    def message(self, model: SemanticModel) -> str:
        """Return the message: what computes the same value how often, and from what."""
        function = model.function(self.node)
        often = f"on every call of `{function.name}`" if function is not None else "each time"
        what = f"`{model.source.text(self.call.func)}` computes the same result {often}"
        read = _texts(self.inputs.data, model)
        if self.inputs.shapes:
            return f"{what}: it only depends on the shape of {_joined(_texts(self.inputs.shapes, model))}"
        if read:
            return f"{what}: it only depends on {_joined(read)}, which `__init__` fills"
        if self.inputs.few:
            return f"{what} with the same {_joined(_texts(self.inputs.few, model))}"
        return f"{what}: it only depends on constants and settings"

    def advice(self) -> str:
        """Return the advice: where to keep the result."""
        if self.inputs.shapes:
            return "Keep it for the next call, or compute with the part of the gradient that it selects"
        if self.inputs.few:
            return "Keep it for each of the few arguments (`functools.lru_cache`), or in a table"
        if self.inputs.data:
            return "Compute it once in `__init__` and keep it as an attribute"
        return "Compute it once, and keep it"

    def assumption(self, model: SemanticModel) -> str | None:
        """Return the assumption about code that may modify the inputs."""
        fixed = [*self.inputs.data, *self.inputs.settings]
        if fixed:
            return f"no other code modifies {_joined(_texts(fixed, model))}"
        if self.inputs.few:
            names = _texts(self.inputs.few, model)
            return f"{_joined(names)} {'have' if len(names) > 1 else 'has'} only a few different values"
        return None


def _texts(nodes: Sequence[ast.expr], model: SemanticModel) -> list[str]:
    return list(dict.fromkeys(f"`{model.source.text(node)}`" for node in nodes))


def _joined(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
