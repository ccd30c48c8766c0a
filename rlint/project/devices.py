"""Which expressions stand for a device."""

from __future__ import annotations

import ast
import re

from rlint.project.guards import last_name
from rlint.project.kind import Kind, Tag

_WORD = re.compile(r"(^|_)(device|devices|dev|dvc|cuda|gpu|gpus|rank)(_(id|ids|index|idx|name|str))?$|device$")


def is_device(expression: ast.expr, kind: Kind) -> bool:
    """Does an expression of this kind name a device where a device may be meant (`tensor.to(…)`)?

    A string or a number does; so does what nothing is known of if it is called so: `args.device`,
    `config["device"]`, `local_rank`.
    """
    if kind.tag in (Tag.DEVICE, Tag.STR, Tag.INT):
        return True
    if kind or isinstance(expression, ast.Starred):
        return False
    name = last_name(expression)
    if isinstance(expression, ast.Subscript) and isinstance(expression.slice, ast.Constant):
        key = expression.slice.value
        name = key if isinstance(key, str) else name
    return name is not None and bool(_WORD.search(name.lower()))
