"""Expressions that are devices."""

from __future__ import annotations

import ast
from collections.abc import Callable

from rlint.models.value_type import Type, TypeTag
from rlint.regex import regex
from rlint.syntax.last_names import last_name

_CHECKS = regex(
    r"^torch\.(cuda|xpu|mps|npu|hpu|musa|mlu|accelerator|backends\.(cuda|mps))\."
    r"(is_available|is_initialized|is_built|device_count)$"
)
_ACCELERATOR = regex(r"^(cuda|gpu|mps|xpu|npu|hpu)(:\d+)?$")
_USED = regex(r"(^|_)(cuda|gpu|gpus|mps|xpu)(_(is_)?(avail\w*|avbl|enabled|active|flag|on|used))?$|^is_cuda$")
_WORD = regex(r"(^|_)(devices?|dev|dvc|cuda|gpus?|rank)(_(id|ids|index|idx|name|str))?$|device$")


def is_device(expression: ast.expr, kind: Type) -> bool:
    """Whether an expression of this type names a device where a device is allowed (`tensor.to(…)`).

    A string or a number does; so does a value of unknown type with such a name: `args.device`,
    `config["device"]`, `local_rank`.
    """
    if kind.tag in (TypeTag.DEVICE, TypeTag.STR, TypeTag.INT):
        return True
    if kind or isinstance(expression, ast.Starred):
        return False
    name = last_name(expression)
    if isinstance(expression, ast.Subscript) and isinstance(expression.slice, ast.Constant):
        key = expression.slice.value
        name = key if isinstance(key, str) else name
    return name is not None and bool(_WORD.search(name.lower()))


def tests_device(test: ast.expr, qualified: Callable[[ast.expr], str | None]) -> bool:
    """Whether a condition only tests whether the program runs on an accelerator, or on which one:
    `torch.cuda.is_available()`, `device.type == "cuda"`, `args.use_cuda`. `qualified` is that of a site.
    """
    match test:
        case ast.BoolOp(values=values):
            return all(tests_device(value, qualified) for value in values)
        case ast.Call(func=func) if _CHECKS.search(qualified(func) or ""):
            return True
        case ast.Call(
            func=ast.Attribute(value=owner, attr="startswith"), args=[ast.Constant(value=str(name))]
        ):
            return bool(_ACCELERATOR.search(name) and _names_device(owner))
        case ast.Compare(left=left, comparators=[right]):
            if isinstance(left, ast.Call) and isinstance(right, ast.Constant):
                return tests_device(left, qualified)  # `torch.cuda.device_count() > 0`
            for word, other in ((left, right), (right, left)):
                if isinstance(word, ast.Constant) and isinstance(word.value, str):
                    named = _ACCELERATOR.search(word.value) or word.value == "cpu"
                    return bool(named) and _names_device(other)
            return _is_made_device(left, qualified) or _is_made_device(right, qualified)
    return bool(_USED.search((last_name(test) or "").lower()))


def means_accelerator(test: ast.expr, qualified: Callable[[ast.expr], str | None]) -> bool | None:
    """Whether the program is on an accelerator where this condition holds (True), or on the CPU (False).
    None if the condition tests anything else.
    """
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            found = means_accelerator(inner, qualified)
            return None if found is None else not found
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() as op], comparators=[right]):
            words = [part.value for part in (left, right) if isinstance(part, ast.Constant)]
            if len(words) != 1 or not isinstance(words[0], str) or not tests_device(test, qualified):
                return None
            return (words[0] != "cpu") is isinstance(op, ast.Eq)
        case ast.Call() | ast.Name() | ast.Attribute():
            return tests_device(test, qualified) or None
    return None


def _is_made_device(expression: ast.expr, qualified: Callable[[ast.expr], str | None]) -> bool:
    return isinstance(expression, ast.Call) and qualified(expression.func) == "torch.device"


def _names_device(expression: ast.expr) -> bool:
    """Whether an expression is named like a device: `device`, `self.device.type`, `str(device)`,
    `device_type`.
    """
    match expression:
        case ast.Attribute(value=owner, attr="type"):
            return _names_device(owner)
        case ast.Call(func=ast.Name(id="str"), args=[inner]):
            return _names_device(inner)
    name = (last_name(expression) or "").lower()
    return bool(_WORD.search(name)) or name.endswith("device_type")
