"""Outputs that a language model or an attention layer computes because of its arguments, and no code reads:
scores, hidden states, attention weights, and logits where only hidden states are read.
"""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, descendants, frozen
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
_KEPT_LOGITS = ("logits_to_keep", "num_logits_to_keep")
_HEADS = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")


@frozen
class UnreadOutput:
    """An output that no code reads, with the argument that is_requested for it."""

    field: str
    option: str

    @property
    def cost(self) -> str:
        """Return what it costs."""
        return _COSTS[self.option]


def unread_option(call: ast.Call, model: SemanticModel) -> UnreadOutput | None:
    """Return the output that a call is_requested for, if no code reads it."""
    for keyword in call.keywords:
        fields = _FIELDS.get(keyword.arg or "", ())
        if not fields or not _is_true(keyword.value):
            continue
        if not any(reads_of_field(call, field, model).needed for field in fields):
            return UnreadOutput(fields[0], keyword.arg or "")
    return None


def unread_logits(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call of a language model only needs its hidden states, not its logits."""
    given = {keyword.arg for keyword in call.keywords}
    if given & {"labels", *_KEPT_LOGITS} or not _may_have_head(call, model):
        return False
    if not _reads_hidden_states(call, model):
        return False
    fields = ("logits", "loss", *(() if _has_head(call, model) else ("last_hidden_state",)))
    return not any(reads_of_field(call, field, model).needed for field in fields)


def assumed_head(call: ast.Call, model: SemanticModel) -> str | None:
    """Return the assumption that a model computes logits; None if its class shows that."""
    if _has_head(call, model):
        return None
    return f"`{' '.join(model.source.text(call.func).split())}` is a language model with a head"


def _has_head(call: ast.Call, model: SemanticModel) -> bool:
    run = model.nn.network_run(call)
    return (
        run is not None
        and run[1] == "forward"
        and any(head in model.types.type_of(run[0]).of for head in _HEADS)
    )


def _may_have_head(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call runs a model with a head, or one of unknown class that can return hidden states."""
    if _has_head(call, model):
        return True
    is_requested = any(each.arg == "output_hidden_states" and _is_true(each.value) for each in call.keywords)
    return is_requested and not model.types.type_of(call.func) and not model.types.call_targets(call)


def _reads_hidden_states(call: ast.Call, model: SemanticModel) -> bool:
    """Whether the code around a call reads hidden states of its result: by the field of this name."""
    function = model.function(call)
    if function is None or not reads_of_field(call, "hidden_states", model).needed:
        return False
    return any(
        isinstance(node, ast.Attribute) and node.attr == "hidden_states" for node in descendants(function)
    )


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
