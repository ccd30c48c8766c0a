"""Forward passes of networks whose weights require no grad, which record a graph only for their inputs."""

from __future__ import annotations

import ast

from rlint.rule import Autograd, SemanticModel


def records_nothing(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call runs a network whose weights may not require grad, on inputs that are not known to carry
    a gradient.
    """
    return model.nn.runs_frozen(call) and not _is_given_gradient(call, model)


def _is_given_gradient(call: ast.Call, model: SemanticModel) -> bool:
    """Whether an argument carries the gradient of another network: `target(encoder(x))` records the layers of
    `target`, up to `encoder`.
    """
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return any(
        model.gradients.gives_gradient(source)
        and model.gradients.autograd_at(source) is Autograd.ON
        and not model.nn.runs_frozen(source)
        for argument in given
        for source in model.gradients.sources(argument).calls
    )
