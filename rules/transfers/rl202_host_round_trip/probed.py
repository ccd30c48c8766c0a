"""Values of which code asks whether they are tensors or other numbers."""

from __future__ import annotations

import ast

from rlint.rule import SemanticModel, same_code


def is_probed(value: ast.expr, model: SemanticModel) -> bool:
    """Whether a value is read under `if hasattr(value, "item")`, in a file that does not mention torch: it
    usually is a number on the host.
    """
    if "torch" in model.syntax.text or "hasattr" not in model.syntax.text:
        return False
    for around in model.ancestors(value):
        match around:
            case ast.If(test=test) | ast.IfExp(test=test):
                pass
            case _:
                continue
        match test:
            case ast.Call(func=ast.Name(id="hasattr"), args=[probed, _]):
                if same_code(probed, value):
                    return True
    return False
