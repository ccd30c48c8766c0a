"""What running a network leaves behind that shows whether autograd was on."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, made_networks

HOOKS = (
    "register_forward_hook",
    "register_forward_pre_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
)
_GLOBAL_HOOKS = "torch.nn.modules.module"
_COMPUTED_WEIGHTS = ("weight_norm", "spectral_norm")


def doubt_about_network(network: ast.expr, model: SemanticModel) -> str | None:
    """Return why running a network without autograd may differ in more than the gradient of its result; None
    if it surely does not.
    """
    name = model.source.text(network)
    structure = model.nn.architecture(network)
    if structure.attention or structure.recurrent:
        layers = "attention, which uses" if structure.attention else "recurrent layers, which use"
        return f"`{name}` has {layers} another kernel under `no_grad`: the last digits may differ"
    if not structure.complete or model.program.is_attribute_read("is_grad_enabled"):
        return (
            f"`{name}` must not store tensors that a gradient is computed through later: not all of its "
            f"code is known"
        )
    hooked = any(
        model.program.is_attribute_read(hook) or model.program.is_imported_anywhere(f"{_GLOBAL_HOOKS}.{hook}")
        for hook in HOOKS
    ) or any(isinstance(use.ctx, ast.Store) for use in model.names.attribute_uses("forward"))
    if structure.keeps or structure.hooks or hooked or structure.overrides & {"__call__"}:
        return f"tensors that `{name}` stores in attributes or hooks no longer carry a gradient"
    if structure.escapes:
        return (
            f"tensors that `{name}` stores, shows or modifies in place no longer carry a gradient, or it "
            f"uses another kernel without autograd"
        )
    if made_networks.may_be_changed_later(model, network, tensors=False):
        return f"`{name}` must keep its layers: code replaces parts of networks after their construction"
    if _computes_weights(model):
        return (
            f"the weights that `{name}` computes (`weight_norm`) carry no gradient until its next "
            f"forward pass"
        )
    return None


def _computes_weights(model: SemanticModel) -> bool:
    """Whether the program has layers that compute their weights in each forward pass, and store them as
    attributes or in the cache of `parametrize.cached()`.
    """
    return model.program.parametrizes_weights() or any(
        model.program.is_imported_anywhere(f"torch.nn.utils.{name}") or model.program.is_attribute_read(name)
        for name in _COMPUTED_WEIGHTS
    )
