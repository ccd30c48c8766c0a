"""Normal distributions of the program with mean zero and deviation one, created for a single draw."""

from __future__ import annotations

import ast

from rlint.rule import ClassSummary, SemanticModel, last_name

_PACKAGE = "torch.distributions."
_DRAWS = frozenset({"sample", "rsample", "sample_n"})
_ZERO = frozenset({"zeros", "zeros_like"})
_ONE = frozenset({"ones", "ones_like"})


def is_standard_normal_drawn(call: ast.Call, qualified: str, model: SemanticModel) -> bool:
    """Whether a call creates a normal distribution of a class of the program only to draw from it, with zeros
    and ones as its parameters: `DiagonalNormal(zeros(mean.size()), ones(mean.size())).sample()`.
    """
    match model.parent(call):
        case ast.Attribute(attr=method) as draw if (
            method in _DRAWS and model.syntax.call_of(draw) is not None
        ):
            pass
        case _:
            return False
    if len(call.args) != 2 or call.keywords or not (_is(call.args[0], _ZERO) and _is(call.args[1], _ONE)):
        return False
    symbol = model.index.symbol(qualified, model.module.module)
    if not isinstance(symbol, ClassSummary) or "Normal" not in symbol.qualname:
        return False
    return any(isinstance(base, str) and base.startswith(_PACKAGE) for base in model.index.ancestry(symbol))


def _is(argument: ast.expr, names: frozenset[str]) -> bool:
    return isinstance(argument, ast.Call) and last_name(argument.func) in names
