"""Samples of a policy that are read as arrays: `action, _, _ = policy.act(state)`, then `action.numpy()`."""

from __future__ import annotations

import ast

from rlint.rule import EffectKind, SemanticModel, SinkKind, gradient_sinks

_NUMBERS = gradient_sinks.ENDS | {SinkKind.ARRAY}


def reads_arrays_of_samples(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the result of a method that draws samples is only read as numbers: `numpy()` raises an error
    for a tensor that requires grad, so what it reads is a sample, and carries none.
    """
    if not model.types.call_targets(call) or not model.effects.call_effect(call).kind & EffectKind.DRAWS:
        return False
    labels = {left.label for left in model.gradients.sinks(call)}
    return SinkKind.ARRAY in labels and labels <= _NUMBERS
