"""Reads of the last position of sequences: `logits[:, -1]`, `logits[0, -1, :]`."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, TypeTag


def is_last(index: ast.expr) -> bool:
    """Whether an index is the last place of an axis: `-1`, `[-1]`, `-1:`."""
    match index:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1)):
            return True
        case ast.List(elts=[only]):
            return is_last(only)
        case ast.Slice(lower=ast.expr() as first, upper=None, step=None):
            return is_last(first)
    return False


def reads_last_position(subscript: ast.Subscript) -> bool:
    """Whether a subscript reads the last position of a batch of sequences, or of one sequence."""
    match subscript.slice:
        case ast.Tuple(elts=[ast.Slice() | ast.Constant(), position, *_]):
            return is_last(position)
    return is_last(subscript.slice)


HEADS = ("ForCausalLM", "LMHeadModel")
"""Endings of the classes of `transformers` whose output are logits over a vocabulary at each position."""


def is_causal_model(network: ast.expr, model: SemanticModel) -> bool:
    """Whether a network is surely a causal language model of `transformers`."""
    kind = model.types.type_of(network)
    return kind.tag is TypeTag.MODULE and any(head in kind.of for head in HEADS)
