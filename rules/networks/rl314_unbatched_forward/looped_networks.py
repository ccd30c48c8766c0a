"""Networks that a loop runs: whether they treat rows independently, and each iteration has its own."""

from __future__ import annotations

import ast

from rlint.rule import AnyLoop, SemanticModel, descendants, last_name

_OF_TEXT = frozenset("input_ids attention_mask token_type_ids labels past_key_values hidden_states".split())


def runs_rows(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call runs a network that treats the rows of its input independently and without state."""
    if any(keyword.arg is None or keyword.arg in _OF_TEXT for keyword in call.keywords):
        return False
    if not model.gradients.gives_gradient(call):
        return False
    run = model.nn.network_run(call)
    if run is None:
        return True
    structure, of = model.nn.architecture(*run), model.types.type_of(run[0]).of
    if of.startswith("transformers.") or "loss" in of.lower():
        return False
    if structure.recurrent or structure.attention or structure.keeps or structure.hooks:
        return False
    if any("Embedding" in layer for layer in structure.layers):
        return False
    name = (last_name(call.func) or "").lower()
    return structure.weights or not (structure.complete or "loss" in name or "criterion" in name)


def depends(network: ast.expr, loop: AnyLoop, model: SemanticModel) -> bool:
    """Whether each iteration has its own network, which a variable bound by the loop refers to."""
    names, attributes = model.once(_bound_in, loop)
    for node in descendants(network):
        if isinstance(node, ast.Name) and node.id in names:
            return True
        if isinstance(node, ast.Attribute) and node.attr in attributes:
            return True
    return False


def _bound_in(loop: AnyLoop, _: SemanticModel) -> tuple[frozenset[str], frozenset[str]]:
    """Return the variables and the attributes that are set in a loop."""
    access = [node for node in descendants(loop) if isinstance(node, (ast.Name, ast.Attribute))]
    bound = [node for node in access if isinstance(node.ctx, ast.Store)]
    names = frozenset(node.id for node in bound if isinstance(node, ast.Name))
    return names, frozenset(node.attr for node in bound if isinstance(node, ast.Attribute))


def draws_figure(around: ast.AST, model: SemanticModel) -> bool:
    """Whether a function draws a figure, which takes far longer than the networks that it runs."""
    return any(
        isinstance(node, ast.Call)
        and (model.names.qualified(node.func) or "").startswith(("matplotlib.", "seaborn.", "plotly."))
        for node in descendants(around)
    )
