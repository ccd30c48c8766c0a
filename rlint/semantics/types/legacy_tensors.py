"""`torch.FloatTensor` and similar, and `torch.as_tensor` in their place."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rlint.models.element_types import DEFAULT
from rlint.models.value_type import TypeTag
from rlint.semantics.types.dtypes import tensor_class_dtype

if TYPE_CHECKING:
    from collections.abc import Callable

    from rlint.models.value_type import Type
    from rlint.semantics.model import SemanticModel
    from rlint.syntax.syntax_index import SyntaxIndex

CLASSES = frozenset(
    f"torch.{name}Tensor"
    for name in ("", "Bool", "Byte", "Char", "Double", "Float", "Half", "Int", "Long", "Short")
)
"""The legacy tensor classes, whose call creates a tensor."""
GIVES_OUT = "out"
"""The setting of a program (see nn/torch_settings.py) in which calls pass a tensor as `out`."""
ENTERS_DEVICE = "enters device"
"""The setting of a program in which a file enters `with torch.device(…):`, which lasts in calls."""
_RESIZES = ("resize_", "resize_as_")
_DEFAULT_DEVICE = ("set_default_device", "set_default_tensor_type")
_DEFAULT_TYPE = ("set_default_dtype", "set_default_tensor_type")


def class_dtype(maker: str) -> str:
    """Return the dtype that a class creates, by its torch name: that of `torch.Tensor` is usually float32."""
    dtype = tensor_class_dtype(maker.rpartition(".")[2])
    return "float32" if dtype == DEFAULT else dtype


def torch_name(call: ast.Call, name: str, model: SemanticModel) -> str | None:
    """Return the spelling of a torch name beside a torch call; None if no import leads to it."""
    match call.func:
        case ast.Attribute(value=module) if model.names.qualified(module) == "torch":
            return f"{model.source.text(module)}.{name}"
    return model.names.spelled(f"torch.{name}", call)


def class_doubt(call: ast.Call, maker: str, model: SemanticModel) -> str | None:
    """Return why `torch.as_tensor` with a dtype could create another tensor from an array than the class
    does.
    """
    if _is_set(_DEFAULT_DEVICE, model) or may_have_device_around(call, model):
        return (
            f"The tensor goes to the default device, where `{model.source.text(call.func)}` left "
            "it on the CPU"
        )
    if maker == "torch.Tensor" and _is_set(_DEFAULT_TYPE, model):
        return f"The default dtype must be `torch.{class_dtype(maker)}`"
    return None


def sharing_doubt(model: SemanticModel) -> str | None:
    """Return why a tensor that shares the memory of an array could fail where a copy does not."""
    for method in _RESIZES:
        if model.program.is_attribute_read(method):
            return (
                f"`{method}` raises an error if it must enlarge a tensor that shares the memory of an array"
            )
    if model.once(_writes_to_out, model.syntax.module) or model.program.sets(GIVES_OUT):
        return "`out=` raises an error if it must enlarge a tensor that shares the memory of an array"
    return None


def _writes_to_out(_: ast.Module, model: SemanticModel) -> bool:
    """Whether a call of the file may write to a tensor by `out=`, which enlarges a small tensor."""
    return "out=" in model.syntax.text.replace(" ", "") and any(
        keyword.arg == "out" and not _is_of_numpy(call, model)
        for call in model.syntax.of_type(ast.Call)
        for keyword in call.keywords
    )


def _is_of_numpy(call: ast.Call, model: SemanticModel) -> bool:
    """Whether a call is a function of numpy or a method of an array, whose `out=` has a fixed size."""
    if (model.names.qualified(call.func) or "").startswith("numpy."):
        return True
    return isinstance(call.func, ast.Attribute) and (
        model.types.type_of(call.func.value).tag is TypeTag.NDARRAY
    )


def _is_set(settings: tuple[str, ...], model: SemanticModel) -> bool:
    """Whether any file of the project calls one of these torch functions."""
    return any(
        model.program.is_attribute_read(name) or model.program.is_imported_anywhere(f"torch.{name}")
        for name in settings
    )


def may_have_device_around(node: ast.AST, model: SemanticModel) -> bool:
    """Whether code of the program calls functions within a `with torch.device(…):`, or enters such a device
    otherwise, so that it may apply to the node as well.
    """
    if has_device_around(node, model):
        return True
    return model.function(node) is not None and model.program.sets(ENTERS_DEVICE)


def enters_device(syntax: SyntaxIndex, type_of: Callable[[ast.expr], Type]) -> bool:
    """Whether code of a file enters a device: `with torch.device(…):`."""
    entered = [item.context_expr for node in syntax.of_type(ast.With) for item in node.items]
    entered += [call.args[0] for call in syntax.written.calls_of(("enter_context",)) if call.args]
    return any(type_of(given).tag is TypeTag.DEVICE for given in entered)


def has_device_around(node: ast.AST, model: SemanticModel) -> bool:
    """Whether the node is inside `with torch.device(…):`."""
    return any(
        model.types.type_of(item.context_expr).tag is TypeTag.DEVICE
        for around in model.ancestors(node)
        if isinstance(around, (ast.With, ast.AsyncWith))
        for item in around.items
    )
