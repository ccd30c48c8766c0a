"""Whether a value is only created for an empty input."""

from __future__ import annotations

import ast

from rlint.rule import FUNCTIONS, LOOPS, Binding, BindingKind, SemanticModel

_FILLED = {ast.Gt: (0, 1), ast.GtE: (1, 2), ast.NotEq: (0,)}
"""Comparisons with numbers that hold if there are items, apart from one or none."""
_EMPTY = {ast.Eq: (0,), ast.Lt: (1, 2), ast.LtE: (0, 1)}


def is_for_empty_input(made: ast.expr, model: SemanticModel) -> bool:
    """Whether it is the value for an empty input, which is rarely used: `x.mean() if x.numel() else
    torch.tensor(0.0)`, or in a branch: `if x.shape[0] != 0: … else: loss = torch.tensor(0.0)`.
    """
    child: ast.AST = made
    for around in model.ancestors(made):
        match around:
            case ast.IfExp(test=test, body=body):
                if child is not test and _is_empty_in(test, model, holds=child is body):
                    return True
            case ast.If(test=test, body=[*block]):
                if child is not test and _is_empty_in(test, model, holds=child in block):
                    return True
        if isinstance(around, (*FUNCTIONS, *LOOPS)):
            return False
        child = around
    return False


def _is_empty_in(test: ast.expr, model: SemanticModel, *, holds: bool) -> bool:
    """Whether there is no input where a condition holds, or where it does not."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        holds, test = not holds, test.operand
    match test:
        case ast.Compare(left=left, ops=[operator], comparators=[ast.Constant(value=int() as limit)]):
            limits = (_EMPTY if holds else _FILLED).get(type(operator), ())
            return limit in limits and _is_count(left, model)
    return not holds and _is_count(test, model)


def _is_count(value: ast.expr, model: SemanticModel) -> bool:
    """Whether an expression, or the value of a variable, is a number of items."""
    if isinstance(value, ast.Name):
        match model.dataflow.definitions(value):
            case [Binding(kind=BindingKind.ASSIGN, path=(), value=ast.Call() | ast.Subscript() as value)]:
                pass
            case _:
                return False
    match value:
        case ast.Call(func=ast.Attribute(attr="numel" | "any" | "sum" | "size")):
            return True
        case ast.Call(func=ast.Name(id="len")) | ast.Subscript(value=ast.Attribute(attr="shape")):
            return True
    return False
