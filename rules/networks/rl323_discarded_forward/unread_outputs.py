"""Outputs that a language model or an attention layer computes because of its arguments, and no code reads:
scores, hidden states, attention weights, and logits where only hidden states are read.
"""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, frozen
from rlint.rules.networks.rl323_discarded_forward.sinking import is_read
from rlint.rules.networks.rl323_discarded_forward.value_reads import reads_of_field

_FIELDS = {
    "output_scores": ("scores",),
    "output_logits": ("logits",),
    "output_hidden_states": ("hidden_states", "encoder_hidden_states", "decoder_hidden_states"),
    "output_attentions": ("attentions", "encoder_attentions", "decoder_attentions", "cross_attentions"),
}
"""Options of models of `transformers`, with the fields of the result that they add."""
_COSTS = {
    "output_scores": "a tensor of batch × vocabulary for each generated token is kept",
    "output_logits": "a tensor of batch × vocabulary for each generated token is kept",
    "output_hidden_states": "the hidden states of all layers are kept",
    "output_attentions": "the attention weights of all layers are computed and kept, without fused kernels",
}
_HEADS = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")


@frozen
class UnreadOutput:
    """An output that no code reads, with the argument that asks for it."""

    field: str
    option: str

    @property
    def cost(self) -> str:
        """Return what it costs."""
        return _COSTS[self.option]


def unread_option(call: ast.Call, model: SemanticModel) -> UnreadOutput | None:
    """Return the output that a call asks for, if no code reads it."""
    for keyword in call.keywords:
        fields = _FIELDS.get(keyword.arg or "", ())
        if not fields or not _is_true(keyword.value):
            continue
        if not any(reads_of_field(call, field, model).needed for field in fields):
            return UnreadOutput(fields[0], keyword.arg or "")
    return None


def unread_logits(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call of a language model only needs other outputs than its logits."""
    given = {keyword.arg for keyword in call.keywords}
    if "labels" in given or None in given or "output_hidden_states" not in given:
        return False
    run = model.nn.network_run(call)
    if (
        run is None
        or run[1] != "forward"
        or not any(head in model.types.type_of(run[0]).of for head in _HEADS)
    ):
        return False
    is_needed = reads_of_field(call, "logits", model).needed or reads_of_field(call, "loss", model).needed
    return not is_needed


def has_unread_weights(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a layer of multi-head attention also computes weights that no code reads."""
    weights: ast.Name | None = None
    match model.parent(call):
        case ast.Subscript(slice=ast.Constant(value=0)):
            pass
        case ast.Assign(targets=[ast.Tuple(elts=[_, ast.Name() as target])]):
            weights = target
        case _:
            return False
    if any(keyword.arg in ("need_weights", None) for keyword in call.keywords) or len(call.args) > 4:
        return False
    if model.types.type_of(call.func).of != "torch.nn.MultiheadAttention":
        return False
    return weights is None or not is_read(weights, model.names.scope(weights), model)


def _is_true(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is True
