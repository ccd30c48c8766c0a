"""Outputs of language models of which only other parts than the logits are read: the hidden states."""

from __future__ import annotations

import ast

from rlint.rule import (
    SemanticModel,
    UseKind,
    is_constant,
)

_HIDDEN = "hidden_states"
_OTHERS = frozenset({_HIDDEN, "attentions", "past_key_values"})


def reads_only_hidden_states(call: ast.Call, model: SemanticModel) -> bool:
    """Whether code reads the hidden states of the result of a language model, and never its logits."""
    if not any(
        keyword.arg == "output_hidden_states" and is_constant(keyword.value, value=True)
        for keyword in call.keywords
    ):
        return False
    read: set[str] = set()
    for use in model.dataflow.uses(call):
        match use.kind, use.at:
            case UseKind.ATTRIBUTE, ast.Attribute(attr=name, ctx=ast.Load()):
                read.add(name)
            case UseKind.ITEM, ast.Subscript(slice=ast.Constant(value=str() as name), ctx=ast.Load()):
                read.add(name)
            case UseKind.DISCARDED, _:
                pass
            case _:
                return False
    return _HIDDEN in read and read <= _OTHERS
