"""Values that a statement computes with besides the results of its forward passes."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from rlint.rule import SemanticModel, Trait, TypeTag, gradient_rules, models

_PLAIN = gradient_rules.HAVE_NO_GRADIENT | {
    *(TypeTag.DEVICE, TypeTag.DTYPE, TypeTag.FUNCTION, TypeTag.CLASS, TypeTag.RANGE)
}
ENDS = models.having(Trait.GIVES_NUMBER | Trait.GIVES_INDEX | Trait.COMPARES | Trait.DETACHES, TypeTag.TENSOR)
"""Methods whose result carries no gradient."""
_WHOLE = ("int", "uint", "bool")


def other_operands(
    value: ast.expr, forwards: Collection[ast.Call], model: SemanticModel
) -> Iterator[ast.expr]:
    """Yield the operands of an expression that may carry a gradient: all but those of which the type shows
    that they do not. Values inside of forward passes, and of calls that detach, do not count.
    """
    pending: list[ast.AST] = [value]
    while pending:
        node = pending.pop()
        if node in forwards or not isinstance(node, (ast.expr, ast.keyword, ast.comprehension)):
            continue
        if isinstance(node, ast.expr) and _is_plain(node, model):
            continue
        match node:
            case ast.Name() | ast.Attribute() | ast.Lambda():
                yield node
            case ast.Subscript(value=owner):
                pending.append(owner)
            case ast.Call(func=func):
                if isinstance(func, ast.Attribute) and model.names.qualified(func) is None:
                    pending.append(func.value)
                if model.types.call_targets(node) or (
                    model.names.qualified(func) is None and not isinstance(func, ast.Attribute)
                ):
                    yield node
                pending += [*node.args, *node.keywords]
            case _:
                pending += ast.iter_child_nodes(node)


def _is_plain(node: ast.expr, model: SemanticModel) -> bool:
    """Whether a value surely carries no gradient."""
    if isinstance(node, (ast.Constant, ast.JoinedStr, ast.Compare)):
        return True
    if isinstance(node, (ast.Name, ast.Attribute)):
        qualified = model.names.qualified(node)
        if qualified is not None and models.is_library(qualified.partition(".")[0]):
            return True
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ENDS:
        return True
    kind = model.types.type_of(node)
    return kind.tag in _PLAIN or (kind.tag is TypeTag.TENSOR and kind.dtype.startswith(_WHOLE))
