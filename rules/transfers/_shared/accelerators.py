"""Whether a program uses accelerators at all."""

from __future__ import annotations

import ast

from rlint.rule import (
    Device,
    SemanticModel,
)
from rlint.rules.transfers._shared.there_and_back import original

_OTHER_LIBRARIES = ("jax", "tensorflow", "cupy")
"""Libraries whose arrays have `item()`, too: a file that does not mention torch has no tensors then."""


def may_use_accelerator(model: SemanticModel) -> bool:
    """Whether the program mentions accelerators at all, and this file devices."""
    text = model.syntax.text
    if "torch" not in text and any(library in text for library in _OTHER_LIBRARIES):
        return False
    if "cuda" in text or "accelerator" in text:
        return True
    if model.analysis.types.open_device is Device.HOST:
        return False  # declared: devices that the code leaves open are the host
    if "device" not in text and model.once(_converts_host_tensors, model.syntax.module):
        return False
    if model.program.is_attribute_read("cuda"):
        return True
    if "device" not in text:
        # a file of helpers or losses, whose tensors come from other files
        return "__main__" not in text and model.program.is_attribute_read("device")
    return model.once(_names_open_device, model.syntax.module)


def names_device(text: str) -> bool:
    """Whether the text of a file names devices."""
    return any(word in text for word in ("device", "cuda", "accelerator"))


def _converts_host_tensors(_: ast.Module, model: SemanticModel) -> bool:
    """Whether a file calls `numpy()` on tensors that it does not copy to the host before, which fails for
    tensors on a device.
    """
    for use in model.names.attribute_uses("numpy"):
        match use.value:
            case (
                ast.Attribute(attr="data", value=tensor)
                | ast.Call(func=ast.Attribute(attr="detach", value=tensor), args=[])
            ):
                if not original(tensor, model)[1]:
                    return True
    return False


def _names_open_device(_: ast.Module, model: SemanticModel) -> bool:
    """Whether a function has a device parameter, or a tensor, network or batch is moved to a device that is
    not surely the host: one that a parameter or a setting determines.
    """
    if any(parameter.arg == "device" for parameter in model.syntax.of_type(ast.arg)):
        return True
    named = [
        word.value
        for word in model.syntax.of_type(ast.keyword)
        if word.arg == "device" and not isinstance(word.value, ast.Constant)
    ]
    for use in model.names.attribute_uses("to"):
        match model.parent(use):
            case ast.Call(func=func, args=[target, *_]) if func is use and model.types.is_device(target):
                named.append(target)
    return any(model.types.device_of(device) is not Device.HOST for device in named)
